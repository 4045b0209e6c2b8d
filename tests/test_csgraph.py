"""`mgraph.csgraph`: SciPy's own tests, run on it, and comparisons with SciPy on random input."""

import importlib
import inspect
import math
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.sparse import csgraph as scipy_csgraph

import mgraph
from mgraph import csgraph

#: SciPy's test files for what mgraph computes.
FILES = ("shortest_path", "traversal", "spanning_tree", "connected_components", "conversions")

#: SciPy's cases that fail, each with the reason.
EXPECTED: dict[str, str] = {"test_scipy_on_gpu_traversal_return_type": "CuPy has no sparse arrays"}

FOLDER = Path(scipy_csgraph.__file__).with_name("tests")


def text_on(module, text):
    """Return the text of one of SciPy's test files with another module in place of SciPy's."""
    for old, new in (
        (
            "from scipy.sparse import csgraph, csr_array",
            f"import {module} as csgraph\nfrom scipy.sparse import csr_array",
        ),
        ("scipy.sparse.csgraph", module),
        ("from .._laplacian", f"from {module}"),
        ("from .._min_spanning_tree", f"from {module}"),
    ):
        text = text.replace(old, new)
    return text


def scipys_tests(module, prefix):
    """Yield the name and the function of each of SciPy's tests, which import from a module."""
    for stem in FILES:
        path = FOLDER / f"test_{stem}.py"
        if path.exists():  # some distributions leave the tests out
            made = ModuleType(stem)
            exec(compile(text_on(module, path.read_text()), path, "exec"), vars(made))
            if "csgraph" in vars(made):  # however it was imported
                made.csgraph = importlib.import_module(module)
            for name, value in vars(made).items():
                if name.startswith("test_"):
                    yield f"test_{prefix}_{stem}_{name.removeprefix('test_')}", value


SCIPYS = dict(scipys_tests("mgraph.csgraph", "scipy"))
globals().update({name: pytest.mark.filterwarnings("default")(function) for name, function in SCIPYS.items()})
ON_GPU = dict(scipys_tests("tests.support.csgraph_on_gpu", "scipy_on_gpu"))
globals().update({n: pytest.mark.gpu(pytest.mark.filterwarnings("default")(each)) for n, each in ON_GPU.items()})


@pytest.fixture(autouse=True)
def expected_failure(request):
    """Mark SciPy's cases that are known to fail."""
    if request.node.name in EXPECTED:
        request.applymarker(pytest.mark.xfail(reason=EXPECTED[request.node.name], strict=True))


@pytest.mark.skipif(not SCIPYS, reason="this SciPy has no tests")
def test_nearly_all_of_scipys_cases_pass():
    def cases(function):
        marks = [mark for mark in getattr(function, "pytestmark", ()) if mark.name == "parametrize"]
        return math.prod(len(mark.args[1]) for mark in marks)

    count = sum(map(cases, SCIPYS.values()))
    assert count > 90
    assert len(EXPECTED) <= 0.03 * count
    theirs = {getattr(scipy_csgraph, name) for name in csgraph.__all__ if hasattr(scipy_csgraph, name)}
    theirs -= {getattr(csgraph, name) for name in csgraph.__all__}
    for function in [*SCIPYS.values(), *ON_GPU.values()]:
        assert not any(value is scipy_csgraph for value in function.__globals__.values())
        assert not theirs & {value for value in function.__globals__.values() if callable(value)}


@st.composite
def matrices(draw, least=0):
    """A matrix of a random kind: dense, masked or sparse; whole weights, some of them zero, from `least` on."""
    n = draw(st.integers(1, 9))
    values = st.integers(least, 6)
    entries = draw(st.lists(st.lists(values, min_size=n, max_size=n), min_size=n, max_size=n))
    matrix = np.array(entries, draw(st.sampled_from([np.float64, np.float32, np.int64])))
    if not draw(st.booleans()):
        matrix[np.array(draw(st.lists(st.booleans(), min_size=n * n, max_size=n * n))).reshape(n, n)] = 0
    if least < 0:
        np.fill_diagonal(matrix, 0)
    kind = draw(st.sampled_from(["dense", "fortran", "masked", "csr", "csc", "lil"]))
    if kind == "dense":
        return matrix
    if kind == "fortran":
        return np.asfortranarray(matrix)
    if kind == "masked":
        return np.ma.MaskedArray(matrix, matrix == 0)
    return sparse.csr_array(matrix).asformat(kind)


