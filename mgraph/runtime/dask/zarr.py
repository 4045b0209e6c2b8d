"""Matrices on workers as Zarr arrays: one worker makes the array, and each writes its block to it.

A chunk of the array is written by one worker, that of its first element; others send it what it lacks.
"""

import contextlib
import math
import os
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ... import device as devices
from ...arguments import checked_flag
from ...graph import in_memory
from ...io import absolute, parts
from ...planning.cut import Range, Ranges
from . import tasks
from .blocks import Held, Rectangle
from .trouble import Trouble, attempted, refuse
from .watch import Watch

#: The most bytes of a chunk, and of the chunks that are written at a time.
CHUNK, AT_A_TIME = 1 << 24, 1 << 26


def save_zarr(
    held: Held,
    shape: tuple[int, int],
    ranges: Ranges,
    columns: Ranges,
    dtype: np.dtype,
    path: str | os.PathLike[str],
    overwrite: bool,
) -> None:
    """Write a matrix whose blocks workers hold to a Zarr array, each worker its block as far as it has whole chunks."""
    where, token = absolute(path), uuid.uuid4().hex
    side = max(1, math.isqrt(CHUNK // dtype.itemsize))
    chunks = _chunk_length(ranges, side), _chunk_length(columns, side)
    downs, acrosses = (_whole_chunks(cuts, chunk) for cuts, chunk in zip((ranges, columns), chunks, strict=True))
    addresses = held.holders()
    given = where, checked_flag("overwrite", overwrite), shape, chunks, dtype, token
    if not addresses:  # the matrix has no elements
        folder = parts.begin_zarr(*given)
        if folder != where:
            parts.replace(where, folder, token)
        return
    begun = addresses[0]
    [folder] = refuse(_asked(held, {begun: (begin_store, *given)}), where)
    try:
        asked = {}
        for tile, address in zip(held.tiles, addresses, strict=True):
            rows, across = downs[ranges.index(tile.rows)], acrosses[columns.index(tile.columns)]
            if rows[1] > rows[0] and across[1] > across[0]:
                places, futures = held.needed(rows, across, address)
                rectangle = Rectangle(dtype, None, rows, across, None, places)
                asked[address] = (write_rectangle, folder, token, rectangle, chunks, *futures)
        refuse(_asked(held, asked), where)
        if folder != where:
            refuse(_asked(held, {begun: (replaced, where, folder, token)}), where)
    except BaseException:
        with contextlib.suppress(Exception):
            _asked(held, {begun: (discard_store, folder, token)})
        with contextlib.suppress(Exception):
            parts.discard_zarr(folder, token)
        raise


def _asked(held: Held, asked: Mapping[str, tuple[Any, ...]]) -> list[Any]:
    """Return what tasks on some workers return, each given with its arguments."""
    submitted = {address: tasks.submit(held.client, address, *task) for address, task in asked.items()}
    return tasks.results(Watch(held.client, tuple(asked), held.timeout), submitted)


def _chunk_length(ranges: Sequence[Range], most: int) -> int:
    """Return the length of chunks: a divisor of where the ranges begin if one is not much smaller than `most`."""
    common = math.gcd(*(first for first, _ in ranges)) or max(1, ranges[-1][1])
    pieces = max(1, -(-common // most))
    while common % pieces:
        pieces += 1
    length = common // pieces
    total = min(most, ranges[-1][1])
    return length if 8 * length >= total else total


def _whole_chunks(ranges: Sequence[Range], chunk: int) -> list[Range]:
    """Return for each range the chunks that begin in it, as a range."""
    total = ranges[-1][1]
    return [(min(total, -(-first // chunk) * chunk), min(total, -(-last // chunk) * chunk)) for first, last in ranges]


@tasks.reported
def begin_store(*arguments: Any) -> str | Trouble:
    """Task: make a Zarr array; return its path."""
    return attempted(parts.begin_zarr, *arguments)


@tasks.reported
def write_rectangle(
    path: str, token: str, rectangle: Rectangle, chunks: tuple[int, int], *blocks: Any
) -> Trouble | None:
    """Task: write a rectangle of a matrix, of whole chunks, to a Zarr array."""
    matrix = rectangle.joined(blocks)
    rows = chunks[0]
    columns = chunks[1] * max(1, AT_A_TIME // max(1, rows * chunks[1] * rectangle.dtype.itemsize))

    def pieces() -> Iterator[tuple[int, int, np.ndarray]]:
        for top in range(0, matrix.shape[0], rows):
            for left in range(0, matrix.shape[1], columns):
                block = devices.to_host(in_memory(matrix[top : top + rows, left : left + columns]))
                yield rectangle.rows[0] + top, rectangle.columns[0] + left, block

    with devices.of(matrix).active():
        return attempted(parts.write_zarr, path, token, pieces())


@tasks.reported
def replaced(path: str, folder: str, token: str) -> Trouble | None:
    """Task: put a Zarr array in the place of another one."""
    return attempted(parts.replace, path, folder, token)


@tasks.reported
def discard_store(path: str, token: str) -> Trouble | None:
    """Task: remove a Zarr array."""
    return attempted(parts.discard_zarr, path, token)
