"""Graphs: what they are built from, the views that they keep, new weights, and invalid input."""

import copy
import pickle
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import dask
import dask.array as da
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import shortest_path

import mgraph
from mgraph import apsp
from mgraph import device as devices
from mgraph.algorithms.list_rank.call import list_rank
from mgraph.dtypes import MAX_VERTICES
from mgraph.errors import InputError, MemoryLimitError
from mgraph.generate import rmat
from mgraph.graph import Compressed, Graph, as_graph
from mgraph.graph.compressed import compress
from tests.support.memory import measured

QUICK = settings(deadline=None, max_examples=60)


WEIGHTS = st.sampled_from([np.float64, np.int32, None])


@st.composite
def edge_lists(draw, weights=WEIGHTS):
    """Vertices, ends and weights: often few vertices, with self-loops, repeated edges and zero weights."""
    n = draw(st.integers(0, 12))
    vertices = st.integers(0, max(0, n - 1))
    edges = draw(st.lists(st.tuples(vertices, vertices, st.integers(-3, 9)), max_size=40 if n else 0))
    src, dst, values = np.array(edges, np.int64).reshape(-1, 3).T
    kind = draw(weights)
    return n, src, dst, None if kind is None else values.astype(kind)


def triples(src, dst, weights=None):
    columns = [np.asarray(src).tolist(), np.asarray(dst).tolist()]
    if weights is not None:
        columns.append(np.asarray(weights).tolist())
    return list(zip(*columns, strict=True))


def unpacked(compressed):
    rows = np.repeat(np.arange(len(compressed.indptr) - 1), np.diff(compressed.indptr))
    return triples(rows, compressed.indices, compressed.weights)


def check_views(graph):
    """Check the invariants of a graph: its views are sorted and contain the same edges."""
    edges = triples(*graph.coo())
    assert len(edges) == graph.m
    assert [edge[:2] for edge in edges] == sorted(edge[:2] for edge in edges)
    assert unpacked(graph.csr()) == edges
    backwards = unpacked(graph.csc())
    assert [edge[:2] for edge in backwards] == sorted(edge[:2] for edge in backwards)
    assert sorted((v, u, *w) for u, v, *w in backwards) == sorted(edges)
    for view in (graph.csr(), graph.csc()):
        assert len(view.indptr) == graph.n + 1 and view.indptr[0] == 0 and view.indptr[-1] == graph.m
        assert view.indices.dtype == np.int32
        assert (view.weights is not None) == graph.weighted
    return edges


@QUICK
@given(edge_lists(), st.booleans())
def test_from_edges(edges, directed):
    n, src, dst, weights = edges
    graph = Graph.from_edges(src, dst, weights, n, directed)
    expected = triples(src, dst, weights)
    if not directed:
        expected += [(v, u, *w) for u, v, *w in expected if u != v]
        assert all(ours is theirs for ours, theirs in zip(graph.layout("csr"), graph.layout("csc"), strict=True))
    assert (graph.n, graph.directed, graph.weighted) == (n, directed, weights is not None)
    assert sorted(check_views(graph)) == sorted(expected)
    assert [edge[:2] for edge in check_views(graph.unweighted())] == [edge[:2] for edge in triples(*graph.coo())]
    assert not graph.unweighted().weighted


@QUICK
@given(edge_lists(st.just(np.float64)))
def test_views_are_those_of_scipy(edges):
    n, src, dst, weights = edges
    if n == 0:
        return
    graph = Graph.from_edges(src, dst, weights, n)
    matrix = sparse.coo_array((weights, (src, dst)), shape=(n, n))
    for view, form in ((graph.csr(), sparse.csr_array), (graph.csc(), sparse.csc_array)):
        ours = form((view.weights, view.indices, view.indptr), shape=(n, n))
        np.testing.assert_array_equal(ours.toarray(), matrix.toarray())  # repeated edges add up in both


@QUICK
@given(edge_lists(), st.booleans(), st.sampled_from(["coo", "csr", "csc", "lil", "dok"]))
def test_from_scipy(edges, directed, form):
    n, src, dst, weights = edges
    if n == 0:
        return  # SciPy lacks empty matrices in some formats
    values = np.ones(len(src), bool) if weights is None else weights
    matrix = sparse.coo_array((values, (src, dst)), shape=(n, n)).asformat(form)
    graph = Graph.from_scipy(matrix, directed)
    coo = matrix.tocoo()
    same = Graph.from_edges(coo.row, coo.col, None if weights is None else coo.data, n, directed)
    assert sorted(check_views(graph)) == sorted(check_views(same))
    assert graph.weighted == (weights is not None) and graph.directed == directed


def test_stored_zeros_are_edges():
    matrix = sparse.csr_array(([0.0, 1.0], ([0, 1], [1, 0])), shape=(2, 2))
    assert triples(*Graph.from_scipy(matrix).coo()) == [(0, 1, 0.0), (1, 0, 1.0)]


def test_empty_graphs():
    for graph in (
        Graph.from_edges([], []),
        Graph.from_edges([], [], [], n=0, directed=False),
        Graph.from_dense(np.zeros((0, 0))),
    ):
        assert (graph.n, graph.m) == (0, 0)
        check_views(graph)
    alone = Graph.from_edges([], [], n=3)
    assert (alone.n, alone.m) == (3, 0)
    assert alone.csr().indptr.tolist() == [0, 0, 0, 0]
    loop = Graph.from_edges([0], [0], directed=False)
    assert (loop.n, loop.m) == (1, 1)


