"""The (min, +) kernels of ``kernels/minplus.cu`` for the CPU, parallel over rows or columns.

The same operations on the same panels, so the same result to the last bit; that file's opening explains
the algorithm. The inner loops run along rows, where LLVM vectorises them; `update` takes four rows and
four pivots at a time, so that each element loaded serves several sums.
"""

from numba import njit, prange

#: Pivots that may be eliminated at a time, and how many are by default.
BLOCKS = (32, 64, 96, 128)
DEFAULT_BLOCK = 64

#: Columns, and rows, that a core works on at a time: their part of the panels stays in its cache.
_WIDTH = 512
_HEIGHT = 16


def padded(items):
    """Return the length of a panel's rows for `items` columns; on the CPU panels are not padded."""
    return items


@njit(nogil=True, cache=True)
def factor(D, row, pivot, b, M, cycle):
    """Factor the diagonal block into M; `cycle` becomes the first pivot of negative weight."""
    M[:] = D.dtype.type(0)
    for i in range(b):
        M[i, :b] = D[row + i, pivot : pivot + b]
    for k in range(b):
        if M[k, k] < 0 and pivot + k < cycle[0]:
            cycle[0] = pivot + k
        for i in range(k + 1, b):
            left = M[i, k]
            for j in range(k + 1, b):
                s = left + M[k, j]
                M[i, j] = s if s < M[i, j] else M[i, j]


@njit(nogil=True, cache=True)
def _eliminate(panel, labels, factors, b, first, last):
    """Carry the columns first to last of a panel through the pivots; factors[k, k'] with k' before k."""
    for k in range(b):
        line = panel[k, first:last]
        for before in range(k):
            coefficient = factors[k, before]
            known = panel[before, first:last]
            if labels is None:
                for j in range(last - first):
                    s = coefficient + known[j]
                    line[j] = s if s < line[j] else line[j]
            else:
                label = labels[k, first:last]
                known_label = labels[before, first:last]
                for j in range(last - first):
                    s = coefficient + known[j]
                    label[j] = known_label[j] if s < line[j] else label[j]
                    line[j] = s if s < line[j] else line[j]


@njit(parallel=True, nogil=True, cache=True)
def solve_rows(D, P, row, pivot, b, M, R, labels):
    """Write each pivot's row, as it is when the pivot's turn comes, to R, and its predecessors to labels."""
    n = D.shape[1]
    for strip in prange((n + _WIDTH - 1) // _WIDTH):
        first = strip * _WIDTH
        last = min(n, first + _WIDTH)
        for k in range(b):
            R[k, first:last] = D[row + k, first:last]
            if P is not None:
                labels[k, first:last] = P[row + k, first:last]
        _eliminate(R, labels, M, b, first, last)


@njit(parallel=True, nogil=True, cache=True)
def solve_columns(D, pivot, b, R, C):
    """Write each pivot's column, as it is when the pivot's turn comes, to a row of C."""
    rows = D.shape[0]
    factors = R[:b, pivot : pivot + b].T.copy()
    for strip in prange((rows + _WIDTH - 1) // _WIDTH):
        first = strip * _WIDTH
        last = min(rows, first + _WIDTH)
        for i in range(first, last):
            for k in range(b):
                C[k, i] = D[i, pivot + k]
        _eliminate(C, None, factors, b, first, last)


@njit(parallel=True, nogil=True, cache=True)
def update(D, P, C, R, labels, b, nonnegative):
    """D = min(D, C (+) R): every pair of vertices through the panels' pivots.

    That no distance is negative helps a GPU; here it makes no difference.
    """
    rows, n = D.shape
    for strip in prange((rows + _HEIGHT - 1) // _HEIGHT):
        top = strip * _HEIGHT
        bottom = min(rows, top + _HEIGHT)
        for first in range(0, n, _WIDTH):
            last = min(n, first + _WIDTH)
            if P is None:
                _relax_tile(D, C, R, top, bottom, first, last, b)
            else:
                for i in range(top, bottom):
                    d = D[i, first:last]
                    p = P[i, first:last]
                    for k in range(b):
                        c = C[k, i]
                        r = R[k, first:last]
                        label = labels[k, first:last]
                        for j in range(last - first):
                            s = c + r[j]
                            p[j] = label[j] if s < d[j] else p[j]
                            d[j] = s if s < d[j] else d[j]


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
                d0[j] = _least(d0[j], a0 + x0, b0 + x1, c0 + x2, e0 + x3)
                d1[j] = _least(d1[j], a1 + x0, b1 + x1, c1 + x2, e1 + x3)
                d2[j] = _least(d2[j], a2 + x0, b2 + x1, c2 + x2, e2 + x3)
                d3[j] = _least(d3[j], a3 + x0, b3 + x1, c3 + x2, e3 + x3)
    for i in range(whole, bottom):
        d = D[i, first:last]
        for k in range(b):
            c = C[k, i]
            r = R[k, first:last]
            for j in range(last - first):
                s = c + r[j]
                d[j] = s if s < d[j] else d[j]


@njit(inline="always")
def _least(d, s0, s1, s2, s3):
    d = s0 if s0 < d else d
    d = s1 if s1 < d else d
    d = s2 if s2 < d else d
    return s3 if s3 < d else d


@njit(parallel=True, nogil=True, cache=True)
def scatter(D, indptr, indices, weights):
    """D[v, w] = the least weight of the edges from v to w; the other elements stay."""
    for v in prange(D.shape[0]):
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            D[v, w] = min(D[v, w], weights[e])
