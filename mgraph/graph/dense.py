"""Dense matrices as graphs: which entries are edges, and checks of the entries."""

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import device as devices
from ..arguments import as_array
from ..arrays import Array, chunk_rows, places_on
from ..dtypes import infinity, offset_type, weight_dtype
from ..errors import ArgumentValue, InputError
from ..kernels import weights as weights_kernels
from .checks import check_memory, check_square, checked_weights
from .compressed import Compressed, Edges, compress
from .grouping import copied, shared_by_cores
from .stored import StoredMatrix

#: Elements that a core looks at at a time: few enough for its cache, and enough that it seldom takes the interpreter.
_LOOKED = 1 << 20

#: How a matrix needs no copy, for messages.
_SHARED = ArgumentValue("copy", False), " shares the matrix, which must not change then"


def dense(matrix: Any, missing: float | None = None) -> Array:
    """Return a square matrix of numbers or truth values as an array, or as a `StoredMatrix` if it is not in memory.

    A masked entry becomes `missing`, by default the value that means no edge in a distance matrix.
    """
    if hasattr(matrix, "tocoo"):
        raise InputError(f"{type(matrix).__name__} is a sparse matrix: give it to from_scipy")
    matrix = devices.imported(matrix)
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
        return matrix.filled(missing) if isinstance(matrix, StoredMatrix) else StoredMatrix(matrix, missing=missing)
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


def own(matrix: Array, given: Any) -> Array:
    """Return the array that `dense` made of an argument, or a copy if it may share memory with the argument.

    A matrix in a file, such as a ``numpy.memmap``, is not copied.
    """
    if isinstance(matrix, StoredMatrix) or isinstance(given, np.memmap | list | tuple):
        return matrix
    if isinstance(given, np.ndarray) and not np.may_share_memory(matrix, np.asarray(given)):
        return matrix
    home = devices.of(matrix)
    with devices.allocating(f"a copy of a matrix of {len(matrix):,} vertices", int(matrix.nbytes), home, *_SHARED):
        return copied(matrix, matrix.dtype) if home.kind == "cpu" else matrix.copy(order="K")


class Look(NamedTuple):
    """What a look at some entries of a matrix has shown: whether any is negative, infinite, or an unsure zero."""

    negative: bool
    infinite: bool
    zeros: bool