def test_vertices_are_counted_by_the_largest_id():
    assert Graph.from_edges([2], [7]).n == 8
    assert Graph.from_edges([2], [7], n=100).n == 100


@pytest.mark.parametrize(
    ("given_type", "kept"),
    [
        (np.float16, np.float32),
        (np.float32, np.float32),
        (np.float64, np.float64),
        (np.uint8, np.int32),
        (np.int32, np.int32),
        (np.uint32, np.int64),
        (np.int64, np.int64),
    ],
)
def test_types_of_weights(given_type, kept):
    graph = Graph.from_edges([0], [1], np.ones(1, given_type))
    assert graph.weights_dtype == kept and graph.weighted


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (([0], [1, 2]), "1 entries and dst has 2"),
        (([[0]], [[1]]), "shape"),
        (([0.5], [1]), "float64"),
        (([0], [-3]), "-3"),
        (([0], [2**31]), f"{2**31}.*relabel"),
        (([0], [MAX_VERTICES]), "int32"),
        (([0], [5], None, 5), "n must be greater than the largest vertex id, 5, got 5"),
        (([0], [1], None, -1), "n must be .* got -1"),
        (([0], [1], None, 2.0), r"n must be .* got 2\.0"),
        (([0], [1], None, 2**31), "n must be an integer in .* got 2"),
        (([0], [1], [1, 2]), r"weights must be of shape \(1,\), one per edge, got \(2,\)"),
        (([0, 1], [1, 0], [1, np.nan]), "got nan for edge 1: leave that edge out"),
        (([0], [1], [-np.inf]), "-inf"),
        (([0], [1], [1j]), "complex"),
        (([0], [1], ["far"]), "weights must be floats .* got .*: .astype.float. makes numbers of text"),
        (([0], [1], np.array([2**63], np.uint64)), "int64"),
    ],
)
def test_from_edges_refuses(arguments, part):
    with pytest.raises(InputError, match=part):
        Graph.from_edges(*arguments)


def test_from_scipy_refuses():
    with pytest.raises(InputError, match=r"\(2, 3\).*square"):
        Graph.from_scipy(sparse.coo_array((2, 3)))
    with pytest.raises(InputError, match="ndarray"):
        Graph.from_scipy(np.zeros((2, 2)))


# Dense matrices


@QUICK
@given(st.integers(0, 8), st.sampled_from([np.float32, np.float64, np.int32, np.int64]), st.integers(0, 2**32))
def test_distance_matrices(n, dtype, seed):
    random = np.random.default_rng(seed)
    none = np.inf if np.dtype(dtype).kind == "f" else np.iinfo(dtype).max
    matrix = random.integers(-1, 4, (n, n)).astype(dtype)
    matrix[random.random((n, n)) < 0.4] = none
    graph = Graph.from_distances(matrix)
    assert graph.directed and graph.weights_dtype == dtype
    expected = [
        (i, j, matrix[i, j])
        for i in range(n)
        for j in range(n)
        if matrix[i, j] != none and (i != j or matrix[i, j] < 0)
    ]
    assert check_views(graph) == expected


@pytest.mark.parametrize("where", [(0, 0), (1, 2), (2999, 1)])
def test_nan_is_refused_with_its_place(where):
    matrix = np.zeros((3000, 3000), np.float32)  # more than one block of rows
    matrix[where] = np.nan
    with pytest.raises(InputError, match=rf"\({where[0]}, {where[1]}\).*NaN"):
        Graph.from_dense(matrix)


@pytest.mark.parametrize(
    ("matrix", "part"),
    [
        (np.zeros((2, 3)), "square"),
        (np.zeros(4), "square"),
        (np.zeros((2, 2), complex), "complex128"),
        (np.array([["a"]]), "weights must be floats .* got .*: .astype.float. makes numbers of text"),
    ],
)
def test_from_dense_refuses(matrix, part):
    with pytest.raises(InputError, match=part):
        Graph.from_dense(matrix)


def test_as_graph():
    graph = Graph.from_edges([0], [1])
    assert as_graph(graph) is graph
    assert as_graph(sparse.eye_array(3)).m == 3
    assert as_graph([[0, 2], [1, 0]]).weights_dtype == np.int64
    for value in ("a graph", None, [[1, 2], [3]], object()):
        with pytest.raises(InputError):
            as_graph(value)


def test_repr():
    assert repr(Graph.from_edges([0], [1], directed=False)) == "Graph(n=2, m=2, undirected, unweighted)"
    assert repr(Graph.from_distances(np.zeros((2, 2)))) == "Graph(n=2, dense, directed, float64)"


