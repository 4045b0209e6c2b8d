"""Operations that look through edges and group them by one end, for CPUs only.

Grouping takes three operations. `count` counts edges by ranges of rows. Their ranges are joined to buckets, about equal
in edges, of at most 65,536 rows. `place`, or `place_reversed`, moves each edge to its bucket, and `order` sorts each
bucket. `mgraph.graph.grouping` makes the tables between them.
"""

from typing import NamedTuple, Protocol

from ...arrays import Array
from ..family import Family

#: Operations that only a CPU has.
HOST_ONLY = frozenset({"threads", "extremes", "ascending", "imbalance", "count", "place", "place_reversed", "order"})


class Ranges(NamedTuple):
    """Which bucket a row is in.

    Attributes
    ----------
    shift : int
        A range has ``2**shift`` rows.
    buckets : array of uint16, shape (ranges,)
        The bucket of each range.
    places : array of int64, shape (chunks, buckets)
        The next place in each bucket for an edge of each chunk; changed as edges are placed.
    """

    shift: int
    buckets: Array
    places: Array


class Placed(NamedTuple):
    """Edges by buckets, or room for them.

    Attributes
    ----------
    low : array of uint16, shape (edges,)
        The lower 16 bits of each edge's row.
    indices : array of int32, shape (edges,)
        Its column.
    values : array of uint32 or uint64, shape (edges,)
        The bits of its weight; of an unweighted graph, no elements of uint32.
    """

    low: Array
    indices: Array
    values: Array


class Operations(Protocol):
    """The operations of the CPU. Rows, columns and vertices are integers in [0, n), checked before.

    Edges are cut into chunks of about equal length. If `both`, every edge is also taken in its other direction, but for
    those from a vertex to itself: then the second half of the chunks has the reversed edges.
    """

    def threads(self) -> int:
        """Return the number of threads that the operations run on."""

    def extremes(self, numbers: Array, floats: bool, least: Array, greatest: Array) -> None:
        """Write the least and the greatest number of each part.

        Parameters
        ----------
        numbers : array of int32 or int64, shape (count,)
            Integers, or if `floats` the bits of floats.
        least, greatest : array of the same type, shape (parts,)
            Receive the results, of floats the bits with all but the first reversed if that is set: so they order as
            floats do, NaN below -inf or above inf. An empty part has the type's greatest and least integer.
        """

    def ascending(self, indptr: Array, indices: Array, n: int, strictly: bool, faults: Array) -> None:
        """Set each part's fault unless the columns of its rows ascend and are in [0, n).

        `indptr` and `indices` are of int32 or int64, and cut into parts of about as many edges. With `strictly`, no
        column may repeat in a row. `faults` is of truth values, shape (parts,).
        """

    def imbalance(self, indptr: Array, indices: Array, values: Array, keys: Array, sums: Array) -> None:
        """Add hashes of the edges above the diagonal, and subtract those of the edges below it.

        An edge's hash depends on its lesser end, its greater end and its weight. So all sums together are zero, modulo
        ``2**64``, if each edge above the diagonal is one below it too.

        Parameters
        ----------
        indptr, indices, values : array
            Edges in CSR, each vertex checked; `values` as in `Placed`.
        keys : array of uint64, shape (3,)
            Random numbers, which choose the hash.
        sums : array of uint64 zeros, shape (parts, 2)
            Receives the sums of two hashes for each part of the edges.
        """

    def count(self, rows: Array, columns: Array, both: bool, shift: int, counts: Array) -> None:
        """Count the edges of each chunk by ranges of ``2**shift`` rows.

        Parameters
        ----------
        rows, columns : array of int32 or int64, shape (edges,)
            The ends of each edge, of the same type.
        counts : array of int64 zeros, shape (chunks, ranges)
            Receives the numbers.
        """

    def place(self, rows: Array, columns: Array, values: Array, both: bool, ranges: Ranges, to: Placed) -> None:
        """Move each edge to the next place of its bucket; edges of a bucket keep their order.

        `rows` and `columns` are as in `count`, and `values` as in `Placed`.
        """

    def place_reversed(self, indptr: Array, indices: Array, values: Array, ranges: Ranges, to: Placed) -> None:
        """Move each edge of a graph in CSR, in which columns are rows now, to the next place of its bucket."""

    def order(
        self,
        buckets: Array,
        passes: int,
        bits: int,
        edges: Placed,
        indptr: Array,
        spare: Placed,
        counters: Array,
        turn: Array,
    ) -> None:
        """Sort each bucket by row and column, and write where rows begin; repeated edges keep their order.

        Parameters
        ----------
        buckets : array of int64, shape (buckets, 5)
            Each bucket's first row, the row after its last, its first edge, the edge after its last, and its place
            among the `spare`; or, if all buckets that a thread sorts share a place, minus the length of that.
        passes, bits : int
            Columns are sorted in so many passes, by so many bits at a time. Without a pass, columns are in order.
        edges : Placed
            The edges by buckets. `low` has no meaning afterwards.
        indptr : array of int32 or int64, shape (n + 1,)
            Receives where rows begin, but for the first.
        spare : Placed
            Room for copies of edges.
        counters : array of int64, shape (threads, rows of a bucket + 2**bits)
            Room for counters.
        turn : array of one int64 zero
            Counts the buckets that are taken.
        """


_FAMILY: Family[Operations] = Family(__name__)

on, of_kind = _FAMILY.on, _FAMILY.of_kind
