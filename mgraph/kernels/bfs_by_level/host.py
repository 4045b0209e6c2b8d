"""The kernels of ``kernels/bfs_by_level.cu`` for the CPU: the same operations on the same arrays, on all cores.

That file's opening explains the algorithms, and why cores may write to the same place at the same time. A chunk for one
core stands for a block of the GPU. `sequential` runs on one core, with the queue of the textbooks.
"""

import numpy as np

from ...device.numba import prange
from ...device.numba.atomics import compare_and_swap, fetch_and_add, fetch_and_or
from ...device.numba.caching import njit

#: The methods that the CPU has.
METHODS = ("edge", "vertex", "mask", "queue", "privatized", "scan", "sequential")

#: Places of an operation's results in the control words.
FOUND, LEVELS, LAST, EDGES = 0, 1, 2, 3
CONTROL_WORDS = 4

#: The most vertices in a core's own queue.
HELD = 2048

#: The most vertices in a level that `thin` runs.
THIN = 1024
_THIN_EDGES = 16384  # the most edges out of these

_CHUNK = 256  # vertices of a queue that a core takes at a time,
_EDGES = 8192  # or gathered edges,
_WORDS = 256  # or words of the frontier
_ONE = np.uint32(1)


@njit(nogil=True, cache=True)
def _in(bits, v):
    return bits[v >> 5] >> np.uint32(v & 31) & _ONE != 0


@njit(nogil=True, cache=True)
def _bits(word):
    total = 0
    while word:
        word &= word - _ONE
        total += 1
    return total


@njit(nogil=True, cache=True)
def count(frontier, control):
    for w in range(len(frontier)):
        control[FOUND] += _bits(frontier[w])


@njit(nogil=True, cache=True)
def list_frontier(frontier, queue, control):
    end = 0
    for w in range(len(frontier)):
        if frontier[w]:
            for v in range(32 * w, 32 * w + 32):
                if _in(frontier, v):
                    queue[end] = v
                    end += 1
    control[FOUND] = end


@njit(nogil=True, cache=True)
def mark(queue, frontier):
    for v in queue:
        frontier[v >> 5] |= _ONE << np.uint32(v & 31)


@njit(parallel=True, nogil=True, cache=True)
def rows(in_indptr, first, last, targets):
    for own in prange(last - first):
        targets[in_indptr[own] : in_indptr[own + 1]] = first + own


@njit(parallel=True, nogil=True, cache=True)
def edge(sources, targets, frontier, level, distances):
    for e in prange(len(sources)):
        if distances[targets[e]] < 0 and _in(frontier, sources[e]):
            distances[targets[e]] = level


@njit(parallel=True, nogil=True, cache=True)
def vertex(edges, frontier, level, distances):
    out_indptr = edges[0]
    out_indices = edges[1]
    for u in prange(len(distances)):
        if _in(frontier, u):
            for e in range(out_indptr[u], out_indptr[u + 1]):
                if distances[out_indices[e]] < 0:
                    distances[out_indices[e]] = level


