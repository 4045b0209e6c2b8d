"""When a call writes a checkpoint, and which one it goes on from.

The driver of a call decides, between spans. Each shard writes its part; when all have written theirs, the driver writes
the manifest, and removes what is older than the last two checkpoints. If a checkpoint cannot be written, a warning says
why, and the call goes on.
"""

import contextlib
import itertools
import logging
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from ... import lazy
from ...arguments import checked_flag, checked_seconds, warn_caller
from ...errors import Argument, ArgumentValue, CheckpointError, InputError, OutputExistsError, printable, shown
from ...io.files import absolute
from ...planning.devices import usable
from ...planning.plan import Plan
from .resumable import Resumable
from .store import Manifest, Store, Stored
from .writing import Order, Report, no_room

_log = logging.getLogger(__name__)

#: Where the caller gives no time: the least seconds between two checkpoints, and the most of the time from one to the
#: next that its pause may be.
LEAST, SHARE = 10.0, 0.02

#: How many complete checkpoints are kept.
KEPT = 2


@dataclass(frozen=True)
class Checkpoints:
    """The checkpoints that a call is to write.

    Attributes
    ----------
    store : Store
        Where.
    every : float or None
        Seconds between two; None chooses them by how long the last one has paused the call.
    resume : bool
        Whether to go on from the last one that is complete.
    """

    store: Store
    every: float | None
    resume: bool

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Keep other calls from the folder, for the whole of a call: all its runs, and all its attempts.

        Raises
        ------
        CheckpointError
            If another call writes to the folder.
        OutputExistsError
            If there are checkpoints in the folder, and the call is not to go on from one.
        """
        with self.store.locked():
            if not self.resume and self.store.numbers():
                raise self.refusal()
            yield

    def refusal(self) -> OutputExistsError:
        """Return the error of a call that is to begin anew where there are checkpoints."""
        there = f"{self.store} holds checkpoints: "
        return OutputExistsError(
            there, ArgumentValue("resume", True), " goes on from the last one; or give another folder"
        )

    def anew(self) -> "Checkpoints":
        """Remove the checkpoints of an attempt that has failed; return what the next attempt is to write."""
        self.store.remove(self.store.besides(()))
        return replace(self, resume=False)

    def method(self, algorithm: str, asked: Any, methods: Sequence[str]) -> Any:
        """Return the method of a call: where "auto" is asked, that of the call of an algorithm that goes on, if any."""
        found = self.call(algorithm).get("method") if isinstance(asked, str) and asked == "auto" else None
        return found if found in methods else asked

    def call(self, algorithm: str) -> dict[str, Any]:
        """Return by name what was asked of the call of an algorithm that goes on; empty if none can go on from here."""
        if self.resume:
            for number in self.store.numbers():
                try:
                    found = dict(self.store.manifest(number).call)
                except CheckpointError as error:
                    _log.warning("%s", error)
                else:
                    return found if found.get("algorithm") == algorithm else {}
        return {}


class Written(NamedTuple):
    """A checkpoint that is complete: its number, its superstep, its bytes, and the seconds from the order to write it.

    The seconds end when the driver sees that it is complete, which it asks at the end of a span.
    """

    number: int
    superstep: int
    bytes: int
    seconds: float


class OtherCallError(CheckpointError):
    """The checkpoints are of another call or another input."""


class CheckpointRun:
    """The checkpoints of one run of a program.

    Parameters
    ----------
    wanted : Checkpoints
        What the caller wants.
    program : Resumable
        The program.
    fingerprint : int
        That of the whole input.
    plan : Plan
        The plan, with the copies that it counts.
    """

    def __init__(self, wanted: Checkpoints, program: Resumable, fingerprint: int, plan: Plan[Any]) -> None:
        self._wanted, self._store, self._every = wanted, wanted.store, wanted.every
        self._program, self._steps, self._span = program, plan.steps, plan.span
        self._call, self._details, self._input = program.identity(), program.resume_details(), fingerprint % 2**64
        self._numbers = wanted.store.numbers()
        self._run, self._copied = uuid.uuid4().hex[:8], tuple(copy is not None for copy in plan.copied_bytes)
        self._unmade = ""  # why there is no folder, for the warning that nothing can be written
        try:
            wanted.store.make()
        except OSError as error:
            self._unmade = str(error)
        wanted.store.tidy()
        self._number = max(self._numbers, default=0)
        self._kept: list[Manifest] = []
        self._final: tuple[Stored, ...] = ()
        self._reports: list[Report | None] = [None] * len(plan.ranges)
        self._step: int | None = None  # of the checkpoint that is being written
        self._last = self._asked = time.monotonic()
        self._pause = 0.0
        self._warned = False
        self._pruning: threading.Thread | None = None

    def begin(self, fill: Callable[[int], Sequence[int | str]]) -> int:
        """Return the superstep to begin with: that of the last checkpoint that can be used, or 0 if there is none.

        Parameters
        ----------
        fill : callable
            Fills all shards from the checkpoint of a number; returns for each the next superstep, or what was wrong.

        Raises
        ------
        CheckpointError
            If the checkpoints are of another call or another input, or all of them are damaged.
        OutputExistsError
            If there are checkpoints, and the call is not to go on from one: another call has written them since this
            one began, at a URL or where the disk knows no locks.
        """
        if self._numbers and not self._wanted.resume:
            raise self._wanted.refusal()
        damages: list[str] = []
        for number in self._numbers:
            answers: Sequence[int | str]
            try:
                manifest = self._store.manifest(number)
                self._check(manifest)
                answers = [self._first(answer) for answer in fill(number)]
            except OtherCallError:
                raise
            except CheckpointError as error:
                answers = [str(error)]
            wrong = next((answer for answer in answers if isinstance(answer, str)), None)
            if wrong is None and len(set(answers)) > 1:
                wrong = f"{self._store}: the shards would go on at different supersteps, {shown(list(answers))}"
            if wrong is None:
                self._kept = [*self._before(number), manifest]
                self._final = tuple(stored for stored in manifest.files if stored.final)
                _log.info("going on by the checkpoint that was written to %s at %s", self._store, manifest.written)
                if not damages:  # else those files stay until the next checkpoint is complete
                    self._clear()
                self._last = self._asked = time.monotonic()  # filling took its time
                return int(answers[0])
            damages.append(wrong)
            _log.warning("checkpoint %d cannot be used: %s", number, wrong)
        if damages:
            raise CheckpointError(f"no checkpoint can be used: {damages[0]}")
        self._clear()
        return 0

    def _first(self, answer: int | str) -> int | str:
        """Return a superstep to go on with, or in words what is wrong with it."""
        if isinstance(answer, int):
            beyond = self._steps is not None and answer > self._steps
            if answer < 0 or beyond or not self._program.settled(answer):
                return f"{self._store}: no checkpoint can have been written at superstep {answer}"
        return answer

    def _before(self, number: int) -> list[Manifest]:
        """Return the manifest of the checkpoint before one, if it can be read: it is kept, too."""
        for older in self._numbers:
            if older < number:
                with contextlib.suppress(CheckpointError):
                    return [self._store.manifest(older)]
        return []

    def _check(self, manifest: Manifest) -> None:
        for name, wanted in self._call.items():
            found = manifest.call.get(name)
            if found != wanted:
                other = f"its {name} is {shown(found)}, not {shown(wanted)}"
                raise OtherCallError(f"{self._store} holds a checkpoint of another call: {other}")
        if manifest.input != self._input:
            raise OtherCallError(f"{self._store} holds a checkpoint of the same call on another input")

    def order(self, first: int) -> Order | None:
        """Return what each shard is to write after the next span; None if it is not time, or one is being written.

        It takes a number, which is skipped if no state can be settled then. The next span is expected to take as long
        as the last one, and the checkpoint is written after the span that ends nearest to its time.

        Parameters
        ----------
        first : int
            The first superstep of the next span.
        """
        every = max(LEAST, self._pause / SHARE) if self._every is None else self._every
        now = time.monotonic()
        span, self._asked = now - self._asked, now
        if self._step is not None or now + span - self._last < every - span / 2:
            return None
        self._number += 1
        known = frozenset((stored.name, stored.box) for stored in self._final)
        return Order(self._store.place, self._number, self._run, known, self._copied, self._settling(first) - first)

    def _settling(self, first: int) -> int:
        """Return where a span that begins at superstep `first` ends, so that the state is settled there.

        That is as late as the plan's span ends, or else as soon as possible after that. A span that ends the run, or
        after which no state is settled, is as long as the plan says.
        """
        last = first + self._span
        later = range(0) if self._steps is None else range(last + 1, self._steps)
        ends = itertools.chain(range(last, first, -1), later) if self._steps is None or last < self._steps else ()
        return next(filter(self._program.settled, ends), last)

    def ordered(self, step: int) -> None:
        """Note that the shards have begun to write, at superstep `step`; that is so if their state is settled then."""
        if self._program.settled(step):
            self._last, self._step = time.monotonic(), step
            self._reports = [None] * len(self._reports)

    def take(self, reports: Sequence[Report | None]) -> Written | None:
        """Take what the shards have written since they were asked last; complete the checkpoint if that is all.

        Returns
        -------
        Written or None
            The checkpoint that this completes; None if it does not.
        """
        self._reports = [new or old for new, old in zip(reports, self._reports, strict=True)]
        done = [report for report in self._reports if report is not None]
        if self._step is None or len(done) < len(self._reports):
            return None
        step, self._step = self._step, None
        self._pause = max(report.pause for report in done)
        files = tuple(stored for report in done for stored in report.files)
        final = (*self._final, *(stored for stored in files if stored.final))
        changing = tuple(stored for stored in files if not stored.final)
        written = datetime.now(UTC).isoformat(timespec="seconds")
        manifest = Manifest(self._number, self._call | self._details, self._input, step, written, final + changing)
        error, full = next((report.error for report in done if report.error), ""), any(report.full for report in done)
        try:
            if not error:
                hidden = self._store.missing(manifest.files)
                if hidden:
                    self._forget(hidden)
                    raise CheckpointError(
                        f"{len(hidden)} of its files are not in the folder, such as {hidden[0]}: they were removed, or "
                        "a worker sees another folder"
                    )
                self._store.complete(manifest)
                self._kept, self._final = [*self._kept, manifest][-KEPT:], final
        except Exception as failed:  # of any library by which fsspec knows URLs
            error, full = str(failed) or type(failed).__name__, no_room(failed)
        if full:  # the older one makes room for the next, which would fail as well
            self._kept = self._kept[1 - KEPT :]
        self._clear()
        if error:
            why = printable(str(self._unmade or error))
            text = f"checkpoint {self._number} was not written to {self._store}, and the call goes on: {why}"
            if self._warned:
                _log.warning("%s", text)
            else:
                _log.info("%s", text)
                warn_caller(RuntimeWarning(text))
            self._warned = True
            return None
        done_in = time.monotonic() - self._last
        made = Written(self._number, step, sum(stored.nbytes for stored in files), done_in)
        _log.info("checkpoint %d, of superstep %d: %d bytes in %.3g s to %s", *made, self._store)
        return made

    def _forget(self, hidden: Sequence[str]) -> None:
        """Let the shards write final elements again whose files are not there, if this run has written them.

        Those of an earlier run are no piece of this one. They stay missed, so that no checkpoint lacks them.
        """
        gone = {name for name in hidden if f"-{self._run}-" in name}
        self._final = tuple(stored for stored in self._final if stored.file not in gone)

    def end(self) -> None:
        """Remove what belongs to no complete checkpoint; called when nothing is written any more."""
        self._clear()
        self.settle()

    def settle(self) -> None:
        """Wait until what is being removed is gone; the folder is held as long."""
        if self._pruning is not None:
            self._pruning.join()

    def _clear(self) -> None:
        """Begin to remove what belongs to no complete checkpoint, such as what a killed call has left."""
        try:
            self._prune()
        except Exception as error:  # a later call removes it too
            _log.warning("what is left in %s could not be removed: %s", self._store, error)

    def _prune(self) -> None:
        """Begin to remove what belongs to no complete checkpoint, but not what is written from now on.

        That happens behind the computation, as a file of gigabytes in memory takes a second.
        """
        self.settle()
        names = self._store.besides(self._kept)
        self._pruning = threading.Thread(target=self._remove, args=(names,), name="mgraph-checkpoint", daemon=True)
        self._pruning.start()

    def _remove(self, names: Sequence[str]) -> None:
        try:
            self._store.remove(names)
        except Exception as error:  # of any library by which fsspec knows URLs
            _log.warning("what is old in %s could not be removed: %s", self._store, error)


def held(checkpoints: Checkpoints | None) -> contextlib.AbstractContextManager[None]:
    """Return a context in which a call has the folder of its checkpoints for itself, if it writes any."""
    return contextlib.nullcontext() if checkpoints is None else checkpoints.held()


def checked_resumable(program: Any, plan: Plan[Any]) -> Resumable:
    """Return a program that checkpoints are wanted of, or raise InputError if it has none."""
    if isinstance(program, Resumable):
        return program
    raise InputError(
        ArgumentValue("checkpoint"),
        f" does not go with method {plan.method!r} as it is planned here: {plan.explain(verbose=True)}",
    )


def plan_with_copies(plan: Plan[Any], program: Resumable, memory_limit: int | None) -> Plan[Any]:
    """Return a plan whose memory counts the copies that checkpoints make, on the devices that have room for them.

    A device has room for what is free on it, and by the call's `memory_limit`.
    """
    copies = [program.bytes_kept(shard) for shard in range(len(plan.ranges))]
    fitting = tuple(
        copy if program.COPIED and peak + copy <= usable(spec, memory_limit) else None
        for copy, peak, spec in zip(copies, plan.peak_bytes, plan.devices, strict=True)
    )
    peaks = tuple(peak + (copy or 0) for peak, copy in zip(plan.peak_bytes, fitting, strict=True))
    return replace(plan, peak_bytes=peaks, copied_bytes=fitting)


def configured_every() -> float | None:
    """Return the seconds between two checkpoints as Dask's configuration gives them; None if it does not."""
    given = lazy.dask().config.get("mgraph.checkpoint-every", None)
    return None if given is None else checked_seconds("mgraph.checkpoint-every of Dask's configuration", given, 0)


