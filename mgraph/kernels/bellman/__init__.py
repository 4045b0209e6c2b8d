"""Operations of the check by Bellman's equations, for CPUs only."""

from typing import Protocol

from ...arrays import Array
from ..family import Family

#: Operations that only a CPU has.
HOST_ONLY = frozenset({"lower_by_edges", "lower_by_matrix", "reach_by_edges"})


class Operations(Protocol):
    """The operations of the CPU. `distances` has rows of float64, shape (rows, n), as have the other arrays of rows.

    `least` is lowered to sums of a distance and an edge's weight, `nearer` by those edges only that come from a vertex
    of lesser distance than the vertex they lead to.
    """

    def lower_by_edges(
        self, distances: Array, first: int, offsets: Array, starts: Array, lengths: Array, least: Array, nearer: Array
    ) -> None:
        """Lower `least` and `nearer` along the edges into some consecutive vertices, from vertex `first` on.

        The edges into the k-th vertex are ``offsets[k]`` to ``offsets[k + 1]``, of shape (some + 1,); `starts` and
        `lengths` are the sources and weights of all edges.
        """

    def lower_by_matrix(self, distances: Array, first: int, part: Array, least: Array, nearer: Array) -> None:
        """Lower them along the edges in some vertices' rows, `part`, of a matrix of lengths: shape (some, n)."""

    def reach_by_edges(
        self, distances: Array, offsets: Array, ends: Array, lengths: Array, margins: Array, reached: Array
    ) -> None:
        """Mark in `reached`, of bool, what tight edges lead to from the vertices that are marked.

        An edge (u, v) is tight if the distance of u and the edge's weight add to the distance of v, give or take its
        margin. `offsets`, of shape (n + 1,), `ends` and `lengths` are the whole graph's edges by source.
        """


_FAMILY: Family[Operations] = Family(__name__)

on, of_kind = _FAMILY.on, _FAMILY.of_kind
