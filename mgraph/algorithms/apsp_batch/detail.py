"""What plans of batches have beside the fields of all plans."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...planning.plan import Detail, Plan


@dataclass(frozen=True, kw_only=True)
class BatchDetail(Detail):
    """A batch of graphs.

    Attributes
    ----------
    side : int
        The most vertices of a graph: each has a matrix of side x side.
    computed : str
        The type that the kernels compute in.
    """

    side: int
    computed: str

    noun: ClassVar[str] = "graphs"
    divided: ClassVar[bool] = False

    def result(self, plan: Plan) -> str:
        """Return the names and types of the results, in words."""
        return f"{super().result(plan)}, {self.side} x {self.side} a graph"

    def result_bytes(self, plan: Plan) -> int | None:
        """Return the bytes of the matrices of all graphs."""
        return plan.n * self.side**2 * (np.dtype(plan.dtype).itemsize + 4 * plan.predecessors)
