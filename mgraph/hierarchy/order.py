"""Orders of elimination: nested dissection by METIS, or an order that is given.

A small separator is found that cuts the graph in two, and is eliminated last; so are both parts, one after the other
[1]_ [2]_.

References
----------
.. [1] A. George, "Nested dissection of a regular finite element mesh", 1973.
.. [2] G. Karypis and V. Kumar, "A fast and high quality multilevel scheme for partitioning irregular graphs", 1998.
"""

import signal
import threading
from typing import Any, NamedTuple

import numpy as np

from .. import device as devices
from .. import lazy
from ..errors import InputError
from ..graph import Graph
from ..graph.checks import host_array


class Skeleton(NamedTuple):
    """The neighbours of each vertex in either direction, ascending, without the vertex itself: int32."""

    indptr: np.ndarray
    indices: np.ndarray


def skeleton(graph: Graph) -> Skeleton:
    """Return the neighbours of each vertex of a graph."""
    indptr, indices = (devices.to_host(part) for part in graph.layout("csr"))
    there = lazy.sparse().csr_array((np.ones(len(indices), bool), indices, indptr), shape=(graph.n, graph.n))
    both = (there + there.T).tocsr()
    both.setdiag(False)
    both.eliminate_zeros()
    both.sort_indices()
    return Skeleton(both.indptr, both.indices)


def dissected(neighbours: Skeleton) -> np.ndarray:
    """Return an order of elimination of little fill, by nested dissection.

    Raises
    ------
    MissingPackageError
        If pymetis is not installed.
    """
    n = len(neighbours.indptr) - 1
    if not len(neighbours.indices):
        return np.arange(n, dtype=np.int32)
    metis = lazy.optional("pymetis", "Hierarchy(graph) without order=")
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        order, _ = metis.nested_dissection(adjacency=metis.CSRAdjacency(neighbours.indptr, neighbours.indices))
    except RuntimeError as error:
        # While METIS runs it handles SIGTERM: it jumps out of its handler, which leaves the signal blocked, and fails
        # so. The signal is for who handles it otherwise.
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        handled = threading.current_thread() is threading.main_thread() and callable(signal.getsignal(signal.SIGTERM))
        if handled and "unknown exception" in str(error):
            signal.raise_signal(signal.SIGTERM)
        raise
    return np.asarray(order, np.int32)


def checked_order(order: Any, n: int) -> np.ndarray:
    """Return an order of elimination that a user gave, or raise InputError unless it has each vertex once."""
    given = host_array(order, "order")
    wanted = f"of shape ({n},), each vertex once"
    if given.shape != (n,):
        raise InputError(argument="order", value=given.shape, expected=wanted)
    if given.dtype.kind not in "iu":
        if n:
            raise InputError(argument="order", value=given.dtype.name, expected="integers, each vertex once")
        return np.zeros(0, np.int32)
    outside = np.flatnonzero((given < 0) | (given >= n))
    if len(outside):
        raise InputError(argument="order", value=given[outside[0]].item(), expected=f"vertices in [0, {n})")
    times = np.bincount(given.astype(np.int64), minlength=n)
    if n and times.max() > 1:
        raise InputError(
            f": {int(times.argmax())} is there {times.max()} times", argument="order", value=given, expected=wanted
        )
    return given.astype(np.int32)
