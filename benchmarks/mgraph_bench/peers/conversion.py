"""Graphs as other libraries take them, and their results in mgraph's conventions."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from mgraph import device as devices
from mgraph.dtypes import infinity
from mgraph.graph import Edges, Graph, in_memory

from .solver import Array, Library, PeerError, Solver


def edges_of(graph: Graph) -> Edges:
    """Return the edges, sorted by source and target; of parallel ones the shortest."""
    src, dst, weights = Edges(*(None if part is None else devices.to_host(part) for part in graph.coo()))
    again = (src[1:] == src[:-1]) & (dst[1:] == dst[:-1])
    if not again.any():
        return Edges(src, dst, weights)
    first = np.flatnonzero(np.append(True, ~again))
    return Edges(src[first], dst[first], None if weights is None else np.minimum.reduceat(weights, first))


def one_way(graph: Graph) -> Edges:
    """Return the edges; of an undirected graph each in the direction to the larger vertex only."""
    edges = edges_of(graph)
    if graph.directed:
        return edges
    kept = edges.src <= edges.dst
    return Edges(*(None if part is None else part[kept] for part in edges))


def symmetric(graph: Graph) -> Graph:
    """Return the undirected graph of the same edges."""
    return Graph.from_edges(*graph.coo(), n=graph.n, directed=False) if graph.directed else graph


def lengths_of(edges: Edges) -> np.ndarray:
    """Return the weights in float64, which are 1 where there are none."""
    return np.ones(len(edges.src)) if edges.weights is None else edges.weights.astype(np.float64)


def distance_matrix(graph: Graph) -> np.ndarray:
    """Return the weights as a matrix in float32, with zeros on the diagonal and inf where there is no edge."""
    if graph.dense is None:
        edges = edges_of(graph)
        matrix = np.full((graph.n, graph.n), np.inf, np.float32)
        matrix[edges.src, edges.dst] = lengths_of(edges)
    else:
        dense = devices.to_host(in_memory(graph.dense))
        matrix = np.where(dense == infinity(dense.dtype), np.float32(np.inf), dense.astype(np.float32))
    np.fill_diagonal(matrix, 0)
    return matrix


def has_negative(graph: Graph) -> bool:
    """Whether a weight is negative."""
    return not graph.nonnegative and graph.extremes()[0] < 0


def refuse_negative(graph: Graph, name: str) -> None:
    """Raise if a weight is negative, which the named call does not accept."""
    if has_negative(graph):
        raise PeerError(f"{name} admits no negative weights, and the least is {graph.extremes()[0]}")


def hops(distances: Array) -> Array:
    """Return distances in edges as integers, -1 for unreached vertices, given as inf or a very large number."""
    distances = np.asarray(distances)
    return np.where(distances < 2**31 - 1, distances, -1).astype(np.int32)


def finite(distances: Array) -> np.ndarray:
    """Return distances with inf for unreached vertices, which may be given as the largest number."""
    distances = np.array(distances, np.float64)
    distances[distances == np.finfo(np.float64).max] = np.inf
    return distances


def filled(lengths: Mapping[int, float], n: int) -> np.ndarray:
    """Return all distances from those of the reached vertices, given by vertex."""
    distances = np.full(n, np.inf)
    distances[list(lengths.keys())] = list(lengths.values())
    return distances


def betweenness_of(sums: Any, graph: Graph, sources: list[int]) -> dict[str, Array]:
    """Return betweenness as mgraph has it by default, from sums over all ordered pairs of a source and a target."""
    pairs = max(1, (graph.n - 1) * (graph.n - 2))
    return {"betweenness": np.asarray(sums, np.float64) / pairs, "sources": np.asarray(sources)}


def matrix_of(rows: Iterable[tuple[int, Mapping[int, float]]], n: int) -> np.ndarray:
    """Return a matrix of distances from rows of the reached vertices; the diagonal may be missing."""
    matrix = np.full((n, n), np.inf)
    for source, lengths in rows:
        matrix[source] = filled(lengths, n)
    np.fill_diagonal(matrix, 0)
    return matrix


def smallest(labels: Array) -> np.ndarray:
    """Return labels as the smallest vertex of each component."""
    _, first, number = np.unique(np.asarray(labels), return_index=True, return_inverse=True)
    return first[number].astype(np.int32)


def labels_of(components: Iterable[Iterable[int]], n: int) -> np.ndarray:
    """Return the labels of components that are given as their vertices."""
    labels = np.empty(n, np.int32)
    for component in components:
        vertices = list(component)
        labels[vertices] = min(vertices)
    return labels


def forest_of(src: Any, dst: Any, weights: Any) -> dict[str, Array]:
    """Return a forest as mgraph has it, from its edges in any order and direction."""
    src, dst, weights = (np.asarray(part) for part in (src, dst, weights))
    low, high = np.minimum(src, dst).astype(np.int64), np.maximum(src, dst).astype(np.int64)
    order = np.lexsort((high, low))
    return {"src": low[order], "dst": high[order], "weights": weights[order]}


def depths(predecessors: np.ndarray, source: int) -> np.ndarray:
    """Return every vertex's distance from the root of a tree that is given by predecessors, by pointer jumping."""
    reached = predecessors >= 0
    reached[source] = True
    up = np.where(predecessors >= 0, predecessors, np.arange(len(predecessors)))
    depths = (predecessors >= 0).astype(np.int32)
    while (beyond := depths[up]).any():
        depths += beyond
        up = up[up]
    return np.where(reached, depths, np.int32(-1))


def list_rank_by(search: Callable[..., Solver]) -> Callable[..., Solver]:
    """Return the ranking of lists by a library's search: backwards, from an extra vertex after all the ends."""

    def ranking(library: Library, succ: Any) -> Solver:
        succ = devices.to_host(succ)
        n = len(succ)
        src = np.where(succ == np.arange(n), n, succ)
        found = search(library, Graph.from_edges(src, np.arange(n), n=n + 1), n)

        def arrays(raw: Any) -> dict[str, Array]:
            return {"ranks": found.arrays(raw)["distances"][:n] - 1}

        return Solver(found.solve, arrays, f"{found.called}, backwards from the ends of the lists")

    return ranking
