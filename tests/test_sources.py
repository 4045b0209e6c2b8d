"""All pairs by searches from every source (`sssp` and `johnson`): against SciPy, with potentials and memory."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra, johnson

import mgraph
from mgraph import device as devices
from mgraph.algorithms.apsp import by_source as sources
from mgraph.algorithms.apsp.candidates import device_bytes
from mgraph.algorithms.apsp.detail import SourcesDetail
from mgraph.algorithms.batched_sssp import batch_size, network
from mgraph.graph.potentials import potentials
from mgraph.planning.devices import DeviceSpec
from mgraph.planning.plan import Plan
from mgraph.runtime.direct import Direct
from mgraph.runtime.program import advance
from tests.support.graphs import weighted_graphs
from tests.support.memory import with_peak
from tests.support.references import as_floats, lightest_edges

#: The device that computes, and the device of the result.
WAYS = [("cpu", "cpu"), *(pytest.param(("cuda", home), marks=pytest.mark.gpu) for home in ("cpu", "cuda"))]
TYPES = [np.float32, np.float64, np.int32]
NONE = np.iinfo(np.int32).max


def planned(n, dtype, predecessors, ranges, kind):
    return Plan(
        algorithm="apsp",
        method="sssp",
        n=n,
        m=0,
        dtype=np.dtype(dtype).name,
        predecessors=predecessors,
        ranges=tuple(ranges),
        devices=(DeviceSpec("any", "cpu", 0),) * len(ranges),
        steps=None,
        span=2,
        peak_bytes=(0,) * len(ranges),
        seconds=0.0,
        detail=SourcesDetail(batch=batch_size(n, np.dtype(dtype), kind), computed=np.dtype(dtype).name),
    )


def solved(graph, dtype, way=("cpu", "cpu"), predecessors=True):
    """Return the result of one shard, run by the engine; of a graph with negative weights, by Johnson's algorithm."""
    device, home = way
    h = None if graph.nonnegative else potentials(graph)
    plan = planned(graph.n, dtype, predecessors, [(0, graph.n)], device)
    program = sources.FromEverySource(plan, home)
    return Direct(devices.find(device)).run(program, lambda _: network(graph, h), plan, None).arrays


def check(graph, dtype, way):
    """Distances are SciPy's; each path along the predecessors has the right ends and length."""
    kept = [None if part is None else part.copy() for part in (*graph.csr(), *graph.csc())]
    results = solved(graph, dtype, way)
    for part, before in zip((*graph.csr(), *graph.csc()), kept, strict=True):
        assert part is before is None or np.array_equal(part, before)
    kind = "cpu" if way[1] == "cpu" else "cuda"
    assert all(devices.of(array).kind == kind for array in results.values())
    assert results["distances"].dtype == dtype and results["predecessors"].dtype == np.int32
    distances, before = as_floats(results["distances"]), devices.to_host(results["predecessors"])
    assert distances.shape == before.shape == (graph.n, graph.n)
    if graph.n == 0:
        return results
    matrix = lightest_edges(graph)
    expected = dijkstra(matrix) if graph.nonnegative else johnson(matrix)
    assert np.array_equal(distances, expected)
    lengths = np.full((graph.n, graph.n), np.inf)
    src, dst, weights = graph.coo()
    np.minimum.at(lengths, (src, dst), np.ones(len(src)) if weights is None else weights)
    for s in range(graph.n):
        reached = np.isfinite(distances[s])
        reached[s] = False
        assert (before[s][~reached] == -9999).all()
        others = np.flatnonzero(reached)
        via = before[s, others]
        assert np.array_equal(distances[s, via] + lengths[via, others], distances[s, others])
        up = np.arange(graph.n)
        up[others] = via
        for _ in range(graph.n.bit_length() + 1):
            up = up[up]
        assert (up[others] == s).all()
    return results


@given(weighted_graphs())
def test_small_graphs(case):
    check(*case, ("cpu", "cpu"))


@pytest.mark.gpu
@given(weighted_graphs(), st.sampled_from(["cpu", "cuda"]))
def test_small_graphs_on_a_gpu(case, home):
    results, twins = check(*case, ("cuda", home)), solved(*case)
    for name, array in results.items():
        assert np.array_equal(devices.to_host(array), twins[name]), name


@pytest.fixture
def small_batches(monkeypatch):
    """Let a batch be of 64 sources, so that a small graph takes several."""
    for name in ("host", "cuda"):
        module = __import__(f"mgraph.kernels.sssp_many.{name}", fromlist=["batch_size"])
        monkeypatch.setattr(module, "batch_size", lambda n, itemsize: 64)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("n", [1, 63, 64, 65, 515])
