"""NetworkX's calls as a report counts them, and those that are NetworkX's at once, before it asks its backends.

To ask takes NetworkX longer than many a small call. A call within a call of NetworkX counts as a part of that, and is
decided in the same way.
"""

import functools
import threading
import time
from collections.abc import Callable
from typing import Any

import networkx as nx
from networkx.utils import backends

from mgraph import report

from . import FUNCTIONS
from .gains import reason_to_leave

#: Why a function that mgraph does not have was not run.
UNKNOWN = "mgraph has no such function"

#: Why none was, where mgraph's files are on the path, but were not installed.
UNINSTALLED = "NetworkX does not know mgraph, as pip has not installed it"

#: Why another one was not: such as one that returns a graph, which NetworkX does not offer to backends by itself.
UNASKED = "NetworkX did not ask mgraph"


#: The functions that mgraph has, and the orders of backends in which no other one is asked.
_OURS = frozenset(FUNCTIONS)
_ALONE: tuple[list[str], ...] = (["mgraph"], [])


class _Call(threading.local):
    """The call of NetworkX that a thread is in: its name, "" outside; and why mgraph did not run it, "" if it did."""

    name = ""
    why = UNKNOWN


_call = _Call()


def watch() -> None:
    """Count what NetworkX dispatches from now on, if it is not watched yet."""
    kind = backends._dispatchable
    original = kind.__call__
    if getattr(original, "watched", False):
        return
    if report.is_unedited():  # whose author does not know of graphs that are kept converted
        nx.config.warnings_to_ignore.add("cache")
    known = "mgraph" in getattr(backends, "backends", ())
    decides = known and hasattr(nx.config.backend_priority, "algos")  # which NetworkX 3.3 has not

    @functools.wraps(original)
    def called(self: Any, /, *args: Any, backend: str | None = None, **kwargs: Any) -> Any:
        counted = report.active()
        if counted is None or not self.graphs:  # a generator of graphs has none
            return original(self, *args, backend=backend, **kwargs)
        why = _left(self, args, kwargs) if decides and backend is None else ""
        call = self.orig_func if why else functools.partial(original, self, backend=backend)
        if _call.name:
            return call(*args, **kwargs)
        _call.name, _call.why, started = self.name, why or (UNKNOWN if known else UNINSTALLED), time.perf_counter()
        try:
            return call(*args, **kwargs)
        finally:
            why = UNASKED if _call.why == UNKNOWN and "mgraph" in self.backends else _call.why
            counted.note("networkx", self.name, why, time.perf_counter() - started)
            _call.name = ""

    called.watched = True  # type: ignore[attr-defined]
    kind.__call__ = called


@functools.cache
def _place(function: Any) -> int:
    """Return the place of a function's only graph; -1 if it has several, or none of NetworkX's own code."""
    alone = len(function.graphs) == 1 and not function.list_graphs and "networkx" in function.backends
    return int(function.graphs.get("G", -1)) if alone else -1


def _left(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Return why a call is NetworkX's, so that no backend need be asked; "" if NetworkX is to ask.

    It is to ask unless the call has one graph, which is its own, and mgraph is the only backend that it would ask.
    """
    place, priority, name = _place(function), nx.config.backend_priority, function.name
    order = priority.get(name, priority.generators if function._returns_graph else priority.algos)
    if place < 0 or order not in _ALONE or function._is_testing:
        return ""
    graph = args[place] if place < len(args) else kwargs.get("G")
    if getattr(graph, "__networkx_backend__", None) != "networkx":
        return ""
    if name not in _OURS:
        return UNKNOWN
    return reason_to_leave(name, graph, args, kwargs) if order else UNASKED


def noting(answer: Callable[..., bool | str]) -> Callable[..., bool | str]:
    """Return a function that answers NetworkX, and notes why a call is declined."""

    @functools.wraps(answer)
    def answered(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        found = answer(name, args, kwargs)
        if found is not True:
            say(name, str(found))
        return found

    return answered


def watched(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of the backend that notes whether it ran what the program called."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        started = time.perf_counter()
        try:
            found = function(*args, **kwargs)
        except NotImplementedError as error:
            say(name, str(error) or "not implemented")
            raise
        say(name, "", time.perf_counter() - started)
        return found

    return called


def say(name: str, why: str, seconds: float = 0.0) -> None:
    """Note why mgraph does not run a call of NetworkX, or "" that it has run it.

    The call in which NetworkX imports the backend is not watched: it is counted here.
    """
    if _call.name == name:
        _call.why = why
    elif not _call.name and (counted := report.active()) is not None:
        counted.note("networkx", name, why, seconds)
