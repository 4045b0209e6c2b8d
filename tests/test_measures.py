"""Measures of graphs against NetworkX: directed and not, weighted and not, disconnected, tiny and empty."""

import numpy as np
import pytest

import mgraph
from mgraph import InputError
from tests.support.references import as_networkx

nx = pytest.importorskip("networkx")

INF = float("inf")


def connected(n, m, directed, weights, seed):
    """A (strongly) connected graph: a ring in random order, and other edges."""
    random = np.random.default_rng(seed)
    ring = random.permutation(n)
    src, dst = np.concatenate([[ring, np.roll(ring, 1)], random.integers(0, n, (2, m))], axis=1)
    lengths = None if weights is None else random.integers(1, 20, len(src)).astype(weights)
    return mgraph.Graph.from_edges(src, dst, lengths, n=n, directed=directed)


@pytest.mark.parametrize("weight", [True, False])
@pytest.mark.parametrize("weights", [None, np.int32, np.float64])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("n", [2, 5, 130])
def test_connected_graphs(n, directed, weights, weight):
    graph = connected(n, n // 2, directed, weights, n)
    there, name = as_networkx(graph), "weight" if weight else None
    expected = nx.eccentricity(there, weight=name)
    asked = {"weight": weight, "device": "cpu"}
    e = mgraph.eccentricity(graph, **asked)
    assert e.tolist() == [expected[v] for v in range(n)]
    assert mgraph.eccentricity(graph, [1, 0], **asked).tolist() == [expected[1], expected[0]]
    assert mgraph.diameter(graph, **asked) == nx.diameter(there, weight=name) == mgraph.diameter(graph, e)
    assert mgraph.radius(graph, **asked) == nx.radius(there, weight=name) == mgraph.radius(graph, e)
    assert mgraph.center(graph, **asked).tolist() == sorted(nx.center(there, weight=name))
    assert mgraph.periphery(graph, **asked).tolist() == sorted(nx.periphery(there, weight=name))
    average = nx.average_shortest_path_length(there, weight=name)
    assert mgraph.average_distance(graph, **asked) == pytest.approx(average)


def random_graphs():
    random = np.random.default_rng(2)
    for n, m in ((1, 0), (7, 0), (30, 20), (60, 90), (60, 400)):
        for directed in (False, True):
            lengths = random.integers(0, 9, m)
            yield mgraph.Graph.from_edges(*random.integers(0, n, (2, m)), lengths, n=n, directed=directed)


@pytest.mark.parametrize("weight", [True, False])
def test_centralities_of_disconnected_graphs(weight):
    for graph in random_graphs():
        there, name, asked = as_networkx(graph), "weight" if weight else None, {"weight": weight, "device": "cpu"}
        for improved in (True, False):
            expected = nx.closeness_centrality(there, distance=name, wf_improved=improved)
            found = mgraph.closeness(graph, wf_improved=improved, **asked)
            np.testing.assert_allclose(found, [expected[v] for v in range(graph.n)])
        np.testing.assert_allclose(
            mgraph.closeness(graph, [0], **asked), nx.closeness_centrality(there, 0, distance=name)
        )
        expected = nx.harmonic_centrality(there, distance=name)
        np.testing.assert_allclose(mgraph.harmonic_closeness(graph, **asked), [expected[v] for v in range(graph.n)])


def test_out_of_reach():
    for graph in random_graphs():
        there = as_networkx(graph)
        whole = nx.is_strongly_connected(there) if graph.directed else nx.is_connected(there)
        found = [call(graph, device="cpu") for call in (mgraph.diameter, mgraph.average_distance)]
        assert all((value == INF) is not whole for value in found)
        if not graph.directed:
            assert (mgraph.radius(graph, device="cpu") == INF) is not whole
            parts = [there.subgraph(part) for part in nx.connected_components(there)]
            expected = max(nx.diameter(part, weight="weight") for part in parts)
            assert mgraph.diameter(graph, components=True, device="cpu") == expected
    # One vertex reaches all others, though none reaches it.
    star = mgraph.Graph.from_edges([0, 0], [1, 2])
    assert mgraph.radius(star, device="cpu") == 1 and mgraph.center(star, device="cpu").tolist() == [0]
    assert mgraph.periphery(star, device="cpu").tolist() == [1, 2]


@pytest.mark.parametrize("weights", [None, np.int32, np.float32, np.float64])
@pytest.mark.parametrize("method", ["sssp", "bfs", "blocked", "hierarchy"])
@pytest.mark.parametrize("reverse", [False, True])
def test_measures_are_floats_and_infinite_out_of_reach(weights, method, reverse):
    lengths = None if weights is None else np.array([3, 4], weights)
    graph = mgraph.Graph.from_edges([0, 1], [1, 2], lengths, n=5, directed=reverse)
    if weights is None and method == "sssp":
        method = "auto"
    for given in (graph, mgraph.Hierarchy(graph, range(5), device="cpu")):
        if given is not graph and method != "hierarchy":
            continue
        found = mgraph.eccentricity(given, method=method, device="cpu")
        assert found.dtype == np.float64 and np.isinf(found).all()
        some = mgraph.distances(given, [0, 3], [1, 2], reduce=["eccentricity", "mean"], method=method, device="cpu")
        unit = weights is None or method == "bfs"
        assert some.eccentricity.dtype == np.float64 and some.eccentricity.tolist() == [2 if unit else 7, INF]
        some.verify()
        assert mgraph.diameter(given, method=method, device="cpu") == mgraph.radius(given, method=method) == INF
        assert mgraph.center(given, method=method, device="cpu").tolist() == []
        assert mgraph.periphery(given, method=method, device="cpu").tolist() == [0, 1, 2, 3, 4]


def test_a_distance_of_a_pair_without_a_path_is_infinite():
    hierarchy = mgraph.Hierarchy(mgraph.Graph.from_edges([0], [1], [5], n=3), range(3), device="cpu")
    assert hierarchy.distance(0, 1) == 5 and hierarchy.distance(0, 2) == INF
    measured = hierarchy.distances([0, 1], [0, 1], reduce="eccentricity").eccentricity
    assert measured.dtype == np.float64 and measured.tolist() == [5, INF]


def test_a_single_vertex():
    alone = mgraph.Graph.from_edges([], [], n=1)
    assert mgraph.diameter(alone, device="cpu") == mgraph.radius(alone, device="cpu") == 0
    assert mgraph.average_distance(alone, device="cpu") == 0 and mgraph.closeness(alone, device="cpu").tolist() == [0]
    assert mgraph.center(alone, device="cpu").tolist() == mgraph.periphery(alone, device="cpu").tolist() == [0]


def test_no_vertex():
    empty = mgraph.Graph.from_edges([], [])
    for call in (mgraph.diameter, mgraph.radius, mgraph.center, mgraph.periphery, mgraph.average_distance):
        with pytest.raises(InputError, match="graph must be a graph with a vertex"):
            call(empty, device="cpu")
    for call in (mgraph.eccentricity, mgraph.closeness, mgraph.harmonic_closeness):
        assert call(empty, device="cpu").shape == (0,)


@pytest.mark.parametrize("weights", [[0, 0, 0], [0.01, 0.01, 0.01], [5, 7, 2]])
def test_distances_in_edges_ignore_weights(weights):
    graph = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 3], weights, directed=False)
    hierarchy = mgraph.Hierarchy(graph, range(4), device="cpu")
    for given in (graph, hierarchy):
        assert mgraph.diameter(given, method="bfs", device="cpu") == 3
        assert mgraph.diameter(given, weight=False, device="cpu") == 3
        assert mgraph.eccentricity(given, method="bfs", device="cpu").tolist() == [3, 2, 2, 3]
    with pytest.raises(InputError, match="dtype must be"):
        mgraph.diameter(hierarchy, dtype="float64" if hierarchy.dtype == np.int32 else "int32")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("weight", [5e-324, 1e308])
