"""Operations that encode weights and decode distances; ``kernels/weights.cu`` has them for GPUs."""

from typing import Protocol

from ...arrays import Array


class Operations(Protocol):
    """What both twins do."""

    def encode(self, values: Array, out: Array, dense: bool, infinity: float, most: int, fault: Array) -> None:
        """Write integers to `out`, and `infinity` for what is no edge.

        Parameters
        ----------
        values : array of any integer type, shape (rows, columns)
            Weights. If `dense`, the type's largest value is no edge.
        out : array of float32, float64, int32 or int16, shape (rows, columns)
            Its rows are contiguous; it may be `values` itself.
        infinity : float
            The kernels' infinity of the type of `out`.
        most : int
            The greatest weight that is allowed, and the least is `-most`; -1 allows all.
        fault : array of uint64, shape (1,)
            Becomes 1 more than the place of the last weight that is not allowed.
        """
        ...

    def zeros(self, matrix: Array, first: int, found: Array) -> None:
        """Set ``found[0]`` if there are zeros off the diagonal; the first row is number `first` of the whole matrix."""
        ...

    def decode(
        self,
        matrix: Array,
        labels: Array | None,
        lowest: int,
        highest: int,
        unreached: int,
        infinity: float,
        fault: Array,
    ) -> None:
        """Make distances of `unreached` or more `infinity`, without a label.

        Parameters
        ----------
        matrix : array of int32 or int16, shape (rows, columns)
            Distances; changed in place.
        labels : array of int32, shape (rows, columns), or None
            Become -9999 where unreached.
        lowest, highest : int
            Bounds of the other distances.
        fault : array of int32, shape (1,)
            Set to 1 if one of these is not within bounds.
        """
        ...
