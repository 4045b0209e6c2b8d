"""What mgraph ran of a program's calls of SciPy's csgraph and of NetworkX, what it left to them, and why.

Nothing is counted until `start`. SciPy's functions are counted where `mgraph.csgraph.enable` has replaced them, and
NetworkX's by `mgraph_networkx.watching`, where it chooses a backend.
"""

import atexit
import os
import sys
from _thread import allocate_lock  # without all of threading, which a small script does without

#: The variable of the environment that starts a report.
VARIABLE = "MGRAPH_REPORT"

#: The most rows of a report.
ROWS = 25

#: What runs the calls that mgraph leaves.
_OTHERS = {"networkx": "NetworkX", "scipy.sparse.csgraph": "SciPy"}


class Report:
    """The calls so far, by library, name and the reason why mgraph did not run them; "" if it did."""

    def __init__(self) -> None:
        self._calls: dict[tuple[str, str, str], tuple[int, float]] = {}
        self._lock = allocate_lock()
        #: The calls that mgraph has run.
        self.ran: set[str] = set()

    def note(self, library: str, name: str, why: str, seconds: float) -> None:
        """Count a call."""
        with self._lock:
            count, before = self._calls.get((library, name, why), (0, 0.0))
            self._calls[library, name, why] = count + 1, before + seconds
            if not why:
                self.ran.add(f"{library}.{name}")

    def __str__(self) -> str:
        """Return the calls as a table, those that took longest first."""
        calls = sorted(self._calls.items(), key=lambda item: -item[1][1])
        if not calls:
            return "mgraph: no call of SciPy's csgraph or of NetworkX was made"
        parts = []
        for ours, words in ((True, "ran"), (False, "left to SciPy and NetworkX")):
            some = [found for (_, _, why), found in calls if (not why) == ours]
            count, seconds = sum(each for each, _ in some), sum(each for _, each in some)
            parts.append(f"{words} {count:,} call{'s' * (count != 1)} in {seconds:.3g} s")
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


def is_unedited() -> bool:
    """Return whether this is a script that was not edited."""
    return _unedited


def is_cold(call: str = "") -> bool:
    """Return whether this is a script that was not edited, of which mgraph has run no call yet, or none of a function.

    The first one compiles kernels, for some seconds, or loads them in one: it must gain as much.
    """
    if not _unedited or _report is None:
        return False
    return call not in _report.ran if call else not _report.ran


def start(*, unedited: bool = False) -> None:
    """Count calls from now on, and print the report when the process ends; `unedited` is that of a script."""
    global _report, _unedited
    _unedited = _unedited or unedited
    if _report is None:
        _report = Report()
        atexit.register(_print)


def _print() -> None:
    """Print the report, unless standard error is closed."""
    try:
        print(_report, file=sys.stderr)
    except (AttributeError, OSError, ValueError):
        return
