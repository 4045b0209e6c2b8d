"""Breadth-first search: every method against SciPy on graphs of many shapes, its paths, limits and plans."""

import lzma

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mgraph
from mgraph import device as devices
from mgraph.device.numba.small import GRAPH, is_small
from mgraph.errors import InputError
from mgraph.generate import random_degree, rmat
from mgraph.graph import Compressed
from mgraph.planner import plan
from mgraph.planning.devices import DeviceSpec
from tests.support.graphs import REAL_GRAPHS, grid_ends, hub_graphs, layered, needs_real_graphs, random_graphs
from tests.support.memory import measured
from tests.support.methods import BY_LEVEL, FUSED, methods
from tests.support.parameters import exhaustive
from tests.support.properties import check_search
from tests.support.references import hop_counts


@pytest.fixture(params=methods("bfs"))
def method(request, device):
    if request.param not in methods("bfs", device):
        pytest.skip(f"{request.param} is for a CPU")
    return request.param


def searched(graph, source, predecessors=True, **options):
    """Search from a source, check the distances and the tree, and return the result."""
    result = mgraph.bfs(graph, source, predecessors=predecessors, **options)
    assert np.array_equal(result.distances, hop_counts(graph, source))
    check_search(graph, source, result)
    return result


@st.composite
def searches(draw):
    graph = draw(random_graphs(100, 4))
    return graph, draw(st.integers(0, graph.n - 1)), draw(st.sampled_from([None, 1, 3]))


def check(graph, source, span, device):
    parents = None
    for method in methods("bfs", device):
        options = {"method": method, "device": device, "span": span}
        result = searched(graph, source, **options)
        assert parents is None or np.array_equal(result.predecessors, parents)
        parents = result.predecessors
        tree = searched(graph, source, "any", **options)
        assert method in FUSED or np.array_equal(tree.predecessors, parents)


def test_path(device):
    graph = mgraph.Graph.from_edges([0, 0, 1, 2, 4, 3], [1, 2, 3, 3, 5, 0], n=7)
    result = mgraph.bfs(graph, 0, predecessors=True, device=device)
    paths = [[0], [0, 1], [0, 2], [0, 1, 3], [], [], []]
    assert [result.path(v) for v in range(7)] == paths and result.path(np.int64(3)) == paths[3]
    result = mgraph.bfs(graph, sources=[3, 4], predecessors=True, limit=2, device=device)
    assert [result.path(v) for v in range(7)] == [[3, 0], [3, 0, 1], [3, 0, 2], [3], [4], [4, 5], []]


def test_any_predecessor_is_the_one_that_the_search_met_first():
    # Vertex 5 is found before 4, as 1 stands before 2 in the queue: so 6 is met from 5 first.
    graph = mgraph.Graph.from_edges([0, 0, 1, 2, 4, 5], [1, 2, 5, 4, 6, 6], n=8)
    least = mgraph.bfs(graph, 0, method="frontier", predecessors=True, device="cpu")
    found = mgraph.bfs(graph, 0, method="frontier", predecessors="any", device="cpu")
    assert least.predecessors.tolist() == [-9999, 0, 0, -9999, 2, 1, 4, -9999]
    assert found.predecessors.tolist() == [-9999, 0, 0, -9999, 2, 1, 5, -9999]
    assert found.path(6) == [0, 1, 5, 6] and found.path(3) == []
    assert np.array_equal(found.distances, least.distances)


def test_a_tree_takes_four_bytes_a_vertex_more():
    gpu = DeviceSpec("a GPU", "cuda", 1 << 37)
    for devices_ in (gpu, [gpu, gpu]):
        alone, tree, least = (
            plan("bfs", 1 << 20, 1 << 25, devices_, predecessors=predecessors) for predecessors in (False, "any", True)
        )
        vertices = np.diff(tree.ranges)[:, 0]
        assert np.array_equal(np.subtract(tree.peak_bytes, alone.peak_bytes), 4 * vertices)
        assert (np.subtract(least.peak_bytes, tree.peak_bytes) > 0).all()  # a buffer for the hubs
        assert tree.predecessors is True and tree.seconds == alone.seconds
        assert "predecessors int32, any on a shortest path" in tree.explain(True)
        assert "any on a shortest path" not in least.explain(True)
    by_level = plan("bfs", 1 << 20, 1 << 25, gpu, method="scan", predecessors="any")
    assert by_level.explain(True) == plan("bfs", 1 << 20, 1 << 25, gpu, method="scan", predecessors=True).explain(True)


