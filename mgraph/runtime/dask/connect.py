"""Clients of Dask clusters: connecting to a scheduler, and a cluster of this machine's own workers."""

import asyncio
import contextlib
import json
import logging
import os
import signal
import socket
import ssl
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future
from pathlib import Path
from typing import Any

from distributed import Client, LocalCluster, Security
from distributed import comm as comms
from distributed.client import ensure_default_client
from distributed.comm.addressing import get_address_host_port

from ... import device as devices
from ... import limits
from ...arguments import checked_integer, checked_seconds
from ...errors import ArgumentValue, DeviceError, InputError, MgraphError, SchedulerError, WorkerLostError
from .connection import ConnectionOptions, checked_options, set_options

#: The least and the greatest timeout of connect() in seconds; the greatest, 30 years, is what Python can count.
LEAST, MOST = 0.01, 1e9

#: Bytes of memory that starting a worker is counted with: its process has 49 MiB of its own before it works.
_OF_PROCESS = 1 << 26

#: Seconds beyond its timeout after which connect() abandons an attempt that has not ended.
GRACE = 2

#: Seconds that a port may take to answer to TLS when a connection has failed.
PROBE = 2


def connect(
    address: str | None = None,
    scheduler_file: str | os.PathLike[str] | None = None,
    timeout: float | str = 10,
    security: Security | None = None,
    *,
    worker_timeout: float | str | None = None,
    wait_for_workers: int | None = None,
    retries: int | None = None,
) -> Client:
    """Return a client of a running scheduler, Dask's default client until it is closed.

    Parameters
    ----------
    address : str, optional
        The scheduler's address, e.g. ``"tcp://10.0.0.1:8786"``.
    scheduler_file : path, optional
        The file that ``dask scheduler --scheduler-file`` wrote, in place of the address.
    timeout : float or str
        Seconds that the scheduler may take to answer, 0.01 or more, or such as ``"1 minute"``.
    security : distributed.Security, optional
        The CA, certificate and key of a cluster that uses TLS, e.g. ``Security(tls_ca_file="ca.pem",
        tls_client_cert="cert.pem", tls_client_key="key.pem", require_encryption=True)``. By default those that Dask's
        configuration names (``distributed.comm.tls``), if any. With it, an address without ``tcp://`` or ``tls://``
        is taken to be one of TLS.
    worker_timeout : float or str, optional
        That of calls which do not say it: see `mgraph.bfs`, as for the next two.
    wait_for_workers : int, optional
        How many workers such calls wait for.
    retries : int, optional
        How many times such calls, and what lies on workers, may be made again.

    Returns
    -------
    distributed.Client

    Raises
    ------
    SchedulerError
        If the scheduler does not answer, if it uses TLS and `security` does not match, or if it uses none
        although `security` is given.
    InputError
        If there is neither an address nor a readable file, if `timeout` or an option of calls is not valid, or if
        `security` is not a ``Security`` or names files that cannot be used.

    See Also
    --------
    mgraph.cluster.local_client : Workers of this machine.

    Examples
    --------
    >>> import mgraph
    >>> with mgraph.cluster.local_client(2, device="cpu") as started:
    ...     with mgraph.cluster.connect(started.scheduler.address) as client:
    ...         mgraph.bfs(mgraph.generate.grid(3, 4), 0, client=client, device="cpu").distances.max()
    np.int32(5)
    """
    seconds = min(checked_seconds("timeout", timeout, LEAST), MOST)
    options = checked_options(worker_timeout, wait_for_workers, retries)
    encrypted = _encrypts(security)
    if scheduler_file is not None:
        address = _address_in(Path(scheduler_file))
    if address is None:
        raise InputError("connect() needs the scheduler's address or its scheduler_file")
    if encrypted and security is not None:
        address = address if "://" in address else f"tls://{address}"
        if address.startswith("tcp://"):
            raise SchedulerError(*(_mismatch(address, encrypted) or (f"no scheduler answers at {address}",)))
    opening: Future[Client] = Future()
    thread = threading.Thread(target=_open, args=(opening, address, seconds, security), daemon=True)
    thread.start()
    try:
        thread.join(seconds + GRACE)
    finally:
        opening.cancel()  # without effect on one that is done
    try:
        client = opening.result()
    except Exception as error:
        raise SchedulerError(*(_mismatch(address, encrypted) or (_problem(error, address, seconds),))) from error
    set_options(client, options)
    ensure_default_client(client)
    return client


