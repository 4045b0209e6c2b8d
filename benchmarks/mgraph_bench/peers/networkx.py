"""NetworkX: graphs of dictionaries, results in dictionaries."""

from functools import partial
from typing import Any

from mgraph.graph import Graph

from .conversion import (
    betweenness_of,
    filled,
    forest_of,
    has_negative,
    hops,
    labels_of,
    list_rank_by,
    matrix_of,
    one_way,
    symmetric,
)
from .solver import Array, Library, Peer, Solver, by_vertex


def _graph(networkx: Library, graph: Graph) -> Any:
    made = networkx.DiGraph() if graph.directed else networkx.Graph()
    made.add_nodes_from(range(graph.n))
    src, dst, weights = one_way(graph)
    if weights is None:
        made.add_edges_from(zip(src.tolist(), dst.tolist(), strict=True))
    else:
        made.add_weighted_edges_from(zip(src.tolist(), dst.tolist(), weights.tolist(), strict=True))
    return made


def apsp(networkx: Library, graph: Graph) -> Solver:
    """Return the call for all pairs."""
    made = _graph(networkx, graph)
    if graph.dense is not None or has_negative(graph):
        name = "floyd_warshall_numpy"
        return Solver(partial(networkx.floyd_warshall_numpy, made), lambda raw: {"distances": raw}, f"networkx.{name}")
    name = "all_pairs_dijkstra_path_length" if graph.weighted else "all_pairs_shortest_path_length"
    call = getattr(networkx, name)

    def arrays(raw: dict[int, dict[int, float]]) -> dict[str, Array]:
        return {"distances": matrix_of(raw.items(), graph.n)}

    return Solver(lambda: dict(call(made)), arrays, f"networkx.{name}")


def bfs(networkx: Library, graph: Graph, source: int) -> Solver:
    """Return the call for a breadth-first search."""
    solve = partial(networkx.single_source_shortest_path_length, _graph(networkx, graph), source)

    def arrays(raw: dict[int, int]) -> dict[str, Array]:
        return {"distances": hops(filled(raw, graph.n))}

    return Solver(solve, arrays, "networkx.single_source_shortest_path_length")


def sssp(networkx: Library, graph: Graph, source: int) -> Solver:
    """Return the call for the shortest paths from a vertex."""
    name = f"single_source_{'bellman_ford' if has_negative(graph) else 'dijkstra'}_path_length"
    solve = partial(getattr(networkx, name), _graph(networkx, graph), source)
    return Solver(solve, lambda raw: {"distances": filled(raw, graph.n)}, f"networkx.{name}")


def components(networkx: Library, graph: Graph, connection: str = "weak") -> Solver:
    """Return the call for connected components."""
    name = f"{connection}ly_connected_components" if graph.directed else "connected_components"
    call, made = getattr(networkx, name), _graph(networkx, graph)

    def arrays(raw: list[set[int]]) -> dict[str, Array]:
        return {"labels": labels_of(raw, graph.n)}

    return Solver(lambda: list(call(made)), arrays, f"networkx.{name}")


def minimum_spanning_forest(networkx: Library, graph: Graph) -> Solver:
    """Return the call for a minimum spanning forest."""
    made = _graph(networkx, symmetric(graph))

    def arrays(raw: list[tuple[int, int, dict[str, float]]]) -> dict[str, Array]:
        edges = [(u, v, edge.get("weight", 1)) for u, v, edge in raw]
        return forest_of(*(zip(*edges, strict=True) if edges else ((), (), ())))

    return Solver(lambda: list(networkx.minimum_spanning_edges(made)), arrays, "networkx.minimum_spanning_edges")


def betweenness(networkx: Library, graph: Graph, sources: list[int]) -> Solver:
    """Return the call for the betweenness of vertices by the paths from some."""
    made = _graph(networkx, graph)
    call = networkx.betweenness_centrality_subset
    solve = partial(call, made, sources, list(made), weight="weight" if graph.weighted else None)

    def arrays(raw: dict[int, float]) -> dict[str, Array]:
        sums = [raw[v] * (1 if graph.directed else 2) for v in range(graph.n)]
        return betweenness_of(sums, graph, sources)

    return Solver(solve, arrays, "networkx.betweenness_centrality_subset")


PEER = Peer(
    "networkx",
    "networkx",
    {
        "apsp": apsp,
        "betweenness": betweenness,
        "bfs": bfs,
        "sssp": sssp,
        "components": components,
        "list_rank": list_rank_by(bfs),
        "minimum_spanning_forest": minimum_spanning_forest,
        **by_vertex(
            "networkx", lambda networkx, graph, name: partial(getattr(networkx, name), _graph(networkx, graph))
        ),
    },
)