@pytest.mark.parametrize(
    ("vertex", "words"),
    [
        (2, r"vertex must be an integer in \[0, 2\), got 2"),
        (-1, r"vertex must be an integer in \[0, 2\), got -1"),
        (True, r"vertex must be an integer in \[0, 2\), got True"),
    ],
)
def test_paths_to_invalid_vertices(vertex, words):
    graph = mgraph.Graph.from_edges([0], [1])
    with pytest.raises(InputError, match=words):
        mgraph.bfs(graph, 0, predecessors=True, device="cpu").path(vertex)
    with pytest.raises(InputError, match=r"call bfs\(..., predecessors=True\)"):
        mgraph.bfs(graph, 0, device="cpu").path(1)


@given(searches())
def test_small_graphs(device, case):
    check(*case, device)


@pytest.mark.parametrize("case", list(hub_graphs()), ids=lambda case: case[0])
def test_hubs_from_the_other_side(case, method, device):
    _, graph, sources = case
    for source in sources:
        searched(graph, source, "any", method=method, device=device)
        result = searched(graph, source, method=method, device=device)
        alone = mgraph.bfs(graph, source, method="sequential", device="cpu", predecessors=True)
        assert np.array_equal(result.predecessors, alone.predecessors)
    several = mgraph.bfs(graph, sources=sources, method=method, device=device, predecessors=True)
    expected = mgraph.bfs(graph, sources=sources, method="sequential", device="cpu", predecessors=True)
    assert np.array_equal(several.distances, expected.distances)
    assert np.array_equal(several.predecessors, expected.predecessors)


def test_a_thin_level_of_long_rows(device):
    # One block has rows of each kind: for a lane, for a warp, for the whole block.
    random = np.random.default_rng(6)
    degrees = [1, 15, 16, 17, 33, 200, 511, 512, 513, 1500]
    src = np.repeat(np.arange(1, len(degrees) + 1), degrees)
    dst = len(degrees) + 1 + random.integers(0, 5000, len(src))
    ends = np.r_[np.zeros(len(degrees), int), src], np.r_[np.arange(1, len(degrees) + 1), dst]
    check(mgraph.Graph.from_edges(*ends), 0, None, device)
    weights = random.integers(1, 9, len(ends[0]))
    graph = mgraph.Graph.from_edges(*ends, weights)
    for offset in (np.int32, np.int64):
        wide = mgraph.Graph(
            graph.n, csr=Compressed(graph.compressed("csr").indptr.astype(offset), *graph.compressed("csr")[1:])
        )
        result = mgraph.sssp(wide, 0, device=device)
        assert np.array_equal(result.distances, mgraph.sssp(graph, 0, method="mask", device="cpu").distances)


@pytest.mark.parametrize("directed", [True, *exhaustive(False)])
def test_rmat(method, directed, device):
    graph = rmat(14, directed=directed)
    source = int(np.argmax(np.diff(graph.csr().indptr)))  # a hub
    for start in (source, int(graph.csr().indices[0])):
        for predecessors in (True, "any"):
            searched(graph, start, predecessors, method=method, device=device)


def shapes():
    n = 3000
    path = np.arange(n - 1)
    yield "path", mgraph.Graph.from_edges(path, path + 1), 0
    yield "path back", mgraph.Graph.from_edges(path + 1, path), n - 1
    yield "star", mgraph.Graph.from_edges(np.zeros(n - 1, int), path + 1, directed=False), 0
    yield "star from a leaf", mgraph.Graph.from_edges(np.zeros(n - 1, int), path + 1, directed=False), 7
    side = 60
    src, dst = grid_ends(side, side)
    yield "grid", mgraph.Graph.from_edges(src, dst, directed=False), side // 2
    a, b = np.nonzero(~np.eye(200, dtype=bool))
    yield "complete", mgraph.Graph.from_edges(a, b), 199
    hubs = np.repeat(np.arange(4), 5000)  # hubs that a whole block expands, reached in the second level
    leaves = np.random.default_rng(0).integers(5, 20000, len(hubs))
    src, dst = np.concatenate([[4] * 4, hubs]), np.concatenate([np.arange(4), leaves])
    yield "hubs", mgraph.Graph.from_edges(src, dst, n=20000), 4
    # A hub whose edges a whole block copies, and whose targets exceed a block's own queue; loops and repeated edges.
    src, dst = np.r_[np.zeros(9000, int), 1, 1, 5, 5], np.r_[np.arange(9000) % 4500 + 2, 0, 0, 5, 1]
    yield "repeated edges", mgraph.Graph.from_edges(src, dst, n=5000), 1
    yield "one vertex", mgraph.Graph.from_edges([0], [0], n=1), 0
    yield "one vertex without edges", mgraph.Graph.from_edges([], [], n=1), 0
    yield "isolated", mgraph.Graph.from_edges([0], [1], n=77), 76


