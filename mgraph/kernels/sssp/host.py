"""The searches of ``kernels/sssp.cu`` for the CPU: each pile is a list, walked by one core.

The operations and arrays are the same; that file's opening explains the algorithms and the encoding. Here the window is
doubled only if raising the bound finds no near vertex, as rounds with little work are cheap. One core pushes the
vertices of a mask; all cores take over the new distances.
"""

import numpy as np

from ...device.numba import prange
from ...device.numba.caching import njit
from ...device.numba.small import VERTICES, is_small, unless
from ...dtypes import NO_PREDECESSOR, kernel_infinity

#: Place of the number of rounds run in the control words.
ROUND = 0
CONTROL_WORDS = 4

_NEAR, _FAR, _SIDE = 1, 2, 3

#: The value that `parents` leaves where it finds no predecessor.
OPEN = 2**31 - 1

_ONE = np.uint32(1)


def piece_capacity(edges):
    """Return 0: the CPU does not cut hubs into pieces."""
    return 0


def _extremes(dtype):
    """Return infinity, and the least value of a sum."""
    infinity = kernel_infinity(dtype)
    return dtype.type(infinity), dtype.type(-infinity if dtype.kind == "f" else -infinity - 1)


def start(seeds, window, distances, near, bound, control):
    """Put the seeds on the near pile at distance zero, and set the bound to `window`."""
    distances[seeds] = 0
    near[: len(seeds)] = seeds
    control[_NEAR] = len(seeds)
    bound[0] = window


def piles(edges, arrays, control, bounds, rounds):
    """Run up to `rounds` rounds from the near pile; when it is empty, refill it from the far pile."""
    distances, near, far, stamps, waits, _, bound = arrays
    window, limit, target = bounds
    scalar = distances.dtype.type
    sizes = scalar(window), scalar(limit), target, rounds, *_extremes(distances.dtype)
    _piles(*edges, distances, near, far, stamps, waits, bound, control, *sizes)


def compile_ahead(indptr, dtype, masked):
    """Do nothing: Numba compiles one kernel at a time, when it is called."""


@njit(nogil=True, cache=True)
def _piles(
    indptr,
    indices,
    weights,
    distances,
    near,
    far,
    stamps,
    waits,
    bounds,
    control,
    window,
    limit,
    target,
    rounds,
    infinity,
    floor,
):
    n = len(distances)
    number, size, waiting, side = control[ROUND], control[_NEAR], control[_FAR], control[_SIDE]
    bound = bounds[0]
    origin = bound
    done = 0
    while done < rounds and (size > 0 or waiting > 0):
        most = min(limit, distances[target]) if target >= 0 else limit
        pile = near[number % 2 * n :]
        later = far[side * n :]
        if size == 0:  # raise the bound
            side = 1 - side
            kept = far[side * n :]
            count, waiting = waiting, 0
            after = min(origin + window, infinity)
            least = infinity
            for q in range(count):
                v = later[q]
                d = distances[v]
                if d >= after and d <= most:
                    kept[waiting] = v
                    waiting += 1
                    least = min(least, d)
                    continue
                waits[v >> 5] &= ~(_ONE << np.uint32(v & 31))
                if d >= bound and d <= most:
                    pile[size] = v
                    size += 1
            bound = after
            origin = bound if size else least
            if size == 0:  # nothing was near: take larger steps
                window = min(window + window, infinity)
            continue
        coming = near[(number + 1) % 2 * n :]
        found = 0
        for q in range(size):
            u = np.uint64(pile[q])  # unsigned, or Numba would check each index for being negative
            d = distances[u]
            for e in range(np.uint64(indptr[u]), np.uint64(indptr[u + np.uint64(1)])):
                x = max(d + weights[e], floor)
                v = np.uint64(indices[e])
                if x >= distances[v] or x > most:
                    continue
                distances[v] = x
                if x < bound:
                    if stamps[v] != number + 1:
                        stamps[v] = number + 1
                        coming[found] = v
                        found += 1
                    continue
                word, bit = v >> np.uint64(5), _ONE << np.uint32(v & np.uint64(31))
                if not waits[word] & bit:
                    waits[word] |= bit
                    later[waiting] = v
                    waiting += 1
        size = found
        number += 1
        done += 1
    control[ROUND], control[_NEAR], control[_FAR], control[_SIDE] = number, size, waiting, side
    bounds[0] = bound


