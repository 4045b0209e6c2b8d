"""What SciPy's graph functions take as a graph: a dense, masked or sparse matrix, on the host or on a GPU.

SciPy's rules: zeros, NaN and infinities of a dense matrix are no edges, nor are masked entries of a masked one. Every
other entry of a masked matrix and every stored entry of a sparse one is an edge, zeros included. No path is finite over
an edge whose weight is infinite or NaN, unless edges count 1. Two entries of one place are parallel edges in CSR and
CSC of float64; SciPy sums them in other formats and types. Weights are float64. In an undirected graph an edge has the
lighter of its two entries.
"""

from typing import Any

import numpy as np

from .. import device as devices
from .. import lazy
from ..arrays import Array
from ..errors import InputError
from ..graph import Graph

#: From this share of all pairs on, the edges of a dense matrix stay a matrix.
DENSE = 1 / 4


def is_sparse(csgraph: Any) -> bool:
    """Return whether a graph is a sparse matrix of SciPy or CuPy."""
    return hasattr(csgraph, "tocsr")


def checked(csgraph: Any) -> Any:
    """Return a graph as a square sparse matrix, or as a dense or masked array.

    Zeros in the blocks of a BSR matrix are fill, not edges: they are left out, and it becomes CSR. SciPy does so from
    1.18 on.

    Raises
    ------
    InputError
        If it is not square, or its entries are not real numbers.
    """
    if hasattr(csgraph, "to_scipy_sparse"):  # of PyData's sparse
        csgraph = csgraph.to_scipy_sparse()
    matrix = csgraph if is_sparse(csgraph) else devices.of(csgraph).xp.asanyarray(csgraph)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(argument="csgraph", value=tuple(matrix.shape), expected="of shape (n, n)")
    if matrix.dtype.kind not in "biuf":
        raise InputError(argument="csgraph", value=matrix.dtype.name, expected="a matrix of real numbers")
    if getattr(matrix, "format", None) == "bsr":
        matrix = matrix.tocsr(copy=True)  # of blocks of one element it would share the arrays
        matrix.eliminate_zeros()
    return matrix


def numbers_of(matrix: Array) -> Array:
    """Return the numbers of a dense matrix as a plain array: also those that are masked, or of a ``numpy.matrix``."""
    return np.ma.getdata(matrix, subok=False) if devices.of(matrix).kind == "cpu" else matrix


def absent(matrix: Array, null_value: Any = 0, nan_null: bool = True, infinity_null: bool = True) -> Array:
    """Return where a dense matrix has no edge, as truth values.

    They are compared exactly: SciPy takes a weight below 1e-8 for zero.
    """
    if np.ma.isMaskedArray(matrix):
        return np.ma.getmaskarray(matrix)
    xp, matrix = devices.of(matrix).xp, numbers_of(matrix)
    none = xp.zeros(matrix.shape, bool)
    if null_value is not None:
        none |= xp.isnan(matrix) if null_value != null_value else matrix == null_value
    if nan_null:
        none |= xp.isnan(matrix)
    if infinity_null:
        none |= xp.isinf(matrix)
    return none


def weights_of(matrix: Array) -> Array:
    """Return the weights of a dense matrix in float64, a copy, with infinity for no edge."""
    xp = devices.of(matrix).xp
    none = absent(matrix)
    weights = xp.array(numbers_of(matrix), np.float64)
    weights[none | xp.isnan(weights)] = np.inf
    return weights


def rows_of(csgraph: Any, directed: bool = True) -> Any:
    """Return the edges by source as a CSR matrix of float64, each row in the order in which SciPy reads it.

    It is an array or a matrix as SciPy's functions return for such a graph.
    """
    matrix = checked(csgraph)
    if not is_sparse(matrix):
        there = ~absent(matrix)
        row, column = there.nonzero()
        return csr(matrix, row, column, numbers_of(matrix)[there])
    if not directed and matrix.format == "csc":
        matrix = matrix.T
    rows = matrix.tocsr()
    return rows if rows.dtype == np.float64 else rows.astype(np.float64)


def host_rows(csgraph: Any, directed: bool = True) -> tuple[Any, devices.Device]:
    """Return what `rows_of` does, in the host's memory, and where the graph lies.

    Raises
    ------
    InputError
        Also for numbers of entries and columns that are out of range, as the rows are given to compiled code.
    """
    rows = rows_of(csgraph, directed)
    home = devices.of(rows.data)
    if home.kind == "cuda":
        rows = rows.get()
    indptr, m = rows.indptr, int(rows.indptr[-1])
    if indptr[0] != 0 or m > len(rows.indices) or bool((indptr[1:] < indptr[:-1]).any()):
        raise InputError("indptr of the matrix must ascend from 0 to at most the number of its entries")
    if m and not (rows.indices[:m].min() >= 0 and rows.indices[:m].max() < rows.shape[0]):
        raise InputError(argument="csgraph", value=int(rows.indices[:m].max()), expected="a matrix of columns below n")
    return rows, home


def csr(like: Any, row: Array, column: Array, weights: Array) -> Any:
    """Return entries that are sorted by row as a CSR matrix of float64, of the class that goes with `like`.

    It is a ``csr_matrix`` for a matrix of NumPy's or SciPy's former class, and otherwise a ``csr_array``; CuPy has only
    the former.
    """
    n, place = like.shape[0], devices.of(weights)
    indptr = place.xp.zeros(n + 1, np.int32)
    indptr[1:] = place.xp.bincount(row, minlength=n).cumsum()
    parts = weights.astype(np.float64), column.astype(np.int32), indptr
    if place.kind == "cuda":
        return lazy.cupy_sparse().csr_matrix(parts, shape=(n, n))
    former = lazy.sparse().isspmatrix(like) or isinstance(getattr(like, "data", like), np.matrix)
    former = former or isinstance(like, np.matrix)
    made = lazy.sparse().csr_matrix if former else lazy.sparse().csr_array
    return made(parts, shape=(n, n))


def graph_of(csgraph: Any, directed: bool = True, unweighted: bool = False) -> Graph:
    """Return a matrix as a graph, for shortest paths."""
    matrix = checked(csgraph)
    if not is_sparse(matrix):
        weights = weights_of(matrix)
        xp, n = devices.of(weights).xp, len(weights)
        if unweighted:
            weights[~absent(matrix)] = 1
        if not directed:
            weights = xp.minimum(weights, weights.T)
        there = xp.isfinite(weights)
        if int(there.sum()) >= DENSE * n * n:
            return Graph.from_distances(weights, copy=False)
        src, dst = there.nonzero()
        return Graph.from_edges(src, dst, None if unweighted else weights[there], n=n)
    rows = rows_of(matrix, directed)
    if unweighted:
        return connections(rows, bool(directed))
    return graph_of_rows(rows, bool(directed))


def graph_of_rows(rows: Any, directed: bool = True) -> Graph:
    """Return the edges of a CSR matrix as a graph, without those of a weight that is infinite or NaN."""
    missing = devices.of(rows.data).xp.isnan(rows.data)
    if bool(missing.any()):
        rows = rows.copy()
        rows.data[missing] = np.inf
    return Graph.from_scipy(rows, directed=directed, copy=False)


def connections(rows: Any, directed: bool = True) -> Graph:
    """Return the entries of a CSR matrix as a graph without weights."""
    home = devices.of(rows.data)
    sparse = lazy.cupy_sparse() if home.kind == "cuda" else lazy.sparse()
    marks = sparse.csr_matrix((home.xp.ones(len(rows.data), bool), rows.indices, rows.indptr), shape=rows.shape)
    return Graph.from_scipy(marks, directed=directed, copy=False)
