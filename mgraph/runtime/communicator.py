"""Collective operations among the shards of a program, within a span.

A program calls collectives on arrays of its device and never asks how many shards there are. With one
shard they are free. GPUs communicate through NCCL, on the stream of the kernels, so that nothing waits
for the host; those of one host may meet within a kernel, too (`meeting`). CPU workers communicate through Dask
(`mgraph.runtime.dask.comm`). All shards make the same calls in the same order.
"""

import logging
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from .. import device as devices
from ..arrays import Array
from ..errors import MgraphError
from ..planning.network import WITHIN_LAUNCH

_log = logging.getLogger(__name__)

#: The vertices of each shard, from the first one to the end.
Ranges = tuple[tuple[int, int], ...]

#: Says on which host a process runs, whatever its container.
_BOOT = Path("/proc/sys/kernel/random/boot_id")

#: Why GPUs share no memory: each says one of these, by its place, and of several the last one counts.
_WHY_APART = (
    "not all GPUs reach the memory of the others",
    "not all GPUs have memory to share",
    "NCCL_P2P_DISABLE is 1",
)
_NOT_REACHED, _NO_MEMORY, _DISABLED = range(3)

#: The status of CUDA's error cudaErrorMemoryAllocation.
_OUT_OF_MEMORY = 2


def sharing_host() -> str:
    """Return what names the host of the GPUs that this process's may share memory with; "" if there are none."""
    return "" if _is_disabled() or not _BOOT.exists() else _BOOT.read_text()[:36]


def _is_disabled() -> bool:
    return os.environ.get("NCCL_P2P_DISABLE") == "1"


class PeerMissingError(MgraphError, RuntimeError):
    """A GPU waited for another one in vain; where a worker was lost, its loss is the error that is raised."""


class Communicator(Protocol):
    """The collectives that a program may use. Invariant: the shards of a call make it in the same order.

    Attributes
    ----------
    rank, size : int
        This shard's number, and the number of shards.
    meeting_way : str
        How kernels exchange data and why, in words, once `meeting` was asked.
    """

    rank: int
    size: int
    meeting_way: str

    def horizon(self, limit: int) -> int:
        """Return how many of `limit` supersteps a shard may run before it must exchange data with the others."""

    def gather_shards(self) -> None:
        """Let work begin once all shards are there, if kernels would otherwise wait for those.

        Launches of two kernels that exchange data have this between them: kernels divide the memory that shards share
        differently, so all shards must have ended the last one. And the time of a solve would include how much later
        the last shard got its message.
        """

    def meeting(self, words: int, ranges: Ranges) -> devices.Meeting | None:
        """Return where the shards' kernels exchange data within a launch; None where shards meet only between launches.

        Parameters
        ----------
        words : int
            Words of 32 bits for data that each shard shares with the others; the same on all shards.
        ranges : tuple of (int, int)
            The vertices of each shard.
        """

    def broadcast(self, array: Array, root: int, among: Sequence[int]) -> None:
        """Copy `array` from shard `root` to the shards `among`, which include it.

        The arrays are contiguous and of equal shape; only the shards `among` make the call.
        """

    def allgather(self, whole: Array, parts: tuple[tuple[int, int], ...]) -> None:
        """Complete `whole`, of which shard ``r`` holds ``whole[slice(*parts[r])]``, on every shard."""

    def allreduce(self, array: Array, op: str) -> None:
        """Replace `array` by its elementwise ``"sum"``, ``"min"`` or ``"max"`` over all shards."""

    def reduce_scatter(self, whole: Array, parts: tuple[tuple[int, int], ...], op: str) -> None:
        """Reduce ``whole[slice(*parts[r])]`` as `allreduce` does, on shard ``r`` only.

        The parts are in order and do not overlap. The rest of `whole` stays as it was.
        """

    def shift(self, array: Array, into: Array, by: int) -> None:
        """Send `array` to the shard `by` places on, and receive `into` from the one as many before; in a ring.

        The arrays are contiguous, of equal shape and type on every shard; `by` is no multiple of the number of shards.
        """

    def exchange(self, arrays: Sequence[Array], counts: np.ndarray) -> list[Array]:
        """Send every shard its part of some arrays; return the parts that were sent here, in the order of the shards.

        The arrays are of one length and grouped by receiver: ``counts[r]`` elements of each are for shard ``r``. All
        shards give as many arrays, of the same types.
        """

    def abort(self) -> None:
        """End every pending and future call with an error; may be called from any thread."""


