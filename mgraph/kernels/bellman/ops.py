"""Operations of the check by Bellman's equations, which CPUs alone have."""

from typing import Protocol

from ...arrays import Array

#: Operations that only a CPU has.
HOST_ONLY = frozenset({"lower_by_edges", "lower_by_matrix"})


class Operations(Protocol):
    """What the CPU does: `least`, of shape (rows, n), is lowered to sums of a distance and the edge from there.

    `distances` has the distances of some consecutive vertices only: shape (rows, some).
    """

    def lower_by_edges(self, distances: Array, offsets: Array, ends: Array, lengths: Array, least: Array) -> None:
        """Lower `least` by the edges from these vertices.

        Those of the k-th are ``offsets[k]`` to ``offsets[k + 1]``; `ends` and `lengths` are their targets and weights.
        """
        ...

    def lower_by_matrix(self, distances: Array, part: Array, least: Array) -> None:
        """Lower `least` by the rows of a matrix of lengths that belong to these vertices: shape (some, n)."""
        ...
