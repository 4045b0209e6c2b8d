"""Operations of the check by Bellman's equations, for CPUs only."""

from typing import Protocol

from ...arrays import Array

#: Operations that only a CPU has.
HOST_ONLY = frozenset({"lower_by_edges", "lower_by_matrix"})


class Operations(Protocol):
    """The operations of the CPU. They lower `least`, of shape (rows, n), to sums of a distance and an edge's weight.

    `distances` has the distances of some consecutive vertices only: shape (rows, some).
    """

    def lower_by_edges(self, distances: Array, offsets: Array, ends: Array, lengths: Array, least: Array) -> None:
        """Lower `least` along the edges from these vertices.

        The edges of the k-th vertex are ``offsets[k]`` to ``offsets[k + 1]``, of shape (some + 1,); `ends` and
        `lengths` are the targets and weights of all edges.
        """
        ...

    def lower_by_matrix(self, distances: Array, part: Array, least: Array) -> None:
        """Lower `least` along the edges in these vertices' rows, `part`, of a matrix of lengths: shape (some, n)."""
        ...
