"""Shortest paths from one source: every method against SciPy, negative weights, limits and targets."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra

import mgraph
from mgraph import device as devices
from mgraph.device.numba.small import is_small
from mgraph.generate import random_degree, rmat
from mgraph.graph import Compressed
from mgraph.planning.devices import USABLE
from tests.support.devices import poison
from tests.support.graphs import REAL_GRAPHS, grid_ends, needs_real_graphs, weighted_by_ends
from tests.support.memory import measured
from tests.support.methods import methods
from tests.support.parameters import DTYPES, exhaustive
from tests.support.properties import check_shortest_paths
from tests.support.references import as_floats, lightest_edges, shortest_distances

METHODS = methods("sssp")


def check(graph, source, device, span=None, methods=METHODS, **asked):
    """Solve by every method; all give SciPy's distances, and the same predecessors."""
    expected = shortest_distances(graph, source)
    before = None
    for method in methods:
        result = mgraph.sssp(graph, source, method=method, predecessors=True, device=device, span=span, **asked)
        assert np.allclose(as_floats(result.distances), expected, rtol=1e-5, atol=0), method
        check_shortest_paths(graph, source, result)
        if before is not None:
            assert np.array_equal(result.distances, before.distances), method
            assert np.array_equal(result.predecessors, before.predecessors), method
        before = result
    return before


@st.composite
def searches(draw):
    n = draw(st.integers(1, 100))
    m = draw(st.integers(0, 4 * n))
    dtype = draw(st.sampled_from(DTYPES))
    least, most = draw(st.sampled_from([(0, 1), (0, 5), (1, 9), (1, 1000)]))  # many zeros, few, none
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    src, dst = random.integers(0, n, (2, m))
    weights = random.integers(least, most + 1, m).astype(dtype)
    if dtype != "int32" and least:
        weights += random.random(m).astype(dtype)
    graph = mgraph.Graph.from_edges(src, dst, weights, n=n, directed=draw(st.booleans()))
    return graph, draw(st.integers(0, n - 1)), draw(st.sampled_from([None, 1, 3]))


@given(searches())
def test_small_graphs(device, case):
    graph, source, span = case
    check(graph, source, device, span)


def shapes():
    n = 3000
    random = np.random.default_rng(1)
    path = np.arange(n - 1)
    lengths = random.integers(0, 256, n - 1).astype(np.int32)
    yield "path", mgraph.Graph.from_edges(path, path + 1, lengths), 0
    yield "path back", mgraph.Graph.from_edges(path + 1, path, lengths), n - 1
    yield "path without weights", mgraph.Graph.from_edges(path, path + 1), 0
    center = np.zeros(n - 1, int)
    yield "star", mgraph.Graph.from_edges(center, path + 1, lengths, directed=False), 0
    yield "star from a leaf", mgraph.Graph.from_edges(center, path + 1, lengths, directed=False), 7
    side = 60
    src, dst = grid_ends(side, side)
    yield "grid", mgraph.Graph.from_edges(src, dst, random.random(len(src)), directed=False), side // 2
    yield "grid of equal edges", mgraph.Graph.from_edges(src, dst, directed=False), 0
    a, b = np.nonzero(~np.eye(200, dtype=bool))
    yield "complete", mgraph.Graph.from_edges(a, b, random.random(len(a)).astype(np.float32)), 199
    hubs = np.repeat(np.arange(4), 5000)  # cut into pieces for all warps
    leaves = random.integers(5, 20000, len(hubs))
    src, dst = np.concatenate([[4] * 4, hubs]), np.concatenate([np.arange(4), leaves])
    yield "hubs", mgraph.Graph.from_edges(src, dst, random.integers(1, 99, len(src)), n=20000), 4
    yield "one vertex", mgraph.Graph.from_edges([], [], np.zeros(0), n=1), 0
    yield "self-loop", mgraph.Graph.from_edges([0], [0], [3.0], n=1), 0
    yield "no edges", mgraph.Graph.from_edges([], [], n=40), 39
    yield "parallel edges", mgraph.Graph.from_edges([0, 0, 0, 1, 1], [1, 1, 1, 2, 2], [5, 2, 2, 7, 4]), 0
    ring = np.arange(500)
    yield "a cycle of zeros", mgraph.Graph.from_edges(ring, (ring + 1) % 500, np.zeros(500, np.int32)), 17
    src, dst = random.integers(0, 400, (2, 3000))
    yield "zeros and ones", mgraph.Graph.from_edges(src, dst, random.integers(0, 2, 3000).astype(np.float32)), 3
    far = np.where(path[:60] % 2, np.float32(1e-3), np.float32(1e6))  # sums that swallow every other weight
    yield "lost in rounding", mgraph.Graph.from_edges(path[:60], path[:60] + 1, far), 0


