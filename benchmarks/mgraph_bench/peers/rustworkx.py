"""rustworkx: a graph in Rust, whose edges carry Python objects."""

from functools import partial
from typing import Any

import numpy as np

from mgraph.graph import Graph

from .conversion import (
    filled,
    forest_of,
    has_negative,
    labels_of,
    lengths_of,
    list_rank_by,
    matrix_of,
    one_way,
    symmetric,
)
from .solver import Array, Library, Peer, Solver


def _graph(rustworkx: Library, graph: Graph) -> Any:
    made = rustworkx.PyDiGraph(multigraph=False) if graph.directed else rustworkx.PyGraph(multigraph=False)
    made.add_nodes_from(range(graph.n))
    edges = one_way(graph)
    made.add_edges_from(list(zip(edges.src.tolist(), edges.dst.tolist(), lengths_of(edges).tolist(), strict=True)))
    return made


def apsp(rustworkx: Library, graph: Graph) -> Solver:
    """Return the call for all pairs."""
    made = _graph(rustworkx, graph)
    if not graph.weighted:
        solve = partial(rustworkx.distance_matrix, made, null_value=np.inf)
        return Solver(solve, lambda raw: {"distances": raw}, "rustworkx.distance_matrix")
    if graph.dense is not None or has_negative(graph):
        solve = partial(rustworkx.floyd_warshall_numpy, made, weight_fn=float)
        return Solver(solve, lambda raw: {"distances": raw}, "rustworkx.floyd_warshall_numpy")

    def arrays(raw: Any) -> dict[str, Array]:
        return {"distances": matrix_of(raw.items(), graph.n)}

    solve = partial(rustworkx.all_pairs_dijkstra_path_lengths, made, float)
    return Solver(solve, arrays, "rustworkx.all_pairs_dijkstra_path_lengths")


def bfs(rustworkx: Library, graph: Graph, source: int) -> Solver:
    """Return the call for a breadth-first search."""

    def arrays(raw: list[list[int]]) -> dict[str, Array]:
        distances = np.full(graph.n, -1, np.int32)
        for level, vertices in enumerate(raw):
            distances[vertices] = level
        return {"distances": distances}

    return Solver(partial(rustworkx.bfs_layers, _graph(rustworkx, graph), [source]), arrays, "rustworkx.bfs_layers")


def sssp(rustworkx: Library, graph: Graph, source: int) -> Solver:
    """Return the call for the shortest paths from a vertex."""
    name = f"{'bellman_ford' if has_negative(graph) else 'dijkstra'}_shortest_path_lengths"

    def arrays(raw: Any) -> dict[str, Array]:
        distances = filled(raw, graph.n)
        distances[source] = 0
        return {"distances": distances}

    return Solver(
        partial(getattr(rustworkx, name), _graph(rustworkx, graph), source, float),
        arrays,
        f"rustworkx.{name}",
    )


def components(rustworkx: Library, graph: Graph, connection: str = "weak") -> Solver:
    """Return the call for connected components."""
    name = f"{connection}ly_connected_components" if graph.directed else "connected_components"
    solve = partial(getattr(rustworkx, name), _graph(rustworkx, graph))
    return Solver(solve, lambda raw: {"labels": labels_of(raw, graph.n)}, f"rustworkx.{name}")


def minimum_spanning_forest(rustworkx: Library, graph: Graph) -> Solver:
    """Return the call for a minimum spanning forest."""
    solve = partial(rustworkx.minimum_spanning_edges, _graph(rustworkx, symmetric(graph)), float)

    def arrays(raw: Any) -> dict[str, Array]:
        return forest_of(*np.array(raw, np.float64).reshape(-1, 3).T)

    return Solver(solve, arrays, "rustworkx.minimum_spanning_edges")


PEER = Peer(
    "rustworkx",
    "rustworkx",
    {
        "apsp": apsp,
        "bfs": bfs,
        "sssp": sssp,
        "components": components,
        "list_rank": list_rank_by(bfs),
        "minimum_spanning_forest": minimum_spanning_forest,
    },
)
