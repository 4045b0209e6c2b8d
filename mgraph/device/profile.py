"""Times of the kernel operations on a device, for measuring."""

from collections.abc import Callable
from typing import Any

from .base import Device, Mark


class Recorder:
    """Times every kernel operation on a device; `seconds` returns the total of each.

    For measurements in one thread. The marks before and after each operation cost a GPU some microseconds. Operations
    of several streams, which could overlap, wait for each other here.
    """

    def __init__(self, device: "Device") -> None:
        self.device = device
        self.operations: list[tuple[str, Mark, Mark]] = []
        self.packages: set[str] = set()  # of the kernels
        self._stream: Any = None

    def __enter__(self) -> "Recorder":
        self.device.recorder = self
        return self

    def __exit__(self, *_: Any) -> None:
        self.device.recorder = None

    def timed(self, name: str, operation: Callable[..., Any], *arguments: Any) -> Any:
        """Call an operation, record its start and end, and return its result."""
        stream = self.device.current_stream()
        if self._stream is not None and stream != self._stream:
            self._stream.synchronize()
        self._stream = stream
        start = self.device.mark()
        result = operation(*arguments)
        self.operations.append((name, start, self.device.mark()))
        return result

    def seconds(self) -> dict[str, float]:
        """Return the total seconds of each operation, in the order of their first calls."""
        return {name: sum(each) for name, each in self.calls().items()}

    def calls(self) -> dict[str, list[float]]:
        """Return the seconds of each call of each operation, in the order of their first calls."""
        taken: dict[str, list[float]] = {}
        for name, start, end in self.operations:
            taken.setdefault(name, []).append(self.device.seconds_between(start, end))
        return taken
