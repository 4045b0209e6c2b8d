"""Hierarchies: distances, paths and measures against SciPy's Dijkstra and other methods, order, fill, files."""

import itertools
import math
import signal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

import mgraph
from mgraph import device as devices
from mgraph.dtypes import distance_dtype, infinity, weight_dtype
from mgraph.errors import WrongResultError
from mgraph.hierarchy import hierarchy as hierarchy_calls
from mgraph.hierarchy import lengths, sweeps
from mgraph.hierarchy.order import skeleton
from mgraph.hierarchy.placed import placed
from mgraph.hierarchy.structure import eliminated, structure_of
from mgraph.kernels import hierarchy as hierarchy_family
from mgraph.kernels.hierarchy import cuda as hierarchy_kernels
from mgraph_bench import hierarchies
from tests.support.graphs import grid_ends, shifted
from tests.support.parameters import exhaustive
from tests.support.references import all_distances, as_floats, lightest_matrix, textbook

DATA = Path(__file__).parents[2] / "shared" / "data"
TYPES = [np.float32, np.float64, np.int32]


def weighted(random, n, m, highest, dtype=np.float64, directed=True):
    """Random edges with whole weights of 0 to `highest`: loops, parallel edges, isolated vertices."""
    ends = random.integers(0, max(1, n * 3 // 4), (2, m if n else 0))
    weights = random.integers(0, highest + 1, ends.shape[1]).astype(dtype)
    return mgraph.Graph.from_edges(*ends, weights, n=n, directed=directed)


def with_potentials(seed, highest, dtype):
    """A generator, and a graph drawn from it of weights up to `highest`, shifted by potentials."""
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 30))
    graph = shifted(weighted(random, n, 3 * n, highest, np.int64), random.integers(-50, 50, n))
    return random, graph.with_weights(graph.coo().weights.astype(dtype))


def length(matrix, path):
    return sum(matrix[u, v] for u, v in itertools.pairwise(path))


def grid(rows, columns, random, dtype=np.int32, directed=False, highest=255):
    """A grid with random weights."""
    src, dst = grid_ends(rows, columns)
    weights = random.integers(1, highest + 1, len(src)).astype(dtype)
    return mgraph.Graph.from_edges(src, dst, weights, n=rows * columns, directed=directed)


