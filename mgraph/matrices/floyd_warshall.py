"""The blocked Floyd-Warshall algorithm over a grid of shards.

The algorithm and its sources are described in ``kernels/minplus.cu``. The matrix is cut into a grid of rectangles of
whole blocks, one for each shard. A round of three supersteps eliminates one block of pivots:

0. the shard on the diagonal factors the pivots' block,
1. the shards in its grid row solve their part of the pivot rows, those in its grid column their part of the pivot
   columns; the rows are broadcast down the grid's columns, the columns along its rows,
2. every shard updates its rectangle.

Unlike in a matrix factorisation, every element is updated in every round. So one rectangle per shard balances as well
as a block-cyclic layout, which would only distribute the small work on the pivots themselves.

If the plan asks for look-ahead and a span has whole rounds, the next pivot rows and columns are updated first. While
the rest of the matrix is updated, a second stream factors, solves and broadcasts them into a second set of panels.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from .. import device as devices
from ..arrays import Array
from ..errors import CheckpointError
from ..graph import Compressed
from ..graph.potentials import edge_lengths
from ..kernels import minplus as minplus_kernels
from ..kernels import sssp_many as sssp_many_kernels
from ..kernels.minplus import Panels
from ..planning.plan import Plan
from ..runtime.checkpoints import Saved
from ..runtime.communicator import Communicator
from .distance_matrix import NO_CYCLE, Part, empty, fill, finished, raise_negative_cycle
from .plan import MatrixDetail
from .resumable import ResumableMatrix


class Phases(Protocol):
    """The operations that `BlockedElimination` needs of its kernels, named as in `mgraph.kernels.minplus`."""

    def factor(self, D: Array, row: int, column: int, pivot: int, b: int, M: Array, cycle: Array) -> None:
        """Factor the diagonal block of some pivots."""

    def solve_rows(self, D: Array, P: Array | None, row: int, pivot: int, b: int, panels: Panels) -> None:
        """Solve the pivots' rows."""

    def solve_columns(self, D: Array, column: int, b: int, panels: Panels) -> None:
        """Solve the pivots' columns."""


Kernels = TypeVar("Kernels", bound=Phases)


@dataclass
class MatrixShard(Generic[Kernels]):
    """A shard's state: its rectangle of the matrix and the panels."""

    device: devices.Device
    kernels: Kernels
    rows: tuple[int, int]
    columns: tuple[int, int]
    D: Array  # distances
    P: Array | None  # labels: predecessors or intermediate vertices
    panels: list[Panels]  # of this round, and with look-ahead of the next
    aside: Any  # the stream for look-ahead
    cycle: Array  # the first pivot found on a negative cycle
    incoming: Compressed | None = None  # all edges by target, to derive predecessors from


