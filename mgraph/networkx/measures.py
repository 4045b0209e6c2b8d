"""Measures of distances: eccentricities, centralities, efficiency, the Wiener index, Voronoi cells of NetworkX."""

import math
from collections.abc import Iterable
from typing import Any

import networkx as nx
import numpy as np

from .. import device as devices
from ..algorithms.distances.call import DistancesResult, distances
from ..graph import Graph
from .components import all_reach_all
from .converted import ConvertedGraph
from .search import by_length, check_nonnegative, checked_nodes, numbers_of

#: Edges whose ends' neighbours are searched at a time, for local efficiency.
EDGES_AT_A_TIME = 1 << 12


def _measured(
    G: ConvertedGraph, weight: Any, reduce: Any, sources: Any = None, targets: Any = None, reverse: bool = False
) -> DistancesResult:
    """Return measures of distances, unless NetworkX would add up the weights otherwise.

    Raises
    ------
    NotImplementedError
        As of `ConvertedGraph.weights`, and for a negative weight.
    """
    graph = G.graph_of(weight)
    if weight is not None:
        check_nonnegative(G, weight)
    return distances(graph, sources, targets, reduce=reduce, reverse=reverse)


def sums(
    G: ConvertedGraph, weight: Any, sources: np.ndarray | None = None, reverse: bool = False
) -> Iterable[tuple[int, Any]]:
    """Return, for each source, how many nodes it reaches, itself included, and the sum of their distances.

    Raises
    ------
    NotImplementedError
        As of `ConvertedGraph.weights`, and for a negative weight.
    """
    result = _measured(G, weight, ("reached", "mean"), sources, reverse=reverse)
    reached, mean = devices.to_host(result.reached), devices.to_host(result.mean)
    total = np.where(reached > 1, mean * (reached - 1), 0.0)
    numbers: list[Any] = total.tolist()
    if weight is None or G.weights(weight).whole:
        numbers = [round(number) for number in numbers]
    return zip(reached.tolist(), numbers, strict=True)


def eccentricity(G: ConvertedGraph, v: Any = None, sp: Any = None, weight: Any = None) -> Any:
    """Return `networkx.eccentricity`."""
    nodes = list(G) if v is None else list(G.nbunch_iter(v))
    sources = None if v is None else checked_nodes(G, nodes, "Source {} is not in G")
    if not nodes:
        return {}
    result = _measured(G, weight, ("eccentricity", "reached"), sources)
    if bool((devices.to_host(result.reached) < len(G)).any()):
        kind = "digraph is not strongly connected" if G.is_directed() else "graph is not connected"
        raise nx.NetworkXError(f"Found infinite path length because the {kind}")
    whole = weight is None or G.weights(weight).whole
    farthest = devices.to_host(result.eccentricity).astype(np.float64)
    found = dict(zip(nodes, numbers_of(farthest, whole, farthest == 0), strict=True))
    return found[v] if v in G else found


def diameter(G: ConvertedGraph, e: Any = None, usebounds: bool = False, weight: Any = None) -> Any:
    """Return `networkx.diameter`."""
    return nx.diameter.orig_func(G, eccentricity(G, weight=weight))


def radius(G: ConvertedGraph, e: Any = None, usebounds: bool = False, weight: Any = None) -> Any:
    """Return `networkx.radius`."""
    return nx.radius.orig_func(G, eccentricity(G, weight=weight))


def center(G: ConvertedGraph, e: Any = None, usebounds: bool = False, weight: Any = None) -> list[Any]:
    """Return `networkx.center`."""
    if weight is None and not G.is_directed() and G.number_of_edges() == len(G) - 1 and all_reach_all(G):
        return list(nx.tree.center(G.original))  # whose order is another one
    found: list[Any] = nx.center.orig_func(G, eccentricity(G, weight=weight))
    return found


def periphery(G: ConvertedGraph, e: Any = None, usebounds: bool = False, weight: Any = None) -> list[Any]:
    """Return `networkx.periphery`."""
    found: list[Any] = nx.periphery.orig_func(G, eccentricity(G, weight=weight))
    return found


