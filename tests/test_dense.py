"""The zeros of a dense matrix: no edges, edges of weight zero, or an error that asks which."""

import inspect
import json

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import shortest_path

import mgraph
from mgraph import AmbiguousZerosError, Graph, InputError
from mgraph.algorithms.registry import ALGORITHMS
from mgraph.graph import StoredMatrix, dense, grouping
from tests.support.calls import arguments
from tests.support.commands import invoke

inf = np.inf

#: Two vertices that are connected and one that is not, as SciPy and NetworkX write it.
PAIR = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])


class Elsewhere:
    """An array that is not in memory, as of Zarr."""

    def __init__(self, array):
        self.array, self.shape, self.dtype = array, array.shape, array.dtype
        self.most = 0

    def __getitem__(self, key):
        self.most = max(self.most, self.array[key].size)
        return self.array[key]


def edges(graph):
    """The edges by their ends, with their weights."""
    src, dst, weights = graph.coo()
    weights = np.ones(len(src)) if weights is None else weights
    return dict(zip(zip(src.tolist(), dst.tolist(), strict=True), weights.tolist(), strict=True))


CALLS = [name for name, entry in ALGORITHMS.items() if "list" not in entry.takes]


def called(name, matrix):
    entry = ALGORITHMS[name]
    hops = {"weight": False} if "weight" in inspect.signature(entry.call).parameters else {}  # of zero weights
    return entry.call(*arguments(name, matrix, sources=[0]), device="cpu", **hops)


@pytest.mark.parametrize("name", CALLS)
def test_ambiguous_zeros_are_refused_by_every_call(name):
    for matrix in (PAIR, PAIR.astype(float), PAIR.tolist(), np.ma.array(PAIR, mask=False), np.zeros((2, 2))):
        with pytest.raises(AmbiguousZerosError, match=r"Graph\.from_adjacency\(matrix\).*Graph\.from_distances"):
            called(name, matrix)
    for matrix in (Graph.from_adjacency(PAIR), Graph.from_distances(PAIR), PAIR > 0, np.where(PAIR, 1.0, inf)):
        called(name, matrix)
    assert issubclass(AmbiguousZerosError, InputError)


