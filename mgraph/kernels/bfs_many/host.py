"""The kernels of ``kernels/bfs_many.cu`` for the CPU: the same operations on the same arrays, on all cores.

That file's opening explains the algorithm and the encoding. Here a vertex gathers its words one after the other, so
that each stays in a register. Distances are written search by search if a search reaches many vertices of a chunk, and
otherwise vertex by vertex. Indices are unsigned, or Numba would check each for being negative.
"""

import numpy as np

from ...device.numba import prange
from ...device.numba.atomics import fetch_and_add, fetch_and_or
from ...device.numba.bits import population, trailing_zeros
from ...device.numba.caching import njit

#: Words of 64 searches that a batch may have.
WORDS = (4, 2, 1)

_NONE, _ONE, _ALL = np.uint64(0), np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)
_CHUNK = 32  # vertices whose distances are written together
_MANY = np.uint64(4)  # write search by search if searches reach more of a chunk's vertices than this, on average


@njit(nogil=True, cache=True)
def plant(sources, first, last, words, row, distances):
    frontier, seen, _ = words
    for i in range(len(sources)):
        v, bit = sources[i], _ONE << np.uint64(i & 63)
        frontier[v, i >> 6] |= bit
        if first <= v < last:
            seen[v - first, i >> 6] |= bit
            distances[row + i, v - first] = 0


@njit(parallel=True, nogil=True, cache=True)
def pull(edges, words, hubs):
    in_indptr = edges[0]
    in_indices = edges[1]
    frontier = words.frontier
    seen = words.seen
    following = words.following
    for own in prange(len(seen)):
        begin, end = np.uint64(in_indptr[own]), np.uint64(in_indptr[own + 1])
        for w in range(frontier.shape[1]):
            known, found = seen[own, w], _NONE
            if known != _ALL:
                for e in range(begin, end):
                    found |= frontier[np.uint64(in_indices[e]), w]
                    if found | known == _ALL:
                        break
            following[own, w] = found


@njit(parallel=True, nogil=True, cache=True)
def push(edges, first, words, hubs):
    out_indptr = edges[0]
    out_indices = edges[1]
    frontier = words.frontier
    seen = words.seen
    following = words.following
    count = frontier.shape[1]
    flat = following.reshape(-1)
    for u in prange(len(frontier)):
        for w in range(count):
            if frontier[u, w]:
                for e in range(out_indptr[u], out_indptr[u + 1]):
                    v = out_indices[e] - first
                    bits = frontier[u, w] & ~seen[v, w]
                    if bits & ~following[v, w]:
                        fetch_and_or(flat, v * count + w, bits)


