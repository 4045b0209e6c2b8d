"""Potentials that make weights non-negative (Johnson, 1977), and the edge lengths shifted by them.

A cycle is negative if the sum of its weights is, of the weights as they are stored, without rounding. No relaxation of
rounded sums can tell: the sum of .1, .2 and -.30000000000000004 is -2.8e-17, which is lost beside .1; and that of -.5,
-.6, .5 and .6 is zero, but looks negative in this order. So potentials are computed in exact numbers. Floats are whole
multiples of a power of two. They are relaxed as integers of a few words: most weights need one word or two, and weights
from 1e-300 to 1e300 need forty. Without rounding, relaxation settles if and only if no cycle is negative.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from .. import device as devices
from .. import lazy
from ..arrays import Array
from ..dtypes import distance_range, name_of, out_of_range
from ..errors import NegativeCycleError
from ..kernels import sssp_many as sssp_many_kernels
from ..kernels.sssp_many import DIGIT_BITS
from . import Compressed, Graph
from .compressed import rows_of
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
        raise NegativeCycleError(cycle[0])
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


def kept_potentials(graph: Graph) -> np.ndarray:
    """Return the `potentials` of a graph, which keeps them: not to be changed."""
    h: np.ndarray = graph.kept("potentials", devices.find("cpu"), partial(potentials, graph), weights=True)
    return h


def kept_lengths(graph: Graph, order: str, dtype: np.dtype, device: devices.Device) -> Array:
    """Return the `lengths_of` a graph's edges in an order, ``"csr"`` or ``"csc"``, which it keeps."""
    name = lengths_name(order, graph.directed, dtype)
    return graph.kept(name, device, lambda: lengths_of(graph.compressed(order), dtype, device), weights=True)


def lengths_name(order: str, directed: bool, dtype: np.dtype) -> str:
    """Return the name under which a graph keeps its lengths."""
    return f"csc.lengths.{name_of(dtype)}" if directed and order == "csc" else f"lengths.{name_of(dtype)}"


def lengths_of(edges: Compressed, dtype: np.dtype, device: devices.Device) -> Array:
    """Return the encoded weights of edges on a device; their own array if encoding changes nothing, as is usual."""
    with device.active():
        lengths, own, bits = edge_lengths(edges, None, dtype, device), edges.weights, f"i{dtype.itemsize}"
        if own is None or own.dtype != dtype or devices.of(own) is not device:
            return lengths
        return own if bool((own.view(bits) == lengths.view(bits)).all()) else lengths


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
