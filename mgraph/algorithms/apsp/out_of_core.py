"""The blocked Floyd-Warshall algorithm on a matrix that is larger than its device's memory.

The matrix lies in host memory or in a temporary file, cut into strips of whole block rows. The device holds three
strips: one being computed, one arriving and one leaving; where memory is scarce, only one. A round of supersteps
eliminates the pivots of one strip. First that strip eliminates its own pivots and keeps each pivot row as it is at its
turn; then every other strip is updated with these rows. A shard that holds a range of rows does the same between two of
its own pivots, so the result has the same bits as the blocked algorithm in memory, and a strip is a
`mgraph.matrices.floyd_warshall.MatrixShard` too.

While a strip of h rows is updated through h pivots, the next strip arrives. The copies are hidden if h is above the
rate of the product divided by the elements copied per second (1,130 rows of float32 on an H200).

A checkpoint is written after a round, when all strips have been written back: the matrix is then that of the blocked
algorithm in memory after as many pivots. So a call goes on from it with other strips, or in memory, and the other way
round.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ... import device as devices
from ...arrays import Array, in_file
from ...kernels import minplus as minplus_kernels
from ...kernels.minplus import Panels
from ...matrices.distance_matrix import NO_CYCLE, Part, empty, fill, finished, raise_negative_cycle, rows_of
from ...matrices.floyd_warshall import FloydWarshall, MatrixShard, panels
from ...planning.plan import Plan
from ...runtime.checkpoints import Piece, Saved, fingerprint_of
from ...runtime.communicator import Communicator
from .detail import AllPairsDetail


@dataclass
class Strip:
    """A buffer on the device for a strip of the matrix and its labels, and the event after which it is free."""

    D: Array
    P: Array | None
    free: Any


@dataclass
class Matrix:
    """The state: the matrix outside the device, the strip buffers on it, and the pivot rows of a round."""

    device: devices.Device
    kernels: minplus_kernels.Operations
    D: np.ndarray
    P: np.ndarray | None
    strips: list[Strip]
    rounds: list[Panels]  # the panels of each block of pivots in a strip
    cycle: Array
    aside: Any  # the stream for look-ahead
    arriving: Any  # the streams that copy strips to and from the device
    leaving: Any
    arrived: Any = None  # the event after which the next superstep's strip is on the device; None if it is not fetched
    eliminated: int = 0  # blocks of pivots that were eliminated before the call went on from a checkpoint
    stored: dict[int, Any] = field(default_factory=dict)  # for each strip, the event after which it was written back


class OutOfCore(FloydWarshall):
    """The blocked Floyd-Warshall algorithm, strip by strip."""

    COPIED: ClassVar[bool] = False  # the matrix is too large

    detail: AllPairsDetail

    def __init__(self, plan: Plan[AllPairsDetail], nonnegative: bool) -> None:
        super().__init__(plan, nonnegative)
        self.bounds = [(top, min(plan.n, top + self.detail.strip)) for top in range(0, plan.n, self.detail.strip)]

    def load(self, shard: int, piece: Part, device: devices.Device) -> Any:
        """Return the state, with the matrix filled strip by strip on the device and copied out."""
        plan, dtype = self.plan, np.dtype(self.detail.computed)
        shape = plan.n, plan.n
        D = _outside(shape, dtype, device, plan.disk_bytes > 0)
        P = _outside(shape, np.dtype(np.int32), device, plan.disk_bytes > 0) if self.detail.labelled else None
        strips = [
            Strip(
                empty(self.detail.strip, plan.n, dtype, device),
                None if P is None else empty(self.detail.strip, plan.n, np.int32, device),
                device.current_stream().record(),
            )
            for _ in range(self.detail.buffers)
        ]
        for top, bottom in self.bounds:
            buffer = strips[0]
            own = buffer.D[: bottom - top]
            labels = None if buffer.P is None else buffer.P[: bottom - top]
            fill(own, labels, rows_of(piece, top, bottom), (top, 0), device, plan)
            device.copy(D[top:bottom], own)
            if P is not None:
                device.copy(P[top:bottom], labels)
            device.synchronize()
        # Column panels are used by one block while those of the next are prepared, so two suffice. Row panels and
        # factors are kept for the whole round.
        columns = [panels(plan, self.detail.strip, 0, device).C for _ in range(2)]
        rounds = [
            panels(plan, 0, plan.n, device)._replace(C=columns[number % 2])
            for number in range(-(-self.detail.strip // self.detail.block))
        ]
        return Matrix(
            device=device,
            kernels=minplus_kernels.on(device),
            D=D,
            P=P,
            strips=strips,
            rounds=rounds,
            cycle=device.xp.full(1, NO_CYCLE, np.int32),
            aside=device.stream(),
            arriving=device.stream(),
            leaving=device.stream(),
        )

    def step(self, state: Any, first: int, limit: int, comm: Communicator) -> int:
        """Update one strip through the pivots of the round's strip."""
        count = len(self.bounds)
        if first >= count * count:
            return 0
        s, main = state, state.device.current_stream()
        strip, pivots = self._strip(first), first // count
        top, bottom = self.bounds[strip]
        buffer = s.strips[first % self.detail.buffers]
        D, P = buffer.D[: bottom - top], None if buffer.P is None else buffer.P[: bottom - top]
        if s.arrived is None:
            self._fetch(s, first)
        main.wait_event(s.arrived)
        shard = MatrixShard(
            device=s.device,
            kernels=s.kernels,
            rows=(top, bottom),
            columns=(0, self.plan.n),
            D=D,
            P=P,
            panels=s.rounds,
            aside=s.aside,
            cycle=s.cycle,
        )
        begin, end = (-(-bound // self.detail.block) for bound in self.bounds[pivots])
        begin = max(begin, s.eliminated)
        if self.detail.look_ahead:
            self.look_ahead(shard, begin, end, comm)
        else:
            for number in range(begin, end):
                self._factor(shard, number)
                self._solve(shard, number, comm)
                self._update(shard, number)
        computed = main.record()
        with s.leaving:
            s.leaving.wait_event(computed)
            s.device.copy(s.D[top:bottom], D)
            if s.P is not None:
                s.device.copy(s.P[top:bottom], P)
            buffer.free = s.stored[strip] = s.leaving.record()
        if first + 1 < count * count:
            self._fetch(s, first + 1)
        else:
            main.wait_event(buffer.free)
        return 1

    def resume_details(self) -> dict[str, Any]:
        """Return the supersteps of a round, and the pivots that it eliminates."""
        return {"supersteps": len(self.bounds), "pivots": self.detail.strip}

    def settled(self, step: int) -> bool:
        """Return whether a round has ended: within one, the pivot rows matter too."""
        return step % len(self.bounds) == 0

    def fingerprint(self, state: Any, shard: int) -> int:
        """Return the fingerprint of the matrix as it was loaded; computed on the device, strip by strip."""
        found = 0
        for top, bottom in self.bounds:
            own = state.strips[0].D[: bottom - top]
            state.device.copy(own, state.D[top:bottom])
            found += fingerprint_of([Piece("distances", own, (top, 0))])
        return found

    def pieces(self, state: Any, shard: int) -> list[Piece]:
        """Return the matrix once all strips have been written back, and the pivot found on a negative cycle."""
        state.leaving.synchronize()
        return super().pieces(state, shard)

    def resumed(self, state: Any, shard: int, saved: Saved) -> int:
        """Fill the matrix; go on with the first strip of which not all pivots are eliminated."""
        super().resumed(state, shard, saved)
        state.eliminated = self.blocks_eliminated(saved)
        done = sum(bottom <= state.eliminated * self.detail.block for _, bottom in self.bounds)
        return done * len(self.bounds)

    def collect(self, state: Any, comm: Communicator) -> dict[str, Array]:
        """Return the matrix in place, or raise NegativeCycleError if a diagonal element is negative."""
        raise_negative_cycle(state.cycle, comm, None if self.nonnegative else state.D)
        state.strips.clear()
        state.rounds.clear()
        wanted, narrow = np.dtype(self.plan.dtype), None
        if state.D.dtype != wanted:
            narrow = _outside(state.D.shape, wanted, state.device, self.plan.disk_bytes > 0)
        return finished(state.D, state.P, self.plan, self.nonnegative, narrow)

    def _strip(self, number: int) -> int:
        """Return the strip of a superstep: in a round, the pivots' own strip first, then the next ones, cyclically.

        In this order a strip's next turn comes as late as possible, long after it was written back.
        """
        pivots, turn = divmod(number, len(self.bounds))
        return (pivots + turn) % len(self.bounds)

    def _fetch(self, state: Matrix, number: int) -> None:
        """Start copying a superstep's strip to the device, after its last write-back and once its buffer is free."""
        s, strip = state, self._strip(number)
        top, bottom = self.bounds[strip]
        buffer = s.strips[number % self.detail.buffers]
        with s.arriving:
            s.arriving.wait_event(buffer.free)
            if strip in s.stored:
                s.arriving.wait_event(s.stored[strip])
            s.device.copy(buffer.D[: bottom - top], s.D[top:bottom])
            if buffer.P is not None and s.P is not None:
                s.device.copy(buffer.P[: bottom - top], s.P[top:bottom])
            s.arrived = s.arriving.record()


def _outside(shape: tuple[int, int], dtype: np.dtype, device: devices.Device, on_disk: bool) -> np.ndarray:
    """Return an uninitialised matrix in host memory, or one in a temporary file."""
    return in_file(shape, dtype) if on_disk else device.pinned(shape, dtype)
