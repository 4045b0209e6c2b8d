"""The workers' side of a group of workers: a plugin that keeps each session's state.

A session is a group's shard on a worker: what stays there between calls (`mgraph.runtime.dask.residents`), and the
state of the call that runs. Its state is never a Dask result, so that Dask neither sizes, spills nor moves it.
Invariants:

- A session lives as long as its lease, the task that opened it: when the client releases the task, or is gone, Dask
  releases it and the plugin drops the session. If that goes unnoticed during a call, its pulse
  (`mgraph.runtime.dask.pulse`) ends it.
- A worker runs one call at a time (`mgraph.runtime.dask.turns`).
- A message for a session that is not open is discarded: all sessions of a group are open before its first call.
"""

import contextlib
import importlib
import inspect
import logging
import os
import pickle
import platform
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, NamedTuple, NoReturn, TypeVar, cast

import numpy as np
import psutil
from distributed import get_worker
from distributed.diagnostics.plugin import WorkerPlugin
from distributed.worker import Worker

from ... import device as devices
from ... import limits
from ...device.clock import COMPILING, clock
from ...errors import DeviceError, InputError
from ...graph.vertex_range import VertexRange
from ...planning.devices import USABLE, DeviceSpec, spec_of
from ...version import __version__
from .. import program as engine
from ..checkpoints import Order, Report, Writer
from ..communicator import Communicator, Nccl, sharing_host
from .blocks import OnDevice
from .comm import OPERATION, Aborted, DaskComm, Mailbox, Wait
from .interfaces import set_for_nccl
from .loops import begun
from .pulse import LEASE, Pulse
from .shared import Token, readable
from .tasks import reported

_log = logging.getLogger(__name__)

T = TypeVar("T")

NAME = "mgraph"


def lease_key(session: str, address: str) -> str:
    """Return the key of the lease of a session's shard on the worker at `address`."""
    return f"{LEASE}-{session}-{address}"


class Spanned(NamedTuple):
    """What a shard has done in a span.

    Attributes
    ----------
    reached : int
        The number of the next superstep.
    finished : bool
        Whether the program has ended.
    report : Report or None
        What the shard has written of a checkpoint since it was last asked, once that is done.
    """

    reached: int
    finished: bool
    report: Report | None


class SessionStore(dict[str, Any]):
    """What calls have left on a worker for later ones, by name. What was released meanwhile raises InputError."""

    def __missing__(self, name: str) -> NoReturn:
        raise InputError("the graph, or a vector, was closed in the middle of a call that uses it")


