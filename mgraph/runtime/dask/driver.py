"""The executor on a Dask cluster: one shard per worker, one pinned task per worker and span.

Invariants: the workers are listed once, when the executor is made, in the order of their addresses; two
calls never run on the same workers at a time; and however a call ends, no shard is left waiting in a
collective, and nothing stays on the workers but the matrices of its result and the pieces of a resident graph.
"""

import asyncio
import contextlib
import copy
import logging
import platform
import time
import uuid
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np
from distributed import CancelledError, Client, Future, KilledWorker, Scheduler, secede
from distributed.protocol import to_serialize
from distributed.worker import thread_state

from ... import device as devices
from ...arguments import checked_integer
from ...errors import (
    Argument,
    ArgumentValue,
    DeviceError,
    InputError,
    MgraphError,
    SchedulerError,
    VersionError,
    WorkerLostError,
)
from ...graph.vertex_range import VertexRange
from ...planning.devices import DeviceSpec
from ...planning.plan import Plan
from ...version import __version__
from ..checkpoints import Checkpoints, Order, Report
from ..program import Outcome, Program, Progress, log_plan, memory_errors
from ..spans import Spans
from . import events, shared, tasks, worker
from .comm import Aborted, Unreachable
from .matrix import DistributedMatrix
from .pulse import LEASE
from .turns import PARTING, turn
from .watch import MOST, NOTICE, Watch, check_own, checked_timeout, lost, opened, recovery_wait, wait_timeout

_log = logging.getLogger(__name__)

#: Seconds to wait for the first worker, and for the tasks of a call to end that failed or was interrupted.
NO_WORKERS = 10.0
WIND_DOWN = 10.0
INTERRUPTED = 1.5

#: Bytes of free memory below which a worker is left out: Python itself varies by as much.
SPARE = 16 << 20

#: The operation of schedulers that this module adds to Dask's.
SEND = "mgraph_send"

#: What is being sent to workers, as asyncio itself keeps no task alive.
_sending: set["asyncio.Future[Future]"] = set()

#: What was sent of pieces that stay on workers as long as the caller has them, by client and worker.
_STAYING: WeakKeyDictionary[Any, dict[tuple[str, str], Future]] = WeakKeyDictionary()


