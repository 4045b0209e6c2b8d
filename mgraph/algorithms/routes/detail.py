"""What plans of pairs and of flows have beside the fields of all plans."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...planning.plan import Detail, Plan


@dataclass(frozen=True, kw_only=True)
class RoutesDetail(Detail):
    """Pairs by a hierarchy.

    Attributes
    ----------
    pairs : int
        Number of pairs.
    batch : int
        Pairs, or sources of a matrix, that a device takes at a time.
    along : int
        Number of other weights that are added up along the paths.
    paths : bool
        Whether the vertices of the paths are wanted.
    loads : bool
        Whether the loads of edges are wanted, not distances.
    entries : int
        Number of entries of the hierarchy.
    """

    divided: ClassVar[bool] = False  # every device has the whole hierarchy
    dealt: ClassVar[str] = "pairs"

    pairs: int
    batch: int
    along: int = 0
    paths: bool = False
    loads: bool = False
    entries: int = 0

    def result(self, plan: Plan) -> str:
        """Return the names, the types and the shape of the results."""
        if self.loads:
            return f"loads {plan.dtype} of {plan.m:,} edges, from {self.pairs:,} pairs"
        sums = f", and sums of {self.along} other weights" if self.along else ""
        return f"distances {plan.dtype} of {self.pairs:,} pairs{sums}{', and their paths' * self.paths}"

    def result_bytes(self, plan: Plan) -> int | None:
        """Return the bytes of the results; None with paths, whose vertices are not counted before."""
        if self.paths:
            return None
        if self.loads:
            return 8 * (plan.m + plan.n)
        return self.pairs * (np.dtype(plan.dtype).itemsize + 8 * self.along)
