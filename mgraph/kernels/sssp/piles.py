"""The near-far search of ``kernels/sssp.cu`` for the CPU: one core takes thin piles, all cores take thick ones.

Thin piles are those of road networks, and of the first and last rounds elsewhere: one core is through with them before
others would be awake. In a thick round the cores take a few vertices of the near pile at a time from a common counter.
A hub's edges are dealt out in pieces, in a second pass. A core gathers the sums that are less than their ends'
distances without a branch, which it would guess wrong and find out only when the distance arrives. It then lowers these
distances by atomic minima. The old value of a stamp, or of a bit of `waits`, decides which core appends a vertex to a
pile, so that no pile has a vertex twice. In both kinds of rounds rows lie anywhere in memory, so a core requests those
of its next vertices before it reads them.

A vertex whose distance falls after a core has read it is stamped for the next round, so a stale read costs work only;
and one that is stamped already waits for that round. The distances are the least ones whatever the order, so they do
not depend on the number of cores; the rounds may.
"""

import functools

import numpy as np

from ...device.numba import prange
from ...device.numba.atomics import compare_and_swap, fetch_and_add, fetch_and_min, fetch_and_or
from ...device.numba.caching import njit
from ...device.numba.prefetching import prefetch
from ...dtypes import kernel_infinity

#: Places of the control words: the rounds run, the sizes of the piles, and the half of `far` in use.
ROUND, NEAR, FAR, SIDE = range(4)

#: Of a thick round, the least number of vertices and edges times the number of cores; of a thick far pile, that of its
#: vertices times the cores.
THICK = 1 << 16

#: Edges of a hub that a core takes at a time.
PIECE = 1 << 10

_NEVER = np.int64(2**62)
_CHUNK, _FAR_CHUNK = 16, 1024  # vertices that a core takes at a time: of the near pile, and of the far one
_AHEAD = 8  # vertices that one core requests ahead
_LINE = 16  # numbers of four bytes in a cache line
_HELD = 2048  # sums that a core holds before it lowers distances to them

#: Places of the counters, each in a cache line of its own: what has been taken, and the sizes of what is appended to.
_TAKEN, _COMING, _LATER, _PIECES = range(0, 64, 16)

_ONE = np.uint32(1)


@functools.cache
def extremes(dtype):
    """Return infinity, and the least value of a sum."""
    infinity = kernel_infinity(dtype)
    return dtype.type(infinity), dtype.type(-infinity if dtype.kind == "f" else -infinity - 1)


def search(edges, arrays, control, bounds, rounds, cores):
    """Run up to `rounds` rounds from the near pile on up to `cores` cores; when it is empty, refill it."""
    distances, near, far, stamps, waits, pieces, bound = arrays
    n, scalar = len(distances), distances.dtype.type
    infinity, floor = extremes(distances.dtype)
    limit, target = scalar(bounds.limit), bounds.target
    frame = np.array([bound[0], bound[0], bounds.window], distances.dtype)
    counters = np.zeros(64, np.int64)
    left = rounds
    while True:
        begun = int(control[ROUND])
        thick = THICK // cores if cores > 1 else _NEVER
        piles = distances, near, far, stamps, waits, frame, control
        _thin(tuple(edges), piles, limit, target, left, infinity, floor, thick)
        left -= int(control[ROUND]) - begun
        number, size, waiting, side = control.tolist()
        if not left or not (size or waiting):
            break
        most = min(limit, distances[target]) if target >= 0 else limit
        counters[:] = 0
        if size:
            half = n * (number & 1)
            pile, coming, later = near[half : half + size], near[n - half :], far[n * side :]
            counters[_LATER] = waiting
            found = coming, later, stamps, waits, pieces, counters, np.int32(number + 1)
            within = frame[0], most, floor
            _relax(edges, distances, pile, False, found, within, cores)
            if counters[_PIECES]:
                counters[_TAKEN] = 0
                hubs = pieces[: counters[_PIECES]].reshape(-1)
                _relax(edges, distances, hubs, True, found, within, cores)
            control[:] = number + 1, counters[_COMING], counters[_LATER], side
            left -= 1
        else:
            before, origin, window = frame
            after = min(origin + window, infinity)
            later, kept = far[n * side :][:waiting], far[n * (1 - side) :]
            least = np.full(cores, infinity, distances.dtype)
            _refill(distances, later, kept, near[n * (number & 1) :], waits, counters, least, before, after, most)
            size = counters[_COMING]
            control[:] = number, size, counters[_LATER], 1 - side
            frame[:] = after, after if size else least.min(), window if size else min(window + window, infinity)
    bound[0] = frame[0]


