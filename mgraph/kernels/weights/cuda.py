"""Launches of the kernels of ``kernels/weights.cu``: the operations of `mgraph.kernels.weights.host`."""

import numpy as np

from ...arrays import Array
from ...device import cuda_function

SOURCE = "weights.cu"
_TYPES = {np.dtype(t): name for t, name in ((np.int32, "int"), (np.int16, "short"))}
_ENCODED = {**_TYPES, np.dtype(np.float32): "float", np.dtype(np.float64): "double"}
_GIVEN = {
    np.dtype(f"{sign}{size}"): ("unsigned " if sign == "u" else "signed ") + name
    for sign in "iu"
    for size, name in ((1, "char"), (2, "short"), (4, "int"), (8, "long long"))
}
INSTANCES = (
    *(f"encode<{given}, {t}>" for given in _GIVEN.values() for t in _ENCODED.values()),
    *(f"decode<{t}>" for t in _TYPES.values()),
    *(f"survey<{given}>" for given in (*_GIVEN.values(), "float", "double")),
)

_THREADS = 256


def _strides(matrix: Array) -> tuple[np.int64, np.int64]:
    down, across = (np.int64(stride // matrix.itemsize) for stride in matrix.strides)
    return down, across


def encode(values: Array, out: Array, dense: bool, infinity: float, most: int, fault: Array) -> None:
    """Write integer weights to `out`, and infinity where there is no edge.

    Both may be the same matrix; strides are arbitrary, but rows of `out` are contiguous. If `most` is not negative,
    fault[0] becomes 1 plus the place of the last weight that is not from -most to most.
    """
    rows, columns = out.shape
    dtype = np.dtype(out.dtype)
    kernel = cuda_function(SOURCE, f"encode<{_GIVEN[np.dtype(values.dtype)]}, {_ENCODED[dtype]}>")
    sizes = np.int32(rows), np.int64(columns)
    arguments = (values, *_strides(values), out, _strides(out)[0], *sizes, np.bool_(dense))
    kernel(_grid(rows, columns), (_THREADS,), (*arguments, dtype.type(infinity), np.int32(most), fault))


def survey(matrix: Array, diagonal: int, infinity: float, found: Array, sure: bool) -> None:
    rows, columns = matrix.shape
    if matrix.dtype == np.float16:
        matrix = matrix.astype(np.float32)
    dtype = np.dtype(matrix.dtype)
    kernel = cuda_function(SOURCE, f"survey<{_GIVEN.get(dtype) or _ENCODED[dtype]}>")
    sizes = map(np.int32, (rows, columns, diagonal))
    kernel(_grid(rows, columns), (_THREADS,), (matrix, *_strides(matrix), *sizes, dtype.type(infinity), found))


def decode(
    matrix: Array, labels: Array | None, lowest: int, highest: int, unreached: int, infinity: float, fault: Array
) -> None:
    """Replace distances of `unreached` or more by infinity; set fault[0] if another is out of bounds."""
    rows, columns = matrix.shape
    kernel = cuda_function(SOURCE, f"decode<{_TYPES[np.dtype(matrix.dtype)]}>")
    where = (np.uintp(0), np.int64(0)) if labels is None else (labels, _strides(labels)[0])
    bounds = map(np.int32, (lowest, highest, unreached, infinity))
    arguments = (matrix, _strides(matrix)[0], np.int32(rows), np.int32(columns), *where, *bounds, fault)
    kernel(_grid(rows, columns), (_THREADS,), arguments)


def _grid(rows: int, columns: int) -> tuple[int, int]:
    return -(-columns // _THREADS), min(rows, 65535)
