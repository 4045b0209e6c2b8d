"""Why workers could not write: returned by their tasks, and raised by the client with the worker's address."""

import errno
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from distributed import get_worker

from ...errors import MgraphError

T = TypeVar("T")


class Trouble(NamedTuple):
    """Why a worker could not write."""

    address: str
    number: int
    text: str


def refuse(answers: Sequence[T | Trouble], path: str) -> list[T]:
    """Return what tasks have returned, or raise OSError for the first trouble."""
    found = next((answer for answer in answers if isinstance(answer, Trouble)), None)
    if found is not None:
        shared = " (the path must be on storage that all workers share)" if found.number == errno.ENOENT else ""
        message = f"the worker {found.address} cannot write: {found.text}{shared}; nothing was written"
        raise OSError(found.number, message, path)
    return [answer for answer in answers if not isinstance(answer, Trouble)]


def attempted(function: Callable[..., T], *arguments: Any) -> T | Trouble:
    """Return what a function returns on a worker, or why it failed, unless mgraph raises that."""
    try:
        return function(*arguments)
    except (MgraphError, MemoryError):
        raise
    except Exception as error:  # of the system, or of any library that fsspec writes by
        return Trouble(get_worker().address, getattr(error, "errno", None) or errno.EIO, str(error))
