"""The kernels of ``kernels/apsp_batch.cu`` for the CPU: cores take whole graphs.

Searches take the vertices of a level in ascending order and unite their rows, as on a GPU. Up to 64 vertices a row is
one word. The algorithm of Floyd and Warshall is the plain one with predecessors and for small graphs, where it passes
over infinite distances. For others it is the blocked one of `mgraph.kernels.minplus`, four pivots at a time.
"""

import numpy as np

from ...device.numba import prange
from ...device.numba.atomics import fetch_and_or
from ...device.numba.bits import trailing_zeros
from ...device.numba.caching import njit
from ...device.numba.least import relax_line
from ...device.numba.sharing import on_all_cores, parts
from ...device.numba.small import VERTICES, unless
from ...dtypes import kernel_infinity
from ..minplus.host import eliminate_in_blocks

#: Graphs of all sizes are solved together.
CLASSES = (512,)

#: The fewest vertices for which blocks of pivots are eliminated together, and the pivots of a block.
BLOCKED, _PIVOTS = 160, 16

#: Edges, or elements, that a core takes at a time.
_CHUNK = 1 << 14

#: The most relaxations, of all graphs together, for which one core is as fast as all.
_FEW = 1 << 20

#: The most vertices of a graph whose rows are single words.
_WORD = 64

