"""Operations of connected components; ``kernels/components.cu`` has the algorithms."""

from typing import Protocol

from ...arrays import Array
from ..family import Family

#: Operations that only a CPU has.
HOST_ONLY = frozenset({"unite_all"})


class Operations(Protocol):
    """The operations of both twins.

    ``indptr`` (int32 or int64, shape (last - first + 1,)) and ``indices`` (int32) are the edges from the vertices
    `first` to `last`. `parent`, `other`, `after`, `names` and `marks` are int32 of shape (n,); `giant`, `skipped`,
    `active` and `count` are int32 of shape (1,). `bits` are words of uint32, a bit for each of the n vertices.
    """

    #: The methods that this device has.
    METHODS: tuple[str, ...]

    def unite_all(self, indptr: Array, indices: Array, first: int, last: int, parent: Array) -> None:
        """Make every vertex a tree, then unite the trees of the ends of each edge, on one core."""

    def plant(self, indptr: Array, indices: Array, first: int, last: int, parent: Array) -> None:
        """Set the parent of each vertex: from `first` to `last` its first neighbour if smaller, else itself."""

    def sample(self, indptr: Array, indices: Array, first: int, last: int, parent: Array) -> None:
        """Link the vertices `first` to `last` with their first neighbours."""

    def compress(self, first: int, last: int, parent: Array) -> None:
        """Set the parent of each of the vertices `first` to `last` to its root."""

    def roots(self, vertices: Array, parent: Array) -> None:
        """Replace each of some vertices, int32, by its root."""

    def largest(self, first: int, last: int, parent: Array, giant: Array) -> None:
        """Write the most frequent root of a sample of the vertices `first` to `last`, whose parents are roots."""

    def link(self, indptr: Array, indices: Array, first: int, last: int, skipped: Array, parent: Array) -> None:
        """Link the vertices `first` to `last` with all their neighbours, but those with the parent ``skipped[0]``."""

    def members(self, first: int, last: int, parent: Array, giant: Array, bits: Array) -> None:
        """Write words of the vertices `first`, a multiple of 32, to `last`: a bit for each child of ``giant[0]``."""

    def absorb(
        self,
        first: int,
        last: int,
        other_first: int,
        other_last: int,
        bits: Array,
        giants: Array,
        shard: int,
        parent: Array,
    ) -> None:
        """Unite the members of another shard's giant component with its root, unless they are alone in their trees.

        The shard's own vertices are `first` to `last`, the other's `other_first` to `other_last`; ``giants[shard]`` is
        the root.
        """

    def list_parents(self, bits: Array, parent: Array, pairs: Array, count: Array) -> None:
        """Write each vertex without a bit that is no root, and its root, to `pairs`, int32 of shape (most, 2).

        ``count[0]``, which is 0 before, becomes the number of these vertices; `pairs` has the first `most` at least.
        """

    def unite_pairs(self, pairs: Array, parent: Array) -> None:
        """Unite both vertices of each pair."""

    def join(self, other: Array, parent: Array) -> None:
        """Unite this forest with the trees of another one, `other`."""

    def initialise(self, parent: Array, marks: Array) -> None:
        """Make every vertex a root, and clear its mark."""

    def shortcut_and_mark(self, parent: Array, after: Array, marks: Array, number: int) -> None:
        """Write every vertex's grandparent to `after`; mark new parents with the round's `number`."""

    def hook(
        self,
        indptr: Array,
        indices: Array,
        first: int,
        last: int,
        parent: Array,
        after: Array,
        marks: Array,
        number: int,
    ) -> None:
        """Hook roots to smaller ones, along the edges of the vertices `first` to `last`."""

    def hook_stagnant(
        self, indptr: Array, indices: Array, first: int, last: int, after: Array, marks: Array, number: int
    ) -> None:
        """Hook the roots that did not change in this round, along the same edges."""

    def shortcut_and_check(self, after: Array, parent: Array, marks: Array, number: int, active: Array) -> None:
        """Write every vertex's grandparent to `parent`; set ``active[0]`` to 1 if there are marks of this round."""

    def count_roots(self, first: int, last: int, parent: Array, count: Array) -> None:
        """Add the number of roots among the vertices `first` to `last` to ``count[0]``."""

    def least(self, parent: Array, after: Array) -> None:
        """Write the least vertex of each tree at its root in `after`, which has the root itself before."""

    def rename(self, names: Array, parent: Array) -> None:
        """Replace every vertex's parent by its name."""


_FAMILY: Family[Operations] = Family(__name__)

on, of_kind = _FAMILY.on, _FAMILY.of_kind