def outcome(function, *arguments, **options):
    """What a function returns, or the type of its error."""
    try:
        return function(*arguments, **options)
    except scipy_csgraph.NegativeCycleError:
        return "negative cycle"


@settings(max_examples=60, deadline=None)
@given(matrices(), st.booleans(), st.booleans(), st.sampled_from(["auto", "FW", "D", "BF", "J"]))
def test_shortest_path_is_scipys(matrix, directed, unweighted, method):
    options = {"directed": directed, "unweighted": unweighted, "method": method}
    found, before = csgraph.shortest_path(matrix, return_predecessors=True, **options)
    expected, expected_before = scipy_csgraph.shortest_path(
        np.ascontiguousarray(matrix) if type(matrix) is np.ndarray else matrix, return_predecessors=True, **options
    )
    assert_array_equal(found, expected)
    assert (found.dtype, before.dtype) == (expected.dtype, expected_before.dtype)
    assert_array_equal(before >= 0, expected_before >= 0)
    assert_array_equal(found, csgraph.shortest_path(matrix, **options))


@settings(max_examples=60, deadline=None)
@given(matrices(least=-2), st.booleans(), st.sampled_from(["FW", "BF", "J"]), st.booleans())
def test_negative_weights_are_scipys(matrix, directed, method, some):
    options = {"directed": directed, "method": method}
    if some and method != "FW":
        options["indices"] = [0]
    plain = np.ascontiguousarray(matrix) if type(matrix) is np.ndarray else matrix
    expected = outcome(scipy_csgraph.shortest_path, plain, **options)
    found = outcome(csgraph.shortest_path, matrix, **options)
    assert_array_equal(found, expected)


@settings(max_examples=60, deadline=None)
@given(matrices(least=1), st.data())
def test_dijkstra_is_scipys(matrix, data):
    n = matrix.shape[0]
    shape = data.draw(st.sampled_from([(), (1,), (3,), (2, 2)]))
    indices = np.array(data.draw(st.lists(st.integers(-n, n - 1), min_size=4, max_size=4)))
    options = {
        "indices": indices[: math.prod(shape)].reshape(shape),
        "directed": data.draw(st.booleans()),
        "limit": data.draw(st.sampled_from([np.inf, 0, 3, 7.5])),
        "unweighted": data.draw(st.booleans()),
    }
    found, before = csgraph.dijkstra(matrix, return_predecessors=True, **options)
    expected, expected_before = scipy_csgraph.dijkstra(matrix, return_predecessors=True, **options)
    assert_array_equal(found, expected)
    assert_array_equal(before >= 0, expected_before >= 0)
    nearest, before, sources = csgraph.dijkstra(matrix, min_only=True, return_predecessors=True, **options)
    assert_array_equal(nearest, scipy_csgraph.dijkstra(matrix, min_only=True, **options))
    assert_array_equal(nearest, csgraph.dijkstra(matrix, min_only=True, **options))
    assert_array_equal(sources >= 0, np.isfinite(nearest))
    reached = np.flatnonzero(before >= 0)
    assert_array_equal(sources[before[reached]], sources[reached])


@settings(max_examples=60, deadline=None)
@given(matrices(least=1), st.booleans(), st.data())
def test_traversal_is_scipys(matrix, directed, data):
    start = data.draw(st.integers(0, matrix.shape[0] - 1))
    found, expected = (
        module.breadth_first_order(matrix, start, directed=directed) for module in (csgraph, scipy_csgraph)
    )
    for ours, theirs in zip(found, expected, strict=True):
        assert_array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype
    found, expected = (
        module.breadth_first_tree(matrix, start, directed=directed) for module in (csgraph, scipy_csgraph)
    )
    assert type(found) is type(expected)
    assert_array_equal(found.toarray(), expected.toarray())


