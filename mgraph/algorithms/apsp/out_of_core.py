"""The blocked Floyd-Warshall algorithm on a matrix that is larger than its device.

The matrix lies in the host's memory, or in a temporary file, in strips of whole block rows. There is room on
the device for one strip that is computed, one that arrives and one that leaves; where memory is scarce, for
one. A round of supersteps eliminates the pivots of one strip: first that strip by itself, whose pivots' rows
are kept as they are when their turns come; then every other strip is carried past them. This is what a shard
does between two of its own pivots when the shards are ranges of rows, so the result has the same bits as the
blocked algorithm in memory, and here too a strip is a `mgraph.matrices.floyd_warshall.MatrixShard`.

A strip of h rows is carried past h pivots while the next one arrives: with h above about the rate of the
product over the elements that arrive a second (1,130 rows of float32 on an H200), the copies are hidden.
"""

import tempfile
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ... import device as devices
from ...kernels import minplus as minplus_kernels
from ...matrices.distance_matrix import NO_CYCLE, Part, empty, fill, finished, raise_negative_cycle, rows_of
from ...matrices.floyd_warshall import FloydWarshall, MatrixShard, Panels, panels
from ...planning.plan import Plan
from ...runtime.communicator import Communicator
from .plan import AllPairsDetail

Array = Any


@dataclass
class Strip:
    """Room on the device for a strip of the matrix and its labels, and the event that it was last free."""

    D: Array
    P: Array | None
    free: Any


@dataclass
class Matrix:
    """The state: the matrix outside the device, the strips on it, and the pivots' rows of a round."""

    device: devices.Device
    kernels: minplus_kernels.Operations
    D: np.ndarray
    P: np.ndarray | None
    strips: list[Strip]
    rounds: list[Panels]  # of each block of a strip's pivots
    cycle: Array
    aside: Any  # streams: the one that looks ahead, and those of the strips that come and go
    arriving: Any
    leaving: Any
    arrived: Any  # the event that the next superstep's strip is there
    stored: dict[int, Any] = field(default_factory=dict)  # the event that a strip was last written back


class OutOfCore(FloydWarshall):
    """The blocked Floyd-Warshall algorithm, strip by strip."""

    detail: AllPairsDetail

    def __init__(self, plan: Plan[AllPairsDetail], nonnegative: bool) -> None:
        super().__init__(plan, nonnegative)
        self.bounds = [(top, min(plan.n, top + self.detail.strip)) for top in range(0, plan.n, self.detail.strip)]

    def load(self, shard: int, piece: Part, device: devices.Device) -> Any:
        """Return the matrix, made strip by strip on the device and written to where it will lie."""
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
            room = strips[0]
            own = room.D[: bottom - top]
            labels = None if room.P is None else room.P[: bottom - top]
            fill(own, labels, rows_of(piece, top, bottom), (top, 0), device, plan)
            device.copy(D[top:bottom], own)
            if P is not None:
                device.copy(P[top:bottom], labels)
            device.synchronize()
        # Columns are needed in one round and made ready in the next, rows and factors in all.
        columns = [panels(plan, self.detail.strip, 0, device).C for _ in range(2)]
        rounds = [panels(plan, 0, plan.n, device) for _ in range(0, self.detail.strip, self.detail.block)]
        for number, made in enumerate(rounds):
            made.C = columns[number % 2]
        state = Matrix(
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
            arrived=None,
        )
        self._fetch(state, 0)
        return state

    def step(self, state: Any, first: int, limit: int, comm: Communicator) -> int:
        """Carry one strip past the pivots of the round's strip."""
        count = len(self.bounds)
        if first >= count * count:
            return 0
        s, main = state, state.device.current_stream()
        strip, pivots = self._strip(first), first // count
        top, bottom = self.bounds[strip]
        room = s.strips[first % self.detail.buffers]
        D, P = room.D[: bottom - top], None if room.P is None else room.P[: bottom - top]
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
            room.free = s.stored[strip] = s.leaving.record()
        if first + 1 < count * count:
            self._fetch(s, first + 1)
        else:
            main.wait_event(room.free)
        return 1

    def collect(self, state: Any, comm: Communicator) -> dict[str, Array]:
        """Return the matrix, where it lies, or raise if a vertex's own distance is negative."""
        raise_negative_cycle(state.cycle, comm, None if self.nonnegative else state.D)
        state.strips.clear()
        state.rounds.clear()
        wanted, narrow = np.dtype(self.plan.dtype), None
        if state.D.dtype != wanted:
            narrow = _outside(state.D.shape, wanted, state.device, self.plan.disk_bytes > 0)
        return finished(state.D, state.P, self.plan, self.nonnegative, narrow)

    def _strip(self, number: int) -> int:
        """Return the strip of a superstep: in a round, its own first, then those after and before it.

        So a strip's next turn comes as late as can be, when it has long been written back.
        """
        pivots, turn = divmod(number, len(self.bounds))
        return (pivots + turn) % len(self.bounds)

    def _fetch(self, state: Matrix, number: int) -> None:
        """Let the strip of a superstep arrive, once it was written back and there is room for it."""
        s, strip = state, self._strip(number)
        top, bottom = self.bounds[strip]
        room = s.strips[number % self.detail.buffers]
        with s.arriving:
            s.arriving.wait_event(room.free)
            if strip in s.stored:
                s.arriving.wait_event(s.stored[strip])
            s.device.copy(room.D[: bottom - top], s.D[top:bottom])
            if room.P is not None and s.P is not None:
                s.device.copy(room.P[: bottom - top], s.P[top:bottom])
            s.arrived = s.arriving.record()


def _outside(shape: tuple[int, int], dtype: np.dtype, device: devices.Device, on_disk: bool) -> np.ndarray:
    """Return an uninitialised matrix in the host's memory, or in a file that goes when the array does."""
    if not on_disk:
        return device.pinned(shape, dtype)
    with tempfile.TemporaryFile() as file:
        return np.memmap(file, dtype, "w+", shape=shape)
