"""What mgraph ran of a program's calls of SciPy's csgraph and of NetworkX, what it left to them, and why.

Nothing is counted until `start`. SciPy's functions are counted where `mgraph.csgraph.enable` has replaced them, and
NetworkX's where it chooses a backend. A call within a call of NetworkX counts as a part of that.
"""

import atexit
import functools
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

#: The variable of the environment that starts a report.
VARIABLE = "MGRAPH_REPORT"

#: The most rows of a report.
ROWS = 25

#: Why a function that mgraph does not have was not run.
UNKNOWN = "mgraph has no such function"

#: Why none was, where mgraph's files are on the path, but were not installed.
UNINSTALLED = "NetworkX does not know mgraph, as pip has not installed it"

#: Why another one was not: such as one that returns a graph, which NetworkX does not offer to backends by itself.
UNASKED = "NetworkX did not ask mgraph"

#: What runs the calls that mgraph leaves.
_OTHERS = {"networkx": "NetworkX", "scipy.sparse.csgraph": "SciPy"}


class Report:
    """The calls so far, by library, name and the reason why mgraph did not run them; "" if it did."""

    def __init__(self) -> None:
        self._calls: dict[tuple[str, str, str], tuple[int, float]] = {}
        self._lock = threading.Lock()
        #: Whether mgraph has run a call.
        self.has_run = False

    def note(self, library: str, name: str, why: str, seconds: float) -> None:
        """Count a call."""
        with self._lock:
            count, before = self._calls.get((library, name, why), (0, 0.0))
            self._calls[library, name, why] = count + 1, before + seconds
            self.has_run |= not why

    def __str__(self) -> str:
        """Return the calls as a table, those that took longest first."""
        calls = sorted(self._calls.items(), key=lambda item: -item[1][1])
        if not calls:
            return "mgraph: no call of SciPy's csgraph or of NetworkX was made"
        parts = []
        for ours, words in ((True, "ran"), (False, "left to SciPy and NetworkX")):
            some = [found for (_, _, why), found in calls if (not why) == ours]
            parts.append(f"{words} {sum(count for count, _ in some):,} calls in {sum(each for _, each in some):.3g} s")
        lines = [f"mgraph: {', '.join(parts)}", f"{'calls':>8} {'seconds':>8}  call, and what ran it"]
        for (library, name, why), (count, seconds) in calls[:ROWS]:
            by = f"{_OTHERS[library]}: {why}" if why else "mgraph"
            lines.append(f"{count:>8,} {seconds:>8.3f}  {library}.{name}, by {by}")
        if len(calls) > ROWS:
            lines.append(f"and {len(calls) - ROWS} more")
        return "\n".join(lines)


_report: Report | None = None

#: Whether the process is a script as it stands, which must not take longer than without mgraph.
_unedited = False


def active() -> Report | None:
    """Return the report that counts calls, if one was started here or by the environment."""
    if _report is None and os.environ.get(VARIABLE, "0") not in ("", "0"):
        start()
    return _report


def is_cold() -> bool:
    """Return whether this is a script that was not edited, of which mgraph has run no call yet.

    The first one loads kernels, for up to a second, or compiles them: it must gain as much.
    """
    return _unedited and _report is not None and not _report.has_run


def start(*, unedited: bool = False) -> None:
    """Count calls from now on, and print the report when the process ends; `unedited` is that of a script."""
    global _report, _unedited
    _unedited = _unedited or unedited
    if _report is None:
        _report = Report()
        atexit.register(_print)
        watch_networkx()


def _print() -> None:
    """Print the report, unless standard error is closed."""
    try:
        print(_report, file=sys.stderr)
    except (AttributeError, OSError, ValueError):
        return


class _Call(threading.local):
    """The call of NetworkX that a thread is in: its name, "" outside; and why mgraph did not run it, "" if it did."""

    name = ""
    why = UNKNOWN


_call = _Call()


def watch_networkx() -> None:
    """Count what NetworkX dispatches from now on, if it is imported and not watched yet."""
    backends = sys.modules.get("networkx.utils.backends")
    kind = getattr(backends, "_dispatchable", None)
    if kind is None or getattr(kind.__call__, "watched", False):
        return
    original, known = kind.__call__, getattr(backends, "backends", ())
    if _unedited:  # whose author does not know of graphs that are kept converted
        sys.modules["networkx"].config.warnings_to_ignore.add("cache")

    @functools.wraps(original)
    def called(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        if _report is None or _call.name or not self.graphs:  # a generator of graphs has none
            return original(self, *args, **kwargs)
        unasked = UNKNOWN if "mgraph" in known else UNINSTALLED
        _call.name, _call.why, started = self.name, unasked, time.perf_counter()
        try:
            return original(self, *args, **kwargs)
        finally:
            why = UNASKED if _call.why == UNKNOWN and "mgraph" in self.backends else _call.why
            _report.note("networkx", self.name, why, time.perf_counter() - started)
            _call.name = ""

    called.watched = True  # type: ignore[attr-defined]
    kind.__call__ = called


def watched(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of the backend that notes whether it ran what the program called."""

    @functools.wraps(function)
    def noting(*args: Any, **kwargs: Any) -> Any:
        started = time.perf_counter()
        try:
            found = function(*args, **kwargs)
        except NotImplementedError as error:
            say(name, str(error) or "not implemented")
            raise
        say(name, "", time.perf_counter() - started)
        return found

    return noting


def say(name: str, why: str, seconds: float = 0.0) -> None:
    """Note why mgraph does not run a call of NetworkX, or "" that it has run it.

    The call in which NetworkX imports the backend is not watched: it is counted here.
    """
    if _call.name == name:
        _call.why = why
    elif not _call.name and _report is not None:
        _report.note("networkx", name, why, seconds)
