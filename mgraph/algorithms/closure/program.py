"""Transitive closure: the program over a grid of shards; ``kernels/closure.cu`` describes the algorithm."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...dtypes import infinity
from ...graph import in_turn
from ...kernels import closure as closure_kernels
from ...kernels.minplus import Panels
from ...matrices.distance_matrix import NO_CYCLE, Part, empty
from ...matrices.floyd_warshall import BlockedElimination, MatrixShard
from ...matrices.plan import MatrixDetail
from ...planning.plan import Plan
from ...runtime.checkpoints import Bits, NumberRange
from ...runtime.communicator import Communicator


class Closure(BlockedElimination[closure_kernels.Operations]):
    """The blocked Warshall algorithm over a grid of shards."""

    facts: ClassVar[tuple[str, ...]] = ("counts",)

    BITS: ClassVar[int] = 32

    def __init__(self, plan: Plan[MatrixDetail], reflexive: bool) -> None:
        super().__init__(plan, nonnegative=True)
        self.reflexive = reflexive

    def identity(self) -> dict[str, Any]:
        """Return what a checkpoint must have been written for: by blocks of any length, as bits are not rounded."""
        return super().identity() | {"reflexive": self.reflexive, "block": None}

    def allowed(self) -> Mapping[str, NumberRange | Bits]:
        """Return a bit for each vertex in a row."""
        return {**super().allowed(), "distances": Bits(self.plan.n)}

    def load(self, shard: int, piece: Part, device: devices.Device) -> MatrixShard[closure_kernels.Operations]:
        """Return the shard with the bits of its edges set and its panels allocated."""
        plan, xp, kernels = self.plan, device.xp, closure_kernels.on(device)
        rows, columns = plan.ranges[shard], self.detail.columns[shard]
        height, width = rows[1] - rows[0], columns[1] - columns[0]
        kernels.compile_ahead(self.detail.block)
        D = empty(height, -(-width // 32), np.uint32, device)
        _fill(D, piece, (rows[0], columns[0]), (height, width), self.reflexive, device)
        panels = []
        for _ in range(2 if self.detail.look_ahead else 1):
            M, R, C = kernels.panels(xp, np.uint32, height, width, self.detail.block)
            panels.append(Panels(M, R, None, C))
        cycle = xp.full(1, NO_CYCLE, np.int32)
        return MatrixShard(device, kernels, rows, columns, D, None, panels, device.stream(), cycle)

    def collect(self, state: MatrixShard[closure_kernels.Operations], comm: Communicator) -> dict[str, Array]:
        """Return the shard's bits, and the number of set bits in each row."""
        counts = state.device.xp.empty(len(state.D), np.int64)
        state.kernels.count(state.D, counts)
        return {"words": state.D, "counts": counts}

    def _update(
        self,
        state: MatrixShard[closure_kernels.Operations],
        number: int,
        rows: slice | None = None,
        columns: slice | None = None,
        skip: tuple[int, int, int, int] = (0, 0, 0, 0),
    ) -> None:
        """Update the shard's rectangle, or some rows or columns of it.

        `skip` is ignored: the bits to be skipped are final, and updating them again changes nothing.
        """
        s, p = state, state.panels[number % len(state.panels)]
        down = (0, s.rows[1] - s.rows[0]) if rows is None else (rows.start, rows.stop)
        across = (0, s.columns[1] - s.columns[0]) if columns is None else (columns.start, columns.stop)
        if down[1] > down[0] and across[1] > across[0]:
            b = min(self.detail.block, self.plan.n - number * self.detail.block)
            s.kernels.update(s.D, p, b, down, across)


def _fill(
    D: Array,
    piece: Part,
    corner: tuple[int, int],
    shape: tuple[int, int],
    reflexive: bool,
    device: devices.Device,
) -> None:
    """Set the bits of a part of the input, a rectangle of `shape` from `corner` on."""
    xp, kernels = device.xp, closure_kernels.on(device)
    start = max(corner)
    end = max(start, min(corner[0] + shape[0], corner[1] + shape[1]))
    if piece.edges is not None:
        D.fill(0)
        kernels.scatter(D, device.asarray(piece.edges.indptr), device.asarray(piece.edges.indices))
    elif piece.dense is not None:
        own = xp.arange(start, end)
        row, column = own - corner[0], own - corner[1]
        for some, part in in_turn(piece.dense):
            lengths = device.asarray(part)
            present = xp.ascontiguousarray(lengths != infinity(np.dtype(lengths.dtype)))
            here = (some.start <= row) & (row < some.stop)
            # A diagonal element of a distance matrix is an edge only if it is negative.
            own_row = row[here] - some.start
            present[own_row, column[here]] = lengths[own_row, column[here]] < 0
            kernels.pack(present, D[some])
    if reflexive:
        kernels.set_diagonal(D, start - corner[0], start - corner[1], end - start)
