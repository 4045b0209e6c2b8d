"""The search kernels of ``kernels/bfs.cu`` for the CPU: push on one core, pull on all cores.

The operations and arrays are the same; that file's opening explains the algorithm and the encoding. A push walks along
the queue; one core is fast enough for the thin frontiers of road networks. In a pull, a core takes one word of the
bitmap at a time, so no two cores write to the same place. In a small graph one core pulls too.
"""

import numpy as np

from ...device.numba import prange
from ...device.numba.bits import population, trailing_zeros
from ...device.numba.caching import njit
from ...device.numba.small import is_small, unless

#: Place of the frontier's level in the control words.
LEVEL = 2
CONTROL_WORDS = 3

#: The number of each method.
METHODS = {"hybrid": 0, "frontier": 1, "pull": 2}

_HYBRID, _PULL = 0, 2
_PULL_SHARE = 15  # pull if the frontier has more than 1/15 of the edges, or
_PULL_COUNT = 20  # more than 1/20 of the vertices

_SEEDS = 4096  # sources marked at a time
_ONE = np.uint32(1)


def hub_capacity(edges):
    """Return 0: the CPU treats hubs like other vertices."""
    return 0


def quads_needed(indptr):
    """Return 0: the CPU does not use quads."""
    return 0


def quads(xp, indptr, indices):
    """Return an empty array: the CPU does not use quads."""
    return xp.empty((0, 4), np.int32)


def compile_ahead(indptr, tree):
    """Do nothing: Numba compiles one kernel at a time, when it is called."""


def seed(sources, first, last, distances, visited, frontier):
    """Give the sources distance 0, and set their bits in the bitmaps."""
    for start in range(0, len(sources), _SEEDS):  # in parts, as NumPy copies them
        some = sources[start : start + _SEEDS]
        own = some[(some >= first) & (some < last)]
        distances[own] = 0
        for bitmap, vertices in (frontier, some), (visited, own - first):
            np.bitwise_or.at(bitmap, vertices >> 5, _ONE << (vertices & 31).astype(np.uint32))


@unless(is_small)
def heads(in_indptr, in_indices, out_indptr, head):
    """Write each row's in-neighbour with the most edges; -1 without one."""
    for own in prange(len(head)):
        best, most = -1, -1
        for e in range(in_indptr[own], in_indptr[own + 1]):
            u = in_indices[e]
            degree = out_indptr[u + 1] - out_indptr[u]
            if degree > most:
                best, most = u, degree
        head[own] = best