@pytest.mark.parametrize("shape", list(shapes()), ids=lambda shape: shape[0])
def test_shapes(shape, device):
    _, graph, source = shape
    check(graph, source, device)
    check(graph, source, device, span=7)


@pytest.mark.parametrize("dtype", DTYPES)
def test_rmat_with_isolated_vertices(dtype, device):
    random = np.random.default_rng(2)
    for directed in (False, True):
        graph = weighted_by_ends(rmat(12, directed=directed), random.integers(1, 256, 997).astype(dtype))
        degrees = np.diff(graph.csr().indptr)
        assert (degrees == 0).any()
        for source in (int(degrees.argmax()), int(graph.csr().indices[0]), int(degrees.argmin())):
            check(graph, source, device)


def test_wide_rounds_after_thin_ones(device):
    # A path into a random graph and out of it again, which leaves some far vertices, so that one block and
    # all blocks relax, and one block and all blocks raise the bound.
    random = np.random.default_rng(4)
    n, tail = 60_000, 500
    src, dst = random.integers(tail, n - tail, (2, 300_000))
    ends = np.concatenate([np.arange(tail), np.arange(n - tail - 1, n - 1)])
    weights = np.r_[random.integers(1, 256, len(src)), random.integers(1, 9, len(ends))].astype(np.int32)
    leaps = random.integers(tail, n - tail, 30_000)  # far from the start, and waiting from then on
    src, dst = np.r_[src, ends, np.full(len(leaps), 3)], np.r_[dst, ends + 1, leaps]
    graph = mgraph.Graph.from_edges(src, dst, np.r_[weights, random.integers(10**6, 10**7, len(leaps))], n=n)
    check(graph, 0, device)
    check(graph, 0, device, span=7)


@pytest.mark.parametrize("length", [60, 60_000])  # for one block, and for all
def test_a_window_lost_in_rounding(length, device):
    # From 2^40 on floats are 2^17 apart, and a bound of a window of 1 more is the same.
    leaves = np.arange(2, length + 2)
    src = np.concatenate([[0], np.ones(length, int), leaves])
    dst = np.concatenate([[1], leaves, leaves + length])
    weights = np.concatenate([[2.0**40], np.tile([2.0**18, 2.0**19], length)]).astype(np.float32)
    graph = mgraph.Graph.from_edges(src, dst, weights)
    assert graph.kept("window", devices.find("cpu"), lambda: 1.0, weights=True) == 1
    result = mgraph.sssp(graph, 0, method="nearfar", device=device, predecessors=True)
    check_shortest_paths(graph, 0, result)
    assert np.array_equal(as_floats(result.distances), shortest_distances(graph, 0))


@pytest.mark.parametrize("dtype", DTYPES)
def test_negative_weights(dtype, device):
    # Shifted by potentials a weight may be negative, and no cycle is: a path's length changes by those of its ends.
    random = np.random.default_rng(5)
    for n, m in ((20, 30), (40, 100), (700, 4000)):
        src, dst = random.integers(0, n, (2, m))
        plain, h = random.integers(0, 50, m), random.integers(-200, 200, n)
        plain[::3] = 0
        shifted = mgraph.Graph.from_edges(src, dst, (plain + h[src] - h[dst]).astype(dtype), n=n)
        assert shifted.extremes()[0] < 0
        source = int(src[0])
        result = check(shifted, source, device, methods=("bellman-ford", "auto"))
        unshifted = shortest_distances(mgraph.Graph.from_edges(src, dst, plain.astype(dtype), n=n), source)
        assert np.array_equal(as_floats(result.distances), unshifted + h[source] - h)
        assert result.plan.method == "bellman-ford"


