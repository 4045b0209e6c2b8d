"""Calls of NetworkX that mgraph runs, beside NetworkX's own, on random graphs; test_networkx_backend.py runs this file.

It is run where the backend is installed. Values, their types, the order of dictionaries and errors are compared.
"""

import copy
import math
import os
import pickle
import random
from itertools import pairwise
from types import GeneratorType

import networkx as nx
import pytest

from mgraph import InputError
from mgraph import networkx as backend

nx.config.warnings_to_ignore.add("cache")  # NetworkX warns whenever it uses a kept graph

KINDS = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)
NODES = {"numbers": list(range(9)), "turned": list(range(9))[::-1], "words": list("abcdefghi")}
WEIGHTS = {
    "int": lambda chance: chance.randint(1, 4),
    "zero": lambda chance: chance.randint(0, 2),
    "float": lambda chance: chance.choice([0.1, 0.2, 0.3, 0.7, 1.1]),
    "negative": lambda chance: chance.randint(-1, 5),
}


def graph_of(seed, kind, nodes, weights, edges=16):
    """A random graph of 9 nodes, with self-loops and, of multigraphs, parallel edges."""
    chance = random.Random(seed)
    made = kind()
    names = NODES[nodes]
    made.add_nodes_from(names)
    for _ in range(edges):
        made.add_edge(chance.choice(names), chance.choice(names), weight=WEIGHTS[weights](chance))
    return made


def plain(value):
    """A value with the types of its numbers and the order of its dictionaries, to be compared."""
    if isinstance(value, dict):
        return [(plain(key), plain(item)) for key, item in value.items()]
    if isinstance(value, (list, tuple, GeneratorType, zip)):
        return [plain(item) for item in value]
    if isinstance(value, set):
        return sorted(map(repr, value))
    return type(value).__name__, value


def outcome(name, graph, *arguments, read=plain, **options):
    """What a call returns, or the type of its error."""
    try:
        return read(getattr(nx, name)(graph, *arguments, **options))
    except (nx.NetworkXException, ValueError, KeyError) as error:
        return type(error).__name__, str(error)


def both(name, graph, *arguments, read=plain, **options):
    """Assert that mgraph returns what NetworkX does, and return it."""
    expected = outcome(name, graph, *arguments, read=read, backend="networkx", **options)
    found = outcome(name, graph, *arguments, read=read, backend="mgraph", **options)
    if isinstance(expected, tuple) and isinstance(expected[0], str) and isinstance(expected[1], str):
        assert found[0] == expected[0]  # the messages may differ
    else:
        assert found == expected
    return found


def close(value):
    """A value with its floats rounded, where NetworkX adds them up in another order."""
    if isinstance(value, dict):
        return {key: close(item) for key, item in value.items()}
    return (type(value).__name__, round(value, 9)) if isinstance(value, (int, float)) else value


def each_path_once(pairs):
    """The paths to each node, in the order of the nodes; NetworkX may repeat some where weights are zero."""
    return [(node, set(map(repr, paths))) for node, paths in pairs]


def unordered(value):
    """A value in which the order of dictionaries does not count, nor that of predecessors."""
    if isinstance(value, (tuple, GeneratorType, zip)):
        return [unordered(item) for item in value]
    if isinstance(value, dict):
        return {key: unordered(item) for key, item in value.items()}
    return sorted(value, key=repr) if isinstance(value, list) else (type(value).__name__, value)


def walked(graph, before):
    """The length of the path that leads to each node by predecessors, of which one node has none."""

    def path(node):
        return [node] if before[node] is None else [*path(before[node]), node]

    return {node: nx.path_weight(graph, path(node), "weight") for node in before}


graphs = pytest.mark.parametrize("seed", range(int(os.environ.get("SEEDS", 1))))
kinds = pytest.mark.parametrize("kind", KINDS)
nodes = pytest.mark.parametrize("nodes", NODES)
weights = pytest.mark.parametrize("weights", ["int", "zero", "float"])


