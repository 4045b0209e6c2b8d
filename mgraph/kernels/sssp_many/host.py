"""The shortest paths of ``kernels/sssp_many.cu`` for the CPU: a slice of sources to a core.

The same relaxation of a row of sources at a time, which LLVM vectorises; that file's opening explains it. A
slice's rounds run on one core, so nobody is asked through a bitmap: those to look at next stand in a list. A slice
takes a core milliseconds: so Python's threads take them in turn, and what they run is compiled once. LLVM would
optimise it four times for a parallel loop of Numba's.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from ...device.clock import clock, take_over
from ...device.numba import numba, prange
from ...device.numba.caching import njit
from ...device.numba.least import nothing_of
from ...dtypes import kernel_infinity

#: Sources of a slice, and slices of a batch: some for each core.
_LANES = 64
_SLICES = 32

_NONE = -9999  # no predecessor
_OPEN = -1  # none found yet
_FRESH = 1 << 30  # marks one found in this pass


class Workspace(NamedTuple):
    """What `distances` needs beside the graph."""

    labels: np.ndarray
    stamps: np.ndarray
    lists: np.ndarray


def batch_size(n, itemsize):
    """Return how many sources to search from at a time."""
    return _LANES * _SLICES


def workspace(xp, n, sources, dtype):
    """Return the arrays for batches of up to `sources` sources."""
    slices = -(-sources // _LANES)
    return Workspace(
        labels=np.empty((slices, n, _LANES), dtype),
        stamps=np.empty((slices, n), np.int32),
        lists=np.empty((slices, 5, n), np.int32),
    )


def workspace_bytes(n, sources, itemsize):
    """Return the bytes of `workspace`."""
    return -(-sources // _LANES) * n * (_LANES * itemsize + 24)


def distances(D, first, by_source, by_target, window, work):
    """D[r, v] = the length of the shortest path from vertex first + r to v.

    Distances within `window` of one another are settled together: it changes the work, never the result.
    """
    bounds = D.dtype.type(window), _infinity(D.dtype)
    edges = *by_source, *by_target

    def search(s):
        own = D[s * _LANES : (s + 1) * _LANES]
        _search(own, first + s * _LANES, *edges, work.labels[s], work.stamps[s], work.lists[s], *bounds)

    slices = -(-len(D) // _LANES)
    cores = min(slices, numba.get_num_threads())
    if cores == 1:
        for s in range(slices):
            search(s)
        return
    # What these compile is counted for the caller.
    with ThreadPoolExecutor(cores, initializer=take_over, initargs=(clock(),)) as pool:
        for _ in pool.map(search, range(slices)):
            pass


def _infinity(dtype):
    return dtype.type(kernel_infinity(dtype))


@njit(nogil=True, cache=True)
def _search(D, first, out_indptr, out_indices, in_indptr, in_indices, weights, labels, stamps, lists, window, infinity):
    """Write the distances from the vertices from `first` on to the rows of D, by way of labels[v, lane]."""
    # waits: 0 not in `later`, 1 in it and waiting, 2 no longer
    now, coming, is_asked, later, waits = lists[0], lists[1], lists[2], lists[3], lists[4]
    for v in range(len(stamps)):
        for lane in range(_LANES):
            labels[v, lane] = infinity
        stamps[v] = -1
        is_asked[v] = 0
        waits[v] = 0
    none = np.int64(0)  # of a literal's type, `_ask` would be compiled again
    size, waiting = none, 0
    for lane in range(len(D)):
        v = first + lane
        labels[v, lane] = 0
        stamps[v] = 0
        size = _ask(out_indptr, out_indices, np.int64(v), coming, size, is_asked)
    best = np.empty(_LANES, labels.dtype)
    nothing = nothing_of(weights)  # whose length is not known to the compiler, unlike that of `best`
    bound = window
    turn = 0
    while size > 0 or waiting > 0:
        turn += 1
        if size == 0:
            least, bound = bound, min(bound + window, infinity)
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
                u = np.uint64(in_indices[e])  # without a sign, or Numba has it asked whether it counts from the end
                if stamps[u] >= turn - 1:
                    weight = weights[e]
                    other = labels[u]
                    for lane in range(_LANES):
                        d, known = other[lane] + weight, best[lane]
                        best[lane] = d if d < known else known + nothing
            fell, near = False, False
            for lane in range(_LANES):
                fell |= best[lane] < row[lane]
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
            D[lane, v] = labels[v, lane]


@njit(nogil=True, cache=True)
def _ask(indptr, indices, v, coming, size, is_asked):
    """Append the neighbours of v to `coming` that are not there already; return its new size."""
    for e in range(np.uint64(indptr[v]), np.uint64(indptr[v + 1])):
        w = np.uint64(indices[e])
        if not is_asked[w]:
            is_asked[w] = 1
            coming[size] = w
            size += 1
    return size


def unshift(D, first, h):
    """D[r, v] += h[v] - h[first + r] where v is reached."""
    _unshift(D, first, h, _infinity(D.dtype))


@njit(parallel=True, nogil=True, cache=True)
def _unshift(D, first, h, infinity):
    for r in prange(D.shape[0]):
        for v in range(D.shape[1]):
            if D[r, v] < infinity:
                D[r, v] = D[r, v] + (h[v] - h[first + r])


def predecessors(D, first, by_target, P):
    """P[r, v] = the vertex before v on a shortest path from first + r, -9999 if there is none.

    The least of those nearer to the source; where all are as far, edges of weight zero are followed from
    those that have predecessors. D must be exact, a minimum over sums D[r, u] + weight.
    """
    _predecessors(D, first, *by_target, P, _infinity(D.dtype))


@njit(parallel=True, nogil=True, cache=True)
def _predecessors(D, first, in_indptr, in_indices, weights, P, infinity):
    rows, n = D.shape
    for r in prange(rows):
        d = D[r]
        p = P[r]
        opened = False
        for v in range(n):
            p[v] = _NONE
            if v == first + r or not d[v] < infinity:
                continue
            p[v] = _OPEN
            for e in range(np.uint64(in_indptr[v]), np.uint64(in_indptr[v + 1])):
                u = np.uint64(in_indices[e])
                if d[u] < d[v] and d[u] + weights[e] == d[v]:
                    p[v] = u
                    break
            opened |= p[v] == _OPEN
        if opened:
            _settle_plateaus(d, first + r, in_indptr, in_indices, weights, p)


@njit(nogil=True, cache=True)
def _settle_plateaus(d, source, in_indptr, in_indices, weights, p):
    """Give open vertices a predecessor as far from the source, in the order of the fewest edges from those that have.

    It is the least of those of the round before, as by the passes of the CUDA kernel.
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
    begin = np.zeros(n + 1, np.int64)  # of the tight edges into those still open, by their sources
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
    """Relax the edges out of the vertices that `fell`, pass by pass, until none falls any more.

    A pass relaxes all that these lead to by edges that do not lengthen, each vertex after those that lead to it
    unless they are on a cycle: so a chain falls in one pass, whatever its numbering [1]_. Stops where the
    parents close a cycle, which is looked for once in so many steps as there are vertices; returns a vertex on it,
    or -1. ``parents[v]`` is the source of the edge, ``edges[v]``, that v last fell by, or -1.

    .. [1] Goldberg and Radzik, "A heuristic improvement of the Bellman-Ford algorithm", 1993.
    """
    n = len(h)
    fallen = np.flatnonzero(fell)
    order, stack, met = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    after = indptr[:-1].astype(np.int64)  # the edge of a vertex that the walk takes next
    entered = np.zeros(n, np.bool_)
    steps = 0
    while len(fallen) > 0:
        count = 0  # what is left behind, the farthest first
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
        beyond = 0  # what falls and is not passed any more, gathered where the stack was
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
    """Return a vertex on a cycle of the parents, or -1; ``met[v]`` is from where the first walk came to v."""
    met[:] = -1
    for start in range(len(parents)):
        v = start
        while v >= 0 and met[v] < 0:
            met[v] = start
            v = parents[v]
        if v >= 0 and met[v] == start:
            return v
    return -1
