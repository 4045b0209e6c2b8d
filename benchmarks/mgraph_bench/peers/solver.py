"""Descriptions of other libraries, and of one call on one graph."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mgraph.algorithms.entry import Algorithm
from mgraph.algorithms.registry import ALGORITHMS
from mgraph.arrays import Array
from mgraph.errors import MgraphError
from mgraph.graph import Graph

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


def by_vertex(
    library: str, solve: Callable[[Library, Graph, str], Callable[[], Any]]
) -> dict[str, Callable[..., Solver]]:
    """Return the calls of a library for the algorithms whose entries name a function of a graph alone.

    Parameters
    ----------
    library : str
        The library's name in the entries.
    solve : callable
        Returns the call of the function of a name, whose values are in the order of the vertices, or by their numbers.
    """

    def made(entry: Algorithm, name: str) -> Callable[..., Solver]:
        def solver(module: Library, graph: Graph) -> Solver:
            def arrays(raw: Any) -> dict[str, Array]:
                values = [raw[v] for v in range(graph.n)] if isinstance(raw, dict) else raw
                return {next(iter(entry.unique)): np.asarray(values)}

            return Solver(solve(module, graph, name), arrays, f"{library}.{name}")

        return solver

    return {
        name: made(entry, entry.by_vertex[library]) for name, entry in ALGORITHMS.items() if library in entry.by_vertex
    }


class Peer(NamedTuple):
    """A library: its module, what to give ``pip install``, its algorithms, and the kind of device it uses."""

    module: str
    install: str
    algorithms: dict[str, Callable[..., Solver]]
    kind: str = "cpu"
