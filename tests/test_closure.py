"""Transitive closure: against SciPy on every device and on Dask workers, with rows, pairs and spans."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import connected_components

import mgraph
from mgraph import device as devices
from mgraph.algorithms.closure.program import Closure
from mgraph.kernels import closure as closure_kernels
from mgraph.matrices.distance_matrix import parts
from mgraph.planning.devices import DeviceSpec
from mgraph.runtime.direct import Direct
from tests.support.clusters import CLUSTER_WARNINGS, cluster
from tests.support.devices import poison
from tests.support.memory import with_peak

pytestmark = CLUSTER_WARNINGS

SIZES = [1, 2, 31, 32, 33, 127, 128, 129, 255, 257, 513, 1100]


def warshall(edges, reflexive=True):
    """The textbook's loop, on a Boolean matrix."""
    reached = edges | np.eye(len(edges), dtype=bool) if reflexive else edges.copy()
    for k in range(len(reached)):
        reached[reached[:, k]] |= reached[k]
    return reached


def random_edges(n, degree, seed=0):
    return np.random.default_rng(seed).random((n, n)) < degree / n


def graph_of(edges):
    return mgraph.Graph.from_edges(*edges.nonzero(), n=len(edges))


def solve(edges, device, block, reflexive=True, span=None, look_ahead=False):
    """Close a graph with options that the public call leaves to the planner."""
    graph = graph_of(edges)
    made = mgraph.plan("closure", graph.n, graph.m, device, block=block, span=span)
    made = replace(made, detail=replace(made.detail, look_ahead=look_ahead))
    outcome = Direct(devices.find(device)).run(Closure(made, reflexive), parts(graph, made), made, None)
    return bits(outcome.arrays["words"], graph.n), devices.to_host(outcome.arrays["counts"])


