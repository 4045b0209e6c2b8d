"""Operations of breadth-first search, a level a launch; ``kernels/bfs_by_level.cu`` has the algorithms."""

from typing import Protocol

from ...arrays import Array

#: Operations that only a CPU has.
HOST_ONLY = frozenset({"sequential"})


class Operations(Protocol):
    """What both twins do.

    ``out_indptr`` (int32 or int64, shape (n + 1,)) and ``out_indices`` (int32) are the edges by source, only those with
    targets in the shard's range, `first` to `last`. `distances` is int32 of shape (n,), -1 where unreached. `frontier`
    is a bitmap of all n vertices, uint32. `queue` and `following` are int32, vertices. `control` is int64 of shape
    (`CONTROL_WORDS`,), zero before.
    """

    #: The methods that this device has.
    METHODS: tuple[str, ...]
    #: Places in the control words: vertices found, levels run, vertices of the last level, edges gathered.
    FOUND: int
    LEVELS: int
    LAST: int
    EDGES: int
    CONTROL_WORDS: int
    #: The most vertices of a level that `thin` runs.
    THIN: int

    def count(self, frontier: Array, control: Array) -> None:
        """Count the vertices of the frontier into ``control[FOUND]``."""
        ...

    def list_frontier(self, frontier: Array, queue: Array, control: Array) -> None:
        """Write the vertices of the frontier to the queue, and their number to ``control[FOUND]``."""
        ...

    def mark(self, queue: Array, frontier: Array) -> None:
        """Set the bits of the queue's vertices."""
        ...

    def rows(self, in_indptr: Array, first: int, last: int, targets: Array) -> None:
        """Write the target of each edge into the vertices `first` to `last` to `targets`, int32, one an edge.

        `in_indptr` has shape (last - first + 1,).
        """
        ...

    def edge(self, sources: Array, targets: Array, frontier: Array, level: int, distances: Array) -> None:
        """Give unvisited targets of edges from the frontier the distance `level`; `sources`, `targets`: int32."""
        ...

    def vertex(self, out_indptr: Array, out_indices: Array, frontier: Array, level: int, distances: Array) -> None:
        """Give unvisited neighbours of the frontier the distance `level`, a thread a vertex."""
        ...

    def settle(self, first: int, last: int, level: int, distances: Array, frontier: Array, control: Array) -> None:
        """Make the frontier of the vertices `first` to `last` at distance `level`, and count them."""
        ...

    def expand(
        self,
        out_indptr: Array,
        out_indices: Array,
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
        ...

    def update(self, first: int, last: int, visited: Array, updating: Array, frontier: Array, control: Array) -> None:
        """Make the frontier of the vertices marked in `updating`, which are visited now, and count them."""
        ...

    def privatized(
        self,
        out_indptr: Array,
        out_indices: Array,
        queue: Array,
        level: int,
        distances: Array,
        following: Array,
        control: Array,
    ) -> None:
        """Give unvisited neighbours of the queue's vertices the distance `level`; write them to `following`."""
        ...

    def gather(self, out_indptr: Array, out_indices: Array, queue: Array, edges: Array, control: Array) -> None:
        """Copy the targets of the edges from the queue's vertices to `edges`, int32; count them."""
        ...

    def filter_edges(
        self, edges: Array, first: int, level: int, visited: Array, distances: Array, following: Array, control: Array
    ) -> None:
        """Give the unvisited among the gathered targets the distance `level`, and write them to `following`.

        `visited` is a bitmap of the shard's vertices, uint32.
        """
        ...

    def thin(
        self,
        out_indptr: Array,
        out_indices: Array,
        first: int,
        visited: Array,
        distances: Array,
        queue: Array,
        head: int,
        tail: int,
        level: int,
        limit: int,
        control: Array,
    ) -> None:
        """Run up to `limit` levels while they are thin, from the vertices `head` to `tail` of the queue.

        The first level gets distance `level`; what is found is appended to the queue. `visited` as for `filter_edges`.
        """
        ...

    def sequential(
        self,
        out_indptr: Array,
        out_indices: Array,
        distances: Array,
        queue: Array,
        head: int,
        tail: int,
        level: int,
        limit: int,
        control: Array,
    ) -> None:
        """Run up to `limit` levels along the queue on one core, the first of them at distance `level`."""
        ...
