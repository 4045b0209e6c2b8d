"""The unblocked Floyd-Warshall algorithm, pivot by pivot.

Harish and Narayanan, "Accelerating large graph algorithms on the GPU using CUDA", 2007. It reads the whole matrix once
for each pivot, so memory bandwidth bounds it; the blocked algorithm gives the same bits faster.

A shard holds a range of rows. A superstep eliminates one pivot: the shard with the pivot's row broadcasts it. A shard
that holds all rows runs many supersteps in one launch.
"""

from dataclasses import dataclass

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...kernels import minplus as minplus_kernels
from ...matrices.distance_matrix import NO_CYCLE, Part, empty, fill, finished, raise_negative_cycle
from ...matrices.resumable import ResumableMatrix
from ...planning.plan import Plan
from ...runtime.communicator import Communicator
from .detail import AllPairsDetail


@dataclass
class RowsShard:
    """A shard's state: its rows of the matrix, and a buffer for a pivot row of another shard."""

    kernels: minplus_kernels.Operations
    D: Array
    P: Array | None
    row: Array  # a pivot row received from another shard
    labels: Array | None  # its predecessors
    cycle: Array  # the first pivot found on a negative cycle


class Naive(ResumableMatrix):
    """The unblocked Floyd-Warshall algorithm over ranges of rows."""

    def __init__(self, plan: Plan[AllPairsDetail], nonnegative: bool) -> None:
        self.plan = plan
        self.detail = plan.detail
        self.nonnegative = nonnegative

    def load(self, shard: int, piece: Part, device: devices.Device) -> RowsShard:
        """Return the shard with its rows of the matrix filled in."""
        plan, xp = self.plan, device.xp
        first, last = plan.ranges[shard]
        D = empty(last - first, plan.n, self.detail.computed, device)
        P = empty(last - first, plan.n, np.int32, device) if self.detail.labelled else None
        fill(D, P, piece, (first, 0), device, plan)
        row = empty(1, plan.n, self.detail.computed, device)
        labels = empty(1, plan.n, np.int32, device) if P is not None and plan.predecessors else None
        return RowsShard(minplus_kernels.on(device), D, P, row, labels, xp.full(1, NO_CYCLE, np.int32))

    def step(self, state: RowsShard, first: int, limit: int, comm: Communicator) -> int:
        """Eliminate pivots from number `first` on, at most `limit`: several only if there is no other shard."""
        s, count = state, min(comm.horizon(limit), self.plan.n - first)
        if count <= 0:
            return 0
        owner, low = next((r, low) for r, (low, high) in enumerate(self.plan.ranges) if low <= first < high)
        rows, labels = s.row, s.labels
        if comm.rank == owner:
            own = slice(first - low, first - low + count)
            rows, labels = s.D[own], None if s.P is None or s.labels is None else s.P[own]
        everyone = range(comm.size)
        comm.broadcast(rows, owner, everyone)
        if labels is not None:
            comm.broadcast(labels, owner, everyone)
        s.kernels.through(s.D, s.P, first, rows, labels, first, count, s.cycle)
        return count

    def collect(self, state: RowsShard, comm: Communicator) -> dict[str, Array]:
        """Return the shard's rows of the result, or raise on every shard if a diagonal element is negative."""
        D = None if self.nonnegative else state.D
        raise_negative_cycle(state.cycle, comm, D, (self.plan.ranges[comm.rank][0], 0))
        return finished(state.D, state.P, self.plan, self.nonnegative)
