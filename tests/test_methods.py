"""Every method gives the same distances, and paths that add up to them, on every kind of graph."""

import itertools
import math
import sys
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import floyd_warshall, johnson

import mgraph
from mgraph import device as devices
from mgraph.algorithms.apsp import candidates
from mgraph.algorithms.apsp import plan as all_pairs
from mgraph.algorithms.apsp.components import components
from mgraph.algorithms.apsp.squaring import Squaring
from mgraph.dtypes import band, exact_types, infinity
from mgraph.graph import StoredMatrix
from mgraph.planner import plan
from mgraph.planning import cut
from tests.support.graphs import ZERO_BUT_FOR_ROUNDING, cycle, negative_ring
from tests.support.references import as_floats, textbook

METHODS = ["blocked", "naive", "squaring", "sssp", "johnson"]
TYPES = [np.float32, np.float64, np.int32, np.int16]


def in_type(matrix, dtype):
    """A matrix of whole numbers and infinities in any type."""
    return np.where(np.isinf(matrix), infinity(np.dtype(dtype)), matrix).astype(dtype)


def sprinkled(n, density, low, high, seed=0):
    random = np.random.default_rng(seed)
    matrix = random.integers(low, high + 1, (n, n)).astype(float)
    matrix[random.random((n, n)) >= density] = np.inf
    np.fill_diagonal(matrix, 0)
    return matrix


def shifted(matrix, seed=3):
    """The same graph with some negative weights: shifting by a potential keeps the weight of every cycle."""
    potential = np.random.default_rng(seed).integers(0, 30, len(matrix))
    return matrix + potential[:, None] - potential[None, :]


def apart(*sizes):
    matrix = np.full((sum(sizes), sum(sizes)), np.inf)
    first = 0
    for size in sizes:
        matrix[first : first + size, first : first + size] = sprinkled(size, 0.3, 1, 20, seed=size)
        first += size
    order = np.random.default_rng(1).permutation(len(matrix))
    return matrix[order][:, order]


def symmetric(matrix):
    return np.minimum(matrix, matrix.T)


GRAPHS = {
    "random": sprinkled(71, 0.2, 1, 100),
    "dense": sprinkled(67, 1, 1, 9),
    "sparse": sprinkled(97, 0.02, 1, 50),
    "disconnected": apart(40, 1, 30, 2),
    "ties": sprinkled(80, 0.05, 1, 1),
    "zeros": symmetric(sprinkled(80, 0.04, 0, 1)),
    "all zero": symmetric(sprinkled(50, 0.06, 0, 0)),
    "negative": shifted(sprinkled(75, 0.2, 0, 10)),
    "no edges": sprinkled(33, 0, 1, 1),
}


def check_paths(result, matrix, distances):
    """Each path has the right ends, visits no vertex twice, and its edges add up."""
    n = len(matrix)
    for i, j in itertools.product(range(0, n, 5), range(n)):
        path = result.path(i, j)
        if np.isinf(distances[i, j]):
            assert path == []
        else:
            assert path[0] == i and path[-1] == j and len(set(path)) == len(path)
            assert sum(matrix[a, b] for a, b in itertools.pairwise(path)) == distances[i, j]


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize(
    ("method", "dtype"),
    # The searches refuse int16: test_options_that_exclude_each_other.
    [(m, t) for m in METHODS for t in TYPES if not (t == np.int16 and m in ("sssp", "johnson"))],
)
def test_distances_and_paths(method, dtype, name, device):
    matrix = GRAPHS[name]
    if method == "sssp" and name == "negative":
        with pytest.raises(mgraph.InputError, match="johnson"):
            mgraph.apsp(in_type(matrix, dtype), method=method, dtype=dtype, device=device)
        return
    expected = textbook(matrix)
    found = mgraph.apsp(in_type(matrix, dtype), method=method, dtype=dtype, device=device)
    assert found.distances.dtype == dtype and found.plan.method == method
    assert np.array_equal(as_floats(found.distances), expected)
    for option in ("predecessors", "intermediate"):
        if option == "intermediate" and method not in ("blocked", "naive"):
            continue
        result = mgraph.apsp(in_type(matrix, dtype), method=method, dtype=dtype, device=device, **{option: True})
        assert result.distances.dtype == dtype
        assert np.array_equal(as_floats(result.distances), expected)
        check_paths(result, matrix, expected)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_graphs_of_edges(method, directed, device):
    random = np.random.default_rng(4)
    src, dst = random.integers(0, 150, (2, 500))
    graph = mgraph.Graph.from_edges(src, dst, random.integers(0, 30, 500), n=157, directed=directed)
    matrix = np.full((157, 157), np.inf)
    u, v, weights = graph.coo()
    np.minimum.at(matrix, (u, v), weights)
    np.fill_diagonal(matrix, 0)
    expected = textbook(matrix)
    result = mgraph.apsp(graph, method=method, device=device, predecessors=True)
    assert np.array_equal(as_floats(result.distances), expected)
    check_paths(result, matrix, expected)


