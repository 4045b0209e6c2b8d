"""Operations of core numbers; ``kernels/core_number.cu`` has the algorithm."""

from typing import NamedTuple, Protocol

from ...arrays import Array
from ..family import Family


class Lists(NamedTuple):
    """The vertices that are left, and those of a round, where the operations list them: see `list_capacity`.

    Attributes
    ----------
    left, gone : array of int32, shape (capacity,)
        The vertices that are left, and those that the last round has taken away.
    counts : array of int64, shape (2,)
        How many of each there are.
    """

    left: Array
    gone: Array
    counts: Array


class Operations(Protocol):
    """The operations of both twins.

    ``indptr`` (int32 or int64, shape (rows + 1,)) and ``indices`` (int32) are the edges of the vertices from `first`
    on, each row in ascending order. `lost`, `taken`, `degrees` and `cores` are int32 of shape (n,): the edges of a
    vertex that the last round took away, the round that took the vertex or -1, its edges to vertices that are left,
    and its core number.
    """

    def find_flaws(self, indptr: Array, indices: Array, first: int, flaws: Array) -> None:
        """Lower ``flaws[0]`` to the least vertex with a self-loop, ``flaws[1]`` to that with parallel edges; int32."""

    def list_capacity(self, n: int) -> int:
        """Return the elements of each list of `Lists`: n, or 0 if the operations look at all vertices in each round."""

    def settle(self, lists: Lists, lost: Array, taken: Array, degrees: Array, least: Array) -> None:
        """Subtract `lost` from the degrees and clear it; lower ``least[0]`` to the least degree of a vertex left."""

    def take(self, lists: Lists, degrees: Array, taken: Array, cores: Array, level: int, round: int) -> None:
        """Take the vertices left with a degree of at most `level`, which is their core number."""

    def lower(
        self, lists: Lists, indptr: Array, indices: Array, first: int, taken: Array, round: int, lost: Array
    ) -> None:
        """Count in `lost`, for each vertex left, the edges of these rows to it from vertices taken in this round."""


_FAMILY: Family[Operations] = Family(__name__)

on, of_kind = _FAMILY.on, _FAMILY.of_kind