class Cluster:
    """The workers of a Dask client.

    Made within a Dask task, it takes the task out of its worker's pool of threads until the task ends (`secede`).

    Parameters
    ----------
    client : distributed.Client
        The client; synchronous.
    device : {"cpu", "cuda"}, optional
        The kind of device that the workers use. By default GPUs if all of them have one, else CPUs.
    worker_timeout : float or str, optional
        Seconds, 1 or more, or such as ``"2 minutes"``, that a worker may be silent before a call ends; by default
        ``mgraph.worker-timeout`` of Dask's configuration, or 60.
    workers : sequence of str or int, optional
        The workers to use, by their addresses or by their names; by default all that answer and have free memory.
    wait_for_workers : int, optional
        Number of workers to wait for before these are looked for, at most ``mgraph.wait-timeout`` of Dask's
        configuration, or 10 minutes.

    Attributes
    ----------
    specs : tuple of DeviceSpec
        Each worker's device.
    readers : frozenset of str
        The addresses of the workers that read large arrays from this process's memory, as they are on its host.
    place : None
        Pieces of the input are sent, so they are prepared where the input is.

    Raises
    ------
    InputError
        For an asynchronous client, a device that names one GPU, or a worker that the scheduler does not know.
    WorkerLostError
        If one of `workers` is silent.
    SchedulerError
        If the scheduler does not answer, has no workers, or still has fewer than `wait_for_workers` at the end.
    DeviceError
        If GPUs are asked for and a worker has none, or two workers share one.
    VersionError
        If a worker has no mgraph, or another version of it.

    Examples
    --------
    >>> from distributed import Client
    >>> import mgraph
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     [spec.kind for spec in mgraph.cluster.Cluster(client, "cpu").specs]
    ['cpu']
    """

    place: devices.Device | None = None

    def __init__(
        self,
        client: Client,
        device: str | None = None,
        worker_timeout: float | str | None = None,
        workers: Sequence[str | int] | None = None,
        *,
        wait_for_workers: int | None = None,
    ) -> None:
        checked_client(client)
        if device is not None and not (isinstance(device, str) and device in ("cpu", "cuda")):
            advice = ": each worker uses the GPU that it sees"
            wanted = "'cpu' or 'cuda' with workers"
            raise InputError(advice, argument="device", value=device, expected=wanted)
        self.client, self._device = client, device
        self.timeout = checked_timeout(worker_timeout)
        #: Whether the caller has given the time for which workers may be silent.
        self.patient = worker_timeout is not None
        _leave_threads()
        if wait_for_workers is not None:
            await_workers(client, wait_for_workers, self.timeout)
        with opened(client):
            chosen = None if workers is None else _wanted(client, workers, self.timeout)
            #: The names of the workers that were chosen; None if all are used.
            self.names = None if chosen is None else tuple(chosen.values())
            self._see(None if chosen is None else tuple(chosen))

    def _see(self, wanted: tuple[str, ...] | None) -> None:
        """Look at the workers and their devices; at all workers unless their addresses are given."""
        self._workers, self.readers = _survey(self.client, self._device, self.timeout, wanted)
        self.specs = tuple(self._workers.values())
        self.addresses = tuple(self._workers)

    def again(self) -> "Cluster":
        """Return the workers that there are after one was lost, chosen as before.

        It waits for as many as before, at most ``mgraph.recovery-wait`` of Dask's configuration, or six seconds. Of
        workers that were chosen, it takes those that are left and those that have taken a lost one's name.

        Returns
        -------
        Cluster

        Raises
        ------
        WorkerLostError
            If none of the chosen workers is left, or if another one is lost meanwhile.
        SchedulerError
            If the scheduler does not answer or has no workers.

        Examples
        --------
        >>> from distributed import Client
        >>> import mgraph
        >>> with Client(processes=False, dashboard_address=":0") as client:
        ...     there = mgraph.cluster.Cluster(client, "cpu")
        ...     there.again().addresses == there.addresses
        True
        """
        return self.left(self.names, len(self.addresses))

    def left(self, names: tuple[Any, ...] | None, count: int) -> "Cluster":
        """Return the workers that there are, waiting as `again` does; raises as that.

        Parameters
        ----------
        names : tuple or None
            The names that Dask gives the workers to use; None uses all.
        count : int
            Number of workers to wait for.

        Returns
        -------
        Cluster

        Examples
        --------
        >>> from distributed import Client
        >>> import mgraph
        >>> with Client(processes=False, dashboard_address=":0") as client:
        ...     len(mgraph.cluster.Cluster(client, "cpu").left(None, 1).addresses)
        1
        """
        found, end = copy.copy(self), time.monotonic() + recovery_wait()
        found.names = names
        with opened(self.client):
            watch = Watch(self.client, timeout=self.timeout)
            addresses, _ = _joined(watch, count, end, names)
            if names is not None and not addresses:
                named = ", ".join(map(str, names))
                raise WorkerLostError(f"none of the workers {named} is left", workers=self.addresses)
            found._see(None if names is None else tuple(addresses))
        return found

    def run(
        self,
        program: Program,
        piece: Callable[[int], Any],
        plan: Plan,
        progress: Progress | None,
        checkpoints: Checkpoints | None = None,
    ) -> Outcome:
        """Run `program` on the workers; matrices stay there, vectors come as NumPy arrays.

        Parameters
        ----------
        program : Program
            The algorithm as supersteps.
        piece : callable
            Returns a shard's part of the input, given its number.
        plan : Plan
            How the call is cut among the workers.
        progress : callable or None
            Called between spans with the number of supersteps done and their total.
        checkpoints : Checkpoints, optional
            The checkpoints to write, and to go on from.

        Returns
        -------
        Outcome
            The results by name, and the seconds of the parts.

        Raises
        ------
        WorkerLostError
            If a worker goes away.
        SchedulerError
            If the scheduler does.
        """
        client, addresses, name = self.client, list(self._workers), uuid.uuid4().hex
        log_plan(plan)
        with (
            memory_errors(plan.algorithm, plan),
            losses_among(len(addresses)),
            opened(client),
            turn(Watch(client, addresses, self.timeout), name, plan),
        ):
            started = time.perf_counter()
            with CallSession(client, addresses, self.timeout, plan, name, self.readers) as session:
                session.open()
                session.load(program, self.specs[0].kind, piece)
                spans = Spans(
                    program, plan, checkpoints, session, lambda what: events.tell(client, events.between(what), name)
                )
                loaded = time.perf_counter()
                spans.run(progress)
                solved = time.perf_counter()
                arrays, compiled = session.collect()
                spans.end()
        timings = {
            "load": loaded - started,
            "solve": solved - loaded,
            "collect": time.perf_counter() - solved,
        }
        for part, seconds in compiled.items():
            timings[part] = max(0.0, timings[part] - seconds)
        return Outcome(arrays, timings | {"compile": sum(compiled.values())})