@graphs
@kinds
@nodes
def test_searches_without_weights(seed, kind, nodes):
    graph = graph_of(seed, kind, nodes, "int", 10)
    first, *_, last = graph
    for cutoff in (None, 0, 1, 1.5, 2, -1, math.inf):
        for name in ("single_source_shortest_path", "single_source_shortest_path_length", "predecessor"):
            both(name, graph, first, cutoff=cutoff)
        for name in ("single_target_shortest_path", "single_target_shortest_path_length"):
            both(name, graph, last, cutoff=cutoff)
        both("all_pairs_shortest_path", graph, cutoff=cutoff)
        both("all_pairs_shortest_path_length", graph, cutoff=cutoff)
        both("predecessor", graph, first, last, cutoff=cutoff, return_seen=True)
    both("single_source_all_shortest_paths", graph, first, read=list)
    both("single_source_all_shortest_paths", graph, last, read=list)
    both("bidirectional_shortest_path", graph, first, last, read=len)
    both("has_path", graph, first, last)
    both("shortest_path_length", graph)
    both("shortest_path", graph, target=last)


@graphs
@kinds
@nodes
def test_traversal(seed, kind, nodes):
    graph = graph_of(seed, kind, nodes, "int", 10)
    first, *_, last = graph
    for limit in (None, 0, 1, 2):
        both("bfs_edges", graph, first, depth_limit=limit)
        both("generic_bfs_edges", graph, first, depth_limit=limit)
        both("bfs_edges", graph, first, reverse=True, depth_limit=limit)
        both("bfs_predecessors", graph, first, depth_limit=limit)
        both("bfs_successors", graph, first, depth_limit=limit)
        both("bfs_tree", graph, first, depth_limit=limit, read=lambda tree: plain([list(tree), list(tree.edges)]))
    both("bfs_layers", graph, first)
    both("bfs_layers", graph, [last, first])
    for name in ("descendants", "ancestors"):
        both(name, graph, last)
    for distance in (-1, 0, 1, 2, 50):
        both("descendants_at_distance", graph, first, distance)
    for name in ("bfs_edges", "bfs_layers", "descendants", "bfs_successors"):
        both(name, graph, "nowhere")


@graphs
@kinds
@nodes
@weights
def test_searches_with_weights(seed, kind, nodes, weights):
    graph = graph_of(seed, kind, nodes, weights)
    first, second, *_, last = graph
    for cutoff in (None, 0, 2, 2.5, -1, math.inf):
        both("multi_source_dijkstra", graph, [second, first], cutoff=cutoff)
        both("single_source_dijkstra", graph, first, cutoff=cutoff)
        both("single_source_dijkstra_path", graph, first, cutoff=cutoff)
        both("single_source_dijkstra_path_length", graph, first, cutoff=cutoff)
        both("multi_source_dijkstra_path", graph, [second, first], cutoff=cutoff)
        both("multi_source_dijkstra_path_length", graph, [second, first], cutoff=cutoff)
        both("dijkstra_predecessor_and_distance", graph, first, cutoff=cutoff)
        both("all_pairs_dijkstra", graph, cutoff=cutoff)
        both("all_pairs_dijkstra_path", graph, cutoff=cutoff)
        both("all_pairs_dijkstra_path_length", graph, cutoff=cutoff)
    for name in ("single_source_dijkstra", "dijkstra_path", "dijkstra_path_length", "bellman_ford_path_length"):
        both(name, graph, first, last)
        both(name, graph, first, first)
    both("voronoi_cells", graph, {first, last})
    both("single_source_dijkstra", graph, first, weight="no such attribute")
    both("shortest_path", graph, first, weight="weight")
    both("all_shortest_paths", graph, first, last, weight="weight", read=lambda paths: set(map(repr, paths)))
    both("single_source_all_shortest_paths", graph, first, weight="weight", read=each_path_once)
    asked = {"weight": "weight", "method": "bellman-ford"}
    both("single_source_all_shortest_paths", graph, first, **asked, read=lambda pairs: dict(each_path_once(pairs)))


@graphs
@kinds
@pytest.mark.parametrize("weights", list(WEIGHTS))
def test_negative_weights(seed, kind, weights):
    graph = graph_of(seed, kind, "words", weights, 12)
    first, *_, last = graph
    for name in ("single_source_bellman_ford_path_length", "bellman_ford_predecessor_and_distance"):
        both(name, graph, first, read=unordered)
    both("goldberg_radzik", graph, first, read=lambda found: (unordered(found[1]), walked(graph, found[0])))
    both("all_pairs_bellman_ford_path_length", graph, read=unordered)
    both("bellman_ford_path_length", graph, first, last)
    both("negative_edge_cycle", graph)

    def lengths(paths):
        return {node: nx.path_weight(graph, path, "weight") for node, path in paths.items()}

    both("single_source_bellman_ford_path", graph, first, read=lengths)
    both("johnson", graph, read=lambda found: {node: sorted(lengths(paths).items()) for node, paths in found.items()})


