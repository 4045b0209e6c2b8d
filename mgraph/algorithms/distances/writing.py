"""Rows of distances into a file or an array, block by block: as many rows as one block has are in memory."""

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from ... import device as devices
from ... import lazy
from ...arrays import overlaps_itself
from ...dtypes import infinity
from ...errors import Argument, InputError
from ...io import TABLES, check_output, path_of, replacing_zarr, save, save_table, suffix_of

#: The suffixes of files that rows are written to: those that can be written some rows at a time, and read so.
SUFFIXES = (".npy", ".zarr", *TABLES)


class Rows:
    """A matrix whose blocks of rows come one after the other."""

    def __init__(self, shape: tuple[int, int], dtype: np.dtype, blocks: Iterator[Any]) -> None:
        self.shape, self.dtype = shape, dtype
        self._blocks = blocks

    def chunks(self) -> Iterator[np.ndarray]:
        """Yield the blocks."""
        for block in self._blocks:
            yield block.distances


def check_out(out: Any, shape: tuple[int, int], dtype: np.dtype, overwrite: bool) -> None:
    """Raise unless rows of a matrix can be written to `out`, a path or an array of this shape and type."""
    if not isinstance(out, str | os.PathLike):
        if isinstance(out, np.ma.MaskedArray):
            raise InputError(Argument("out"), " has a mask, which would hide distances: give an array without one")
        out = _plain(out)
        if getattr(out, "shape", None) != shape or not hasattr(out, "__setitem__"):
            raise InputError(argument="out", value=out, expected=f"a path, or an array of shape {shape}")
        if not getattr(getattr(out, "flags", None), "writeable", True) or getattr(out, "read_only", False):
            raise InputError(Argument("out"), " is read-only: give an array that can be written to")
        if isinstance(out, np.ndarray) and overlaps_itself(out):
            raise InputError(Argument("out"), " has elements that share memory: give each of them its own")
        theirs = _type_of(out, dtype)
        if theirs != dtype and theirs != np.float64:
            raise InputError(argument="out", value=theirs.name, expected=f"an array of {dtype.name} or float64")
        return
    if suffix_of(path_of(os.fspath(out))) not in SUFFIXES:
        raise InputError(argument="out", value=os.fspath(out), expected=f"a file with one of {', '.join(SUFFIXES)}")
    check_output(out, overwrite, SUFFIXES)


def written(out: Any, rows: Rows, frames: Iterator[Any], overwrite: bool) -> Any:
    """Write the distances, as `rows` or as `frames` of a table, to `out`; return an array, or the path of a table."""
    if not isinstance(out, str | os.PathLike):
        return _filled(out, rows)
    path = path_of(os.fspath(out))
    if path.suffix == ".npy":
        save(out, rows, overwrite)
        return np.load(path, mmap_mode="r")
    if path.suffix == ".zarr":
        zarr = lazy.optional("zarr", "writing Zarr")
        chunks = tuple(max(1, min(length, 1 << 10)) for length in rows.shape)
        with replacing_zarr(out, overwrite) as folder:
            _filled(zarr.create_array(folder, shape=rows.shape, dtype=rows.dtype, chunks=chunks), rows)
        return zarr.open_array(os.fspath(out), mode="r")
    save_table(path, frames, overwrite)
    return path


def _plain(array: Any) -> Any:
    """Return an array of NumPy as one of no subclass, whose shape and elements are what they seem; else `array`."""
    return np.ndarray.view(array, np.ndarray) if isinstance(array, np.ndarray) else array


def _type_of(array: Any, dtype: np.dtype) -> np.dtype:
    """Return the type of an array, in whichever byte order it is kept; `dtype` if it has none."""
    return np.dtype(getattr(array, "dtype", dtype)).newbyteorder("=")


def _filled(array: Any, rows: Rows) -> Any:
    """Return an array with the rows written to it; in one of floats, there is no path where it is infinite."""
    first, result, array = 0, array, _plain(array)
    floats = rows.dtype.kind == "i" and _type_of(array, rows.dtype) == np.float64
    for block in rows.chunks():
        values = np.where(block == infinity(rows.dtype), np.inf, block) if floats else block
        array[first : first + len(block)] = devices.of(array).asarray(values)
        first += len(block)
    return result
