"""The CPU as a device: NumPy arrays and Numba kernels."""

import contextlib
import functools
import platform
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .. import limits
from ..arguments import checked_integer
from ..arrays import places_of
from .base import Array, Immediate, Peak
from .clock import clock
from .profile import Recorder
from .transfer import to_host


class HostDevice:
    """The CPU: NumPy arrays, and kernels compiled by Numba."""

    kind = "cpu"
    name = "cpu"
    xp: Any = np
    #: Rows of a matrix start on multiples of this many elements.
    row_alignment = 1
    #: Profiler notified of each kernel call, or None.
    recorder: "Recorder | None" = None

    def model(self) -> str:
        """Return the name of the hardware."""
        return _host_model()

    def available_memory(self) -> int:
        """Return the bytes that this process can allocate now, within the limits of its containers and resources."""
        return limits.available_memory()

    def places(self, values: Array, ordered: Array) -> Array:
        """Return where each value would be inserted into an ascending array, which is read in its order."""
        return places_of(values, ordered)

    #: Returns the time; work is done when a call returns.
    mark = staticmethod(time.perf_counter)

    #: Returns the seconds between two marks: the later one less the earlier.
    seconds_between = staticmethod(float.__rsub__)

    @contextlib.contextmanager
    def peak_memory(self) -> Iterator["Peak"]:
        """Measure the peak memory that NumPy and Python allocate in the block, as tracemalloc counts it."""
        peak = Peak()
        tracemalloc.start()
        try:
            yield peak
            peak.bytes = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    def asarray(self, array: Array) -> Array:
        """Return `array` as a NumPy array; without a copy if it is one already."""
        return to_host(array)

    #: Do nothing: on the host, work is done when a call returns, and freed memory serves all sizes.
    synchronize: Callable[[], None] = staticmethod(type(None))
    settle = trim = synchronize

    def pinned(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """Return an uninitialised array."""
        return np.empty(shape, dtype)

    def page_locked(self, array: np.ndarray) -> bool:
        """Return False: no device copies to it."""
        return False

    def locked(self, array: np.ndarray) -> contextlib.AbstractContextManager[None]:
        """Return a context without effect: no device copies the array."""
        return contextlib.nullcontext()

    def copy(self, target: Array, source: Array) -> None:
        """Copy a matrix."""
        np.copyto(target, source)

    def stream(self) -> "Immediate":
        """Return a stream; on the host, work is done when a call returns."""
        return Immediate()

    def current_stream(self) -> "Immediate":
        """Return a stream; on the host, work is done when a call returns."""
        return Immediate()

    #: Returns a context without effect, as the host is always current: a new lock, which is entered without Python.
    active = staticmethod(threading.Lock)

    @contextlib.contextmanager
    def limited(self, blocks: int) -> Iterator[None]:
        """Run the block with at most this many threads: see `CudaDevice.limited`."""
        with clock():  # importing Numba counts as compiling
            from .numba import numba

        before = numba.get_num_threads()
        numba.set_num_threads(min(checked_integer("blocks", blocks, 1), before))
        try:
            yield
        finally:
            numba.set_num_threads(before)


@functools.cache
def _host_model() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
