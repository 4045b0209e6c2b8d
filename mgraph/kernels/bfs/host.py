"""The search kernels of ``kernels/bfs.cu`` for the CPU: thin levels on one core, thick ones on all cores.

The operations and arrays are the same; that file's opening explains the algorithm and the encoding. One core walks
along the queue of a thin frontier, as in road networks, many levels in one call. A thick level takes all cores, which
claim chunks of it in turn. In a push the core that first swaps a vertex's distance owns the vertex. It holds what it
finds and then claims places in the queue for all of it (Luo, Wong and Hwu 2010). Hubs are dealt in pieces, after the
other vertices. The cores do not mark what they push: the bitmaps follow from the distances, before the next pull. In a
pull, a core takes a chunk of the bitmap, so no two cores write to the same place. One core does all in a small graph,
and where there is no other: with atomic operations its pushes would take half as long again.
"""

import numpy as np

from ...device.numba import numba, prange
from ...device.numba.atomics import compare_and_swap, fetch_and_add
from ...device.numba.bits import population, trailing_zeros
from ...device.numba.caching import njit
from ...device.numba.prefetching import prefetch
from ...device.numba.sharing import on_all_cores, parts
from ...device.numba.small import GRAPH, is_small, unless

#: Operations that run no kernel.
UNLOCKED = frozenset({"hub_capacity", "shared_words", "compile_ahead"})

#: Place of the frontier's level in the control words.
LEVEL, LOST = 2, 3
CONTROL_WORDS = 4

#: The number of each method.
METHODS = {"hybrid": 0, "frontier": 1, "pull": 2}

_HYBRID, _PULL = 0, 2
_PULL_SHARE = 15  # pull if the frontier has more than 1/15 of the edges, or
_PULL_COUNT = 32  # more than 1/32 of the vertices

_THICK = 1 << 15  # edges of a queue from which on all cores push
_LISTED = 1 << 13  # vertices of a bitmap from which on all cores list them
_CHUNK = 64  # vertices of a queue, or words of a bitmap, that a core takes at a time
_HUB = 1 << 13  # edges of a vertex from which on the cores share it; and those of a piece
_HELD = 1 << 14  # vertices that a core holds before it claims places for them

_AHEAD = 8  # vertices of a queue by which a core requests rows ahead, and
_WORDS_AHEAD = 2  # words of a bitmap
_FAR = 1 << 12  # vertices of a level from which on that pays: the rows of fewer may well be in the cache

# What `_levels` leaves to the caller.
_END, _PUSH_ON_ALL, _PULL_ON_ALL, _LIST_ON_ALL = 0, 1, 2, 3

# Places of the counts that the cores share.
_TURN, _FOUND, _EDGES, _HUBS, _PIECE = 0, 1, 2, 3, 4

_SEEDS = 4096  # sources marked at a time
_ONE = np.uint32(1)


def hub_capacity(edges):
    """Return 0: a level that has hubs lists them by itself."""
    return 0


def quads_needed(indptr):
    """Return 0: the CPU does not use quads."""
    return 0


def quads(xp, indptr, indices):
    """Return an empty array: the CPU does not use quads."""
    return xp.empty((0, 4), np.int32)


def shared_words(n, shards):
    """Return 0: shards meet between launches."""
    return 0


def compile_ahead(indptr, tree, several):
    """Do nothing: Numba compiles one kernel at a time, when it is called."""


def fill(numbers, value):
    """Set all elements to a value, on all cores: each takes the pages of a new array that it touches first."""
    on_all_cores(lambda own: numbers[own].fill(value), parts(len(numbers), 1, GRAPH))


def seed(sources, first, last, distances, visited, frontier):
    for start in range(0, len(sources), _SEEDS):  # in parts, as NumPy copies them
        some = sources[start : start + _SEEDS]
        own = some[(some >= first) & (some < last)]
        distances[own] = 0
        for bitmap, vertices in (frontier, some), (visited, own - first):
            np.bitwise_or.at(bitmap, vertices >> 5, _ONE << (vertices & 31).astype(np.uint32))


@unless(is_small)
def heads(in_indptr, in_indices, out_indptr, head):
    for own in prange(len(head)):
        best, most = -1, -1
        for e in range(in_indptr[own], in_indptr[own + 1]):
            u = in_indices[e]
            degree = out_indptr[u + 1] - out_indptr[u]
            if degree > most:
                best, most = u, degree
        head[own] = best


