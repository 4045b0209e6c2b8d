"""Betweenness: NetworkX's values on random graphs, exact fractions, grids with more paths than float64 counts."""

import itertools
import random
from collections import Counter
from fractions import Fraction
from functools import partial

import networkx as nx
import numpy as np
import pytest

import mgraph
from mgraph import device as devices
from mgraph.algorithms.batched_sssp import relaxing_seconds
from mgraph.algorithms.betweenness import call as module
from mgraph.algorithms.betweenness.plan import planned
from mgraph.algorithms.samples import graphs, with_weights
from mgraph.errors import InputError, VerificationError
from mgraph.generate import grid, rmat
from mgraph.kernels import betweenness_many
from mgraph.kernels.betweenness_many import memory, words_of
from mgraph.planning.shape import Shape
from tests.support.betweenness import check_cores, drawn_network
from tests.support.clusters import CLUSTER_WARNINGS, clients
from tests.support.memory import measured
from tests.support.parameters import exhaustive

pytestmark = CLUSTER_WARNINGS


def random_network(seed):
    return drawn_network(seed, 25, 3, [1, 2, 3] if seed % 3 else [0.25, 0.5, 1.0, 0.1])


def values(result):
    return devices.to_host(result.betweenness)


def by_ends(result):
    """The values of edges by their ends, those of parallel ones sorted."""
    found = {}
    for u, v, value in zip(*(devices.to_host(a).tolist() for a in (result.src, result.dst, result.betweenness))):  # noqa: B905
        found.setdefault((u, v), []).append(value)
    return {ends: sorted(group) for ends, group in found.items()}


