"""The Dask workers that the options ask for."""

import contextlib
import importlib
import signal
from collections.abc import Iterator
from typing import Any

import click

from .interrupts import Terminated, counted_interrupts, terminable, terminate
from .options import Scheduler


def check_workers(workers: int | None, at: Scheduler) -> None:
    """Raise unless the options that ask for workers go together."""
    if sum(option is not None for option in (workers, at.scheduler, at.scheduler_file)) > 1:
        raise click.UsageError("give only one of --workers, --scheduler and --scheduler-file")
    if at.wait_for_workers is not None and not at.named:
        raise click.UsageError("--wait-for-workers goes with --scheduler or --scheduler-file")
    if at.tls_ca_file or at.tls_cert or at.tls_key:
        if not at.named:
            raise click.UsageError("--tls-ca-file, --tls-cert and --tls-key go with --scheduler or --scheduler-file")
        if at.tls_ca_file is None or at.tls_cert is None:
            raise click.UsageError("give --tls-ca-file and --tls-cert together")


def client_of(workers: int | None, at: Scheduler, device: str | None = None) -> contextlib.AbstractContextManager[Any]:
    """Return, as a context, a client of the Dask workers that were asked for, once a scheduler has enough of them.

    The context is of None if none were asked for.
    """
    if workers is not None:
        return _local_client(workers, device)
    return _connected(at) if at.named else contextlib.nullcontext()


@contextlib.contextmanager
def _connected(at: Scheduler) -> Iterator[Any]:
    """Connect to a scheduler, and wait for the workers that it is to have."""
    from ..runtime.dask import await_workers  # and Dask
    from ..runtime.dask.connect import connect, tls_security

    files = at.tls_ca_file, at.tls_cert
    security = None if files[0] is None or files[1] is None else tls_security(files[0], files[1], at.tls_key)
    with terminable(), connect(at.scheduler, at.scheduler_file, security=security) as client:
        if at.wait_for_workers is not None:
            await_workers(client, at.wait_for_workers, at.worker_timeout)
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
            except Exception as error:
                if pressed:  # by a whole process group, whose workers could not start for it
                    raise pressed[0] from error
                raise
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
                signal.signal(signal.SIGINT, handler)
        signal.signal(signal.SIGTERM, terminate)
        if pressed:
            raise pressed[0]
        yield client
