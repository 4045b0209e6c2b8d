"""Launches of the kernels of ``kernels/minplus.cu``: the operations of `mgraph.kernels.minplus.host`."""

import contextlib
import re
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...device import cuda_attribute, cuda_function, zeroed
from . import Bounds, Panels

SOURCE = "minplus.cu"
_TYPES = {
    np.dtype(np.float32): "float",
    np.dtype(np.float64): "double",
    np.dtype(np.int32): "int",
    np.dtype(np.int16): "short",
}

#: The tile of `update` by type (int16 in pairs), whether there are labels, and whether pivots are taken in pairs: rows
#: and columns per block, rows and columns per thread, blocks per multiprocessor; measured (benchmarks/NOTES.md).
_TILES = {
    ("float", False, False): (64, 64, 8, 8, 5),
    ("float", False, True): (64, 64, 8, 8, 5),
    ("float", True, False): (64, 64, 4, 8, 4),
    ("float", True, True): (64, 64, 4, 8, 4),
    ("double", False, False): (32, 64, 4, 4, 4),
    ("double", True, False): (32, 64, 4, 4, 4),
    ("int", False, False): (64, 64, 8, 8, 4),
    ("int", True, False): (64, 64, 8, 4, 4),
    ("Pair", False, False): (64, 64, 8, 8, 4),
}


@contextlib.contextmanager
def tiled(tile: str) -> Iterator[None]:
    """Use another tile for float32 without labels within the block: ``"64x64 8x8 5"``, in the order of `_TILES`."""
    rows, columns, high, wide, resident = map(int, re.findall(r"\d+", tile))
    keys = [("float", False, pairs) for pairs in (False, True)]
    with mock.patch.dict(_TILES, dict.fromkeys(keys, (rows, columns, high, wide, resident))):
        yield


def _update(key: tuple[str, bool, bool]) -> str:
    t, paths, pairs = key
    return f"update<{t}, {str(paths).lower()}, {str(pairs).lower()}, Tile<{', '.join(map(str, _TILES[key]))}>>"


INSTANCES = (
    tuple(
        expression
        for t in _TYPES.values()
        for expression in (
            f"factor<{t}>",
            f"solve<{t}, true, false>",
            f"solve<{t}, false, false>",
            f"through<{t}>",
            f"clip_diagonal<{t}>",
            f"label_edges<{t}>",
            f"scatter<{t}, int>",
            f"scatter<{t}, long long>",
        )
    )
    + tuple(f"solve<{t}, true, true>" for t in ("float", "double", "int"))
    + tuple(f"eliminate<{t}, false>" for t in _TYPES.values())
    + tuple(f"eliminate<{t}, true>" for t in ("float", "double", "int"))
    + tuple(map(_update, _TILES))
)

#: Numbers of pivots that can be eliminated at a time, and the default.
BLOCKS = (32, 64, 96, 128)
DEFAULT_BLOCK = 128

# As in the source.
_BLOCK, _SIDE, _CHUNK, _LANES, _GROUPS, _STEP = 128, 16, 32, 64, 4, 16
_WARPS, _RESIDENT = 16, 3  # of `through`
_SQUARE, _QUAD, _TILES_RESIDENT = 32, 4, 2  # of `eliminate`
_PANEL_ALIGNMENT = 128


