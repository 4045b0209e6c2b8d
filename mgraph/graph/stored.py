"""Matrices stored in files or on clusters, whose rows are read when they are needed."""

from typing import Any

import numpy as np

from ..arrays import Array
from .checks import check_square


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
        down, across = self._rows[rows], self._columns[columns]
        own = slice(down.start, down.stop), slice(across.start, across.stop)
        return StoredMatrix(self._source, *own, self._missing)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        rows, columns = (slice(part.start, part.stop) for part in (self._rows, self._columns))
        part = self._source[rows, columns]
        if hasattr(part, "compute"):  # of Dask, whose own conversion to an array drops masks
            part = part.compute()
        return np.asarray(part.filled(self._missing) if isinstance(part, np.ma.MaskedArray) else part, dtype)


def in_memory(matrix: Array) -> Array:
    """Return `matrix`; a `StoredMatrix` is read."""
    return np.asarray(matrix) if isinstance(matrix, StoredMatrix) else matrix
