"""Edges grouped on all cores: the same arrays as SciPy makes on one core, for any number of chunks and buckets."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse

from mgraph import device as devices
from mgraph.errors import InputError
from mgraph.generate import rmat
from mgraph.graph import Graph, compressed, grouping
from mgraph.graph.compressed import compress, transposed

QUICK = settings(deadline=None, max_examples=150)

ENDS = st.sampled_from([np.int32, np.int64])
WEIGHTS = st.sampled_from([None, np.int32, np.float32, np.int64, np.float64])


@pytest.fixture(autouse=True)
def all_cores(monkeypatch):
    """Group even the smallest graphs by the kernels."""
    monkeypatch.setattr(grouping, "MANY", 1)


@pytest.fixture
def small_buckets(monkeypatch):
    """Cut buckets so that graphs of a test have many, and some have rooms of their own."""
    monkeypatch.setattr(grouping, "FEWEST_RANGES", 5)
    monkeypatch.setattr(grouping, "MOST_RANGES", 6)
    monkeypatch.setattr(grouping, "BUCKET", 4)


def plain(call, *arguments, **named):
    """Return what the call returns with SciPy's conversions."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "MANY", 1 << 60)
        return call(*arguments, **named)


def same(found, expected):
    """Check that both have the same arrays, of the same types, for which no kernel is compiled again."""
    for one, other in zip(found, expected, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            assert one.dtype == other.dtype and np.array_equal(one, other)
            assert not grouping.copied_bytes(one, one.dtype)


@st.composite
def edges(draw, n=None):
    """Vertices, ends and weights: spread, in order, reversed, or at few vertices; each weight another one."""
    n = n or draw(st.sampled_from([1, 2, 7, 63, 500, 5000, 70_000, 1 << 17]))
    m = draw(st.sampled_from([1, 2, 5, 64, 700, 3000]))
    random = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    src, dst = random.integers(0, n, (2, m)).astype(draw(ENDS))
    kind = draw(st.sampled_from(["spread", "in order", "reversed", "hub", "sink", "repeated", "loops"]))
    if kind in ("in order", "reversed"):
        order = np.lexsort((dst, src))
        src, dst = (ends[order if kind == "in order" else order[::-1]] for ends in (src, dst))
    elif kind in ("hub", "sink"):
        (src if kind == "hub" else dst)[random.random(m) < 0.9] = n - 1
    elif kind == "repeated":
        src, dst = src % 3 % n, dst % 3 % n
    elif kind == "loops":
        dst = np.where(random.random(m) < 0.5, src, dst)
    weights = draw(WEIGHTS)
    return n, src, dst, None if weights is None else random.permutation(m).astype(weights)


LIMITS = 1 << 16, np.array([0, 65535, 65535, 1]), np.array([65535, 0, 65535, 1]), np.arange(4.0)


@pytest.mark.usefixtures("small_buckets")
@QUICK
@given(edges(), st.booleans())
@example(LIMITS, True)
def test_the_kernels_group_as_scipy_does(graph, both):
    n, src, dst, weights = graph
    found = compress(src, dst, weights, n, np, both)
    same(found, plain(compress, src, dst, weights, n, np, both))
    same(transposed(*found, n), plain(transposed, *found, n))


@QUICK
@given(edges(), st.booleans())
def test_a_graph_is_the_same_from_either_path(graph, directed):
    n, src, dst, weights = graph
    found = Graph.from_edges(src, dst, weights, n, directed)
    expected = plain(Graph.from_edges, src, dst, weights, n, directed)
    same(found.csr(), expected.csr())
    same(found.csc(), plain(expected.csc))
    assert found.nonnegative == expected.nonnegative


@settings(deadline=None, max_examples=30)
@given(edges(n=500), st.sampled_from(["csr", "csc", "coo"]))
def test_the_sums_of_repeated_edges_are_those_of_scipy(graph, form):
    n, src, dst, weights = graph
    values = np.ones(len(src)) if weights is None else weights
    matrix = sparse.coo_array((values, (src, dst)), shape=(n, n)).asformat(form)
    indptr, indices, lengths = Graph.from_scipy(matrix).csr()
    lengths = np.ones(len(indices)) if lengths is None else lengths
    found = sparse.csr_array((lengths, indices, indptr), shape=(n, n), copy=True)
    found.sum_duplicates()
    assert (found != sparse.csr_array(matrix)).nnz == 0


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("scale", [12, 17])
def test_any_number_of_threads_returns_the_same(threads, scale, monkeypatch):
    random = np.random.default_rng(threads)
    src, dst = random.integers(0, 1 << scale, (2, 50_000)) * random.integers(0, 2, 50_000)
    weights = random.random(50_000)
    monkeypatch.setattr(grouping, "thread_count", lambda: threads)
    found = compress(src, dst, weights, 1 << scale, np, True)
    same(found, plain(compress, src, dst, weights, 1 << scale, np, True))
    same(transposed(*found, 1 << scale), plain(transposed, *found, 1 << scale))


def test_columns_of_more_bits_than_two_passes_take():
    n = (1 << 24) + 9
    src = np.array([n - 1, 5, n - 1, 5, n - 1, 0])
    dst = np.array([n - 1, n - 1, 0, 4096, 1 << 23, 1 << 12])
    weights = np.arange(6)
    same(compress(src, dst, weights, n, np), plain(compress, src, dst, weights, n, np))


@pytest.mark.parametrize("make", [lambda a: a[::2], lambda a: a.astype(">i4")[::2], np.int16, np.uint64])
def test_ends_of_every_form(make):
    ends = [make(np.array(values)) for values in ([3, 0, 1, 0], [0, 0, 2, 0])]
    same(Graph.from_edges(*ends).csr(), plain(Graph.from_edges, *ends).csr())


def test_arrays_that_cannot_be_written_to():
    given = [np.array([1, 0]), np.array([0, 1]), np.array([2.0, 3.0])]
    for array in given:
        array.flags.writeable = False
    same(Graph.from_edges(*given).csr(), plain(Graph.from_edges, *given).csr())
    matrix = sparse.csr_array((given[2], given[1], np.array([0, 2, 2])), shape=(2, 2))
    for copy in (True, False):
        assert Graph.from_scipy(matrix, copy=copy).compressed("csr").weights.flags.carray


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("count", [1, 2, 3, 1000])
def test_extremes(dtype, count):
    numbers = np.random.default_rng(count).integers(-1000, 1000, count).astype(dtype)
    ends = np.iinfo(dtype) if numbers.dtype.kind == "i" else np.finfo(dtype)
    for first in (0, -0.0, 5, -5, ends.min, ends.max):
        numbers[0] = first
        assert grouping.extremes(numbers) == (numbers.min(), numbers.max())
    if numbers.dtype.kind == "f":
        for first in (np.inf, -np.inf, np.finfo(dtype).tiny, -np.finfo(dtype).smallest_subnormal):
            numbers[0] = first
            assert grouping.extremes(numbers) == (numbers.min(), numbers.max())
        for nan in (np.nan, -np.nan):
            numbers[count // 2] = nan
            assert np.isnan(grouping.extremes(numbers)).all()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (([0, 1, -3], [0, 1, 2]), "src must be vertex ids of 0 or more, got -3"),
        (([0, 1], [0, 1 << 31]), "the vertex id 2147483648 is beyond int32"),
        (([0, 1], [0, 1], [1.0, np.nan]), "weights must be numbers, or inf for 'no edge', got nan for edge 1"),
        (([0, 1], [0, 1], [-np.inf, 1]), "weights must be numbers, or inf for 'no edge', got -inf for edge 0"),
        (([0, 4], [0, 1], None, 4), "n must be greater than the largest vertex id, 4, got 4"),
    ],
)
def test_errors_are_the_same(given, says):
    for call in (Graph.from_edges, lambda *given: plain(Graph.from_edges, *given)):
        with pytest.raises(InputError, match=says):
            call(*given)


