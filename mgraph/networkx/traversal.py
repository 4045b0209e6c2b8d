"""Breadth-first search: NetworkX's `traversal.breadth_first_search`, and a node's descendants and ancestors."""

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

import networkx as nx
import numpy as np

from .converted import ConvertedGraph
from .search import Search, by_steps, checked_nodes, steps


def _search(
    G: ConvertedGraph, source: Any, reverse: bool = False, depth_limit: float | None = None
) -> tuple[ConvertedGraph, Search]:
    """Return the graph that was searched, and what was found.

    Raises
    ------
    networkx.NetworkXError
        If the source is not in the graph.
    """
    searched = G.reverse() if reverse else G
    sources = checked_nodes(G, [source], "The node {} is not in the graph.", nx.NetworkXError)
    return searched, by_steps(searched, sources, steps(depth_limit, len(G)))


def _edges(graph: ConvertedGraph, search: Search) -> Iterator[tuple[Any, Any]]:
    found = search.order[1:]
    return zip(graph.named(search.predecessors[found]), graph.named(found), strict=True)


def generic_bfs_edges(
    G: ConvertedGraph, source: Any, neighbors: Any = None, depth_limit: float | None = None
) -> Iterator[tuple[Any, Any]]:
    """Yield what `networkx.generic_bfs_edges` does."""
    yield from _edges(*_search(G, source, False, depth_limit))


def bfs_edges(
    G: ConvertedGraph, source: Any, reverse: bool = False, depth_limit: float | None = None, sort_neighbors: Any = None
) -> Iterator[tuple[Any, Any]]:
    """Yield what `networkx.bfs_edges` does."""
    yield from _edges(*_search(G, source, reverse, depth_limit))


def bfs_tree(
    G: ConvertedGraph, source: Any, reverse: bool = False, depth_limit: float | None = None, sort_neighbors: Any = None
) -> nx.DiGraph:
    """Return `networkx.bfs_tree`."""
    tree = nx.DiGraph()
    tree.add_node(source)
    tree.add_edges_from(_edges(*_search(G, source, reverse, depth_limit)))
    return tree


def bfs_predecessors(
    G: ConvertedGraph, source: Any, depth_limit: float | None = None, sort_neighbors: Any = None
) -> Iterator[tuple[Any, Any]]:
    """Yield what `networkx.bfs_predecessors` does."""
    for before, node in bfs_edges(G, source, depth_limit=depth_limit):
        yield node, before


def bfs_successors(
    G: ConvertedGraph, source: Any, depth_limit: float | None = None, sort_neighbors: Any = None
) -> Iterator[tuple[Any, list[Any]]]:
    """Yield what `networkx.bfs_successors` does."""
    alone = True
    for before, edges in groupby(bfs_edges(G, source, depth_limit=depth_limit), itemgetter(0)):
        alone = False
        yield before, [node for _, node in edges]
    if alone:
        yield source, []


def bfs_layers(G: ConvertedGraph, sources: Any) -> Iterator[list[Any]]:
    """Yield what `networkx.bfs_layers` does."""
    first = {sources} if sources in G else set(sources)
    search = by_steps(G, checked_nodes(G, first, "The node {} is not in the graph.", nx.NetworkXError), len(G))
    ends = np.cumsum(np.bincount(np.array(search.lengths, np.int64))) if first else np.empty(0, np.int64)
    begin = 0
    for end in ends.tolist():
        yield G.named(search.order[begin:end])
        begin = end


def descendants_at_distance(G: ConvertedGraph, source: Any, distance: Any) -> set[Any]:
    """Return `networkx.descendants_at_distance`."""
    searched, search = _search(G, source, False, max(distance, 0))
    return set(searched.named(search.order[np.array(search.lengths) == distance]))


def descendants(G: ConvertedGraph, source: Any) -> set[Any]:
    """Return `networkx.descendants`."""
    searched, search = _search(G, source)
    return set(searched.named(search.order[1:]))


def ancestors(G: ConvertedGraph, source: Any) -> set[Any]:
    """Return `networkx.ancestors`."""
    searched, search = _search(G, source, reverse=True)
    return set(searched.named(search.order[1:]))
