"""Operations that grow random trees, for CPUs only: each vertex waits for the one before."""

from typing import Protocol

from ...arrays import Array
from ..family import Family

#: Operations that only a CPU has.
HOST_ONLY = frozenset({"grow"})


class Operations(Protocol):
    """What `mgraph.kernels.trees.host` implements."""

    def grow(self, draws: Array, k: int, vertices: Array, parents: Array) -> None:
        """Write the parents of vertices that join a forest one after the other, each below a random one.

        Parameters
        ----------
        draws : array of float64, shape (n - count,)
            A number in [0, 1) for each vertex but the roots, which come first: it picks among the vertices that are
            there and have fewer than `k` children.
        k : int
            Children of a vertex at most, 1 or more.
        vertices : array of int32, shape (n,)
            A buffer.
        parents : array of int32, shape (n - count,)
            Receives the parents.
        """


_FAMILY: Family[Operations] = Family(__name__)

on, of_kind = _FAMILY.on, _FAMILY.of_kind
