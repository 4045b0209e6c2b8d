"""The shortest paths without loops between two vertices, with the interface of `scipy.sparse.csgraph`.

J. Y. Yen, "Finding the k shortest loopless paths in a network", 1971: each next path leaves one of those found at some
vertex, by an edge that none of them takes there, and goes on by a shortest path that avoids the vertices before. By
E. L. Lawler, "A procedure for computing the k best solutions to discrete optimization problems", 1972, a path is left
at no vertex before the one at which it left its own predecessor: so no path is found twice.
"""

import heapq
from itertools import pairwise
from typing import Any

import numpy as np

from .. import device as devices
from ..algorithms.sssp.call import sssp
from ..arguments import checked_integer
from ..dtypes import NO_PREDECESSOR
from ..errors import InputError
from ..graph import Graph
from ..graph.potentials import potentials
from .negative_cycles import scipys_errors
from .reading import graph_of


def yen(
    csgraph: Any,
    source: int,
    sink: int,
    K: int,
    *,
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
) -> Any:
    """Return the lengths of the K shortest paths without loops, as `scipy.sparse.csgraph.yen` does.

    Parameters
    ----------
    csgraph : array_like, masked array or sparse matrix, shape (n, n)
        Entry (i, j) is the edge from i to j.
    source, sink : int
        The first and the last vertex, in [0, n).
    K : int
        The most paths to return.
    directed : bool
        False joins i and j by the lighter of the entries (i, j) and (j, i).
    return_predecessors : bool
        Whether to return the predecessors, too.
    unweighted : bool
        Whether every edge counts 1.

    Returns
    -------
    distances : array of float64, shape (paths,)
        Ascending; fewer than K if there are no more paths.
    predecessors : array of int32, shape (paths, n)
        The vertex before each vertex of a path, -9999 elsewhere.

    Raises
    ------
    NegativeCycleError
        If there is a cycle of negative weight.
    InputError
        For invalid input.

    Examples
    --------
    >>> from mgraph import csgraph
    >>> csgraph.yen([[0, 1, 2, 0], [0, 0, 0, 1], [2, 0, 0, 3], [0, 0, 0, 0]], 0, 3, 2, return_predecessors=True)
    (array([2., 5.]), array([[-9999,     0, -9999,     1],
           [-9999, -9999,     0,     2]], dtype=int32))
    """
    given = graph_of(csgraph, directed, unweighted)
    n, home = given.n, devices.find(given.device)
    if not all(isinstance(end, int | np.integer) and 0 <= end < n for end in (source, sink)):
        raise InputError(f"source and sink must have 0 <= vertex < {n}, as integers, got {source} and {sink}")
    most = checked_integer("K", K, 1)
    if not given.nonnegative:
        with scipys_errors():
            potentials(given)
    src, dst, weights = (None if part is None else devices.to_host(part) for part in given.listed())
    assert src is not None and dst is not None
    lengths = np.ones(len(src)) if weights is None else weights.astype(np.float64)
    paths = _shortest(Graph.from_edges(src, dst, lengths, n=n), int(source), int(sink), most)
    distances = home.asarray(np.array([length for length, _ in paths]))
    if not return_predecessors:
        return distances
    predecessors = np.full((len(paths), n), NO_PREDECESSOR, np.int32)
    for row, (_, path) in zip(predecessors, paths, strict=True):
        row[path[1:]] = path[:-1]
    return distances, home.asarray(predecessors)


def _shortest(graph: Graph, source: int, sink: int, most: int) -> list[tuple[float, list[int]]]:
    """Return up to `most` paths with their lengths, ascending."""
    src, dst, weights = graph.listed()
    assert weights is not None

    def detour(root: list[int], length: float, closed: set[int]) -> tuple[float, list[int], int, set[int]] | None:
        """Return the shortest path that begins with `root` and whose next vertex is not one of `closed`."""
        left = weights.copy()
        left[np.isin(src, root[:-1]) | np.isin(dst, root)] = np.inf
        left[(src == root[-1]) & np.isin(dst, list(closed))] = np.inf
        found = sssp(graph.with_weights(left), root[-1], target=sink, predecessors=True)
        rest = found.path(sink)
        total = length + float(found.distances[sink])
        return (total, root[:-1] + rest, len(root) - 1, closed) if rest else None

    first = detour([source], 0.0, set())
    candidates = [] if first is None else [first]
    paths: list[tuple[float, list[int]]] = []
    while candidates and len(paths) < most:
        length, path, left_at, closed = heapq.heappop(candidates)
        paths.append((length, path))
        if len(paths) == most:
            break
        so_far = sum(_lightest(src, dst, weights, *edge) for edge in pairwise(path[: left_at + 1]))
        for place in range(left_at, len(path) - 1):
            taken = {path[place + 1]} | (closed if place == left_at else set())
            other = detour(path[: place + 1], so_far, taken)
            if other is not None:
                heapq.heappush(candidates, other)
            so_far += _lightest(src, dst, weights, path[place], path[place + 1])
    return paths


def _lightest(src: np.ndarray, dst: np.ndarray, weights: np.ndarray, tail: int, head: int) -> float:
    """Return the weight of the lightest edge between two vertices."""
    return float(weights[(src == tail) & (dst == head)].min())
