"""Tasks pinned to workers: submitting them, and waiting for them without waiting for lost workers.

A task pinned to a worker that is gone, or stopped, stays pending for ever.
So all waiting is done through a `Watch`.

A task `reported` returns errors of mgraph, of memory and of the system as a `Failure`: Dask would log them at length on
the worker. Dask tells the client the type of each result when the task ends, so a failure is seen before anything is
fetched.
"""

import asyncio
import concurrent.futures
import contextlib
import copy
import functools
import gc
import traceback
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

from dask import annotate, get_annotations
from distributed import CancelledError, Client, Future, KilledWorker, Scheduler, wait
from distributed.protocol import Serialize, deserialize
from distributed.protocol.pickle import dumps

from ...errors import MgraphError
from ..communicator import PeerMissingError
from .comm import Aborted
from .watch import NOTICE, Watch, lost, opened

T = TypeVar("T")

#: The span of Dask that tasks are in, unless the caller has one. Without a span, Dask makes one for each step of a
#: call. It keeps them on the scheduler, and their figures on the workers, for ever.
SPAN = {"name": ("mgraph",), "ids": ("mgraph",)}


class Failure:
    """The result of a task that failed, returned instead of raising: the error, and its traceback as text."""

    def __init__(self, error: Exception, trace: str) -> None:
        self.error = error
        self.trace = trace

    def noted(self) -> BaseException:
        """Return a copy of the error, with a note of the traceback if it has none."""
        error = _copied(self.error)
        if self.trace and not getattr(error, "__notes__", None):
            error.add_note(f"On the worker:\n{self.trace}")
        return error


def reported(task: Callable[..., T]) -> Callable[..., T | Failure]:
    """Return a task that returns the errors of mgraph, of memory and of the system as a `Failure`."""

    @functools.wraps(task)
    def run(*arguments: Any) -> T | Failure:
        try:
            return task(*arguments)
        except (MgraphError, MemoryError, OSError) as error:
            failure = Failure(error, traceback.format_exc())
            # The frames of the traceback refer to the shard's arrays, and would keep them as long as the error is kept.
            error.__cause__ = error.__context__ = None
            error.with_traceback(None)
        # The session ends: free reference cycles now, not when Python next collects.
        gc.collect()
        return failure

    return run


def in_span() -> contextlib.AbstractContextManager[None]:
    """Return a context: tasks that are submitted in it are in mgraph's span, or in the caller's."""
    context: contextlib.AbstractContextManager[None] = annotate(span=get_annotations().get("span", SPAN))
    return context


def submit(
    client: Client,
    address: str,
    function: Callable[..., Any],
    *arguments: Any,
    call: str = "",
    key: str | None = None,
) -> Future:
    """Submit a task that runs on the worker at `address`, before others and never elsewhere.

    Dask's dashboard shows it as ``mgraph-apsp-load``, of the `call` and the function, unless it has a `key`.
    """
    with in_span(), opened(client):
        return client.submit(
            function,
            *arguments,
            key=key or key_of(call, function.__name__),
            workers=[address],
            allow_other_workers=False,
            pure=False,
            retries=0,
            priority=100,
        )


def computed(client: Client, delayed: Sequence[Any], address: str | None = None) -> list[Future]:
    """Have Dask compute objects of a user's collection; return their futures.

    Parameters
    ----------
    client : Client
        The client.
    delayed : sequence of Delayed
        The objects.
    address : str, optional
        The worker that computes them; by default whichever Dask chooses.
    """
    with in_span(), opened(client):
        return list(client.compute(list(delayed), workers=None if address is None else [address]))


def key_of(call: str, function: str) -> str:
    """Return a new key of a task of a call; Dask's name of all such tasks ends where its words do."""
    words = "-".join(filter(None, ("mgraph", call, function.strip("<_>"))))
    return f"{words.replace('_', '-')}-{uuid.uuid4().hex}"


def settle(watch: Watch, tasks: Mapping[str, Future]) -> None:
    """Wait until all `tasks`, by the address that each is pinned to, have results.

    Raises
    ------
    WorkerLostError
        If a worker of the watch is gone or silent.
    SchedulerError
        If the scheduler is.
    Exception
        The error of the first failed task.
    """

    def meanwhile() -> None:
        _raise_failed(watch, tasks)
        watch.ended = {address for address, task in tasks.items() if task.done()}

    pending = True
    watch.ended = set()
    while pending:
        with contextlib.suppress(CancelledError, concurrent.futures.CancelledError):
            watch.wait(_ended, watch.client, list(tasks.values()), meanwhile=meanwhile)
        if any(task.cancelled() for task in tasks.values()):
            watch.check()
        _raise_failed(watch, tasks)
        # A task that had ended is pending again if its worker was lost before the others ended.
        pending = not all(task.done() for task in tasks.values())


async def _ended(client: Client, futures: list[Future]) -> None:
    with client.as_current():
        await wait(futures)