@st.composite
def cases(draw, largest=40):
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(1, largest))
    m = draw(st.sampled_from([0, n // 2, 2 * n, 6 * n]))
    highest = draw(st.sampled_from([0, 1, 5, 1000]))
    graph = weighted(random, n, m, highest, draw(st.sampled_from(TYPES)), draw(st.booleans()))
    return graph, random.permutation(n), random


@given(cases())
def test_distances_are_those_of_the_textbook(device, case):
    graph, order, _ = case
    found = mgraph.Hierarchy(graph, order, device=device).distances()
    assert found.dtype == mgraph.apsp(graph, device="cpu", method="sssp").distances.dtype
    assert np.array_equal(as_floats(found), all_distances(graph))


@given(cases())
def test_a_pair_is_found_by_two_climbs(device, case):
    graph, order, random = case
    hierarchy, edges = mgraph.Hierarchy(graph, order, device=device), lightest_matrix(graph)
    expected = textbook(edges)
    for source, target in random.integers(0, graph.n, (12, 2)).tolist():
        distance, path = hierarchy.distance(source, target), hierarchy.path(source, target)
        if math.isinf(expected[source, target]):
            assert distance == math.inf and path == []
        else:
            assert distance == expected[source, target] == length(edges, path)
            assert path[0] == source and path[-1] == target and len(set(path)) == len(path)


@given(cases(), st.data())
def test_chosen_sources_and_targets(device, case, data):
    graph, order, random = case
    sources, targets = (random.integers(0, graph.n, data.draw(st.integers(1, 90))) for _ in range(2))
    expected = all_distances(graph)[np.ix_(sources, targets)]
    hierarchy = mgraph.Hierarchy(graph, order, device=device)
    assert np.array_equal(as_floats(hierarchy.distances(sources, targets)), expected)
    limit = float(random.integers(0, 20))
    within = np.where(expected <= limit, expected, np.inf)
    assert np.array_equal(as_floats(hierarchy.distances(sources, targets, limit=limit)), within)


@given(cases(), st.sampled_from([None, 7.5]))
def test_measures_are_made_of_the_distances(device, case, limit):
    graph, order, random = case
    sources, targets = (random.integers(0, graph.n, 70) for _ in range(2))
    radii = [0, 3, 2.5, 1e9]
    hierarchy = mgraph.Hierarchy(graph, order, device=device)
    names = ["eccentricity", "mean", "out_closeness", "out_harmonic", "reached", ("within", radii)]
    found = hierarchy.distances(sources, targets, reduce=names, limit=limit)
    targets = np.unique(targets)  # a target that is repeated counts once, as for mgraph.distances
    D = all_distances(graph)[np.ix_(sources, targets)]
    D[D > (np.inf if limit is None else limit)] = np.inf
    reached = np.isfinite(D)
    eccentricity = D.max(axis=1)
    assert found.eccentricity.dtype == np.float64
    assert np.array_equal(as_floats(found.eccentricity), eccentricity)
    assert np.array_equal(found.reached, reached.sum(axis=1))
    assert np.array_equal(found.within, (D[:, :, None] <= np.array(radii)).sum(axis=1))
    own = (sources[:, None] == targets).sum(axis=1)
    total = np.where(reached, D, 0).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        others = reached.sum(axis=1) - own
        assert np.allclose(found.mean, total / others, equal_nan=True)
        closeness = np.where(total > 0, others / total * (others / (len(targets) - own)), 0)
        assert np.allclose(found.out_closeness, closeness)
        assert np.allclose(found.out_harmonic, np.where(reached & (D > 0), 1 / D, 0).sum(axis=1))
    for name in names:  # a kernel may be compiled for one measure alone
        alone = hierarchy.distances(sources, targets, reduce=[name], limit=limit)
        key = name if isinstance(name, str) else "within"
        assert np.array_equal(getattr(alone, key), getattr(found, key), equal_nan=key != "within"), key
        assert [getattr(alone, other) is None for other in ("mean", "out_closeness", "within")].count(False) <= 1
    two = hierarchy.distances(sources, targets, reduce=["eccentricity", "mean", ("within", radii[:2])], limit=limit)
    assert np.array_equal(two.eccentricity, found.eccentricity) and np.array_equal(two.within, found.within[:, :2])
    assert np.array_equal(two.mean, found.mean, equal_nan=True)


def test_measures_of_many_small_components(device):
    """More pieces than a GPU has warps, more radii than a launch takes, and not quite a warp of four sources each."""
    ends = np.arange(6000)
    weights = (np.arange(3000) % 40 + 1).astype(np.float32)
    graph = mgraph.Graph.from_edges(ends[::2], ends[1::2], weights, directed=False)
    hierarchy = mgraph.Hierarchy(graph, ends, device=device)
    sources, radii = np.arange(7, 6000, 60), np.arange(42.0)
    found = hierarchy.distances(sources, reduce=["reached", "mean", "out_harmonic", ("within", radii)])
    far = weights[sources // 2]
    assert len(sources) == 100 and found.reached.tolist() == [2] * 100
    assert np.array_equal(found.mean, far)
    np.testing.assert_allclose(found.out_harmonic, 1 / far)
    assert np.array_equal(found.within, 1 + (far[:, None] <= radii))


@given(cases(), st.sampled_from([None, 7.5]))
def test_predecessors_are_those_of_single_searches(device, case, limit):
    graph, order, random = case
    hierarchy = mgraph.Hierarchy(graph, order, device=device)
    single = [mgraph.sssp(graph, v, predecessors=True, limit=limit, device="cpu") for v in range(graph.n)]
    D, P = hierarchy.distances(limit=limit, predecessors=True)
    assert np.array_equal(D, hierarchy.distances(limit=limit)) and P.dtype == np.int32
    assert np.array_equal(P, [found.predecessors for found in single])
    sources, targets = (random.integers(0, graph.n, 20) for _ in range(2))
    part = hierarchy.distances(sources, targets, limit=limit, predecessors=True)
    assert np.array_equal(part.distances, D[np.ix_(sources, targets)])
    assert np.array_equal(part.predecessors, P[np.ix_(sources, targets)])


def check_tree(graph, hierarchy):
    """Predecessors lead back to each source, by edges that make up the distance."""
    D, P = hierarchy.distances(predecessors=True)
    edges, n = lightest_matrix(graph), graph.n
    D = as_floats(D)
    reached = np.isfinite(D) & ~np.eye(n, dtype=bool)
    assert (P[~reached] == -9999).all() and (P[reached] >= 0).all()
    for source in range(n):
        for vertex in np.flatnonzero(reached[source]):
            walk = [vertex]
            while walk[-1] != source and len(walk) <= n:
                walk.append(P[source, walk[-1]])
            assert walk[-1] == source
            assert math.isclose(length(edges, walk[::-1]), D[source, vertex], rel_tol=1e-5, abs_tol=1e-5)
    targets = np.random.default_rng(n).integers(0, n, 9)
    part = hierarchy.distances(targets=targets, predecessors=True)
    row, j = np.nonzero(reached[:, targets])
    before = part.predecessors[row, j]
    found = D[row, before] + edges[before, targets[j]]
    assert np.allclose(found, D[row, targets[j]], rtol=1e-5, atol=1e-5)


@given(st.integers(0, 2**32), st.sampled_from([np.float32, np.float64]))
def test_predecessors_of_floats_form_a_tree(device, seed, dtype):
    # With lengths of zero, of both directions of an edge, and such as vanish in a sum.
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 30))
    graph = weighted(random, n, 3 * n, 5, dtype, directed=bool(random.integers(2)))
    shares = np.array([0, 1e-9, 0.1, 1 / 3, 7, 1e6])
    graph = graph.with_weights(shares[graph.coo().weights.astype(int)].astype(dtype))
    check_tree(graph, mgraph.Hierarchy(graph, random.permutation(n), device=device))


@given(st.integers(0, 2**32), st.sampled_from(TYPES))
def test_predecessors_with_negative_weights_form_a_tree(device, seed, dtype):
    # Edges of weight 0 or 1, shifted by potentials: there are cycles of length zero.
    random, graph = with_potentials(seed, 1, dtype)
    n = graph.n
    hierarchy = mgraph.Hierarchy(graph, random.permutation(n), device=device)
    check_tree(graph, hierarchy)
    whole, limit = hierarchy.distances(predecessors=True), int(random.integers(0, 30))
    some = hierarchy.distances(predecessors=True, limit=limit)
    beyond = np.where(whole.distances > limit, infinity(np.dtype(dtype)), whole.distances)
    before = (
        whole.predecessors if (graph.coo().weights < 0).any() else np.where(beyond < 2**30, whole.predecessors, -9999)
    )
    assert np.array_equal(some.distances, beyond) and np.array_equal(some.predecessors, before)


def test_predecessors_of_other_weights_and_of_no_weights(device):
    random = np.random.default_rng(11)
    graph = grid(7, 9, random, np.float64)
    weights = np.where(random.random(graph.m) < 0.1, np.inf, random.random(graph.m))
    hierarchy = mgraph.Hierarchy(graph, random.permutation(graph.n), device=device)
    src, dst, _ = graph.coo()
    check_tree(mgraph.Graph.from_edges(src, dst, weights, n=graph.n), hierarchy.customize(weights))
    hops = hierarchy.customize(graph.unweighted()).distances(predecessors=True)
    assert np.array_equal(hops.predecessors, mgraph.bfs_many(graph, range(graph.n), predecessors=True).predecessors)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("limit", [0, 40, 300, 2000])
def test_a_limit_leaves_out_what_is_beyond_it(device, dtype, limit):
    random = np.random.default_rng(limit)
    graph = grid(25, 30, random, dtype, directed=True)
    hierarchy = mgraph.Hierarchy(graph, device=device)
    for sources in (random.integers(0, graph.n, 150), [3], [77, 78, 740]):
        whole = as_floats(hierarchy.distances(sources))
        within = np.where(whole <= limit, whole, np.inf)
        assert np.array_equal(as_floats(hierarchy.distances(sources, limit=limit)), within)
        for targets in (None, random.permutation(graph.n)[:60], [5]):
            part = within if targets is None else within[:, targets]
            found = hierarchy.distances(sources, targets, limit=limit, reduce=["eccentricity", "reached", "mean"])
            assert np.array_equal(as_floats(found.eccentricity), part.max(axis=1))
            assert np.array_equal(found.reached, np.isfinite(part).sum(axis=1))


def test_closeness_is_that_of_networkx(device):
    networkx = pytest.importorskip("networkx")
    random = np.random.default_rng(5)
    graph = weighted(random, 40, 70, 9)
    src, dst, weights = graph.coo()
    backwards = networkx.MultiDiGraph()
    backwards.add_nodes_from(range(graph.n))
    backwards.add_weighted_edges_from(zip(dst.tolist(), src.tolist(), weights.tolist(), strict=True))
    found = mgraph.Hierarchy(graph, random.permutation(graph.n), device=device).distances(
        reduce=["out_closeness", "out_harmonic"]
    )
    expected = networkx.closeness_centrality(backwards, distance="weight")
    assert np.allclose(found.out_closeness, [expected[v] for v in range(graph.n)])


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("directed", [False, True])
def test_other_weights_of_the_same_edges(device, dtype, directed):
    random = np.random.default_rng(3)
    graph = grid(9, 14, random, dtype, directed)
    first = mgraph.Hierarchy(graph, random.permutation(graph.n), device=device)
    before = first.distances()
    weights = random.integers(0, 100, graph.m).astype(dtype)
    src, dst, _ = graph.coo()
    other = mgraph.Graph.from_edges(src, dst, weights, n=graph.n)
    for new in (weights, other, other.to_scipy()):
        second = first.customize(new)
        assert np.array_equal(as_floats(second.distances()), all_distances(other))
        assert np.array_equal(second.order, first.order)
    assert np.array_equal(first.distances(), before)
    hops = first.customize(other.unweighted())
    assert hops.dtype == np.float32 and np.array_equal(hops.distances(), all_distances(other.unweighted()))


def test_an_infinite_weight_closes_an_edge(device):
    graph = mgraph.Graph.from_edges([0, 1], [1, 2], [1.0, 2.0], directed=False)
    hierarchy = mgraph.Hierarchy(graph, [0, 1, 2], device=device).customize([1, np.inf, 2, 2])
    assert hierarchy.distances().tolist() == [[0, 1, 3], [np.inf, 0, 2], [np.inf, 2, 0]]


def sets_of_weights(random, graph, kind, sets):
    """Sets of weights for a graph's edges."""
    m = graph.m
    if kind == "alike":
        src, dst, _ = graph.coo()
        key = np.minimum(src, dst) * graph.n + np.maximum(src, dst)
        return random.integers(0, 256, (sets, graph.n**2))[:, key]
    if kind == "differ":
        return random.integers(0, 256, (sets, m), dtype=np.int32)
    if kind == "wide":  # every second set is computed in float64
        return random.integers(0, 2**28, (sets, m)) >> np.where(np.arange(sets) % 2, 20, 0)[:, None]
    if kind == "top":  # the sums of the longest n - 1 decide: those of every second set fit int32
        usual = np.where(np.arange(sets) % 2, 470_000_000, 940_000_000) // max(1, graph.n)
        return np.where(np.arange(m) == m // 2, 2**28, usual[:, None])
    if kind == "floats":
        return random.random((sets, m))
    if kind == "long":  # sums overflow float32
        return random.random((sets, m), dtype=np.float32) * np.float32(3e38)
    if kind == "closed":
        return np.where(random.random((sets, m)) < 0.3, np.inf, random.integers(0, 9, (sets, m)))
    if kind == "negative":  # and without a negative cycle
        potentials = random.integers(-9, 9, (sets, graph.n))
        src, dst, _ = graph.coo()
        some = random.integers(0, 9, (sets, m)) + potentials[:, src] - potentials[:, dst]
        return np.where(np.arange(sets)[:, None] % 3, np.abs(some), some)
    types = itertools.cycle(["i8", "i8", "i8", "f4", "f4", "f4", "f4", "u1", ">f8", "f2", "i2"])  # a sequence of arrays
    return [random.integers(0, 9, m).astype(next(types)) for _ in range(sets)]


KINDS = ["alike", "differ", "wide", "top", "floats", "long", "closed", "negative", "types"]


def prepared(graph, order, device):
    """A graph's structure for an order of elimination, and the same on a device."""
    neighbours = skeleton(graph)
    structure = structure_of(graph.unweighted(), neighbours, eliminated(neighbours, order))
    return structure, placed(structure, devices.find(device))


def assert_same_lengths(found, expected):
    """Two sets of lengths have the same bits, in the same types; those found are no views."""
    assert all(part.base is None for part in found[1:4])
    found, expected = lengths.on_host(found), lengths.on_host(expected)
    assert (found.dtype, *found[4:]) == (expected.dtype, *expected[4:])
    assert (found.down is found.up) == (expected.down is expected.up)
    for one, other in zip(found[1:4], expected[1:4], strict=True):
        assert one.dtype == other.dtype and one.tobytes() == other.tobytes()


@pytest.mark.parametrize("dtype", [None, "float32", "float64"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("directed", [False, True])
def test_lengths_of_sets_of_weights_together_have_the_bits_of_each_alone(device, kind, directed, dtype):
    random = np.random.default_rng(21)
    for graph in (weighted(random, 30, 100, 9, directed=directed), grid(9, 8, random, directed=directed)):
        structure, on = prepared(graph, random.permutation(graph.n), device)
        for sets in (1, 2, 7, on.kernels.SETS):
            stack = np.stack(sets_of_weights(random, graph, kind, sets))
            computed = distance_dtype(weight_dtype(stack.dtype), dtype)
            found = lengths.customized_sets(graph, structure, on, stack, computed)
            assert [one is None for one in found] == (stack.min(axis=1) < 0).tolist()
            for one, weights in zip(found, stack, strict=True):
                if one is not None:
                    edges = lengths.encoded(weights, graph.m, computed)
                    assert_same_lengths(one, lengths.customized(graph, structure, on, edges, computed, weights))


@pytest.mark.parametrize("kind", KINDS)
def test_hierarchies_of_sets_of_weights_are_those_of_each(device, kind):
    random = np.random.default_rng(21)
    graphs = [
        weighted(random, 30, 100, 9),
        mgraph.Graph.from_edges([], [], n=3),
        mgraph.Graph.from_edges([0], [0], n=1),
    ]
    for graph in graphs:
        roads = mgraph.Hierarchy(graph, random.permutation(graph.n), device=device)
        stack = sets_of_weights(random, graph, kind, 37)
        for dtype in (None,) if kind in ("wide", "top", "types") else (None, "float32"):
            found = list(roads.customize(stack, dtype=dtype))
            for one, weights in zip(found, stack, strict=True):
                alone = roads.customize(weights, dtype=dtype)
                assert one.dtype == alone.dtype and one.nbytes == alone.nbytes and not one.is_labelled
                assert np.array_equal(one.distances(), alone.distances())
                assert np.array_equal(one.graph.coo().weights, alone.graph.coo().weights)


def test_sets_of_weights_are_computed_when_they_are_asked_for(device, monkeypatch):
    random = np.random.default_rng(22)
    graph = grid(9, 8, random, directed=True)
    roads = mgraph.Hierarchy(graph, device=device)
    stack = sets_of_weights(random, graph, "differ", 70)
    batches, together = [], hierarchy_calls.customized_sets

    def counted(*arguments):
        batches.append(len(arguments[3]))
        return together(*arguments)

    monkeypatch.setattr(hierarchy_calls, "customized_sets", counted)
    each = roads.customize(stack)
    assert not batches
    expected = [all_distances(graph.with_weights(weights)) for weights in stack[:2]]
    most = hierarchy_family.on(devices.find(device)).SETS
    assert np.array_equal(as_floats(next(each).distances()), expected[0]) and batches == [most]
    assert np.array_equal(as_floats(next(each).labelled().distances()), expected[1]) and batches == [most]
    stack[most:] = stack[0]  # which is read then
    assert all(np.array_equal(as_floats(one.distances()), expected[0]) for one in list(each)[most - 2 :])
    assert sum(batches) == 70 and max(batches) == most
    assert list(roads.customize(stack[:0])) == []


def test_sets_of_weights_that_do_not_fit_are_computed_by_fewer(device, monkeypatch):
    random = np.random.default_rng(23)
    graph = grid(9, 8, random)
    order, place = random.permutation(graph.n), devices.find(device)
    roads, known = mgraph.Hierarchy(graph, order, device=device), prepared(graph, order, device)
    stack = sets_of_weights(random, graph, "alike", 6)
    expected = [one.distances() for one in map(roads.customize, stack)]
    needed, batches, together = lengths.bytes_of_sets(*known, graph.m, 8, 3), [], hierarchy_calls.customized_sets

    def counted(*arguments):
        batches.append(len(arguments[3]))
        return together(*arguments)

    monkeypatch.setattr(hierarchy_calls, "customized_sets", counted)
    for free, computed in ((2 * needed, [3, 3]), (needed // 4, [])):
        monkeypatch.setattr(type(place), "available_memory", lambda self, free=free: free)
        assert lengths.sets_that_fit(*known, graph.m, 8) == (computed or [1])[0]
        each = roads.customize(stack)
        found = list(each)
        assert batches == computed
        monkeypatch.undo()
        monkeypatch.setattr(hierarchy_calls, "customized_sets", counted)
        batches.clear()
        assert all(map(np.array_equal, [one.distances() for one in found], expected))
    monkeypatch.setattr(type(place), "available_memory", lambda self: 100)
    with pytest.raises(mgraph.MemoryLimitError, match=r"^weights\[0\]: lengths of"):
        next(roads.customize(stack))


@pytest.mark.parametrize("dtype", TYPES)
def test_the_memory_of_sets_of_weights_is_counted(device, dtype):
    random = np.random.default_rng(24)
    graph = grid(60, 70, random, directed=True)
    order, place = np.arange(graph.n), devices.find(device)
    roads, known = mgraph.Hierarchy(graph, order, device=device), prepared(graph, order, device)
    stack = (random.random((13, graph.m)) * 100).astype(dtype)
    list(roads.customize(stack))  # compiles
    with place.peak_memory() as peak:
        kept = list(roads.customize(stack))
    assert len(kept) == 13 and peak.bytes <= lengths.bytes_of_sets(*known, graph.m, stack.itemsize, 13)


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        (np.nan, mgraph.InputError, "weights must be numbers"),
        (-2, mgraph.NegativeCycleError, "vertex . lies on a cycle"),
        (1e39, mgraph.DistanceOverflowError, "a weight is too large for float32"),
    ],
)
def test_an_error_names_the_set_of_weights(device, change, error, said):
    graph = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 3], [1.0, 2.0, 3.0], directed=False)
    roads = mgraph.Hierarchy(graph, [0, 1, 2, 3], device=device)
    stack = np.ones((5, graph.m))
    stack[3, 2] = change
    each = roads.customize(stack, dtype="float32")
    assert [next(each).distance(0, 3) for _ in range(3)] == [3, 3, 3]
    with pytest.raises(error, match=rf"^weights\[3\]: {said}"):
        next(each)
    assert next(each, None) is None


@given(st.integers(0, 2**32), st.sampled_from(TYPES))
def test_negative_weights(device, seed, dtype):
    random, graph = with_potentials(seed, 20, dtype)
    hierarchy = mgraph.Hierarchy(graph, random.permutation(graph.n), device=device)
    expected = all_distances(graph)
    assert np.array_equal(as_floats(hierarchy.distances()), expected)
    within = np.where(expected <= 3, expected, np.inf)  # a path may come back from beyond the limit
    assert np.array_equal(as_floats(hierarchy.distances(limit=3)), within)
    reached = np.argwhere(np.isfinite(expected))
    for source, target in reached[random.integers(0, len(reached), 5)].tolist():
        path = hierarchy.path(source, target)
        assert length(lightest_matrix(graph), path) == expected[source, target] == hierarchy.distance(source, target)


@given(st.integers(0, 2**32), st.sampled_from(TYPES))
def test_a_negative_cycle_is_found_and_named(device, seed, dtype):
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 25))
    graph = weighted(random, n, 3 * n, 6, np.int64)
    graph = graph.with_weights((graph.coo().weights - 2).astype(dtype))
    D = all_distances(graph)
    order = random.permutation(n)
    if (np.diagonal(D) >= 0).all():
        assert np.array_equal(as_floats(mgraph.Hierarchy(graph, order, device=device).distances()), D)
        return
    with pytest.raises(mgraph.NegativeCycleError) as raised:
        mgraph.Hierarchy(graph, order, device=device)
    vertex = raised.value.vertex
    # A closed walk of negative weight leads through the vertex, and it is in a component with a negative cycle.
    assert D[vertex, vertex] < 0


def test_a_vertex_on_a_negative_cycle_is_named_by_its_id():
    for ends in (([0, 1], [1, 0]), ([1], [1])):
        graph = mgraph.Graph.from_edges(*ends, np.full(len(ends[0]), -1), ids=["Rome", "Pisa"])
        with pytest.raises(mgraph.NegativeCycleError, match=r"vertex [01], with id '(Rome|Pisa)',"):
            mgraph.Hierarchy(graph, [0, 1], device="cpu")


def test_a_cycle_that_only_rounding_makes_negative(device):
    random, seen = np.random.default_rng(1), 0
    for _ in range(20):
        n = 24
        weights = random.random(n)
        weights[-1] = -math.fsum(weights[:-1])
        if math.fsum(weights) < 0:
            continue
        ring = np.arange(n)
        graph = mgraph.Graph.from_edges(ring, (ring + 1) % n, weights)
        for _ in range(5):
            order = random.permutation(n)
            found = mgraph.Hierarchy(graph, order, device=device).distances()
            seen += bool((found + found.T < 0).any())
            assert np.allclose(found, mgraph.apsp(graph, method="johnson", device="cpu").distances, atol=1e-12)
            assert np.array_equal(found, mgraph.Hierarchy(graph, order, device="cpu").distances())
    assert seen  # so that a vertex does seem to lie on a negative cycle


def test_rounded_weights_do_not_make_a_negative_cycle(device, tmp_path):
    """The sum is zero, and that of the weights in float32 is negative."""
    weights = np.array([0.7, 0.1, -0.7999999999999999])
    assert math.fsum(weights) >= 0 > math.fsum(weights.astype(np.float32))
    graph = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 0], weights)
    made = mgraph.Hierarchy(graph, range(3), dtype="float32", device=device)
    made.save(tmp_path / "ring.npz")
    assert np.array_equal(mgraph.Hierarchy.load(tmp_path / "ring.npz", device=device).distances(), made.distances())
    with pytest.raises(mgraph.NegativeCycleError):
        made.customize([0.7, 0.1, -0.8000000000000002], dtype="float32")


