"""Attempts of what may lose a worker: how often it is tried, and the error of the last attempt."""

import time
from collections.abc import Callable
from typing import TypeVar

from ..errors import WorkerLostError

T = TypeVar("T")


def retry_after_loss(
    attempt: Callable[[], T],
    again: Callable[[WorkerLostError], None],
    retries: Callable[[], int],
    possible: Callable[[], bool] = lambda: True,
) -> T:
    """Return what an attempt returns; after a worker was lost, it is made again.

    Parameters
    ----------
    attempt : callable
        Returns the result, or raises WorkerLostError.
    again : callable
        Prepares the next attempt, given the last loss. A worker that is lost meanwhile counts as another loss.
    retries : callable
        Returns how many times an attempt may be made again; asked after a loss if another can succeed.
    possible : callable
        Returns whether another attempt can succeed.

    Raises
    ------
    WorkerLostError
        That of the last attempt, with the workers that were lost before.
    """
    began, losses = time.monotonic(), list[WorkerLostError]()
    while True:
        try:
            if losses:
                again(losses[-1])
            return attempt()
        except WorkerLostError as error:
            if not possible() or len(losses) >= retries():
                if losses:
                    raise _summed_up(error, losses, time.monotonic() - began) from error
                raise
            # Not the error itself, whose frames refer to what the attempt has allocated.
            losses.append(WorkerLostError(*error.parts, workers=error.workers, among=error.among))


def _summed_up(last: WorkerLostError, losses: list[WorkerLostError], seconds: float) -> WorkerLostError:
    """Return the last error of a call, with the workers that it had lost before."""
    before = "; ".join(", ".join(loss.workers) or "one that is not known" for loss in losses)
    text = f"; the call was made {len(losses) + 1} times in {seconds:.0f} s, and had lost before: {before}"
    return WorkerLostError(*last.parts, text, workers=last.workers, among=last.among)