def test_ids_go_along():
    ids = np.array([5, 9])
    graph = Graph.from_edges([0], [1], [1.0], ids=ids)
    assert graph.ids.tolist() == [5, 9] and graph.unweighted().ids is graph.ids


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("roads.gr", r"expected a mgraph.Graph, a sparse or dense matrix, got str: mgraph.read\(path\)"),
        (Path("roads.gr"), r"got [\w.]*Path: mgraph.read\(path\)"),
        (None, "expected a mgraph.Graph, a sparse or dense matrix, got NoneType$"),
        (3, "matrix, got int$"),
        ({}, "matrix, got dict$"),
        (type("Graph", (), {"adjacency": None})(), r"got [\w.]+\.Graph: mgraph.Graph.from_networkx\("),
        (["a", "b"], r"the matrix has shape \(2,\): .* per vertex; mgraph.apsp_batch takes a list of graphs"),
        ([[1, 2], [3]], "row 1 of the matrix has length 1, row 0 has length 2"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_invalid_graphs(value, says):
    with pytest.raises(InputError, match=says):
        as_graph(value)


def test_a_sparse_matrix_is_not_dense():
    with pytest.raises(InputError, match="csr_array is a sparse matrix: give it to from_scipy"):
        Graph.from_dense(sparse.csr_array((2, 2)))


@pytest.mark.parametrize("weights", [None, np.float64])
def test_edges_by_target_are_made_in_little_memory(weights):
    graph = rmat(15, directed=True)
    src, dst, _ = graph.coo()
    graph = Graph.from_edges(src, dst, None if weights is None else np.ones(graph.m, weights))
    made, peak = measured(graph.csc)
    kept = sum(part.nbytes for part in made if part is not None)
    assert peak < kept + 3 * graph.m + 16 * graph.n


def test_memory_is_checked_for_both_directions(monkeypatch):
    edges = np.arange(1000)
    room = 12 * 1001 + 40 * 1500
    monkeypatch.setattr(devices.HostDevice, "available_memory", lambda self: room)
    assert Graph.from_edges(edges, edges + 1).m == 1000
    with pytest.raises(MemoryLimitError, match="2,000 edges"):
        Graph.from_edges(edges, edges + 1, directed=False)


def test_a_view_is_made_once_whoever_asks_first():
    graph, made = rmat(8, directed=True), []

    def make():
        time.sleep(0.1)
        made.append(np.ones(3))
        return made[0]

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: graph.kept("there", devices.find("cpu"), make), range(4)))
    assert len(made) == 1 and all(view is made[0] for view in found)


@pytest.mark.parametrize("weights", [False, True])
def test_what_is_computed_of_a_graph_holds_up_no_other(weights):
    """But those of the same edges, as each may need what the other computes; a copy has its own lock."""
    graph, cpu, begun, go_on = rmat(8, directed=True), devices.find("cpu"), threading.Event(), threading.Event()
    alike = graph.with_weights(np.ones(graph.m))
    others = [rmat(8, directed=True), graph.reversed(), pickle.loads(pickle.dumps(alike)), copy.deepcopy(alike)]

    def make():
        begun.set()
        return go_on.wait(60)

    with ThreadPoolExecutor(3) as threads:
        slow = threads.submit(graph.kept, "slow", cpu, make, weights=weights)
        assert begun.wait(60)
        for other in others:
            assert threads.submit(other.kept, "quick", cpu, lambda: 7, weights=True).result(60) == 7
        waits = threads.submit(alike.kept, "quick", cpu, lambda: 7, weights=True)
        time.sleep(0.05)
        assert not waits.done()
        go_on.set()
        assert slow.result(60) is True and waits.result(60) == 7


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_every_sparse_format_is_the_same_graph(form):
    matrix = sparse.random_array((30, 30), density=0.05, rng=np.random.default_rng(0))
    assert triples(*Graph.from_scipy(matrix.asformat(form)).coo()) == triples(*Graph.from_scipy(matrix).coo())


def test_a_stored_zero_is_an_edge_but_not_on_diagonals_or_in_blocks():
    matrix = sparse.csr_array((np.array([0.0, 2.0]), ([0, 1], [1, 2])), shape=(4, 4))
    assert triples(*Graph.from_scipy(matrix).coo()) == [(0, 1, 0), (1, 2, 2)]
    assert triples(*Graph.from_scipy(matrix.todia()).coo()) == [(1, 2, 2)]
    for blocks in ((1, 1), (2, 2), (4, 2)):
        assert triples(*Graph.from_scipy(matrix.tobsr(blocks)).coo()) == [(1, 2, 2)]


def test_masked_elements_are_neither_edges_nor_weights():
    masked = np.ma.array([1, 2], mask=[False, True])
    for edges in (([0, 1], [1, 2], masked), (masked, [1, 2]), ([0, 1], masked)):
        with pytest.raises(InputError, match="must be an array without masked elements"):
            Graph.from_edges(*edges)
    with pytest.raises(InputError, match="succ must be an array without masked elements"):
        list_rank(np.ma.array([0, 0], mask=[False, True]), device="cpu")
    assert Graph.from_edges([0, 1], [1, 2], np.ma.array([1, 2])).m == 2


def test_edges_of_infinite_weight_are_left_out():
    graph = Graph.from_edges([0, 0, 1], [1, 2, 2], [np.inf, 1.0, 2.0])
    assert triples(*graph.coo()) == [(0, 2, 1), (1, 2, 2)]


@pytest.mark.parametrize(
    ("dtype", "least", "known"), [(np.int32, -1, False), (np.int8, 0, True), (np.float32, -1, False)]
)
def test_whether_weights_are_negative(dtype, least, known):
    assert Graph.from_distances(np.array([[0, least], [2, 0]], dtype)).nonnegative is known
    assert Graph.from_edges([0], [1], np.array([least], dtype)).nonnegative is known