@pytest.mark.parametrize("dtype", TYPES)
def test_bits_are_those_of_other_methods(device, dtype):
    random = np.random.default_rng(8)
    graph = grid(40, 55, random, dtype)
    hierarchy = mgraph.Hierarchy(graph, device=device)
    sources = random.integers(0, graph.n, 130)
    found = hierarchy.distances(sources)
    for source, row in list(zip(sources.tolist(), found, strict=True))[::13]:
        assert np.array_equal(mgraph.sssp(graph, source, device="cpu").distances, row)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("tall", [False, True])
def test_batches_follow_one_another(dtype, tall, monkeypatch):
    """Labels are written out while the next batch is swept into other memory; here that waits for a slow kernel."""
    random, gpu = np.random.default_rng(12), devices.find("cuda")
    xp, streams, written, function = gpu.xp, [], [], hierarchy_kernels.cuda_function
    wait = xp.RawKernel(
        'extern "C" __global__ void wait() { for (long long end = clock64() + 2000000; clock64() < end;); }', "wait"
    )

    def held_up(source, name, **options):
        kernel = function(source, name, **options)

        def launched(*arguments):
            wait((1,), (1,), ())
            written.append(name)
            kernel(*arguments)

        return launched if name.startswith("gather") else kernel

    monkeypatch.setattr(hierarchy_kernels, "cuda_function", held_up)
    monkeypatch.setattr(type(gpu), "stream", lambda self: streams.append(1) or xp.cuda.Stream(non_blocking=True))
    monkeypatch.setattr(hierarchy_kernels, "LANES", 128)
    monkeypatch.setattr(hierarchy_kernels, "MOST_SQUARES", 1)
    graph = grid(1 if tall else 50, 1500 if tall else 70, random, dtype)
    order = range(graph.n) if tall else None
    here, there = (mgraph.Hierarchy(graph, order, device=device) for device in ("cpu", "cuda"))
    sources = random.integers(0, graph.n, 1000)
    expected = here.distances(sources)
    out = xp.full((1000, graph.n), -1, dtype)
    for _ in range(3):
        assert there.distances(sources, out=out) is out
        assert np.array_equal(devices.to_host(out), expected)
        assert np.array_equal(there.distances(sources, reduce="eccentricity").eccentricity, expected.max(1))
        out.fill(-1)
    assert len(written) >= 3 * 8 * 2 and len(streams) >= 3  # several batches, launches, and a stream for the sweeps


