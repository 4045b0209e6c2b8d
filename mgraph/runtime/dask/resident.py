"""The executor that runs programs on a graph that lies on the workers of a group (`mgraph.runtime.dask.group`).

Without a progress report and checkpoints a call is one message to the scheduler, which passes it on to each worker in
the call's turn and returns the answers; else it is one for each span. Nothing of the graph travels.
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
from ...errors import MgraphError, WorkerLostError
from ...planning.devices import DeviceSpec
from ...planning.plan import Plan
from ..checkpoints import Checkpoints, Order, Report, Written
from ..program import Outcome, Pace, Program, Progress, Standing, log_plan, memory_errors
from ..spans import Spans
from . import residents, tasks, worker
from .comm import Unreachable
from .events import between, failure, planned, tell
from .group import FRESH, Group, RemotePin, with_loss
from .turns import PARTING, dropped, leave, telling_ended, turn
from .vector import DistributedVector
from .watch import NOTICE, Watch, lost, opened

_log = logging.getLogger(__name__)


class Resident:
    """The executor of a graph, or of vectors alone, that lie on the workers of a group."""

    place: devices.Device | None = None

    #: The most bytes of a worker's vectors that come with its answer, in place of staying there.
    carried_bytes = 0

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
        group.refresh(loss)
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
        """Run a program; vectors stay on the workers, facts come as NumPy arrays.

        ``piece(0)`` is None where a worker's part is its piece, else what makes the pieces of the parts.
        """
        group, call = self._group, uuid.uuid4().hex
        log_plan(plan)
        with group.lock, memory_errors(plan.algorithm, plan), opened(group.client):
            group.ready(self._loss)  # another thread's call may have failed since
            watch, started = group.watch(call, plan.seconds), time.perf_counter()
            inputs, load = self.inputs_of(watch, call, program, piece, plan)
            first = partial(self.ask, watch, call, program, inputs)
            later = partial(self.ask, watch, call, None, [{}] * len(group.addresses))
            # Of a span of one superstep the user sees each: a message, and a barrier after it.
            stepwise = plan.span == 1 and plan.steps != 1
            at_once = progress is None and checkpoints is None and load is None and not stepwise
            try:
                if at_once:
                    work, pace = residents.Advance(0, None), Pace(plan)
                    on_event = partial(self._stands, watch, call, pace)
                    with telling_ended(group.client) as before:
                        answers = first(work, residents.in_turn, planned(plan), before, meanwhile=on_event)
                else:
                    with turn(group.watch(), call, plan):
                        if load is not None:
                            load()
                        shards = Shards(first if load is None else later, later, plan.span)
                        spans = Spans(program, plan, checkpoints, shards, partial(self._tell, call))
                        spans.run(progress)
                        spans.end()
                        answers = shards.answers
            except BaseException as error:
                if at_once:
                    tell(group.client, failure(error), call)
                self._fail(watch, call, error)
                if isinstance(error, WorkerLostError) and self._loss is not None:
                    raise with_loss(error, self._loss) from error
                raise
            return self._outcome(call, plan, answers, time.perf_counter() - started)

    def inputs_of(
        self, watch: Watch, call: str, program: Program, piece: Callable[[int], Any], plan: Plan
    ) -> tuple[Sequence[Mapping[str, Any]], Callable[[], None] | None]:
        """Return what the first request to each worker has of the input; and what sends the input before, if needed."""
        common = {"gather": piece(0), "beside": self._beside}
        if not self._sent:
            return [common] * len(self._group.addresses), None
        return [{**common, "sent": parts} for parts in self._sent], None

    def ask(
        self,
        watch: Watch,
        call: str,
        program: Program | None,
        inputs: Sequence[Mapping[str, Any]],
        work: residents.Work,
        way: Callable[..., Any],
        *more: Any,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> list[residents.Answer]:
        """Send each worker a request, with a part of the input, and return their answers.

        With a program, they load that first.
        """
        group = self._group
        look = time.monotonic() - group.asked > FRESH
        named = group.session, group.client.id, call, group.timeout, self._graph
        with group.freeing() as freed:
            asked = residents.Request(*named, program, work, look, freed, carried=self.carried_bytes)
            # Many workers get the same, of which the plan may be long.
            pickled = {key: dumps(replace(asked, **own)) for key, own in {id(own): own for own in inputs}.items()}
            requests = {address: pickled[id(own)] for address, own in zip(group.addresses, inputs, strict=True)}
            given = group.client.id, call, group.session, requests, *more
            found = watch.on_scheduler(way, *given, meanwhile=meanwhile)
            if not found:
                raise dropped(group.client)
        answers = [loads(found[address]["answer"]) for address in group.addresses]
        if any(isinstance(answer, tasks.Failure) for answer in answers):
            raise self._error_of(watch, answers)
        group.heard = time.monotonic()
        if look:
            group.saw({address: answer.sight for address, answer in zip(group.addresses, answers, strict=True)})
        return answers

    def _error_of(self, watch: Watch, answers: Sequence[Any]) -> BaseException:
        """Return the error with which a call ends, of which some workers have failed.

        The frame that raises it does not refer to it: they would be a cycle, which keeps what the call has on workers
        until Python next collects garbage.
        """
        failures = [answer.noted() for answer in answers if isinstance(answer, tasks.Failure)]
        losses = [error for error in failures if isinstance(error, WorkerLostError)]
        genuine = [error for error in failures if not (tasks.follows(error) or error in losses)]
        if genuine:
            return genuine[0]
        watch.check(0 if losses else NOTICE)  # raises if a worker is gone, and says how it has ended
        if losses:
            return losses[0]
        broken = next((error for error in failures if isinstance(error, Unreachable)), failures[0])
        return lost(self._group.addresses, str(broken))

    def _stands(self, watch: Watch, call: str, pace: Pace) -> None:
        """Tell how far a call is, by the beats of its workers."""
        steps = [beat["superstep"] for beat in watch.beats.values() if beat["superstep"] is not None]
        standing = pace.reached(min(steps)) if steps else None
        if standing is not None:
            self._tell(call, standing)

    def _tell(self, call: str, what: Standing | Written) -> None:
        tell(self._group.client, between(what), call)

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
            if group.gone is not None or not isinstance(error, Exception):
                # The scheduler would wait for the answer of a worker that is stopped.
                leave(watch, call, None)

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
            owner = RemotePin(self._group, call)
            for vector in kept:
                vector.owner = owner
        for name, dtype in answers[0].matrices.items():
            arrays[name] = self._group.matrix(plan, name, dtype)
        # The slowest worker's: the sum of each part's longest may be more than the call took.
        timings = max((answer.timings for answer in answers), key=lambda parts: sum(parts.values()))
        return Outcome(arrays, {**timings, "call": seconds}, answers[0].meeting_way)


class Shards:
    """The shards of a call, which goes on span by span.

    Parameters
    ----------
    first, later : callable
        Return the workers' answers to some work; the first request has them load the program.
    span : int
        The most supersteps of a span.

    Attributes
    ----------
    answers : list of Answer
        The last ones.
    """

    def __init__(
        self, first: Callable[..., list[residents.Answer]], later: Callable[..., list[residents.Answer]], span: int
    ) -> None:
        self._first, self._later, self._span = first, later, span
        self.answers: list[residents.Answer] = []

    def fingerprint(self) -> int:
        """Return the fingerprint of the whole input."""
        return sum(self._done(residents.Identify())) % 2**64

    def fill(self, place: str, number: int) -> list[int | str]:
        """Fill all shards from a checkpoint."""
        return self._done(residents.Fill(place, number))

    def span(self, first: int, order: Order | None) -> tuple[int, bool, list[Report | None]]:
        """Run a span of supersteps on all shards, and begin to write a checkpoint if that is ordered."""
        done = self._done(residents.Advance(first, self._span if order is None else order.span, order))
        return done[0].reached, done[0].finished, [each.report for each in done]

    def _done(self, work: residents.Work) -> list[Any]:
        ask = self._later if self.answers else self._first
        self.answers = ask(work, residents.passed)
        return [answer.done for answer in self.answers]


def beside(name: str, vector: DistributedVector) -> Resident:
    """Return the executor of programs that take a vector, by name, where it lies."""
    return Resident(vector._group, None, [], {name: vector})
