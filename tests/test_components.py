"""Components: every method against the properties of a labelling, SciPy and every other, also on Dask workers."""

import math
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import mgraph
from mgraph import device as devices
from mgraph.algorithms.components import plan as component_plans
from mgraph.algorithms.components import program as component_program
from mgraph.algorithms.components.plan import FEW_EDGES
from mgraph.algorithms.components.program import Components
from mgraph.device.numba.small import VERTICES, is_small
from mgraph.errors import InputError, MemoryLimitError
from mgraph.generate import random_degree, rmat
from mgraph.graph import Compressed
from mgraph.graph.vertex_range import range_of
from mgraph.planner import plan
from mgraph.planning import rates
from mgraph.planning.devices import DeviceSpec, spec_of
from tests.support.clusters import CLUSTER_WARNINGS, clients
from tests.support.graphs import REAL_GRAPHS, component_shapes, needs_real_graphs, random_graphs
from tests.support.memory import measured
from tests.support.parameters import exhaustive
from tests.support.references import component_labels

pytestmark = CLUSTER_WARNINGS

METHODS = {"cpu": ["sequential", "afforest", "shiloach-vishkin"], "cuda": ["afforest", "shiloach-vishkin"]}


def verify(graph, result):
    """Check weak components by their properties, given only their number.

    No edge leads from one label to another, so a label is of whole components; a label is the smallest vertex
    that has it; and there are as many labels as components, so that none is of two.
    """
    labels = devices.to_host(result.labels)
    src, dst, _ = (devices.to_host(part) if part is not None else None for part in graph.coo())
    assert labels.dtype == np.int32 and labels.shape == (graph.n,)
    assert np.array_equal(labels[src], labels[dst])
    values, first = np.unique(labels, return_index=True)
    assert np.array_equal(values, first)
    assert result.count == len(values) == component_labels(graph, "weak")[0]


def check(graph, device, methods=None, **options):
    """Every method's labels are a verified labelling, and the same."""
    expected = component_labels(graph, "weak")[1]
    for method in methods or METHODS[device]:
        result = mgraph.connected_components(graph, method=method, device=device, **options)
        verify(graph, result)
        count, labels = result
        assert count == result.count and np.array_equal(devices.to_host(labels), expected), (graph, method)
        if method == "shiloach-vishkin":
            assert 0 < result.iterations <= math.log(max(1, graph.n), 1.5) + 2
        else:
            assert result.iterations == 1


@given(random_graphs(), st.sampled_from([None, 1, 2]))
def test_small_graphs(device, graph, span):
    check(graph, device, span=span)


@pytest.mark.parametrize("directed", [False, True])
def test_shapes(directed, device):
    for _, src, dst in component_shapes():
        check(mgraph.Graph.from_edges(src, dst, n=5001, directed=directed), device)


@pytest.mark.parametrize("n", [0, 1, 2, 255, 256, 257, 1023, 1025])
def test_graphs_without_edges(n, device):
    for method in METHODS[device]:
        count, labels = mgraph.connected_components(
            mgraph.Graph.from_edges([], [], n=n, directed=False), method=method, device=device
        )
        assert count == n and devices.to_host(labels).tolist() == list(range(n))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("edge_factor", [1, 16])  # many components, and a giant one with isolated vertices
def test_rmat(edge_factor, directed, device):
    check(rmat(14, edge_factor, directed=directed), device)


def test_path_of_a_million(device):
    n = 1_000_000
    path = np.arange(n - 1)
    for src, dst in ((path, path + 1), (n - 1 - path, n - 2 - path)):
        graph = mgraph.Graph.from_edges(src, dst)
        for method in METHODS[device]:
            count, labels = mgraph.connected_components(graph, method=method, device=device)
            assert count == 1 and not labels.any()


