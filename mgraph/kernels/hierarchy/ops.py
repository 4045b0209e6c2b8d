"""Operations of hierarchies: elimination trees, fill, customization, climbs and sweeps.

Vertices are ranks, in the order of elimination, which is a postorder of the elimination tree: a subtree is a range of
ranks that ends with its root. Entry e of vertex v, ``begin[v] <= e < begin[v + 1]``, belongs to an upper neighbour,
which is an ancestor. ``up[e]`` is the length from v to it, ``down[e]`` the length back. Lengths and distances are
float32, float64 or int32; `kernel_infinity` of the type stands for no path.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...arrays import Array

#: Operations that only a CPU has.
HOST_ONLY = frozenset(
    {
        *("parents", "postorder", "extents", "counts", "fill", "slots", "between", "length", "lengths_of", "unpacked"),
        *("last_vertices", "sweep_predecessors", "closed"),
    }
)

#: The most bytes of labels of a batch of sources on a GPU, unless one warp's sources have more.
LABELS = 4 << 30


class Tree(NamedTuple):
    """The elimination tree: of each vertex the parent, -1 for a root, the depth, and the size of its subtree; int32."""

    parent: Array
    depth: Array
    size: Array

    @property
    def height(self) -> int:
        """The number of levels."""
        return int(self.depth.max()) + 1 if len(self.depth) else 0


class Entries(NamedTuple):
    """The upper neighbours of each vertex, ascending, and their depths.

    `begin` is int32 or int64 of shape (n + 1,), `upper` and `depth` are int32 of shape (entries,).
    """

    begin: Array
    upper: Array
    depth: Array


class Lower(NamedTuple):
    """The entries by upper neighbour: the lower vertex of each, ascending for one neighbour, and the entry's number."""

    begin: Array
    vertex: Array
    entry: Array


class Placed(NamedTuple):
    """The edges of the graph in one direction by lower end: the entry and the number of each."""

    begin: Array
    entry: Array
    edge: Array


class Schedule(NamedTuple):
    """How a sweep goes through some vertices.

    Attributes
    ----------
    vertices : array of int32
        The vertices that the sweep passes, in its order; vertex p of the schedule is ``vertices[p]``.
    stages : tuple
        How a GPU divides the sweep into launches; stays on the host.
    parts : tuple of array
        What the sweep reads besides, and where it finds the targets; on the device that sweeps.
    """

    vertices: Array
    stages: tuple[Any, ...] = ()
    parts: tuple[Array, ...] = ()


class Measures(NamedTuple):
    """Measures of the targets that each source reaches: float64 of shape (sources,), `within` (sources, radii).

    The greatest distance, infinite if a target is not reached; the number of targets that are; the sum of their
    distances; the sum of the inverses of those that are not zero; and how many targets lie within each radius. One of
    no elements is not computed.
    """

    greatest: Array
    count: Array
    total: Array
    inverse: Array
    within: Array