@njit(nogil=True, cache=True)
def _thin(edges, piles, limit, target, rounds, infinity, floor, thick):
    """Run up to `rounds` rounds on one core, as long as piles are thin.

    `frame` has the bound, the distance from which the next window is counted, and the window.
    """
    indptr, indices, weights = edges
    distances, near, far, stamps, waits, frame, control = piles
    n = len(distances)
    # Of one type from the start, or Numba would compile what is called for the types before, too.
    number, size = np.int64(control[ROUND]), np.int64(control[NEAR])
    waiting, side = np.int64(control[FAR]), np.int64(control[SIDE])
    bound, origin, window = frame[0], frame[1], frame[2]
    scalar = frame.dtype.type
    done = 0
    while done < rounds and (size > 0 or waiting > 0):
        most = min(limit, distances[target]) if target >= 0 else limit
        pile = near[number % 2 * n :]
        later = far[side * n :]
        if size == 0:  # raise the bound
            if waiting > thick:
                break
            side = 1 - side
            after = scalar(min(origin + window, infinity))
            kept = far[side * n :]
            size, waiting, least = _refill_thin(
                distances, later, waiting, kept, pile, waits, bound, after, most, infinity
            )
            bound = after
            origin = bound if size else least
            if size == 0:  # nothing was near: take larger steps
                window = scalar(min(window + window, infinity))
            continue
        if size > thick or (thick < _NEVER and _work(indptr, pile, size) > thick):
            break
        coming = near[(number + 1) % 2 * n :]
        found = 0
        for q in range(size):
            if q + _AHEAD < size:
                _request(indptr, indices, weights, distances, pile[q + _AHEAD], 1)
            u = np.uint64(pile[q])  # unsigned, or Numba would check each index for being negative
            if stamps[u] == number + 1:  # fell in this round, and is in the next one's pile
                continue
            grown = coming, found, later, waiting
            found, waiting = _relax_thin(edges, u, distances, stamps, number, waits, grown, bound, most, floor)
        size = found
        number += 1
        done += 1
    control[ROUND], control[NEAR], control[FAR], control[SIDE] = number, size, waiting, side
    frame[0], frame[1], frame[2] = bound, origin, window


@njit(nogil=True, cache=True, inline="always")
def _relax_thin(edges, u, distances, stamps, number, waits, appended, bound, most, floor):
    """Relax the edges out of u; append what fell to the piles, and return their sizes."""
    indptr, indices, weights = edges
    coming, found, later, waiting = appended
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
    return found, waiting


@njit(nogil=True, cache=True)
def _refill_thin(distances, later, count, kept, pile, waits, bound, after, most, infinity):
    """Put the far vertices below the bound `after` on the near pile, which is empty, and keep those beyond.

    Return how many are near, how many are kept, and the least distance of these.
    """
    size, waiting, least = 0, 0, infinity
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
    return size, waiting, least


@njit(nogil=True, cache=True)
def _work(indptr, pile, size):
    """Return the number of vertices of a pile, and of the edges out of them."""
    work = np.int64(size)
    for q in range(size):
        u = np.uint64(pile[q])
        work += indptr[u + np.uint64(1)] - indptr[u]
    return work


@njit(nogil=True, cache=True)
def _request(indptr, indices, weights, distances, u, lines):
    """Request the distance of a vertex, and the first cache lines of its row."""
    prefetch(distances, u)
    for e in range(indptr[u], indptr[u] + lines * _LINE, _LINE):
        prefetch(indices, e)
        prefetch(weights, e)


@njit(parallel=True, nogil=True, cache=True)
def _relax(edges, distances, pile, cut, found, bounds, cores):
    """Relax the edges out of the vertices of the pile, or out of hubs that are `cut` to pieces."""
    for _ in prange(cores):
        _relax_share(edges, distances, pile, cut, found, bounds)


