"""The (min, +) kernels of ``kernels/minplus.cu`` for the CPU, parallel over rows or columns.

The operations and panels are the same, so results are equal to the last bit; that file's opening explains the algorithm
and the encoding. The inner loops run along rows, where LLVM vectorises them. `update` takes four rows and four pivots
at a time, so that each loaded element serves several sums.
"""

import numpy as np

from ...device.numba import prange
from ...device.numba.caching import njit
from ...device.numba.least import relax_line, sum_of
from ...device.numba.small import VERTICES, is_few, unless
from ...dtypes import NO_PREDECESSOR, infinity, kernel_infinity

#: Operations that run no kernel.
UNLOCKED = frozenset({"compile_ahead"})

#: Numbers of pivots that can be eliminated at a time, and the default.
BLOCKS = (32, 64, 96, 128)
DEFAULT_BLOCK = 64

#: Bytes of a row, and rows, that a core works on at a time, so that their part of the panels stays in its cache.
_WIDTH = 4096
_HEIGHT = 16


def padded(items):
    """Return `items`: on the CPU, panels are not padded."""
    return items


def panels(xp, dtype, rows, columns, block):
    return xp.empty((block, block), dtype), xp.empty((block, columns), dtype), xp.empty((block, rows), dtype)


def compile_ahead(dtype, paths, labelled, nonnegative):
    """Do nothing: Numba compiles one kernel at a time, when it is called."""


def clip_diagonal(D, row, column, length):
    own = np.arange(length)
    D[row + own, column + own] = np.minimum(D[row + own, column + own], 0)


def label_edges(D, first, left, P):
    # Without temporaries: (1 if there is an edge, else 0) * (source - NO_PREDECESSOR) + NO_PREDECESSOR.
    np.less(D, kernel_infinity(D.dtype), out=P)
    P *= (np.arange(first, first + len(P), dtype=np.int32) - np.int32(NO_PREDECESSOR))[:, None]
    P += np.int32(NO_PREDECESSOR)
    own = np.arange(max(first, left), max(first, left, min(first + D.shape[0], left + D.shape[1])))
    P[own - first, own - left] = NO_PREDECESSOR


@njit(inline="always")
def _least(d, s0, s1, s2, s3):
    d = s0 if s0 < d else d
    d = s1 if s1 < d else d
    d = s2 if s2 < d else d
    return s3 if s3 < d else d


@njit(nogil=True, cache=True)
def factor(D, row, column, pivot, b, M, cycle):
    """Factor the diagonal block, whose corner is D[row, column], into M.

    `cycle` becomes the first pivot with a negative diagonal element; `pivot` is the number of the block's first pivot.
    """
    for k in range(b):
        for j in range(b):
            M[k, j] = D[row + k, column + j]
    for k in range(b):
        if M[k, k] < 0 and pivot + k < cycle[0]:
            cycle[0] = pivot + k
        right = M[k]
        for i in range(k + 1, b):
            relax_line(M[i, k + 1 : b], None, M[i, k], right[k + 1 : b], None, np.int64(0))


def solve_rows(D, P, row, pivot, b, panels):
    """Write each pivot's row, as it is when the pivot is eliminated, to R; and its predecessors to `labels`, if any."""
    M, R, labels, _ = panels
    n = D.shape[1]
    R[:b, :n] = D[row : row + b]
    if labels is not None:
        labels[:b, :n] = P[row : row + b]
    _eliminate(R, labels, M, b, n)


def solve_columns(D, column, b, panels):
    """Write each pivot's column, as it is when the pivot is eliminated, to a row of C."""
    M, _, _, C = panels
    n = len(D)
    C[:b, :n] = D[:, column : column + b].T
    _eliminate(C, None, np.ascontiguousarray(M.T), b, n)