@pytest.mark.parametrize("method", ["afforest", *exhaustive("sequential", "shiloach-vishkin")])
def test_offsets_of_64_bits(method, device):
    graph = rmat(11, 2)
    indptr, indices, _ = graph.csr()
    wide = mgraph.Graph(graph.n, csr=Compressed(indptr.astype(np.int64), indices, None), directed=False)
    if method not in METHODS[device]:
        pytest.skip(f"{method} is for a CPU")
    check(wide, device, [method])


def test_skipping_the_giant_component_changes_nothing(device):
    # Only vertices outside the giant component have edges left to read after the first ones: without a
    # giant one to skip, the labels are the same.
    graph = rmat(13, 2)
    skipping = mgraph.connected_components(graph, device=device)
    indptr, indices, _ = graph.csr()
    looking = mgraph.Graph(graph.n, csr=Compressed(indptr, indices, None), directed=True)
    assert np.array_equal(mgraph.connected_components(looking, device=device).labels, skipping.labels)


def test_every_input_of_apsp(device):
    matrix = np.full((5, 5), np.inf)
    matrix[3, 1] = matrix[4, 0] = 2.5
    stored = sparse.csr_array((np.zeros(2), ([3, 4], [1, 0])), shape=(5, 5))  # zeros that are edges
    for given_graph in (matrix, stored, mgraph.Graph.from_edges([3, 4], [1, 0], [0, 7])):
        count, labels = mgraph.connected_components(given_graph, device=device)
        assert count == 3 and labels.tolist() == [0, 1, 2, 1, 0]


def test_progress_counts_the_supersteps(device):
    graph = rmat(8, 1)
    seen = []
    told = {"span": 1, "progress": lambda done, steps: seen.append((done, steps))}
    mgraph.connected_components(graph, method="afforest", device=device, **told)
    assert seen == [(1, 2), (2, 2), (2, 2)]
    seen.clear()
    found = mgraph.connected_components(
        graph, method="shiloach-vishkin", device=device, progress=lambda *now: seen.append(now)
    )
    assert seen == [(found.iterations, None)]


# Arguments that cannot be used, and plans


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"method": "sideways"}, "sideways"),
        ({"connection": "loose"}, "loose"),
        ({"method": "colouring"}, "method='colouring' is for strong components of directed graphs"),
        ({"span": 0}, "span must be an integer of 1 or more, got 0"),
        ({"progress": 3}, "progress must be True, which shows a bar, or a function .* got 3"),
    ],
)
def test_bad_arguments(options, says):
    with pytest.raises(InputError, match=says):
        mgraph.connected_components(rmat(3), device="cpu", **options)


def test_union_find_is_for_a_cpu():
    gpu = DeviceSpec("a GPU", "cuda", 1 << 37)
    with pytest.raises(InputError, match="method='sequential' runs on a CPU"):
        plan("components", 10, 20, gpu, method="sequential")


@pytest.mark.parametrize("method", ["auto", *METHODS["cpu"]])
def test_plans_explain_themselves(method):
    made = plan("components", 1000, 500_000, "cpu", method=method)
    assert made.method == ("afforest" if method == "auto" else method)
    text = made.explain(True)
    assert f"components, method {made.method!r}" in text and "labels int32" in text
    assert ("as many as it takes" in text) == (method == "shiloach-vishkin")


def test_one_core_joins_few_edges():
    gpu, cpu = DeviceSpec("a GPU", "cuda", 1 << 37), DeviceSpec("a CPU", "cpu", 1 << 37, 2)
    for specs, few in (([cpu], "sequential"), ([cpu, cpu], "sequential"), ([gpu], "afforest")):
        assert plan("components", 1000, FEW_EDGES, specs).method == few
        assert plan("components", 1000, FEW_EDGES + 1, specs).method == "afforest"
    graph = rmat(10)
    result = mgraph.connected_components(graph, device="cpu")
    assert result.plan.method == "sequential"
    verify(graph, result)


@pytest.mark.parametrize("graph", [rmat(18, 8), random_degree(300_000, 8)], ids=["undirected", "directed"])
def test_a_graph_for_all_cores(graph):
    assert not is_small(graph.csr().indptr) and graph.n > VERTICES
    check(graph, "cpu")