@pytest.mark.gpu
@pytest.mark.parametrize("measured", [False, True])
@pytest.mark.parametrize("k", [1, 40, 700])
def test_sweeps_take_the_memory_that_they_say(k, measured, monkeypatch):
    gpu, random, seen, sweep_to_all = devices.find("cuda"), np.random.default_rng(14), [], sweeps.sweep_to_all

    def spied(structure, on, kept, rows):
        seen[:] = structure, on, sweep_to_all(structure, on, kept, rows)
        return seen[2]

    monkeypatch.setattr(sweeps, "sweep_to_all", spied)
    roads = mgraph.Hierarchy(grid(60, 80, random), device=gpu)
    sources = random.integers(0, roads.n, k)
    reduce = ["eccentricity", "mean", ("within", [3, 9])] if measured else None
    out = None if measured else gpu.xp.empty((k, roads.n), np.int32)
    roads.distances(sources, reduce=reduce, out=out)
    structure, on, sweep = seen
    said = on.kernels.workspace_bytes(structure.tree, structure.entries, sweep.schedule, k, 4, measured)
    with gpu.peak_memory() as peak:
        roads.distances(sources, reduce=reduce, out=out)
    assert said / 4 < peak.bytes < 1.05 * said + 100_000  # it says what as many radii take as a launch measures


