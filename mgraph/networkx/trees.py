"""Spanning trees and the transitive closure: graphs that are made of another one's nodes and edges.

Kruskal's algorithm takes edges of equal weight in their order. The place of an edge in the sorted list is a weight that
no other edge has, and by these weights there is one least tree, which is Kruskal's.
"""

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

from .. import device as devices
from ..algorithms.closure.call import transitive_closure as closed
from ..algorithms.minimum_spanning_forest.call import minimum_spanning_forest
from ..graph import Graph
from ..graph.compressed import rows_of
from .converted import ConvertedGraph


def minimum_spanning_edges(
    G: ConvertedGraph,
    algorithm: str = "kruskal",
    weight: Any = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[Any]:
    """Yield what `networkx.minimum_spanning_edges` does."""
    if G.is_directed():
        raise nx.NetworkXNotImplemented("not implemented for directed type")
    values, _ = G.weights(weight, mixed=True)
    several = G.is_multigraph()
    if several:
        edges = list(G.original.edges(keys=True, data=True))
        values = np.array([edge[-1].get(weight, 1) for edge in edges], np.float64)
        src, dst = (G.numbered([edge[end] for edge in edges]) for end in (0, 1))
    else:  # NetworkX lists an edge at the first of its ends
        indptr, dst = G.rows
        src = rows_of(indptr, len(dst), np)
        once = src <= dst
        src, dst, values = src[once], dst[once], values[once]
    order = values.argsort(kind="stable")
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    forest = minimum_spanning_forest(Graph.from_edges(src, dst, places, n=len(G), directed=False))
    taken = order[np.sort(np.asarray(forest.weights))]
    if several:
        width = 3 if keys else 2
        chosen = [edges[edge] for edge in taken.tolist()]
        return (edge[:width] + edge[-1:] if data else edge[:width] for edge in chosen)
    ends = zip(G.named(src[taken]), G.named(dst[taken]), strict=True)
    attributes = G.original.get_edge_data
    return ((u, v, attributes(u, v)) for u, v in ends) if data else ends


def minimum_spanning_tree(
    G: ConvertedGraph, weight: Any = "weight", algorithm: str = "kruskal", ignore_nan: bool = False
) -> nx.Graph:
    """Return `networkx.minimum_spanning_tree`."""
    tree = G.original.__class__()
    tree.graph.update(G.original.graph)
    tree.add_nodes_from(G.original.nodes.items())
    tree.add_edges_from(minimum_spanning_edges(G, algorithm, weight))
    return tree


def transitive_closure(G: ConvertedGraph, reflexive: bool | None = False) -> nx.Graph:
    """Return `networkx.transitive_closure`."""
    if reflexive not in (None, True, False):
        raise nx.NetworkXError("Incorrect value for the parameter `reflexive`")
    made = G.original.copy()
    reached = closed(G.graph_of(), reflexive=False)
    for vertex, node in enumerate(G):
        row = devices.to_host(reached.rows(vertex, vertex + 1))[0]
        if reflexive or reflexive is None or not G.is_directed():
            row[vertex] = bool(reflexive)
        neighbours = made[node]
        made.add_edges_from([(node, other) for other in G.named(np.flatnonzero(row)) if other not in neighbours])
    return made
