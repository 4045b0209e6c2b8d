"""Strong components: every method against SciPy on many shapes, and the plans of methods."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse import csgraph

import mgraph
from mgraph import device as devices
from mgraph.errors import InputError
from mgraph.generate import random_degree, rmat
from mgraph.graph import Compressed
from mgraph.planner import plan
from mgraph.planning.devices import DeviceSpec
from mgraph.planning.shape import Shape
from tests.support.devices import poison
from tests.support.graphs import REAL_GRAPHS, component_shapes, grid_ends, needs_real_graphs, random_graphs
from tests.support.memory import measured
from tests.support.references import component_labels

METHODS = {"cpu": ["sequential", "multistep", "colouring"], "cuda": ["colouring"]}


def found_by(graph, method, device, **options):
    return mgraph.connected_components(graph, connection="strong", method=method, device=device, **options)


def check(graph, device, methods=None):
    """Every method has SciPy's components, each labelled with its least vertex."""
    count, labels = component_labels(graph, "strong")
    for method in methods or METHODS[device]:
        found = found_by(graph, method, device)
        assert method in ("auto", found.plan.method) and found.labels.dtype == np.int32
        assert found.count == count and np.array_equal(devices.to_host(found.labels), labels), (graph, method)


def directed(src, dst, n=None):
    return mgraph.Graph.from_edges(src, dst, n=n, directed=True)


@st.composite
def tangles(draw):
    """Graphs of few vertices with cycles in cycles, loops and repeated edges."""
    n = draw(st.integers(1, 40))
    return directed(*np.array(draw(st.lists(st.tuples(*[st.integers(0, n - 1)] * 2), max_size=80))).reshape(-1, 2).T, n)


@given(st.one_of(random_graphs(), tangles()))
def test_small_graphs(device, graph):
    check(graph, device, None if graph.directed else ["sequential" if device == "cpu" else "auto"])


def long_shapes(n):
    """Graphs of long paths, in which searches by level take as many rounds as there are vertices."""
    random = np.random.default_rng(5)
    path, order = np.arange(n - 1), random.permutation(n)
    yield "cycle", np.arange(n), np.roll(np.arange(n), -1)
    yield "cycle back", np.roll(np.arange(n), -1), np.arange(n)
    yield "cycle in any order", order, np.roll(order, -1)
    yield "path", path, path + 1
    yield "chain of pairs", np.r_[path, path[::2] + 1], np.r_[path + 1, path[::2]]
    # Cycles of 2, 4, 8, ... vertices, each a part of the next one up to a cut.
    ends = [np.arange(2**k, n, 2**k) for k in range(1, n.bit_length())]
    yield (
        "nested cycles",
        np.r_[path, *(e - 1 for e in ends)],
        np.r_[path + 1, *(e - 2**k for k, e in enumerate(ends, 1))],
    )
    side = int(n**0.5)
    src, dst = grid_ends(side, side)
    yield "grid one way", src, dst
    turned = random.random(len(src)) < 0.5
    yield "grid any way", np.where(turned, dst, src), np.where(turned, src, dst)


def test_shapes(device):
    for _, src, dst in (*component_shapes(), *long_shapes(3000)):
        check(directed(src, dst, 5001), device)


@pytest.mark.parametrize("edge_factor", [1, 2, 16])
def test_rmat(edge_factor, device):
    check(rmat(14, edge_factor, directed=True), device)


@pytest.mark.parametrize("n", [0, 1, 2, 255, 256, 257, 1025])
def test_graphs_without_edges(n, device):
    for method in METHODS[device]:
        count, labels = found_by(directed([], [], n), method, device)
        assert count == n and devices.to_host(labels).tolist() == list(range(n))


def test_loops_and_repeated_edges(device):
    check(directed([0, 0, 1, 1, 2, 2, 2, 3, 3], [0, 1, 0, 0, 2, 3, 3, 3, 4], 6), device)


def test_a_graph_for_all_cores(device):
    for graph in (rmat(18, 12, directed=True), random_degree(300_000, 8), random_degree(400_000, 1.5)):
        check(graph, device)


def test_a_cycle_of_a_million(device):
    order = np.random.default_rng(2).permutation(1_000_000)
    count, labels = found_by(directed(order, np.roll(order, -1)), "colouring", device)
    assert count == 1 and not devices.to_host(labels).any()


@needs_real_graphs
def test_one_way_roads(device):
    roads = mgraph.read(REAL_GRAPHS / "NY.gr.xz")
    src, dst, _ = roads.coo()
    kept = np.random.default_rng(6).random(len(src)) < 0.7
    check(directed(src[kept], dst[kept], roads.n), device)


def test_offsets_of_64_bits(device):
    graph = rmat(11, 4, directed=True)
    indptr, indices, _ = graph.compressed("csr")
    check(mgraph.Graph(graph.n, csr=Compressed(indptr.astype(np.int64), indices, None), directed=True), device)


