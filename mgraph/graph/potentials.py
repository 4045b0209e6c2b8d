"""Potentials that make weights non-negative (Johnson, 1977), and the edge lengths shifted by them."""

import math

import numpy as np

from .. import device as devices
from .. import errors
from ..arrays import Array
from ..dtypes import distance_range, out_of_range
from ..kernels import sssp_many as sssp_many_kernels
from . import Compressed, Graph
from .compressed import rows_of
from .weights import encode


def potentials(graph: Graph) -> np.ndarray:
    """Return potentials ``h`` for which no ``weight + h[u] - h[v]`` of an edge from u to v is negative.

    ``h[v]`` is the least length of a path to v from any vertex: Bellman-Ford relaxation from zeros, in the order of
    Goldberg and Radzik.

    Raises
    ------
    NegativeCycleError
        If there is a cycle of negative weight; its `vertex` lies on one.
    """
    h, cycle = _relaxed(graph)
    if cycle:
        raise errors.NegativeCycleError(cycle[0])
    return h


def negative_cycle(graph: Graph) -> list[int]:
    """Return the vertices of a cycle of negative weight, in the order of its edges; empty if there is none."""
    return _relaxed(graph)[1][::-1]


def _relaxed(graph: Graph) -> tuple[np.ndarray, list[int]]:
    """Return potentials, or those of a search that ended at a negative cycle, and its vertices against its edges."""
    indptr, indices, weights = (None if part is None else devices.to_host(part) for part in graph.compressed("csr"))
    h = np.zeros(graph.n)
    if weights is None or graph.nonnegative:
        return h, []
    weights = weights.astype(np.float64)
    parents, edges = np.full(graph.n, -1, np.int64), np.full(graph.n, -1, np.int64)
    fell = np.ones(graph.n, bool)
    relax_all = sssp_many_kernels.on(devices.find("cpu")).relax_all
    for _ in range(graph.n + 1):
        vertex = int(relax_all(indptr, indices, weights, h, parents, edges, fell))
        if vertex < 0:
            break
        cycle = [vertex]
        while parents[cycle[-1]] != vertex:
            cycle.append(int(parents[cycle[-1]]))
        if negative_in_all(weights[edges[cycle]]):
            return h, cycle
        parents[vertex] = edges[vertex] = -1  # the cycle only looked negative, by rounding
    return h, []


def negative_in_all(weights: np.ndarray) -> bool:
    """Return whether the exact sum of some weights is negative, even if it overflows."""
    try:
        return math.fsum(weights) < 0
    except OverflowError:  # the digits that scaling loses do not matter in so large a sum
        return math.fsum(weights * 2.0**-64) < 0


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