@contextlib.contextmanager
def losses_among(workers: int) -> Iterator[None]:
    """Add the number of a call's workers to a WorkerLostError of the block."""
    try:
        yield
    except WorkerLostError as error:
        error.among = workers
        raise


def checked_client(client: Any) -> Client:
    """Return a user's client, or raise InputError."""
    if not isinstance(client, Client):
        advice = ": use Client(cluster), or the client of 'with mgraph.cluster.local_client(2) as client:'"
        raise InputError(advice, argument="client", value=client, expected="a distributed.Client")
    if client.asynchronous:
        raise InputError(Argument("client"), " must be synchronous: make it with asynchronous=False")
    check_own(client)
    return client


class CallSession:
    """One call on the workers. As a context: leaves nothing of it there, and raises what went wrong."""

    def __init__(
        self,
        client: Client,
        addresses: Sequence[str],
        timeout: float,
        plan: Plan,
        name: str,
        readers: Collection[str] = (),
    ) -> None:
        self.client = client
        self._addresses = addresses
        self._readers = readers
        self._plan = plan
        self._name = name
        self._watch = Watch(client, addresses, timeout, (client.id, name), plan.seconds)
        self._leases: dict[str, Future] = {}
        self._tasks: dict[str, Future] = {}

    def __enter__(self) -> "CallSession":
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        try:
            if error is not None:
                self._fail(error)
        finally:
            # Releases the leases, by which the workers drop the session.
            self._leases.clear()
            self._tasks.clear()
            _log.debug("closed session %s", self._name)

    def open(self) -> None:
        """Open the session on all workers, so that each is ready for messages before the first task runs."""
        timeout = self._watch.timeout
        # There are no beats before the session is open.
        watch = Watch(self.client, self._addresses, timeout)
        for address in self._addresses:
            key, given = worker.lease_key(self._name, address), (self._name, self.client.id, timeout)
            self._leases[address] = tasks.submit(self.client, address, worker.lease, *given, key=key)
        tasks.settle(watch, self._leases)
        _log.debug("opened session %s on %d workers", self._name, len(self._addresses))

    def load(self, program: Program, kind: str, piece: Callable[[int], Any]) -> None:
        """Send each worker its piece, or lend it, load the shards and connect them."""
        with contextlib.ExitStack() as lending:
            for rank, address in enumerate(self._addresses):
                blocks: list[Future] = []
                self._tasks[address] = tasks.submit(
                    self.client,
                    address,
                    worker.load,
                    self._name,
                    rank,
                    self._addresses,
                    kind,
                    program,
                    # Not by a name, by which an error's traceback would keep the piece on its worker.
                    self._sent(piece(rank), address, blocks, lending),
                    *blocks,
                    call=self._plan.algorithm,
                )
            tasks.results(self._watch, self._tasks)

    def _sent(
        self, piece: Any, address: str, blocks: list[Future], lending: contextlib.ExitStack
    ) -> Future | shared.Parcel:
        """Return a shard's piece on its worker, or what the worker needs to read it from here while it is lent.

        One that `stays` there may have been sent by an earlier call.
        """
        readers = self._readers if address in self._readers else ()
        if not getattr(piece, "stays", False):
            piece = _on_host(piece, address, blocks)
            found = shared.lent(piece, len(readers)) if readers else None
            if found is None:
                return self._watch.wait(scattered(self.client, address, piece))
            parcel, lent = found
            lending.enter_context(contextlib.closing(lent))  # which keeps it, too
            return parcel
        there = {key: sent for key, sent in _STAYING.get(piece, {}).items() if sent.status == "finished"}
        key = self.client.id, address
        if key not in there:
            # A copy, as workers of this process would keep the piece itself.
            there[key] = moved(self._watch, self._name, address, readers, copy.copy(piece))
        _STAYING[piece] = there
        return there[key]

    def each(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Run a task on each worker; return the results once all have ended: Dask's barrier."""
        call = self._plan.algorithm
        self._tasks = {
            address: tasks.submit(self.client, address, function, self._name, *arguments, call=call)
            for address in self._addresses
        }
        return tasks.results(self._watch, self._tasks)

    def fingerprint(self) -> int:
        """Return the fingerprint of the whole input."""
        return int(sum(self.each(worker.fingerprint)) % 2**64)

    def fill(self, place: str, number: int) -> list[int | str]:
        """Fill all shards from a checkpoint."""
        return self.each(worker.fill, place, number)

    def span(self, first: int, order: Order | None) -> tuple[int, bool, list[Report | None]]:
        """Run a span of supersteps on all shards, and begin to write a checkpoint if that is ordered."""
        answers = self.each(worker.span, first, self._plan.span if order is None else order.span, order)
        return answers[0].reached, answers[0].finished, [answer.report for answer in answers]

    def collect(self) -> tuple[dict[str, Any], dict[str, float]]:
        """End the program and return its results, and of each part the seconds of the slowest compiling and loading.

        These may be of another worker in each part.
        """
        plan = self._plan
        collected = self.each(worker.collect)
        arrays: dict[str, Any] = {
            name: np.concatenate([vectors[name] for vectors, _, _ in collected]) for name in collected[0][0]
        }
        for name, dtype in collected[0][1].items():
            self._tasks = takers(self.client, self._addresses, self._name, plan, name)
            tasks.settle(self._watch, self._tasks)
            arrays[name] = matrix_of(
                self.client, self._addresses, self._tasks, plan, dtype, self._watch.timeout, self._readers
            )
        compiled = [seconds for _, _, seconds in collected]
        return arrays, {part: max(seconds[part] for seconds in compiled) for part in compiled[0]}

    def _fail(self, error: BaseException) -> None:
        """Stop every shard, forget the session, and raise what the failure was unless that is `error`."""
        self._wind_down(WIND_DOWN if isinstance(error, Exception) else INTERRUPTED)
        verdict = self._verdict(error)
        if isinstance(verdict, WorkerLostError):
            _log.warning("%s", str(verdict))  # a record of the log must not keep the frames
        if self.client.status == "running":
            futures = [*self._leases.values(), *self._tasks.values()]
            self._watch.attempt(self.client.cancel(futures, force=True, asynchronous=True), PARTING)
        if verdict is not error:
            raise verdict from error

    def _wind_down(self, seconds: float) -> None:
        """Abort the session on the workers that answer, wait for its tasks to end, and drop it."""
        watch, end = self._watch, time.monotonic() + seconds
        with contextlib.suppress(SchedulerError, WorkerLostError):
            watch.look()
        if self.client.status != "running" or not watch.answered:
            return
        there = sorted(watch.there.intersection(self._addresses).difference(watch.silent(MOST + 1)))
        tasks.tell(watch, there, worker.abort_session, self._name, within=PARTING)
        running = [task for address, task in (self._leases | self._tasks).items() if address in there]
        while time.monotonic() < end and not all(task.done() for task in running):
            if self.client.status != "running":  # no task ends for a client that another thread has closed
                return
            time.sleep(0.02)
        tasks.tell(watch, there, worker.drop_session, self._name, within=PARTING)

    def _verdict(self, error: BaseException) -> BaseException:
        """Return what went wrong: a lost worker or scheduler, or the first error of its own kind."""
        if not isinstance(error, Exception) or isinstance(error, WorkerLostError | SchedulerError):
            return error
        raised = {a: tasks.error_of(self._watch, task) for a, task in self._tasks.items() if tasks.failed(task)}
        genuine = next((e for e in raised.values() if not follows(e)), None)
        unclear = raised or isinstance(error, OSError | KeyError | CancelledError)
        try:
            self._watch.check(NOTICE if unclear and genuine is None else 0)
        except MgraphError as gone:
            return gone
        if raised and genuine is None:
            address, first = min(raised.items(), key=lambda item: not isinstance(item[1], Unreachable))
            return lost([address], str(first))
        # Fetched again, an error is another object.
        return error if genuine is None or repr(genuine) == repr(error) else genuine


def takers(client: Client, addresses: Sequence[str], session: str, plan: Plan, name: str) -> dict[str, Future]:
    """Submit the tasks that return a matrix's parts, which Dask keeps where they are; of workers that have a part."""
    rows, columns = plan.detail.layout(plan)
    sizes = [(bottom - top) * (right - left) for top, bottom in rows for left, right in columns]
    return {
        address: tasks.submit(client, address, worker.take, session, name, call=plan.algorithm)
        for size, address in zip(sizes, addresses, strict=True)
        if size
    }


def matrix_of(
    client: Client,
    addresses: Sequence[str],
    taken: Mapping[str, Future],
    plan: Plan,
    dtype: Any,
    timeout: float,
    readers: Collection[str],
) -> DistributedMatrix:
    """Return the matrix of the parts that tasks have `taken`; `readers` are the workers that share memory."""
    rows, columns = plan.detail.layout(plan)
    blocks = [(address, taken.get(address)) for address in addresses]
    return DistributedMatrix(client, blocks, rows, columns, dtype, timeout, readers)


def follows(error: BaseException) -> bool:
    """Whether an error of a task only shows that another shard or a worker failed."""
    return isinstance(error, Aborted | KilledWorker | CancelledError) or type(error).__name__ == "NcclError"


def moved(watch: Watch, session: str, address: str, readers: Collection[str], piece: Any) -> Future:
    """Return a piece on a worker that has a session; `readers` are those of a call, if the worker is one of them."""
    found = shared.lent(piece, len(readers)) if readers else None
    if found is None:
        return watch.wait(scattered(watch.client, address, piece))
    parcel, lent = found
    with contextlib.closing(lent):
        task = tasks.submit(watch.client, address, worker.received, session, parcel)
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


def _on_host(piece: Any, address: str, blocks: list[Future]) -> Any:
    """Return a piece, a part of a graph or arrays in (named) tuples, with all its arrays in NumPy, to be sent.

    In place of a matrix that the worker reads itself, it has what the worker needs to know; `blocks` are added to.
    """
    if isinstance(piece, VertexRange):
        return piece.on(devices.find("cpu"))
    if hasattr(piece, "sent_to"):
        told, needed = piece.sent_to(address)
        blocks += needed
        return told
    if isinstance(piece, tuple):
        parts = [_on_host(part, address, blocks) for part in piece]
        return type(piece)(*parts) if hasattr(piece, "_fields") else tuple(parts)
    return devices.to_host(piece) if hasattr(piece, "dtype") else piece


def _leave_threads() -> None:
    """In a Dask task, leave the worker's pool of threads: the tasks of a call may need this thread's place in it."""
    if hasattr(thread_state, "key") and not getattr(thread_state, "actor", False):  # this thread runs a task
        with contextlib.suppress(KeyError):  # which has left it before
            secede()


def _wanted(client: Client, workers: Any, timeout: float) -> dict[str, Any]:
    """Return the names of the workers that a user has chosen, by address and in that order, or raise InputError."""
    several = isinstance(workers, Sequence) and not isinstance(workers, str | bytes) and len(workers) > 0
    if not several or not all(isinstance(each, str | int) and not isinstance(each, bool) for each in workers):
        expected = "a sequence of workers' addresses or names"
        raise InputError(argument="workers", value=workers, expected=expected)
    there = Watch(client, timeout=timeout).wait(client.run_on_scheduler(_names, asynchronous=True))
    addresses = {name: address for address, name in there.items()} | {address: address for address in there}
    for each in workers:
        if each not in addresses:
            known = ", ".join(sorted(there)) or "none"
            raise InputError(f" (there are: {known})", argument="workers", value=each, expected="workers of the client")
    found = sorted({addresses[each] for each in workers})
    if len(found) < len(workers):
        raise InputError(argument="workers", value=workers, expected="different workers")
    return {address: there[address] for address in found}


def _names(dask_scheduler: Scheduler) -> dict[str, Any]:
    """Return the name of each worker, by address; runs on the scheduler."""
    return {address: state.name for address, state in dask_scheduler.workers.items()}


def _survey(
    client: Client, device: str | None, timeout: float, wanted: tuple[str, ...] | None
) -> tuple[dict[str, DeviceSpec], frozenset[str]]:
    """Return the device that each worker will use, by address, in the order of the addresses.

    And return the addresses of those that read arrays from this process's memory.

    Silent workers are left out. So are those without free memory, unless none has any. Of `wanted` none is left out.
    """
    watch = Watch(client, timeout=timeout)
    end = time.monotonic() + NO_WORKERS
    while True:
        addresses, silent = _joined(watch, 1 if wanted is None else 0, end)
        if not addresses and wanted is None:
            raise SchedulerError(
                f"the scheduler at {client.scheduler.address} has no workers: start some{_named(silent)}. An adaptive "
                f"cluster was given {NO_WORKERS:g} s to start one: adapt(minimum=1) keeps one ready"
            )
        if wanted is not None:
            addresses, silent, watch.addresses = list(wanted), [], wanted
            watch.check()
        watch.addresses = tuple(addresses)
        try:
            with shared.offered() as token:
                task = worker.meeting(device, token)
                met = {a: tasks.submit(client, a, *task, key=tasks.key_of("", "meet")) for a in addresses}
                answers = tasks.results(watch, met)
            break
        except WorkerLostError:
            # It went away or fell silent before the call began, which does not matter.
            if wanted is not None or (time.monotonic() > end and not watch.silent(watch.patience)):
                raise
    if silent:
        warnings.warn(
            f"the call leaves out the worker {', '.join(silent)}, silent or paused for {watch.patience:.0f} s or more",
            RuntimeWarning,
            stacklevel=2,
        )
    sights = _acquainted(dict(zip(addresses, answers, strict=True)))
    found = devices_of(sights, device)
    found = found if wanted is not None else _spare(found)
    return found, frozenset(address for address in found if sights[address].reads)


def await_workers(client: Client, count: int, worker_timeout: float | str | None = None) -> None:
    """Wait until a scheduler has `count` workers that are not silent.

    Raises
    ------
    InputError
        If `count` is not an integer of 1 or more, or for an invalid ``mgraph.wait-timeout`` of Dask's configuration.
    SchedulerError
        If it still has fewer when that time is over, or does not answer for `worker_timeout`.
    """
    count, seconds = checked_integer("wait_for_workers", count, 1), wait_timeout()
    with opened(client):
        watch = Watch(client, timeout=checked_timeout(worker_timeout))
        addresses, silent = _joined(watch, count, time.monotonic() + seconds)
        if len(addresses) < count:
            there = f"{len(addresses)} worker{'s' * (len(addresses) != 1)}"
            raise SchedulerError(
                f"the scheduler at {client.scheduler.address} has {there} after {seconds:g} s{_named(silent)}, not ",
                ArgumentValue("wait_for_workers", count),
                ": start more, wait for fewer, or raise mgraph.wait-timeout of Dask's configuration; an adaptive "
                f"cluster keeps so many by adapt(minimum={count})",
            )


def returned(client: Client, call: str, count: int, worker_timeout: float | str | None) -> int:
    """Wait for `count` workers that are not silent, to make a call again; return how many."""
    with opened(client):
        watch = Watch(client, timeout=checked_timeout(worker_timeout))
        found = len(_joined(watch, max(1, count), time.monotonic() + recovery_wait())[0])
    events.tell(client, events.again(call, found))
    return found


def _joined(watch: Watch, count: int, end: float, names: Sequence[Any] | None = None) -> tuple[list[str], list[str]]:
    """Return the addresses of the workers there are and of silent ones, once there are `count`, or at the time `end`.

    With `names`, only workers of these names are returned and counted.

    Not by `Client.wait_for_workers`: that replaces what a LocalCluster knows of its workers, and a worker's removal
    that arrives after it is an error when the cluster is closed (`SpecCluster._update_worker_status`).
    """
    client, seen = watch.client, -1
    demand: Future | None = None
    while True:
        watch.addresses = ()
        watch.check()
        watch.patience = watch.beginning
        silent = watch.unheard()
        addresses = sorted(watch.there.difference(silent))
        if names is not None:
            called = watch.wait(client.run_on_scheduler(_names, asynchronous=True))
            addresses = [address for address in addresses if called.get(address) in names]
        if len(addresses) >= count or time.monotonic() > end:
            return addresses, silent
        if seen != len(addresses):
            seen = len(addresses)
            _log.info("waiting for workers of %s: %d of %d are there", client.scheduler.address, seen, count)
        if demand is None and not watch.there:
            # An adaptive cluster that has no workers starts one for a task that could run on any.
            with tasks.in_span():
                demand = client.submit(int, pure=False)
        time.sleep(0.1)


def _named(silent: Sequence[str]) -> str:
    """Return the silent workers as a part of a sentence."""
    return f" (silent ones: {', '.join(silent)})" if silent else ""


def devices_of(found: Mapping[str, worker.WorkerInfo], device: str | None) -> dict[str, DeviceSpec]:
    """Return the device that each worker will use, by address: GPUs if all have one, unless `device` says otherwise."""
    gpus = {address: sight.gpu for address, sight in found.items() if sight.gpu is not None}
    without = sorted(found.keys() - gpus.keys())
    if device == "cuda" and without:
        raise DeviceError(
            ArgumentValue("device", "cuda"),
            f", but the worker {', '.join(without)} has no usable GPU: use ",
            ArgumentValue("device", "cpu"),
        )
    if device == "cpu" or without:
        crowd = Counter(sight.host for sight in found.values())
        return {
            address: replace(
                sight.cpu,
                name=f"cpu of {address}",
                kept=sight.kept,
                memory=max(0, min(sight.cpu.memory, sight.available // crowd[sight.host] - sight.reserved)),
            )
            for address, sight in found.items()
        }
    owners: dict[tuple[str, bytes], str] = {}
    for address, sight in found.items():
        other = owners.setdefault((sight.host, sight.identity), address)
        if other != address:
            raise DeviceError(
                f"the workers {other} and {address} use the same GPU: start one for each GPU, with its own "
                "CUDA_VISIBLE_DEVICES, as dask-cuda does"
            )
    return {
        address: replace(gpu, name=f"{gpu.name} of {address}", kept=found[address].kept)
        for address, gpu in gpus.items()
    }


def _spare(specs: dict[str, DeviceSpec]) -> dict[str, DeviceSpec]:
    """Return those that have memory to spare, or all if none has; a warning names those that are left out."""
    spare = {address: spec for address, spec in specs.items() if spec.memory >= SPARE}
    full = sorted(specs.keys() - spare.keys())
    if not spare or not full:
        return specs
    warnings.warn(
        f"the call leaves out the worker {', '.join(full)}, which has no memory to spare: free some there, or raise "
        "its limit (dask worker --memory-limit)",
        RuntimeWarning,
        stacklevel=2,
    )
    return spare


def _acquainted(answers: dict[str, worker.WorkerInfo | tuple[str, str]]) -> dict[str, worker.WorkerInfo]:
    """Return what `worker.meet` answered, by address, or raise VersionError if a worker has another mgraph or none."""
    strangers = {address: answer for address, answer in answers.items() if not isinstance(answer, worker.WorkerInfo)}
    if not strangers:
        return cast(dict[str, worker.WorkerInfo], answers)
    here = platform.python_version()
    problems = [
        f"the worker {address} {problem}" + (f", under Python {python}" if python != here else "")
        for address, (problem, python) in strangers.items()
    ]
    raise VersionError(
        f"{'; '.join(problems)}: this client has mgraph {__version__}"
        + (f", under Python {here}" if any(python != here for _, python in strangers.values()) else "")
        + "; install that version for every worker"
    )
