"""Searches on Dask workers equal direct ones, for every distribution of vertices to shards."""

import gc
import os
import time

import numpy as np
import pytest

import mgraph
from mgraph.algorithms.bfs import plan as searches
from mgraph.cluster import local_client
from mgraph.device import gpu_count
from mgraph.device.peers import MOST_EXCHANGES, PeerMemory
from mgraph.generate import grid, rmat
from mgraph.runtime.dask.comm import DaskComm
from tests.support.clusters import CLUSTER_WARNINGS, clients
from tests.support.graphs import hub_graphs, layered
from tests.support.methods import BY_LEVEL, FUSED, methods
from tests.support.parameters import exhaustive
from tests.support.properties import check_search

pytestmark = CLUSTER_WARNINGS


client = clients(2, *exhaustive(1, 3, 5))


def graphs():
    """Small graphs of every remainder modulo a bitmap's word, and of no more words than there are shards."""
    random = np.random.default_rng(7)
    for n in (1, 2, 16, 31, 32, 33, 57, 64, 65, 90, 130, 199):
        src, dst = random.integers(0, n, (2, n))
        yield mgraph.Graph.from_edges(src, dst, n=n, directed=bool(n % 2))
    for n in (16, 17, 33):  # a multiple of the levels that are launched at a time, and others
        yield mgraph.Graph.from_edges(np.arange(n), np.arange(n) + 1)
    yield rmat(8)


def check(client, device, method="auto", spans=(None, 1, 5), given=None):
    for graph in given or graphs():
        for span in spans:
            begun = time.perf_counter()
            found = mgraph.bfs(graph, 0, client=client, device=device, method=method, span=span, predecessors=True)
            elapsed = time.perf_counter() - begun
            direct = mgraph.bfs(graph, 0, device=device, predecessors=True)
            assert set(found.timings) == set(direct.timings) == {"load", "compile", "solve", "collect"}
            assert 0 < found.timings["solve"] and sum(found.timings.values()) <= elapsed
            assert np.array_equal(found.distances, direct.distances), (graph, span)
            assert np.array_equal(found.predecessors, direct.predecessors), (graph, span)
            check_search(graph, 0, found)
            tree = mgraph.bfs(graph, 0, client=client, device=device, method=method, span=span, predecessors="any")
            assert np.array_equal(tree.distances, direct.distances), (graph, span)
            check_search(graph, 0, tree)


@pytest.mark.parametrize("method", [*FUSED, "asynchronous"])
def test_the_same_as_direct(client, method):
    """Each method with each graph and each span, and each graph with each span."""
    for number, graph in enumerate(graphs()):
        check(client, "cpu", method, ((None, 1, 5)[(number + methods("bfs").index(method)) % 3],), [graph])


def test_several_workers_search_a_deep_graph_asynchronously(client):
    graph = mgraph.generate.grid(300, 300, device="cpu")
    found = mgraph.bfs(graph, 7, client=client, device="cpu", predecessors=True)
    assert found.plan.method == ("hybrid" if len(found.plan.ranges) == 1 else "asynchronous")
    direct = mgraph.bfs(graph, 7, device="cpu", predecessors=True)
    assert np.array_equal(found.distances, direct.distances)
    assert np.array_equal(found.predecessors, direct.predecessors)
    found.verify()


@pytest.mark.parametrize("method", ["hybrid", *exhaustive("frontier")])
def test_levels_that_all_cores_of_each_worker_run(client, method):
    graph, expected = layered()
    found = mgraph.bfs(graph, 0, client=client, device="cpu", method=method, predecessors="any")
    assert np.array_equal(found.distances, expected)
    check_search(graph, 0, found)


