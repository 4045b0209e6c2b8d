"""Details of the plans of numbers of shortest paths: their own fields, and their lines of `explain()`."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...planning.plan import Plan
from ..distances.detail import DistancesDetail


@dataclass(frozen=True, kw_only=True)
class PathCountsDetail(DistancesDetail):
    """Numbers of shortest paths: the fields of the distances, and how paths are counted after them.

    Attributes
    ----------
    counting : int
        Sources whose paths are counted at the same time, on one device.
    wide : bool
        Whether numbers of paths are scaled, as they are too large for float64.
    """

    counting: int
    wide: bool = False

    def result(self, plan: Plan) -> str:
        """Return the types and the shape of the results."""
        scaled = " with exponents of their own" if self.wide else ""
        return f"numbers of paths float64{scaled}, distances {plan.dtype}, {self.sources:,} x {plan.n:,}"

    def result_bytes(self, plan: Plan) -> int:
        """Return the bytes of the results."""
        return self.sources * plan.n * (8 + 4 * self.wide + np.dtype(plan.dtype).itemsize)

    def lines(self, plan: Plan) -> Iterator[str]:
        """Yield the lines of the distances, and the number of sources whose paths are counted at a time."""
        yield from super().lines(plan)
        yield f"paths: counted from {self.counting:,} sources at a time"