def test_a_negative_cycle_is_one():
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([("x", "a", 1), ("a", "b", 2), ("b", "c", -4), ("c", "a", 1), ("c", "d", 1)])
    cycle = nx.find_negative_cycle(graph, "x", backend="mgraph")
    assert sorted(cycle[1:]) == ["a", "b", "c"] and nx.path_weight(graph, cycle, "weight") == -1
    with pytest.raises(nx.NetworkXError):
        nx.find_negative_cycle(graph, "d", backend="mgraph")


@graphs
@kinds
@weights
def test_dense(seed, kind, weights):
    graph = graph_of(seed, kind, "words", weights)
    for name, read in (("floyd_warshall_numpy", lambda found: found.round(12).tolist()), ("floyd_warshall", unordered)):
        if weights != "float" or name == "floyd_warshall_numpy":
            both(name, graph, read=read)
    both("floyd_warshall_numpy", graph, list("ihgfedcba"), read=lambda found: found.round(12).tolist())
    before, lengths = nx.floyd_warshall_predecessor_and_distance(graph, backend="mgraph")
    assert set(before) <= set(lengths) == set(graph)
    for node, row in before.items():
        for other in row:
            if node != other:
                path = nx.reconstruct_path(node, other, before)
                assert nx.path_weight(graph, path, "weight") == pytest.approx(lengths[node][other])


@graphs
@kinds
@weights
@pytest.mark.parametrize("edges", [10, 40])
def test_measures(seed, kind, weights, edges):
    graph = graph_of(seed, kind, "words", weights, edges)
    for weight in (None, "weight"):
        for name in ("eccentricity", "diameter", "radius", "center", "periphery"):
            both(name, graph, weight=weight)
        both("eccentricity", graph, "a", weight=weight)
        both("eccentricity", graph, ["c", "a"], weight=weight)
        both("wiener_index", graph, weight=weight, read=close)
        both("average_shortest_path_length", graph, weight=weight, read=close)
        for improved in (True, False):
            both("closeness_centrality", graph, distance=weight, wf_improved=improved, read=close)
        both("closeness_centrality", graph, "b", distance=weight, read=close)
        both("harmonic_centrality", graph, distance=weight, read=close)
        both("harmonic_centrality", graph, ["a", "b"], distance=weight, sources=["c", "d"], read=close)
        both("harmonic_centrality", graph, ["a"], distance=weight, read=close)
    if not graph.is_directed():
        both("global_efficiency", graph, read=close)
        both("local_efficiency", graph, read=close)


@graphs
@kinds
@nodes
@pytest.mark.parametrize("weights", ["int", "float"])
@pytest.mark.parametrize("normalized", [True, False])
def test_betweenness(seed, kind, nodes, weights, normalized):
    graph = graph_of(seed, kind, nodes, weights)
    names = list(graph)
    for weight in (None, "weight"):
        options = {"weight": weight, "normalized": normalized, "read": close}
        for k in (None, 3, 9):
            for endpoints in (False, True):
                both("betweenness_centrality", graph, k=k, seed=7, endpoints=endpoints, **options)
            both("edge_betweenness_centrality", graph, k=k, seed=7, **options)
        both("betweenness_centrality_subset", graph, names[:5], names[3:], **options)
        both("edge_betweenness_centrality_subset", graph, names[:5], names, **options)


def test_betweenness_that_is_networkxs():
    """Edges of length zero, where numbers of paths depend on the order, and its own rule for edges and some targets."""
    graph = nx.path_graph(4)
    graph[1][2]["weight"] = 0
    both("betweenness_centrality", graph, read=close)
    both("betweenness_centrality", graph, k=5, seed=1)
    for name, *arguments in (
        ("betweenness_centrality",),
        ("edge_betweenness_centrality",),
        ("betweenness_centrality_subset", [0], [3]),
    ):
        with pytest.raises(NotImplementedError) as raised:
            getattr(nx, name)(graph, *arguments, weight="weight", backend="mgraph")
        assert "not positive" in str(raised.value.__cause__)
    with pytest.raises(NotImplementedError) as raised:
        nx.edge_betweenness_centrality_subset(graph, [0], [3], backend="mgraph")
    assert "not targets" in str(raised.value.__cause__)


