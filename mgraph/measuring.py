"""Measuring times: medians of repeated work after a warm-up, by events on a GPU and the monotonic clock on a CPU."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import device as devices

#: Number of repetitions for a median.
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
    """Seconds of repeated calls; the first call, which prepares and compiles, is kept separately.

    ``processor`` is this process's CPU time in each call, summed over cores: on one core, the rest of a call's time
    went to other processes.
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

    Nothing runs between the calls, so that the processor stays warm. The result comes from a call whose time counts, so
    that it can be verified. If `call` returns a result of this library, its timings separate the solve from loading and
    collecting; otherwise the whole call counts as the solve.
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
