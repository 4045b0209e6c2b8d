"""Conversion of graphs to those of other libraries."""

from typing import Any

import numpy as np

from .. import device as devices
from .compressed import Edges


def networkx_graph(networkx: Any, n: int, edges: Edges, directed: bool, ids: np.ndarray | None) -> Any:
    """Return a NetworkX graph, a multigraph if there are parallel edges; an undirected edge is added once."""
    src, dst = devices.to_host(edges.src), devices.to_host(edges.dst)
    parallel = bool(((src[1:] == src[:-1]) & (dst[1:] == dst[:-1])).any())
    kinds = {
        (True, False): networkx.DiGraph,
        (True, True): networkx.MultiDiGraph,
        (False, False): networkx.Graph,
        (False, True): networkx.MultiGraph,
    }
    once = np.full(len(src), True) if directed else src <= dst
    added = int(once.sum())
    # Dictionaries and numbers of Python, as measured with NetworkX 3.6 and Python 3.11.
    needed = 620 * n + added * (270 + 240 * parallel + 150 * (edges.weights is not None))
    with devices.allocating(f"to_networkx() of {n:,} vertices and {added:,} edges", needed, devices.find("cpu")):
        made = kinds[directed, parallel]()
        made.add_nodes_from(range(n))
        if ids is not None:
            networkx.set_node_attributes(made, dict(enumerate(ids.tolist())), "id")
        ends = zip(src[once].tolist(), dst[once].tolist(), strict=True)
        if edges.weights is None:
            made.add_edges_from(ends)
        else:
            weights = devices.to_host(edges.weights)[once].tolist()
            made.add_weighted_edges_from((*pair, weight) for pair, weight in zip(ends, weights, strict=True))
        return made
