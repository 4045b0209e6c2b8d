"""The searches of ``kernels/sssp.cu`` for the CPU; `piles` has the one by piles, whose thick rounds all cores share.

The operations and arrays are the same; that file's opening explains the algorithms and the encoding. Here the window is
doubled only if raising the bound finds no near vertex, as rounds with little work are cheap. In a small graph one core
runs all rounds, but takes over new distances with the others. Cores that lower the same numbers do so by atomic minima.
"""

import numpy as np

from ...device.numba import numba, prange
from ...device.numba.atomics import fetch_and_add, fetch_and_min
from ...device.numba.caching import njit
from ...device.numba.small import GRAPH, VERTICES, is_small, unless
from ...dtypes import NO_PREDECESSOR
from .piles import FAR as FAR  # an operation's constant
from .piles import NEAR, PIECE, ROUND, extremes, search

#: Operations that run no kernel.
UNLOCKED = frozenset({"piece_capacity", "start", "shared_words", "compile_ahead"})

CONTROL_WORDS = 4
#: Beyond the words: shards meet between launches.
LOST = 4

#: The value that `parents` leaves where it finds no predecessor.
OPEN = 2**31 - 1

_CHUNK, _WORDS = 256, 8  # vertices, and words of a mask, that a core takes at a time
_ONE = np.uint32(1)


def piece_capacity(edges):
    return 2 * edges // PIECE


def start(seeds, window, distances, near, bound, control):
    distances[seeds] = 0
    near[: len(seeds)] = seeds
    control[NEAR] = len(seeds)
    bound[0] = window


def piles(edges, arrays, control, bounds, rounds, meeting=None):
    search(edges, arrays, control, bounds, rounds, _cores(edges[0]))


def join(first, last, known, mask, arrays, control, window):
    """Put other shards' vertices that fell on the near pile, and write a mask of the shard's own that fell."""
    distances, near, bound = arrays.distances, arrays.near, arrays.bound
    infinity, _ = extremes(distances.dtype)
    pile, scalar = near[len(distances) * (control[ROUND] & 1) :], distances.dtype.type
    size, least = _join(first, last, distances, known, mask, pile, control[NEAR], infinity)
    control[NEAR] = size
    if least < infinity:
        bound[0] = min(bound[0], scalar(min(float(least) + window, float(infinity))))


@njit(nogil=True, cache=True)
def _join(first, last, distances, known, mask, pile, size, least):
    for start in range(0, len(distances), 32):
        bits = np.uint32(0)
        for v in range(start, min(start + 32, len(distances))):
            if distances[v] < known[v]:
                known[v] = distances[v]
                if first <= v < last:
                    bits |= _ONE << np.uint32(v - start)
                else:
                    pile[size] = v
                    size += 1
                    least = min(least, distances[v])
        if first <= start < last:
            mask[start >> 5] = bits
    return size, least


def _cores(indptr):
    """Return how many cores share a graph with these row starts."""
    return 1 if len(indptr) + indptr[-1] <= GRAPH else int(numba.get_num_threads())


def shared_words(n, itemsize):
    """Return 0: shards meet between launches."""
    return 0


def compile_ahead(indptr, dtype, masked, several):
    """Do nothing: Numba compiles one kernel at a time, when it is called."""


def masks(edges, arrays, lists, control, bounds, shard, listed, rounds):
    first, last, distances, updating, mask, _, _, _, _, bound = arrays
    vertices, values, counts = lists
    if listed:
        for other, count in enumerate(counts):
            if other != shard:
                _take_list(vertices[other, :count], values[other, :count], distances, mask)
    infinity, floor = extremes(distances.dtype)
    scalar, target = distances.dtype.type, bounds.target
    near, window, limit = bound[0], scalar(bounds.window), scalar(bounds.limit)
    taken = np.zeros(1, np.int64)
    counts[shard] = -1
    done = 0
    while done < rounds:
        most = min(limit, distances[target]) if target >= 0 else limit
        count, least = _count(distances, mask, near, most, infinity)
        if not count:
            if least >= infinity:
                break
            near = min(scalar(least) + window, infinity)
            if near <= least:  # still nothing near: take larger steps
                window = min(window + window, infinity)
            continue
        taken[0] = 0
        _push(*edges, first, distances, updating, mask, near, most, floor, taken, _cores(edges[0]))
        if len(vertices[shard]):
            counts[shard] = _listed(first, last, distances, updating, vertices[shard], values[shard])
        _take_over(first, last, distances, updating, mask)
        done += 1
    control[ROUND] += done
    bound[0] = near


@njit(nogil=True, cache=True)
def _take_list(vertices, values, distances, mask):
    """Take over distances of other shards' vertices, and set the bits of these vertices in the mask."""
    for i in range(len(vertices)):
        v = vertices[i]
        distances[v] = values[i]
        mask[v >> 5] |= _ONE << np.uint32(v & 31)


@njit(nogil=True, cache=True)
def _count(distances, mask, bound, most, infinity):
    """Return how many vertices of the mask are within the bound, and the least distance of the others."""
    near, least = 0, infinity
    for w in range(len(mask)):
        bits = mask[w]
        b = 0
        while bits:
            if bits & _ONE:
                d = distances[w * 32 + b]
                if d <= most:
                    if d < bound:
                        near += 1
                    else:
                        least = min(least, d)
            bits >>= _ONE
            b += 1
    return near, least