@graphs
@kinds
@nodes
@pytest.mark.parametrize("edges", [6, 12])
def test_components(seed, kind, nodes, edges):
    graph = graph_of(seed, kind, nodes, "int", edges)
    if graph.is_directed():
        names = ["weakly_connected_components", "number_weakly_connected_components", "is_weakly_connected"]
        names += ["strongly_connected_components", "number_strongly_connected_components", "is_strongly_connected"]
        both("condensation", graph, read=lambda made: plain([dict(made.nodes(data=True)), list(made.edges)]))
        both("condensation", graph, read=lambda made: made.graph)
    else:
        names = ["connected_components", "number_connected_components", "is_connected"]
        both("node_connected_component", graph, next(iter(graph)))
    for name in names:
        both(name, graph)


@graphs
@kinds
@pytest.mark.parametrize("reflexive", [None, True, False])
def test_transitive_closure(seed, kind, reflexive):
    graph = graph_of(seed, kind, "words", "int", 9)
    both(
        "transitive_closure",
        graph,
        reflexive,
        read=lambda made: (dict(made.adjacency()), dict(made.nodes(data=True)), made.graph),
    )


@graphs
@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph])
@weights
def test_spanning_trees(seed, kind, weights):
    graph = graph_of(seed, kind, "words", weights, 30)
    for keys in (True, False):
        for data in (True, False):
            both("minimum_spanning_edges", graph, keys=keys, data=data)
    both("minimum_spanning_tree", graph, read=lambda made: (dict(made.adjacency()), dict(made.nodes(data=True))))


@pytest.mark.parametrize("weights", [(1.0, math.nan), (math.nan, 1.0), (math.inf, 1.0)])
def test_a_weight_of_parallel_edges_that_is_networkxs(weights):
    graph = nx.MultiGraph([(0, 1, {"weight": weight}) for weight in weights])
    for call in (nx.floyd_warshall, nx.minimum_spanning_tree):
        with pytest.raises(NotImplementedError) as raised:
            call(graph, backend="mgraph")
        assert "not finite" in str(raised.value.__cause__)


@pytest.mark.parametrize(
    ("weight", "reason"),
    [
        (None, "NoneType"),
        (True, "bool"),
        (2**60, "greater than"),
        (math.inf, "not finite"),
        (math.nan, "not finite"),
        (0.5, "some weights are integers"),
        (-1, "negative"),
    ],
)
def test_weights_that_are_networkxs(weight, reason):
    graph = nx.DiGraph()
    graph.add_edge(0, 1, weight=3.0 if reason == "not finite" else 3)
    graph.add_edge(1, 2, weight=weight)
    with pytest.raises(NotImplementedError) as raised:
        nx.single_source_dijkstra_path_length(graph, 0, backend="mgraph")
    assert reason in str(raised.value.__cause__)
    nx.config.backend_priority.algos = ["mgraph"]
    try:
        found = nx.single_source_dijkstra_path_length(graph, 0)
    finally:
        nx.config.backend_priority.algos = []
    assert repr(found) == repr(nx.single_source_dijkstra_path_length(graph, 0))


@pytest.mark.parametrize(
    ("n", "weight"),
    [(1, 2**40), (2, 2**28), (2, 2**28 + 1), (3, 2**30), (4, 2**28), (5, 2**28), (9, -(2**25)), (9, -(2**29))],
)
def test_weights_and_sums_beyond_int32_are_exact(n, weight):
    graph = nx.path_graph(n, nx.DiGraph)
    graph.add_edge(0, 0, weight=2**40 if n == 1 else 0)
    nx.set_edge_attributes(graph, {edge: weight for edge in nx.path_graph(n).edges}, "weight")
    both("single_source_bellman_ford_path_length", graph, 0)
    both("floyd_warshall", graph, read=unordered)
    if weight > 0:
        both("single_source_dijkstra", graph, 0)
        both("closeness_centrality", graph, distance="weight", read=close)


