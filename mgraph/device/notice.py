"""A line on the terminal, or in the notebook, while a call waits for kernels to be compiled."""

import logging
import multiprocessing
import sys
import threading

from .clock import COMPILING

#: Seconds of compiling after which the line is written.
PATIENCE = 2.0

_log = logging.getLogger(__name__)


class Notice:
    """Says once in a process that kernels are compiled, when that has taken `PATIENCE` seconds in all.

    Child processes, such as workers, say nothing: their standard error is often the terminal of their client.
    """

    def __init__(self) -> None:
        self._timer: threading.Timer | None = None

    def __call__(self, begins: bool) -> None:
        """Take note that compiling begins or ends."""
        if begins and self._timer is None:
            self._timer = threading.Timer(PATIENCE, self.say)
            self._timer.daemon = True
            self._timer.start()

    def say(self) -> None:
        """Say that kernels are being compiled, if they still are."""
        if not COMPILING.is_running:
            self._timer = None
            return
        text = "mgraph: compiling kernels, at their first use; later calls and processes find them compiled"
        _log.info(text)
        # Another listener, such as a command's progress bar, says so itself.
        if COMPILING.listeners == 1 and not is_child() and _is_watched():
            print(text, file=sys.stderr, flush=True)


def is_child() -> bool:
    """Return whether another process has started this one by `multiprocessing`."""
    return multiprocessing.parent_process() is not None


def _is_watched() -> bool:
    """Return whether somebody reads standard error: on a terminal, or in a notebook."""
    stream = sys.stderr
    try:
        return stream is not None and (stream.isatty() or type(stream).__module__.startswith("ipykernel."))
    except ValueError:  # it is closed
        return False


COMPILING.notify(Notice())