def levels(edges, arrays, limit, method, shard, listed):
    """Run up to `limit` levels of the search for the shard's vertices."""
    out_indptr, out_indices, in_indptr, in_indices, heads, _ = edges
    first, last, distances, parents, visited, frontier, found, queue, _, lists, control = arrays
    by_target = in_indptr, in_indices, heads, first, last, distances, parents, visited, frontier, found
    whole, alone = len(found) == len(frontier), is_small(in_indptr)
    limit = limit if whole else 1
    most_edges, most_vertices = _most(method, int(out_indptr[-1]), len(distances))
    tail = _queue_up_lists(lists, queue) if listed else 0
    count = tail if listed else int(np.bitwise_count(frontier).sum())
    ran = 0
    while True:
        level = int(control[LEVEL]) + 1
        graph = out_indptr, out_indices, *by_target
        done, head, tail, count, ends = _levels(
            *graph, queue, level, limit - ran, most_edges, most_vertices, alone, count, tail
        )
        control[LEVEL] += done
        ran += done
        if ends:
            break
        _pull(*by_target, int(control[LEVEL]) + 1)
        frontier[first // 32 : first // 32 + len(found)] = found
        count, tail = int(np.bitwise_count(found).sum()), 0
        control[LEVEL] += 1
        ran += 1
    capacity = lists.shape[1] - 1
    if count > capacity or count > tail - head:  # too many, or only in the bitmap
        lists[shard, 0] = capacity + 1
    else:
        lists[shard, 0] = count
        lists[shard, 1 : count + 1] = queue[tail - count : tail]


def _most(method, edges, vertices):
    """Return the most edges of a queue, and the most vertices of a bitmap, with which a level is pushed."""
    if method == _HYBRID:
        return edges // _PULL_SHARE, vertices // _PULL_COUNT
    return (-1, -1) if method == _PULL else (edges, vertices)


def _queue_up_lists(lists, queue):
    end = 0
    for own in lists:
        queue[end : end + own[0]] = own[1 : own[0] + 1]
        end += int(own[0])
    return end


@njit(nogil=True, cache=True)
def _levels(
    out_indptr,
    out_indices,
    in_indptr,
    in_indices,
    heads,
    first,
    last,
    distances,
    parents,
    visited,
    frontier,
    found,
    queue,
    level,
    limit,
    most_edges,
    most_vertices,
    alone,
    count,
    tail,
):
    """Run up to `limit` levels from a frontier of `count` vertices.

    The frontier is the first `tail` vertices of the queue, or that of the bitmap if `tail` is 0. Returns the number of
    levels run, where the last frontier begins and ends in the queue, its size, and whether to stop. If not,
    all cores pull the next level. This is a single function because each helper would take as
    long to compile as ten lines.
    """
    done, head, edges = 0, 0, 0
    for q in range(tail):
        u = np.uint64(queue[q])
        edges += out_indptr[u + np.uint64(1)] - out_indptr[u]
    queued = tail > 0
    marked = not queued
    while True:
        ends = done == limit or count == 0
        pulls = edges > most_edges if queued else count > most_vertices
        if not marked and (ends or pulls):
            for w in range(len(frontier)):
                frontier[w] = 0
            for q in range(head, tail):
                v = np.uint64(queue[q])
                frontier[v >> np.uint64(5)] |= _ONE << np.uint32(v & np.uint64(31))
            marked = True
        if ends or (pulls and not alone):
            return done, head, tail, count, ends
        if pulls:
            count = 0
            for w in range(len(found)):
                new = _pull_word(
                    in_indptr, in_indices, heads, first, last, distances, parents, visited[w], frontier, w, level + done
                )
                found[w] = new
                visited[w] |= new
                count += population(new)
            for w in range(len(found)):
                frontier[(first >> 5) + w] = found[w]
            head = tail = 0
            queued = False
        else:
            if not queued:
                head = tail = 0
                for w in range(len(frontier)):
                    bits = frontier[w]
                    while bits:
                        queue[tail] = w * 32 + trailing_zeros(bits)
                        tail += 1
                        bits &= bits - _ONE
            end = tail
            for q in range(head, tail):
                u = np.uint64(queue[q])  # unsigned, or Numba would check each index for being negative
                for e in range(np.uint64(out_indptr[u]), np.uint64(out_indptr[u + np.uint64(1)])):
                    v = np.uint64(out_indices[e])
                    if distances[v] < 0:
                        distances[v] = level + done
                        if len(parents):
                            parents[v - np.uint64(first)] = u
                        queue[end] = v
                        end += 1
            head, tail, edges = tail, end, 0
            for q in range(head, tail):
                u = np.uint64(queue[q])
                edges += out_indptr[u + np.uint64(1)] - out_indptr[u]
                v = u - np.uint64(first)
                visited[v >> np.uint64(5)] |= _ONE << np.uint32(v & np.uint64(31))
            count = tail - head
            queued = True
            marked = False
        done += 1


@njit(parallel=True, nogil=True, cache=True)
def _pull(in_indptr, in_indices, heads, first, last, distances, parents, visited, frontier, found, level):
    """Run a level by pulling, on all cores."""
    chunk = 64
    for part in prange((len(found) + chunk - 1) // chunk):
        for w in range(part * chunk, min(len(found), part * chunk + chunk)):
            found[w] = _pull_word(
                in_indptr, in_indices, heads, first, last, distances, parents, visited[w], frontier, w, level
            )
            visited[w] |= found[w]


@njit(nogil=True, cache=True)
def _pull_word(in_indptr, in_indices, heads, first, last, distances, parents, known, frontier, w, level):
    """Return the bits of the unvisited vertices in word `w` that have an in-neighbour in the frontier."""
    new, left = np.uint32(0), ~known
    while left:
        bit, v = left & (~left + _ONE), np.uint64(w * 32 + trailing_zeros(left))
        if v >= np.uint64(last - first):
            break
        left ^= bit
        before = -1
        if len(heads):
            if heads[v] < 0:
                continue
            if _is_in(frontier, heads[v]):
                before = heads[v]
        if before < 0:
            for e in range(np.uint64(in_indptr[v]), np.uint64(in_indptr[v + np.uint64(1)])):
                if _is_in(frontier, in_indices[e]):
                    before = in_indices[e]
                    break
        if before >= 0:
            new |= bit
            distances[np.uint64(first) + v] = level
            if len(parents):
                parents[v] = before
    return new


@njit(inline="always")
def _is_in(bits, vertex):
    v = np.uint64(vertex)
    return bits[v >> np.uint64(5)] >> np.uint32(v & np.uint64(31)) & _ONE != 0


@unless(lambda edges, *_: is_small(edges[0]))
def parents(edges, first, last, distances, root, parent, hubs):
    """Write the least in-neighbour one level up of each vertex from `first` to `last`, or -9999.

    `root` is the only source, or -1.
    """
    in_indptr = edges[0]
    in_indices = edges[1]
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