def test_many_batches(n, way, dtype, small_batches):
    random = np.random.default_rng(n)
    graph = mgraph.Graph.from_edges(*random.integers(0, n, (2, 3 * n)), random.integers(0, 30, 3 * n), n=n)
    check(graph, dtype, way)


@pytest.mark.parametrize("dtype", TYPES)
def test_rows_leave_beside_the_next_batch(dtype, small_batches, monkeypatch):
    # If earlier rows are copied late, the results computed meanwhile must not overwrite them.
    copy = devices.HostDevice.copy

    def late(device, target, source):
        time.sleep(0.005)
        copy(device, target, source)

    random = np.random.default_rng(6)
    graph = mgraph.Graph.from_edges(*random.integers(0, 450, (2, 1400)), random.integers(0, 30, 1400), n=450)
    expected = solved(graph, dtype)
    monkeypatch.setattr(devices.HostDevice, "copy", late)
    for name, array in solved(graph, dtype, ("cpu", "another device's home")).items():
        assert np.array_equal(array, expected[name]), name


@pytest.mark.parametrize("way", WAYS)
def test_several_shards(way, small_batches):
    # One of them empty, the last shorter than the first: all take the same number of supersteps.
    random = np.random.default_rng(3)
    n, device = 300, devices.find(way[0])
    graph = mgraph.Graph.from_edges(*random.integers(0, n, (2, 900)), random.integers(0, 9, 900), n=n)
    plan = planned(n, np.int32, True, [(0, 200), (200, 200), (200, 300)], "cpu")
    program = sources.FromEverySource(plan, way[1])

    class Rank:
        size = 3

        def __init__(self, rank):
            self.rank = rank

    parts, steps = [], []
    with device.active():
        for rank in range(3):
            state = program.load(rank, network(graph), device)
            reached, finished = advance(program, state, 0, 100, Rank(rank))
            assert finished
            steps.append(reached)
            parts.append(program.collect(state, Rank(rank)))
    assert steps == [4, 4, 4]
    for name, whole in solved(graph, np.int32).items():
        assert np.array_equal(np.concatenate([devices.to_host(part[name]) for part in parts]), whole)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fractions_shifted_by_potentials(dtype):
    random = np.random.default_rng(8)
    n, m = 200, 900
    src, dst = random.integers(0, n, (2, m))
    potential = random.random(n) * 40
    weights = (random.random(m) * 5 + potential[src] - potential[dst]).astype(dtype)
    keep = (src != dst) & (weights > potential[src] - potential[dst] + 1e-3)
    graph = mgraph.Graph.from_edges(src[keep], dst[keep], weights[keep], n=n)
    assert not graph.nonnegative
    results = solved(graph, dtype)
    tolerance = 1e-5 if dtype == np.float32 else 1e-12
    expected = johnson(lightest_edges(graph))
    np.testing.assert_allclose(results["distances"], expected, rtol=tolerance, atol=40 * tolerance)


def test_potentials():
    random = np.random.default_rng(5)
    hidden = random.integers(0, 100, 400)
    src, dst = random.integers(0, 400, (2, 2000))
    weights = random.integers(0, 20, 2000) + hidden[src] - hidden[dst]
    graph = mgraph.Graph.from_edges(src, dst, weights, n=400)
    h = potentials(graph)
    assert (weights + h[src] - h[dst] >= 0).all() and h.min() < 0 and h.max() <= 0
    # The least potentials: h[v] is the least distance to v.
    assert np.array_equal(h, johnson(lightest_edges(graph)).min(axis=0))
    assert not potentials(mgraph.Graph.from_edges([0], [1], [3])).any()


@pytest.mark.parametrize("weight", [np.int32, np.float32, np.float64])
def test_negative_cycle_is_named(weight):
    # A ring 50..69 of total weight -1, reached from 0..49 and reaching 70..99.
    ring = np.arange(50, 70)
    src = np.concatenate([np.arange(49), ring, np.arange(69, 99)])
    dst = np.concatenate([np.arange(1, 50), np.roll(ring, -1), np.arange(70, 100)])
    weights = np.full(len(src), 3)
    weights[49:69] = 1
    weights[68] = -20
    src, dst, weights = np.append(src, 49), np.append(dst, 50), np.append(weights, 2)
    graph = mgraph.Graph.from_edges(src, dst, weights.astype(weight), n=100)
    with pytest.raises(mgraph.NegativeCycleError) as caught:
        potentials(graph)
    assert caught.value.vertex in ring
    weights[68] = -19
    h = potentials(mgraph.Graph.from_edges(src, dst, weights.astype(weight), n=100))
    assert (weights + h[src] - h[dst] >= 0).all()


