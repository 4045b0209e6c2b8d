"""The workers of a call or a graph: which ones there are, their devices, and the memory that they have.

The workers are listed once, when a `Cluster` is made, in the order of their addresses.
"""

import contextlib
import copy
import logging
import platform
import time
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from distributed import Client, Future, Scheduler, secede
from distributed.worker import thread_state

from ...arguments import checked_integer
from ...errors import (
    Argument,
    ArgumentValue,
    DeviceError,
    InputError,
    SchedulerError,
    VersionError,
    WorkerLostError,
    shown,
)
from ...planning.devices import DeviceSpec
from ...version import __version__
from . import events, shared, tasks, worker
from .connection import options_of
from .watch import Watch, check_own, checked_timeout, opened, recovery_wait, wait_timeout

_log = logging.getLogger(__name__)

#: Seconds to wait for the first worker.
NO_WORKERS = 10.0

#: Bytes of free memory below which a worker is left out: Python itself varies by as much.
SPARE = 16 << 20


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

    def __init__(
        self,
        client: Client,
        device: str | None = None,
        worker_timeout: float | str | None = None,
        workers: Sequence[str | int] | None = None,
        *,
        wait_for_workers: int | None = None,
    ) -> None:
        self.client, self._device = checked_client(client), checked_kind(device)
        self.timeout = checked_timeout(worker_timeout, client)
        #: Whether the caller has given the time for which workers may be silent.
        self.timeout_given = worker_timeout is not None
        leave_threads()
        await_workers(client, wait_for_workers, self.timeout)
        with opened(client):
            chosen = None if workers is None else _wanted(client, workers, self.timeout)
            #: The names of the workers that were chosen; None if all are used.
            self.names = None if chosen is None else tuple(chosen.values())
            self._see(None if chosen is None else tuple(chosen))

    def _see(self, wanted: tuple[str, ...] | None) -> None:
        """Look at the workers and their devices; at all workers unless their addresses are given."""
        found, sights = _survey(self.client, self._device, self.timeout, wanted)
        self.addresses, self.specs = tuple(found), tuple(found.values())
        self.readers = frozenset(address for address in found if sights[address].reads)
        #: What tells each worker's process from others at its address.
        self.processes = {address: sights[address].process for address in found}

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


def checked_client(client: Any) -> Client:
    """Return a user's client, or raise InputError."""
    if not isinstance(client, Client):
        joined = isinstance(client, str)
        way = f"mgraph.cluster.connect({shown(client)})" if joined else "Client(cluster)"
        advice = f": use {way}, or the client of 'with mgraph.cluster.local_client(2) as client:'"
        raise InputError(advice, argument="client", value=client, expected="a distributed.Client")
    if client.asynchronous:
        raise InputError(Argument("client"), " must be synchronous: make it with asynchronous=False")
    check_own(client)
    return client


def checked_kind(device: Any) -> str | None:
    """Return the kind of device that workers are to use, or raise InputError."""
    if device is not None and not (isinstance(device, str) and device in ("cpu", "cuda")):
        advice = ": each worker uses the GPU that it sees"
        raise InputError(advice, argument="device", value=device, expected="'cpu' or 'cuda' with workers")
    return device


def leave_threads() -> None:
    """In a Dask task, leave the worker's pool of threads: a call may need this thread's place in it."""
    if hasattr(thread_state, "key") and not getattr(thread_state, "actor", False):  # this thread runs a task
        with contextlib.suppress(KeyError):  # which has left it before
            secede()


def _wanted(client: Client, workers: Any, timeout: float) -> dict[str, Any]:
    """Return the names of the workers that a user has chosen, by address and in that order, or raise InputError."""
    several = isinstance(workers, Sequence) and not isinstance(workers, str | bytes) and len(workers) > 0
    if not several or not all(isinstance(each, str | int) and not isinstance(each, bool) for each in workers):
        expected = "a sequence of workers' addresses or names"
        raise InputError(argument="workers", value=workers, expected=expected)
    there = Watch(client, timeout=timeout).on_scheduler(_names)
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
) -> tuple[dict[str, DeviceSpec], dict[str, worker.WorkerInfo]]:
    """Return the device that each worker will use, by address and in that order, and what all have answered.

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
                task = worker.probe_task(device, token)
                asked = {a: tasks.submit(client, a, *task, key=tasks.key_of("", "probe")) for a in addresses}
                answers = tasks.results(watch, asked)
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
    sights = _check_versions(dict(zip(addresses, answers, strict=True)))
    found = devices_of(sights, device)
    return found if wanted is not None else _spare(found), sights


def await_workers(client: Client, count: int | None, worker_timeout: float | str | None = None) -> None:
    """Wait until a scheduler has `count` workers that are not silent; by default as many as its connection says.

    Raises
    ------
    InputError
        If `count` is not an integer of 1 or more, or for an invalid ``mgraph.wait-timeout`` of Dask's configuration.
    SchedulerError
        If it still has fewer when that time is over, or does not answer for `worker_timeout`.
    """
    if count is None:
        count = options_of(client).wait_for_workers
    if count is None:
        return
    count, seconds = checked_integer("wait_for_workers", count, 1), wait_timeout()
    with opened(client):
        watch = Watch(client, timeout=worker_timeout)
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
        watch = Watch(client, timeout=worker_timeout)
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
            called = watch.on_scheduler(_names)
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


def _check_versions(answers: dict[str, worker.WorkerInfo | tuple[str, str]]) -> dict[str, worker.WorkerInfo]:
    """Return what `worker.probe` answered, by address, or raise VersionError if a worker has another mgraph or none."""
    mismatched = {address: answer for address, answer in answers.items() if not isinstance(answer, worker.WorkerInfo)}
    if not mismatched:
        return cast(dict[str, worker.WorkerInfo], answers)
    here = platform.python_version()
    problems = [
        f"the worker {address} {problem}" + (f", under Python {python}" if python != here else "")
        for address, (problem, python) in mismatched.items()
    ]
    raise VersionError(
        f"{'; '.join(problems)}: this client has mgraph {__version__}"
        + (f", under Python {here}" if any(python != here for _, python in mismatched.values()) else "")
        + "; install that version for every worker"
    )