class Session:
    """A group's shard on this worker: what calls have left there, and the state of the one that runs."""

    def __init__(self) -> None:
        #: What the session is for, if not for a client: "the published graph 'roads'".
        self.title = ""
        #: Parts of graphs, and of each call its vectors by their own names.
        self.kept = SessionStore()
        self.rank = 0
        self.superstep: int | None = None
        self.working_since: float | None = None
        self.addresses: tuple[str, ...] = ()
        self.compiled = {"load": 0.0, "solve": 0.0, "collect": 0.0}
        self.seconds: dict[str, float] = {}
        self.pulse: Pulse | None = None
        self.mailbox = Mailbox()
        self.program: Any = None
        self.device: Any = None
        self.state: Any = None
        self.comm: Communicator | None = None
        self.matrices: dict[str, Any] = {}
        #: Writes a checkpoint.
        self.writer: Writer | None = None
        self._ending = threading.Lock()

    def connected(self) -> Communicator:
        """Return the communicator, or raise Aborted if it has ended."""
        comm = self.comm
        if comm is None:
            raise Aborted("aborted")
        return comm

    def where(self) -> dict[str, Any]:
        """Return what the shard is doing, the content of a beat; may be called from any thread."""
        comm, since, now = self.comm, self.working_since, time.monotonic()
        doing = Wait("idle" if since is None else "computing", (), 0, 0, now if since is None else since)
        if isinstance(comm, DaskComm):
            doing = comm.waiting or doing
        return {
            "rank": self.rank,
            "device": getattr(self.device, "kind", None),
            "superstep": self.superstep,
            "compiling": COMPILING.own,
            "sent": comm.sent if isinstance(comm, DaskComm) else None,
            **doing._asdict(),
            "since": now - doing.since,
        }

    def begin(self, superstep: int) -> None:
        """Record that a superstep begins, or raise Aborted: a shard that never waits for others sees an abort here."""
        if self.mailbox.aborted:
            raise Aborted("aborted")
        self.superstep = superstep

    def advance(self, first: int, most: int, order: Order | None) -> Spanned:
        """Run a span of supersteps, as `mgraph.runtime.program.advance`, and begin to write a checkpoint if ordered."""
        k, finished = engine.advance(self.program, self.state, first, most, self.connected(), self.begin)
        report = None
        if self.writer is not None and self.writer.done:
            report, self.writer = self.writer.report(), None
        if order is not None and not finished and self.program.settled(k):
            self._write(Writer(order, self.program.pieces(self.state, self.rank), self.device, self.rank))
        return Spanned(k, finished, report)

    def _write(self, writer: Writer) -> None:
        """Begin to write a checkpoint, and wait for it if it pauses; raise Aborted if the call has ended."""
        with self._ending:
            if self.mailbox.aborted:
                raise Aborted("aborted")
            self.writer = writer
            writer.start()
        if writer.pauses:
            writer.wait(lambda: self.mailbox.aborted)

    def stop_writing(self) -> None:
        """Write no more of a checkpoint, and wait until nothing is being written, or the call is aborted."""
        writer, self.writer = self.writer, None
        if writer is not None:
            writer.stop()
            writer.wait(lambda: self.mailbox.aborted)

    def rest(self) -> None:
        """End a call, but keep what stays."""
        pulse, self.pulse = self.pulse, None
        if pulse is not None:
            pulse.stop()
        writer, self.writer = self.writer, None
        if writer is not None:
            writer.stop()  # what it writes changes no more: a copy, what is final, or the state of an aborted call
        self.program = self.state = self.superstep = None

    def forget(self, names: Sequence[str]) -> None:
        """Free what is kept under some names."""
        for name in names:
            self.kept.pop(name, None)

    def abort(self) -> None:
        """End what the shard waits for, and the call; returns at once, though NCCL takes half a second."""
        self.mailbox.abort()
        if self.working_since is None:  # else it ends by itself
            self.rest()
        threading.Thread(target=self._end, name="mgraph-abort", daemon=True).start()

    def _end(self) -> None:
        with self._ending:
            writer, self.writer = self.writer, None
            if writer is not None:
                writer.stop()
            comm, self.comm = self.comm, None
            if comm is not None:
                comm.abort()


class Sessions(WorkerPlugin):
    """The sessions of a worker; its methods run on the worker's event loop and never block it."""

    name = NAME

    def setup(self, worker: Worker) -> None:
        """Start without sessions, ready for messages."""
        self._worker = worker
        self.sessions: dict[str, Session] = {}
        worker.handlers[OPERATION] = self.receive

    def teardown(self, worker: Worker) -> None:
        """Drop all sessions; the others may still send, and Dask would log a message that it does not know."""
        for name in list(self.sessions):
            self.drop(name)

    def transition(self, key: Any, start: str, finish: str, **kwargs: Any) -> None:
        """Drop the session whose lease Dask releases."""
        if finish in ("released", "forgotten", "cancelled") and isinstance(key, str) and key.startswith(LEASE):
            self.drop(key.split("-")[2])

    async def receive(self, session: str, source: int, number: int, payload: Any) -> None:
        """Take a message from another shard."""
        found = self.sessions.get(session)
        if found is not None:
            await found.mailbox.deliver(source, number, payload)

    async def open(self, session: str) -> None:
        """Open a session."""
        self.sessions[session] = Session()
        _log.debug("opened session %s", session)

    def beat(self, session: str, client: str, call: str, timeout: float) -> None:
        """Let a session beat for a call of a client."""
        opened = self.sessions[session]

        def end() -> None:
            opened.abort()
            self._worker.loop.add_callback(self.drop, session)

        lease = lease_key(session, self._worker.address)
        opened.pulse = Pulse(self._worker, (client, call), lease, timeout, opened.where, end)

    def abort(self, session: str) -> None:
        """Abort a session's exchanges."""
        if session in self.sessions:
            self.sessions[session].abort()

    def drop(self, session: str) -> None:
        """Forget a session and wake any thread that waits in it."""
        found = self.sessions.pop(session, None)
        if found is not None:
            _log.debug("closed session %s", session)
            # Session and pulse refer to each other: break the cycle, which only garbage collection would free.
            pulse, found.pulse = found.pulse, None
            if pulse is not None:
                pulse.stop()
            found.mailbox.abort()
            if found.comm is not None or found.writer is not None:
                found.abort()

    def find(self, session: str) -> Session:
        """Return an open session; may be called from any thread.

        Raises
        ------
        Aborted
            If there is none: the worker was restarted, or the driver gave up.
        """
        found = self.sessions.get(session)
        if found is None:
            raise Aborted("the session is gone from the worker")
        return found


