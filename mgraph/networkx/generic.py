"""Shortest paths with or without weights: NetworkX's `shortest_paths.generic`.

`shortest_path`, `shortest_path_length` and `has_path` are NetworkX's own functions. They check their arguments and call
a function of `shortest_paths.unweighted` or `shortest_paths.weighted`; as the graph is a converted one, NetworkX lets
mgraph run it.
"""

import math
from collections.abc import Iterator
from typing import Any

import networkx as nx

from .components import all_reach_all
from .converted import ConvertedGraph
from .measures import sums
from .search import check_nonnegative
from .unweighted import predecessor
from .weighted import bellman_ford_predecessor_and_distance, dijkstra_predecessor_and_distance


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
    if weight is None or method == "unweighted":
        before = predecessor(G, source)
    elif method == "dijkstra":
        before, _ = dijkstra_predecessor_and_distance(G, source, weight=weight)
    elif method == "bellman-ford":
        before, _ = bellman_ford_predecessor_and_distance(G, source, weight=weight)
    else:
        raise ValueError(f"method not supported: {method}")
    return _simple_paths(before | {source: []}, source, target)


def _simple_paths(before: dict[Any, list[Any]], source: Any, target: Any) -> Iterator[list[Any]]:
    """Yield the paths from a source, which nothing is before, to a target, in NetworkX's order.

    Raises
    ------
    networkx.NetworkXNoPath
        If the target was not reached.
    """
    if target not in before:
        raise nx.NetworkXNoPath(f"Target {target} cannot be reached from given sources")
    untried = {target: iter(before[target])}  # of each node of the path, from its end
    while untried:
        node = next(reversed(untried))
        if node == source:
            yield list(reversed(untried))
        following = next((other for other in untried[node] if other not in untried), None)
        if following is None:  # None is not a node
            del untried[node]
        else:
            untried[following] = iter(before[following])


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
