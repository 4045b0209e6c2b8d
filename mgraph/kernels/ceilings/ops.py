"""Operations that show what a device can do at best; ``kernels/ceilings.cu`` has them for GPUs."""

from typing import Any, Protocol

from ...arrays import Array


class Operations(Protocol):
    """What both twins do."""

    def values(self, xp: Any, dtype: Any) -> Array:
        """Return as many values, from 0 to 99, as `relaxations` works on at a time: shape (count,)."""
        ...

    def relaxations(self, values: Array, first: Any, second: Any, limit: Any, rounds: int, nonnegative: bool) -> None:
        """Take each value through a round of two sums and minima, so many times.

        A round is ``value = min(value + first, limit)`` and the same with `second`. Where nothing is negative, which
        float32 gains from, it is ``value = min(value + first, value + second, limit)``. `values` is float32, float64,
        int32 or int16, of an even number; the steps and the limit have its type.
        """
        ...

    def reads(self, table: Array, count: int, total: Array) -> None:
        """Add `count` elements of a table, at places that a hash gives, to ``total[0]``, modulo 2^32.

        Both are uint32; the length of the table is a power of two.
        """
        ...

    def copy(self, target: Array, source: Array) -> None:
        """Copy a contiguous array to another of the same size."""
        ...
