"""Blocks of a matrix on workers, and the rectangles of it that workers are to have.

A worker is sent a `Rectangle` in place of elements: of a file its description, of blocks on workers their places beside
the tasks that return them. A block goes as it is to a shard on its own worker, and in parts to others.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from distributed import Client, Future, get_worker

from ... import device as devices
from ...arrays import Array
from ...errors import InputError, WorkerLostError
from ...graph import StoredMatrix
from ...io.matrix_files import MatrixFile
from ...planning.cut import Range
from . import tasks
from .watch import Watch


class OnDevice:
    """A GPU's array as a result of a Dask task: Dask keeps it in place and counts it as a small object."""

    def __init__(self, array: Any) -> None:
        self.array = array


def array_of(block: Any) -> Any:
    """Return the array of a block, on its worker.

    Raises
    ------
    WorkerLostError
        If Dask has made the block again on a worker that was restarted, where it could only fail.
    """
    if isinstance(block, tasks.Failure):
        raise without([get_worker().address])
    return block.array if isinstance(block, OnDevice) else block


class Tile(NamedTuple):
    """A block of a matrix that Dask has: its rows and columns, the future of it, and the worker that it was made on."""

    rows: Range
    columns: Range
    future: Future
    address: str


def without(workers: Sequence[str], why: str = "") -> WorkerLostError:
    """Return the error of a matrix whose blocks on some workers are gone, and `why`, if that is known."""
    words = f"the blocks of the matrix on the worker {', '.join(workers)} are gone with it{why and f' ({why})'}: "
    return WorkerLostError(words, "make the call again that has computed the matrix", workers=workers)


class Held:
    """The blocks of a matrix that a client's workers hold.

    Parameters
    ----------
    client : Client
        The client.
    timeout : float, optional
        Seconds that a worker may be silent.
    tiles : sequence of Tile
        The blocks.
    """

    def __init__(self, client: Client, timeout: float | None, tiles: Sequence[Tile]) -> None:
        self.client, self.timeout, self.tiles = client, timeout, tuple(tiles)

    def holders(self, tiles: Sequence[Tile] | None = None) -> list[str]:
        """Return for each block, or each of some, a worker that has it; Dask moves those of a retired one elsewhere."""
        tiles = self.tiles if tiles is None else tiles
        if not tiles:
            return []
        found = tasks.places(Watch(self.client, timeout=self.timeout), [tile.future for tile in tiles])
        there = [found.get(tile.future.key, ()) for tile in tiles]
        holders = [
            tile.address if tile.address in places else min(places, default="")
            for tile, places in zip(tiles, there, strict=True)
        ]
        gone = sorted({tile.address for tile, holder in zip(tiles, holders, strict=True) if not holder})
        if gone:
            raise without(gone)
        return holders

    def needed(self, rows: Range, columns: Range, address: str) -> tuple[tuple[tuple[Range, Range], ...], list[Future]]:
        """Return the places of the blocks that a worker needs for a rectangle, and the futures of these blocks."""
        places, futures = [], []
        tiles = [tile for tile in self.tiles if _both(tile.rows, rows) and _both(tile.columns, columns)]
        for tile, holder in zip(tiles, self.holders(tiles), strict=True):
            if holder == address:
                places.append((tile.rows, tile.columns))
                futures.append(tile.future)
            else:
                down, across = _both(tile.rows, rows), _both(tile.columns, columns)
                assert down and across
                places.append((down, across))
                local = _within(down, tile.rows), _within(across, tile.columns)
                futures.append(tasks.submit(self.client, holder, part_of, tile.future, *local))
        return tuple(places), futures


