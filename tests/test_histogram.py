"""Histograms of distances, from each source and of whole graphs, against NumPy, SciPy and NetworkX."""

import numpy as np
import pytest
from scipy.sparse import csgraph, csr_array

import mgraph
from mgraph import InputError

nx = pytest.importorskip("networkx")

INF = float("inf")


def random_graph(seed, dtype, directed, most=9):
    """A graph, and SciPy's distances between its vertices."""
    random = np.random.default_rng(seed)
    n, m = int(random.integers(1, 60)), int(random.integers(0, 150))
    src, dst = random.integers(0, n, (2, m))
    weights = None if dtype is None else random.integers(1, most, m).astype(dtype)
    if dtype is not None and np.dtype(dtype).kind == "f":
        weights = weights / np.asarray(8, dtype)  # whose sums are exact
    graph = mgraph.Graph.from_edges(src, dst, weights, n=n, directed=directed)
    best = np.full((n, n), INF)
    np.minimum.at(best, (src, dst), np.ones(m) if weights is None else weights)
    if not directed:
        best = np.minimum(best, best.T)
    rows, columns = np.isfinite(best).nonzero()
    matrix = csr_array((best[rows, columns], (rows, columns)), shape=(n, n))
    return graph, csgraph.dijkstra(matrix)


def in_bins(rows, edges):
    """NumPy's histogram of each row, without what is out of reach."""
    return [np.histogram(row[np.isfinite(row)], edges)[0].tolist() for row in rows]


METHODS = {None: ("auto", "bfs", "blocked", "hierarchy"), "weighted": ("auto", "sssp", "blocked", "hierarchy")}


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("dtype", [None, np.int32, np.float32, np.float64])
def test_rows_are_numpys(dtype, directed):
    for seed in range(6):
        graph, rows = random_graph(seed, dtype, directed)
        edges = [0, 1, 2, 3.5, 5, 9, 14]
        expected = in_bins(rows, edges)
        for method in METHODS[None if dtype is None else "weighted"]:
            found = mgraph.distances(graph, reduce=("histogram", edges), method=method, device="cpu")
            assert found.histogram.dtype == np.int64 and found.histogram.tolist() == expected, method
            found.verify(graph, rows=None)
        prepared = mgraph.Hierarchy(graph, range(graph.n), device="cpu")
        assert prepared.distances(reduce=["reached", ("histogram", edges)]).histogram.tolist() == expected
        some = mgraph.distances(graph, [0], [0, 0], reduce=("histogram", np.array(edges)), device="cpu")
        assert some.histogram.tolist() == [[1, 0, 0, 0, 0, 0]]


@pytest.mark.parametrize("method", ["sssp", "hierarchy"])
@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64])
def test_edges_that_are_distances(dtype, method):
    graph = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 3], np.array([1, 1, 2], dtype))
    asked = {"method": method, "dtype": np.dtype(dtype), "device": "cpu"}
    for edges in ([0, 1, 2, 4], [0.5, 1, 2, INF], [-3, 0, 1.5, 2], [2, 3.999, 1e300], [4, 5], [0.1, 0.9]):
        found = mgraph.distances(graph, [0], reduce=("histogram", edges), **asked).histogram
        finite = [min(edge, 1e9) for edge in edges]
        assert found.tolist() == in_bins(np.array([[0.0, 1, 2, 4]]), finite), edges
    tenths = mgraph.Graph.from_edges([0], [1], np.array([0.1], np.float32))
    low = float(np.float32(0.1))
    for edges, count in (([0.1, low], 1), ([low, 1], 1), ([0, 0.1], 0), ([0.05, low, 1], 0)):
        found = mgraph.distances(tenths, [0], [1], reduce=("histogram", edges), method=method, device="cpu").histogram
        assert found[0, 0] == count, edges


def test_negative_distances():
    graph = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 3], [5, -7, 1])
    for method in ("johnson", "hierarchy"):
        found = mgraph.distances(graph, [0], reduce=("histogram", [-2, -1, 0, 5]), method=method, device="cpu")
        assert found.histogram.tolist() == [[1, 1, 2]]


def test_columns_of_a_table():
    graph = mgraph.Graph.from_edges([0, 1], [1, 2])
    found = mgraph.distances(graph, reduce=["reached", ("histogram", [0, 1, INF])], device="cpu")
    table = found.to_pandas()
    assert list(table) == ["reached", "0 to 1", "1 to inf"] and table["1 to inf"].tolist() == [2, 1, 0]


@pytest.mark.parametrize("edges", [[], [1], [1, 1], [2, 1], [0, float("nan")], [INF, 1], [[0, 1]], ["a", "b"]])
def test_bad_edges(edges):
    with pytest.raises(InputError, match=r"reduce.*two edges or more"):
        mgraph.distances([[0, 1], [1, 0]], reduce=("histogram", edges), device="cpu")


def test_a_histogram_once():
    with pytest.raises(InputError, match="'histogram' once"):
        mgraph.distances([[0, 1], [1, 0]], reduce=[("histogram", [0, 1])] * 2, device="cpu")
