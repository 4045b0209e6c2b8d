"""Potentials that make weights non-negative (Johnson, 1977), and the edge lengths shifted by them.

A cycle is negative if the sum of its weights is, of the weights as they are stored, without rounding. No relaxation of
rounded sums can tell: the sum of .1, .2 and -.30000000000000004 is -2.8e-17, which is lost beside .1; and that of -.5,
-.6, .5 and .6 is zero, but looks negative in this order. So potentials are computed in exact numbers. Floats are whole
multiples of a power of two. They are relaxed as integers of a few words: most weights need one word or two, and weights
from 1e-300 to 1e300 need forty. Without rounding, relaxation settles if and only if no cycle is negative.

A dense matrix has too many edges for that. Its finished distances are potentials but for rounding: by them, no edge is
shorter than some small -x. A negative cycle has at most n edges, so none of them is longer than n x. Only edges that
short are relaxed; they are few, unless a large part of the matrix is on the verge of a negative cycle.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .. import device as devices
from .. import errors, lazy
from ..arrays import Array
from ..dtypes import distance_range, out_of_range
from ..kernels import sssp_many as sssp_many_kernels
from ..kernels.sssp_many.ops import DIGIT_BITS
from . import Compressed, Graph, StoredMatrix, bands, in_memory
from .compressed import Edges, rows_of
from .dense import present
from .weights import encode


def potentials(graph: Graph) -> np.ndarray:
    """Return potentials ``h`` for which no ``weight + h[u] - h[v]`` of an edge from u to v is negative.

    ``h[v]`` is the least length of a path to v from any vertex: Bellman-Ford relaxation from zeros, in the order of
    Goldberg and Radzik. Lengths are exact, and rounded once to float64.

    Raises
    ------
    NegativeCycleError
        If there is a cycle of negative weight; its `vertex` lies on one.
    """
    h, cycle = _relaxed(graph)
    if cycle:
        raise errors.NegativeCycleError(cycle[0])
    return h


def reached_part(graph: Graph, sources: np.ndarray, reverse: bool = False) -> Graph:
    """Return the edges that a path from the sources passes, as a graph; in `reverse`, those that one to them passes."""
    if reverse:
        return reached_part(graph.reversed(), sources).reversed()
    indptr, indices = (devices.to_host(array) for array in graph.layout("csr"))
    # One more vertex has an edge to each source, so that one search reaches what they reach.
    ends, offsets = np.append(indices, sources), np.append(indptr, len(indices) + len(sources))
    marks = lazy.sparse().csr_array((np.ones(len(ends), np.int8), ends, offsets), shape=(graph.n + 1, graph.n + 1))
    found = lazy.csgraph().breadth_first_order(marks, graph.n, return_predecessors=False)
    reached = np.zeros(graph.n + 1, bool)
    reached[found] = True
    return _edges_from(reached[:-1], graph)


def _edges_from(marked: np.ndarray, graph: Graph) -> Graph:
    """Return the finite edges from the marked vertices, as a graph on the host."""
    edges = graph.listed()
    src, dst = devices.to_host(edges.src), devices.to_host(edges.dst)
    there = marked[src]
    weights = None if edges.weights is None else devices.to_host(edges.weights)[there]
    return Graph.from_edges(src[there], dst[there], weights, n=graph.n)


def negative_cycle(graph: Graph) -> list[int]:
    """Return the vertices of a cycle of negative weight, in the order of its edges; empty if there is none."""
    return _relaxed(graph)[1][::-1]


def _relaxed(graph: Graph) -> tuple[np.ndarray, list[int]]:
    """Return potentials, or those of a search that ended at a negative cycle, and its vertices against its edges."""
    indptr, indices, weights = (None if part is None else devices.to_host(part) for part in graph.compressed("csr"))
    if weights is None or graph.nonnegative:
        return np.zeros(graph.n), []
    if np.isinf(weights).any():
        indptr, indices, weights = _edges_from(np.ones(graph.n, bool), graph).compressed("csr")
        assert weights is not None
    exact = _exact(weights, graph.n)
    h = np.zeros((graph.n, exact.digits), np.int64)
    parents, edges = np.full((2, graph.n), -1, np.int64)
    relax_all = sssp_many_kernels.on(devices.find("cpu")).relax_all
    vertex = int(relax_all(indptr, indices, exact.mantissas, exact.shifts, h, parents, edges, np.ones(graph.n, bool)))
    cycle = [vertex] if vertex >= 0 else []
    while cycle and parents[cycle[-1]] != vertex:
        cycle.append(int(parents[cycle[-1]]))
    rounded = np.zeros(graph.n)
    with np.errstate(over="ignore"):  # a potential below all floats is -inf
        for k in reversed(range(exact.digits)):
            rounded += np.ldexp(h[:, k].astype(np.float64), exact.unit + k * DIGIT_BITS)
    return rounded, cycle


class _Exact(NamedTuple):
    """Weights as ``mantissas * 2**(shifts + unit)``, and the digits that sums of them need."""

    mantissas: np.ndarray
    shifts: np.ndarray
    unit: int
    digits: int


def _exact(weights: np.ndarray, n: int) -> _Exact:
    """Return weights as exact numbers, for sums along the paths of n vertices."""
    if weights.dtype.kind == "f":
        fractions, exponents = np.frexp(weights.astype(np.float64, copy=False))
        mantissas = np.ldexp(fractions, 53).astype(np.int64)
        spare = np.frexp((mantissas & -mantissas).astype(np.float64))[1] - 1  # zeros at the end
        spare[mantissas == 0] = 0
        mantissas >>= spare
        shifts = exponents.astype(np.int32) - 53 + spare
    else:
        mantissas, shifts = weights.astype(np.int64, copy=False), np.zeros(len(weights), np.int32)
    there = shifts[mantissas != 0]
    unit = int(there.min()) if len(there) else 0
    shifts = np.where(mantissas != 0, shifts - unit, 0).astype(np.int32)
    # Between two searches for a cycle, paths have less than 4 n edges.
    bits = int((np.frexp(np.abs(mantissas.astype(np.float64)))[1] + shifts).max(initial=0)) + n.bit_length() + 3
    return _Exact(mantissas, shifts, unit, 1 + max(0, -(-(bits - 62) // DIGIT_BITS)))


def vertex_on_cycle(graph: Graph) -> int:
    """Return a vertex on a cycle of negative weight, or -1 if there is none."""
    return next(iter(_relaxed(graph)[1]), -1)


def vertex_on_cycle_of(matrix: Array, distances: Any) -> int:
    """Return the same of a distance matrix, once its distances are known but for rounding."""
    least = (devices.to_host(chunk.min(axis=0)) for chunk in _chunks(distances) if chunk.size)
    h = np.minimum.reduce([np.zeros(len(matrix)), *least])
    shortest = min(_mapped(matrix, partial(_shortest, h=h)), default=0.0)
    edges = _mapped(matrix, partial(_short_edges, h=h, most=-shortest * len(h)))
    if not edges:
        return -1
    parts = ([devices.to_host(part) for part in each] for each in zip(*edges, strict=True))
    src, dst, weights = map(np.concatenate, parts)
    return vertex_on_cycle(Graph.from_edges(src, dst, weights, n=len(h)))


def _chunks(distances: Any) -> Iterable[Array]:
    """Return some rows of distances at a time."""
    return distances.chunks() if hasattr(distances, "chunks") else (distances[some] for some in bands(distances))


def _mapped(matrix: Array, function: Callable[[Array, int, int], Any]) -> list[Any]:
    """Return what a function makes of blocks of a matrix, in memory or where it is stored."""
    if isinstance(matrix, StoredMatrix):
        return matrix.mapped(function)
    return [function(in_memory(matrix[some]), some.start, 0) for some in bands(matrix)]


def _least_lengths(block: Array, top: int, left: int, h: np.ndarray) -> Array:
    """Return lower bounds of the shifted lengths of a block's edges, whatever is rounded; elsewhere infinity."""
    place = devices.of(block)
    there, rows, columns = present(block, top, left), len(block), block.shape[1]
    before, behind = place.asarray(h[top : top + rows, None]), place.asarray(h[left : left + columns])
    weights = place.xp.where(there, block, 0).astype(np.float64)
    rounding = 4 * np.finfo(np.float64).eps * (abs(weights) + abs(before) + abs(behind))
    return place.xp.where(there, weights + (before - behind) - rounding, np.inf)


