"""Launching the (min, +) kernels of ``kernels/minplus.cu``; the operations are those of `mgraph.host.minplus`."""

from typing import Any

import numpy as np

from ..device import cuda_function

SOURCE = "minplus.cu"
_TYPES = {np.dtype(np.float32): "float", np.dtype(np.float64): "double", np.dtype(np.int32): "int"}

#: The tile of `update` for a type, with predecessors or without, in pairs of pivots or one by one: rows and
#: columns of a block, rows and columns of a thread, blocks a multiprocessor; measured (benchmarks/NOTES.md).
_TILES = {
    ("float", False, False): (64, 64, 8, 8, 5),
    ("float", False, True): (64, 64, 8, 8, 5),
    ("float", True, False): (64, 64, 4, 8, 3),
    ("float", True, True): (64, 64, 4, 8, 2),
    ("double", False, False): (64, 128, 8, 8, 1),
    ("double", True, False): (64, 64, 8, 4, 2),
    ("int", False, False): (64, 64, 8, 8, 5),
    ("int", True, False): (64, 64, 4, 8, 2),
}


def _update(key: tuple[str, bool, bool]) -> str:
    t, paths, pairs = key
    return f"update<{t}, {str(paths).lower()}, {str(pairs).lower()}, Tile<{', '.join(map(str, _TILES[key]))}>>"


INSTANCES = tuple(
    expression
    for t in _TYPES.values()
    for expression in (
        f"factor<{t}>",
        f"solve<{t}, true, false>",
        f"solve<{t}, true, true>",
        f"solve<{t}, false, false>",
        f"scatter<{t}, int>",
        f"scatter<{t}, long long>",
    )
) + tuple(map(_update, _TILES))

#: Pivots that may be eliminated at a time, and how many are by default.
BLOCKS = (32, 64, 96, 128)
DEFAULT_BLOCK = 128

# As in the source.
_BLOCK, _SIDE, _CHUNK, _LANES, _GROUPS, _STEP = 128, 16, 32, 64, 4, 16
_PANEL_ALIGNMENT = 128

Array = Any


def padded(items: int) -> int:
    """Return the length of a panel's rows for `items` columns: whole tiles, so that loads need no bounds."""
    return max(1, -(-items // _PANEL_ALIGNMENT)) * _PANEL_ALIGNMENT


def _leading(matrix: Array) -> np.int64:
    return np.int64(matrix.strides[0] // matrix.itemsize)


def _name(matrix: Array) -> str:
    return _TYPES[np.dtype(matrix.dtype)]


def factor(D: Array, row: int, pivot: int, b: int, M: Array, cycle: Array) -> None:
    """Factor the diagonal block into M; `cycle` becomes the first pivot of negative weight."""
    kernel = cuda_function(SOURCE, f"factor<{_name(D)}>")
    kernel((1,), (_SIDE * _SIDE,), (D, _leading(D), np.int32(row), np.int32(pivot), np.int32(b), M, cycle))


def solve_rows(
    D: Array, P: Array | None, row: int, pivot: int, b: int, M: Array, R: Array, labels: Array | None
) -> None:
    """Write each pivot's row, as it is when the pivot's turn comes, to R, and its predecessors to labels."""
    _solve(D, P, row, pivot, b, D.shape[1], M, R, labels, rows=True)


def solve_columns(D: Array, pivot: int, b: int, R: Array, C: Array) -> None:
    """Write each pivot's column, as it is when the pivot's turn comes, to a row of C."""
    _solve(D, None, 0, pivot, b, D.shape[0], R, C, None, rows=False)


def _solve(
    D: Array,
    P: Array | None,
    row: int,
    pivot: int,
    b: int,
    items: int,
    coefficients: Array,
    panel: Array,
    labels: Array | None,
    *,
    rows: bool,
) -> None:
    if not items:
        return
    paths = P is not None
    shared = D.itemsize * _BLOCK * (_LANES + 1 + _CHUNK) + 16 * _BLOCK + 4 * _BLOCK * _LANES * paths
    name = f"solve<{_name(D)}, {str(rows).lower()}, {str(paths).lower()}>"
    kernel = cuda_function(SOURCE, name, shared=shared)
    arguments = (
        *(D, P if paths else 0, _leading(D), np.int32(row), np.int32(pivot), np.int32(b), np.int32(items)),
        *(coefficients, _leading(coefficients), panel, labels if paths else 0, _leading(panel)),
    )
    kernel((-(-items // _LANES),), (_LANES * _GROUPS,), arguments, shared_mem=shared)


def update(D: Array, P: Array | None, C: Array, R: Array, labels: Array | None, b: int, nonnegative: bool) -> None:
    """D = min(D, C (+) R): every pair of vertices through the panels' pivots."""
    rows, columns = D.shape
    if not rows:
        return
    paths = P is not None
    key = _name(D), paths, nonnegative and D.dtype == np.float32
    high, wide, m, n, _ = _TILES[key]
    arguments = (
        *(D, P if paths else 0, _leading(D), np.int32(rows), np.int32(columns), C, np.int32(C.shape[1])),
        *(R, labels if paths else 0, np.int32(R.shape[1]), np.int32(-(-b // _STEP) * _STEP)),
    )
    kernel = cuda_function(SOURCE, _update(key))
    kernel((-(-columns // wide), -(-rows // high)), (high // m * (wide // n),), arguments)


def scatter(D: Array, indptr: Array, indices: Array, weights: Array) -> None:
    """D[v, w] = the least weight of the edges from v to w; the other elements stay."""
    rows = D.shape[0]
    if not rows or not len(indices):
        return
    offset = "int" if indptr.dtype == np.int32 else "long long"
    kernel = cuda_function(SOURCE, f"scatter<{_name(D)}, {offset}>")
    kernel((-(-rows // 8),), (256,), (D, _leading(D), np.int32(rows), indptr, indices, weights))