class Operations(Protocol):
    """The operations of both twins."""

    #: The most sets of weights that `customize_sets` takes.
    SETS: int

    def parents(self, indptr: Array, indices: Array, parent: Array) -> None:
        """Write the elimination tree's parent of each vertex of a symmetric graph; -1 for a root."""

    def postorder(self, parent: Array, order: Array) -> None:
        """Write the vertices in postorder; the children of a vertex in their order."""

    def extents(self, parent: Array, depth: Array, size: Array) -> None:
        """Write each vertex's depth, and the number of vertices in its subtree; ranks are a postorder."""

    def counts(self, indptr: Array, indices: Array, parent: Array, count: Array) -> None:
        """Write how many upper neighbours each vertex will have with the fill; ranks are a postorder."""

    def fill(self, indptr: Array, indices: Array, parent: Array, begin: Array, upper: Array) -> None:
        """Write the upper neighbours of each vertex, ascending: its own, and those of its children."""

    def slots(self, src: Array, dst: Array, begin: Array, upper: Array, slot: Array) -> None:
        """Write the number of the entry of each edge, whose ends are ranks; -1 for a self-loop."""

    def stages(self, tree: Tree, entries: Entries) -> tuple[np.ndarray, ...]:
        """Return how `customize` divides the vertices, in arrays; `tree` and `entries` lie on the host."""

    def customize(
        self,
        entries: Entries,
        lower: Lower,
        upward: Placed,
        downward: Placed,
        lengths: Array,
        up: Array,
        down: Array,
        stages: tuple[Array, ...],
    ) -> None:
        """Write the length of each entry: of the shortest path over lower vertices, upwards and downwards.

        `lengths` are those of the graph's edges. If `down` is `up`, both directions of each edge have the same length.
        """

    def customize_sets(
        self,
        entries: Entries,
        lower: Lower,
        upward: Placed,
        downward: Placed,
        lengths: Array,
        ups: Sequence[Array],
        downs: Sequence[Array],
        stages: tuple[Array, ...],
    ) -> None:
        """Write the lengths of the entries for several sets of weights, as `customize` does for each, bit for bit.

        `lengths` has a row for each set, of shape (sets, m), `ups` and `downs` an array. If `downs` is `ups`, both
        directions of each edge have the same length in all sets.
        """
        ...

    def workspace_of_sets(self, entries: int, edges: int, sets: int, itemsize: int, directions: int) -> int:
        """Return the bytes that `customize_sets` allocates, for as many arrays of entries a set as `directions`."""
        ...

    def between(
        self,
        source: int,
        target: int,
        tree: Tree,
        entries: Entries,
        up: Array,
        down: Array,
        nonnegative: bool,
        there: Array,
        back: Array,
    ) -> int:
        """Write the lengths of upward paths from `source`, and of paths down to `target`, by the depth of the ancestor.

        Return the depth of the ancestor where a shortest path turns, or -1 if there is no path. `there` and `back` have
        an element for each depth. Without negative edges, labels may be missing that no shortest path needs.
        """

    def length(
        self, source: int, target: int, tree: Tree, entries: Entries, up: Array, down: Array, nonnegative: bool
    ) -> float:
        """Return the length of the shortest path, as of `between`; `kernel_infinity` if there is none."""

    def lengths_of(
        self,
        sources: Array,
        targets: Array,
        tree: Tree,
        entries: Entries,
        up: Array,
        down: Array,
        nonnegative: bool,
        D: Array,
    ) -> None:
        """D[i] = the `length` of the shortest path from sources[i] to targets[i]."""

    def unpacked(
        self,
        source: int,
        target: int,
        turn: int,
        tree: Tree,
        entries: Entries,
        lower: Lower,
        upward: Placed,
        downward: Placed,
        lengths: Array,
        up: Array,
        down: Array,
        there: Array,
        back: Array,
    ) -> Array:
        """Return the vertices of a shortest path over edges of the graph, from what `between` wrote and returned.

        Over a cycle of length zero it may pass a vertex twice.
        """

    def last_vertices(
        self,
        entries: Entries,
        lower: Lower,
        upward: Placed,
        downward: Placed,
        lengths: Array,
        up: Array,
        down: Array,
        last_up: Array,
        last_down: Array,
    ) -> None:
        """Write the vertex before the last one on the path of each entry, upwards and downwards; -1 if there is none.

        Paths are over edges of the graph; both results are int32 of shape (entries,).
        """

    def sweep_predecessors(
        self,
        tree: Tree,
        entries: Entries,
        up: Array,
        down: Array,
        last_up: Array,
        last_down: Array,
        sources: Array,
        schedule: Schedule,
        names: Array,
        D: Array,
        P: Array,
    ) -> None:
        """P[r, j] = the vertex before the last one on a shortest path whose length `sweep` wrote to D[r, j].

        It is ``names[v]`` for vertex v; -9999 for the source, and where D is infinite. `last_up` and `last_down` are
        those of `last_vertices`; P is int32.
        """

    def closed(self, D: Array, P: Array, column: Array, cycles: Array) -> None:
        """Set ``cycles[r, j]`` for a target j of each cycle that the predecessors in row r close.

        ``column[v]`` is the column of target v, int32, and -1 for other vertices. `cycles`, of bool, is false before.
        A row in which each predecessor that is a target is nearer than its target has no cycle.
        """

    def schedule(self, tree: Tree, entries: Entries, chosen: np.ndarray, targets: np.ndarray | None) -> Schedule:
        """Return how `sweep` or `measure` goes through the chosen vertices.

        `tree` and `entries` lie on the host; `chosen` is of bool, shape (n,), with all ancestors of what is chosen. For
        `sweep` and `sweep_predecessors`, `targets` has a chosen vertex for each column; for `measure` it is None.
        """

    def workspace_bytes(
        self, tree: Tree, entries: Entries, schedule: Schedule, sources: int, itemsize: int, measured: bool
    ) -> int:
        """Return the bytes that `sweep` or `measure` needs; to sweep ahead, a GPU takes more if they are free."""

    def sweep(
        self,
        tree: Tree,
        entries: Entries,
        up: Array,
        down: Array,
        sources: Array,
        schedule: Schedule,
        limit: float,
        D: Array,
    ) -> None:
        """D[r, j] = the length of the shortest path from sources[r] to target number j of the schedule.

        It is the `infinity` of results if there is none within `limit`, which is less than `kernel_infinity`. D is of
        the lengths' type; or these are float64, and it is float32: then distances are rounded once they are compared.
        """

    def measure(
        self,
        tree: Tree,
        entries: Entries,
        up: Array,
        down: Array,
        sources: Array,
        schedule: Schedule,
        times: Array,
        limit: float,
        radii: np.ndarray,
        measures: Measures,
    ) -> None:
        """Measure the distances from each source; ``times[p]`` says how often vertex p of the schedule is a target.

        Nothing is written for a pair. `limit` and `radii`, of the distances' type and on the host, are less than
        `kernel_infinity`. No radius exceeds the limit, beyond which distances are not computed.
        """