def test_limit_where_weights_are_negative(device):
    # The path to 3 exceeds the limit at 1, and returns below it.
    graph = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 3], [10.0, -8.0, 0.0])
    result = mgraph.sssp(graph, 0, limit=5, predecessors=True, device=device)
    assert as_floats(result.distances).tolist() == [0, np.inf, 2, 2]
    assert result.path(3) == [0, 1, 2, 3] and result.path(1) == []


@pytest.mark.parametrize(
    ("weight", "dtype", "limit"),
    [
        (16777220, "float32", 16777219),
        (16777220, "float32", np.int64(16777219)),
        (np.float32(1.0000001), "float32", 1.00000007),
        (np.float32(1.0000001), "float32", np.float64(1.00000007)),
        (2.0**53 + 4, "float64", 2**53 + 3),
        (2.0**53 + 4, "float64", np.int64(2**53 + 3)),
    ],
)
def test_a_limit_is_not_rounded_up(weight, dtype, limit, device):
    graph = mgraph.Graph.from_edges([0], [1], [weight])
    for most, distance in ((limit, np.inf), (weight, weight)):
        found = mgraph.sssp(graph, 0, dtype=dtype, limit=most, device=device)
        assert found.distances.tolist() == [0, distance]


@pytest.mark.parametrize("limit", [1e39, 10**39, 10**400])
def test_a_limit_beyond_float32(limit, device):
    graph = mgraph.Graph.from_edges([0, 1], [1, 2], np.array([3e38, 2.0], np.float32))
    found = devices.to_host(mgraph.sssp(graph, 0, limit=limit, device=device).distances)
    assert np.array_equal(found, np.array([0, 3e38, 3e38], np.float32))


@pytest.mark.parametrize("dtype", DTYPES)
def test_negative_cycles(dtype, device):
    random = np.random.default_rng(6)
    for n, length in ((1, 1), (30, 3), (3000, 1500)):
        src, dst = random.integers(0, n, (2, n))
        cycle = random.permutation(n)[:length]
        weights = np.r_[random.integers(10, 99, n), np.full(length, 1)].astype(dtype)
        weights[-1] = -length
        graph = mgraph.Graph.from_edges(np.r_[src, cycle], np.r_[dst, np.roll(cycle, -1)], weights, n=n)
        with pytest.raises(mgraph.NegativeCycleError) as raised:
            mgraph.sssp(graph, int(cycle[0]), device=device)
        assert raised.value.vertex in cycle


def test_negative_cycle_out_of_reach(device):
    graph = mgraph.Graph.from_edges([0, 1, 2, 3, 3], [1, 0, 3, 2, 0], [2, 2, -5, 1, 1])
    assert mgraph.sssp(graph, 0, device=device).distances.tolist()[:2] == [0, 2]
    with pytest.raises(mgraph.NegativeCycleError):
        mgraph.sssp(graph, 2, device=device)


def test_a_path_of_negative_weights_in_any_order(device):
    # It takes as many rounds as there are vertices; the check for a negative cycle may not take that many passes.
    n = 300_000
    order = np.random.default_rng(1).permutation(n)
    graph = mgraph.Graph.from_edges(order[:-1], order[1:], np.full(n - 1, -1))
    assert np.array_equal(devices.to_host(mgraph.sssp(graph, order[0], device=device).distances)[order], -np.arange(n))
    ring = mgraph.Graph.from_edges(order, np.roll(order, -1), np.where(order == 7, n - 2, -1))
    with pytest.raises(mgraph.NegativeCycleError):
        mgraph.sssp(ring, order[0], device=device)