def test_shapes(method, device):
    for _, graph, source in shapes():
        for predecessors in (True, "any"):
            searched(graph, source, predecessors, method=method, device=device)


def test_wide_frontiers_after_thin_ones(device):
    # A path into a random graph and out of it again: thin, wide, thin, so that every switch occurs.
    random = np.random.default_rng(4)
    n, tail = 60_000, 500
    src, dst = random.integers(tail, n - tail, (2, 300_000))
    ends = np.concatenate([np.arange(tail), np.arange(n - tail - 1, n - 1)])
    graph = mgraph.Graph.from_edges(np.r_[src, ends], np.r_[dst, ends + 1], n=n)
    for method in [*FUSED, "scan"]:
        result = searched(graph, 0, method=method, device=device)
        for options in ({}, {"span": 7}):
            searched(graph, 0, "any", method=method, device=device, **options)
        assert np.array_equal(mgraph.bfs(graph, 0, method=method, device=device, span=7).distances, result.distances)


def test_few_neighbours_everywhere(device):
    # Each vertex is joined with those at some offsets, except for some edges: rows of any length up to 14.
    random = np.random.default_rng(6)
    for n, steps, farthest in (
        (3000, 2, 60),
        (4000, 7, 40),
        (40_000, 7, 300),
        (40_000, 4, 40_000),
        (60_000, 7, 60_000),
    ):
        src = np.tile(np.arange(n), steps)
        dst = (src + np.repeat(random.choice(farthest - 1, steps, replace=False) + 1, n)) % n
        kept = random.random(len(src)) < 0.8
        graph = mgraph.Graph.from_edges(src[kept], dst[kept], n=n, directed=False)
        assert np.diff(graph.csr().indptr).max() <= 15
        for method in ("hybrid", "frontier"):
            for predecessors in (True, "any"):
                searched(graph, int(random.integers(n)), predecessors, method=method, device=device)


@pytest.mark.parametrize("method", ["hybrid", "frontier", "scan", "sequential"])
def test_path_of_a_million(method):
    n = 1_000_000
    graph = mgraph.Graph.from_edges(np.arange(n - 1), np.arange(1, n), directed=False)
    assert np.array_equal(mgraph.bfs(graph, 0, method=method, device="cpu").distances, np.arange(n))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.exhaustive
def test_a_graph_that_all_cores_pull(directed):
    # With as few edges as possible: one core takes smaller graphs alone.
    graph = rmat(17, 18, directed=directed) if directed else random_degree(300_000, 8)
    assert not is_small(graph.csr().indptr) and not is_small(graph.csc().indptr)
    source = int(np.diff(graph.csr().indptr).argmax())
    expected = mgraph.bfs(graph, source, method="sequential", device="cpu").distances
    assert np.array_equal(expected, hop_counts(graph, source))
    src, dst, _ = graph.coo()
    least, tree = np.full(graph.n, graph.n), (expected[src] >= 0) & (expected[dst] == expected[src] + 1)
    np.minimum.at(least, dst[tree], src[tree])
    for method in FUSED:
        result = mgraph.bfs(graph, source, method=method, device="cpu", predecessors=True)
        assert np.array_equal(result.distances, expected), method
        assert np.array_equal(result.predecessors, np.where(least < graph.n, least, -9999)), method
        tree = mgraph.bfs(graph, source, method=method, device="cpu", predecessors="any")
        assert np.array_equal(tree.distances, expected), method
        check_search(graph, source, tree)


@pytest.mark.parametrize(("directed", "threads"), [(True, 64), *exhaustive((False, 64), (False, 1))])
def test_levels_that_all_cores_run(directed, threads):
    graph, expected = layered(directed)
    assert not is_small(graph.csr().indptr)
    with devices.find("cpu").limited(threads):
        for options in {}, {"method": "frontier"}, {"span": 1}:
            result = mgraph.bfs(graph, 0, device="cpu", predecessors="any", **options)
            assert np.array_equal(result.distances, expected), options
            check_search(graph, 0, result)
        for limit in (2, 3, 5):
            found = mgraph.bfs(graph, 0, device="cpu", limit=limit).distances
            assert np.array_equal(found, np.where(expected <= limit, expected, -1))


