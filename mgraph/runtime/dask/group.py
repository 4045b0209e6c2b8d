"""Groups of workers: what a client has on some workers between calls.

A `Group` is a session on each of the workers, with one communicator, in which graphs and vectors lie. Its handles refer
to it. When the last of them is gone, or the client, Dask releases the sessions' leases and the workers free everything.
"""

import contextlib
import logging
import math
import threading
import time
import uuid
import weakref
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from distributed import CancelledError, Client, Future

from ... import device as devices
from ...errors import SchedulerError, WorkerLostError
from ...graph.vertex_range import VertexRange
from ...planning.cut import Range, range_in_words
from ...planning.devices import DeviceSpec
from ...planning.plan import Plan
from . import residents, tasks, worker
from .comm import Aborted
from .matrix import DistributedMatrix
from .sending import moved
from .survey import Cluster, devices_of
from .watch import NOTICE, SILENT, Watch, check_own, connection, gave_up, lost, opened

_log = logging.getLogger(__name__)

#: Seconds after which workers forget what was released, if no call comes before.
FREED = 0.5

#: Seconds after which what is known of the workers' memory is asked for again.
FRESH = 1.0

_groups: "weakref.WeakValueDictionary[tuple[str, tuple[str, ...], str], Group]" = weakref.WeakValueDictionary()


#: Held while a group of a client is opened.
_locks: weakref.WeakKeyDictionary[Client, threading.Lock] = weakref.WeakKeyDictionary()


