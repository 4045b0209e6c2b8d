"""Matrices in files, described so that another process can open them: `.npy`, HDF5 and Zarr.

A description is small and can be pickled. The process that opens it checks that it finds the same array.
"""

import importlib
import os
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np


class MatrixFile(Protocol):
    """An array in a file, or in a store of files."""

    @property
    def path(self) -> str:
        """Where it is."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape."""

    @property
    def dtype(self) -> np.dtype:
        """The type of its elements."""

    def opened(self) -> Any:
        """Return the array, whose slices are read when they are taken; raise any error if it cannot be opened."""


@dataclass(frozen=True)
class MappedFile:
    """An array in a file that is mapped into memory, from a byte on, with the strides of a ``numpy.memmap``."""

    path: str
    shape: tuple[int, ...]
    dtype: np.dtype
    strides: tuple[int, ...]
    offset: int

    def opened(self) -> Any:
        """Return the array."""
        content = np.memmap(self.path, np.uint8, "r")
        return np.ndarray(self.shape, self.dtype, content, self.offset, self.strides)


@dataclass(frozen=True)
class Hdf5File:
    """A dataset of an HDF5 file."""

    path: str
    shape: tuple[int, ...]
    dtype: np.dtype
    name: str

    def opened(self) -> Any:
        """Return the dataset."""
        return importlib.import_module("h5py").File(self.path, "r")[self.name]


@dataclass(frozen=True)
class ZarrStore:
    """An array of a Zarr store."""

    path: str
    shape: tuple[int, ...]
    dtype: np.dtype
    store: Any
    name: str

    def opened(self) -> Any:
        """Return the array; not by the array itself, which would read a store that is not there as zeros."""
        return importlib.import_module("zarr").open_array(self.store, path=self.name, mode="r")


def file_of(matrix: Any) -> MatrixFile | None:
    """Return the file of an array that is not in memory; None if another process could not open it."""
    package = type(matrix).__module__.partition(".")[0]
    if isinstance(matrix, np.memmap):
        return _mapped(matrix)
    if package == "h5py" and matrix.file.mode == "r" and matrix.file.driver != "core":
        return Hdf5File(os.path.abspath(matrix.file.filename), matrix.shape, matrix.dtype, matrix.name)
    if package == "zarr" and hasattr(matrix, "store") and "Memory" not in type(matrix.store).__name__:
        return ZarrStore(str(matrix.store), matrix.shape, np.dtype(matrix.dtype), matrix.store, matrix.path)
    return None


def _mapped(matrix: np.memmap) -> MappedFile | None:
    """Return the part of a file that a memory map is of; None if it is not a file any more."""
    path, pages = matrix.filename, matrix._mmap  # type: ignore[attr-defined]
    if path is None or pages is None or not os.path.isfile(path):
        return None
    if matrix.mode != "r":
        matrix.flush()  # for workers of other hosts
    began = matrix.offset - matrix.offset % importlib.import_module("mmap").ALLOCATIONGRANULARITY
    place = matrix.__array_interface__["data"][0] - np.frombuffer(pages, np.uint8).__array_interface__["data"][0]
    return MappedFile(os.path.abspath(path), matrix.shape, matrix.dtype, matrix.strides, began + place)