def closeness_centrality(G: ConvertedGraph, u: Any = None, distance: Any = None, wf_improved: bool = True) -> Any:
    """Return `networkx.closeness_centrality`."""
    n, nodes = len(G), list(G) if u is None else [u]
    sources = None if u is None else checked_nodes(G, nodes, "Source {} is not in G")
    found = {}
    for node, (reached, total) in zip(nodes, sums(G, distance, sources, reverse=True), strict=True):
        closeness = 0.0
        if total > 0.0 and n > 1:
            closeness = (reached - 1.0) / total
            if wf_improved:
                closeness *= (reached - 1.0) / (n - 1)
        found[node] = closeness
    return found if u is None else found[u]


def harmonic_centrality(G: ConvertedGraph, nbunch: Any = None, distance: Any = None, sources: Any = None) -> Any:
    """Return `networkx.harmonic_centrality`."""
    wanted = list(G) if nbunch is None else list(dict.fromkeys(G.nbunch_iter(nbunch)))
    given = None if sources is None else G.numbered(dict.fromkeys(G.nbunch_iter(sources)))
    if not wanted or (given is not None and not len(given)):
        return dict.fromkeys(wanted, 0)
    vertices = None if nbunch is None else G.numbered(wanted)
    result = _measured(G, distance, "harmonic", vertices, given, reverse=True)
    values = devices.to_host(result.harmonic)
    return dict(zip(wanted, numbers_of(values, False, values == 0), strict=True))


def global_efficiency(G: ConvertedGraph) -> float:
    """Return `networkx.global_efficiency`."""
    n = len(G)
    return math.fsum(_measured(G, None, "out_harmonic").out_harmonic) / (n * (n - 1)) if n > 1 else 0


def local_efficiency(G: ConvertedGraph) -> float:
    """Return `networkx.local_efficiency`: the mean efficiency of the graphs that nodes' neighbours form.

    Many of these graphs are searched at a time, as parts of one graph: its vertices are the edges of `G`, of which that
    from v to u stands for u among the neighbours of v.
    """
    indptr, neighbours, _ = G.graph_of().compressed("csr")
    n, degrees = len(G), np.diff(indptr).astype(np.int64)
    totals, first = np.zeros(n), 0
    while first < n:
        last = max(first + 1, int(np.searchsorted(indptr, indptr[first] + EDGES_AT_A_TIME, "right")) - 1)
        begin, end = int(indptr[first]), int(indptr[last])
        owners, members = np.repeat(np.arange(first, last), degrees[first:last]), neighbours[begin:end]
        # Edges from a member to any of its own neighbours, of which those stay that are the owner's, too.
        counts = degrees[members]
        steps = np.arange(int(counts.sum())) - np.repeat(counts.cumsum() - counts, counts)
        heads = neighbours[np.repeat(indptr[members], counts) + steps]
        tails = np.repeat(np.arange(end - begin), counts)
        keys, wanted = owners * n + members, owners[tails] * n + heads
        places = np.searchsorted(keys, wanted)
        both = (places < len(keys)) & (keys[np.minimum(places, len(keys) - 1)] == wanted)
        if both.any():
            parts = Graph.from_edges(tails[both], places[both], n=end - begin)
            found = devices.to_host(distances(parts, reduce="out_harmonic").out_harmonic)
            totals[first:last] = np.bincount(owners - first, found, last - first)
        first = last
    pairs = degrees * (degrees - 1)
    return math.fsum(totals[pairs > 0] / pairs[pairs > 0]) / n


def wiener_index(G: ConvertedGraph, weight: Any = None) -> Any:
    """Return `networkx.wiener_index`."""
    if not all_reach_all(G):
        return math.inf
    total = sum(total for _, total in sums(G, weight))
    return total if G.is_directed() else total / 2


def voronoi_cells(G: ConvertedGraph, center_nodes: Any, weight: Any = "weight") -> dict[Any, set[Any]]:
    """Return `networkx.voronoi_cells`."""
    if not center_nodes:
        raise ValueError("sources must not be empty")
    search = by_length(G, checked_nodes(G, center_nodes, "Node {} not found in graph"), weight)
    nearest: dict[int, int] = {}
    cells: dict[Any, set[Any]] = {}
    names = G.named(search.order)
    before = search.predecessors[search.order].tolist()
    centers = dict(zip(search.order.tolist(), names, strict=True))
    for vertex, name, previous in zip(search.order.tolist(), names, before, strict=True):
        nearest[vertex] = vertex if previous < 0 else nearest[previous]
        cells.setdefault(centers[nearest[vertex]], set()).add(name)
    if len(names) < len(G):
        cells["unreachable"] = set(G).difference(names)
    return cells
