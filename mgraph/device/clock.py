"""What a call waits for before its kernels run: they are compiled, or loaded from a cache on disk, at their first use.

Numba compiles those for a CPU, NVRTC those of ``kernels/*.cu`` for a GPU. Both happen in the midst of a call. Whoever
runs programs reads `clock` before and after each part of a call, so that the part's own time is told apart.

Every thread has a clock of its own: what another call compiles at the same time is not this one's. Threads that work
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
        """Return how long the clock has run."""
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
    """Let the calling thread go by the clock of another one, for which it works."""
    _OWN.clock = of


class Announcement:
    """Tells listeners when a first thread of this process begins to compile a kernel, and when the last one ends."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # held while listeners are told, so that they hear in the right order
        self._depth = 0
        self._own = threading.local()
        self._listeners: list[Callable[[bool], None]] = []

    def __enter__(self) -> "Announcement":
        self.begin()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def begin(self) -> None:
        """Note that the calling thread compiles; it may do so within."""
        self._change(1)

    def end(self) -> None:
        """Note that the calling thread has compiled what it last began."""
        self._change(-1)

    def _change(self, by: int) -> None:
        with self._lock:
            before, self._depth = self._depth, self._depth + by
            self._own.depth = getattr(self._own, "depth", 0) + by
            if not (before and self._depth):
                for listener in self._listeners:
                    listener(by > 0)

    @contextlib.contextmanager
    def heard(self, listener: Callable[[bool], None]) -> Iterator[None]:
        """Within the block, call ``listener(True)`` when compiling begins, in any thread, ``listener(False)`` after."""
        with self._lock:
            self._listeners.append(listener)
        try:
            yield
        finally:
            with self._lock, contextlib.suppress(ValueError):  # a forked child has no listeners
                self._listeners.remove(listener)

    def forked(self) -> None:
        """In a forked child: only the thread that forked is left, and it tells nobody of the parent's listeners."""
        self._lock = threading.RLock()
        self._depth = getattr(self._own, "depth", 0)
        self._listeners = []


#: That of this process.
COMPILING = Announcement()


def _forked() -> None:
    clock().renew_lock()
    COMPILING.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
