"""Shortest paths on Dask workers equal direct ones, for every distribution of vertices to shards."""

import numpy as np
import pytest

import mgraph
from mgraph.algorithms.sssp import lists, plan
from mgraph.cluster import local_client
from mgraph.device import gpu_count
from mgraph.generate import rmat
from tests.support.clusters import CLUSTER_WARNINGS, clients
from tests.support.graphs import weighted_by_ends
from tests.support.methods import methods
from tests.support.parameters import DTYPES, exhaustive
from tests.support.properties import check_shortest_paths

pytestmark = CLUSTER_WARNINGS


client = clients(2, *exhaustive(1, 3, 4, 5))


def graphs():
    """Small graphs of every remainder modulo a mask's word, and of no more words than there are shards."""
    random = np.random.default_rng(7)
    for i, n in enumerate((1, 2, 31, 32, 33, 65, 130, 199)):
        src, dst = random.integers(0, n, (2, 2 * n))
        weights = random.integers(0, (2, 9, 255)[i % 3], 2 * n).astype(DTYPES[i % 3])
        yield mgraph.Graph.from_edges(src, dst, weights, n=n, directed=bool(n % 2))
    for n in (16, 17, 33):  # a multiple of the rounds that are launched at a time, and others
        yield mgraph.Graph.from_edges(np.arange(n), np.arange(n) + 1, random.integers(0, 3, n))
    yield weighted_by_ends(rmat(8), random.integers(1, 256, 997).astype(np.float32))


def check(client, device, method, spans):
    for graph in graphs():
        direct = mgraph.sssp(graph, 0, device=device, predecessors=True)
        for span in spans:
            asked = dict(client=client, device=device, method=method, span=span)
            found = mgraph.sssp(graph, 0, predecessors=True, **asked)
            assert np.array_equal(found.distances, direct.distances), (graph, span)
            assert np.array_equal(found.predecessors, direct.predecessors), (graph, span)
            check_shortest_paths(graph, 0, found)


def test_the_nearest_of_several_sources(client):
    for graph in graphs():
        sources = [graph.n // 2, 0, graph.n - 1]
        expected = mgraph.sssp(graph, sources=sources, predecessors=True, device="cpu")
        found = mgraph.sssp(graph, sources=sources, predecessors=True, client=client, device="cpu")
        for name, array in expected.arrays.items():
            assert np.array_equal(found.arrays[name], array), (graph, name)


@pytest.mark.parametrize("method", methods("sssp"))
def test_the_same_as_direct(client, method):
    check(client, "cpu", method, (None, 1) if method == "nearfar" else (5,))


def test_lists_of_those_that_fell(client, monkeypatch):
    monkeypatch.setitem(lists.LISTED_FROM, "cpu", 1)  # else only graphs of half a million vertices have lists
    check(client, "cpu", "nearfar", (3,))
    test_limit_and_target(client)
    test_negative_weights(client)


def test_shards_exchange_once_they_have_followed_all_paths_of_their_own(client):
    """Not in each of the hundred rounds: as often as a shortest path changes shards."""
    graph = mgraph.generate.grid(40, 40, weights=(1, 9), device="cpu")
    found = mgraph.sssp(graph, 0, client=client, device="cpu")
    shards = len(found.plan.ranges)
    assert found.iterations <= 4 * shards if shards > 1 else found.iterations > 40


@pytest.mark.parametrize("alone", [0, 1, 3, 200])
def test_however_often_shards_exchange(client, monkeypatch, alone):
    """After each round by masks, or after one or more by piles, with the host's look after four exchanges or one."""
    monkeypatch.setattr(plan, "rounds_alone", lambda kind, shape: alone)
    check(client, "cpu", "nearfar", (None, 1))
    test_limit_and_target(client)
    test_the_nearest_of_several_sources(client)


def test_limit_and_target(client):
    graph = weighted_by_ends(rmat(8), np.arange(256))
    for asked in (dict(limit=40), dict(target=77), dict(target=77, limit=1)):
        found = mgraph.sssp(graph, 3, client=client, device="cpu", predecessors=True, **asked)
        direct = mgraph.sssp(graph, 3, device="cpu", predecessors=True, **asked)
        assert np.array_equal(found.distances, direct.distances)
        assert np.array_equal(found.predecessors, direct.predecessors)


def test_negative_weights(client):
    random = np.random.default_rng(8)
    n = 150
    (src, dst), h = random.integers(0, n, (2, 900)), random.integers(-99, 99, n)
    weights = random.integers(0, 50, 900) + h[src] - h[dst]
    graph = mgraph.Graph.from_edges(src, dst, weights, n=n)
    assert not graph.nonnegative
    found = mgraph.sssp(graph, 0, client=client, device="cpu", predecessors=True)
    direct = mgraph.sssp(graph, 0, device="cpu", predecessors=True)
    assert np.array_equal(found.distances, direct.distances)
    assert np.array_equal(found.predecessors, direct.predecessors)
    check_shortest_paths(graph, 0, found)
    worse = mgraph.Graph.from_edges(np.r_[src, 4, 9], np.r_[dst, 9, 4], np.r_[weights, 3, -600], n=n)
    with pytest.raises(mgraph.NegativeCycleError):
        mgraph.sssp(worse, 0, client=client, device="cpu")


@pytest.mark.gpu
def test_the_same_as_direct_on_gpus(gpu_workers):
    for method in methods("sssp"):
        check(gpu_workers, "cuda", method, (None, 1))
    graph = weighted_by_ends(rmat(16, directed=True), np.arange(1, 256))
    for source in (0, 77):
        found = mgraph.sssp(graph, source, client=gpu_workers, method="nearfar", predecessors=True)
        assert len(found.plan.devices) == 1 or "exchanged: within the launch, by " in found.explain(verbose=True)
        direct = mgraph.sssp(graph, source, device="cuda", predecessors=True)
        assert np.array_equal(found.distances, direct.distances)
        assert np.array_equal(found.predecessors, direct.predecessors)


@pytest.mark.gpu
def test_the_same_as_direct_on_gpus_apart(monkeypatch):
    """GPUs that do not reach each other's memory search apart, and exchange between launches."""
    monkeypatch.setenv("NCCL_P2P_DISABLE", "1")
    if gpu_count() < 2:
        pytest.skip("needs 2 GPUs")
    with local_client(2, "cuda") as client:
        check(client, "cuda", "nearfar", (None, 1))
        roads = mgraph.generate.grid(90, 80, weights=(1, 255))
        found = mgraph.sssp(roads, 0, client=client, method="nearfar")
        assert "exchanged: by NCCL, as not all GPUs share memory of one host" in found.explain(verbose=True)
        assert np.array_equal(found.distances, mgraph.sssp(roads, 0, device="cuda").distances)


@pytest.mark.gpu
def test_lists_of_those_that_fell_on_gpus():
    if gpu_count() < 2:
        pytest.skip("needs 2 GPUs")
    scale = 23
    assert lists.list_length(1 << scale, 2, 4, "cuda")
    graph = mgraph.generate.weighted(rmat(scale, 2, device="cuda"), (1, 255))
    with local_client(2, "cuda") as client:
        placed = mgraph.generate.weighted(rmat(scale, 2, client=client), (1, 255))
        for source in (0, 77, 4321):
            found = mgraph.sssp(placed, source, predecessors=True, method="bellman-ford")
            direct = mgraph.sssp(graph, source, predecessors=True)
            assert np.array_equal(found.distances, direct.distances.get())
            assert np.array_equal(found.predecessors, direct.predecessors.get())
