"""The shortest paths of ``kernels/sssp_many.cu`` for the CPU: each core takes a slice of sources.

As there, a row of labels, one for each source of the slice, is relaxed at a time; LLVM vectorises it. That file's
opening explains the algorithm. The rounds of a slice run on one core, so the vertices to relax next are kept in a list
rather than a bitmap. A slice takes a core milliseconds, so slices are handed to Python's threads. A parallel loop of
Numba's would take longer to compile, as LLVM would optimise the body four times.

A row is relaxed once for all sources whose distances to it lie in the same window. So a slice has sources that are near
each other, whatever their numbers: vertices are numbered anew, in clusters as large as a slice that a breadth-first
search grows, and the sources of a batch are sorted by these numbers. In a graph of 10,000 points and their 5 nearest
neighbours, numbered at random, that takes a twelfth of the time (benchmarks/NOTES.md).
"""

from queue import SimpleQueue
from typing import NamedTuple

import numpy as np

from ...device.numba import numba, prange
from ...device.numba.caching import njit
from ...device.numba.least import opaque_zero
from ...device.numba.sharing import on_all_cores, parts
from ...dtypes import kernel_infinity, offset_type
from ..sssp import Bounds, Piles, piles
from ..sssp import host as single_source
from . import DIGIT_BITS

#: Sources in a slice, slices in a batch: several for each core, and the most that are searched at the same time.
_LANES = 64
_SLICES = 32

#: Vertices and edges of all searches together up to which one core takes them: to start others takes as long.
_FEW = 1 << 14

_MASK = (1 << DIGIT_BITS) - 1

_NONE = -9999  # no predecessor
_OPEN = -1  # none found yet
_FRESH = 1 << 30  # flag of a predecessor found in this pass


class Layout(NamedTuple):
    """The edges in another numbering; vertex v has the number ``places[v]``."""

    places: np.ndarray
    by_source: tuple[np.ndarray, np.ndarray]
    by_target: tuple[np.ndarray, np.ndarray, np.ndarray]


def layout(by_source, by_target):
    """Return the edges as `distances` takes them: vertices that are near each other have numbers that are, too."""
    order = _clustered(*by_source)
    places = np.empty_like(order)
    places[order] = np.arange(len(order), dtype=order.dtype)
    indptr, indices, edges = _renumbered(*by_target[:2], order, places)
    incoming = indptr, indices, by_target[2][edges]
    if by_source[1] is by_target[1]:
        return Layout(places, incoming[:2], incoming)
    return Layout(places, _renumbered(*by_source, order, places)[:2], incoming)


def layout_bytes(n, m, itemsize, directed):
    """Return the bytes of `layout`, and of the numbers of edges by which weights are moved."""
    offset = offset_type(m).itemsize
    return (2 if directed else 1) * ((n + 1) * offset + 4 * m) + (itemsize + 8) * m + 8 * n


def _clustered(indptr, indices):
    """Return the vertices cluster by cluster: each is grown by a breadth-first search from the rim of those before."""
    n = len(indptr) - 1
    order, queue, rim = (np.empty(n, np.int32) for _ in range(3))
    placed, on_rim = np.zeros((2, n), np.bool_)
    _write_clusters(indptr, indices, order, queue, rim, placed, on_rim, np.full(n, -1, np.int32))
    return order


# Work arrays are arguments of kernels: to compile NumPy's functions would take longer than some of these.
@njit(nogil=True, cache=True)
def _write_clusters(indptr, indices, order, queue, rim, placed, on_rim, met):
    n = len(order)
    count, first, last, unseen, cluster = 0, 0, 0, 0, 0
    while count < n:
        while first < last and placed[rim[first]]:
            first += 1
        if first < last:
            start = np.int64(rim[first])
        else:
            while placed[unseen]:
                unseen += 1
            start = np.int64(unseen)
        queue[0], head, tail = start, 0, 1
        met[start] = cluster
        end = min(count + _LANES, n)
        while head < tail and count < end:
            v = queue[head]
            head += 1
            placed[v] = True
            order[count] = v
            count += 1
            for e in range(indptr[v], indptr[v + 1]):
                u = indices[e]
                if not placed[u] and met[u] != cluster:
                    met[u] = cluster
                    queue[tail] = u
                    tail += 1
        for q in range(head, tail):
            v = queue[q]
            if not on_rim[v]:
                on_rim[v] = True
                rim[last] = v
                last += 1
        cluster += 1


