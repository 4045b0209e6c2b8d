"""The protocol that both kinds of device follow, so that algorithms need not know the kind."""

import contextlib
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..arrays import Array

#: A moment in the order of a device's work: the host's clock, or a CUDA event.
Mark = Any


class Device(Protocol):
    """A place where arrays live and kernels run.

    Attributes
    ----------
    kind : {"cpu", "cuda"}
        The kind of device.
    name : str
        The name that `find` takes, such as ``"cuda:1"``.
    xp : module
        NumPy, or CuPy.
    row_alignment : int
        Rows of a matrix start on multiples of this many elements.
    recorder : Recorder or None
        Profiler notified of each kernel call, or None.
    """

    kind: str
    name: str
    xp: Any
    row_alignment: int
    recorder: Any

    def __hash__(self) -> int: ...

    def model(self) -> str:
        """Return the name of the hardware."""

    def available_memory(self) -> int:
        """Return the bytes that can be allocated now."""

    def places(self, values: Array, ordered: Array) -> Array:
        """Return where each value would be inserted into an ascending array."""

    def mark(self) -> Mark:
        """Return a mark of the moment at which the work so far is done."""

    def seconds_between(self, start: Mark, end: Mark, /) -> float:
        """Wait for the second of two marks of a stream, and return the seconds between them."""

    def peak_memory(self) -> contextlib.AbstractContextManager["Peak"]:
        """Measure the peak memory of the block."""

    def asarray(self, array: Array) -> Array:
        """Return `array` as an array of this device; without a copy if it is one already."""

    def synchronize(self) -> None:
        """Wait for everything launched on the current stream so far."""

    def settle(self) -> None:
        """Wait for the work of all streams."""

    def trim(self) -> None:
        """Give back memory that is kept for later arrays, so that it can serve arrays of other sizes."""

    def pinned(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """Return an uninitialised array in host memory that `copy` moves at full speed."""

    def page_locked(self, array: np.ndarray) -> bool:
        """Return whether an array on the host lies in memory that `copy` moves at full speed."""

    def locked(self, array: np.ndarray) -> contextlib.AbstractContextManager[None]:
        """Return a context in which `copy` moves an array on the host at full speed, if that can be had."""

    def copy(self, target: Array, source: Array) -> None:
        """Copy a matrix to or from the host, in the order of the current stream."""

    def stream(self) -> Any:
        """Return a new stream; used as a context, it becomes the current one."""

    def current_stream(self) -> Any:
        """Return the stream that work is launched on."""

    def active(self) -> contextlib.AbstractContextManager[Any]:
        """Return a context that makes this the current device."""

    def limited(self, blocks: int) -> contextlib.AbstractContextManager[None]:
        """Run the block with at most this many thread blocks per launch, or threads of a CPU."""


class Immediate:
    """The host's stream and event: all work is done when a call returns."""

    def __enter__(self) -> "Immediate":
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def record(self) -> "Immediate":
        """Return an event for the work so far."""
        return self

    def wait_event(self, event: "Immediate") -> None:
        """Make later work wait for `event`."""

    def synchronize(self) -> None:
        """Wait for the work so far."""


@dataclass
class Peak:
    """The peak memory of a block, in bytes; final when the block ends."""

    bytes: int = 0