@pytest.mark.parametrize("n", [1, 2, 3, 17, 64, 65, 129])
@pytest.mark.parametrize("method", METHODS)
def test_sizes(method, n, device):
    matrix = np.random.default_rng(n).random((n, n))
    np.fill_diagonal(matrix, 0)
    result = mgraph.apsp(matrix, method=method, device=device)
    np.testing.assert_allclose(result.distances, floyd_warshall(matrix), rtol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_no_vertices(method, device):
    assert mgraph.apsp(np.empty((0, 0)), method=method, device=device).distances.shape == (0, 0)


@pytest.mark.parametrize("method", ["naive", "squaring"])
def test_the_unblocked_bits(method, device):
    matrix = np.random.default_rng(9).random((150, 150), np.float32)
    found = mgraph.apsp(matrix, method=method, device=device).distances
    if method == "naive":
        assert np.array_equal(found, mgraph.apsp(matrix, method="blocked", device="cpu").distances)
    else:
        np.testing.assert_allclose(found, mgraph.apsp(matrix, method="blocked", device="cpu").distances, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("method", ["blocked", "naive", "squaring", "johnson"])
def test_a_negative_cycle_is_named(method, dtype, device):
    matrix, ring = negative_ring()
    with pytest.raises(mgraph.NegativeCycleError) as caught:
        mgraph.apsp(in_type(matrix, dtype), method=method, device=device)
    assert caught.value.vertex in ring
    with pytest.raises(mgraph.NegativeCycleError) as caught:
        mgraph.apsp(np.array([[0, 9], [9, -2]], dtype), method=method, device=device)
    assert caught.value.vertex == 1


@pytest.mark.parametrize("n", [4, 5, 9])
def test_squaring_finds_a_negative_cycle_through_every_vertex(n, device):
    matrix = np.full((n, n), np.inf)
    for v in range(n):
        matrix[v, (v + 1) % n] = 1
    matrix[n - 1, 0] = -n
    with pytest.raises(mgraph.NegativeCycleError):
        mgraph.apsp(matrix, method="squaring", device=device)


@pytest.mark.parametrize("weights", ZERO_BUT_FOR_ROUNDING)
@pytest.mark.parametrize("dense", [False, True])
def test_rounding_does_not_make_a_negative_cycle(weights, dense, device):
    graph = cycle(weights)
    expected = mgraph.apsp(graph, method="johnson", device=device).distances
    if dense:
        matrix = np.full((graph.n, graph.n), np.inf)
        matrix[graph.coo().src, graph.coo().dst] = graph.coo().weights
        graph = mgraph.Graph.from_distances(matrix)
    found = mgraph.apsp(graph, predecessors=True, device=device)
    np.testing.assert_allclose(as_floats(found.distances), expected, rtol=0, atol=1e-15)
    assert found.path(0, 3) == [0, 1, 2, 3]
    refused = 0
    for method in ("blocked", "naive", "squaring"):
        try:
            mgraph.apsp(graph, method=method, device=device)
        except mgraph.RoundingError as error:
            assert "rounding" in str(error) and "use method='johnson'" in str(error)
            refused += 1
    assert refused
    below = np.nextafter(weights, -1)  # now the exact sum is negative
    for method in ("auto", "blocked", "naive", "squaring"):
        with pytest.raises(mgraph.NegativeCycleError, match="a cycle of negative weight"):
            mgraph.apsp(cycle(below), method=method, device=device)


#: Weights along cycles whose exact sums are negative, by less than the rounding of some of their sums.
BELOW_ROUNDING = [
    np.array([0.1, 0.2, -0.30000000000000004]),
    np.array([0.1, 0.2, -0.3], np.float32) - np.array([0, 0, 2**-25], np.float32),
    np.array([1e16, 1, -1e16, -2]),
    np.array([-1e-300]),
    np.array([2**60, -(2**60) - 1]),
]


@pytest.mark.parametrize("weights", BELOW_ROUNDING)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_exact_sum_decides_in_every_call(weights, dtype, device):
    ring, n = cycle(weights), len(weights)
    src, dst, _ = ring.coo()
    exact = sum(map(Fraction, weights.tolist()))
    above = weights.astype(np.float64) if weights.dtype.kind == "i" else weights.copy()
    above[-1] -= above.dtype.type(exact) * 2
    calls = [
        *(lambda g, v=v: mgraph.sssp(g, v, dtype=dtype, device=device) for v in range(n)),
        *(lambda g, v=v: mgraph.distances(g, [v], dtype=dtype, device=device) for v in range(n)),
        *(
            lambda g, m=m: mgraph.apsp(g, method=m, dtype=dtype, device=device)
            for m in ("auto", "blocked", "naive", "squaring", "johnson")
        ),
        lambda g: mgraph.apsp(as_matrix(g), dtype=dtype, device=device),
        lambda g: mgraph.apsp_batch([mgraph.Graph.from_edges([0], [1], [-1]), g], dtype=dtype, device=device),
        lambda g: mgraph.Hierarchy(g, range(n), dtype=dtype, device=device),
        lambda g: mgraph.distances(g, method="hierarchy", dtype=dtype, device=device),
    ]
    for number, call in enumerate(calls):
        with pytest.raises(mgraph.NegativeCycleError, match="a cycle of negative weight"):
            call(mgraph.Graph.from_edges(src, dst, weights))
        try:
            call(mgraph.Graph.from_edges(src, dst, above))
        except mgraph.RoundingError:  # of a method that was named
            assert 2 * n < number < 2 * n + 5


def as_matrix(graph):
    """A graph as a distance matrix."""
    matrix = np.full((graph.n, graph.n), infinity(graph.weights_dtype), graph.weights_dtype)
    matrix[graph.coo().src, graph.coo().dst] = graph.coo().weights
    return mgraph.Graph.from_distances(matrix)


@pytest.mark.parametrize("kept_as", [np.asarray, StoredMatrix])
def test_a_matrix_on_the_verge_of_a_negative_cycle(kept_as, device):
    matrix = np.full((60, 60), 5.0)
    for v in range(20, 29):
        matrix[v, v + 1] = 0.1
    back = -math.fsum([0.1] * 9)
    for closing, negative in ((np.nextafter(back, 0), False), (np.nextafter(back, -1), True)):
        matrix[29, 20] = closing
        graph = mgraph.Graph.from_distances(kept_as(matrix))
        if not negative:
            assert mgraph.apsp(graph, device=device).distances[20, 29] == pytest.approx(0.9)
            continue
        with pytest.raises(mgraph.NegativeCycleError) as caught:
            mgraph.apsp(graph, device=device)
        assert 20 <= caught.value.vertex < 30


@pytest.mark.parametrize("labels", ["predecessors", "intermediate"])
def test_a_path_through_a_cycle_lost_in_rounding_ends(labels, device):
    graph = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 1], [0.1, -0.5, 0.5])
    result = mgraph.apsp(graph, method="blocked", device=device, **{labels: True})
    assert result.distances[0, 1] < 0.1  # 0.1 - 0.5 + 0.5
    with pytest.raises(mgraph.RoundingError, match=r"goes round a cycle .* method='johnson'"):
        result.path(0, 1)
    assert result.path(1, 2) == [1, 2]
    assert mgraph.apsp(graph, method="johnson", device=device, predecessors=True).path(0, 1) == [0, 1]


