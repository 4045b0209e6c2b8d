"""The unblocked Floyd-Warshall algorithm: one launch a pivot, one thread an element.

Harish and Narayanan, "Accelerating large graph algorithms on the GPU using CUDA", 2007. It reads and writes
the whole matrix once a pivot and is bound by the memory; the blocked algorithm gives the same bits sooner.
A shard holds a range of rows; a superstep eliminates one pivot, whose row its shard broadcasts.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import device as devices
from .comm import Communicator
from .distance_matrix import NO_CYCLE, Part, empty, fill, finished, raise_negative_cycle
from .plan import Plan

Array = Any


@dataclass
class Shard:
    """A shard's state: its rows of the matrix, and the pivot's row."""

    kernels: Any
    D: Array
    P: Array | None
    row: Array
    labels: Array | None  # the predecessors in the pivot's row
    cycle: Array  # the first pivot found on a negative cycle


class Naive:
    """The unblocked Floyd-Warshall algorithm over ranges of rows."""

    def __init__(self, plan: Plan, nonnegative: bool) -> None:
        self.plan = plan
        self.nonnegative = nonnegative

    def load(self, shard: int, piece: Part, device: devices.Device) -> Shard:
        """Return the shard with its rows of the matrix filled in."""
        plan, xp = self.plan, device.xp
        first, last = plan.ranges[shard]
        D = empty(last - first, plan.n, plan.computed, device)
        P = empty(last - first, plan.n, np.int32, device) if plan.labelled else None
        fill(D, P, piece, (first, 0), device, plan)
        row = empty(1, plan.n, plan.computed, device)
        labels = empty(1, plan.n, np.int32, device) if P is not None and plan.predecessors else None
        return Shard(device.kernels("minplus"), D, P, row, labels, xp.full(1, NO_CYCLE, np.int32))

    def step(self, state: Shard, first: int, limit: int, comm: Communicator) -> int:
        """Eliminate pivot number `first`."""
        s, pivot = state, first
        if pivot >= self.plan.n:
            return 0
        owner = next(r for r, (lo, hi) in enumerate(self.plan.ranges) if lo <= pivot < hi)
        if comm.rank == owner:
            own = slice(pivot - self.plan.ranges[owner][0], pivot - self.plan.ranges[owner][0] + 1)
            s.row[...] = s.D[own]
            if s.labels is not None and s.P is not None:
                s.labels[...] = s.P[own]
        everyone = range(comm.size)
        comm.broadcast(s.row, owner, everyone)
        if s.labels is not None:
            comm.broadcast(s.labels, owner, everyone)
        if not self.nonnegative:
            xp = devices.of(s.row).xp
            negative = xp.where(s.row[0, pivot : pivot + 1] < 0, pivot, NO_CYCLE)
            s.cycle[...] = xp.minimum(s.cycle, negative.astype(np.int32))
        s.kernels.through(s.D, s.P, pivot, s.row, s.labels, pivot)
        return 1

    def collect(self, state: Shard, comm: Communicator) -> dict[str, Array]:
        """Return the shard's rows of the result, or raise on every shard if a pivot was negative."""
        raise_negative_cycle(state.cycle, comm)
        return finished(state.D, state.P, self.plan, self.nonnegative)