@pytest.mark.parametrize(
    ("matrix", "m"),
    [
        ([[0, 3, inf], [2, 0, 0], [1, 4, 0]], 5),  # an infinity
        ([[0.0, 3.0], [2.0, 0.0]], 2),  # no zeros off the diagonal
        ([[5, 3], [2, -1]], 3),
        ([[0, 0], [2**31 - 1, 0]], 2),  # an int64 that is not infinity
        (np.array([[0, 0], [2**31 - 1, 0]], np.int32), 1),
        (np.array([[0, 0], [255, 0]], np.uint8), 1),
        (np.ma.array([[0, 0], [7, 0]], mask=[[0, 0], [1, 0]]), 1),
        ([[0]], 0),
        ([[inf, 0], [0, 0]], 2),
        (np.empty((0, 0)), 0),
    ],
)
def test_unambiguous_matrices(matrix, m):
    if isinstance(matrix, list) and m == 2 and matrix[1][0] == 2**31 - 1:
        with pytest.raises(AmbiguousZerosError):
            Graph.from_dense(matrix)
    else:
        assert Graph.from_dense(matrix).m == m
    assert Graph.from_distances(matrix).m == m


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint64"])
@pytest.mark.parametrize("where", ["memory", "elsewhere"])
def test_a_zero_or_an_infinity_anywhere(dtype, where):
    """Every element counts, also of a matrix that is read in several parts."""
    n = 1200
    matrix = np.ones((n, n), dtype)
    np.fill_diagonal(matrix, 0)
    place = np.asarray if where == "memory" else Elsewhere
    none = inf if dtype[0] == "f" else np.iinfo(dtype).max
    assert Graph.from_dense(place(matrix)).nonnegative
    for i, j in ((0, 1), (n - 1, n - 2), (n // 2, 7)):
        matrix[i, j] = 0
        with pytest.raises(AmbiguousZerosError):
            Graph.from_dense(place(matrix))
        for k in ((0, 0), (n - 1, 3), (1, n - 1)):
            kept, matrix[k] = matrix[k], none
            Graph.from_dense(place(matrix))
            matrix[k] = kept
        matrix[i, j] = 1
    if where == "elsewhere":
        stored = Elsewhere(matrix)
        Graph.from_dense(stored)
        Graph.from_adjacency(stored)
        assert stored.most < n * n / 2


@pytest.mark.parametrize("cores", ["one", "all"])
def test_what_a_matrix_of_several_chunks_contains(cores, monkeypatch):
    monkeypatch.setattr(grouping, "MANY", 1 if cores == "all" else 1 << 40)
    monkeypatch.setattr(dense, "chunk_rows", lambda n: 7)
    matrix = np.random.default_rng(8).random((60, 60)) + 1
    assert dense.scan_matrix(matrix) == (True, False)
    matrix[41, 3] = -1
    assert dense.scan_matrix(matrix) == (False, False)
    matrix[17, 50] = 0
    assert dense.scan_matrix(matrix) == (False, True)
    matrix[2, 9] = np.inf
    assert dense.scan_matrix(matrix) == (False, False)
    matrix[55, 1], matrix[30, 2] = np.nan, -np.inf
    with pytest.raises(InputError, match=r"entry \(30, 2\) of the matrix is -inf"):
        dense.scan_matrix(matrix)


def test_adjacency_is_what_scipy_reads():
    random = np.random.default_rng(5)
    for dtype in ("float32", "float64", "int16", "int64", "uint8"):
        matrix = (random.integers(0, 9, (40, 40)) * (random.random((40, 40)) < 0.1)).astype(dtype)
        expected = edges(Graph.from_scipy(sparse.csr_array(matrix)))
        for given in (matrix, np.asfortranarray(matrix), matrix.tolist(), Elsewhere(matrix), StoredMatrix(matrix)):
            graph = Graph.from_adjacency(given)
            assert edges(graph) == expected and graph.directed and graph.nonnegative
        found = mgraph.apsp(Graph.from_adjacency(matrix), dtype="float64", device="cpu").distances
        np.testing.assert_array_equal(found, shortest_path(sparse.csr_array(matrix)))


def test_adjacency_of_other_kinds():
    assert edges(Graph.from_adjacency([[-2.5, inf], [0, 0]])) == {(0, 0): -2.5}
    assert not Graph.from_adjacency([[0, -1], [0, 0]]).nonnegative
    assert edges(Graph.from_adjacency(np.ma.array([[0, 3], [4, 0]], mask=[[0, 1], [0, 0]]))) == {(1, 0): 4}
    assert Graph.from_adjacency(np.array([[0, 255], [0, 0]], np.uint8)).extremes() == (255, 255, True)
    assert Graph.from_adjacency(np.empty((0, 0))).n == 0 and Graph.from_adjacency(np.zeros((3, 3))).m == 0
    for bad, message in (([[0, np.nan], [1, 0]], r"\(0, 1\).*NaN"), ([[0, 1], [-inf, 0]], r"\(1, 0\).*-inf")):
        for make in (Graph.from_adjacency, Graph.from_distances, Graph.from_dense):
            with pytest.raises(InputError, match=message):
                make(bad)
    with pytest.raises(InputError, match="from_scipy"):
        Graph.from_adjacency(sparse.eye_array(3))
    with pytest.raises(InputError, match="square"):
        Graph.from_adjacency([[0, 1]])
    with pytest.raises(InputError, match="object"):
        Graph.from_adjacency([[None, 1], [1, None]])


class Frame:
    """An object that NumPy converts to an array, as a DataFrame."""

    def __init__(self, array):
        self.array, self.shape = array, array.shape

    def __array__(self, dtype=None, copy=None):
        return self.array


@pytest.mark.parametrize("name", CALLS)
def test_boolean_matrices_are_edges_in_every_call(name):
    truth = np.array([[False, True, False], [False, False, True], [False, False, True]])
    truth[2, 2] = name != "core_number"  # which refuses loops

    def found(given):
        return {name: np.asarray(array) for name, array in called(name, given).arrays.items()}

    expected = found(Graph.from_scipy(sparse.csr_array(truth)))
    for given in (truth, truth.tolist(), Frame(truth), Elsewhere(truth), np.asfortranarray(truth)):
        np.testing.assert_equal(found(given), expected)
    masked = np.ma.array(np.ones((3, 3), bool), mask=~truth)
    np.testing.assert_equal(found(masked), expected)
    for given in (np.bool_(True), np.array([True, False])):
        with pytest.raises(InputError, match="square"):
            called(name, given)


def test_boolean_matrices_are_not_distances():
    for given in (np.eye(2, dtype=bool), np.ma.array(np.eye(2, dtype=bool), mask=True)):
        with pytest.raises(InputError, match="from_adjacency"):
            Graph.from_distances(given)


def test_rows_of_unequal_length():
    for rows in ([[0, 3], [4]], [[0, 3, 1], [4, 0]], ((0, 3), (4,))):
        with pytest.raises(InputError, match=r"row 1 of the matrix has length"):
            mgraph.apsp(rows)
    with pytest.raises(InputError, match="matrix"):
        mgraph.apsp([np.zeros(2), np.zeros(3)])


def test_the_meaning_of_zeros_in_files(tmp_path):
    path = tmp_path / "pair.npy"
    np.save(path, PAIR)
    with pytest.raises(AmbiguousZerosError, match=r"pair\.npy.*dense='adjacency'.*dense='distances'"):
        mgraph.read(path)
    assert edges(mgraph.read(path, dense="adjacency")) == {(0, 1): 1, (1, 0): 1}
    assert mgraph.read(path, dense="distances").m == 6
    with pytest.raises(InputError, match="dense must be"):
        mgraph.read(path, dense="zeros")
    text = tmp_path / "edges.txt"
    text.write_text("0 1\n")
    with pytest.raises(InputError, match="dense='adjacency' is for a dense matrix"):
        mgraph.read(text, dense="adjacency")
    np.save(path, PAIR > 0)
    assert not mgraph.read(path).weighted and mgraph.read(path).m == 2
    with pytest.raises(mgraph.FormatError, match="no weights"):
        mgraph.read(path, weighted=True)


def test_the_meaning_of_zeros_on_the_command_line(tmp_path):
    path = str(tmp_path / "pair.npy")
    np.save(path, PAIR)

    def run(*words):
        return invoke(*words, "--device", "cpu", "--json")

    refused = run("components", path)
    assert refused.exit_code == 2 and "--dense adjacency" in refused.stderr
    assert json.loads(run("components", path, "--dense", "adjacency").stdout)["components"] == 2
    assert json.loads(run("components", path, "--dense", "distances").stdout)["components"] == 1
    assert run("components", "--rmat", "3", "--dense", "distances").exit_code == 2
    np.save(path, PAIR > 0)
    assert json.loads(run("closure", path).stdout)["reachable_pairs"] == 5


class InChunks:
    """A matrix in chunks of rows that records the rows that are read, as Zarr, HDF5 and Dask decode whole chunks."""

    def __init__(self, matrix, chunks):
        self.shape, self.dtype, self.chunks = matrix.shape, matrix.dtype, chunks
        self.matrix, self.read = matrix, []

    def __getitem__(self, key):
        self.read.append((key[0].start, key[0].stop))
        return self.matrix[key]


@pytest.mark.parametrize(("chunks", "rows"), [((96, 50), 96), (((96, 96, 70), (262,)), 96), (None, 262), ((1, 1), 262)])
def test_a_chunk_is_read_once(monkeypatch, chunks, rows):
    monkeypatch.setattr("mgraph.graph.stored.chunk_rows", lambda columns: 40 if rows == 96 else 300)
    matrix = mgraph.generate.random_matrix(262)
    source = InChunks(matrix, chunks)
    part = StoredMatrix(source, slice(100, 262))
    starts = [some.start for some in part.bands()]
    assert starts == ([0, 92] if rows == 96 else [0])
    np.testing.assert_array_equal(
        mgraph.apsp(source, device="cpu").distances, mgraph.apsp(matrix, device="cpu").distances
    )
    assert set(source.read) == {(first, min(first + rows, 262)) for first in range(0, 262, rows)}
