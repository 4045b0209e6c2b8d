"""Searches from some vertices, with the order and the predecessors of NetworkX's queues and heaps.

mgraph's calls give the distances. Then one pass along the edges that shortest paths use finds in which order NetworkX
would take the vertices, and from which neighbour. A search without weights is that pass alone.
"""

import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import networkx as nx
import numpy as np

from .. import device as devices
from ..algorithms.distances.call import distances
from ..algorithms.sssp.call import sssp
from ..dtypes import NO_PREDECESSOR, as_floats
from ..errors import NegativeCycleError
from ..graph.compressed import rows_of
from ..kernels import bfs_by_level as bfs_kernels
from ..kernels import sssp as sssp_kernels
from .converted import ConvertedGraph

#: Distances that are computed at a time, of all pairs.
PAIRS_AT_A_TIME = 1 << 22


class Search(NamedTuple):
    """What a search found.

    Attributes
    ----------
    order : array of int32
        The reached vertices, in NetworkX's order.
    lengths : list of int or float
        Their distances.
    predecessors : array of int32, shape (n,)
        The vertex from which each was reached; negative for a source, and where there is none.
    """

    order: np.ndarray
    lengths: list[Any]
    predecessors: np.ndarray


def steps(cutoff: float | None, n: int) -> int:
    """Return the most steps of a search with a cutoff, which NetworkX compares with the level before each.

    Examples
    --------
    >>> from mgraph.networkx.search import steps
    >>> steps(1.5, 10), steps(None, 10), steps(-1, 10)
    (2, 10, 0)
    """
    if cutoff is None or not cutoff < n:
        return n
    return max(0, math.ceil(cutoff))


def by_steps(graph: ConvertedGraph, sources: np.ndarray, limit: int) -> Search:
    """Return the vertices that some sources reach in up to `limit` steps."""
    n, rows = len(graph), graph.rows
    order, predecessors = np.empty(n, np.int32), np.full(n, NO_PREDECESSOR, np.int32)
    levels = np.full(n, -1, np.int32)
    no_others = np.zeros(n + 1, np.int64), np.zeros(0, np.int32)
    search = bfs_kernels.on(devices.find("cpu")).in_queue_order
    found = order[: search((rows.indptr, rows.indices), no_others, sources, limit, order, predecessors, levels)]
    return Search(found, levels[found].tolist(), predecessors)


def by_length(
    graph: ConvertedGraph,
    sources: np.ndarray,
    weight: Any,
    cutoff: float | None = None,
    target: int | None = None,
) -> Search:
    """Return the vertices at distances up to a cutoff, or up to that of a target, as Dijkstra's algorithm takes them.

    Raises
    ------
    NotImplementedError
        As of `ConvertedGraph.weights`, and for a negative weight, for which NetworkX's result may be wrong.
    """
    searched = graph.graph_of(weight)
    check_nonnegative(graph, weight)
    if cutoff is not None and cutoff < 0:
        row = np.full(len(graph), np.inf)
        row[sources] = 0
        return in_order(graph, row, sources, weight)
    limit = cutoff if cutoff is not None and cutoff < math.inf else None  # also for NaN, as in NetworkX
    found = sssp(searched, sources=np.unique(sources).tolist(), limit=limit, target=target)
    return in_order(graph, lengths_of(found.distances), sources, weight)


def by_any_length(graph: ConvertedGraph, source: int, weight: Any) -> Search:
    """Return all that a source reaches, along shortest paths of whatever weights, in the order of a queue.

    Raises
    ------
    NetworkXUnbounded
        If a cycle of negative weight can be reached.
    NotImplementedError
        As of `ConvertedGraph.weights`.
    """
    sources = np.array([source], np.int32)
    searched = graph.graph_of(weight)
    try:
        found = sssp(searched, source)
    except NegativeCycleError:
        raise nx.NetworkXUnbounded("Negative cycle detected.") from None
    return in_order(graph, lengths_of(found.distances), sources, weight, by_class=False)


