"""Array code for a GPU: what a compiler makes of an algorithm's text, without kernels written by hand.

CuPy compiles an expression of arrays to a kernel when it first meets it, as a compiler of directives does with loops.
Floyd and Warshall's algorithm is an expression for each pivot, a breadth-first search by edges one for each level.
"""

from typing import Any

import numpy as np

from mgraph import device as devices
from mgraph.graph import Graph

from .conversion import distance_matrix, edges_of
from .solver import Array, Library, Peer, Solver


def floyd_warshall(xp: Library, lengths: Array) -> Array:
    """Return the distances between all pairs."""
    distances = lengths.copy()
    for k in range(len(distances)):
        xp.minimum(distances, distances[:, k, None] + distances[None, k], out=distances)
    return distances


def edge_search(xp: Library, src: Array, dst: Array, n: int, source: int) -> Array:
    """Return the distances in edges from a vertex, -1 where there is no path: all edges are looked at in each level."""
    distances = xp.full(n, -1, np.int32)
    distances[source] = 0
    for level in range(n):
        reached = dst[(distances[src] == level) & (distances[dst] < 0)]
        if not len(reached):
            break
        distances[reached] = level + 1
    return distances


def apsp(xp: Library, graph: Graph) -> Solver:
    """Return the call for all pairs."""
    matrix = xp.asarray(distance_matrix(graph))
    return Solver(lambda: _done(xp, floyd_warshall(xp, matrix)), _distances, "an expression a pivot")


def bfs(xp: Library, graph: Graph, source: int) -> Solver:
    """Return the call for a breadth-first search."""
    edges = edges_of(graph)
    src, dst = xp.asarray(edges.src), xp.asarray(edges.dst)
    return Solver(
        lambda: _done(xp, edge_search(xp, src, dst, graph.n, source)), _distances, "an expression a level, by edges"
    )


def _done(xp: Library, found: Array) -> Array:
    """Return an array when it is complete."""
    if hasattr(xp, "cuda"):
        xp.cuda.get_current_stream().synchronize()
    return found


def _distances(found: Any) -> dict[str, Array]:
    return {"distances": devices.to_host(found)}


PEER = Peer("cupy", "cupy-cuda13x (or -cuda12x)", {"apsp": apsp, "bfs": bfs}, kind="cuda")
