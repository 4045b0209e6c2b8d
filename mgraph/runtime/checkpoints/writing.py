"""A shard's part of a checkpoint: copied where the state lives, and written to files behind the computation.

The pieces are copied on their device, which takes as long as reading and writing them there once. Threads then carry
the copy to the host part by part, and write it. Where a copy does not fit, the call pauses until all is written.
"""

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ... import device as devices
from ... import limits
from ...errors import CheckpointError
from .pieces import Box, Lasting, Piece
from .store import Saved, Store, Stored

#: The most bytes of a file.
CHUNK = 1 << 26

#: The share of a device's free memory that a copy may take.
ROOM = 0.9

#: Threads that write: several reach a higher rate than one, as each computes a checksum and waits for the disk.
_WRITERS = ThreadPoolExecutor(min(8, limits.cores()), "mgraph-checkpoint")


@dataclass(frozen=True)
class Order:
    """What a shard is told to write.

    Attributes
    ----------
    place : str
        The folder.
    number : int
        The number of the checkpoint.
    known : frozenset
        The names and parts of files with final elements that have been written.
    """

    place: str
    number: int
    known: frozenset[tuple[str, Box]]


class Report(NamedTuple):
    """What a shard has written.

    Attributes
    ----------
    files : tuple of Stored
        The files; empty if writing failed.
    pause : float
        Seconds for which the computation stood still.
    error : str
        Why writing failed, in words; "" if it did not.
    """

    files: tuple[Stored, ...]
    pause: float
    error: str = ""


class Writer:
    """Writes a shard's pieces, from a copy if there is room for one; otherwise all is written when it is made."""

    def __init__(self, order: Order, pieces: Sequence[Piece], device: devices.Device) -> None:
        began = time.monotonic()
        self._order, self._store, self._device = order, Store(order.place), device
        self._ended = threading.Event()
        there = [piece for piece in pieces if piece.array.size]
        changing = sum(piece.array.nbytes for piece in there if not piece.final)
        copied = changing <= ROOM * device.available_memory()
        with device.active():
            if copied:
                there = [each if each.final else each._replace(array=each.array.copy()) for each in there]
            self._ready = device.current_stream().record()
        parts = [part for piece in there for part in _chunks(piece) if (part.name, part.box) not in order.known]
        self._parts = [_WRITERS.submit(self._write, part) for part in parts]
        if not copied:
            for part in self._parts:
                part.exception()
        self._pause = time.monotonic() - began

    @property
    def done(self) -> bool:
        """Whether all is written, or writing has failed."""
        return all(part.done() for part in self._parts)

    def report(self) -> Report:
        """Return what was written, once that is done."""
        failed = next((error for part in self._parts if (error := _error_of(part)) is not None), None)
        if failed is not None:
            return Report((), self._pause, str(failed) or type(failed).__name__)
        return Report(tuple(part.result() for part in self._parts), self._pause)

    def stop(self) -> None:
        """Write no more than what is being written."""
        self._ended.set()
        for part in self._parts:
            part.cancel()

    def wait(self) -> None:
        """Wait until nothing reads the pieces any more."""
        for part in self._parts:
            _error_of(part)

    def _write(self, part: Piece) -> Stored:
        if self._ended.is_set():
            raise OSError("the call has ended")
        array = part.array
        if not isinstance(array, np.ndarray):
            rows = array if array.ndim == 2 else array[None]
            array = np.empty(rows.shape, rows.dtype)
            devices.carry(self._device, self._ready, rows, array)
            array = array.reshape(part.array.shape)
        return self._store.write(self._order.number, part, array)


def _chunks(piece: Piece) -> list[Piece]:
    """Return a piece cut into parts of whole rows, each of at most `CHUNK` bytes where a row is not longer."""
    array = piece.array
    rows = max(1, CHUNK // max(1, array.nbytes // len(array)))
    return [
        piece._replace(array=array[first : first + rows], origin=(piece.origin[0] + first, *piece.origin[1:]))
        for first in range(0, len(array), rows)
    ]


def _error_of(part: "Future[Stored]") -> BaseException | None:
    """Wait for a part; return why it was not written."""
    return OSError("the call has ended") if part.cancelled() else part.exception()


def filled(program: Lasting, state: Any, shard: int, place: str, number: int) -> int | str:
    """Fill a shard's state from a checkpoint; return the number of the next superstep, or in words what was wrong."""
    store = Store(place)
    try:
        return program.resumed(state, shard, Saved(store, store.manifest(number)))
    except CheckpointError as error:
        return str(error)