def test_highest_intermediate_vertices_beside_a_cycle_that_rounding_makes_negative(device):
    with pytest.raises(mgraph.RoundingError, match="rounding"):
        mgraph.apsp(cycle(ZERO_BUT_FOR_ROUNDING[0]), intermediate=True, device=device)


def test_squaring_takes_as_many_products_as_it_must():
    for n, products in ((1, 0), (2, 0), (3, 1), (4, 2), (5, 2), (6, 3), (1025, 10)):
        assert Squaring(plan("apsp", n, devices="cpu", method="squaring"), True).products == products


@pytest.mark.parametrize("seed", range(5))
def test_negative_floats(seed, device):
    random = np.random.default_rng(seed)
    matrix = random.random((90, 90))
    potential = random.random(90) * 3
    matrix += potential[:, None] - potential[None, :]
    np.fill_diagonal(matrix, 0)
    expected = johnson(matrix)
    for method in ("auto", "blocked", "squaring", "johnson"):
        for dtype, tolerance in ((np.float32, 1e-5), (np.float64, 1e-12)):
            result = mgraph.apsp(matrix, method=method, dtype=dtype, device=device)
            np.testing.assert_allclose(result.distances, expected, rtol=0, atol=tolerance)


def test_a_potential_does_not_swallow_a_weight(device):
    """An edge of weight 1 into a vertex that another reaches by -1e8: float32 lacks the digits for both."""
    random = np.random.default_rng(0)
    src, dst = random.integers(3, 300, (2, 900))
    weights = np.r_[-1e8, 1, random.random(900)].astype(np.float32)
    graph = mgraph.Graph.from_edges(np.r_[0, 1, src], np.r_[2, 2, dst], weights, n=300)
    for method in ("auto", "blocked", "johnson"):
        result = mgraph.apsp(graph, method=method, device=device, predecessors=True)
        assert result.distances.dtype == np.float32 and result.distances[1, 2] == 1
        assert result.path(1, 2) == [1, 2]
    assert mgraph.apsp(graph, device=device).plan.method == "blocked"


