"""Calls that go on after a worker was lost.

A call that has lost a worker is made again on the workers that there are: planned anew for them, its input sent again,
or made there again if it lay on workers, and from its last checkpoint if it writes any. A worker that its nanny starts
again takes part if it comes back within a few seconds; otherwise the survivors take over. Every other error ends the
call: running out of memory, for example, would only happen again.

The folder of a call's checkpoints is looked at once, before the first attempt, and held until the call ends.
"""

import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from ..arguments import check_without_client, checked_integer
from ..errors import WorkerLostError
from .checkpoints import checked_checkpoints, held
from .losses import retry_after_loss
from .run import CHECKPOINTING

_log = logging.getLogger(__name__)

T = TypeVar("T")


def is_recoverable(args: Sequence[Any], options: Mapping[str, Any]) -> bool:
    """Return whether a call with these arguments may lose a worker, or has checkpoints to hold."""
    if "client" in options or "retries" in options or not CHECKPOINTING.isdisjoint(options):
        return True
    # Of their types, as a graph answers for a name that it lacks with advice.
    for value in (*args, *options.values()):
        if hasattr(type(value), "_lies"):
            return True
    return False


def recovered(call: Callable[..., T], args: Sequence[Any], options: Mapping[str, Any]) -> T:
    """Return what a call returns, made again at most `retries` times after it has lost a worker.

    Only this function reads the option `retries`. A call with an option `checkpoint` gets there the `Checkpoints` that
    the caller asks for, or already holds.
    """
    given = dict(options)
    retries, client, asked = given.get("retries"), given.get("client"), given.get("checkpoint")
    placed = [value for value in (*args, *given.values()) if hasattr(value, "_lies")]
    _check(retries, client, placed)
    wanted = checked_checkpoints(asked, given.get("checkpoint_every"), given.get("resume", False))
    if wanted is not None:
        given["checkpoint"] = wanted

    before: list[Any] = []  # where what is placed lies when an attempt begins
    lost: list[str] = []

    def again(loss: WorkerLostError) -> None:
        from .dask import restore, returned

        lost.append(", ".join(loss.workers) or "a worker that is not known")
        if wanted is not None:
            given["checkpoint"] = replace(wanted, resume=True)
        for each in placed:
            restore(each)
        if client is not None:
            found = returned(client, call.__name__, loss.among, given.get("worker_timeout"))
            _log.warning("%s lost %s: it is made again, on the %d workers there are", call.__name__, lost[-1], found)

    def possible() -> bool:
        from .dask import restorable

        return client is not None or restorable(placed, before)

    def allowed() -> int:
        from .dask import retries_of

        return int(retries) if retries is not None else retries_of(before[0].client if client is None else client)

    def attempt() -> T:
        if placed:
            from .dask import groups_of, leave_out

            before[:] = groups_of(placed)
            for each in placed:
                leave_out(each)
        return call(*args, **given)

    with contextlib.nullcontext() if wanted is asked else held(wanted):
        result = retry_after_loss(attempt, again, allowed, possible)
    solved = getattr(result, "solved", None)
    if solved is not None:
        solved.lost += tuple(lost)
    return result


def _check(retries: Any, client: Any, placed: list[Any]) -> None:
    """Raise InputError unless a call's `retries` can be used: with a client, or with what is placed on workers.

    Those of Dask's configuration are checked too, so that what is wrong there does not end a call after hours.
    """
    if client is not None or placed:
        from .dask import configured_retries, recovery_wait

        recovery_wait()
        if retries is None:
            configured_retries()
    if retries is not None:
        checked_integer("retries", retries, 0)
        if client is None and not placed:
            check_without_client(retries=retries)
