"""The executor of one device, in this process."""

import contextlib
from collections.abc import Callable
from typing import Any

from .. import device as devices
from ..device.clock import clock
from ..planning.devices import DeviceSpec, spec_of
from ..planning.plan import Plan
from .checkpoints import Checkpoints, Keeping, Writer, filled, held, lasting
from .communicator import Solo
from .program import Outcome, Pace, Program, Progress, advance, log_plan, memory_errors


class Direct:
    """One device, in this process."""

    def __init__(self, device: devices.Device) -> None:
        self.place: devices.Device | None = device
        self.device = device
        self.specs: tuple[DeviceSpec, ...] = (spec_of(device),)

    def run(
        self,
        program: Program,
        piece: Callable[[int], Any],
        plan: Plan,
        progress: Progress | None,
        checkpoints: Checkpoints | None = None,
    ) -> Outcome:
        """Run `program` on the device; results are arrays of it."""
        comm = Solo()
        keeping: Keeping | None = None
        writer: Writer | None = None
        log_plan(plan)
        with memory_errors(plan.algorithm, plan), self.device.active(), held(checkpoints):
            try:
                begun = self._moment()
                state = program.load(0, piece(0), self.device)
                k, finished = 0, False
                if checkpoints is not None:
                    kept, place = lasting(program, plan), checkpoints.store.place
                    keeping = Keeping(checkpoints, kept, kept.fingerprint(state, 0), plan)
                    k = keeping.begin(lambda number: [filled(kept, state, 0, place, number)])
                loaded, pace = self._moment(), Pace(plan, k)
                while not finished:
                    first = k
                    order = None if keeping is None else keeping.order()
                    k, finished = advance(program, state, first, plan.span, comm)
                    pace.ran(first, k, finished)
                    if keeping is not None and writer is not None and writer.done:
                        keeping.take([writer.report()])
                        writer = None
                    if keeping is not None and order is not None and not finished and kept.settled(k):
                        writer = Writer(order, kept.pieces(state, 0), self.device, 0)
                        writer.start()
                        keeping.ordered(k)
                        if writer.pauses:
                            writer.wait()
                    solved = self._moment()
                    if progress is not None or not finished:  # otherwise collecting need not wait
                        self.device.synchronize()
                    if progress is not None:
                        progress(k, plan.steps)
                arrays = program.collect(state, comm)
                collected = self._moment()
                self.device.synchronize()
            except BaseException:
                # Other streams may still write to memory that the next call gets.
                with contextlib.suppress(Exception):
                    self.device.settle()
                raise
            finally:
                if writer is not None:
                    writer.stop()
                    writer.wait()
            if keeping is not None:
                keeping.end()
            timings = {
                "load": self._seconds(begun, loaded),
                "solve": self._seconds(loaded, solved),
                "collect": self._seconds(solved, collected),
                "compile": collected[1] - begun[1],
            }
        return Outcome(arrays, timings)

    def _moment(self) -> tuple[devices.Mark, float]:
        """Return a mark after the work so far, and the seconds spent compiling and loading kernels."""
        return self.device.mark(), clock().seconds()

    def _seconds(self, start: tuple[devices.Mark, float], end: tuple[devices.Mark, float]) -> float:
        """Return the seconds between two moments, without those spent compiling and loading kernels."""
        return max(0.0, self.device.seconds_between(start[0], end[0]) - (end[1] - start[1]))
