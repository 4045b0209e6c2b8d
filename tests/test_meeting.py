"""Searches of GPUs that exchange within a launch: the results of one GPU, on any graph, by any number of shards.

The shards are threads that launch on one GPU, each with a part of its multiprocessors. So the tests need no second GPU.
"""

import functools
import gc
import threading
import time

import numpy as np
import pytest

import mgraph
from mgraph import device
from mgraph.algorithms.bfs import plan as search_plan
from mgraph.algorithms.bfs.search import Search
from mgraph.algorithms.sssp import plan as path_plan
from mgraph.algorithms.sssp.program import FromOneSource, Request
from mgraph.device.peers import Meeting, PeerMemory
from mgraph.dtypes import NO_PREDECESSOR
from mgraph.graph.vertex_range import range_of
from mgraph.kernels.bfs import cuda as bfs_kernels
from mgraph.kernels.sssp import cuda as sssp_kernels
from mgraph.planning.devices import spec_of
from mgraph.runtime.communicator import PeerMissingError
from tests.support.graphs import hub_graphs, layered

pytestmark = pytest.mark.gpu

MOST = 2**31 - 1


@pytest.fixture(autouse=True)
def side_by_side(monkeypatch):
    """Launches are not cooperative, of which CUDA runs one at a time on a GPU. Few blocks are resident anyway."""
    monkeypatch.setattr(device, "compile_ahead", lambda *_, **__: None)
    for module in (bfs_kernels, sssp_kernels):
        monkeypatch.setattr(module, "cuda_function", lambda source, name, **_: device.cuda_function(source, name))


class Meets:
    """The communicator of a shard that meets others on the same GPU; it has no other collectives."""

    def __init__(self, rank, size, spaces, bounds):
        self.rank, self.size, self.spaces, self.bounds = rank, size, spaces, bounds

    def meeting(self, words, _ranges):
        assert words <= self.spaces[self.rank].words
        return Meeting(self.spaces[self.rank].table, self.bounds)


def spaces_of(count, words, patience):
    made = [PeerMemory(words, count, **patience) for _ in range(count)]
    for rank, space in enumerate(made):
        space.table = space.table_of([other.address for other in made], rank)
    return made


@functools.cache
def streams_for(count):
    """Return the streams of the shards: made one after the other, each has a connection to the GPU of its own."""
    return [device.find("cuda").xp.cuda.Stream(non_blocking=True) for _ in range(count)]


class Together:
    """The shards of a program, which launch on one GPU and meet there.

    With `wide`, offsets have 64 bits, as those of more than 2^31 edges. `patience` is that of `PeerMemory`.
    """

    def __init__(self, program, graph, words, wide=False, **patience):
        self.program, self.place = program, device.find("cuda")
        ranges = program.plan.ranges
        self.blocks = spec_of(self.place).processors // len(ranges)
        self.streams = streams_for(len(ranges))
        with self.place.active():
            self.states = [program.load(shard, range_of(graph, *own), self.place) for shard, own in enumerate(ranges)]
            if wide:
                for state in self.states:
                    widen(state)
            spaces = spaces_of(len(ranges), words, {"patience": 20 * 10**9} | patience)
            bounds = self.place.asarray(np.array([*(first for first, _ in ranges), graph.n], np.int32))
            self.comms = [Meets(shard, len(ranges), spaces, bounds) for shard in range(len(ranges))]
            # A kernel is loaded when it is first launched, which would wait for the other shard's.
            first, meeting = self.states[0], Meeting(spaces[0].table, bounds)
            if isinstance(program, Search):
                method = bfs_kernels.METHODS[program.plan.method]
                bfs_kernels.levels(first.edges, first.arrays, 0, method, 0, False, meeting)
            else:
                found = first.search
                sssp_kernels.piles(found.edges, found.arrays, found.control, found.bounds, 0, meeting)
            self.place.xp.cuda.Device().synchronize()

    def step(self, shard, first, most):
        """Run up to `most` levels or rounds of a shard, whatever the others do, and return how many it ran."""
        with self.place.active(), self.place.limited(self.blocks), self.streams[shard]:
            return self.program.step(self.states[shard], first, most, self.comms[shard])

    def run(self, most=MOST, late=0.0):
        """Run all shards to their end, up to `most` levels or rounds in a launch; all but the first begin late."""

        def work(shard, ready):
            ran, more = 0, 1
            while more:
                ready.wait()  # the host may wait for all kernels after a launch
                if shard and not ran:
                    time.sleep(late)
                more = self.step(shard, ran, most)
                ran += more
            return ran

        assert len(set(self.in_parallel(work))) == 1
        return self

    def in_parallel(self, work):
        """Return what ``work(shard, ready)`` returns for each shard, in threads; `ready` is a barrier."""
        shards = range(len(self.comms))
        results, failures, ready = [None] * len(shards), [], threading.Barrier(len(shards))

        def guarded(shard):
            try:
                results[shard] = work(shard, ready)
            except Exception as error:
                failures.append(error)
                ready.abort()

        threads = [threading.Thread(target=guarded, args=(shard,)) for shard in shards]
        gc.collect()
        gc.disable()  # memory that is freed meanwhile would wait for the shard that waits for the other one
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            gc.enable()
        if failures:
            raise failures[0]
        return results

    def distances(self):
        """Return the distances, each shard's part from that shard."""
        found = [getattr(state, "search", state).distances for state in self.states]
        parts = zip(found, self.program.plan.ranges, strict=True)
        return np.concatenate([device.to_host(part[slice(*ends)]) for part, ends in parts])


