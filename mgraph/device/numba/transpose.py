"""Matrices turned by blocks: the transposition of a block stays in a core's registers.

Copied an element at a time, columns become rows at a third of the speed of memory. Here the rows of a block are read as
vectors, and the columns are written as vectors. Between these, for each power of two s below the side of the block, a
vector k without that bit and vector k + s exchange elements: of k those whose places have the bit, of k + s the others.
LLVM splits the vectors where a processor's are shorter.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

#: Bytes of a row of a block, which has as many rows as elements in a row. With 64, AVX2 has too few registers.
BLOCK = 32


@intrinsic
def write_transposed(typing, rows, at, j, lane, limit, instead, D, order):
    """Set ``D[order[lane + b], j + a]`` to ``rows[at[j + a], lane + b]`` for all a and b of a block.

    What is beyond `limit` becomes `instead`. Both matrices are of one type, or `rows` of float64 and D of float32, and
    C-contiguous; no index is checked.
    """
    matrices, numbers = (rows, D), (at, order)
    rounds = rows.dtype == types.float64 and D.dtype == types.float32
    if any(kind.layout != "C" for kind in matrices) or not (rows.dtype == D.dtype or rounds):
        raise TypingError("write_transposed takes C-contiguous matrices of one type, or rounds float64 to float32")
    if any(not isinstance(kind.dtype, types.Integer) or not kind.dtype.signed for kind in numbers):
        raise TypingError("write_transposed takes signed numbers of rows")

    def build(context, builder, signature, arguments):
        from_rows, from_numbers, j, lane, limit, instead, to_rows, to_numbers = arguments
        element = context.get_value_type(rows.dtype)
        bytes_of = context.get_abi_sizeof(element)
        side = BLOCK // bytes_of
        vector, word = ir.VectorType(element, side), ir.IntType(32)
        written = ir.VectorType(context.get_value_type(D.dtype), side)

        def places(vector, kind, array, numbers_kind, numbers, first, column):
            """Return pointers to the elements of `column` in as many rows as are numbered from `first` on."""
            matrix, listed = (
                context.make_array(k)(context, builder, a) for k, a in ((kind, array), (numbers_kind, numbers))
            )
            for k in range(side):
                index = builder.add(first, first.type(k))
                number = cgutils.get_item_pointer(context, builder, numbers_kind, listed, [index], wraparound=False)
                row = builder.sext(builder.load(number), first.type)
                one = cgutils.get_item_pointer(context, builder, kind, matrix, [row, column], wraparound=False)
                yield builder.bitcast(one, vector.as_pointer())

        def everywhere(number):
            one = builder.insert_element(ir.Constant(vector, ir.Undefined), number, word(0))
            return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(word, side), [0] * side))

        bound, other = everywhere(limit), everywhere(instead)
        within = builder.fcmp_ordered if isinstance(rows.dtype, types.Float) else builder.icmp_signed
        block = [builder.load(place, align=1) for place in places(vector, rows, from_rows, at, from_numbers, j, lane)]
        block = [builder.select(within("<=", row, bound), row, other) for row in block]
        half = side // 2
        while half:
            masks = [
                ir.Constant(
                    ir.VectorType(word, side), [(i & ~half) + (side if i & half else 0) + add for i in range(side)]
                )
                for add in (0, half)
            ]
            for k in range(side):
                if not k & half:
                    pair = block[k], block[k | half]
                    block[k], block[k | half] = (builder.shuffle_vector(*pair, mask) for mask in masks)
            half //= 2
        for place, row in zip(places(written, D, to_rows, order, to_numbers, lane, j), block, strict=True):
            builder.store(builder.fptrunc(row, written) if rounds else row, place, align=1)
        return context.get_dummy_value()

    number = types.int64
    return types.void(rows, at, number, number, rows.dtype, rows.dtype, D, order), build
