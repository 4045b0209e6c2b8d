"""The executor on a Dask cluster: one shard per worker, one pinned task per worker and span.

Invariants: the workers are listed once, when the executor is made, in the order of their addresses; two
calls never run on the same workers at a time; and however a call ends, nobody is left waiting in a
collective and no state stays on the workers.
"""

import contextlib
import platform
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from distributed import CancelledError, Client, Future, KilledWorker, MultiLock

from .. import device as devices
from ..engine import Outcome, Program, Progress, memory_errors
from ..errors import DeviceError, InputError, MgraphError, SchedulerError, VersionError, WorkerLostError
from ..plan import DeviceSpec, Plan
from ..version import __version__
from . import tasks, worker
from .comm import Aborted
from .matrix import DistributedMatrix

#: Seconds to wait for the first worker, and for the tasks of a failed call to end.
NO_WORKERS = 10.0
WIND_DOWN = 10.0

#: Seconds after which a call that waits for another one looks whether that one's client is still there.
LOCK_LOOK = 1.0


class Cluster:
    """The workers of a Dask client.

    Parameters
    ----------
    client : distributed.Client
        The client; synchronous.
    device : {"cpu", "cuda"}, optional
        What the workers shall use. By default GPUs where all of them have one, else CPUs.

    Attributes
    ----------
    specs : tuple of DeviceSpec
        Each worker's device.
    place : None
        Pieces of the input travel, so they are best prepared where the input is.

    Raises
    ------
    InputError
        For an asynchronous client, or a device that names one GPU.
    SchedulerError
        If the scheduler does not answer or has no workers.
    DeviceError
        If GPUs are asked for and a worker has none, or two workers share one.
    VersionError
        If a worker has no mgraph, or another version of it.
    """

    place: devices.Device | None = None

    def __init__(self, client: Client, device: str | None = None) -> None:
        if not isinstance(client, Client):
            raise InputError(
                f"client={client!r} is no distributed.Client: give Client(cluster), or what "
                "'with mgraph.cluster.local_client(2) as client:' names"
            )
        if client.asynchronous:
            raise InputError("an asynchronous client cannot be used: give one made with asynchronous=False")
        if device not in (None, "cpu", "cuda"):
            raise InputError(
                f"device={device!r} does not go with client=: each worker uses what it sees, so give 'cpu', "
                "'cuda' or None"
            )
        self._client = client
        self._workers: dict[str, DeviceSpec] = _survey(client, device)
        self.specs = tuple(self._workers.values())

    def run(self, program: Program, piece: Callable[[int], Any], plan: Plan, progress: Progress | None) -> Outcome:
        """Run `program` on the workers; matrices stay there, vectors come as NumPy arrays.

        Raises
        ------
        WorkerLostError
            If a worker goes away.
        SchedulerError
            If the scheduler does.
        """
        client, addresses = self._client, list(self._workers)
        with memory_errors(plan.algorithm, plan), _exclusive(client, addresses):
            started = time.perf_counter()
            session = _Session(client, addresses)
            with session:
                session.load(program, self.specs[0].kind, piece)
                loaded = time.perf_counter()
                k, finished = 0, False
                while not finished:
                    k, finished = session.each(worker.advance, k, plan.span)[0]
                    if progress is not None:
                        progress(k, plan.steps)
                solved = time.perf_counter()
                arrays = session.collect(plan)
        timings = {
            "load": loaded - started,
            "solve": solved - loaded,
            "collect": time.perf_counter() - solved,
        }
        return Outcome(arrays, timings)


