"""Textbook algorithms on one core, the baselines of studies: plain loops, compiled by Numba.

Floyd and Warshall's three loops; Dijkstra's algorithm with a binary heap that holds a vertex once for each time its
distance falls; a breadth-first search with a queue. Each takes what its study's program took: a matrix, or arrays of
rows and neighbours.
"""

from typing import Any

import numba
import numpy as np

from mgraph.graph import Graph

from .conversion import distance_matrix, edges_of, lengths_of, refuse_negative
from .solver import Array, Library, Peer, Solver


@numba.njit(nogil=True)
def floyd_warshall(lengths: Array) -> Array:
    """Return the distances between all pairs."""
    distances, n = lengths.copy(), len(lengths)
    for k in range(n):
        for i in range(n):
            first = distances[i, k]
            for j in range(n):
                distances[i, j] = min(distances[i, j], first + distances[k, j])
    return distances


@numba.njit(nogil=True)
def dijkstra(indptr: Array, indices: Array, lengths: Array, source: int) -> Array:
    """Return the distances from a vertex."""
    n = len(indptr) - 1
    distances = np.full(n, np.inf, lengths.dtype)
    keys, vertices = np.empty(len(indices) + 1, lengths.dtype), np.empty(len(indices) + 1, np.int32)
    distances[source] = keys[0] = 0
    vertices[0], size = source, 1
    while size:
        key, u = keys[0], vertices[0]
        size -= 1
        last, moved, hole = keys[size], vertices[size], 0
        while 2 * hole + 1 < size:  # the last one sinks from the root
            child = 2 * hole + 1
            child += child + 1 < size and keys[child + 1] < keys[child]
            if keys[child] >= last:
                break
            keys[hole], vertices[hole] = keys[child], vertices[child]
            hole = child
        keys[hole], vertices[hole] = last, moved
        if key > distances[u]:
            continue
        for edge in range(indptr[u], indptr[u + 1]):
            v, length = indices[edge], key + lengths[edge]
            if length < distances[v]:
                distances[v], hole = length, size
                size += 1
                while hole and keys[(hole - 1) // 2] > length:
                    keys[hole], vertices[hole] = keys[(hole - 1) // 2], vertices[(hole - 1) // 2]
                    hole = (hole - 1) // 2
                keys[hole], vertices[hole] = length, v
    return distances


@numba.njit(nogil=True)
def queue_search(indptr: Array, indices: Array, source: int) -> Array:
    """Return the distances in edges from a vertex, -1 where there is no path."""
    n = len(indptr) - 1
    distances, queue = np.full(n, -1, np.int32), np.empty(n, np.int32)
    distances[source], queue[0] = 0, source
    first, last = 0, 1
    while first < last:
        u = queue[first]
        first += 1
        for edge in range(indptr[u], indptr[u + 1]):
            v = indices[edge]
            if distances[v] < 0:
                distances[v], queue[last] = distances[u] + 1, v
                last += 1
    return distances


def apsp(library: Library, graph: Graph) -> Solver:
    """Return the call for all pairs."""
    matrix = distance_matrix(graph)
    return Solver(lambda: floyd_warshall(matrix), _distances, "three loops")


def bfs(library: Library, graph: Graph, source: int) -> Solver:
    """Return the call for a breadth-first search."""
    indptr, indices, _ = _rows(graph)
    return Solver(lambda: queue_search(indptr, indices, source), _distances, "a search with a queue")


def sssp(library: Library, graph: Graph, source: int) -> Solver:
    """Return the call for the shortest paths from a vertex."""
    refuse_negative(graph, "Dijkstra's algorithm")
    rows = _rows(graph)
    return Solver(lambda: dijkstra(*rows, source), _distances, "Dijkstra's algorithm with a binary heap")


def _rows(graph: Graph) -> tuple[Array, Array, Array]:
    edges = edges_of(graph)
    indptr = np.append(0, np.cumsum(np.bincount(edges.src, minlength=graph.n)))
    return indptr, edges.dst, lengths_of(edges)


def _distances(found: Any) -> dict[str, Array]:
    return {"distances": found}


PEER = Peer("numba", "numba", {"apsp": apsp, "bfs": bfs, "sssp": sssp})
