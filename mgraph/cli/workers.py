"""The Dask workers that the options ask for."""

import contextlib
import importlib
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from .interrupts import Terminated, counted_interrupts, terminable, terminate

#: The files of a client's TLS: the CA's certificate, the client's own, and its key.
Tls = tuple[Path | None, Path | None, Path | None]


def check_workers(
    workers: int | None, scheduler: str | None, scheduler_file: Path | None, tls: Tls, wait: int | None = None
) -> None:
    """Raise unless the options that ask for workers go together."""
    if sum(option is not None for option in (workers, scheduler, scheduler_file)) > 1:
        raise click.UsageError("give only one of --workers, --scheduler and --scheduler-file")
    if wait is not None and scheduler is None and scheduler_file is None:
        raise click.UsageError("--wait-for-workers goes with --scheduler or --scheduler-file")
    if any(tls):
        if scheduler is None and scheduler_file is None:
            raise click.UsageError("--tls-ca-file, --tls-cert and --tls-key go with --scheduler or --scheduler-file")
        ca_file, cert, _ = tls
        if ca_file is None or cert is None:
            raise click.UsageError("give --tls-ca-file and --tls-cert together")


def client_of(
    workers: int | None,
    scheduler: str | None,
    scheduler_file: Path | None,
    tls: Tls,
    device: str | None,
    worker_timeout: float | None = None,
    wait: int | None = None,
) -> contextlib.AbstractContextManager[Any]:
    """Return, as a context, a client of the Dask workers that were asked for, once a scheduler has `wait` of them.

    The context is of None if none were asked for.
    """
    if workers is not None:
        return _local_client(workers, device)
    if scheduler is None and scheduler_file is None:
        return contextlib.nullcontext()
    return _connected(scheduler, scheduler_file, tls, worker_timeout, wait)


@contextlib.contextmanager
def _connected(
    scheduler: str | None, scheduler_file: Path | None, tls: Tls, worker_timeout: float | None, wait: int | None
) -> Iterator[Any]:
    """Connect to a scheduler, and wait for so many of its workers."""
    from ..runtime.dask import await_workers  # and Dask
    from ..runtime.dask.connect import connect, tls_security

    ca_file, cert, key = tls
    security = None if ca_file is None or cert is None else tls_security(ca_file, cert, key)
    with terminable(), connect(scheduler, scheduler_file, security=security) as client:
        if wait is not None:
            await_workers(client, wait, worker_timeout)
        yield client


@contextlib.contextmanager
def _local_client(workers: int, device: str | None) -> Iterator[Any]:
    """Start local workers that ignore the terminal's Ctrl-C: this process handles it and closes them."""
    from ..runtime.dask import local_client  # and Dask

    pressed: list[type[KeyboardInterrupt]] = []

    with contextlib.ExitStack() as started:
        # By default it would end this process alone, which then could not close the workers.
        before_it = signal.signal(signal.SIGTERM, lambda *_: pressed.append(Terminated))
        started.callback(signal.signal, signal.SIGTERM, before_it)
        with counted_interrupts("stopping once the workers have started"):
            # The workers inherit the mask; the thread that counts was there before. Started later, the tracker would
            # unblock the signal.
            importlib.import_module("multiprocessing.resource_tracker").ensure_running()
            handler = signal.signal(signal.SIGINT, lambda *_: pressed.append(KeyboardInterrupt))
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            try:
                client = started.enter_context(local_client(workers, device))
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
                signal.signal(signal.SIGINT, handler)
        signal.signal(signal.SIGTERM, terminate)
        if pressed:
            raise pressed[0]
        yield client
