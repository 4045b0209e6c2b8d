"""The options of calls that a caller gives once, with a connection.

A call's own option wins over its connection's, and that over Dask's configuration. They are read where the option is:
`worker_timeout` and `retries` in `mgraph.runtime.dask.watch`, `wait_for_workers` in `mgraph.runtime.dask.survey`.
"""

import weakref
from dataclasses import dataclass
from typing import Any

from distributed import Client

from ...arguments import checked_integer, checked_seconds


@dataclass(frozen=True)
class ConnectionOptions:
    """The options of a connection; None for what its caller has not said."""

    worker_timeout: float | None = None
    wait_for_workers: int | None = None
    retries: int | None = None


_DEFAULT = ConnectionOptions()

_options: weakref.WeakKeyDictionary[Client, ConnectionOptions] = weakref.WeakKeyDictionary()


def checked_options(worker_timeout: Any, wait_for_workers: Any, retries: Any) -> ConnectionOptions:
    """Return the options of a connection to be made, or raise InputError."""
    return ConnectionOptions(
        None if worker_timeout is None else checked_seconds("worker_timeout", worker_timeout, 1),
        None if wait_for_workers is None else checked_integer("wait_for_workers", wait_for_workers, 1),
        None if retries is None else checked_integer("retries", retries, 0),
    )


def set_options(client: Client, options: ConnectionOptions) -> None:
    """Let calls with a client have these options."""
    _options[client] = options


def options_of(client: Client) -> ConnectionOptions:
    """Return the options given with a client's connection."""
    return _options.get(client, _DEFAULT)