@njit(parallel=True, nogil=True, cache=True)
def settle(first, last, level, distances, frontier, control):
    words = (last - first + 31) >> 5
    for part in prange((words + _WORDS - 1) // _WORDS):
        found = 0
        for w in range(part * _WORDS, min(words, part * _WORDS + _WORDS)):
            bits = np.uint32(0)
            for b in range(min(32, last - first - 32 * w)):
                if distances[first + 32 * w + b] == level:
                    bits |= _ONE << np.uint32(b)
            frontier[(first >> 5) + w] = bits
            found += _bits(bits)
        fetch_and_add(control, FOUND, found)


@njit(parallel=True, nogil=True, cache=True)
def expand(edges, first, frontier, visited, level, updating, distances):
    out_indptr = edges[0]
    out_indices = edges[1]
    for u in prange(len(distances)):
        if _in(frontier, u):
            for e in range(out_indptr[u], out_indptr[u + 1]):
                v = out_indices[e]
                if not visited[v - first]:
                    distances[v] = level
                    updating[v - first] = 1


@njit(parallel=True, nogil=True, cache=True)
def update(first, last, visited, updating, frontier, control):
    """Move the marked vertices to `frontier` and `visited`, and count them."""
    words = (last - first + 31) >> 5
    for part in prange((words + _WORDS - 1) // _WORDS):
        found = 0
        for w in range(part * _WORDS, min(words, part * _WORDS + _WORDS)):
            bits = np.uint32(0)
            for own in range(32 * w, min(32 * w + 32, last - first)):
                if updating[own]:
                    bits |= _ONE << np.uint32(own & 31)
                    visited[own] = 1
                    updating[own] = 0
            frontier[(first >> 5) + w] = bits
            found += _bits(bits)
        fetch_and_add(control, FOUND, found)


@njit(parallel=True, nogil=True, cache=True)
def enqueue(edges, queue, level, distances, following, held, control):
    out_indptr = edges[0]
    out_indices = edges[1]
    for part in prange((len(queue) + _CHUNK - 1) // _CHUNK):
        own = np.empty(held, np.int32)
        found = 0
        for q in range(part * _CHUNK, min(len(queue), part * _CHUNK + _CHUNK)):
            u = queue[q]
            for e in range(out_indptr[u], out_indptr[u + 1]):
                v = out_indices[e]
                if distances[v] >= 0 or compare_and_swap(distances, v, -1, level) >= 0:
                    continue
                if found < held:
                    own[found] = v
                    found += 1
                else:
                    following[fetch_and_add(control, FOUND, 1)] = v
        place = fetch_and_add(control, FOUND, found)
        for i in range(found):
            following[place + i] = own[i]


@njit(parallel=True, nogil=True, cache=True)
def gather(edges, queue, targets, control):
    out_indptr = edges[0]
    out_indices = edges[1]
    for part in prange((len(queue) + _CHUNK - 1) // _CHUNK):
        first, last = part * _CHUNK, min(len(queue), part * _CHUNK + _CHUNK)
        degrees = 0
        for q in range(first, last):
            degrees += out_indptr[queue[q] + 1] - out_indptr[queue[q]]
        place = fetch_and_add(control, EDGES, degrees)
        for q in range(first, last):
            for e in range(out_indptr[queue[q]], out_indptr[queue[q] + 1]):
                targets[place] = out_indices[e]
                place += 1


@njit(parallel=True, nogil=True, cache=True)
def filter_edges(targets, visited, level, distances, following, control):
    first = visited.first
    visited_bits = visited.bits
    total = control[EDGES]
    for part in prange((total + _EDGES - 1) // _EDGES):
        kept = np.empty(_EDGES, np.int32)
        found = 0
        for e in range(part * _EDGES, min(total, part * _EDGES + _EDGES)):
            v = targets[e]
            word, bit = (v - first) >> 5, _ONE << np.uint32((v - first) & 31)
            if visited_bits[word] & bit or fetch_and_or(visited_bits, word, bit) & bit:
                continue
            distances[v] = level
            kept[found] = v
            found += 1
        place = fetch_and_add(control, FOUND, found)
        for i in range(found):
            following[place + i] = kept[i]


@njit(nogil=True, cache=True)
def thin(edges, visited, distances, frontier, level, limit, control):
    """Run up to `limit` levels on one core, as long as they are thin; the first gets distance `level`."""
    out_indptr, out_indices = edges
    first, visited_bits = visited
    queue, head, tail = frontier
    start, ran = tail, 0
    while ran < limit and 0 < tail - head <= THIN:
        degrees = 0
        for q in range(head, tail):
            degrees += out_indptr[queue[q] + 1] - out_indptr[queue[q]]
        if degrees > _THIN_EDGES:
            break
        end = tail
        for q in range(head, tail):
            for e in range(out_indptr[queue[q]], out_indptr[queue[q] + 1]):
                v = out_indices[e]
                word, bit = (v - first) >> 5, _ONE << np.uint32((v - first) & 31)
                if not visited_bits[word] & bit:
                    visited_bits[word] |= bit
                    distances[v] = level + ran
                    queue[end] = v
                    end += 1
        head, tail = tail, end
        ran += 1
    control[FOUND] = tail - start
    control[LEVELS] = ran
    control[LAST] = tail - head


@njit(nogil=True, cache=True)
def in_queue_order(edges, others, sources, limit, order, predecessors, levels):
    indptr, indices = edges
    more_indptr, more_indices = others
    head, tail = 0, 0
    for s in sources:
        if levels[s] < 0:
            levels[s] = 0
            order[tail] = s
            tail += 1
    while head < tail:
        u = np.uint64(order[head])
        level = levels[u] + 1
        if level > limit:
            break
        head += 1
        for e in range(np.uint64(indptr[u]), np.uint64(indptr[u + np.uint64(1)])):
            v = np.uint64(indices[e])
            if levels[v] < 0:
                levels[v] = level
                predecessors[v] = u
                order[tail] = v
                tail += 1
        for e in range(np.uint64(more_indptr[u]), np.uint64(more_indptr[u + np.uint64(1)])):
            v = np.uint64(more_indices[e])
            if levels[v] < 0:
                levels[v] = level
                predecessors[v] = u
                order[tail] = v
                tail += 1
    return tail


@njit(nogil=True, cache=True)
def sequential(edges, distances, frontier, level, limit, control):
    """Run up to `limit` levels along the queue; the first gets distance `level`."""
    out_indptr, out_indices = edges
    queue, head, tail = frontier
    start, ran = tail, 0
    while ran < limit and head < tail:
        end = tail
        while head < end:
            u = np.uint64(queue[head])
            head += 1
            for e in range(np.uint64(out_indptr[u]), np.uint64(out_indptr[u + np.uint64(1)])):
                v = np.uint64(out_indices[e])
                if distances[v] < 0:
                    distances[v] = level + ran
                    queue[tail] = v
                    tail += 1
        ran += 1
    control[FOUND] = tail - start
    control[LEVELS] = ran
    control[LAST] = tail - head