def test_breadth_first_order_follows_the_stored_order():
    matrix = sparse.csr_array((np.ones(5), [3, 1, 2, 0, 2], [0, 2, 3, 4, 5]), shape=(4, 4))
    for directed in (True, False):
        for ours, theirs in zip(
            csgraph.breadth_first_order(matrix, 0, directed),
            scipy_csgraph.breadth_first_order(matrix, 0, directed),
            strict=True,
        ):
            assert_array_equal(ours, theirs)


@settings(max_examples=60, deadline=None)
@given(matrices(), st.booleans(), st.sampled_from(["weak", "strong"]))
def test_connected_components_are_scipys(matrix, directed, connection):
    found = csgraph.connected_components(matrix, directed, connection)
    expected = scipy_csgraph.connected_components(matrix, directed, connection)
    assert found[0] == expected[0] == csgraph.connected_components(matrix, directed, connection, return_labels=False)
    assert found[1].dtype == expected[1].dtype
    if connection == "weak" or not directed:
        assert_array_equal(found[1], expected[1])
    else:  # the numbers of SciPy's depend on its version
        assert len(set(zip(*(labels.tolist() for labels in (found[1], expected[1])), strict=True))) == found[0]
        tails, heads = matrix.nonzero()
        assert (found[1][tails] >= found[1][heads]).all()