@njit(nogil=True, cache=True)
def _relax_share(edges, distances, pile, cut, found, bounds):
    indptr, indices, weights = edges
    stamps, pieces, counters, number = found[2], found[4], found[5], found[6]
    most, floor = bounds[1], bounds[2]
    ends, sums = np.empty(_HELD, np.int32), np.empty(_HELD, distances.dtype)
    size = len(pile) // 2 if cut else len(pile)
    chunk = 1 if cut else _CHUNK
    while True:
        taken = fetch_and_add(counters, _TAKEN, chunk)
        if taken >= size:
            return
        held = np.uint64(0)
        last = min(size, taken + chunk)
        if not cut:
            for q in range(taken, last):
                prefetch(indptr, pile[q])
            for q in range(taken, last):
                _request(indptr, indices, weights, distances, pile[q], 2)
        for q in range(taken, last):
            u = np.uint64(pile[2 * q] if cut else pile[q])
            if stamps[u] == number:  # fell in this round, and is in the next one's pile
                continue
            begin, end = np.uint64(indptr[u]), np.uint64(indptr[u + np.uint64(1)])
            if cut:
                begin += np.uint64(pile[2 * q + 1]) * np.uint64(PIECE)
                end = min(end, begin + np.uint64(PIECE))
            elif end - begin > np.uint64(PIECE):
                count = np.int64((end - begin + np.uint64(PIECE - 1)) // np.uint64(PIECE))
                place = fetch_and_add(counters, _PIECES, count)
                for i in range(count):
                    pieces[place + i, 0] = u
                    pieces[place + i, 1] = i
                continue
            d = distances[u]
            for e in range(begin, end):  # few edges lower a distance: without a branch no core guesses which
                x = max(d + weights[e], floor)
                v = indices[e]
                ends[held] = v
                sums[held] = x
                held += np.uint64((x < distances[np.uint64(v)]) & (x <= most))
            if held > np.uint64(_HELD - PIECE):
                _lower(ends, sums, held, distances, found, bounds)
                held = np.uint64(0)
        _lower(ends, sums, held, distances, found, bounds)


@njit(nogil=True, cache=True)
def _lower(ends, sums, count, distances, found, bounds):
    """Lower the distances of `ends` to `sums`; append the vertices whose distance fell to the piles."""
    coming, later, stamps, waits, _, counters, number = found
    bound = bounds[0]
    near, far = np.empty(count, np.int32), np.empty(count, np.int32)
    held, held_far = 0, 0
    for i in range(count):
        prefetch(stamps, ends[i])
    for i in range(count):
        x, v = sums[i], np.uint64(ends[i])
        if x >= distances[v] or x >= fetch_and_min(distances, v, x):
            continue
        if x < bound:
            stamp = stamps[v]
            if stamp != number and compare_and_swap(stamps, v, stamp, number) == stamp:
                near[held] = v
                held += 1
            continue
        word, bit = v >> np.uint64(5), _ONE << np.uint32(v & np.uint64(31))
        if not waits[word] & bit and not fetch_and_or(waits, word, bit) & bit:
            far[held_far] = v
            held_far += 1
    if held:
        _append(near, held, coming, counters, _COMING)
    if held_far:
        _append(far, held_far, later, counters, _LATER)


@njit(nogil=True, cache=True)
def _append(vertices, count, pile, counters, counter):
    """Append vertices to a pile."""
    place = fetch_and_add(counters, counter, count)
    for i in range(count):
        pile[place + i] = vertices[i]


@njit(parallel=True, nogil=True, cache=True)
def _refill(distances, later, kept, pile, waits, counters, least, bound, after, most):
    """Put the far vertices below the bound `after` on the near pile, and keep those beyond, on all cores."""
    for core in prange(len(least)):
        least[core] = _refill_share(distances, later, kept, pile, waits, counters, least[core], bound, after, most)


@njit(nogil=True, cache=True)
def _refill_share(distances, later, kept, pile, waits, counters, least, bound, after, most):
    near, far = np.empty(_FAR_CHUNK, np.int32), np.empty(_FAR_CHUNK, np.int32)
    while True:
        taken = fetch_and_add(counters, _TAKEN, _FAR_CHUNK)
        if taken >= len(later):
            return least
        held, held_far = 0, 0
        for q in range(taken, min(len(later), taken + _FAR_CHUNK)):
            v = later[q]
            d = distances[v]
            if d >= after and d <= most:
                far[held_far] = v
                held_far += 1
                least = min(least, d)
                continue
            fetch_and_add(waits, v >> 5, -(_ONE << np.uint32(v & 31)))  # clears the bit, which is set
            if d >= bound and d <= most:
                near[held] = v
                held += 1
        _append(near, held, pile, counters, _COMING)
        _append(far, held_far, kept, counters, _LATER)
