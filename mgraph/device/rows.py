"""A matrix whose rows a device computes batch by batch; it may lie on another device or in a file."""

import itertools
from concurrent.futures import Future, wait
from typing import Any

import numpy as np

from ..arrays import in_file
from .base import Array, Device
from .copying import copies_to_host
from .lookup import of

#: Batches of rows copied from a device to the host at the same time.
SLOTS = 2


class RowStream:
    """A matrix whose rows a device computes batch by batch.

    If it is not where the device writes, each batch is written to one of two buffers on the device, and copied while
    the next batch is computed.

    Parameters
    ----------
    device : Device
        The device that computes.
    whole : array of two dimensions
        The matrix, on any device or in a file.
    batch : int
        The most rows of a batch.
    """

    def __init__(self, device: Device, whole: Array, batch: int) -> None:
        self.device, self.whole, self.home = device, whole, of(whole)
        self.stays = self.home.name == device.name
        if self.stays:
            return
        rows, n = whole.shape
        self.buffers = [device.xp.empty((min(batch, rows), n), whole.dtype) for _ in range(SLOTS)]
        self.carried: list[list[Future[None]]] = [[] for _ in range(SLOTS)]
        self.slot = 0

    def batch(self, first: int, last: int) -> Array:
        """Return the array on the device to write rows `first` to `last` to."""
        if self.stays:
            return self.whole[first:last]
        for carried in self.carried[self.slot]:
            carried.result()
        return self.buffers[self.slot][: last - first]

    def send(self, first: int, last: int) -> None:
        """Start copying the rows of the last `batch` to the matrix, after the work launched so far."""
        if self.stays:
            return
        rows = self.buffers[self.slot][: last - first]
        if self.device.kind == "cuda" and self.home.kind == "cpu":
            self.carried[self.slot] = copies_to_host(self.device, self.whole[first:last], rows)
        else:
            self.device.synchronize()  # the streams of two devices know nothing of each other
            with self.home.active():
                self.whole[first:last] = self.home.asarray(rows)
            self.home.synchronize()
        self.slot = (self.slot + 1) % SLOTS

    def abandon(self) -> None:
        """Wait until nothing is written to the matrix any more; used after an error."""
        if not self.stays:
            wait(itertools.chain(*self.carried))

    def complete(self) -> Array:
        """Return the matrix once all rows that were sent have arrived."""
        if not self.stays:
            for carried in itertools.chain(*self.carried):
                carried.result()
        return self.whole


def rows_at(home: str, device: Device, shape: tuple[int, int], dtype: Any) -> Array:
    """Return a new matrix on a device (``"cuda"``), on the host (``"cpu"``), or in a temporary file (``"file"``)."""
    if home == "file":
        return in_file(shape, dtype)
    return (device.xp if home == device.kind else np).empty(shape, dtype)