def shuffled_rows(matrix, seed=0):
    """Return a CSR matrix with the entries of each row in random order."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    order = np.lexsort((np.random.default_rng(seed).random(len(rows)), rows))
    return sparse.csr_matrix((matrix.data[order], matrix.indices[order], matrix.indptr), shape=matrix.shape)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("most", [1, 3, 10**6])
def test_rows_in_any_order_give_the_same(index, most):
    random = np.random.default_rng(most)
    weights = random.integers(1, most + 1, 3000).astype(np.float64)
    ends = random.integers(0, 400, (2, 3000))
    matrix = sparse.coo_matrix((weights, ends), shape=(400, 400)).tocsr()
    shuffled = shuffled_rows(matrix)
    shuffled.indices, shuffled.indptr = shuffled.indices.astype(index), shuffled.indptr.astype(index)
    assert not shuffled.has_sorted_indices
    before = shuffled.indices.copy(), shuffled.data.copy()
    for directed in (True, False):
        options = {"directed": directed, "indices": 0, "return_predecessors": True}
        there, here = (csgraph.dijkstra(given, **options) for given in (matrix, shuffled))
        assert_array_equal(here, there)
        assert_array_equal(here[0], scipy_csgraph.dijkstra(matrix, directed, 0))
        found = [csgraph.connected_components(given, directed)[1] for given in (matrix, shuffled)]
        assert_array_equal(*found)
    trees = [csgraph.minimum_spanning_tree(given) for given in (matrix, shuffled)]
    assert_array_equal(trees[0].toarray(), trees[1].toarray())
    assert trees[1].sum() == scipy_csgraph.minimum_spanning_tree(matrix).sum()
    assert_array_equal(shuffled.indices, before[0])  # the input is not changed
    assert_array_equal(shuffled.data, before[1])


def test_rows_in_any_order_are_checked():
    columns, indptr = np.array([1, 0, 2], np.int32), np.array([0, 2, 3, 3])
    matrix = sparse.csr_matrix((np.array([1.0, 2.0, 3.0]), columns, indptr), shape=(3, 3))
    for wrong in (3, -1):
        matrix.indices[:] = [1, 0, wrong]
        with pytest.raises(ValueError):
            csgraph.dijkstra(matrix, indices=0)
    matrix.indices[:] = [1, 0, 2]
    matrix.data[:] = [np.inf, 2, np.nan]  # no edges
    assert_array_equal(csgraph.dijkstra(matrix, indices=0), [0, np.inf, np.inf])
    with pytest.raises(ValueError):
        mgraph.Graph.from_scipy(matrix)  # NaN


@settings(max_examples=60, deadline=None)
@given(matrices(least=-3))
def test_a_minimum_spanning_tree_has_scipys_weight(matrix):
    found, expected = csgraph.minimum_spanning_tree(matrix), scipy_csgraph.minimum_spanning_tree(matrix)
    assert found.sum() == expected.sum()
    assert (found.nnz, found.dtype, type(found)) == (expected.nnz, expected.dtype, type(expected))
    given_weights = csgraph.csgraph_to_dense(matrix) if sparse.issparse(matrix) else np.ma.filled(matrix, 0)
    row, column = found.nonzero()
    assert_array_equal(found.toarray()[row, column], given_weights[row, column])


@settings(max_examples=40, deadline=None)
@given(matrices(least=1), st.booleans(), st.booleans(), st.data())
def test_yen_is_scipys(matrix, directed, unweighted, data):
    n = matrix.shape[0]
    assume(np.count_nonzero(np.ma.filled(matrix, 0)) if not sparse.issparse(matrix) else matrix.nnz)  # or SciPy's fails
    ends = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, n - 1))
    options = {"directed": directed, "unweighted": unweighted}
    found, before = csgraph.yen(matrix, *ends, 5, return_predecessors=True, **options)
    assert_array_equal(found, scipy_csgraph.yen(matrix, *ends, 5, **options))
    assert_array_equal(found, csgraph.yen(matrix, *ends, 5, **options))
    assert before.shape == (len(found), n)
    assert len({row.tobytes() for row in before}) == len(found)


@settings(max_examples=60, deadline=None)
@given(matrices(least=1), st.booleans(), st.sampled_from([np.inf, 0, -7]))
def test_paths_of_predecessors_are_scipys(matrix, directed, null_value):
    if isinstance(matrix, np.ma.MaskedArray):
        matrix = matrix.astype(np.float64)  # SciPy's construct_dist_matrix fails for another type
    _, before = scipy_csgraph.shortest_path(matrix, method="D", directed=directed, return_predecessors=True)
    found = csgraph.construct_dist_matrix(matrix, before, directed, null_value)
    assert_array_equal(found, scipy_csgraph.construct_dist_matrix(matrix, before, directed, null_value))
    found, expected = (module.reconstruct_path(matrix, before[0], directed) for module in (csgraph, scipy_csgraph))
    assert_array_equal(found.toarray(), expected.toarray())
    assert type(found) is type(expected)


@settings(max_examples=60, deadline=None)
@given(matrices(least=-3), st.sampled_from([0, 2, None, np.nan, np.inf]), st.booleans(), st.booleans())
def test_conversions_are_scipys(matrix, null_value, nan_null, infinity_null):
    if sparse.issparse(matrix):
        for value in (0, np.inf, -1):
            assert_array_equal(csgraph.csgraph_to_dense(matrix, value), scipy_csgraph.csgraph_to_dense(matrix, value))
        found, expected = csgraph.csgraph_to_masked(matrix), scipy_csgraph.csgraph_to_masked(matrix)
    elif isinstance(matrix, np.ma.MaskedArray):
        found, expected = csgraph.csgraph_from_masked(matrix), scipy_csgraph.csgraph_from_masked(matrix)
        assert_array_equal(found.toarray(), expected.toarray())
        return
    else:
        floats = matrix.astype(np.float64)
        floats[floats == 5], floats[floats == 6] = np.nan, np.inf
        options = {"null_value": null_value, "nan_null": nan_null, "infinity_null": infinity_null}
        found = csgraph.csgraph_from_dense(floats, **options)
        try:
            expected = scipy_csgraph.csgraph_from_dense(floats, **options)
        except np.exceptions.AxisError:  # SciPy's fails for some matrices without an entry that means no edge
            assume(False)
        assert_array_equal(found.toarray(), expected.toarray())
        assert (type(found), found.dtype, found.nnz) == (type(expected), expected.dtype, expected.nnz)
        found, expected = (module.csgraph_masked_from_dense(floats, **options) for module in (csgraph, scipy_csgraph))
    assert_array_equal(found.mask, expected.mask)
    assert_array_equal(found.compressed(), expected.compressed())
    assert found.fill_value == expected.fill_value


@pytest.mark.parametrize("name", scipy_csgraph.__all__)
def test_every_name_of_scipys_is_there(name):
    ours, theirs = getattr(csgraph, name), getattr(scipy_csgraph, name)
    assert name in csgraph.__all__
    if ours is not theirs:
        assert_array_equal(
            [(parameter.name, parameter.kind, str(parameter.default)) for parameter in parameters(ours)],
            [(parameter.name, parameter.kind, str(parameter.default)) for parameter in parameters(theirs)],
        )


def parameters(function):
    return inspect.signature(function).parameters.values()


def test_the_error_is_both_scipys_and_mgraphs():
    assert csgraph.NegativeCycleError is scipy_csgraph.NegativeCycleError
    with pytest.raises(scipy_csgraph.NegativeCycleError) as raised:
        csgraph.johnson(np.array([[0, 1, 0], [0, 0, -2], [0, 1, 0]]))
    for error in (raised.value, pickle.loads(pickle.dumps(raised.value))):
        assert isinstance(error, csgraph.NegativeCycleError) and isinstance(error, mgraph.NegativeCycleError)
        assert error.vertex in (1, 2) and str(error) == str(raised.value)


def test_scipys_faults_are_absent():
    chain = np.asfortranarray([[0.0, 1, 9], [0, 0, 1], [1, 0, 0]])
    assert csgraph.floyd_warshall(chain, overwrite=True).tolist() == [[0, 1, 2], [2, 0, 1], [1, 2, 0]]
    light = np.array([[0, 1e-9], [0, 0]])
    assert csgraph.dijkstra(light)[0, 1] == csgraph.floyd_warshall(light)[0, 1] == 1e-9
    assert csgraph.csgraph_from_dense(light).nnz == 1
    for function in (csgraph.dijkstra, csgraph.floyd_warshall, csgraph.johnson, csgraph.bellman_ford):
        with pytest.raises(csgraph.NegativeCycleError):
            function(np.array([[0, 1, 0], [0, 0, -2], [0, 1, 0]]))
        with pytest.raises(csgraph.NegativeCycleError):
            function(np.array([[-1, 1], [0, 0]]))
        with pytest.raises(csgraph.NegativeCycleError):  # their sum is just below zero
            function(np.array([[0, 0.1, 0], [0, 0, 0.7], [-0.8, 0, 0]]))


def test_overwrite_writes_into_the_input():
    matrix = np.array([[0.0, 1, 9], [0, 0, 1], [1, 0, 0]])
    assert csgraph.floyd_warshall(matrix, overwrite=True) is matrix
    assert matrix.tolist() == [[0, 1, 2], [2, 0, 1], [1, 2, 0]]


@pytest.mark.parametrize(
    "call",
    [
        lambda: csgraph.shortest_path(np.eye(2), method="x"),
        lambda: csgraph.shortest_path(np.eye(2), method="FW", indices=0),
        lambda: csgraph.shortest_path(np.zeros((2, 3))),
        lambda: csgraph.shortest_path(np.zeros(3)),
        lambda: csgraph.shortest_path(np.eye(2, dtype=complex)),
        lambda: csgraph.dijkstra(np.eye(2), indices=2),
        lambda: csgraph.dijkstra(np.eye(2), indices=0.5),
        lambda: csgraph.dijkstra(np.eye(2), limit=-1),
        lambda: csgraph.dijkstra(np.eye(2), limit=np.nan),
        lambda: csgraph.connected_components(np.eye(2), connection="x"),
        lambda: csgraph.breadth_first_order(np.eye(2), 2),
        lambda: csgraph.yen(np.eye(2), 0, 1, 0),
        lambda: csgraph.yen(np.eye(2), 0.5, 1, 1),
        lambda: csgraph.csgraph_to_dense(np.eye(2)),
        lambda: csgraph.construct_dist_matrix(np.eye(2), np.zeros((1, 2), np.int32)),
        lambda: csgraph.reconstruct_path(np.eye(2), [0, 2]),
    ],
)
def test_invalid_input_is_a_value_error(call):
    with pytest.raises(ValueError):
        call()


def test_repeated_and_missing_entries():
    twice = sparse.csr_array((np.array([2.0, 3, np.nan, np.inf]), [1, 1, 2, 0], [0, 3, 4, 4]), shape=(3, 3))
    assert csgraph.dijkstra(twice, indices=0).tolist() == [0, 2, np.inf]
    assert csgraph.dijkstra(sparse.coo_array(([2.0, 3], ([0, 0], [1, 1])), shape=(2, 2)))[0, 1] == 5
    assert csgraph.connected_components(twice, connection="strong")[0] == 2
    assert csgraph.csgraph_to_dense(twice, -1)[0].tolist() == [-1, 2, np.inf]
    for kind in (sparse.csr_array, sparse.csc_array):
        whole = kind((np.array([2, 3]), [1, 1], [0, 2, 2]), shape=(2, 2))
        assert_array_equal(csgraph.dijkstra(whole), scipy_csgraph.dijkstra(whole))
        assert_array_equal(csgraph.csgraph_to_dense(whole), scipy_csgraph.csgraph_to_dense(whole))


def test_entries_of_a_masked_matrix_that_are_not_finite_are_edges():
    matrix = np.ma.MaskedArray([[0, np.nan, 2], [np.inf, 0, 1], [9, 9, 0]], [[1, 0, 0], [0, 1, 0], [1, 1, 1]])
    for options in ({"unweighted": True}, {"unweighted": True, "directed": False}, {}):
        assert_array_equal(csgraph.dijkstra(matrix, **options), scipy_csgraph.dijkstra(matrix, **options))


def test_trees_keep_edges_that_are_not_finite():
    matrix = sparse.csr_array(([np.inf, np.nan, 0.0], ([0, 0, 1], [1, 2, 3])), shape=(4, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for directed in (True, False):
            trees = [module.breadth_first_tree(matrix, 0, directed) for module in (csgraph, scipy_csgraph)]
            assert_array_equal(trees[0].toarray()[0], trees[1].toarray()[0])
    assert csgraph.reconstruct_path(matrix, [-9999, 2, 0, 1]).data.tolist()[1:] == [0, 0]  # there is no edge (2, 1)


def test_only_johnson_finds_a_negative_cycle_that_no_source_reaches():
    matrix = np.array([[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, -2], [0, 0, 1, 0]], float)
    for module in (csgraph, scipy_csgraph):
        assert module.bellman_ford(matrix, indices=[0, 1]).tolist() == [
            [0, 1, np.inf, np.inf],
            [np.inf, 0, np.inf, np.inf],
        ]
        with pytest.raises(scipy_csgraph.NegativeCycleError):
            module.johnson(matrix, indices=[0, 1])


def test_a_negative_cycle_is_found_without_sources():
    for matrix in ([[0, -1], [-1, 0]], [[-1]]):
        for module in (csgraph, scipy_csgraph):
            with pytest.raises(scipy_csgraph.NegativeCycleError):
                module.johnson(np.array(matrix, float), indices=np.array([], int))


def test_conversions_leave_out_what_is_masked_and_what_is_null():
    masked = np.ma.array([[3.0, 0.0], [5.0, np.nan]], mask=[[True, False], [False, False]])
    assert csgraph.csgraph_from_dense(masked).toarray().tolist() == [[0, 0], [5, 0]]
    assert csgraph.csgraph_masked_from_dense(masked, null_value=5).mask.tolist() == [[True, False], [True, True]]


@pytest.mark.parametrize(("null_value", "fill"), [(0, 0), (7, 7), (-1, 999999), (300, 999999), (2.5, 999999)])
def test_a_masked_matrix_is_filled_with_what_its_type_has(null_value, fill):
    made = csgraph.csgraph_masked_from_dense(np.array([[0, 7], [2, 3]], np.uint8), null_value=null_value)
    assert made.mask.tolist() == [[null_value == 0, null_value == 7], [False, False]]
    assert made.fill_value == fill


def test_rows_that_are_out_of_range_are_refused():
    matrix = sparse.csr_array(np.ones((3, 3)))
    matrix.indices[4] = 9
    for call in (csgraph.breadth_first_order, csgraph.breadth_first_tree):
        with pytest.raises(mgraph.InputError):
            call(matrix, 0)
    matrix.indices[4], matrix.indptr[1] = 0, 7
    with pytest.raises(mgraph.InputError):
        csgraph.breadth_first_order(matrix, 0)


def test_empty_input():
    empty = np.zeros((0, 0))
    assert csgraph.shortest_path(empty).shape == (0, 0)
    assert csgraph.connected_components(empty)[0] == 0
    assert csgraph.dijkstra(np.eye(3), indices=[]).shape == (0, 3)
    assert csgraph.minimum_spanning_tree(empty).shape == (0, 0)


@pytest.fixture
def runs(monkeypatch):
    """The number of calls that mgraph's engine has run, by name."""
    counts = {}
    for module, name in (
        ("shortest", "apsp"),
        ("shortest", "distances"),
        ("shortest", "sssp"),
        ("loopless", "sssp"),
        ("components", "components"),
        ("spanning", "minimum_spanning_forest"),
    ):
        room = importlib.import_module(f"mgraph.csgraph.{module}")
        function = getattr(room, name)

        def counted(*arguments, function=function, name=name, **options):
            result = function(*arguments, **options)
            assert result.plan.seconds > 0
            counts[name] = counts.get(name, 0) + 1
            return result

        monkeypatch.setattr(room, name, counted)
    return counts


