"""Times of the operations of a device's kernels, for measuring."""

from typing import Any

from .base import Device, Mark


class Recorder:
    """Hears of every operation of a device's kernel families; `seconds` is what each has taken in all.

    It is for measuring, by one thread: a mark before and after each operation costs a GPU some microseconds, and
    operations of several streams, which would overlap, wait for one another.
    """

    def __init__(self, device: "Device") -> None:
        self.device = device
        self.operations: list[tuple[str, Mark, Mark]] = []
        self._stream: Any = None

    def __enter__(self) -> "Recorder":
        self.device.recorder = self
        return self

    def __exit__(self, *_: Any) -> None:
        self.device.recorder = None

    def begin(self) -> Mark:
        """Return the mark at which an operation begins; those of other streams are done by then."""
        stream = self.device.current_stream()
        if self._stream is not None and stream != self._stream:
            self._stream.synchronize()
        self._stream = stream
        return self.device.mark()

    def seconds(self) -> dict[str, float]:
        """Return the seconds of each operation, in the order of their first calls."""
        taken: dict[str, float] = {}
        for name, start, end in self.operations:
            taken[name] = taken.get(name, 0.0) + self.device.seconds_between(start, end)
        return taken


class Recorded:
    """A kernel family whose operations are told to a recorder."""

    def __init__(self, family: Any, device: "Device", recorder: Recorder) -> None:
        self._family, self._device, self._recorder = family, device, recorder

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._family, name)
        if not callable(attribute):
            return attribute

        def call(*arguments: Any) -> Any:
            start = self._recorder.begin()
            result = attribute(*arguments)
            self._recorder.operations.append((name, start, self._device.mark()))
            return result

        return call
