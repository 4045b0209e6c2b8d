"""How much work a call is, in the unit of its field, and the least traffic to memory that it takes."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from mgraph import device as devices
from mgraph.algorithms.apsp.plan import SEARCHES, products
from mgraph.graph import Graph
from mgraph.planning.plan import Plan

Array = Any

#: Methods that leave out edges once a vertex, or a component, is found: no traffic or reads of all edges bound them.
LEAVE_OUT = ("pull", "hybrid", "afforest")

#: Bytes that memory moves for one random access: a sector.
SECTOR = 32


@dataclass(frozen=True)
class Work:
    """What a call does: so many units of its field, and at least so many bytes to and from memory if that is known.

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


def work(algorithm: str, graph: Any, made: Plan | None, arrays: dict[str, Any]) -> Work:
    """Return the work of a call; `made` is its plan, None for another library's."""
    n = len(graph) if not isinstance(graph, Graph) else graph.n
    if algorithm == "list_rank":
        return Work(n, "elements/s", 3 * SECTOR * n)  # the successor, what the walk writes, and the rank
    if algorithm == "apsp":
        if made is not None and made.method in SEARCHES:
            return Work(n * n, "pairs/s")
        return Work(float(n) ** 3, "min-plus/s", None if made is None else _matrix_traffic(made))
    once = 1 if graph.directed else 2
    all_edges = made is None or made.method not in LEAVE_OUT
    if algorithm == "components":
        return Work(graph.m / once, "edges/s", 4 * graph.m + 8 * n if all_edges else None)
    edges = _reached(graph, arrays["distances"]) / once
    each = 4 if algorithm == "bfs" else 8
    return Work(edges, "TEPS", int(each * once * edges) + 8 * n if all_edges else None)


def _matrix_traffic(made: Plan) -> int:
    """Return the bytes of the matrix that all passes over it read and write."""
    cell = np.dtype(made.dtype).itemsize + 4 * made.labelled
    passes = made.n
    if made.block:
        passes = -(-made.n // made.block)
    elif made.method == "squaring":
        passes = products(made.n, True)
    return 2 * cell * made.n**2 * passes


def _reached(graph: Graph, distances: Array) -> int:
    """Return the stored edges from what a search has reached."""
    degrees = np.diff(devices.to_host(graph.adjacency("csr")[0]))
    found = devices.to_host(distances)
    if found.dtype.kind == "f":
        return int(degrees[np.isfinite(found)].sum())
    return int(degrees[(found >= 0) & (found != np.iinfo(found.dtype).max)].sum())


def iterations(made: Plan, result: Any) -> int | None:
    """Return the rounds, levels or products that a call has run; None where it counts none."""
    if hasattr(result, "iterations"):
        return int(result.iterations)
    if made.algorithm == "bfs":
        return len(result.levels)
    if made.algorithm == "list_rank":
        return max(1, math.ceil(math.log2(max(2, made.n)))) if made.method == "wylie" else None
    return made.steps
