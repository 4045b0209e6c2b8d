"""Distances between all pairs: NetworkX's `shortest_paths.dense`."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import networkx as nx
import numpy as np

from .. import device as devices
from ..algorithms.apsp.call import ApspResult, apsp
from ..errors import NegativeCycleError
from ..graph.compressed import rows_of
from .converted import ConvertedGraph
from .search import lengths_of


def floyd_warshall_numpy(
    G: ConvertedGraph, nodelist: Sequence[Any] | None = None, weight: Any = "weight"
) -> np.ndarray:
    """Return `networkx.floyd_warshall_numpy`."""
    if nodelist is not None and not len(nodelist) == len(G) == len(set(nodelist)):
        raise nx.NetworkXError("nodelist must contain every node in G with no repeats")
    lengths = lengths_of(_solved(G, weight, mixed=True).distances)
    if nodelist is None:
        return lengths
    order = G.numbered(nodelist)
    return lengths[np.ix_(order, order)]


def floyd_warshall_predecessor_and_distance(
    G: ConvertedGraph, weight: Any = "weight"
) -> tuple[dict[Any, dict[Any, Any]], dict[Any, dict[Any, Any]]]:
    """Return `networkx.floyd_warshall_predecessor_and_distance`."""
    result = _solved(G, weight, default=1.0, predecessors=True)
    indptr, indices = G.rows
    loops = set(indices[rows_of(indptr, len(indices), np) == indices].tolist())
    found = {}
    for vertex, (node, row) in enumerate(zip(G, devices.to_host(result.predecessors), strict=True)):
        (ends,) = np.nonzero(row >= 0)
        found[node] = dict(zip(G.named(ends), G.named(row[ends]), strict=True))
        if vertex in loops:
            found[node][node] = node
    return {node: row for node, row in found.items() if row}, _by_node(G, result, weight)


def reconstruct_path(source: Any, target: Any, predecessors: Mapping[Any, Mapping[Any, Any]]) -> list[Any]:
    """Return `networkx.reconstruct_path`, of what `floyd_warshall_predecessor_and_distance` found."""
    path = [] if source == target else [target]
    while path and path[-1] != source:
        path.append(predecessors[source][path[-1]])
    return path[::-1]


def floyd_warshall(G: ConvertedGraph, weight: Any = "weight") -> dict[Any, dict[Any, Any]]:
    """Return `networkx.floyd_warshall`."""
    return _by_node(G, _solved(G, weight, default=1.0), weight)


def _solved(
    G: ConvertedGraph, weight: Any, default: float = 1, mixed: bool = False, predecessors: bool = False
) -> ApspResult:
    """Return the distances between all pairs.

    Raises
    ------
    NotImplementedError
        As of `ConvertedGraph.weights`, and for a cycle of negative weight, along which NetworkX goes round some times.
    """
    graph = G.graph_of(weight, default, mixed)
    try:
        return apsp(graph, predecessors=predecessors)
    except NegativeCycleError as error:
        raise NotImplementedError("there is a cycle of negative weight") from error


def _by_node(G: ConvertedGraph, result: ApspResult, weight: Any) -> dict[Any, dict[Any, Any]]:
    """Return distances by node, infinite where there is no path, and the integer 0 from a node to itself."""
    whole = G.weights(weight, 1.0).whole
    nodes = list(G)
    found: dict[Any, dict[Any, Any]] = {}
    for vertex, (node, row) in enumerate(zip(nodes, result.distances, strict=True)):
        lengths: list[Any]
        exact = lengths_of(row)
        if whole:
            reached = np.isfinite(exact)
            numbers = exact.astype(object)
            numbers[reached] = exact[reached].astype(np.int64)
            lengths = numbers.tolist()
        else:
            lengths = exact.tolist()
        lengths[vertex] = 0
        found[node] = defaultdict(_infinity, zip(nodes, lengths, strict=True))
    return found


def _infinity() -> float:
    """Return the distance of a node that is not in the graph, as NetworkX's dictionaries have it."""
    return float("inf")
