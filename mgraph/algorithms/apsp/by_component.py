"""All-pairs shortest paths of a disconnected graph, component by component.

No path leaves its component, so c components of equal size take 1 / c**2 of the work. This is the simplest case of
Djidjev, Thulasidasan, Chapuis, Andonov and Lavenier, "Efficient multi-GPU computation of all-pairs shortest paths",
2014, who also cut connected graphs. Whole components are grouped until a group keeps a device busy; a superstep solves
one group. In a group the vertices keep their order, so the pivots keep the order of the whole graph, and the result has
the same bits.
"""

from dataclasses import dataclass, replace

import numpy as np

from ... import device as devices
from ... import errors
from ...arrays import Array, chunk_rows
from ...dtypes import NO_PREDECESSOR, infinity
from ...matrices.distance_matrix import empty
from ...matrices.floyd_warshall import FloydWarshall
from ...planning.plan import Plan
from ...runtime.communicator import Communicator
from .components import Group
from .detail import AllPairsDetail


@dataclass
class GroupsShard:
    """The state: the groups, and the whole matrix, to which each solved group is written."""

    device: devices.Device
    groups: list[Group]
    D: Array
    P: Array | None


class ByComponent:
    """The blocked Floyd-Warshall algorithm on one group of components after another."""

    def __init__(self, plan: Plan[AllPairsDetail], nonnegative: bool) -> None:
        self.plan = plan
        self.detail = plan.detail
        self.nonnegative = nonnegative

    def load(self, shard: int, piece: list[Group], device: devices.Device) -> GroupsShard:
        """Return the matrix without any path."""
        n, dtype = self.plan.n, np.dtype(self.plan.dtype)
        D = empty(n, n, dtype, device)
        D.fill(infinity(dtype))
        P = empty(n, n, np.int32, device) if self.detail.labelled else None
        if P is not None:
            P.fill(NO_PREDECESSOR)
        return GroupsShard(device, piece, D, P)

    def step(self, state: GroupsShard, first: int, limit: int, comm: Communicator) -> int:
        """Solve one group and write its distances and labels to the matrix."""
        if first >= len(state.groups):
            return 0
        s, (vertices, part) = state, state.groups[first]
        size = len(vertices)
        alone = replace(
            self.plan,
            n=size,
            ranges=((0, size),),
            detail=replace(
                self.detail,
                columns=((0, size),),
                groups=(),
                look_ahead=self.detail.look_ahead and size > self.detail.block,
            ),
        )
        program = FloydWarshall(alone, self.nonnegative)
        shard = program.load(0, part, s.device)
        steps = 0
        while ran := program.step(shard, steps, 3 * size, comm):
            steps += ran
        try:
            found = program.collect(shard, comm)
        except errors.NegativeCycleError as error:
            raise errors.NegativeCycleError(int(vertices[error.vertex])) from None
        xp, own = s.device.xp, s.device.asarray(vertices)
        names = own.astype(np.int32)
        chunk = chunk_rows(size)
        for top in range(0, size, chunk):
            some = slice(top, top + chunk)
            s.D[own[some, None], own] = found["distances"][some]
            if s.P is not None:
                labels = found["intermediate" if self.detail.intermediate else "predecessors"][some]
                s.P[own[some, None], own] = xp.where(labels == NO_PREDECESSOR, labels, names[labels.clip(0)])
        return 1

    def collect(self, state: GroupsShard, comm: Communicator) -> dict[str, Array]:
        """Return the matrix."""
        results = {"distances": state.D}
        if state.P is not None:
            results["intermediate" if self.detail.intermediate else "predecessors"] = state.P
        return results
