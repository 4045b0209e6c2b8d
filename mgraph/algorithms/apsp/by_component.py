"""All-pairs shortest paths of a disconnected graph, component by component.

No path leaves its component, so c components of equal size take 1 / c**2 of the work. This is the simplest case of
Djidjev, Thulasidasan, Chapuis, Andonov and Lavenier, "Efficient multi-GPU computation of all-pairs shortest paths",
2014, who also cut connected graphs. Whole components are grouped until a group keeps a device busy; a superstep solves
one group. In a group the vertices keep their order, so the pivots keep the order of the whole graph, and the result has
the same bits.

A group's distances are final once it is solved, and a checkpoint has them once: in a matrix of the vertices in the
order of the groups, of which it holds the squares on the diagonal.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ... import device as devices
from ...arrays import Array, chunk_rows
from ...dtypes import NO_PREDECESSOR, infinity
from ...errors import NegativeCycleError
from ...matrices.distance_matrix import empty
from ...matrices.floyd_warshall import FloydWarshall
from ...matrices.resumable import ResumableMatrix
from ...planning.plan import Plan
from ...runtime.checkpoints import Crossing, Piece, Saved, fingerprint_of, fingerprint_of_edges
from ...runtime.communicator import Communicator
from .components import Group
from .detail import COMPONENTS_FIRST, AllPairsDetail


@dataclass
class GroupsShard:
    """The state: the groups, and the whole matrix, to which each solved group is written."""

    device: devices.Device
    groups: list[Group]
    D: Array
    P: Array | None
    begun: int = 0  # the first group that this call solves, and how many are solved
    solved: int = 0


class ByComponent(ResumableMatrix):
    """The blocked Floyd-Warshall algorithm on one group of components after another."""

    plan: Plan[AllPairsDetail]

    def __init__(self, plan: Plan[AllPairsDetail], nonnegative: bool) -> None:
        self.plan = plan
        self.detail = plan.detail
        self.nonnegative = nonnegative
        self.firsts = [0, *itertools.accumulate(plan.detail.groups)]  # the place of each group in the groups' order

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
        except NegativeCycleError as error:
            raise NegativeCycleError(int(vertices[error.vertex])) from None
        xp, own = s.device.xp, s.device.asarray(vertices)
        names = own.astype(np.int32)
        for some in _some_rows(size):
            s.D[own[some, None], own] = found["distances"][some]
            if s.P is not None:
                labels = found["intermediate" if self.detail.intermediate else "predecessors"][some]
                s.P[own[some, None], own] = xp.where(labels == NO_PREDECESSOR, labels, names[labels.clip(0)])
        s.solved = first + 1
        return 1

    def identity(self) -> dict[str, Any]:
        """Return what a checkpoint must have been written for: of the same groups, as those of an input are."""
        return super().identity() | {"method": COMPONENTS_FIRST}

    def fingerprint(self, state: GroupsShard, shard: int) -> int:
        """Return the fingerprint of the groups' vertices, and of the edges among them."""
        found = 0
        for first, (vertices, part) in zip(self.firsts, state.groups, strict=False):
            assert part.edges is not None
            found += fingerprint_of([Piece("vertices", vertices, (first,))]) + fingerprint_of_edges(first, part.edges)
        return found

    def pieces(self, state: GroupsShard, shard: int) -> list[Piece]:
        """Return the matrices of the groups that were solved since the call began, which are final."""
        found = []
        for number in range(state.begun, state.solved):
            first, own = self.firsts[number], state.device.asarray(state.groups[number].vertices)
            matrices = [(name, matrix) for name, matrix in self.matrices(state).items() if matrix is not None]
            found += [Piece(name, Crossing(each, own, own), (first, first), final=True) for name, each in matrices]
        return found

    def bytes_kept(self, shard: int) -> int:
        """Return 0: the groups that are solved do not change, so they are not copied."""
        return 0

    def resumed(self, state: GroupsShard, shard: int, saved: Saved) -> int:
        """Fill the distances and labels of the groups that are solved."""
        solved = state.begun = state.solved = saved.manifest.step
        for first, (vertices, _) in zip(self.firsts, state.groups[:solved], strict=False):
            own, size = state.device.asarray(vertices), len(vertices)
            for name, matrix in self.matrices(state).items():
                if matrix is not None:
                    there = empty(size, size, matrix.dtype, state.device)
                    saved.fill(Piece(name, there, (first, first)))
                    for some in _some_rows(size):
                        matrix[own[some, None], own] = there[some]
        return solved

    def collect(self, state: GroupsShard, comm: Communicator) -> dict[str, Array]:
        """Return the matrix."""
        results = {"distances": state.D}
        if state.P is not None:
            results["intermediate" if self.detail.intermediate else "predecessors"] = state.P
        return results


def _some_rows(size: int) -> Iterator[slice]:
    """Return the rows of a square matrix that are copied at a time."""
    chunk = chunk_rows(size)
    return (slice(top, top + chunk) for top in range(0, size, chunk))