def padded(items: int) -> int:
    """Return the length of a panel's rows for `items` columns: whole tiles, so that loads need no bounds."""
    return max(1, -(-items // _PANEL_ALIGNMENT)) * _PANEL_ALIGNMENT


def panels(xp: Any, dtype: Any, rows: int, columns: int, block: int) -> tuple[Array, Array, Array]:
    high = -(-block // _CHUNK) * _CHUNK
    factor = np.int32 if np.dtype(dtype) == np.int16 else dtype  # an int16 is stored twice in a word
    return (
        xp.empty((_BLOCK, _BLOCK), dtype),
        xp.empty((high, padded(columns)), dtype),
        xp.empty((high, padded(rows)), factor),
    )


def _leading(matrix: Array) -> int:
    return int(matrix.strides[0]) // int(matrix.itemsize)


def _name(matrix: Array) -> str:
    return _TYPES[np.dtype(matrix.dtype)]


def compile_ahead(dtype: np.dtype, paths: bool, labelled: bool, nonnegative: bool) -> None:
    name = _TYPES[np.dtype(dtype)]
    key = "Pair" if name == "short" else name, labelled, nonnegative and name == "float"
    solves = (f"solve<{name}, {str(rows).lower()}, {str(rows and paths).lower()}>" for rows in (True, False))
    devices.compile_ahead(SOURCE, _update(key), f"factor<{name}>", *solves)


def factor(D: Array, row: int, column: int, pivot: int, b: int, M: Array, cycle: Array) -> None:
    """Factor the diagonal block, whose corner is D[row, column], into M.

    `cycle` becomes the first pivot with a negative diagonal element; `pivot` is the number of the block's first pivot.
    """
    kernel = cuda_function(SOURCE, f"factor<{_name(D)}>")
    numbers = map(np.int32, (row, column, pivot, b))
    kernel((1,), (_SIDE * _SIDE,), (D, np.int64(_leading(D)), *numbers, M, cycle))


def solve_rows(D: Array, P: Array | None, row: int, pivot: int, b: int, panels: Panels) -> None:
    """Write each pivot's row, as it is when the pivot is eliminated, to R; and its predecessors to `labels`, if any."""
    _solve(D, P, row, b, D.shape[1], panels, rows=True)


def solve_columns(D: Array, column: int, b: int, panels: Panels) -> None:
    """Write each pivot's column, as it is when the pivot is eliminated, to a row of C."""
    _solve(D, None, column, b, D.shape[0], panels, rows=False)


def _solve(D: Array, P: Array | None, at: int, b: int, items: int, panels: Panels, *, rows: bool) -> None:
    if not items:
        return
    panel, labels = (panels.R, panels.labels) if rows else (panels.C, None)
    paths = labels is not None
    itemsize = max(4, D.itemsize)
    shared = itemsize * _BLOCK * (_LANES + 1 + _CHUNK) + 16 * _BLOCK + 4 * _BLOCK * _LANES * paths
    name = f"solve<{_name(D)}, {str(rows).lower()}, {str(paths).lower()}>"
    kernel = cuda_function(SOURCE, name, shared=shared)
    arguments = (
        *(D, P if paths else 0, np.int64(_leading(D)), np.int32(at), np.int32(b), np.int32(items)),
        *(panels.M, panel, labels if paths else 0, np.int64(_leading(panel))),
    )
    kernel((-(-items // _LANES),), (_LANES * _GROUPS,), arguments, shared_mem=shared)


def update(
    D: Array,
    P: Array | None,
    panels: Panels,
    pivot: int,
    b: int,
    nonnegative: bool,
    skip: tuple[int, int, int, int] = (0, 0, 0, 0),
) -> None:
    """D = min(D, C (+) R): paths of every pair through the panels' pivots, from number `pivot` on.

    Whole tiles within the rows skip[0] to skip[1], or the columns skip[2] to skip[3], are skipped.
    """
    rows, columns = D.shape
    if not rows or not columns:
        return
    _, R, labels, C = panels
    word = max(4, D.itemsize) // D.itemsize  # elements in a word
    key = _name(D) if word == 1 else "Pair", P is not None, nonnegative and D.dtype == np.float32
    high, wide, m, n, _ = _TILES[key]
    words = -(-columns // word)
    top, done_rows = _whole_tiles(skip[0], skip[1], rows, high)
    left, done_words = _whole_tiles(skip[2] // word, -(-skip[3] // word), words, wide)
    grid = (-(-words // wide) - done_words // wide, -(-rows // high) - done_rows // high)
    if not all(grid):
        return
    arguments = (
        *(D, 0 if P is None else P, np.int32(_leading(D) // word), np.int32(rows), np.int32(words)),
        *(C, np.int32(_leading(C)), R, 0 if labels is None else labels, np.int32(_leading(R) // word)),
        *map(np.int32, (pivot, -(-b // _STEP) * _STEP, top, done_rows, left, done_words)),
    )
    kernel = cuda_function(SOURCE, _update(key))
    kernel(grid, (high // m * (wide // n),), arguments)


def _whole_tiles(first: int, end: int, items: int, tile: int) -> tuple[int, int]:
    """Return the start and the length of the whole tiles within `first` to `end`, of `items` items."""
    start = -(-first // tile) * tile
    stop = -(-items // tile) * tile if end == items else end // tile * tile
    return (start, stop - start) if stop > start else (0, 0)


def through(
    D: Array,
    P: Array | None,
    column: int,
    R: Array,
    labels: Array | None,
    pivot: int,
    count: int,
    cycle: Array,
) -> None:
    """D = min(D, D[:, column + t] + R[t]) for t = 0, ..., count - 1, one after the other, in one launch.

    `cycle` becomes the first pivot with a negative diagonal element; results after that are not used.
    """
    rows, columns = D.shape
    if not rows or not columns:
        return
    arguments = (
        *(D, 0 if P is None else P, np.int64(_leading(D)), np.int32(rows), np.int32(columns), np.int32(column)),
        *(R, 0 if labels is None else labels, np.int64(_leading(R)), np.int32(pivot), np.int32(count)),
        *(cycle, zeroed(devices.of(D).xp, 1)[0]),
    )
    kernel = cuda_function(SOURCE, f"through<{_name(D)}>", cooperative=True)
    tiles = -(-columns * D.itemsize // (32 * 16)) * -(-rows // _WARPS)
    blocks = min(tiles, _RESIDENT * cuda_attribute("MultiProcessorCount"))
    kernel((blocks,), (32 * _WARPS,), arguments)


def at_once(n: int, processors: int) -> bool:
    """Return whether `eliminate` takes n vertices: all blocks must be resident, and larger matrices are slower."""
    return 0 < n <= 512 and (-(-n // _SQUARE)) ** 2 <= _TILES_RESIDENT * processors


def board(xp: Any, dtype: Any, n: int, labelled: bool) -> tuple[Array, Array | None]:
    size = 4 * -(-n // _SQUARE) * _SQUARE * _SQUARE
    return xp.empty((size,), dtype), xp.empty((size,), np.int32) if labelled else None


def eliminate(
    given: Array,
    D: Array,
    P: Array | None,
    paths: bool,
    bounds: Bounds,
    board: tuple[Array, Array | None],
    found: Array,
) -> None:
    """D = the shortest paths in the matrix `given`, in one launch, for as many vertices as `at_once` allows.

    P becomes the predecessors if `paths`, else the highest intermediate vertices.
    """
    n, (values, labels) = len(D), board
    tiles = -(-n // _SQUARE)
    kernel = cuda_function(SOURCE, f"eliminate<{_name(D)}, {str(P is not None).lower()}>", cooperative=True)
    down, across = (np.int64(stride // given.itemsize) for stride in given.strides)
    arguments = (
        *(given, down, across, D, 0 if P is None else P),
        *(np.int64(_leading(D)), np.int64(0 if P is None else _leading(P)), np.int32(n), np.bool_(paths)),
        *(*map(np.int32, bounds), values, 0 if labels is None else labels, found),
    )
    kernel((tiles * tiles,), (_SQUARE * _SQUARE // _QUAD,), arguments)


def clip_diagonal(D: Array, row: int, column: int, length: int) -> None:
    if length:
        kernel = cuda_function(SOURCE, f"clip_diagonal<{_name(D)}>")
        kernel((-(-length // 256),), (256,), (D, np.int64(_leading(D)), *map(np.int32, (row, column, length))))


def label_edges(D: Array, first: int, left: int, P: Array) -> None:
    rows, columns = D.shape
    if not rows or not columns:
        return
    kernel = cuda_function(SOURCE, f"label_edges<{_name(D)}>")
    arguments = D, np.int64(_leading(D)), *map(np.int32, (rows, columns, first, left)), P, np.int64(_leading(P))
    kernel((-(-columns // 32), -(-rows // 8)), (32, 8), arguments)


def scatter(D: Array, indptr: Array, indices: Array, weights: Array) -> None:
    rows = D.shape[0]
    if not rows or not len(indices):
        return
    offset = "int" if indptr.dtype == np.int32 else "long long"
    kernel = cuda_function(SOURCE, f"scatter<{_name(D)}, {offset}>")
    kernel((-(-rows // 8),), (256,), (D, np.int64(_leading(D)), np.int32(rows), indptr, indices, weights))
