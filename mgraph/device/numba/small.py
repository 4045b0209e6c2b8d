"""Kernels that run on all cores for a large graph, and on one core for a small one.

At each parallel loop, Numba needs 1 to 150 µs to wake idle cores and 4 to 8 ms for busy ones. One core needs as long
for a whole search in a small graph (benchmarks/NOTES.md).
"""

import functools
from typing import Any

from numba.extending import register_jitable

from .caching import njit
from .forks import single

#: The most vertices plus edges of a small graph; and the most vertices, for kernels that read no edges.
GRAPH, VERTICES = 1 << 21, 1 << 17


@register_jitable
def is_small(indptr, *_):
    """Return whether the graph with these row starts is small."""
    return len(indptr) + indptr[-1] <= GRAPH


def is_few(D, indptr, *_):
    """Return whether the graph with these row starts has few edges."""
    return indptr[-1] <= GRAPH


#: Both forms of each kernel, for one core and for all.
FORMS: list[tuple[Any, Any]] = []


def unless(small):
    """Return a decorator for kernels that run on all cores unless `small`, called with the arguments, returns true.

    The body is compiled twice: `together` for all cores, and `alone` for one, where ``prange`` is ``range``.
    """

    def compiled(function):
        alone = njit(nogil=True, cache=True)(single(function))
        together = njit(parallel=True, nogil=True, cache=True)(function)

        @functools.wraps(function)
        def kernel(*arguments):
            return (alone if small(*arguments) else together)(*arguments)

        kernel.alone, kernel.together = alone, together
        FORMS.append((alone, together))
        return kernel

    return compiled


def compile_both_forms():
    """Compile each kernel that has run in its other form, too, for arguments of the same types."""
    for alone, together in FORMS:
        for signature in {*alone.signatures, *together.signatures}:
            alone.compile(signature)
            together.compile(signature)
