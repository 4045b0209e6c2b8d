"""Distances from many sources on Dask workers equal direct ones, of graphs that are sent and that lie there."""

import gc

import numpy as np
import pytest

import mgraph
from tests.support.clusters import CLUSTER_WARNINGS, clients, wait_until
from tests.support.parameters import exhaustive
from tests.support.residents import same

pytestmark = CLUSTER_WARNINGS

MEASURES = [
    *("eccentricity", "mean", "out_closeness", "out_harmonic", "reached"),
    ("within", [5, 9]),
    ("histogram", [0, 1, 5, 40]),
]
ASKED = [
    {},
    {"sources": [5, 7, 5], "predecessors": True},
    {"targets": [4, 1], "limit": 20},
    {"nearest": 3, "targets": range(0, 130, 3)},
    {"reduce": MEASURES},
    {"sparse": True, "limit": 9},
    {"sources": [3], "reduce": MEASURES, "targets": [9, 2]},
    {"method": "hierarchy"},
    {"method": "hierarchy", "sources": [5, 7, 5], "targets": [4, 1], "predecessors": True},
    {"method": "hierarchy", "nearest": 3, "targets": range(0, 130, 3), "reverse": True},
    {"method": "hierarchy", "reduce": MEASURES, "targets": [9, 2]},
]


client = clients(2, *exhaustive(1, 3))


def graphs():
    random = np.random.default_rng(3)
    ends, lengths = random.integers(0, 130, (2, 400)), random.integers(0, 20, 400)
    potential = random.integers(0, 50, 130)
    shifted = lengths + potential[ends[0]] - potential[ends[1]]
    yield mgraph.Graph.from_edges(*ends, lengths, n=131)
    yield mgraph.Graph.from_edges(*ends, lengths.astype(np.float64), n=131, directed=False)
    yield mgraph.Graph.from_edges(*ends, n=131)
    yield mgraph.Graph.from_edges(*ends, shifted, n=131)


@pytest.mark.parametrize("options", [*ASKED[1::3], *exhaustive(*ASKED[::3], *ASKED[2::3])])
def test_the_same_as_direct(options, client):
    for graph in graphs():
        expected = mgraph.distances(graph, **options, device="cpu")
        found = mgraph.distances(graph, **options, client=client, device="cpu")
        same(found, expected)
        with mgraph.DistributedGraph.from_graph(graph, client, device="cpu") as placed:
            found = mgraph.distances(placed, **options)
            same(found, expected)
            if (graph.nonnegative or "limit" not in options) and "reverse" not in options:
                found.verify()


def test_a_hierarchy_is_sent_once(client):
    def on_workers():
        return {key for keys in client.has_what().values() for key in keys if "Prepared" in key}

    graph = mgraph.generate.grid(9, 9, weights=(1, 9), device="cpu")
    prepared = mgraph.Hierarchy(graph, order=range(81), device="cpu")
    expected = mgraph.distances(prepared, reduce="mean")
    before = on_workers()
    same(mgraph.distances(prepared, reduce="mean", client=client, device="cpu"), expected)
    sent = on_workers() - before
    assert len(sent) == len(client.has_what())
    same(mgraph.distances(prepared, reduce="mean", client=client, device="cpu"), expected)
    assert on_workers() - before == sent
    del prepared, expected
    gc.collect()
    wait_until(lambda: not on_workers() & sent)


@pytest.mark.parametrize("weight", [True, False])
def test_whole_graphs_and_numbers_of_paths(client, weight):
    random = np.random.default_rng(5)
    graph = mgraph.Graph.from_edges(*random.integers(0, 90, (2, 300)), random.integers(1, 5, 300), n=91)
    counted = mgraph.distance_histogram(graph, weight=weight, device="cpu")
    paths = mgraph.path_counts(graph, [3, 90, 5], weight=weight, device="cpu")
    with mgraph.DistributedGraph.from_graph(graph, client, device="cpu") as placed:
        for given, where in ((graph, {"client": client, "device": "cpu"}), (placed, {})):
            found = mgraph.distance_histogram(given, weight=weight, **where)
            assert np.array_equal(found.counts, counted.counts) and np.array_equal(found.edges, counted.edges)
            assert (found.pairs, found.mean) == (counted.pairs, pytest.approx(counted.mean))
            again = mgraph.path_counts(given, [3, 90, 5], weight=weight, **where)
            assert np.array_equal(again.counts, paths.counts) and np.array_equal(again.distances, paths.distances)
            assert list(again.paths(3, 5)) == list(paths.paths(3, 5))


def test_more_workers_than_sources(client):
    graph = next(graphs())
    found = mgraph.distances(graph, [9], client=client, device="cpu", span=1)
    same(found, mgraph.distances(graph, [9], device="cpu"))
    assert found.to_pandas()["source"].eq(9).all()


def test_several_workers_search_as_one_does(client):
    """A grid has many levels: it is faster to search from its sources one by one."""
    graph = mgraph.generate.grid(300, 300, weights=(1, 9), device="cpu")
    asked = {"sources": range(500), "targets": [7, 80_000], "method": "sssp"}
    direct = mgraph.distances(graph, **asked, device="cpu")
    found = mgraph.distances(graph, **asked, client=client, device="cpu")
    assert found.plan.detail.apart and direct.plan.detail.apart
    assert found.plan.detail.batch == direct.plan.detail.batch
    same(found, direct)
