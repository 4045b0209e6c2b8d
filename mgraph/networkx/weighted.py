"""Paths of the least weight: NetworkX's `shortest_paths.weighted`.

What yields is a function that returns a generator, so that NetworkX learns before the first item if mgraph declines the
weights, and runs the call itself.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import networkx as nx
import numpy as np

from ..errors import NegativeCycleError
from ..graph import Graph
from ..graph.compressed import rows_of, selected
from ..graph.potentials import negative_cycle, potentials
from .converted import ConvertedGraph
from .search import (
    Search,
    all_predecessors,
    by_any_length,
    by_length,
    by_steps,
    check_nonnegative,
    checked_nodes,
    every_search,
    first_seen,
    lengths_by_node,
    path_to,
    paths_by_node,
)


def dijkstra_path(G: ConvertedGraph, source: Any, target: Any, weight: Any = "weight") -> list[Any]:
    """Return `networkx.dijkstra_path`."""
    path: list[Any] = multi_source_dijkstra(G, [source], target, weight=weight)[1]
    return path


def dijkstra_path_length(G: ConvertedGraph, source: Any, target: Any, weight: Any = "weight") -> Any:
    """Return `networkx.dijkstra_path_length`."""
    try:
        return multi_source_dijkstra(G, [source], target, weight=weight)[0]
    except nx.NetworkXNoPath:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}") from None


def single_source_dijkstra(
    G: ConvertedGraph, source: Any, target: Any = None, cutoff: float | None = None, weight: Any = "weight"
) -> tuple[Any, Any]:
    """Return `networkx.single_source_dijkstra`."""
    return multi_source_dijkstra(G, [source], target, cutoff, weight)


def single_source_dijkstra_path(
    G: ConvertedGraph, source: Any, cutoff: float | None = None, weight: Any = "weight"
) -> dict[Any, list[Any]]:
    """Return `networkx.single_source_dijkstra_path`."""
    return multi_source_dijkstra_path(G, [source], cutoff, weight)


def single_source_dijkstra_path_length(
    G: ConvertedGraph, source: Any, cutoff: float | None = None, weight: Any = "weight"
) -> dict[Any, Any]:
    """Return `networkx.single_source_dijkstra_path_length`."""
    return multi_source_dijkstra_path_length(G, [source], cutoff, weight)


def multi_source_dijkstra(
    G: ConvertedGraph, sources: Any, target: Any = None, cutoff: float | None = None, weight: Any = "weight"
) -> tuple[Any, Any]:
    """Return `networkx.multi_source_dijkstra`."""
    starts = _sources(G, sources)
    if target in sources:
        return 0, [target]
    if target is None:
        search = by_length(G, starts, weight, cutoff)
        return lengths_by_node(G, search), paths_by_node(G, search)
    G.graph_of(weight)
    check_nonnegative(G, weight)
    if target not in G:
        raise nx.NetworkXNoPath(f"No path to {target}.")
    end = int(G.numbered([target])[0])
    search = by_length(G, starts, weight, cutoff, end)
    return _to_target(G, search, end, f"No path to {target}.")


def multi_source_dijkstra_path(
    G: ConvertedGraph, sources: Any, cutoff: float | None = None, weight: Any = "weight"
) -> dict[Any, list[Any]]:
    """Return `networkx.multi_source_dijkstra_path`."""
    return paths_by_node(G, by_length(G, _sources(G, sources), weight, cutoff))


def multi_source_dijkstra_path_length(
    G: ConvertedGraph, sources: Any, cutoff: float | None = None, weight: Any = "weight"
) -> dict[Any, Any]:
    """Return `networkx.multi_source_dijkstra_path_length`."""
    return lengths_by_node(G, by_length(G, _sources(G, sources), weight, cutoff))


def _sources(G: ConvertedGraph, sources: Any) -> np.ndarray:
    if not sources:
        raise ValueError("sources must not be empty")
    return checked_nodes(G, sources, "Node {} not found in graph")


def _to_target(G: ConvertedGraph, search: Search, end: int, message: str) -> tuple[Any, list[Any]]:
    """Return the distance of a target and the path to it.

    Raises
    ------
    networkx.NetworkXNoPath
        With the message, if it was not reached.
    """
    places = np.flatnonzero(search.order == end)
    if not len(places):
        raise nx.NetworkXNoPath(message)
    return search.lengths[int(places[0])], path_to(G, search, end)


def dijkstra_predecessor_and_distance(
    G: ConvertedGraph, source: Any, cutoff: float | None = None, weight: Any = "weight"
) -> tuple[dict[Any, list[Any]], dict[Any, Any]]:
    """Return `networkx.dijkstra_predecessor_and_distance`."""
    search = by_length(G, checked_nodes(G, [source], "Node {} is not found in the graph"), weight, cutoff)
    if cutoff is not None and cutoff < 0:  # not even an edge of weight 0 is followed
        return {source: []}, lengths_by_node(G, search)
    weights = G.weights(weight).values
    found = all_predecessors(G, search, weights)
    met = G.named(first_seen(G, search, weights, cutoff))
    return {node: found[node] for node in met}, lengths_by_node(G, search)


def _of_all_pairs(
    G: ConvertedGraph, weight: Any, cutoff: float | None, read: Callable[[ConvertedGraph, Search], Any]
) -> Iterator[tuple[Any, Any]]:
    check_nonnegative(G, weight)
    return ((node, read(G, search)) for node, search in zip(G, every_search(G, weight, cutoff), strict=True))


def all_pairs_dijkstra(
    G: ConvertedGraph, cutoff: float | None = None, weight: Any = "weight"
) -> Iterator[tuple[Any, Any]]:
    """Yield what `networkx.all_pairs_dijkstra` does."""
    return _of_all_pairs(G, weight, cutoff, lambda G, search: (lengths_by_node(G, search), paths_by_node(G, search)))


def all_pairs_dijkstra_path_length(
    G: ConvertedGraph, cutoff: float | None = None, weight: Any = "weight"
) -> Iterator[tuple[Any, Any]]:
    """Yield what `networkx.all_pairs_dijkstra_path_length` does."""
    return _of_all_pairs(G, weight, cutoff, lengths_by_node)


def all_pairs_dijkstra_path(
    G: ConvertedGraph, cutoff: float | None = None, weight: Any = "weight"
) -> Iterator[tuple[Any, Any]]:
    """Yield what `networkx.all_pairs_dijkstra_path` does."""
    return _of_all_pairs(G, weight, cutoff, paths_by_node)


def bidirectional_dijkstra(G: ConvertedGraph, source: Any, target: Any, weight: Any = "weight") -> tuple[Any, Any]:
    """Return `networkx.bidirectional_dijkstra`."""
    starts = checked_nodes(G, [source], "Source {} is not in G")
    [end] = checked_nodes(G, [target], "Target {} is not in G").tolist()
    if source == target:
        return 0, [source]
    search = by_length(G, starts, weight, target=end)
    return _to_target(G, search, end, f"No path between {source} and {target}.")


def bellman_ford_path(G: ConvertedGraph, source: Any, target: Any, weight: Any = "weight") -> list[Any]:
    """Return `networkx.bellman_ford_path`."""
    path: list[Any] = single_source_bellman_ford(G, source, target, weight)[1]
    return path


def bellman_ford_path_length(G: ConvertedGraph, source: Any, target: Any, weight: Any = "weight") -> Any:
    """Return `networkx.bellman_ford_path_length`."""
    try:
        return single_source_bellman_ford(G, source, target, weight)[0]
    except nx.NetworkXNoPath:
        raise nx.NetworkXNoPath(f"node {target} not reachable from {source}") from None


def single_source_bellman_ford(
    G: ConvertedGraph, source: Any, target: Any = None, weight: Any = "weight"
) -> tuple[Any, Any]:
    """Return `networkx.single_source_bellman_ford`."""
    start = int(checked_nodes(G, [source], "Source {} not in G")[0])
    if source == target:
        return 0, [source]
    search = by_any_length(G, start, weight)
    if target is None:
        return lengths_by_node(G, search), paths_by_node(G, search)
    message = f"Node {target} not reachable from {source}"
    if target not in G:
        raise nx.NetworkXNoPath(message)
    return _to_target(G, search, int(G.numbered([target])[0]), message)


def single_source_bellman_ford_path(G: ConvertedGraph, source: Any, weight: Any = "weight") -> dict[Any, list[Any]]:
    """Return `networkx.single_source_bellman_ford_path`."""
    return paths_by_node(G, by_any_length(G, int(checked_nodes(G, [source], "Source {} not in G")[0]), weight))


def single_source_bellman_ford_path_length(G: ConvertedGraph, source: Any, weight: Any = "weight") -> dict[Any, Any]:
    """Return `networkx.single_source_bellman_ford_path_length`."""
    return lengths_by_node(G, by_any_length(G, int(checked_nodes(G, [source], "Source {} not in G")[0]), weight))


def all_pairs_bellman_ford_path(G: ConvertedGraph, weight: Any = "weight") -> Iterator[tuple[Any, Any]]:
    """Yield what `networkx.all_pairs_bellman_ford_path` does."""
    G.graph_of(weight)
    return ((node, single_source_bellman_ford_path(G, node, weight)) for node in G)


def all_pairs_bellman_ford_path_length(G: ConvertedGraph, weight: Any = "weight") -> Iterator[tuple[Any, Any]]:
    """Yield what `networkx.all_pairs_bellman_ford_path_length` does."""
    G.graph_of(weight)
    return ((node, single_source_bellman_ford_path_length(G, node, weight)) for node in G)


def bellman_ford_predecessor_and_distance(
    G: ConvertedGraph, source: Any, target: Any = None, weight: Any = "weight", heuristic: bool = False
) -> tuple[dict[Any, list[Any]], dict[Any, Any]]:
    """Return `networkx.bellman_ford_predecessor_and_distance`; neither `target` nor `heuristic` changes the result."""
    search = checked_loops(G, source, weight)
    if len(G) == 1:
        return {source: []}, {source: 0}
    return all_predecessors(G, search, G.weights(weight).values), lengths_by_node(G, search)


def goldberg_radzik(G: ConvertedGraph, source: Any, weight: Any = "weight") -> tuple[dict[Any, Any], dict[Any, Any]]:
    """Return `networkx.goldberg_radzik`."""
    search = checked_loops(G, source, weight)
    names = G.named(search.order)
    before = search.predecessors[search.order]
    previous: Iterable[Any] = G.named(np.maximum(before, 0))
    predecessors = {
        name: None if start else node for name, node, start in zip(names, previous, (before < 0).tolist(), strict=True)
    }
    return predecessors, lengths_by_node(G, search)


def checked_loops(G: ConvertedGraph, source: Any, weight: Any) -> Search:
    """Return a search in a graph without a negative self-loop, reached or not.

    Raises
    ------
    networkx.NetworkXUnbounded
        If there is one, or a cycle of negative weight that can be reached.
    """
    start = int(checked_nodes(G, [source], "Node {} is not found in the graph")[0])
    indptr, indices = G.rows
    loops = rows_of(indptr, len(indices), np) == indices
    if bool((G.weights(weight).values[loops] < 0).any()):
        raise nx.NetworkXUnbounded("Negative cycle detected.")
    return by_any_length(G, start, weight)


def negative_edge_cycle(G: ConvertedGraph, weight: Any = "weight", heuristic: bool = True) -> bool:
    """Return `networkx.negative_edge_cycle`; `heuristic` does not change the result."""
    try:
        potentials(G.graph_of(weight))
    except NegativeCycleError:
        return True
    return False


def johnson(G: ConvertedGraph, weight: Any = "weight") -> dict[Any, dict[Any, list[Any]]]:
    """Return `networkx.johnson`."""
    if negative_edge_cycle(G, weight):
        raise nx.NetworkXUnbounded("Negative cycle detected.")
    if G.graph_of(weight).nonnegative:
        return {node: paths_by_node(G, search) for node, search in zip(G, every_search(G, weight), strict=True)}
    return {node: single_source_bellman_ford_path(G, node, weight) for node in G}


def find_negative_cycle(G: ConvertedGraph, source: Any, weight: Any = "weight") -> list[Any]:
    """Return `networkx.find_negative_cycle`, perhaps from another node, or another cycle."""
    reached = np.zeros(len(G), bool)
    reached[by_steps(G, checked_nodes(G, [source], "Source {} not in G"), len(G)).order] = True
    edges = G.graph_of(weight).listed()
    there = selected(edges, reached[edges.src], len(G), np)
    cycle = negative_cycle(Graph(len(G), csr=there))
    if not cycle:
        raise nx.NetworkXError("No negative cycles detected.")
    return G.named(np.array([*cycle, cycle[0]], np.int32))
