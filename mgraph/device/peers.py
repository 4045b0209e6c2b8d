"""Memory that the GPUs of a host share, one process a GPU; ``kernels/peers.cuh`` says how kernels use it."""

import contextlib
import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .base import Array
from .cuda import cupy

#: The most GPUs, as in ``kernels/peers.cuh``.
MOST_PEERS = 8

#: Words of 32 bits of the header of a shared space and of a list, as there.
HEADER_WORDS, _LIST_WORDS = 2 * (2 * MOST_PEERS + 1) * 16, 2 << 16

#: Bytes of a handle by which another process opens a space.
HANDLE_BYTES = 64

#: Nanoseconds that a kernel waits for another GPU, whatever the host says.
PATIENCE_NS = 5 * 10**9

#: The same for the first exchange of a launch: the other's host may be late, or compile a kernel first.
FIRST_PATIENCE_NS = 100 * 10**9

#: Exchanges that a space is good for: half of the numbers that they have, so that a launch does not use up the rest.
MOST_EXCHANGES = 1 << 31

#: Spaces are of this many bytes or a multiple. A handle opens the whole allocation, of which a smaller one is a part.
_UNIT = 2 << 20

#: Memory of another GPU is made accessible when it is first used.
_LAZY = 1


class Meeting(NamedTuple):
    """Where shards on GPUs of a host exchange data within a launch.

    Attributes
    ----------
    table : array of uint64
        Where the spaces are, as `PeerMemory` has it.
    bounds : array of int32, shape (shards + 1,)
        The first vertex of each shard, and the end of the last one.
    """

    table: Array
    bounds: Array


def shared_bytes(words: int, shards: int) -> int:
    """Return the bytes of a space with so many words of 32 bits beside its header and two lists from each shard."""
    return -(-4 * (HEADER_WORDS + 2 * shards * _LIST_WORDS + words) // _UNIT) * _UNIT


class PeerMemory:
    """A space of the current GPU that others open, and theirs.

    Raises an error of CUDA if there is not enough memory, or if the system has no handles of memory.

    Parameters
    ----------
    words : int
        Words of 32 bits of the space for data, beside its header and lists.
    shards : int
        How many shards share spaces.
    patience, first_patience : int
        Nanoseconds that a kernel waits for another GPU, and waits for it at first.

    Attributes
    ----------
    words : int
        As given.
    handle : bytes
        By which other processes of the host open the space.
    table : array of uint64, or None
        Where the spaces are, for kernels; None until `open` has succeeded.
    made : array of uint32, shape (1,)
        How many exchanges kernels have made, as of the last launch that has ended.
    """

    def __init__(
        self, words: int, shards: int, patience: int = PATIENCE_NS, first_patience: int = FIRST_PATIENCE_NS
    ) -> None:
        xp = cupy()
        self.words = words
        self.table: Array | None = None
        size = shared_bytes(words, shards)
        # An allocation of its own, not of a pool: who has the handle reaches all of it.
        try:
            self._memory = xp.cuda.Memory(size)
        except xp.cuda.runtime.CUDARuntimeError:  # the pool may keep what is free
            xp.get_default_memory_pool().free_all_blocks()
            self._memory = xp.cuda.Memory(size)
        xp.cuda.runtime.memset(self._memory.ptr, 0, size)
        self._pinned = xp.cuda.PinnedMemory(8)  # whether a call is to end, and the exchanges made
        self._host = np.frombuffer(xp.cuda.PinnedMemoryPointer(self._pinned, 0), np.uint32, 2)
        self._host[:] = 0
        self.made = self._host[1:]
        self._patience = patience, first_patience
        self._opened: list[int] = []
        self.handle: bytes = xp.cuda.runtime.ipcGetMemHandle(self._memory.ptr)
        self.close = weakref.finalize(self, _close, xp.cuda.Device().id, self._opened)
        self.close.atexit = False  # the driver ends all mappings

    def open(self, handles: Sequence[bytes], rank: int) -> bool:
        """Open the spaces of all shards, of which this process has number `rank`; return whether that succeeded."""
        xp, places = cupy(), []
        for shard, handle in enumerate(handles):
            if shard == rank:
                places.append(self.address)
                continue
            try:
                places.append(xp.cuda.runtime.ipcOpenMemHandle(handle, _LAZY))
            except xp.cuda.runtime.CUDARuntimeError:  # no link between the GPUs, or another container
                return False
            self._opened.append(places[-1])
        self.table = self.table_of(places, rank)
        return True

    @property
    def address(self) -> int:
        """Where the own space begins."""
        place: int = self._memory.ptr
        return place

    @property
    def used_up(self) -> bool:
        """Whether the numbers of exchanges come to their end, so that new spaces are needed; the same on all shards."""
        return bool(self.made[0] >= MOST_EXCHANGES)

    def table_of(self, places: Sequence[int], rank: int) -> Array:
        """Return the table of spaces at these places, the own one at `rank`."""
        entries = [rank, len(places), self._pinned.ptr, *self._patience, *places, *[0] * (MOST_PEERS - len(places))]
        return cupy().asarray(np.array(entries, np.uint64))

    def stop(self) -> None:
        """End all waits of kernels, now and later; may be called from any thread."""
        self._host[0] = 1


def _close(index: int, opened: list[int]) -> None:
    """Unmap the spaces of others."""
    xp: Any = cupy()
    with xp.cuda.Device(index):
        for place in opened:
            with contextlib.suppress(xp.cuda.runtime.CUDARuntimeError):  # of a process that is gone
                xp.cuda.runtime.ipcCloseMemHandle(place)
    opened.clear()