def levels(edges, arrays, limit, method, shard, listed, meeting=None):
    out_indptr, out_indices, in_indptr, in_indices, heads, _ = edges
    first, last, distances, parents, visited, frontier, found, queue, _, lists, control = arrays
    by_target = in_indptr, in_indices, heads, first, last, distances, parents, visited, frontier, found
    whole, alone = len(found) == len(frontier), is_small(in_indptr) or numba.get_num_threads() == 1
    limit = limit if whole else 1
    most_edges, most_vertices = _most(method, int(out_indptr[-1]), len(distances))
    tail = _queue_up_lists(lists, queue) if listed else 0
    count = tail if listed else int(np.bitwise_count(frontier).sum())
    edges_out = int((out_indptr[queue[:tail] + 1] - out_indptr[queue[:tail]]).sum()) if listed else 0
    ran, pushed = 0, False  # whether the bitmaps lack what all cores have pushed
    while True:
        level = int(control[LEVEL]) + 1
        done, turn, count, edges_out, tail = _levels(
            *(out_indptr, out_indices, *by_target, queue, level, limit - ran, most_edges, most_vertices),
            *(alone, pushed, count, edges_out, tail),
        )
        level += done
        if pushed and (turn == _PULL_ON_ALL or (turn == _END and (count or not whole))):
            _mark(first, last, distances, level - 1, visited, frontier)
            pushed = False
        if turn == _END:
            control[LEVEL] += done
            break
        shared = np.zeros(5, np.int64)
        if turn == _LIST_ON_ALL:
            _list_frontier(out_indptr, frontier, queue, shared)
            tail = count
        elif turn == _PUSH_ON_ALL:
            pushing = out_indptr, out_indices, first, distances, parents, queue, tail - count, tail, level
            _push(*pushing, np.empty(edges_out // _HUB + 1, np.int32), numba.get_num_threads(), shared)
            count, pushed = int(shared[_FOUND]), True
            tail += count
        else:
            _pull(*by_target, level, numba.get_num_threads(), shared)
            frontier[first // 32 : first // 32 + len(found)] = found
            count, tail = int(shared[_FOUND]), 0
        edges_out = int(shared[_EDGES])
        done += turn != _LIST_ON_ALL
        control[LEVEL] += done
        ran += done
    if pushed:  # the whole search has come to its end
        frontier.fill(0)
    capacity = lists.shape[1] - 1
    if count > capacity or count > tail:  # too many, or only in the bitmap
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
    pushed,
    count,
    edges,
    tail,
):
    """Run up to `limit` levels from a frontier of `count` vertices on one core, as long as they are thin.

    The frontier is the end of the first `tail` vertices of the queue, with `edges` edges, or that of the bitmap if
    `tail` is 0. Returns the number of levels run, what the caller has to do next, the size of the last frontier, its
    edges, and where it ends in the queue. The bitmaps are marked for a pull and at the end, unless `pushed`: then the
    caller does that. This is a single function because each helper would take as long to compile as ten lines.
    """
    done, head = 0, tail - count if tail else 0
    queued = tail > 0
    marked = not queued
    while True:
        ends = done == limit or count == 0
        pulls = edges > most_edges if queued else count > most_vertices
        if not (marked or pushed) and (ends or pulls):
            for w in range(len(frontier)):
                frontier[w] = 0
            for q in range(head, tail):
                v = np.uint64(queue[q])
                frontier[v >> np.uint64(5)] |= _ONE << np.uint32(v & np.uint64(31))
            marked = True
        if ends:
            return done, _END, count, edges, tail
        if not alone:
            if pulls:
                return done, _PULL_ON_ALL, count, edges, tail
            if queued and edges > _THICK:
                return done, _PUSH_ON_ALL, count, edges, tail
            if not queued and count > _LISTED:
                return done, _LIST_ON_ALL, count, edges, tail
        if pulls:
            count = _pull_words(
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
                level + done,
                0,
                len(found),
            )
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
                if count > _FAR and q + _AHEAD < tail:
                    prefetch(out_indices, out_indptr[queue[q + _AHEAD]])
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
def _push(out_indptr, out_indices, first, distances, parents, queue, head, tail, level, hubs, threads, shared):
    """Run a level by pushing from the queue's vertices from `head` to `tail`, on all cores.

    A core first gathers the targets that look unvisited, of many vertices, and then takes them: the reads of memory
    would not overlap across the atomic operations.
    """
    chunk = max(1, min(_CHUNK, (tail - head) // (8 * threads)))
    for _ in prange(threads):
        held, above = np.empty(_HELD, np.int32), np.empty(_HELD, np.int32)
        kept = 0
        while True:
            start = head + chunk * fetch_and_add(shared, _TURN, 1)
            if start >= tail:
                break
            seen = kept
            for q in range(start, min(tail, start + chunk)):
                prefetch(out_indices, out_indptr[queue[q]])
            for q in range(start, min(tail, start + chunk)):
                u = np.uint64(queue[q])
                begin, end = np.uint64(out_indptr[u]), np.uint64(out_indptr[u + np.uint64(1)])
                if end - begin >= np.uint64(_HUB):
                    hubs[fetch_and_add(shared, _HUBS, 1)] = u
                    continue
                if np.uint64(seen) + (end - begin) > np.uint64(_HELD):
                    kept = _take(first, distances, parents, level, held, above, kept, seen)
                    _add_to_queue(out_indptr, queue, tail, held, kept, shared)
                    kept = seen = 0
                seen = _gather(out_indices, begin, end, u, distances, held, above, seen)
            kept = _take(first, distances, parents, level, held, above, kept, seen)
        _add_to_queue(out_indptr, queue, tail, held, kept, shared)
    if shared[_HUBS]:
        for _ in prange(threads):
            held, above = np.empty(_HELD, np.int32), np.empty(_HELD, np.int32)
            hub, before = 0, 0  # the pieces before this hub's
            while True:
                piece = fetch_and_add(shared, _PIECE, 1)
                while hub < shared[_HUBS]:
                    u = np.uint64(hubs[hub])
                    begin, end = np.uint64(out_indptr[u]), np.uint64(out_indptr[u + np.uint64(1)])
                    pieces = np.int64(end - begin + np.uint64(_HUB - 1)) // _HUB
                    if piece < before + pieces:
                        break
                    before += pieces
                    hub += 1
                if hub == shared[_HUBS]:
                    break
                begin += np.uint64((piece - before) * _HUB)
                seen = _gather(out_indices, begin, min(end, begin + np.uint64(_HUB)), u, distances, held, above, 0)
                kept = _take(first, distances, parents, level, held, above, 0, seen)
                _add_to_queue(out_indptr, queue, tail, held, kept, shared)


@njit(nogil=True, cache=True)
def _gather(out_indices, begin, end, u, distances, held, above, seen):
    """Hold the targets of u's edges from `begin` to `end` that look unvisited; return how many are then held."""
    for e in range(begin, end):
        v = np.uint64(out_indices[e])
        held[seen] = v
        above[seen] = u
        seen += distances[v] < 0
    return seen


@njit(nogil=True, cache=True)
def _take(first, distances, parents, level, held, above, kept, seen):
    """Give those held from `kept` to `seen` their distance, and keep those that no other core took before."""
    for i in range(kept, seen):
        v = np.uint64(held[i])
        if compare_and_swap(distances, v, -1, level) < 0:
            if len(parents):
                parents[v - np.uint64(first)] = above[i]
            held[kept] = v
            kept += 1
    return kept


@njit(nogil=True, cache=True)
def _add_to_queue(out_indptr, queue, tail, held, kept, shared):
    """Write the held vertices to the queue, and add up their edges."""
    place = tail + fetch_and_add(shared, _FOUND, kept)
    edges = 0
    for i in range(kept):
        v = np.uint64(held[i])
        queue[place + i] = v
        edges += out_indptr[v + np.uint64(1)] - out_indptr[v]
    fetch_and_add(shared, _EDGES, edges)


@njit(parallel=True, nogil=True, cache=True)
def _list_frontier(out_indptr, frontier, queue, shared):
    """Write the bitmap's vertices to the queue, and add up their edges, on all cores."""
    for part in prange((len(frontier) + _CHUNK - 1) // _CHUNK):
        begin, end = part * _CHUNK, min(len(frontier), part * _CHUNK + _CHUNK)
        found, edges = 0, 0
        for w in range(begin, end):
            found += population(frontier[w])
        place = fetch_and_add(shared, _FOUND, found)
        for w in range(begin, end):
            bits = frontier[w]
            while bits:
                v = np.uint64(w * 32 + trailing_zeros(bits))
                queue[place] = v
                place += 1
                edges += out_indptr[v + np.uint64(1)] - out_indptr[v]
                bits &= bits - _ONE
        fetch_and_add(shared, _EDGES, edges)


@njit(parallel=True, nogil=True, cache=True)
def _mark(first, last, distances, level, visited, frontier):
    """Set the bitmaps from the distances, on all cores: those visited, and as frontier those at `level`."""
    own = distances[first:last]
    for w in prange(len(frontier)):
        frontier[w] = 0
    for w in prange(len(visited)):
        reached = there = np.uint32(0)
        for b in range(min(32, len(own) - 32 * w)):
            distance = own[32 * w + b]
            reached |= np.uint32(distance >= 0) << np.uint32(b)
            there |= np.uint32(distance == level) << np.uint32(b)
        visited[w] = reached
        frontier[(first >> 5) + w] = there


@njit(parallel=True, nogil=True, cache=True)
def _pull(
    in_indptr, in_indices, heads, first, last, distances, parents, visited, frontier, found, level, threads, shared
):
    """Run a level by pulling, on all cores."""
    for _ in prange(threads):
        count = 0
        while True:
            start = _CHUNK * fetch_and_add(shared, _TURN, 1)
            if start >= len(found):
                break
            count += _pull_words(
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
                level,
                start,
                min(len(found), start + _CHUNK),
            )
        fetch_and_add(shared, _FOUND, count)


@njit(nogil=True, cache=True)
def _pull_words(
    in_indptr, in_indices, heads, first, last, distances, parents, visited, frontier, found, level, start, stop
):
    """Find the unvisited vertices of some words that have an in-neighbour in the frontier; return how many.

    They are visited then, and so count those without in-neighbours, so that later pulls do not look at them.
    """
    count = 0
    for w in range(start, stop + _WORDS_AHEAD):
        if w < stop:
            found[w] = 0
            if ~visited[w]:  # else without the call, which takes longer than all else of a word
                _pull_by_heads(
                    in_indptr, in_indices, heads, first, last, distances, parents, visited, frontier, found, level, w
                )
        before = w - _WORDS_AHEAD
        if before >= start:
            if ~visited[before]:
                _pull_by_rows(in_indptr, in_indices, first, distances, parents, visited, frontier, found, level, before)
            count += population(found[before])
    return count


@njit(nogil=True, cache=True)
def _pull_by_heads(in_indptr, in_indices, heads, first, last, distances, parents, visited, frontier, found, level, w):
    """Find the unvisited vertices of a word whose heads are in the frontier, and request the rows of the others.

    The heads are looked up without a branch, by vector instructions: branches took a quarter of the time.
    """
    base, size = np.uint64(w * 32), last - first - w * 32
    new = none = np.uint32(0)
    if size < 32:
        none = ~((_ONE << np.uint32(size)) - _ONE)  # beyond the last vertex
    left = ~(visited[w] | none)
    if len(heads) and size >= 32 and left:
        for b in range(32):
            head = heads[base + np.uint64(b)]
            missing = np.uint32(head) >> np.uint32(31)
            none |= missing << np.uint32(b)
            u = np.uint32(head) & (missing - _ONE)  # vertex 0 if missing
            new |= (frontier[u >> np.uint32(5)] >> (u & np.uint32(31)) & _ONE) << np.uint32(b)
        new &= left & ~none
        left &= ~(new | none)
        bits = new
        while bits:
            v = base + np.uint64(trailing_zeros(bits))
            distances[np.uint64(first) + v] = level
            if len(parents):
                parents[v] = heads[v]
            bits &= bits - _ONE
    found[w] = new
    visited[w] |= new | none
    while len(heads) and left:  # short rows come one after the other, which the core sees by itself
        prefetch(in_indices, in_indptr[base + np.uint64(trailing_zeros(left))])
        left &= left - _ONE


@njit(nogil=True, cache=True)
def _pull_by_rows(in_indptr, in_indices, first, distances, parents, visited, frontier, found, level, w):
    """Find the other vertices of a word that have an in-neighbour in the frontier."""
    base, left = np.uint64(w * 32), ~visited[w]
    new = none = np.uint32(0)
    while left:
        bit, v = left & (~left + _ONE), base + np.uint64(trailing_zeros(left))
        begin, end = np.uint64(in_indptr[v]), np.uint64(in_indptr[v + np.uint64(1)])
        if begin == end:
            none |= bit
        for e in range(begin, end):
            if _is_in(frontier, in_indices[e]):
                new |= bit
                distances[np.uint64(first) + v] = level
                if len(parents):
                    parents[v] = in_indices[e]
                break
        left ^= bit
    visited[w] |= new | none
    found[w] |= new


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
