"""Operations of certificates; ``kernels/certificates.cu`` has the rules of the edges."""

from typing import Protocol

from ...arrays import Array
from ..family import Family

#: Operations that only a CPU has.
HOST_ONLY = frozenset({"check_lightest", "join_in_order", "peel", "reach_within", "spread"})


class Operations(Protocol):
    """The operations of both twins.

    ``indptr`` (int32 or int64, shape (rows + 1,)) and ``indices`` (int32) are edges by one end, row i those of the
    vertex `first` + i. The rows are sources if `by_source`, else targets.

    `distances` (int32, int64, float32 or float64), `predecessors` and `nearest` (int32, or None) have the shape (n,)
    and may hold anything; `unreached` and `most` are numbers of the type of `distances`, for integers `most` is int64.
    `weights`, of the shape of `indices`, are int32 or int64, or floats if the distances are; None where each is 1.
    `starts` are marks, uint8 of shape (n,), of the sources. `proven` and `tight` are marks of the vertices from `first`
    on for which the operation answers, of shape (rows,), or (n,) by source.

    ``least[k]``, int32, is lowered to the least vertex that breaks the k-th of the rules that an operation names.
    """

    def check_vertices(
        self,
        distances: Array,
        predecessors: Array | None,
        starts: Array,
        first: int,
        last: int,
        unreached: float,
        most: float,
        least: Array,
    ) -> None:
        """Check the rules "source", "limit" and "tree" at the vertices `first` to `last`."""

    def check_nearer(
        self, distances: Array, predecessors: Array, starts: Array, first: int, last: int, least: Array
    ) -> None:
        """Check that predecessors are nearer than the vertices `first` to `last`; the rule "tree" holds."""

    def climb(self, predecessors: Array, starts: Array, above: Array) -> None:
        """Write each vertex's predecessor to `above`, int32 of shape (n,); itself for sources and unreached vertices.

        The rule "tree" holds.
        """

    def double(self, above: Array, active: Array) -> None:
        """Write to `above` what is above the vertex above; set ``active[0]``, int32, to 1 if anything changes."""

    def check_roots(
        self, predecessors: Array, above: Array, starts: Array, first: int, last: int, least: Array
    ) -> None:
        """Check the rule "cycle" at some vertices: what is `above` them after as many doublings is a source."""

    def check_sources(
        self,
        distances: Array,
        nearest: Array,
        starts: Array,
        first: int,
        last: int,
        unreached: float,
        own: Array,
        least: Array,
    ) -> None:
        """Check that a source is the `nearest` of each reached vertex from `first` to `last`, and none of another.

        None of these sources has a greater one than itself. Mark in `own`, uint8 of shape (n,), those that have
        themselves.
        """

    def check_edges(
        self,
        indptr: Array,
        indices: Array,
        weights: Array | None,
        first: int,
        by_source: bool,
        distances: Array,
        predecessors: Array | None,
        unreached: float,
        most: float,
        nonnegative: bool,
        ulps: int,
        rounding: float,
        proven: Array,
        tight: Array,
        least: Array,
    ) -> None:
        """Check the rules "reached" and "edge".

        Mark in `proven` vertices with a tight edge from their predecessor; without predecessors, those with one from a
        nearer vertex, and in `tight`, which nothing else needs, those with any. Floats may differ by `ulps` units in
        the last place of a sum, 0 or 1, and by the relative error `rounding`.
        """

    def check_nearest(
        self,
        indptr: Array,
        indices: Array,
        weights: Array | None,
        first: int,
        by_source: bool,
        distances: Array,
        nearest: Array,
        unreached: float,
        nonnegative: bool,
        proven: Array,
        least: Array,
    ) -> None:
        """Check the rule "nearest": that no tight edge leads from a vertex of a lesser nearest source.

        Mark in `proven` vertices with a tight edge from a nearer vertex of the same nearest source. Sums are exact.
        """

    def check_marks(
        self,
        distances: Array,
        starts: Array,
        first: int,
        last: int,
        unreached: float,
        proven: Array,
        least: Array,
    ) -> None:
        """Check that the reached vertices from `first` to `last`, but for sources, have marks in `proven`."""

    def list_ties(
        self,
        indptr: Array,
        indices: Array,
        weights: Array | None,
        first: int,
        by_source: bool,
        distances: Array,
        nearest: Array | None,
        unreached: float,
        nonnegative: bool,
        ulps: int,
        rounding: float,
        proven: Array,
        count: Array,
        src: Array,
        dst: Array,
    ) -> None:
        """Write the tight edges to vertices without a mark in `proven`, in any order, as many as there is room for.

        If `nearest` is given, only those between vertices of the same nearest source. Add their number to ``count[0]``,
        int64.
        """

    def spread(self, src: Array, dst: Array, marks: Array) -> int:
        """Mark in `marks`, int32 of shape (n,), what edges lead to from marked vertices; return how many are new."""

    def check_ranks(self, succ: Array, first: int, ranks: Array, least: Array) -> None:
        """Check that the last element of a list has rank 0, and any other one more than its successor.

        `succ` are the successors of the elements from `first` on, `ranks` those of all, int32 or int64 each, which may
        hold anything. ``least[0]``, int64, is lowered to the least element that breaks it.
        """

    def check_labels(self, labels: Array, first: int, last: int, least: Array, roots: Array) -> None:
        """Check the rule "label" at the vertices `first` to `last`; add to ``roots[0]``, int32, those with their own.

        `labels` are int32 of shape (n,) and may hold anything.
        """

    def join_first(self, indptr: Array, indices: Array, first: int, parent: Array) -> None:
        """Unite the trees of each row's vertex and its first two neighbours in the forest `parent`, int32 (n,).

        No vertex's parent is greater than itself, and the least vertex of a tree is its root.
        """

    def flatten(self, parent: Array) -> None:
        """Set every vertex's parent to its root."""

    def join(self, other: Array, parent: Array) -> None:
        """Unite the trees of each vertex and the vertex that `other`, of the same kind, has for it."""

    def mark_joined(self, labels: Array, parent: Array, codes: Array) -> None:
        """Write each vertex's label l to `codes`, int32 of shape (n,): ~l where their trees differ.

        The forest is flat, and the rule "label" holds.
        """

    def check_across(
        self, indptr: Array, indices: Array, first: int, codes: Array, parent: Array, least: Array
    ) -> None:
        """Check the rule "edge", and unite the trees of the ends of edges unless the labels of both have a tree."""

    def check_joined(self, labels: Array, parent: Array, first: int, last: int, least: Array) -> None:
        """Check the rule "connected" at the vertices `first` to `last` of a flat forest."""

    def reach_within(self, indptr: Array, indices: Array, labels: Array, found: Array) -> None:
        """Mark in `found`, uint8 of shape (n,), what each label's vertex reaches by edges within the label."""

    def peel(self, indptr: Array, indices: Array, labels: Array, found: Array) -> None:
        """Mark in `found` the labels that no cycle of labels reaches, each at its own vertex."""

    def join_in_order(self, src: Array, dst: Array, above: Array, joined: Array) -> int:
        """Unite trees of vertices by edges, one after the other; return the first that closes a cycle, or -1.

        `above`, int32 of shape (n,), has each vertex itself at first, and afterwards the one above it. ``joined[v]``,
        int32, becomes the edge that put v below another.
        """

    def check_lightest(
        self,
        indptr: Array,
        indices: Array,
        weights: Array | None,
        src: Array,
        dst: Array,
        forest_weights: Array,
        above: Array,
        joined: Array,
        proven: Array,
        least: Array,
    ) -> None:
        """Check the rules "connected" and "lightest" of a forest at all edges of a graph, given by source.

        The forest's edges, `src`, `dst` and `forest_weights`, are in the order in which `join_in_order` took them; mark
        in `proven`, uint8, those that are the graph's. Weights are of any type of numbers.
        """


_FAMILY: Family[Operations] = Family(__name__)

on, of_kind = _FAMILY.on, _FAMILY.of_kind