@pytest.mark.parametrize("read", [Graph.from_dense, Graph.from_adjacency, Graph.from_distances])
@pytest.mark.parametrize("dtype", [np.float64, np.int32, bool])
def test_masked_entries_of_rows_and_of_chunks_are_left_out(read, dtype):
    if read == Graph.from_distances and dtype is bool:
        return
    numbers = np.array([[0, 3, 1], [2, 0, 1], [1, 4, 0]]).astype(dtype)
    masked = np.ma.array(numbers, mask=[[0, 1, 0], [0, 0, 0], [0, 0, 0]])
    expected = apsp(read(masked), device="cpu").distances
    assert expected[0, 1] == (2 if dtype is bool else 5)
    lists = [next(iter(masked)), *numbers[1:].tolist()]
    with dask.config.set(scheduler="synchronous"):  # a client of another test may have been the default
        for matrix in (list(masked), tuple(masked), lists, da.from_array(masked, chunks=2)):
            assert np.array_equal(apsp(read(matrix), device="cpu").distances, expected)


def test_masked_entries_are_left_out():
    matrix = np.ma.masked_array([[0.0, 1.0], [2.0, 0.0]], [[False, True], [False, False]])
    assert triples(*Graph.from_dense(matrix).coo()) == [(1, 0, 2.0)]


def test_a_graph_that_cannot_be_sorted_in_memory(monkeypatch):
    from mgraph.device import HostDevice
    from mgraph.errors import MemoryLimitError

    monkeypatch.setattr(HostDevice, "available_memory", lambda self: 1 << 20)
    with pytest.raises(MemoryLimitError, match="1,000,000 vertices"):
        Graph.from_edges([0], [1], n=1_000_000)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Graph.from_edges([[0], [0, 1]], [1, 2]), "src"),
        (lambda: Graph.from_edges([0, 1], [[1], [1, 2]]), "dst"),
        (lambda: Graph.from_edges([0, 1], [1, 2], [[1], [1, 2]]), "weights"),
        (lambda: list_rank([[1], [1, 2]]), "succ"),
    ],
)
def test_ragged_arrays(make, name):
    with pytest.raises(InputError, match=f"{name} must be convertible to an array"):
        make()


def test_a_graph_without_vertices():
    with pytest.raises(InputError, match="from_edges"):
        Graph(3)


def weights_of_both_directions(graph, seed=0):
    src, dst, _ = graph.coo()
    return np.random.default_rng(seed).integers(1, 100, (graph.n, graph.n))[np.minimum(src, dst), np.maximum(src, dst)]


@given(edge_lists(), st.booleans())
@QUICK
def test_other_weights_equal_those_of_a_new_graph(edges, directed):
    n, src, dst, _ = edges
    graph = Graph.from_edges(src, dst, n=n, directed=directed)
    graph.csc()
    weights = weights_of_both_directions(graph)
    found = graph.with_weights(weights)
    ends = graph.coo()
    assert found.directed == directed and found.nonnegative
    assert sorted(check_views(found)) == sorted(triples(ends.src, ends.dst, weights))
    assert all(ours is theirs for ours, theirs in zip(found.layout("csc"), graph.layout("csc"), strict=True))
    expected = Graph.from_edges(ends.src, ends.dst, weights, n=n).csc()
    np.testing.assert_array_equal(found.csc().weights, expected.weights)
    assert graph.weights_dtype is None and graph.csr().weights is None


def test_other_weights_of_an_undirected_graph():
    graph = Graph.from_edges([0, 0, 1, 2], [1, 1, 2, 2], [7, 9, 3, 5], directed=False)  # parallel edges, a loop
    src, dst, weights = graph.coo()
    again = graph.with_weights(weights)
    np.testing.assert_array_equal(again.coo().weights, weights)
    wrong = weights.copy()
    wrong[(src == 2) & (dst == 1)] = 4
    with pytest.raises(mgraph.InputError, match=r"same in both directions .* got 3 from 1 to 2 and 4 back"):
        graph.with_weights(wrong)
    closed = graph.with_weights(np.where((src == 1) == (dst == 1), weights, np.inf))
    assert closed.m == 1 and closed.n == 3 and triples(*closed.coo()) == [(2, 2, 5.0)]


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1, 2], r"weights must be of shape \(3,\), one per edge, got \(2,\)"),
        ([1, np.nan, 2], "weights must be numbers, or inf for .no edge., got nan for edge 1"),
        ([True, False, True], "weights must be numbers, got truth values"),
        (np.ma.masked_equal([1, 2, 3], 2), "must be an array without masked elements"),
    ],
)
def test_invalid_weights(weights, words):
    with pytest.raises(mgraph.InputError, match=words):
        Graph.from_edges([0, 1, 2], [1, 2, 0]).with_weights(weights)
    with pytest.raises(mgraph.InputError, match=words):
        Graph.from_edges([0, 1, 2], [1, 2, 0], weights)


def test_truth_values_are_no_weights_of_edges():
    for call in (
        lambda: Graph.from_edge_index([[0, 1], [1, 0]], [True, False]),
        lambda: mgraph.apsp_batch(edge_index=[[0, 1], [1, 0]], batch=[0, 0], weights=[True, False]),
    ):
        with pytest.raises(mgraph.InputError, match="weights must be numbers, got truth values: leave them out"):
            call()


