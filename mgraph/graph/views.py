"""Arrays derived from a graph and kept with it, by name and device."""

import logging
import os
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from .. import device as devices
from ..arrays import Array

_log = logging.getLogger(__name__)


class _Lock:
    """A lock that one thread may take several times; a forked child and an unpickled copy have a new one."""

    def __init__(self) -> None:
        self.renew()
        _locks.add(self)

    def renew(self) -> None:
        """Replace the lock in a forked child, as another thread of the parent may have held it."""
        self.lock = threading.RLock()

    def __reduce__(self) -> Any:
        return _Lock, ()


_locks: weakref.WeakSet[_Lock] = weakref.WeakSet()


def _renew_locks() -> None:
    for each in _locks:
        each.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)

#: Marks a view that is missing; None is a valid view, of the weights of an unweighted graph.
_ABSENT = object()


class CachedArray(NamedTuple):
    """An array, or several, that a graph keeps: its name, its device, and its bytes there."""

    name: str
    device: str
    nbytes: int


class Views(dict[tuple[str, str], Any]):
    """Arrays, tuples of arrays and numbers, by their names and the names of their devices.

    A lock is held while one is computed, so that other threads and streams see only finished arrays.

    Parameters
    ----------
    beside : Views, optional
        Views that are computed from these, or these from them: all have one lock, else two threads that need both could
        wait for each other.
    """

    def __init__(self, beside: "Views | None" = None) -> None:
        super().__init__()
        self.making: _Lock = _Lock() if beside is None else beside.making

    def kept(self, name: str, device: devices.Device, make: Callable[[], Any]) -> Any:
        """Return the value kept under a name on a device; compute it by `make` if it is missing."""
        key = (name, device.name)
        found = self.get(key, _ABSENT)
        if found is _ABSENT:
            with self.making.lock:
                found = self.get(key, _ABSENT)
                if found is _ABSENT:
                    found = make()
                    device.synchronize()
                    self[key] = found
        return found

    def nbytes(self, name: str, device: str) -> int:
        """Return the bytes that the arrays under a name take on a device."""
        return _nbytes(self.get((name, device)))

    def derived(self, own: Mapping[tuple[str, str], Any]) -> Iterator[CachedArray]:
        """Yield the arrays that are kept in addition to a graph's `own`, each once though it has several names."""
        arrays = {id(array) for array in own.values()}
        for (name, device), value in list(self.items()):
            if id(value) not in arrays and _nbytes(value):
                arrays.add(id(value))
                yield CachedArray(name, device, _nbytes(value))

    def release(self, own: Mapping[tuple[str, str], Any], device: str | None) -> None:
        """Drop all arrays but a graph's `own`, on one device or on all; numbers stay."""
        for name, place in [key for key, value in list(self.items()) if key not in own and _nbytes(value)]:
            if device in (None, place):
                del self[name, place]


class ArrayCache:
    """The part of a graph that keeps the arrays derived from it."""

    def __init__(self) -> None:
        #: Values that depend on the edges alone, shared by graphs of the same edges, and values that depend on weights.
        self._views = Views()
        self._weight_views = Views(self._views)

    def _share_edges(self, other: "ArrayCache") -> None:
        """Share what depends on the edges alone with another graph of the same edges; this one is new."""
        self._views = other._views
        self._weight_views.making = other._views.making

    def _own(self) -> Mapping[tuple[str, str], Any]:
        """Return the arrays that the graph was created from, which cannot be derived again."""
        raise NotImplementedError

    def kept(self, name: str, device: devices.Device, make: Callable[[], Any], *, weights: bool = False) -> Any:
        """Return the value that `make` derives from the graph on a device; it is kept under a name for the next call.

        A value that depends on `weights` belongs to this graph. Others are shared with the graphs that `with_weights`
        and `unweighted` return.

        Parameters
        ----------
        name : str
            The name of the value.
        device : Device
            The device that the value is on.
        make : callable
            Takes no argument and returns the value; called only if the value is missing.
        weights : bool
            Whether the value depends on the weights.

        Returns
        -------
        object
            The value that `make` returned, now or earlier.

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.Graph.from_edges([0, 0, 1], [1, 2, 2], [5, 6, 7])
        >>> cpu = mgraph.device.find("cpu")
        >>> degrees = graph.kept("degrees", cpu, lambda: graph.csr().indptr[1:] - graph.csr().indptr[:-1])
        >>> degrees.tolist(), [kept.name for kept in graph.cached()]
        ([2, 1, 0], ['degrees'])
        """
        views = self._weight_views if weights else self._views
        found = views.get((name, device.name), _ABSENT)
        if found is not _ABSENT:
            return found

        def logged() -> Any:
            made = make()
            _log.debug("%r keeps %s on %s", self, name, device.name)
            return made

        return views.kept(name, device, logged)

    def held(self, device: devices.Device, *names: str) -> int:
        """Return the bytes of the arrays kept under these names on a device.

        Parameters
        ----------
        device : Device
            The device.
        *names : str
            The names under which `kept` keeps the arrays.

        Returns
        -------
        int

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.Graph.from_edges([0, 0, 1], [1, 2, 2], [5, 6, 7])
        >>> graph.held(mgraph.device.find("cpu"), "csr.indptr", "csr.indices")
        28
        """
        total, place = 0, device.name
        for views in (self._views, self._weight_views):
            for name in names:
                value = views.get((name, place))
                if value is not None:
                    total += value.nbytes if isinstance(value, np.ndarray) else _nbytes(value)
        return total

    def cached(self) -> list[CachedArray]:
        """Return the arrays that calls have derived from the graph and keep with it: names, devices and bytes.

        The graph's own edges, on the device where it was created, are not listed.

        Returns
        -------
        list of CachedArray
            Sorted by device and name; sizes in bytes.

        See Also
        --------
        release : Free these arrays.

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 0])
        >>> _ = graph.csc()
        >>> [(each.name, each.nbytes) for each in graph.cached()]
        [('csc.indices', 12), ('csc.indptr', 16)]
        """
        found = [*self._views.derived(self._own()), *self._weight_views.derived(self._own())]
        return sorted(found, key=lambda kept: (kept.device, kept.name))

    def release(self, device: str | None = None) -> None:
        """Free the arrays that calls have derived from the graph; a later call derives again what it needs.

        Graphs returned by `with_weights` and `unweighted` share the arrays that do not depend on weights: these are
        released for all of them. A call that is running keeps the arrays that it uses until it ends.

        Parameters
        ----------
        device : str, optional
            The device to free, such as ``"cuda:0"``; by default all.

        See Also
        --------
        cached : List these arrays.

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.generate.grid(3, 3)
        >>> _ = mgraph.bfs(graph, 0, device="cpu")
        >>> graph.release()
        >>> [(each.name, each.nbytes) for each in graph.cached()]
        []
        """
        place = None if device is None else devices.find(device).name
        with self._views.making.lock:
            for views in (self._views, self._weight_views):
                views.release(self._own(), place)


def handed_out(array: Array) -> Array:
    """Return an array of a graph for a caller, who cannot change the graph by it: a view that is read-only.

    CuPy has no read-only arrays: on a GPU it is a copy.
    """
    if not isinstance(array, np.ndarray):
        with devices.allocating("a copy of a graph's array", int(array.nbytes), devices.of(array)):
            return array.copy()
    view = array.view()
    view.flags.writeable = False
    return view


def _nbytes(value: Any) -> int:
    if isinstance(value, tuple):
        return sum(map(_nbytes, value))
    return int(getattr(value, "nbytes", 0))