def scan_matrix(matrix: Array) -> tuple[bool, bool]:
    """Return whether no entry of a matrix is negative, and whether the meaning of its zeros is ambiguous.

    A GPU looks at the whole matrix in one launch. On a CPU all cores share a large one, and once an infinity is found,
    only the minimum is still needed.
    """
    looks: list[Look] = []
    if isinstance(matrix, StoredMatrix):
        looks = matrix.mapped(look)
    elif isinstance(matrix, np.ndarray):
        rows = max(1, _LOOKED // max(1, len(matrix)))

        sure = threading.Event()  # there is an infinity

        def look_at(first: int) -> None:
            seen = look(matrix[first : first + rows], first, 0, sure.is_set())
            if seen.infinite:
                sure.set()
            looks.append(seen)

        shared_by_cores(look_at, range(0, len(matrix), rows), matrix.size)
    else:
        looks.append(look(matrix, 0, 0))
    infinite = any(seen.infinite for seen in looks)
    zeros = any(seen.zeros for seen in looks)
    return not any(seen.negative for seen in looks), zeros and not infinite


def look(block: Array, top: int, left: int, sure: bool = False) -> Look:
    """Look at a block of a matrix, which begins at row `top` and column `left`; with `sure`, zeros do not matter."""
    place = devices.of(block)
    found = place.xp.zeros(4, np.int32)
    # Of the kind, without the lock of Numba's kernels: on a CPU, NumPy's functions, which threads run at the same time.
    weights_kernels.of_kind(place.kind).survey(block, top - left, infinity(np.dtype(block.dtype)), found, sure)
    invalid, negative, infinite, zeros = map(bool, devices.to_host(found))
    if invalid:
        raise _no_weight(block, top, left)
    return Look(negative, infinite, zeros and not infinite and not sure)


def _no_weight(block: Array, top: int, left: int = 0) -> InputError:
    """Return the error for a NaN or -inf in a block of a matrix, which begins at row `top` and column `left`."""
    i, j = (int(axis[0]) for axis in (~(block > -np.inf)).nonzero())
    value = "NaN" if block[i, j] != block[i, j] else "-inf"
    return InputError(f"entry ({top + i}, {left + j}) of the matrix is {value}: use a number, or inf for 'no edge'")


def adjacent(matrix: Array) -> dict[str, Any]:
    """Return the edges of an adjacency matrix by source, and whether none is negative: keywords of `Graph`."""
    n, dtype, home = len(matrix), weight_dtype(np.dtype(matrix.dtype)), devices.of(matrix)
    xp, m, rows = home.xp, 0, chunk_rows(n)
    sources, targets, weights = [xp.empty(0, np.int32)], [xp.empty(0, np.int32)], [xp.empty(0, dtype)]
    degrees = [xp.zeros(1, np.int64)]
    stored = isinstance(matrix, StoredMatrix)
    blocks = (edges_in(matrix[first : first + rows], first, 0) for first in range(0, n, rows))
    for src, dst, lengths in matrix.mapped(edges_in) if stored else blocks:
        m += len(src)
        check_memory(n, m, home)
        if stored:  # blocks of any places
            sources.append(src)
        else:
            first = sum(map(len, degrees)) - 1
            degrees.append(xp.bincount(src - np.int32(first), minlength=min(rows, n - first)))
        targets.append(dst)
        weights += [] if lengths is None else [lengths]
    indices = xp.concatenate(targets)
    lengths = None if dtype is None else checked_weights(xp.concatenate(weights[1:] or weights), m)
    nonnegative = lengths is None or not m or bool(lengths.min() >= 0)
    if stored:
        csr = compress(xp.concatenate(sources), indices, lengths, n, xp)
    else:
        csr = Compressed(xp.concatenate(degrees).cumsum().astype(offset_type(m)), indices, lengths)
    return {"csr": csr, "nonnegative": nonnegative}


def edges_in(block: Array, top: int, left: int) -> Edges:
    """Return the edges in a block of an adjacency matrix, which begins at row `top` and column `left`."""
    if block.dtype.kind == "f" and not float(block.min()) > -np.inf:
        raise _no_weight(block, top, left)
    present = (block != 0) & (block != np.inf) if block.dtype.kind == "f" else block != 0
    row, column = present.nonzero()
    weights = None if block.dtype.kind == "b" else block[row, column]
    return Edges((row + top).astype(np.int32), (column + left).astype(np.int32), weights)


def present(block: Array, top: int, left: int = 0) -> Array:
    """Return where a block of a distance matrix has edges: on its diagonal only negative ones.

    The block begins at row `top` and column `left`.
    """
    present = block != infinity(np.dtype(block.dtype))
    own = places_on(top - left, block.shape, devices.of(block).xp)
    present[own] = block[own] < 0
    return present


#: Weights of which fractions are mostly found among so many.
SAMPLE = 1024


class Ends(NamedTuple):
    """The least and the greatest of some weights, and whether all are whole numbers."""

    least: float
    most: float
    whole: bool


def ends(weights: Array) -> Ends | None:
    """Return the ends of weights; None if there are none."""
    if not weights.size:
        return None
    least, most = weights.min().item(), weights.max().item()
    return Ends(least, most, _all_whole(weights) and abs(least) < np.inf and abs(most) < np.inf)


def _all_whole(weights: Array) -> bool:
    """Return whether all weights are whole numbers or infinite, by ``floor``: the remainder takes 40 times as long."""
    if weights.dtype.kind in "iu":
        return True
    floor, some = devices.of(weights).xp.floor, weights.ravel()[:SAMPLE]
    return bool((floor(some) == some).all()) and bool((floor(weights) == weights).all())


def ends_of_edges(block: Array, top: int, left: int) -> Ends | None:
    """Return the ends of the weights in a block of a distance matrix."""
    return ends(block[present(block, top, left)])


def largest(weights: Array, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest magnitudes of up to `count` negative weights, and of up to `count` positive ones."""
    lengths = devices.to_host(weights).astype(np.float64)
    negative, positive = (signed[signed > 0] for signed in (-lengths, lengths))
    return _most(negative, count), _most(positive, count)


def largest_of_edges(block: Array, top: int, left: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the same of a block of a distance matrix."""
    return largest(block[present(block, top, left)], count)


def _most(values: np.ndarray, count: int) -> np.ndarray:
    return np.partition(values, len(values) - count)[len(values) - count :] if len(values) > count else values


def dense_edges(matrix: Array) -> Edges:
    """Return the edges of a distance matrix, a negative diagonal entry as a self-loop."""
    n, home = len(matrix), devices.of(matrix)
    with devices.allocating(f"the edges of a matrix of {n:,} vertices", n * n, home):
        there = present(matrix, 0)
    check_memory(n, int(there.sum()), home)
    src, dst = there.nonzero()
    return Edges(src.astype(np.int32), dst.astype(np.int32), checked_weights(matrix[src, dst], len(src)))