@unless(is_small)
def _push(indptr, indices, weights, first, distances, updating, mask, bound, most, floor, taken, cores):
    """Relax the edges out of the vertices of the mask that are within the bound; remove these from the mask."""
    for _ in prange(cores):
        while True:
            begin = fetch_and_add(taken, 0, _WORDS)
            if begin >= len(mask):
                break
            for w in range(begin, min(len(mask), begin + _WORDS)):
                bits = mask[w]
                u = w * 32
                while bits:
                    if bits & _ONE and distances[u] < bound and distances[u] <= most:
                        mask[w] &= ~(_ONE << np.uint32(u & 31))
                        d = distances[u]
                        for e in range(indptr[u], indptr[u + 1]):
                            x = max(d + weights[e], floor)
                            v = indices[e] - first
                            if x < updating[v] and x <= most:
                                if cores > 1:
                                    fetch_and_min(updating, v, x)
                                else:
                                    updating[v] = x
                    bits >>= _ONE
                    u += 1


@njit(nogil=True, cache=True)
def _listed(first, last, distances, updating, vertices, values):
    """List the vertices that fell, as many as fit, with their distances; return how many fell."""
    found = 0
    for own in range(last - first):
        if updating[own] < distances[first + own]:
            if found < len(vertices):
                vertices[found] = first + own
                values[found] = updating[own]
            found += 1
    return found


@unless(lambda first, last, *_: last - first <= VERTICES)
def _take_over(first, last, distances, updating, mask):
    """Take over the distances that fell, and set the bits of their vertices in the next mask."""
    for w in prange((last - first + 31) // 32):
        for b in range(min(32, last - first - w * 32)):
            own = w * 32 + b
            if updating[own] < distances[first + own]:
                distances[first + own] = updating[own]
                mask[first // 32 + w] |= _ONE << np.uint32(b)


def parents(edges, first, distances, parent, pieces, control):
    taken = np.zeros(1, np.int64)
    _parents(*edges, first, distances, parent, *extremes(distances.dtype), taken, _cores(edges[0]))


@unless(is_small)
def _parents(indptr, indices, weights, first, distances, parent, infinity, floor, taken, cores):
    n = len(distances)
    for _ in prange(cores):
        while True:
            begin = fetch_and_add(taken, 0, _CHUNK)
            if begin >= n:
                break
            for u in range(begin, min(n, begin + _CHUNK)):
                d = distances[u]
                if d < infinity:
                    for e in range(np.uint64(indptr[u]), np.uint64(indptr[u + 1])):
                        v = np.uint64(indices[e])
                        x = max(d + weights[e], floor)
                        if d < x < infinity and x == distances[v] and u < parent[v - np.uint64(first)]:
                            if cores > 1:
                                fetch_and_min(parent, v - np.uint64(first), np.int32(u))
                            else:
                                parent[v - np.uint64(first)] = u


def settle_roots(first, source, distances, parent, open_anywhere):
    own, root, infinity = distances[first : first + len(parent)], source - first, extremes(distances.dtype)[0]
    if len(own) > VERTICES:
        _settle_roots(own, root, parent, open_anywhere, infinity)
        return
    parent[own >= infinity] = NO_PREDECESSOR
    if 0 <= root < len(own):
        parent[root] = NO_PREDECESSOR
    if parent.max(initial=0) == OPEN:
        open_anywhere[0] = 1


@njit(parallel=True, nogil=True, cache=True)
def _settle_roots(own, source, parent, open_anywhere, infinity):
    for v in prange(len(own)):
        if not own[v] < infinity or v == source:
            parent[v] = NO_PREDECESSOR
        elif parent[v] == OPEN:
            open_anywhere[0] = 1


def tight(edges, first, distances, parent, hops, pieces, control):
    _tight(*edges, first, distances, parent, hops, *extremes(distances.dtype))


@unless(is_small)
def _tight(indptr, indices, weights, first, distances, parent, hops, infinity, floor):
    for u in prange(len(distances)):
        d = distances[u]
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            x = max(d + weights[e], floor)
            hops[e] = 1 if x < infinity and x == distances[v] and parent[v - first] == OPEN else 2**30 - 1


def in_heap_order(edges, distances, sources, classes, free, order, predecessors):
    """Write the reached vertices to `order` as Dijkstra's algorithm takes them from a heap, and return their number.

    The distances are known, so each class of equal distances is a queue, which begins where the classes before it end.
    """
    return _in_heap_order(*edges, distances, sources, classes, free, order, predecessors)


@njit(nogil=True, cache=True)
def _in_heap_order(indptr, indices, weights, distances, sources, classes, free, order, predecessors):
    started = np.zeros(len(distances), np.bool_)
    found = 0
    for s in sources:
        if not started[s]:
            started[s] = True
            order[free[classes[s]]] = s
            free[classes[s]] += 1
            found += 1
    taken = 0
    while taken < found:
        u = order[taken]
        taken += 1
        d = distances[u]
        for e in range(np.uint64(indptr[u]), np.uint64(indptr[u + 1])):
            v = np.uint64(indices[e])
            if predecessors[v] < 0 and not started[v] and d + weights[e] == distances[v]:
                predecessors[v] = u
                order[free[classes[v]]] = v
                free[classes[v]] += 1
                found += 1
    return found
