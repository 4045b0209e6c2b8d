"""The kernels of ``kernels/spanning_forest.cu`` for the CPU: the same operations on the same arrays, on all cores.

That file's opening explains the algorithm, the encoding, and why cores may work at the same time. Here a core takes a
chunk of rows at a time, and treats hubs like other rows.

Components only grow. So a row's least edge that leaves stays that until it leaves no more, and no lesser one leaves
then. A row keeps its choice from round to round: it is looked at only while its key may attain the bound, and the row
is searched again only once that edge leaves no more. If that search went only as far as the bound, the choice is stale.
"""

import numpy as np

from ...device.numba import prange
from ...device.numba.atomics import compare_and_swap, fetch_and_add
from ...device.numba.caching import njit
from ...device.numba.small import VERTICES, is_small, unless

#: Operations that run no kernel.
UNLOCKED = frozenset({"hub_capacity"})

_NONE = np.int64(np.iinfo(np.int64).max)
_LEAST = np.int64(np.iinfo(np.int64).min)
_NO_END = np.int32(np.iinfo(np.int32).max)
_LOW = np.int64(0xFFFFFFFF)
_STALE = np.int64(1 << 31)  # of a choice that leaves no more
_CHUNK = 256  # rows that a core takes at a time
_SHORT = 4  # edges of a row that is searched to its end, whatever bound its component has
_LEAST_KEY, _GREATEST_KEY = np.int32(np.iinfo(np.int32).min), np.int32(np.iinfo(np.int32).max)


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
            begin, end = np.uint64(indptr[row]), np.uint64(indptr[row + 1])
            found, at = _NONE, own
            least = _LEAST  # no edge below it leaves
            bound = np.int32(best[own] >> 32)  # of no edge the greatest key
            if not alone:
                found = choice[row]
                if found == _NONE or np.int32(found >> 32) > bound:
                    continue
                least = (found & ~_STALE) + 1
                if found & _STALE:
                    found = _NONE
                else:
                    at = indices[begin + np.uint64(found & _LOW)]
                    if comp[np.uint32(at)] == own:
                        found = _NONE
            if found == _NONE:
                most = _GREATEST_KEY if alone or end - begin <= _SHORT else bound
                passed = False
                for e in range(begin, end):
                    key = keys[e]
                    if key > most:
                        passed = True
                        continue
                    edge = np.int64(key) << 32 | np.int64(e - begin)
                    v = indices[e]
                    if edge >= least and (v if alone else comp[np.uint32(v)]) != own:
                        found, at = edge, v
                        if key == _LEAST_KEY:
                            break
                        most = np.int32(key - 1)  # only a smaller key is of use
                choice[row] = found if found != _NONE or not passed else (least - 1) | _STALE
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
        if not found & _STALE:  # as no edge is
            u = first + row
            own = comp[u]
            if found >> 32 == best[own] >> 32:
                v = indices[indptr[row] + (found & _LOW)]
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


def order(low, high, n):
    return _ordered(low, _ordered(high, np.arange(len(high), dtype=np.int32), n), n)


@njit(nogil=True, cache=True)
def _ordered(ends, places, n):
    """Return the places in the order of their ends, of equal ones as they were: by counting them."""
    following = np.zeros(n + 1, np.int32)
    for end in ends:
        following[np.uint32(end) + 1] += 1
    for v in range(n):
        following[v + 1] += following[v]
    ordered = np.empty_like(places)
    for place in places:
        end = np.uint32(ends[np.uint32(place)])
        ordered[np.uint32(following[end])] = place
        following[end] += 1
    return ordered