@pytest.mark.parametrize("method", ["blocked", "naive", "squaring"])
def test_overflow_is_not_reported_as_a_negative_cycle(method, device):
    for dtype, weight, n in ((np.int16, -100, 200), (np.int32, -(2**28), 6)):
        graph = mgraph.Graph.from_edges(range(n - 1), range(1, n), np.full(n - 1, weight), n=n)
        with pytest.raises(mgraph.DistanceOverflowError):
            mgraph.apsp(graph, dtype=dtype, method=method, device=device)
        result = mgraph.apsp(graph, dtype="auto", method=method, device=device)
        assert as_floats(result.distances)[0, -1] == (n - 1) * weight
    loop = mgraph.Graph.from_edges([*range(199), 5], [*range(1, 200), 5], [-100] * 199 + [-1])
    for dtype in ("int16", "auto", None):
        with pytest.raises(mgraph.NegativeCycleError) as caught:
            mgraph.apsp(loop, dtype=dtype, method=method, device=device)
        assert caught.value.vertex == 5


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
@pytest.mark.parametrize("method", ["blocked", "naive", "squaring", "johnson"])
def test_the_vertex_lies_on_the_cycle(method, dtype, device):
    """Vertex 0 lies on a closed walk of negative weight, but on no cycle of it."""
    src, dst = [0, 1, 1, 2, 3, 4, 5], [1, 0, 2, 3, 4, 5, 1]
    graph = mgraph.Graph.from_edges(src, dst, np.array([0, 0, 0, 0, 0, 0, -1], dtype))
    with pytest.raises(mgraph.NegativeCycleError) as caught:
        mgraph.apsp(graph, method=method, device=device)
    assert caught.value.vertex in range(1, 6)


@pytest.mark.parametrize("method", ["blocked", "naive", "squaring"])
def test_floats_that_fall_below_their_range(method, device):
    graph = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 3], np.array([-3e38, -3e38, 3e38], np.float32))
    with pytest.raises(mgraph.DistanceOverflowError, match="float32"):
        mgraph.apsp(graph, method=method, device=device)
    assert mgraph.apsp(graph, method=method, device=device, dtype="float64").distances[0, 2] < -5e38


# Out of core


