"""Work of a call in the unit of its field, and a lower bound of its memory traffic."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import device as devices
from ..graph import Graph
from ..planning.plan import Plan
from .apsp.plan import SEARCHES, products

Array = Any

#: Methods that skip edges once a vertex or a component is found: reads of all edges do not bound them.
LEAVE_OUT = ("pull", "hybrid", "afforest")

#: Bytes that memory moves for one random access: a sector.
SECTOR = 32


@dataclass(frozen=True)
class Work:
    """Amount of work of a call, and the bytes that it moves at least to and from memory, if known.

    Attributes
    ----------
    amount : float
        Sums and minima of Floyd and Warshall's algorithm, n cubed, whatever a method does; of searches the edges within
        reach, undirected ones counted once, as Graph500 counts them; edges of components, elements of lists.
    unit : str
        The unit a second.
    bytes : int or None
        The least traffic by the algorithm as it is published.
    """

    amount: float
    unit: str
    bytes: int | None = None


#: Returns the work of a call from its input, its plan (None for another library's call) and the result's arrays.
Measure = Callable[[Any, Plan | None, dict[str, Any]], Work]


def of_pairs(graph: Any, made: Plan | None, arrays: dict[str, Any]) -> Work:
    """Return the work of all pairs: of searches from every vertex the pairs, else n cubed sums and minima."""
    n = _size(graph)
    if made is not None and made.method in SEARCHES:
        return Work(n * n, "pairs/s")
    return Work(float(n) ** 3, "min-plus/s", None if made is None else _matrix_traffic(made))


def of_bits(graph: Any, made: Plan | None, arrays: dict[str, Any]) -> Work:
    """Return the work of a transitive closure: n cubed pairs of bits."""
    return Work(float(_size(graph)) ** 3, "bits/s")


def of_search(bytes_an_edge: int) -> Measure:
    """Return the measure of searches that move that many bytes for each edge."""

    def work(graph: Graph, made: Plan | None, arrays: dict[str, Any]) -> Work:
        edges = _reached(graph, arrays["distances"])
        size = bytes_an_edge * edges + 8 * graph.n if _all_edges(made) else None
        return Work(edges / (1 if graph.directed else 2), "TEPS", size)

    return work


def of_searches(graph: Graph, made: Plan | None, arrays: dict[str, Any]) -> Work:
    """Return the work of searches from many vertices: the edges that each has reached, though they share reads."""
    edges = sum(_reached(graph, arrays["distances"][i]) for i in range(len(arrays["distances"])))
    return Work(edges / (1 if graph.directed else 2), "TEPS")


def of_edges(graph: Graph, made: Plan | None, arrays: dict[str, Any]) -> Work:
    """Return the work of components: the edges."""
    size = 4 * graph.m + 8 * graph.n if _all_edges(made) else None
    return Work(graph.m / (1 if graph.directed else 2), "edges/s", size)


def of_elements(succ: Array, made: Plan | None, arrays: dict[str, Any]) -> Work:
    """Return the work of list ranking: the elements, each with its successor, what the walk writes, and its rank."""
    return Work(len(succ), "elements/s", 3 * SECTOR * len(succ))


def _size(graph: Any) -> int:
    return int(graph.n) if isinstance(graph, Graph) else len(graph)


def _all_edges(made: Plan | None) -> bool:
    return made is None or made.method not in LEAVE_OUT


def _matrix_traffic(made: Plan) -> int:
    """Return the bytes that all passes over the matrix read and write."""
    cell = np.dtype(made.dtype).itemsize + 4 * made.labelled
    passes = made.n
    if made.block:
        passes = -(-made.n // made.block)
    elif made.method == "squaring":
        passes = products(made.n, True)
    return 2 * cell * made.n**2 * passes


def _reached(graph: Graph, distances: Array) -> int:
    """Return the number of stored edges from the vertices that a search has reached."""
    degrees = np.diff(devices.to_host(graph.adjacency("csr")[0]))
    found = devices.to_host(distances)
    if found.dtype.kind == "f":
        return int(degrees[np.isfinite(found)].sum())
    return int(degrees[(found >= 0) & (found != np.iinfo(found.dtype).max)].sum())