def tls_security(ca_file: str | os.PathLike[str], cert: str | os.PathLike[str], key: Any = None) -> Security:
    """Return the security of a client of a cluster that uses TLS.

    Parameters
    ----------
    ca_file : path
        The certificate of the CA that signed the cluster's certificates.
    cert, key : path
        The client's certificate, and its key unless the same file has both.
    """
    files = {"tls_ca_file": ca_file, "tls_client_cert": cert, "tls_client_key": key}
    return Security(require_encryption=True, **{name: str(file) for name, file in files.items() if file is not None})


def _encrypts(security: Security | None) -> bool:
    """Return whether a user's security, or else that of Dask's configuration, has what TLS needs."""
    if security is not None and not isinstance(security, Security):
        raise InputError(argument="security", value=security, expected="a distributed.Security")
    try:
        return (security or Security()).get_connection_args("client")["ssl_context"] is not None
    except OSError as error:  # a file that is missing, or none of TLS
        raise InputError("the TLS files of ", ArgumentValue("security"), f" cannot be used: {error}") from error


def _open(opening: Future[Client], address: str, timeout: float, security: Security | None) -> None:
    """In a thread: make the client; if `opening` was cancelled in the meantime, close it."""
    try:
        # A client that cannot connect would leave its thread behind.
        asyncio.run(asyncio.wait_for(check_reachable(address, timeout, security or Security()), timeout))
        client = Client(address, timeout=timeout, set_as_default=False, security=security)
    except Exception as error:
        if opening.set_running_or_notify_cancel():
            opening.set_exception(error)
        return
    if opening.set_running_or_notify_cancel():
        opening.set_result(client)
    else:
        client.close()


async def check_reachable(address: str, timeout: float, security: Security) -> None:
    """Raise an exception, OSError if nothing answers, unless a Dask server answers at `address`."""
    comm = await comms.connect(address, timeout=timeout, **security.get_connection_args("client"))
    await comm.close()


def _problem(error: Exception, address: str, timeout: float) -> str:
    """Return the reason, as text, why no client could be made."""
    if isinstance(error, (OSError, CancelledError)):
        why = f" ({error})" if str(error) else ""
        return f"no scheduler answers at {address} within {timeout:g} s: is it running, is the port open?{why}"
    # Errors of parsing bytes that are not Dask's would not help the user.
    why = f" ({error})" if isinstance(error, (ValueError, ImportError)) else ""
    return (
        f"{address} is not a Dask scheduler that can be used from here: is the address right, "
        f"are the versions of Dask the same?{why}"
    )


def _mismatch(address: str, encrypted: bool) -> tuple[str | ArgumentValue, ...]:
    """Return, as text, how the two ends of a failed connection differ in their use of TLS; empty if they do not.

    `encrypted`: whether this end has what TLS needs.
    """
    scheme = address.partition("://")[0] if "://" in address else "tcp"
    if scheme not in ("tcp", "tls"):
        return ()
    answer = _answers_to_tls(address)
    if answer and not encrypted:
        words = f"the scheduler at {address} uses TLS: give its CA file, a certificate and the key to it by "
        return words, ArgumentValue("security")
    if answer and scheme == "tcp":
        return (f"the scheduler at {address} uses TLS: write its address with tls:// in place of tcp://",)
    if answer:
        return (
            f"the scheduler at {address} and this client do not trust each other's certificates: do the CA file, the "
            "certificate and the key given by ",
            ArgumentValue("security"),
            " belong to its cluster?",
        )
    if answer is False and (encrypted or scheme == "tls"):
        words = f"what answers at {address} does not use TLS: leave "
        return words, ArgumentValue("security"), " out, and write its address with tcp://"
    return ()


