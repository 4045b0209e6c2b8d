"""Dense matrices as graphs: which entries are edges, and checks of the entries."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import device as devices
from ..arguments import as_array
from ..arrays import Array, chunk_rows
from ..dtypes import infinity, offset_type, weight_dtype
from ..errors import InputError
from ..kernels import weights as weights_kernels
from .checks import check_memory, check_square, checked_weights
from .compressed import Compressed, Edges
from .stored import StoredMatrix, in_memory


def dense(matrix: Any, missing: float | None = None) -> Array:
    """Return a square matrix of numbers or truth values as an array, or as a `StoredMatrix` if it is not in memory.

    A masked entry becomes `missing`, by default the value that means no edge in a distance matrix.
    """
    if hasattr(matrix, "tocoo"):
        raise InputError(f"{type(matrix).__name__} is a sparse matrix: give it to from_scipy")
    on_host = devices.of(matrix).kind == "cpu"
    typed = isinstance(getattr(matrix, "dtype", None), np.dtype)
    elsewhere = on_host and typed and not hasattr(matrix, "__array_struct__")
    if on_host and not elsewhere and not isinstance(matrix, np.ma.MaskedArray):
        matrix = _rows(matrix)
    check_square(matrix.shape)
    weight_dtype(matrix.dtype)
    if missing is None:
        missing = False if matrix.dtype.kind == "b" else infinity(matrix.dtype)
    if elsewhere:
        return StoredMatrix(matrix, missing=missing)
    return matrix.filled(missing) if isinstance(matrix, np.ma.MaskedArray) else matrix


def _rows(matrix: Any) -> np.ndarray:
    """Return nested sequences as an array, masked where a row is; raise InputError for rows of unequal length."""
    if isinstance(matrix, Sequence) and all(isinstance(row, Sequence) for row in matrix):
        lengths = [len(row) for row in matrix]
        odd = next((i for i, length in enumerate(lengths) if length != lengths[0]), None)
        if odd is not None:
            raise InputError(
                f"row {odd} of the matrix has length {lengths[odd]}, row 0 has length {lengths[0]}: a square matrix "
                "has a row and a column per vertex"
            )
    array = np.asarray(as_array(matrix, "the matrix"))
    if isinstance(matrix, Sequence) and any(isinstance(row, np.ma.MaskedArray) for row in matrix):
        return np.ma.array(array, mask=[np.ma.getmaskarray(row) for row in matrix])
    return array


def looked_through(matrix: Array) -> tuple[bool, bool]:
    """Return whether no entry of a matrix is negative, and whether the meaning of its zeros is ambiguous.

    On a GPU, whose reductions need no memory, the matrix is scanned as a whole. Once an infinity is found, only the
    minimum is still needed.
    """
    n, missing, least = len(matrix), infinity(np.dtype(matrix.dtype)), 0.0
    infinite = zeros = False
    rows = chunk_rows(n) if isinstance(matrix, (np.ndarray, StoredMatrix)) else n
    for first in range(0, n, max(1, rows)):
        block = in_memory(matrix[first : first + rows])
        low = float(block.min())
        if not low > -np.inf:  # a minimum with a NaN among its numbers is NaN
            raise _no_weight(block, first)
        least = min(low, least)
        infinite = infinite or bool(block.max() == missing)
        zeros = zeros or (low <= 0 and not infinite and _has_zeros(block, first))
    return least >= 0, zeros and not infinite


def _has_zeros(block: Array, first: int) -> bool:
    """Return whether rows of a matrix, from `first` on, have zeros off its diagonal."""
    place = devices.of(block)
    (found,) = devices.zeroed(place.xp, 1)
    weights_kernels.on(place).zeros(block, first, found)
    return bool(found[0])


def _no_weight(block: Array, first: int) -> InputError:
    """Return the error for a NaN or -inf among rows of a matrix, from `first` on."""
    i, j = (int(axis[0]) for axis in (~(block > -np.inf)).nonzero())
    value = "NaN" if block[i, j] != block[i, j] else "-inf"
    return InputError(f"entry ({first + i}, {j}) of the matrix is {value}: use a number, or inf for 'no edge'")


def adjacent(matrix: Array) -> dict[str, Any]:
    """Return the edges of an adjacency matrix by source, and whether none is negative: keywords of `Graph`."""
    n, dtype, home = len(matrix), weight_dtype(np.dtype(matrix.dtype)), devices.of(matrix)
    xp = home.xp
    degrees, targets, weights = [xp.zeros(1, np.int64)], [xp.empty(0, np.int32)], [xp.empty(0, dtype)]
    m, rows = 0, chunk_rows(n)
    for first in range(0, n, rows):
        block = in_memory(matrix[first : first + rows])
        if block.dtype.kind == "f" and not float(block.min()) > -np.inf:
            raise _no_weight(block, first)
        present = (block != 0) & (block != np.inf) if block.dtype.kind == "f" else block != 0
        degrees.append(present.sum(axis=1, dtype=np.int64))
        m += int(degrees[-1].sum())
        check_memory(n, m, home)
        row, column = present.nonzero()
        targets.append(column.astype(np.int32))
        if dtype is not None:
            weights.append(block[row, column])
    lengths = None if dtype is None else checked_weights(xp.concatenate(weights[1:] or weights), m)
    indptr = xp.concatenate(degrees).cumsum().astype(offset_type(m))
    nonnegative = lengths is None or not m or bool(lengths.min() >= 0)
    return {"csr": Compressed(indptr, xp.concatenate(targets), lengths), "nonnegative": nonnegative}


def present(block: Array, first: int) -> Array:
    """Return where rows of a distance matrix, from `first` on, have edges: on its diagonal only negative ones."""
    present = block != infinity(np.dtype(block.dtype))
    row = devices.of(block).xp.arange(len(block))
    present[row, first + row] = block[row, first + row] < 0
    return present


def dense_edges(matrix: Array) -> Edges:
    """Return the edges of a distance matrix, a negative diagonal entry as a self-loop."""
    n, home = len(matrix), devices.of(matrix)
    with devices.allocating(f"the edges of a matrix of {n:,} vertices", n * n, home):
        there = present(matrix, 0)
    check_memory(n, int(there.sum()), home)
    src, dst = there.nonzero()
    return Edges(src.astype(np.int32), dst.astype(np.int32), checked_weights(matrix[src, dst], len(src)))