def test_too_little_memory_is_refused(monkeypatch):
    graph = rmat(10)
    monkeypatch.setattr(devices.HostDevice, "available_memory", lambda self: 1 << 10)
    monkeypatch.setattr(Components, "load", lambda *_: pytest.fail("loaded"))
    with pytest.raises(MemoryLimitError, match="components of 1,024 vertices needs"):
        mgraph.connected_components(graph, device="cpu")


@pytest.mark.parametrize("method", METHODS["cpu"])
def test_predicted_peak_is_the_measured_one(method):
    graph = rmat(18, 4)
    mgraph.connected_components(graph, method=method, device="cpu")  # compiles, or loads what was compiled
    result, peak = measured(lambda: mgraph.connected_components(graph, method=method, device="cpu"))
    # On the CPU the edges are the input's own arrays.
    edges = 4 * graph.m + 4 * (graph.n + 1)
    assert result.plan.peak_bytes[0] - edges == pytest.approx(peak, rel=0.05)


# Workers


client = clients(2, *exhaustive(1, 3, 5))


def shared_graphs():
    """Graphs of fewer vertices than there are workers and of more, whose trees lie across the shards."""
    random = np.random.default_rng(11)
    for n in (1, 2, 3, 33, 64, 130, 500):
        yield mgraph.Graph.from_edges(*random.integers(0, n, (2, n // 2)), n=n, directed=bool(n % 2))
    path = np.arange(299)
    yield mgraph.Graph.from_edges(path, path + 1)
    order = random.permutation(300)  # neighbours are mostly on different workers
    yield mgraph.Graph.from_edges(order[:-1], order[1:], directed=False)
    yield mgraph.Graph.from_edges([], [], n=100)
    yield rmat(10, 1)
    yield rmat(10, 16, directed=True)


def check_workers(client, device):
    for graph in shared_graphs():
        for span in (None, 1):
            check(graph, device, client=client, span=span)


@pytest.fixture(params=[False, True], ids=["whole forests", "parents"])
def selects(request, monkeypatch):
    """Whether shards pass on selected parents, in place of whole forests."""
    monkeypatch.setattr(component_plans, "MANY", 0 if request.param else component_plans.MANY)
    monkeypatch.setattr(rates, "changes", -1 - request.param)  # plans that are remembered are others
    return request.param


@pytest.mark.parametrize("bridge", [(), ((19_999, 20_000),)])
def test_shards_that_skip_different_giants(client, bridge, selects):
    """Each half is a component of its own, or hangs on the other by one edge, which both of its ends skip."""
    n, random = 40_000, np.random.default_rng(5)
    src = random.integers(0, n // 2, 4 * n)
    dst = np.maximum(0, src - random.integers(1, 30, len(src)))
    halves = [(a + shift, b + shift) for a, b in ((src, dst),) for shift in (0, n // 2)]
    halves += [(np.array([a]), np.array([b])) for a, b in bridge]
    edges = (np.concatenate(ends) for ends in zip(*halves, strict=True))
    graph = mgraph.Graph.from_edges(*edges, n=n, directed=False)
    found = mgraph.connected_components(graph, method="afforest", client=client, device="cpu")
    assert found.plan.detail.selects == (selects and len(found.plan.devices) > 1)
    direct = mgraph.connected_components(graph, method="sequential", device="cpu")
    assert found.count == direct.count and np.array_equal(found.labels, direct.labels)


class Together:
    """The communicator of a shard that is a thread beside those of the other shards, on one device."""

    def __init__(self, rank, offered, barrier):
        self.rank, self.size, self.offered, self.barrier = rank, len(offered), offered, barrier

    def _others(self, array, take):
        device = devices.of(array)
        device.synchronize()
        self.offered[self.rank] = array
        self.barrier.wait()
        take(self.offered)
        device.synchronize()
        self.barrier.wait()

    def allgather(self, whole, parts):
        def take(offered):
            for shard, part in enumerate(parts):
                if shard != self.rank:
                    whole[slice(*part)] = offered[shard][slice(*part)]

        self._others(whole, take)

    def shift(self, array, into, by):
        def take(offered):
            into[:] = offered[(self.rank - by) % self.size]

        self._others(array, take)


def by_shards(graph, device, shards):
    """Return the number of components and the labels that shards find together, which are threads on one device."""
    place = devices.find(device)
    plan = component_plans.planned(
        graph.n, graph.m, (spec_of(place),) * shards, method="afforest", directed=graph.directed
    )
    program = Components(plan, graph.directed)
    with ThreadPoolExecutor(shards) as pool:
        offered, barrier = [None] * shards, threading.Barrier(shards)

        def work(shard):
            try:
                comm = Together(shard, offered, barrier)
                with place.active():
                    state = program.load(shard, range_of(graph, *plan.ranges[shard]), place)
                    assert [program.step(state, step, 1, comm) for step in range(3)] == [1, 1, 0]
                    return devices.to_host(program.collect(state, comm)["labels"]), int(state.count[0])
            except BaseException:
                barrier.abort()
                raise

        found = list(pool.map(work, range(shards)))
    return sum(count for _, count in found), np.concatenate([labels for labels, _ in found])


def passed_on(monkeypatch):
    """Return a counter of how shards join their forests from now on."""
    ways = Counter()
    for owner, name in ((component_program, "_join"), (Components, "_link_and_pass_on")):
        run = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *given, run=run, name=name: (ways.update([name]), run(*given))[1])
    return ways


def skewed_graphs():
    """Small graphs in which vertices join a giant component while a shard links: it then skips them, too."""
    random = np.random.default_rng(1)
    for _ in range(100):
        n = int(random.integers(40, 200))
        ends = (n * random.random((2, random.integers(1, n))) ** 3).astype(int)
        yield mgraph.Graph.from_edges(*random.permutation(n)[ends], n=n, directed=False)


@pytest.mark.parametrize("shards", [2, 3, 8])
def test_what_shards_pass_on(shards, device, selects, monkeypatch):
    """Of few components they pass on parents; of many, or with different giants, the forests as well."""
    ways = passed_on(monkeypatch)
    for graph in (*shared_graphs(), *skewed_graphs(), rmat(15, 32), rmat(15, 32, directed=True)):
        before = ways["_join"]
        count, labels = by_shards(graph, device, shards)
        expected = component_labels(graph, "weak")
        assert count == expected[0] and np.array_equal(labels, expected[1])
        if graph.n == 1 << 15:
            assert (ways["_join"] == before) == selects
    assert ways["_join"] > 0 and (ways["_link_and_pass_on"] > 0) == selects


def test_the_same_as_direct(client, selects):
    check_workers(client, "cpu")
    empty = mgraph.connected_components(np.empty((0, 0)), client=client, device="cpu")
    assert empty.count == 0 and empty.labels.shape == (0,)


@pytest.mark.gpu
def test_the_same_as_direct_on_gpus(gpu_workers, selects):
    check_workers(gpu_workers, "cuda")
    check(rmat(16), "cuda", client=gpu_workers)


# Real graphs, and GPUs


@needs_real_graphs
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("NY.gr.xz", {}),
        ("as-caida20070917.txt.xz", {"relabel": True}),
        ("facebook_combined.txt.xz", {"n": 4039, "directed": False}),
    ],
)
def test_real_graphs(name, options, device):
    check(mgraph.read(REAL_GRAPHS / name, **options), device)


@pytest.mark.gpu
def test_cupy_in_cupy_out():
    xp = devices.find("cuda").xp
    count, labels = mgraph.connected_components(rmat(10, 1, device="cuda"))
    same = mgraph.connected_components(rmat(10, 1), device="cpu")
    assert isinstance(labels, xp.ndarray) and labels.dtype == np.int32
    assert count == same.count and np.array_equal(labels.get(), same.labels)