def _shortest(block: Array, top: int, left: int, h: np.ndarray) -> float:
    """Return the least shifted length in a block, or 0."""
    return min(0.0, float(_least_lengths(block, top, left, h).min())) if block.size else 0.0


def _short_edges(block: Array, top: int, left: int, h: np.ndarray, most: float) -> Edges:
    """Return the edges of a block whose shifted lengths may be up to `most`."""
    row, column = (_least_lengths(block, top, left, h) <= most).nonzero()
    return Edges(row + top, column + left, block[row, column])


def edge_lengths(incoming: Compressed, h: Array | None, dtype: np.dtype, device: devices.Device) -> Array:
    """Return the weights of the edges by target, shifted by potentials so that none is negative."""
    indptr, indices, weights = incoming
    xp = device.xp
    lengths = xp.ones(len(indices), dtype)
    if weights is None:
        return lengths
    encode(device.asarray(weights), lengths, device)
    if h is None:
        return lengths
    if dtype.kind == "i" and len(h) and float(h.min()) < distance_range(dtype, nonnegative=False)[0]:
        raise out_of_range(dtype, nonnegative=False)
    target = rows_of(indptr, len(indices), xp)
    shifted = xp.maximum(lengths + (h[indices] - h[target]), 0)
    if dtype.kind == "f":
        encode(shifted, lengths, device)
    else:
        lengths[...] = shifted
    return lengths