@pytest.mark.gpu
def test_rows_go_to_another_device():
    random, xp = np.random.default_rng(15), devices.find("cuda").xp
    graph = grid(20, 30, random)
    here, there = (mgraph.Hierarchy(graph, device=device) for device in ("cpu", "cuda"))
    out = xp.full((300, graph.n), -1, np.int32)
    assert here.distances(range(300), out=out) is out
    assert np.array_equal(out.get(), there.distances(range(300)))
    if devices.gpu_count() > 1:
        with xp.cuda.Device(1):
            out = xp.full((3000, graph.n), -1, np.int32)
        sources = random.integers(0, graph.n, 3000)
        assert there.distances(sources, out=out) is out
        with xp.cuda.Device(1):
            assert np.array_equal(out.get(), here.distances(sources))


@pytest.mark.parametrize("kind", ["array", "memmap", pytest.param("page-locked", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("dtype", TYPES)
def test_distances_are_written_to_an_array(device, dtype, kind, tmp_path):
    random = np.random.default_rng(13)
    graph = grid(20, 30, random, dtype)
    roads, sources = mgraph.Hierarchy(graph, device=device), random.integers(0, graph.n, 1500)
    shape = len(sources), graph.n
    if kind == "memmap":
        out = np.lib.format.open_memmap(tmp_path / "rows.npy", "w+", dtype, shape)
    else:
        out = np.empty(shape, dtype) if kind == "array" else devices.find("cuda").pinned(shape, dtype)
    out.fill(-1)
    assert roads.distances(sources, out=out) is out
    assert np.array_equal(out, roads.distances(sources))
    for some in (out[7:9], out[::-2][:1], out[4][None]):
        chosen = range(5, 5 + len(some))
        assert roads.distances(chosen, out=some) is some and np.array_equal(some, roads.distances(chosen))


class LooksLarger(np.ndarray):
    @property
    def shape(self):
        return 1, 3


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"out": [[0, 0, 0]]}, r"out must be an array of shape \(1, 3\) and int32"),
        ({"out": np.ma.zeros((1, 3), np.int32)}, r"out must be an array of shape \(1, 3\) and int32"),
        ({"out": np.empty((1, 1), np.int32).view(LooksLarger)}, r"out must be an array of shape \(1, 3\) and int32"),
        ({"out": np.empty((3, 1), np.int32)}, r"out must be an array of shape \(1, 3\), got \(3, 1\)"),
        ({"out": np.empty((1, 3))}, "out must be an array of int32, got 'float64'"),
        ({"out": np.empty((1, 3), ">i4")}, "out must be an array of int32, got '>i4'"),
        ({"out": np.empty((1, 6), np.int32)[:, ::2]}, "out= is not contiguous"),
        ({"out": np.frombuffer(bytes(12), np.int32).reshape(1, 3)}, "out= is read-only"),
        ({"out": np.empty((1, 3), np.int32), "reduce": "mean"}, "reduce='mean' keeps no distances: leave out out="),
        ({"out": np.empty((1, 3), np.int32), "predecessors": True}, "leave out predecessors=True"),
    ],
)
def test_arrays_that_distances_cannot_be_written_to(given, said):
    graph = mgraph.Graph.from_edges([0, 1], [1, 2], [4, 3])
    with pytest.raises(mgraph.InputError, match=said):
        mgraph.Hierarchy(graph, order=[0, 1, 2], device="cpu").distances([0], **given)


def test_long_integers_are_exact_and_too_long_ones_are_refused(device):
    most = 2**28
    path = mgraph.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], [most, most, most - 2, most], directed=False)
    hierarchy = mgraph.Hierarchy(path, [0, 4, 2, 1, 3], device=device)
    rows = hierarchy.distances([0, 1], [2, 3])
    assert rows.dtype == np.int32 and rows.tolist() == [[2 * most, 3 * most - 2], [most, 2 * most - 2]]
    assert hierarchy.distance(0, 3) == 3 * most - 2 and isinstance(hierarchy.distance(0, 3), int)
    for call in (
        lambda: hierarchy.distances([0]),
        lambda: hierarchy.distance(0, 4),
        lambda: mgraph.apsp(path, method="sssp", device="cpu"),
    ):
        with pytest.raises(mgraph.DistanceOverflowError, match="float64"):
            call()
    assert mgraph.Hierarchy(path, [0, 4, 2, 1, 3], dtype="float64", device=device).distance(0, 4) == 4 * most - 2
    with pytest.raises(mgraph.DistanceOverflowError, match="too large for int32"):
        mgraph.Hierarchy(mgraph.Graph.from_edges([0], [1], [2**30]), [0, 1], device=device)
    measured = hierarchy.distances([0], reduce=["mean", "eccentricity"])  # which are floats
    assert measured.mean.tolist() == [(10 * most - 4) / 4] and measured.eccentricity.tolist() == [4 * most - 2]
    alone = mgraph.Hierarchy(mgraph.Graph.from_edges([0], [1], [most], n=3), [0, 1, 2], device=device)
    assert alone.distances([0]).tolist() == [[0, most, 2**31 - 1]]