@pytest.mark.parametrize("labels", [None, "predecessors", "intermediate"])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("n", "share"), [(257, 0.8), (300, 0.5), (300, 0.3)])
def test_out_of_core_gives_the_same_bits(n, share, dtype, labels, device):
    matrix = in_type(sprinkled(n, 0.1, 1, 30), dtype)
    options = {labels: True} if labels else {}
    whole = mgraph.apsp(matrix, dtype=dtype, device=device, method="blocked", **options)
    cell = np.dtype(np.int32 if labels and dtype == np.int16 else dtype).itemsize + (4 if labels else 0)
    # Besides its strips a GPU has a factored block for each block of a strip, 128 x 128 for any block size.
    limit = int(share * n * n * cell) + (n // 32 * 128 * 128 * cell if device == "cuda" else 0)
    result = mgraph.apsp(matrix, dtype=dtype, device=device, block=32, memory_limit=limit, **options)
    assert device == "cuda" or 0 < result.plan.detail.strip < n
    assert result.plan.peak_bytes[0] <= limit and result.plan.method == "blocked"
    assert np.array_equal(devices.to_host(result.distances), devices.to_host(whole.distances))
    if labels:
        found, expected = (devices.to_host(getattr(r, labels)) for r in (result, whole))
        assert np.array_equal(found, expected)


def test_out_of_core_stays_within_its_limit():
    n, limit = 1024, 1 << 20
    matrix = sprinkled(n, 0.5, 1, 1000).astype(np.float32)
    whole = mgraph.apsp(matrix, device="cpu", method="blocked")
    tracemalloc.start()
    try:
        result = mgraph.apsp(matrix, device="cpu", memory_limit=limit)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert result.plan.disk_bytes and result.plan.peak_bytes[0] <= limit
    assert peak < 1.5 * limit  # encoding the input takes some more
    assert isinstance(result.distances, np.memmap) and np.array_equal(result.distances, whole.distances)


@pytest.mark.parametrize("labels", [None, "predecessors", "intermediate"])
@pytest.mark.parametrize("n", [257, 513])
def test_looking_ahead_changes_nothing(n, labels, monkeypatch):
    """On a CPU, where nothing overlaps, the rounds still run in the order that they have on a GPU."""
    options = {labels: True} if labels else {}
    matrix = sprinkled(n, 0.1, 1, 30)
    plain = mgraph.apsp(matrix, device="cpu", method="blocked", block=32, **options)
    monkeypatch.setattr(candidates, "looks_ahead", lambda kind, block, rounds: rounds > 1)
    limit = int(0.9 * n * n * (12 if labels else 8))
    for memory_limit in (None, limit):
        ahead = mgraph.apsp(matrix, device="cpu", method="blocked", block=32, memory_limit=memory_limit, **options)
        assert np.array_equal(ahead.distances, plain.distances)
        if labels:
            assert np.array_equal(getattr(ahead, labels), getattr(plain, labels))
        assert ahead.plan.detail.look_ahead == (memory_limit is None or ahead.plan.detail.strip > 32)


def test_a_limit_is_used_fully():
    """As few strips as fit, three of them on the device: for a quarter of the matrix about fifteen."""
    gpu = mgraph.DeviceSpec("cuda:0", "cuda", 140 << 30)
    made = plan("apsp", 32768, devices=gpu, method="blocked", memory_limit=1 << 30)
    assert made.detail.buffers == 3 and made.detail.block == 128 and 1900 <= made.detail.strip <= 2100
    assert 0.9 * (1 << 30) < made.peak_bytes[0] <= 1 << 30
    assert made.seconds < 1.2 * plan("apsp", 32768, devices=gpu, method="blocked").seconds
    scarce = plan("apsp", 32768, devices=gpu, method="blocked", memory_limit=40 << 20)
    assert scarce.detail.strip and scarce.peak_bytes[0] <= 40 << 20


def test_a_negative_cycle_out_of_core(device):
    matrix = sprinkled(300, 0.1, 1, 30)
    matrix[250, 251], matrix[251, 250] = 5, -9
    limit = 400_000 + (10 * 128 * 128 * 8 if device == "cuda" else 0)
    with pytest.raises(mgraph.NegativeCycleError):
        mgraph.apsp(matrix, device=device, block=32, memory_limit=limit)


def test_a_limit_that_is_too_small(device):
    with pytest.raises(mgraph.MemoryLimitError, match="by the memory limit: raise memory_limit="):
        mgraph.apsp(sprinkled(300, 0.1, 1, 30), device=device, memory_limit=1000)


@pytest.mark.gpu
def test_out_of_core_uses_what_was_planned():
    from tests.support.memory import with_peak

    xp = devices.find("cuda").xp
    matrix = mgraph.Graph.from_distances(np.random.default_rng(0).random((4096, 4096), np.float32))
    whole = devices.to_host(mgraph.apsp(matrix, device="cuda").distances)
    for limit in (16 << 20, 30 << 20):
        result, peak = with_peak(xp, lambda limit=limit: mgraph.apsp(matrix, device="cuda", memory_limit=limit))
        assert result.plan.detail.strip and peak <= limit
        assert abs(peak / result.plan.peak_bytes[0] - 1) < 0.05
        assert np.array_equal(result.distances, whole)


class Elsewhere:
    """A matrix like those of Zarr and HDF5: a shape, a type, and slices that are NumPy arrays."""

    def __init__(self, matrix):
        self.matrix, self.shape, self.dtype, self.most = matrix, matrix.shape, matrix.dtype, 0

    def __getitem__(self, key):
        part = self.matrix[key].copy()
        self.most = max(self.most, part.size)
        return part


def test_a_matrix_outside_memory(device, tmp_path):
    matrix = sprinkled(600, 0.3, 1, 100)
    expected = mgraph.apsp(matrix, device="cpu", method="blocked").distances
    away = Elsewhere(matrix)
    assert np.array_equal(mgraph.apsp(away, device=device).distances, expected)
    away.most = 0
    result = mgraph.apsp(away, device=device, memory_limit=1_000_000)
    assert result.plan.detail.strip and np.array_equal(result.distances, expected)
    np.save(tmp_path / "d.npy", matrix)
    mapped = np.load(tmp_path / "d.npy", mmap_mode="r")
    assert np.array_equal(mgraph.apsp(mapped, device=device, memory_limit=1_000_000).distances, expected)


def test_a_stored_matrix_is_read_in_parts():
    matrix = np.arange(36.0).reshape(6, 6)
    stored = StoredMatrix(Elsewhere(matrix))
    part = stored[1:5, 2:6][1:3]
    assert part.shape == (2, 4) and np.array_equal(np.asarray(part), matrix[2:4, 2:6])
    with pytest.raises(mgraph.InputError, match=r"\(2, 3\)"):
        StoredMatrix(Elsewhere(np.zeros((2, 3))))


# Components first


@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.float32])
def test_components_first(dtype, monkeypatch, device):
    monkeypatch.setattr(cut, "GROUP", 40)
    monkeypatch.setattr(sys.modules["mgraph.algorithms.apsp.call"], "GROUP", 40)
    monkeypatch.setattr(all_pairs, "WORTH", 0)
    monkeypatch.setattr(all_pairs, "ADVANTAGE", {"blocked, components first": 1e-9, "sssp": 1e9, "johnson": 1e9})
    matrix = apart(60, 35, 12, 1, 1, 90)
    there = np.isfinite(matrix) & ~np.eye(len(matrix), dtype=bool)
    edges = sparse.coo_array((matrix[there].astype(dtype), there.nonzero()), shape=matrix.shape)
    for labels in ("predecessors", "intermediate"):
        result = mgraph.apsp(edges, device=device, **{labels: True})
        assert (
            result.plan.detail.groups
            and max(result.plan.detail.groups) == 90
            and sum(result.plan.detail.groups) == len(matrix)
        )
        whole = mgraph.apsp(edges, device=device, method="blocked", **{labels: True})
        assert np.array_equal(devices.to_host(result.distances), devices.to_host(whole.distances))
        assert np.array_equal(*(devices.to_host(getattr(r, labels)) for r in (result, whole)))
    matrix[matrix == np.inf] = 0
    graph = mgraph.Graph.from_edges(*edges.coords, edges.data, n=len(matrix))
    sizes, order = components(graph)
    assert sorted(sizes) == [1, 1, 12, 35, 60, 90]
    first = int(order[0])
    loop = mgraph.Graph.from_edges(
        np.append(edges.row, first), np.append(edges.col, first), np.append(edges.data, -1), n=len(matrix)
    )
    with pytest.raises(mgraph.NegativeCycleError) as caught:
        mgraph.apsp(loop, device=device)
    assert caught.value.vertex == first