class BlockedElimination(ResumableMatrix, Generic[Kernels]):
    """The rounds of a blocked elimination over a grid of shards, whatever its kernels compute."""

    def __init__(self, plan: Plan[MatrixDetail], nonnegative: bool) -> None:
        self.plan = plan
        self.detail = plan.detail
        self.nonnegative = nonnegative

    def step(self, state: MatrixShard[Kernels], first: int, limit: int, comm: Communicator) -> int:
        """Run one phase of one round; with look-ahead, as many whole rounds as `limit` allows."""
        number, phase = divmod(first, 3)
        rounds = -(-self.plan.n // self.detail.block)
        if number >= rounds:
            return 0
        if self.detail.look_ahead and phase == 0 and limit >= 3:
            last = min(rounds, number + limit // 3)
            self.look_ahead(state, number, last, comm)
            return 3 * (last - number)
        if phase == 0:
            self._factor(state, number)
        elif phase == 1:
            self._solve(state, number, comm)
        else:
            self._update(state, number)
        return 1

    def settled(self, step: int) -> bool:
        """Return whether a round has ended: within one, the panels matter too."""
        return step % 3 == 0

    def resume_details(self) -> dict[str, Any]:
        """Return the supersteps of a round, and the pivots that it eliminates."""
        return {"supersteps": 3, "pivots": self.detail.block}

    def resumed(self, state: Any, shard: int, saved: Saved) -> int:
        """Fill the shard's rectangle; go on with the first block of which not all pivots are eliminated."""
        super().resumed(state, shard, saved)
        return 3 * self.blocks_eliminated(saved)

    def blocks_eliminated(self, saved: Saved) -> int:
        """Return the blocks of pivots, as this program cuts them, that a checkpoint's rounds had eliminated."""
        call, step = saved.manifest.call, saved.manifest.step
        supersteps, pivots = call.get("supersteps"), call.get("pivots")
        if type(supersteps) is not int or type(pivots) is not int or min(supersteps, pivots) < 1:
            raise CheckpointError(f"{saved.store}: the checkpoint does not say how long its rounds are")
        rounds, n = -(-self.plan.n // pivots), self.plan.n
        if step % supersteps or step // supersteps > rounds:
            raise CheckpointError(f"{saved.store}: no checkpoint can have been written at superstep {step}")
        if step // supersteps == rounds:
            return -(-n // self.detail.block)
        return step // supersteps * pivots // self.detail.block

    def look_ahead(self, state: MatrixShard[Kernels], first: int, last: int, comm: Communicator) -> None:
        """Run the rounds `first` to `last` - 1 with look-ahead."""
        main = state.device.current_stream()
        ready = self._pivots_aside(state, first, comm, main.record())
        for number in range(first, last):
            main.wait_event(ready)
            if number + 1 == last:
                self._update(state, number)
                return
            rows, columns = self._pivots(state, number + 1)
            self._update(state, number, rows=rows)
            self._update(state, number, columns=columns)
            ready = self._pivots_aside(state, number + 1, comm, main.record())
            self._update(state, number, skip=(rows.start, rows.stop, columns.start, columns.stop))

    def _pivots_aside(self, state: MatrixShard[Kernels], number: int, comm: Communicator, after: Any) -> Any:
        """Factor and solve a round's pivots on the second stream, after an event; return the event of its end."""
        with state.aside:
            state.aside.wait_event(after)
            self._factor(state, number)
            self._solve(state, number, comm)
            return state.aside.record()

    def _pivots(self, state: MatrixShard[Kernels], number: int) -> tuple[slice, slice]:
        """Return the shard's rows and its columns that are a round's pivots; either may be empty."""
        pivot = number * self.detail.block
        return _within(state.rows, pivot, self.detail.block), _within(state.columns, pivot, self.detail.block)

    def _factor(self, state: MatrixShard[Kernels], number: int) -> None:
        s, p = state, state.panels[number % len(state.panels)]
        rows, columns = self._pivots(s, number)
        b = rows.stop - rows.start
        if b and columns.stop > columns.start:
            s.kernels.factor(s.D, rows.start, columns.start, number * self.detail.block, b, p.M, s.cycle)

    def _solve(self, state: MatrixShard[Kernels], number: int, comm: Communicator) -> None:
        """Solve the pivot rows and columns on the shards that own them, and broadcast them along the grid."""
        s, p = state, state.panels[number % len(state.panels)]
        pivot = number * self.detail.block
        b = min(self.detail.block, self.plan.n - pivot)
        high, wide = self.detail.grid
        row, column = divmod(comm.rank, wide)
        pivot_row = next(r for r in range(high) if _holds(self.plan.ranges[r * wide], pivot))
        pivot_column = next(c for c in range(wide) if _holds(self.detail.columns[c], pivot))
        corner = pivot_row * wide + pivot_column
        rows, columns = self._pivots(s, number)
        along = [row * wide + c for c in range(wide)]
        down = [r * wide + column for r in range(high)]
        if row == pivot_row:
            comm.broadcast(p.M, corner, along)
        if column == pivot_column:
            comm.broadcast(p.M, corner, down)
        if rows.stop > rows.start:
            s.kernels.solve_rows(s.D, s.P, rows.start, pivot, b, p)
        if columns.stop > columns.start:
            s.kernels.solve_columns(s.D, columns.start, b, p)
        comm.broadcast(p.R, pivot_row * wide + column, down)
        if p.labels is not None:
            comm.broadcast(p.labels, pivot_row * wide + column, down)
        comm.broadcast(p.C, row * wide + pivot_column, along)

    @abstractmethod
    def _update(
        self,
        state: MatrixShard[Kernels],
        number: int,
        rows: slice | None = None,
        columns: slice | None = None,
        skip: tuple[int, int, int, int] = (0, 0, 0, 0),
    ) -> None:
        """Update the shard's rectangle, or only some rows or columns; skip rows and columns (first, end) of `skip`."""


class FloydWarshall(BlockedElimination[minplus_kernels.Operations]):
    """The blocked Floyd-Warshall algorithm over a grid of shards."""

    def load(self, shard: int, piece: Part, device: devices.Device) -> MatrixShard[minplus_kernels.Operations]:
        """Return the shard with its distance matrix filled in and its panels allocated."""
        plan, dtype = self.plan, np.dtype(self.detail.computed)
        rows, columns = plan.ranges[shard], self.detail.columns[shard]
        height, width = rows[1] - rows[0], columns[1] - columns[0]
        kernels = minplus_kernels.on(device)
        kernels.compile_ahead(dtype, self.detail.labelled and plan.predecessors, self.detail.labelled, self.nonnegative)
        D = empty(height, width, dtype, device)
        P = empty(height, width, np.int32, device) if self.detail.labelled else None
        fill(D, P, piece, (rows[0], columns[0]), device, plan)
        return MatrixShard(
            device=device,
            kernels=kernels,
            rows=rows,
            columns=columns,
            D=D,
            P=P,
            panels=[panels(plan, height, width, device) for _ in range(2 if self.detail.look_ahead else 1)],
            aside=device.stream(),
            cycle=device.xp.full(1, NO_CYCLE, np.int32),
            incoming=piece.incoming,
        )

    def collect(self, state: MatrixShard[minplus_kernels.Operations], comm: Communicator) -> dict[str, Array]:
        """Return the shard's part of the result, or raise on every shard if a diagonal element is negative."""
        D = None if self.nonnegative else state.D
        raise_negative_cycle(state.cycle, comm, D, (state.rows[0], state.columns[0]))
        if state.incoming is not None:
            state.panels.clear()
            state.P = _derived(state)
        return finished(state.D, state.P, self.plan, self.nonnegative)

    def _update(
        self,
        state: MatrixShard[minplus_kernels.Operations],
        number: int,
        rows: slice | None = None,
        columns: slice | None = None,
        skip: tuple[int, int, int, int] = (0, 0, 0, 0),
    ) -> None:
        """Update the shard's rectangle, or only some rows or columns; skip rows and columns (first, end) of `skip`."""
        s, p = state, state.panels[number % len(state.panels)]
        D, P = s.D, s.P
        if rows is not None:
            D, P, p = D[rows], None if P is None else P[rows], p._replace(C=p.C[:, rows])
        if columns is not None:
            D, P = D[:, columns], None if P is None else P[:, columns]
            p = p._replace(R=p.R[:, columns], labels=None if p.labels is None else p.labels[:, columns])
        if D.size:
            pivot = number * self.detail.block
            b = min(self.detail.block, self.plan.n - pivot)
            s.kernels.update(D, P, p, pivot, b, self.nonnegative, skip)


def _derived(state: MatrixShard[minplus_kernels.Operations]) -> Array:
    """Return the predecessors of finished distances: for each vertex, a neighbour before it on a shortest path.

    This reads every edge once for every row. If edges are few, that is much faster than recording labels for n pivots.
    """
    s, incoming = state, state.incoming
    assert incoming is not None
    P = empty(s.D.shape[0], s.D.shape[1], np.int32, s.device)
    edges = Compressed(s.device.asarray(incoming.indptr), s.device.asarray(incoming.indices), incoming.weights)
    lengths = edge_lengths(edges, None, np.dtype(s.D.dtype), s.device)
    sources = s.device.xp.arange(*s.rows, dtype=np.int32)
    sssp_many_kernels.on(s.device).predecessors(s.D, sources, (edges.indptr, edges.indices, lengths), P)
    return P


def panels(plan: Plan[MatrixDetail], rows: int, columns: int, device: devices.Device) -> Panels:
    """Return uninitialised panels for a rectangle of `rows` and `columns`."""
    M, R, C = minplus_kernels.on(device).panels(
        device.xp, np.dtype(plan.detail.computed), rows, columns, plan.detail.block
    )
    labels = device.xp.empty(R.shape, np.int32) if plan.detail.labelled and plan.predecessors else None
    return Panels(M, R, labels, C)


def _within(own: tuple[int, int], pivot: int, block: int) -> slice:
    """Return the part of a shard's rows (or columns) that are a block of pivots; a block lies in one shard."""
    first, last = own
    if not first <= pivot < last:
        return slice(0, 0)
    return slice(pivot - first, min(pivot + block, last) - first)


def _holds(own: tuple[int, int], pivot: int) -> bool:
    return own[0] <= pivot < own[1]
