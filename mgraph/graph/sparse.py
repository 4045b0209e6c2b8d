"""Sparse matrices of SciPy and CuPy as graphs: their entries, or their rows as they are stored."""

from typing import Any

import numpy as np

from .. import device as devices
from ..arrays import Array
from ..dtypes import offset_type, weight_dtype
from ..errors import InputError
from .checks import check_memory, checked_weights
from .compressed import Compressed, sorted_rows
from .grouping import ascending, copied, copied_bytes, extremes, usable

_INDEX = np.dtype(np.int32)


def check_structure(matrix: Any) -> None:
    """Raise InputError if a matrix in CSR, CSC or BSR has rows or columns that compiled code must not read."""
    indptr, indices = getattr(matrix, "indptr", None), getattr(matrix, "indices", None)
    if not isinstance(indptr, np.ndarray) or not isinstance(indices, np.ndarray):
        return  # another format, or on a GPU
    for name, array in (("indptr", indptr), ("indices", indices)):
        if array.ndim != 1 or array.dtype.kind != "i":
            raise InputError(f"{name} of the matrix must be a vector of signed integers, got {array.dtype.name}")
    rows = matrix.shape[0] // (matrix.blocksize[0] if matrix.format == "bsr" else 1)
    if len(indptr) != rows + 1:
        raise InputError(f"indptr of the matrix must have {rows + 1} elements, got {len(indptr)}")
    m = min(len(indices), len(matrix.data))
    if indptr[0] != 0 or indptr[-1] > m or bool((indptr[1:] < indptr[:-1]).any()):
        raise InputError("indptr of the matrix must ascend from 0 to at most the number of its entries")


def stored_rows(matrix: Any, copy: bool) -> tuple[Compressed | None, bool]:
    """Return `kept_rows` of a matrix in CSR of a checked structure; None and False for another format or on a GPU."""
    indptr = getattr(matrix, "indptr", None)
    if getattr(matrix, "format", None) != "csr" or not isinstance(indptr, np.ndarray):
        return None, False
    m = int(indptr[-1])
    return kept_rows(Compressed(indptr, matrix.indices[:m], matrix.data[:m]), matrix.shape[0], copy)


def kept_rows(edges: Compressed, n: int, copy: bool) -> tuple[Compressed | None, bool]:
    """Return the edges of a graph of n vertices as it keeps them, each row sorted, and whether none is negative.

    They are None if some edges have to be left out, or an index is not in [0, n). `indptr` has been checked. Without
    `copy`, arrays of the types of a graph are the edges' own if the rows are sorted.

    Raises
    ------
    InputError
        For weights as `checked_weights`.
    MemoryLimitError
        If arrays have to be copied or sorted, and do not fit the free memory.
    """
    indptr, indices, data = edges
    m = len(indices)
    in_order = ascending(indptr, indices, n)
    if not in_order and not (m and 0 <= (ends := extremes(indices))[0] and ends[1] < n):
        return None, False
    wanted, offsets = None if data is None else weight_dtype(np.dtype(data.dtype)), offset_type(m)
    parts = [(indptr, offsets), (indices, _INDEX), *([] if wanted is None else [(data, wanted)])]
    needed = sum(array.size * dtype.itemsize if copy else copied_bytes(array, dtype) for array, dtype in parts)
    if needed:
        devices.check_free_memory(f"a copy of a matrix of {m:,} entries", needed, devices.of(indices))
    weights = None if wanted is None else checked_weights(data, m, copy=False)
    least, greatest = (0, 0) if weights is None or not m else extremes(weights)
    if greatest == np.inf:
        return None, False
    if not in_order:
        check_memory(n, m, devices.of(indices))
        weights = None if weights is None else usable(weights, weights.dtype)
        return sorted_rows(Compressed(indptr, indices, weights), n), least >= 0
    taken = copied if copy else usable
    if weights is not None:
        weights = (taken if weights is data else usable)(weights, weights.dtype)
    return Compressed(taken(indptr, offsets), taken(indices, _INDEX), weights), least >= 0


def entries(matrix: Any) -> tuple[Array, Array, Array | None]:
    """Return the row, the column and the value of each stored entry, but of zeros in the blocks of a BSR matrix.

    The values are None for truth values.

    Raises
    ------
    InputError
        If the matrix contradicts itself, as after its arrays were assigned.
    """
    try:
        coo = matrix.tocoo(copy=False)
    except (IndexError, TypeError, ValueError) as error:
        raise InputError(f"the matrix contradicts itself: {error}") from error
    row, column, values = coo.row, coo.col, coo.data
    if getattr(matrix, "format", None) == "bsr":
        stored = values != 0
        row, column, values = row[stored], column[stored], values[stored]
    return row, column, None if values.dtype.kind == "b" else values