def test_other_weights_of_a_dense_graph():
    graph = Graph.from_distances([[0, 3], [4, 0]])
    found = graph.with_weights([-1, 8])
    graph.release()
    assert found.dense is None and not found.nonnegative and triples(*found.coo()) == [(0, 1, -1), (1, 0, 8)]
    assert triples(*graph.coo()) == [(0, 1, 3), (1, 0, 4)]


@given(edge_lists(), st.booleans())
@QUICK
def test_sparse_matrices_there_and_back(edges, directed):
    n, src, dst, weights = edges
    graph = Graph.from_edges(src, dst, weights, n=n, directed=directed)
    least = {}
    for source, target, *weight in triples(*graph.coo()):
        least[source, target] = min(weight, least.get((source, target), weight))
    matrix = graph.to_scipy()
    assert matrix.has_canonical_format
    again = Graph.from_scipy(matrix)
    assert triples(*again.coo()) == [(*ends, *weight) for ends, weight in sorted(least.items())]
    assert again.weights_dtype == graph.weights_dtype
    before = triples(*graph.coo())
    graph.to_scipy().data[:] = 0
    assert triples(*graph.coo()) == before


@pytest.mark.parametrize("dtype", [None, "int16", "int64", "float32"])
@pytest.mark.parametrize("both", [False, True])
def test_few_edges_are_grouped_as_many_are(monkeypatch, dtype, both):
    src, dst = np.random.default_rng(0).integers(0, 9, (2, 200))
    weights = None if dtype is None else np.arange(200).astype(dtype)
    few = compress(src, dst, weights, 9, np, both)
    monkeypatch.setattr("mgraph.graph.compressed.FEW", 0)
    for one, other in zip(few, compress(src, dst, weights, 9, np, both), strict=True):
        np.testing.assert_equal(one, other, strict=dtype is not None)


def test_scipy_finds_the_same_distances_if_edges_are_parallel():
    graph = Graph.from_edges([0, 0, 1, 1, 1], [1, 1, 2, 2, 0], [7, 5, 4, 6, 1])
    found = shortest_path(graph.to_scipy())
    assert np.array_equal(found[0], mgraph.sssp(graph, 0, device="cpu").distances) and found[0].tolist() == [0, 5, 9]


def test_networkx():
    pytest.importorskip("networkx")
    graph = Graph.from_edges([0, 2], [1, 2], [3, 4], n=4, directed=False, ids=[10, 11, 12, 13])
    made = graph.to_networkx()
    assert type(made).__name__ == "Graph" and sorted(made.edges(data="weight")) == [(0, 1, 3), (2, 2, 4)]
    assert made.nodes(data="id")[3] == 13 and len(made) == 4
    assert Graph.from_edges([0], [1]).to_networkx().is_directed()
    parallel = Graph.from_edges([0, 0], [1, 1], [5, 6]).to_networkx()
    assert type(parallel).__name__ == "MultiDiGraph" and sorted(w for *_, w in parallel.edges(data="weight")) == [5, 6]


@pytest.mark.parametrize("kind", ["Graph", "DiGraph", "MultiGraph", "MultiDiGraph"])
@pytest.mark.parametrize("nodes", [range(6), [4, 9, -3, 10**12, 7, 0], ["a", (1, 2), None, 3.5, "b", True]])
def test_from_networkx(kind, nodes):
    networkx = pytest.importorskip("networkx")
    given = getattr(networkx, kind)()
    nodes = [node for node in nodes if node is not None]
    given.add_nodes_from(nodes)
    ends = [(0, 1, 3.0), (1, 2, 4.0), (2, 2, 1.0), (4, 0, 2.5), (0, 1, 9.0), (3, 1, 0.0)]
    given.add_weighted_edges_from((nodes[i], nodes[j], weight) for i, j, weight in ends)
    graph = Graph.from_networkx(given)
    expected = networkx.to_numpy_array(given, weight="weight", nonedge=np.inf, multigraph_weight=min)
    assert (graph.n, graph.directed) == (len(nodes), given.is_directed())
    found = np.full((graph.n, graph.n), np.inf)
    src, dst, weights = graph.coo()
    np.minimum.at(found, (src, dst), weights)
    assert np.array_equal(found, expected)
    loops = networkx.number_of_selfloops(given)
    assert graph.m == (given.number_of_edges() if given.is_directed() else 2 * given.number_of_edges() - loops)
    assert (graph.ids is None) == (nodes == list(range(6))) and (graph.ids is None or graph.ids.tolist() == nodes)
    assert graph.ids is None or graph.vertices_of(nodes[::-1]).tolist() == list(range(len(nodes)))[::-1]
    assert not Graph.from_networkx(given, weight=None).weighted and not Graph.from_networkx(given, weight="x").weighted


def test_from_networkx_counts_edges_without_weight_as_one():
    networkx = pytest.importorskip("networkx")
    given = networkx.DiGraph([(0, 1), (1, 2, {"weight": 5})])
    assert Graph.from_networkx(given).csr().weights.tolist() == [1, 5]
    truths = networkx.DiGraph([(0, 1, {"weight": False}), (1, 2, {"weight": True})])  # numbers for NetworkX, too
    assert Graph.from_networkx(truths).csr().weights.tolist() == [0, 1]
    assert Graph.from_networkx(networkx.Graph()).n == 0
    with pytest.raises(mgraph.InputError, match="graph must be a NetworkX graph, got 'int'"):
        Graph.from_networkx(3)
    with pytest.raises(mgraph.InputError):
        Graph.from_networkx(networkx.DiGraph([(0, 1, {"weight": "heavy"})]))
    with pytest.raises(mgraph.InputError, match=r"weight must be the name of an attribute.*set_edge_attributes"):
        Graph.from_networkx(given, weight=lambda u, v, edge: 1)