def test_edges_of_infinite_weight_are_left_out():
    graph = Graph.from_edges([0, 0, 1], [1, 2, 2], [np.inf, 1.0, 2.0])
    assert graph.csr().indices.tolist() == [2, 2] and graph.nonnegative
    assert Graph.from_scipy(sparse.csr_array([[0, np.inf], [4, 0]])).coo().src.tolist() == [1]
    assert Graph.from_edges([0], [1], [np.inf]).m == 0


@pytest.mark.parametrize("many", [1, 1 << 60])
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64, bool, np.int8])
@pytest.mark.parametrize("copy", [True, False])
def test_a_matrix_with_sorted_rows_is_copied_or_kept(many, dtype, copy, monkeypatch):
    monkeypatch.setattr(grouping, "MANY", many)
    values = np.array([1, 0, 1, 1], dtype)
    rows = np.array([1, 1, 2, 0], np.int32), np.array([0, 3, 3, 4], np.int32)
    matrix = sparse.csr_array((values, *rows), shape=(3, 3))
    indptr, indices, weights = Graph.from_scipy(matrix, copy=copy).csr()
    for mine, theirs in ((indptr, matrix.indptr), (indices, matrix.indices)):
        assert np.shares_memory(mine, theirs) != copy and mine.tolist() == theirs.tolist()
    assert (weights is None) == (dtype is bool)
    if weights is not None:
        assert np.shares_memory(weights, matrix.data) == (dtype is not np.int8 and not copy)
        assert weights.tolist() == [1, 0, 1, 1]


