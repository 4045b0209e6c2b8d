"""Distances of single pairs, of results that have a row of distances for each source."""

import math

import networkx as nx
import numpy as np
import pytest

import mgraph

TOWNS = ["Rome", "Pisa", "Genoa", "Oslo"]


@pytest.fixture
def roads() -> mgraph.Graph:
    return mgraph.Graph.from_edges([0, 1, 2], [1, 2, 1], [354, 159, 159], n=4, ids=TOWNS)


def expected(source: str, target: str) -> float:
    graph = nx.DiGraph()
    graph.add_nodes_from(TOWNS)
    graph.add_weighted_edges_from([("Rome", "Pisa", 354), ("Pisa", "Genoa", 159), ("Genoa", "Pisa", 159)])
    return nx.single_source_dijkstra_path_length(graph, source).get(target, math.inf)


@pytest.mark.parametrize("source", TOWNS)
@pytest.mark.parametrize("target", TOWNS)
def test_pairs_are_those_of_networkx(roads, source, target):
    wanted = expected(source, target)
    matrices = [
        mgraph.apsp(roads, device="cpu"),
        mgraph.distances(roads, device="cpu"),
        mgraph.distances(roads, [source], [target], device="cpu"),
        mgraph.distances(roads, [source], sparse=True, device="cpu"),
        mgraph.distances(roads, [source], [target, "Oslo"], sparse=True, device="cpu"),
    ]
    numbers = TOWNS.index(source), TOWNS.index(target)
    for result in matrices:
        assert result.distance(source, target) == wanted
        assert result.distance(*numbers, ids=False) == wanted
    batch = mgraph.apsp_batch([roads, roads], device="cpu")
    assert batch.distance(1, source, target) == wanted


def test_steps_have_infinity_where_the_array_has_minus_one(roads):
    result = mgraph.bfs_many(roads, ["Rome", "Oslo"], device="cpu")
    assert result.distance("Rome", "Genoa") == 2
    assert result.distance("Oslo", "Rome") == math.inf


def test_nearest_targets_are_known(roads):
    result = mgraph.distances(roads, ["Rome"], ["Pisa", "Genoa"], nearest=1, device="cpu")
    assert result.distance("Rome", "Pisa") == 354
    with pytest.raises(mgraph.errors.InputError, match="target='Genoa' is not among the 1 targets"):
        result.distance("Rome", "Genoa")


def test_pairs_that_a_result_lacks_are_named(roads):
    result = mgraph.distances(roads, ["Rome"], ["Genoa"], device="cpu")
    with pytest.raises(mgraph.errors.InputError, match="source='Pisa' is not among the 1 sources"):
        result.distance("Pisa", "Genoa")
    with pytest.raises(mgraph.errors.InputError, match="target='Pisa' is not among the 1 targets"):
        result.distance("Rome", "Pisa")
    measures = mgraph.distances(roads, reduce="eccentricity", device="cpu")
    with pytest.raises(mgraph.errors.InputError, match="no matrix of distances"):
        measures.distance("Rome", "Pisa")
    with pytest.raises(mgraph.errors.InputError, match="graph must be"):
        mgraph.apsp_batch([roads], device="cpu").distance(1, 0, 0)


def test_written_tables_have_no_distances(roads, tmp_path):
    pytest.importorskip("pyarrow")
    result = mgraph.distances(roads, out=tmp_path / "pairs.parquet", device="cpu")
    with pytest.raises(mgraph.errors.InputError, match="in the file that the call has written"):
        result.distance("Rome", "Pisa")


def test_matrices_on_workers(roads):
    client = pytest.importorskip("distributed").Client(processes=False, dashboard_address=":0")
    with client:
        result = mgraph.apsp(roads, client=client, device="cpu")
        assert result.distance("Rome", "Genoa") == 513
        assert np.isinf(result.distance("Genoa", "Rome"))
