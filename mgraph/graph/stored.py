"""Matrices stored in files or on clusters, whose rows are read when they are needed."""

import copy
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ..arrays import Array, chunk_rows
from .checks import check_square

T = TypeVar("T")


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
        rows = max(1, chunk_rows(self.shape[1]))
        return [function(in_memory(self[first : first + rows]), first, 0) for first in range(0, len(self), rows)]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        rows, columns = (slice(part.start, part.stop) for part in (self._rows, self._columns))
        part = self._source[rows, columns]
        if hasattr(part, "compute"):  # of Dask, whose own conversion to an array drops masks
            part = part.compute()
        return np.asarray(part.filled(self._missing) if isinstance(part, np.ma.MaskedArray) else part, dtype)


def in_memory(matrix: Array) -> Array:
    """Return `matrix`; a `StoredMatrix` is read."""
    return np.asarray(matrix) if isinstance(matrix, StoredMatrix) else matrix
