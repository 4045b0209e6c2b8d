"""mgraph's functions in place of SciPy's in a running program, also in modules that have imported SciPy's by name.

What a module's names refer to is replaced, in `scipy.sparse.csgraph` and wherever else a module has one of its
functions. Each replacement is a function object of its own, so that it can be told from mgraph's function, which a
module may have imported itself, and be replaced by SciPy's again. It leaves calls to SciPy that are faster there.
"""

import functools
import sys
import threading
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from .. import lazy, report
from .components import connected_components
from .conversions import (
    csgraph_from_dense,
    csgraph_from_masked,
    csgraph_masked_from_dense,
    csgraph_to_dense,
    csgraph_to_masked,
)
from .gains import left_to_scipy
from .predecessors import construct_dist_matrix, reconstruct_path
from .shortest import bellman_ford, dijkstra, floyd_warshall, johnson, shortest_path
from .spanning import minimum_spanning_tree
from .traversal import breadth_first_order, breadth_first_tree
from .yen import yen

#: What mgraph computes; the other functions are SciPy's.
FUNCTIONS: tuple[Any, ...] = (
    bellman_ford,
    breadth_first_order,
    breadth_first_tree,
    connected_components,
    construct_dist_matrix,
    csgraph_from_dense,
    csgraph_from_masked,
    csgraph_masked_from_dense,
    csgraph_to_dense,
    csgraph_to_masked,
    dijkstra,
    floyd_warshall,
    johnson,
    minimum_spanning_tree,
    reconstruct_path,
    shortest_path,
    yen,
)


def _replacement(ours: Callable[..., Any]) -> Callable[..., Any]:
    """Return what takes the place of a function of SciPy: it calls mgraph's, or SciPy's where that is faster."""
    name = ours.__name__

    @functools.wraps(ours)
    def replacement(*args: Any, **kwargs: Any) -> Any:
        why = left_to_scipy(name, args, kwargs)
        function = getattr(lazy.csgraph(), name) if why else ours
        counted = report.active()
        if counted is None:
            return function(*args, **kwargs)
        started = time.perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            counted.note("scipy.sparse.csgraph", name, why, time.perf_counter() - started)

    return replacement


_REPLACEMENTS = {function.__name__: _replacement(function) for function in FUNCTIONS}
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
                _put_in_place({id(ours): scipys[name] for name, ours in _REPLACEMENTS.items()})
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
    substitution = Substitution()
    with _lock:
        scipys = vars(lazy.csgraph())
        _put_in_place({id(scipys[name]): ours for name, ours in _REPLACEMENTS.items()})
        _active.add(substitution)
    return substitution


def _put_in_place(replacements: Mapping[int, Any]) -> None:
    """Put others in the place of objects, given by their ids, but not in mgraph and in the parts of SciPy's csgraph."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("mgraph.", "scipy.sparse.csgraph.")):
            continue
        try:
            names = object.__getattribute__(module, "__dict__")  # which does not load a module that is loaded lazily
        except AttributeError:
            continue
        for key, value in list(names.items()):
            if id(value) in replacements:
                names[key] = replacements[id(value)]