def test_floats_whose_sums_may_be_infinite_are_networkxs():
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([(0, 1, 1e308), (1, 2, 1e308), (2, 3, -1e308)])
    with pytest.raises(NotImplementedError) as raised:
        nx.single_source_bellman_ford_path_length(graph, 0, backend="mgraph")
    assert "greater than any float" in str(raised.value.__cause__)


def test_a_graph_is_converted_once_until_it_changes():
    graph = nx.path_graph(4)
    nx.set_edge_attributes(graph, 2, "a")
    nx.set_edge_attributes(graph, 5, "b")
    assert nx.dijkstra_path_length(graph, 0, 3, weight="a", backend="mgraph") == 6
    assert nx.dijkstra_path_length(graph, 0, 3, weight="b", backend="mgraph") == 15
    assert nx.single_source_shortest_path_length(graph, 0, backend="mgraph")[3] == 3
    kept = graph.__networkx_cache__["backends"]["mgraph"]
    assert len(set(map(id, kept.values()))) == 1
    graph.add_edge(0, 3, a=1)
    assert nx.dijkstra_path_length(graph, 0, 3, weight="a", backend="mgraph") == 1
    again = pickle.loads(pickle.dumps(graph)), copy.deepcopy(graph)
    assert [nx.dijkstra_path_length(each, 0, 3, weight="a", backend="mgraph") for each in again] == [1, 1]


VIEWS = {
    "subgraph_view": lambda graph: nx.subgraph_view(graph, filter_edge=lambda u, v, *key: "f" not in (u, v)),
    "subgraph": lambda graph: graph.subgraph("abcdehi"),
    "edge_subgraph": lambda graph: graph.edge_subgraph([*graph.edges, ("a", "i", 1)[: 2 + graph.is_multigraph()]]),
    "restricted_view": lambda graph: nx.restricted_view(graph, "f", []),
    "generic_graph_view": nx.graphviews.generic_graph_view,
    "copy": lambda graph: graph.copy(as_view=True),
    "to_undirected": lambda graph: graph.to_undirected(as_view=True),
    "to_directed": lambda graph: graph.to_directed(as_view=True),
    "reverse": lambda graph: graph.reverse(copy=False) if graph.is_directed() else nx.to_directed(graph),
    "of a view": lambda graph: graph.subgraph("abcdhi").to_undirected(as_view=True).subgraph("abchi"),
}


@kinds
@pytest.mark.parametrize("view", VIEWS)
def test_views_answer_with_the_graph_as_it_is(kind, view):
    graph = graph_of(0, kind, "words", "int", 30)
    shown = VIEWS[view](graph)
    added = [("a", "i")]
    if graph.is_directed() and not shown.is_directed():  # else an edge may have two weights, which is declined
        added = [("a", "i"), ("i", "a")]
        graph.remove_edges_from([(u, v) for u, v in graph.edges() if {u, v} == {"a", "i"}])
        for u, v, edge in graph.edges(data=True):
            edge["weight"] = (ord(u) + ord(v)) % 7
    found = [both("all_pairs_dijkstra_path_length", shown)]
    graph.add_edges_from(added, weight=0)
    found.append(both("all_pairs_dijkstra_path_length", shown))
    for *_, edge in graph.edges(data=True):
        edge["weight"] = 7
    found.append(both("all_pairs_dijkstra_path_length", shown))
    graph.remove_node("b")
    found.append(both("all_pairs_dijkstra_path_length", shown))
    assert all(one != other for one, other in pairwise(found))


def test_a_view_answers_with_what_its_filter_shows():
    hidden = set()
    shown = nx.subgraph_view(nx.path_graph(4), filter_node=lambda node: node not in hidden)
    assert max(both("single_source_shortest_path_length", shown, 0))[0] == ("int", 3)
    hidden.add(3)
    assert max(both("single_source_shortest_path_length", shown, 0))[0] == ("int", 2)
    assert "not converted yet" in reason("closeness_centrality", shown)


