"""Atomic operations on elements of an array, for kernels that run on all cores."""

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic
def compare_and_swap(typing, array, index, expected, value):
    """Set an element to `value` if it equals `expected`; return its value before."""

    def build(context, builder, signature, arguments):
        place = place_of(context, builder, signature, arguments)
        swapped = builder.cmpxchg(place, arguments[2], arguments[3], "monotonic", "monotonic")
        return builder.extract_value(swapped, 0)

    return array.dtype(array, types.intp, array.dtype, array.dtype), build


@intrinsic
def fetch_and_add(typing, array, index, value):
    """Add `value` to an element; return its value before."""
    return array.dtype(array, types.intp, array.dtype), _read_modify_write("add")


@intrinsic
def fetch_and_min(typing, array, index, value):
    """Lower an element to `value` if that is less; return its value before. No value may be NaN."""
    operation = "fmin" if isinstance(array.dtype, types.Float) else "min" if array.dtype.signed else "umin"
    return array.dtype(array, types.intp, array.dtype), _read_modify_write(operation)


@intrinsic
def fetch_and_or(typing, array, index, value):
    """Set the bits of `value` in an element; return its value before."""
    return array.dtype(array, types.intp, array.dtype), _read_modify_write("or")


def _read_modify_write(operation):
    def build(context, builder, signature, arguments):
        place = place_of(context, builder, signature, arguments)
        return builder.atomic_rmw(operation, place, arguments[2], "monotonic")

    return build


def place_of(context, builder, signature, arguments):
    """Return a pointer to an element, in an intrinsic whose first two arguments are an array and an index."""
    kind = signature.args[0]
    made = context.make_array(kind)(context, builder, arguments[0])
    return cgutils.get_item_pointer(context, builder, kind, made, [arguments[1]], wraparound=False)
