"""Names that SciPy, NetworkX and pandas teach, with what is written here: for the errors of names that are not there.

None of these names is an alias. `docs/switching.md` has the whole tables, by library.
"""

import difflib
import functools
import inspect
from collections.abc import Callable, Collection, Mapping
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

#: Calls, in place of which a call of `mgraph` is written, or that of another library; docs/beyond.md has more of these.
CALLS = {
    **{
        name: f"networkx.{name}(graph.to_networkx())"
        for name in ("clustering", "eigenvector_centrality", "katz_centrality", "pagerank", "triangles")
    },
    "all_pairs_dijkstra": "mgraph.apsp(graph)",
    "all_pairs_shortest_path_length": "mgraph.apsp(graph)",
    "average_shortest_path_length": "mgraph.average_distance(graph)",
    "bellman_ford": "mgraph.sssp(graph, source)",
    "betweenness_centrality": "mgraph.betweenness(graph)",
    "bfs_edges": "mgraph.bfs(graph, source, predecessors=True)",
    "bfs_tree": "mgraph.bfs(graph, source, predecessors=True)",
    "breadth_first_order": "mgraph.bfs(graph, source, predecessors=True)",
    "closeness_centrality": "mgraph.closeness(graph)",
    "dijkstra": "mgraph.sssp(graph, source)",
    "dijkstra_path": "mgraph.sssp(graph, source, predecessors=True), whose path(target) is a path",
    "edge_betweenness_centrality": "mgraph.betweenness(graph, edges=True)",
    "floyd_warshall": "mgraph.apsp(graph)",
    "from_networkx": "mgraph.Graph.from_networkx(graph)",
    "from_pandas_edgelist": "mgraph.Graph.from_pandas(frame, source, target, weight)",
    "from_scipy_sparse_array": "mgraph.Graph.from_scipy(matrix)",
    "global_efficiency": "mgraph.distance_histogram(graph).efficiency",
    "harmonic_centrality": "mgraph.harmonic_closeness(graph)",
    "hop_plot": "mgraph.distance_histogram(graph, weight=False)",
    "is_connected": "mgraph.connected_components(graph).count == 1",
    "johnson": "mgraph.apsp(graph)",
    "maximum_flow": "scipy.sparse.csgraph.maximum_flow(graph.to_scipy(), source, sink)",
    "minimum_spanning_edges": "mgraph.minimum_spanning_forest(graph)",
    "minimum_spanning_tree": "mgraph.minimum_spanning_forest(graph)",
    "number_connected_components": "mgraph.connected_components(graph).count",
    "read_edgelist": "mgraph.read(path)",
    "shortest_path": "mgraph.sssp(graph, source, predecessors=True), whose path(target) is a path",
    "shortest_path_length": "mgraph.sssp(graph, source), whose distance(target) is a length",
    "single_source_dijkstra": "mgraph.sssp(graph, source)",
    "strongly_connected_components": "mgraph.connected_components(graph, connection='strong')",
}

#: Arguments of calls, with those that have their meaning here.
ARGUMENTS = {
    "cutoff": ("limit",),
    "edge_attr": ("weight",),
    "indices": ("source", "sources"),
    "k": ("samples",),
    "min_only": ("sources",),
    "return_predecessors": ("predecessors",),
    "source": ("sources", "v", "u", "nbunch"),
    "sources": ("v", "u", "nbunch"),
    "weight": ("weights",),
}

#: Arguments that are a matter of the graph here.
OF_GRAPHS = {
    "create_using": "directed=False, as of mgraph.Graph.from_pandas, stores each edge in both directions",
    "delimiter": "mgraph.read finds what separates columns",
    "directed": "a graph has its direction, as mgraph.Graph.from_scipy(matrix, directed=False) gives it",
    "distance": "weights count unless weight=False; mgraph.Graph.from_networkx(G, weight=...) names them",
    "sep": "mgraph.read finds what separates columns",
    "undirected": "directed=False, as of mgraph.read, stores each edge in both directions",
    "unweighted": "give graph.unweighted()",
    "weight": "a graph has its weights, as mgraph.Graph.from_pandas(frame, source, target, weight) gives them",
}

#: Attributes of a graph.
ATTRIBUTES = {
    "add_edge": "a graph does not change; mgraph.Graph.from_edges makes another",
    "add_edges_from": "a graph does not change; mgraph.Graph.from_edges makes one of all edges",
    "add_node": "a graph does not change; mgraph.Graph.from_edges makes another",
    "degree": "graph.degrees()",
    "edges": "graph.coo(), the sources, targets and weights",
    "is_directed": "graph.directed",
    "neighbors": "graph.csr(), the targets by source",
    "nnz": "graph.m",
    "nodes": "graph.n of them, with names graph.ids",
    "number_of_edges": "graph.m",
    "number_of_nodes": "graph.n",
    "order": "graph.n",
    "reverse": "graph.reversed()",
    "shape": "graph.n vertices, graph.m edges",
    "size": "graph.m",
    "successors": "graph.csr(), the targets by source",
    "tocsr": "graph.to_scipy()",
    "vertices": "graph.n of them, with names graph.ids",
}


def advice(words: Mapping[str, str], name: str) -> str:
    """Return what an error of a name adds: what is written in its place, or "" if nobody knows.

    Examples
    --------
    >>> from mgraph.vocabulary import CALLS, advice
    >>> advice(CALLS, "dijkstra"), advice(CALLS, "xyz")
    (': mgraph.sssp(graph, source)', '')
    """
    return f": {words[name]}" if name in words else ""


def advice_on_argument(name: str, known: Collection[str]) -> str:
    """Return what an error of an argument adds that a call has not; `known` are those that it has.

    Examples
    --------
    >>> from mgraph.vocabulary import advice_on_argument
    >>> advice_on_argument("cutoff", ["source", "limit"]), advice_on_argument("sorce", ["source", "limit"])
    (': it is limit= here', ': source is one')
    """
    meant = next((each for each in ARGUMENTS.get(name, ()) if each in known), None)
    if meant is not None:
        return f": it is {meant}= here"
    near = difflib.get_close_matches(name, sorted(known), 1, 0.8)
    return advice(OF_GRAPHS, name) or (f": {near[0]} is one" if near else "")


def unknown_argument(name: str, given: str, known: Collection[str]) -> TypeError:
    """Return the error of an argument that a function of this name has not, with what is written in its place.

    Examples
    --------
    >>> from mgraph.vocabulary import unknown_argument
    >>> unknown_argument("bfs", "cutoff", ["graph", "source", "limit"])
    TypeError("bfs() got an unexpected keyword argument 'cutoff': it is limit= here")
    """
    return TypeError(f"{name}() got an unexpected keyword argument {given!r}{advice_on_argument(given, known)}")


def advised(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function whose error of an argument that it has not says what is written in its place.

    Examples
    --------
    >>> from mgraph.vocabulary import advised
    >>> @advised
    ... def read(path, weight=None): ...
    >>> read("roads.csv", edge_attr="km")
    Traceback (most recent call last):
        ...
    TypeError: read() got an unexpected keyword argument 'edge_attr': it is weight= here
    """
    known = frozenset(inspect.signature(function).parameters)

    @functools.wraps(function)
    def called(*args: P.args, **options: P.kwargs) -> T:
        unknown = options.keys() - known
        if unknown:
            raise unknown_argument(function.__name__, min(unknown), known)
        return function(*args, **options)

    return called
