"""What a device is: the protocol that both kinds follow, so that an algorithm never asks which it has."""

import contextlib
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

Array = Any


#: A moment in the order of a device's work: the host's clock, or a CUDA event.
Mark = Any


class Device(Protocol):
    """Where arrays live and kernels run: what an algorithm may ask of a device, whichever it is.

    Attributes
    ----------
    kind : {"cpu", "cuda"}
        The kind of device.
    name : str
        What `find` returns it for, such as ``"cuda:1"``.
    xp : module
        NumPy, or CuPy.
    row_alignment : int
        Rows of a matrix start on multiples of so many elements.
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
        ...

    def available_memory(self) -> int:
        """Return the bytes that can be allocated now."""
        ...

    def mark(self) -> Mark:
        """Return the moment at which the work so far is done."""
        ...

    def seconds_between(self, start: Mark, end: Mark) -> float:
        """Return the seconds between two marks of a stream; waits for the second."""
        ...

    def peak_memory(self) -> contextlib.AbstractContextManager["Peak"]:
        """Measure the most memory that the block takes."""
        ...

    def asarray(self, array: Array) -> Array:
        """Return `array` as an array of this device, without a copy where it is one."""
        ...

    def synchronize(self) -> None:
        """Wait for everything launched on the current stream so far."""
        ...

    def settle(self) -> None:
        """Wait for the work of all streams."""
        ...

    def pinned(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """Return an uninitialised array of the host that `copy` moves at full speed."""
        ...

    def copy(self, target: Array, source: Array) -> None:
        """Copy a matrix to or from the host, in the order of the current stream."""
        ...

    def stream(self) -> Any:
        """Return a stream of work beside the current one; as a context, the current one."""
        ...

    def current_stream(self) -> Any:
        """Return the stream that work goes to unless another is chosen."""
        ...

    def active(self) -> contextlib.AbstractContextManager[Any]:
        """Return a context in which this is the current device."""
        ...

    def limited(self, blocks: int) -> contextlib.AbstractContextManager[None]:
        """Run the block with at most so many thread blocks a launch, or threads of a CPU."""
        ...


class Immediate:
    """The host's stream and event: nothing is ever outstanding."""

    def __enter__(self) -> "Immediate":
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def record(self) -> "Immediate":
        """Return the event that the work so far is done."""
        return self

    def wait_event(self, event: "Immediate") -> None:
        """Let later work wait for `event`."""

    def synchronize(self) -> None:
        """Wait for the work so far."""


@dataclass
class Peak:
    """What a block has taken at its fullest moment, in bytes; complete when the block ends."""

    bytes: int = 0
