"""A scheduler and workers with nannies, in processes of their own, so that each can be killed by itself.

On a *proxied* site the workers are reached through proxies, which can close, hold or delay what one worker sends to
another. What the scheduler sends to a worker passes.
"""

import asyncio
import contextlib
import functools
import logging
import multiprocessing
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask
import psutil
from distributed import Client, Nanny, Scheduler, Worker

from tests.support.clusters import present
from tests.support.ports import free_port

#: Seconds within which processes start and end, on a busy machine.
PATIENCE = 120.0

#: Seconds within which nannies close their workers.
CLOSING = 20.0

#: Records that Dask keeps in schedulers, workers and clients, with how many entries of each. By default they are full
#: after minutes or an hour (profiles: 1,000, one a second; measures of the system: 7,200, two a second), and until then
#: processes grow. Here they are full before a soak's first sample.
RECORDS = {
    "distributed.admin.log-length": 20,
    "distributed.admin.low-level-log-length": 20,
    "distributed.admin.system-monitor.log-length": 20,
    "distributed.diagnostics.computations.max-history": 10,
    "distributed.diagnostics.erred-tasks.max-history": 10,
}

#: The beginning of a record in Dask's logs.
RECORD = re.compile(r"^(?=\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+ - )", re.MULTILINE)

#: What Dask logs of a loss and nothing that a client does can prevent, with the reason.
OF_DASK = {
    "failed during get data with": "a worker that is restarted was sending a result",
    "Failed to communicate with scheduler during heartbeat": "a worker whose scheduler is killed was sending to it",
}

#: Modules that forked processes have at once.
PRELOADED = ["distributed", "mgraph.runtime.dask.worker", "mgraph.kernels.minplus.host"]


