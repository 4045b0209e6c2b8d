"""The kernels of ``kernels/betweenness.cu`` for the CPU: the same operations on the same arrays.

That file's opening explains the algorithm. Here a core takes a source, and sends numbers of paths along the edges in
the order in which it finds the vertices. What the sources of a batch contribute is added vertex by vertex, in their
order. So the results have the same bits for any number of cores.
"""

import math

import numpy as np

from ...device.numba import prange
from ...device.numba.caching import njit
from ...dtypes import infinity
from .ops import LARGE, LOST, TOO_MANY, Rows

#: Sources of a batch for each core, several so that cores that are done sooner than others wait little.
SOURCES = 8

_LARGE, _TOO_MANY, _LOST = LARGE, TOO_MANY, LOST
_FAR = np.iinfo(np.int32).max
_CHUNK = 1024  # vertices of which a core adds up the dependencies at a time


def rows(xp, k, n, dtype, wide):
    """Return rows for k sources; `wide` for scaled numbers of paths."""
    return Rows(
        distances=np.empty((k, n), dtype),
        order=np.empty((k, n), np.int32),
        work=np.empty((k, n), np.int32),
        counts=np.empty((k, n)),
        exponents=np.empty((k, n if wide else 0), np.int32),
        dependencies=np.empty((k, n)),
        shares=np.empty((k, n)),
    )


def row_bytes(n, itemsize, wide):
    """Return the bytes of a row of `rows`."""
    return n * (itemsize + 32 + 4 * wide)


@njit(parallel=True, nogil=True, cache=True)
def levels(by_source, by_target, sources, targets, limit, rows, trouble):
    """Search from each of `sources`, up to `limit` edges away, and fill all rows."""
    indptr = by_source[0]
    indices = by_source[1]
    distances = rows.distances
    order = rows.order
    work = rows.work
    counts = rows.counts
    exponents = rows.exponents
    dependencies = rows.dependencies
    shares = rows.shares
    unit = np.ones(1, np.int32)
    for i in prange(len(sources)):
        edges = indptr, indices, unit, 0
        row = distances[i], order[i], work[i], counts[i], exponents[i], dependencies[i], shares[i]
        dependencies[i] = 0.0
        counts[i] = 0.0
        reached = _search(edges, sources[i], limit, row)
        if exponents.shape[1]:
            counts[i] = 0.0
            _count(edges, sources[i], _FAR, row)
            _depend(edges, sources[i], targets, _FAR, reached, row)
        elif _depend_by_level(edges, sources[i], targets, reached, row):
            trouble[_TOO_MANY] = 1


@njit(nogil=True, cache=True)
def _search(edges, source, limit, row):
    """Search from a source, and count the shortest paths; return the number of vertices within reach."""
    indptr, indices, _, _ = edges
    distances, order, _, counts, _, _, _ = row
    distances[:] = _FAR
    distances[source], counts[source], order[0] = 0, 1.0, source
    head, tail = 0, 1
    while head < tail:
        u = np.uint64(order[head])
        head += 1
        level, paths = distances[u] + 1, counts[u]
        if level > limit:
            break
        for e in range(np.uint64(indptr[u]), np.uint64(indptr[u + np.uint64(1)])):
            v = np.uint64(indices[e])
            if distances[v] > level:
                distances[v] = level
                order[tail] = v
                tail += 1
            if distances[v] == level:
                counts[v] += paths
    return tail


@njit(nogil=True, cache=True)
def _depend_by_level(edges, source, targets, reached, row):
    """Gather the dependencies, the farthest vertices first; return whether a number of paths is too large."""
    indptr, indices, _, _ = edges
    distances, order, _, counts, _, dependencies, shares = row
    large = False
    for place in range(reached - 1, -1, -1):
        u = np.uint64(order[place])
        level, behind, paths = distances[u] + 1, 0.0, counts[u]
        large |= not paths <= _LARGE
        for e in range(np.uint64(indptr[u]), np.uint64(indptr[u + np.uint64(1)])):
            v = np.uint64(indices[e])
            if distances[v] == level:
                behind += shares[v]
        passing = paths * behind
        dependencies[u] = passing
        shares[u] = (passing + (targets[u] and u != source)) / paths
    return large


def tight(by_source, by_target, sources, targets, rows, trouble):
    """Fill the rows but for the distances, which they have."""
    _tight(by_source, sources, targets, infinity(rows.distances.dtype), rows, trouble)


@njit(parallel=True, nogil=True, cache=True)
def _tight(by_source, sources, targets, far, rows, trouble):
    """Fill the rows but for the distances, which are `far` where there is no path."""
    indptr = by_source[0]
    indices = by_source[1]
    lengths = by_source[2]
    distances = rows.distances
    order = rows.order
    work = rows.work
    counts = rows.counts
    exponents = rows.exponents
    dependencies = rows.dependencies
    shares = rows.shares
    for i in prange(len(sources)):
        edges = indptr, indices, lengths, 1
        row = distances[i], order[i], work[i], counts[i], exponents[i], dependencies[i], shares[i]
        dependencies[i] = 0.0
        counts[i] = 0.0
        reached = _count(edges, sources[i], far, row)
        if reached < 0:
            trouble[_LOST] = 1
        elif _depend(edges, sources[i], targets, far, reached, row):
            trouble[_TOO_MANY] = 1


