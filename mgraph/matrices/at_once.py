"""A small matrix solved in one launch, by the Floyd-Warshall algorithm (``kernels/minplus.cu``, `eliminate`).

The result is that of `mgraph.matrices.floyd_warshall` to the last bit. A phase of that takes longer to launch than a
small matrix to solve.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import device as devices
from ..arrays import Array
from ..kernels import minplus as minplus_kernels
from ..planning.plan import Plan
from ..runtime.communicator import Communicator
from .distance_matrix import NO_CYCLE, Part, empty, fill, finished, raise_negative_cycle
from .plan import MatrixDetail
from .resumable import ResumableMatrix


@dataclass
class SmallMatrix:
    """The state: the matrix, its labels, and what the launch needs beside them."""

    kernels: minplus_kernels.Operations
    D: Array  # distances
    P: Array | None  # labels: predecessors or intermediate vertices
    board: tuple[Array, Array | None]
    cycle: Array  # the first pivot found on a negative cycle


class AtOnce(ResumableMatrix):
    """The Floyd-Warshall algorithm on one device, in one superstep."""

    def __init__(self, plan: Plan[MatrixDetail], nonnegative: bool) -> None:
        self.plan = plan
        self.detail = plan.detail
        self.nonnegative = nonnegative

    def load(self, shard: int, piece: Part, device: devices.Device) -> SmallMatrix:
        """Return the state with the matrix filled in."""
        n, dtype = self.plan.n, np.dtype(self.detail.computed)
        kernels = minplus_kernels.on(device)
        D = empty(n, n, dtype, device)
        P = empty(n, n, np.int32, device) if self.detail.labelled else None
        fill(D, P, piece, (0, 0), device, self.plan)
        board = kernels.board(device.xp, dtype, n, P is not None)
        return SmallMatrix(kernels, D, P, board, device.xp.full(1, NO_CYCLE, np.int32))

    def step(self, state: SmallMatrix, first: int, limit: int, comm: Communicator) -> int:
        """Eliminate all pivots."""
        if first:
            return 0
        state.kernels.eliminate(state.D, state.P, self.plan.predecessors, state.board, state.cycle)
        return 1

    def resume_details(self) -> dict[str, Any]:
        """Return the supersteps of a round, and the pivots that it eliminates."""
        return {"supersteps": 1, "pivots": self.plan.n}

    def collect(self, state: SmallMatrix, comm: Communicator) -> dict[str, Array]:
        """Return the result, or raise if there is a negative cycle."""
        if not self.nonnegative:
            raise_negative_cycle(state.cycle, comm, state.D)
        return finished(state.D, state.P, self.plan, self.nonnegative)