@pytest.mark.parametrize("method", ["sssp", "hierarchy"])
def test_the_least_and_greatest_weights_are_measured_without_a_warning(weight, method):
    graph = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 3], [weight] * 3, directed=False)
    expected = 3 * weight  # which may be infinite
    assert mgraph.diameter(graph, method=method, device="cpu") == expected
    assert mgraph.eccentricity(graph, method=method, device="cpu").max() == expected
    for call in (mgraph.closeness, mgraph.harmonic_closeness):
        found = call(graph, method=method, device="cpu")
        assert (found >= 0).all()
        assert np.isinf(found).any() == (weight < 1)
    assert mgraph.average_distance(graph, method=method, device="cpu") > 0


def test_eccentricities_that_are_known():
    graph = mgraph.Graph.from_edges([0, 2], [1, 3], [5, 7], directed=False)
    known = mgraph.eccentricity(graph, device="cpu")
    there = mgraph.apsp(graph, device="cpu").distances.max(axis=1)  # int32, whose largest value is out of reach
    for e in (known, known.tolist(), there, there.astype(np.int64)):
        assert mgraph.diameter(graph, e) == mgraph.radius(graph, e) == np.inf
    with pytest.raises(InputError, match="components=True needs those of each component: leave out e="):
        mgraph.diameter(graph, known, components=True)
    with pytest.raises(InputError, match="e must be eccentricities, which are int32"):
        mgraph.diameter(graph, [2**31, 1, 1, 1])