def test_which_graphs_are_small():
    most = GRAPH - 4
    assert is_small(np.array([0, 0, 7, most])) and not is_small(np.array([0, 0, 7, most + 1]))
    assert is_small(np.array([0]))


def test_arguments_of_numpy_are_numbers_as_any():
    path = mgraph.Graph.from_edges(np.arange(299), np.arange(1, 300))
    for depth in (np.uint8(200), np.uint64(100), np.int16(0), 2**70):
        found = mgraph.bfs(path, 0, limit=depth, device="cpu").distances
        assert found.max() == min(int(depth), 299)
    assert mgraph.bfs(path, np.uint8(0), target=np.uint8(255), device="cpu").distances.max() == 255
    for sources in (3, {1, 2}, None, "12"):
        if sources is not None:
            with pytest.raises(InputError, match="sources"):
                mgraph.bfs(path, sources=sources, device="cpu")
        with pytest.raises(InputError, match="sources"):
            mgraph.bfs_many(path, sources, device="cpu")


@pytest.mark.parametrize("method", ["hybrid", *exhaustive(*methods("bfs")[1:])], indirect=True)
def test_offsets_of_64_bits(method, device):
    graph = rmat(10, directed=True)
    indptr, indices, _ = graph.compressed("csr")
    wide = mgraph.Graph(graph.n, csr=Compressed(indptr.astype(np.int64), indices, None))
    wide.kept("csc.indptr", devices.find("cpu"), lambda: graph.csc().indptr.astype(np.int64))
    assert wide.csr().indptr.dtype == wide.csc().indptr.dtype == np.int64
    for predecessors in (True, "any"):
        searched(wide, 5, predecessors, method=method, device=device)


def test_weights_do_not_matter(device):
    graph = mgraph.Graph.from_edges([0, 1, 0], [1, 2, 2], [1.0, 1.0, 100.0])
    assert mgraph.bfs(graph, 0, device=device).distances.tolist() == [0, 1, 1]
    assert mgraph.bfs(np.array([[0, 1, np.inf], [1, 0, 0], [np.inf] * 3]), 0, device=device).distances.tolist() == [
        0,
        1,
        2,
    ]


def limited(expected, depth):
    return np.where(expected > depth, -1, expected)


def test_several_sources_a_depth_and_a_target(method, device):
    graph = mgraph.Graph.from_edges(*np.random.default_rng(4).integers(0, 3000, (2, 3600)), n=3000, directed=False)
    sources = [7, 8, 2999, 7, 40]
    each = np.array([mgraph.bfs(graph, s, device="cpu").distances for s in sources])
    nearest = np.where(each < 0, 3000, each).min(axis=0)
    nearest[nearest == 3000] = -1
    result = mgraph.bfs(graph, sources=sources, method=method, device=device, predecessors=True)
    assert np.array_equal(result.distances, nearest)
    reached = np.flatnonzero(nearest > 0)
    before = np.asarray(result.predecessors)[reached]
    assert np.array_equal(nearest[before] + 1, nearest[reached])
    assert (np.asarray(result.predecessors)[nearest <= 0] == -9999).all()
    for depth in (0, 1, 5, 10**6):
        result = mgraph.bfs(graph, sources=sources, method=method, device=device, limit=depth, predecessors="any")
        assert np.array_equal(result.distances, limited(nearest, depth))
        result.verify()
    for target in (7, int(nearest.argmax()), int(np.flatnonzero(nearest == 5)[0]), int(np.flatnonzero(nearest < 0)[0])):
        depth = nearest[target] if nearest[target] >= 0 else 10**6
        for predecessors in (False, "any"):
            options = {"method": method, "device": device, "target": target, "predecessors": predecessors}
            result = mgraph.bfs(graph, sources=sources, span=3, **options)
            assert np.array_equal(result.distances, limited(nearest, depth))
            result.verify()
        path = result.path(target)
        assert len(path) == (nearest[target] + 1 if nearest[target] >= 0 else 0)
        assert not path or (path[0] in sources and path[-1] == target)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give source"),
        ({"source": 0, "sources": [1]}, "give source"),
        ({"sources": []}, "sources must be a sequence of one vertex or more, got"),
        ({"sources": [0, 9]}, "sources must be an integer in .* got 9"),
        ({"source": 0, "target": -1}, "target must be an integer in .* got -1"),
        ({"source": 0, "limit": -1}, "limit must be an integer of 0 or more, got -1"),
        ({"source": 0, "limit": 1.5}, r"limit must be an integer of 0 or more, got 1\.5"),
        ({"source": 0, "predecessors": "all"}, "predecessors must be True, False or 'any', got 'all'"),
        ({"source": 0, "predecessors": 1}, "predecessors must be True, False or 'any', got 1"),
    ],
)
def test_invalid_options(options, message):
    with pytest.raises(mgraph.InputError, match=message):
        mgraph.bfs(mgraph.Graph.from_edges([0], [1], n=3), device="cpu", **options)