def sessions(worker: Worker) -> Sessions:
    """Return the sessions of a worker.

    Raises
    ------
    Aborted
        If it has never had one: it was restarted, and has the address of the former one.
    """
    found = worker.plugins.get(NAME)
    if found is None:
        raise Aborted("the worker was restarted")
    return cast(Sessions, found)


def lease(session: str) -> None:
    """Task: open a session on this worker; it lives as long as the task's result is kept.

    A task, so that the scheduler knows the lease before the session can look for it.
    """
    worker = get_worker()
    on_loop(worker, _join, worker)  # it may have been restarted since it was looked at
    on_loop(worker, sessions(worker).open, session)


def abort_session(session: str, dask_worker: Worker) -> None:
    """Abort a session on a worker; for `tasks.asked`."""
    with contextlib.suppress(Aborted):  # the worker was restarted
        sessions(dask_worker).abort(session)


class WorkerInfo(NamedTuple):
    """The devices and memory of a worker.

    Attributes
    ----------
    host : str
        The name of its host.
    available : int
        Bytes that all workers on the host may still allocate together.
    reserved : int
        Bytes that Numba will take from the worker's share before it runs a kernel.
    cpu : DeviceSpec
        Its CPU, with the memory within the worker's own limits.
    gpu : DeviceSpec or None
        Its GPU.
    identity : bytes
        The unique id of its GPU.
    kept : tuple of (str, int)
        What its sessions keep between calls, in words, with its bytes.
    process : str
        What tells it from other processes at its address.
    reads : bool
        Whether it reads arrays in the memory of the client that asks.
    """

    host: str
    available: int
    reserved: int
    cpu: DeviceSpec
    gpu: DeviceSpec | None
    identity: bytes
    kept: tuple[tuple[str, int], ...]
    process: str
    reads: bool = False


def probe(version: str, device: str | None, token: object) -> object:
    """Task: return the worker's `WorkerInfo`, or what is wrong with its installation of mgraph.

    It is sent as source code (see `probe_task`), so it uses no name of this module and runs on a worker without mgraph.

    Parameters
    ----------
    version : str
        The client's version of mgraph.
    device, token
        As for `describe`.

    Returns
    -------
    WorkerInfo or tuple of (str, str)
        A pair has the problem, in words, and the worker's version of Python.
    """
    import importlib
    import platform

    try:
        found = getattr(importlib.import_module("mgraph.version"), "__version__", "of no version")
        if found == version:
            return importlib.import_module("mgraph.runtime.dask.worker").describe(device, token)
        problem = f"has mgraph {found}"
    except ImportError as error:
        problem = f"has no mgraph that can be imported ({error})"
    return problem, platform.python_version()


def probe_task(device: str | None, token: Token | None) -> tuple[Any, ...]:
    """Return `probe` as a task's function and arguments that every worker understands.

    Functions are pickled by name, for which the worker needs mgraph, or as byte code, for which it needs the same
    Python. Text needs neither.
    """
    names = {"source": inspect.getsource(probe), "names": {}, "given": (__version__, device, token)}
    return eval, "exec(source, names) or names['probe'](*given)", names


def describe(device: str | None, token: Token | None) -> WorkerInfo:
    """Return this worker's devices and prepare it for sessions.

    Parameters
    ----------
    device : str or None
        The kind of device; GPUs are looked for only if it is not the CPU.
    token : Token or None
        What to try to read in the memory of the client.
    """
    worker = get_worker()
    on_loop(worker, _join, worker)
    return sight_of(worker, device)._replace(reads=token is not None and readable(token))