def test_deep_graph_with_negative_weights(device):
    # More rounds than run before the check for a negative cycle.
    n = 5000
    path = np.arange(n - 1)
    graph = mgraph.Graph.from_edges(path, path + 1, np.where(path % 2, 3, -2))
    result = mgraph.sssp(graph, 0, predecessors=True, device=device)
    assert result.distances.tolist() == np.r_[0, np.where(path % 2, 3, -2).cumsum()].tolist()
    assert np.array_equal(result.predecessors[1:], path)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_limit_and_target(method, dtype, device):
    random = np.random.default_rng(7)
    graph = weighted_by_ends(rmat(11), random.integers(0, 256, 997).astype(dtype))
    source = int(np.diff(graph.csr().indptr).argmax())
    whole = shortest_distances(graph, source)
    median = int(np.median(whole[np.isfinite(whole)]))
    order = np.argsort(whole)
    for asked in (
        dict(limit=0), dict(limit=median), dict(limit=float("inf")), dict(target=source),
        dict(target=int(order[300])), dict(target=int(order[-1])), dict(target=int(order[400]), limit=median // 2),
    ):  # fmt: skip
        most = min(asked.get("limit", np.inf), whole[asked["target"]] if "target" in asked else np.inf)
        for span in (None, 2):
            result = mgraph.sssp(graph, source, method=method, predecessors=True, span=span, device=device, **asked)
            assert np.array_equal(as_floats(result.distances), np.where(whole <= most, whole, np.inf)), asked
            before = devices.to_host(result.predecessors)
            kept = np.isfinite(whole) & (whole <= most) & (np.arange(graph.n) != source)
            assert np.array_equal(before >= 0, kept)
            assert (whole[before[before >= 0]] <= whole[before >= 0]).all()
    near = mgraph.sssp(graph, source, method=method, target=int(order[1]), device=device)
    assert near.iterations <= mgraph.sssp(graph, source, method=method, device=device).iterations


def test_path(device):
    graph = mgraph.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3], [1, 5, 9, 1], n=5)
    result = mgraph.sssp(graph, 0, predecessors=True, device=device)
    assert [result.path(v) for v in range(5)] == [[0], [0, 1], [0, 2], [0, 2, 3], []]
    with pytest.raises(mgraph.InputError, match=r"vertex must be an integer in \[0, \d+\), got 5"):
        result.path(5)
    with pytest.raises(mgraph.InputError, match="predecessors"):
        mgraph.sssp(graph, 0, device=device).path(3)


@pytest.mark.parametrize("method", ["nearfar", *exhaustive("bellman-ford", "mask")])
def test_offsets_of_64_bits(method, device):
    graph = weighted_by_ends(rmat(10, directed=True), np.arange(1, 256, dtype=np.int32))
    indptr, indices, weights = graph.compressed("csr")
    wide = mgraph.Graph(graph.n, csr=Compressed(indptr.astype(np.int64), indices, weights), nonnegative=True)
    result = mgraph.sssp(wide, 5, method=method, predecessors=True, device=device)
    assert np.array_equal(as_floats(result.distances), shortest_distances(graph, 5))
    check_shortest_paths(wide, 5, result)
    assert np.array_equal(result.predecessors, mgraph.sssp(graph, 5, predecessors=True, device=device).predecessors)


def test_predecessors_are_the_least(device):
    graph = mgraph.Graph.from_edges([4, 4, 4, 3, 2, 1, 0], [3, 2, 1, 0, 0, 0, 5], [2, 2, 2, 1, 1, 1, 0])
    result = mgraph.sssp(graph, 4, predecessors=True, device=device)
    assert result.predecessors.tolist() == [1, 4, 4, 4, -9999, 0]


def test_types(device):
    for weights, dtype, expected in (
        (None, None, "float32"), (np.float32, None, "float32"), (np.float64, None, "float64"),
        (np.int32, None, "int32"), (np.int32, "float64", "float64"), (np.float64, "float32", "float32"),
        (None, "int32", "int32"),
    ):  # fmt: skip
        graph = mgraph.Graph.from_edges([0, 1], [1, 2], None if weights is None else np.array([1, 1], weights), n=4)
        result = mgraph.sssp(graph, 0, dtype=dtype, device=device)
        assert result.distances.dtype == result.plan.dtype == expected
        assert as_floats(result.distances).tolist() == [0, 1, 2, np.inf]


