"""Small graphs that reach every branch of the kernels: hubs, long paths, thin and wide levels, 64-bit offsets."""

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