@pytest.mark.parametrize("kind", ["Graph", "DiGraph", "MultiGraph", "MultiDiGraph"])
def test_from_networkx_hides_edges_whose_weight_is_none(kind):
    networkx = pytest.importorskip("networkx")
    given = getattr(networkx, kind)([(0, 1, {"weight": 2.5}), (1, 2, {"weight": None}), (2, 2, {"weight": None})])
    given.add_edge(2, 0)
    given.add_edge(3, 0, weight=4)
    lengths = networkx.single_source_dijkstra_path_length(given, 2)
    result = mgraph.sssp(Graph.from_networkx(given), 2)
    assert {v: result.distances[v] for v in range(4) if np.isfinite(result.distances[v])} == lengths
    if given.is_multigraph():
        given.add_edge(1, 2, "other", weight=7)
        assert sorted(Graph.from_networkx(given).csr().weights.tolist()) == sorted(
            [1, 2.5, 4, 7] * (1 if given.is_directed() else 2)
        )
    networkx.set_edge_attributes(given, None, "weight")
    assert Graph.from_networkx(given).m == 0 and Graph.from_networkx(given, weight="other").m > 0


def test_from_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"source": [5, -7, 10**15], "target": [-7, 10**15, 5], "km": [1.5, 2, 3], "name": list("abc")}
    )
    graph = Graph.from_pandas(frame, weight="km")
    assert graph.ids.tolist() == [-7, 5, 10**15] and graph.directed
    assert [part.tolist() for part in graph.coo()] == [[0, 1, 2], [2, 0, 1], [2, 1.5, 3]]
    assert Graph.from_pandas(frame, directed=False).m == 6
    small = Graph.from_pandas(pandas.DataFrame({"source": [0, 2], "target": [1, 0]}))
    assert (small.n, small.ids, small.weighted) == (3, None, False)
    for options in ({"source": "from"}, {"weight": "miles"}, {"weight": "name"}):
        with pytest.raises(mgraph.InputError):
            Graph.from_pandas(frame, **options)


def test_without_networkx(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(mgraph.MissingPackageError, match=r"to_networkx\(\) needs networkx"):
        Graph.from_edges([0], [1]).to_networkx()


def test_kept_arrays_are_listed_and_released(device):
    graph = Graph.from_edges([0, 1, 2, 0], [1, 2, 0, 2], [4.0, 5.0, 6.0, 7.0])
    expected = mgraph.sssp(graph, 0, device=device).distances.tolist(), mgraph.bfs(graph, 0, device=device).distances
    other = graph.with_weights([1, 1, 1, 1])
    mgraph.apsp(graph, method="sssp", dtype="float32", device=device)
    kept = graph.cached()
    assert {each.device for each in kept} <= {"cpu", "cuda:0"} and all(each.nbytes > 0 for each in kept)
    assert ("csc.indices", "cpu", 16) in kept and not any(
        each.name == "csr.indices" for each in kept if each.device == "cpu"
    )
    if device != "cpu":
        graph.release("cuda:0")
        assert {each.device for each in graph.cached()} == {"cpu"}
    graph.release()
    assert graph.cached() == other.cached() == []
    assert triples(*graph.coo()) == [(0, 1, 4.0), (0, 2, 7.0), (1, 2, 5.0), (2, 0, 6.0)]
    assert mgraph.sssp(graph, 0, device=device).distances.tolist() == expected[0]
    assert np.array_equal(mgraph.bfs(graph, 0, device=device).distances, expected[1])
    assert mgraph.sssp(other, 0, device=device).distances.tolist() == [0, 1, 1]


def test_an_unknown_order_of_edges_is_refused():
    graph = Graph.from_edges([0, 1], [1, 2])
    with pytest.raises(InputError, match="order must be 'csr' or 'csc', got 'foo'"):
        graph.adjacency("foo")
    assert graph.cached() == []


def test_a_plan_names_memory_in_use_already():
    graph = Graph.from_edges([0, 1, 2], [1, 2, 0])
    made = mgraph.bfs(graph, 0, device="cpu").plan
    held = graph.held(devices.find("cpu"), "csr.indptr", "csr.indices")
    assert made.devices[0].held == held > 0 and f"({held} B already allocated)" in made.explain(True)


def test_plans_count_the_edges_on_the_device_that_they_use(device):
    """Also those of a search in reverse, by the other end; a matrix and a hierarchy have their own."""
    graph, place = mgraph.generate.weighted(rmat(7, directed=True), (1, 9)), devices.find(device)
    edges = [f"{order}.{part}" for order in ("csr", "csc") for part in ("indptr", "indices")]
    calls = [
        (edges, partial(apsp, method="sssp")),
        ([], partial(apsp, method="blocked")),
        ([], partial(apsp, method="squaring")),
        ([*edges, "csc.lengths.int32"], partial(apsp, method="johnson")),
        ([*edges, "csc.lengths.int32"], partial(mgraph.distances, sources=[1], method="sssp")),
        ([*edges, "lengths.int32"], partial(mgraph.distances, sources=[1], method="sssp", reverse=True)),
        ([], partial(mgraph.distances, sources=[1], method="hierarchy")),
        ([], partial(mgraph.distances, sources=[1], method="blocked")),
    ]
    for names, call in calls:
        held = graph.held(place, *names)
        plan = call(graph, device=device).plan
        assert plan.devices[0].held == held, (names, plan.method)
        assert held <= plan.peak_bytes[0] and graph.held(place, *edges) > 0


def test_a_search_in_reverse_uses_the_edges_of_the_graph(device):
    graph = mgraph.generate.weighted(rmat(7, directed=True), (1, 9))
    searches = partial(mgraph.distances, sources=[1, 5], device=device, predecessors=True)
    for method in ("sssp", "johnson", "bfs"):
        expected = searches(graph.reversed(), method=method)
        first = searches(graph, method=method, reverse=True)
        kept = graph.cached()
        again = searches(graph, method=method, reverse=True)
        assert graph.cached() == kept
        for found in (first, again):
            assert np.array_equal(found.distances, expected.distances)
            assert np.array_equal(found.predecessors, expected.predecessors)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float64])
