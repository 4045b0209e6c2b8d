"""A shard's part of a checkpoint: copied where the state lives, and written to files behind the computation.

The pieces are copied on their device, which takes as long as reading and writing them there once. Threads then carry
the copy to the host part by part, and write it. Where a copy does not fit, the call pauses until all is written.
"""

import errno
import functools
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ... import device as devices
from ... import limits
from ...arrays import Array
from ...errors import CheckpointError
from .pieces import Box, Piece
from .resumable import Resumable
from .store import Saved, Store, Stored

#: The most bytes of a file.
CHUNK = 1 << 26

#: The share of a device's free memory that a copy may take.
ROOM = 0.9

#: Threads that write: several reach a higher rate than one, as each computes a checksum and waits for the disk.
THREADS = min(16, limits.cores())

#: Seconds between two looks whether a writer that the call waits for is done, or the call has ended.
LOOK = 0.02


@dataclass(frozen=True)
class Order:
    """What a shard is told to write.

    Attributes
    ----------
    place : str
        The folder.
    number : int
        The number of the checkpoint.
    run : str
        What distinguishes the run from others, in the names of its files: 8 hexadecimal digits.
    known : frozenset
        The names and parts of files with final elements that have been written.
    copied : tuple of bool
        Whether the plan has counted a copy of the pieces, by shard.
    span : int
        The most supersteps to run before; after these the state is settled, if it ever is.
    """

    place: str
    number: int
    run: str
    known: frozenset[tuple[str, Box]]
    copied: tuple[bool, ...]
    span: int


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
    full : bool
        Whether it failed as the disk is full.
    """

    files: tuple[Stored, ...]
    pause: float
    error: str = ""
    full: bool = False


class Writer:
    """Writes a shard's pieces.

    Parameters
    ----------
    order : Order
        What to write.
    pieces : sequence of Piece
        The pieces. Those that change are copied, if there is room.
    device : Device
        Where they are.
    shard : int
        The number of the shard.

    Attributes
    ----------
    pauses : bool
        Whether the pieces themselves are written, so that the call must `wait`.
    """

    def __init__(self, order: Order, pieces: Sequence[Piece], device: devices.Device, shard: int) -> None:
        began = time.monotonic()
        self._order, self._store, self._device = order, Store(order.place), device
        self._ended = threading.Event()
        there = [piece for piece in pieces if piece.array.size]
        changing = sum(piece.array.nbytes for piece in there if not piece.final)
        self.pauses = not order.copied[shard] or changing > ROOM * device.available_memory()
        with device.active():
            if not self.pauses:
                try:
                    there = [each if each.final else each._replace(array=each.array.copy()) for each in there]
                except MemoryError:  # others have taken what was free
                    self.pauses = True
            self._ready = device.current_stream().record()
        parts = [part for piece in there for part in _chunks(piece)]
        self._waiting = [part for part in parts if (part.name, part.box) not in order.known]
        self._parts: list[Future[Stored]] = []
        self._pause = time.monotonic() - began

    def start(self) -> None:
        """Begin to write."""
        threads = _threads(os.getpid())
        self._parts = [threads.submit(self._write, part) for part in self._waiting]
        self._waiting = []

    def wait(self, ended: Callable[[], bool] = lambda: False) -> None:
        """Wait until all is written, or the call has `ended`."""
        began = time.monotonic()
        while not (self.done or ended()):
            time.sleep(LOOK)
        self._pause += time.monotonic() - began

    @property
    def done(self) -> bool:
        """Whether all is written, or writing has failed."""
        return all(part.done() for part in self._parts)

    def report(self) -> Report:
        """Return what was written, once that is done."""
        failed = next((error for part in self._parts if (error := _error_of(part)) is not None), None)
        if failed is not None:
            return Report((), self._pause, str(failed) or type(failed).__name__, no_room(failed))
        return Report(tuple(part.result() for part in self._parts), self._pause)

    def stop(self) -> None:
        """Write no more than what is being written."""
        self._ended.set()
        for part in self._parts:
            part.cancel()

    def _write(self, part: Piece) -> Stored:
        if self._ended.is_set():
            raise OSError("the call has ended")
        return self._store.write(self._order.number, self._order.run, part, self._elements(part.array))

    def _elements(self, array: Array) -> Iterator[np.ndarray]:
        """Yield an array's elements on the host, in their order, each part until the next one is asked for."""
        if isinstance(array, np.ndarray):
            yield array
            return
        rows = array if array.ndim == 2 else array[None]
        yield from devices.staged_parts(self._device, self._ready, rows)


@functools.cache
def _threads(process: int) -> ThreadPoolExecutor:
    """Return the threads that write in a process: the same for all checkpoints, as each keeps a page-locked buffer.

    A process that was forked has none of its parent's.
    """
    return ThreadPoolExecutor(THREADS, "mgraph-writer")


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


def no_room(error: BaseException) -> bool:
    """Return whether an error says that a disk, or the caller's share of it, is full."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def filled(program: Resumable, state: Any, shard: int, place: str, number: int) -> int | str:
    """Fill a shard's state from a checkpoint; return the number of the next superstep, or in words what was wrong."""
    store = Store(place)
    try:
        return program.resumed(state, shard, Saved(store, store.manifest(number), program.allowed()))
    except CheckpointError as error:
        return str(error)
