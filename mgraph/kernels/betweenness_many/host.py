"""The kernel of ``kernels/betweenness_many.cu`` for the CPU: the same operation, by one core.

That file's opening explains the algorithm. Calls on a CPU use `mgraph.kernels.betweenness`, where a core takes a source
and its row lies in the core's cache; this twin is what the GPU's results are compared with.
"""

import numpy as np

from ...device.numba.caching import njit
from . import DEEP

_DEEP, _LARGE = DEEP, 2.0**1000


def add_together(by_source, by_target, sources, targets, limit, endpoints, edges, memory, sums, trouble):
    """Add the dependencies of up to 32 W `sources` to `sums`; return whether levels and events fit."""
    return bool(_together(by_source, by_target, sources, targets, (limit, endpoints, edges), memory, sums, trouble))


@njit(nogil=True, cache=True)
def _together(by_source, by_target, sources, targets, asked, memory, sums, trouble):
    """Search level by level, then gather the dependencies, the last level first."""
    limit, endpoints, edges = asked
    starts = np.zeros(_DEEP + 2, np.int64)
    starts[1] = _plant(sources, memory)
    levels = 1
    while levels <= limit:
        end = _find(by_target, memory, levels, starts[levels - 1], starts[levels])
        if end == starts[levels]:
            break
        if end > len(memory.vertices) or levels == _DEEP:
            return False
        levels += 1
        starts[levels] = end
    memory.fronts[:] = 0
    for level in range(levels - 1, -1, -1):
        if level + 2 < levels:
            memory.fronts[level % 2] = 0
        for place in range(starts[level], starts[level + 1]):
            _depend(by_source, place, level, (sources, targets, endpoints, edges), memory, sums, trouble)
    return True


@njit(nogil=True, cache=True)
def _plant(sources, memory):
    """Make the sources the events of level 0; return how many there are."""
    seen, front, tail = memory.seen, memory.fronts[0], 0
    seen[:] = 0
    memory.fronts[:] = 0
    for i in range(len(sources), 32 * seen.shape[1]):
        seen[:, i // 32] |= np.uint32(1 << i % 32)
    for i in range(len(sources)):
        v = sources[i]
        front[v, i // 32] |= np.uint32(1 << i % 32)
        seen[v, i // 32] |= np.uint32(1 << i % 32)
        memory.rows[v, i] = 1.0
    for i in range(len(sources)):
        if not np.any(sources[:i] == sources[i]):
            memory.vertices[tail], memory.masks[tail] = sources[i], front[sources[i]]
            tail += 1
    return tail


@njit(nogil=True, cache=True)
def _find(by_target, memory, level, begin, end):
    """Make events of the vertices at a level, from place `end` on; return where they end, beyond the room if it is."""
    indptr, indices = by_target
    seen, rows, front, fresh = memory.seen, memory.rows, memory.fronts[(level - 1) % 2], memory.fronts[level % 2]
    n, words = seen.shape
    fresh[:] = 0
    tail = end
    for v in range(n):
        found = False
        for w in range(words):
            want = ~seen[v, w]
            for e in range(indptr[v], indptr[v + 1] if want else indptr[v]):
                bits = front[indices[e], w] & want
                for i in range(32 if bits else 0):
                    if bits >> i & 1:
                        paths = rows[indices[e], 32 * w + i]
                        rows[v, 32 * w + i] = paths + (rows[v, 32 * w + i] if fresh[v, w] >> i & 1 else 0.0)
                fresh[v, w] |= bits
            seen[v, w] |= fresh[v, w]
            found |= fresh[v, w] != 0
        if found:
            if tail < len(memory.vertices):
                memory.vertices[tail], memory.masks[tail] = v, fresh[v]
            tail += 1
    return tail


@njit(nogil=True, cache=True)
def _depend(by_source, place, level, asked, memory, sums, trouble):
    """Add up the dependencies of an event, and write x in place of its numbers of paths."""
    indptr, indices = by_source
    sources, targets, endpoints, edges = asked
    rows, behind, u, mask = memory.rows, memory.fronts[(level + 1) % 2], memory.vertices[place], memory.masks[place]
    for i in range(len(sources)):
        if not mask[i // 32] >> (i % 32) & 1:
            continue
        paths, total = rows[u, i], 0.0
        for e in range(indptr[u], indptr[u + 1]):
            if behind[indices[e], i // 32] >> (i % 32) & 1:
                total += rows[indices[e], i]
                if edges:
                    sums[e] += paths * rows[indices[e], i]
        if not paths <= _LARGE:
            trouble[0] = 1
        passing, own = paths * total, sources[i] == u
        rows[u, i] = (passing + (targets[u] and not own)) / paths
        if not edges and not own:
            sums[u] += passing + (endpoints and targets[u])
        elif not edges and endpoints:
            sums[u] += np.rint(passing)
    memory.fronts[level % 2, u] = mask
