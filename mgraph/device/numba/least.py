"""How a loop keeps the lesser of two numbers where the greater one stood, at the full rate of a CPU without AVX-512.

LLVM 20 makes of ``d[j] = s if s < d[j] else d[j]`` a store that is masked, as what stood there need not be written.
AVX2 has such a store, but on AMD's processors it takes longer than all the rest of the loop: minima of float32 were a
fifth as fast as those that are all stored. So the loop stores what stood there plus `nothing_of` it, which LLVM cannot
tell from a number that has changed.
"""

from .caching import njit


@njit(inline="always")
def nothing_of(numbers):
    """Return a zero of the type of an array's elements that leaves all of them as they are, of floats minus zero."""
    zero = numbers.dtype.type(len(numbers) >> 62)  # no array is so long, but the compiler does not know that
    return numbers.dtype.type(-zero)