def test_mgraph_runs_the_calls(runs):
    matrix = np.array([[0, 3, 8], [0, 0, 4], [1, 0, 0]])
    for method in ("auto", "FW", "D", "BF", "J"):
        csgraph.shortest_path(matrix, method=method)
    assert runs == {"apsp": 5}
    csgraph.dijkstra(sparse.csr_array(matrix), indices=[0, 2])
    csgraph.dijkstra(matrix, limit=4)
    csgraph.dijkstra(matrix, indices=0)
    csgraph.dijkstra(matrix, indices=[0, 2], min_only=True)
    assert runs == {"apsp": 5, "distances": 2, "sssp": 2}
    csgraph.yen(matrix, 0, 2, 2)
    assert runs["sssp"] >= 4
    csgraph.connected_components(matrix)
    csgraph.minimum_spanning_tree(matrix)
    assert (runs["components"], runs["minimum_spanning_forest"]) == (1, 1)


def test_enable_reaches_modules_that_imported_scipys_names(runs):
    user = ModuleType("user_of_scipy")
    user.paths, user.ours = scipy_csgraph.shortest_path, csgraph.shortest_path
    sys.modules["user_of_scipy"] = user
    original = scipy_csgraph.shortest_path
    try:
        with mgraph.csgraph.enable():
            assert user.paths is scipy_csgraph.shortest_path is not original
            user.paths(np.ones((100, 100)))
            with mgraph.csgraph.enable():
                pass
            assert user.paths is not original
        assert runs == {"apsp": 1}
        assert user.paths is scipy_csgraph.shortest_path is original
        assert user.ours is csgraph.shortest_path
    finally:
        del sys.modules["user_of_scipy"]