def test_edges_by_target_only(device):
    graph = rmat(11, 4, directed=True)
    indptr, indices, _ = graph.compressed("csc")
    check(mgraph.Graph(graph.n, csr=Compressed(indptr, indices, None), directed=True), device)


def test_no_buffer_is_expected_to_hold_zeros(monkeypatch):
    empty = np.empty

    def filled(*arguments, **options):
        made = empty(*arguments, **options)
        made.view(np.uint8).fill(0xA5) if made.dtype.kind in "iu" and made.ndim else None
        return made

    graph = rmat(10, 2, directed=True)
    expected = found_by(graph, "sequential", "cpu").labels
    monkeypatch.setattr(np, "empty", filled)
    for method in METHODS["cpu"]:
        assert np.array_equal(found_by(graph, method, "cpu").labels, expected)


@pytest.mark.gpu
def test_arrays_of_cupy_give_cupys():
    xp = pytest.importorskip("cupy")

    poison()
    graph = rmat(12, 4, directed=True, device="cuda")
    count, labels = mgraph.connected_components(graph, connection="strong")
    same = mgraph.connected_components(rmat(12, 4, directed=True), connection="strong", device="cpu")
    assert isinstance(labels, xp.ndarray) and labels.dtype == np.int32
    assert count == same.count and np.array_equal(labels.get(), same.labels)


def test_progress_counts_the_supersteps(device):
    seen = []
    graph = directed(np.arange(299), np.arange(299) + 1)
    found = found_by(graph, "colouring", device, span=1, progress=lambda *now: seen.append(now))
    assert found.iterations > 1 and seen == [(1, 2), (2, 2), (2, 2)]


def test_undirected_graphs_have_weak_components(device):
    graph = rmat(9, 1)
    strong = mgraph.connected_components(graph, connection="strong", device=device)
    assert np.array_equal(strong.labels, mgraph.connected_components(graph, device=device).labels)
    with pytest.raises(InputError, match="method='multistep' is for strong components of directed graphs"):
        found_by(graph, "multistep", "cpu")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"method": "afforest"}, "method must be .*'multistep'.* for strong components, got 'afforest'"),
        ({"client": object()}, "is computed on one device: leave out client="),
    ],
)
def test_bad_arguments(options, says):
    with pytest.raises(InputError, match=says):
        mgraph.connected_components(rmat(3, directed=True), connection="strong", **options)


def test_plans():
    gpu, cpu = DeviceSpec("a GPU", "cuda", 1 << 37), DeviceSpec("a CPU", "cpu", 1 << 37, 2)

    def made(n, m, spec, **options):
        return plan("components", n, m, spec, connection="strong", **options)

    assert made(1 << 20, 1 << 24, gpu).method == "colouring" and made(10, 20, gpu).method == "colouring"
    assert made(1 << 20, 1 << 24, cpu).method == "multistep"
    assert made(1 << 20, 1 << 24, cpu, shape=Shape(levels=1000.0)).method == "sequential"  # long paths
    assert made(1 << 12, 1 << 16, cpu).method == "sequential"  # few edges
    assert made(1 << 24, 1 << 25, cpu).method == "sequential"  # few a vertex
    assert made(10, 20, cpu, directed=False).method == plan("components", 10, 20, cpu).method
    for method in ("sequential", "multistep"):
        with pytest.raises(InputError, match=f"method='{method}' runs on a"):
            made(10, 20, gpu, method=method)
    with pytest.raises(InputError, match="is computed on one device, got 2"):
        made(10, 20, [gpu, gpu])
    assert "method 'colouring'" in made(10, 20, gpu).explain(True)


@pytest.mark.parametrize("method", METHODS["cpu"])
def test_predicted_peak_is_the_measured_one(method):
    graph = rmat(18, 4, directed=True)
    found_by(graph, method, "cpu")  # compiles, or loads what was compiled
    result, peak = measured(lambda: found_by(graph, method, "cpu"))
    edges = 4 * graph.m + 4 * (graph.n + 1)  # on the CPU the input's own arrays
    assert result.plan.peak_bytes[0] - edges == pytest.approx(peak, rel=0.05)


def test_networkx_and_csgraph_count_the_same():
    nx = pytest.importorskip("networkx")

    graph = rmat(9, 2, directed=True)
    indptr, indices, _ = graph.compressed("csr")
    matrix = sparse.csr_array((np.ones(len(indices)), indices, indptr), shape=(graph.n, graph.n))
    matrix.sum_duplicates()
    expected, labels = csgraph.connected_components(matrix, connection="strong")
    ours = mgraph.csgraph.connected_components(matrix, connection="strong")
    assert ours[0] == expected == len(set(zip(ours[1].tolist(), labels.tolist(), strict=True)))
    assert mgraph.csgraph.connected_components(matrix, connection="strong", return_labels=False) == expected
    made = nx.from_scipy_sparse_array(matrix, create_using=nx.DiGraph)
    assert nx.number_strongly_connected_components(made, backend="mgraph") == expected