def _raise_failed(watch: Watch, tasks: Mapping[str, Future]) -> None:
    failures = {address: task for address, task in tasks.items() if failed(task)}
    for task in failures.values():
        if task.status == "error":  # of the user's own tasks, and of what fails in Dask
            error, frames = watch.wait(_raised, task)
            raise _copied(error).with_traceback(frames)
        if task.status == "finished":
            raise error_of(watch, task)
    if failures:
        watch.check(NOTICE)  # raises if a worker is gone
        where = [address for address in watch.addresses if address in failures] or watch.addresses
        raise lost(where, "its task was cancelled, as after the scheduler was started again")


async def _raised(task: Future) -> tuple[BaseException, Any]:
    """Return the error that Dask keeps of a failed task, and its traceback.

    On the event loop of the client: `Future.exception` would wait for ever for one that another thread has stopped.
    """
    error, frames = await task.exception(asynchronous=True), await task.traceback(asynchronous=True)
    return error or Aborted("the task was cancelled"), frames


def _copied(error: Any) -> BaseException:
    """Return a copy of an error that Dask keeps.

    Raised itself, it would keep the frames of the call, and these the futures; so would that of a worker in this
    process.
    """
    copied = error
    with contextlib.suppress(Exception):  # not every error can be copied
        copied = copy.copy(error)
    return copied if isinstance(copied, BaseException) else error


def failed(task: Future) -> bool:
    """Whether a task has ended without a result."""
    return task.done() and (task.status != "finished" or task.type is Failure)


def follows(error: BaseException) -> bool:
    """Whether an error of a shard only shows that another shard or a worker failed."""
    return (
        isinstance(error, Aborted | PeerMissingError | KilledWorker | CancelledError)
        or type(error).__name__ == "NcclError"
    )


def error_of(watch: Watch, task: Future) -> BaseException:
    """Return the error of a failed task; if it cannot be fetched any more, an error with the reason."""
    if task.status not in ("error", "finished"):
        return Aborted("the task was cancelled")
    try:
        if task.status == "error":
            return watch.wait(_raised, task)[0]
        found = watch.wait(_fetch, watch.client, [task])
    except MgraphError as gone:
        return gone
    if not found:
        return Aborted("the error was lost with its worker")
    [failure] = found
    noted: BaseException = failure.noted()
    return noted


def results(watch: Watch, tasks: Mapping[str, Future]) -> list[Any]:
    """Wait for `tasks` and fetch their results; raises as `settle` does."""
    settle(watch, tasks)
    # Dask would wait for ever for a result that was lost with its worker.
    fetched = list(tasks.values())
    found = watch.wait(_fetch, watch.client, fetched, meanwhile=lambda: _raise_failed(watch, tasks))
    if len(found) < len(tasks):
        watch.check(NOTICE)
        raise lost(tasks, "a result could not be fetched from one of them")
    # They all had results. Dask has made a lost one again, on a worker that came back at its former address.
    again = [address for address, result in zip(tasks, found, strict=True) if isinstance(result, Failure)]
    if again:
        raise lost(again, "it was restarted, and its result is gone")
    return found


async def _fetch(client: Client, futures: list[Future]) -> list[Any]:
    # Skip what is lost: with errors="raise", Dask leaves exceptions behind that are never retrieved.
    return list(await client.gather(futures, errors="skip", asynchronous=True))


def places(watch: Watch, tasks: Collection[Future]) -> Mapping[Any, Collection[str]]:
    """Return the addresses of the workers that have the results of tasks, by the tasks' keys."""
    return watch.wait(_places, watch.client, [task.key for task in tasks])


async def _places(client: Client, keys: list[Any]) -> Mapping[Any, Collection[str]]:
    scheduler: Any = client.scheduler
    found: Mapping[Any, Collection[str]] = await scheduler.who_has(keys=keys)
    return found


def tell(
    watch: Watch, addresses: Collection[str], function: Callable[..., Any], *arguments: Any, within: float
) -> None:
    """Run a function on the event loop of the workers at `addresses`, for `within` seconds at most; ignore errors."""
    if addresses:
        watch.attempt(within, asked, watch.client, addresses, function, *arguments)


async def asked(
    client: Client, addresses: Collection[str], function: Callable[..., Any], *arguments: Any
) -> dict[str, Any]:
    """Run a function on the event loop of the workers at `addresses`; return what those that are there answer.

    Not by `Client.run`: the scheduler tries for half a minute to connect to a worker that has left, and logs that it
    has failed.
    """
    given = list(addresses), dumps(function), dumps(arguments)
    found: dict[str, Any] = await client.run_on_scheduler(_answers, *given, asynchronous=True)
    return found


async def _answers(
    addresses: Sequence[str], function: bytes, arguments: bytes, dask_scheduler: Scheduler
) -> dict[str, Any]:
    """Return what the workers answer that are there; runs on the scheduler."""

    async def ask(address: str) -> dict[str, Any]:
        with contextlib.suppress(OSError):  # it has left meanwhile
            found: dict[str, Any] = await dask_scheduler.rpc(address).run(function=function, args=arguments)
            return found
        return {"status": "gone"}

    there = [address for address in addresses if address in dask_scheduler.workers]
    found = zip(there, await asyncio.gather(*map(ask, there)), strict=True)
    return {address: _content(answer["result"]) for address, answer in found if answer["status"] == "OK"}


def _content(result: Any) -> Any:
    """Return what a scheduler has not unpacked."""
    return result.data if isinstance(result, Serialize) else deserialize(result.header, result.frames)
