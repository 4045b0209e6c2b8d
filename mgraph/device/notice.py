"""A line on the terminal, or in the notebook, while a call waits for kernels to be compiled."""

import contextlib
import logging
import multiprocessing
import sys
import threading
from collections.abc import Iterator

from .clock import COMPILING

#: Seconds of compiling after which the line is written.
PATIENCE = 2.0

_log = logging.getLogger(__name__)


class Notice:
    """Says which kernels are compiled, when that has taken `PATIENCE` seconds in all; once for each family.

    Child processes, such as workers, say nothing: their standard error is often the terminal of their client, which
    hears of what they compile.
    """

    def __init__(self) -> None:
        self._timer: threading.Timer | None = None
        self._said: set[str] = set()
        self._everywhere = False

    @contextlib.contextmanager
    def everywhere(self) -> Iterator[None]:
        """Write the line wherever standard error goes, such as into the log of a batch job."""
        before, self._everywhere = self._everywhere, True
        try:
            yield
        finally:
            self._everywhere = before

    def __call__(self, what: str) -> None:
        """Take note of what is compiled, or that nothing is."""
        if what and self._timer is None:
            self._timer = threading.Timer(PATIENCE, self.say)
            self._timer.daemon = True
            self._timer.start()

    def say(self) -> None:
        """Say which kernels are being compiled, if they still are."""
        self._timer = None
        what = COMPILING.what
        family = what.partition(",")[0]
        if not what or family in self._said:
            return
        self._said.add(family)
        text = f"mgraph: compiling kernels ({what}) at their first use; later calls and processes find them compiled"
        _log.info(text)
        # On a terminal another listener, such as a command's progress bar, says so itself.
        if not is_child() and (COMPILING.listeners == 1 if _is_watched() else self._everywhere and sys.stderr):
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


#: The notice of this process.
NOTICE = Notice()
COMPILING.notify(NOTICE)
