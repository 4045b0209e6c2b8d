"""The executor of calls with ``client=``: place, run, take, drop, in sessions that stay open for a while.

Small pieces of the input go with the call's one message (`mgraph.runtime.dask.resident`); large ones are loaded by a
task on each worker, in the call's turn. Vectors come back with the answer, or are read where they were left.

The group of workers of a call is kept for the next one, which asks the scheduler in one message whether the workers are
the same. If they are not, they are looked at anew. `IDLE` seconds after the last call the sessions end, so that nothing
holds the workers of a cluster that adapts.
"""

import contextlib
import itertools
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from distributed import CancelledError, Client, Future, Scheduler
from distributed.core import Status
from distributed.metrics import time as now
from distributed.scheduler import heartbeat_interval

from ...errors import MgraphError, SchedulerError, WorkerLostError
from ...planning.plan import Plan
from ..checkpoints import Checkpoints
from ..program import Accompanied, Outcome, Program, Progress
from . import residents, tasks
from .comm import Unreachable
from .group import FRESH, Group
from .resident import Resident
from .sending import SMALL, is_small, on_host, sent
from .survey import SPARE, Cluster, await_workers, checked_client, checked_kind, leave_threads
from .vector import DistributedVector
from .watch import NOTICE, Watch, checked_timeout, lost, opened

#: Seconds for which the sessions of a call stay open for the next one.
IDLE = 10.0

#: The name under which a client keeps its groups, by the kind of device that calls have asked for.
NAME = "mgraph"


class Visiting(Resident):
    """The executor of a call that brings its input to the workers of a group, and takes its vectors along.

    Its group is kept under the kind of device that the call has asked for. A worker may be silent for `timeout` s.
    """

    carried_bytes = SMALL

    def __init__(self, group: Group, device: str | None, timeout: float) -> None:
        super().__init__(group, None, [])
        self._device, self._timeout = device, timeout
        #: Seconds that sending the input took, with loading it.
        self._loaded = 0.0

    def run(
        self,
        program: Program,
        piece: Callable[[int], Any],
        plan: Plan,
        progress: Progress | None,
        checkpoints: Checkpoints | None = None,
    ) -> Outcome:
        """Run a program; matrices stay on the workers, vectors come as NumPy arrays."""
        group = self._group
        with group.lock:
            group.timeout = self._timeout
            try:
                outcome = super().run(program, piece, plan, progress, checkpoints)
                self.fetch(outcome.arrays)
                del outcome.timings["call"]
                outcome.timings["load"] = max(outcome.timings["load"], self._loaded - outcome.timings["compile"])
            except BaseException as error:
                _end(group, self._device)
                if isinstance(error, WorkerLostError):
                    error.among = len(group.addresses)
                raise
            if max(plan.peak_bytes) > SPARE:
                group.asked = -math.inf  # the next call plans with the memory that is left
            _retain(group, self._device)
        return outcome

    def fetch(self, arrays: dict[str, Any]) -> None:
        """Replace vectors that were left on the workers by their elements, and free them there."""
        left = {name: vector for name, vector in arrays.items() if isinstance(vector, DistributedVector)}
        for name, vector in left.items():
            arrays[name] = vector.to_numpy()
        if left:
            next(iter(left.values())).owner.close()
            self._group.wait(self._group.forget)

    def inputs_of(
        self, watch: Watch, call: str, program: Program, piece: Callable[[int], Any], plan: Plan
    ) -> tuple[Sequence[Mapping[str, Any]], Callable[[], None] | None]:
        """Return the pieces of a small input, which requests carry; of a large one what loads it in the call's turn."""

        def prepared() -> Iterator[tuple[Any, list[Future]]]:
            for rank, address in enumerate(self._group.addresses):
                blocks: list[Future] = []
                yield on_host(piece(rank), address, blocks), blocks

        pieces, small = prepared(), list[tuple[Any, list[Future]]]()
        for own, blocks in pieces:
            small.append((own, blocks))
            if blocks or not is_small(own):
                # The others are made when they are sent.
                rest = itertools.chain((small.pop(0) for _ in range(len(small))), pieces)
                return (), partial(self._load, watch, call, program, plan, rest)
        return [{"inline": residents.InlinePiece(own)} for own, _ in small], None

    def _load(
        self, watch: Watch, call: str, program: Program, plan: Plan, pieces: Iterator[tuple[Any, list[Future]]]
    ) -> None:
        """Send each worker its piece, or lend it, and have it load that."""
        group, loads, began = self._group, dict[str, Future](), time.perf_counter()
        given = group.session, group.client.id, call, group.timeout, program
        with contextlib.ExitStack() as lending:
            try:
                for address, (own, blocks) in zip(group.addresses, pieces, strict=True):
                    readers = group.readers if address in group.readers else ()
                    parts = own if isinstance(own, Accompanied) else (own,)
                    there = [sent(watch, group.session, address, readers, part, lending) for part in parts]
                    del own, parts
                    loads[address] = tasks.submit(
                        group.client, address, residents.load, *given, len(there), *there, *blocks, call=plan.algorithm
                    )
                    del there  # an error refers to this frame
                tasks.results(watch, loads)
            except Exception as error:
                verdict = _verdict(watch, loads, error)
                if verdict is not error:
                    raise verdict from error
                raise
        self._loaded = time.perf_counter() - began


