"""Why workers could not write: returned by their tasks, and raised by the client with the worker's address."""

import errno
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from distributed import get_worker

from ...errors import MgraphError


class Trouble(NamedTuple):
    """Why a worker could not write."""

    address: str
    number: int
    text: str


def refuse(troubles: Sequence[Trouble | None], path: str) -> None:
    """Raise OSError for the first trouble."""
    found = next((trouble for trouble in troubles if trouble is not None), None)
    if found is not None:
        shared = " (the path must be on storage that all workers share)" if found.number == errno.ENOENT else ""
        message = f"the worker {found.address} cannot write: {found.text}{shared}; nothing was written"
        raise OSError(found.number, message, path)


def attempted(function: Callable[..., object], *arguments: Any) -> Trouble | None:
    """Call a function on a worker; return why it failed, unless mgraph raises that."""
    try:
        function(*arguments)
    except (MgraphError, MemoryError):
        raise
    except Exception as error:  # of the system, or of any library that fsspec writes by
        return Trouble(get_worker().address, getattr(error, "errno", None) or errno.EIO, str(error))
    return None
