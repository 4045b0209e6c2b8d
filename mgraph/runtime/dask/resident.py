"""The client's side of what stays on workers: groups of workers, and the executor that runs programs on them.

A `Group` is what a client has on some workers: a session on each, with one communicator, in which graphs and vectors
lie. Its handles refer to it. When the last of them is gone, or the client, Dask releases the sessions' leases and the
workers free everything.

`Resident` runs a program on a graph of a group. Without a progress report that is one message to the scheduler, which
passes it on to each worker in the call's turn and returns the answers; nothing of the graph travels.
"""

import contextlib
import logging
import time
import uuid
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from distributed import Client, Future
from distributed.protocol.pickle import dumps, loads

from ... import device as devices
from ...errors import MgraphError, SchedulerError, WorkerLostError
from ...graph.vertex_range import VertexRange
from ...planning.devices import DeviceSpec
from ...planning.plan import Plan
from ..program import Outcome, Program, Progress, log_plan, log_span, memory_errors
from . import residents, tasks, worker
from .comm import Unreachable
from .driver import Cluster, devices_of, follows, matrix_of, opened, scattered, takers
from .matrix import DistributedMatrix
from .turns import PARTING, turn
from .vector import DistributedVector
from .watch import NOTICE, Watch, connection, lost

_log = logging.getLogger(__name__)

#: Seconds after which what is known of the workers' memory is asked for again.
FRESH = 1.0

#: Seconds after which workers forget what was released, if no call comes before.
FREED = 0.5

_groups: "weakref.WeakValueDictionary[tuple[str, tuple[str, ...], str], Group]" = weakref.WeakValueDictionary()


