"""Operations that measure the peak rates of a device; ``kernels/ceilings.cu`` has them for GPUs."""

from typing import Any, Protocol

from ...arrays import Array
from ..family import Family


class Operations(Protocol):
    """The operations of both twins."""

    def values(self, xp: Any, dtype: Any) -> Array:
        """Return values from 0 to 99, of type `dtype`, as many as `relaxations` should be given: shape (count,)."""

    def relaxations(self, values: Array, first: Any, second: Any, limit: Any, rounds: int, nonnegative: bool) -> None:
        """Apply `rounds` rounds of two sums and minima to each value.

        A round is ``value = min(value + first, limit)`` and the same with `second`. If `nonnegative`, it is
        ``value = min(value + first, value + second, limit)``, which is faster for float32. `values` is float32,
        float64, int32 or int16, with an even number of elements; `first`, `second` and `limit` have its type.
        """

    def reads(self, table: Array, count: int, total: Array) -> None:
        """Add `count` elements of a table, at places given by a hash, to ``total[0]``, modulo 2^32.

        `table` and `total` are uint32; the length of the table is a power of two.
        """

    def copy(self, target: Array, source: Array) -> None:
        """Copy a contiguous array to another of the same size."""


_FAMILY: Family[Operations] = Family(__name__)

on, of_kind = _FAMILY.on, _FAMILY.of_kind
