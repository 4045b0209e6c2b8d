"""The kernels of ``kernels/weights.cu`` for the CPU.

`decode` is parallel over rows, or over parts of the only one; `encode` is NumPy's, or there would be much to compile
for something done once, of so many types.
"""

import numpy as np

from ...arrays import chunk_rows
from ...device.numba import prange
from ...device.numba.small import VERTICES, unless
from ...dtypes import NO_PREDECESSOR

#: Elements that a core looks at in a row.
_LENGTH = 1 << 14


def encode(values, out, dense, infinity, most, fault):
    """Write integers to `out`, and infinity for what is no edge.

    Both are matrices, and may be the same. Where `most` is not negative and weights are greater or less than -most,
    fault[0] becomes 1 more than the last one's place.
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


def zeros(matrix, first, found):
    """Set found[0] if rows of a matrix, from `first` on, have zeros off its diagonal."""
    own = matrix[:, first : first + len(matrix)].diagonal()
    # NumPy counts truth values several times as fast as numbers.
    if np.count_nonzero(matrix == 0) > np.count_nonzero(own == 0):
        found[0] = 1


@unless(lambda matrix, *_: matrix.size <= VERTICES)
def decode(matrix, labels, lowest, highest, unreached, infinity, fault):
    """Make what is `unreached` or more infinite and without a label; set fault[0] if another is not within bounds."""
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
