"""Sending pieces of the input to workers: by a request, by the scheduler, or through memory that a worker reads.

A small piece goes with the request of its call. A large one is lent to a worker of this host
(`mgraph.runtime.dask.shared`), or the scheduler passes it on. A piece that `stays` is sent once, and lies on its worker
as long as the caller has it; what accompanies it goes with each call.
"""

import asyncio
import contextlib
import copy
import uuid
from collections.abc import Collection, Mapping
from typing import Any
from weakref import WeakKeyDictionary

from distributed import Client, Future, Scheduler
from distributed.protocol import to_serialize
from distributed.protocol.pickle import dumps

from ... import device as devices
from ...graph.vertex_range import VertexRange
from ..program import Accompanied
from . import residents, shared, tasks
from .pulse import LEASE
from .watch import Watch, lost

#: The most bytes of a piece that goes with a request.
SMALL = 1 << 20

#: The operation of schedulers that this module adds to Dask's.
SEND = "mgraph_send"

#: What is being sent to workers, as asyncio itself keeps no task alive.
_sending: set["asyncio.Future[Future]"] = set()

#: What was sent of pieces that stay on workers as long as the caller has them, by client and worker.
_persistent: WeakKeyDictionary[Any, dict[tuple[str, str], Future]] = WeakKeyDictionary()


def on_host(piece: Any, address: str, blocks: list[Future]) -> Any:
    """Return a piece, a part of a graph or arrays in (named) tuples, with all its arrays in NumPy, to be sent.

    In place of a matrix that the worker reads itself, it has what the worker needs to know; `blocks` are added to.
    """
    if isinstance(piece, VertexRange):
        return piece.on(devices.find("cpu"))
    if hasattr(piece, "sent_to"):
        described, needed = piece.sent_to(address)
        blocks += needed
        return described
    if isinstance(piece, tuple):
        parts = [on_host(part, address, blocks) for part in piece]
        return type(piece)(*parts) if hasattr(piece, "_fields") else tuple(parts)
    return devices.to_host(piece) if hasattr(piece, "dtype") else piece


def is_small(piece: Any) -> bool:
    """Return whether a piece, whose arrays are in NumPy, is to go with the request of its call."""
    if getattr(piece, "stays", False) or isinstance(piece, Accompanied) or _nbytes(piece) > SMALL:
        return False
    arrays: list[Any] = []  # which are not copied
    content = dumps(piece, buffer_callback=arrays.append)
    return len(content) + sum(array.raw().nbytes for array in arrays) <= SMALL


def _nbytes(piece: Any) -> int:
    """Return the bytes of a piece that is an array, or a tuple of arrays; 0 of any other."""
    if hasattr(piece, "joined"):  # the worker reads a matrix in its place, which a task does
        return SMALL + 1
    return sum(map(_nbytes, piece)) if isinstance(piece, tuple) else int(getattr(piece, "nbytes", 0))


def sent(
    watch: Watch, session: str, address: str, readers: Collection[str], piece: Any, lending: contextlib.ExitStack
) -> Future | shared.Parcel:
    """Return a piece on its worker, or what the worker needs to read it from here while it is lent.

    `readers` are those of a call, if the worker is one of them.
    """
    client = watch.client
    if not getattr(piece, "stays", False):
        found = shared.lent(piece, len(readers)) if readers else None
        if found is None:
            return watch.wait(scattered, client, address, piece)
        parcel, lent = found
        lending.enter_context(contextlib.closing(lent))  # which keeps it, too
        return parcel
    there = {key: sent for key, sent in _persistent.get(piece, {}).items() if sent.status == "finished"}
    key = client.id, address
    if key not in there:
        # A copy, as workers of this process would keep the piece itself.
        there[key] = moved(watch, session, address, readers, copy.copy(piece))
    _persistent[piece] = there
    return there[key]


def moved(watch: Watch, session: str, address: str, readers: Collection[str], piece: Any) -> Future:
    """Return a piece on a worker that has a session; `readers` are those of a call, if the worker is one of them."""
    found = shared.lent(piece, len(readers)) if readers else None
    if found is None:
        return watch.wait(scattered, watch.client, address, piece)
    parcel, lent = found
    with contextlib.closing(lent):
        task = tasks.submit(watch.client, address, residents.received, session, parcel)
        tasks.settle(watch, {address: task})
    return task


async def scattered(client: Client, address: str, part: Any) -> Future:
    """Return a shard's piece on its worker.

    Its key is of the group of the leases, so Dask counts it to their span. In a group of its own it would be in a
    default span, a new one each time, and Dask keeps spans for ever.

    If this is cancelled, sending goes on until it ends, and the piece is then released. The scheduler does not stop
    sending when the client stops waiting: it would record, later, that the client wants a key which the client does not
    know, and could never release (`Scheduler.scatter`).
    """
    sending: asyncio.Future[Future] = asyncio.ensure_future(_sent(client, address, part))
    _sending.add(sending)
    sending.add_done_callback(_forget)
    try:
        await asyncio.wait([sending])  # which does not cancel it
        return sending.result()
    finally:
        del sending  # an error refers to this frame


async def _sent(client: Client, address: str, part: Any) -> Future:
    """Send a piece to a worker that is there and return it; raise WorkerLostError if the worker leaves meanwhile.

    Not by `Client.scatter`: the scheduler would log a KeyError for a worker that leaves, and break off the client's
    connection where it loses the worker's.
    """
    scheduler: Any = client.scheduler
    key = LEASE, type(part).__name__, uuid.uuid4().hex
    given = {"address": address, "data": {key: to_serialize(part)}, "client": client.id}
    there = await client.run_on_scheduler(_ready, address, asynchronous=True)
    if not there or not await getattr(scheduler, SEND)(**given):
        raise lost([address])
    sent: Future = Future(key, client)
    client.futures[key].finish(type=type(part))
    return sent


def _ready(address: str, dask_scheduler: Scheduler) -> bool:
    """Have the scheduler be ready to pass pieces on; return whether a worker is there. Runs on the scheduler."""

    async def send(address: str, data: Mapping[Any, Any], client: str) -> bool:
        there = dask_scheduler.workers.get(address)
        if there is None:
            return False
        try:
            answer = await dask_scheduler.rpc(address).update_data(data=data)
        except OSError:
            return False
        if dask_scheduler.workers.get(address) is not there:  # nor is another process at its address
            return False
        dask_scheduler.update_data(who_has={key: [address] for key in data}, nbytes=answer["nbytes"], client=client)
        return True

    dask_scheduler.handlers.setdefault(SEND, send)
    return address in dask_scheduler.workers


def _forget(sending: "asyncio.Future[Future]") -> None:
    """Forget what was sent or failed to be; nobody may be left to ask for the error, which asyncio would log."""
    _sending.discard(sending)
    if not sending.cancelled():
        sending.exception()