@pytest.mark.parametrize("source", [5, -1, 1.5, True, "0"])
def test_a_source_out_of_range(source):
    graph = mgraph.Graph.from_edges([0, 1], [1, 2], n=5)
    with pytest.raises(mgraph.InputError, match=r"source must be an integer in \[0, 5\), got "):
        mgraph.bfs(graph, source, device="cpu")


def test_graph_without_vertices():
    with pytest.raises(mgraph.InputError, match="the graph has none"):
        mgraph.bfs(mgraph.Graph.from_edges([], []), 0, device="cpu")


def test_an_unknown_method():
    with pytest.raises(mgraph.InputError, match="sideways"):
        mgraph.bfs(mgraph.Graph.from_edges([0], [1]), 0, method="sideways", device="cpu")


def test_the_queue_is_for_a_cpu():
    gpu = DeviceSpec("a GPU", "cuda", 1 << 37)
    with pytest.raises(mgraph.InputError, match="method='sequential' runs on a CPU"):
        plan("bfs", 10, 20, gpu, method="sequential")


@pytest.mark.parametrize("method", [*BY_LEVEL, "sequential"])
def test_plans_explain_themselves(method):
    made = plan("bfs", 1000, 5000, "cpu", method=method)
    assert made.method == method and f"bfs, method {method!r}" in made.explain(True)
    assert plan("bfs", 10**6, 10**8, "cpu", method=method).seconds > made.seconds > 0


@pytest.mark.parametrize("predecessors", [False, True])
@pytest.mark.parametrize("directed", [True, *exhaustive(False)])
@pytest.mark.parametrize("method", [*BY_LEVEL, "sequential"])
def test_predicted_peak_is_the_measured_one(method, directed, predecessors):
    graph = rmat(17, directed=directed)
    graph.csc()
    options = {"method": method, "device": "cpu", "predecessors": predecessors}
    mgraph.bfs(graph, 0, **options)  # compiles, or loads what was compiled
    result, peak = measured(lambda: mgraph.bfs(graph, 1, **options))
    # On the CPU the edges are the input's own arrays, by target and by source where both are needed.
    both = directed and predecessors and method != "edge"
    edges = (1 + both) * (4 * graph.m + 4 * (graph.n + 1))
    assert result.plan.peak_bytes[0] - edges == pytest.approx(peak, rel=0.05)


@pytest.mark.gpu
@pytest.mark.parametrize("predecessors", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("method", BY_LEVEL)
def test_predicted_peak_is_the_measured_one_on_a_gpu(method, directed, predecessors):
    mgraph.bfs(rmat(5, directed=directed), 0, method=method, device="cuda", predecessors=predecessors)  # compiles
    graph = rmat(17, directed=directed)
    with devices.find("cuda").peak_memory() as peak:
        result = mgraph.bfs(graph, 1, method=method, device="cuda", predecessors=predecessors)
    assert result.plan.peak_bytes[0] == pytest.approx(peak.bytes, rel=0.05)


@needs_real_graphs
@pytest.mark.parametrize("method", ["hybrid", "frontier"])
def test_new_york(method, device):
    graph = mgraph.read(REAL_GRAPHS / "NY.gr.xz")
    with lzma.open(REAL_GRAPHS / "NY.gr.xz", "rt") as lines:
        assert lines.readline().split()[2:] == [str(graph.n), str(graph.m // 2)]
    result = mgraph.bfs(graph, 0, method=method, device=device, predecessors=True)
    assert np.array_equal(result.distances, hop_counts(graph, 0))
    check_search(graph, 0, result)


@pytest.mark.gpu
def test_cupy_in_cupy_out():
    xp = devices.find("cuda").xp
    graph = rmat(10, device="cuda")
    result = mgraph.bfs(graph, 1, predecessors=True)
    assert isinstance(result.distances, xp.ndarray) and isinstance(result.predecessors, xp.ndarray)
    same = mgraph.bfs(rmat(10), 1, predecessors=True, device="cpu")
    assert np.array_equal(result.distances.get(), same.distances)
    assert np.array_equal(result.predecessors.get(), same.predecessors)
    assert np.array_equal(result.levels.get(), same.levels)
