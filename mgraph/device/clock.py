"""The time that a call spends on compiling kernels or loading them from a cache on disk.

Kernels are compiled at their first use, in the middle of a call: by Numba for a CPU, by NVRTC for a GPU. The engines
read `clock` before and after each part of a call, and subtract that time from the part's own.

Every thread has its own clock, so that compiling for another call at the same time does not count. Threads that work
for a call take over its clock.
"""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator


class Clock:
    """A clock that runs while one or more of a call's threads compile or load kernels, or wait for another's lock.

    Examples
    --------
    >>> clock = Clock()
    >>> with clock:
    ...     time.sleep(0.01)
    >>> clock.seconds() >= 0.01
    True
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._total, self._begun, self._depth = 0.0, 0.0, 0

    def __enter__(self) -> "Clock":
        self.begin()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def begin(self) -> None:
        """Start the clock; it may be started again before it stops, by the same thread or another."""
        with self._lock:
            self._depth += 1
            if self._depth == 1:
                self._begun = time.perf_counter()

    def end(self) -> None:
        """Stop the clock if this is the last start that had no end."""
        with self._lock:
            self._depth -= 1
            if not self._depth:
                self._total += time.perf_counter() - self._begun

    def seconds(self) -> float:
        """Return for how many seconds the clock has run."""
        with self._lock:
            return self._total + (time.perf_counter() - self._begun if self._depth else 0.0)

    def renew_lock(self) -> None:
        """In a forked child: replace the lock, which another thread of the parent may have held."""
        self._lock = threading.Lock()


class _Own(threading.local):
    """The clock of each thread."""

    def __init__(self) -> None:
        self.clock = Clock()


_OWN = _Own()


def clock() -> Clock:
    """Return the clock of the calling thread."""
    return _OWN.clock


def take_over(of: Clock) -> None:
    """Make the calling thread use the clock of the thread for which it works."""
    _OWN.clock = of


class Announcement:
    """Tells listeners what is compiled, as a first thread of this process begins with a kernel, and as the last ends.

    A listener is called with `what`. A caller of workers passes on what they compile by `hear`.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()  # held while listeners are called, to keep the order
        self._depth = 0
        self._own = threading.local()
        self._listeners: list[Callable[[str], None]] = []
        self._kernels = 0
        self._what = self._heard = ""

    def __enter__(self) -> "Announcement":
        self.begin()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def begin(self, family: str = "kernels", waiting: int = 0) -> None:
        """Note that the calling thread compiles a kernel; calls may be nested, as kernels contain others.

        Parameters
        ----------
        family : str
            The kernel's family, e.g. "sssp".
        waiting : int
            How many more kernels are being compiled already; 0 if that is not known.
        """
        with self._lock:
            if not getattr(self._own, "depth", 0):
                self._kernels += 1
                of = f" of {self._kernels + waiting}" if waiting else ""
                self._what = f"{family}, number {self._kernels}{of}"
            self._change(1)

    def end(self) -> None:
        """Note that the calling thread has finished the compilation that it last began."""
        with self._lock:
            self._change(-1)

    def _change(self, by: int) -> None:
        before, self._depth = self._depth, self._depth + by
        self._own.depth = getattr(self._own, "depth", 0) + by
        if not (before and self._depth):
            self._tell()

    def hear(self, what: str) -> None:
        """Note what workers compile for this process; nothing if it is empty."""
        with self._lock:
            if what != self._heard:
                self._heard = what
                self._tell()

    def _tell(self) -> None:
        for listener in self._listeners:
            listener(self.what)

    @contextlib.contextmanager
    def listening(self, listener: Callable[[str], None]) -> Iterator[None]:
        """Within the block, call ``listener(what)`` when that changes."""
        with self._lock:
            self._listeners.append(listener)
        try:
            yield
        finally:
            with self._lock, contextlib.suppress(ValueError):  # a forked child has no listeners
                self._listeners.remove(listener)

    def notify(self, listener: Callable[[str], None]) -> None:
        """Call a listener from now on, as in the block of `listening`."""
        with self._lock:
            self._listeners.append(listener)

    @property
    def own(self) -> str:
        """What this process compiles now, in words, such as "sssp, number 2"; empty if nothing."""
        return self._what if self._depth else ""

    @property
    def what(self) -> str:
        """What this process compiles now, or else its workers; empty if nothing is."""
        return self.own or self._heard

    @property
    def listeners(self) -> int:
        """How many listeners there are."""
        return len(self._listeners)

    def forked(self) -> None:
        """In a forked child: keep only the depth of the thread that forked, and drop the parent's listeners."""
        self._lock = threading.RLock()
        self._depth = getattr(self._own, "depth", 0)
        self._listeners = []
        self._heard = ""


#: The announcement of this process.
COMPILING = Announcement()


def _forked() -> None:
    clock().renew_lock()
    COMPILING.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
