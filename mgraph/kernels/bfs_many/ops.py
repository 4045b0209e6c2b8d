"""Operations of breadth-first searches from many sources; ``kernels/bfs_many.cu`` has the algorithm."""

from typing import Protocol

from ...arrays import Array


class Operations(Protocol):
    """What both twins do. A word of 64 bits holds a vertex's state in 64 searches; a batch has one word or more.

    `frontier` is uint64 of shape (n, words). `seen` and `following` are uint64 of shape (last - first, words), for the
    shard's vertices. Edges are as in `mgraph.kernels.bfs.ops`, as are the buffers `hubs` and `total`.
    """

    #: The words a vertex that a batch may have, the most first.
    WORDS: tuple[int, ...]

    def plant(
        self, sources: Array, first: int, last: int, frontier: Array, seen: Array, row: int, distances: Array
    ) -> None:
        """Start a search from each of `sources`, int32; the distances of the first are row `row`.

        `distances` is int32 of shape (searches, last - first), -1 where unreached.
        """
        ...

    def pull(
        self,
        in_indptr: Array,
        in_indices: Array,
        frontier: Array,
        seen: Array,
        following: Array,
        hubs: Array,
        total: Array,
    ) -> None:
        """Gather for each vertex in which frontiers its in-neighbours are; write that to `following`."""
        ...

    def push(
        self,
        out_indptr: Array,
        out_indices: Array,
        first: int,
        frontier: Array,
        seen: Array,
        following: Array,
        hubs: Array,
        total: Array,
    ) -> None:
        """Send along the edges of each vertex in which frontiers it is; `following` is zero before."""
        ...

    def settle(
        self,
        first: int,
        last: int,
        level: int,
        following: Array,
        seen: Array,
        frontier: Array,
        row: int,
        distances: Array,
        active: Array,
    ) -> None:
        """Make the new vertices the frontiers, at distance `level`; add their number to ``active[0]``, int64.

        `following` is zero after.
        """
        ...