def test_no_call_takes_another_graphs_weights(dtype):
    graph = Graph.from_edges([0, 1, 0], [1, 2, 2], np.array([1, 2, 9], dtype), directed=False)
    src, dst, _ = graph.coo()
    other = graph.with_weights(np.array([[0, 7, 3], [7, 0, 8], [3, 8, 0]], dtype)[src, dst])
    anew = Graph.from_edges(*other.coo(), n=3)
    for call, options in (
        (mgraph.sssp, {"source": 0}),
        (mgraph.sssp, {"source": 0, "method": "bellman-ford"}),
        (mgraph.apsp, {"method": "sssp"}),
        (mgraph.apsp, {"method": "blocked"}),
        (mgraph.minimum_spanning_forest, {}),
    ):
        before, found, expected = (call(each, device="cpu", **options) for each in (graph, other, anew))
        for name, array in expected.arrays.items():
            np.testing.assert_array_equal(found.arrays[name], array)
        assert not np.array_equal(np.asarray(before), np.asarray(found)) or call is mgraph.minimum_spanning_forest


def test_weights_of_a_distance_matrix_beyond_int64_are_refused():
    matrix = np.array([[0, 2**63 + 5], [7, 2**64 - 1]], np.uint64)
    with pytest.raises(InputError, match="weights must be in the range of int64, got 9223372036854775813"):
        Graph.from_distances(matrix).coo()
    matrix[0, 1] = 2**64 - 1  # no edge
    assert Graph.from_distances(matrix).coo().weights.tolist() == [7]


def test_an_undirected_graph_takes_new_weights_of_parallel_edges():
    graph = Graph.from_edges([0, 1, 1, 2], [1, 0, 1, 0], [4, 3, 9, 5], directed=False)
    src, dst, weights = graph.coo()
    doubled = graph.with_weights(2 * weights)
    assert sorted(zip(*(part.tolist() for part in doubled.coo()), strict=True)) == sorted(
        zip(src.tolist(), dst.tolist(), (2 * weights).tolist(), strict=True)
    )
    weights = weights.copy()
    weights[(src == 1) & (dst == 0)] = [4, 5]
    with pytest.raises(InputError, match="got 3 from 0 to 1"):
        graph.with_weights(weights)


MATRIX = np.array([[0, 3, 0], [2, 0, 1], [0, 5, 0]], np.int32)
CSR = sparse.csr_array(MATRIX)
BACK = np.arange(10, 14)


def a_tensor(array):
    """Return an array as a library's that speaks DLPack alone."""
    return type("Tensor", (), {"__dlpack__": array.__dlpack__, "__dlpack_device__": array.__dlpack_device__})()


@pytest.mark.parametrize(
    ("arrays", "make"),
    [
        ((CSR.data, CSR.indices, CSR.indptr), lambda *given: Graph.from_scipy(sparse.csr_array(given))),
        ((CSR.data, CSR.indices, CSR.indptr), lambda *given: mgraph.Hierarchy(sparse.csr_array(given)).graph),
        (
            (CSR.data, CSR.indices, CSR.indptr),
            lambda *given: mgraph.generate.weighted(sparse.csr_array(given), (1, 9), "int32"),
        ),
        ((CSR.data, CSR.indices, CSR.indptr), lambda *given: Graph.from_scipy(sparse.csc_array(given))),
        ((CSR.data, *CSR.nonzero()), lambda w, *ends: Graph.from_scipy(sparse.coo_array((w, ends)))),
        ((*CSR.nonzero(), CSR.data, BACK), lambda *given: Graph.from_edges(*given[:3], ids=given[3][:3])),
        ((np.stack(CSR.nonzero()),), Graph.from_edge_index),
        ((CSR.data,), Graph.from_scipy(CSR).with_weights),
        ((BACK,), lambda weights: mgraph.Hierarchy(CSR).customize(weights).graph),
        ((MATRIX,), Graph.from_adjacency),
        ((MATRIX,), Graph.from_distances),
        ((MATRIX.astype(float) + np.diag([np.inf] * 3),), Graph.from_dense),
        ((MATRIX,), lambda matrix: Graph.from_distances(np.ma.array(matrix))),
        ((MATRIX,), lambda matrix: Graph.from_distances(a_tensor(matrix))),
        ((MATRIX,), lambda matrix: Graph.from_distances(matrix.T)),
    ],
)
def test_arrays_of_the_caller_may_change_later(arrays, make):
    mine = [array.copy() for array in arrays]
    graph, expected = make(*mine), unpacked(make(*arrays).csr())
    for array in mine:
        array[...] = 10**8
    assert unpacked(graph.csr()) == expected
    assert graph.ids is None or graph.ids.tolist() == BACK[:3].tolist()


