"""The CPU as a device: NumPy arrays and Numba kernels."""

import contextlib
import functools
import importlib
import os
import platform
import threading
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from .. import limits
from ..arguments import checked_integer
from .base import Array, Immediate, Mark, Peak
from .clock import clock
from .profile import Recorded, Recorder
from .transfer import to_host

#: Numba's portable threading layer aborts the process when two Python threads enter it at once.
_HOST_KERNELS = threading.RLock()


def _forget_lock() -> None:
    """In a forked child: nobody holds the lock, whichever thread of the parent did."""
    global _HOST_KERNELS
    _HOST_KERNELS = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_lock)


class HostDevice:
    """The CPU: NumPy arrays, and the Numba kernels of `mgraph.kernels`."""

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
        """Return the bytes that this process can allocate now, within the limits of its containers and its own."""
        return limits.available_memory()

    def kernels(self, family: str) -> Any:
        """Return the operations of a kernel family, e.g. ``"minplus"``."""
        guarded = _Guarded(_host_module(f"mgraph.kernels.{family}.host"))
        return guarded if self.recorder is None else Recorded(guarded, self, self.recorder)

    def mark(self) -> Mark:
        """Return the moment at which the work so far is done."""
        return time.perf_counter()

    def seconds_between(self, start: Mark, end: Mark) -> float:
        """Return the seconds between two marks; waits for the second."""
        return float(end - start)

    @contextlib.contextmanager
    def peak_memory(self) -> Iterator["Peak"]:
        """Measure the most memory that the block takes: what NumPy and Python allocate, as tracemalloc counts it."""
        peak = Peak()
        tracemalloc.start()
        try:
            yield peak
            peak.bytes = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    def asarray(self, array: Array) -> Array:
        """Return `array` as an array of this device, without a copy where it is one."""
        return to_host(array)

    def synchronize(self) -> None:
        """Wait for everything launched so far; on the host, nothing is outstanding."""

    def settle(self) -> None:
        """Wait for the work of all streams; on the host, nothing is outstanding."""

    def pinned(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """Return an uninitialised array of the host that `copy` moves at full speed."""
        return np.empty(shape, dtype)

    def copy(self, target: Array, source: Array) -> None:
        """Copy a matrix to or from the host, in the order of the current stream."""
        np.copyto(target, source)

    def stream(self) -> "Immediate":
        """Return a stream of work beside the current one: on the host, work is done when it is asked for."""
        return Immediate()

    def current_stream(self) -> "Immediate":
        """Return the stream that work goes to unless another is chosen."""
        return Immediate()

    def active(self) -> contextlib.AbstractContextManager[Any]:
        """Return a context in which this is the current device."""
        return contextlib.nullcontext()

    @contextlib.contextmanager
    def limited(self, blocks: int) -> Iterator[None]:
        """Run the block with at most so many threads: see `CudaDevice.limited`."""
        _host_module("mgraph.device.numba")  # before Numba, to which it tells how many threads this process may have
        import numba

        before = numba.get_num_threads()
        numba.set_num_threads(min(checked_integer("blocks", blocks, 1), before))
        try:
            yield
        finally:
            numba.set_num_threads(before)


@functools.cache
def _host_module(name: str) -> ModuleType:
    """Return a module that imports Numba, the first of them; the time is no part of what a call computes."""
    with clock():
        return importlib.import_module(name)


class _Guarded:
    """A module of Numba kernels whose calls exclude one another within the process."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._module, name)
        if not callable(attribute):
            return attribute

        def call(*arguments: Any) -> Any:
            with _HOST_KERNELS:
                return attribute(*arguments)

        setattr(self, name, call)
        return call


@functools.cache
def _host_model() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