def checked_checkpoints(checkpoint: Any, every: Any, resume: Any) -> Checkpoints | None:
    """Return what a call's arguments `checkpoint`, `checkpoint_every` and `resume` ask for; None for no checkpoints.

    A `checkpoint` that is `Checkpoints` already, whose folder is held, is returned as it is.

    Raises
    ------
    InputError
        If one of them is invalid, or one of the last two is given without the first.
    """
    if isinstance(checkpoint, Checkpoints):
        return checkpoint
    if checkpoint is every is None and resume is False:
        return None
    resume = checked_flag("resume", resume)
    if checkpoint is None:
        for name, value in (("checkpoint_every", every), ("resume", resume or None)):
            if value is not None:
                raise InputError(Argument(name), " goes with ", ArgumentValue("checkpoint"))
        return None
    place = _checked_place(checkpoint)
    seconds = configured_every() if every is None else checked_seconds("checkpoint_every", every, 0)
    return Checkpoints(Store(place), seconds, resume)


def _checked_place(checkpoint: Any) -> str:
    """Return the folder that a call's argument `checkpoint` names, as other processes know it."""
    try:
        text = os.fspath(checkpoint)
        named = isinstance(text, str) and bool(text) and b"\0" not in os.fsencode(text)
    except (TypeError, UnicodeEncodeError):  # no path, or half of a character
        named = False
    if not named:
        raise InputError(argument="checkpoint", value=checkpoint, expected="a folder, as a path or a URL")
    try:
        return absolute(os.path.expanduser(text))
    except FileNotFoundError as error:
        expected = "an absolute path, as the working folder is no longer there"
        raise InputError(argument="checkpoint", value=checkpoint, expected=expected) from error
