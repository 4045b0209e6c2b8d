"""Operations of shortest paths from one source; ``kernels/sssp.cu`` has the algorithms and the encoding."""

from typing import NamedTuple, Protocol

import numpy as np

from ...arrays import Array
from ...device import Meeting
from ..family import Family

#: Operations that only a CPU has.
HOST_ONLY = frozenset({"in_heap_order"})

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
        Vertices to relax, within the bound and beyond it. One half of each is read while the other is written.
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
    """The arrays of a search by masks, for the targets from `first` to `last`.

    Attributes
    ----------
    first, last : int
        The shard's range.
    distances : array of float32, float64 or int32, shape (n,)
        The kernels' infinity where unreached.
    updating : array, shape (last - first,)
        Distances of the shard's vertices for the next round.
    mask : array of uint32, shape (ceil(n / 32),)
        Bitmap of the vertices to relax.
    waits : array of uint32, shape (ceil(n / 32),)
        Bitmap of those of them that are beyond the bound; zero before. On a CPU these stay in the mask.
    fell : array of uint32, shape (ceil((last - first) / 32),)
        Buffer; zero before.
    queue : array of int32, shape (n,)
        Buffer.
    pieces : array of int32, shape (``piece_capacity(edges)``, 2)
        Buffer.
    bounds : array, shape (2,)
        Distance below which vertices are near, and the least distance of those that wait: infinity before.
    """

    first: int
    last: int
    distances: Array
    updating: Array
    mask: Array
    waits: Array
    fell: Array
    queue: Array
    pieces: Array
    bounds: Array


class Lists(NamedTuple):
    """What the shards of a search by masks exchange: a list for each of them of vertices that fell in its last round.

    Attributes
    ----------
    vertices : array of int32, shape (shards, length)
        The vertices.
    values : array, shape (shards, length)
        Their distances; of the distances' type.
    counts : array of int32, shape (shards,)
        How many vertices fell; where it is more than `length`, the list is incomplete. -1 if no round was run.
    """

    vertices: Array
    values: Array
    counts: Array


class Bounds(NamedTuple):
    """The limits of a search.

    Attributes
    ----------
    window : float
        Width of the window of distances that are relaxed together.
    limit : float
        The greatest distance to search to.
    target : int
        A vertex at whose distance the search ends, or -1.
    """

    window: float
    limit: float
    target: int


class Operations(Protocol):
    """The operations of both twins. `control` is int32 of shape (`CONTROL_WORDS`,), zero before the first one."""

    #: Places of the number of rounds run and of the sizes of the piles in the control words, and their number.
    ROUND: int
    NEAR: int
    FAR: int
    CONTROL_WORDS: int
    #: Place of the word that says whether another shard did not come to an exchange within a launch.
    LOST: int
    #: The value that `parents` leaves where it finds no predecessor.
    OPEN: int

    def piece_capacity(self, edges: int) -> int:
        """Return the most pieces into which the hubs of a graph with `edges` edges are cut; 0 if unused."""

    def shared_words(self, n: int, itemsize: int) -> int:
        """Return the words of 32 bits of the memory that each of several shards shares with the others for `piles`.

        `itemsize` is that of distances.
        """

    def compile_ahead(self, indptr: Array, dtype: np.dtype, masked: bool, several: bool) -> None:
        """Begin to compile `masks` if `masked`, else `piles`, and return at once.

        `several`: for shards that meet within the launch.
        """

    def start(self, seeds: Array, window: float, distances: Array, near: Array, bound: Array, control: Array) -> None:
        """Put the seeds, int32, on the near pile at distance zero, and set the bound to `window`."""

    def piles(
        self,
        edges: EdgeArrays,
        arrays: Piles,
        control: Array,
        bounds: Bounds,
        rounds: int,
        meeting: Meeting | None = None,
    ) -> None:
        """Run up to `rounds` rounds from the near pile; when it is empty, refill it from the far pile.

        With a `meeting`, GPUs exchange what is near after each round, within the launch. Then fewer rounds than asked
        for have run only if all piles of all of them are empty.
        """

    def join(
        self, first: int, last: int, known: Array, mask: Array, arrays: Piles, control: Array, window: float
    ) -> None:
        """Take over what other shards found, after `piles` over the edges into the vertices from `first` to `last`.

        Other vertices whose distance is less than in `known` come on the near pile, and the bound falls to the least
        of them and a window. `mask` gets the own vertices whose distance is. Then `known` has all distances.
        """

    def masks(
        self,
        edges: EdgeArrays,
        arrays: Masks,
        lists: Lists,
        control: Array,
        bounds: Bounds,
        shard: int,
        listed: bool,
        rounds: int,
    ) -> None:
        """Run up to `rounds` rounds by masks, and write the shard's list.

        If `listed`, take over the other shards' lists before.
        """

    def parents(
        self, edges: EdgeArrays, first: int, distances: Array, parent: Array, pieces: Array, control: Array
    ) -> None:
        """Write to `parent`, for each vertex from `first` on, the least nearer vertex with a tight edge to it.

        `parent` is int32 of shape (last - first,), `OPEN` before; it stays so where there is no such vertex.
        """

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
        """Write to `hops` 1 for each tight edge to a vertex without a predecessor, and otherwise int32's infinity.

        `hops` is int32 of shape (edges,).
        """

    def settle_roots(self, first: int, source: int, distances: Array, parent: Array, open_anywhere: Array) -> None:
        """Write -9999 for unreached vertices and the source; set ``open_anywhere[0]`` if another vertex is `OPEN`.

        `open_anywhere` is int32 of shape (1,).
        """

    def in_heap_order(
        self,
        edges: EdgeArrays,
        distances: Array,
        sources: Array,
        classes: Array,
        free: Array,
        order: Array,
        predecessors: Array,
    ) -> int:
        """Write the reached vertices to `order` as Dijkstra's algorithm takes them from a heap; return their number.

        Of equal distances the one that was put on the heap first comes first. ``predecessors[v]``, negative before, is
        the first vertex of the order with a tight edge to v; that of a source remains. Weights and `distances` are
        float64, the latter infinite where unreached. `classes`, int32 of shape (n,), numbers the distances, ascending,
        and ``free[c]``, int64, is where class c begins in `order`. With one class for all, the order is that of a
        queue along tight edges, also with negative weights.
        """


_FAMILY: Family[Operations] = Family(__name__)

on, of_kind = _FAMILY.on, _FAMILY.of_kind
