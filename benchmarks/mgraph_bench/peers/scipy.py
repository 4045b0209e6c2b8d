"""SciPy: `csgraph` takes a sparse matrix of float64, whose stored zeros are edges.

Its breadth-first search gives an order and predecessors. The distances follow from these, and are not timed. The
shortest paths from one vertex are Dijkstra's, those of all pairs use the default of ``shortest_path``.
"""

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from mgraph import device as devices
from mgraph.dtypes import infinity
from mgraph.graph import Graph, in_memory

from .conversion import depths, edges_of, forest_of, has_negative, lengths_of, list_rank_by, one_way, smallest
from .solver import Array, Library, Peer, Solver


def _matrix(graph: Graph) -> sparse.csr_array:
    edges = edges_of(graph)
    return sparse.csr_array((lengths_of(edges), (edges.src, edges.dst)), shape=(graph.n, graph.n))


def _paths(raw: Any, predecessors: bool) -> dict[str, Array]:
    return {"distances": raw[0], "predecessors": raw[1]} if predecessors else {"distances": raw}


def apsp(csgraph: Library, graph: Graph, predecessors: bool = False) -> Solver:
    """Return the call for all pairs."""
    method = "auto"
    if graph.dense is None:
        matrix = _matrix(graph)
        zeros = not matrix.data.all()
    else:
        dense = devices.to_host(in_memory(graph.dense))
        matrix = np.where(dense == infinity(dense.dtype), np.inf, dense)
        np.fill_diagonal(matrix, np.inf)
        zeros = not matrix.all()
    if zeros:  # its Floyd-Warshall reads this as no edge
        matrix, method = _matrix(graph), "J" if has_negative(graph) else "D"
    solve = partial(csgraph.shortest_path, matrix, method=method, return_predecessors=predecessors)
    called = f"scipy.sparse.csgraph.shortest_path(method={method!r})"
    return Solver(solve, partial(_paths, predecessors=predecessors), called)


def bfs(csgraph: Library, graph: Graph, source: int, predecessors: bool = False) -> Solver:
    """Return the call for a breadth-first search."""

    def arrays(raw: Any) -> dict[str, Array]:
        return {"distances": depths(raw[1], source), "predecessors": raw[1]}

    solve = partial(csgraph.breadth_first_order, _matrix(graph), source)
    return Solver(solve, arrays, "scipy.sparse.csgraph.breadth_first_order")


def sssp(csgraph: Library, graph: Graph, source: int, predecessors: bool = False) -> Solver:
    """Return the call for the shortest paths from a vertex."""
    name = "bellman_ford" if has_negative(graph) else "dijkstra"
    call = getattr(csgraph, name)
    solve = partial(call, _matrix(graph), indices=source, return_predecessors=predecessors)
    return Solver(solve, partial(_paths, predecessors=predecessors), f"scipy.sparse.csgraph.{name}")


def components(csgraph: Library, graph: Graph, connection: str = "weak") -> Solver:
    """Return the call for connected components."""
    solve = partial(csgraph.connected_components, _matrix(graph), connection=connection)
    return Solver(solve, lambda raw: {"labels": smallest(raw[1])}, "scipy.sparse.csgraph.connected_components")


def minimum_spanning_forest(csgraph: Library, graph: Graph) -> Solver:
    """Return the call for a minimum spanning forest.

    It reads a weight of zero as no edge, so it is given the ranks of the weights instead, from 1 on.
    """
    edges = one_way(graph)
    distinct, ranks = np.unique(lengths_of(edges), return_inverse=True)
    matrix = sparse.csr_array((ranks + 1.0, (edges.src, edges.dst)), shape=(graph.n, graph.n))

    def arrays(raw: Any) -> dict[str, Array]:
        tree = raw.tocoo()
        return forest_of(tree.row, tree.col, distinct[tree.data.astype(np.int64) - 1])

    solve = partial(csgraph.minimum_spanning_tree, matrix)
    return Solver(solve, arrays, "scipy.sparse.csgraph.minimum_spanning_tree")


PEER = Peer(
    "scipy.sparse.csgraph",
    "scipy",
    {
        "apsp": apsp,
        "bfs": bfs,
        "sssp": sssp,
        "components": components,
        "list_rank": list_rank_by(bfs),
        "minimum_spanning_forest": minimum_spanning_forest,
    },
)