def test_without_edges_by_source_where_both_lists_do_not_fit(client):
    graph = mgraph.generate.grid(40, 50)
    direct = mgraph.bfs(graph, 7, device="cpu", predecessors=True)
    roomy = mgraph.bfs(graph, 7, client=client, device="cpu", predecessors=True, method="hybrid")
    if len(roomy.plan.devices) == 1:  # one list serves both directions
        return
    limit = int(0.8 * max(roomy.plan.peak_bytes))
    found = mgraph.bfs(graph, 7, client=client, device="cpu", predecessors=True, memory_limit=limit, method="hybrid")
    assert (roomy.plan.method, found.plan.method) == ("hybrid", "pull")
    assert not found.plan.detail.by_source and max(found.plan.peak_bytes) <= limit
    assert np.array_equal(found.distances, direct.distances)
    assert np.array_equal(found.predecessors, direct.predecessors)
    tree = mgraph.bfs(graph, 7, client=client, device="cpu", predecessors="any", memory_limit=limit, method="hybrid")
    assert tree.plan.method == "pull" and np.array_equal(tree.distances, direct.distances)
    check_search(graph, 7, tree)
    with pytest.raises(mgraph.MemoryLimitError):
        mgraph.bfs(graph, 7, client=client, device="cpu", method="hybrid", memory_limit=min(found.plan.peak_bytes) // 4)


def test_the_same_as_direct_by_level(client):
    for number, graph in enumerate(graphs()):
        for place, method in enumerate([*BY_LEVEL, "sequential"][number % 3 :: 3]):
            check(client, "cpu", method, ((None, 1)[(place + number // 3) % 2],), [graph])


def test_several_sources_a_depth_and_a_target(client):
    graph = mgraph.Graph.from_edges(*np.random.default_rng(4).integers(0, 900, (2, 1000)), n=900, directed=False)
    cases = ({}, {"limit": 4}, {"target": 700}, {"target": 3, "span": 1}, {"limit": 0})
    for number, options in enumerate(cases * 2):
        method = methods("bfs")[number % len(methods("bfs"))]
        wanted = {"sources": [1, 899, 450], "device": "cpu", "predecessors": True, **options}
        direct = mgraph.bfs(graph, **wanted)
        found = mgraph.bfs(graph, client=client, method=method, **wanted)
        assert np.array_equal(found.distances, direct.distances)
        assert np.array_equal(found.predecessors, direct.predecessors)
        tree = mgraph.bfs(graph, client=client, method=method, **wanted | {"predecessors": "any"})
        assert np.array_equal(tree.distances, direct.distances)
        tree.verify()


def always_listed(monkeypatch, vertices):
    """Let shards send lists of at most this many vertices, also for small graphs."""
    monkeypatch.setattr(searches, "list_capacity", lambda n, shards, kind: vertices if shards > 1 else 0)


def thin_wide_thin():
    """A path to a hub, whose many neighbours are reached by a pull, and a path from one of these."""
    path, neighbours, far = np.arange(21), np.arange(21, 621), np.r_[21, np.arange(621, 640)]
    src = np.concatenate([path[:-1], np.full(600, 20), far[:-1]])
    return mgraph.Graph.from_edges(src, np.concatenate([path[1:], neighbours, far[1:]]), n=640)


@pytest.mark.parametrize("vertices", [2, *exhaustive(40)])
def test_the_same_with_lists(client, monkeypatch, vertices):
    always_listed(monkeypatch, vertices)
    ways = ({}, {"span": 1}, {"method": "frontier"}, {"limit": 23}, {"target": 630}, {"source": 450})
    cases = [(graph, {}) for graph in graphs()]
    cases += [(thin_wide_thin(), options) for options in ways]
    cases += [(grid(40, 30, weights=None), options) for options in ways[vertices == 2 :: 2]]
    for graph, options in cases:
        options = {"source": 0} | options
        direct = mgraph.bfs(graph, device="cpu", predecessors=True, **options)
        found = mgraph.bfs(graph, client=client, device="cpu", predecessors=True, **options)
        assert np.array_equal(found.distances, direct.distances), (graph, options)
        assert np.array_equal(found.predecessors, direct.predecessors), (graph, options)
        tree = mgraph.bfs(graph, client=client, device="cpu", predecessors="any", **options)
        assert np.array_equal(tree.distances, direct.distances), (graph, options)
        tree.verify()


def test_a_thin_level_sends_a_list(client, monkeypatch):
    sent = []
    allgather = DaskComm.allgather

    def counting(self, whole, parts):
        if self.rank == 0:
            sent.append(whole.nbytes)
        allgather(self, whole, parts)

    monkeypatch.setattr(DaskComm, "allgather", counting)
    always_listed(monkeypatch, 3)
    n, shards = 6400, len(client.scheduler_info(n_workers=-1)["workers"])
    lists, bitmap = 16 * shards, n // 8
    path = mgraph.Graph.from_edges(np.arange(n - 1), np.arange(n - 1) + 1)
    mgraph.bfs(path, 0, client=client, device="cpu", limit=40, method="hybrid")
    assert sent == ([lists] * 40 if shards > 1 else sent)
    sent.clear()
    star = mgraph.Graph.from_edges(np.zeros(n - 1, int), np.arange(n - 1) + 1)
    mgraph.bfs(star, 0, client=client, device="cpu", limit=2, method="hybrid")
    assert sent == ([lists, bitmap, bitmap] if shards > 1 else sent)


@pytest.mark.gpu
@pytest.mark.parametrize(
    "workers, apart, vertices", [(1, False, 0), (2, False, 0), (2, True, 0), (2, True, 1), (2, True, 100)]
)
def test_the_same_as_direct_on_gpus(workers, apart, vertices, monkeypatch):
    """GPUs `apart` do not reach each other's memory, so that each level is a launch, and may send lists."""
    always_listed(monkeypatch, vertices)
    if apart:
        monkeypatch.setenv("NCCL_P2P_DISABLE", "1")
    if workers > gpu_count():
        pytest.skip(f"needs {workers} GPUs")
    with local_client(workers, "cuda") as client:
        for number, method in enumerate(FUSED if vertices else methods("bfs", "cuda")):
            check(client, "cuda", method, (None, 1), list(graphs())[number % 6 :: 6])
        wide, mixed = rmat(16, directed=True), thin_wide_thin()
        for graph, source in ((wide, 0), (wide, 77), (mixed, 0)):
            found = mgraph.bfs(graph, source, client=client, predecessors=True)
            direct = mgraph.bfs(graph, source, device="cuda", predecessors=True)
            assert np.array_equal(found.distances, direct.distances)
            assert np.array_equal(found.predecessors, direct.predecessors)
            exchanged = "by NCCL, as not all GPUs share memory of one host" if apart else "within the launch, by "
            assert workers == 1 or f"exchanged: {exchanged}" in found.explain(verbose=True)
            for options in ({}, {"limit": 3}, {"target": graph.n - 1}):
                tree = mgraph.bfs(graph, sources=[source, 5], client=client, predecessors="any", **options)
                direct = mgraph.bfs(graph, sources=[source, 5], device="cuda", **options)
                assert np.array_equal(tree.distances, direct.distances)
                tree.verify()
        roads, hubs = grid(90, 80, weights=None), [graph for _, graph, _ in hub_graphs()]
        star = mgraph.Graph.from_edges(np.zeros(5000, int), np.arange(1, 5001), directed=False)
        for graph in (roads, star, *hubs):
            for source in (0, graph.n - 1):
                tree = mgraph.bfs(graph, source, client=client, predecessors="any")
                assert np.array_equal(tree.distances, mgraph.bfs(graph, source, device="cuda").distances)
                check_search(graph, source, tree)


def stay_apart():
    os.environ["NCCL_P2P_DISABLE"] = "1"


@pytest.mark.gpu
def test_gpus_agree_on_an_environment_that_one_has():
    if gpu_count() < 2:
        pytest.skip("needs 2 GPUs")
    graph = rmat(12)
    with local_client(2, "cuda") as client:
        # NCCL reads its environment when it is first used, and needs the same one on all workers.
        mgraph.connected_components(graph, client=client)
        client.run(stay_apart, workers=list(client.run(os.getpid))[1:])
        found = mgraph.bfs(graph, 0, client=client)
        # Whether the plan knew of it depends on when the client asked its workers.
        whys = "NCCL_P2P_DISABLE is 1", "not all GPUs share memory of one host"
        assert any(f"exchanged: by NCCL, as {why}" in found.explain(verbose=True) for why in whys)
        assert np.array_equal(found.distances, mgraph.bfs(graph, 0, device="cuda").distances)


def have_little_to_share():
    import cupy

    made = mgraph.device.PeerMemory

    def limited(words, shards):
        if words > 1000:
            raise cupy.cuda.runtime.CUDARuntimeError(2)  # cudaErrorMemoryAllocation
        return made(words, shards)

    mgraph.device.PeerMemory = limited


@pytest.mark.gpu
def test_gpus_meet_again_after_a_call_that_needed_more_memory_than_one_has_to_share():
    if gpu_count() < 2:
        pytest.skip("needs 2 GPUs")
    graph = mgraph.generate.weighted(rmat(12), (1, 255))
    with local_client(2, "cuda") as client:
        client.run(have_little_to_share, workers=list(client.run(os.getpid))[1:])
        for _ in range(2):
            found = mgraph.bfs(graph, 0, client=client)
            assert "exchanged: within the launch, by 4,194,304 bytes" in found.explain(verbose=True)
            assert np.array_equal(found.distances, mgraph.bfs(graph, 0, device="cuda").distances)
            paths = mgraph.sssp(graph, 0, client=client, method="nearfar")
            assert "exchanged: by NCCL, as not all GPUs have memory to share" in paths.explain(verbose=True)
            assert np.array_equal(paths.distances, mgraph.sssp(graph, 0, device="cuda").distances)


def shared():
    """The numbers of exchanges of the memory that this process shares with others."""
    return [int(each.made[0]) for each in gc.get_objects() if isinstance(each, PeerMemory)]


def use_up():
    """Let the memory that this process shares with others come to the end of its numbers."""
    for each in gc.get_objects():
        if isinstance(each, PeerMemory):
            each.made[0] = MOST_EXCHANGES


@pytest.mark.gpu
def test_gpus_share_new_memory_before_the_numbers_of_exchanges_come_round():
    if gpu_count() < 2:
        pytest.skip("needs 2 GPUs")
    graph = rmat(12)
    with local_client(2, "cuda") as client:
        counts = []
        for _ in range(2):
            found = mgraph.bfs(graph, 0, client=client)
            assert np.array_equal(found.distances, mgraph.bfs(graph, 0, device="cuda").distances)
            counts.append([*client.run(shared).values()])
            client.run(use_up)
        assert counts[0] == counts[1] and len(counts[0][0]) == 1  # in the same memory the second would be twice that
