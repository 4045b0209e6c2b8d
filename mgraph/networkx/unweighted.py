"""Paths of the fewest edges: NetworkX's `shortest_paths.unweighted`."""

from collections.abc import Iterator
from typing import Any

import networkx as nx

from .converted import ConvertedGraph
from .search import all_predecessors, by_steps, checked_nodes, lengths_by_node, path_to, paths_by_node, steps


def single_source_shortest_path(G: ConvertedGraph, source: Any, cutoff: float | None = None) -> dict[Any, list[Any]]:
    """Return `networkx.single_source_shortest_path`."""
    return paths_by_node(G, by_steps(G, checked_nodes(G, [source], "Source {} not in G"), steps(cutoff, len(G))))


def single_source_shortest_path_length(G: ConvertedGraph, source: Any, cutoff: float | None = None) -> dict[Any, int]:
    """Return `networkx.single_source_shortest_path_length`."""
    return lengths_by_node(G, by_steps(G, checked_nodes(G, [source], "Source {} is not in G"), steps(cutoff, len(G))))


def single_target_shortest_path(G: ConvertedGraph, target: Any, cutoff: float | None = None) -> dict[Any, list[Any]]:
    """Return `networkx.single_target_shortest_path`."""
    against = G.reverse()
    return paths_by_node(
        G, by_steps(against, checked_nodes(G, [target], "Target {} not in G"), steps(cutoff, len(G))), backward=True
    )


def single_target_shortest_path_length(G: ConvertedGraph, target: Any, cutoff: float | None = None) -> dict[Any, int]:
    """Return `networkx.single_target_shortest_path_length`."""
    return lengths_by_node(
        G, by_steps(G.reverse(), checked_nodes(G, [target], "Target {} is not in G"), steps(cutoff, len(G)))
    )


def all_pairs_shortest_path(
    G: ConvertedGraph, cutoff: float | None = None
) -> Iterator[tuple[Any, dict[Any, list[Any]]]]:
    """Yield what `networkx.all_pairs_shortest_path` does."""
    for node in G:
        yield node, single_source_shortest_path(G, node, cutoff)


def all_pairs_shortest_path_length(
    G: ConvertedGraph, cutoff: float | None = None
) -> Iterator[tuple[Any, dict[Any, int]]]:
    """Yield what `networkx.all_pairs_shortest_path_length` does."""
    for node in G:
        yield node, single_source_shortest_path_length(G, node, cutoff)


def bidirectional_shortest_path(G: ConvertedGraph, source: Any, target: Any) -> list[Any]:
    """Return `networkx.bidirectional_shortest_path`."""
    starts = checked_nodes(G, [source], "Source {} is not in G")
    [end] = checked_nodes(G, [target], "Target {} is not in G").tolist()
    search = by_steps(G, starts, len(G))
    if search.predecessors[end] < 0 and end != starts[0]:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return path_to(G, search, end)


def predecessor(
    G: ConvertedGraph, source: Any, target: Any = None, cutoff: float | None = None, return_seen: bool | None = None
) -> Any:
    """Return `networkx.predecessor`."""
    sources = checked_nodes(G, [source], "Source {} not in G")
    search = by_steps(G, sources, max(1, steps(cutoff, len(G))) if cutoff else len(G))
    found, seen = all_predecessors(G, search), lengths_by_node(G, search)
    if target is None:
        return (found, seen) if return_seen else found
    before = found.get(target, [])
    return (before, seen.get(target, -1)) if return_seen else before