def test_dissection_needs_few_entries(device):
    random = np.random.default_rng(1)
    graph = grid(60, 60, random)
    dissected = mgraph.Hierarchy(graph, device=device)
    shuffled = mgraph.Hierarchy(graph, random.permutation(graph.n), device=device)
    assert dissected.entries < 16 * graph.n and dissected.height < 200 and dissected.entries * 4 < shuffled.entries
    assert sorted(dissected.order) == list(range(graph.n))
    again = mgraph.Hierarchy(graph, dissected.order, device=device)
    assert (again.entries, again.height) == (dissected.entries, dissected.height)


def test_a_graph_that_fills_up_is_refused_with_the_figure(device):
    graph = weighted(np.random.default_rng(1), 6000, 40_000, 9)
    with pytest.raises(mgraph.InputError, match=r"would have [\d,]+ entries, .* small separators"):
        mgraph.Hierarchy(graph, device=device)


def test_the_number_of_entries_is_that_of_the_fill(device):
    random = np.random.default_rng(4)
    for n in (2, 5, 30, 120):
        graph, order = weighted(random, n, 2 * n, 5, directed=False), random.permutation(n)
        neighbours = [set() for _ in range(n)]
        for u, v in zip(*graph.coo()[:2], strict=True):
            if u != v:
                neighbours[u].add(int(v))
                neighbours[v].add(int(u))
        entries, gone = 0, set()
        for v in order.tolist():
            gone.add(v)
            upper = neighbours[v] - gone
            entries += len(upper)
            for u in upper:
                neighbours[u] |= upper - {u}
        assert mgraph.Hierarchy(graph, order, device=device).entries == entries


def test_many_parallel_edges_are_edges(device):
    many = mgraph.Graph.from_edges([0] * 256 + [1], [1] * 256 + [2], [*range(300, 44, -1), 1])
    assert mgraph.Hierarchy(many, order=[0, 1, 2], device=device).distances([0]).tolist() == [[0, 45, 46]]


@pytest.mark.parametrize("dtype", [np.int32, np.float64])
def test_a_graph_without_edges(device, dtype, monkeypatch):
    monkeypatch.setattr(hierarchy_kernels, "LANES", 128)
    none = np.zeros(0, dtype)
    roads = mgraph.Hierarchy(mgraph.Graph.from_edges([], [], none, n=5), [4, 0, 2, 1, 3], device=device)
    wanted = np.where(np.eye(5, dtype=bool), 0, infinity(np.dtype(dtype)))
    sources, targets = np.arange(300) % 5, [3, 3, 0]
    for size in (5, 128, 256, 512, 1024):  # what a GPU takes for labels held negative numbers before
        devices.find(device).xp.full(size, -1000, dtype)
    assert np.array_equal(roads.distances(), wanted)
    assert np.array_equal(roads.distances(sources, targets), wanted[np.ix_(sources, targets)])
    assert np.array_equal(roads.distances(reduce="reached").reached, np.ones(5))


@pytest.mark.parametrize("dtype", TYPES)
def test_leaves_of_few_and_of_many_neighbours(device, dtype):
    random, hubs, leaves = np.random.default_rng(16), 12, 60
    joined = random.random((leaves, hubs)) < np.linspace(0, 1, leaves)[:, None]  # some leaves are alone
    ends, tops = np.nonzero(joined)
    weights = random.integers(1, 100, len(ends)).astype(dtype)
    graph = mgraph.Graph.from_edges(ends, leaves + tops, weights, n=leaves + hubs, directed=False)
    roads = mgraph.Hierarchy(graph, range(graph.n), device=device)
    wanted = mgraph.apsp(graph, device="cpu").distances
    assert np.array_equal(roads.distances(), wanted)
    targets = random.integers(0, graph.n, 300)
    assert np.array_equal(roads.distances([3, 70], targets), wanted[np.ix_([3, 70], targets)])


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("k", [1, 7, 8, 9, 15, 16, 17, 33, 129])
def test_rows_and_columns_beside_whole_blocks(device, k, dtype):
    random = np.random.default_rng(k)
    graph = grid(15, 20, random, dtype)
    roads, wanted = mgraph.Hierarchy(graph, device=device), mgraph.apsp(graph, device="cpu").distances
    sources = random.integers(0, graph.n, k)
    for t in (1, 7, 8, 9, 255, 256, 257, 600):
        targets = random.integers(0, graph.n, t)
        expected = wanted[np.ix_(sources, targets)]
        assert np.array_equal(roads.distances(sources, targets), expected)
        near = np.where(expected <= 900, expected, infinity(np.dtype(dtype)))
        assert np.array_equal(roads.distances(sources, targets, limit=900), near)


def test_a_tall_tree(device):
    """The tree is a path: on a GPU it is cut into pieces of all stages, and its top is swept level by level."""
    random = np.random.default_rng(11)
    n = 1500
    lengths = random.integers(1, 100, n - 1)
    roads = mgraph.Hierarchy(
        mgraph.Graph.from_edges(np.arange(n - 1), np.arange(1, n), lengths, directed=False),
        order=range(n),
        device=device,
    )
    at = np.concatenate([[0], np.cumsum(lengths)])
    wanted = np.abs(at[:, None] - at)
    assert np.array_equal(roads.distances(), wanted)
    some = random.integers(0, n, 200)
    assert np.array_equal(roads.distances(some, some[:50]), wanted[np.ix_(some, some[:50])])
    measured = roads.distances(reduce=["eccentricity", "mean", "out_harmonic", ("within", [50, 5000])])
    assert np.array_equal(measured.eccentricity, wanted.max(1))
    np.testing.assert_allclose(measured.mean, wanted.sum(1) / (n - 1))
    np.testing.assert_allclose(measured.out_harmonic, (1 / np.where(wanted, wanted, np.inf)).sum(1))
    assert np.array_equal(measured.within, np.stack([(wanted <= r).sum(1) for r in (50, 5000)], axis=1))
    assert np.array_equal(roads.distances(reduce="eccentricity").eccentricity, measured.eccentricity)
    assert np.array_equal(roads.distances(reduce="mean").mean, measured.mean)
    assert np.array_equal(roads.distances(reduce="reached").reached, np.full(n, n))
    for radii in ([50], [50, 60], [50, 60, 5000], range(0, 5000, 100)):
        expected = np.stack([(wanted <= r).sum(1) for r in radii], axis=1)
        assert np.array_equal(roads.distances(reduce=("within", radii)).within, expected)