def sight_of(worker: Worker, device: str | None) -> WorkerInfo:
    """Return a worker's devices, GPUs only if `device` is not the CPU, and the memory that they have now."""
    limit = limits.own_memory()
    most = _most(worker)
    if most is not None:
        # The planner uses the share USABLE of the limit.
        taken = psutil.Process().memory_info().rss + limits.numba_pages()
        limit = min(limit, max(0, int((most - taken) / USABLE)))
    cpu = DeviceSpec("cpu", "cpu", limit, min(worker.state.nthreads, limits.cores()))
    gpu, identity = None, b""
    if device != "cpu" and devices.gpu_count():
        found = devices.find("cuda")
        comms = [session.comm for session in _sessions_on(worker) if isinstance(session.comm, Nccl)]
        apart = any(comm.is_apart for comm in comms)
        gpu = replace(
            spec_of(found),
            node=(not apart and sharing_host()) or worker.id,  # none but its own
            shared=min((comm.shared for comm in comms), default=0),
        )
        identity = found.xp.cuda.runtime.getDeviceProperties(0)["uuid"]
    shared, pages = limits.shared_memory(), limits.numba_pages()
    return WorkerInfo(platform.node(), shared, pages, cpu, gpu, identity, kept_on(worker), worker.id)


def _most(worker: Worker) -> int | None:
    """Return the bytes that a worker may have: with more, Dask starts no tasks there; None without a limit."""
    manager = worker.memory_manager
    limit = manager.memory_limit
    return int(limit * (manager.memory_pause_fraction or 1)) if limit else None


def kept_on(worker: Worker) -> tuple[tuple[str, int], ...]:
    """Return what the sessions of a worker keep between calls, in words, with its bytes; what they share is once."""
    found: dict[int, tuple[str, int]] = {}
    for session in sorted(_sessions_on(worker), key=lambda each: not each.title):  # published graphs by their names
        if isinstance(session.comm, Nccl) and session.comm.shared:
            found[id(session.comm)] = "memory that GPUs share", session.comm.shared
        for kept in list(session.kept.values()):
            if isinstance(kept, VertexRange):
                words = (
                    session.title
                    or f"a graph of {kept.n:,} vertices and {len(kept.compressed('csc').indices):,} edges there"
                )
                found.setdefault(id(kept), (words, sum(kept.sizes().values())))
            elif isinstance(kept, dict):
                size = sum(getattr(array, "nbytes", 0) for array in kept.values())
                found.setdefault(id(kept), (f"a result's {', '.join(map(str, kept))}", size))
    return tuple(found.values())


def _sessions_on(worker: Worker) -> list[Session]:
    return list(sessions(worker).sessions.values()) if NAME in worker.plugins else []


async def _join(worker: Worker) -> None:
    """Register the plugin on this worker, unless it is registered.

    It is not registered through the scheduler, which would send it to later workers too: one without mgraph could not
    start with the plugin.
    """
    if NAME not in worker.plugins:
        await worker.plugin_add(Sessions(), NAME, catch_errors=False)
        most = _most(worker)
        if most is not None and worker.nanny is not None:  # else the process may be the client's own
            limits.keep_below(most)


def on_loop(worker: Worker, work: Callable[..., Coroutine[Any, Any, None]], *given: Any) -> None:
    """Run the coroutine that `work` returns on the worker's event loop from a task's thread, and wait for it."""
    loop: Any = worker.loop
    begun(loop.asyncio_loop, work, *given).result()


