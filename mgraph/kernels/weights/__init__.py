"""Operations that encode weights and decode distances; ``kernels/weights.cu`` has them for GPUs."""

from typing import Protocol

from ...arrays import Array
from ..family import Family


class Operations(Protocol):
    """The operations of both twins."""

    def encode(self, values: Array, out: Array, dense: bool, infinity: float, most: int, fault: Array) -> None:
        """Write integer weights to `out`, and `infinity` where there is no edge.

        Parameters
        ----------
        values : array of any integer type, shape (rows, columns)
            Weights. If `dense`, the type's largest value means that there is no edge.
        out : array of float32, float64, int32 or int16, shape (rows, columns)
            Receives the result. Its rows are contiguous; it may be `values` itself.
        infinity : float
            The kernels' infinity of the type of `out`.
        most : int
            Weights must be from ``-most`` to ``most``; -1 allows all.
        fault : array of uint64, shape (1,)
            Receives 1 plus the place of the last weight out of this range, in row-major order.
        """

    def survey(self, matrix: Array, diagonal: int, infinity: float, found: Array, sure: bool) -> None:
        """Set what of `found`, of int32 and shape (4,), a part of a matrix contains.

        These are a NaN or a negative infinity, another negative element, `infinity`, and a zero off the diagonal, which
        row 0 has at column `diagonal`. After an infinity, and if `sure`, zeros may be overlooked; if `sure`, also
        infinities.
        """

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
        """Replace distances of `unreached` or more by `infinity`, and their labels by -9999.

        Parameters
        ----------
        matrix : array of int32 or int16, shape (rows, columns)
            Distances; changed in place.
        labels : array of int32, shape (rows, columns), or None
            Labels; changed in place.
        lowest, highest : int
            Bounds of the other distances.
        fault : array of int32, shape (1,)
            Set to 1 if one of these is out of bounds.
        """


_FAMILY: Family[Operations] = Family(__name__)

on, of_kind = _FAMILY.on, _FAMILY.of_kind