class Group:
    """A client's sessions on some workers, which stay between calls.

    Attributes
    ----------
    client : Client
        The client.
    addresses : tuple of str
        The workers, one a shard, in the order of the shards.
    specs : tuple of DeviceSpec
        Their devices, with the memory that they had when they were last asked.
    gone : WorkerLostError or None
        Why nothing of the group can be used any more.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.client: Client = cluster.client
        self.timeout: float = cluster.timeout
        self.addresses: tuple[str, ...] = cluster.addresses
        self.specs: tuple[DeviceSpec, ...] = cluster.specs
        self.kind = self.specs[0].kind
        self.gone: WorkerLostError | None = None
        self.broken = False
        self.asked = time.monotonic()
        self._leases: dict[str, Future] = {}
        self._freed: deque[str] = deque()
        self.session = ""
        self._open()

    def watch(self, call: str | None = None, expected: float = 0.0) -> Watch:
        """Return a watch over the group's workers, during a call by its beats."""
        beats = None if call is None else (self.client.id, call)
        return Watch(self.client, self.addresses, self.timeout, beats, expected)

    def check(self) -> None:
        """Raise if the group's workers, or the way to them, are gone."""
        if self.gone is not None:
            raise self.gone
        if self.client.status != "running":
            raise SchedulerError(f"{connection(self.client)}: what lies on its workers is gone")

    def ready(self) -> None:
        """Open new sessions if a call has failed in the present ones; what they keep stays."""
        self.check()
        if self.broken:
            old, before = self.session, self._leases
            self._open()
            self.wait(
                self.client.run(residents.adopt, old, self.session, workers=list(self.addresses), asynchronous=True)
            )
            before.clear()
            self.broken = False

    def each(self, function: Callable[..., Any], arguments: Sequence[Sequence[Any]], *common: Any) -> list[Any]:
        """Run a task on each worker: of the session's name, the `common` arguments, and the worker's own."""
        tasked = {
            address: tasks.submit(self.client, address, function, self.session, *common, *own)
            for address, own in zip(self.addresses, arguments, strict=True)
        }
        return self.wait_for(lambda watch: tasks.results(watch, tasked))

    def sent(self, rank: int, part: VertexRange) -> Future:
        """Send a part of a graph to a worker; return the future of it there."""
        found: Future = self.wait(scattered(self.client, self.addresses[rank], part.on(devices.find("cpu"))))
        return found

    def one(self, rank: int, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Run a task on one worker, of the session's name and the arguments; return a list of its result."""
        address = self.addresses[rank]
        task = {address: tasks.submit(self.client, address, function, self.session, *arguments)}
        return list(self.wait_for(lambda watch: tasks.results(watch, task)))

    def wait(self, work: Any) -> Any:
        """Wait for a coroutine of the client."""
        return self.wait_for(lambda watch: watch.wait(work))

    def wait_for(self, wait: Callable[[Watch], Any]) -> Any:
        """Wait; a worker that is lost takes the group with it."""
        try:
            with opened(self.client):
                return wait(self.watch())
        except WorkerLostError as error:
            self.gone = error
            raise

    def matrix(self, plan: Plan, name: str, dtype: np.dtype) -> DistributedMatrix:
        """Return a matrix that a call by `plan` has computed, from its parts."""
        taken = takers(self.client, self.addresses, self.session, plan, name)
        self.wait_for(lambda watch: tasks.settle(watch, taken))
        return matrix_of(self.client, self.addresses, taken, plan, dtype, self.timeout)

    def drop(self, name: str) -> None:
        """Have the workers forget a graph or vectors, by the next call or soon; may run while garbage is collected."""
        self._freed.append(name)
        if self.client.status == "running" and self.gone is None:
            loop: Any = self.client.loop
            loop.add_callback(loop.call_later, FREED, self._forget)

    def freed(self) -> tuple[str, ...]:
        """Return the names to forget that no worker has been sent yet, for a message that will be sent now."""
        names = []
        with contextlib.suppress(IndexError):
            while True:
                names.append(self._freed.popleft())
        return tuple(names)

    async def _forget(self) -> None:
        names, client = self.freed(), self.client
        if names and client.status == "running" and self.gone is None:
            given = residents.drop, self.session, names
            try:
                await client.run(*given, workers=list(self.addresses), on_error="ignore", asynchronous=True)
            except Exception as error:
                _log.debug("the workers were not told what was released: %s", error)

    def _open(self) -> None:
        session = uuid.uuid4().hex
        given = (session, self.client.id, self.timeout, True)
        leases = {
            address: tasks.submit(self.client, address, worker.lease, *given, key=worker.lease_key(session, address))
            for address in self.addresses
        }
        self.wait_for(lambda watch: tasks.settle(watch, leases))
        self.session, self._leases = session, leases
        self.each(residents.join, [(rank, self.addresses, self.kind) for rank in range(len(self.addresses))])
        _log.debug("opened session %s of a group of %d workers", session, len(self.addresses))


def group_of(cluster: Cluster) -> Group:
    """Return the group of a client on the workers of a cluster, which its graphs share."""
    key = (cluster.client.id, cluster.addresses, cluster.specs[0].kind)
    found = _groups.get(key)
    if found is None or found.gone is not None:
        found = _groups[key] = Group(cluster)
    return found


class Resident:
    """The executor of a graph that lies on the workers of a group."""

    place: devices.Device | None = None

    def __init__(
        self, group: Group, graph: str, held: list[Mapping[str, int]], vectors: Mapping[str, Any] | None = None
    ) -> None:
        group.ready()
        #: The vectors beside the graph, to keep them on the workers, and where they are: their calls and names there.
        self._vectors = vectors
        self._beside = None if vectors is None else {name: vector.place for name, vector in vectors.items()}
        self.specs: tuple[DeviceSpec, ...] = group.specs
        self._group = group
        self._graph = graph
        #: Bytes that each worker keeps of the graph, by name; updated by every call.
        self._held = held

    def run(self, program: Program, piece: Callable[[int], Any], plan: Plan, progress: Progress | None) -> Outcome:
        """Run a program; vectors stay on the workers, facts come as NumPy arrays. There are no pieces to send."""
        group, call = self._group, uuid.uuid4().hex
        watch, started = group.watch(call, plan.seconds), time.perf_counter()
        log_plan(plan)
        with memory_errors(plan.algorithm, plan), opened(group.client):
            try:
                if progress is None:
                    answers = self._asked(watch, call, program, 0, None, residents.in_turn)
                else:
                    with turn(group.watch(), call):
                        answers, k = [], 0
                        while not answers or not answers[0].finished:
                            first = k
                            wanted = None if answers else program
                            answers = self._asked(watch, call, wanted, first, plan.span, residents.passed)
                            k = answers[0].reached
                            log_span(plan, first, k, answers[0].finished)
                            progress(k, plan.steps)
            except BaseException as error:
                self._fail(watch, error)
                raise
        return self._outcome(call, plan, answers, time.perf_counter() - started)

    def _asked(
        self, watch: Watch, call: str, program: Program | None, first: int, span: int | None, way: Callable[..., Any]
    ) -> list[residents.Answer]:
        group = self._group
        look = time.monotonic() - group.asked > FRESH
        named = group.session, group.client.id, call, group.timeout, self._graph
        request = dumps(residents.Request(*named, program, first, span, look, group.freed(), self._beside))
        given = group.client.id, call, group.addresses, group.session, request
        found = watch.wait(group.client.run_on_scheduler(way, *given, asynchronous=True))
        answers = [loads(found[address]["answer"]) for address in group.addresses]
        failures = [answer.error for answer in answers if isinstance(answer, tasks.Failure)]
        if failures:
            genuine = [error for error in failures if not follows(error) and not isinstance(error, OSError)]
            if genuine:
                raise genuine[0]
            watch.check(NOTICE)  # raises if a worker is gone
            broken = next((error for error in failures if isinstance(error, OSError | Unreachable)), failures[0])
            raise lost(group.addresses, str(broken))
        if look:
            sights = {address: answer.sight for address, answer in zip(group.addresses, answers, strict=True)}
            group.specs, group.asked = tuple(devices_of(sights, group.kind).values()), time.monotonic()
        return answers

    def _fail(self, watch: Watch, error: BaseException) -> None:
        """Stop the call on the workers that answer; the group's sessions are opened again before its next call."""
        group = self._group
        group.broken = True
        if isinstance(error, WorkerLostError):
            group.gone = error
            _log.warning("%s", error)
        if group.client.status == "running":
            try:
                watch.look()
            except MgraphError as gone:
                _log.debug("while a call is stopped: %s", gone)
            there = sorted(watch.there.intersection(group.addresses))
            tasks.tell(watch, there, worker.abort_session, group.session, within=PARTING)

    def _outcome(self, call: str, plan: Plan, answers: Sequence[residents.Answer], seconds: float) -> Outcome:
        self._held[:] = [answer.held for answer in answers]
        arrays: dict[str, Any] = {
            name: np.concatenate([answer.facts[name] for answer in answers]) for name in answers[0].facts
        }
        for name, (_, dtype) in answers[0].vectors.items():
            lengths = [answer.vectors[name][0] for answer in answers]
            arrays[name] = DistributedVector(self._group, call, name, lengths, dtype)
        if answers[0].vectors:
            kept = [array for array in arrays.values() if isinstance(array, DistributedVector)]
            owner = Kept(self._group, call)
            for vector in kept:
                vector.owner = owner
        for name, dtype in answers[0].matrices.items():
            arrays[name] = self._group.matrix(plan, name, dtype)
        timings = {part: max(answer.timings[part] for answer in answers) for part in answers[0].timings}
        return Outcome(arrays, {**timings, "call": seconds})


class Kept:
    """What keeps a graph, or the vectors of a call, on the workers: it is dropped there when this object goes."""

    def __init__(self, group: Group, name: str) -> None:
        self.name = name
        self.close = weakref.finalize(self, group.drop, name)
        self.close.atexit = False  # Dask releases the leases
