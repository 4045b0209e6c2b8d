"""The executor that runs programs on a graph that lies on the workers of a group (`mgraph.runtime.dask.group`).

Without a progress report a call is one message to the scheduler, which passes it on to each worker in the call's turn
and returns the answers; nothing of the graph travels.
"""

import logging
import time
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from distributed.protocol.pickle import dumps, loads

from ... import device as devices
from ...errors import Argument, Given, InputError, MgraphError, SchedulerError, WorkerLostError
from ...planning.devices import DeviceSpec
from ...planning.plan import Plan
from ..checkpoints import Checkpoints
from ..program import Outcome, Pace, Program, Progress, log_plan, memory_errors
from . import residents, tasks, worker
from .comm import Unreachable
from .driver import follows, opened
from .events import Event, failure, planned, stands, tell
from .group import FRESH, Group, Kept, with_loss
from .turns import PARTING, left, turn
from .vector import DistributedVector
from .watch import NOTICE, Watch, connection, lost

_log = logging.getLogger(__name__)


class Resident:
    """The executor of a graph, or of vectors alone, that lie on the workers of a group."""

    place: devices.Device | None = None

    def __init__(
        self,
        group: Group,
        graph: str | None,
        held: list[Mapping[str, int]],
        vectors: Mapping[str, Any] | None = None,
        loss: Callable[[Collection[str]], str] | None = None,
        sent: Sequence[Mapping[str, np.ndarray]] = (),
    ) -> None:
        group.ready(loss)
        group.refresh()
        #: Says what of the graph was lost with some workers.
        self._loss = loss
        #: The vectors beside the graph, to keep them on the workers, and where they are: their calls and names there.
        self._vectors = vectors
        self._beside = None if vectors is None else {name: vector.place for name, vector in vectors.items()}
        #: Each worker's parts of the vectors that are sent to it.
        self._sent = sent
        self.specs: tuple[DeviceSpec, ...] = group.specs
        self._group = group
        self._graph = graph
        #: Bytes that each worker keeps of the graph, by name; updated by every call.
        self._held = held

    def run(
        self,
        program: Program,
        piece: Callable[[int], Any],
        plan: Plan,
        progress: Progress | None,
        checkpoints: Checkpoints | None = None,
    ) -> Outcome:
        """Run a program; vectors stay on the workers, facts come as NumPy arrays. There are no pieces to send.

        Raises
        ------
        InputError
            If checkpoints are wanted: only calls that send their input to the workers write them.
        """
        if checkpoints is not None:
            raise InputError(Argument("checkpoint"), " is not for what lies on workers: call with ", Given("client"))
        group, call = self._group, uuid.uuid4().hex
        log_plan(plan)
        with group.lock, memory_errors(plan.algorithm, plan), opened(group.client):
            group.ready(self._loss)  # another thread's call may have failed since
            watch, started, pace = group.watch(call, plan.seconds), time.perf_counter(), Pace(plan)
            try:
                if progress is None:
                    in_turn = partial(self._asked, watch, call, program, 0, None, residents.in_turn, planned(plan))
                    answers = in_turn(meanwhile=lambda: self._stands(watch, call, pace))
                else:
                    with turn(group.watch(), call, plan):
                        answers, k = [], 0
                        while not answers or not answers[0].finished:
                            first = k
                            wanted = None if answers else program
                            answers = self._asked(watch, call, wanted, first, plan.span, residents.passed)
                            k = answers[0].reached
                            standing = pace.ran(first, k, answers[0].finished)
                            if standing is not None:
                                tell(group.client, stands(standing), call)
                            progress(k, plan.steps)
            except BaseException as error:
                if progress is None:
                    tell(group.client, failure(error), call)
                self._fail(watch, call, error)
                if isinstance(error, WorkerLostError) and self._loss is not None:
                    raise with_loss(error, self._loss) from error
                raise
            return self._outcome(call, plan, answers, time.perf_counter() - started)

    def _asked(
        self,
        watch: Watch,
        call: str,
        program: Program | None,
        first: int,
        span: int | None,
        way: Callable[..., Any],
        *event: Event,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> list[residents.Answer]:
        group = self._group
        look = time.monotonic() - group.asked > FRESH
        named = group.session, group.client.id, call, group.timeout, self._graph
        with group.freeing() as freed:
            asked = residents.Request(*named, program, first, span, look, freed, self._beside)
            if program is None or not self._sent:
                requests = dict.fromkeys(group.addresses, dumps(asked))
            else:
                own = zip(group.addresses, self._sent, strict=True)
                requests = {address: dumps(replace(asked, sent=parts)) for address, parts in own}
            given = group.client.id, call, group.session, requests, *event
            found = watch.wait(group.client.run_on_scheduler(way, *given, asynchronous=True), meanwhile)
            if not found:
                raise SchedulerError(
                    f"{connection(group.client)}: it has dropped this client's calls, as after a connection that broke"
                )
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
            group.saw({address: answer.sight for address, answer in zip(group.addresses, answers, strict=True)})
        return answers

    def _stands(self, watch: Watch, call: str, pace: Pace) -> None:
        """Tell how far a call is, by the beats of its workers."""
        steps = [beat["superstep"] for beat in watch.beats.values() if beat["superstep"] is not None]
        standing = pace.reached(min(steps)) if steps else None
        if standing is not None:
            tell(self._group.client, stands(standing), call)

    def _fail(self, watch: Watch, call: str, error: BaseException) -> None:
        """Stop the call on the workers that answer; the group's sessions are opened again before its next call."""
        group = self._group
        group.broken = True
        if isinstance(error, WorkerLostError):
            group.lose(error)
            _log.warning("%s", str(error))  # a record of the log must not keep the frames
        if group.client.status == "running":
            try:
                watch.look()
            except MgraphError as gone:
                _log.debug("while a call is stopped: %s", gone)
            there = sorted(watch.there.intersection(group.addresses))
            tasks.tell(watch, there, worker.abort_session, group.session, within=PARTING)
            if group.gone is not None:  # the scheduler would wait for the answer of a worker that is stopped
                leaving = group.client.run_on_scheduler(left, call, group.client.id, None, asynchronous=True)
                watch.attempt(leaving, PARTING)

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


def beside(name: str, vector: DistributedVector) -> Resident:
    """Return the executor of programs that take a vector, by name, where it lies."""
    return Resident(vector._group, None, [], {name: vector})
