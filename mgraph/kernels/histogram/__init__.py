"""Operations that count distances in bins."""

from typing import Protocol

import numpy as np

from ...arrays import Array
from ..family import Family


class Operations(Protocol):
    """The operations of both twins."""

    def count(self, distances: Array, limits: np.ndarray, counts: Array) -> None:
        """Add to `counts`, int64 of shape (rows, bins), how many distances of each row are in each bin.

        Bin number i is of distances more than ``limits[i]`` and at most ``limits[i + 1]``. The limits are float64,
        finite, ascending, and numbers of the distances' type; on the host.
        """


_FAMILY: Family[Operations] = Family(__name__)

on, of_kind = _FAMILY.on, _FAMILY.of_kind
