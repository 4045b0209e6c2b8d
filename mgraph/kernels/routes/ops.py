"""Operations of hierarchies for many pairs: ranks, climbs that are kept, their meetings, paths, flows and sums.

Vertices are ranks, and trees, entries and lengths are those of `mgraph.kernels.hierarchy.ops`. A climb goes from a
vertex to all its ancestors by entries that lead upwards. A path between two vertices goes up to a common ancestor,
where it turns, and down again: along two climbs, one of them of the lengths downwards.

Of several shortest paths each operation takes the same one. It turns at the deepest ancestor. Each ancestor is reached
from the deepest one that lies on a shortest path to it. An entry is an edge if one is as short, the first of parallel
ones, and otherwise leads over the least lower vertex. Where sums of lengths are exact, no such path passes a vertex y
twice. Otherwise it would be no longer without the cycle between, and the greatest vertex next to y on what is left
would have been a deeper ancestor, or a lesser lower vertex, to choose.
"""

from typing import Any, NamedTuple, Protocol

from ...arrays import Array
from ..hierarchy.ops import Entries, Lower, Placed, Tree

#: Operations that only a CPU has.
HOST_ONLY = frozenset({"between", "divide", "write_paths", "spread"})


#: On a CPU the most bytes of a core's stack of rows, and the vertices of the graph for each one that climbs from which
#: on each climbs alone.
STACK, APART = 1 << 25, 128


class Climbs(NamedTuple):
    """Climbs from some vertices: of vertex number i the elements from ``first[i]`` to ``first[i + 1]``, by depth.

    Attributes
    ----------
    first : array of int64, shape (vertices + 1,)
        Where each climb begins.
    vertex : array of int32
        The ancestor at each depth; the last one of a climb is its own vertex.
    label : array of the lengths' type
        The length of the shortest path upwards to it.
    entry : array of the type of offsets, or of no elements
        The last entry of that path; -1 where there is none.
    """

    first: Array
    vertex: Array
    label: Array
    entry: Array


class Parts(NamedTuple):
    """What the paths of entries consist of. Way ``2 * e`` is that of entry e upwards, way ``2 * e + 1`` downwards.

    Attributes
    ----------
    ways : array of integers, shape (2 * entries, 2)
        The two ways that a way consists of: down to a lower vertex, and up from there to its end. If the second is -1,
        it is the edge of the graph that is the first; there is no path if this is -1, too.
    depth : array of int32, shape (entries,)
        The depth of the lower end of each entry.
    """

    ways: Array
    depth: Array


class Operations(Protocol):
    """The operations.

    Attributes
    ----------
    JOINED : int
        The most pairs of a table of distances that are joined from climbs, in place of a sweep.
    BATCH : int
        Pairs that are joined at a time, between which progress is reported.
    """

    JOINED: int
    BATCH: int

    def rank(self, vertices: Array, rank_of: Array, ranks: Array, wrong: Array) -> None:
        """ranks[i] = rank_of[vertices[i]]; wrong[0] becomes 1 if a number is no vertex, and `ranks` are not meant then.

        There is one number or more, of int32 or int64; `rank_of` has the rank of each vertex.
        """
        ...

    def climb(self, vertices: Array, tree: Tree, entries: Entries, lengths: Array, climbs: Climbs) -> None:
        """Write the climbs from one vertex or more, which ascend; `climbs` has `first`, and room for the rest."""

    def workspace_bytes(self, vertices: int, tree: Tree, itemsize: int, entrysize: int) -> int:
        """Return the bytes that `climb` allocates for labels and, unless that is 0, entries of these sizes."""

    def meet(self, sources: Array, targets: Array, there: Climbs, back: Climbs, D: Array, turn: Array) -> None:
        """D[i] = the length of the shortest path from climb number sources[i] of `there` to targets[i] of `back`.

        There is one pair or more, and the numbers are int32. The length is `kernel_infinity` if there is no path.
        ``turn[i]`` is the depth at which the path turns, or -1; if `turn` has no elements, it is not written.
        """

    def meet_table(self, rows: Array, columns: Array, there: Climbs, back: Climbs, D: Array, turn: Array) -> None:
        """D[i, j] and turn[i, j] = what `meet` writes of the pair of rows[i] and columns[j]; there are some of each."""

    def between(self, source: int, target: int, there: Climbs, back: Climbs) -> float:
        """Return the length that `meet` writes of one pair."""

    def divide(
        self,
        tree: Tree,
        entries: Entries,
        lower: Lower,
        upward: Placed,
        downward: Placed,
        lengths: Array,
        up: Array,
        down: Array,
        parts: Parts,
    ) -> None:
        """Write what the paths of entries consist of; `lengths` are those of the graph's edges."""

    def add_up(self, parts: Parts, stages: tuple[Any, ...], values: Array, sums: Array) -> None:
        """Write the sum of an edge's ``values`` along each way; 0 where there is no path.

        `stages` are those of the hierarchy's kernels.
        """

    def carry(self, depth: Array, climbs: Climbs, down: int, sums: Array, carried: Array) -> None:
        """Write the sums of ways along each path of the climbs, by depth as labels; 0 for no path.

        `depth` is that of `Parts`; `down` is 1 if the climbs are of lengths downwards, else 0. There is one climb or
        more.
        """

    def join(
        self,
        sources: Array,
        targets: Array,
        turn: Array,
        firsts: tuple[Array, Array],
        carried: tuple[Array, Array],
        totals: Array,
    ) -> None:
        """totals[i] = what the climbs of pair i carry together at the depth ``turn[i]``; `infinity` where that is -1.

        `firsts` are those of the climbs from sources and from targets, `carried` what `carry` wrote of them.
        """

    def write_paths(
        self,
        sources: Array,
        targets: Array,
        turn: Array,
        there: Climbs,
        back: Climbs,
        parts: Parts,
        order: Array,
        ends: Array,
        offsets: Array,
        vertices: Array,
        count: Array,
    ) -> None:
        """Write the vertices of the path of each pair from ``vertices[offsets[i]]`` on, and their number to count[i].

        ``order`` has the vertex of each rank, ``ends`` the target of each edge of the graph. A cycle, which has length
        zero, is left out.
        """

    def push(self, depth: Array, climbs: Climbs, down: int, amounts: Array, load: Array) -> None:
        """Add amounts, by depth as labels, to the `load` of the ways along the paths to their ancestors.

        `amounts` are written to. `depth` and `down` are those of `carry`; there is one climb or more. A GPU adds in
        any order: whole numbers are exact.
        """

    def spread(self, parts: Parts, ways: Array, load: Array) -> None:
        """Add what the ways carry to the load of each edge; `ways` is written to."""