def widen(state):
    if hasattr(state, "search"):
        state.search.edges = state.search.edges._replace(indptr=state.search.edges.indptr.astype(np.int64))
    else:
        edges = state.edges
        offsets = {name: getattr(edges, name).astype(np.int64) for name in ("out_indptr", "in_indptr")}
        state.edges = edges._replace(**offsets, quads=edges.quads[:0])  # there are no quads with such offsets


def specs(count):
    return (spec_of(device.find("cuda")),) * count


def searching(graph, source, method, shards, predecessors=False, **options):
    """Return the shards of a search by levels."""
    how = dict(method=method, directed=graph.directed, predecessors=predecessors, indptr=graph.adjacency("csc")[0])
    plan = search_plan.planned(graph.n, graph.m, specs(shards), **how)
    assert plan.detail.meets
    return Together(Search(plan, (source,)), graph, bfs_kernels.shared_words(graph.n, shards), **options)


def walking(graph, source, dtype, shards, window, **options):
    """Return the shards of a search for shortest paths by piles."""
    indptr = graph.adjacency("csc")[0]
    plan = path_plan.planned(graph.n, graph.m, specs(shards), method="nearfar", dtype=dtype, indptr=indptr)
    assert plan.detail.meets
    words = sssp_kernels.shared_words(graph.n, np.dtype(dtype).itemsize)
    program = FromOneSource(plan, Request((source,), False, float("inf"), -1, window, negative=False), None)
    return Together(program, graph, words, **options)


def graphs(weights=None):
    """Yield thin and wide graphs, with hubs, loops, islands, and fewer vertices than a word has bits."""
    random = np.random.default_rng(3)
    yield mgraph.generate.grid(90, 80, weights=weights)
    yield mgraph.generate.grid(1, 3000, weights=weights)
    for n, m in ((1, 0), (2, 1), (40, 60), (700, 900), (5000, 80_000)):
        src, dst = random.integers(0, n, (2, m))
        lengths = None if weights is None else random.integers(*weights, m).astype(np.int32)
        yield mgraph.Graph.from_edges(src, dst, lengths, n=n)
    star = np.zeros(6000, int), np.arange(1, 6001)
    yield mgraph.Graph.from_edges(*star, None if weights is None else np.full(6000, 7), directed=False)
    # The last one is a hub, so that the last shard is empty. One vertex is reached through another of the last word.
    leaves = np.arange(999)
    others = np.where(leaves == 5, 995, 999)
    yield mgraph.Graph.from_edges(others, leaves, None if weights is None else np.full(999, 7), directed=False)


def stars():
    """Yield graphs of a hub whose leaves all blocks exchange, and a path, whose vertices one block does."""
    star = np.zeros(6000, int), np.arange(1, 6001)
    yield mgraph.Graph.from_edges(*star, np.full(6000, 7), directed=False)
    yield mgraph.generate.grid(1, 3000, weights=(7, 7))


def far_leaves():
    """A dense part, and a hub with so many far leaves that all blocks raise the bound, but on the first shard."""
    random = np.random.default_rng(5)
    dense, leaves = random.integers(0, 1000, (2, 60_000)), np.arange(1000, 61_000)
    lengths = np.r_[random.integers(1, 30, 60_000), random.integers(100, 130, 60_000)].astype(np.int32)
    return mgraph.Graph.from_edges(np.r_[dense[0], np.zeros(60_000, int)], np.r_[dense[1], leaves], lengths)


def check_distances(found, expected):
    there = expected.is_reached
    assert np.array_equal(found[there], expected.distances[there])
    assert np.isinf(found[~there]).all() if found.dtype.kind == "f" else (found[~there] == 2**30 - 1).all()