class Solo:
    """The communicator of one shard."""

    rank = 0
    size = 1
    meeting_way = ""

    def gather_shards(self) -> None:
        """Do nothing: there are no other shards."""

    #: Returns the limit that is given: there is no other shard.
    horizon = staticmethod(int)

    def meeting(self, words: int, ranges: Ranges) -> None:
        """Return None: there is no other shard."""

    def broadcast(self, array: Array, root: int, among: Sequence[int]) -> None:
        """Do nothing: the only shard has it."""

    def allgather(self, whole: Array, parts: tuple[tuple[int, int], ...]) -> None:
        """Do nothing: the only part is the whole."""

    def allreduce(self, array: Array, op: str) -> None:
        """Do nothing: there is one operand."""

    def reduce_scatter(self, whole: Array, parts: tuple[tuple[int, int], ...], op: str) -> None:
        """Do nothing: there is one operand."""

    def shift(self, array: Array, into: Array, by: int) -> None:
        """Do nothing: there is no other shard."""

    def exchange(self, arrays: Sequence[Array], counts: np.ndarray) -> list[Array]:
        """Return the arrays: all of them are for the only shard."""
        return list(arrays)

    def abort(self) -> None:
        """Do nothing: no call ever waits."""


def exchanged(lengths: np.ndarray, rank: int) -> tuple[list[int], list[int]]:
    """Return where the parts of an exchange begin in what a shard sends, and in what it receives, and the ends.

    ``lengths[s * size + r]`` elements go from shard ``s`` to shard ``r``.
    """
    matrix = lengths.reshape(-1, int(len(lengths) ** 0.5))
    return ([0, *matrix[rank].cumsum().tolist()], [0, *matrix[:, rank].cumsum().tolist()])


