"""Bit operations on words that a core has an instruction for."""

from numba import types
from numba.extending import intrinsic


@intrinsic
def trailing_zeros(typing, word):
    """Return the number of the lowest set bit; the word must not be 0."""

    def build(context, builder, signature, arguments):
        return builder.cttz(arguments[0], context.get_constant(types.boolean, True))

    return word(word), build


@intrinsic
def population(typing, word):
    """Return how many bits are set."""

    def build(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return word(word), build
