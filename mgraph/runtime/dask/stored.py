"""Matrices that lie on the workers, or in files that they read: the workers check them, and each reads its own part.

The client has a `NearWorkers`, which looks like any `StoredMatrix`. The driver sends each worker a `Rectangle` of it in
place of the elements: of a file its description, of blocks on workers the tasks that return them. A block goes as it is
to a shard on its own worker, and in parts to others.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from distributed import Client, Future, get_worker

from ... import device as devices
from ...arrays import Array, chunk_rows
from ...errors import InputError
from ...graph import StoredMatrix, in_memory
from ...io.matrix_files import MatrixFile, file_of
from ...planning.cut import Range, even_ranges
from . import tasks
from .driver import Cluster
from .matrix import DistributedMatrix
from .watch import Watch, lost

T = TypeVar("T")


class Tile(NamedTuple):
    """A block of a matrix that Dask has: its rows, its columns, and the future of it."""

    rows: Range
    columns: Range
    future: Future


class NearWorkers(StoredMatrix):
    """A matrix that the workers of a cluster can read without the client.

    Parameters
    ----------
    source : array_like of two dimensions
        The matrix as the client reads it.
    cluster : Cluster
        The workers.
    tiles : sequence of Tile
        The blocks that Dask has of it, if any.
    file : MatrixFile, optional
        The file that all workers can open, if there are no blocks.
    """

    def __init__(self, source: Any, cluster: Cluster, tiles: Sequence[Tile], file: MatrixFile | None = None) -> None:
        super().__init__(source)
        self._client: Client = cluster.client
        self._addresses, self._timeout = cluster.addresses, cluster.timeout
        self._tiles, self._file = tuple(tiles), file

    def mapped(self, function: Callable[[Array, int, int], T]) -> list[T]:
        """Return what a function makes of blocks that cover the matrix; the workers call it."""
        asked = {}
        if self._file is not None:
            bands = even_ranges(len(self), len(self._addresses), 1)
            for address, band in zip(self._addresses, bands, strict=True):
                asked[address] = tasks.submit(
                    self._client, address, map_file, function, self._file, self._missing, band
                )
        else:
            there = defaultdict(list)
            for tile, address in zip(self._tiles, self._holders(self._tiles), strict=True):
                there[address].append(tile)
            for address, tiles in there.items():
                places = [(tile.rows, tile.columns) for tile in tiles]
                given = function, self.dtype, self._missing, places, *(tile.future for tile in tiles)
                asked[address] = tasks.submit(self._client, address, map_blocks, *given)
        watch = Watch(self._client, tuple(asked), self._timeout)
        return [each for found in tasks.results(watch, asked) for each in found]

    def sent_to(self, address: str) -> tuple["Rectangle", list[Future]]:
        """Return what a worker is sent in place of the elements, and the futures of the blocks that it needs."""
        rows, columns = ((own.start, own.stop) for own in (self._rows, self._columns))
        places, futures = [], []
        tiles = [tile for tile in self._tiles if _both(tile.rows, rows) and _both(tile.columns, columns)]
        for tile, holder in zip(tiles, self._holders(tiles), strict=True):
            if holder == address:
                places.append((tile.rows, tile.columns))
                futures.append(tile.future)
            else:
                down, across = _both(tile.rows, rows), _both(tile.columns, columns)
                assert down and across
                places.append((down, across))
                local = _within(down, tile.rows), _within(across, tile.columns)
                futures.append(tasks.submit(self._client, holder, part_of, tile.future, *local))
        return Rectangle(self.dtype, self._missing, rows, columns, self._file, tuple(places)), futures

    def _holders(self, tiles: Sequence[Tile]) -> list[str]:
        """Return for each block a worker that has it."""
        if not tiles:
            return []
        scheduler: Any = self._client.scheduler
        watch = Watch(self._client, timeout=self._timeout)
        found = watch.wait(scheduler.who_has(keys=[tile.future.key for tile in tiles]))
        holders = [min(found.get(tile.future.key, ()), default="") for tile in tiles]
        if not all(holders):
            raise lost(self._addresses, "a block of the matrix that it held is gone")
        return holders


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


def near_workers(matrix: Any, cluster: Cluster) -> NearWorkers | None:
    """Return a matrix as the workers of a cluster read it without the client; None if they cannot."""
    if isinstance(matrix, DistributedMatrix):
        futures = [future for _, future in matrix.blocks]
        places = [(rows, columns) for rows in matrix.ranges for columns in matrix.columns]
        tiles = [Tile(*place, each) for place, each in zip(places, futures, strict=True) if each is not None]
        return NearWorkers(matrix, cluster, tiles) if matrix.client is cluster.client else None
    if hasattr(matrix, "to_delayed") and getattr(matrix, "ndim", 0) == 2:
        return None if np.isnan(sum(matrix.shape)) else NearWorkers(matrix, cluster, _computed(matrix, cluster))
    file = file_of(matrix)
    return None if file is None else NearWorkers(matrix, cluster, (), file)


def _computed(array: Any, cluster: Cluster) -> list[Tile]:
    """Have the workers compute the blocks of a Dask array, each on the one whose share of the rows it is in."""
    tiles: list[Tile] = []
    shares: dict[str, list[Any]] = defaultdict(list)
    downs, acrosses = (
        [(end - length, end) for end, length in zip(np.cumsum(sizes).tolist(), sizes, strict=True)]
        for sizes in array.chunks
    )
    for rows, delayed in zip(downs, array.to_delayed(), strict=True):
        share = (rows[0] + rows[1]) * len(cluster.addresses) // (2 * max(array.shape[0], 1))
        address = cluster.addresses[min(share, len(cluster.addresses) - 1)]
        shares[address] += [(rows, *place) for place in zip(acrosses, delayed, strict=True) if rows[1] > rows[0]]
    for address, blocks in shares.items():
        futures = cluster.client.compute([block for _, _, block in blocks], workers=[address])
        tiles += [Tile(rows, columns, each) for (rows, columns, _), each in zip(blocks, futures, strict=True)]
    watch = Watch(cluster.client, cluster.addresses, cluster.timeout)
    tasks.settle(watch, {str(i): tile.future for i, tile in enumerate(tiles)})
    return tiles


def opened(file: MatrixFile) -> Any:
    """Return the array in a file, or raise InputError that names the worker and the file."""
    where = f"the worker {get_worker().address}"
    try:
        found = file.opened()
    except Exception as error:  # what h5py and Zarr raise, or the import of them
        raise InputError(
            f"{where} cannot read {file.path}: {error}. Put the file on storage that all workers share"
        ) from error
    if tuple(found.shape) != tuple(file.shape) or np.dtype(found.dtype) != file.dtype:
        raise InputError(
            f"{where} finds {found.dtype} of shape {found.shape} in {file.path}, and the client {file.dtype} of shape "
            f"{file.shape}: put the file on storage that all workers share"
        )
    return found


def checked(block: Any, place: tuple[Range, Range], dtype: np.dtype, missing: float | None) -> Array:
    """Return a block as an array without masked elements, or raise InputError if it is not what Dask said."""
    array = block.array if hasattr(block, "array") and not hasattr(block, "dtype") else block
    expected = tuple(last - first for first, last in place)
    if getattr(array, "shape", None) != expected or np.dtype(array.dtype) != dtype:
        raise InputError(
            f"the matrix's block from row {place[0][0]} and column {place[1][0]} on must be of {dtype} and shape "
            f"{expected}, as its Dask array says, got {getattr(array, 'dtype', type(array).__name__)} of shape "
            f"{getattr(array, 'shape', ())}"
        )
    return array.filled(missing) if isinstance(array, np.ma.MaskedArray) else array


@tasks.reported
def map_file(function: Callable[..., T], file: MatrixFile, missing: float | None, band: Range) -> list[T]:
    """Task: return what a function makes of blocks of some rows of a file."""
    matrix = StoredMatrix(opened(file), slice(*band), missing=missing)
    step = max(1, chunk_rows(matrix.shape[1]))
    starts = range(0, len(matrix), step)
    return [function(in_memory(matrix[start : start + step]), band[0] + start, 0) for start in starts]


@tasks.reported
def map_blocks(
    function: Callable[..., T], dtype: np.dtype, missing: float | None, places: Sequence[Any], *blocks: Any
) -> list[T]:
    """Task: return what a function makes of blocks that lie here, some rows at a time on a CPU."""
    found = []
    for block, place in zip(blocks, places, strict=True):
        array = checked(block, place, dtype, missing)
        device = devices.of(array)
        with device.active():
            step = max(1, chunk_rows(array.shape[1]) if device.kind == "cpu" else len(array))
            for start in range(0, len(array) if array.size else 0, step):
                found.append(function(array[start : start + step], place[0][0] + start, place[1][0]))
    return found


def part_of(block: Any, rows: slice, columns: slice) -> np.ndarray:
    """Task: return a part of a block, on the host."""
    array = block.array if hasattr(block, "array") and not hasattr(block, "dtype") else block
    with devices.of(array).active():
        return devices.to_host(array[rows, columns])


def _both(one: Range, other: Range) -> Range | None:
    """Return what two ranges share."""
    first, last = max(one[0], other[0]), min(one[1], other[1])
    return (first, last) if first < last else None


def _within(part: Range, whole: Range) -> slice:
    """Return a part of a range as a slice of it."""
    return slice(part[0] - whole[0], part[1] - whole[0])