@pytest.mark.parametrize("many", [1, 1 << 60])
def test_a_matrix_that_has_to_be_sorted_is_not_kept(many, monkeypatch):
    monkeypatch.setattr(grouping, "MANY", many)
    for columns in ([2, 1, 0], [1, 0, 2]):
        matrix = sparse.csr_array((np.arange(3.0), columns, [0, 2, 2, 3]), shape=(3, 3))
        made = Graph.from_scipy(matrix).csr()
        assert made.indptr.tolist() == [0, 2, 2, 3] and made.indices.tolist() == [*sorted(columns[:2]), columns[2]]
        assert not np.shares_memory(made.weights, matrix.data)
    room = sparse.csr_array((np.ones(4), [0, 1, 1, 9], [0, 1, 2, 3]), shape=(3, 3))  # the last entry is room for more
    assert Graph.from_scipy(room).csr().indices.tolist() == [0, 1, 1]
    wide = sparse.csr_array((3, 3))
    wide.data, wide.indices, wide.indptr = np.ones(2), np.array([1, 2]), np.array([0, 1, 1, 2])
    made = Graph.from_scipy(wide).csr()
    assert made.indices.dtype == made.indptr.dtype == np.int32 and made.indices.tolist() == [1, 2]


@pytest.mark.parametrize("many", [1, 1 << 60])
def test_a_matrix_with_a_broken_structure_is_refused(many, monkeypatch):
    monkeypatch.setattr(grouping, "MANY", many)
    matrix = sparse.csr_array((np.ones(3), [0, 1, 2], [0, 1, 2, 3]), shape=(3, 3))
    for broken in ([0, 9, 2, 3], [0, 2, 1, 3], [1, 1, 2, 3], [0, 1, 2, 9], [0, -1, 2, 3]):
        matrix.indptr = np.array(broken, np.int32)
        with pytest.raises(InputError, match="indptr of the matrix must ascend from 0"):
            Graph.from_scipy(matrix)
    matrix.indptr = np.array([0, 1, 2, 3], np.int32)
    for column, says in ((3, "index 3 exceeds matrix dimension 3"), (-1, "negative axis 1 index: -1")):  # of SciPy
        matrix.indices = np.array([0, 1, column], np.int32)
        with pytest.raises(ValueError, match=says):
            Graph.from_scipy(matrix)


@pytest.mark.parametrize("weights", [None, np.float64])
def test_memory_of_both_ways(weights, monkeypatch):
    graph = rmat(16)
    src, dst, _ = graph.coo()
    lengths = None if weights is None else np.ones(graph.m, weights)
    place, most = devices.find("cpu"), 12 * graph.n + 40 * graph.m
    Graph.from_edges(src, dst, lengths).csc()  # loads the kernels
    monkeypatch.setattr(grouping, "BUCKET", 10)
    with place.peak_memory() as peak:
        made = Graph.from_edges(src, dst, lengths)
    kept = sum(part.nbytes for part in made.csr() if part is not None)
    assert kept < peak.bytes < kept + 4 * graph.m + 40 * graph.n < most
    with place.peak_memory() as peak:
        made.csc()
    assert peak.bytes < kept + 3 * graph.m + 40 * graph.n


def test_kernels_are_for_many_edges_only(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(compressed.grouping, "grouped", lambda *_: pytest.fail("Numba was used"))
    assert Graph.from_edges([0, 1], [1, 2]).m == 2
