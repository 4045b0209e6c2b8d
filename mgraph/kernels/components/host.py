"""The kernels of ``kernels/components.cu`` for the CPU: the same operations on the same arrays, on all cores.

That file's opening explains the algorithms and why cores may read and write the forest at the same time. Hooking
uses compare-and-swap here too, except in `unite_all`, the textbook's union-find on one core. The operations of
``"auto"`` run on one core in a small graph.
"""

import numpy as np

from ...device.numba import prange
from ...device.numba.atomics import compare_and_swap, fetch_and_add
from ...device.numba.caching import njit
from ...device.numba.small import VERTICES, is_small, unless

#: The methods of `mgraph.connected_components` that the CPU has.
METHODS = ("sequential", "afforest", "shiloach-vishkin")

_SAMPLED = 2  # edges of a vertex that `sample` looks at
_PROBES = 1024  # vertices that `largest` looks at
_GOLDEN = np.uint64(2654435769)  # 2^32 over the golden ratio: its multiples are spread evenly
_CHUNK = 1024  # vertices that a core takes at a time


@njit(nogil=True, cache=True)
def _root(parent, v):
    """Return the root of v; every vertex on the way is attached to its grandparent."""
    above = parent[v]
    if above == v:
        return above
    below = v
    while True:
        after = parent[above]
        if after == above:
            return above
        parent[below] = after
        below = above
        above = after


@njit(nogil=True, cache=True)
def _unite(parent, u, v):
    """Unite the trees of u and v: attach the greater root to the other."""
    a, b = _root(parent, u), _root(parent, v)
    while a != b:
        high, low = max(a, b), min(a, b)
        seen = compare_and_swap(parent, high, high, low)
        if seen == high:
            return
        a, b = _root(parent, seen), low


@njit(nogil=True, cache=True)
def unite_all(indptr, indices, first, last, parent):
    """Unite the trees of the ends of each edge of the vertices `first` to `last`, one edge after the other.

    At the start, every vertex becomes a tree by itself.
    """
    for v in range(len(parent)):
        parent[v] = v
    forest = parent.view(np.uint32)  # unsigned, or Numba would check each index for being negative
    for own in range(last - first):
        a = _root(forest, np.uint32(first + own))
        for e in range(np.uint64(indptr[own]), np.uint64(indptr[own + 1])):
            b = _root(forest, np.uint32(indices[e]))
            if a < b:
                forest[b] = a
            elif b < a:
                forest[a] = b
                a = b


@unless(is_small)
def plant(indptr, indices, first, last, parent):
    for v in prange(len(parent)):
        above = np.int32(v)
        if first <= v < last and indptr[v - first] < indptr[v - first + 1]:
            above = min(above, indices[indptr[v - first]])
        parent[v] = above


@unless(is_small)
def sample(indptr, indices, first, last, parent):
    forest = parent.view(np.uint32)
    for own in prange(last - first):
        v = np.uint32(first + own)
        begin = indptr[own]
        for e in range(begin, min(begin + _SAMPLED, indptr[own + 1])):
            if e > begin or np.uint32(indices[e]) > v:
                _unite(forest, v, np.uint32(indices[e]))


@unless(lambda first, last, *_: last - first <= VERTICES)
def compress(first, last, parent):
    forest = parent.view(np.uint32)
    for own in prange(last - first):
        v = first + own
        above = forest[v]
        while True:
            after = forest[above]
            if after == above:
                break
            forest[v] = after
            above = after


@njit(nogil=True, cache=True)
def roots(vertices, parent):
    for i in range(len(vertices)):
        vertices[i] = _root(parent, vertices[i])


def largest(first, last, parent, giant):
    """Write the most frequent root of the probed vertices from `first` to `last`, the least one in a tie."""
    if last > first:
        fractions = np.arange(_PROBES, dtype=np.uint64) * _GOLDEN & np.uint64(0xFFFFFFFF)
        places = fractions * np.uint64(last - first) >> np.uint64(32)
        found, counts = np.unique(parent[first:last][places], return_counts=True)
        giant[0] = found[counts.argmax()]


