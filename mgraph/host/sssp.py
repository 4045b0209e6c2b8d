"""The shortest paths of ``kernels/sssp.cu`` for the CPU: a slice of sources to a core.

The same relaxation of a row of sources at a time, which LLVM vectorises; that file's opening explains it. A
slice's rounds run on one core, so nobody is asked through a bitmap: those to look at next stand in a list.
"""

from typing import NamedTuple

import numpy as np
from numba import njit, prange

from ..weights import kernel_infinity

#: Sources of a slice, and slices of a batch: some for each core.
_LANES = 32
_SLICES = 16

_NONE = -9999  # no predecessor
_OPEN = -1  # none found yet
_FRESH = 1 << 30  # marks one found in this pass


class Workspace(NamedTuple):
    """What `distances` needs beside the graph: labels, the round in which each last fell, whom to look at."""

    labels: np.ndarray
    stamps: np.ndarray
    asked: np.ndarray


def batch_size(n, itemsize):
    """Return how many sources to search from at a time."""
    return _LANES * _SLICES


def workspace(xp, n, sources, dtype):
    """Return the arrays for batches of up to `sources` sources."""
    slices = -(-sources // _LANES)
    return Workspace(
        labels=np.empty((slices, n, _LANES), dtype),
        stamps=np.empty((slices, n), np.int32),
        asked=np.empty((slices, 3, n), np.int32),
    )


def workspace_bytes(n, sources, itemsize):
    """Return the bytes of `workspace`."""
    return -(-sources // _LANES) * n * (_LANES * itemsize + 16)


def distances(D, first, out_indptr, out_indices, in_indptr, in_indices, weights, work):
    """D[r, v] = the length of the shortest path from vertex first + r to v."""
    _distances(D, first, out_indptr, out_indices, in_indptr, in_indices, weights, *work, _infinity(D.dtype))


def _infinity(dtype):
    return dtype.type(kernel_infinity(dtype))


@njit(parallel=True, nogil=True, cache=True)
def _distances(D, first, out_indptr, out_indices, in_indptr, in_indices, weights, labels, stamps, asked, infinity):
    rows, n = D.shape
    for s in prange((rows + _LANES - 1) // _LANES):
        start = s * _LANES
        count = min(_LANES, rows - start)
        slice_labels = labels[s]
        _relax(
            slice_labels, first + start, count, out_indptr, out_indices, in_indptr, in_indices, weights,
            stamps[s], asked[s], infinity,
        )  # fmt: skip
        for v in range(n):
            for lane in range(count):
                D[start + lane, v] = slice_labels[v, lane]


@njit(nogil=True, cache=True)
def _relax(labels, first, count, out_indptr, out_indices, in_indptr, in_indices, weights, stamps, asked, infinity):
    """Fill labels[v, lane] with the distances from vertex first + lane, for `count` lanes."""
    labels[:] = infinity
    stamps[:] = -1
    now, coming, waits = asked
    waits[:] = 0
    size = 0
    for lane in range(count):
        v = first + lane
        labels[v, lane] = 0
        stamps[v] = 0
        size = _ask(out_indices[out_indptr[v] : out_indptr[v + 1]], coming, size, waits)
    best = np.empty(_LANES, labels.dtype)
    turn = 0
    while size > 0:
        turn += 1
        now, coming = coming, now
        length, size = size, 0
        for q in range(length):
            v = now[q]
            waits[v] = 0
            row = labels[v]
            best[:] = row
            for e in range(in_indptr[v], in_indptr[v + 1]):
                u = in_indices[e]
                if stamps[u] >= turn - 1:
                    weight = weights[e]
                    other = labels[u]
                    for lane in range(_LANES):
                        d = other[lane] + weight
                        best[lane] = d if d < best[lane] else best[lane]
            fell = False
            for lane in range(_LANES):
                fell |= best[lane] < row[lane]
            if fell:
                row[:] = best
                stamps[v] = turn
                size = _ask(out_indices[out_indptr[v] : out_indptr[v + 1]], coming, size, waits)


@njit(nogil=True, cache=True)
def _ask(targets, coming, size, waits):
    """Append those `targets` to `coming` that do not wait there already; return its new size."""
    for w in targets:
        if not waits[w]:
            waits[w] = 1
            coming[size] = w
            size += 1
    return size


def unshift(D, first, h):
    """D[r, v] += h[v] - h[first + r] where v is reached."""
    _unshift(D, first, h, _infinity(D.dtype))


@njit(parallel=True, nogil=True, cache=True)
def _unshift(D, first, h, infinity):
    for r in prange(D.shape[0]):
        for v in range(D.shape[1]):
            if D[r, v] < infinity:
                D[r, v] = D[r, v] + (h[v] - h[first + r])


def predecessors(D, first, in_indptr, in_indices, weights, P):
    """P[r, v] = the vertex before v on a shortest path from first + r, -9999 if there is none.

    The least of those nearer to the source; where all are as far, edges of weight zero are followed from
    those that have predecessors. D must be exact, a minimum over sums D[r, u] + weight.
    """
    _predecessors(D, first, in_indptr, in_indices, weights, P, _infinity(D.dtype))


@njit(parallel=True, nogil=True, cache=True)
def _predecessors(D, first, in_indptr, in_indices, weights, P, infinity):
    rows, n = D.shape
    for r in prange(rows):
        d = D[r]
        p = P[r]
        opened = False
        for v in range(n):
            p[v] = _NONE
            if v == first + r or not d[v] < infinity:
                continue
            p[v] = _OPEN
            for e in range(in_indptr[v], in_indptr[v + 1]):
                u = in_indices[e]
                if d[u] < d[v] and d[u] + weights[e] == d[v]:
                    p[v] = u
                    break
            opened |= p[v] == _OPEN
        while opened:
            opened = _pass(d, first + r, in_indptr, in_indices, weights, p)


@njit(nogil=True, cache=True)
def _pass(d, source, in_indptr, in_indices, weights, p):
    """Give open vertices a predecessor as far from the source that has its own; whether there were any."""
    found = False
    for v in range(len(d)):
        if p[v] != _OPEN:
            continue
        for e in range(in_indptr[v], in_indptr[v + 1]):
            u = in_indices[e]
            tight = d[u] == d[v] and d[u] + weights[e] == d[v]
            if tight and (u == source or 0 <= p[u] < _FRESH):
                p[v] = u | _FRESH
                found = True
                break
    for v in range(len(d)):
        if p[v] >= _FRESH:
            p[v] ^= _FRESH
    return found


@njit(nogil=True, cache=True)
def relax_all(indptr, indices, weights, h, parents, edges, fell):
    """Relax the edges out of the vertices that `fell`, in rounds, until none falls or the parents close a cycle.

    Returns a vertex on the cycle, or -1. ``parents[v]`` is the source of the edge, ``edges[v]``, that v last
    fell by, or -1.
    """
    n = len(h)
    met = np.empty(n, np.int64)
    again = True
    while again:
        again = False
        for u in range(n):
            if not fell[u]:
                continue
            fell[u] = False
            for e in range(indptr[u], indptr[u + 1]):
                v = indices[e]
                d = h[u] + weights[e]
                if d < h[v]:
                    h[v] = d
                    parents[v] = u
                    edges[v] = e
                    fell[v] = True
                    again = True
        # Walk up from each vertex to one that an earlier walk met.
        met[:] = -1
        for start in range(n):
            v = start
            while v >= 0 and met[v] < 0:
                met[v] = start
                v = parents[v]
            if v >= 0 and met[v] == start:
                return v
    return -1
