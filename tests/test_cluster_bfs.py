"""Searches on Dask workers equal the direct ones, however the vertices fall to the shards."""

import numpy as np
import pytest
from test_bfs import BY_LEVEL, FUSED, METHODS, verify
from test_cluster import cluster, pytestmark  # noqa: F401  (the mark quietens Dask's warnings here too)

import mgraph
from mgraph.cluster import local_client
from mgraph.device import gpu_count
from mgraph.generate import rmat


@pytest.fixture(scope="module", params=[1, 2, 3, 5])
def client(request):
    """Workers in this process."""
    with cluster(request.param, processes=False) as made:
        yield made


def graphs():
    """Small graphs of every remainder modulo a bitmap's word, and of no more words than there are shards."""
    random = np.random.default_rng(7)
    for n in (1, 2, 16, 31, 32, 33, 57, 64, 65, 90, 130, 199):
        src, dst = random.integers(0, n, (2, n))
        yield mgraph.Graph.from_edges(src, dst, n=n, directed=bool(n % 2))
    for n in (16, 17, 33, 57, 100):  # a multiple of the levels that are launched at a time, and others
        yield mgraph.Graph.from_edges(np.arange(n), np.arange(n) + 1)
    yield rmat(8)


def check(client, device, method="auto", spans=(None, 1, 5), given=None):
    for graph in given or graphs():
        for span in spans:
            found = mgraph.bfs(graph, 0, client=client, device=device, method=method, span=span, predecessors=True)
            direct = mgraph.bfs(graph, 0, device=device, predecessors=True)
            assert np.array_equal(found.distances, direct.distances), (graph, span)
            assert np.array_equal(found.predecessors, direct.predecessors), (graph, span)
            verify(graph, 0, found)


@pytest.mark.parametrize("method", FUSED)
def test_the_same_as_direct(client, method):
    check(client, "cpu", method)


def test_the_same_as_direct_by_level(client):
    for number, graph in enumerate(graphs()):
        for place, method in enumerate([*BY_LEVEL, "sequential"][number % 3 :: 3]):
            check(client, "cpu", method, ((None, 1)[(place + number // 3) % 2],), [graph])


def test_several_sources_a_depth_and_a_target(client):
    graph = mgraph.Graph.from_edges(*np.random.default_rng(4).integers(0, 900, (2, 1000)), n=900, directed=False)
    cases = ({}, {"max_depth": 4}, {"target": 700}, {"target": 3, "span": 1}, {"max_depth": 0})
    for number, options in enumerate(cases * 2):
        method = METHODS["cpu"][number % len(METHODS["cpu"])]
        wanted = {"sources": [1, 899, 450], "device": "cpu", "predecessors": True, **options}
        direct = mgraph.bfs(graph, **wanted)
        found = mgraph.bfs(graph, client=client, method=method, **wanted)
        assert np.array_equal(found.distances, direct.distances)
        assert np.array_equal(found.predecessors, direct.predecessors)


@pytest.mark.gpu
@pytest.mark.parametrize("workers", [1, 2])
def test_the_same_as_direct_on_gpus(workers):
    if workers > gpu_count():
        pytest.skip(f"needs {workers} GPUs")
    with local_client(workers, "cuda") as client:
        for method in METHODS["cuda"]:
            check(client, "cuda", method, spans=(None, 1))
        graph = rmat(16, directed=True)
        for source in (0, 77):
            found = mgraph.bfs(graph, source, client=client, predecessors=True)
            direct = mgraph.bfs(graph, source, device="cuda", predecessors=True)
            assert np.array_equal(found.distances, direct.distances)
            assert np.array_equal(found.predecessors, direct.predecessors)
