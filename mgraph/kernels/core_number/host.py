"""The kernels of ``kernels/core_number.cu`` for the CPU: the same operations on the same arrays, on all cores."""

import numpy as np

from ...device.numba import prange
from ...device.numba.atomics import fetch_and_add, fetch_and_min
from ...device.numba.small import VERTICES, is_small, unless


@unless(is_small)
def find_flaws(indptr, indices, first, flaws):
    """Find the least vertex with a self-loop, and the least with parallel edges."""
    for row in prange(len(indptr) - 1):
        v = np.int32(first + row)
        for e in range(indptr[row], indptr[row + 1]):
            if indices[e] == v:
                fetch_and_min(flaws, 0, v)
            if e > indptr[row] and indices[e] == indices[e - 1]:
                fetch_and_min(flaws, 1, v)


@unless(lambda lost, *_: len(lost) <= VERTICES)
def settle(lost, taken, degrees, least):
    """Subtract what the vertices have lost from their degrees; find the least degree of a vertex left."""
    found = least[0]
    for v in prange(len(lost)):
        degrees[v] -= lost[v]
        lost[v] = 0
        if taken[v] < 0:
            found = min(found, degrees[v])
    least[0] = found


@unless(lambda degrees, *_: len(degrees) <= VERTICES)
def take(degrees, taken, cores, level, round):
    """Take the vertices left with a degree of at most `level`."""
    for v in prange(len(degrees)):
        if taken[v] < 0 and degrees[v] <= level:
            taken[v] = round
            cores[v] = level


@unless(is_small)
def lower(indptr, indices, first, taken, round, lost):
    """Count the edges to each vertex left from vertices taken in this round."""
    for row in prange(len(indptr) - 1):
        if taken[first + row] == round:
            for e in range(indptr[row], indptr[row + 1]):
                if taken[indices[e]] < 0:
                    fetch_and_add(lost, indices[e], np.int32(1))
