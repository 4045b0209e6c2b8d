"""When this process compiles kernels, and for how long: Numba's for a CPU, and those of ``kernels/*.cu`` for a GPU.

A kernel is compiled at its first use, in the midst of a call, unless a cache on disk has it. Whoever runs programs
takes the seconds of `COMPILING` before and after each part of a call, so that the part's own time is told apart.
"""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator


class Compiling:
    """A clock that runs while a thread of this process compiles a kernel, or waits for one that is compiled.

    Examples
    --------
    >>> compiling = Compiling()
    >>> with compiling:
    ...     time.sleep(0.01)
    >>> compiling.seconds() >= 0.01
    True
    """

    def __init__(self) -> None:
        self._forget()
        if hasattr(os, "register_at_fork"):  # another thread of the parent may have held the lock
            os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._total, self._begun, self._depth = 0.0, 0.0, 0
        self._hears: Callable[[bool], None] | None = None

    def __enter__(self) -> "Compiling":
        self.begin()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def begin(self) -> None:
        """Start the clock; compiling may begin anew before it ends, in other threads and within."""
        with self._lock:
            self._depth += 1
            if self._depth > 1:
                return
            self._begun = time.perf_counter()
        self._tell(True)

    def end(self) -> None:
        """Stop the clock where everything that began has ended."""
        with self._lock:
            self._depth -= 1
            if self._depth:
                return
            self._total += time.perf_counter() - self._begun
        self._tell(False)

    def _tell(self, begins: bool) -> None:
        hears = self._hears
        if hears is not None:
            hears(begins)

    def seconds(self) -> float:
        """Return how long the clock has run since the process began."""
        with self._lock:
            return self._total + (time.perf_counter() - self._begun if self._depth else 0.0)

    @contextlib.contextmanager
    def heard(self, hears: Callable[[bool], None]) -> Iterator[None]:
        """Within the block, call ``hears(True)`` when compiling begins, from any thread, and ``hears(False)`` after."""
        self._hears = hears
        try:
            yield
        finally:
            self._hears = None


#: The clock of this process.
COMPILING = Compiling()
