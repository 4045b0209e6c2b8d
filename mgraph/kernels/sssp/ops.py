"""Operations of shortest paths from one source; ``kernels/sssp.cu`` has the algorithms and the encoding."""

from typing import NamedTuple, Protocol

import numpy as np

from ...arrays import Array

#: Edges by source, a row for each of the n vertices, only with targets in the shard's range: ``indptr`` (int32 or
#: int64, shape (n + 1,)), ``indices`` (int32) and weights of the distances' type, encoded for the kernels.
EdgeArrays = tuple[Array, Array, Array | None]


class Piles(NamedTuple):
    """The arrays of a search by piles.

    Attributes
    ----------
    distances : array of float32, float64 or int32, shape (n,)
        The kernels' infinity where unreached.
    near, far : array of int32, shape (2 * n,)
        Vertices to relax within the bound and beyond it; of each pile the one that is read and the one that is written.
    stamps : array of int32, shape (n,)
        Round in which a vertex was last put on the near pile; zero before.
    waits : array of uint32, shape (ceil(n / 32),)
        Bitmap of the vertices in the far pile; zero before.
    pieces : array of int32, shape (``piece_capacity(edges)``, 2)
        Buffer.
    bound : array, shape (1,)
        Distance below which vertices are near; of the distances' type.
    """

    distances: Array
    near: Array
    far: Array
    stamps: Array
    waits: Array
    pieces: Array
    bound: Array


class Masks(NamedTuple):
    """The arrays of a search over masks, for the targets from `first` to `last`.

    Attributes
    ----------
    first, last : int
        The shard's range.
    distances : array of float32, float64 or int32, shape (n,)
        The kernels' infinity where unreached.
    updating : array, shape (last - first,)
        Distances of the shard's vertices that the next round takes over.
    mask : array of uint32, shape (ceil(n / 32),)
        Bitmap of the vertices to relax.
    pieces, bound
        As in `Piles`.
    """

    first: int
    last: int
    distances: Array
    updating: Array
    mask: Array
    pieces: Array
    bound: Array


class Bounds(NamedTuple):
    """What a search is limited by.

    Attributes
    ----------
    window : float
        Width of the distances that are relaxed together.
    limit : float
        The greatest distance that is wanted.
    target : int
        The vertex beyond whose distance nothing is relaxed, or -1.
    """

    window: float
    limit: float
    target: int


class Operations(Protocol):
    """What both twins do. `control` is int32 of shape (`CONTROL_WORDS`,), zero before the first operation."""

    #: Place of the rounds that were run in the control words, and their number.
    ROUND: int
    CONTROL_WORDS: int
    #: What `parents` leaves where it finds none.
    OPEN: int

    def piece_capacity(self, edges: int) -> int:
        """Return the most pieces that the hubs of a graph of so many edges are cut into; 0 without hubs."""
        ...

    def compile_ahead(self, indptr: Array, dtype: np.dtype, masked: bool) -> None:
        """Begin to compile `masks`, or `piles`; returns at once."""
        ...

    def start(self, seeds: Array, window: float, distances: Array, near: Array, bound: Array, control: Array) -> None:
        """Begin with the seeds, int32, as the near pile at distance zero; the first bound is `window`."""
        ...

    def piles(self, edges: EdgeArrays, arrays: Piles, control: Array, bounds: Bounds, rounds: int) -> None:
        """Run up to `rounds` rounds from the near pile, and from the far one where that is empty."""
        ...

    def masks(self, edges: EdgeArrays, arrays: Masks, control: Array, bounds: Bounds, rounds: int) -> None:
        """Run up to `rounds` rounds over masks."""
        ...

    def parents(
        self, edges: EdgeArrays, first: int, distances: Array, parent: Array, pieces: Array, control: Array
    ) -> None:
        """Write the least nearer vertex with a tight edge to each vertex from `first` on that has one.

        `parent` is int32 of shape (last - first,), `OPEN` before.
        """
        ...

    def tight(
        self,
        edges: EdgeArrays,
        first: int,
        distances: Array,
        parent: Array,
        hops: Array,
        pieces: Array,
        control: Array,
    ) -> None:
        """Write 1 for each tight edge to a vertex without a predecessor, and the kernels' infinity for the others.

        `hops` is int32, one an edge.
        """
        ...

    def settle_roots(self, first: int, source: int, distances: Array, parent: Array, open_anywhere: Array) -> None:
        """Write -9999 for what no path leads to and for the source; set ``open_anywhere[0]`` if another is `OPEN`."""
        ...