@graphs
@kinds
@pytest.mark.parametrize("method", ["dijkstra", "bellman-ford"])
def test_every_shortest_path_comes_once(seed, kind, method):
    graph = graph_of(seed, kind, "words", "zero", 14)
    simple = nx.DiGraph(graph) if graph.is_directed() else nx.Graph(graph)
    for u, v in simple.edges:
        edges = graph[u][v].values() if graph.is_multigraph() else [graph[u][v]]
        simple[u][v]["weight"] = min(edge["weight"] for edge in edges)
    for node, length in nx.single_source_dijkstra_path_length(simple, "a").items():
        paths = nx.all_simple_paths(simple, "a", node)
        expected = [path for path in paths if nx.path_weight(simple, path, "weight") == length]
        found = nx.all_shortest_paths(graph, "a", node, weight="weight", method=method, backend="mgraph")
        assert sorted(found) == sorted(expected)


@pytest.mark.parametrize("kind", KINDS)
def test_graphs_without_nodes_or_edges(kind):
    with pytest.raises(NotImplementedError):
        nx.closeness_centrality(kind(), backend="mgraph")
    alone = kind()
    alone.add_node("a")
    for name in ("closeness_centrality", "harmonic_centrality", "eccentricity", "average_shortest_path_length"):
        both(name, alone)
    for name in ("single_source_dijkstra", "single_source_shortest_path", "single_source_bellman_ford", "bfs_edges"):
        both(name, alone, "a")
    for name in ("wiener_index", "floyd_warshall", "all_pairs_dijkstra_path", "johnson"):
        both(name, alone, read=unordered)
    both("transitive_closure", alone, read=lambda made: dict(made.adjacency()))


def reason(name, graph, *arguments, **options):
    """Why NetworkX would not let mgraph run a call; True if it would."""
    return backend.should_run(name, (graph, *arguments), options)


def test_small_graphs_and_searches_from_both_ends_are_networkxs():
    small, large = nx.path_graph(50), nx.path_graph(5000)
    assert "gains from 60 nodes on" in reason("closeness_centrality", small)
    assert reason("closeness_centrality", large) is True
    assert "both ends" in reason("has_path", large, 0, 1)
    assert "both ends" in reason("shortest_path", large, 0, 1)
    assert reason("shortest_path", large) is True
    assert "reading the graph" in reason("bfs_edges", large, 0)
    nx.single_source_shortest_path_length(large, 0, backend="mgraph")  # which keeps the converted graph
    assert reason("bfs_edges", large, 0) is True
    assert "gains from 300 nodes on" in reason("bfs_edges", backend.convert_from_nx(small), 0)


def test_local_efficiency_of_many_neighbourhoods():
    graph = nx.gnm_random_graph(300, 6000, seed=2)
    graph.add_edges_from((0, other) for other in range(200))
    both("local_efficiency", graph, read=close)


def test_a_program_uses_mgraph_by_its_configuration():
    graph = nx.gnm_random_graph(200, 1000, seed=1)
    expected = nx.closeness_centrality(graph)
    assert not graph.__networkx_cache__.get("backends")
    nx.config.backend_priority.algos = ["mgraph"]
    try:
        assert nx.closeness_centrality(graph) == expected
    finally:
        nx.config.backend_priority.algos = []
    assert graph.__networkx_cache__["backends"]["mgraph"]


def test_a_spanning_tree_of_a_directed_graph_is_refused():
    graph = nx.path_graph(3, nx.DiGraph)
    for call in (
        nx.minimum_spanning_tree,
        lambda graph, backend: list(nx.minimum_spanning_edges(graph, backend=backend)),
    ):
        with pytest.raises(nx.NetworkXNotImplemented, match="not implemented for directed type"):
            call(graph, backend="mgraph")


def test_a_cutoff_that_is_nan_is_none():
    graph = nx.path_graph(4)
    for call in (nx.single_source_dijkstra_path_length, lambda *args, **kw: dict(nx.all_pairs_dijkstra(args[0], **kw))):
        assert call(graph, 0, cutoff=math.nan, backend="mgraph") == call(graph, 0, cutoff=math.nan, backend="networkx")


@pytest.mark.parametrize("change", [lambda rows: rows[0].update({10**7: {}}), lambda rows: rows.pop(3)])
def test_an_inconsistent_graph_is_refused(change):
    graph = nx.path_graph(4)
    change(graph._adj)
    with pytest.raises(InputError, match="the graph is inconsistent"):
        nx.single_source_shortest_path_length(graph, 0, backend="mgraph")
