"""Operations of breadth-first search with one launch per level; ``kernels/bfs_by_level.cu`` has the algorithms."""

from typing import NamedTuple, Protocol

from ...arrays import Array
from ..edges import Adjacency
from ..family import Family

#: Operations that only a CPU has.
HOST_ONLY = frozenset({"sequential", "in_queue_order"})


class Queued(NamedTuple):
    """A frontier in a queue: the vertices from place `head` to place `tail`. Vertices found are appended at `tail`.

    Attributes
    ----------
    queue : array of int32, shape (n,)
        Vertices in the order in which they were found.
    head, tail : int
        Where the frontier begins and ends.
    """

    queue: Array
    head: int
    tail: int


class Visited(NamedTuple):
    """The shard's vertices that were visited, as a bitmap.

    Attributes
    ----------
    first : int
        The vertex of the first bit.
    bits : array of uint32, shape (ceil((last - first) / 32),)
        Bit i % 32 of word i // 32 is vertex first + i.
    """

    first: int
    bits: Array


class Operations(Protocol):
    """The operations of both twins.

    `edges` are by source: a row for each of the n vertices, with its targets in the shard's range, `first` to `last`.
    `distances` is int32 of shape (n,), -1 where unreached. `frontier` is a bitmap of all n vertices, uint32 of shape
    (ceil(n / 32),). `queue` and `following` are int32, lists of vertices. `control` is int64 of shape
    (`CONTROL_WORDS`,), zero before.
    """

    #: The methods that this device has.
    METHODS: tuple[str, ...]
    #: Places in the control words: vertices found, levels run, size of the last level, edges gathered.
    FOUND: int
    LEVELS: int
    LAST: int
    EDGES: int
    CONTROL_WORDS: int
    #: The most vertices in a level that `thin` runs, and in a block's own queue.
    THIN: int
    HELD: int

    def count(self, frontier: Array, control: Array) -> None:
        """Count the vertices of the frontier into ``control[FOUND]``."""

    def list_frontier(self, frontier: Array, queue: Array, control: Array) -> None:
        """Write the vertices of the frontier to the queue, and their number to ``control[FOUND]``."""

    def mark(self, queue: Array, frontier: Array) -> None:
        """Set the bits of the queue's vertices."""

    def rows(self, in_indptr: Array, first: int, last: int, targets: Array) -> None:
        """Write the target of each edge into the vertices `first` to `last` to `targets`, int32 of shape (edges,).

        `in_indptr`, of shape (last - first + 1,), is that of the edges by target.
        """

    def edge(self, sources: Array, targets: Array, frontier: Array, level: int, distances: Array) -> None:
        """Give unvisited targets of edges from the frontier the distance `level`; `sources`, `targets`: int32."""

    def vertex(self, edges: Adjacency, frontier: Array, level: int, distances: Array) -> None:
        """Give unvisited neighbours of the frontier the distance `level`, one thread per vertex."""

    def settle(self, first: int, last: int, level: int, distances: Array, frontier: Array, control: Array) -> None:
        """Set the bits of `frontier` to the vertices `first` to `last` at distance `level`, and count them to FOUND."""

    def expand(
        self,
        edges: Adjacency,
        first: int,
        frontier: Array,
        visited: Array,
        level: int,
        updating: Array,
        distances: Array,
    ) -> None:
        """Give unvisited neighbours of the frontier the distance `level`, and mark them in `updating`.

        `visited` and `updating` are uint8 of shape (last - first,), 1 where true.
        """

    def update(self, first: int, last: int, visited: Array, updating: Array, frontier: Array, control: Array) -> None:
        """Move the vertices marked in `updating` to `frontier` and `visited`, and add their number to FOUND.

        `visited` and `updating` are as for `expand`.
        """

    def enqueue(
        self,
        edges: Adjacency,
        queue: Array,
        level: int,
        distances: Array,
        following: Array,
        held: int,
        control: Array,
    ) -> None:
        """Give unvisited neighbours of the queue's vertices the distance `level`; append them to `following`.

        Each block gathers up to `held` of them, 0 or `HELD`, and appends these together; the others one by one.
        """

    def gather(self, edges: Adjacency, queue: Array, targets: Array, control: Array) -> None:
        """Copy the targets of the edges from the queue's vertices to `targets`, int32; add their number to EDGES."""

    def filter_edges(
        self, targets: Array, visited: Visited, level: int, distances: Array, following: Array, control: Array
    ) -> None:
        """Give the unvisited among the gathered targets the distance `level`, and write them to `following`."""

    def thin(
        self,
        edges: Adjacency,
        visited: Visited,
        distances: Array,
        frontier: Queued,
        level: int,
        limit: int,
        control: Array,
    ) -> None:
        """Run up to `limit` levels from a queued frontier, as long as levels are thin.

        The first level gets distance `level`.
        """

    def sequential(
        self, edges: Adjacency, distances: Array, frontier: Queued, level: int, limit: int, control: Array
    ) -> None:
        """Run up to `limit` levels from a queued frontier on one core; the first gets distance `level`."""

    def in_queue_order(
        self,
        edges: Adjacency,
        others: Adjacency,
        sources: Array,
        limit: int,
        order: Array,
        predecessors: Array,
        levels: Array,
    ) -> int:
        """Write the vertices that `sources` reach in up to `limit` steps to `order`, as a queue finds them.

        Return their number. A vertex finds its neighbours by its row of `edges`, then by its row of `others`, each in
        the order of the row. `sources`, `order`, `predecessors` and `levels` are int32, the last three of shape (n,).
        ``levels[v]``, -1 before, is the number of steps to v, and ``predecessors[v]`` the vertex that found it; that of
        a source, and of a vertex that is not reached, remains.
        """


_FAMILY: Family[Operations] = Family(__name__)

on, of_kind = _FAMILY.on, _FAMILY.of_kind
