"""Dense, masked and sparse matrices as one another, with the interface of `scipy.sparse.csgraph`."""

from typing import Any

import numpy as np

from .. import device as devices
from ..arrays import Array
from ..errors import InputError, type_name
from ..graph.compressed import rows_of as row_numbers
from .reading import absent, checked, csr, is_sparse, numbers_of


def csgraph_from_dense(graph: Any, null_value: Any = 0, nan_null: bool = True, infinity_null: bool = True) -> Any:
    """Return a dense matrix as a sparse one, as `scipy.sparse.csgraph.csgraph_from_dense` does.

    A weight is compared with `null_value` exactly: SciPy drops weights below 1e-8, too.

    Parameters
    ----------
    graph : array_like, shape (n, n)
        Numbers. Masked entries are no edges, either; SciPy takes the numbers under a mask.
    null_value : float or None
        A value that means no edge.
    nan_null, infinity_null : bool
        Whether NaN, and infinities of either sign, mean no edge.

    Returns
    -------
    csr_array of float64, shape (n, n)
        A ``csr_matrix`` of a ``numpy.matrix`` or a CuPy array.

    Raises
    ------
    InputError
        If the matrix is not square, or its entries are not real numbers.

    Examples
    --------
    >>> from mgraph import csgraph
    >>> csgraph.csgraph_from_dense([[0, 1e-9], [2, 0]]).data.tolist()
    [1e-09, 2.0]
    """
    matrix = checked(graph)
    there = ~_absent_or_masked(matrix, null_value, nan_null, infinity_null)
    row, column = there.nonzero()
    return csr(matrix, row, column, numbers_of(matrix)[there])


def _absent_or_masked(matrix: Array, null_value: Any, nan_null: bool, infinity_null: bool) -> Array:
    """Return where a dense matrix has no edge, by its numbers, or by its mask if it has one."""
    none = absent(numbers_of(matrix), null_value, nan_null, infinity_null)
    return none | np.ma.getmaskarray(matrix) if np.ma.isMaskedArray(matrix) else none


def csgraph_from_masked(graph: Any) -> Any:
    """Return a masked matrix as a sparse one, as `scipy.sparse.csgraph.csgraph_from_masked` does.

    Parameters
    ----------
    graph : masked array, shape (n, n)
        Masked entries are no edges.

    Returns
    -------
    csr_array of float64, shape (n, n)

    Raises
    ------
    InputError
        If the matrix is not square, or its entries are not real numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from mgraph import csgraph
    >>> csgraph.csgraph_from_masked(np.ma.masked_equal([[9, 0], [2, 9]], 9)).data.tolist()
    [0.0, 2.0]
    """
    matrix = checked(np.ma.asarray(graph))
    there = ~np.ma.getmaskarray(matrix)
    row, column = there.nonzero()
    return csr(matrix, row, column, numbers_of(matrix)[there])


def csgraph_masked_from_dense(
    graph: Any, null_value: Any = 0, nan_null: bool = True, infinity_null: bool = True, copy: bool = True
) -> Any:
    """Return a dense matrix as a masked one, as `scipy.sparse.csgraph.csgraph_masked_from_dense` does.

    Parameters
    ----------
    graph, null_value, nan_null, infinity_null
        As of `csgraph_from_dense`; the matrix lies in the host's memory.
    copy : bool
        Whether to copy the matrix.

    Returns
    -------
    masked array, shape (n, n)
        Of the matrix' type.

    Raises
    ------
    InputError
        If the matrix is not square, or its entries are not real numbers.

    Examples
    --------
    >>> from mgraph import csgraph
    >>> csgraph.csgraph_masked_from_dense([[0, 1], [2, 3]]).compressed().tolist()
    [1, 2, 3]
    """
    matrix = checked(graph)
    mask = _absent_or_masked(matrix, null_value, nan_null, infinity_null)
    fill = null_value if null_value is not None and np.isfinite(null_value) else None
    if fill is not None and matrix.dtype.kind in "iu":
        extremes = np.iinfo(matrix.dtype)
        if not (extremes.min <= fill <= extremes.max and fill == int(fill)):  # no entry is this one
            fill = None
    return np.ma.MaskedArray(np.array(np.ma.getdata(matrix), copy=copy or None), mask, fill_value=fill)


def csgraph_to_dense(csgraph: Any, null_value: float = 0) -> Array:
    """Return a sparse matrix as a dense one, as `scipy.sparse.csgraph.csgraph_to_dense` does.

    Parameters
    ----------
    csgraph : sparse matrix, shape (n, n)
        Of parallel edges the lightest counts. Other than SciPy's function, this one takes every format.
    null_value : float
        What stands for no edge.

    Returns
    -------
    array of float64, shape (n, n)

    Raises
    ------
    InputError
        If the matrix is not sparse or not square, or its entries are not real numbers.

    Examples
    --------
    >>> from mgraph import csgraph
    >>> from scipy import sparse
    >>> csgraph.csgraph_to_dense(sparse.csr_array([[0, 3], [0, 0]]), null_value=-1)
    array([[-1.,  3.],
           [-1., -1.]])
    """
    if not is_sparse(csgraph):
        raise InputError(argument="csgraph", value=type_name(csgraph), expected="a sparse matrix")
    rows = checked(csgraph).tocsr()  # in its own type: SciPy would sum parallel edges to make it another
    xp, weights = devices.of(rows.data).xp, rows.data.astype(np.float64)
    row, column = row_numbers(rows.indptr, len(weights), xp), rows.indices
    made, null = xp.full(rows.shape, np.inf), xp.ones(rows.shape, bool)
    xp.minimum.at(made, (row, column), xp.nan_to_num(weights, nan=np.inf, posinf=np.inf, neginf=-np.inf))
    null[row, column] = False
    made[null] = null_value
    return made


def csgraph_to_masked(csgraph: Any) -> Any:
    """Return a sparse matrix as a masked one, as `scipy.sparse.csgraph.csgraph_to_masked` does.

    Parameters
    ----------
    csgraph : sparse matrix, shape (n, n)
        In the host's memory. Of parallel edges the lightest counts.

    Returns
    -------
    masked array of float64, shape (n, n)

    Raises
    ------
    InputError
        If the matrix is not sparse or not square, or its entries are not real numbers.

    Examples
    --------
    >>> from mgraph import csgraph
    >>> from scipy import sparse
    >>> csgraph.csgraph_to_masked(sparse.csr_array([[0, 3], [0, 0]])).compressed()
    array([3.])
    """
    return np.ma.masked_invalid(csgraph_to_dense(csgraph, np.nan))