def check_nonnegative(graph: ConvertedGraph, weight: Any) -> None:
    """Raise NotImplementedError if a weight is negative."""
    if not graph.graph_of(weight).nonnegative:
        raise NotImplementedError("a weight is negative")


def lengths_of(distances: Any) -> np.ndarray:
    """Return distances as float64, infinite where there is no path."""
    lengths: np.ndarray = as_floats(np.asarray(devices.to_host(distances)))
    return lengths


def in_order(
    graph: ConvertedGraph, lengths: np.ndarray, sources: np.ndarray, weight: Any, by_class: bool = True
) -> Search:
    """Return a search's distances in NetworkX's order, with predecessors; `by_class` is Dijkstra's, else a queue's."""
    n, rows = len(graph), graph.rows
    weights, whole = graph.weights(weight)
    classes, free = np.zeros(n, np.int32), np.zeros(1, np.int64)
    if by_class:
        reached = np.isfinite(lengths)
        _, classes[reached], counts = np.unique(lengths[reached], return_inverse=True, return_counts=True)
        free = np.cumsum(counts) - counts
    order, predecessors = np.empty(n, np.int32), np.full(n, NO_PREDECESSOR, np.int32)
    search = sssp_kernels.on(devices.find("cpu")).in_heap_order
    found = order[: search((*rows, weights), lengths, sources, classes, free, order, predecessors)]
    return Search(found, numbers_of(lengths[found], whole, predecessors[found] < 0), predecessors)


def numbers_of(lengths: np.ndarray, whole: bool, starts: np.ndarray) -> list[Any]:
    """Return lengths as Python's numbers: integers if `whole`, and where a search starts the integer 0.

    Examples
    --------
    >>> import numpy as np
    >>> from mgraph.networkx.search import numbers_of
    >>> numbers_of(np.array([0.0, 2.5]), False, np.array([True, False]))
    [0, 2.5]
    """
    if whole:
        return lengths.astype(np.int64).tolist()
    found: list[Any] = lengths.tolist()
    for place in np.flatnonzero(starts).tolist():
        found[place] = 0
    return found


