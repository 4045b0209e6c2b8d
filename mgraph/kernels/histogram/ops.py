"""Operations that count distances in bins, for CPUs only: on a GPU, CuPy's sums take as long as reading the rows."""

from typing import Protocol

from ...arrays import Array

#: Operations that only a CPU has.
HOST_ONLY = frozenset({"count"})


class Operations(Protocol):
    """What `mgraph.kernels.histogram.host` implements."""

    def count(self, distances: Array, limits: Array, counts: Array) -> None:
        """Add to `counts`, int64 of shape (rows, bins), how many distances of each row are in each bin.

        Bin number i is of distances more than ``limits[i]`` and at most ``limits[i + 1]``; the limits are finite,
        ascending, and of the distances' type.
        """
        ...
