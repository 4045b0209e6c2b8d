"""All-pairs shortest paths by repeated squaring in the (min, +) algebra.

EXTEND-SHORTEST-PATHS: if D holds the lengths of the shortest paths of at most m edges, its (min, +) square holds those
of at most 2m (Cormen, Leiserson, Rivest and Stein, "Introduction to algorithms", 25.1; the two-dimensional blocking is
that of `update` in ``kernels/minplus.cu``). So ceil(log2(n - 1)) products give all distances, where Floyd-Warshall
takes the time of one product. If weights may be negative it takes ceil(log2(n)) products, as a negative cycle may have
n edges.

A shard holds a range of rows of the matrix and of its square. A superstep takes a block of the product's inner indices:
its owner broadcasts these rows, and every shard relaxes its square through them. An element's predecessor comes from
the first inner index that attains its final value, and is kept where the value did not fall: so the predecessors of a
row form a tree even with cycles of weight zero.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...dtypes import kernel_infinity
from ...kernels import minplus as minplus_kernels
from ...kernels.minplus import Panels
from ...matrices.distance_matrix import NO_CYCLE, Part, empty, fill, finished, on_diagonal, raise_negative_cycle
from ...matrices.floyd_warshall import panels
from ...matrices.resumable import ResumableMatrix
from ...planning.plan import Plan
from ...runtime.checkpoints import Bits, NumberRange
from ...runtime.communicator import Communicator
from .detail import AllPairsDetail


@dataclass
class SquaringShard:
    """A shard's state: its rows of the matrix and of its square, each with labels, and the panels."""

    device: devices.Device
    kernels: minplus_kernels.Operations
    D: Array
    P: Array | None
    square: Array
    square_labels: Array | None
    panels: Panels
    cycle: Array


class Squaring(ResumableMatrix):
    """Repeated (min, +) squaring over ranges of rows."""

    def __init__(self, plan: Plan[AllPairsDetail], nonnegative: bool) -> None:
        self.plan = plan
        self.detail = plan.detail
        self.nonnegative = nonnegative
        self.products = plan.detail.products

    def load(self, shard: int, piece: Part, device: devices.Device) -> SquaringShard:
        """Return the shard with its rows of the matrix filled in and copied to the square."""
        plan, dtype = self.plan, np.dtype(self.detail.computed)
        first, last = plan.ranges[shard]
        D, square = (empty(last - first, plan.n, dtype, device) for _ in range(2))
        P = empty(last - first, plan.n, np.int32, device) if self.detail.labelled else None
        fill(D, P, piece, (first, 0), device, plan)
        square[...] = D
        labels = None if P is None else empty(last - first, plan.n, np.int32, device)
        if labels is not None:
            labels[...] = P
        buffers = panels(plan, last - first, plan.n, device)
        buffers.M.fill(kernel_infinity(dtype))  # nothing is eliminated: solving only copies rows and columns
        cycle = device.xp.full(1, NO_CYCLE, np.int32)
        return SquaringShard(device, minplus_kernels.on(device), D, P, square, labels, buffers, cycle)

    def matrices(self, state: SquaringShard) -> dict[str, Array | None]:
        """Return the shard's rows of the matrix and of its square."""
        square = {"square": state.square, "squarelabels": state.square_labels}
        return {**super().matrices(state), **square}

    def allowed(self) -> Mapping[str, NumberRange | Bits]:
        """Return vertices for the labels of both."""
        found = super().allowed()
        return {**found, "squarelabels": found["labels"]}

    def bytes_kept(self, shard: int) -> int:
        """Return the bytes of both."""
        return 2 * super().bytes_kept(shard)

    def step(self, state: SquaringShard, first: int, limit: int, comm: Communicator) -> int:
        """Relax the square through one block of inner indices."""
        s, p, n = state, state.panels, self.plan.n
        blocks = -(-n // self.detail.block)
        if first >= self.products * blocks:
            return 0
        inner = first % blocks * self.detail.block
        b = min(self.detail.block, n - inner)
        owner = next(r for r, (lo, hi) in enumerate(self.plan.ranges) if lo <= inner < hi)
        if comm.rank == owner:
            row = inner - self.plan.ranges[owner][0]
            s.kernels.solve_rows(s.D, s.P, row, inner, b, p)
        everyone = range(comm.size)
        comm.broadcast(p.R, owner, everyone)
        if p.labels is not None:
            comm.broadcast(p.labels, owner, everyone)
        s.kernels.solve_columns(s.D, inner, b, p)
        s.kernels.update(s.square, s.square_labels, p, inner, b, self.nonnegative)
        if first % blocks == blocks - 1:
            s.D[...] = s.square
            if s.P is not None:
                s.P[...] = s.square_labels
            if not self.nonnegative:
                self._mark_negative(s, comm)
        return 1

    def _mark_negative(self, state: SquaringShard, comm: Communicator) -> None:
        """Record the vertex of the most negative closed walk, in the first product that finds one.

        Later products would double the lengths of walks until integers wrap.
        """
        s, xp = state, state.device.xp
        if int(s.cycle[0]) != NO_CYCLE:
            return
        first = self.plan.ranges[comm.rank][0]
        lengths = on_diagonal(s.D, (first, 0)).astype(np.float64)
        least = xp.concatenate([xp.zeros(1), lengths]).min(keepdims=True)
        comm.allreduce(least, "min")
        worst = xp.flatnonzero((lengths == least) & (lengths < 0))
        if len(worst):
            s.cycle[0] = first + worst[0]
        comm.allreduce(s.cycle, "min")

    def collect(self, state: SquaringShard, comm: Communicator) -> dict[str, Array]:
        """Return the shard's rows of the result, or raise on every shard if there is a negative cycle."""
        if not self.nonnegative and not self.products:  # a single vertex: no product has checked its self-loop
            self._mark_negative(state, comm)
        raise_negative_cycle(state.cycle, comm)
        return finished(state.D, state.P, self.plan, self.nonnegative)