# Types


def test_int16_beyond_its_range(device):
    """Twelve edges of 4,000 do not fit int16: never a saturated or wrapped distance."""
    chain = mgraph.Graph.from_edges(range(12), range(1, 13), [4000] * 12)
    for method in ("blocked", "naive", "squaring"):
        with pytest.raises(mgraph.DistanceOverflowError, match="int32"):
            mgraph.apsp(chain, dtype="int16", method=method, device=device)
        result = mgraph.apsp(chain, dtype="auto", method=method, device=device)
        assert result.distances.dtype == np.int32 and result.distances[0, 12] == 48_000
    with pytest.raises(mgraph.DistanceOverflowError, match="40000"):
        mgraph.apsp(mgraph.Graph.from_edges([0], [1], [40_000]), dtype="int16", device=device)
    with pytest.raises(mgraph.DistanceOverflowError):
        mgraph.apsp(chain, dtype="int16", predecessors=True, device=device)


@pytest.mark.parametrize("labels", [False, True])
def test_the_narrowest_type_that_is_exact(labels, device):
    def chosen(weights, n=4):
        graph = mgraph.Graph.from_edges(range(len(weights)), range(1, len(weights) + 1), weights, n=n)
        result = mgraph.apsp(graph, dtype="auto", device=device, predecessors=labels, method="blocked")
        assert as_floats(result.distances)[0, len(weights)] == sum(map(float, weights))
        return result.distances.dtype

    small = np.int32 if labels else np.int16
    assert chosen([1, 2, 3]) == small
    assert chosen([4000, 4000, 4000]) == small
    assert chosen([4096, 4096, 4095]) == np.int32
    assert chosen([-3000, -2000, 1]) == np.int32
    assert chosen([-4000] * 12, n=13) == np.int32
    assert chosen([5000, 1, 1]) == np.int32
    assert chosen([2**28, 2**28, 2**28]) == np.float64
    assert chosen([2**30, 1, 1]) == np.float64
    assert chosen(np.array([1.0, 2.0, 7.0])) == np.float32
    assert chosen(np.array([1.0, 0.5, 7.0])) == np.float64
    assert chosen(np.array([1.0, 2.0**24, 7.0])) == np.float64
    assert chosen(np.array([1.0, 0.5, 7.0], np.float32)) == np.float32
    assert chosen(np.array([1.0, 2.0**24, 1.0], np.float32)) == np.float64
    with pytest.raises(mgraph.DistanceOverflowError, match="2\\*\\*53"):
        chosen([2**53, 1])
    hops = mgraph.Graph.from_edges([0, 1], [1, 2])
    assert mgraph.apsp(hops, dtype="auto", device=device, predecessors=labels).distances.dtype == small


