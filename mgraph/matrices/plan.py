"""The part of a plan that algorithms on a matrix of all pairs share."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..planning.cut import Range, Ranges
from ..planning.plan import Detail, Plan


@dataclass(frozen=True, kw_only=True)
class MatrixDetail(Detail):
    """A matrix, cut into a grid of rectangles, one a shard.

    Attributes
    ----------
    grid : tuple of (int, int)
        Rows and columns of the grid of shards, which are numbered along its rows.
    columns : tuple of (int, int)
        The columns of each shard's rectangle; its rows are its range of the plan.
    block : int
        Number of pivots eliminated at a time; 0 if there are no pivots.
    at_once : bool
        Whether all pivots are eliminated in one launch.
    look_ahead : bool
        Whether the next pivots are solved while the rest of the matrix is updated.
    computed : str
        The type that the kernels compute in.
    labelled : bool
        Whether labels are recorded with the matrix: predecessors, or intermediate vertices.
    intermediate : bool
        Whether labels are the highest intermediate vertex of each path.
    derived : bool
        Whether predecessors are derived from the finished distances, instead of recorded.
    """

    grid: tuple[int, int]
    columns: Ranges
    computed: str
    block: int = 0
    at_once: bool = False
    look_ahead: bool = False
    labelled: bool = False
    intermediate: bool = False
    derived: bool = False

    def result_bytes(self, plan: Plan) -> int | None:
        """Return the bytes of the matrices: distances, and labels."""
        return plan.n * plan.n * (np.dtype(plan.dtype).itemsize + 4 * self.labelled)

    def lines(self, plan: Plan) -> Iterator[str]:
        """Yield the blocks and the grid."""
        if self.block:
            yield f"blocks of {self.block} pivots" + (", looking ahead" if self.look_ahead else "")
        if self.at_once:
            yield "all pivots in one launch"
        if self.grid[1] > 1:
            yield f"a grid of {self.grid[0]} x {self.grid[1]} shards"
        yield from super().lines(plan)

    def part(self, plan: Plan, shard: int) -> tuple[Range, ...]:
        """Return a shard's rows and columns; only its rows if it has all columns."""
        own = plan.ranges[shard]
        return (own, self.columns[shard]) if self.grid[1] > 1 else (own,)

    def layout(self, plan: Plan) -> tuple[Ranges, Ranges]:
        """Return the rows of each row of the grid, and the columns of each of its columns."""
        wide = self.grid[1]
        return plan.ranges[::wide], self.columns[:wide]