@unless(is_small)
def link(indptr, indices, first, last, skipped, parent):
    passed, forest = np.uint32(skipped[0]), parent.view(np.uint32)
    for part in prange((last - first + _CHUNK - 1) // _CHUNK):
        for own in range(part * _CHUNK, min(last - first, (part + 1) * _CHUNK)):
            v = np.uint32(first + own)
            if forest[v] != passed:
                for e in range(indptr[own], indptr[own + 1]):
                    _unite(forest, v, np.uint32(indices[e]))


@njit(parallel=True, nogil=True, cache=True)
def members(first, last, parent, giant, bits):
    top = giant[0]
    for word in prange(first // 32, (last + 31) // 32):
        found = 0
        for v in range(32 * word, min(32 * word + 32, last)):
            found |= np.int64(v != top and parent[v] == top) << (v % 32)
        bits[word] = found


@njit(nogil=True, cache=True)
def _is_member(bits, v):
    return bits[v // 32] >> np.uint32(v % 32) & np.uint32(1) != 0


@njit(parallel=True, nogil=True, cache=True)
def absorb(first, last, other_first, other_last, bits, giants, shard, parent):
    top = giants[shard]
    for own in prange(last - first):
        v = np.int32(first + own)
        if not _is_member(bits, v) and parent[v] != v:
            above = _root(parent, v)
            if other_first <= above < other_last and _is_member(bits, above):
                _unite(parent, above, top)
    for giant in giants:
        above = _root(parent, giant)
        if other_first <= above < other_last and _is_member(bits, above):
            _unite(parent, above, top)
    for other in prange(other_last - other_first):
        v = np.int32(other_first + other)
        if _is_member(bits, v) and parent[v] != v:
            _unite(parent, v, top)


@njit(parallel=True, nogil=True, cache=True)
def list_parents(bits, parent, pairs, count):
    for part in prange((len(parent) + _CHUNK - 1) // _CHUNK):
        chunk = range(part * _CHUNK, min(len(parent), (part + 1) * _CHUNK))
        found = 0
        for v in chunk:
            found += not _is_member(bits, v) and parent[v] != v
        if found:
            at = fetch_and_add(count, 0, found)
            for v in chunk:
                if at < len(pairs) and not _is_member(bits, v) and parent[v] != v:
                    pairs[at, 0], pairs[at, 1] = v, _root(parent, np.int32(v))
                    at += 1


@njit(parallel=True, nogil=True, cache=True)
def unite_pairs(pairs, parent):
    for i in prange(len(pairs)):
        _unite(parent, pairs[i, 0], pairs[i, 1])


@njit(parallel=True, nogil=True, cache=True)
def join(other, parent):
    for v in prange(len(parent)):
        if other[v] != v:
            _unite(parent, np.int32(v), other[v])


@njit(parallel=True, nogil=True, cache=True)
def initialise(parent, marks):
    for v in prange(len(parent)):
        parent[v] = v
        marks[v] = 0


@njit(parallel=True, nogil=True, cache=True)
def shortcut_and_mark(parent, after, marks, number):
    for v in prange(len(parent)):
        above = parent[v]
        top = parent[above]
        after[v] = top
        if top != above:
            marks[top] = number


@njit(nogil=True, cache=True)
def _hook(parent, after, marks, number, i, j):
    x, y = after[i], after[j]
    if y < x and x == parent[i] and after[x] == x:  # only the first hook marks the root
        after[x] = y
        marks[y] = number


@njit(parallel=True, nogil=True, cache=True)
def hook(indptr, indices, first, last, parent, after, marks, number):
    for own in prange(last - first):
        for e in range(indptr[own], indptr[own + 1]):
            _hook(parent, after, marks, number, first + own, indices[e])
            _hook(parent, after, marks, number, indices[e], first + own)


@njit(nogil=True, cache=True)
def _hook_stagnant(after, marks, number, i, j):
    x, y = after[i], after[j]
    if x != y and marks[x] < number and after[x] == x:
        after[x] = y


@njit(parallel=True, nogil=True, cache=True)
def hook_stagnant(indptr, indices, first, last, after, marks, number):
    """Hook the roots that did not change in this round, along the edges of the vertices `first` to `last`."""
    for own in prange(last - first):
        for e in range(indptr[own], indptr[own + 1]):
            _hook_stagnant(after, marks, number, first + own, indices[e])
            _hook_stagnant(after, marks, number, indices[e], first + own)


@njit(parallel=True, nogil=True, cache=True)
def shortcut_and_check(after, parent, marks, number, active):
    for v in prange(len(parent)):
        parent[v] = after[after[v]]
        if marks[v] == number:
            active[0] = 1


@unless(lambda first, last, *_: last - first <= VERTICES)
def count_roots(first, last, parent, count):
    for part in prange((last - first + _CHUNK - 1) // _CHUNK):
        roots = 0
        for v in range(first + part * _CHUNK, min(last, first + (part + 1) * _CHUNK)):
            roots += parent[v] == v
        fetch_and_add(count, 0, roots)


@njit(nogil=True, cache=True)
def least(parent, after):
    for v in range(len(parent)):
        after[parent[v]] = min(after[parent[v]], v)


@njit(parallel=True, nogil=True, cache=True)
def rename(names, parent):
    for v in prange(len(parent)):
        parent[v] = names[parent[v]]