@unless(lambda panel, labels, factors, b, n: n * n <= VERTICES)
def _eliminate(panel, labels, factors, b, n):
    """Eliminate the pivots from the first n columns of a panel; factors[k, k'] has k' before k."""
    width = _WIDTH // panel.itemsize
    for strip in prange((n + width - 1) // width):
        first = strip * width
        last = min(n, first + width)
        for k in range(b):
            for before in range(k):
                d, c, r = panel[k, first:last], factors[k, before], panel[before, first:last]
                if labels is None:
                    relax_line(d, None, c, r, None, np.int64(0))
                else:
                    relax_line(d, labels[k, first:last], c, r, labels[before, first:last], np.int64(0))


def update(D, P, panels, pivot, b, nonnegative, skip=(0, 0, 0, 0)):
    """D = min(D, C (+) R): paths of every pair through the panels' pivots, from number `pivot` on.

    `nonnegative` and `skip` help a GPU and are ignored here.
    """
    _, R, labels, C = panels
    _update(D, P, C, R, labels, pivot, b)


@unless(lambda D, *_: D.size <= VERTICES)
def _update(D, P, C, R, labels, pivot, b):
    rows, n = D.shape
    width = _WIDTH // D.itemsize
    for strip in prange((rows + _HEIGHT - 1) // _HEIGHT):
        top = strip * _HEIGHT
        bottom = min(rows, top + _HEIGHT)
        for first in range(0, n, width):
            last = min(n, first + width)
            if P is None:
                _relax_tile(D, C, R, top, bottom, first, last, b)
            else:
                for i in range(top, bottom):
                    for k in range(b):
                        d, p, r = D[i, first:last], P[i, first:last], R[k, first:last]
                        if labels is None:
                            relax_line(d, p, C[k, i], r, None, pivot + k)
                        else:
                            relax_line(d, p, C[k, i], r, labels[k, first:last], pivot + k)


@njit(nogil=True, cache=True)
def _relax_tile(D, C, R, top, bottom, first, last, b):
    whole = top + (bottom - top) // 4 * 4 if b % 4 == 0 else top
    for k in range(0, b if whole > top else 0, 4):
        r0, r1, r2, r3 = R[k, first:last], R[k + 1, first:last], R[k + 2, first:last], R[k + 3, first:last]
        for i in range(top, whole, 4):
            a0, a1, a2, a3 = C[k, i], C[k, i + 1], C[k, i + 2], C[k, i + 3]
            b0, b1, b2, b3 = C[k + 1, i], C[k + 1, i + 1], C[k + 1, i + 2], C[k + 1, i + 3]
            c0, c1, c2, c3 = C[k + 2, i], C[k + 2, i + 1], C[k + 2, i + 2], C[k + 2, i + 3]
            e0, e1, e2, e3 = C[k + 3, i], C[k + 3, i + 1], C[k + 3, i + 2], C[k + 3, i + 3]
            d0, d1, d2, d3 = D[i, first:last], D[i + 1, first:last], D[i + 2, first:last], D[i + 3, first:last]
            for j in range(last - first):
                x0, x1, x2, x3 = r0[j], r1[j], r2[j], r3[j]
                t0, t1, t2, t3 = d0[j], d1[j], d2[j], d3[j]
                d0[j] = _least(t0, sum_of(t0, a0, x0), sum_of(t0, b0, x1), sum_of(t0, c0, x2), sum_of(t0, e0, x3))
                d1[j] = _least(t1, sum_of(t1, a1, x0), sum_of(t1, b1, x1), sum_of(t1, c1, x2), sum_of(t1, e1, x3))
                d2[j] = _least(t2, sum_of(t2, a2, x0), sum_of(t2, b2, x1), sum_of(t2, c2, x2), sum_of(t2, e2, x3))
                d3[j] = _least(t3, sum_of(t3, a3, x0), sum_of(t3, b3, x1), sum_of(t3, c3, x2), sum_of(t3, e3, x3))
    for i in range(whole, bottom):
        for k in range(b):
            relax_line(D[i, first:last], None, C[k, i], R[k, first:last], None, np.int64(0))


@njit(nogil=True, cache=True)
def eliminate_in_blocks(D, n, block, cycle):
    """D = the shortest paths in its first n rows and columns, by one core, `block` pivots at a time.

    `cycle` becomes the first pivot with a negative diagonal element, if any; D is then of no use.
    """
    M, R, C = np.empty((block, block), D.dtype), np.empty((block, n), D.dtype), np.empty((block, n), D.dtype)
    width = _WIDTH // D.itemsize
    for pivot in range(0, n, block):
        b = min(block, n - pivot)
        factor(D, pivot, pivot, pivot, b, M, cycle)
        if cycle[0] < pivot + b:
            return
        for k in range(b):
            for j in range(n):
                R[k, j] = D[pivot + k, j]
                C[k, j] = D[j, pivot + k]
            for before in range(k):
                relax_line(R[k], None, M[k, before], R[before], None, np.int64(0))
                relax_line(C[k], None, M[before, k], C[before], None, np.int64(0))
        for top in range(0, n, _HEIGHT):
            for first in range(0, n, width):
                _relax_tile(D, C, R, top, min(n, top + _HEIGHT), first, min(n, first + width), b)


def through(D, P, column, R, labels, pivot, count, cycle):
    """D = min(D, D[:, column + t] + R[t]) for t = 0, ..., count - 1, one after the other.

    `cycle` becomes the first pivot with a negative diagonal element; results after that are not used.
    """
    for t in range(count):
        if R[t, column + t] < 0:
            cycle[0] = min(cycle[0], pivot + t)
            return
        _through(D, P, column + t, R[t], None if labels is None else labels[t], pivot + t)


@njit(parallel=True, nogil=True, cache=True)
def _through(D, P, column, row, label, pivot):
    for i in prange(D.shape[0]):
        c, r = D[i, column], row[: D.shape[1]]
        if P is None:
            relax_line(D[i], None, c, r, None, 0)
        elif label is None:
            relax_line(D[i], P[i], c, r, None, pivot)
        else:
            relax_line(D[i], P[i], c, r, label, pivot)


def at_once(n, processors):
    """Return whether `eliminate` takes n vertices: with few, one core is as fast as all."""
    return 0 < n <= 64


def board(xp, dtype, n, labelled):
    """Return nothing: `eliminate` works in place."""
    return xp.empty((0,), dtype), None


def eliminate(given, D, P, paths, bounds, board, found):
    """D = the shortest paths in the matrix `given`, by one core, for as many vertices as `at_once` allows.

    P becomes the predecessors if `paths`, else the highest intermediate vertices.
    """
    kind = D.dtype.type
    missing = infinity(D.dtype)
    if D.dtype.kind == "f":  # no sum of floats is out of bounds
        bounds = missing, -missing, missing, missing
    _eliminate_all(given, D, P, paths, *map(kind, bounds), kind(missing), kind(kernel_infinity(D.dtype)), found)


@njit(nogil=True, cache=True)
def _eliminate_all(given, D, P, paths, most, lowest, highest, unreached, missing, none, found):
    n, zero = len(D), type(none)(0)
    for i in range(n):
        for j in range(n):
            x = given[i, j]
            if i == j and x > zero:
                x = zero
            if x == missing:
                x = none
            elif x > most or x < -most:
                found[2] = 1
            D[i, j] = x + zero  # no negative zero
            if P is not None:
                P[i, j] = i if paths and i != j and x < none else NO_PREDECESSOR
    for k in range(n):
        if D[k, k] < zero:
            found[1] = 2**31 - 1 - k
            return
        for i in range(n):
            if i == k:
                continue
            if P is None:
                relax_line(D[i], None, D[i, k], D[k], None, np.int64(0))
            elif paths:
                relax_line(D[i], P[i], D[i, k], D[k], P[k], np.int64(0))
            else:
                relax_line(D[i], P[i], D[i, k], D[k], None, k)
    for i in range(n):
        for j in range(n):
            if D[i, j] >= unreached:
                D[i, j] = missing
                if P is not None:
                    P[i, j] = NO_PREDECESSOR
            elif D[i, j] < lowest or D[i, j] > highest:
                found[3] = 1


@unless(is_few)
def scatter(D, indptr, indices, weights):
    for v in prange(D.shape[0]):
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            if weights[e] < D[v, w]:
                D[v, w] = weights[e]
