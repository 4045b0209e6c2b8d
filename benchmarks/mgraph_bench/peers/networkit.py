"""NetworKit: a graph in C++; an algorithm is an object that is run, and then queried.

``ConnectedComponents`` searches on one core. It is faster than ``ParallelConnectedComponents``, which propagates
labels. ``PrimMSF`` is faster than ``KruskalMSF``.
"""

from typing import Any

import numpy as np

from mgraph.graph import Graph

from .conversion import (
    betweenness_of,
    edges_of,
    finite,
    forest_of,
    hops,
    lengths_of,
    list_rank_by,
    one_way,
    refuse_negative,
    smallest,
    symmetric,
)
from .solver import Array, Library, Peer, PeerError, Solver


def _graph(networkit: Library, graph: Graph, weighted: bool = False) -> Any:
    edges = one_way(graph)
    ends = edges.src.astype(np.uint64), edges.dst.astype(np.uint64)
    if weighted and edges.weights is not None:
        return networkit.GraphFromCoo((lengths_of(edges), ends), n=graph.n, weighted=True, directed=graph.directed)
    return networkit.GraphFromCoo(ends, n=graph.n, directed=graph.directed)


def apsp(networkit: Library, graph: Graph) -> Solver:
    """Return the call for all pairs."""
    refuse_negative(graph, "networkit.distance.APSP")
    made = _graph(networkit, graph, weighted=True)
    return Solver(
        lambda: networkit.distance.APSP(made).run(),
        lambda raw: {"distances": finite(raw.getDistances(asarray=True))},
        "networkit.distance.APSP",
    )


def bfs(networkit: Library, graph: Graph, source: int) -> Solver:
    """Return the call for a breadth-first search."""
    made = _graph(networkit, graph)
    return Solver(
        lambda: networkit.distance.BFS(made, source, storePaths=False).run(),
        lambda raw: {"distances": hops(raw.getDistances(asarray=True))},
        "networkit.distance.BFS",
    )


def sssp(networkit: Library, graph: Graph, source: int) -> Solver:
    """Return the call for the shortest paths from a vertex."""
    refuse_negative(graph, "networkit.distance.Dijkstra")
    made = _graph(networkit, graph, weighted=True)
    return Solver(
        lambda: networkit.distance.Dijkstra(made, source, storePaths=False).run(),
        lambda raw: {"distances": finite(raw.getDistances(asarray=True))},
        "networkit.distance.Dijkstra",
    )


def components(networkit: Library, graph: Graph, connection: str = "weak") -> Solver:
    """Return the call for connected components."""
    kind = {"weak": "Weakly", "strong": "Strongly"}[connection] if graph.directed else ""
    call, made = getattr(networkit.components, f"{kind}ConnectedComponents"), _graph(networkit, graph)

    def arrays(raw: Any) -> dict[str, Array]:
        return {"labels": smallest(raw.getPartition().getVector())}

    return Solver(lambda: call(made).run(), arrays, f"networkit.components.{kind}ConnectedComponents")


def minimum_spanning_forest(networkit: Library, graph: Graph) -> Solver:
    """Return the call for a minimum spanning forest."""
    made = _graph(networkit, symmetric(graph), weighted=True)

    def arrays(raw: Any) -> dict[str, Array]:
        edges = np.array(list(raw.getForest().iterEdgesWeights()), np.float64)
        return forest_of(*edges.reshape(-1, 3).T)

    return Solver(lambda: networkit.graph.PrimMSF(made).run(), arrays, "networkit.graph.PrimMSF")


def betweenness(networkit: Library, graph: Graph, sources: list[int]) -> Solver:
    """Return the call for the betweenness of vertices by the paths from all."""
    if np.setdiff1d(edges_of(graph).src, sources).size:
        raise PeerError("networkit.centrality.Betweenness takes all sources")
    made = _graph(networkit, graph, weighted=True)
    return Solver(
        lambda: networkit.centrality.Betweenness(made).run(),
        lambda raw: betweenness_of(raw.scores(), graph, sources),
        "networkit.centrality.Betweenness",
    )


PEER = Peer(
    "networkit",
    "networkit",
    {
        "apsp": apsp,
        "betweenness": betweenness,
        "bfs": bfs,
        "sssp": sssp,
        "components": components,
        "list_rank": list_rank_by(bfs),
        "minimum_spanning_forest": minimum_spanning_forest,
    },
)
