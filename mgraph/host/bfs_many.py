"""The kernels of ``kernels/bfs_many.cu`` for the CPU: the same operations on the same arrays, on all cores.

That file's opening explains the algorithm and the encoding.
"""

import numpy as np
from numba import njit, prange

from .atomics import fetch_and_or

#: Words of 64 searches that a batch may have, a vertex.
WORDS = (4, 2, 1)

_NONE, _ONE, _ALL = np.uint64(0), np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)
_CHUNK = 32  # vertices whose distances are written search by search


@njit(nogil=True, cache=True)
def plant(sources, first, last, frontier, seen, row, distances):
    """Start a search from each of `sources`, whose distances begin with row `row`."""
    for i in range(len(sources)):
        v, bit = sources[i], _ONE << np.uint64(i & 63)
        frontier[v, i >> 6] |= bit
        if first <= v < last:
            seen[v - first, i >> 6] |= bit
            distances[row + i, v - first] = 0


@njit(parallel=True, nogil=True, cache=True)
def pull(in_indptr, in_indices, frontier, seen, following, hubs, total):
    """Gather for each vertex who of its in-neighbours is in a frontier."""
    words = frontier.shape[1]
    for own in prange(len(seen)):
        done = True
        for w in range(words):
            following[own, w] = _NONE
            done &= seen[own, w] == _ALL
        e = in_indptr[own]
        while e < in_indptr[own + 1] and not done:
            u = in_indices[e]
            done = True
            for w in range(words):
                following[own, w] |= frontier[u, w]
                done &= following[own, w] | seen[own, w] == _ALL
            e += 1


@njit(parallel=True, nogil=True, cache=True)
def push(out_indptr, out_indices, first, frontier, seen, following, hubs, total):
    """Send along the edges of each vertex what frontiers it is in; `following` is zero before."""
    words = frontier.shape[1]
    flat = following.reshape(-1)
    for u in prange(len(frontier)):
        for w in range(words):
            if frontier[u, w]:
                for e in range(out_indptr[u], out_indptr[u + 1]):
                    v = out_indices[e] - first
                    bits = frontier[u, w] & ~seen[v, w]
                    if bits & ~following[v, w]:
                        fetch_and_or(flat, v * words + w, bits)


@njit(parallel=True, nogil=True, cache=True)
def settle(first, last, level, following, seen, frontier, row, distances, active):
    """Make the new vertices the frontiers, at distance `level`, and add their number to `active`."""
    words = frontier.shape[1]
    count = 0
    for part in prange((last - first + _CHUNK - 1) // _CHUNK):
        begin, end = part * _CHUNK, min(last - first, part * _CHUNK + _CHUNK)
        for own in range(begin, end):
            fresh = _NONE
            for w in range(words):
                bits = following[own, w] & ~seen[own, w]
                seen[own, w] |= bits
                frontier[first + own, w] = bits
                following[own, w] = _NONE
                fresh |= bits
            count += fresh != _NONE
        for w in range(words):
            some = _NONE
            for own in range(begin, end):
                some |= frontier[first + own, w]
            if some:
                for b in range(64):
                    if some >> np.uint64(b) & _ONE:
                        for own in range(begin, end):
                            if frontier[first + own, w] >> np.uint64(b) & _ONE:
                                distances[row + 64 * w + b, own] = level
    active[0] += count
