"""Sums of a neighbour's distance and the edge from there, the least of them for every vertex in every row.

Rows are independent, and a core takes some of them: no two threads write the same element of `least`.
"""

from ...device.numba import prange
from ...device.numba.caching import njit


@njit(parallel=True, nogil=True, cache=True)
def lower_by_edges(distances, offsets, ends, lengths, least):
    """Lower `least` by the edges from consecutive vertices, whose distances and offsets are given."""
    for i in prange(len(distances)):
        for u in range(distances.shape[1]):
            for e in range(offsets[u], offsets[u + 1]):
                through = distances[i, u] + lengths[e]
                if through < least[i, ends[e]]:
                    least[i, ends[e]] = through


@njit(parallel=True, nogil=True, cache=True)
def lower_by_matrix(distances, part, least):
    """Lower `least` by consecutive rows of a matrix of lengths, whose vertices' distances are given."""
    for i in prange(len(distances)):
        for u in range(distances.shape[1]):
            for v in range(part.shape[1]):
                through = distances[i, u] + part[u, v]
                least[i, v] = through if through < least[i, v] else least[i, v]