class Group:
    """A client's sessions on some workers, which stay between calls.

    Attributes
    ----------
    client : Client
        The client.
    addresses : tuple of str
        The workers, one a shard, in the order of the shards.
    specs : tuple of DeviceSpec
        Their devices, with the memory that they had when they were last asked.
    gone : WorkerLostError or None
        Why nothing of the group can be used any more.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.client: Client = cluster.client
        self.timeout: float = cluster.timeout
        self.addresses: tuple[str, ...] = cluster.addresses
        self.specs: tuple[DeviceSpec, ...] = cluster.specs
        self.readers: frozenset[str] = cluster.readers
        self.processes: Mapping[str, str] = cluster.processes
        self.kind = self.specs[0].kind
        self.gone: WorkerLostError | None = None
        self.broken = False
        self.asked = time.monotonic()
        #: When all workers have last answered.
        self.heard = -math.inf
        #: Whether something was kept or dropped on the workers since they were asked.
        self.changed = False
        #: Held by a thread during a call: a call that fails ends what runs in the sessions, which nobody else's may.
        self.lock = threading.RLock()
        #: The leases of the sessions, and of those before them, in which reads may be under way.
        self._leases: dict[str, Future] = {}
        self._before: dict[str, Future] = {}
        self._freed: deque[str] = deque()
        self.session = ""
        self.open_session()

    def watch(self, call: str | None = None, expected: float = 0.0) -> Watch:
        """Return a watch over the group's workers, during a call by its beats."""
        beats = None if call is None else (self.client.id, call)
        return Watch(self.client, self.addresses, self.timeout, beats, expected)

    def check(self, loss: Callable[[Collection[str]], str] | None = None) -> None:
        """Raise if the group's workers, or the way to them, are gone; `loss` says in words what was lost with some."""
        check_own(self.client)
        if self.gone is not None:
            raise with_loss(self.gone, loss)
        if self.client.status != "running":
            raise SchedulerError(f"{connection(self.client)}: its graphs and results on the workers have been freed")

    def ready(self, loss: Callable[[Collection[str]], str] | None = None) -> None:
        """Open new sessions if a call has failed in the present ones; what they keep stays. Raises as `check` does."""
        check_own(self.client)  # before a lock that a thread of a parent process may have held
        with self.lock if self.broken else contextlib.nullcontext():
            self.check(loss)
            if self.broken:
                self.open_session()
                self.broken = False

    def refresh(self, loss: Callable[[Collection[str]], str] | None = None) -> None:
        """Ask the workers what memory they have, if that may have changed since; `loss` is that of `check`."""
        if self.changed and time.monotonic() - self.asked > FRESH:
            self.changed = False
            try:
                sights = self.wait(tasks.asked, self.client, self.addresses, residents.sight, self.kind)
            except WorkerLostError as error:
                raise with_loss(error, loss) from error
            if len(sights) == len(self.addresses):  # the call itself finds out who is lost, and how
                self.saw(sights)

    def leave_out(self) -> None:
        """Note that the workers are lost of which one has been silent since long before a call that begins."""
        suspect = time.monotonic() - self.heard > SILENT or gave_up(self.client, self.addresses)
        if suspect and self.gone is None and self.client.status == "running":
            with opened(self.client):
                watch = Watch(self.client, timeout=self.timeout)
                watch.check()
            silent = watch.left_out(self.addresses)
            if silent is not None:
                self.lose(silent)

    def saw(self, sights: Mapping[str, worker.WorkerInfo]) -> None:
        """Record what the workers have answered about their devices."""
        ordered = {address: sights[address] for address in self.addresses}
        self.specs, self.asked = tuple(devices_of(ordered, self.kind).values()), time.monotonic()

    def each(self, function: Callable[..., Any], arguments: Sequence[Sequence[Any]], *common: Any) -> list[Any]:
        """Run a task on each worker: of the session's name, the `common` arguments, and the worker's own."""
        tasked = {
            address: tasks.submit(self.client, address, function, self.session, *common, *own)
            for address, own in zip(self.addresses, arguments, strict=True)
        }
        return self.wait_for(lambda watch: tasks.results(watch, tasked))

    def sent(self, rank: int, part: VertexRange | np.ndarray) -> Future:
        """Send a part of a graph or of a vector to a worker; return the future of it there."""
        here = part.on(devices.find("cpu")) if isinstance(part, VertexRange) else part
        address = self.addresses[rank]

        def send(watch: Watch) -> Future:
            try:
                return moved(watch, self.session, address, self.readers if address in self.readers else (), here)
            except (CancelledError, KeyError, OSError):  # of many kinds where the worker is gone
                watch.check(NOTICE)
                raise

        found: Future = self.wait_for(send)
        return found

    def one(self, rank: int, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Run a task on one worker, of the session's name and the arguments; return a list of its result."""
        address = self.addresses[rank]
        task = {address: tasks.submit(self.client, address, function, self.session, *arguments)}
        return list(self.wait_for(lambda watch: tasks.results(watch, task)))

    def wait(self, work: Callable[..., Any], *given: Any) -> Any:
        """Run the coroutine that `work` returns on the client's event loop and return its result."""
        return self.wait_for(lambda watch: watch.wait(work, *given))

    def wait_for(self, wait: Callable[[Watch], Any]) -> Any:
        """Wait; a worker that is lost, or a session that has ended there, takes the group with it."""
        session = self.session
        try:
            with opened(self.client):
                return wait(self.watch())
        except WorkerLostError as error:
            self.lose(error)
            raise
        except Aborted as error:
            gone = lost(self.addresses, str(error))
            if self.session == session:  # else new ones are open, and the task was of the former one
                self.lose(gone)
            raise gone from error

    def lose(self, error: WorkerLostError) -> None:
        """Note that workers are lost: nothing of the group can be used any more, and the others free what they keep.

        The error that is kept is a new one, as that which was raised refers to the frames of the call.
        """
        self.gone = WorkerLostError(*error.parts, workers=error.workers)
        self._leases, self._before = {}, {}

    @property
    def is_open(self) -> bool:
        """Whether the sessions are open, as far as the client knows."""
        return bool(self._leases) and all(lease.status == "finished" for lease in self._leases.values())

    def close(self) -> None:
        """End the sessions, and free what they keep; a later call opens new ones."""
        self.broken, self.session = True, ""
        self._leases, self._before = {}, {}

    def matrix(self, plan: Plan, name: str, dtype: np.dtype) -> DistributedMatrix:
        """Return a matrix that a call by `plan` has computed, from its parts."""
        rows, columns = plan.detail.layout(plan)
        sizes = [(bottom - top) * (right - left) for top, bottom in rows for left, right in columns]
        given = worker.take, self.session, name
        taken = {
            address: tasks.submit(self.client, address, *given, call=plan.algorithm)
            for size, address in zip(sizes, self.addresses, strict=True)
            if size
        }
        self.wait_for(lambda watch: tasks.settle(watch, taken))
        blocks = [(address, taken.get(address)) for address in self.addresses]
        return DistributedMatrix(self.client, blocks, rows, columns, dtype, self.timeout, self.readers)

    @contextlib.contextmanager
    def making(self, name: str) -> Iterator[None]:
        """Have the workers forget what lies there under a name if the block fails."""
        try:
            yield
        except BaseException:
            self.drop(name)
            raise

    def drop(self, name: str) -> None:
        """Have the workers forget a graph or vectors, by the next call or soon; may run while garbage is collected."""
        self._freed.append(name)
        self.changed = True
        if self.client.status == "running" and self.gone is None:
            loop: Any = self.client.loop
            loop.add_callback(loop.call_later, FREED, self.forget)

    @contextlib.contextmanager
    def freeing(self) -> Iterator[tuple[str, ...]]:
        """Yield the names to forget that no worker has been sent yet; the block sends them, or they are kept."""
        names = []
        with contextlib.suppress(IndexError):
            while True:
                names.append(self._freed.popleft())
        session = self.session
        try:
            yield tuple(names)
        except BaseException:
            self._freed.extend(names)
            raise
        if self.broken or self.session != session:  # new sessions may have taken the names over before
            self._freed.extend(names)

    async def forget(self) -> None:
        """Have the workers forget now what was released."""
        client = self.client
        if self._freed and client.status == "running" and self.gone is None:
            try:
                with self.freeing() as names:
                    await tasks.asked(client, self.addresses, residents.drop, self.session, names)
            except Exception as error:
                _log.debug("the workers were not told what was released: %s", error)

    def open_session(self) -> None:
        """Open a session on each worker, in place of that before, and have the workers join it."""
        session = uuid.uuid4().hex
        leases = leased(self.client, self.addresses, session)
        self.wait_for(lambda watch: tasks.settle(watch, leases))
        joined = {
            address: tasks.submit(
                self.client, address, residents.join, session, self.session, rank, self.addresses, self.kind
            )
            for rank, address in enumerate(self.addresses)
        }
        self.wait_for(lambda watch: tasks.results(watch, joined))
        self.session, self._leases, self._before = session, leases, self._leases
        self.heard = time.monotonic()
        _log.debug("opened session %s of a group of %d workers", session, len(self.addresses))


def with_loss(error: WorkerLostError, loss: Callable[[Collection[str]], str] | None) -> WorkerLostError:
    """Return an error like that of lost workers, with what was lost with them."""
    lost = () if loss is None else (f"; {loss(error.workers)}",)
    return WorkerLostError(*error.parts, *lost, workers=error.workers)


def lying(noun: str, workers: Collection[str], ranges: Iterable[tuple[str, Range]]) -> str:
    """Return in words the ranges that some of the workers have."""
    own = [range_in_words(each) for address, each in ranges if address in workers]
    return f"{noun} {', '.join(own) or 'none'}"


def leased(client: Client, addresses: Sequence[str], session: str) -> dict[str, Future]:
    """Open a session on each of some workers; it lives there as long as its lease, a task's result."""
    return {
        address: tasks.submit(client, address, residents.stay, session, key=worker.lease_key(session, address))
        for address in addresses
    }


def group_of(cluster: Cluster) -> Group:
    """Return the group of a client on the workers of a cluster, which its graphs share."""
    key = (cluster.client.id, cluster.addresses, cluster.specs[0].kind)
    with _locks.setdefault(cluster.client, threading.Lock()):
        found = _groups.get(key)
        if found is None or found.gone is not None:
            found = _groups[key] = Group(cluster)
        found.specs, found.asked = cluster.specs, time.monotonic()
        if cluster.timeout_given:  # the latest that was given counts
            found.timeout = cluster.timeout
        return found


class RemotePin:
    """What keeps a graph, or the vectors of a call, on the workers: it is dropped there when this object goes."""

    def __init__(self, group: Group, name: str) -> None:
        self.name = name
        group.changed = True
        self.close = weakref.finalize(self, group.drop, name)
        self.close.atexit = False  # Dask releases the leases
