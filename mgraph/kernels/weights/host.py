"""The kernels of ``kernels/weights.cu`` for the CPU.

`decode` is parallel over parts of rows. `encode` uses NumPy: it runs once per call, and a compiled kernel would be
needed for each of many types.
"""

import numpy as np

from ...arrays import chunk_rows
from ...device.numba import prange
from ...device.numba.small import VERTICES, unless
from ...dtypes import NO_PREDECESSOR

#: Elements of a row that a core takes at a time.
_LENGTH = 1 << 14


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
    """Set what of `found` a matrix contains: an invalid or negative element, an infinity, a zero off the diagonal."""
    low = matrix.min()
    found[0] = not low > -np.inf  # a minimum with a NaN among its numbers is NaN
    found[1] = low < 0
    found[2] = not sure and matrix.max() == infinity
    # NumPy counts Booleans several times as fast as numbers.
    if low <= 0 and not found[2] and not sure:
        own = matrix.diagonal(diagonal)
        found[3] = np.count_nonzero(matrix == 0) > np.count_nonzero(own == 0)


@unless(lambda matrix, *_: matrix.size <= VERTICES)
def decode(matrix, labels, lowest, highest, unreached, infinity, fault):
    """Replace distances of `unreached` or more by infinity; set fault[0] if another is out of bounds."""
    rows, columns = matrix.shape
    pieces = -(-columns // _LENGTH)
    for piece in prange(rows * pieces):
        i, begin = piece // pieces, piece % pieces * _LENGTH
        beyond = False
        for j in range(begin, min(begin + _LENGTH, columns)):
            x = matrix[i, j]
            none = x >= unreached
            matrix[i, j] = infinity if none else x
            if labels is not None:
                labels[i, j] = NO_PREDECESSOR if none else labels[i, j]
            beyond |= not none and (x < lowest or x > highest)
        if beyond:
            fault[0] = 1
