"""mgraph's functions in place of SciPy's in a running program, also in modules that have imported SciPy's by name.

What a module's names refer to is replaced, in `scipy.sparse.csgraph` and wherever else a module has one of its
functions. Each replacement is a function object of its own, so that it can be told from mgraph's function, which a
module may have imported itself, and be replaced by SciPy's again. It leaves calls to SciPy that are faster there.
"""

import functools
import importlib
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any

from .. import lazy, report
from .gains import MODULES, left_to_scipy


@functools.cache
def _replacements() -> dict[str, Callable[..., Any]]:
    """Return what takes the place of functions of SciPy, by their names."""
    return {name: _replacement(name) for name in MODULES}


def _replacement(name: str) -> Callable[..., Any]:
    """Return a function that calls mgraph's, or SciPy's where that is faster; mgraph's is imported with the first."""
    scipys = getattr(lazy.csgraph(), name)

    @functools.wraps(scipys)
    def replacement(*args: Any, **kwargs: Any) -> Any:
        why = left_to_scipy(name, args, kwargs)
        function = scipys if why else getattr(importlib.import_module(MODULES[name]), name)
        counted = report.active()
        if counted is None:
            return function(*args, **kwargs)
        started = time.perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            counted.note("scipy.sparse.csgraph", name, why, time.perf_counter() - started)

    replacement.__module__ = MODULES[name]
    return replacement


_lock = threading.Lock()
_active: set["Substitution"] = set()


class Substitution:
    """What `enable` returns: it ends with `disable`, or with the block if it is used as a context.

    Examples
    --------
    >>> import mgraph
    >>> substitution = mgraph.csgraph.enable()
    >>> substitution.disable()
    """

    def __enter__(self) -> "Substitution":
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.disable()

    def disable(self) -> None:
        """Let SciPy's functions be SciPy's again, once no other substitution is active.

        Examples
        --------
        >>> import mgraph
        >>> substitution = mgraph.csgraph.enable()
        >>> substitution.disable()
        """
        with _lock:
            if self in _active and len(_active) == 1:
                scipys = vars(lazy.csgraph())
                _put_in_place({id(ours): scipys[name] for name, ours in _replacements().items()}, sys.modules)
            _active.discard(self)


def enable() -> Substitution:
    """Let mgraph run what a program asks of `scipy.sparse.csgraph`, until `Substitution.disable`.

    SciPy's functions are replaced in its module, and in all modules that have imported them, under whatever name. A
    module that is imported later gets mgraph's. What refers to a function in another way, such as a default argument,
    keeps SciPy's. Calls that SciPy runs faster are left to it: those on small inputs, and on a CPU those that gain
    nothing by several cores, such as spanning trees. With ``MGRAPH_REPORT=1`` in the environment the process prints at
    its end what ran where, and why.

    Returns
    -------
    Substitution
        Also a context manager.

    Examples
    --------
    >>> import mgraph
    >>> import scipy.sparse.csgraph
    >>> with mgraph.csgraph.enable():
    ...     scipy.sparse.csgraph.dijkstra.__module__
    'mgraph.csgraph.shortest'
    >>> scipy.sparse.csgraph.dijkstra.__module__
    'scipy.sparse.csgraph._shortest_path'
    """
    return _enabled(sys.modules)


def enable_first() -> None:
    """Let mgraph run what is asked of `scipy.sparse.csgraph`, of which no other module has imported anything yet."""
    _enabled(("scipy.sparse.csgraph",))


def _enabled(modules: Iterable[str]) -> Substitution:
    """Put mgraph's functions in the place of SciPy's in some modules."""
    substitution = Substitution()
    if report.active() is not None and "networkx" in sys.modules:  # whose calls the same report counts
        importlib.import_module("mgraph_networkx.watching").watch()
    with _lock:
        scipys = vars(lazy.csgraph())
        _put_in_place({id(scipys[name]): ours for name, ours in _replacements().items()}, modules)
        _active.add(substitution)
    return substitution


def _put_in_place(replacements: Mapping[int, Any], modules: Iterable[str]) -> None:
    """Put others in the place of objects, given by their ids, but not in mgraph and in the parts of SciPy's csgraph."""
    for name in list(modules):
        if name.startswith(("mgraph.", "scipy.sparse.csgraph.")):
            continue
        try:  # which does not load a module that is loaded lazily
            names = object.__getattribute__(sys.modules.get(name), "__dict__")
        except AttributeError:
            continue
        for key, value in list(names.items()):
            if id(value) in replacements:
                names[key] = replacements[id(value)]
