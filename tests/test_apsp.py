"""All pairs on a distance matrix: against SciPy and the unblocked algorithm, in every type, and negative cycles."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import floyd_warshall

import mgraph
from mgraph import device as devices
from tests.support.graphs import negative_ring
from tests.support.memory import with_peak
from tests.support.references import as_floats, textbook

TYPES = [np.float32, np.float64, np.int32]
NONE = np.iinfo(np.int32).max


def check_paths(result, matrix):
    """Each path has the right ends and the right length, and visits no vertex twice."""
    distances = as_floats(result.distances)
    for i in range(len(matrix)):
        for j in range(len(matrix)):
            path = result.path(i, j)
            if not np.isfinite(distances[i, j]):
                assert path == [] and result.predecessors[i, j] == -9999
                continue
            assert path[0] == i and path[-1] == j and len(set(path)) == len(path)
            length = sum(matrix[a, b] for a, b in itertools.pairwise(path))
            assert length == distances[i, j]
        assert result.predecessors[i, i] == -9999


@st.composite
def matrices(draw, largest=40):
    """Distance matrices of small integers without negative cycles, in any type; inf means no edge."""
    n = draw(st.integers(0, largest))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    highest = draw(st.sampled_from([0, 1, 9, 1000]))
    matrix = random.integers(0, highest + 1, (n, n)).astype(float)
    if draw(st.booleans()):  # a potential makes weights negative and keeps the weight of cycles
        potential = random.integers(0, 50, n)
        matrix += potential[:, None] - potential[None, :]
    matrix[random.random((n, n)) < draw(st.sampled_from([0, 0.5, 0.9, 1]))] = np.inf
    return matrix, draw(st.sampled_from(TYPES))


def in_type(matrix, dtype):
    return np.where(np.isinf(matrix), NONE, matrix).astype(dtype) if dtype == np.int32 else matrix.astype(dtype)


def check_against_textbook(matrix, dtype, device, block=None):
    given = in_type(matrix, dtype)
    kept = given.copy()
    result = mgraph.apsp(mgraph.Graph.from_distances(given), predecessors=True, device=device, block=block)
    assert np.array_equal(given, kept, equal_nan=True)
    assert result.distances.dtype == dtype and result.predecessors.dtype == np.int32
    assert np.array_equal(as_floats(result.distances), textbook(matrix))
    check_paths(result, np.where(np.eye(len(matrix), dtype=bool), 0, matrix))


@given(matrices(), st.sampled_from([None, 32]))
def test_small_matrices(device, case, block):
    check_against_textbook(*case, device, block)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", [1, 31, 32, 33, 64, 95, 127, 128, 129, 150])
def test_sizes_around_the_blocks(n, dtype, device):
    random = np.random.default_rng(n)
    matrix = random.integers(1, 100, (n, n)).astype(float)
    matrix[random.random((n, n)) < 0.9] = np.inf
    expected = textbook(matrix)
    for block in (None, 32, 96):
        result = mgraph.apsp(in_type(matrix, dtype), device=device, block=block)
        assert np.array_equal(as_floats(result.distances), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [257, 510])
def test_every_bit_of_the_unblocked_algorithm(n, dtype, device):
    matrix = np.random.default_rng(n).random((n, n)).astype(dtype)
    expected = textbook(matrix)
    for block in (32, 64, 96, 128):
        for paths in (False, True):
            result = mgraph.apsp(matrix, device=device, block=block, predecessors=paths)
            assert np.array_equal(result.distances, expected)


def test_equals_scipy(device):
    matrix = np.random.default_rng(5).random((300, 300))
    assert np.array_equal(mgraph.apsp(matrix, device=device).distances, floyd_warshall(matrix))


def test_predecessors_are_those_of_the_unblocked_algorithm(device):
    random = np.random.default_rng(8)
    matrix = random.integers(1, 4, (200, 200)).astype(np.float64)
    matrix[random.random((200, 200)) < 0.8] = np.inf
    first = mgraph.apsp(matrix, device=device, block=32, predecessors=True)
    second = mgraph.apsp(matrix, device="cpu", block=128, predecessors=True)
    assert np.array_equal(first.predecessors, second.predecessors)
    _, scipys = floyd_warshall(np.where(np.eye(200), 0, matrix), return_predecessors=True)
    assert np.array_equal(first.predecessors, scipys)


@pytest.mark.parametrize("block", [32, 128])
def test_cycles_of_weight_zero(device, block):
    random = np.random.default_rng(3)
    for seed in range(5):
        src, dst = random.integers(0, 150, (2, 400))
        graph = mgraph.Graph.from_edges(src, dst, random.integers(0, 2, 400), n=150, directed=False)
        result = mgraph.apsp(graph, device=device, predecessors=True, block=block)
        matrix = np.full((150, 150), np.inf)
        u, v, weights = graph.coo()
        np.minimum.at(matrix, (u, v), weights)
        np.fill_diagonal(matrix, 0)
        assert np.array_equal(as_floats(result.distances), textbook(matrix)), seed
        check_paths(result, matrix)


@pytest.mark.parametrize("dtype", TYPES)
def test_sparse_input(dtype, device):
    # Stored zeros are edges, repeated edges count by the lightest, self-loops do not matter.
    graph = mgraph.Graph.from_edges(
        [0, 0, 0, 1, 2, 2, 4], [1, 1, 3, 2, 0, 2, 3], np.array([7, 5, 9, 0, 1, 3, 2], dtype)
    )
    result = mgraph.apsp(graph, device=device)
    inf = np.inf
    expected = [
        [0, 5, 5, 9, inf],
        [1, 0, 0, 10, inf],
        [1, 6, 0, 10, inf],
        [inf, inf, inf, 0, inf],
        [inf, inf, inf, 2, 0],
    ]
    assert np.array_equal(as_floats(result.distances), expected)
    assert result.distances.dtype == dtype


def test_scipy_matrix(device):
    matrix = sparse.random(120, 120, 0.05, random_state=1, format="csr")
    assert np.array_equal(mgraph.apsp(matrix, device=device).distances, floyd_warshall(matrix))


def test_unweighted_graph_counts_hops(device):
    graph = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False)
    result = mgraph.apsp(graph, device=device)
    assert result.distances.dtype == np.float32
    assert np.array_equal(result.distances, abs(np.subtract.outer(np.arange(4), np.arange(4))))


@pytest.mark.parametrize("dtype", TYPES)
def test_negative_cycle_is_named(dtype, device):
    matrix, ring = negative_ring()
    with pytest.raises(mgraph.NegativeCycleError) as caught:
        mgraph.apsp(in_type(matrix, dtype), device=device, block=32)
    assert caught.value.vertex in ring
    assert str(caught.value.vertex) in str(caught.value)


def test_negative_self_loop(device):
    with pytest.raises(mgraph.NegativeCycleError) as caught:
        mgraph.apsp([[0.0, 1.0], [1.0, -2.0]], device=device)
    assert caught.value.vertex == 1


def test_the_diagonal_counts_as_zero(device):
    assert mgraph.apsp([[5.0, 1.0], [np.inf, np.inf]], device=device).distances.tolist() == [[0, 1], [np.inf, 0]]


def test_negative_zero_becomes_zero(device):
    result = mgraph.apsp(mgraph.Graph.from_distances([[0.0, -0.0], [1.0, -0.0]]), device=device)
    assert not np.signbit(result.distances).any()


def test_int32_that_does_not_fit(device):
    weight = 2**28
    chain = mgraph.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], [weight] * 4)
    with pytest.raises(mgraph.DistanceOverflowError, match="float64"):
        mgraph.apsp(chain, device=device)
    assert mgraph.apsp(chain, device=device, dtype="float64").distances[0, 4] == 4 * weight
    with pytest.raises(mgraph.DistanceOverflowError, match=str(2**29)):
        mgraph.apsp(mgraph.Graph.from_edges([0], [1], [2**29]), device=device)


def test_weights_that_are_too_large(device):
    with pytest.raises(mgraph.DistanceOverflowError, match="float64"):
        mgraph.apsp([[0.0, 1e300], [np.inf, 0.0]], dtype="float32", device=device)
    largest = mgraph.Graph.from_edges([0], [1], np.array([NONE], np.int32))  # an edge, being in no matrix
    assert mgraph.apsp(largest, dtype="float64", device=device).distances[0, 1] == NONE


def test_negative_integers_in_floats(device):
    random = np.random.default_rng(6)
    potential = random.integers(0, 50, 150)
    matrix = random.integers(0, 20, (150, 150)) + potential[:, None] - potential[None, :]
    expected = textbook(matrix.astype(float))
    matrix = mgraph.Graph.from_distances(matrix)
    result = mgraph.apsp(matrix, dtype="float32", device=device, predecessors=True)
    assert np.array_equal(result.distances, expected)
    assert np.array_equal(mgraph.apsp(matrix, dtype="float32", device=device).distances, expected)


def test_a_matrix_that_does_not_fit_is_refused_before_its_edges_are_sorted(monkeypatch):
    monkeypatch.setattr(mgraph.Graph, "from_scipy", lambda *_: pytest.fail("the edges were touched"))
    with pytest.raises(mgraph.MemoryLimitError, match="400,000,000"):
        mgraph.apsp(sparse.coo_array(([1.0], ([0], [1])), shape=(400_000_000, 400_000_000)), device="cpu")


def test_unreachable_stays_unreachable_with_negative_integers(device):
    graph = mgraph.Graph.from_edges([0, 1, 3], [1, 2, 4], [-5, -7, -9])
    result = mgraph.apsp(graph, device=device, predecessors=True)
    assert result.distances[0].tolist() == [0, -5, -12, NONE, NONE]
    assert result.predecessors[0].tolist() == [-9999, 0, 1, -9999, -9999]
    assert result.path(0, 4) == []


@pytest.mark.parametrize("weights", [np.int64, np.int8, np.uint16, np.float16])
def test_other_types_of_weights(weights, device):
    matrix = np.array([[0, 3, 100], [2, 0, 4], [1, 1, 0]], weights)
    result = mgraph.apsp(matrix, device=device)
    assert result.distances.dtype == (np.float32 if weights == np.float16 else np.int32)
    assert result.distances.tolist() == [[0, 3, 7], [2, 0, 4], [1, 1, 0]]


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        (np.zeros((2, 3)), r"\(2, 3\)"),
        ([[0.0, np.nan], [1.0, 0.0]], r"\(0, 1\).*NaN"),
        ([[0.0, -np.inf], [1.0, 0.0]], "-inf"),
        (np.zeros((2, 2), complex), "complex"),
        ("a graph", r"\(\)|str"),
        ([[1, 2], [3]], "row 1 of the matrix"),
    ],
)
def test_invalid_input(argument, message):
    with pytest.raises(mgraph.InputError, match=message):
        mgraph.apsp(argument, device="cpu")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"block": 100}, "block must be 32, 64, 96 or 128, got 100"),
        ({"block": 64.0}, "64.0"),
        ({"dtype": "int16"}, "int16"),
        ({"dtype": "int32"}, "fractions"),
        ({"dtype": "nonsense"}, "nonsense"),
        ({"method": "magic"}, "magic"),
        ({"device": "tpu"}, "tpu"),
        ({"span": 0}, "span must be an integer of 1 or more, got 0"),
        ({"progress": 1}, "progress must be True, which shows a bar, or a function .* got 1"),
    ],
)
def test_invalid_options(options, message):
    with pytest.raises(mgraph.InputError, match=message):
        mgraph.apsp([[0.0, 1.5], [1.0, 0.0]], **{"device": "cpu", **options})


def test_a_missing_gpu():
    with pytest.raises(mgraph.DeviceError, match=r"cuda:99|CuPy"):
        mgraph.apsp([[0.0]], device="cuda:99")


def test_path_needs_predecessors_and_vertices():
    result = mgraph.apsp([[0.0, 1.0], [1.0, 0.0]], device="cpu")
    with pytest.raises(mgraph.InputError, match="predecessors=True"):
        result.path(0, 1)
    result = mgraph.apsp([[0.0, 1.0], [1.0, 0.0]], device="cpu", predecessors=True)
    assert result.path(0, 1) == [0, 1] and result.path(1, 1) == [1]
    for vertex in (2, -1, 0.5, True):
        with pytest.raises(mgraph.InputError, match=f"{vertex}"):
            result.path(0, vertex)


def test_progress_and_spans(device):
    seen = []
    matrix = np.random.default_rng(2).random((70, 70))
    result = mgraph.apsp(matrix, device=device, block=32, span=2, progress=lambda k, total: seen.append((k, total)))
    assert seen[-1] == (9, 9) and [k for k, _ in seen][:3] == [2, 4, 6]
    assert set(result.timings) >= {"load", "solve", "collect"}
    assert np.array_equal(result.distances, mgraph.apsp(matrix, device=device).distances)


@pytest.mark.gpu
def test_cupy_in_cupy_out():
    xp = devices.find("cuda").xp
    matrix = np.random.default_rng(0).random((130, 130))
    result = mgraph.apsp(xp.asarray(matrix), predecessors=True)
    assert isinstance(result.distances, xp.ndarray) and isinstance(result.predecessors, xp.ndarray)
    assert np.array_equal(result.distances.get(), mgraph.apsp(matrix, device="cpu").distances)
    assert result.path(3, 4)[0] == 3
    graph = mgraph.Graph.from_edges(xp.asarray([0, 1]), xp.asarray([1, 2]), xp.asarray([1.5, 2.0]))
    assert mgraph.apsp(graph).distances[0, 2].item() == 3.5
    on_host = mgraph.apsp(xp.asarray(matrix), device="cpu").distances
    assert isinstance(on_host, xp.ndarray)


@pytest.mark.gpu
def test_the_planned_memory_is_what_is_used():
    xp = devices.find("cuda").xp
    n = 4096
    matrix = mgraph.Graph.from_distances(np.random.default_rng(0).random((n, n), np.float32))
    mgraph.apsp(matrix.dense[:64, :64].copy(), device="cuda")
    for paths in (False, True):
        result, peak = with_peak(xp, lambda paths=paths: mgraph.apsp(matrix, device="cuda", predecessors=paths))
        assert abs(peak / result.plan.peak_bytes[0] - 1) < 0.05
