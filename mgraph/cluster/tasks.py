"""Tasks pinned to workers: how they are submitted, and how one waits for them without waiting for the dead.

A task that is pinned to a worker that is gone stays pending for ever. So whoever waits looks twice a second
whether the workers are still there.
"""

import asyncio
import concurrent.futures
import contextlib
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any, TypeVar

from distributed import CancelledError, Client, Future, wait

from ..errors import SchedulerError, WorkerLostError

T = TypeVar("T")

#: Seconds between two looks at the workers while tasks run.
LOOK = 0.5

#: Seconds that the scheduler may take to notice a loss that somebody else has noticed.
NOTICE = 3.0


def submit(
    client: Client, address: str, function: Callable[..., Any], *arguments: Any, key: str | None = None
) -> Future:
    """Submit a task that runs on the worker at `address`, before others and never elsewhere."""
    return client.submit(
        function,
        *arguments,
        key=key,
        workers=[address],
        allow_other_workers=False,
        pure=False,
        retries=0,
        priority=100,
    )


def settle(client: Client, tasks: Mapping[str, Future]) -> None:
    """Wait until all `tasks`, by the address that each is pinned to, have results.

    Raises
    ------
    WorkerLostError
        If one of the workers is gone.
    SchedulerError
        If the scheduler is.
    Exception
        What the first failed task raised.
    """
    pending = True
    while pending:
        with contextlib.suppress(CancelledError):
            _watched(client, _ended(client, list(tasks.values())), tasks)
        if any(task.cancelled() for task in tasks.values()):
            check(client, tasks)
        _raise_failed(tasks)
        # One that had ended is pending again where its worker was lost before the others ended.
        pending = not all(task.done() for task in tasks.values())


async def _ended(client: Client, futures: list[Future]) -> None:
    with client.as_current():
        await wait(futures)


def _watched(client: Client, work: Coroutine[Any, Any, T], tasks: Mapping[str, Future]) -> T:
    """Run a coroutine of the client's that ends when `tasks` have; raise if a worker or one of them fails before.

    Not by a timeout of Dask's: its exception is in a cycle with frames that know the futures, so that what
    the tasks returned would stay on the workers until Python next collects garbage.
    """
    loop: Any = client.loop
    working = asyncio.run_coroutine_threadsafe(work, loop.asyncio_loop)
    try:
        while not concurrent.futures.wait([working], LOOK).done:
            check(client, tasks)
            _raise_failed(tasks)
        return working.result()
    finally:
        working.cancel()


def _raise_failed(tasks: Mapping[str, Future]) -> None:
    for task in filter(failed, tasks.values()):
        task.result()


def failed(task: Future) -> bool:
    """Whether a task has ended without a result."""
    return task.done() and task.status != "finished"


def results(client: Client, tasks: Mapping[str, Future]) -> list[Any]:
    """Wait for `tasks` and fetch their results; raises as `settle` does."""
    settle(client, tasks)
    # A result that went down with its worker would be waited for without end.
    found = _watched(client, _fetch(client, list(tasks.values())), tasks)
    if len(found) < len(tasks):
        check(client, tasks, NOTICE)
        raise lost(tasks, "a result could not be fetched from one of them")
    return found


async def _fetch(client: Client, futures: list[Future]) -> list[Any]:
    # Skipping what is lost: told to raise, Dask leaves errors behind that nobody retrieves.
    return list(await client.gather(futures, errors="skip", asynchronous=True))


def check(client: Client, addresses: Iterable[str], patience: float = 0) -> None:
    """Raise WorkerLostError if a worker at `addresses` is gone, SchedulerError if the scheduler is.

    Parameters
    ----------
    client : Client
        Whose scheduler is asked.
    addresses : iterable of str
        The workers to look for.
    patience : float
        Seconds that the scheduler may take to notice.
    """
    addresses = list(addresses)
    end = time.monotonic() + patience
    while True:
        there = present(client)
        gone = [address for address in addresses if address not in there]
        if gone:
            raise lost(gone)
        if time.monotonic() > end:
            return
        time.sleep(0.1)


def present(client: Client) -> set[str]:
    """Return the addresses of the workers that the scheduler knows.

    Raises
    ------
    SchedulerError
        If it does not answer.
    """
    address = client.scheduler.address if client.scheduler is not None else "?"
    if client.status != "running":
        raise SchedulerError(f"the connection to the scheduler at {address} is {client.status}: is it running?")
    try:
        return set(client.nthreads())
    except (OSError, CancelledError) as error:
        raise SchedulerError(f"the scheduler at {address} does not answer any more: {error}") from error


def lost(addresses: Iterable[str], why: str = "its process or machine is gone") -> WorkerLostError:
    """Return the error that names the workers at `addresses`."""
    return WorkerLostError(
        f"lost the worker {', '.join(addresses)} in the middle of the call: {why} (its log tells); "
        "the client can be used again, on the workers that are left or come back"
    )