class Nccl:
    """GPUs of one or more hosts, one a process, through NCCL.

    Parameters
    ----------
    identity : bytes
        The result of `unique_id` on one of the shards.
    rank, size : int
        This shard's number, and the number of shards.
    """

    def __init__(self, identity: bytes, rank: int, size: int) -> None:
        self.rank = rank
        self.size = size
        self._nccl = devices.nccl()
        self._comm = self._nccl.NcclCommunicator(size, identity, rank)
        self.aborted = False
        self._peers: devices.PeerMemory | None = None
        self._bounds: tuple[Ranges, Array] | None = None
        self._refused: float = math.inf if size <= devices.MOST_PEERS else 0  # words that were too many to share
        self._way_apart = self.meeting_way = ""

    @staticmethod
    def unique_id() -> bytes:
        """Return the identity of a new group of communicators."""
        return devices.nccl().get_unique_id()

    def gather_shards(self) -> None:
        """Let what is launched from now on begin some tens of microseconds after the last shard has come here.

        A kernel that is still being compiled would keep the other GPUs waiting within theirs.
        """
        devices.wait_for_compilers()
        self.allreduce(devices.find("cuda").xp.zeros(1, np.int32), "sum")

    def horizon(self, limit: int) -> int:
        """Return 1: results of other shards must arrive before the next superstep."""
        return 1

    def meeting(self, words: int, ranges: Ranges) -> devices.Meeting | None:
        """Return memory that the GPUs share, if all are of one host and reach each other's memory."""
        self.meeting_way = self._way_apart
        if words >= self._refused:
            return None
        if self._peers is None or self._peers.words < words or self._peers.used_up:
            self._peers = self._opened(max(words, self._peers.words if self._peers else 0))
            if self._peers is not None and self.aborted:  # before there was anything to stop
                self._peers.stop()
        if self._peers is None or self._peers.table is None:
            self.meeting_way = self._way_apart
            return None
        self.meeting_way = f"{WITHIN_LAUNCH}, by {self.shared:,} bytes that each of the {self.size} GPUs shares"
        if self._bounds is None or self._bounds[0] != ranges:
            bounds = np.array([*(first for first, _ in ranges), ranges[-1][1]], np.int32)
            self._bounds = ranges, devices.find("cuda").asarray(bounds)
        return devices.Meeting(self._peers.table, self._bounds[1])

    @property
    def shared(self) -> int:
        """The bytes that this GPU shares with the others."""
        return 0 if self._peers is None else devices.shared_bytes(self._peers.words, self.size)

    @property
    def is_apart(self) -> bool:
        """Whether the GPUs have found that they cannot share memory, however little."""
        return self._refused == 0 and self.size <= devices.MOST_PEERS

    def _opened(self, words: int) -> devices.PeerMemory | None:
        """Open memory that all GPUs share, in place of what they shared before; return None if one cannot.

        If one lacks memory, all remember that so many words are too many: a call does not ask for them again midway.
        """
        if self._peers is not None:
            self._peers.close()
            self._wait_for_all()  # nobody frees what another has opened
            self._peers = None
        xp, own, handle, why = devices.find("cuda").xp, None, bytes(devices.HANDLE_BYTES), _NOT_REACHED
        if _is_disabled():  # perhaps in this process only, so all have to agree
            why = _DISABLED
        else:
            try:
                own = devices.PeerMemory(words, self.size)
                handle = own.handle
            except xp.cuda.runtime.CUDARuntimeError as error:
                _log.info("no memory to share with other GPUs: %s", error)
                why = _NO_MEMORY if error.status == _OUT_OF_MEMORY else _NOT_REACHED
        host = sharing_host().encode().ljust(36, b"\0")
        card = np.frombuffer(handle + host + bytes([why, 0, 0, 0]), np.uint32)
        whole = xp.zeros((self.size, len(card)), np.uint32)
        whole[self.rank] = xp.asarray(card)
        flat = whole.reshape(-1)
        self.allgather(flat, tuple((r * len(card), (r + 1) * len(card)) for r in range(self.size)))
        cards = [each.tobytes() for each in devices.to_host(whole)]
        handles = [each[: devices.HANDLE_BYTES] for each in cards]
        hosts = {each[devices.HANDLE_BYTES : -4] for each in cards}
        together = all(map(any, handles)) and hosts == {host} and any(host)
        if self._agree(own is not None and together and own.open(handles, self.rank)):
            return own
        why = max(each[-4] for each in cards)
        self._refused = words if why == _NO_MEMORY else 0
        self._way_apart = f"by NCCL, as {_WHY_APART[why]}"
        if own is not None:
            own.close()
        self._wait_for_all()  # nobody frees what another has opened
        return None

    def _wait_for_all(self) -> None:
        """Wait until all shards have come here."""
        self._agree(True)

    def _agree(self, yes: bool) -> bool:
        """Return whether all shards say yes."""
        xp = devices.find("cuda").xp
        said = xp.full(1, int(yes), np.int32)
        self.allreduce(said, "min")
        return bool(devices.to_host(said)[0])

    def broadcast(self, array: Array, root: int, among: Sequence[int]) -> None:
        """Copy `array` from shard `root` to the shards `among`, in stream order.

        A subset of the shards is sent a message each: rows and columns of a grid are short, and a communicator for
        each of them would have to be started, kept and aborted.
        """
        pointer, count, kind = array.data.ptr, array.nbytes, self._nccl.NCCL_INT8
        stream = devices.current_stream()
        if len(among) == 1:
            return
        if len(among) == self.size:
            self._comm.broadcast(pointer, pointer, count, kind, root, stream)
        elif self.rank != root:
            self._comm.recv(pointer, count, kind, root, stream)
        else:
            self._nccl.groupStart()
            for other in among:
                if other != root:
                    self._comm.send(pointer, count, kind, other, stream)
            self._nccl.groupEnd()

    def allgather(self, whole: Array, parts: tuple[tuple[int, int], ...]) -> None:
        """Complete `whole` on every shard, in stream order; parts may differ in length or be empty."""
        stream = devices.current_stream()
        self._nccl.groupStart()
        for root, (first, last) in enumerate(parts):
            if last > first:
                pointer, count, kind = self._describe(whole[first:last])
                self._comm.broadcast(pointer, pointer, count, kind, root, stream)
        self._nccl.groupEnd()

    def allreduce(self, array: Array, op: str) -> None:
        """Reduce `array` in place, in stream order."""
        pointer, count, kind = self._describe(array)
        self._comm.allReduce(pointer, pointer, count, kind, self._operation(op), devices.current_stream())

    def reduce_scatter(self, whole: Array, parts: tuple[tuple[int, int], ...], op: str) -> None:
        """Reduce each part in place on its shard, in stream order; parts may differ in length or be empty."""
        code, stream = self._operation(op), devices.current_stream()
        lengths = [last - first for first, last in parts]
        if len(set(lengths)) == 1 and sum(lengths) == len(whole):
            pointer, count, kind = self._describe(whole[slice(*parts[self.rank])])
            if count:
                self._comm.reduceScatter(whole.data.ptr, pointer, count, kind, code, stream)
            return
        self._nccl.groupStart()
        for root, (first, last) in enumerate(parts):
            if last > first:
                pointer, count, kind = self._describe(whole[first:last])
                self._comm.reduce(pointer, pointer, count, kind, code, root, stream)
        self._nccl.groupEnd()

    def shift(self, array: Array, into: Array, by: int) -> None:
        """Send and receive at the same time, in stream order."""
        stream, kind = devices.current_stream(), self._nccl.NCCL_INT8
        if not array.size:
            return
        self._nccl.groupStart()
        self._comm.send(array.data.ptr, array.nbytes, kind, (self.rank + by) % self.size, stream)
        self._comm.recv(into.data.ptr, into.nbytes, kind, (self.rank - by) % self.size, stream)
        self._nccl.groupEnd()

    def exchange(self, arrays: Sequence[Array], counts: np.ndarray) -> list[Array]:
        """Exchange parts of arrays in stream order, once the host knows how long they are."""
        xp, own = devices.of(arrays[0]).xp, slice(self.rank * self.size, (self.rank + 1) * self.size)
        lengths = xp.zeros(self.size**2, np.int64)
        lengths[own] = xp.asarray(counts, np.int64)
        self.allgather(lengths, tuple((first, first + self.size) for first in range(0, self.size**2, self.size)))
        sent, taken = exchanged(devices.to_host(lengths), self.rank)
        received = [xp.empty(taken[-1], array.dtype) for array in arrays]
        stream, kind = devices.current_stream(), self._nccl.NCCL_INT8
        for array, into in zip(arrays, received, strict=True):
            self._nccl.groupStart()
            for other in range(self.size):
                outgoing, incoming = array[sent[other] : sent[other + 1]], into[taken[other] : taken[other + 1]]
                if other == self.rank:
                    incoming[...] = outgoing
                    continue
                if outgoing.size:
                    self._comm.send(outgoing.data.ptr, outgoing.nbytes, kind, other, stream)
                if incoming.size:
                    self._comm.recv(incoming.data.ptr, incoming.nbytes, kind, other, stream)
            self._nccl.groupEnd()
        return received

    def _operation(self, op: str) -> int:
        return int(getattr(self._nccl, f"NCCL_{op.upper()}"))

    def _describe(self, array: Array) -> tuple[int, int, int]:
        kinds = {
            np.dtype(np.float32): self._nccl.NCCL_FLOAT32,
            np.dtype(np.float64): self._nccl.NCCL_FLOAT64,
            np.dtype(np.int32): self._nccl.NCCL_INT32,
            np.dtype(np.int64): self._nccl.NCCL_INT64,
            np.dtype(np.uint32): self._nccl.NCCL_UINT32,
            np.dtype(np.uint64): self._nccl.NCCL_UINT64,
        }
        return array.data.ptr, array.size, kinds[np.dtype(array.dtype)]

    def abort(self) -> None:
        """Abort the communicator: kernels waiting for a lost peer end at once.

        The memory that this GPU shares is freed with it, though another may have it open until it aborts, too.
        """
        if not self.aborted:
            self.aborted = True
            peers = self._peers  # the call's thread may replace it meanwhile
            try:
                if peers is not None:
                    peers.stop()
            finally:
                self._comm.abort()