@njit(nogil=True, cache=True)
def _count(edges, source, far, row):
    """Order the vertices within reach and count the shortest paths; return how many there are, -1 if one is lost."""
    indptr, indices, lengths, step = edges
    distances, order, pending, counts, exponents, _, _ = row
    n, wide = np.uint64(len(distances)), len(exponents) > 0
    pending[:] = 0
    for u in range(n):
        away = distances[u]
        if away < far:
            for e in range(np.uint64(indptr[u]), np.uint64(indptr[u + np.uint64(1)])):
                v, there = np.uint64(indices[e]), away + lengths[e * np.uint64(step)]
                pending[v] += distances[v] == there and away < there < far
    for v in range(n):
        if distances[v] < far and not pending[v] and v != source:
            return -1
    counts[source], order[0] = 1.0, source
    if wide:
        exponents[source] = 0
    head, tail = 0, 1
    while head < tail:
        u = np.uint64(order[head])
        head += 1
        away = distances[u]
        if wide:
            counts[u], shift = math.frexp(counts[u])
            exponents[u] += shift
        for e in range(np.uint64(indptr[u]), np.uint64(indptr[u + np.uint64(1)])):
            v, there = np.uint64(indices[e]), away + lengths[e * np.uint64(step)]
            if distances[v] == there and away < there < far:
                if not wide:
                    counts[v] += counts[u]
                elif counts[v] == 0.0:
                    counts[v], exponents[v] = counts[u], exponents[u]
                elif exponents[u] > exponents[v]:
                    counts[v] = counts[u] + math.ldexp(counts[v], exponents[v] - exponents[u])
                    exponents[v] = exponents[u]
                else:
                    counts[v] += math.ldexp(counts[u], exponents[u] - exponents[v])
                pending[v] -= 1
                if not pending[v]:
                    order[tail] = v
                    tail += 1
    return tail


@njit(nogil=True, cache=True)
def _depend(edges, source, targets, far, reached, row):
    """Gather the dependencies, the last vertices first; return whether a number of paths is too large."""
    indptr, indices, lengths, step = edges
    distances, order, _, counts, exponents, dependencies, shares = row
    large, wide = False, len(exponents) > 0
    for place in range(reached - 1, -1, -1):
        u = np.uint64(order[place])
        away, behind, paths = distances[u], 0.0, counts[u]
        large |= not paths <= _LARGE
        for e in range(np.uint64(indptr[u]), np.uint64(indptr[u + np.uint64(1)])):
            v, there = np.uint64(indices[e]), away + lengths[e * np.uint64(step)]
            if distances[v] == there and away < there < far:
                behind += math.ldexp(shares[v], exponents[u] - exponents[v]) if wide else shares[v]
        passing = paths * behind
        dependencies[u] = passing
        shares[u] = (passing + (targets[u] and u != source)) / paths
    return large


@njit(parallel=True, nogil=True, cache=True)
def add(sources, targets, endpoints, rows, sums):
    """Add the dependencies on each vertex to `sums`, in the order of the sources."""
    counts = rows.counts
    dependencies = rows.dependencies
    n = len(sums)
    for chunk in prange((n + _CHUNK - 1) // _CHUNK):
        first, last = chunk * _CHUNK, min(n, chunk * _CHUNK + _CHUNK)
        for i in range(len(sources)):
            source = sources[i]
            for v in range(first, last):
                if v != source:
                    sums[v] += dependencies[i, v] + (endpoints and targets[v] and counts[i, v] > 0.0)
                elif endpoints:
                    sums[v] += np.rint(dependencies[i, v])  # the number of targets within reach


def add_edges(by_source, lengths, rows, sums):
    """Add the dependencies on each edge to `sums`, in the order of the sources."""
    step = int(lengths is not None)
    lengths = np.ones(1, np.int32) if lengths is None else lengths
    _add_edges(by_source, lengths, step, infinity(rows.distances.dtype), rows, sums)


@njit(parallel=True, nogil=True, cache=True)
def _add_edges(by_source, lengths, step, far, rows, sums):
    """Add the dependencies on each edge; with `step` 0 all have the first length."""
    indptr = by_source[0]
    indices = by_source[1]
    distances = rows.distances
    counts = rows.counts
    exponents = rows.exponents
    shares = rows.shares
    wide = exponents.shape[1] > 0
    for u in prange(len(indptr) - 1):
        for i in range(len(distances)):
            away, paths = distances[i, u], counts[i, u]
            if away < far:
                for e in range(indptr[u], indptr[u + 1]):
                    v, there = indices[e], away + lengths[e * step]
                    if distances[i, v] == there and away < there < far:
                        if wide:
                            sums[e] += paths * math.ldexp(shares[i, v], exponents[i, u] - exponents[i, v])
                        else:
                            sums[e] += paths * shares[i, v]
