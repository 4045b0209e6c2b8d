"""The work of a call, in its field's unit, and a lower bound of its memory traffic."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import device as devices
from ..arrays import Array
from ..graph import Graph
from ..planning.plan import Plan

#: Bytes that memory moves for one random access: a sector.
SECTOR = 32


class Work(NamedTuple):
    """Amount of work of a call, and the least bytes that it moves to and from memory, if known.

    Attributes
    ----------
    amount : float
        For distance matrices, n cubed sums and minima, whatever a method does. For searches, the edges within reach;
        undirected ones count once, as in Graph500. For components, the edges; for lists, the elements.
    unit : str
        The unit of the rate: the amount per second.
    bytes : int or None
        The least traffic of the algorithm as published.
    """

    amount: float
    unit: str
    bytes: int | None = None


#: Returns the work of a call from its input, its plan (None for another library's call) and the result's arrays.
Measure = Callable[[Any, Plan | None, dict[str, Any]], Work]


def size_of(graph: Any) -> int:
    """Return the number of vertices of a graph or a matrix."""
    return int(graph.n) if isinstance(graph, Graph) else len(graph)


def of_search(bytes_an_edge: int) -> Measure:
    """Return the measure of searches that move `bytes_an_edge` bytes for each edge."""

    def work(graph: Graph, plan: Plan | None, arrays: dict[str, Any]) -> Work:
        edges = _reached(graph, arrays["distances"])
        return Work(edges / (1 if graph.directed else 2), "TEPS", bytes_an_edge * edges + 8 * graph.n)

    return work


def of_searches(graph: Graph, plan: Plan | None, arrays: dict[str, Any]) -> Work:
    """Return the work of searches from many vertices: the edges that each reaches, though searches share reads."""
    edges = sum(_reached(graph, arrays["distances"][i]) for i in range(len(arrays["distances"])))
    return Work(edges / (1 if graph.directed else 2), "TEPS")


def of_edges(graph: Graph, plan: Plan | None, arrays: dict[str, Any]) -> Work:
    """Return the work of components: the edges."""
    return Work(graph.m / (1 if graph.directed else 2), "edges/s", 4 * graph.m + 8 * graph.n)


def _reached(graph: Graph, distances: Array) -> int:
    """Return the number of stored edges from the vertices that a search has reached."""
    degrees = np.diff(devices.to_host(graph.layout("csr")[0]))
    found = devices.to_host(distances)
    if found.dtype.kind == "f":
        return int(degrees[np.isfinite(found)].sum())
    return int(degrees[(found >= 0) & (found != np.iinfo(found.dtype).max)].sum())
