"""Operations of betweenness; ``kernels/betweenness.cu`` has the algorithm."""

from typing import Any, NamedTuple, Protocol

from ...arrays import Array
from ..edges import Adjacency, WeightedAdjacency
from ..family import Family

#: A number of shortest paths from which on it is scaled, as float64 soon cannot hold it.
LARGE = 2.0**1000

#: Places in `trouble`: numbers of paths are too large for float64; a weight is lost in the sums along paths. Programs
#: that compute integers in float64 keep a third: a path is longer than float64 holds all integers.
TOO_MANY, LOST, TOO_LONG = 0, 1, 2

#: The least length of which float64 may not hold the next integer.
LONG = 2.0**53


class Rows(NamedTuple):
    """What is computed from each source of a batch, a row each.

    Attributes
    ----------
    distances : array of int32 or float64, shape (k, n)
        Distances from the source, in edges or by weights; the type's infinity (`mgraph.dtypes`) where there is none.
    order : array of int32, shape (k, n)
        The vertices within reach; a vertex comes after all that precede it on shortest paths.
    work : array of int32, shape (k, w)
        Memory of the device's own.
    counts : array of float64, shape (k, n)
        The number of shortest paths to each vertex; 0 where there is none.
    exponents : array of int32, shape (k, n) or (k, 0)
        With n columns, numbers of paths are scaled: ``counts * 2.0**exponents``.
    dependencies : array of float64, shape (k, n)
        For each vertex the sum, over the targets behind it, of the share of the shortest paths that pass it. For the
        source, the number of targets within reach.
    shares : array of float64, shape (k, n)
        The sum of the dependency and, at a target, 1, divided by `counts`; only of vertices within reach.
    """

    distances: Array
    order: Array
    work: Array
    counts: Array
    exponents: Array
    dependencies: Array
    shares: Array


class Operations(Protocol):
    """The operations of both twins. Edges are those of the whole graph, no two of them between the same vertices."""

    #: Sources of a batch that keep a GPU, or a core of a CPU, busy.
    SOURCES: int

    def rows(self, xp: Any, k: int, n: int, dtype: Any, wide: bool) -> Rows:
        """Return rows for k sources; `wide` for scaled numbers of paths. Nothing is written to them."""

    def row_bytes(self, n: int, itemsize: int, wide: bool) -> int:
        """Return the bytes of a row of `rows`."""

    def levels(
        self,
        by_source: Adjacency,
        by_target: Adjacency,
        sources: Array,
        targets: Array,
        limit: int,
        rows: Rows,
        trouble: Array,
    ) -> None:
        """Search from each of `sources`, int32, up to `limit` edges away, and fill all rows.

        `targets` is bool of shape (n,). `trouble` is int32 of shape (2,): ``trouble[TOO_MANY]`` becomes 1 if rows are
        not scaled and a number of paths exceeds `LARGE`.
        """

    def tight(
        self,
        by_source: WeightedAdjacency,
        by_target: WeightedAdjacency,
        sources: Array,
        targets: Array,
        rows: Rows,
        trouble: Array,
    ) -> None:
        """Fill the rows but for the distances, which they have: by edges with lengths, of the distances' type.

        An edge is on a shortest path if its length, added to the distance of its source, is that of its target, and is
        more. ``trouble[LOST]`` becomes 1 if no edge explains a distance.
        """

    def add(self, sources: Array, targets: Array, endpoints: bool, rows: Rows, sums: Array) -> None:
        """Add the dependencies on each vertex to `sums`, float64 of shape (n,), in the order of the sources.

        With `endpoints`, the ends of a path count as passed.
        """

    def add_edges(self, by_source: Adjacency, lengths: Array | None, rows: Rows, sums: Array) -> None:
        """Add the dependencies on each edge to `sums`, float64 of shape (m,), in the order of the sources.

        Lengths are None for distances in edges.
        """


_FAMILY: Family[Operations] = Family(__name__)

on, of_kind = _FAMILY.on, _FAMILY.of_kind
