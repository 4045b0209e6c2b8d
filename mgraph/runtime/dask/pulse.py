"""The pulse of a session: a thread on each worker that reports the shard's progress once a second.

It has an event loop and a connection of its own to the scheduler, so it beats while the worker's event loop is
busy, and while compiled code or a kernel runs, as those release the GIL. A beat is a note in the scheduler's
metadata, which the driver reads; each replaces the one before, and the driver removes them when the call ends.

The pulse also listens: before each beat it asks whether the session still has its lease, which is a task whose
result the driver holds. If it has none, or no beat has succeeded for `timeout` seconds, the session ends. So a worker
that was stopped, and wakes after its call has ended, frees what it holds.
"""

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable
from typing import Any

from distributed import rpc
from distributed.worker import Worker

_log = logging.getLogger(__name__)

#: Seconds between two beats, and that the scheduler may take to answer one.
BEAT = 1.0

#: The place of the beats in the scheduler's metadata; below it lie the client, the session and the worker.
PLACE = "mgraph"

#: The key, beside the beats of a call, of the workers that have answered its request while others have not.
ANSWERED = "answered"

#: How the keys of leases begin, which are strings. Keys of what is sent to workers are tuples that begin with it, so
#: that Dask counts both to one group.
LEASE = "mgraph-lease"


def interval(timeout: float) -> float:
    """Return the seconds between two beats, of which several fit into the timeout."""
    return min(BEAT, timeout / 4)


class Pulse:
    """Beats from its making until `stop`, or until the session has no lease.

    Parameters
    ----------
    worker : Worker
        The worker that the session is on.
    path : tuple of str
        The session's place below `PLACE`.
    lease : str
        The key of the session's lease.
    timeout : float
        Seconds without a beat that succeeds after which the session ends.
    where : callable
        Returns the content of a beat.
    end : callable
        Ends the session; called at most once, from the thread.
    """

    def __init__(
        self,
        worker: Worker,
        path: tuple[str, ...],
        lease: str,
        timeout: float,
        where: Callable[[], dict[str, Any]],
        end: Callable[[], None],
    ) -> None:
        self._worker = worker
        self._path = [PLACE, *path, worker.address]
        self._lease = lease
        self._timeout = timeout
        self._where = where
        self._end = end
        self._pause = interval(timeout)
        self._number = 0
        self._stopped = threading.Event()
        threading.Thread(target=self._run, name="mgraph-pulse", daemon=True).start()

    def stop(self) -> None:
        """Stop beating; returns at once."""
        self._stopped.set()

    def _run(self) -> None:
        # Most calls end before the first beat: they need no connection.
        if self._stopped.wait(self._pause):
            return
        with asyncio.Runner() as runner:
            scheduler = rpc(self._worker.scheduler.address, connection_args=self._worker.connection_args)
            try:
                self._beat(runner, scheduler)
            finally:
                with contextlib.suppress(Exception):
                    runner.run(scheduler.close_rpc())

    def _beat(self, runner: asyncio.Runner, scheduler: Any) -> None:
        missed, logged = 0, False
        while not self._stopped.is_set():
            # Counted, not timed: while this process was stopped, no answer was missed.
            try:
                if not runner.run(asyncio.wait_for(self._tell(scheduler), BEAT)):
                    return self._end()
                missed = 0
            except Exception as error:
                missed += 1
                if not (logged or isinstance(error, OSError)):
                    logged = True
                    _log.exception("a beat of a session failed; the session ends if no later one succeeds")
                if missed * (BEAT + self._pause) >= self._timeout:
                    return self._end()
            self._stopped.wait(self._pause)

    async def _tell(self, scheduler: Any) -> bool:
        """Send a beat if the session has its lease; return whether it has."""
        [state] = (await scheduler.get_task_status(keys=[self._lease])).values()
        if state in (None, "released", "forgotten", "erred"):
            return False
        self._number += 1
        await scheduler.set_metadata(keys=self._path, value={"number": self._number, **self._where()})
        return True
