"""What is derived from a graph and kept with it, by name and device."""

import logging
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from .. import device as devices

_log = logging.getLogger(__name__)

#: Held while anything is derived from any graph: another thread or stream that finds it finds it finished.
MAKING = threading.RLock()

#: What `dict.get` returns for a view that is not there; None is a view, of the weights of an unweighted graph.
_ABSENT = object()


class Kept(NamedTuple):
    """What a graph keeps: its name, the device it is on, and the bytes that it takes there."""

    name: str
    device: str
    nbytes: int


class Views(dict[tuple[str, str], Any]):
    """Arrays, tuples of arrays and numbers, by their names and the names of their devices."""

    def kept(self, name: str, device: devices.Device, make: Callable[[], Any]) -> Any:
        """Return what is kept under a name on a device, made now if it is not there."""
        key = (name, device.name)
        found = self.get(key, _ABSENT)
        if found is _ABSENT:
            with MAKING:
                found = self.get(key, _ABSENT)
                if found is _ABSENT:
                    found = make()
                    device.synchronize()
                    self[key] = found
        return found

    def nbytes(self, name: str, device: str) -> int:
        """Return the bytes that the arrays under a name take on a device."""
        return _nbytes(self.get((name, device)))

    def derived(self, own: "Views") -> Iterator[Kept]:
        """Yield the arrays that are kept beside a graph's `own`."""
        arrays = {id(array) for array in own.values()}
        for (name, device), value in list(self.items()):
            if id(value) not in arrays and _nbytes(value):
                yield Kept(name, device, _nbytes(value))

    def release(self, own: "Views", device: str | None) -> None:
        """Forget the arrays beside a graph's `own`, on one device or on all; numbers stay."""
        for name, place in [key for key, value in list(self.items()) if key not in own and _nbytes(value)]:
            if device in (None, place):
                del self[name, place]


class Keeping:
    """The part of a graph that keeps what is derived from it."""

    def __init__(self) -> None:
        #: What depends on the edges alone, which graphs of the same edges share, and what depends on the weights too.
        self._views, self._weight_views = Views(), Views()

    def _own(self) -> Views:
        """Return the edges that the graph was made of, which cannot be derived again."""
        raise NotImplementedError

    def kept(self, name: str, device: devices.Device, make: Callable[[], Any], *, weights: bool = False) -> Any:
        """Return what `make` derives from the graph on a device, kept for the next call under a name.

        What depends on the `weights` is this graph's own; what does not is shared with `with_weights` and `unweighted`.
        """

        def logged() -> Any:
            made = make()
            _log.debug("%r keeps %s on %s", self, name, device.name)
            return made

        return (self._weight_views if weights else self._views).kept(name, device, logged)

    def held(self, device: devices.Device, *names: str) -> int:
        """Return the bytes that what is kept under these names takes on a device."""
        return sum(views.nbytes(name, device.name) for views in (self._views, self._weight_views) for name in names)

    def cached(self) -> list[Kept]:
        """Return what calls have derived from the graph and keep with it: names, devices and bytes.

        The edges themselves, where the graph was made, are not listed. `release` frees what is.

        See Also
        --------
        release : Let go of it.

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 0])
        >>> _ = graph.csc()
        >>> graph.cached()
        [Kept(name='csc.indices', device='cpu', nbytes=12), Kept(name='csc.indptr', device='cpu', nbytes=16)]
        """
        found = [*self._views.derived(self._own()), *self._weight_views.derived(self._own())]
        return sorted(found, key=lambda kept: (kept.device, kept.name))

    def release(self, device: str | None = None) -> None:
        """Let go of what calls have derived from the graph; a later call derives again what it needs.

        Graphs made by `with_weights` and `unweighted` share what does not depend on weights: it is released for all
        of them. A call that runs meanwhile keeps what it uses until it ends.

        Parameters
        ----------
        device : str, optional
            The device to free, such as ``"cuda:0"``; by default all.

        See Also
        --------
        cached : What there is to let go.

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.generate.grid(3, 3)
        >>> _ = mgraph.bfs(graph, 0, device="cpu")
        >>> graph.release()
        >>> graph.cached()
        []
        """
        place = None if device is None else devices.find(device).name
        with MAKING:
            for views in (self._views, self._weight_views):
                views.release(self._own(), place)


def _nbytes(value: Any) -> int:
    arrays = value if isinstance(value, tuple) else (value,)
    return sum(int(getattr(array, "nbytes", 0)) for array in arrays)
