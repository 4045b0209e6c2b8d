"""Shortest paths with or without weights: NetworkX's `shortest_paths.generic`.

`shortest_path`, `shortest_path_length` and `has_path` are NetworkX's own functions. They check their arguments and call
a function of `shortest_paths.unweighted` or `shortest_paths.weighted`; as the graph is a converted one, NetworkX lets
mgraph run it.
"""

import math
from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

from .components import all_reach_all
from .converted import ConvertedGraph
from .measures import sums
from .search import (
    Predecessors,
    Search,
    by_length,
    by_steps,
    check_nonnegative,
    checked_nodes,
    first_seen,
    predecessors_of,
)
from .weighted import checked_loops

#: The most paths from a source that are kept while they are made of each other.
MOST_KEPT = 1 << 20


def shortest_path(
    G: ConvertedGraph, source: Any = None, target: Any = None, weight: Any = None, method: str = "dijkstra"
) -> Any:
    """Return `networkx.shortest_path`."""
    return nx.shortest_path.orig_func(G, source, target, weight, method)


def shortest_path_length(
    G: ConvertedGraph, source: Any = None, target: Any = None, weight: Any = None, method: str = "dijkstra"
) -> Any:
    """Return `networkx.shortest_path_length`."""
    return nx.shortest_path_length.orig_func(G, source, target, weight, method)


def has_path(G: ConvertedGraph, source: Any, target: Any) -> bool:
    """Return `networkx.has_path`."""
    found: bool = nx.has_path.orig_func(G, source, target)
    return found


def all_shortest_paths(
    G: ConvertedGraph, source: Any, target: Any, weight: Any = None, method: str = "dijkstra"
) -> Iterator[list[Any]]:
    """Yield what `networkx.all_shortest_paths` does, but each path once.

    NetworkX repeats a path for each edge of weight zero that leads back to the source, as it searches on behind it.
    """
    start, search, weights = _searched(G, source, weight, method)
    known = predecessors_of(G, search, weights)
    message = f"Target {target} cannot be reached from given sources"
    end = int(checked_nodes(G, [target], message, nx.NetworkXNoPath)[0])
    if known.places[end] < 0:
        raise nx.NetworkXNoPath(message)
    return _named_paths(G, known, start, end)


def single_source_all_shortest_paths(
    G: ConvertedGraph, source: Any, weight: Any = None, method: str = "dijkstra"
) -> Iterator[tuple[Any, list[list[Any]]]]:
    """Yield what `networkx.single_source_all_shortest_paths` does, but each path once."""
    start, search, weights = _searched(G, source, weight, method)
    known = predecessors_of(G, search, weights)
    met = search.order if weights is None or method == "bellman-ford" else first_seen(G, search, weights, None)
    names = zip(G.named(met), met.tolist(), strict=True)
    order = search.order[np.argsort(search.lengths, kind="stable")]
    rank = np.empty(len(G), np.int64)
    rank[order] = np.arange(len(order))
    heads = np.repeat(search.order, np.diff(known.ends, prepend=0))
    if bool((rank[known.tails] < rank[heads])[heads != start].all()):  # else there may be cycles of length 0
        before = {v: known.before(v) for v in order.tolist()} | {start: []}
        if _number_of_paths(before, start) <= MOST_KEPT:
            paths = _paths_by_vertex(G, before, start)
            return ((node, paths[end]) for node, end in names)
    return ((node, list(_named_paths(G, known, start, end))) for node, end in names)


def _number_of_paths(before: dict[int, list[int]], start: int) -> int:
    """Return the number of shortest paths to all vertices, which come in the order of their distances."""
    counts = {start: 1}
    for vertex, vertices in before.items():
        if vertex != start:
            counts[vertex] = sum(counts[each] for each in vertices)
    return sum(counts.values())


def _paths_by_vertex(G: ConvertedGraph, before: dict[int, list[int]], start: int) -> dict[int, list[list[Any]]]:
    """Return the shortest paths to each vertex: those to the vertices before it, and one step more."""
    names = dict(zip(before, G.named(np.array(list(before), np.int32)), strict=True))
    paths = {start: [[names[start]]]}
    for vertex, vertices in before.items():
        if vertex != start:
            paths[vertex] = [[*path, names[vertex]] for each in vertices for path in paths[each]]
    return paths


def _searched(G: ConvertedGraph, source: Any, weight: Any, method: str) -> tuple[int, Search, np.ndarray | None]:
    """Return a source's number, what NetworkX's search from it finds, and the weights that it reads."""
    if weight is None or method == "unweighted":
        starts = checked_nodes(G, [source], "Source {} not in G")
        return int(starts[0]), by_steps(G, starts, len(G)), None
    if method == "dijkstra":
        starts = checked_nodes(G, [source], "Node {} is not found in the graph")
        return int(starts[0]), by_length(G, starts, weight), G.weights(weight).values
    if method != "bellman-ford":
        raise ValueError(f"method not supported: {method}")
    search = checked_loops(G, source, weight)
    return int(G.numbered([source])[0]), search, G.weights(weight).values


def _named_paths(G: ConvertedGraph, known: Predecessors, start: int, end: int) -> Iterator[list[Any]]:
    """Yield the simple paths from a vertex, before which there is none, to another one, in NetworkX's order."""
    untried: dict[int, Iterator[int]] = {}  # of each vertex of the path, from its end
    following: int | None = end
    while following is not None or untried:
        if following is None:
            untried.popitem()
        else:
            untried[following] = iter(() if following == start else known.before(following))
            if following == start:
                yield G.named(np.array(list(reversed(untried)), np.int32))
        last = next(reversed(untried), None)
        following = None if last is None else next((v for v in untried[last] if v not in untried), None)


def average_shortest_path_length(G: ConvertedGraph, weight: Any = None, method: str | None = None) -> float:
    """Return `networkx.average_shortest_path_length`; the paths are found in one way by whatever `method`."""
    chosen = ("unweighted" if weight is None else "dijkstra") if method is None else method
    if chosen not in ("unweighted", "dijkstra", "bellman-ford", "floyd-warshall", "floyd-warshall-numpy"):
        raise ValueError(f"method not supported: {method}")
    n, attribute = len(G), None if chosen == "unweighted" else weight
    if n == 1:
        return 0
    if not all_reach_all(G):
        raise nx.NetworkXError(f"Graph is not {'strongly ' if G.is_directed() else ''}connected.")
    if attribute is not None:
        check_nonnegative(G, attribute)
    return float(math.fsum(total for _, total in sums(G, attribute)) / (n * (n - 1)))
