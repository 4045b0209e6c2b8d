"""Ctrl-C and SIGTERM: what ends a call, when, and how soon."""

import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, TextIO

#: Seconds that Python has after a second Ctrl-C to end a call in its own way.
SECOND_CTRL_C = 0.5


class Terminated(KeyboardInterrupt):
    """SIGTERM, where it ends a command as Ctrl-C does."""


def terminate(*_: Any) -> None:
    """Handle SIGTERM: raise `Terminated`; a second one ends the process at once."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    raise Terminated


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """Let SIGTERM end the block as Ctrl-C does. By default it would end this process without a word."""
    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def stoppable(by_workers: bool) -> Iterator[Callable[[], None]]:
    """Handle Ctrl-C: interrupt a call with workers immediately, any other when the yielded function is next called.

    At any other time the exception might leave an object half built. A second Ctrl-C ends any call at once. If
    compiled code is running, which delays Python's handlers, it ends the process.
    """
    pressed = False

    def press(*_: Any) -> None:
        nonlocal pressed
        pressed = True
        signal.signal(signal.SIGINT, handler)
        if by_workers:
            raise KeyboardInterrupt

    def look() -> None:
        # What was raised in a destructor was lost.
        if pressed:
            raise KeyboardInterrupt

    handler = signal.signal(signal.SIGINT, press)
    try:
        with contextlib.nullcontext() if by_workers else counted_interrupts("stopping after this span"):
            yield look
    finally:
        signal.signal(signal.SIGINT, handler)


@contextlib.contextmanager
def counted_interrupts(first: str) -> Iterator[None]:
    """Print `first` on the first Ctrl-C; end the process soon after a second, whatever the main thread does.

    Python writes the number of each signal to a socket even while the main thread runs compiled code.
    """
    ours, pythons = socket.socketpair()
    pythons.setblocking(False)

    def count() -> None:
        presses = 0
        while received := ours.recv(1):
            presses += received[0] == signal.SIGINT
            if presses == 1 and not closed(sys.stderr):  # else 2 may be a file that was opened later
                # Not to sys.stderr: it may be in the middle of writing the bar.
                with contextlib.suppress(OSError):
                    os.write(2, f"\nmgraph: {first}; Ctrl-C again stops at once\n".encode())
            if presses == 2:
                ours.settimeout(SECOND_CTRL_C)
                with contextlib.suppress(TimeoutError):
                    while ours.recv(1):
                        pass
                    return
                os._exit(130)

    before = signal.set_wakeup_fd(pythons.fileno(), warn_on_full_buffer=False)
    counting = threading.Thread(target=count, daemon=True)
    counting.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        pythons.close()  # the other end then reads an end of file
        counting.join()
        ours.close()


def closed(stream: TextIO | None) -> bool:
    """Return whether a standard stream cannot be used; Python has None for one that the process started without."""
    return stream is None or stream.closed
