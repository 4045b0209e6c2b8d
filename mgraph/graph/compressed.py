"""Edges as lists: compressed by row (CSR) and in coordinates (COO)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import lazy
from ..arrays import Array
from ..dtypes import offset_type
from . import grouping

#: Edges up to which sorting them takes less time than SciPy's conversions: those take 65 µs and more.
FEW = 1 << 10

#: Bytes that `write_into_rows` takes at most for an edge, the edge included.
PLACING_BYTES = 64


class Compressed(NamedTuple):
    """Edges grouped by one end: those of vertex ``v`` are ``indices[indptr[v]:indptr[v + 1]]``.

    In CSR, rows are sources and `indices` targets; in CSC, rows are targets and `indices` sources.
    Indices ascend within a row. `weights` is None for an unweighted graph.
    """

    indptr: Array
    indices: Array
    weights: Array | None


class Edges(NamedTuple):
    """Edges one by one (COO): from ``src[e]`` to ``dst[e]``, sorted by both."""

    src: Array
    dst: Array
    weights: Array | None


def lightest(edges: Compressed) -> Compressed:
    """Return edges of the host without all but the lightest of those between the same two vertices."""
    indptr, indices, weights = edges
    first = np.ones(len(indices), bool)
    np.not_equal(indices[1:], indices[:-1], out=first[1:])
    first[indptr[:-1][indptr[:-1] < len(indices)]] = True
    if first.all():
        return edges
    places = np.flatnonzero(first)
    found = None if weights is None else np.minimum.reduceat(weights, places)
    return Compressed(np.searchsorted(places, indptr).astype(indptr.dtype), indices[places], found)


def compress(rows: Array, columns: Array, weights: Array | None, n: int, xp: Any, both: bool = False) -> Compressed:
    """Group edges by row, columns ascending; repeated edges stay.

    If `both`, add the other direction of each edge between two vertices.
    """
    if xp is np and len(rows) << both >= grouping.MANY:
        return Compressed(*grouping.grouped(rows, columns, weights, n, both))
    rows, columns = (ends.astype(np.int32, copy=False) for ends in (rows, columns))
    if both:
        distinct = rows != columns
        rows, columns = xp.concatenate([rows, columns[distinct]]), xp.concatenate([columns, rows[distinct]])
        weights = None if weights is None else xp.concatenate([weights, weights[distinct]])
    if xp is np and len(rows) > FEW:
        # SciPy's conversions are counting sorts, which keep the order of equals: by column, then by row, in O(m).
        values = np.ones(len(rows), bool) if weights is None else weights
        matrix = lazy.sparse().coo_matrix((values, (rows, columns)), shape=(n, n))
        matrix.has_canonical_format = True  # or tocsc() would add up repeated edges
        return _of_matrix(matrix.tocsc().tocsr(), weights)
    order = xp.argsort(rows.astype(np.int64) * n + columns, kind="stable")
    indptr = xp.zeros(n + 1, offset_type(len(rows)))
    xp.cumsum(xp.bincount(rows, minlength=n)[:n], out=indptr[1:])
    return Compressed(indptr, columns[order], None if weights is None else weights[order])


def sorted_rows(edges: Compressed, n: int) -> Compressed:
    """Return the edges of a graph in host memory, whose columns are in [0, n), with those of each row ascending.

    Repeated edges keep their order.
    """
    indptr, indices, weights = edges
    if len(indices) >= grouping.MANY:
        return Compressed(*grouping.grouped(rows_of(indptr, len(indices), np), indices, weights, n, False))
    values = np.ones(len(indices), bool) if weights is None else weights
    matrix = lazy.sparse().csr_matrix((values, indices, indptr), shape=(n, n))
    return _of_matrix(matrix.tocsc().tocsr(), weights)


def _of_matrix(matrix: Any, weights: Array | None) -> Compressed:
    """Return the edges of a CSR matrix, without its values if `weights` is None."""
    indptr = matrix.indptr.astype(offset_type(matrix.nnz), copy=False)
    return Compressed(indptr, matrix.indices.astype(np.int32, copy=False), None if weights is None else matrix.data)


def compressed_bytes(n: int, m: int, a_weight: int) -> int:
    """Return the bytes of the compressed edges of a graph, with weights of `a_weight` bytes each."""
    return offset_type(m).itemsize * (n + 1) + (4 + a_weight) * m


def copied_bytes(edges: Compressed, wider: int) -> int:
    """Return the bytes that SciPy takes to copy compressed edges; `wider` more an edge if `indptr` is of 64 bits.

    For unweighted edges, SciPy needs truth values and their copy.
    """
    m = len(edges.indices)
    more = wider * m if edges.indptr.dtype.itemsize > 4 else 0
    return int(
        edges.indptr.nbytes + edges.indices.nbytes + more + (2 * m if edges.weights is None else edges.weights.nbytes)
    )


def transposed_bytes(edges: Compressed) -> int:
    """Return the bytes that `transposed` allocates for most graphs; more if many edges have one of a few targets."""
    if len(edges.indices) >= grouping.MANY:
        return copied_bytes(edges, 0) + (0 if edges.weights is None else 2 * len(edges.indices))
    return copied_bytes(edges, 12)  # SciPy converts the indices to 64 bits, and returns such


def rows_of(indptr: Array, m: int, xp: Any) -> Array:
    """Return the row of each of m compressed edges, int32; NumPy allocates 20 bytes a row more."""
    if xp is np:
        return np.repeat(np.arange(len(indptr) - 1, dtype=np.int32), np.diff(indptr))
    # CuPy's `repeat` takes no array of counts. A row's number is how many rows, but the first, begin at it or before.
    starts = xp.bincount(indptr[1:-1], minlength=m + 1)[:m] if m else xp.zeros(0, np.int32)
    return xp.cumsum(starts, out=starts).astype(np.int32)


def write_into_rows(rows: Array, columns: Sequence[Array], free: Array, into: Sequence[Array], xp: Any) -> None:
    """Write edges into the next free places of their rows, in their order: a part of a counting sort.

    Parameters
    ----------
    rows : array of int32, shape (edges,)
        The row of each edge; not empty.
    columns, into : sequence of array
        What is written, an element an edge, and the arrays into which it is written.
    free : array of int64
        The next free place in each row, which grows.
    """
    order = rows.argsort(kind="stable")
    rows = rows[order]
    new = xp.ones(len(rows), bool)
    new[1:] = rows[1:] != rows[:-1]
    starts = new.nonzero()[0]
    group = xp.cumsum(new) - 1
    places = free[rows] + (xp.arange(len(rows)) - starts[group])
    free[rows[starts]] += xp.diff(xp.concatenate([starts, xp.full(1, len(rows), starts.dtype)]))
    for column, target in zip(columns, into, strict=True):
        target[places] = column[order]


def transposed(indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray | None, n: int) -> Compressed:
    """Group edges by their other end, one of n: a counting sort, which leaves every row sorted."""
    if len(indices) >= grouping.MANY:
        return Compressed(*grouping.transposed(indptr, indices, weights, n))
    data = np.zeros(len(indices), bool) if weights is None else weights
    matrix = lazy.sparse().csr_array((data, indices, indptr), shape=(len(indptr) - 1, n)).tocsc()
    return Compressed(
        matrix.indptr.astype(indptr.dtype, copy=False),
        matrix.indices.astype(np.int32, copy=False),
        None if weights is None else matrix.data,
    )


def selected(edges: Edges, chosen: Array, n: int, xp: Any) -> Compressed:
    """Return the chosen edges grouped by source; they keep their order, so nothing is sorted."""
    src, dst, weights = edges
    degrees = xp.bincount(src[chosen], minlength=n)[:n]
    indptr = xp.zeros(n + 1, offset_type(len(src)))
    xp.cumsum(degrees, out=indptr[1:])
    return Compressed(indptr, dst[chosen], None if weights is None else weights[chosen])
