"""The search kernels of ``kernels/bfs.cu`` for the CPU: pushing on one core, pulling on all.

The same operations on the same arrays; that file's opening explains the algorithm and the encoding. A push
is a walk along the queue, which a road network's thin frontiers make fast on one core; a pull owns a word
of the bitmap at a time, so cores never write to the same place. In a small graph one core pulls too.
"""

import numpy as np
from numba import njit, prange

from .small import is_small, unless

#: Where the caller finds the number of the frontier's level, in the control words.
LEVEL = 2
CONTROL_WORDS = 3

#: The methods' numbers.
METHODS = {"hybrid": 0, "frontier": 1, "pull": 2}

_HYBRID, _PUSH, _PULL = 0, 1, 2
_PULL_SHARE = 15  # pull if the frontier has more than 1/15 of the edges, or
_PULL_COUNT = 20  # more than 1/20 of the vertices

_ONE = np.uint32(1)


def hub_capacity(edges):
    """Return 0: on the CPU no vertex is put off for its many edges."""
    return 0


def rows_needed(indptr):
    """Return 0: a core reads a row at once as it is."""
    return 0


def rows_of_four(xp, indptr, indices):
    """Return none."""
    return xp.empty((0, 4), np.int32)


def compile_ahead(*_):
    """Do nothing: Numba compiles one kernel at a time, when it is called."""


@njit(nogil=True, cache=True)
def seed(sources, first, last, distances, visited, frontier):
    """Start from the sources: distance 0 and a bit in the bitmaps, for those from `first` to `last` in both."""
    for v in sources:
        bit = _ONE << np.uint32(v & 31)
        frontier[v >> 5] |= bit
        if first <= v < last:
            visited[(v - first) >> 5] |= bit
            distances[v] = 0


@unless(is_small)
def heads(in_indptr, in_indices, out_indptr, head):
    """Write each row's in-neighbour that has the most edges out of it, or -1."""
    for own in prange(len(head)):
        best, most = -1, -1
        for e in range(in_indptr[own], in_indptr[own + 1]):
            u = in_indices[e]
            degree = out_indptr[u + 1] - out_indptr[u]
            if degree > most:
                best, most = u, degree
        head[own] = best