def test_the_faster_of_two_exact_types():
    """Searches do not compute in int16, and are faster than the matrix if edges are few."""
    random = np.random.default_rng(1)
    graph = mgraph.Graph.from_edges(*random.integers(0, 4000, (2, 8000)), n=4000)
    result = mgraph.apsp(graph, dtype="auto", device="cpu")
    assert result.plan.method == "sssp" and result.distances.dtype == np.int32
    assert mgraph.apsp(graph, dtype="auto", device="cpu", method="blocked").distances.dtype == np.int16


def test_exact_types():
    assert [t.name for t in exact_types(np.dtype(np.int64), 0, 5, True, 10, True)] == ["int16", "int32", "float64"]
    assert [t.name for t in exact_types(np.dtype(np.int64), -5000, 5, True, 10, True)] == ["int32", "float64"]
    assert [t.name for t in exact_types(np.dtype(np.int64), 0, 2**28 + 1, True, 10, True)] == ["float64"]
    assert [t.name for t in exact_types(np.dtype(np.float64), 0, 2**20, True, 17, True)] == ["float32"]
    assert [t.name for t in exact_types(np.dtype(np.float64), 0, 2**20, True, 18, True)] == ["float64"]
    assert band(np.dtype(np.int16)) == 4096 and band(np.dtype(np.int32)) == 2**28


@pytest.mark.parametrize("dtype", [np.int16, np.int32])
def test_the_largest_distance_of_a_type(dtype, device):
    """Without negative weights, a distance up to three times the largest weight is distinguished from infinity."""
    most = band(np.dtype(dtype))
    graph = mgraph.Graph.from_edges(range(3), range(1, 4), [most, most, most - 2], n=6)
    result = mgraph.apsp(graph, dtype=dtype, device=device)
    assert result.distances[0, 3] == 3 * most - 2 and result.distances[0, 5] == np.iinfo(dtype).max
    graph = mgraph.Graph.from_edges(range(3), range(1, 4), [most, most, most], n=6)
    with pytest.raises(mgraph.DistanceOverflowError):
        mgraph.apsp(graph, dtype=dtype, device=device)


