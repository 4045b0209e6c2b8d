"""The executor of one device, in this process."""

import contextlib
from collections.abc import Callable
from typing import Any

from .. import device as devices
from ..device.clock import Clock, clock
from ..planning.devices import DeviceSpec, spec_of
from ..planning.plan import Plan
from .checkpoints import Checkpoints, Order, Report, Writer, filled
from .communicator import Solo
from .program import Outcome, Program, Progress, advance, log_plan, raise_with_numbers
from .spans import Spans


class Direct:
    """One device, in this process.

    Parameters
    ----------
    device : Device
        The device.
    small : bool
        Whether calls need so little memory that what the host had free a moment ago is good enough.
    """

    def __init__(self, device: devices.Device, small: bool = False) -> None:
        self.place: devices.Device | None = device
        self.device = device
        self.specs: tuple[DeviceSpec, ...] = (spec_of(device, recent=small),)

    def run(
        self,
        program: Program,
        piece: Callable[[int], Any],
        plan: Plan,
        progress: Progress | None,
        checkpoints: Checkpoints | None = None,
    ) -> Outcome:
        """Run `program` on the device; results are arrays of it."""
        log_plan(plan)
        compiled, mark = clock(), self.device.mark
        compiling = compiled.seconds
        shard = None
        with self.device.active():
            try:
                begun = mark(), compiling()
                shard = _Shard(program, plan, piece(0), self.device, compiled, progress is not None)
                spans = Spans(program, plan, checkpoints, shard)
                loaded = mark(), compiling()
                spans.run(progress)
                arrays = program.collect(shard.state, shard.comm)
                collected = mark(), compiling()
                self.device.synchronize()
            except BaseException as error:
                # Other streams may still write to memory that the next call gets.
                with contextlib.suppress(Exception):
                    self.device.settle()
                raise_with_numbers(plan.algorithm, plan, error)
                raise
            finally:
                if shard is not None and shard.writer is not None:
                    shard.writer.stop()
                    shard.writer.wait()
            if checkpoints is not None:
                spans.end()
            timings, between = {"compile": collected[1] - begun[1]}, self.device.seconds_between
            for name, start, end in (
                ("load", begun, loaded),
                ("solve", loaded, shard.solved),
                ("collect", shard.solved, collected),
            ):
                timings[name] = max(0.0, between(start[0], end[0]) - (end[1] - start[1]))
        return Outcome(arrays, timings)


class _Shard:
    """The shard of a run on one device.

    Attributes
    ----------
    solved : tuple
        The moment after the last span: a mark, and the seconds spent compiling and loading kernels.
    writer : Writer or None
        Writes a checkpoint.
    """

    solved: tuple[devices.Mark, float]

    def __init__(
        self, program: Any, plan: Plan, piece: Any, device: devices.Device, compiled: Clock, reports: bool
    ) -> None:
        self._program, self._span, self._device, self._reports = program, plan.span, device, reports
        self._clock = compiled
        self.comm, self.state = Solo(), program.load(0, piece, device)
        self.writer: Writer | None = None

    def fingerprint(self) -> int:
        """Return the fingerprint of the input."""
        return int(self._program.fingerprint(self.state, 0))

    def fill(self, place: str, number: int) -> list[int | str]:
        """Fill the state from a checkpoint."""
        return [filled(self._program, self.state, 0, place, number)]

    def span(self, first: int, order: Order | None) -> tuple[int, bool, list[Report | None]]:
        """Run a span of supersteps, and begin to write a checkpoint if that is ordered."""
        program, device, report = self._program, self._device, None
        most = self._span if order is None else order.span
        k, finished = advance(program, self.state, first, most, self.comm)
        if self.writer is not None and self.writer.done:
            report, self.writer = self.writer.report(), None
        if order is not None and not finished and program.settled(k):
            self.writer = Writer(order, program.pieces(self.state, 0), device, 0)
            self.writer.start()
            if self.writer.pauses:
                self.writer.wait()
        self.solved = device.mark(), self._clock.seconds()
        if self._reports or not finished:  # otherwise collecting need not wait
            device.synchronize()
        return k, finished, [report]
