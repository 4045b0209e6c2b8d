"""Matrices stored in files or on clusters, whose rows are read when they are needed."""

import copy
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

from ..arrays import Array, chunk_rows
from .checks import check_square

T = TypeVar("T")

#: Bytes that may be read at a time to read whole chunks, or this part of the matrix if that is more.
AT_A_TIME, PART = 1 << 26, 1 / 64


class StoredMatrix:
    """A matrix that is not in memory, or a rectangle of one: slicing does not read it, `in_memory` does.

    Parameters
    ----------
    source : array_like of two dimensions
        An array with a shape and a dtype whose slices are NumPy arrays: of Zarr or HDF5, or a DistributedMatrix.
    rows, columns : slice, optional
        The rectangle.
    missing : number, optional
        The value for masked entries, which the chunks of a Dask array may have.
    """

    def __init__(
        self, source: Any, rows: slice = slice(None), columns: slice = slice(None), missing: float | None = None
    ) -> None:
        check_square(source.shape)
        self._source = source
        self._rows = range(source.shape[0])[rows]
        self._columns = range(source.shape[1])[columns]
        self.shape = len(self._rows), len(self._columns)
        self.dtype = np.dtype(source.dtype)
        self._missing = missing

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: slice | tuple[slice, slice]) -> "StoredMatrix":
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        found = copy.copy(self)
        found._rows, found._columns = self._rows[rows], self._columns[columns]
        found.shape = len(found._rows), len(found._columns)
        return found

    @property
    def source(self) -> Any:
        """What the matrix is read from."""
        return self._source

    @property
    def missing(self) -> float | None:
        """The value for masked entries."""
        return self._missing

    def filled(self, missing: float | None) -> "StoredMatrix":
        """Return the same matrix with `missing` for masked entries."""
        found = copy.copy(self)
        found._missing = missing
        return found

    def mapped(self, function: Callable[[Array, int, int], T]) -> list[T]:
        """Return what a function makes of blocks that cover the rectangle, by rows.

        It is given a block in memory, and the number of the block's first row and of its first column.
        """
        return [function(in_memory(self[some]), some.start, 0) for some in self.bands()]

    def bands(self) -> Iterator[slice]:
        """Yield the rows to read at a time: whole chunks of the source if they are not too large."""
        rows, chunk = max(1, chunk_rows(self.shape[1])), _chunk_rows_of(self._source)
        if chunk <= rows:
            rows -= rows % chunk
        elif chunk * self.shape[1] * self.dtype.itemsize <= max(AT_A_TIME, PART * self.dtype.itemsize * len(self) ** 2):
            rows = chunk
        first, began = 0, self._rows.start
        while first < len(self):
            last = min(len(self), ((began + first) // rows + 1) * rows - began)
            yield slice(first, last)
            first = last

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        rows, columns = (slice(part.start, part.stop) for part in (self._rows, self._columns))
        part = self._source[rows, columns]
        if hasattr(part, "compute"):  # of Dask, whose own conversion to an array drops masks
            part = part.compute()
        return np.asarray(part.filled(self._missing) if isinstance(part, np.ma.MaskedArray) else part, dtype)


def in_memory(matrix: Array) -> Array:
    """Return `matrix`; a `StoredMatrix` is read."""
    return np.asarray(matrix) if isinstance(matrix, StoredMatrix) else matrix


def in_turn(matrix: Array) -> Iterator[tuple[slice, Array]]:
    """Yield which rows of a matrix come next, in any order, and these in memory until the next are taken."""
    read = getattr(matrix.source, "in_turn", None) if isinstance(matrix, StoredMatrix) else None
    if read is not None:
        yield from read(matrix._rows, matrix._columns)
        return
    for some in bands(matrix):
        yield some, in_memory(matrix[some])


def bands(matrix: Array) -> Iterator[slice]:
    """Yield the rows of a matrix to convert at a time, or to read if it is stored."""
    if isinstance(matrix, StoredMatrix):
        yield from matrix.bands()
        return
    rows = max(1, chunk_rows(matrix.shape[1]))
    yield from (slice(first, min(first + rows, len(matrix))) for first in range(0, len(matrix), rows))


def _chunk_rows_of(source: Any) -> int:
    """Return the rows of a chunk of Zarr, HDF5 or Dask; 1 where there are no chunks."""
    chunks = getattr(source, "chunks", None)
    length = chunks[0] if isinstance(chunks, tuple) and chunks else 1
    return max(1, int(max(length, default=1) if isinstance(length, tuple) else length))
