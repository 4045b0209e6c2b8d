"""For every vertex in every row, the least sum of a neighbour's distance and the weight of the edge from it.

And searches over tight edges, where this sum is the vertex's own distance. Cores share the vertices of a list of edges,
and the rows of a matrix or a search, so no two threads write the same element.
"""

import numpy as np

from ...device.numba import prange
from ...device.numba.caching import njit


@njit(parallel=True, nogil=True, cache=True)
def lower_by_edges(distances, first, offsets, starts, lengths, least, nearer):
    for k in prange(len(offsets) - 1):
        v = first + k
        for i in range(len(distances)):
            own, lowest, below = distances[i, v], least[i, v], nearer[i, v]
            for e in range(offsets[k], offsets[k + 1]):
                before = distances[i, starts[e]]
                through = before + lengths[e]
                if through < lowest:
                    lowest = through
                if before < own and through < below:
                    below = through
            least[i, v], nearer[i, v] = lowest, below


@njit(parallel=True, nogil=True, cache=True)
def lower_by_matrix(distances, first, part, least, nearer):
    """Lower `least` and `nearer` along the edges in some consecutive rows of a matrix of lengths."""
    for i in prange(len(distances)):
        for k in range(len(part)):
            own = distances[i, first + k]
            for v in range(part.shape[1]):
                through = own + part[k, v]
                least[i, v] = through if through < least[i, v] else least[i, v]
                through = through if own < distances[i, v] else np.inf
                nearer[i, v] = through if through < nearer[i, v] else nearer[i, v]


@njit(parallel=True, nogil=True, cache=True)
def reach_by_edges(distances, offsets, ends, lengths, margins, reached):
    for i in prange(len(distances)):
        waiting = np.empty(reached.shape[1], np.int64)
        count = 0
        for v in range(reached.shape[1]):
            if reached[i, v]:
                waiting[count] = v
                count += 1
        while count:
            count -= 1
            u = waiting[count]
            for e in range(offsets[u], offsets[u + 1]):
                v = ends[e]
                if not reached[i, v] and abs(distances[i, u] + lengths[e] - distances[i, v]) <= margins[i, v]:
                    reached[i, v] = True
                    waiting[count] = v
                    count += 1