# Options that exclude each other


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"predecessors": True, "intermediate": True}, "exclude each other"),
        ({"intermediate": True, "method": "squaring"}, "squaring"),
        ({"intermediate": True, "method": "sssp"}, "sssp"),
        ({"dtype": "int16", "method": "sssp"}, "int16"),
        ({"dtype": "int16", "method": "johnson"}, "int16"),
        ({"memory_limit": -1}, "memory_limit must be a number of bytes, 1 or more, .* got -1"),
        ({"memory_limit": "much"}, "much"),
    ],
)
def test_options_that_exclude_each_other(options, message):
    with pytest.raises(mgraph.InputError, match=message):
        mgraph.apsp(np.array([[0, 1], [2, 0]]), device="cpu", **options)


def test_the_planner_chooses_the_fastest_way():
    gpu = mgraph.DeviceSpec("cuda:0", "cuda", 140 << 30)
    dense = plan("apsp", 20_000, devices=gpu)
    assert dense.method == "blocked" and not dense.detail.strip
    thin = plan("apsp", 60_000, 200_000, gpu)
    assert thin.method == "sssp"
    assert plan("apsp", 60_000, 200_000, gpu, nonnegative=False, dtype="int32").method == "johnson"
    assert plan("apsp", 60_000, 200_000, gpu, nonnegative=False).method == "blocked"
    many = plan("apsp", 20_000, devices=gpu, components=[1000] * 20)
    assert many.detail.groups and many.seconds < dense.seconds / 5
    assert plan("apsp", 20_000, 100_000, gpu, predecessors=True, exact=True, method="blocked").detail.derived is False
    for made in (dense, thin, many):
        text = made.explain(True)
        chosen = [line for line in text.splitlines() if line.endswith("chosen")]
        assert len(chosen) == 1 and made.method in chosen[0]
        assert all(f"  {way.name} " in text for way in made.alternatives)
        assert made.alternatives == tuple(sorted(made.alternatives, key=lambda way: way.seconds))


def test_a_wider_type_must_promise_as_much_as_another_way():
    """Of 900 vertices searches save less than 10 ms; in float64 they are taken, as its matrix takes longer."""
    cpu = mgraph.DeviceSpec("cpu", "cpu", 1 << 34, 2, model="of the built-in rates")
    types = ("int16", "int32", "float64")
    plans = [plan("apsp", 900, 3600, cpu, dtype=dtype, exact=True) for dtype in types]
    assert [made.method for made in plans] == ["blocked", "blocked", "sssp"]
    assert plans[2].seconds < plans[0].seconds < plans[1].seconds
    assert all_pairs.quickest(plans) == 0
    large = [plan("apsp", 9000, 36_000, cpu, dtype=dtype, exact=True) for dtype in types]
    assert large[all_pairs.quickest(large)].method == "sssp"


@pytest.mark.parametrize("n", [200, 500, 2000, 20_000])
@pytest.mark.parametrize("predecessors", [False, True])
def test_a_matrix_that_fits_in_memory_stays_there(n, predecessors):
    gpu = mgraph.DeviceSpec("cuda:0", "cuda", 140 << 30)
    made = plan("apsp", n, 4 * n, gpu, predecessors=predecessors)
    assert not [way for way in made.alternatives if "out of core" in way.name]
    small = plan(
        "apsp", n, devices=gpu, memory_limit=max(plan("apsp", n, devices=gpu, method="blocked").peak_bytes) - 1
    )
    assert small.detail.strip or small.method != "blocked"


def test_johnson_has_the_range_of_the_others(device):
    graph = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 3], [2**28, 2**28, 1])
    expected = [0, 2**28, 2**29, 2**29 + 1]
    for method in ("blocked", "squaring", "sssp", "johnson"):
        assert mgraph.apsp(graph, method=method, device=device).distances[0].tolist() == expected, method


@pytest.mark.parametrize("method", ["sssp", "johnson"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_searches_with_weights_whose_sum_is_infinite(method, dtype, device):
    most = np.finfo(dtype).max
    graph = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 3], np.array([most, most, 1], dtype))
    assert mgraph.apsp(graph, method=method, device=device).distances[0].tolist() == [0, float(most), np.inf, np.inf]


def test_results_compare_by_identity():
    graph = mgraph.generate.rmat(4)
    for call in (mgraph.apsp, mgraph.connected_components, mgraph.transitive_closure):
        one, other = call(graph), call(graph)
        assert one == one and one != other and one not in [other] and len({one, other}) == 2
