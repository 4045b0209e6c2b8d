"""Calls that go on after a worker was lost.

A call that has lost a worker is made again on the workers that there are: planned anew for them, its input sent again,
and from its last checkpoint if it writes any. A worker that its nanny starts again takes part if it comes back within
`RETURN` seconds; otherwise the survivors take over. Every other error ends the call: running out of memory, for
example, would only happen again.
"""

import functools
import inspect
import logging
import time
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

from ..arguments import check_without_client, checked_integer
from ..errors import WorkerLostError

_log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

#: Seconds to wait for as many workers as before. A nanny starts a worker again in 2 to 4 s.
RETURN = 6.0


def recovering(call: Callable[P, T]) -> Callable[P, T]:
    """Return a public call that is made again, at most `retries` times, after it has lost a worker.

    The call has an argument `retries`, which only this decorator reads.
    """
    names = list(inspect.signature(call).parameters)

    @functools.wraps(call)
    def recovered(*args: P.args, **options: P.kwargs) -> T:
        given = dict(zip(names, args, strict=False)) | options
        retries, client = given.get("retries"), given.get("client")
        _check(retries, client)
        began, losses = time.monotonic(), list[WorkerLostError]()
        while True:
            try:
                return call(*args, **options)
            except WorkerLostError as error:
                if client is None or len(losses) == allowed(retries):
                    if losses:
                        raise _summed_up(error, losses, time.monotonic() - began) from error
                    raise
                # Not the error itself, whose frames refer to what the call has allocated.
                losses.append(WorkerLostError(*error.parts, workers=error.workers, among=error.among))
            if given.get("checkpoint") is not None:
                options["resume"] = True
            found = _returned(client, losses[-1], given.get("worker_timeout"))
            _log.warning("%s; %s is made again, on the %d workers there are", losses[-1], call.__name__, found)

    return cast(Callable[P, T], recovered)


def _check(retries: Any, client: Any) -> None:
    """Raise InputError unless a call's `retries` can be used."""
    if retries is not None:
        checked_integer("retries", retries, 0)
        if client is None:
            check_without_client(retries=retries)


def _returned(client: Any, loss: WorkerLostError, worker_timeout: Any) -> int:
    """Wait until a scheduler has as many workers as before a loss, at most `RETURN` seconds; return how many it has."""
    from .dask import joined_within

    return int(joined_within(client, loss.among, RETURN, worker_timeout))


def allowed(retries: Any) -> int:
    """Return how many times a call may be made again: `retries`, else that of Dask's configuration, else 2."""
    if retries is not None:
        return int(retries)
    from .dask import configured_retries

    return configured_retries()


def _summed_up(last: WorkerLostError, losses: list[WorkerLostError], seconds: float) -> WorkerLostError:
    """Return the last error of a call, with the workers that it had lost before."""
    before = "; ".join(", ".join(loss.workers) or "one that is not known" for loss in losses)
    text = f"; the call was made {len(losses) + 1} times in {seconds:.0f} s, and had lost before: {before}"
    return WorkerLostError(*last.parts, text, workers=last.workers, among=last.among)
