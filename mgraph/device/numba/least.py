"""Element-wise minima at full speed on CPUs without AVX-512.

LLVM 20 compiles ``d[j] = s if s < d[j] else d[j]`` to a masked store, which leaves unchanged elements alone. AVX2 has
such a store, but on AMD's processors it takes longer than the rest of the loop: minima of float32 ran at a fifth of the
speed. So loops store the old value plus `opaque_zero` it, a zero that LLVM does not know to be zero. Then every element
is stored.

Numba widens a sum of integers to int64. `sum_of` converts it back to the type of the matrix, so that a vector holds
more elements and a sum wraps as on a GPU.
"""

import numpy as np

from .caching import njit


@njit(inline="always")
def opaque_zero(numbers):
    """Return a zero of an array's type that changes no element when it is added: minus zero for floats."""
    zero = numbers.dtype.type(len(numbers) >> 62)  # always 0, but the compiler does not know that
    return numbers.dtype.type(-zero)


@njit(inline="always")
def sum_of(d, a, b):
    """Return a + b in the type of d."""
    return type(d)(a + b)


@njit(nogil=True, cache=True)
def relax_line(d, p, c, r, label, via):
    """Set d, a part of a row, to min(d, c + r); where it falls, p, if given, becomes `label`, or `via` without."""
    via, nothing = np.int32(via), opaque_zero(d)
    unmoved = np.int32(nothing)
    for j in range(len(d)):
        known = d[j]
        s = sum_of(known, c, r[j])
        if p is not None:  # both labels are always read, or LLVM would not vectorise the loop
            kept, new = sum_of(unmoved, p[j], unmoved), via if label is None else label[j]
            p[j] = new if s < known else kept
        d[j] = s if s < known else sum_of(known, known, nothing)