def test_isomap_runs_as_it_stands(runs):
    manifold = pytest.importorskip("sklearn.manifold")
    points = np.random.default_rng(3).random((100, 3))
    expected = manifold.Isomap(n_neighbors=6).fit(points)
    assert not runs
    with csgraph.enable():
        found = manifold.Isomap(n_neighbors=6).fit(points)
    assert runs["apsp"] == 1
    assert_allclose(found.dist_matrix_, expected.dist_matrix_, rtol=1e-12)


def test_scipy_is_loaded_only_for_what_is_its_own():
    code = (
        "import sys, numpy as np, mgraph.csgraph as c; c.dijkstra(np.eye(2), indices=0); "
        "assert 'scipy.sparse.csgraph' not in sys.modules; c.laplacian(np.eye(2))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_zeros_in_blocks_are_no_edges():
    dense = np.array([[1, 0, 2, 0], [0, 0, 0, 0], [0, 0, 0, 3], [0, 0, 0, 1.0]])
    for size in (1, 2, 4):
        blocks = sparse.bsr_array(dense, blocksize=(size, size))
        if size == 1:
            blocks.data[0] = 0
        before = blocks.data.copy()
        count, labels = csgraph.connected_components(blocks)
        assert count == 2 and labels.tolist() == [0, 1, 0, 0]
        assert csgraph.connected_components(blocks, connection="strong")[0] == 4
        assert csgraph.dijkstra(blocks, indices=0).tolist() == [0, np.inf, 2, 5]
        assert csgraph.minimum_spanning_tree(blocks).nnz == 2
        assert_array_equal(blocks.data, before)


CALLS = {
    "all pairs": lambda matrix: csgraph.shortest_path(matrix, return_predecessors=True),
    "undirected": lambda matrix: csgraph.floyd_warshall(matrix, directed=False, unweighted=True),
    "sources": lambda matrix: csgraph.dijkstra(matrix, indices=[0, 5], return_predecessors=True, limit=9),
    "one source": lambda matrix: csgraph.johnson(matrix, indices=-1),
    "nearest": lambda matrix: csgraph.dijkstra(matrix, indices=[0, 5], min_only=True, return_predecessors=True),
    "weak": csgraph.connected_components,
    "strong": lambda matrix: csgraph.connected_components(matrix, connection="strong"),
    "order": lambda matrix: csgraph.breadth_first_order(matrix, 1, directed=False),
    "tree": lambda matrix: csgraph.breadth_first_tree(matrix, 1),
    "least tree": csgraph.minimum_spanning_tree,
    "yen": lambda matrix: csgraph.yen(matrix, 0, 5, 3, return_predecessors=True),
    "lengths": lambda matrix: csgraph.construct_dist_matrix(matrix, BEFORE),
    "dense": lambda matrix: csgraph.csgraph_to_dense(csgraph.minimum_spanning_tree(matrix), np.inf),
}
RANDOM = np.random.default_rng(7)
DENSE = np.where(RANDOM.random((40, 40)) < 0.3, RANDOM.permutation(1600).reshape(40, 40) / 64.0, 0)
BEFORE = scipy_csgraph.shortest_path(DENSE, return_predecessors=True)[1]


@pytest.mark.parametrize("name", CALLS)
def test_matrices_of_numpys_former_class_give_what_arrays_give(name):
    found, expected = CALLS[name](DENSE.view(np.matrix)), CALLS[name](DENSE)
    for ours, theirs in zip(*(each if isinstance(each, tuple) else (each,) for each in (found, expected)), strict=True):
        if sparse.issparse(theirs):
            assert type(ours) is (sparse.csr_array if name == "tree" else sparse.csr_matrix)  # as of SciPy
            ours, theirs = ours.toarray(), theirs.toarray()
        assert type(ours) is type(theirs)
        assert_array_equal(ours, theirs)


@pytest.mark.gpu
@pytest.mark.parametrize("kind", ["array", "sparse"])
@pytest.mark.parametrize("name", CALLS)
def test_matrices_of_cupy_give_cupys(name, kind):
    import cupy
    from cupyx.scipy import sparse as cupy_sparse

    on_host = DENSE if kind == "array" else sparse.csr_matrix(DENSE)
    on_gpu = cupy.asarray(DENSE) if kind == "array" else cupy_sparse.csr_matrix(on_host)
    found, expected = CALLS[name](on_gpu), CALLS[name](on_host)
    for ours, theirs in zip(*(each if isinstance(each, tuple) else (each,) for each in (found, expected)), strict=True):
        if sparse.issparse(theirs):
            assert cupy_sparse.issparse(ours)
            ours, theirs = ours.toarray(), theirs.toarray()
        assert isinstance(ours, int) or isinstance(ours, cupy.ndarray)
        assert_array_equal(ours if isinstance(ours, int) else ours.get(), theirs)


@pytest.mark.gpu
def test_a_dense_matrix_of_cupy_becomes_sparse():
    import cupy

    found = csgraph.csgraph_from_dense(cupy.asarray(DENSE))
    assert_array_equal(found.get().toarray(), DENSE)
    written = cupy.asarray(DENSE)
    assert csgraph.floyd_warshall(written, overwrite=True) is written
    assert_array_equal(written.get(), csgraph.floyd_warshall(DENSE))