def test_negative_self_loop():
    with pytest.raises(mgraph.NegativeCycleError) as caught:
        potentials(mgraph.Graph.from_edges([0, 1, 1], [1, 1, 2], [3.0, -0.5, 1.0]))
    assert caught.value.vertex == 1


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("scale", [1e-44, 1e-37, 1e-3, 1.0, 1e30])
def test_weights_of_any_size(scale, way):
    # A long path, most of whose vertices lie beyond the first window of distances.
    n = 400
    weights = np.arange(1, n) % 7 * scale
    graph = mgraph.Graph.from_edges(np.arange(n - 1), np.arange(1, n), weights, n=n)
    distances = devices.to_host(solved(graph, np.float64, way)["distances"])
    assert np.array_equal(distances[0], np.concatenate([[0], weights.cumsum()]))
    narrow = devices.to_host(solved(graph, np.float32, way)["distances"])
    np.testing.assert_allclose(narrow, distances, rtol=1e-5, atol=1e-35)


@pytest.mark.parametrize("way", WAYS)
def test_hardly_any_weight(way):
    weights = np.zeros(300, np.int32)
    weights[::100] = 1
    graph = mgraph.Graph.from_edges(np.arange(300), np.arange(1, 301), weights)
    distances = devices.to_host(solved(graph, np.int32, way)["distances"])
    assert np.array_equal(distances[0], np.concatenate([[0], weights.cumsum()]))


@pytest.mark.parametrize("way", WAYS)
def test_int32_that_does_not_fit(way):
    weight = 2**28
    chain = mgraph.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], [weight] * 4)
    with pytest.raises(mgraph.DistanceOverflowError, match="float64"):
        solved(chain, np.int32, way)
    assert devices.to_host(solved(chain, np.float64, way)["distances"])[0, 4] == 4 * weight
    fall = mgraph.Graph.from_edges([0, 1], [1, 2], [-weight, -1])
    with pytest.raises(mgraph.DistanceOverflowError, match="float64"):
        solved(fall, np.int32, way)
    # A shifted weight may be twice the band's width, the distance itself fits.
    tent = mgraph.Graph.from_edges([0, 2], [1, 1], [1 - weight, weight])
    expected = [[0, 1 - weight, NONE], [NONE, 0, NONE], [NONE, weight, 0]]
    assert devices.to_host(solved(tent, np.int32, way)["distances"]).tolist() == expected


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("home", ["cpu", "cuda"])
@pytest.mark.parametrize("predecessors", [False, True])
def test_the_device_bytes_are_what_is_used(dtype, home, predecessors):
    xp = devices.find("cuda").xp
    n, m = 20_000, 100_000
    random = np.random.default_rng(1)
    graph = mgraph.Graph.from_edges(*random.integers(0, n, (2, m)), random.integers(1, 9, m), n=n)
    graph.csc()
    _, peak = with_peak(xp, lambda: solved(graph, dtype, ("cuda", home), predecessors))
    said = device_bytes(n, m, n, np.dtype(dtype), predecessors, kind="cuda", home=home)
    assert abs(peak / said - 1) < 0.05


def test_rows_that_do_not_fit_go_to_a_file(device, monkeypatch):
    graph = mgraph.generate.grid(40, 40, weights=(1, 9), seed=1, device="cpu")
    expected = mgraph.apsp(graph, method="sssp", predecessors=True, device="cpu")
    assert not expected.plan.disk_bytes
    known = {"n": graph.n, "m": graph.m, "predecessors": True, "dtype": "int32", "directed": False}
    if device == "cuda":  # the rows leave the device for the host, which lacks memory
        host = devices.find("cpu")
        monkeypatch.setattr(type(host), "available_memory", lambda self: 8 << 20)
        limit = None
    else:
        limit = max(mgraph.plan("apsp", devices="cpu", method="sssp", **known).peak_bytes) - 1
    found = mgraph.apsp(graph, method="sssp", predecessors=True, memory_limit=limit, device=device)
    assert found.plan.disk_bytes == 8 * graph.n**2 and isinstance(found.distances, np.memmap)
    assert "in a temporary file" in found.plan.explain(True)
    assert np.array_equal(found.distances, expected.distances)
    assert np.array_equal(found.predecessors, expected.predecessors)


def test_large_sparse_graphs_are_searched_into_a_file():
    plan = mgraph.plan("apsp", 100_000, 300_000, [DeviceSpec("cpu", "cpu", 24 << 30)])
    ways = {way.name: way for way in plan.alternatives}
    assert ways["sssp, to a file"].seconds * 20 < ways["blocked, out of core"].seconds
    if ways["sssp, to a file"].verdict == "chosen":  # if this machine's disk has room for it
        assert plan.method == "sssp" and plan.disk_bytes == 4 * 100_000**2