def _renumbered(indptr, indices, order, places):
    """Return the rows in another order, with the columns' new numbers, and the former number of each edge."""
    moved, columns, edges = np.empty_like(indptr), np.empty_like(indices), np.empty(len(indices), np.int64)
    _renumber(indptr, indices, order, places, moved, columns, edges)
    return moved, columns, edges


@njit(nogil=True, cache=True)
def _renumber(indptr, indices, order, places, moved, columns, edges):
    moved[0] = 0
    for row in range(len(order)):
        at = moved[row]
        for e in range(indptr[order[row]], indptr[order[row] + 1]):
            columns[at] = places[indices[e]]
            edges[at] = e
            at += 1
        moved[row + 1] = at


class Workspace(NamedTuple):
    """The buffers of `distances`, for each slice that is searched at the same time."""

    labels: np.ndarray
    stamps: np.ndarray
    lists: np.ndarray


def batch_size(n, itemsize):
    return _LANES * _SLICES


def workspace(xp, n, sources, dtype):
    slices = min(-(-sources // _LANES), _SLICES)
    return Workspace(
        labels=np.empty((slices, n, _LANES), dtype),
        stamps=np.empty((slices, n), np.int32),
        lists=np.empty((slices, 5, n), np.int32),
    )


def workspace_bytes(n, sources, itemsize):
    return min(-(-sources // _LANES), _SLICES) * n * (_LANES * itemsize + 24)


def distances(D, sources, edges, window, end, work):
    """D[r, v] = the length of the shortest path from vertex sources[r] to v if it is less than `end`, else infinity.

    Distances within `window` of each other are settled together; this affects the work, never the result.
    """
    bounds = D.dtype.type(min(window, end)), D.dtype.type(end), _infinity(D.dtype)
    starts = edges.places[sources]
    rows = starts.argsort(kind="stable")
    given = edges.places, *edges.by_source, *edges.by_target
    slices = -(-len(D) // _LANES)
    cores = min(slices, len(work.labels), numba.get_num_threads())
    free = SimpleQueue()
    for part in range(cores):
        free.put(part)

    def search(s):
        own = rows[s * _LANES : (s + 1) * _LANES]
        part = free.get()
        _search(D, own, starts[own], *given, work.labels[part], work.stamps[part], work.lists[part], *bounds)
        free.put(part)

    on_all_cores(search, range(slices), cores)


def one_by_one(D, sources, edges, window, end):
    """D[r, v] as of `distances`, from each source by itself; `edges` are those by source, with weights."""
    infinity, n = _infinity(D.dtype), D.shape[1]
    bounds = Bounds(min(window, infinity), _before(end, D.dtype), -1)
    rows = iter(range(len(D)))  # each core takes the next one
    few = len(D) * (n + len(edges[1])) <= _FEW
    cores = 1 if few else min(len(D), numba.get_num_threads())

    def search(_):
        near, far = np.empty((2, 2 * n), np.int32)
        stamps, waits = np.zeros(n, np.int32), np.zeros(-(-n // 32), np.uint32)
        bound, control = np.empty(1, D.dtype), np.zeros(single_source.CONTROL_WORDS, np.int32)
        for r in rows:
            D[r] = infinity
            # Rounds are counted on, so that stamps stay valid; `start` fills the pile of an even round.
            control[single_source.ROUND] += control[single_source.ROUND] & 1
            single_source.start(sources[r : r + 1], bounds.window, D[r], near, bound, control)
            arrays = Piles(D[r], near, far, stamps, waits, None, bound)
            piles.search(edges, arrays, control, bounds, np.iinfo(np.int32).max, cores=1)

    on_all_cores(search, range(cores), cores)


def _before(end, dtype):
    """Return the greatest number of a type that is less than `end`."""
    return dtype.type(end) - 1 if dtype.kind == "i" else np.nextafter(dtype.type(end), dtype.type(0))


def _infinity(dtype):
    return dtype.type(kernel_infinity(dtype))


@njit(nogil=True, cache=True)
def _search(
    D,
    rows,
    starts,
    places,
    out_indptr,
    out_indices,
    in_indptr,
    in_indices,
    weights,
    labels,
    stamps,
    lists,
    window,
    end,
    infinity,
):
    """Write the distances from vertex ``starts[r]`` to row ``rows[r]`` of D, computed in ``labels[v, r]``.

    Labels of `end` or more may be too large. They are passed on only beside others that are less.
    """
    # waits: 0 not in `later`, 1 in it and waiting, 2 in it and not waiting any more
    now, coming, is_asked, later, waits = lists[0], lists[1], lists[2], lists[3], lists[4]
    for v in range(len(stamps)):
        for lane in range(_LANES):
            labels[v, lane] = infinity
        stamps[v] = -1
        is_asked[v] = 0
        waits[v] = 0
    none = np.int64(0)  # with the type of a literal, `_ask` would be compiled twice
    size, waiting = none, 0
    for lane in range(len(rows)):
        v = np.int64(starts[lane])
        labels[v, lane] = 0
        stamps[v] = 0
        size = _ask(out_indptr, out_indices, v, coming, size, is_asked)
    best = np.empty(_LANES, labels.dtype)
    nothing = opaque_zero(weights)  # the compiler does not know its length, but that of `best`
    bound = window
    turn = 0
    while size > 0 or waiting > 0:
        turn += 1
        if size == 0:
            least, bound = bound, min(bound + window, end)
            listed, waiting = waiting, 0
            for q in range(listed):
                v = later[q]
                row = labels[v]
                within = False
                for lane in range(_LANES):
                    within |= (row[lane] >= least) & (row[lane] < bound)
                if waits[v] == 1 and not within:
                    later[waiting] = v
                    waiting += 1
                    continue
                if waits[v] == 1:
                    stamps[v] = turn
                    size = _ask(out_indptr, out_indices, np.int64(v), coming, size, is_asked)
                waits[v] = 0
            if size == 0 and window < infinity / 2:
                window += window
            continue
        now, coming = coming, now
        length, size = size, none
        for q in range(length):
            v = now[q]
            is_asked[v] = 0
            row = labels[v]
            for lane in range(_LANES):
                best[lane] = row[lane]
            for e in range(np.uint64(in_indptr[v]), np.uint64(in_indptr[v + 1])):
                u = np.uint64(in_indices[e])  # unsigned, or Numba would check it for being negative
                if stamps[u] >= turn - 1:
                    weight = weights[e]
                    other = labels[u]
                    for lane in range(_LANES):
                        d, known = other[lane] + weight, best[lane]
                        best[lane] = d if d < known else known + nothing
            fell, near = False, False
            for lane in range(_LANES):
                fell |= (best[lane] < row[lane]) & (best[lane] < end)
                near |= (best[lane] < row[lane]) & (best[lane] < bound)
            if not fell:
                continue
            for lane in range(_LANES):
                row[lane] = best[lane]
            stamps[v] = turn
            if near:
                size = _ask(out_indptr, out_indices, np.int64(v), coming, size, is_asked)
                if waits[v] == 1:
                    waits[v] = 2
            else:
                if waits[v] == 0:
                    later[waiting] = v
                    waiting += 1
                waits[v] = 1
    for v in range(len(stamps)):
        row = labels[np.uint64(places[v])]
        for lane in range(len(rows)):
            D[np.uint64(rows[lane]), v] = row[lane] if row[lane] < end else infinity


@njit(nogil=True, cache=True)
def _ask(indptr, indices, v, coming, size, is_asked):
    """Append the neighbours of v that are not in `coming` yet; return its new size."""
    for e in range(np.uint64(indptr[v]), np.uint64(indptr[v + 1])):
        w = np.uint64(indices[e])
        if not is_asked[w]:
            is_asked[w] = 1
            coming[size] = w
            size += 1
    return size


def unshift(D, sources, h):
    _unshift(D, sources, h, _infinity(D.dtype))


@njit(parallel=True, nogil=True, cache=True)
def _unshift(D, sources, h, infinity):
    for r in prange(D.shape[0]):
        for v in range(D.shape[1]):
            if D[r, v] < infinity:
                D[r, v] = D[r, v] + (h[v] - h[sources[r]])


def predecessors(D, sources, by_target, P):
    """P[r, v] = the vertex before v on a shortest path from sources[r], -9999 if there is none.

    Plateaus, vertices joined by edges of weight zero, are settled last; see the declaration.
    """
    infinity = _infinity(D.dtype)

    def share(rows):
        opened = np.empty(len(D[rows]), np.bool_)
        _predecessors(D[rows], sources[rows], *by_target, P[rows], opened, infinity)
        for r in rows.start + np.flatnonzero(opened):
            _settle_plateaus(D[r], sources[r], *by_target, P[r])

    on_all_cores(share, parts(len(D), D.shape[1]))


@njit(nogil=True, cache=True)
def _predecessors(D, sources, in_indptr, in_indices, weights, P, opened, infinity):
    """Write the predecessors but those on plateaus, and which rows have such vertices."""
    rows, n = D.shape
    for r in range(rows):
        d = D[r]
        p = P[r]
        has_open = False
        for v in range(n):
            p[v] = _NONE
            if v == sources[r] or not d[v] < infinity:
                continue
            p[v] = _OPEN
            for e in range(np.uint64(in_indptr[v]), np.uint64(in_indptr[v + 1])):
                u = np.uint64(in_indices[e])
                if d[u] < d[v] and d[u] + weights[e] == d[v]:
                    p[v] = u
                    break
            has_open |= p[v] == _OPEN
        opened[r] = has_open


@njit(nogil=True, cache=True)
def _settle_plateaus(d, source, in_indptr, in_indices, weights, p):
    """Give open vertices a predecessor at their own distance, in rounds from the vertices that have one.

    As in the passes of the CUDA kernel, it is the least of the candidates settled in the round before.
    """
    n = len(d)
    now, coming = np.empty(n, np.int32), np.empty(n, np.int32)
    size, left = 0, 0
    for v in range(n):
        if p[v] != _OPEN:
            continue
        for e in range(in_indptr[v], in_indptr[v + 1]):
            u = in_indices[e]
            if not (d[u] == d[v] and d[u] + weights[e] == d[v]):
                continue
            if u == source or 0 <= p[u] < _FRESH:
                p[v] = u | _FRESH
                now[size] = v
                size += 1
                break
        left += p[v] == _OPEN
    for q in range(size):
        p[now[q]] ^= _FRESH
    if not left:
        return
    begin, after, targets = _plateau_edges(d, in_indptr, in_indices, weights, p)
    while size > 0:
        found = 0
        for q in range(size):
            u = now[q]
            for e in range(begin[u], after[u]):
                v = targets[e]
                if p[v] == _OPEN:
                    p[v] = u | _FRESH
                    coming[found] = v
                    found += 1
                elif p[v] >= _FRESH and u < p[v] ^ _FRESH:
                    p[v] = u | _FRESH
        for q in range(found):
            p[coming[q]] ^= _FRESH
        now, coming, size = coming, now, found


@njit(nogil=True, cache=True)
def _plateau_edges(d, in_indptr, in_indices, weights, p):
    """Return the edges of weight zero into open vertices, by source: where they begin and end, and their targets."""
    n = len(d)
    begin = np.zeros(n + 1, np.int64)
    for v in range(n):
        if p[v] == _OPEN:
            for e in range(in_indptr[v], in_indptr[v + 1]):
                u = in_indices[e]
                begin[u + 1] += d[u] == d[v] and d[u] + weights[e] == d[v]
    for v in range(n):
        begin[v + 1] += begin[v]
    targets, after = np.empty(begin[n], np.int32), np.empty(n, np.int64)
    for v in range(n):
        after[v] = begin[v]
    for v in range(n):
        if p[v] == _OPEN:
            for e in range(in_indptr[v], in_indptr[v + 1]):
                u = in_indices[e]
                if d[u] == d[v] and d[u] + weights[e] == d[v]:
                    targets[after[u]] = v
                    after[u] += 1
    return begin, after, targets


@njit(nogil=True, cache=True)
def relax_all(indptr, indices, mantissas, shifts, h, parents, edges, fell):
    """Relax the edges out of the vertices that `fell`, pass by pass, until no vertex falls.

    A pass relaxes all vertices that these reach over edges that do not increase `h`, in topological order unless they
    are on a cycle. So a chain falls in one pass, whatever its numbering [1]_. After every n relaxed vertices the
    parents are searched for a cycle. If there is one, a vertex on it is returned; otherwise -1 at the end.
    ``parents[v]`` is the source of ``edges[v]``, the edge that last lowered v, or -1.

    .. [1] Goldberg and Radzik, "A heuristic improvement of the Bellman-Ford algorithm", 1993.
    """
    n = len(h)
    fallen = np.flatnonzero(fell)
    order, stack, met = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    after = indptr[:-1].astype(np.int64)  # the next edge of each vertex in the walk
    entered = np.zeros(n, np.bool_)
    steps = 0
    while len(fallen) > 0:
        count = 0  # vertices that the walk has left, in postorder
        for start in fallen:
            depth = 0
            if not entered[start]:
                entered[start] = True
                stack[0] = start
                depth = 1
            while depth > 0:
                u = stack[depth - 1]
                e = after[u]
                if e == indptr[u + 1]:
                    after[u] = indptr[u]
                    order[count] = u
                    count += 1
                    depth -= 1
                    continue
                v = indices[e]
                if not entered[v] and _gain(h, u, v, mantissas[e], shifts[e]) <= 0:
                    entered[v] = True
                    stack[depth] = v
                    depth += 1
                after[u] += 1
        beyond = 0  # vertices for the next pass, collected in the stack's array
        for k in range(count - 1, -1, -1):
            u = order[k]
            fell[u] = False
            for e in range(indptr[u], indptr[u + 1]):
                v = indices[e]
                if _gain(h, u, v, mantissas[e], shifts[e]) < 0:
                    _lower(h, u, v, mantissas[e], shifts[e])
                    parents[v] = u
                    edges[v] = e
                    if not fell[v] and not entered[v]:
                        stack[beyond] = v
                        beyond += 1
                    fell[v] = True
        for u in order[:count]:
            entered[u] = False
            if fell[u]:
                stack[beyond] = u
                beyond += 1
        fallen = stack[:beyond].copy()
        steps += count
        if steps >= n:
            steps = 0
            vertex = _cycle(parents, met)
            if vertex >= 0:
                return vertex
    return -1


@njit(nogil=True, cache=True)
def _digit(mantissa, shift, k):
    """Return digit k of ``mantissa * 2**shift``, its sign and all higher digits included."""
    below = DIGIT_BITS * k - shift
    if below >= 0:
        return mantissa >> min(below, 63)
    return mantissa << -below if below > -62 else 0


@njit(nogil=True, cache=True)
def _gain(h, u, v, mantissa, shift):
    """Return a number with the sign of ``h[u] + mantissa * 2**shift - h[v]``."""
    top = h.shape[1] - 1
    if top == 0:
        return h[u, 0] - h[v, 0] + (mantissa << shift)
    carry, rest = 0, 0
    for k in range(top):
        digit = carry + h[u, k] - h[v, k] + (_digit(mantissa, shift, k) & _MASK)
        rest |= digit & _MASK
        carry = digit >> DIGIT_BITS
    digit = carry + h[u, top] - h[v, top] + _digit(mantissa, shift, top)
    return digit if digit != 0 else rest


@njit(nogil=True, cache=True)
def _lower(h, u, v, mantissa, shift):
    """Set h[v] to ``h[u] + mantissa * 2**shift``."""
    top = h.shape[1] - 1
    carry = 0
    for k in range(top):
        digit = carry + h[u, k] + (_digit(mantissa, shift, k) & _MASK)
        h[v, k] = digit & _MASK
        carry = digit >> DIGIT_BITS
    h[v, top] = carry + h[u, top] + _digit(mantissa, shift, top)


@njit(nogil=True, cache=True)
def _cycle(parents, met):
    """Return a vertex on a cycle of the parents, or -1; ``met[v]`` is the start of the first walk that met v."""
    met[:] = -1
    for start in range(len(parents)):
        v = start
        while v >= 0 and met[v] < 0:
            met[v] = start
            v = parents[v]
        if v >= 0 and met[v] == start:
            return v
    return -1
