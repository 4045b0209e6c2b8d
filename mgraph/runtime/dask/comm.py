"""Collectives of CPU workers within a span, by Dask's own messages, as its shuffle uses them.

A message goes from the thread of one shard's task over its worker's event loop to the other worker's, and
into the session's mailbox there, where the other task waits for it. The messages from one
shard to another are numbered, so that no call takes another's. Invariants:

- When a collective returns, its array may be changed: a short message was copied; a long one travels
  without a copy, and its sender waits until every receiver has copied it out, which also keeps a fast
  shard from filling the memory of a slow one.
- A waiting shard is woken by `Mailbox.abort`; there is no polling.
"""

import asyncio
import contextlib
import itertools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from typing import Any, NamedTuple

import numpy as np
from distributed.protocol import to_serialize
from distributed.worker import Worker

from ...errors import MgraphError
from ...planning import rates
from ..communicator import exchanged
from .loops import begun

#: Bytes up to which a message is copied and sent without waiting for an answer.
SHORT = rates.SHORT["cpu"]

#: Bytes of an array that are reduced at a time, so that the operands take little memory.
PIECE = 1 << 24

#: The operation by which workers send each other messages; `mgraph.runtime.dask.worker` handles it.
OPERATION = "mgraph_receive"

_REDUCTIONS = {"sum": np.add, "min": np.minimum, "max": np.maximum}


class Aborted(MgraphError, RuntimeError):
    """A shard stopped because another one did; never the cause of a failure."""


class Unreachable(Aborted):
    """A shard stopped because it could not send to another worker."""


class Wait(NamedTuple):
    """What a shard waits for: a message from another shard, by its number and bytes, or others to take its messages."""

    doing: str
    peers: tuple[int, ...]
    message: int
    bytes: int
    since: float


class Mailbox:
    """The messages that have arrived for a shard and have not been taken yet."""

    def __init__(self) -> None:
        self.aborted = False
        self._arrived = threading.Condition()
        self._messages: dict[tuple[int, int], tuple[Any, Callable[[], None]]] = {}

    async def deliver(self, source: int, number: int, payload: Any) -> None:
        """Deliver a message; for a long one, return only when it has been copied out."""
        loop, taken = asyncio.get_running_loop(), asyncio.Event()
        with self._arrived:
            if self.aborted:
                return
            self._messages[source, number] = payload, lambda: _call_soon(loop, taken.set)
            self._arrived.notify_all()
        if not isinstance(payload, bytes):
            await taken.wait()

    def take(self, source: int, number: int, into: np.ndarray) -> None:
        """Wait for message `number` of shard `source` and copy it out.

        Raises
        ------
        Aborted
            If `abort` was called.
        """
        with self._arrived:
            self._arrived.wait_for(lambda: self.aborted or (source, number) in self._messages)
            if self.aborted:
                raise Aborted("the exchange between the workers was aborted")
            payload, release = self._messages.pop((source, number))
        if isinstance(payload, bytes):
            payload = np.frombuffer(payload, into.dtype).reshape(into.shape)
        np.copyto(into, payload)
        release()

    def until(self, ended: "Future[Any]") -> None:
        """Wait until a future has ended.

        Raises
        ------
        Aborted
            If `abort` was called.
        """
        ended.add_done_callback(lambda _: self._wake())
        with self._arrived:
            self._arrived.wait_for(lambda: self.aborted or ended.done())
            if self.aborted:
                raise Aborted("the exchange between the workers was aborted")

    def _wake(self) -> None:
        with self._arrived:
            self._arrived.notify_all()

    def abort(self) -> None:
        """Wake all waiting receivers here and all senders to here, and take no more messages."""
        with self._arrived:
            self.aborted = True
            for _, release in self._messages.values():
                release()
            self._messages.clear()
            self._arrived.notify_all()


def _call_soon(loop: asyncio.AbstractEventLoop, function: Callable[[], object]) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(function)


