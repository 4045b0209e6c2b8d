"""Matrices that lie on the workers, or in files that they read: the workers check them, and each reads its own part.

The client has a `NearWorkers`, which looks like any `StoredMatrix`. The driver sends each worker a `Rectangle` of it in
place of the elements.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from distributed import Future

from ... import device as devices
from ...arrays import Array, chunk_rows
from ...errors import InputError
from ...graph import StoredMatrix
from ...io.matrix_files import MatrixFile, file_of
from ...planning.cut import Range, even_ranges
from . import tasks
from .blocks import Held, Rectangle, Tile, checked, opened, tiles_of
from .matrix import DistributedMatrix
from .survey import Cluster
from .watch import Watch

_log = logging.getLogger(__name__)

T = TypeVar("T")


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
        self._addresses, self._file = cluster.addresses, file
        self._held = Held(cluster.client, cluster.timeout, tiles)

    def mapped(self, function: Callable[[Array, int, int], T]) -> list[T]:
        """Return what a function makes of blocks that cover the matrix; the workers call it."""
        asked, held = {}, self._held
        if self._file is not None:
            bands = even_ranges(len(self), len(self._addresses), 1)
            for address, band in zip(self._addresses, bands, strict=True):
                of_file = function, self._file, self._missing, band
                asked[address] = tasks.submit(held.client, address, map_file, *of_file)
        else:
            there = defaultdict(list)
            for tile, address in zip(held.tiles, held.holders(), strict=True):
                there[address].append(tile)
            for address, tiles in there.items():
                places = [(tile.rows, tile.columns) for tile in tiles]
                given = function, self.dtype, self._missing, places, *(tile.future for tile in tiles)
                asked[address] = tasks.submit(held.client, address, map_blocks, *given)
        watch = Watch(held.client, tuple(asked), held.timeout)
        return [each for found in tasks.results(watch, asked) for each in found]

    def sent_to(self, address: str) -> tuple[Rectangle, list[Future]]:
        """Return what a worker is sent in place of the elements, and the futures of the blocks that it needs."""
        rows, columns = ((own.start, own.stop) for own in (self._rows, self._columns))
        places, futures = self._held.needed(rows, columns, address)
        return Rectangle(self.dtype, self._missing, rows, columns, self._file, places), futures


def near_workers(matrix: Any, cluster: Cluster) -> NearWorkers | None:
    """Return a matrix as the workers of a cluster read it without the client; None if they cannot."""
    if isinstance(matrix, DistributedMatrix):
        tiles = tiles_of(matrix.blocks, matrix.ranges, matrix.columns)
        return NearWorkers(matrix, cluster, tiles) if matrix.client is cluster.client else None
    if hasattr(matrix, "to_delayed") and getattr(matrix, "ndim", 0) == 2:
        return None if np.isnan(sum(matrix.shape)) else NearWorkers(matrix, cluster, _computed(matrix, cluster))
    file = file_of(matrix)
    if file is None:
        return None
    asked = {address: tasks.submit(cluster.client, address, why_unread, file) for address in cluster.addresses}
    found = tasks.results(Watch(cluster.client, cluster.addresses, cluster.timeout), asked)
    if all(found):
        _log.info("no worker can read %s, so it is sent from here: %s", file.path, found[0])
        return None
    for why in filter(None, found):
        raise InputError(f"{why}: put it on storage that all workers share")
    return NearWorkers(matrix, cluster, (), file)


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
        futures = tasks.computed(cluster.client, [block for _, _, block in blocks], address)
        tiles += [Tile(rows, across, each, address) for (rows, across, _), each in zip(blocks, futures, strict=True)]
    watch = Watch(cluster.client, cluster.addresses, cluster.timeout)
    tasks.settle(watch, {str(i): tile.future for i, tile in enumerate(tiles)})
    return tiles


@tasks.reported
def why_unread(file: MatrixFile) -> str:
    """Task: return why this worker cannot read a file; nothing if it can."""
    try:
        opened(file)
    except InputError as error:
        return str(error)
    return ""


@tasks.reported
def map_file(function: Callable[..., T], file: MatrixFile, missing: float | None, band: Range) -> list[T]:
    """Task: return what a function makes of blocks of some rows of a file."""
    matrix = StoredMatrix(opened(file), slice(*band), missing=missing)
    return matrix.mapped(lambda block, top, left: function(block, band[0] + top, left))


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
