"""Launches of the kernels of ``kernels/closure.cu``: the operations of `mgraph.kernels.closure.host`."""

from typing import Any

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...device import cuda_function
from ..minplus import Panels

SOURCE = "closure.cu"

#: Numbers of pivots that can be eliminated at a time, and the default.
BLOCKS = (256, 512)
DEFAULT_BLOCK = 512

#: The tile of `update` for a block: sheets of 32 rows per warp, warps per block, blocks per multiprocessor; measured
#: (benchmarks/NOTES.md).
_TILES = {256: (1, 4, 8), 512: (2, 4, 3)}


def _update(block: int) -> str:
    return f"update<{_lane_words(block)}, Tile<{', '.join(map(str, _TILES[block]))}>>"


def _lane_words(block: int) -> int:
    return block // 128


INSTANCES = (
    *(f"{kernel}<{_lane_words(block)}>" for block in BLOCKS for kernel in ("factor", "solve")),
    *map(_update, BLOCKS),
    *("scatter<int>", "scatter<long long>", "pack", "unpack", "count", "set_diagonal"),
)

# As in the source.
_SOLVERS = 8
_THREADS = 256


def panels(xp: Any, dtype: Any, rows: int, columns: int, block: int) -> tuple[Array, Array, Array]:
    """Return M, R and C, uninitialised, for a matrix of `rows` x `columns` vertices (not words).

    They have a set of `block` pivots for every pivot, every column and every row; columns are padded to whole tiles.
    """
    words = block // 32
    wide = max(1, -(-columns // block)) * block
    return xp.empty((block, words), dtype), xp.empty((wide, words), dtype), xp.empty((rows, words), dtype)


def compile_ahead(block: int) -> None:
    words = _lane_words(block)
    devices.compile_ahead(SOURCE, f"factor<{words}>", f"solve<{words}>", _update(block))


def factor(D: Array, row: int, column: int, pivot: int, b: int, M: Array, cycle: Array) -> None:
    block = M.shape[0]
    kernel = cuda_function(SOURCE, f"factor<{_lane_words(block)}>")
    kernel((1,), (block,), (D, _leading(D), np.int32(row), np.int32(column // 32), np.int32(b), M))


def solve_rows(D: Array, P: Array | None, row: int, pivot: int, b: int, panels: Panels) -> None:
    M, R = panels.M, panels.R
    kernel = cuda_function(SOURCE, f"solve<{_lane_words(M.shape[0])}>")
    arguments = D, _leading(D), np.int32(row), np.int32(D.shape[1]), np.int32(b), M, R
    kernel((R.shape[0] // (32 * _SOLVERS),), (32 * _SOLVERS,), arguments)


def solve_columns(D: Array, column: int, b: int, panels: Panels) -> None:
    words = -(-b // 32)
    panels.C[:, :words] = D[:, column // 32 : column // 32 + words]


def update(D: Array, panels: Panels, b: int, rows: tuple[int, int], columns: tuple[int, int]) -> None:
    """D = D | C R in some rows and columns: a vertex that reaches a pivot reaches all that the pivot does."""
    block = 32 * panels.R.shape[1]
    D = D[rows[0] : rows[1], columns[0] // 32 : -(-columns[1] // 32)]
    C, R = panels.C[rows[0] :], panels.R[columns[0] :]
    high, wide = D.shape
    sheets, warps, _ = _TILES[block]
    kernel = cuda_function(SOURCE, _update(block))
    grid = -(-32 * wide // block), -(-high // (32 * sheets * warps))
    kernel(grid, (32 * warps,), (D, _leading(D), np.int32(high), np.int32(wide), C, R))


def scatter(D: Array, indptr: Array, indices: Array) -> None:
    rows = D.shape[0]
    if not rows or not len(indices):
        return
    kernel = cuda_function(SOURCE, f"scatter<{'int' if indptr.dtype == np.int32 else 'long long'}>")
    kernel((-(-rows // 8),), (_THREADS,), (D, _leading(D), np.int32(rows), indptr, indices))


def set_diagonal(D: Array, row: int, column: int, length: int) -> None:
    if length:
        kernel = cuda_function(SOURCE, "set_diagonal")
        kernel((-(-length // 256),), (256,), (D, _leading(D), *map(np.int32, (row, column, length))))


def pack(present: Array, D: Array) -> None:
    rows, columns = present.shape
    if not present.size:
        return
    places = rows * -(-columns // 32)
    arguments = D, _leading(D), np.int32(rows), np.int32(columns), present
    cuda_function(SOURCE, "pack")((-(-places // 8),), (_THREADS,), arguments)


def unpack(D: Array, present: Array) -> None:
    rows, columns = present.shape
    if not present.size:
        return
    arguments = D, _leading(D), np.int32(rows), np.int32(columns), present
    cuda_function(SOURCE, "unpack")((-(-present.size // _THREADS),), (_THREADS,), arguments)


def count(D: Array, counts: Array) -> None:
    rows, words = D.shape
    if not rows:
        return
    arguments = D, _leading(D), np.int32(rows), np.int32(words), counts
    cuda_function(SOURCE, "count")((-(-rows // 8),), (_THREADS,), arguments)


def _leading(matrix: Array) -> np.int64:
    return np.int64(matrix.strides[0] // matrix.itemsize)
