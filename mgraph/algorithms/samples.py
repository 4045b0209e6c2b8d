"""Small graphs that reach every branch of the kernels: hubs, long paths, thin and wide levels, 64-bit offsets."""

from collections.abc import Iterator

import numpy as np

from ..generate import grid, rmat
from ..graph import Compressed, Graph


def graphs() -> list[Graph]:
    """Return the graphs, a Kronecker graph first."""
    star = Graph.from_edges(np.zeros(3000, int), np.arange(1, 3001), directed=False)
    path = Graph.from_edges(np.arange(120), np.arange(120) + 1)
    # Up to 14 edges a vertex, so that a thin level soon has too many edges for the thin kernel.
    steps = np.arange(1, 8)[:, None]
    ends = ((np.arange(3000) + 59 * steps) % 3000).ravel()
    ring = Graph.from_edges(np.tile(np.arange(3000), 7), ends, directed=False)
    indptr, indices, _ = rmat(8).compressed("csr")
    wide = Graph(256, csr=Compressed(indptr.astype(np.int64), indices, None), directed=False)
    # Three hubs that share all leaves: a search reaches the second and third hub two levels after the first.
    leaves = np.arange(3, 1503)
    hubs = Graph.from_edges(np.repeat(np.arange(3), 1500), np.tile(leaves, 3), directed=False)
    return [rmat(9), star, grid(24, 20, weights=None), path, ring, rmat(8, directed=True), wide, hubs]


#: The types of weights of which kernels are compiled; None for a graph without weights.
WEIGHTS = (None, "int32", "int64", "float32", "float64")


def large() -> Graph:
    """Return a graph of more vertices and edges than kernels of one core take (`mgraph.device.numba.small`)."""
    return rmat(19, 4)


def with_weights(graph: Graph, dtype: str | None, least: int = 0) -> Graph:
    """Return a graph with weights of a type, from `least` to 4; without any if that is None."""
    if dtype is None:
        return graph.unweighted()
    src, dst, _ = graph.coo()
    return graph.with_weights((least + (src + dst) % (5 - least)).astype(dtype))


def falling(n: int) -> Iterator[Graph]:
    """Yield acyclic graphs with negative weights of every type."""
    src, dst = np.sort(np.random.default_rng(n).integers(0, n, (2, 4 * n)), axis=0)
    edges = Graph.from_edges(src[src < dst], dst[src < dst], n=n)
    for dtype in WEIGHTS[1:]:
        yield with_weights(edges, dtype, -2)
