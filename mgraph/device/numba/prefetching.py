"""Requests for memory ahead of its use, so that a core waits for many distant elements at the same time."""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .atomics import place_of


@intrinsic
def prefetch(typing, array, index):
    """Request the cache line of an element; any index is allowed."""

    def build(context, builder, signature, arguments):
        pointer = builder.bitcast(place_of(context, builder, signature, arguments), cgutils.voidptr_t)
        word = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, word, word, word])
        declared = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(declared, [pointer, word(0), word(3), word(1)])  # to be read, into the nearest cache, data
        return context.get_dummy_value()

    return types.void(array, types.intp), build
