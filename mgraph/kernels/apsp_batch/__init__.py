"""Operations of batches of small graphs; ``kernels/apsp_batch.cu`` has the algorithms and the encoding."""

from typing import Protocol

from ...arrays import Array
from ..family import Family


class Operations(Protocol):
    """The operations of both twins.

    `src`, `dst` (shape (m,)), `batch` (shape (vertices,)) and `starts` (shape (count + 1,)) are int64: the ends of each
    edge, the graph of each vertex, ascending, and each graph's first vertex. Results have shape (count, side, side);
    `lengths`, int32 of shape (count,), are the graphs' numbers of vertices. `order`, int32, are the graphs to solve,
    none of more than `longest` vertices. Predecessors are int32, and -9999 before.

    An edge whose ends are no vertices, or lie in different graphs, is left out, and ``bad[0]``, int64, becomes the
    number of the least such edge if it was greater.
    """

    #: The most vertices of graphs that are best solved together, ascending; the last is the most of all.
    CLASSES: tuple[int, ...]

    def fill(self, results: Array, value: float) -> None:
        """Set all elements, of shape (count, side, side), to a value."""

    def mark(self, src: Array, dst: Array, batch: Array, starts: Array, bits: Array, bad: Array) -> None:
        """Set the bits of edges in `bits`, uint32 of shape (count, side, words).

        Bit j % 32 of ``bits[g, i, j // 32]`` is the edge from i to j.
        """

    def lay(
        self, src: Array, dst: Array, batch: Array, starts: Array, weights: Array, distances: Array, bad: Array
    ) -> None:
        """Lower the distances of edges to their weights, of the same type: float32, float64 or int32."""

    def hops(
        self,
        bits: Array,
        order: Array,
        lengths: Array,
        longest: int,
        distances: Array,
        predecessors: Array | None,
        beyond: Array,
    ) -> None:
        """Write the hop counts between vertices that are connected, and predecessors, if there are any.

        Distances are int8 or int16, and the type's largest value before. If one is that large or larger,
        ``beyond[0]``, int32, becomes 1. A predecessor is the least vertex on a shortest path.
        """

    def solve(
        self,
        order: Array,
        lengths: Array,
        longest: int,
        distances: Array,
        predecessors: Array | None,
        cycles: Array,
    ) -> None:
        """Replace the lengths of edges by distances, by the algorithm of Floyd and Warshall.

        ``cycles[g]``, int32, becomes the first pivot of graph g that lies on a negative cycle; the graph's distances
        are then of no use. Predecessors are those that the unblocked algorithm records.
        """


_FAMILY: Family[Operations] = Family(__name__)

on, of_kind = _FAMILY.on, _FAMILY.of_kind
