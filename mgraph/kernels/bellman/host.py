"""For every vertex in every row, the least sum of a neighbour's distance and the weight of the edge from it.

Rows are independent and each is handled by one core, so no two threads write the same element of `least`.
"""

from ...device.numba import prange
from ...device.numba.caching import njit


@njit(parallel=True, nogil=True, cache=True)
def lower_by_edges(distances, offsets, ends, lengths, least):
    """Lower `least` along the edges from some consecutive vertices."""
    for i in prange(len(distances)):
        for u in range(distances.shape[1]):
            for e in range(offsets[u], offsets[u + 1]):
                through = distances[i, u] + lengths[e]
                if through < least[i, ends[e]]:
                    least[i, ends[e]] = through


@njit(parallel=True, nogil=True, cache=True)
def lower_by_matrix(distances, part, least):
    """Lower `least` along the edges in some consecutive rows of a matrix of lengths."""
    for i in prange(len(distances)):
        for u in range(distances.shape[1]):
            for v in range(part.shape[1]):
                through = distances[i, u] + part[u, v]
                least[i, v] = through if through < least[i, v] else least[i, v]
