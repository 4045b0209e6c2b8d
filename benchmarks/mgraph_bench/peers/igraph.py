"""igraph: a graph in C, results in Python's lists.

Its ``bfs`` gives the vertices layer by layer, and is faster than its ``distances``.
"""

from functools import partial
from typing import Any

import numpy as np

from mgraph.dtypes import NO_PREDECESSOR
from mgraph.graph import Graph

from .conversion import betweenness_of, forest_of, lengths_of, list_rank_by, one_way, smallest, symmetric
from .solver import Array, Library, Peer, Solver, by_vertex


def _graph(igraph: Library, graph: Graph) -> tuple[Any, list[float] | None]:
    edges = one_way(graph)
    made = igraph.Graph(n=graph.n, edges=np.column_stack([edges.src, edges.dst]), directed=graph.directed)
    return made, None if edges.weights is None else lengths_of(edges).tolist()


def apsp(igraph: Library, graph: Graph) -> Solver:
    """Return the call for all pairs."""
    made, weights = _graph(igraph, graph)
    solve = partial(made.distances, weights=weights)
    return Solver(solve, lambda raw: {"distances": np.array(raw, np.float64)}, "igraph.Graph.distances")


def bfs(igraph: Library, graph: Graph, source: int, predecessors: bool = False) -> Solver:
    """Return the call for a breadth-first search."""
    made, _ = _graph(igraph, graph)

    def arrays(raw: tuple[list[int], list[int], list[int]]) -> dict[str, Array]:
        order, starts, parents = map(np.asarray, raw)
        distances = np.full(graph.n, -1, np.int32)
        distances[order] = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        before = np.full(graph.n, NO_PREDECESSOR, np.int32)
        before[order[1:]] = parents[order[1:]]
        return {"distances": distances, "predecessors": before}

    return Solver(partial(made.bfs, source), arrays, "igraph.Graph.bfs")


def sssp(igraph: Library, graph: Graph, source: int) -> Solver:
    """Return the call for the shortest paths from a vertex."""
    made, weights = _graph(igraph, graph)
    solve = partial(made.distances, [source], weights=weights)
    return Solver(solve, lambda raw: {"distances": np.array(raw[0], np.float64)}, "igraph.Graph.distances")


def components(igraph: Library, graph: Graph, connection: str = "weak") -> Solver:
    """Return the call for connected components."""
    made, _ = _graph(igraph, graph)
    solve = partial(made.connected_components, mode=connection)
    return Solver(solve, lambda raw: {"labels": smallest(raw.membership)}, "igraph.Graph.connected_components")


def minimum_spanning_forest(igraph: Library, graph: Graph) -> Solver:
    """Return the call for a minimum spanning forest, which gives the numbers of its edges."""
    made, weights = _graph(igraph, symmetric(graph))
    lengths = np.ones(made.ecount()) if weights is None else np.array(weights)

    def arrays(raw: list[int]) -> dict[str, Array]:
        ends = np.array(made.get_edgelist(), np.int64).reshape(-1, 2)[raw]
        return forest_of(ends[:, 0], ends[:, 1], lengths[raw])

    solve = partial(made.spanning_tree, weights=weights, return_tree=False)
    return Solver(solve, arrays, "igraph.Graph.spanning_tree")


def betweenness(igraph: Library, graph: Graph, sources: list[int]) -> Solver:
    """Return the call for the betweenness of vertices, which halves the sums of undirected graphs."""
    made, weights = _graph(igraph, graph)
    solve = partial(made.betweenness, directed=graph.directed, weights=weights, sources=sources)

    def arrays(raw: list[float]) -> dict[str, Array]:
        return betweenness_of(np.array(raw) * (1 if graph.directed else 2), graph, sources)

    return Solver(solve, arrays, "igraph.Graph.betweenness")


PEER = Peer(
    "igraph",
    "igraph",
    {
        "apsp": apsp,
        "betweenness": betweenness,
        "bfs": bfs,
        "sssp": sssp,
        "components": components,
        "list_rank": list_rank_by(bfs),
        "minimum_spanning_forest": minimum_spanning_forest,
        **by_vertex("igraph", lambda igraph, graph, name: getattr(_graph(igraph, graph)[0], name)),
    },
)
