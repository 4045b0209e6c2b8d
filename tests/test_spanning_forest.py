"""Minimum spanning forests: the forest that the order of edges makes unique, on every device and on Dask workers."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph

import mgraph
from mgraph import device as devices
from mgraph.algorithms.minimum_spanning_forest import keys
from mgraph.algorithms.minimum_spanning_forest import plan as forest_plans
from mgraph.algorithms.registry import ALGORITHMS
from mgraph.device.numba.small import VERTICES
from mgraph.errors import MemoryLimitError, WrongResultError
from mgraph.generate import grid, random_degree, rmat
from mgraph.planning import rates
from mgraph.planning.devices import DeviceSpec
from tests.support.clusters import CLUSTER_WARNINGS, clients
from tests.support.parameters import exhaustive

pytestmark = CLUSTER_WARNINGS

TYPES = [np.int32, np.float32, np.float64, np.int64, np.int16, None]


def kruskal(n, src, dst, weights):
    """The forest's edges by weight, lesser end and greater end, of edges in both directions; sorted by both ends."""
    low, high = np.minimum(src, dst), np.maximum(src, dst)
    above, edges = list(range(n)), []

    def root(v):
        while above[v] != v:
            above[v] = v = above[above[v]]
        return v

    for e in np.lexsort((high, low, weights)).tolist():
        a, b = root(low[e]), root(high[e])
        if a != b:
            above[a] = b
            edges.append((int(low[e]), int(high[e]), weights[e].item()))
    return sorted(edges)


def edges(forest):
    return list(
        zip(*(devices.to_host(part).tolist() for part in (forest.src, forest.dst, forest.weights)), strict=True)
    )


def random_graph(seed, dtype):
    """A graph of few vertices with repeated edges, loops and equal weights, directed or not, and its edges."""
    random = np.random.default_rng(seed)
    n, m = int(random.integers(1, 70)), int(random.integers(0, 200))
    src, dst = random.integers(0, n, (2, m))
    weights = random.integers(-3, 4, m) if seed % 2 else 5 * random.normal(size=m)
    if dtype is None:
        weights = np.ones(m, np.int32)
    elif np.dtype(dtype) == np.int64:
        weights = weights.astype(np.int64) * 10**12
    weights = weights.astype(dtype or np.int32)
    given = None if dtype is None else weights
    return mgraph.Graph.from_edges(src, dst, given, n=n, directed=seed % 3 > 0), (n, src, dst, weights)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_random_graphs(device, dtype):
    for seed in range(40):
        graph, made_of = random_graph(seed, dtype)
        forest = mgraph.minimum_spanning_forest(graph, device=device)
        expected = kruskal(*made_of)
        assert edges(forest) == expected, seed
        assert forest.trees == graph.n - len(expected)
        assert forest.total == pytest.approx(sum(weight for *_, weight in expected))


def shapes():
    """Graphs whose components hook in long chains, all to one, or hardly at all."""
    path = np.arange(4999)
    yield path, path + 1, path  # each vertex takes the edge before it: one chain
    yield path, path + 1, path[::-1]
    yield path, path + 1, path % 2
    yield np.zeros(4999, int), path + 1, np.full(4999, 7)  # a hub
    random = np.random.default_rng(3)
    for hubs in (1, 5):  # rows of hubs, cut into pieces, beside short ones
        yield random.integers(0, hubs, 20_000), random.integers(0, 6000, 20_000), random.integers(0, 50, 20_000)
    yield np.arange(100), np.arange(100), np.arange(100)  # loops
    yield np.arange(0, 1000, 2), np.arange(1, 1000, 2), np.zeros(500, int)  # pairs


@pytest.mark.parametrize("directed", [False, True])
def test_shapes(device, directed):
    for src, dst, weights in shapes():
        n, weights = int(max(src.max(), dst.max())) + 1, weights.astype(np.int32)
        graph = mgraph.Graph.from_edges(src, dst, weights, n=n, directed=directed)
        forest = mgraph.minimum_spanning_forest(graph, device=device)
        assert edges(forest) == kruskal(n, src, dst, weights)


@pytest.mark.parametrize(
    "graph",
    [rmat(12, 16), rmat(12, 4, directed=True), grid(70, 90), random_degree(5000, 3)],
    ids=["rmat", "directed rmat", "grid", "random"],
)
def test_scipy_finds_no_lighter_forest(device, graph):
    src, dst, _ = (None if part is None else devices.to_host(part) for part in graph.coo())
    random = np.random.default_rng(1)
    ends = np.minimum(src, dst).astype(np.int64) * graph.n + np.maximum(src, dst)
    _, first, edge = np.unique(ends, return_index=True, return_inverse=True)
    weights = random.integers(1, 256, len(ends)).astype(np.int32)[edge]  # alike in both directions
    weighted = mgraph.Graph.from_edges(src, dst, weights, n=graph.n)
    forest = mgraph.minimum_spanning_forest(weighted, device=device)
    matrix = sparse.csr_array((weights[first], (src[first], dst[first])), shape=(graph.n, graph.n))
    assert forest.total == csgraph.minimum_spanning_tree(matrix).sum()
    assert forest.trees == csgraph.connected_components(matrix, directed=False)[0]