def rows_by_length(graph: ConvertedGraph, weight: Any, cutoff: float | None = None) -> Iterator[tuple[int, np.ndarray]]:
    """Yield each vertex and its distances to all vertices, float64; the weights are not negative."""
    searched, n = graph.graph_of(weight), len(graph)
    limit = max(cutoff, 0) if cutoff is not None and cutoff < math.inf else None
    height = max(1, PAIRS_AT_A_TIME // n)
    for first in range(0, n, height):
        sources = range(first, min(first + height, n))
        block = distances(searched, sources, limit=limit, method="sssp").distances
        for source, row in zip(sources, block, strict=True):
            yield source, lengths_of(row)


def every_search(graph: ConvertedGraph, weight: Any, cutoff: float | None = None) -> Iterator[Search]:
    """Yield what `by_length` finds from each vertex."""
    if cutoff is not None and cutoff < 0:
        for source in range(len(graph)):
            yield by_length(graph, np.array([source], np.int32), weight, cutoff)
        return
    for source, lengths in rows_by_length(graph, weight, cutoff):
        yield in_order(graph, lengths, np.array([source], np.int32), weight)


def lengths_by_node(graph: ConvertedGraph, search: Search) -> dict[Any, Any]:
    """Return the distance of each node that was reached."""
    return dict(zip(graph.named(search.order), search.lengths, strict=True))


def paths_by_node(graph: ConvertedGraph, search: Search, backward: bool = False) -> dict[Any, list[Any]]:
    """Return the path to each node that was reached; `backward`, from it to the source."""
    paths: dict[int, list[Any]] = {}
    vertices, names = search.order.tolist(), graph.named(search.order)
    before = search.predecessors[search.order].tolist()
    for vertex, name, previous in zip(vertices, names, before, strict=True):
        if previous < 0:
            paths[vertex] = [name]
        else:
            paths[vertex] = [name, *paths[previous]] if backward else [*paths[previous], name]
    return dict(zip(names, paths.values(), strict=True))


def path_to(graph: ConvertedGraph, search: Search, target: int) -> list[Any]:
    """Return the nodes from a source to a target that was reached."""
    vertices = [target]
    while search.predecessors[vertices[-1]] >= 0:
        vertices.append(int(search.predecessors[vertices[-1]]))
    return graph.named(np.array(vertices[::-1], np.int32))


class Predecessors(NamedTuple):
    """All vertices before each one on shortest paths, in the order of the search.

    Attributes
    ----------
    places : array of int64, shape (n,)
        The place of each vertex in the search's order; -1 if it was not reached.
    tails : array of int32
        The vertices before the first one of the order, then those before the second one, and so on.
    ends : array of int64
        Where those of each vertex of the order end.
    """

    places: np.ndarray
    tails: np.ndarray
    ends: np.ndarray

    def before(self, vertex: int) -> list[int]:
        """Return the vertices before one that was reached."""
        place = int(self.places[vertex])
        found: list[int] = self.tails[self.ends[place - 1] if place else 0 : self.ends[place]].tolist()
        return found


def predecessors_of(graph: ConvertedGraph, search: Search, weights: np.ndarray | None = None) -> Predecessors:
    """Return all vertices before each one that was reached."""
    n, (indptr, indices) = len(graph), graph.rows
    order = search.order
    lengths, places = np.full(n, np.nan), np.full(n, -1, np.int64)
    lengths[order], places[order] = search.lengths, np.arange(len(order))
    tails = rows_of(indptr, len(indices), np)
    tight = lengths[tails] + (1 if weights is None else weights) == lengths[indices]
    tails, heads = tails[tight], indices[tight]
    by_place = np.lexsort((places[tails], places[heads]))
    return Predecessors(places, tails[by_place], np.cumsum(np.bincount(places[heads], minlength=len(order))))


def all_predecessors(graph: ConvertedGraph, search: Search, weights: np.ndarray | None = None) -> dict[Any, list[Any]]:
    """Return, for each node that was reached, all nodes before it on shortest paths, in the order of the search."""
    known = predecessors_of(graph, search, weights)
    names = graph.named(known.tails)
    found, first = {}, 0
    for node, last in zip(graph.named(search.order), known.ends.tolist(), strict=True):
        found[node] = names[first:last]
        first = last
    return found


def first_seen(graph: ConvertedGraph, search: Search, weights: np.ndarray, cutoff: float | None) -> np.ndarray:
    """Return the vertices that a search from one source reached, as Dijkstra's algorithm first meets them.

    It meets a vertex along the first edge to it that leads no farther than the cutoff, and takes it later.
    """
    n, (indptr, indices) = len(graph), graph.rows
    lengths, places = np.full(n, np.inf), np.full(n, n)
    lengths[search.order], places[search.order] = search.lengths, np.arange(len(search.order))
    tails = rows_of(indptr, len(indices), np)
    beyond = lengths[tails] + weights > (np.inf if cutoff is None else cutoff)
    followed = np.flatnonzero((places[tails] < n) & ~beyond)  # a cutoff of NaN is none
    heads = indices[followed[places[tails[followed]].argsort(kind="stable")]]
    met, first = np.unique(np.concatenate((search.order[:1], heads)), return_index=True)
    order: np.ndarray = met[first.argsort()]
    return order


def checked_nodes(
    graph: ConvertedGraph, nodes: Iterable[Any], message: str, error: type[Exception] = nx.NodeNotFound
) -> np.ndarray:
    """Return the numbers of some nodes.

    Raises
    ------
    networkx.NodeNotFound
        Or another error of NetworkX, for one that is not in the graph; `message`, with its place as ``{}``, is
        NetworkX's.
    """
    found = list(nodes)
    for node in found:
        if node not in graph:
            raise error(message.format(node))
    return graph.numbered(found)
