"""Operations of shortest paths from many sources; ``kernels/sssp_many.cu`` has the algorithm and the encoding."""

from typing import Any, Protocol

import numpy as np

from ...arrays import Array
from ..edges import Adjacency, WeightedAdjacency

#: Operations that only a CPU has.
HOST_ONLY = frozenset({"relax_all"})


class Operations(Protocol):
    """What both twins do.

    D is float32, float64 or int32 of shape (rows, n): row r has the distances from vertex ``first + r``. `by_source`
    and `by_target` are the edges of the whole graph, a row for each of the n vertices. Weights have D's type, and none
    is negative.
    """

    def batch_size(self, n: int, itemsize: int) -> int:
        """Return how many sources to search from at a time, for distances of `itemsize` bytes."""
        ...

    def workspace(self, xp: Any, n: int, sources: int, dtype: np.dtype) -> Any:
        """Return the buffers of `distances` for batches of up to `sources` sources."""
        ...

    def workspace_bytes(self, n: int, sources: int, itemsize: int) -> int:
        """Return the bytes of `workspace`."""
        ...

    def distances(
        self, D: Array, first: int, by_source: Adjacency, by_target: WeightedAdjacency, window: float, work: Any
    ) -> None:
        """D[r, v] = the length of the shortest path from vertex first + r to v.

        Distances within `window` of each other are settled together; this changes the work, never the result. `work` is
        what `workspace` returned.
        """
        ...

    def unshift(self, D: Array, first: int, h: Array) -> None:
        """D[r, v] += h[v] - h[first + r] where v is reached; `h` is float64 of shape (n,)."""
        ...

    def predecessors(self, D: Array, first: int, by_target: WeightedAdjacency, P: Array) -> None:
        """P[r, v] = the vertex before v on a shortest path from first + r, -9999 if there is none.

        P is int32 of D's shape. The vertex is the least of those nearer to the source. Where all are as far, edges of
        weight zero are followed from those that have predecessors. D must be exact, a minimum over sums
        D[r, u] + weight.
        """
        ...

    def relax_all(
        self, indptr: Array, indices: Array, weights: Array, h: Array, parents: Array, edges: Array, fell: Array
    ) -> int:
        """Relax the edges out of the vertices that `fell`, until no vertex falls; return a vertex on a cycle, or -1.

        Edges are by source, `weights` and `h` float64. `parents` and `edges`, int64 of shape (n,), become the source
        and the number of the edge that each vertex last fell by; -1 before. `fell` is Boolean of shape (n,).
        """
        ...