def check_edges(result, expected, directed):
    """Compare with NetworkX's values of edges."""
    wanted = {}
    for (u, v, *_), value in expected.items():
        for ends in {(u, v)} if directed else {(u, v), (v, u)}:
            wanted.setdefault(ends, []).append(value)
    found = by_ends(result)
    assert found.keys() == wanted.keys()
    for ends, group in wanted.items():
        assert found[ends] == pytest.approx(sorted(group), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("seeds", [range(48), *exhaustive(range(48, 2000))], ids=str)
@pytest.mark.parametrize("weight", [None, "weight"])
def test_networkx_finds_the_same(device, weight, seeds):
    for seed in seeds:
        network, graph = random_network(seed)
        n, where = graph.n, {"weight": weight is not None, "device": device}
        for normalized in (True, False):
            for endpoints in (True, False):
                found = mgraph.betweenness(graph, normalized=normalized, endpoints=endpoints, **where)
                expected = nx.betweenness_centrality(network, weight=weight, normalized=normalized, endpoints=endpoints)
                assert values(found) == pytest.approx([expected[v] for v in range(n)], rel=1e-9, abs=1e-12), seed
            found = mgraph.betweenness(graph, edges=True, normalized=normalized, **where)
            check_edges(
                found,
                nx.edge_betweenness_centrality(network, weight=weight, normalized=normalized),
                network.is_directed(),
            )


@pytest.mark.parametrize("seeds", [range(24), *exhaustive(range(24, 500))], ids=str)
@pytest.mark.parametrize("normalized", [True, False])
def test_samples_are_networkx_s(device, normalized, seeds):
    for seed in seeds:
        network, graph = random_network(seed)
        n, options = graph.n, {"normalized": normalized, "seed": seed}
        for k in {1, (n + 1) // 2, n}:
            for endpoints in (True, False):
                found = mgraph.betweenness(graph, samples=k, endpoints=endpoints, device=device, **options)
                expected = nx.betweenness_centrality(network, k=k, weight="weight", endpoints=endpoints, **options)
                assert values(found) == pytest.approx([expected[v] for v in range(n)], rel=1e-9, abs=1e-12, nan_ok=True)
            drawn = random.Random(seed)  # as NetworkX passes it on
            found = mgraph.betweenness(graph, samples=k, edges=True, device=device, normalized=normalized, seed=drawn)
            expected = nx.edge_betweenness_centrality(network, k=k, weight="weight", **options)
            check_edges(found, expected, network.is_directed())


@pytest.mark.parametrize("seeds", [range(24), *exhaustive(range(24, 2000))], ids=str)
def test_pairs_of_some_vertices(device, seeds):
    """Targets may be sources, too, and sources may be there twice."""
    for seed in seeds:
        network, graph = random_network(seed)
        rng = random.Random(seed)
        sources, targets = (rng.sample(range(graph.n), (graph.n + 1) // 2) for _ in range(2))
        sources += sources[: seed % 3]
        for normalized in (True, False):
            options = {"normalized": normalized, "weight": "weight"}
            found = mgraph.betweenness(graph, sources, targets, normalized=normalized, device=device)
            expected = nx.betweenness_centrality_subset(network, sources, targets, **options)
            assert values(found) == pytest.approx([expected[v] for v in range(graph.n)], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("seeds", [range(24), *exhaustive(range(24, 500))], ids=str)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_igraph_and_networkit_find_the_same(weighted, directed, seeds):
    """Of graphs without parallel edges, which both count as several paths; NetworKit takes all sources."""
    igraph, networkit = pytest.importorskip("igraph"), pytest.importorskip("networkit")
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 30))
        pairs = np.unique(rng.integers(0, n, (int(rng.integers(1, 3 * n)), 2)), axis=0)
        pairs = pairs[pairs[:, 0] != pairs[:, 1]] if directed else pairs[pairs[:, 0] < pairs[:, 1]]
        lengths = rng.integers(1, 4, len(pairs))
        weights = lengths if weighted else None
        graph = mgraph.Graph.from_edges(*pairs.T, weights, n=n, directed=directed)
        found = values(mgraph.betweenness(graph, normalized=False, device="cpu"))
        one = igraph.Graph(n, pairs.tolist(), directed=directed)
        by = lengths.tolist() if weighted else None
        assert found == pytest.approx(one.betweenness(weights=by, directed=directed), rel=1e-9, abs=1e-12)
        ends = dict(zip(map(tuple, pairs.tolist()), one.edge_betweenness(weights=by, directed=directed), strict=True))
        of_edges = by_ends(mgraph.betweenness(graph, edges=True, normalized=False, device="cpu"))
        for (u, v), value in ends.items():
            assert of_edges[u, v] == pytest.approx([value], rel=1e-9, abs=1e-12)
        other = networkit.Graph(n, weighted=weighted, directed=directed)
        for (u, v), length in zip(pairs.tolist(), lengths.tolist(), strict=True):
            other.addEdge(u, v, length if weighted else 1.0)
        scores = networkit.centrality.Betweenness(other).run().scores()  # of both directions
        assert found * (1 if directed else 2) == pytest.approx(scores, rel=1e-9, abs=1e-12)


def exact(graph, sources, targets, limit, endpoints):
    """The sums over ordered pairs, in fractions, by listing all shortest paths: of vertices, and of edges by ends."""
    lengths = {}
    src, dst, weights = graph.listed()
    for u, v, weight in zip(src.tolist(), dst.tolist(), weights.tolist(), strict=True):
        lengths[u, v] = min(weight, lengths.get((u, v), weight))
    network = nx.DiGraph()
    network.add_nodes_from(range(graph.n))
    network.add_weighted_edges_from((u, v, weight) for (u, v), weight in lengths.items())
    vertices, edges = Counter(), Counter()
    for s in sources:
        away = nx.single_source_dijkstra_path_length(network, s)
        for t in targets:
            if s == t or away.get(t, limit + 1) > limit:
                continue
            paths = list(nx.all_shortest_paths(network, s, t, "weight"))
            for path in paths:
                vertices.update(dict.fromkeys(path if endpoints else path[1:-1], Fraction(1, len(paths))))
                edges.update(dict.fromkeys(itertools.pairwise(path), Fraction(1, len(paths))))
    return vertices, edges


@pytest.mark.parametrize("seeds", [range(30), *exhaustive(range(30, 300))], ids=str)
def test_fractions(device, seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(2, 9)), int(rng.integers(0, 24))
        src, dst = rng.integers(0, n, (2, m))
        directed, limit = seed % 2 == 0, int(rng.integers(1, 7))
        graph = mgraph.Graph.from_edges(src, dst, rng.integers(1, 4, m).astype(np.int32), n=n, directed=directed)
        sources, targets = (rng.permutation(n)[: 1 + n // 2].tolist() for _ in range(2))
        options = {"normalized": False, "limit": limit, "device": device}
        # Of pairs that are not scaled, those of an undirected graph count half in each direction.
        half = 1 if directed else Fraction(1, 2)
        for endpoints in (False, True):
            vertices, edges = exact(graph, sources, targets, limit, endpoints)
            found = mgraph.betweenness(graph, sources, targets, endpoints=endpoints, **options)
            expected = [float(half * vertices[v]) for v in range(n)] if n > 2 or endpoints else [0.0] * n
            assert values(found) == pytest.approx(expected, rel=1e-12, abs=1e-15)
        for (u, v), group in by_ends(mgraph.betweenness(graph, sources, targets, edges=True, **options)).items():
            expected = edges[u, v] if directed else half * (edges[u, v] + edges[v, u])
            assert sum(group) == pytest.approx(float(expected), rel=1e-12)


def corner_of_grid(side):
    """The dependencies of the first vertex of a grid on all others: a corner's shortest paths are binomials."""
    i = np.arange(side)
    passing = np.zeros((side + 1, side + 1))
    rows, columns = np.add.outer(i, np.zeros(side)), np.add.outer(np.zeros(side), i)
    down, right = (rows + 1) / (rows + columns + 1), (columns + 1) / (rows + columns + 1)
    there = np.zeros((side + 1, side + 1))
    there[:side, :side] = 1
    for depth in range(2 * side - 2, -1, -1):
        a = np.arange(max(0, depth - side + 1), min(side, depth + 1))
        b = depth - a
        passing[a, b] = down[a, b] * (passing + there)[a + 1, b] + right[a, b] * (passing + there)[a, b + 1]
    found = passing[:side, :side].copy()
    found[0, 0] = 0
    return found.ravel()


@pytest.mark.parametrize("dtype", [None, "int32", "float64"])
@pytest.mark.parametrize("side", [60, 540, *exhaustive(1100)])
def test_grids_with_more_paths_than_floats_count(device, side, dtype):
    """From corner to corner of 540 x 540 there are 2^1073 paths, of 1,100 x 1,100 there are 2^2192."""
    graph = grid(side, side, weights=None)
    if dtype is not None:
        graph = graph.with_weights(np.ones(graph.m, dtype))
    found = mgraph.betweenness(graph, [0], normalized=False, device=device)
    assert found.plan.detail.wide == (side > 60)
    assert ("with exponents of their own" in found.explain(verbose=True)) == (side > 60)
    expected = corner_of_grid(side) / (1 if graph.directed else 2)
    assert np.allclose(values(found), expected, rtol=1e-11, atol=1e-300)
    found = mgraph.betweenness(graph, [0], edges=True, normalized=False, device=device)
    entering = np.bincount(devices.to_host(found.dst), values(found), graph.n)
    each = expected + 1 / (1 if graph.directed else 2)  # what enters a vertex ends there or passes
    each[0] = (graph.n - 1) / (1 if graph.directed else 2)
    if graph.directed:
        assert np.allclose(entering[1:], each[1:], rtol=1e-11)
    else:  # both directions carry all that enters and leaves
        assert np.allclose(entering[1:], (2 * expected + 0.5)[1:], rtol=1e-11)


@pytest.mark.parametrize("dtype", [None, "int32", "float64"])
@pytest.mark.parametrize("directed", [False, True])
def test_grids_of_many_paths_beside_networkx(device, directed, dtype):
    """From corner to corner there are more than 10^30 paths; some sources lie within, and parallel edges count once."""
    rows, columns = 52, 54
    made = nx.grid_2d_graph(rows, columns, create_using=nx.DiGraph if directed else nx.Graph)
    network = nx.convert_node_labels_to_integers(made, ordering="sorted")
    if directed:
        network.remove_edges_from([(u, v) for u, v in network.edges if u > v])
    src, dst = np.array(network.edges).T
    length = 1 if dtype is None else 0.5 if dtype == "float64" else 3
    nx.set_edge_attributes(network, length, "weight")
    weights = None if dtype is None else np.full(2 * len(src), length, dtype)
    graph = mgraph.Graph.from_edges(np.tile(src, 2), np.tile(dst, 2), weights, n=rows * columns, directed=directed)
    sources, targets = [0, 7 * columns + 3, rows * columns // 2], range(2, rows * columns, 3)
    assert mgraph.path_counts(graph, [0], device=device).counts[0, -1] > 1e30
    for normalized in (True, False):
        options = {"normalized": normalized, "weight": None if dtype is None else "weight"}
        found = mgraph.betweenness(graph, sources, targets, normalized=normalized, device=device)
        expected = nx.betweenness_centrality_subset(network, sources, targets, **options)
        assert values(found) == pytest.approx([expected[v] for v in range(graph.n)], rel=1e-9, abs=1e-15)
    found = mgraph.betweenness(graph, sources, edges=True, normalized=False, device=device)
    # Of what passes a vertex that is no target, NetworkX gives each edge the same share.
    expected = nx.edge_betweenness_centrality_subset(network, sources, network, **options)
    for (u, v), group in by_ends(found).items():  # parallel edges share the value
        value = expected[u, v] if (u, v) in expected else expected[v, u]
        assert group == pytest.approx([value / 2] * 2, rel=1e-9, abs=1e-15)


def test_samples_of_the_registry_verify(device):
    for graph in graphs():
        for weights in (None, "int32", "float64"):
            made = with_weights(graph, weights, 1)
            sources = [(11 * i) % graph.n for i in range(3)]
            mgraph.betweenness(made, sources, device=device).verify(made)
            mgraph.betweenness(made, sources, [1, 5, 9], edges=True, device=device).verify(made)


def test_more_sources_than_a_batch(device):
    graph = with_weights(rmat(10, 8), "int32", 1)
    for weight in (True, False):
        found = mgraph.betweenness(graph, weight=weight, device=device)
        assert found.plan.steps > 1
        rows = np.array_split(np.arange(graph.n), 5)
        parts = [values(mgraph.betweenness(graph, some, weight=weight, device=device)) for some in rows]
        assert np.allclose(values(found), sum(parts), rtol=1e-11)


def test_the_same_bits_for_any_number_of_cores():
    graph = with_weights(rmat(9, 8), "float64", 1)
    for options in ({}, {"weight": False}, {"edges": True}):
        check_cores(lambda: values(mgraph.betweenness(graph, device="cpu", **options)))  # noqa: B023


@pytest.mark.gpu
@pytest.mark.parametrize("options", [{}, {"weight": False}, {"edges": True}, {"weight": False, "edges": True}], ids=str)
def test_a_gpu_finds_the_same_bits_again_and_nearly_the_cpu_s(options):
    graph = with_weights(rmat(12, 16), "int32", 1)
    sources = np.arange(300)
    first, second = (values(mgraph.betweenness(graph, sources, device="cuda", **options)) for _ in range(2))
    assert np.array_equal(first, second)
    on_cpu = values(mgraph.betweenness(graph, sources, device="cpu", **options))
    assert np.allclose(first, on_cpu, rtol=1e-12, atol=1e-18)


def together(graph, sources, edges, device):
    """The sums of sources that share reads of edges, in memory that held something else; None if too deep."""
    xp, kernels = device.xp, betweenness_many.on(device)
    by_source, by_target = (tuple(map(device.asarray, graph.layout(order)[:2])) for order in ("csr", "csc"))
    held = memory(xp, graph.n, graph.m, words_of(len(sources)))
    for array in held:
        array.fill(-7 if array.dtype.kind != "u" else 0xA5A5A5A5)
    sums, trouble = xp.zeros(graph.m if edges else graph.n), xp.zeros(2, np.int32)
    asked = device.asarray(sources), xp.ones(graph.n, bool), graph.n, False, edges
    fits = kernels.add_together(by_source, by_target, *asked, held, sums, trouble)
    assert not trouble.any()
    return devices.to_host(sums) if fits else None


@pytest.mark.parametrize("count", [5, 40, 100])
@pytest.mark.parametrize("edges", [False, True])
def test_sources_that_share_reads_of_edges(device, count, edges):
    """The hubs of the star have more edges than a piece; its ends are found in one level and reached in another."""
    star = mgraph.Graph.from_edges([0] * 1500 + [*range(1, 1500)], [*range(1, 1501)] + [1501] * 1499)
    for graph in (rmat(9, 8, directed=True), star, mgraph.Graph.from_edges([], [], n=4)):
        sources = np.random.default_rng(count).integers(0, graph.n, count).astype(np.int32)
        found = together(graph, sources, edges, devices.find(device))
        wanted = mgraph.betweenness(graph, sources, edges=edges, normalized=False, device="cpu")
        assert np.allclose(found, values(wanted), rtol=1e-11, atol=1e-15)


def test_a_deep_graph(device):
    """Sources do not share reads in graphs of more levels than there is room for; each is taken by itself then."""
    n = 400
    path = mgraph.Graph.from_edges(np.arange(n - 1), np.arange(1, n))
    assert together(path, np.arange(9, dtype=np.int32), False, devices.find(device)) is None
    found = mgraph.betweenness(path, normalized=False, device=device)
    assert np.array_equal(values(found), np.arange(n) * np.arange(n)[::-1])


def test_small_graphs(device):
    for n in (0, 1, 2):
        graph = mgraph.Graph.from_edges([], [], n=n)
        assert values(mgraph.betweenness(graph, device=device)).tolist() == [0.0] * n
        found = mgraph.betweenness(graph, edges=True, device=device)
        assert [len(array) for array in found.arrays.values()] == [0, 0, 0]
        found.verify(graph)
    two = mgraph.Graph.from_edges([0], [1])
    assert values(mgraph.betweenness(two, edges=True, device=device)).tolist() == [0.5]
    assert values(mgraph.betweenness(two, endpoints=True, device=device)).tolist() == [0.5, 0.5]
    assert values(mgraph.betweenness(two, limit=0, endpoints=True, device=device)).tolist() == [0.0, 0.0]


def test_ids():
    graph = mgraph.Graph.from_edges([0, 1], [1, 2], ids=["Rome", "Pisa", "Genoa"])
    found = mgraph.betweenness(graph, ["Rome"], ["Genoa"], normalized=False, device="cpu")
    assert found.to_pandas()["betweenness"].to_dict() == {"Rome": 0.0, "Pisa": 1.0, "Genoa": 0.0}
    frame = mgraph.betweenness(graph, edges=True, normalized=False, device="cpu").to_pandas()
    assert frame.values.tolist() == [["Rome", "Pisa", 2.0], ["Pisa", "Genoa", 2.0]]


def test_pictures_graphs_and_files(tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    graph = grid(3, 4, weights=None)
    found = mgraph.betweenness(graph, normalized=False, device="cpu")
    for kind in (None, "graph"):
        assert found.plot(kind).has_data()
    assert found.to_networkx().nodes[5]["betweenness"] == found.betweenness[5]
    found.save(tmp_path / "vertices.npz")
    assert np.array_equal(np.load(tmp_path / "vertices.npz")["betweenness"], found.betweenness)
    of_edges = mgraph.betweenness(graph, edges=True, device="cpu")
    assert of_edges.plot().has_data()
    of_edges.save(tmp_path / "edges.npz")
    saved = np.load(tmp_path / "edges.npz")
    assert all(np.array_equal(saved[name], array) for name, array in of_edges.arrays.items())
    made = of_edges.to_networkx()
    ends = zip(of_edges.src.tolist(), of_edges.dst.tolist(), strict=True)
    assert [made.edges[pair]["betweenness"] for pair in ends] == of_edges.betweenness.tolist()


def ring(weights):
    return mgraph.Graph.from_edges([0, 1, 2], [1, 2, 0], np.array(weights))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -2, 3], "the weight of the edge from 1 to 2 is -2: change it, or count edges by weight=False"),
        ([1.0, 2.0, 0.0], "the weight of the edge from 2 to 0 is 0.0: change it"),
        ([-0.0, 2.0, 1.0], "the weight of the edge from 0 to 1 is -0.0: change it"),
    ],
)
def test_weights_must_be_positive(device, weights, message):
    with pytest.raises(InputError, match=message):
        mgraph.betweenness(ring(weights), device=device)
    assert (
        values(mgraph.betweenness(ring(weights), weight=False, normalized=False, device=device)).tolist() == [1.0] * 3
    )


def test_the_edge_whose_weight_is_not_positive_is_named_by_ids():
    graph = ring([1, 0, 3]).with_ids(["Rome", "Pisa", "Genoa"])
    for call in (mgraph.betweenness, partial(mgraph.path_counts, sources=["Rome"])):
        with pytest.raises(InputError, match="the weight of the edge from 'Pisa' to 'Genoa' is 0: change it"):
            call(graph, device="cpu")


def test_nan_is_refused():
    with pytest.raises(InputError, match="NaN"):
        mgraph.betweenness(np.array([[0, np.nan], [1, 0]]), device="cpu")


def test_an_infinite_weight_is_no_path(device):
    assert values(mgraph.betweenness(ring([np.inf, 1.0, 1.0]), normalized=False, device=device)).tolist() == [
        0.0,
        0.0,
        1.0,
    ]


def test_a_weight_that_is_lost_in_rounding_is_refused(device):
    graph = mgraph.Graph.from_edges([0, 1], [1, 2], np.array([1e20, 1e-20]))
    with pytest.raises(InputError, match="lost in the sum along a path, and with it the number of shortest paths"):
        mgraph.betweenness(graph, device=device)


@pytest.mark.parametrize("weights", [[2**30, 2**30, 5], [2**40, 1, 1]])
def test_large_integers_are_exact(device, weights):
    """Both ways from 0 to 2 are as long, in int64 beyond int32."""
    graph = mgraph.Graph.from_edges([0, 1, 0, 3], [1, 2, 3, 2], np.array([*weights[:2], sum(weights[:2]) - 1, 1]))
    found = mgraph.betweenness(graph, [0], [2], normalized=False, device=device)
    assert found.plan.detail.computed == "float64" and values(found).tolist() == [0.0, 0.5, 0.0, 0.5]


@pytest.mark.parametrize(("least", "refused"), [(2**53 - 2, False), (2**53 - 1, True), (2**53, True), (2**61, True)])
def test_integers_that_floats_do_not_hold_are_refused(device, least, refused):
    """Both ways from 0 to 2 are as long; rounded beyond 2^53, one of them would be shorter. Few weights are no sums."""
    graph = mgraph.Graph.from_edges([0, 1, 0, 3], [1, 2, 3, 2], np.array([least, 1, 1, least]))
    calls = [
        lambda: values(mgraph.betweenness(graph, [0], [2], normalized=False, device=device)).tolist(),
        lambda: mgraph.path_counts(graph, [0], device=device).counts[0, 2],
    ]
    if not refused:
        assert [call() for call in calls] == [[0.0, 0.5, 0.0, 0.5], 2.0]
        return
    for call in calls:
        with pytest.raises(InputError, match=r"a path is 2\*\*53 long or longer.*scale the weights"):
            call()
    assert values(mgraph.betweenness(graph, [2], device=device)).tolist() == [0.0] * 4  # from where no path leads


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sources": [3]}, r"sources must be an integer in \[0, 3\), got 3"),
        ({"targets": [-1]}, r"targets must be an integer in \[0, 3\), got -1"),
        ({"samples": 4}, r"samples must be an integer in \[1, 4\), got 4"),
        ({"samples": 0}, r"samples must be an integer in \[1, 4\), got 0"),
        ({"samples": 2, "seed": 0.5}, "seed must be an integer of 0 or more, got 0.5"),
        ({"seed": -1}, "seed must be an integer of 0 or more, got -1"),
        ({"samples": 2, "sources": [0]}, "samples=2 draws from all vertices: leave out sources"),
        ({"samples": 2, "targets": [0]}, "samples=2 draws from all vertices: leave out targets"),
        ({"edges": True, "endpoints": True}, "endpoints=True is for vertices: leave it out, or edges"),
        ({"limit": -1}, "limit must be a number of 0 or more, got -1"),
        ({"edges": 1}, "edges must be True or False, got 1"),
    ],
    ids=str,
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(InputError, match=message):
        mgraph.betweenness(ring([1, 2, 3]), device="cpu", **arguments)


def test_the_verifier_tells_wrong_results():
    graph = grid(4, 5, weights=None)
    result = mgraph.betweenness(graph, endpoints=True, samples=7, seed=1, device="cpu")
    result.verify()
    result.betweenness[3] += 1e-3
    with pytest.raises(VerificationError, match="vertex 3 breaks the rule 'value'"):
        result.verify()
    result = mgraph.betweenness(graph, edges=True, limit=3, device="cpu")
    result.verify()
    result.betweenness[5] *= 1.001
    with pytest.raises(VerificationError, match="edge 5 breaks the rule 'value'"):
        result.verify()
    result.dst[2] += 1  # which is not the graph's own array
    with pytest.raises(VerificationError, match="edge 2 breaks the rule 'ends'"):
        result.verify()


@pytest.mark.parametrize("wide", [False, True])
def test_plans_do_not_depend_on_the_order_of_calls(wide):
    """Scaled numbers of paths are for the call that needs them."""
    side = 540 if wide else 20
    for _ in range(2):
        found = mgraph.betweenness(grid(side, side, weights=None), [0], device="cpu")
        assert found.plan.detail.wide is wide


def test_a_plan_by_weights_counts_the_searches():
    n, m, cpu = 100_000, 400_000, mgraph.DeviceSpec("cpu", "cpu", 1 << 40)
    assert planned(n, m, (cpu,)).seconds > relaxing_seconds(n, m, n, cpu, True, Shape())


SIZES = [
    pytest.param(dict(weight=False), id="levels"),
    pytest.param(dict(weight=False, edges=True), id="edges"),
    pytest.param({}, id="weights"),
    pytest.param(dict(edges=True), id="edges with weights"),
]


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("options", SIZES)
def test_predicted_peak_is_the_measured_one(directed, options):
    graph = with_weights(rmat(13, 8, directed=directed), "int32", 1)
    sources = np.arange(64, dtype=np.int32)
    mgraph.betweenness(graph, sources, device="cpu", **options)
    graph.release()
    result, peak = measured(lambda: mgraph.betweenness(graph, sources, device="cpu", **options))
    predicted = result.plan.peak_bytes[0] - result.plan.devices[0].held
    assert 0.8 * predicted < peak < 1.01 * predicted  # of a search's workspace not all is used


@pytest.mark.gpu
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("options", SIZES)
def test_predicted_peak_is_the_measured_one_on_a_gpu(directed, options):
    mgraph.betweenness(with_weights(rmat(5), "int32", 1), [0], device="cuda", **options)  # compiles
    graph = with_weights(rmat(15, directed=directed), "int32", 1)
    with devices.find("cuda").peak_memory() as peak:
        result = mgraph.betweenness(graph, range(300), device="cuda", **options)
    assert result.plan.peak_bytes[0] == pytest.approx(peak.bytes, rel=0.05)


def test_a_call_that_does_not_fit_is_refused_before_it_begins(monkeypatch):
    monkeypatch.setattr(module, "edges_of", lambda *_: pytest.fail("begun"))
    graph = rmat(10)
    with pytest.raises(mgraph.MemoryLimitError, match="betweenness"):
        mgraph.betweenness(graph, memory_limit=10_000, device="cpu")


def test_fewer_sources_at_a_time_if_memory_is_short(device):
    graph = rmat(9)
    plenty = mgraph.betweenness(graph, device=device)
    short = mgraph.betweenness(graph, device=device, memory_limit=max(plenty.plan.peak_bytes) // 2)
    assert short.plan.detail.batch < plenty.plan.detail.batch
    if device == "cpu":
        assert np.array_equal(values(short), values(plenty))
    else:  # a GPU adds up what the sources of a batch contribute first
        assert np.allclose(values(short), values(plenty), rtol=1e-12, atol=1e-18)


client = clients(2, *exhaustive(1, 3))


def check_workers(client, device):
    cases = [random_network(seed)[1] for seed in range(8)] + [rmat(9, 8), grid(540, 540, weights=None)]
    for graph in cases:
        sources = None if graph.n < 1000 else [0, graph.n - 1]
        for options in ({}, {"weight": False}, {"edges": True}, {"samples": 1 + graph.n // 2, "seed": 1}):
            if "samples" in options and sources is not None:
                continue
            here = mgraph.betweenness(graph, sources, device=device, **options)
            there = mgraph.betweenness(graph, sources, client=client, device=device, **options)
            assert len(there.plan.ranges) == len(there.plan.devices)
            assert np.allclose(values(there), values(here), rtol=1e-12, atol=1e-15, equal_nan=True)


def test_workers_find_the_same(client):
    check_workers(client, "cpu")


@pytest.mark.gpu
def test_gpus_of_workers_find_the_same(gpu_workers):
    check_workers(gpu_workers, "cuda")


def test_a_graph_on_workers(client):
    for seed in range(6):
        graph = random_network(seed)[1]
        placed = mgraph.DistributedGraph.from_graph(graph, client=client)
        for options in ({}, {"weight": False}, {"edges": True}, {"samples": 1 + graph.n // 2, "seed": 1}):
            here, there = mgraph.betweenness(graph, device="cpu", **options), mgraph.betweenness(placed, **options)
            for name, array in here.arrays.items():
                assert np.allclose(there.arrays[name], array, rtol=1e-12, atol=1e-15, equal_nan=True)
            there.verify()
    for bad in (ring([1, -2, 3]), ring([1, -2, -2]).with_ids(["Rome", "Pisa", "Genoa"]), ring([1, 0.5, 0])):
        with pytest.raises(InputError, match=r"needs positive weights; the weight of the edge") as here:
            mgraph.betweenness(bad, device="cpu")
        with pytest.raises(InputError) as there:
            mgraph.betweenness(mgraph.DistributedGraph.from_graph(bad, client=client))
        assert str(there.value) == str(here.value)


def test_ids_on_workers_name_what_is_wrong(client, tmp_path):
    path = tmp_path / "edges.txt"
    path.write_text("10 20 1\n20 30 -2\n30 20 1\n")
    placed = mgraph.read(path, client=client, relabel=True)
    with pytest.raises(InputError, match="the weight of the edge from 20 to 30 is -2"):
        mgraph.betweenness(placed)
    with pytest.raises(mgraph.NegativeCycleError, match=r"with id [23]0, lies on a cycle"):
        mgraph.sssp(placed, 10, ids=True)