@pytest.mark.parametrize("shards", [2, 5])
@pytest.mark.parametrize("method", ["hybrid", "frontier", "pull"])
def test_levels(method, shards):
    made = [*graphs(), layered()[0], *(graph for _, graph, _ in hub_graphs()), mgraph.generate.rmat(15)]
    for graph in made:
        for source in {0, graph.n - 1}:
            expected = mgraph.bfs(graph, source, device="cpu").distances
            assert np.array_equal(searching(graph, source, method, shards).run().distances(), expected)


@pytest.mark.parametrize("most", [1, 3, 7])
def test_levels_of_several_launches(most):
    for graph in graphs():
        expected = mgraph.bfs(graph, 0, device="cpu").distances
        assert np.array_equal(searching(graph, 0, "hybrid", 2).run(most).distances(), expected)


@pytest.mark.parametrize("shards", [2, 5])
@pytest.mark.parametrize("method", ["hybrid", "frontier", "pull"])
def test_predecessors(method, shards):
    for graph in (*graphs(), mgraph.generate.rmat(15)):
        found = searching(graph, 0, method, shards, predecessors="any").run()
        levels = found.distances()
        assert np.array_equal(levels, mgraph.bfs(graph, 0, device="cpu").distances)
        parents = np.concatenate([device.to_host(state.parents) for state in found.states])
        indptr, indices = graph.adjacency("csc")[:2]
        edges = indices.astype(np.int64) * graph.n + np.repeat(np.arange(graph.n), np.diff(indptr))
        reached = np.flatnonzero(levels > 0)
        assert np.array_equal(levels[parents[reached]] + 1, levels[reached])
        assert np.isin(parents[reached].astype(np.int64) * graph.n + reached, edges).all()
        assert (parents[levels <= 0] == NO_PREDECESSOR).all()


@pytest.mark.parametrize("shards", [2, 5])
@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64])
def test_distances(dtype, shards):
    made = [*graphs((1, 30)), mgraph.generate.weighted(mgraph.generate.rmat(14), (1, 255)), far_leaves()]
    for graph in made:
        for window in (1.0, 20.0, 1e9):
            for source in {0, graph.n - 1} if window == 20 else [0]:
                expected = mgraph.sssp(graph, source, dtype=dtype, device="cpu")
                check_distances(walking(graph, source, dtype, shards, window).run().distances(), expected)


def test_distances_of_several_launches():
    for graph in (*graphs((1, 30)), far_leaves()):
        expected = mgraph.sssp(graph, 0, device="cpu")
        for most in (1, 5, 64):
            check_distances(walking(graph, 0, np.int32, 2, 20.0).run(most).distances(), expected)


@pytest.mark.parametrize("shards", [2, 5])
def test_offsets_of_64_bits(shards):
    for graph in (*stars(), mgraph.generate.weighted(mgraph.generate.rmat(14), (1, 255)), far_leaves()):
        for method in ("hybrid", "frontier", "pull"):
            expected = mgraph.bfs(graph, 0, device="cpu").distances
            assert np.array_equal(searching(graph, 0, method, shards, wide=True).run().distances(), expected)
        for dtype in (np.int32, np.float32, np.float64):
            expected = mgraph.sssp(graph, 0, dtype=dtype, device="cpu")
            check_distances(walking(graph, 0, dtype, shards, 20.0, wide=True).run().distances(), expected)


def test_the_first_exchange_of_a_launch_may_come_late():
    for graph in stars():
        search = searching(graph, 0, "hybrid", 2, patience=10**9)
        assert np.array_equal(search.run(late=2.5).distances(), mgraph.bfs(graph, 0, device="cpu").distances)
        paths = walking(graph, 0, np.int32, 2, 20.0, patience=10**9)
        check_distances(paths.run(late=2.5).distances(), mgraph.sssp(graph, 0, device="cpu"))


@pytest.mark.parametrize("ended_by", ["clock", "host"])
@pytest.mark.parametrize("supersteps", [0, 1])
def test_a_launch_ends_if_another_shard_does_not_come(supersteps, ended_by):
    """The other one runs no level or round, or one, and is gone."""
    patience = dict.fromkeys(("patience", "first_patience"), 10**8 if ended_by == "clock" else 60 * 10**9)
    for graph in stars():
        source = graph.n - 1  # of a leaf, so that the hub comes after one superstep
        for together in (
            searching(graph, source, "hybrid", 2, **patience),
            walking(graph, source, np.int32, 2, 20.0, **patience),
        ):
            if ended_by == "host":
                threading.Timer(0.3, together.comms[0].spaces[0].stop).start()
            start = time.monotonic()
            with pytest.raises(PeerMissingError, match="a GPU has not come"):
                together.in_parallel(
                    lambda shard, _, together=together: together.step(shard, 0, MOST if shard == 0 else supersteps)
                )
            assert time.monotonic() - start < 20
