"""Kernels for all cores, which one core runs alone where the graph is small.

Waking the others takes Numba 1 to 150 µs where they are idle and 4 to 8 ms where they are busy, at each parallel loop:
as long as one core takes for all of a search in a small graph (benchmarks/NOTES.md).
"""

import functools

from numba.extending import register_jitable

from .caching import njit
from .forks import single

#: Vertices and edges of a small graph, together, and vertices where a kernel looks at no edges.
GRAPH, VERTICES = 1 << 21, 1 << 17


@register_jitable
def is_small(indptr, *_):
    """Return whether the graph whose edges begin there is small."""
    return len(indptr) + indptr[-1] <= GRAPH


def is_few(D, indptr, *_):
    """Return whether few edges begin there."""
    return indptr[-1] <= GRAPH


def unless(small):
    """Return the decorator of a kernel that all cores run, unless `small` is true of its arguments.

    Its body is compiled twice, `alone` and `together`, ``prange`` being ``range`` for one core.
    """

    def compiled(function):
        alone = njit(nogil=True, cache=True)(single(function))
        together = njit(parallel=True, nogil=True, cache=True)(function)

        @functools.wraps(function)
        def kernel(*arguments):
            return (alone if small(*arguments) else together)(*arguments)

        kernel.alone, kernel.together = alone, together
        return kernel

    return compiled
