"""Element-wise minima at full speed on CPUs without AVX-512.

LLVM 20 compiles ``d[j] = s if s < d[j] else d[j]`` to a masked store, which leaves unchanged elements alone. AVX2 has
such a store, but on AMD's processors it takes longer than the rest of the loop: minima of float32 ran at a fifth of the
speed. So loops store the old value plus `nothing_of` it, a zero that LLVM does not know to be zero. Then every element
is stored.
"""

from .caching import njit


@njit(inline="always")
def nothing_of(numbers):
    """Return a zero of an array's type that changes no element when it is added: minus zero for floats."""
    zero = numbers.dtype.type(len(numbers) >> 62)  # always 0, but the compiler does not know that
    return numbers.dtype.type(-zero)