@njit(nogil=True, cache=True)
def levels(
    out_indptr,
    out_indices,
    in_indptr,
    in_indices,
    heads,
    quads,
    first,
    last,
    distances,
    visited,
    frontier,
    found,
    queue,
    hubs,
    lists,
    control,
    limit,
    method,
    shard,
    listed,
):
    """Run up to `limit` levels of the search for the vertices from `first` to `last`."""
    n = len(distances)
    whole = len(found) == len(frontier)
    own = frontier[first // 32 : first // 32 + len(found)]
    all_edges = out_indptr[n]
    level = control[LEVEL]
    done, head, tail, edges = 0, 0, 0, 0
    if listed:
        tail = _queue_up_lists(lists, queue)
        edges = _degrees(out_indptr, queue, head, tail)
        count = tail
    else:
        count = _bits(frontier)
    have_bitmap, have_queue = not listed, listed
    while done < limit and count > 0:
        if have_queue:
            pull = method == _PULL or (method == _HYBRID and edges > all_edges // _PULL_SHARE)
        else:
            pull = method == _PULL or (method == _HYBRID and count > n // _PULL_COUNT)
        if not pull and not have_queue:
            head, tail = tail, _queue_up(frontier, queue, tail)
            edges = _degrees(out_indptr, queue, head, tail)
            have_queue = True
        if pull:
            if not have_bitmap:
                frontier[:] = np.uint32(0)
                _mark(frontier, queue, head, tail, 0)
            if is_small(in_indptr):
                _pull_alone(in_indptr, in_indices, heads, first, last, distances, visited, frontier, found, level + 1)
            else:
                _pull_together(
                    in_indptr, in_indices, heads, first, last, distances, visited, frontier, found, level + 1
                )
            own[:] = found
            count = _bits(found)
            have_bitmap, have_queue = True, False
        else:
            end = _push(out_indptr, out_indices, distances, queue, head, tail, level + 1)
            _mark(visited, queue, tail, end, first)
            edges = _degrees(out_indptr, queue, tail, end)
            head, tail = tail, end
            count = tail - head
            have_bitmap = False
        level += 1
        done += 1
        if not whole:
            break
    if done > 0 and not have_bitmap:
        if listed:  # then only the words of its own list are not zero
            for i in range(1, lists[shard, 0] + 1):
                frontier[lists[shard, i] >> 5] = np.uint32(0)
        else:
            own[:] = np.uint32(0)
        _mark(frontier, queue, head, tail, 0)
    capacity = lists.shape[1] - 1
    if count > capacity or (count > 0 and have_bitmap):
        lists[shard, 0] = capacity + 1
    else:
        lists[shard, 0] = count
        lists[shard, 1 : count + 1] = queue[tail - count : tail]
    control[LEVEL] = level


@njit(nogil=True, cache=True)
def _bits(words):
    total = 0
    for w in range(len(words)):
        bits = words[w]
        while bits:
            bits &= bits - _ONE
            total += 1
    return total


@njit(nogil=True, cache=True)
def _queue_up(frontier, queue, end):
    for w in range(len(frontier)):
        bits = frontier[w]
        if bits:
            for b in range(32):
                if bits >> np.uint32(b) & _ONE:
                    queue[end] = w * 32 + b
                    end += 1
    return end


@njit(nogil=True, cache=True)
def _queue_up_lists(lists, queue):
    end = 0
    for s in range(len(lists)):
        for i in range(1, lists[s, 0] + 1):
            queue[end] = lists[s, i]
            end += 1
    return end


@njit(nogil=True, cache=True)
def _push(out_indptr, out_indices, distances, queue, head, tail, level):
    """Append whom the vertices of the queue reach first, from `tail` on; return where they end."""
    end = tail
    for q in range(head, tail):
        u = np.uint64(queue[q])  # without a sign, or Numba has each index asked whether it counts from the end
        for e in range(np.uint64(out_indptr[u]), np.uint64(out_indptr[u + np.uint64(1)])):
            v = np.uint64(out_indices[e])
            if distances[v] < 0:
                distances[v] = level
                queue[end] = v
                end += 1
    return end


@njit(nogil=True, cache=True)
def _degrees(indptr, queue, head, tail):
    total = 0
    for q in range(head, tail):
        u = np.uint64(queue[q])
        total += indptr[u + np.uint64(1)] - indptr[u]
    return total


@njit(nogil=True, cache=True)
def _mark(bits, queue, head, tail, first):
    """Set the bits of the queue's vertices, that of `first` being the lowest."""
    for q in range(head, tail):
        v = np.uint64(queue[q] - first)
        bits[v >> np.uint64(5)] |= _ONE << np.uint32(v & np.uint64(31))


@unless(is_small)
def _pull(in_indptr, in_indices, heads, first, last, distances, visited, frontier, found, level):
    chunk = 64
    for part in prange((len(found) + chunk - 1) // chunk):
        for w in range(part * chunk, min(len(found), part * chunk + chunk)):
            found[w] = _pull_word(in_indptr, in_indices, heads, first, last, distances, visited[w], frontier, w, level)
            visited[w] |= found[w]


_pull_alone, _pull_together = _pull.alone, _pull.together


@njit(nogil=True, cache=True)
def _pull_word(in_indptr, in_indices, heads, first, last, distances, known, frontier, w, level):
    """Return the bits of the unvisited vertices in word `w` that have an in-neighbour in the frontier."""
    new = np.uint32(0)
    if known == np.uint32(0xFFFFFFFF):
        return new
    for b in range(min(32, last - first - w * 32)):
        bit = _ONE << np.uint32(b)
        if known & bit:
            continue
        v = w * 32 + b
        if len(heads):
            if heads[v] < 0:
                continue
            if _is_in(frontier, heads[v]):
                new |= bit
                distances[first + v] = level
                continue
        for e in range(np.uint64(in_indptr[v]), np.uint64(in_indptr[v + 1])):
            if _is_in(frontier, in_indices[e]):
                new |= bit
                distances[first + v] = level
                break
    return new


@njit(nogil=True, cache=True)
def _is_in(bits, vertex):
    v = np.uint64(vertex)
    return bits[v >> np.uint64(5)] >> np.uint32(v & np.uint64(31)) & _ONE


@unless(is_small)
def parents(in_indptr, in_indices, first, last, distances, root, parent, hubs, total):
    """Write the least in-neighbour one level up of each vertex from `first` to `last`, or -9999.

    `root` is the only source, or -1.
    """
    for own in prange(last - first):
        parent[own] = -9999
        wanted = distances[first + own] - 1
        if wanted == 0 and root >= 0:
            parent[own] = root
        elif wanted >= 0:
            for e in range(np.uint64(in_indptr[own]), np.uint64(in_indptr[own + 1])):
                if distances[np.uint64(in_indices[e])] == wanted:
                    parent[own] = in_indices[e]
                    break
