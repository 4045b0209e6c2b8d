"""The kernels of ``kernels/weights.cu`` for the CPU.

`decode` takes rows on all cores, or parts of a single row. `encode` uses NumPy: it runs once per call, and a compiled
kernel would be needed for each of many types.
"""

import numpy as np

from ...arrays import chunk_rows
from ...device.numba.caching import njit
from ...device.numba.sharing import on_all_cores, parts
from ...device.numba.small import VERTICES
from ...dtypes import NO_PREDECESSOR


def encode(values, out, dense, infinity, most, fault):
    """Write integer weights to `out`, and infinity where there is no edge.

    Both may be the same matrix. If `most` is not negative, fault[0] becomes 1 plus the place of the last weight that is
    not from -most to most.
    """
    rows, columns = out.shape
    chunk = chunk_rows(columns)
    for top in range(0, rows, chunk):
        part = values[top : top + chunk]
        absent = part == np.iinfo(part.dtype).max if dense else np.zeros(1, bool)
        if most >= 0 and (part.max() > most or part.min() < -most):
            large = np.flatnonzero(((part > most) | (part < -most)) & ~absent)
            if len(large):
                fault[0] = top * columns + large[-1] + 1
        out[top : top + chunk] = part
        np.copyto(out[top : top + chunk], infinity, where=absent, casting="unsafe")


def survey(matrix, diagonal, infinity, found, sure):
    low = matrix.min()
    found[0] = not low > -np.inf  # a minimum with a NaN among its numbers is NaN
    found[1] = low < 0
    found[2] = not sure and matrix.max() == infinity
    # NumPy counts Booleans several times as fast as numbers.
    if low <= 0 and not found[2] and not sure:
        own = matrix.diagonal(diagonal)
        found[3] = np.count_nonzero(matrix == 0) > np.count_nonzero(own == 0)


def decode(matrix, labels, lowest, highest, unreached, infinity, fault):
    """Replace distances of `unreached` or more by infinity; set fault[0] if another is out of bounds."""
    rows, columns = matrix.shape
    if matrix.size <= VERTICES:  # by NumPy, as a kernel would take a third of a second to compile
        if not matrix.size:
            return
        high = np.maximum.reduce(matrix, None)  # a method of arrays is a call of Python, which calls this
        if high >= unreached:
            none = matrix >= unreached
            if labels is not None:
                labels[none] = NO_PREDECESSOR
            high = matrix.max(initial=lowest, where=~none)
            matrix[none] = infinity
        if high > highest or np.minimum.reduce(matrix, None) < lowest:
            fault[0] = 1
        return

    def share(own):
        own = (own,) if rows > 1 else (slice(None), own)
        given = None if labels is None else labels[own]
        _decode(matrix[own], given, lowest, highest, unreached, infinity, fault)

    on_all_cores(share, parts(rows, columns) if rows > 1 else parts(columns))


@njit(nogil=True, cache=True)
def _decode(matrix, labels, lowest, highest, unreached, infinity, fault):
    rows, columns = matrix.shape
    for i in range(rows):
        beyond = False
        for j in range(columns):
            x = matrix[i, j]
            none = x >= unreached
            matrix[i, j] = infinity if none else x
            if labels is not None:
                labels[i, j] = NO_PREDECESSOR if none else labels[i, j]
            beyond |= not none and (x < lowest or x > highest)
        if beyond:
            fault[0] = 1
