"""New weights of graphs on workers: given as arrays or as functions of the edges' ends; the edges are shared."""

import gc

import dask.array
import numpy as np
import pytest

import mgraph
from mgraph import DistributedGraph, Graph
from mgraph.errors import InputError
from mgraph.generate import rmat
from tests.support.clusters import CLUSTER_WARNINGS, clients, wait_until
from tests.support.parameters import exhaustive
from tests.support.residents import directed, names_kept, same

pytestmark = CLUSTER_WARNINGS


client = clients(2, *exhaustive(1, 3))


def by_target(graph):
    """The ends of a graph's edges, in the order of its edges by target."""
    indptr, indices, _ = graph.csc()
    return indices, np.repeat(np.arange(graph.n), np.diff(indptr))


@pytest.mark.parametrize("weights", ["float64", "float32", "int64", "int32", "infinite"])
def test_weights_are_given_as_arrays(client, weights):
    graph = directed()
    rng = np.random.default_rng(0)
    kind = "float64" if weights == "infinite" else weights
    given = rng.integers(0, 50, graph.m).astype(kind)
    if weights == "infinite":
        given[rng.random(graph.m) < 0.3] = np.inf
    expected = Graph.from_edges(*by_target(graph), given, n=graph.n)
    cut = dask.array.from_array(given, chunks=347)
    with DistributedGraph.from_graph(graph, client, device="cpu") as placed:
        for form in (given, cut, *([given.tolist()] if weights != "float32" else [])):
            found = placed.with_weights(form)
            assert (found.m, found.directed, found.n) == (expected.m, True, graph.n)
            same(mgraph.sssp(found, 7), mgraph.sssp(expected, 7, device="cpu"))
            same(mgraph.bfs(found, 7), mgraph.bfs(expected, 7, device="cpu"))
        same(mgraph.sssp(placed, 7), mgraph.sssp(graph, 7, device="cpu"))  # which has its own still


def test_weights_are_a_function_of_the_ends(client):
    def length(src, dst):
        return (src * 7 + dst * 7) % 31

    graph = rmat(7)
    src, dst = by_target(graph)
    expected = Graph.from_edges(src, dst, length(src, dst), n=graph.n)
    found = rmat(7, client=client, device="cpu").with_weights(length)
    same(mgraph.sssp(found, 3), mgraph.sssp(expected, 3, device="cpu"))
    none = DistributedGraph.from_graph(Graph.from_edges([], [], n=9), client, device="cpu")
    assert mgraph.sssp(none.with_weights(length), 0).distances[0] == 0
    assert mgraph.sssp(none.with_weights([]), 0).distances[0] == 0


def test_wrong_weights_leave_nothing_behind(client):
    graph = directed()
    good = np.ones(graph.m)
    with DistributedGraph.from_graph(graph, client, device="cpu") as placed:
        for wrong, message in (
            (good[1:], "one per edge"),
            (good > 0, "truth values"),
            (np.full(graph.m, np.nan), "nan"),
            (["a"] * graph.m, "weights must be"),
            (None, "weights must be"),
            (dask.array.from_array(good > 0), "truth values"),
            (dask.array.from_array(good[1:]), "one per edge"),
            (dask.array.from_array(good * np.nan), "nan"),
            (lambda src, dst: src > dst, "truth values"),
            (lambda src, dst: src[:1], r"a function that returns an array of shape \(\d+,\), a weight .*, got \(1,\)"),
            (
                lambda src, dst: 2.5,
                r"a function that returns an array of shape \(\d+,\), a weight for each edge, got 2\.5",
            ),
            (2.5, rf"of shape \({graph.m},\), one per edge, got 2\.5"),
        ):
            with pytest.raises(InputError, match=message):
                placed.with_weights(wrong)
        with pytest.raises(ZeroDivisionError):
            placed.with_weights(lambda src, dst: 1 / 0)
        wait_until(lambda: len(names_kept(client)) == len(placed.ranges))
    with pytest.raises(
        InputError, match=r"^DistributedGraph\([^()]*\) has been closed: make the graph again$"
    ) as caught:
        placed.with_weights(good)
    assert str(caught.value).count("closed") == 1
    with pytest.raises(InputError, match="both directions"):
        rmat(6, client=client, device="cpu").with_weights(lambda src, dst: src - dst)
    gc.collect()
    wait_until(lambda: names_kept(client) == [])
