"""Shortest paths with or without weights: NetworkX's `shortest_paths.generic`.

All but `average_shortest_path_length` are NetworkX's own functions. They check their arguments and call a function of
`shortest_paths.unweighted` or `shortest_paths.weighted`; as the graph is a converted one, NetworkX lets mgraph run it.
"""

import math
from collections.abc import Iterator
from typing import Any

import networkx as nx

from .components import all_reach_all
from .converted import ConvertedGraph
from .measures import sums
from .search import check_nonnegative


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
    """Yield what `networkx.all_shortest_paths` does."""
    found: Iterator[list[Any]] = nx.all_shortest_paths.orig_func(G, source, target, weight, method)
    return found


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