_ONE = np.uint64(1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@njit(inline="always")
def _is_placed(u, v, batch):
    """Return whether the ends of an edge are vertices of one graph."""
    return 0 <= u < len(batch) and 0 <= v < len(batch) and batch[u] == batch[v]


def fill(results, value):
    """Set all elements to a value, on all cores: each takes the pages of a new array that it touches first."""
    numbers = results.reshape(results.size)
    on_all_cores(lambda own: numbers[own].fill(value), parts(len(numbers)))


def mark(src, dst, batch, starts, bits, bad):
    _mark(src, dst, batch, starts, bits.shape[1], bits.shape[2], bits.reshape(bits.size), bad)


@unless(lambda src, *_: len(src) <= VERTICES)
def _mark(src, dst, batch, starts, side, words, bits, bad):
    chunks = (len(src) + _CHUNK - 1) // _CHUNK
    wrong = np.empty(chunks, np.int64)
    for chunk in prange(chunks):
        last = min(len(src), (chunk + 1) * _CHUNK)
        first_wrong = last
        for e in range(chunk * _CHUNK, last):
            u, v = src[e], dst[e]
            if _is_placed(u, v, batch):
                g = batch[u]
                j = v - starts[g]
                place = (g * side + u - starts[g]) * words + (j >> 5)
                fetch_and_or(bits, place, np.uint32(1) << np.uint32(j & 31))
            else:
                first_wrong = min(first_wrong, e)
        wrong[chunk] = first_wrong if first_wrong < last else len(src)
    for chunk in range(chunks):
        bad[0] = min(bad[0], wrong[chunk])


@njit(nogil=True, cache=True)
def lay(src, dst, batch, starts, weights, distances, bad):
    for e in range(len(src)):
        u, v = src[e], dst[e]
        if _is_placed(u, v, batch):
            g = batch[u]
            i, j = u - starts[g], v - starts[g]
            if weights[e] < distances[g, i, j]:
                distances[g, i, j] = weights[e]
        else:
            bad[0] = min(bad[0], e)


def hops(bits, order, lengths, longest, distances, predecessors, beyond):
    infinity, sizes = np.iinfo(distances.dtype).max, lengths[order]

    def search(kernel, own):
        if len(own):  # each kernel is compiled only where there are graphs for it
            some = parts(len(own), int(lengths[own].max()) ** 2, _FEW)
            on_all_cores(lambda part: kernel(bits, own[part], lengths, distances, predecessors, beyond, infinity), some)

    search(_hops_in_words, order[sizes <= _WORD])
    search(_hops, order[sizes > _WORD])


@njit(nogil=True, cache=True)
def _hops_in_words(bits, order, lengths, distances, predecessors, beyond, infinity):
    for g in order:
        before = None if predecessors is None else predecessors[g]
        if not _search_in_words(bits[g], lengths[g], distances[g], before, infinity):
            beyond[0] = 1


@njit(nogil=True, cache=True)
def _hops(bits, order, lengths, distances, predecessors, beyond, infinity):
    for g in order:
        before = None if predecessors is None else predecessors[g]
        if not _search(bits[g], lengths[g], distances[g], before, infinity):
            beyond[0] = 1


@njit(nogil=True, cache=True)
def _search_in_words(bits, n, distances, predecessors, infinity):
    """Search from each vertex of a graph of up to 64 vertices; return whether all distances fit their type."""
    rows = np.empty(64, np.uint64)
    there = _ALL >> np.uint64(64 - n) if n else np.uint64(0)
    for i in range(n):
        row = np.uint64(bits[i, 0])
        if n > 32:
            row |= np.uint64(bits[i, 1]) << np.uint64(32)
        rows[i] = row & there
    for s in range(n):
        front = _ONE << np.uint64(s)
        seen = front
        level = 0
        while front:
            if level >= infinity:
                return False
            following = np.uint64(0)
            while front:
                u = trailing_zeros(front)
                front &= front - _ONE
                distances[s, u] = level
                fresh = rows[u] & ~seen
                following |= fresh
                if predecessors is not None:
                    seen |= fresh
                    while fresh:
                        predecessors[s, trailing_zeros(fresh)] = u
                        fresh &= fresh - _ONE
            front = following
            seen |= front
            level += 1
    return True


@njit(nogil=True, cache=True)
def _search(bits, n, distances, predecessors, infinity):
    """Search from each vertex of a larger graph; return whether all distances fit their type."""
    words = (n + 31) >> 5
    rows = np.empty((n, words), np.uint32)
    for i in range(n):
        for w in range(words):
            rows[i, w] = bits[i, w]
        if n & 31:
            rows[i, words - 1] &= (np.uint32(1) << np.uint32(n & 31)) - np.uint32(1)
    seen, front, following = np.empty(words, np.uint32), np.empty(words, np.uint32), np.empty(words, np.uint32)
    for s in range(n):
        for w in range(words):
            seen[w] = front[w] = 0
        seen[s >> 5] = front[s >> 5] = np.uint32(1) << np.uint32(s & 31)
        level, more = 0, True
        while more:
            if level >= infinity:
                return False
            for w in range(words):
                following[w] = 0
            for w in range(words):
                rest = front[w]
                while rest:
                    u = 32 * w + np.int64(trailing_zeros(rest))
                    rest &= rest - np.uint32(1)
                    distances[s, u] = level
                    row = rows[u]
                    if predecessors is None:
                        for x in range(words):
                            following[x] |= row[x]
                    else:
                        for x in range(words):
                            fresh = row[x] & ~(seen[x] | following[x])
                            following[x] |= fresh
                            while fresh:
                                predecessors[s, 32 * x + np.int64(trailing_zeros(fresh))] = u
                                fresh &= fresh - np.uint32(1)
            more = False
            for x in range(words):
                front[x] = following[x] & ~seen[x]
                seen[x] |= front[x]
                more |= front[x] != 0
            level += 1
    return True


def solve(order, lengths, longest, distances, predecessors, cycles):
    none, largest = kernel_infinity(distances.dtype), int(lengths[order].max(initial=0))
    # A type of its own without graphs that need it, so that the blocked algorithm is compiled only for those that do.
    pivots = None if largest < BLOCKED or predecessors is not None else _PIVOTS

    def share(own):
        _solve(order[own], lengths, distances, predecessors, cycles, none, pivots)

    on_all_cores(share, parts(len(order), largest**3, _FEW))


@njit(nogil=True, cache=True)
def _solve(order, lengths, distances, predecessors, cycles, none, pivots):
    for g in order:
        n = lengths[g]
        if predecessors is None:
            cycle = _eliminate(distances[g], None, n, none, pivots)
        else:
            cycle = _eliminate(distances[g], predecessors[g], n, none, pivots)
        if cycle >= 0:
            cycles[g] = cycle


@njit(nogil=True, cache=True)
def _eliminate(D, P, n, none, pivots):
    """Solve one graph, in the first n rows and columns; return the first pivot on a negative cycle, or -1."""
    for i in range(n):
        if not D[i, i] < 0:
            D[i, i] = 0
        if P is not None:
            for j in range(n):
                if i != j and D[i, j] < none:
                    P[i, j] = i
    if pivots is not None:
        if n >= BLOCKED:
            cycle = np.empty(1, np.int64)
            cycle[0] = n
            eliminate_in_blocks(D, n, pivots, cycle)
            return cycle[0] if cycle[0] < n else -1
    for k in range(n):
        if D[k, k] < 0:
            return k
        row = D[k, :n]  # rows in one piece, which LLVM vectorises
        for i in range(n):
            if D[i, k] < none:
                if P is None:
                    relax_line(D[i, :n], None, D[i, k], row, None, np.int64(0))
                else:
                    relax_line(D[i, :n], P[i, :n], D[i, k], row, P[k, :n], np.int64(0))
    return -1
