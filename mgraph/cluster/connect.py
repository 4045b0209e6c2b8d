"""Clients of Dask clusters: connecting to a scheduler, and a cluster of this machine's own workers."""

import asyncio
import contextlib
import json
import logging
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from distributed import Client, LocalCluster, Security
from distributed import comm as comms

from .. import device as devices
from ..errors import DeviceError, InputError, SchedulerError


def connect(
    address: str | None = None, scheduler_file: str | os.PathLike[str] | None = None, timeout: float = 10
) -> Client:
    """Return a client of a running scheduler.

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
    try:
        # A client that cannot connect would leave its thread behind.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, _knock(address, timeout)).result()
        return Client(address, timeout=timeout, set_as_default=False)
    except (OSError, ValueError) as error:
        raise SchedulerError(
            f"no scheduler answers at {address} within {timeout:g} s: is it running, is the port open? ({error})"
        ) from error


async def _knock(address: str, timeout: float) -> None:
    """Raise OSError if no Dask server answers at `address`."""
    comm = await comms.connect(address, timeout=timeout, **Security().get_connection_args("client"))
    await comm.close()


def _address_in(path: Path) -> str:
    try:
        return str(json.loads(path.read_text())["address"])
    except OSError as error:
        raise InputError(f"the scheduler file {path} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} is no file that 'dask scheduler --scheduler-file' wrote") from error


@contextlib.contextmanager
def local_client(workers: int, device: str | None = None) -> Iterator[Client]:
    """Start `workers` processes on this machine and close them at the end.

    On GPUs each has one of its own; on the CPU they share the cores. A script that calls this begins with
    ``if __name__ == "__main__":``, as the processes import it.

    Parameters
    ----------
    workers : int
        How many.
    device : {"cpu", "cuda"}, optional
        By default GPUs where there are any.

    Raises
    ------
    DeviceError
        If there are fewer GPUs than workers, or no ``dask-cuda``.
    """
    if workers < 1:
        raise InputError(f"workers={workers} is no number of workers: give 1 or more")
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
    with cluster, Client(cluster, set_as_default=False, direct_to_workers=True) as client:
        yield client


def _cuda_cluster(workers: int) -> LocalCluster:
    there = devices.gpu_count()
    if workers > there:
        raise DeviceError(f"workers={workers} need a GPU each and this machine has {there}: ask for fewer")
    try:
        from dask_cuda import LocalCUDACluster
    except ImportError as error:
        raise DeviceError("workers on GPUs need dask-cuda: pip install 'mgraph[cuda13]'") from error
    return LocalCUDACluster(n_workers=workers, dashboard_address=":0", silence_logs=logging.CRITICAL)