def bits(words, n):
    """Unpack words with NumPy; the bits after the last vertex are zero."""
    octets = np.ascontiguousarray(devices.to_host(words)).view(np.uint8)
    unpacked = np.unpackbits(octets, axis=1, bitorder="little").astype(bool)
    assert unpacked.shape == (n, -(-n // 32) * 32)
    assert not unpacked[:, n:].any()
    return unpacked[:, :n]


@pytest.mark.parametrize("block", closure_kernels.of_kind("cpu").BLOCKS)
@pytest.mark.parametrize("n", SIZES)
def test_random_graphs(n, block, device):
    # From scattered pieces over the threshold of a giant component to nearly everything.
    for seed, degree in enumerate((0.5, 1.0, 1.5, 4.0)):
        edges = random_edges(n, degree, seed)
        expected = warshall(edges)
        found, counts = solve(edges, device, block)
        assert np.array_equal(found, expected), degree
        assert np.array_equal(counts, expected.sum(axis=1)), degree


@pytest.mark.parametrize("block", closure_kernels.of_kind("cpu").BLOCKS)
def test_long_ways(block, device):
    # One cycle through all vertices in random order, and the same with an edge cut out.
    n = 700
    order = np.random.default_rng(1).permutation(n)
    edges = np.zeros((n, n), bool)
    edges[order, np.roll(order, -1)] = True
    assert solve(edges, device, block)[0].all()
    edges[order[-1], order[0]] = False
    place = np.argsort(order)
    assert np.array_equal(solve(edges, device, block, reflexive=False)[0], place[:, None] < place[None, :])


def test_a_block_needs_nothing_of_the_last_call(device):
    # The panels' words after the last pivot hold old data: the dense graph runs first, then the sparse one.
    for degree in (200.0, 0.7):
        for n in (257, 270, 530):
            edges = random_edges(n, degree, n)
            assert np.array_equal(solve(edges, device, 256)[0], warshall(edges))


@pytest.mark.parametrize("n", [5, 64, 300])
def test_not_reflexive(n, device):
    edges = np.triu(random_edges(n, 2.0, n), 1)
    edges[3, 1] = edges[1, 2] = edges[2, 3] = True
    result = mgraph.transitive_closure(graph_of(edges), reflexive=False, device=device)
    expected = warshall(edges, reflexive=False)
    assert np.array_equal(devices.to_host(result.to_dense()), expected)
    assert result.reaches(1, 1) and not result.reaches(0, 0) and 3 <= expected.trace() < n
    assert result.count == expected.sum()


def test_an_acyclic_graph_is_not_closed_backwards(device):
    edges = np.triu(random_edges(400, 3.0), 1)
    found = solve(edges, device, None, reflexive=False)[0]
    assert np.array_equal(found, warshall(edges, reflexive=False))
    assert not np.tril(found).any() and found.sum() > edges.sum()


def test_extremes(device):
    for n in (1, 40, 600):
        nothing = mgraph.transitive_closure(graph_of(np.zeros((n, n), bool)), device=device)
        assert np.array_equal(devices.to_host(nothing.to_dense()), np.eye(n, dtype=bool)) and nothing.count == n
        everything = mgraph.transitive_closure(np.ones((n, n)), device=device)
        assert devices.to_host(everything.to_dense()).all() and everything.count == n * n


def test_no_vertices(device):
    result = mgraph.transitive_closure(np.zeros((0, 0)), device=device)
    assert result.words.shape == (0, 0) and result.to_dense().shape == (0, 0) and result.count == 0


def test_undirected_graphs_close_to_their_components(device):
    # 32 columns a word: vertices of one component must not leak into the next word.
    random = np.random.default_rng(5)
    src, dst = random.integers(0, 900, (2, 500))
    graph = mgraph.Graph.from_edges(src, dst, n=900, directed=False)
    result = mgraph.transitive_closure(graph, device=device)
    _, component = connected_components(sparse.coo_array((np.ones(500), (src, dst)), shape=(900, 900)), directed=False)
    assert np.array_equal(devices.to_host(result.to_dense()), component[:, None] == component[None, :])


@st.composite
def small_graphs(draw):
    n = draw(st.integers(1, 70))
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    edges = np.zeros((n, n), bool)
    for i, j in draw(st.lists(pairs, max_size=2 * n)):
        edges[i, j] = True
    return edges


@given(small_graphs(), st.booleans())
def test_small_graphs(edges, reflexive):
    found = solve(edges, "cpu", None, reflexive)[0]
    assert np.array_equal(found, warshall(edges, reflexive))
    # Closing a closed graph adds nothing.
    assert np.array_equal(solve(found, "cpu", None, reflexive)[0], found)


@pytest.mark.gpu
def test_gpu_and_cpu_hold_the_same_words():
    edges = random_edges(1500, 1.3)
    poison()
    on_gpu, on_cpu = (mgraph.transitive_closure(graph_of(edges), device=where) for where in ("cuda", "cpu"))
    assert np.array_equal(devices.to_host(on_gpu.words), on_cpu.words) and on_gpu.count == on_cpu.count


def test_dense_matrices(device):
    inf = np.inf
    matrix = np.array([[0, 2.0, inf, inf], [inf, 7, inf, inf], [inf, inf, -1, 0], [inf, inf, inf, inf]])
    result = mgraph.transitive_closure(matrix, reflexive=False, device=device)
    # A diagonal entry is an edge only if it is negative; a zero off the diagonal is an edge.
    assert devices.to_host(result.to_dense()).nonzero()[0].tolist() == [0, 2, 2]
    assert devices.to_host(result.to_dense()).nonzero()[1].tolist() == [1, 2, 3]
    none = np.iinfo(np.int32).max
    integers = np.array([[0, 1, none], [none, 0, 1], [none, none, 0]], np.int32)
    assert np.array_equal(devices.to_host(mgraph.transitive_closure(integers, device=device).to_dense()), np.tri(3).T)
    edges = random_edges(300, 1.5)
    lengths = np.where(edges, np.random.default_rng(0).random((300, 300)), inf)
    for order in (np.ascontiguousarray, np.asfortranarray):
        found = devices.to_host(mgraph.transitive_closure(order(lengths), device=device).to_dense())
        assert np.array_equal(found, warshall(edges))


def test_scipy_matrices(device):
    matrix = sparse.random(200, 200, 0.008, random_state=2, format="csr")
    result = mgraph.transitive_closure(matrix, device=device)
    assert np.array_equal(devices.to_host(result.to_dense()), warshall(matrix.toarray() != 0))


def test_rows_and_single_pairs(device):
    edges = random_edges(100, 1.2)
    result = mgraph.transitive_closure(graph_of(edges), device=device)
    expected = warshall(edges)
    assert np.array_equal(devices.to_host(result.rows(17, 45)), expected[17:45])
    assert all(result.reaches(i, j) == expected[i, j] for i, j in itertools.product(range(0, 100, 9), range(100)))
    for vertex in (100, -1, 0.5, True):
        with pytest.raises(mgraph.InputError, match=f"{vertex}"):
            result.reaches(0, vertex)


def test_invalid_arguments():
    with pytest.raises(mgraph.InputError, match="reflexive must be True or False, got None"):
        mgraph.transitive_closure([[0.0]], reflexive=None, device="cpu")
    with pytest.raises(mgraph.InputError, match=r"block must be .*256.* or .*, got 128"):
        mgraph.plan("closure", 1000, devices="cpu", block=128)
    with pytest.raises(mgraph.MemoryLimitError, match=r"closure of 10,000,000 vertices") as refused:
        mgraph.plan("closure", 10_000_000, devices=DeviceSpec("cpu", "cpu", 1 << 34))
    assert "dtype" not in str(refused.value)


def test_progress_and_spans(device):
    seen = []
    edges = random_edges(1100, 1.5)
    result = mgraph.transitive_closure(
        graph_of(edges), device=device, span=3, progress=lambda k, total: seen.append((k, total))
    )
    rounds = -(-1100 // result.plan.detail.block)
    assert [k for k, _ in seen][:2] == [3, 6] and seen[-1] == (3 * rounds, 3 * rounds)
    assert np.array_equal(devices.to_host(result.to_dense()), warshall(edges))


def test_phase_by_phase_is_the_same(device):
    edges = random_edges(1100, 1.5)
    assert np.array_equal(solve(edges, device, 256, span=1)[0], warshall(edges))


@pytest.mark.parametrize("degree", [1.1, 2.0])
def test_looking_ahead_is_the_same(degree, device):
    edges = random_edges(1500, degree)
    expected = warshall(edges)
    for block in (256, 512):
        assert np.array_equal(solve(edges, device, block, look_ahead=True)[0], expected)


def test_plans_know_their_bits():
    spec = DeviceSpec("cuda:0", "cuda", 140 << 30)
    one = mgraph.plan("closure", 100_000, 400_000, spec)
    assert 1 < one.peak_bytes[0] / (100_000**2 / 8) < 1.03
    four = mgraph.plan("closure", 100_000, 400_000, [spec] * 4)
    assert four.detail.grid == (2, 2) and max(four.peak_bytes) < one.peak_bytes[0] / 3.5
    assert all(first % four.detail.block == 0 for first, _ in four.ranges + four.detail.columns)
    assert "a bit a pair" in one.explain(True)
    assert one.detail.look_ahead and not mgraph.plan("closure", 4096, 0, spec).detail.look_ahead


@pytest.mark.gpu
def test_results_stay_where_the_input_was():
    xp = devices.find("cuda").xp
    edges = random_edges(150, 1.5)
    src, dst = edges.nonzero()
    result = mgraph.transitive_closure(mgraph.Graph.from_edges(xp.asarray(src), xp.asarray(dst), n=150))
    assert isinstance(result.words, xp.ndarray) and isinstance(result.to_dense(), xp.ndarray)
    assert np.array_equal(result.to_dense().get(), warshall(edges))
    assert isinstance(mgraph.transitive_closure(graph_of(edges), device="cuda").words, np.ndarray)


@pytest.mark.gpu
def test_the_planned_memory_is_what_is_used():
    xp = devices.find("cuda").xp
    random = np.random.default_rng(0)
    n = 30_000
    graph = mgraph.Graph.from_edges(*random.integers(0, n, (2, 2 * n)), n=n)
    mgraph.transitive_closure(graph_of(random_edges(40, 1.0)), device="cuda")
    result, peak = with_peak(xp, lambda: mgraph.transitive_closure(graph, device="cuda"))
    assert abs(peak / result.plan.peak_bytes[0] - 1) < 0.05


def test_on_workers():
    edges = random_edges(1100, 1.2)
    edges[1000:] = False  # a shard that only passes data on
    expected = warshall(edges)
    with cluster(4, processes=False) as client:
        result = mgraph.transitive_closure(graph_of(edges), client=client)
        assert result.plan.detail.grid == (2, 2)
        assert np.array_equal(result.to_dense(), expected) and result.count == expected.sum()
        assert np.array_equal(result.rows(500, 530), expected[500:530])
        assert result.reaches(3, 1099) == expected[3, 1099]


def test_a_dense_boolean_matrix(device):
    edges = np.random.default_rng(6).random((70, 70)) < 0.03
    expected = mgraph.transitive_closure(sparse.coo_array(edges), device=device)
    found = mgraph.transitive_closure(edges, device=device)
    assert found.count == expected.count and np.array_equal(found.to_dense(), expected.to_dense())
    assert mgraph.transitive_closure(np.eye(4, dtype=bool), device=device).count == 4