@njit(parallel=True, nogil=True, cache=True)
def settle(first, last, words, level, row, distances, active):
    frontier = words.frontier
    seen = words.seen
    following = words.following
    own_frontier, own_distances = frontier[first:last], distances[row:]
    for part in prange((last - first + _CHUNK - 1) // _CHUNK):
        begin, end = part * _CHUNK, min(last - first, part * _CHUNK + _CHUNK)
        count = _settle(np.uint64(begin), np.uint64(end), level, following, seen, own_frontier, own_distances)
        if count:
            fetch_and_add(active, 0, count)


@njit(nogil=True, cache=True)
def tally(words, targets, counts, active):
    """Make `following` the frontiers, without seen vertices, and count the new ones and the targets among them."""
    frontier = words.frontier
    seen = words.seen
    following = words.following
    for v in range(len(seen)):
        new = False
        for w in range(frontier.shape[1]):
            bits = following[v, w] & ~seen[v, w]
            following[v, w] = _NONE
            seen[v, w] |= bits
            frontier[v, w] = bits
            new |= bits != _NONE
            while targets[v] and bits:
                counts[64 * w + trailing_zeros(bits)] += np.uint32(1)
                bits &= bits - _ONE
        active[0] += new


@njit(nogil=True, cache=True)
def _settle(begin, end, level, following, seen, frontier, distances):
    """Settle the vertices from `begin` to `end`; return how many are new to any search."""
    words = np.uint64(frontier.shape[1])
    met = False
    for w in range(words):
        busy = _NONE
        for v in range(begin, end):
            busy |= following[v, w] | frontier[v, w]
        if not busy:
            continue
        searches, pairs = _NONE, _NONE
        for v in range(begin, end):
            bits = following[v, w] & ~seen[v, w]
            following[v, w] = _NONE
            seen[v, w] |= bits
            frontier[v, w] = bits
            searches |= bits
            pairs += population(bits)
        met |= pairs > _NONE
        row = np.uint64(64) * w
        if pairs > _MANY * population(searches):
            while searches:
                b = trailing_zeros(searches)
                searches &= searches - _ONE
                for v in range(begin, end):
                    if frontier[v, w] >> b & _ONE:
                        distances[row + b, v] = level
        elif pairs:
            for v in range(begin, end):
                bits = frontier[v, w]
                while bits:
                    distances[row + trailing_zeros(bits), v] = level
                    bits &= bits - _ONE
    count = 0
    if met:
        for v in range(begin, end):
            fresh = _NONE
            for w in range(words):
                fresh |= frontier[v, w]
            count += fresh != _NONE
    return count


@njit(parallel=True, nogil=True, cache=True)
def one_by_one(edges, sources, limit, distances):
    indptr = edges[0]
    indices = edges[1]
    for i in prange(len(sources)):
        row = distances[i]
        queue = np.empty(len(row), np.int32)
        queue[0] = sources[i]
        row[sources[i]] = 0
        head, tail = 0, 1
        while head < tail:
            u = np.uint64(queue[head])
            head += 1
            level = row[u] + 1
            if level > limit:
                break
            for e in range(np.uint64(indptr[u]), np.uint64(indptr[u + np.uint64(1)])):
                v = np.uint64(indices[e])
                if row[v] < 0:
                    row[v] = level
                    queue[tail] = v
                    tail += 1


@njit(parallel=True, nogil=True, cache=True)
def count_levels(edges, sources, limit, targets, radii, limits, counts):
    indptr = edges[0]
    indices = edges[1]
    reached = counts.reached
    total = counts.total
    harmonic = counts.harmonic
    farthest = counts.farthest
    within = counts.within
    histogram = counts.histogram
    for group in prange((len(sources) + 63) // 64):
        begin, end = 64 * group, min(64 * group + 64, len(sources))
        _count_levels(
            indptr,
            indices,
            sources[begin:end],
            limit,
            targets,
            radii,
            limits,
            reached[begin:end],
            total[begin:end],
            harmonic[begin:end],
            farthest[begin:end],
            within[begin:end],
            histogram[begin:end],
        )


@njit(nogil=True, cache=True)
def _expand(indptr, indices, queue, size, frontier, seen, following, found):
    """Write the neighbours of a level that some of its searches have not seen; return how many there are."""
    new = 0
    for q in range(size):
        u = np.uint64(queue[q])
        bits = frontier[u]
        frontier[u] = _NONE
        for e in range(np.uint64(indptr[u]), np.uint64(indptr[u + np.uint64(1)])):
            v = np.uint64(indices[e])
            fresh = bits & ~seen[v]
            if fresh:
                if not following[v]:
                    found[new] = v
                    new += 1
                following[v] |= fresh
    return new


@njit(nogil=True, cache=True)
def _add_up(found, new, frontier, seen, following, targets, digits):
    """Make `following` the level, and count its targets for each search; return how many digits the counts have."""
    high = 0
    for q in range(new):
        v = np.uint64(found[q])
        carry = following[v]
        following[v] = _NONE
        frontier[v] = carry
        seen[v] |= carry
        if targets[v]:
            digit = 0
            while carry:
                carried = digits[digit] & carry
                digits[digit] ^= carry
                carry = carried
                digit += 1
            high = max(high, digit)
    return high


@njit(nogil=True, cache=True)
def _count_levels(
    indptr, indices, sources, limit, targets, radii, limits, reached, total, harmonic, farthest, within, histogram
):
    """Search from up to 64 sources.

    A vertex adds its bits to counters that lie across words: word p has bit p of the counter of each search.
    """
    n = len(indptr) - 1
    seen, frontier, following = np.zeros(n, np.uint64), np.zeros(n, np.uint64), np.zeros(n, np.uint64)
    queue, found = np.empty(n, np.int32), np.empty(n, np.int32)
    digits = np.zeros(32, np.uint64)
    size, level, bins = 0, 0, len(limits) - 1
    below = 0  # limits less than the level
    while below <= bins and limits[below] < level:
        below += 1
    for i in range(len(sources)):
        v, bit = np.uint64(sources[i]), _ONE << np.uint64(i)
        if not frontier[v]:
            queue[size] = v
            size += 1
        frontier[v] |= bit
        seen[v] |= bit
        if targets[v]:
            reached[i] += 1
            for r in range(len(radii)):
                within[i, r] += 1
            if 0 < below <= bins:
                histogram[i, below - 1] += 1
    while size and level < limit:
        level += 1
        while below <= bins and limits[below] < level:
            below += 1
        new = _expand(indptr, indices, queue, size, frontier, seen, following, found)
        high = _add_up(found, new, frontier, seen, following, targets, digits)
        for i in range(len(sources)):
            count = 0
            for digit in range(high):
                count |= np.int64(digits[digit] >> np.uint64(i) & _ONE) << digit
            if count:
                reached[i] += count
                total[i] += count * level
                harmonic[i] += count / level
                farthest[i] = level
                for r in range(len(radii)):
                    if level <= radii[r]:
                        within[i, r] += count
                if 0 < below <= bins:
                    histogram[i, below - 1] += count
        digits[:high] = _NONE
        queue, found = found, queue
        size = new