def test_distances_beyond_integers(device):
    path = np.arange(9)
    graph = mgraph.Graph.from_edges(path, path + 1, np.full(9, 2**28))
    with pytest.raises(mgraph.DistanceOverflowError, match="float64"):
        mgraph.sssp(graph, 0, device=device)
    assert mgraph.sssp(graph, 0, dtype="float64", device=device).distances[9] == 9 * 2**28
    assert as_floats(mgraph.sssp(graph, 0, limit=2**29, device=device).distances)[2] == 2**29
    graph = mgraph.Graph.from_edges(path, path + 1, np.full(9, -(2**28)))
    with pytest.raises(mgraph.DistanceOverflowError, match="float64"):
        mgraph.sssp(graph, 0, device=device)
    with pytest.raises(mgraph.DistanceOverflowError, match="float64"):
        mgraph.sssp(mgraph.Graph.from_edges([0], [1], [2**28 + 1]), 0, device=device)


def test_dense_matrix(device):
    inf = np.inf
    assert mgraph.sssp([[0, 3, inf], [inf, 0, 4], [5, inf, 0]], 0, device=device).distances.tolist() == [0, 3, 7]


@pytest.mark.exhaustive
def test_a_graph_for_all_cores():
    # With many weights of zero, whose predecessors need the pass that runs on all cores.
    graph = random_degree(300_000, 8, weights=(0, 2))
    assert not is_small(graph.csr().indptr)
    check(graph, 7, "cpu")


@pytest.mark.parametrize("method", ["nearfar", "mask"])
def test_negative_weight_in_a_method_without_them(method):
    graph = mgraph.Graph.from_edges([0, 1], [1, 2], [4, -3])
    with pytest.raises(mgraph.InputError, match=r"-3 is negative.*bellman-ford"):
        mgraph.sssp(graph, 0, method=method, device="cpu")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        *((dict(source=value), f"source must be an integer in [0, 5), got {value!r}") for value in (5, -1, True, "0")),
        *((dict(target=value), f"target must be an integer in [0, 5), got {value!r}") for value in (9, 1.5)),
        *((dict(limit=value), f"limit must be a number of 0 or more, got {value!r}")
          for value in (-1, float("nan"), "far", True)),
        (dict(method="sideways"), "sideways"), (dict(dtype="int16"), "int16"), (dict(dtype="int8"), "int8"),
        (dict(span=0), "span must be an integer of 1 or more, got 0"),
    ],
)  # fmt: skip
def test_invalid_arguments(asked, message):
    graph = mgraph.Graph.from_edges([0, 1], [1, 2], n=5)
    with pytest.raises(mgraph.InputError, match=re.escape(message)):
        mgraph.sssp(graph, **({"source": 0, "device": "cpu"} | asked))


def test_graph_without_vertices():
    with pytest.raises(mgraph.InputError, match="the graph has none"):
        mgraph.sssp(mgraph.Graph.from_edges([], []), 0, device="cpu")