def wait_until(holds: Callable[[], Any], what: str, seconds: float = PATIENCE) -> None:
    """Wait, or raise TimeoutError that says what did not come true."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.05)


def processes(device: str) -> Any:
    """Return how processes are started: forked from one without threads, but spawned where GPUs are used."""
    return multiprocessing.get_context("spawn" if device == "cuda" else "forkserver")


class Site:
    """A scheduler and its workers.

    Parameters
    ----------
    folder : Path
        Where their temporary files lie, and the log of what they print.
    workers : int
        Number of workers.
    device : {"cpu", "cuda"}
        What the workers use.
    memory_limit : int
        Bytes after which a nanny ends its worker; 0 for no limit.
    proxied : bool
        Whether there is a proxy before each worker.
    disk : int
        Bytes of a disk of its own for checkpoints, which needs root; 0 for none.
    """

    def __init__(
        self,
        folder: Path,
        workers: int,
        device: str = "cpu",
        memory_limit: int = 0,
        proxied: bool = False,
        disk: int = 0,
    ) -> None:
        #: The folder for the checkpoints of a call.
        self.checkpoints = folder / "checkpoints"
        self.checkpoints.mkdir(parents=True)
        self._disk = disk
        if disk:
            _mount(self.checkpoints, disk)
        self.folder, self.workers, self.device = folder, workers, device
        self.memory_limit, self.proxied = memory_limit, proxied
        self.port = free_port()
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.proxies: dict[int, Proxy] = {}
        self._read = 0
        self.start()
        self.client = self._client()
        self.settle()
        #: The number of processes of nannies and workers.
        self.processes = len(self.descendants())

    def start(self) -> None:
        """Start the scheduler, the nannies and the workers."""
        context = processes(self.device)
        context.set_forkserver_preload(PRELOADED)
        self._controls = {}
        self._running = {}
        for role, given in (("scheduler", (self.port,)), ("host", (self.address, self.device, self.memory_limit))):
            ours, theirs = context.Pipe()
            self._running[role] = context.Process(target=_ROLES[role], args=(theirs, str(self.folder), *given))
            self._running[role].start()
            theirs.close()
            self._controls[role] = ours
            _answer(ours)
        self.scheduler = psutil.Process(self._running["scheduler"].pid)
        for name in range(self.workers):
            self.add(name)

    def add(self, name: int) -> None:
        """Start a worker."""
        given: dict[str, Any] = {"name": name, "memory_limit": self.memory_limit}
        if self.proxied:
            given["worker_port"] = free_port()
            self.proxies[name] = Proxy(given["worker_port"], self.scheduler)
            given["contact_address"] = self.proxies[name].address
        self._controls["host"].send(given)
        _answer(self._controls["host"])

    def remove(self, name: int) -> None:
        """End a worker and its nanny."""
        self._controls["host"].send(name)
        _answer(self._controls["host"])
        if self.proxied:
            self.proxies.pop(name).close()

    def settle(self) -> None:
        """Wait until there are as many workers as at first, all of which answer."""

        def complete() -> bool:
            return len(present(self.client)) == len(self.pids()) == self.workers

        wait_until(complete, "the workers do not come back")

    def pids(self) -> dict[str, int]:
        """Return the workers' processes, by address, of those that can be asked."""
        return self.client.run(os.getpid, on_error="ignore")

    def worker(self, name: int) -> psutil.Process:
        """Return a worker's process."""
        named = {found: pid for found, pid in self.client.run(_name_and_pid).values()}
        return psutil.Process(named[name])

    def descendants(self) -> list[psutil.Process]:
        """Return the processes of nannies and workers."""
        return psutil.Process(self._running["host"].pid).children(recursive=True)

    def restart(self) -> None:
        """End all processes but the client's and start others, the scheduler at the same address."""
        self._kill()
        self.start()

    def reconnected(self) -> bool:
        """Wait until the client has found the scheduler again; if it has given up, replace it and return False."""
        with contextlib.suppress(TimeoutError):
            wait_until(lambda: self.client.status == "running", "the client does not come back", 30)
            return True
        self.client.close(0)
        self.client = self._client()
        return False

    def forget_names(self) -> None:
        """Let all processes forget what Dask has computed of names of tasks: it keeps that of the last 100,000."""
        dask.utils.key_split.cache_clear()
        self.client.run_on_scheduler(dask.utils.key_split.cache_clear)
        self.client.run(dask.utils.key_split.cache_clear)

    def forget_checkpoints(self) -> None:
        """Remove all checkpoints."""
        for path in self.checkpoints.iterdir():
            path.unlink(missing_ok=True)  # a call that ends may remove it meanwhile

    def logged(self) -> list[str]:
        """Return what was logged since the last time with a traceback, or of sending to a worker that has left."""
        with (self.folder / "log").open("rb") as log:
            log.seek(self._read)
            records = RECORD.split(log.read().decode(errors="replace"))
            self._read = log.tell()
        bad = [record for record in records if "Traceback" in record or "broadcast to" in record]
        return [record for record in bad if not any(known in record for known in OF_DASK)]

    def close(self) -> None:
        """End all processes."""
        with contextlib.suppress(Exception):
            self.client.close(5)
        self._kill(patience=CLOSING)
        if self._disk:
            subprocess.run(["umount", str(self.checkpoints)], check=True)

    def _client(self) -> Client:
        """Return a client."""
        with dask.config.set(RECORDS):
            return Client(self.address, set_as_default=False)

    def _kill(self, patience: float = 0) -> None:
        """End all processes; those that do not end by themselves within `patience` are killed."""
        with contextlib.suppress(psutil.NoSuchProcess):
            orphans = self.descendants()
        for role in ("host", "scheduler"):
            self._controls[role].close()
            self._running[role].join(patience)
            self._running[role].kill()
            self._running[role].join()
        for process in orphans:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        for proxy in self.proxies.values():
            proxy.close()
        self.proxies.clear()


def _answer(pipe: Any) -> None:
    """Wait for the answer of a process, and raise what it says."""
    if not pipe.poll(PATIENCE):
        raise TimeoutError("a process does not start")
    problem = pipe.recv()
    if problem is not None:
        raise RuntimeError(problem)


def _name_and_pid(dask_worker: Worker) -> tuple[int, int]:
    """Return the name and the process of a worker; for `Client.run`."""
    return dask_worker.name, os.getpid()


def _mount(folder: Path, size: int) -> None:
    """Mount a disk of so many bytes, in memory; raise CalledProcessError if that is not allowed."""
    made = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    subprocess.run(made, check=True, capture_output=True)