def test_a_graph_that_all_cores_work_on(device):
    n = 2 * VERTICES
    random = np.random.default_rng(5)
    src, dst = random.integers(0, n, (2, 3 * n))
    graph = mgraph.Graph.from_edges(src, dst, random.integers(1, 40, 3 * n), n=n, directed=False)
    found = mgraph.minimum_spanning_forest(graph, device=device)
    lightest = csgraph.minimum_spanning_tree(sparse.csr_array(_least(graph, n)))
    assert len(found.src) == lightest.nnz and found.total == lightest.sum()


def _least(graph, n):
    """The lightest edge between each two vertices, without loops, as SciPy takes it."""
    src, dst, weights = graph.coo()
    order = np.lexsort((weights, dst, src))
    src, dst, weights = src[order], dst[order], weights[order]
    first = np.r_[True, (src[1:] != src[:-1]) | (dst[1:] != dst[:-1])] & (src < dst)
    return sparse.coo_array((weights[first].astype(float), (src[first], dst[first])), shape=(n, n))


def test_no_vertices(device):
    for n in (0, 1, 5):
        forest = mgraph.minimum_spanning_forest(mgraph.Graph.from_edges([], [], n=n), device=device)
        assert (forest.trees, forest.total, edges(forest)) == (n, 0, [])


def test_zeros_of_both_signs_are_equal(device):
    weights = np.array([0.0, -0.0, 0.0], np.float32)
    graph = mgraph.Graph.from_edges([1, 0, 0], [2, 2, 1], weights, directed=False)
    forest = mgraph.minimum_spanning_forest(graph, device=device)
    assert [edge[:2] for edge in edges(forest)] == [(0, 1), (0, 2)]


def test_too_little_memory_is_refused():
    with pytest.raises(MemoryLimitError, match="minimum_spanning_forest"):
        mgraph.plan("minimum_spanning_forest", 10**8, 10**10, DeviceSpec("cuda:0", "cuda", 8 << 30))


client = clients(2, *exhaustive(1, 3, 5))


def check_workers(client, device):
    for seed in range(12):
        graph, _ = random_graph(seed, TYPES[seed % len(TYPES)])
        direct = mgraph.minimum_spanning_forest(graph, device=device)
        for span in (None, 1):
            assert edges(mgraph.minimum_spanning_forest(graph, client=client, device=device, span=span)) == edges(
                direct
            )
    graph = rmat(10, 8)
    found = mgraph.minimum_spanning_forest(graph, client=client, device=device)
    assert edges(found) == edges(mgraph.minimum_spanning_forest(graph, device=device))
    return found


@pytest.fixture(params=[False, True], ids=["all components", "those left"])
def selects(request, monkeypatch):
    """Whether minima are exchanged of the components that are left only."""
    monkeypatch.setattr(forest_plans, "MANY", 0 if request.param else forest_plans.MANY)
    monkeypatch.setattr(rates, "changes", -1 - request.param)  # plans that are remembered are others
    return request.param


def test_the_same_as_direct(client, selects):
    found = check_workers(client, "cpu")
    assert found.plan.detail.selects == (selects and len(found.plan.devices) > 1)


@pytest.mark.gpu
def test_the_same_as_direct_on_gpus(gpu_workers, selects):
    check_workers(gpu_workers, "cuda")


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64])
def test_a_second_call_neither_sorts_nor_copies_the_weights(dtype, directed, device, monkeypatch):
    random = np.random.default_rng(6)
    graph = mgraph.Graph.from_edges(
        *random.integers(0, 100, (2, 700)), random.normal(size=700).astype(dtype), 100, directed
    )
    first = mgraph.minimum_spanning_forest(graph, device=device)
    place = devices.find(device)
    names = [name for name in keys.kept_names(graph.weights_dtype, directed) if graph.held(place, name)]
    lists = 2 if directed else 1
    assert len(names) == lists + (dtype == np.float64)
    assert graph.held(place, *names) == 4 * lists * graph.m + (8 * 700 if dtype == np.float64 else 0)
    asarray = type(place).asarray

    def copied(self, array):
        assert isinstance(array, type(self.xp.empty(0))) or len(array) < graph.m
        return asarray(self, array)

    monkeypatch.setattr(keys, "distinct", lambda *_: pytest.fail("sorted"))
    monkeypatch.setattr(type(place), "asarray", copied)
    assert edges(mgraph.minimum_spanning_forest(graph, device=device)) == edges(first)
    graph.release()
    assert graph.cached() == []


@pytest.mark.parametrize(
    ("weights", "heavier"),
    [
        ([1, 2, 3, -1e9], [1, 3, -1e9]),
        ([-1e20, 1, 5, 2], [-1e20, 5, 2]),
        ([0, -0.0, 1e-300, 2], [0, 1e-300, 2]),
        ([7, 7, 8, 7], [7, 8, 7]),
    ],
)
def test_the_verifier_tells_a_heavier_forest(weights, heavier):
    """A triangle, and an edge to a fourth vertex that every forest has."""
    graph = mgraph.Graph.from_edges([0, 1, 0, 2], [1, 2, 2, 3], np.array(weights), directed=False)
    check = ALGORITHMS["minimum_spanning_forest"].checks["weight"]
    assert check(graph, {"weights": mgraph.minimum_spanning_forest(graph, device="cpu").weights}, None)
    with pytest.raises(WrongResultError, match="the forest weighs"):
        check(graph, {"weights": np.array(heavier, float)}, None)