@pytest.mark.parametrize("graph", [mgraph.Graph.from_edges([], [], [], n=0), mgraph.Graph.from_edges([], [], n=3)])
def test_graphs_without_edges(device, graph):
    hierarchy = mgraph.Hierarchy(graph, device=device)
    assert (hierarchy.n, hierarchy.m, hierarchy.entries) == (graph.n, 0, 0)
    assert np.array_equal(as_floats(hierarchy.distances()), all_distances(graph))
    if graph.n:
        assert hierarchy.path(1, 1) == [1] and hierarchy.path(0, 2) == [] and hierarchy.distance(0, 2) == np.inf


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda h: h.distances([4]), r"sources must be an integer in \[0, 4\), got 4"),
        (lambda h: h.distances(targets=[0.5]), r"targets must be an integer in \[0, 4\), got 0.5"),
        (lambda h: h.distances([]), "sources must be a sequence of one vertex or more"),
        (lambda h: h.distances(limit=-1), "limit must be a number of 0 or more"),
        (lambda h: h.distances(reduce="median"), "reduce must be 'eccentricity', 'mean'"),
        (lambda h: h.distances(reduce=("within", "3")), "reduce must be 'eccentricity', 'mean'"),
        (lambda h: h.distances(reduce=("within", [np.nan])), "reduce must be"),
        (lambda h: h.distances(reduce=[]), "reduce must be"),
        (
            lambda h: h.distances(reduce=("within", [-1])),
            "reduce must be 'within' with radii that are numbers of 0 or more",
        ),
        (lambda h: h.distances(reduce=("within", [])), "reduce must be 'within' with one radius or more"),
        (lambda h: h.distances(reduce="mean", predecessors=True), "leave out predecessors=True"),
        (lambda h: h.distances(predecessors=1), "predecessors must be"),
        (lambda h: h.distance(-1, 0), r"source must be an integer in \[0, 4\), got -1"),
        (lambda h: h.path(0, True), r"target must be an integer in \[0, 4\), got True"),
        (lambda h: h.customize([1, 2]), "weights must be of shape"),
        (lambda h: h.customize([1, 2, np.nan, 4, 5, 6]), "weights must be numbers"),
        (lambda h: h.customize(np.ones((2, 5))), r"or of shape \(sets, 6\), a row for each set, got \(2, 5\)$"),
        (lambda h: h.customize(np.ones((6, 2))), r"got \(6, 2\): give weights.T"),
        (lambda h: h.customize(np.ones((2, 6), bool)), "weights must be numbers"),
        (lambda h: h.customize([np.ones(6), np.ones(5)]), r"^weights\[1\]: weights must be of shape \(6,\)"),
        (
            lambda h: h.customize([np.ones(6), 3]),
            r"^weights\[1\]: weights must be of shape \(6,\), one per edge, got 3",
        ),
        (lambda h: h.customize([[1] * 6, ["a"] * 6]), r"^weights\[1\]: weights must be floats"),
        (lambda h: h.customize([mgraph.generate.grid(2, 2)]), r"^weights\[0\]: .* for graphs take map"),
        (lambda h: h.customize([[1] * 6, np.ones(6)], dtype="int32"), r"^weights\[1\]: dtype='int32' would cut"),
        (lambda h: h.customize(mgraph.generate.grid(2, 2)), "must have the same 6 edges"),
        (lambda h: mgraph.Hierarchy(mgraph.generate.grid(2, 2), [0, 1, 2]), "order must be of shape"),
        (lambda h: mgraph.Hierarchy(mgraph.generate.grid(2, 2), [0, 1, 2, 2]), "2 is there 2 times"),
        (lambda h: mgraph.Hierarchy(mgraph.generate.grid(2, 2), [0, 1, 2, 4]), "order must be vertices"),
        (lambda h: mgraph.Hierarchy(mgraph.generate.grid(2, 2), [0, 1, 2, 0.5]), "order must be integers"),
        (lambda h: mgraph.Hierarchy(mgraph.generate.grid(2, 2), dtype="int16"), "dtype must be"),
    ],
)
def test_invalid_arguments_are_named(device, call, said):
    graph = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 3], [1.0, 2.0, 3.0], directed=False)
    with pytest.raises(mgraph.InputError, match=said):
        call(mgraph.Hierarchy(graph, [0, 1, 2, 3], device=device))


@pytest.mark.parametrize("dtype", TYPES)
def test_a_file_holds_a_hierarchy(device, dtype, tmp_path):
    random = np.random.default_rng(2)
    graph = grid(8, 9, random, dtype)
    hierarchy = mgraph.Hierarchy(graph, device=device).customize(random.integers(1, 2**20, graph.m).astype(dtype))
    hierarchy.save(tmp_path / "roads.npz")
    with pytest.raises(mgraph.OutputExistsError):
        hierarchy.save(tmp_path / "roads.npz")
    loaded = mgraph.Hierarchy.load(tmp_path / "roads.npz", device=device)
    assert repr(loaded) == repr(hierarchy) and np.array_equal(loaded.order, hierarchy.order)
    assert np.array_equal(loaded.distances(), hierarchy.distances())
    assert np.array_equal(loaded.customize(graph).distances(), mgraph.Hierarchy(graph, device=device).distances())
    hierarchy.save(tmp_path / "roads.npz", overwrite=True)


@pytest.mark.parametrize(
    "change",
    [
        {"version": np.array([5])},
        {"version": np.array([2])},
        {"version": np.array([2]), "ids": np.array(["a"])},
        {"version": np.array([2]), "ids": np.zeros(4)},
        {"version": np.zeros(0, int)},
        {"indptr": np.array([0, 1, 2, 3])},
        {"indptr": np.array([0, 3, 2, 4, 6])},
        {"indptr": np.array([1, 1, 2, 4, 6])},
        {"indptr": np.zeros(0, np.int32)},
        {"indices": np.array([1, 0, 2, 1, 3, 4])},
        {"indices": np.array([1, 0, 2, 1, 3, -1])},
        {"indices": np.array([1, 2, 0, 1, 3, 2])},
        {"indices": np.array([1.0, 0, 2, 1, 3, 2])},
        {"order": np.array([0, 1, 2, 2])},
        {"order": np.array([0, 1, 2, 2**40])},
        {"order": np.array([0, 1, 2])},
        {"lengths": np.array([1, 1, 2, 2, 3, 2**30], np.int32)},
        {"lengths": np.array([1, 1, 2, 2, 3, np.nan])},
        {"lengths": np.array([1, 1, 2, 2, 3], np.int32)},
        {"lengths": np.array([1, 1, 2, 2, 3, 3], np.int64)},
        {"lengths": np.array([1, 1, 2, 2, 3, 3], object)},
        {"order": None},
    ],
)
def test_a_damaged_file_is_refused(device, change, tmp_path):
    graph = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 3], [1, 2, 3], directed=False)
    path = tmp_path / "roads.npz"
    mgraph.Hierarchy(graph, [0, 1, 2, 3], device=device).save(path)
    with np.load(path) as archive:
        arrays = dict(archive) | change
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    with pytest.raises(mgraph.FormatError, match=r"roads\.npz"):
        mgraph.Hierarchy.load(path, device=device)


@pytest.mark.parametrize("name", ["roads.npy", "roads.txt", "roads"])
def test_a_hierarchy_is_saved_as_an_archive(name, tmp_path):
    roads = mgraph.Hierarchy(mgraph.Graph.from_edges([0], [1]), [0, 1], device="cpu")
    with pytest.raises(mgraph.InputError, match=r"which must be \.npz"):
        roads.save(tmp_path / name)