@dataclass(frozen=True)
class Rectangle:
    """A part of a matrix, as its worker is told of it: the places of the blocks that come beside it, or the file."""

    dtype: np.dtype
    missing: float | None
    rows: Range
    columns: Range
    file: MatrixFile | None
    places: tuple[tuple[Range, Range], ...]

    def joined(self, blocks: Sequence[Any]) -> Array | StoredMatrix:
        """Return the elements: a block that has exactly these, else a matrix whose rows are read when needed."""
        own = slice(*self.rows), slice(*self.columns)
        if self.file is not None:
            return StoredMatrix(opened(self.file), *own, self.missing)
        arrays = [checked(*given, self.dtype, self.missing) for given in zip(blocks, self.places, strict=True)]
        if self.places == ((self.rows, self.columns),):
            return arrays[0]
        n = max(self.rows[1], self.columns[1])
        return StoredMatrix(Blocks(n, self.dtype, self.places, arrays), *own)


class Blocks:
    """A matrix of which some blocks are at hand."""

    def __init__(self, n: int, dtype: np.dtype, places: Sequence[tuple[Range, Range]], arrays: Sequence[Array]) -> None:
        self.shape, self.dtype = (n, n), dtype
        self._places, self._arrays = places, arrays

    def __getitem__(self, key: tuple[slice, slice]) -> np.ndarray:
        rows, columns = ((own.start, own.stop) for own in key)
        found = np.empty((max(0, rows[1] - rows[0]), max(0, columns[1] - columns[0])), self.dtype)
        for (own_rows, own_columns), array in zip(self._places, self._arrays, strict=True):
            down, across = _both(own_rows, rows), _both(own_columns, columns)
            if down and across:
                part = array[_within(down, own_rows), _within(across, own_columns)]
                found[_within(down, rows), _within(across, columns)] = devices.to_host(part)
        return found


def tiles_of(
    blocks: Sequence[tuple[str, Future | None]], ranges: Sequence[Range], columns: Sequence[Range]
) -> list[Tile]:
    """Return the blocks of a grid that are not empty."""
    places = [(rows, across) for rows in ranges for across in columns]
    return [
        Tile(*place, block, address)
        for place, (address, block) in zip(places, blocks, strict=True)
        if block is not None
    ]


def opened(file: MatrixFile) -> Any:
    """Return the array in a file, or raise InputError that names the worker and the file."""
    where = f"the worker {get_worker().address}"
    try:
        found = file.opened()
    except Exception as error:  # what h5py and Zarr raise, or the import of them
        raise InputError(f"{where} cannot read {file.path} ({error})") from error
    if tuple(found.shape) != tuple(file.shape) or np.dtype(found.dtype) != file.dtype:
        raise InputError(
            f"{where} finds {found.dtype} of shape {found.shape} in {file.path}, and the client {file.dtype} of shape "
            f"{file.shape}"
        )
    return found


def checked(block: Any, place: tuple[Range, Range], dtype: np.dtype, missing: float | None) -> Array:
    """Return a block as an array without masked elements, or raise InputError if it is not what Dask said."""
    array = array_of(block)
    expected = tuple(last - first for first, last in place)
    if getattr(array, "shape", None) != expected or array.dtype.newbyteorder("=") != dtype.newbyteorder("="):
        raise InputError(
            f"the matrix's block from row {place[0][0]} and column {place[1][0]} on must be of {dtype} and shape "
            f"{expected}, as its Dask array says, got {getattr(array, 'dtype', type(array).__name__)} of shape "
            f"{getattr(array, 'shape', ())}"
        )
    return array.filled(missing) if isinstance(array, np.ma.MaskedArray) else array


def part_of(block: Any, rows: slice, columns: slice) -> np.ndarray:
    """Task: return a part of a block, on the host."""
    array = array_of(block)
    with devices.of(array).active():
        return devices.to_host(array[rows, columns])


def _both(one: Range, other: Range) -> Range | None:
    """Return what two ranges share."""
    first, last = max(one[0], other[0]), min(one[1], other[1])
    return (first, last) if first < last else None


def _within(part: Range, whole: Range) -> slice:
    """Return a part of a range as a slice of it."""
    return slice(part[0] - whole[0], part[1] - whole[0])
