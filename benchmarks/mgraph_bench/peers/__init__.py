"""Other libraries, called on the same graphs, to compare their times with ours.

A library has a module, with a function for each algorithm. The function puts the graph into the library's own form and
names the call to be timed: the one that the library documents for the problem, with its default number of
threads. Of several calls for a problem, the fastest is taken. Another function, which is not timed, turns the
result into arrays.

Two are no libraries but the plain programs that studies compare with: `textbook` on one core, and `cupy`, array code
that a compiler turns into kernels for a GPU.

No library ranks lists. Libraries whose search uses a queue search backwards from the ends of the lists; GraphBLAS and
cuGraph go level by level, so that every element would take a launch.
"""

import inspect
from importlib import import_module
from typing import Any

from mgraph.algorithms.registry import ALGORITHMS
from mgraph.errors import InputError
from mgraph.graph import as_graph

from . import arrays, cugraph, graphblas, igraph, networkit, networkx, rustworkx, scipy, textbook
from .solver import Peer, PeerError, Solver

__all__ = ["PEERS", "Peer", "PeerError", "Solver", "solver", "version"]

#: The libraries by name.
PEERS: dict[str, Peer] = {
    "scipy": scipy.PEER,
    "networkx": networkx.PEER,
    "igraph": igraph.PEER,
    "networkit": networkit.PEER,
    "graphblas": graphblas.PEER,
    "rustworkx": rustworkx.PEER,
    "cugraph": cugraph.PEER,
    "textbook": textbook.PEER,
    "cupy": arrays.PEER,
}


def solver(peer: str, algorithm: str, graph: Any, **call: Any) -> Solver:
    """Return another library's call for an algorithm, with the graph in that library's own form.

    Parameters
    ----------
    peer : str
        One of `PEERS`.
    algorithm : str
        What to solve: an algorithm of the registry that the library has.
    graph : Graph, sparse matrix, or array_like of shape (n, n)
        Read as `mgraph.apsp` does; for ``"list_rank"`` the successors, of shape (n,). Of parallel edges the shortest is
        taken. A matrix stays dense where the library has an algorithm for one.
    **call
        Arguments of mgraph's call that the library has too: ``source``, ``sources``, ``predecessors``,
        ``connection``. Others may be None or False.

    Raises
    ------
    PeerError
        If the library is not installed, or has no such algorithm or argument.
    InputError
        For an unknown library, and for a graph that cannot be used.
    """
    if peer not in PEERS:
        raise InputError(f"peer={peer!r} is not known: use one of {', '.join(PEERS)}")
    module, install, algorithms, _ = PEERS[peer]
    if algorithm not in algorithms:
        raise PeerError(f"{peer} has no call for {algorithm!r}, only for {', '.join(algorithms)}")
    given = {name: value for name, value in call.items() if value is not None and value is not False}
    for name in given.keys() - inspect.signature(algorithms[algorithm]).parameters.keys():
        raise PeerError(f"{peer} cannot be called for {algorithm!r} with {name}={given[name]!r}: leave it out")
    if "source" in given:
        given["source"] = int(given["source"])
    try:
        library = import_module(module)
    except ImportError as error:
        raise PeerError(f"{peer} cannot be imported ({error}): python -m pip install {install}") from error
    takes_graphs = "graph" in ALGORITHMS[algorithm].takes
    return algorithms[algorithm](library, as_graph(graph) if takes_graphs else graph, **given)


def version(peer: str) -> str | None:
    """Return the version of a library, None if it is not installed."""
    try:
        return str(import_module(PEERS[peer].module.partition(".")[0]).__version__)
    except ImportError:
        return None