def test_matrices_are_shared_if_asked_for():
    shared = Graph.from_scipy(CSR, copy=False).csr()
    assert all(np.shares_memory(*pair) for pair in zip(shared, (CSR.indptr, CSR.indices, CSR.data), strict=True))
    for make in (Graph.from_distances, Graph.from_dense):
        matrix = np.where(MATRIX == 0, np.inf, MATRIX)
        assert make(matrix, copy=False).dense is matrix
        with pytest.raises(InputError, match="copy must be True or False, got 'no'"):
            make(matrix, copy="no")


def test_a_shared_matrix_that_becomes_negative_is_refused():
    matrix = np.ones((3, 3))
    graph = Graph.from_distances(matrix, copy=False)
    matrix[:] = -1
    with pytest.raises(InputError, match="had none when the graph was made"):
        mgraph.sssp(graph, 0, device="cpu")


class Stubborn(np.ndarray):
    def __array_function__(self, func, types, args, kwargs):
        raise TypeError("no function of NumPy takes this array")


def test_arrays_that_refuse_functions_of_numpy():
    assert Graph.from_distances(np.ones((3, 3)).view(Stubborn)).n == 3
    assert Graph.from_edges(BACK.view(Stubborn), BACK.view(Stubborn)).m == len(BACK)


def test_a_matrix_in_a_file_is_not_copied(tmp_path):
    np.save(tmp_path / "matrix.npy", MATRIX)
    for mode in ("r", "c"):
        matrix = np.load(tmp_path / "matrix.npy", mmap_mode=mode)
        assert np.shares_memory(Graph.from_distances(matrix).dense, matrix)


def test_what_a_graph_hands_out_is_read_only():
    for directed in (True, False):
        graph = Graph.from_edges([0, 1, 1], [1, 2, 0], [3, 1, 2], directed=directed, ids=[7, 8, 9])
        reached = mgraph.sssp(graph, 0, device="cpu").distances.tolist()
        for array in (*graph.csr(), *graph.csc(), *graph.coo(), *graph.adjacency("csc"), graph.ids):
            with pytest.raises(ValueError, match="read-only"):
                array[:] = 10**8
        assert mgraph.sssp(graph, 0, device="cpu").distances.tolist() == reached


@pytest.mark.gpu
def test_what_a_graph_hands_out_is_a_copy_on_a_gpu():
    import cupy

    for graph in (
        Graph.from_edges(*(cupy.array(part) for part in ([0, 1, 1], [1, 2, 0], [3, 1, 2]))),
        Graph.from_distances(cupy.array(MATRIX)),
    ):
        before = unpacked(Compressed(*map(cupy.asnumpy, graph.csr())))
        for array in (*graph.csr(), *graph.csc(), *graph.coo(), *graph.adjacency("csc")):
            array[:] = 10**8
        assert unpacked(Compressed(*map(cupy.asnumpy, graph.csr()))) == before
    mine = cupy.array(MATRIX)
    graph = Graph.from_distances(mine)
    mine[:] = 7
    assert cupy.asnumpy(graph.dense).tolist() == MATRIX.tolist()


@pytest.mark.parametrize("form", ["csr", "csc", "bsr"])
@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("indptr", [0, 2**63 - 1, -2, 3], "indptr of the matrix must ascend from 0"),
        ("indptr", [0, 10**6, 3, 3], "indptr of the matrix must ascend from 0"),
        ("indptr", [0, 1, 2, 30], "indptr of the matrix must ascend from 0"),
        ("indptr", [0, 1], "indptr of the matrix must have 4 elements, got 2"),
        ("indptr", [], "indptr of the matrix must have 4 elements, got 0"),
        ("indptr", [0, 0.5, 1, 3], "must be a vector of signed integers, got float64"),
        ("indices", [0, None, 1], "must be a vector of signed integers, got object"),
        ("indices", [0, 1, 7], "the matrix contradicts itself"),
        ("indices", [0, 1, -7], "the matrix contradicts itself"),
    ],
)
def test_a_sparse_matrix_whose_arrays_were_assigned(form, name, values, message):
    matrix = sparse.eye_array(3, format=form)
    setattr(matrix, name, np.array(values) if values else np.array(values, np.int64))
    with pytest.raises(InputError, match=message):
        Graph.from_scipy(matrix)


def test_a_networkx_graph_without_edges_has_no_weights():
    networkx = pytest.importorskip("networkx")
    assert mgraph.Graph.from_networkx(networkx.empty_graph(2)).weights_dtype is None
    batch = mgraph.apsp_batch([networkx.path_graph(3), networkx.empty_graph(2)], device="cpu")
    assert batch.distances.dtype == np.int8
