"""Searches of GPUs that exchange within a launch: the results of one GPU, on any graph, by any number of shards.

The shards are threads that launch on one GPU, each with a part of its multiprocessors. So the tests need no second GPU.
"""

import functools
import gc
import threading

import numpy as np
import pytest

import mgraph
from mgraph import device
from mgraph.algorithms.bfs import plan as search_plan
from mgraph.algorithms.bfs.search import Search
from mgraph.algorithms.sssp import plan as path_plan
from mgraph.algorithms.sssp.program import FromOneSource, Request
from mgraph.device.peers import Meeting, PeerMemory
from mgraph.graph.vertex_range import range_of
from mgraph.kernels.bfs import cuda as bfs_kernels
from mgraph.kernels.sssp import cuda as sssp_kernels
from mgraph.planning.devices import spec_of
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


def spaces_of(count, words):
    made = [PeerMemory(words, count, patience=20 * 10**9) for _ in range(count)]
    for rank, space in enumerate(made):
        space.table = space.table_of([other.address for other in made], rank)
    return made


@functools.cache
def streams_for(count):
    """Return the streams of the shards: made one after the other, each has a connection to the GPU of its own."""
    return [device.find("cuda").xp.cuda.Stream(non_blocking=True) for _ in range(count)]


def distances_of(program, graph, words, most=MOST):
    """Return the distances that the shards of a program find together, and how many supersteps they ran."""
    place, ranges = device.find("cuda"), program.plan.ranges
    blocks = spec_of(place).processors // len(ranges)
    with place.active():
        states = [program.load(shard, range_of(graph, *own), place) for shard, own in enumerate(ranges)]
        spaces = spaces_of(len(ranges), words)
        bounds = place.asarray(np.array([*(first for first, _ in ranges), graph.n], np.int32))
        # A kernel is loaded when it is first launched, which would wait for the other shard's.
        first, meeting = states[0], Meeting(spaces[0].table, bounds)
        if isinstance(program, Search):
            bfs_kernels.levels(
                first.edges, first.arrays, 0, bfs_kernels.METHODS[program.plan.method], 0, False, meeting
            )
        else:
            found = first.search
            sssp_kernels.piles(found.edges, found.arrays, found.control, found.bounds, 0, meeting)
        place.xp.cuda.Device().synchronize()
    streams = streams_for(len(ranges))
    ran, failures = [0] * len(ranges), []
    ready = threading.Barrier(len(ranges))

    def work(shard):
        try:
            comm = Meets(shard, len(ranges), spaces, bounds)
            with place.active(), place.limited(blocks), streams[shard]:
                more = 1
                while more:
                    ready.wait()  # the host may wait for all kernels after a launch
                    more = program.step(states[shard], ran[shard], most, comm)
                    ran[shard] += more
        except Exception as error:
            failures.append(error)
            ready.abort()

    threads = [threading.Thread(target=work, args=(shard,)) for shard in range(len(ranges))]
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
    assert len(set(ran)) == 1
    found = [getattr(state, "search", state).distances for state in states]
    return np.concatenate([device.to_host(own[slice(*ends)]) for own, ends in zip(found, ranges, strict=True)]), ran[0]


def specs(count):
    return (spec_of(device.find("cuda")),) * count


def search(graph, source, method, shards, most=MOST):
    """Return the levels by shards that meet."""
    indptr = graph.adjacency("csc")[0]
    plan = search_plan.planned(graph.n, graph.m, specs(shards), method=method, directed=graph.directed, indptr=indptr)
    assert plan.detail.meets
    words = bfs_kernels.shared_words(graph.n, shards)
    return distances_of(Search(plan, (source,)), graph, words, most)[0]


def paths(graph, source, dtype, shards, window, most=MOST):
    """Return the distances by shards that meet, with infinity where there is no path."""
    indptr = graph.adjacency("csc")[0]
    plan = path_plan.planned(graph.n, graph.m, specs(shards), method="nearfar", dtype=dtype, indptr=indptr)
    assert plan.detail.meets
    words = sssp_kernels.shared_words(graph.n, np.dtype(dtype).itemsize)
    program = FromOneSource(plan, Request((source,), False, float("inf"), -1, window, negative=False), None)
    return distances_of(program, graph, words, most)[0]


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


@pytest.mark.parametrize("shards", [2, 5])
@pytest.mark.parametrize("method", ["hybrid", "frontier", "pull"])
def test_levels(method, shards):
    made = [*graphs(), layered()[0], *(graph for _, graph, _ in hub_graphs()), mgraph.generate.rmat(15)]
    for graph in made:
        for source in {0, graph.n - 1}:
            expected = mgraph.bfs(graph, source, device="cpu").distances
            assert np.array_equal(search(graph, source, method, shards), expected)


@pytest.mark.parametrize("most", [1, 3, 7])
def test_levels_of_several_launches(most):
    for graph in graphs():
        expected = mgraph.bfs(graph, 0, device="cpu").distances
        assert np.array_equal(search(graph, 0, "hybrid", 2, most), expected)


@pytest.mark.parametrize("shards", [2, 5])
@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64])
def test_distances(dtype, shards):
    made = [*graphs((1, 30)), mgraph.generate.weighted(mgraph.generate.rmat(14), (1, 255))]
    for graph in made:
        for window in (1.0, 20.0, 1e9):
            for source in {0, graph.n - 1} if window == 20 else [0]:
                expected = mgraph.sssp(graph, source, dtype=dtype, device="cpu")
                found = paths(graph, source, dtype, shards, window)
                there = expected.is_reached
                assert np.array_equal(found[there], expected.distances[there])
                assert (
                    np.isinf(found[~there]).all() if np.dtype(dtype).kind == "f" else (found[~there] == 2**30 - 1).all()
                )


def test_distances_of_several_launches():
    for graph in graphs((1, 30)):
        expected = mgraph.sssp(graph, 0, device="cpu")
        for most in (1, 5, 64):
            found = paths(graph, 0, np.int32, 2, 20.0, most)
            assert np.array_equal(found[expected.is_reached], expected.distances[expected.is_reached])
