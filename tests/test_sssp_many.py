"""The kernels for shortest paths from many sources: against SciPy's Dijkstra, hubs, plateaus and predecessors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

import mgraph
from mgraph import device as devices
from mgraph.dtypes import kernel_infinity
from mgraph.kernels import sssp_many as sssp_many_kernels
from tests.support.graphs import grid_ends
from tests.support.parameters import exhaustive
from tests.support.references import lightest_matrix

TYPES = [np.float32, np.float64, np.int32]
#: The types that the library's calls compile, another type of offsets, and rows with gaps.
FORMS = [(np.float32, np.int32, 0), (np.float64, np.int32, 0), (np.int32, np.int32, 0), (np.float32, np.int64, 2)]
POISON = -77


def random_graph(random, n, m, highest, dtype=np.float64):
    """Random edges with whole weights of 0 to `highest`: self-loops, parallel edges, isolated vertices."""
    ends = random.integers(0, max(1, n * 3 // 4), (2, m if n else 0))
    return mgraph.Graph.from_edges(*ends, random.integers(0, highest + 1, ends.shape[1]).astype(dtype), n=n)


def edges_on(device, graph, dtype, offset=np.int32):
    """Return the arrays of a graph that the kernels take: its edges by source, and by target with weights."""
    out, into = graph.compressed("csr"), graph.compressed("csc")
    by_source = out.indptr.astype(offset), out.indices
    by_target = into.indptr.astype(offset), into.indices, into.weights.astype(dtype)
    return tuple(map(device.asarray, by_source)), tuple(map(device.asarray, by_target))


def solved(device, graph, dtype, first, rows, offset=np.int32, padding=0, window=None, end=None, sources=None):
    """Return the kernels' distances and predecessors for `rows` sources, from `first` on or as given."""
    xp, kernels, n = device.xp, sssp_many_kernels.on(device), graph.n
    by_source, by_target = edges_on(device, graph, dtype, offset)
    work = kernels.workspace(xp, n, rows, np.dtype(dtype))
    for array in work:
        array.fill(array.dtype.type(3))
    D = xp.full((rows, n + padding), POISON, dtype)[:, :n]
    P = xp.full((rows, n + padding), POISON, np.int32)[:, :n]
    window = kernel_infinity(np.dtype(dtype)) if window is None else window
    end = kernel_infinity(np.dtype(dtype)) if end is None else end
    sources = device.asarray(np.arange(first, first + rows, dtype=np.int32) if sources is None else sources)
    kernels.distances(D, sources, kernels.layout(by_source, by_target), window, end, work)
    kernels.predecessors(D, sources, by_target, P)
    if padding:
        for matrix in (D, P):
            assert bool((matrix.base[:, n:] == POISON).all())
    return devices.to_host(D), devices.to_host(P)


def textbook(matrix, sources):
    """Relax all edges until nothing falls, in the matrix's own type."""
    d = np.full((len(sources), len(matrix)), np.inf, matrix.dtype)
    d[np.arange(len(sources)), sources] = 0
    while True:
        relaxed = np.minimum(d, (d[:, :, None] + matrix[None]).min(axis=1, initial=np.inf))
        if np.array_equal(relaxed, d):
            return d
        d = relaxed


def as_floats(D):
    result = D.astype(np.float64)
    result[kernel_infinity(D.dtype) == D] = np.inf
    return result


def check_tree(D, P, matrix, first):
    """Each row of P is a tree of tight edges from its source to all that it reaches."""
    distances = as_floats(D)
    for r in range(len(D)):
        source = first + r
        reached = np.isfinite(distances[r])
        assert (P[r][~reached] == -9999).all() and P[r, source] == -9999
        others = np.flatnonzero(reached)
        others = others[others != source]
        before = P[r, others]
        assert ((before >= 0) & (before < len(matrix))).all()
        assert np.array_equal(distances[r, before] + matrix[before, others], distances[r, others])
        # Pointer jumping: every vertex reaches its source.
        up = np.where(P[r] >= 0, P[r], np.arange(len(matrix)))
        up[source] = source
        for _ in range(len(matrix).bit_length() + 1):
            up = up[up]
        assert (up[others] == source).all()


