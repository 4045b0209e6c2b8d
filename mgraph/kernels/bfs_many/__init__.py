"""Operations of breadth-first searches from many sources; ``kernels/bfs_many.cu`` has the algorithm."""

from typing import NamedTuple, Protocol

from ...arrays import Array
from ..edges import Adjacency, HubBuffers
from ..family import Family


class SearchWords(NamedTuple):
    """The state of a batch of searches: a bit for each vertex and search, in words of 64 searches.

    Attributes
    ----------
    frontier : array of uint64, shape (n, words)
        Searches whose frontier has the vertex.
    seen : array of uint64, shape (last - first, words)
        Searches that have reached the vertex; only the shard's vertices.
    following : array of uint64, shape (last - first, words)
        Searches whose next frontier has the vertex; only the shard's vertices.
    """

    frontier: Array
    seen: Array
    following: Array


class Counts(NamedTuple):
    """What is counted of each search, zero before.

    Attributes
    ----------
    reached : array of int64, shape (searches,)
        The number of targets within reach; the source counts if it is one.
    total : array of int64, shape (searches,)
        The sum of their distances.
    harmonic : array of float64, shape (searches,)
        The sum of 1 / distance, without the source.
    farthest : array of int64, shape (searches,)
        The greatest distance.
    within : array of int64, shape (searches, radii)
        The number of targets up to each radius.
    histogram : array of int64, shape (searches, bins)
        The number of targets in each bin.
    """

    reached: Array
    total: Array
    harmonic: Array
    farthest: Array
    within: Array
    histogram: Array


#: Operations that only a CPU has.
HOST_ONLY = frozenset({"one_by_one", "count_levels"})


class Operations(Protocol):
    """The operations of both twins, for the shard of the vertices from `first` to `last`."""

    #: Words of 64 searches that a batch may have, the most first.
    WORDS: tuple[int, ...]

    def plant(self, sources: Array, first: int, last: int, words: SearchWords, row: int, distances: Array) -> None:
        """Start a search from each of `sources`, int32; `distances` has the first one's in row `row`.

        `distances` is int32 of shape (searches, last - first), -1 where unreached.
        """

    def pull(self, edges: Adjacency, words: SearchWords, hubs: HubBuffers) -> None:
        """Write to `following` which searches have an in-neighbour of each vertex in their frontiers.

        `edges` are by target: a row for each of the shard's vertices, with its in-neighbours.
        """

    def push(self, edges: Adjacency, first: int, words: SearchWords, hubs: HubBuffers) -> None:
        """Add to `following`, zero before, the searches that reach each vertex from their frontiers.

        `edges` are by source: a row for each of the n vertices, with its targets in the shard's range.
        """

    def settle(
        self, first: int, last: int, words: SearchWords, level: int, row: int, distances: Array, active: Array
    ) -> None:
        """Make `following` the shard's part of the frontiers, without the vertices that were seen before.

        The new vertices get distance `level`; `row` and `distances` are as for `plant`. The number of vertices that are
        new to any search is added to ``active[0]``, int64. `following` is zero afterwards.
        """

    def tally(self, words: SearchWords, targets: Array, counts: Array, active: Array) -> None:
        """Settle the vertices of a whole graph as `settle` does, and count targets instead of writing distances.

        The number of targets that are new to search i is added to ``counts[i]``, uint32 of shape (64 * words,).
        `targets` is bool of shape (n,).
        """

    def one_by_one(self, edges: Adjacency, sources: Array, limit: int, distances: Array) -> None:
        """Search from each of `sources`, int32, by a queue: one core for each search.

        `edges` are by source, of the whole graph; `distances` is int32 of shape (searches, n), -1 before. Vertices
        farther than `limit` keep the -1.
        """

    def count_levels(
        self,
        edges: Adjacency,
        sources: Array,
        limit: int,
        targets: Array,
        radii: Array,
        limits: Array,
        counts: Counts,
    ) -> None:
        """Search from each of `sources`, int32, and count the targets by level: one core for 64 searches.

        `edges` are by source, of the whole graph; `targets` is bool of shape (n,), `radii` and `limits` float64. Bin
        number i is of levels more than ``limits[i]`` and at most ``limits[i + 1]``. Vertices farther than `limit` do
        not count.
        """


_FAMILY: Family[Operations] = Family(__name__)

on, of_kind = _FAMILY.on, _FAMILY.of_kind