class DaskComm:
    """The shards of a session on Dask workers without GPUs.

    Parameters
    ----------
    worker : Worker
        The worker that this shard is on.
    session : str
        The session that the messages are for.
    addresses : sequence of str
        Each shard's worker.
    rank : int
        This shard's number.
    mailbox : Mailbox
        Where the worker puts the messages for this shard.

    Attributes
    ----------
    waiting : Wait or None
        What the shard waits for; other threads may read it.
    sent : list of int
        Number of messages sent to each shard.
    """

    def __init__(self, worker: Worker, session: str, addresses: Sequence[str], rank: int, mailbox: Mailbox) -> None:
        self.rank = rank
        self.size = len(addresses)
        self.meeting_way = ""
        self._worker = worker
        self._loop: asyncio.AbstractEventLoop = worker.loop.asyncio_loop  # type: ignore[attr-defined]
        self._session = session
        self._addresses = addresses
        self._everyone = range(self.size)
        self._mailbox = mailbox
        self.waiting: Wait | None = None
        self.sent = [0] * self.size
        self._taken = [0] * self.size
        self._sending: Future[None] | None = None

    @property
    def address(self) -> str:
        """The address of this shard's worker."""
        return self._addresses[self.rank]

    def gather_shards(self) -> None:
        """Do nothing: a message here and back takes longer than messages to the shards are apart."""

    def horizon(self, limit: int) -> int:
        """Return 1: results of other shards must arrive before the next superstep."""
        return 1

    def meeting(self, words: int, ranges: tuple[tuple[int, int], ...]) -> None:
        """Return None: workers without GPUs share no memory."""

    def broadcast(self, array: np.ndarray, root: int, among: Sequence[int]) -> None:
        """Copy `array` from shard `root` to the shards `among`."""
        if array.size and len(among) > 1:
            self._exchange(array if self.rank == root else None, {root: array}, among)

    def allgather(self, whole: np.ndarray, parts: tuple[tuple[int, int], ...]) -> None:
        """Complete `whole` on every shard; parts may differ in length or be empty."""
        pieces = {source: whole[first:last] for source, (first, last) in enumerate(parts)}
        pieces = {source: piece for source, piece in pieces.items() if piece.size}
        self._exchange(pieces.get(self.rank), pieces, self._everyone)

    def allreduce(self, array: np.ndarray, op: str) -> None:
        """Reduce `array` in place; each element in one order, so that all get the same bits."""
        if not array.size:
            return
        if array.nbytes > PIECE:
            self._allreduce_long(array.reshape(-1), op)
            return
        operands = {source: np.empty_like(array) for source in range(self.size)}
        operands[self.rank][...] = array
        self._exchange(operands[self.rank], operands, self._everyone)
        array[...] = operands[0]
        for source in range(1, self.size):
            _REDUCTIONS[op](array, operands[source], out=array)

    def _allreduce_long(self, array: np.ndarray, op: str) -> None:
        """Reduce a long array a piece at a time: each shard reduces a part of it, and sends it to all."""
        length = PIECE // array.itemsize
        for start in range(0, len(array), length):
            piece = array[start : start + length]
            ends = [len(piece) * shard // self.size for shard in range(self.size + 1)]
            parts = tuple(itertools.pairwise(ends))
            self.reduce_scatter(piece, parts, op)
            self.allgather(piece, parts)

    def reduce_scatter(self, whole: np.ndarray, parts: tuple[tuple[int, int], ...], op: str) -> None:
        """Reduce each part in place on its shard; parts may differ in length or be empty.

        The operands are received one after the other, into one buffer.
        """
        pieces = {shard: whole[first:last] for shard, (first, last) in enumerate(parts) if last > first}
        own = pieces.pop(self.rank, whole[:0])
        with self._sending_out(pieces):
            if own.size:
                received = np.empty_like(own)
                for source in self._everyone:
                    if source != self.rank:
                        self._take(source, received)
                        _REDUCTIONS[op](own, received, out=own)

    def shift(self, array: np.ndarray, into: np.ndarray, by: int) -> None:
        """Send to one shard while receiving from another."""
        if array.size:
            with self._sending_out({(self.rank + by) % self.size: array}):
                self._take((self.rank - by) % self.size, into)

    def exchange(self, arrays: Sequence[np.ndarray], counts: np.ndarray) -> list[np.ndarray]:
        """Exchange parts of arrays, one array after the other, once all know how long the parts are."""
        lengths = np.zeros((self.size, self.size), np.int64)
        lengths[self.rank] = counts
        self.allgather(lengths, tuple((shard, shard + 1) for shard in self._everyone))
        sent, taken = exchanged(lengths.ravel(), self.rank)
        received = [np.empty(taken[-1], array.dtype) for array in arrays]
        for array, into in zip(arrays, received, strict=True):
            outgoing = {other: array[sent[other] : sent[other + 1]] for other in self._everyone}
            incoming = {other: into[taken[other] : taken[other + 1]] for other in self._everyone}
            incoming.pop(self.rank)[...] = outgoing.pop(self.rank)
            with self._sending_out({other: part for other, part in outgoing.items() if part.size}):
                for source, part in incoming.items():
                    if part.size:
                        self._take(source, part)
        return received

    def abort(self) -> None:
        """End every pending and future call with `Aborted`."""
        self._mailbox.abort()
        if self._sending is not None:
            self._sending.cancel()

    def _exchange(self, own: np.ndarray | None, arrays: dict[int, np.ndarray], among: Sequence[int]) -> None:
        """Send `own` to the others `among` while receiving their arrays; all shards do so at the same time."""
        outgoing = {} if own is None else {other: own for other in among if other != self.rank}
        with self._sending_out(outgoing):
            for source, array in arrays.items():
                if source != self.rank:
                    self._take(source, array)

    def _take(self, source: int, array: np.ndarray) -> None:
        self._taken[source] += 1
        number = self._taken[source]
        self.waiting = Wait("receiving", (source,), number, array.nbytes, time.monotonic())
        self._mailbox.take(source, number, array)
        self.waiting = None

    @contextlib.contextmanager
    def _sending_out(self, arrays: dict[int, np.ndarray]) -> Iterator[None]:
        """Send other shards an array each while the block receives; leave when all have been taken."""
        sending = self._send(arrays) if arrays else None
        yield
        if sending is not None:
            largest = max(array.nbytes for array in arrays.values())
            self.waiting = Wait("sending", tuple(arrays), 0, largest, time.monotonic())
            try:
                sending.result()
                self.waiting = None
            except CancelledError:
                raise Aborted("the exchange between the workers was aborted") from None

    def _send(self, arrays: dict[int, np.ndarray]) -> "Future[None]":
        for receiver in arrays:
            self.sent[receiver] += 1
        messages = [self._message(receiver, array) for receiver, array in arrays.items()]
        sending = begun(self._loop, self._post, messages)
        self._sending = sending
        if self._mailbox.aborted:
            sending.cancel()
        return sending

    def _message(self, receiver: int, array: np.ndarray) -> tuple[int, dict[str, Any]]:
        """Return the next message to a shard. The answer to a long one confirms that it has been copied out."""
        short = array.nbytes <= SHORT
        payload = array.tobytes() if short else to_serialize(np.ascontiguousarray(array))
        return receiver, {"number": self.sent[receiver], "payload": payload, "reply": not short}

    async def _post(self, messages: list[tuple[int, dict[str, Any]]]) -> None:
        await asyncio.gather(*(self._post_one(receiver, message) for receiver, message in messages))

    async def _post_one(self, receiver: int, message: dict[str, Any]) -> None:
        here, there = self._addresses[self.rank], self._addresses[receiver]
        try:
            await getattr(self._worker.rpc(there), OPERATION)(session=self._session, source=self.rank, **message)
        except OSError as error:
            raise Unreachable(f"{here} cannot reach the worker {there}: {error}") from error