@contextlib.contextmanager
def at_work(worker: Worker, session: Session, part: str, before: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Run the block on the session's device, with the worker's share of the cores, until the device is done.

    The device's clock times it, as that of a call without workers, once what is launched `before` is done. The time for
    compiling and loading kernels is counted apart. An error that follows from an abort becomes `Aborted`.
    """
    compiled, device = clock().seconds(), session.device
    if device is None:  # Dask has made the lease again on a worker of the same address
        raise Aborted("the worker was restarted")
    if device.kind == "cpu":
        _take_share(worker)
    session.working_since = time.monotonic()
    try:
        with device.active():
            before()
            begun, compiling = device.mark(), clock().seconds()
            yield
            passed = device.seconds_between(begun, device.mark()) - (clock().seconds() - compiling)
    except Exception as error:
        if session.mailbox.aborted and not isinstance(error, Aborted):
            raise Aborted(f"aborted, which showed as {type(error).__name__}: {error}") from error
        _leave_broken(worker, device)
        raise
    finally:
        session.working_since = None
        session.compiled[part] += clock().seconds() - compiled
    session.seconds[part] = session.seconds.get(part, 0.0) + max(0.0, passed)
    if session.mailbox.aborted:
        raise Aborted("aborted")


def _leave_broken(worker: Worker, device: devices.Device) -> None:
    """End this process if it cannot use its GPU any more: a call then goes on without it, or with its replacement.

    After an error such as an illegal access, every call of CUDA in the process fails. Its nanny starts another process;
    a worker without a nanny goes on, as its process may be the client's own.
    """
    if worker.nanny is None:
        return
    try:
        device.available_memory()  # asks CUDA, but waits for nothing
    except Exception as broken:
        _log.critical("the worker %s cannot use its GPU any more, and its process ends: %s", worker.address, broken)
        logging.shutdown()
        os._exit(1)


def _take_share(worker: Worker) -> None:
    """Give Numba a worker's share of the cores."""
    try:
        with clock():
            # Before Numba itself, which reads its number of threads only once.
            importlib.import_module("mgraph.device.numba")
        import numba
    except Exception as error:  # importing Numba can raise anything
        raise DeviceError(
            f"the worker {worker.address} cannot run kernels, because importing Numba failed there: {error}"
        ) from error
    most: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    numba.set_num_threads(max(1, min(worker.state.nthreads, limits.cores(), most)))


def joined(piece: Any, blocks: Sequence[Any]) -> Any:
    """Return a piece with the matrix that this worker reads itself in place of what it was told of it."""
    if hasattr(piece, "joined"):
        return piece.joined(blocks)
    if isinstance(piece, tuple) and any(hasattr(part, "joined") for part in piece):
        parts = [joined(part, blocks) for part in piece]
        return type(piece)(*parts) if hasattr(piece, "_fields") else tuple(parts)
    return piece


def new_nccl(session: Session, comm: DaskComm) -> Nccl:
    """Create NCCL's communicator of the shards that `comm` connects, once all of them are loaded."""
    set_for_nccl(comm.address)
    # Pickled, as the identity is a tuple of numbers in CuPy 13 and bytes in CuPy 14.
    pickled = np.zeros(2048, np.int32)
    if comm.rank == 0:
        identity_bytes = pickle.dumps(Nccl.unique_id())
        pickled[: len(identity_bytes)] = list(identity_bytes)
    # A sum over all shards: no shard enters NCCL, where it could not be woken, before all are ready to.
    comm.allreduce(pickled, "sum")
    identity = pickle.loads(pickled.astype(np.uint8).tobytes())

    def make() -> Nccl:
        with session.device.active():
            return Nccl(identity, comm.rank, comm.size)

    return unless_aborted(session.mailbox, make, Nccl.abort)


def unless_aborted(mailbox: Mailbox, make: Callable[[], T], discard: Callable[[T], object]) -> T:
    """Call `make` in a thread and return its result; raise Aborted as soon as the session is aborted.

    Starting NCCL waits for all shards, and nothing can end it while one of them is stopped. On an abort the task leaves
    the thread running, and a result that still arrives is discarded.
    """
    result: Future[T] = Future()

    def run() -> None:
        try:
            result.set_result(make())
        except BaseException as error:
            result.set_exception(error)

    threading.Thread(target=run, name="mgraph-start", daemon=True).start()
    try:
        mailbox.until(result)
    except Aborted:
        result.add_done_callback(lambda late: late.exception() or discard(late.result()))
        raise
    return result.result()


@reported
def take(session: str, name: str) -> Any:
    """Task: return a matrix, which Dask keeps on this worker."""
    array = sessions(get_worker()).find(session).matrices.pop(name, None)
    if array is None:  # Dask has made the lease again on a worker of the same address
        raise Aborted("the worker was restarted")
    return array if isinstance(array, np.ndarray) else OnDevice(array)