def test_progress():
    path = np.arange(9)
    seen = []
    graph = mgraph.Graph.from_edges(path, path + 1)
    result = mgraph.sssp(graph, 0, span=3, device="cpu", progress=lambda *done: seen.append(done))
    assert [rounds for rounds, _ in seen] == sorted(rounds for rounds, _ in seen)
    assert seen[-1] == (result.iterations, None) and len(seen) > 2


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_predicted_peak_is_the_measured_one(method, dtype):
    random = np.random.default_rng(9)
    for n, more in ((50_000, 10_000), (1000, 300_000)):
        ends = np.c_[[np.arange(n), (np.arange(n) + 1) % n], random.integers(0, n, (2, more))]
        m = n + more
        weights = random.integers(0, 3, m).astype(dtype)  # zeros, for the second search
        lists = 4 * m + 4 * (n + 1)  # on the CPU they are the input's own arrays
        for predecessors in (False, True):
            graph = mgraph.Graph.from_edges(*ends, weights, n=n)
            asked = dict(method=method, device="cpu", predecessors=predecessors)
            mgraph.sssp(mgraph.Graph.from_edges(*ends, weights, n=n), 1, **asked)  # compiles
            result, first = measured(lambda graph=graph, asked=asked: mgraph.sssp(graph, 1, **asked))
            result, second = measured(lambda graph=graph, asked=asked: mgraph.sssp(graph, 1, **asked))
            planned = result.plan.peak_bytes[0] - lists
            # The peak is that of a search plus the graph's own weights, or that of reading these in the first call.
            assert planned == pytest.approx(max(first, second + m * np.dtype(dtype).itemsize), rel=0.05)
            if n == 1000 and not predecessors:
                assert second < first / 2


@pytest.mark.parametrize("method", ["nearfar", "bellman-ford"])
def test_path_of_a_million(method):
    n = 1_000_000
    graph = mgraph.Graph.from_edges(np.arange(n - 1), np.arange(1, n), np.ones(n - 1, np.int32), directed=False)
    assert np.array_equal(mgraph.sssp(graph, 0, method=method, device="cpu").distances, np.arange(n))


def test_kept_arrays_are_not_counted_twice(monkeypatch):
    n = 100_000
    graph = mgraph.Graph.from_edges(np.arange(n - 1), np.arange(1, n), np.ones(n - 1, np.float32))
    needed = mgraph.sssp(graph, 0, device="cpu").plan.peak_bytes[0]
    held = graph.held(devices.find("cpu"), "csr.indptr", "csr.indices", "lengths.float32")
    there = int((needed - held) / USABLE) + 2
    monkeypatch.setattr(devices.HostDevice, "available_memory", lambda self: there)
    assert mgraph.sssp(graph, 0, device="cpu").distances[-1] == n - 1
    with pytest.raises(mgraph.MemoryLimitError):
        mgraph.sssp(graph, 0, device="cpu", dtype="float64")


def test_plan():
    gpus = [mgraph.DeviceSpec(f"cuda:{i}", "cuda", 140 << 30) for i in range(4)]
    made = mgraph.plan("sssp", 10**6, 10**7, gpus, predecessors=True)
    assert made.method == "nearfar" and made.dtype == "float32" and made.steps is None
    assert made.ranges[0][0] == 0 and made.ranges[-1][1] == 10**6
    assert "sssp, method 'nearfar'" in made.explain(True) and "predecessors int32" in made.explain(True)
    assert mgraph.plan("sssp", 10, 20, gpus[:1], nonnegative=False).method == "bellman-ford"
    with pytest.raises(mgraph.MemoryLimitError, match="sssp"):
        mgraph.plan("sssp", 10**8, 10**10, mgraph.DeviceSpec("cuda:0", "cuda", 8 << 30))
    with pytest.raises(mgraph.InputError, match="m="):
        mgraph.plan("sssp", 10)


@needs_real_graphs
def test_new_york(device):
    graph = mgraph.read(REAL_GRAPHS / "NY.gr.xz")
    check(weighted_by_ends(graph, np.arange(1, 256, dtype=np.int32)), 0, device)


@pytest.mark.gpu
def test_cupy_in_cupy_out():
    poison()
    xp = devices.find("cuda").xp
    graph = rmat(10, device="cuda")
    result = mgraph.sssp(graph, 1, predecessors=True)
    assert isinstance(result.distances, xp.ndarray) and isinstance(result.predecessors, xp.ndarray)
    same = mgraph.sssp(rmat(10), 1, predecessors=True, device="cpu")
    assert np.array_equal(result.distances.get(), same.distances)
    assert np.array_equal(result.predecessors.get(), same.predecessors)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("limit", [np.float16(5), np.float32(5), np.int8(5)])