def test_other_files_are_refused(tmp_path):
    (tmp_path / "text.npz").write_text("0 1\n")
    sparse.save_npz(tmp_path / "matrix.npz", sparse.eye_array(3, format="csr"))
    for name in ("text.npz", "matrix.npz"):
        with pytest.raises(mgraph.FormatError, match="must hold a hierarchy"):
            mgraph.Hierarchy.load(tmp_path / name)


def test_each_step_is_measured(device, monkeypatch):
    monkeypatch.setattr(hierarchies, "PAIRS", 5)
    monkeypatch.setattr(hierarchies, "TABLE", 9)
    monkeypatch.setattr(hierarchies, "BULK", (7, 20))
    monkeypatch.setattr(hierarchies, "SETS", 6)
    measured = list(hierarchies.rows(mgraph.generate.grid(9, 11), device, (1, 150), True))
    steps = {"prepare", "customize", "distances", "measures", "table", "path", "pairs", "pairs, paths", "flows"}
    steps |= {"customize, a stack", "customize, a stack, directions differ"}
    if devices.find(device).kind == "cuda":
        steps |= {"distances, to new memory", "distances, to page-locked memory"}
    assert steps <= {row["step"] for row in measured}
    assert all(row["seconds"] > 0 for row in measured) and measured[-1]["diameter"] > 0

    monkeypatch.setattr(mgraph.Hierarchy, "distances", lambda self, sources: np.ones((len(sources), self.n), np.int32))
    with pytest.raises(WrongResultError, match="the distance from"):
        list(hierarchies.rows(mgraph.generate.grid(9, 11), device, (1,), False))


@pytest.mark.parametrize("name", ["NY.gr.xz", *exhaustive("COL.gr.xz")])
def test_road_networks(device, name):
    if not (DATA / name).exists():
        pytest.skip(f"there is no {DATA / name}")
    random = np.random.default_rng(6)
    edges = mgraph.read(DATA / name)
    src, dst, _ = edges.coo()
    half = src < dst
    weights = random.integers(1, 256, int(half.sum()))
    graph = mgraph.Graph.from_edges(src[half], dst[half], weights, n=edges.n, directed=False)
    hierarchy = mgraph.Hierarchy(graph, device=device)
    assert hierarchy.entries < 6 * graph.n and hierarchy.height < 600
    sources = random.integers(0, graph.n, 3)
    expected = dijkstra(graph.to_scipy(), indices=sources)
    assert np.array_equal(hierarchy.distances(sources), expected)
    weights = np.where(random.random(graph.m) < 0.2, np.inf, random.integers(0, 9, graph.m))
    one_way = hierarchy.customize(weights)
    targets = random.integers(0, graph.n, 40)
    csr = graph.csr()
    streets = sparse.csr_array((weights, csr.indices, csr.indptr), shape=(graph.n, graph.n))
    expected = dijkstra(streets, indices=sources)
    assert np.array_equal(one_way.distances(sources), expected)
    assert np.array_equal(one_way.distances(sources, targets), expected[:, targets])
    assert one_way.distances(sources, reduce="reached").reached.tolist() == np.isfinite(expected).sum(axis=1).tolist()


@pytest.mark.parametrize("says", ["Caught an unknown exception!", "out of memory"])
def test_sigterm_while_metis_runs(says, monkeypatch):
    """METIS handles the signal itself, and fails."""

    class Terminated(BaseException):
        pass

    def fails(**_):
        raise RuntimeError(says)

    def terminate(*_):
        raise Terminated

    monkeypatch.setattr(pytest.importorskip("pymetis"), "nested_dissection", fails)
    before = signal.signal(signal.SIGTERM, terminate)
    try:
        with pytest.raises(Terminated if "unknown" in says else RuntimeError):
            mgraph.Hierarchy(mgraph.generate.grid(3, 3), device="cpu")
    finally:
        signal.signal(signal.SIGTERM, before)


def test_parallel_edges_that_are_given_in_both_orders_stay_undirected():
    graph = mgraph.Graph.from_edges([0, 1], [1, 0], [5, 6], n=3, directed=False)
    hierarchy = mgraph.Hierarchy(graph, range(3), device="cpu")
    assert not hierarchy.graph.directed and mgraph.diameter(hierarchy, components=True) == 5
    one_way = hierarchy.customize(np.arange(1, graph.m + 1))
    assert one_way.graph.directed


def test_predecessors_of_halves_are_those_of_searches():
    graph = mgraph.Graph.from_edges([0, 1, 1], [2, 0, 2], [1.0, 1.5, 2.5])
    found = mgraph.Hierarchy(graph, [2, 1, 0], device="cpu").distances([1], predecessors=True)
    assert found.predecessors.tolist() == [[1, -9999, 0]]
    single = mgraph.sssp(graph, 1, predecessors=True, device="cpu")
    assert single.predecessors.tolist() == found.predecessors[0].tolist()


@pytest.mark.parametrize("ids", [[70, -3, 2**40], ["x", "y", "z\u00fc"]])
def test_ids_are_saved(tmp_path, ids):
    graph = mgraph.Graph.from_edges([0, 1], [1, 2], [1.0, 2.0], ids=ids)
    mgraph.Hierarchy(graph, [0, 1, 2], device="cpu").save(tmp_path / "roads.npz")
    loaded = mgraph.Hierarchy.load(tmp_path / "roads.npz", device="cpu")
    assert loaded.graph.ids.tolist() == ids
    assert mgraph.distances(loaded, [ids[0]], ids=True).distances.tolist() == [[0, 1, 3]]


def test_ids_that_are_equal_are_refused(tmp_path):
    path = tmp_path / "roads.npz"
    mgraph.Hierarchy(mgraph.Graph.from_edges([0], [1], ids=[4, 5]), [0, 1], device="cpu").save(path)
    arrays = dict(np.load(path)) | {"ids": np.array([4, 4])}
    np.savez(path, **arrays)
    with pytest.raises(mgraph.FormatError, match="two vertices have the same id"):
        mgraph.Hierarchy.load(path, device="cpu")


@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_predecessors_that_do_not_fit_are_refused_at_once(dtype, monkeypatch):
    graph = grid(9, 9, np.random.default_rng(16), dtype)
    weights = graph.coo().weights / dtype(3) if dtype == np.float32 else graph.coo().weights
    roads = mgraph.Hierarchy(graph, device="cpu").customize(weights)
    swept = []
    monkeypatch.setattr(sweeps, "distances", lambda *_: swept.append(1))
    monkeypatch.setattr(type(devices.find("cpu")), "available_memory", lambda self: 20_000)
    with pytest.raises(mgraph.MemoryLimitError, match="predecessors of 81 x 81 needs"):
        roads.distances(predecessors=True)
    assert not swept


def test_bytes_are_those_of_all_arrays():
    roads = mgraph.Hierarchy(grid(7, 9, np.random.default_rng(0)), device="cpu")
    known = hierarchy_calls.prepared(roads, devices.find("cpu"))

    def held(parts):
        return sum(part.nbytes if isinstance(part, np.ndarray) else held(part) for part in parts)

    assert roads.nbytes == held(known.there[1:]) + held(known.lengths[1:4])