class _Session:
    """One call on the workers. As a context: opens the session on them, and leaves nothing of it there."""

    def __init__(self, client: Client, addresses: Sequence[str]) -> None:
        self._client = client
        self._addresses = addresses
        self._name = uuid.uuid4().hex
        self._leases: dict[str, Future] = {}
        self._tasks: dict[str, Future] = {}

    def __enter__(self) -> None:
        tasks.check(self._client, self._addresses)
        self._client.run(worker.open_session, self._name, workers=list(self._addresses))

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        try:
            if error is not None:
                self._fail(error)
        finally:
            # Releases the load tasks, by which the workers drop the session.
            self._leases.clear()
            self._tasks.clear()

    def load(self, program: Program, kind: str, piece: Callable[[int], Any]) -> None:
        """Send each worker its piece, load the shards and connect them."""
        for rank, address in enumerate(self._addresses):
            part = [_on_host(piece(rank))]
            [sent] = self._client.scatter(part, workers=[address], hash=False, timeout=tasks.NOTICE)
            self._leases[address] = tasks.submit(
                self._client,
                address,
                worker.load,
                self._name,
                rank,
                self._addresses,
                kind,
                program,
                sent,
                key=worker.load_key(self._name, rank),
            )
        self._tasks = dict(self._leases)
        tasks.results(self._client, self._tasks)

    def each(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Run a task on each worker; return the results once all have ended: Dask's barrier."""
        self._tasks = {
            address: tasks.submit(self._client, address, function, self._name, *arguments)
            for address in self._addresses
        }
        return tasks.results(self._client, self._tasks)

    def collect(self, plan: Plan) -> dict[str, Any]:
        """End the program and return its results."""
        collected = self.each(worker.collect)
        arrays: dict[str, Any] = {
            name: np.concatenate([vectors[name] for vectors, _ in collected]) for name in collected[0][0]
        }
        wide = plan.grid[1]
        for name, dtype in collected[0][1].items():
            self._tasks = {
                address: tasks.submit(self._client, address, worker.take, self._name, name)
                for rows, columns, address in zip(plan.ranges, plan.columns, self._addresses, strict=True)
                if rows[1] > rows[0] and columns[1] > columns[0]
            }
            tasks.settle(self._client, self._tasks)
            blocks = [(address, self._tasks.get(address)) for address in self._addresses]
            arrays[name] = DistributedMatrix(self._client, blocks, plan.ranges[::wide], plan.stored[:wide], dtype)
        return arrays

    def _fail(self, error: BaseException) -> None:
        """Stop every shard, forget the session, and raise what the failure was unless that is `error`."""
        with contextlib.suppress(SchedulerError, OSError):
            self._wind_down()
        verdict = self._verdict(error)
        if self._client.status == "running":
            self._client.cancel([*self._leases.values(), *self._tasks.values()], force=True)
        if verdict is not error:
            raise verdict from error

    def _wind_down(self) -> None:
        there = tasks.present(self._client) & set(self._addresses)
        self._tell(worker.abort_session, there)
        running = [task for address, task in (self._leases | self._tasks).items() if address in there]
        end = time.monotonic() + WIND_DOWN
        while time.monotonic() < end and not all(task.done() for task in running):
            time.sleep(0.02)
        self._tell(worker.drop_session, there)

    def _tell(self, function: Callable[..., None], there: set[str]) -> None:
        self._client.run(function, self._name, workers=sorted(there), on_error="ignore")

    def _verdict(self, error: BaseException) -> BaseException:
        """Return what went wrong: a lost worker or scheduler, or the first error of its own kind."""
        if not isinstance(error, Exception) or isinstance(error, WorkerLostError | SchedulerError):
            return error
        raised = {address: task.exception() for address, task in self._tasks.items() if tasks.failed(task)}
        genuine = next((e for e in raised.values() if not _follows(e)), None)
        unclear = raised or isinstance(error, OSError | KeyError | CancelledError)
        try:
            tasks.check(self._client, self._addresses, tasks.NOTICE if unclear and genuine is None else 0)
        except MgraphError as gone:
            return gone
        if raised and genuine is None:
            return tasks.lost(raised, str(next(iter(raised.values()))))
        return genuine or error


def _follows(error: BaseException) -> bool:
    """Whether an error of a task only shows that another shard or a worker failed."""
    return isinstance(error, Aborted | KilledWorker | CancelledError) or type(error).__name__ == "NcclError"


def _on_host(piece: Any) -> Any:
    """Return a piece, arrays in (named) tuples, with all its arrays in NumPy, as they can be sent."""
    if isinstance(piece, tuple):
        parts = [_on_host(part) for part in piece]
        return type(piece)(*parts) if hasattr(piece, "_fields") else tuple(parts)
    return devices.to_host(piece) if hasattr(piece, "dtype") else piece


def _survey(client: Client, device: str | None) -> dict[str, DeviceSpec]:
    """Return what each worker shall use, by its address, in the order of the addresses."""
    end = time.monotonic() + NO_WORKERS
    # Not by `Client.wait_for_workers`: that replaces what a LocalCluster knows of its workers, and a worker's
    # removal that arrives after it is an error when the cluster is closed (`SpecCluster._update_worker_status`).
    while True:
        addresses = sorted(tasks.present(client))
        if not addresses:
            if time.monotonic() > end:
                raise SchedulerError(f"the scheduler at {client.scheduler.address} has no workers: start some")
            time.sleep(0.1)
            continue
        try:
            task = worker.meeting(device)
            answers = tasks.results(client, {address: tasks.submit(client, address, *task) for address in addresses})
            break
        except WorkerLostError:
            # It went away before the call began, which does not matter.
            if time.monotonic() > end:
                raise
    found = _acquainted(dict(zip(addresses, answers, strict=True)))
    gpus = {address: sight.gpu for address, sight in found.items() if sight.gpu is not None}
    without = sorted(found.keys() - gpus.keys())
    if device == "cuda" and without:
        raise DeviceError(f"device='cuda', but the worker {', '.join(without)} has no usable GPU: use device='cpu'")
    if device == "cpu" or without:
        crowd = Counter(sight.host for sight in found.values())
        return {
            address: replace(
                sight.cpu,
                name=f"cpu of {address}",
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
    return {address: replace(gpu, name=f"{gpu.name} of {address}") for address, gpu in gpus.items()}


def _acquainted(answers: dict[str, worker.Sight | tuple[str, str]]) -> dict[str, worker.Sight]:
    """Return what `worker.meet` answered, by address, or raise VersionError if a worker has another mgraph or none."""
    strangers = {address: answer for address, answer in answers.items() if not isinstance(answer, worker.Sight)}
    if not strangers:
        return cast(dict[str, worker.Sight], answers)
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


@contextlib.contextmanager
def _exclusive(client: Client, addresses: Sequence[str]) -> Iterator[None]:
    """Hold the workers at `addresses` for the block; wait while another call has one of them.

    The holder's name begins with its client, so that whoever waits can free what a dead client holds.
    """
    lock = MultiLock([f"mgraph on {address}" for address in addresses], client=client)
    lock.id = f"{client.id}/{lock.id}"
    try:
        while not lock.acquire(timeout=LOCK_LOOK):
            client.run_on_scheduler(_free_orphans)
    except BaseException:
        # Interrupted, it may still be granted until the scheduler has given up on this request.
        time.sleep(1.5 * LOCK_LOOK)
        client.run_on_scheduler(_free, lock.id)
        raise
    try:
        yield
    finally:
        # Without the scheduler there is no lock either, and the client would wait for it.
        if client.status == "running":
            with contextlib.suppress(OSError):
                lock.release()


def _free(user: str, dask_scheduler: Any) -> None:
    """Free what `user` holds; runs on the scheduler."""
    locks = dask_scheduler.extensions["multi_locks"]
    if user in locks.requests:
        locks.release(id=user)


def _free_orphans(dask_scheduler: Any) -> None:
    """Free what clients hold that are gone; runs on the scheduler."""
    for user in list(dask_scheduler.extensions["multi_locks"].requests):
        if "/" in user and user.split("/")[0] not in dask_scheduler.clients:
            _free(user, dask_scheduler)