def test_a_limit_of_a_numpy_type_is_taken_without_a_warning(limit):
    graph = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 3], [2.0, 1.0, 7.0])
    assert mgraph.sssp(graph, 0, limit=limit, device="cpu").distances.tolist() == [0, 2, 3, np.inf]


def test_vertices_cut_off_keep_predecessors_where_weights_are_negative():
    graph = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 3], [2, -1, 7])
    result = mgraph.sssp(graph, 0, limit=1, predecessors=True, device="cpu")
    assert result.path(1) == result.path(3) == [] and result.path(2) == [0, 1, 2]


def nearest_of_several(graph, sources):
    """The least distance from any source, and the least source at that distance, from SciPy's rows."""
    rows = dijkstra(lightest_edges(graph), indices=sources)
    least = rows.min(axis=0)
    order = np.argsort(sources)
    nearest = np.array(sources)[order][(rows[order] == least).argmax(axis=0)]
    return least, np.where(np.isfinite(least), nearest, -9999)


@pytest.mark.parametrize("method", ["auto", "bellman-ford", "mask"])
def test_the_nearest_of_several_sources(method, device):
    random = np.random.default_rng(4)
    for n, m, highest in ((1, 0, 1), (50, 60, 3), (300, 700, 1), (300, 900, 9), (400, 500, 0)):
        for directed in (True, False):
            lengths = random.integers(0, highest + 1, m).astype(random.choice([np.int32, np.float32]))
            graph = mgraph.Graph.from_edges(*random.integers(0, n, (2, m)), lengths, n=n, directed=directed)
            sources = random.integers(0, n, 5).tolist()
            result = mgraph.sssp(graph, sources=sources, method=method, predecessors=True, device=device)
            least, nearest = nearest_of_several(graph, sources)
            assert result.sources == tuple(sorted(set(sources)))
            assert np.array_equal(as_floats(result.distances), least)
            assert np.array_equal(devices.to_host(result.nearest), nearest)
            result.verify()
            reached = np.flatnonzero(np.isfinite(least))
            assert all(result.path(v)[0] in sources and result.path(v)[-1] == v for v in reached[:20].tolist())


def test_several_sources_with_negative_weights():
    # 0 -> 1 of length -2 makes the source 1 nearer to 0 than to itself.
    graph = mgraph.Graph.from_edges([0, 1, 3, 5], [1, 2, 2, 6], [-2, 4, 1, 1], n=7)
    result = mgraph.sssp(graph, sources=[3, 1, 0], predecessors=True, device="cpu")
    assert as_floats(result.distances).tolist() == [0, -2, 1, 0, np.inf, np.inf, np.inf]
    assert result.nearest.tolist() == [0, 0, 3, 3, -9999, -9999, -9999]
    result.verify()
    cycle = mgraph.Graph.from_edges([0, 2, 3], [1, 3, 2], [1, -2, 1])
    assert mgraph.sssp(cycle, sources=[0, 1], device="cpu").nearest.tolist() == [0, 1, -9999, -9999]
    assert mgraph.sssp(graph, sources=[0, 3], limit=0, device="cpu").nearest.tolist() == [0, 0, -9999, 3] + [-9999] * 3
    with pytest.raises(mgraph.NegativeCycleError):
        mgraph.sssp(cycle, sources=[0, 2], device="cpu")


def test_a_limit_or_a_target_for_several_sources():
    graph = mgraph.generate.grid(1, 9, weights=(1, 1), device="cpu")
    found = mgraph.sssp(graph, sources=[0, 8], limit=2, device="cpu")
    assert found.nearest.tolist() == [0, 0, 0, -9999, -9999, -9999, 8, 8, 8]
    assert mgraph.sssp(graph, sources=[0, 8], device="cpu").nearest[4] == 0
    assert mgraph.sssp(graph, sources=[0], device="cpu").nearest.tolist() == [0] * 9
    assert mgraph.sssp(graph, 0, device="cpu").nearest is None
    for wrong in ({}, {"source": 1, "sources": [2]}):
        with pytest.raises(mgraph.InputError, match="give source"):
            mgraph.sssp(graph, **wrong, device="cpu")
