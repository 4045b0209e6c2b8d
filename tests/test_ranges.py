"""The range of distances of each type, up to its ends: the same for every method, and an error beyond."""

import numpy as np
import pytest

import mgraph
from mgraph.dtypes import distance_range, infinity
from mgraph.errors import DistanceOverflowError
from mgraph.graph.potentials import vertex_on_cycle
from tests.support.clusters import CLUSTER_WARNINGS, clients
from tests.support.parameters import exhaustive

pytestmark = CLUSTER_WARNINGS


METHODS = ["blocked", "naive", "squaring", "sssp", "johnson"]
INTEGERS = [np.dtype(np.int16), np.dtype(np.int32)]

N = 70


workers = clients(2)


def chains(*weights, n=N):
    """Two equal chains without a path between them: both lower the infinities between them."""
    one = np.arange(len(weights))
    start = np.concatenate([one, one + n // 2])
    return mgraph.Graph.from_edges(start, start + 1, weights * 2, n=n)


def check(graph, *weights, **options):
    """The result has all sums of the chains, and nothing between them."""
    result = mgraph.apsp(graph, **options)
    found = result.distances if isinstance(result.distances, np.ndarray) else result.distances.get()
    n, none = graph.n, infinity(found.dtype)
    expected = np.full((n, n), none, np.int64)
    np.fill_diagonal(expected, 0)
    ends = np.concatenate([[0], np.cumsum(weights)])
    for first in (0, n // 2):
        for i in range(len(ends)):
            for j in range(i, len(ends)):
                expected[first + i, first + j] = ends[j] - ends[i]
    np.testing.assert_array_equal(found, expected)
    if options.get("predecessors"):
        labels = result.predecessors if isinstance(result.predecessors, np.ndarray) else result.predecessors.get()
        np.testing.assert_array_equal(labels == -9999, (expected == none) | np.eye(n, dtype=bool))


def ends(dtype, nonnegative):
    """Chains whose distances reach an end of the range, and those that go one beyond it."""
    least, greatest = distance_range(dtype, nonnegative)
    third = greatest // 3
    if nonnegative:
        assert greatest == 3 * 2 ** (8 * dtype.itemsize - 4) - 2
        return [(third, third, greatest - 2 * third)], [(third, third, greatest - 2 * third + 1)]
    assert (least, greatest) == (1 - 2 ** (8 * dtype.itemsize - 4), 2 ** (8 * dtype.itemsize - 4))
    within = [(least,), (least + 1, -1), (greatest, -1), (third, third, greatest - 2 * third, -1)]
    # The last two end within the range, but have passed its end.
    return within, [(least - 1,), (least, -1), (greatest, 1, -1), (-1, least, 1)]


@pytest.mark.parametrize("labels", [{}, {"predecessors": True}])
@pytest.mark.parametrize("nonnegative", [True, False])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_both_ends_of_integers(dtype, method, nonnegative, labels, device):
    if dtype == np.int16 and method in ("sssp", "johnson"):
        pytest.skip("searches do not compute in int16")
    if method == "sssp" and not nonnegative:
        pytest.skip("method='sssp' has no negative weights")
    within, beyond = ends(dtype, nonnegative)
    options = dict(dtype=dtype, method=method, device=device, **labels)
    for weights in within:
        check(chains(*weights), *weights, **options)
    for weights in beyond:
        with pytest.raises(DistanceOverflowError, match=dtype.name):
            mgraph.apsp(chains(*weights), **options)


@pytest.mark.parametrize("labels", [{}, {"predecessors": True}, {"intermediate": True}])
@pytest.mark.parametrize("nonnegative", [True, False])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_both_ends_of_integers_out_of_core(dtype, nonnegative, labels):
    n, (within, beyond) = 300, ends(dtype, nonnegative)
    limit = int(0.8 * n * n * (8 if labels else dtype.itemsize))
    options = dict(dtype=dtype, method="blocked", device="cpu", block=32, memory_limit=limit, **labels)
    assert mgraph.apsp(chains(1, n=n), **options).plan.detail.strip
    for weights in within:
        check(chains(*weights, n=n), *weights, **options)
    for weights in beyond:
        with pytest.raises(DistanceOverflowError, match=dtype.name):
            mgraph.apsp(chains(*weights, n=n), **options)


@pytest.mark.parametrize("method", ["blocked", *exhaustive("naive", "squaring", "johnson")])
def test_both_ends_of_integers_on_workers(method, workers):
    dtype = np.dtype(np.int32)
    within, beyond = ends(dtype, nonnegative=False)
    for labels in ({}, {"predecessors": True}):
        options = dict(dtype=dtype, method=method, device="cpu", client=workers, **labels)
        for weights in within[:1] + within[2:3]:
            result = mgraph.apsp(chains(*weights), **options)
            direct = mgraph.apsp(chains(*weights), **options | {"client": None})
            np.testing.assert_array_equal(result.distances.to_numpy(), direct.distances)
        with pytest.raises(DistanceOverflowError, match="int32"):
            mgraph.apsp(chains(*beyond[0]), **options)


def test_both_ends_of_integers_from_one_source(device):
    for nonnegative in (True, False):
        within, beyond = ends(np.dtype(np.int32), nonnegative)
        for weights in within:
            found = mgraph.sssp(chains(*weights), 0, device=device).distances[: len(weights) + 1]
            assert found.tolist() == [0, *np.cumsum(weights).tolist()]
        for weights in beyond:
            with pytest.raises(DistanceOverflowError, match="int32"):
                mgraph.sssp(chains(*weights), 0, device=device)
        with pytest.raises(DistanceOverflowError, match="int32"):
            mgraph.sssp(chains(*beyond[0]), 0, limit=None if nonnegative else 3, device=device)


def test_the_distances_of_two_large_negative_weights(device):
    """Infinities were lowered so far that they were taken for distances."""
    for dtype, weight in ((np.int32, -(2**27) - 1), (np.int32, -200_000_000), (np.int16, -2100)):
        graph = mgraph.Graph.from_edges([0, 2], [1, 3], [weight] * 2)
        none = np.iinfo(dtype).max
        for method in ("blocked", "naive", "squaring"):
            found = mgraph.apsp(graph, dtype=dtype, method=method, device=device).distances
            assert found[0].tolist() == [0, weight, none, none] and found[2].tolist() == [none, none, 0, weight]


def test_a_loop_of_negative_weight_is_a_cycle(device):
    for method in ("auto", "blocked", "naive", "squaring", "johnson"):
        for dtype in ("float32", "float64"):
            with pytest.raises(mgraph.NegativeCycleError):
                mgraph.apsp(np.array([[-1.0]]), method=method, dtype=dtype, device=device)
        with pytest.raises(mgraph.NegativeCycleError):
            mgraph.apsp(np.array([[-1]]), method=method, device=device)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("method", ["auto", "blocked", "naive", "squaring", "johnson"])
def test_float_sums_that_return_into_range(method, dtype, device):
    """A sum that overflows does not return: inputs that may overflow are refused, and just below that all is right."""
    most = float(np.finfo(dtype).max)
    for src, dst in (([0, 1, 2], [1, 2, 3]), ([3, 1, 2], [1, 2, 0])):
        graph = mgraph.Graph.from_edges(src, dst, np.array([0.6, 0.6, -0.6]) * most)
        with pytest.raises(DistanceOverflowError, match="negative weights"):
            mgraph.apsp(graph, method=method, dtype=dtype, device=device)
        with pytest.raises(DistanceOverflowError, match="negative weights"):
            mgraph.sssp(graph, src[0], dtype=dtype, device=device)
        graph = mgraph.Graph.from_edges(src, dst, np.array([0.16, 0.16, -0.16]) * most)
        found = mgraph.apsp(graph, method=method, dtype=dtype, device=device, predecessors=True)
        assert float(found.distances[src[0], dst[2]]) == pytest.approx(0.16 * most, rel=1e-6)
        assert found.path(src[0], dst[2]) == [src[0], dst[0], dst[1], dst[2]]
        far = mgraph.sssp(graph, src[0], dtype=dtype, device=device).distances[dst[2]]
        assert float(far) == pytest.approx(0.16 * most, rel=1e-6)
    # Without negative weights a sum that is too large is the distance's.
    graph = mgraph.Graph.from_edges([0, 1], [1, 2], np.array([0.6, 0.6]) * most)
    assert mgraph.apsp(graph, method=method, dtype=dtype, device=device).distances[0, 2] == np.inf


def test_floats_that_only_a_wider_type_can_sum(device):
    graph = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 3], np.array([3e38, 3e38, -3e38], np.float32))
    with pytest.raises(DistanceOverflowError, match="float64"):
        mgraph.apsp(graph, device=device)
    assert mgraph.apsp(graph, device=device, dtype="float64").distances[0, 3] == pytest.approx(3e38)


def test_extremes():
    def edges(*weights):
        return mgraph.Graph.from_edges(range(len(weights)), range(1, len(weights) + 1), weights)

    assert edges(3, 7).extremes() == (3, 7, True)
    assert edges(-7.5, -3).extremes() == (-7.5, -3, False)
    assert edges(*range(5000)).extremes() == (0, 4999, True)
    assert edges(*map(float, range(5000)), 0.5).extremes() == (0, 4999, False)  # the last alone is no whole number
    assert mgraph.Graph.from_edges([0], [1]).extremes() == (1, 1, True)
    assert mgraph.Graph.from_edges([], [], n=2).extremes() == mgraph.Graph.from_edges([], [], []).extremes()
    assert mgraph.Graph.from_dense([[0, 3], [7, 0]]).extremes() == (3, 7, True)
    assert mgraph.Graph.from_dense([[-1.5, np.inf], [7, 9]]).extremes() == (-1.5, 7, False)


def test_cycles_whose_sum_no_float_can_be(device):
    """Bellman and Ford's check of a cycle added up its weights, and raised OverflowError."""
    for weights, negative in (([1.7e308, 1.7e308, -1.7e308], False), ([-1.7e308, -1.7e308, 1.7e308], True)):
        for cycle in (weights, [*weights, *weights]):
            ends = np.arange(len(cycle))
            ring = mgraph.Graph.from_edges(ends, np.roll(ends, -1), cycle)
            assert (vertex_on_cycle(ring) >= 0) is negative
    graph = mgraph.Graph.from_edges([0, 1], [1, 0], [-1.7e308, -1.7e308])
    for call in (lambda: mgraph.apsp(graph, device=device), lambda: mgraph.sssp(graph, 0, device=device)):
        with pytest.raises(mgraph.NegativeCycleError):
            call()


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64, np.uint64, np.float64])
@pytest.mark.parametrize("block", [None, 32])
def test_a_positive_diagonal_counts_as_zero_however_large(kind, block, device):
    most = np.finfo(kind).max if kind == np.float64 else np.iinfo(kind).max - 1
    matrix = np.random.default_rng(5).integers(1, 50, (N, N)).astype(kind)
    expected = mgraph.apsp(matrix, device=device).distances
    for dtype in ("float32",) if kind == np.float64 else ("int32", "int16", "float64"):
        for value in (1, most):
            np.fill_diagonal(matrix, value)
            for given in (matrix, np.asfortranarray(matrix)):
                found = mgraph.apsp(mgraph.Graph.from_distances(given), dtype=dtype, device=device, block=block)
                assert np.array_equal(found.distances, expected)
        if kind != np.int8 and dtype != "float64":
            matrix[3, 4], kept = most, matrix[3, 4]
            with pytest.raises(DistanceOverflowError, match="too large"):
                mgraph.apsp(mgraph.Graph.from_distances(matrix), dtype=dtype, device=device, block=block)
            matrix[3, 4] = kept
