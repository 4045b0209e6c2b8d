"""Operations of shortest paths from many sources; ``kernels/sssp_many.cu`` has the algorithm and the encoding."""

from typing import Any, Protocol

import numpy as np

from ...arrays import Array
from ..edges import Adjacency, WeightedAdjacency
from ..family import Family

#: Bits of the digits of exact numbers, the lowest first; the last digit is signed and may have more.
DIGIT_BITS = 52

#: Operations that only a CPU has.
HOST_ONLY = frozenset({"one_by_one", "relax_all"})


class Operations(Protocol):
    """The operations of both twins.

    D is float32, float64 or int32 of shape (rows, n): row r has the distances from vertex ``sources[r]``. `sources` is
    int32 of shape (rows,); vertices may be repeated. `by_source` and `by_target` are the edges of the whole graph, a
    row for each of the n vertices. Weights have D's type, and none
    is negative.
    """

    def layout(self, by_source: Adjacency, by_target: WeightedAdjacency) -> Any:
        """Return the edges as `distances` takes them; the host numbers vertices anew."""

    def layout_bytes(self, n: int, m: int, itemsize: int, directed: bool) -> int:
        """Return the bytes of `layout`, beyond those of the edges that it is made of."""

    def batch_size(self, n: int, itemsize: int) -> int:
        """Return how many sources to search from at a time, if a distance has `itemsize` bytes."""

    def workspace(self, xp: Any, n: int, sources: int, dtype: np.dtype) -> Any:
        """Return the buffers that `distances` needs for up to `sources` sources, a NamedTuple of arrays."""

    def workspace_bytes(self, n: int, sources: int, itemsize: int) -> int:
        """Return the bytes of `workspace`."""

    def distances(
        self,
        D: Array,
        sources: Array,
        edges: Any,
        window: float,
        end: float,
        work: Any,
    ) -> None:
        """D[r, v] = the length of the shortest path from vertex sources[r] to v if it is less than `end`.

        Otherwise it is infinite. Distances within `window` of each other are settled together; this affects the work,
        never the result. `edges` is the result of `layout`, and `work` that of `workspace`.
        """

    def one_by_one(self, D: Array, sources: Array, edges: WeightedAdjacency, window: float, end: float) -> None:
        """Write what `distances` writes; each source is searched from by itself.

        `edges` are those by source. Of `window`, as there, the best width is another.
        """

    def unshift(self, D: Array, sources: Array, h: Array) -> None:
        """D[r, v] += h[v] - h[sources[r]] where v is reached; `h` is float64 of shape (n,)."""

    def predecessors(self, D: Array, sources: Array, by_target: WeightedAdjacency, P: Array) -> None:
        """P[r, v] = the vertex before v on a shortest path from sources[r], -9999 if there is none.

        P is int32 of D's shape. Of the vertices before v that are nearer to the source, the least is taken. If v only
        has such vertices at its own distance, by edges of weight zero, one is taken that has a predecessor already.
        Each D[r, v] that is finite must be exactly the minimum of the sums D[r, u] + weight.
        """

    def relax_all(
        self,
        indptr: Array,
        indices: Array,
        mantissas: Array,
        shifts: Array,
        h: Array,
        parents: Array,
        edges: Array,
        fell: Array,
    ) -> int:
        """Lower the potentials `h` along edges until none falls; return a vertex on a negative cycle, or -1.

        Edges are by source. All numbers are exact: the weight of edge e is ``mantissas[e] * 2**shifts[e]``, int64 and
        int32, and ``h[v]`` are the digits of a potential, int64 of shape (n, digits), in the same unit. `fell`, Boolean
        of shape (n,), marks the vertices whose edges are relaxed first. `parents` and `edges`, int64 of shape (n,) and
        -1 before, receive the source and the number of the edge that last lowered each vertex.
        """


_FAMILY: Family[Operations] = Family(__name__)

on, of_kind = _FAMILY.on, _FAMILY.of_kind