def _verdict(watch: Watch, loads: Mapping[str, Future], error: Exception) -> BaseException:
    """Return why shards were not loaded: a lost worker or scheduler, or the first error of its own kind."""
    if isinstance(error, WorkerLostError | SchedulerError):
        return error
    raised = {address: tasks.error_of(watch, task) for address, task in loads.items() if tasks.failed(task)}
    genuine = next((each for each in raised.values() if not tasks.follows(each)), None)
    unclear = raised or isinstance(error, OSError | KeyError | CancelledError)
    try:
        watch.check(NOTICE if unclear and genuine is None else 0)
    except MgraphError as gone:
        return gone
    if raised and genuine is None:
        address, first = min(raised.items(), key=lambda item: not isinstance(item[1], Unreachable))
        return lost([address], str(first))
    # Fetched again, an error is another object.
    return error if genuine is None or repr(genuine) == repr(error) else genuine


def visiting(
    client: Client,
    device: str | None = None,
    worker_timeout: float | str | None = None,
    wait_for_workers: int | None = None,
) -> Visiting:
    """Return the executor of a call with ``client=``; the arguments, and what is raised, are those of `Cluster`."""
    group, timeout = _groups(checked_client(client)).get(checked_kind(device)), checked_timeout(worker_timeout, client)
    leave_threads()
    await_workers(client, wait_for_workers, timeout)
    if group is not None and _is_current(group, timeout):
        return Visiting(group, device, timeout)
    return on_workers(Cluster(client, device, worker_timeout, wait_for_workers=wait_for_workers), device)


def on_workers(cluster: Cluster, device: str | None) -> Visiting:
    """Return the executor of a call with ``client=`` on workers that were looked at just now."""
    group = _groups(cluster.client).get(device)
    if group is None or not group.is_open or group.processes != cluster.processes:
        group = Group(cluster)
    group.specs, group.asked = cluster.specs, time.monotonic()
    return Visiting(group, device, cluster.timeout)


def _is_current(group: Group, timeout: float) -> bool:
    """Whether a group's workers are all there are, and answer; what is known of their memory is fresh then."""
    if not group.is_open or group.gone is not None:
        return False
    client, watch = group.client, Watch(group.client, timeout=timeout)
    with opened(client):
        if not watch.on_scheduler(_unchanged, group.processes):
            return False
        if time.monotonic() - group.asked > FRESH:
            watch = Watch(client, group.addresses, timeout)
            watch.patience = watch.beginning
            try:
                sights = watch.wait(tasks.asked, client, group.addresses, residents.sight, group.kind)
            except WorkerLostError:
                return False
            if len(sights) < len(group.addresses):
                return False
            group.saw(sights)
    return all(spec.memory >= SPARE for spec in group.specs)


def _unchanged(processes: Mapping[str, str], dask_scheduler: Scheduler) -> bool:
    """Whether a scheduler has these workers and no others, and has heard of them lately; runs on the scheduler."""
    workers, oldest = dask_scheduler.workers, now() - max(2.0, 4 * heartbeat_interval(len(dask_scheduler.workers)))
    return workers.keys() == processes.keys() and all(
        state.server_id == processes[address] and state.status == Status.running and state.last_seen >= oldest
        for address, state in workers.items()
    )


def _groups(client: Client) -> dict[str | None, Group]:
    """Return the groups of a client that are kept for its next calls."""
    groups: dict[str | None, Group] = client.extensions.setdefault(NAME, {})
    return groups


def _retain(group: Group, device: str | None) -> None:
    """Keep a group for the next call, `IDLE` seconds from now."""
    _groups(group.client)[device] = group
    group.heard = time.monotonic()
    if group.client.status == "running":
        loop: Any = group.client.loop
        loop.add_callback(loop.call_later, IDLE, _expire, group, device)


def _expire(group: Group, device: str | None) -> None:
    """End the sessions of a group whose last call has ended long enough ago."""
    if group.lock.acquire(blocking=False):  # else a call runs
        try:
            if time.monotonic() - group.heard >= IDLE:
                _end(group, device)
        finally:
            group.lock.release()


def _end(group: Group, device: str | None) -> None:
    """End the sessions of a group, and keep it no more."""
    groups = _groups(group.client)
    if groups.get(device) is group:
        del groups[device]
    group.close()


def forget(client: Client) -> None:
    """End the sessions that are kept for a client's next calls."""
    while _groups(client):
        _groups(client).popitem()[1].close()
