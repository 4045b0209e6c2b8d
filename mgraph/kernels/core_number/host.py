"""The kernels of ``kernels/core_number.cu`` for the CPU: the same operations on the same arrays, on all cores."""

import numpy as np
from numba.extending import register_jitable

from ...device.numba import prange
from ...device.numba.atomics import fetch_and_add, fetch_and_min
from ...device.numba.caching import njit
from ...device.numba.small import VERTICES, is_small, unless

#: Operations that run no kernel.
UNLOCKED = frozenset({"list_capacity"})

#: The most vertices of a round that one core takes care of.
_FEW = 256


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


def list_capacity(n):
    """Return n: a round looks at the vertices that are left."""
    return n


@unless(lambda lists, *_: lists.counts[0] <= VERTICES)
def settle(lists, lost, taken, degrees, least):
    """Subtract what the vertices have lost from their degrees; find the least degree of a vertex left."""
    found = least[0]
    for i in prange(lists.counts[0]):
        v = lists.left[i]
        degrees[v] -= lost[v]
        lost[v] = 0
        found = min(found, degrees[v])
    least[0] = found


@njit(nogil=True, cache=True)
def take(lists, degrees, taken, cores, level, round):
    """Take the vertices left with a degree of at most `level`."""
    stay = went = 0
    for i in range(lists.counts[0]):
        v = lists.left[i]
        if degrees[v] <= level:
            taken[v] = round
            cores[v] = level
            lists.gone[went] = v
            went += 1
        else:
            lists.left[stay] = v
            stay += 1
    lists.counts[0], lists.counts[1] = stay, went


@register_jitable
def _is_brief(lists, indptr, *_):
    """Return whether a round takes one core less time than to wake others."""
    return is_small(indptr) or lists.counts[1] <= _FEW


@unless(_is_brief)
def lower(lists, indptr, indices, first, taken, round, lost):
    """Count the edges to each vertex left from vertices taken in this round."""
    alone = _is_brief(lists, indptr)
    for i in prange(lists.counts[1]):
        row = lists.gone[i] - first
        if 0 <= row < len(indptr) - 1:
            for e in range(indptr[row], indptr[row + 1]):
                v = indices[e]
                if alone:
                    lost[v] += 1  # what vertices that are not left lose is not read
                elif taken[v] < 0:
                    fetch_and_add(lost, v, np.int32(1))
