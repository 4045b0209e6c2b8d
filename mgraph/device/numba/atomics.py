"""What cores do to a word that others change at the same time, each in one step, for kernels that run on all cores."""

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic
def compare_and_swap(typing, array, index, expected, value):
    """Set an element if it is `expected`, and return what was there."""

    def build(context, builder, signature, arguments):
        place = _place(context, builder, signature, arguments)
        swapped = builder.cmpxchg(place, arguments[2], arguments[3], "monotonic", "monotonic")
        return builder.extract_value(swapped, 0)

    return array.dtype(array, types.intp, array.dtype, array.dtype), build


@intrinsic
def fetch_and_add(typing, array, index, value):
    """Add to an element, and return what was there."""
    return array.dtype(array, types.intp, array.dtype), _read_modify_write("add")


@intrinsic
def fetch_and_or(typing, array, index, value):
    """Set the bits of `value` in an element, and return what was there."""
    return array.dtype(array, types.intp, array.dtype), _read_modify_write("or")


def _read_modify_write(operation):
    def build(context, builder, signature, arguments):
        place = _place(context, builder, signature, arguments)
        return builder.atomic_rmw(operation, place, arguments[2], "monotonic")

    return build


def _place(context, builder, signature, arguments):
    kind = signature.args[0]
    made = context.make_array(kind)(context, builder, arguments[0])
    return cgutils.get_item_pointer(context, builder, kind, made, [arguments[1]], wraparound=False)