@st.composite
def cases(draw, largest=50):
    """Graphs from empty to dense, weights from all zero to spread, a range of sources, a window."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(1, largest))
    m = draw(st.sampled_from([0, n // 2, 2 * n, 6 * n, n * n // 2]))
    graph = random_graph(random, n, m, draw(st.sampled_from([0, 1, 5, 1000])))
    first = draw(st.integers(0, n - 1))
    window = draw(st.sampled_from([None, 1, 7]))
    return graph, first, draw(st.integers(1, n - first)), window


def check(device, graph, first, rows, dtype, window=None, offset=np.int32, padding=0):
    D, P = solved(device, graph, dtype, first, rows, offset, padding, window)
    assert D.dtype == dtype
    matrix = lightest_matrix(graph)
    assert np.array_equal(as_floats(D), textbook(matrix, np.arange(first, first + rows)))
    check_tree(D, P, matrix, first)
    return D, P


@given(cases(), st.sampled_from(FORMS))
def test_small_graphs(case, form):
    graph, first, rows, window = case
    dtype, offset, padding = form
    check(devices.find("cpu"), graph, first, rows, dtype, window, offset, padding)


@pytest.mark.exhaustive
@given(cases(), st.sampled_from(TYPES), st.sampled_from([np.int32, np.int64]))
def test_small_graphs_in_every_form(case, dtype, offset):
    graph, first, rows, window = case
    check(devices.find("cpu"), graph, first, rows, dtype, window, offset, padding=2)


@pytest.mark.gpu
@given(cases(), st.sampled_from(TYPES), st.sampled_from([np.int32, np.int64]))
def test_small_graphs_on_a_gpu(case, dtype, offset):
    graph, first, rows, window = case
    D, P = check(devices.find("cuda"), graph, first, rows, dtype, window, offset, padding=5)
    twin = solved(devices.find("cpu"), graph, dtype, first, rows)
    assert np.array_equal(D, twin[0]) and np.array_equal(P, twin[1])


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", [1, 33, 129, *exhaustive(31, 32, 95, 257)])
def test_sizes_around_the_slices(n, dtype, hardware):
    graph = random_graph(np.random.default_rng(n), n, 3 * n, 20)
    padding = 3 if hardware.kind == "cuda" or dtype == np.float32 else 0
    for rows in {1, n // 2 + 1, n}:
        check(hardware, graph, n - rows, rows, dtype, padding=padding)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_bit_of_dijkstras(dtype, hardware):
    # Relaxations in any order end at the least sum along a path, added up from the source.
    random = np.random.default_rng(4)
    n = 300
    graph = mgraph.Graph.from_edges(*random.integers(0, n, (2, 1200)), random.random(1200).astype(dtype), n=n)
    D, _ = solved(hardware, graph, dtype, 17, 200)
    matrix = lightest_matrix(graph).astype(dtype)
    assert np.array_equal(D, textbook(matrix, np.arange(17, 217)))
    np.testing.assert_allclose(D, dijkstra(graph_matrix(graph), indices=np.arange(17, 217)), rtol=1e-5)


def graph_matrix(graph):
    matrix = lightest_matrix(graph)
    src, dst = np.isfinite(matrix).nonzero()
    return sparse.csr_array((matrix[src, dst], (src, dst)), shape=matrix.shape)


@pytest.mark.parametrize("dtype", TYPES)
def test_hubs(dtype, hardware):
    # A star of many spokes both ways, some of them double, and a ring through the spokes.
    random = np.random.default_rng(6)
    n, hubs = 5000, np.array([0, 1, 2, 4999])
    spokes = random.integers(0, n, 9000)
    ends = hubs[random.integers(0, 4, 9000)]
    src = np.concatenate([spokes, ends, np.arange(n - 1)])
    dst = np.concatenate([ends, spokes, np.arange(1, n)])
    graph = mgraph.Graph.from_edges(src, dst, random.integers(0, 40, len(src)), n=n)
    into = graph.compressed("csc")
    assert np.diff(into.indptr).max() > 2000
    D, P = solved(hardware, graph, dtype, 4960, 40)
    expected = dijkstra(graph_matrix(graph), indices=np.arange(4960, 5000))
    assert np.array_equal(as_floats(D), expected)
    check_tree(D, P, lightest_matrix(graph), 4960)


@pytest.mark.gpu
def test_more_hubs_than_a_block_can_put_off():
    random = np.random.default_rng(7)
    n, m = 2304, 2304 * 540
    src, dst = random.integers(0, n, m), np.arange(m) % n
    graph = mgraph.Graph.from_edges(src, dst, random.integers(1, 1000, m), n=n)
    D, P = solved(devices.find("cuda"), graph, np.int32, 0, n)
    twin = solved(devices.find("cpu"), graph, np.int32, 0, n)
    assert np.array_equal(D, twin[0]) and np.array_equal(P, twin[1])


def test_a_long_path(hardware):
    # As many rounds as there are vertices, through unordered ids.
    n = 3000
    order = np.random.default_rng(2).permutation(n)
    graph = mgraph.Graph.from_edges(order[:-1], order[1:], np.arange(1, n), n=n)
    for window in (None, 1, 1000):
        D, P = solved(hardware, graph, np.int32, int(order[0]), 1, window=window)
        assert np.array_equal(D[0, order], np.concatenate([[0], np.arange(1, n).cumsum()]))
        assert np.array_equal(P[0, order], np.concatenate([[-9999], order[:-1]]))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("window", [1, 10, 1e6])
def test_a_grid_of_streets(window, dtype, hardware):
    # The shortest path often has many edges; an island lies a hundred million away.
    random = np.random.default_rng(9)
    across, down = 60, 41
    n = across * down
    src, dst = np.c_[grid_ends(down, across), [[n - 1, n], [n, n + 1]]]
    weights = np.ceil(np.exp(random.normal(0, 1.5, len(src)) + 2))
    weights[-2] = 1e8
    graph = mgraph.Graph.from_edges(src, dst, weights, n=n + 3, directed=False)
    D, P = solved(hardware, graph, dtype, 1000, 150, window=window)
    expected = dijkstra(graph_matrix(graph), indices=np.arange(1000, 1150))
    if dtype == np.float32:  # it cannot represent the sums
        np.testing.assert_allclose(D, expected, rtol=1e-7)
    else:
        assert np.array_equal(as_floats(D), expected)
        check_tree(D, P, lightest_matrix(graph), 1000)


def test_plateaus(hardware):
    # Circles of weight zero, entered at one place each, whose vertices have lower neighbours only there.
    n, length = 600, 50
    src = np.arange(n)
    dst = src // length * length + (src + 1) % length
    back = dst, src
    rungs = np.arange(0, n - length, length) + 7
    graph = mgraph.Graph.from_edges(
        np.concatenate([src, back[0], rungs]),
        np.concatenate([dst, back[1], rungs + length]),
        np.concatenate([np.zeros(2 * n), np.full(len(rungs), 2.0)]),
        n=n,
    )
    D, P = solved(hardware, graph, np.float32, 3, 30)
    assert np.array_equal(D, np.broadcast_to(src // length * 2.0, D.shape))
    check_tree(D, P, lightest_matrix(graph), 3)


def test_predecessors_on_a_plateau_are_the_least_of_the_fewest_edges(hardware):
    random = np.random.default_rng(11)
    for n, m in ((40, 60), (200, 500), (1500, 1600)):
        graph = random_graph(random, n, m, 0)
        _, P = solved(hardware, graph, np.float32, 0, 12)
        linked = np.zeros((n, n), bool)
        linked[graph.coo()[:2]] = True
        for source, parents in enumerate(P):
            expected, reached = np.full(n, -9999), np.zeros(n, bool)
            frontier = np.array([source])
            while len(frontier):
                reached[frontier] = True
                into = linked[frontier]
                found = np.flatnonzero(into.any(axis=0) & ~reached)
                expected[found] = frontier[into[:, found].argmax(axis=0)]
                frontier = found
            assert np.array_equal(parents, expected)


def test_a_long_path_without_weight(hardware):
    # It would take a pass for each edge if each pass found one vertex.
    n = 4000
    order = np.random.default_rng(5).permutation(n)
    graph = mgraph.Graph.from_edges(order[:-1], order[1:], np.zeros(n - 1), n=n, directed=False)
    _, P = solved(hardware, graph, np.float64, 17, 3)
    at = np.argsort(order)
    for row, source in enumerate(range(17, 20)):
        steps = np.sign(at - at[source])
        assert np.array_equal(P[row], np.where(steps == 0, -9999, order[at - steps]))


def test_sums_lost_in_rounding(hardware):
    # 1e8 + 1 is 1e8 in float32: a cycle of weight 2 that looks like one of weight zero.
    graph = mgraph.Graph.from_edges([0, 1, 2, 2, 3], [1, 2, 1, 3, 2], np.array([1e8, 1, 1, 1, 1], np.float32))
    D, P = solved(hardware, graph, np.float32, 0, 1)
    assert (D[0] == np.array([0, 1e8, 1e8, 1e8], np.float32)).all()
    assert P.tolist() == [[-9999, 0, 1, 2]]


def test_the_least_predecessor(hardware):
    # Vertex 4 has three tight in-neighbours; 3 and 2 are at equal distance.
    graph = mgraph.Graph.from_edges([0, 0, 0, 3, 2, 1], [3, 2, 1, 4, 4, 4], np.array([2, 2, 1, 1, 1, 2.0]))
    _, P = solved(hardware, graph, np.float64, 0, 1)
    assert P.tolist() == [[-9999, 0, 0, 0, 1]]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("window", [None, 3, 1000])
def test_any_sources_up_to_a_limit(window, dtype, hardware):
    random = np.random.default_rng(12)
    n = 700
    graph = random_graph(random, n, 2200, 12)
    sources = random.integers(0, n, 150).astype(np.int32)
    sources[70] = sources[3]
    expected = dijkstra(graph_matrix(graph), indices=sources)
    for limit in (0, 1, 20, 10_000):
        end = np.nextafter(dtype(limit), dtype(np.inf)) if np.dtype(dtype).kind == "f" else limit + 1
        D, P = solved(hardware, graph, dtype, 0, len(sources), window=window, end=end, sources=sources)
        assert np.array_equal(as_floats(D), np.where(expected > limit, np.inf, expected))
        assert np.array_equal(P[:, :] >= 0, (D < end) & (np.arange(n) != sources[:, None]))


@pytest.mark.parametrize("dtype", TYPES)
def test_unshift(dtype, hardware):
    xp, kernels = hardware.xp, sssp_many_kernels.on(hardware)
    random = np.random.default_rng(1)
    before = random.integers(0, 50, (40, 333)).astype(dtype)
    before[random.random(before.shape) < 0.3] = kernel_infinity(np.dtype(dtype))
    h = -random.integers(0, 30, 333).astype(np.float64)
    D = hardware.asarray(before.copy())
    kernels.unshift(D, hardware.asarray(np.arange(100, 140, dtype=np.int32)), hardware.asarray(h))
    D = devices.to_host(D)
    reached = before < kernel_infinity(np.dtype(dtype))
    expected = before + h[None, :] - h[100:140, None]
    assert np.array_equal(D[reached], expected[reached]) and np.array_equal(D[~reached], before[~reached])
    assert xp.asarray(D).dtype == dtype


@pytest.mark.parametrize("dtype", TYPES)
def test_the_workspace_is_what_is_said(dtype, hardware):
    kernels = sssp_many_kernels.on(hardware)
    itemsize = np.dtype(dtype).itemsize
    for n, sources in ((1, 1), (1000, 33), (5000, kernels.batch_size(5000, itemsize))):
        work = kernels.workspace(hardware.xp, n, sources, np.dtype(dtype))
        assert abs(sum(array.nbytes for array in work) - kernels.workspace_bytes(n, sources, itemsize)) <= 16


@pytest.mark.parametrize("directed", (True, False))
def test_the_layout_is_of_the_same_edges(directed):
    kernels, home = sssp_many_kernels.on(devices.find("cpu")), devices.find("cpu")
    graph = mgraph.Graph.from_edges([0, 0, 3, 3, 5], [3, 5, 1, 4, 0], [1.0, 2, 3, 4, 5], n=7, directed=directed)
    incoming, outgoing = graph.compressed("csc"), graph.layout("csr")
    edges = kernels.layout(outgoing if directed else incoming[:2], tuple(map(home.asarray, incoming)))
    assert sorted(edges.places.tolist()) == list(range(7))
    indptr, indices, weights = edges.by_target
    found = {(indices[e], t, weights[e]) for t in range(7) for e in range(indptr[t], indptr[t + 1])}
    places = edges.places
    assert found == {(places[s], places[t], w) for s, t, w in zip(*graph.coo(), strict=True)}
    indptr, indices = edges.by_source
    found = {(s, t) for s in range(7) for t in indices[indptr[s] : indptr[s + 1]]}
    assert found == {(places[s], places[t]) for s, t, _ in zip(*graph.coo(), strict=True)}
    kept = {id(array): array.nbytes for array in (places, *edges.by_source, *edges.by_target)}
    assert sum(kept.values()) <= kernels.layout_bytes(7, graph.m, 8, directed)
