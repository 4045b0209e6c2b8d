"""NetworkX's betweenness of nodes and edges."""

from collections.abc import Callable, Iterable
from typing import Any

import networkx as nx
import numpy as np

from .. import device as devices
from ..algorithms.betweenness.call import BetweennessResult, of_pairs
from ..algorithms.betweenness.pairs import Pairs
from ..errors import InputError
from .converted import ConvertedGraph


def _measured(G: ConvertedGraph, weight: Any, pairs: Callable[[], Pairs]) -> BetweennessResult:
    """Return the betweenness by some pairs, which are drawn once the weights have been checked.

    Raises
    ------
    NotImplementedError
        As of `ConvertedGraph.weights`, and for weights that are not positive: NetworkX's numbers of paths depend on
        the order of its edges then.
    """
    graph = G.graph_of(weight)
    if weight is not None and graph.m and graph.extremes()[0] <= 0:
        raise NotImplementedError("a weight is not positive")
    try:
        return of_pairs(graph, pairs(), weight is not None, {})
    except InputError as error:
        raise NotImplementedError(str(error)) from error


def _drawn(G: ConvertedGraph, k: Any, seed: Any, **options: Any) -> Callable[[], Pairs]:
    """Return a function that draws NetworkX's sources."""
    n = len(G)
    if k is not None and k < 1:
        raise NotImplementedError("k is no number of nodes")

    def pairs() -> Pairs:
        if k is None:
            return Pairs(np.arange(n, dtype=np.int32), **options)
        sources = nx.utils.create_py_random_state(seed).sample(range(n), k)
        return Pairs(np.array(sources, np.int32), sampled=True, **options)

    return pairs


def _some(
    G: ConvertedGraph, sources: Iterable[Any], targets: Iterable[Any], normalized: bool, edges: bool
) -> Callable[[], Pairs]:
    """Return a function that returns the pairs of some nodes."""
    starts, wanted = list(sources), set(targets)
    if not all(node in G for node in starts):
        raise NotImplementedError("a source is not in the graph")
    ends = [node for node in G if node in wanted]
    if edges and len(ends) < len(G):
        # There NetworkX shares what passes a node that is no target evenly among the edges into it.
        raise NotImplementedError("some nodes are not targets")
    return lambda: Pairs(G.numbered(starts), G.numbered(ends), normalized=bool(normalized), edges=edges)


def _by_node(G: ConvertedGraph, result: BetweennessResult) -> dict[Any, float]:
    return dict(zip(G, devices.to_host(result.betweenness).tolist(), strict=True))


def _by_edge(G: ConvertedGraph, result: Any, weight: Any) -> dict[Any, float]:
    """Return the values of edges; of parallel ones the lightest share theirs, the others have none."""
    ends, n = list(dict.fromkeys(G.original.edges())), len(G)
    src, dst, values = (devices.to_host(array) for array in (result.src, result.dst, result.betweenness))
    tails, heads = (G.numbered([pair[i] for pair in ends]).astype(np.int64) for i in (0, 1))
    places = np.searchsorted(src.astype(np.int64) * n + dst, tails * n + heads)
    found = dict(zip(ends, values[places].tolist(), strict=True))
    if not G.is_multigraph():
        return found
    shared = dict.fromkeys(G.original.edges, 0.0)
    for (u, v), value in found.items():
        lengths = {key: edge.get(weight, 1) for key, edge in G.original[u][v].items()}
        lightest = [key for key, length in lengths.items() if length == min(lengths.values())]
        shared |= {(u, v, key): value / len(lightest) for key in lightest}
    return shared


def betweenness_centrality(
    G: ConvertedGraph,
    k: Any = None,
    normalized: bool = True,
    weight: Any = None,
    endpoints: bool = False,
    seed: Any = None,
) -> dict[Any, float]:
    """Return `networkx.betweenness_centrality`."""
    k = None if k == len(G) else k
    pairs = _drawn(G, k, seed, normalized=bool(normalized), endpoints=bool(endpoints))
    return _by_node(G, _measured(G, weight, pairs))


def edge_betweenness_centrality(
    G: ConvertedGraph, k: Any = None, normalized: bool = True, weight: Any = None, seed: Any = None
) -> dict[Any, float]:
    """Return `networkx.edge_betweenness_centrality`."""
    return _by_edge(G, _measured(G, weight, _drawn(G, k, seed, normalized=bool(normalized), edges=True)), weight)


def betweenness_centrality_subset(
    G: ConvertedGraph, sources: Any, targets: Any, normalized: bool = False, weight: Any = None
) -> dict[Any, float]:
    """Return `networkx.betweenness_centrality_subset`."""
    return _by_node(G, _measured(G, weight, _some(G, sources, targets, normalized, edges=False)))


def edge_betweenness_centrality_subset(
    G: ConvertedGraph, sources: Any, targets: Any, normalized: bool = False, weight: Any = None
) -> dict[Any, float]:
    """Return `networkx.edge_betweenness_centrality_subset`."""
    return _by_edge(G, _measured(G, weight, _some(G, sources, targets, normalized, edges=True)), weight)
