"""Clients of Dask clusters: connecting to a scheduler, and a cluster of this machine's own workers."""

import asyncio
import contextlib
import json
import logging
import os
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future
from pathlib import Path

import numpy as np
from distributed import Client, LocalCluster, Security
from distributed import comm as comms
from distributed.client import ensure_default_client

from .. import device as devices
from ..errors import DeviceError, InputError, SchedulerError

#: Seconds beyond its timeout that connect() waits before it gives up what does not end by itself.
GRACE = 2


def connect(
    address: str | None = None, scheduler_file: str | os.PathLike[str] | None = None, timeout: float = 10
) -> Client:
    """Return a client of a running scheduler, Dask's default client until it is closed.

    Parameters
    ----------
    address : str, optional
        The scheduler's address, e.g. ``"tcp://10.0.0.1:8786"``.
    scheduler_file : path, optional
        The file that ``dask scheduler --scheduler-file`` wrote, in place of the address.
    timeout : float
        Seconds that the scheduler may take to answer.

    Raises
    ------
    SchedulerError
        If it does not answer.
    InputError
        If there is neither an address nor a readable file.
    """
    if scheduler_file is not None:
        address = _address_in(Path(scheduler_file))
    if address is None:
        raise InputError("connect() needs the scheduler's address or its scheduler_file")
    opening: Future[Client] = Future()
    thread = threading.Thread(target=_open, args=(opening, address, timeout), daemon=True)
    thread.start()
    try:
        thread.join(timeout + GRACE)
    finally:
        opening.cancel()  # without effect on one that is done
    try:
        client = opening.result()
    except (OSError, CancelledError) as error:
        why = f" ({error})" if str(error) else ""
        raise SchedulerError(
            f"no scheduler answers at {address} within {timeout:g} s: is it running, is the port open?{why}"
        ) from error
    except Exception as error:
        # Those of reading bytes that are not Dask's would tell the user nothing.
        why = f" ({error})" if isinstance(error, (ValueError, ImportError)) else ""
        raise SchedulerError(
            f"{address} is no Dask scheduler that can be used from here: is the address right, "
            f"are the versions of Dask the same?{why}"
        ) from error
    ensure_default_client(client)
    return client


def _open(opening: Future[Client], address: str, timeout: float) -> None:
    """In a thread: make the client; if `opening` was cancelled in the meantime, close it."""
    try:
        # A client that cannot connect would leave its thread behind.
        asyncio.run(asyncio.wait_for(_knock(address, timeout), timeout))
        client = Client(address, timeout=timeout, set_as_default=False)
    except Exception as error:
        if opening.set_running_or_notify_cancel():
            opening.set_exception(error)
        return
    if opening.set_running_or_notify_cancel():
        opening.set_result(client)
    else:
        client.close()


async def _knock(address: str, timeout: float) -> None:
    """Raise an exception, OSError if nothing answers, unless a Dask server answers at `address`."""
    comm = await comms.connect(address, timeout=timeout, **Security().get_connection_args("client"))
    await comm.close()


def _address_in(path: Path) -> str:
    try:
        return str(json.loads(path.read_text())["address"])
    except OSError as error:
        raise InputError(f"the scheduler file {path} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} is no file that 'dask scheduler --scheduler-file' wrote") from error


def local_client(workers: int, device: str | None = None) -> contextlib.AbstractContextManager[Client]:
    """Return a context that starts `workers` processes on this machine, and closes them at its end.

    What it names, ``with local_client(2) as client:``, is their client, Dask's default until then. On GPUs each
    process has one of its own; on the CPU they share the cores. A script that calls this begins with
    ``if __name__ == "__main__":``, as the processes import it.

    Parameters
    ----------
    workers : int
        How many.
    device : {"cpu", "cuda"}, optional
        By default GPUs where there are any.

    Raises
    ------
    InputError
        If `workers` is no number of them.
    DeviceError
        If there are fewer GPUs than workers, or no ``dask-cuda``.
    """
    if isinstance(workers, bool) or not isinstance(workers, (int, np.integer)) or workers < 1:
        raise InputError(f"workers={workers!r} is no number of workers: give 1 or more")
    return _started(int(workers), device)


@contextlib.contextmanager
def _started(workers: int, device: str | None) -> Iterator[Client]:
    if devices.find(device).kind == "cuda":
        cluster = _cuda_cluster(workers)
    else:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        # The planner keeps to the memory there is, and Dask stops no worker that uses its share of it.
        cluster = LocalCluster(
            n_workers=workers,
            threads_per_worker=max(1, cores // workers),
            memory_limit=0,
            dashboard_address=":0",  # any free port: without an address it would be the default one
            silence_logs=logging.CRITICAL,
        )
    with cluster, Client(cluster, direct_to_workers=True) as client:
        yield client


def _cuda_cluster(workers: int) -> LocalCluster:
    there = devices.gpu_count()
    if workers > there:
        raise DeviceError(f"workers={workers} need a GPU each and this machine has {there}: ask for fewer")
    try:
        from dask_cuda import LocalCUDACluster
    except ImportError as error:
        raise DeviceError("workers on GPUs need dask-cuda: pip install 'dask-mgraph[cuda13]'") from error
    return LocalCUDACluster(n_workers=workers, dashboard_address=":0", silence_logs=logging.CRITICAL)
