"""Descriptions of other libraries, and of one call on one graph."""

from collections.abc import Callable
from typing import Any, NamedTuple

from mgraph.arrays import Array
from mgraph.errors import MgraphError

#: A library's module, imported. It is passed to the functions, as few users install all libraries.
Library = Any


class PeerError(MgraphError, LookupError):
    """A library that is not installed, or has no such algorithm."""


class Solver(NamedTuple):
    """A call of another library, with the graph in that library's form.

    Attributes
    ----------
    solve : callable
        The call to be timed. It may be called again.
    arrays : callable
        Turns what `solve` returned into arrays by name, in mgraph's conventions: ``"distances"`` (a breadth-first
        search's in int32 with -1 for the unreached, others in floats with ``inf``), ``"labels"``, ``"ranks"``,
        ``"betweenness"``, or ``"src"``, ``"dst"`` and ``"weights"`` of a forest; and ``"predecessors"`` where the
        library gives any.
    called : str
        The call's name.
    """

    solve: Callable[[], Any]
    arrays: Callable[[Any], dict[str, Array]]
    called: str


class Peer(NamedTuple):
    """A library: its module, what to give ``pip install``, its algorithms, and the kind of device it uses."""

    module: str
    install: str
    algorithms: dict[str, Callable[..., Solver]]
    kind: str = "cpu"
