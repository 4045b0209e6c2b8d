"""Taking times: medians of work repeated after a warm-up, by events on a GPU, by the monotonic clock on a CPU."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import device as devices

#: Least number of times for a median.
REPEATS = 5


def median_seconds(device: devices.Device, work: Callable[[], object], repeats: int = REPEATS) -> float:
    """Return the median time of `work` on a device, after one warm-up."""
    return statistics.median(each_seconds(device, work, repeats))


def each_seconds(device: devices.Device, work: Callable[[], object], repeats: int = REPEATS) -> list[float]:
    """Return the times of `work` on a device, after one warm-up."""
    work()
    times = []
    with device.active():
        for _ in range(repeats):
            device.synchronize()
            start = device.mark()
            work()
            times.append(device.seconds_between(start, device.mark()))
    return times


@dataclass(frozen=True)
class Times:
    """Seconds that repeated calls have taken; the first one, which prepares and compiles, counts apart.

    ``processor`` is the time of all processors in the calls, of this process: on one core it says how much of a call's
    time others took.
    """

    first_call: float
    calls: tuple[float, ...]
    solves: tuple[float, ...]
    processor: tuple[float, ...]
    loads: tuple[float, ...] = ()
    collects: tuple[float, ...] = ()

    @property
    def seconds(self) -> float:
        """The median of the solves."""
        return statistics.median(self.solves)


def repeated(call: Callable[[], Any], repeats: int = REPEATS) -> tuple[Any, Times]:
    """Call once to warm up, then `repeats` times; return the last result and the times.

    Nothing is done between the calls, so that a processor that was warmed up is still so; the result is that of a
    call whose time counts, for it to be checked. `call` returns a result of this library, whose timings tell the solve
    apart from what is moved, or anything else: then the whole call is the solve.
    """
    calls: list[float] = []
    processor: list[float] = []
    timings: list[dict[str, float]] = []
    result = None
    for _ in range(repeats + 1):
        del result  # so that its memory can serve the next call
        at_work, started = time.process_time(), time.perf_counter()
        result = call()
        calls.append(time.perf_counter() - started)
        processor.append(time.process_time() - at_work)
        timings.append(getattr(result, "timings", {}))
    first, *calls = calls
    if not timings[0]:
        return result, Times(first, tuple(calls), tuple(calls), tuple(processor[1:]))
    solves, loads, collects = (tuple(each[part] for each in timings[1:]) for part in ("solve", "load", "collect"))
    return result, Times(first, tuple(calls), solves, tuple(processor[1:]), loads, collects)


def spread(times: tuple[float, ...]) -> float:
    """Return (greatest - least) / median of the times."""
    return (max(times) - min(times)) / statistics.median(times)