def masks(edges, arrays, lists, control, bounds, shard, listed, rounds):
    """Run up to `rounds` rounds by masks, and write the shard's list."""
    first, last, distances, updating, mask, _, _, _, _, bound = arrays
    vertices, values, counts = lists
    if listed:
        for other, count in enumerate(counts):
            if other != shard:
                _take_list(vertices[other, :count], values[other, :count], distances, mask)
    window, limit, target = bounds
    scalar = distances.dtype.type
    own = vertices[shard], values[shard], counts[shard : shard + 1]
    sizes = scalar(window), scalar(limit), target, rounds, *_extremes(distances.dtype)
    _masks(*edges, first, last, distances, updating, mask, bound, *own, control, *sizes)


@njit(nogil=True, cache=True)
def _take_list(vertices, values, distances, mask):
    """Take over distances of other shards' vertices, and set the bits of these vertices in the mask."""
    for i in range(len(vertices)):
        v = vertices[i]
        distances[v] = values[i]
        mask[v >> 5] |= _ONE << np.uint32(v & 31)


@njit(nogil=True, cache=True)
def _masks(
    indptr,
    indices,
    weights,
    first,
    last,
    distances,
    updating,
    mask,
    bounds,
    vertices,
    values,
    fallen,
    control,
    window,
    limit,
    target,
    rounds,
    infinity,
    floor,
):
    bound = bounds[0]
    done = 0
    fallen[0] = -1
    while done < rounds:
        most = min(limit, distances[target]) if target >= 0 else limit
        near, least = _count(distances, mask, bound, most, infinity)
        if near == 0:
            if least >= infinity:
                break
            bound = min(least + window, infinity)
            if bound <= least:  # still nothing near: take larger steps
                window = min(window + window, infinity)
            continue
        _push(indptr, indices, weights, first, distances, updating, mask, bound, most, floor)
        if len(vertices):
            fallen[0] = _listed(first, last, distances, updating, vertices, values)
        _take_over(first, last, distances, updating, mask)
        done += 1
    control[ROUND] += done
    bounds[0] = bound


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


@njit(nogil=True, cache=True)
def _push(indptr, indices, weights, first, distances, updating, mask, bound, most, floor):
    """Relax the edges out of the vertices of the mask that are within the bound; remove these from the mask."""
    for w in range(len(mask)):
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


@njit(parallel=True, nogil=True, cache=True)
def _take_over(first, last, distances, updating, mask):
    """Take over the distances that fell, and set the bits of their vertices in the next mask."""
    for w in prange((last - first + 31) // 32):
        for b in range(min(32, last - first - w * 32)):
            own = w * 32 + b
            if updating[own] < distances[first + own]:
                distances[first + own] = updating[own]
                mask[first // 32 + w] |= _ONE << np.uint32(b)


def parents(edges, first, distances, parent, pieces, control):
    """Write, for each vertex from `first` on, the least nearer vertex with a tight edge to it."""
    _parents(*edges, first, distances, parent, *_extremes(distances.dtype))


@njit(nogil=True, cache=True)
def _parents(indptr, indices, weights, first, distances, parent, infinity, floor):
    for u in range(len(distances)):
        d = distances[u]
        if d < infinity:
            for e in range(np.uint64(indptr[u]), np.uint64(indptr[u + 1])):
                v = np.uint64(indices[e])
                x = max(d + weights[e], floor)
                if d < x < infinity and x == distances[v] and u < parent[v - np.uint64(first)]:
                    parent[v - np.uint64(first)] = u


def settle_roots(first, source, distances, parent, open_anywhere):
    """Write -9999 for unreached vertices and the source; set open_anywhere[0] if another vertex is open."""
    own = distances[first : first + len(parent)]
    _settle_roots(own, source - first, parent, open_anywhere, _extremes(distances.dtype)[0])


@unless(lambda own, *_: len(own) <= VERTICES)
def _settle_roots(own, source, parent, open_anywhere, infinity):
    for v in prange(len(own)):
        if not own[v] < infinity or v == source:
            parent[v] = NO_PREDECESSOR
        elif parent[v] == OPEN:
            open_anywhere[0] = 1


def tight(edges, first, distances, parent, hops, pieces, control):
    """Write 1 for each tight edge to a vertex without a predecessor, and otherwise int32's infinity."""
    _tight(*edges, first, distances, parent, hops, *_extremes(distances.dtype))


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