def _answers_to_tls(address: str) -> bool | None:
    """Return whether what listens at an address speaks TLS; None if it does not answer at all."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with socket.create_connection(get_address_host_port(address), PROBE) as plain, context.wrap_socket(plain):
            return True
    except ssl.SSLError as error:
        return "ALERT" in (error.reason or "")  # by which one that asks for a certificate may answer
    except (OSError, ValueError):
        return None


def _address_in(path: Path) -> str:
    try:
        return str(json.loads(path.read_text())["address"])
    except OSError as error:
        raise InputError(f"the scheduler file {path} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} must be a file that 'dask scheduler --scheduler-file' wrote") from error


def local_client(
    workers: int,
    device: str | None = None,
    *,
    worker_timeout: float | str | None = None,
    wait_for_workers: int | None = None,
    retries: int | None = None,
) -> contextlib.AbstractContextManager[Client]:
    """Return a context that starts `workers` processes on this machine, and closes them at its end.

    ``with local_client(2) as client:`` gives their client, which is Dask's default until the end of the context. On
    GPUs each process has a GPU of its own; on the CPU they share the cores and the memory that this process may use. A
    script must call this below ``if __name__ == "__main__":``, as the processes import the script.

    Parameters
    ----------
    workers : int
        Number of processes.
    device : {"cpu", "cuda"}, optional
        By default GPUs if there are any.
    worker_timeout : float or str, optional
        That of calls which do not say it: see `mgraph.bfs`, as for the next two.
    wait_for_workers : int, optional
        How many workers such calls wait for.
    retries : int, optional
        How many times such calls, and what lies on workers, may be made again.

    Returns
    -------
    context manager of a distributed.Client

    Raises
    ------
    InputError
        If `workers` is not an integer of 1 or more, or an option of calls is not valid.
    MemoryLimitError
        If the free memory is too little to start them.
    DeviceError
        If there are fewer GPUs than workers, or no ``dask-cuda``.
    WorkerLostError
        If the processes do not start, as in a script that does not call this below ``if __name__ == "__main__":``.

    See Also
    --------
    mgraph.cluster.connect : Workers of a running scheduler.

    Examples
    --------
    >>> import mgraph
    >>> with mgraph.cluster.local_client(2, device="cpu") as client:
    ...     mgraph.bfs(mgraph.generate.grid(3, 4), 0, client=client).distances.max()
    np.int32(5)
    """
    options = checked_options(worker_timeout, wait_for_workers, retries)
    count = checked_integer("workers", workers, 1)
    advice = "ask for fewer, at most one a core"
    devices.check_free_memory(f"starting {count:,} workers", count * _OF_PROCESS, devices.find("cpu"), advice)
    return _started(count, device, options)


@contextlib.contextmanager
def _started(workers: int, device: str | None, options: ConnectionOptions) -> Iterator[Client]:
    start = _cuda_cluster if devices.find(device).kind == "cuda" else _cpu_cluster
    try:
        cluster = start(workers)
    except MgraphError:
        raise
    except RuntimeError as error:
        raise WorkerLostError(
            f"the workers' processes did not start ({str(error).rstrip('.')}): a script must call local_client below "
            'if __name__ == "__main__":, as each of them imports it; what else may have ended them is printed above'
        ) from error
    try:
        with cluster, Client(cluster, direct_to_workers=True) as client:
            set_options(client, options)
            yield client
    except BaseException:
        # Ctrl-C may have cut the closing short. Python's end waits for its processes, and stopped ones stay. Dask would
        # close the cluster again then, and wait 10 s for what no longer answers.
        cluster.shutdown_on_close = False
        for pid in [nanny.pid for nanny in cluster.workers.values()]:
            # It may have ended meanwhile.
            with contextlib.suppress(ProcessLookupError):
                if pid is not None:
                    os.kill(pid, signal.SIGKILL)
        raise


def _cpu_cluster(workers: int) -> LocalCluster:
    # The planner keeps to each worker's share of the memory there is, and Dask stops none that uses it.
    return LocalCluster(
        n_workers=workers,
        threads_per_worker=max(1, limits.cores() // workers),
        memory_limit=0,
        dashboard_address=":0",  # any free port: without an address it would be the default one
        silence_logs=logging.CRITICAL,
    )


def _cuda_cluster(workers: int) -> LocalCluster:
    there = devices.gpu_count()
    if workers > there:
        raise DeviceError(
            ArgumentValue("workers", workers), f" need a GPU each, and this machine has {there}: use fewer workers"
        )
    try:
        from dask_cuda import LocalCUDACluster
    except ImportError as error:
        raise DeviceError("workers on GPUs need dask-cuda: pip install 'dask-mgraph[cuda13]'") from error
    return LocalCUDACluster(n_workers=workers, dashboard_address=":0", silence_logs=logging.CRITICAL)