@functools.cache
def can_mount() -> bool:
    """Return whether this process may mount a disk."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            _mount(Path(folder), 1 << 20)
        except (OSError, subprocess.CalledProcessError):
            return False
        subprocess.run(["umount", folder], check=True)
        return True


def _prepare(folder: str) -> None:
    """Prepare a process and its children: Dask logs warnings and worse; that, and their files, go to the folder."""
    dask.config.set(RECORDS)
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    os.environ["DASK_DISTRIBUTED__LOGGING__DISTRIBUTED"] = "warning"
    logging.getLogger("distributed").setLevel(logging.WARNING)  # it may be imported
    log = os.open(Path(folder) / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the client, which ends them


def _schedule(pipe: Any, folder: str, port: int) -> None:
    """Process: a scheduler, until the pipe is closed."""
    _prepare(folder)

    async def serve() -> None:
        async with Scheduler(host="127.0.0.1", port=port, dashboard=False):
            pipe.send(None)
            with contextlib.suppress(EOFError):
                await asyncio.to_thread(pipe.recv)

    asyncio.run(serve())


def _nurse(pipe: Any, folder: str, scheduler: str, device: str, memory_limit: int) -> None:
    """Process: nannies, which are started and closed as the pipe says, until it is closed."""
    _prepare(folder)
    multiprocessing.set_forkserver_preload(PRELOADED)
    dask.config.set({"distributed.worker.multiprocessing-method": "spawn" if device == "cuda" else "forkserver"})
    common = {"nthreads": 1, "local_directory": folder, "silence_logs": logging.WARNING}

    async def serve() -> None:
        nannies: dict[int, Nanny] = {}
        pipe.send(None)
        while True:
            try:
                given = await asyncio.to_thread(pipe.recv)
            except EOFError:
                break
            try:
                if isinstance(given, dict):
                    own = {"CUDA_VISIBLE_DEVICES": str(given["name"])} if device == "cuda" else {}
                    nannies[given["name"]] = await Nanny(scheduler, env=own, **common, **given)
                else:
                    await nannies.pop(given).close()
                pipe.send(None)
            except Exception as error:
                pipe.send(repr(error))
        for nanny in nannies.values():
            await nanny.close()

    asyncio.run(serve())


_ROLES = {"scheduler": _schedule, "host": _nurse}


class Proxy:
    """Forwards connections to a worker's port, and those of other workers as `way` says.

    `way` is "open", "closed" (connections end, and new ones at once), "silent" (what is sent is held until it is open
    again), or "slow" (each piece waits for `DELAY`).
    """

    DELAY = 0.02

    def __init__(self, port: int, scheduler: psutil.Process) -> None:
        self.way = "open"
        self._port, self._scheduler = port, scheduler
        self._loop = asyncio.new_event_loop()
        self._between: set[asyncio.StreamWriter] = set()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)
        self._thread.start()
        self._server = self._on_loop(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.address = "tcp://{}:{}".format(*self._server.sockets[0].getsockname())

    def turn(self, way: str) -> None:
        """Change the way; closes connections between workers if it is closed."""
        self.way = way
        if way == "closed":
            self._on_loop(self._cut())

    def close(self) -> None:
        """Close all connections."""

        async def end() -> None:
            self._server.close()
            everything = asyncio.all_tasks() - {asyncio.current_task()}
            for task in everything:
                task.cancel()
            await asyncio.gather(*everything, return_exceptions=True)

        self._on_loop(end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _on_loop(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE)

    async def _cut(self) -> None:
        for writer in list(self._between):
            writer.transport.abort()

    def _of_worker(self, writer: asyncio.StreamWriter) -> bool:
        """Whether another worker has connected, not the scheduler."""
        port = writer.get_extra_info("peername")[1]
        with contextlib.suppress(psutil.NoSuchProcess):
            return all(port != each.laddr.port for each in self._scheduler.net_connections("tcp"))
        return False

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        between = self._of_worker(writer)
        ends = [writer]
        try:
            if between and self.way == "closed":
                return
            onward, back = await asyncio.open_connection("127.0.0.1", self._port)
            ends.append(back)
            self._between.update(ends if between else ())
            await asyncio.gather(self._pass(reader, back, between), self._pass(onward, writer, between))
        except OSError:
            pass  # an end is gone
        finally:
            self._between.difference_update(ends)
            for end in ends:
                end.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, between: bool) -> None:
        while piece := await reader.read(1 << 16):
            while between and self.way == "silent":
                await asyncio.sleep(0.05)
            if between and self.way == "slow":
                await asyncio.sleep(self.DELAY)
            writer.write(piece)
            await writer.drain()
        raise ConnectionResetError("one end has closed")