def test_a_bounded_diameter_searches_from_few_vertices():
    counts = []

    def counted(done, total):
        counts.append(done)

    graph = mgraph.generate.rmat(12, seed=1, device="cpu")
    found = mgraph.diameter(graph, components=True, device="cpu", span=1, progress=counted)
    reached = mgraph.bfs_many(graph, range(graph.n), device="cpu").distances
    assert found == reached.max()
    assert len(counts) < 10


def test_distances_to_the_sources():
    graph = connected(40, 60, True, np.int32, 1)
    to = mgraph.distances(graph, [3, 9], reverse=True, predecessors=True, device="cpu")
    assert np.array_equal(to.distances, mgraph.apsp(graph, device="cpu").distances[:, [3, 9]].T)
    to.verify()
    to.distances[1, 5] += 1
    with pytest.raises(mgraph.VerificationError):
        to.verify()


@pytest.mark.parametrize(
    ("call", "options", "says"),
    [
        (mgraph.diameter, {"e": [1, 2]}, "e must be the eccentricities of n=3 vertices"),
        (mgraph.diameter, {"components": True}, "components=True needs an undirected graph"),
        (mgraph.eccentricity, {"weight": "length"}, "weight must be True or False, got 'length'"),
        (mgraph.closeness, {"u": [3]}, r"u must be an integer in \[0, 3\), got 3"),
        (mgraph.closeness, {"wf_improved": 1}, "wf_improved must be True or False"),
    ],
)
def test_what_is_refused(call, options, says):
    with pytest.raises(InputError, match=says):
        call(mgraph.Graph.from_edges([0, 1], [1, 2]), device="cpu", **options)


@pytest.mark.gpu
@pytest.mark.parametrize("directed", [False, True])
def test_on_a_gpu(directed):
    graph = connected(2000, 5000, directed, np.int32, 3)
    for call in (
        mgraph.eccentricity,
        mgraph.closeness,
        mgraph.harmonic_closeness,
        mgraph.diameter,
        mgraph.average_distance,
    ):
        for weight in (True, False):
            np.testing.assert_allclose(
                call(graph, weight=weight, device="cuda"), call(graph, weight=weight, device="cpu")
            )


def test_closeness_has_one_meaning():
    """Closeness is of the distances to a vertex, as in NetworkX; that of the distances from it has another name."""
    graph = mgraph.Graph.from_edges([0, 1, 0], [1, 2, 3], [2, 3, 4])
    to = mgraph.distances(graph, reduce=["closeness", "harmonic"], reverse=True, device="cpu")
    assert to.closeness.tolist() == mgraph.closeness(graph, device="cpu").tolist()
    assert to.harmonic.tolist() == mgraph.harmonic_closeness(graph, device="cpu").tolist()
    out = mgraph.distances(graph, reduce=["out_closeness", "out_harmonic"], device="cpu")
    back = graph.reversed()
    assert out.out_closeness.tolist() == mgraph.closeness(back, device="cpu").tolist() != to.closeness.tolist()
    assert out.out_harmonic.tolist() == mgraph.harmonic_closeness(back, device="cpu").tolist()
    assert out.closeness is None is out.harmonic and to.out_closeness is None
    prepared = mgraph.Hierarchy(graph, order=[0, 2, 3, 1], device="cpu")
    assert prepared.distances(reduce="out_closeness").out_closeness.tolist() == out.out_closeness.tolist()
    out.verify()
    to.verify()
    for measure in ("closeness", "harmonic"):
        wrong = rf"reduce='{measure}' is of the distances to each source: give (mgraph.distances )?reverse=True, or red"
        for refused in (lambda m: mgraph.distances(graph, reduce=m), lambda m: prepared.distances(reduce=m)):
            with pytest.raises(mgraph.InputError, match=wrong):
                refused(measure)
        with pytest.raises(mgraph.InputError, match="is of the distances from each source: leave out reverse="):
            mgraph.distances(graph, reduce=f"out_{measure}", reverse=True)
    both = mgraph.Graph.from_edges([0, 1], [1, 2], [2, 3], directed=False)
    same = mgraph.distances(both, reduce=["closeness", "out_closeness"], device="cpu")
    assert same.closeness.tolist() == same.out_closeness.tolist() == mgraph.closeness(both, device="cpu").tolist()
