"""What a core does with the bits of a word in one step."""

from numba import types
from numba.extending import intrinsic


@intrinsic
def trailing_zeros(typing, word):
    """Return the place of the lowest bit that is set; there must be one."""

    def build(context, builder, signature, arguments):
        return builder.cttz(arguments[0], context.get_constant(types.boolean, True))

    return word(word), build


@intrinsic
def population(typing, word):
    """Return the number of bits that are set."""

    def build(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return word(word), build
