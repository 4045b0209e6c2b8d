"""The shortest paths of ``kernels/sssp_many.cu`` for the CPU: each core takes a slice of sources.

As there, a row of labels, one for each source of the slice, is relaxed at a time; LLVM vectorises it. That file's
opening explains the algorithm. The rounds of a slice run on one core, so the vertices to relax next are kept in a list
rather than a bitmap. A slice takes a core milliseconds, so slices are handed to Python's threads. A parallel loop of
Numba's would take longer to compile, as LLVM would optimise the body four times.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from ...device.clock import clock, take_over
from ...device.numba import numba, prange
from ...device.numba.caching import njit
from ...device.numba.least import nothing_of
from ...dtypes import kernel_infinity

#: Sources in a slice, and slices in a batch: several for each core.
_LANES = 64
_SLICES = 32

_NONE = -9999  # no predecessor
_OPEN = -1  # none found yet
_FRESH = 1 << 30  # flag of a predecessor found in this pass


class Workspace(NamedTuple):
    """The buffers of `distances`."""

    labels: np.ndarray
    stamps: np.ndarray
    lists: np.ndarray


def batch_size(n, itemsize):
    """Return how many sources to search from at a time."""
    return _LANES * _SLICES


def workspace(xp, n, sources, dtype):
    """Return the buffers for batches of up to `sources` sources."""
    slices = -(-sources // _LANES)
    return Workspace(
        labels=np.empty((slices, n, _LANES), dtype),
        stamps=np.empty((slices, n), np.int32),
        lists=np.empty((slices, 5, n), np.int32),
    )


def workspace_bytes(n, sources, itemsize):
    """Return the bytes of `workspace`."""
    return -(-sources // _LANES) * n * (_LANES * itemsize + 24)


def distances(D, sources, by_source, by_target, window, end, work):
    """D[r, v] = the length of the shortest path from vertex sources[r] to v if it is less than `end`, else infinity.

    Distances within `window` of each other are settled together; this affects the work, never the result.
    """
    bounds = D.dtype.type(min(window, end)), D.dtype.type(end), _infinity(D.dtype)
    edges = *by_source, *by_target

    def search(s):
        own = slice(s * _LANES, (s + 1) * _LANES)
        _search(D[own], sources[own], *edges, work.labels[s], work.stamps[s], work.lists[s], *bounds)

    slices = -(-len(D) // _LANES)
    cores = min(slices, numba.get_num_threads())
    if cores == 1:
        for s in range(slices):
            search(s)
        return
    # The caller's clock counts what these threads compile.
    with ThreadPoolExecutor(cores, initializer=take_over, initargs=(clock(),)) as pool:
        for _ in pool.map(search, range(slices)):
            pass


def _infinity(dtype):
    return dtype.type(kernel_infinity(dtype))


@njit(nogil=True, cache=True)
def _search(
    D, sources, out_indptr, out_indices, in_indptr, in_indices, weights, labels, stamps, lists, window, end, infinity
):
    """Write the distances from vertex ``sources[r]`` to row r of D, computed in ``labels[v, r]``.

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
    for lane in range(len(D)):
        v = np.int64(sources[lane])
        labels[v, lane] = 0
        stamps[v] = 0
        size = _ask(out_indptr, out_indices, v, coming, size, is_asked)
    best = np.empty(_LANES, labels.dtype)
    nothing = nothing_of(weights)  # the compiler does not know its length, but that of `best`
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
        for lane in range(len(D)):
            D[lane, v] = labels[v, lane] if labels[v, lane] < end else infinity


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
    """D[r, v] += h[v] - h[sources[r]] where v is reached."""
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
    _predecessors(D, sources, *by_target, P, _infinity(D.dtype))


@njit(parallel=True, nogil=True, cache=True)
def _predecessors(D, sources, in_indptr, in_indices, weights, P, infinity):
    rows, n = D.shape
    for r in prange(rows):
        d = D[r]
        p = P[r]
        opened = False
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
            opened |= p[v] == _OPEN
        if opened:
            _settle_plateaus(d, sources[r], in_indptr, in_indices, weights, p)


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
    begin = np.zeros(n + 1, np.int64)  # where the tight edges into open vertices begin, grouped by source
    for v in range(n):
        if p[v] == _OPEN:
            for e in range(in_indptr[v], in_indptr[v + 1]):
                u = in_indices[e]
                begin[u + 1] += d[u] == d[v] and d[u] + weights[e] == d[v]
    begin[:] = begin.cumsum()
    targets, after = np.empty(begin[n], np.int32), begin.copy()
    for v in range(n):
        if p[v] == _OPEN:
            for e in range(in_indptr[v], in_indptr[v + 1]):
                u = in_indices[e]
                if d[u] == d[v] and d[u] + weights[e] == d[v]:
                    targets[after[u]] = v
                    after[u] += 1
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
def relax_all(indptr, indices, weights, h, parents, edges, fell):
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
                if after[u] == indptr[u + 1]:
                    after[u] = indptr[u]
                    order[count] = u
                    count += 1
                    depth -= 1
                    continue
                v = indices[after[u]]
                if not entered[v] and h[u] + weights[after[u]] <= h[v]:
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
                d = h[u] + weights[e]
                if d < h[v]:
                    h[v] = d
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
