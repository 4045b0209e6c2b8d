"""Operations of breadth-first search, many levels a launch; ``kernels/bfs.cu`` has the algorithm and the encoding."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from ...arrays import Array
from ...device import Meeting
from ..edges import Adjacency, HubBuffers
from ..family import Family


class SearchEdges(NamedTuple):
    """The edges into a shard's vertices.

    Attributes
    ----------
    out_indptr, out_indices, in_indptr, in_indices : array
        Edges by source and by target, as described at `Operations`.
    heads : array of int32, shape (last - first,) or (0,)
        The in-neighbour of each vertex that has the most edges; empty if not used.
    quads : array of int32, shape (quads, 4) or (0, 4)
        The neighbours in rows of four words; empty if not used.
    """

    out_indptr: Array
    out_indices: Array
    in_indptr: Array
    in_indices: Array
    heads: Array
    quads: Array


class SearchArrays(NamedTuple):
    """The state of a search in the shard of the vertices from `first` to `last`.

    Attributes
    ----------
    first, last : int
        The shard's range; `first` is a multiple of 32.
    distances : array of int32, shape (n,)
        Levels; -1 where unreached. A shard writes those of its vertices.
    parents : array of int32, shape (last - first,) or (0,)
        The in-neighbour from which each of the shard's vertices was met; only those of vertices that the search reaches
        are written. Empty if not wanted.
    visited, found : array of uint32, shape (ceil((last - first) / 32),)
        Bitmaps of the shard's vertices: those reached, and those in the next frontier. A CPU's pulls enter vertices
        without in-neighbours in `visited`, too.
    frontier : array of uint32, shape (ceil(n / 32),)
        Bitmap of all vertices in the frontier.
    queue : array of int32, shape (n,)
        Buffer.
    hubs : array of int32, shape (``hub_capacity(edges)``,)
        Buffer.
    lists : array of int32, shape (shards, length)
        Each shard's part of the frontier as a list: the count, then the vertices.
    control : array of int32, shape (`CONTROL_WORDS`,)
        Zero before the first launch.
    """

    first: int
    last: int
    distances: Array
    parents: Array
    visited: Array
    frontier: Array
    found: Array
    queue: Array
    hubs: Array
    lists: Array
    control: Array


class Operations(Protocol):
    """The operations of both twins. A bitmap is uint32; vertex v is bit v % 32 of word v // 32.

    Edges are pairs ``(indptr, indices)``. ``out_*`` has a row for each of the n vertices, with its targets in the
    shard's range. ``in_*`` has a row for each vertex from `first` to `last`, with its in-neighbours. ``indptr`` is
    int32 or int64, ``indices`` is int32.
    """

    #: Place of the frontier's level in the control words, and their number.
    LEVEL: int
    CONTROL_WORDS: int
    #: Place of the word that says whether another shard did not come to an exchange within a launch.
    LOST: int
    #: The number of each method.
    METHODS: Mapping[str, int]

    def hub_capacity(self, edges: int) -> int:
        """Return the int32 words that `parents` needs for the hubs of a graph with `edges` edges; 0 if unused."""

    def quads_needed(self, indptr: Array) -> int:
        """Return how many quads (rows of four words) a graph needs; 0 if this device does not use them for it."""

    def quads(self, xp: Any, indptr: Array, indices: Array) -> Array:
        """Return the neighbours of a graph as quads: int32, shape (``quads_needed(indptr)``, 4)."""

    def compile_ahead(self, indptr: Array, tree: bool, several: bool) -> None:
        """Begin to compile `levels` for the type of `indptr`, and return at once.

        `tree`: with parents; `several`: for shards that meet within the launch.
        """

    def shared_words(self, n: int, shards: int) -> int:
        """Return the words of 32 bits for data that each of several shards shares with the others; 0 for one shard."""

    def fill(self, numbers: Array, value: int) -> None:
        """Set all elements of an int32 array to a value; a CPU's cores share the pages of new memory."""

    def seed(self, sources: Array, first: int, last: int, distances: Array, visited: Array, frontier: Array) -> None:
        """Give the sources distance 0, and set their bits in the bitmaps.

        Parameters
        ----------
        sources : array of int32
            The vertices to start from.
        first, last : int
            The shard's range. Only sources within it get a distance and a bit in `visited`.
        distances : array of any type, shape (n,)
            All unreached before.
        visited : bitmap of the shard's vertices
            Zero before.
        frontier : bitmap of all n vertices
            Gets a bit for each source.
        """

    def heads(self, in_indptr: Array, in_indices: Array, out_indptr: Array, head: Array) -> None:
        """Write each row's in-neighbour with the most edges to `head`, int32 of shape (rows,); -1 without one.

        On a GPU, only the first in-neighbours of a hub are compared.
        """

    def levels(
        self,
        edges: SearchEdges,
        arrays: SearchArrays,
        limit: int,
        method: int,
        shard: int,
        listed: bool,
        meeting: Meeting | None = None,
    ) -> None:
        """Run up to `limit` levels of the search for the shard's vertices.

        The new frontier is left in the shard's words of the bitmap, and in its list if that has room. The parent of a
        vertex is the in-neighbour in the frontier that the search meets first: on a GPU it may differ from run to run.

        Parameters
        ----------
        edges : SearchEdges
            The shard's edges.
        arrays : SearchArrays
            The state of the search.
        limit : int
            The most levels to run; a shard that is one of several runs one, unless there is a `meeting`.
        method : int
            A number of `METHODS`.
        shard : int
            This shard's number.
        listed : bool
            Whether to start from the shards' lists rather than the bitmap.
        meeting : Meeting, optional
            Where GPUs exchange frontiers within the launch. Then the whole frontier is left in the bitmap.
        """

    def parents(
        self, edges: Adjacency, first: int, last: int, distances: Array, root: int, parent: Array, hubs: HubBuffers
    ) -> None:
        """Write the least in-neighbour one level up of each vertex from `first` to `last`, or -9999.

        Parameters
        ----------
        edges : Adjacency
            Edges by target: a row for each vertex from `first` to `last`, with its in-neighbours in ascending order.
        first, last : int
            The shard's range.
        distances : array of int32, shape (n,)
            Levels of all vertices; -1 where unreached.
        root : int
            The only source, or -1.
        parent : array of int32, shape (last - first,)
            Receives the result.
        hubs : HubBuffers
            Buffers.
        """


_FAMILY: Family[Operations] = Family(__name__)

on, of_kind = _FAMILY.on, _FAMILY.of_kind
