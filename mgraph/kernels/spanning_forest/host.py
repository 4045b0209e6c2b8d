"""The kernels of ``kernels/spanning_forest.cu`` for the CPU: the same operations on the same arrays, on all cores.

That file's opening explains the algorithm, the encoding, and why cores may work at the same time. Here a core takes a
chunk of rows at a time, and treats hubs like other rows.
"""

import numpy as np

from ...device.numba import prange
from ...device.numba.atomics import compare_and_swap, fetch_and_add
from ...device.numba.caching import njit
from ...device.numba.small import VERTICES, is_small, unless

#: Operations that run no kernel.
UNLOCKED = frozenset({"hub_capacity"})

_NONE = np.int64(np.iinfo(np.int64).max)
_NO_END = np.int32(np.iinfo(np.int32).max)
_LOW = np.int64(0xFFFFFFFF)
_CHUNK = 256  # rows that a core takes at a time


def hub_capacity(edges):
    """Return 0: the CPU treats hubs like other rows."""
    return 0


@njit(nogil=True, cache=True)
def _lower(array, place, value):
    """Lower an element to `value`, atomically."""
    seen = array[place]
    while value < seen:
        before = compare_and_swap(array, place, seen, value)
        if before == seen:
            return
        seen = before


@unless(lambda edges, *_: is_small(edges[0]))
def choose(edges, first, alone, components, choice, hubs):
    indptr = edges.indptr
    indices = edges.indices
    keys = edges.keys
    comp = components.comp
    best = components.best
    total = hubs[1]
    total[0] = 0  # the next chunk
    chunks = (len(choice) + _CHUNK - 1) // _CHUNK
    for _ in prange(chunks):
        chunk = np.int64(fetch_and_add(total, 0, np.uint64(1)))
        for row in range(chunk * _CHUNK, min(len(choice), (chunk + 1) * _CHUNK)):
            u = first + row
            own = comp[u]
            begin, end = indptr[row], indptr[row + 1]
            most = np.int32(best[own] >> 32)  # without an edge, the greatest key
            found, at = _NONE, np.int64(0)
            for e in range(np.uint64(begin), np.uint64(end)):
                key = keys[e]
                if key > most:
                    continue
                v = indices[e]
                if (v if alone else comp[np.uint32(v)]) != own:
                    if found == _NONE or key < np.int32(found >> 32):
                        found = np.int64(key) << 32 | np.int64(e - np.uint64(begin))
                        at = v
                        if key == np.iinfo(np.int32).min:
                            break
                        most = np.int32(key - 1)  # only a smaller key is of use
            choice[row] = found
            if found != _NONE:
                _lower(best, own, (found & ~_LOW) | np.int64(min(u, at)))


@unless(lambda edges, first, components, choice: len(choice) <= VERTICES)
def settle(edges, first, components, choice):
    """Find the least of the greater ends of the edges that attain their component's bound."""
    indptr = edges.indptr
    indices = edges.indices
    comp = components.comp
    best = components.best
    ends = components.ends
    for row in prange(len(choice)):
        found = choice[row]
        if found != _NONE:
            u = first + row
            v = indices[indptr[row] + (found & _LOW)]
            own = comp[u]
            if (found & ~_LOW) | np.int64(min(u, v)) == best[own]:
                _lower(ends, own, np.int32(max(u, v)))


@unless(lambda first, last, components, *_: len(components.comp) <= VERTICES)
def hook(first, last, components, forest, counts):
    comp = components.comp
    parent = components.parent
    best = components.best
    ends = components.ends
    low = forest.low
    high = forest.high
    keys = forest.keys
    for c in prange(len(comp)):
        if comp[c] == c and best[c] != _NONE:
            u, v = np.int32(best[c] & _LOW), ends[c]
            other = comp[v] if comp[u] == c else comp[u]
            if c > other or best[other] != best[c] or ends[other] != v:
                parent[c] = other
                fetch_and_add(counts, 0, np.int32(1))
                if first <= u < last:
                    place = fetch_and_add(counts, 1, np.int32(1))
                    low[place], high[place], keys[place] = u, v, np.int32(best[c] >> 32)


@unless(lambda components: len(components.comp) <= VERTICES)
def relabel(components):
    comp = components.comp
    parent = components.parent
    best = components.best
    ends = components.ends
    for v in prange(len(comp)):
        below = comp[v]
        above = parent[below]
        while True:
            following = parent[above]
            if following == above:
                break
            parent[below] = following
            below, above = above, following
        comp[v] = above
        best[v] = _NONE
        ends[v] = _NO_END
