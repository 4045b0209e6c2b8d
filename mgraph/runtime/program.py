"""Running a program superstep by superstep: the interfaces of programs and executors.

A `Program` describes an algorithm once: how a shard is loaded, one superstep, what is collected. An executor runs it:
`Direct` on one device in this process, `mgraph.runtime.dask.resident.Resident` with one shard per Dask worker where the
input lies on these already, and `mgraph.runtime.dask.driver.Visiting` where it is sent to them. All call `advance` for
a span of supersteps at a time; progress is reported between spans.
"""

import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, ParamSpec, Protocol, TypeVar

from .. import device as devices
from ..arrays import Array
from ..errors import MemoryLimitError
from ..planning.devices import DeviceSpec
from ..planning.fit import overrun
from ..planning.plan import MANY, Plan
from .checkpoints import Checkpoints
from .communicator import Communicator

P = ParamSpec("P")
T = TypeVar("T")

_log = logging.getLogger(__name__)

#: The least seconds between two records of how far a run is.
PAUSE = 1.0

#: Called between spans with the supersteps done and, where it is known, their total; True shows them as a bar.
Progress = Callable[[int, int | None], None] | Literal[True]


class Accompanied(NamedTuple):
    """A piece of two parts: `kept` stays on a worker as long as the caller has it, `own` is sent with each call."""

    kept: Any
    own: Any


class Program(Protocol):
    """An algorithm as supersteps over shards. It does not know which executor runs it.

    A program is sent to every worker, so it holds the plan and little else. A shard's part of the input is sent
    separately, as its piece, or lies there. A program for graphs on workers has a tuple `facts` with the names of the
    results that go to the caller; other vectors stay on the workers. One with a function `ended` of a shard's state,
    whether no superstep is left, is not asked for a last step that runs none.
    """

    def load(self, shard: int, piece: Any, device: devices.Device) -> Any:
        """Return the state of a shard on `device`, made from its piece of the input."""

    def step(self, state: Any, first: int, limit: int, comm: Communicator) -> int:
        """Run supersteps from number `first` on, at least one and at most `limit` of them.

        Returns how many were run, the same number on every shard; 0 if none was left.
        """

    def collect(self, state: Any, comm: Communicator) -> dict[str, Array]:
        """Return the shard's results by name.

        Matrices stay on the device. Vectors are sent to the caller, and joined in the order of the shards; those of a
        graph that lies on workers stay there, but for the program's `facts`.
        """


@dataclass
class Outcome:
    """The outcome of a run: result arrays by name, the seconds of each part, and how kernels exchanged data."""

    arrays: dict[str, Any]
    timings: dict[str, float] = field(default_factory=dict)
    meeting_way: str = ""


class Executor(Protocol):
    """Where programs run.

    Attributes
    ----------
    specs : tuple of DeviceSpec
        The devices, one a shard.
    place : Device or None
        The device on which to prepare pieces of the input; None if they will be sent.
    """

    specs: tuple[DeviceSpec, ...]
    place: devices.Device | None

    def run(
        self,
        program: Program,
        piece: Callable[[int], Any],
        plan: Plan,
        progress: Progress | None,
        checkpoints: Checkpoints | None = None,
    ) -> Outcome:
        """Run `program` by `plan`; ``piece(shard)`` is a shard's part of the input.

        Of an input that lies on workers it is None where a shard's part is its piece, else a
        `mgraph.runtime.gathering.Gather`, the same for all shards.
        """


def advance(
    program: Program,
    state: Any,
    first: int,
    span: int,
    comm: Communicator,
    begin: Callable[[int], None] | None = None,
) -> tuple[int, bool]:
    """Run up to `span` supersteps from number `first` on; ``begin(k)``, if given, is called before number ``k``.

    Returns
    -------
    reached : int
        The number of the next superstep.
    finished : bool
        Whether the program has ended.
    """
    k, ended = first, getattr(program, "ended", None)
    while k < first + span:
        if ended is not None and ended(state):
            return k, True
        if begin is not None:
            begin(k)
        ran = program.step(state, k, first + span - k, comm)
        if ran == 0:
            return k, True
        k += ran
    return k, False


#: What is called with each plan that begins to run.
_watching: list[Callable[[Plan], None]] = []


@contextlib.contextmanager
def plans_shown(show: Callable[[Plan], None]) -> Iterator[None]:
    """Call ``show(plan)`` for each plan that an executor of this process begins to run, before it does."""
    _watching.append(show)
    try:
        yield
    finally:
        _watching.remove(show)


def log_plan(plan: Plan) -> None:
    """Log the plan that an executor begins to run: a line at INFO, all of it at DEBUG."""
    for show in _watching:
        show(plan)
    if not _log.isEnabledFor(logging.INFO):
        return
    several = len(plan.devices) >= MANY
    where = f"{len(plan.devices)} devices" if several else ", ".join(spec.name for spec in plan.devices)
    _log.info("%s: method %s on %s, predicted %.3g s", plan.algorithm, plan.method, where, plan.seconds)
    if _log.isEnabledFor(logging.DEBUG):
        _log.debug("the plan:\n%s", plan.explain(verbose=True))


class Standing(NamedTuple):
    """How far a run is.

    Attributes
    ----------
    superstep : int
        The number of the next superstep.
    total : int or None
        The number of all, where it is known.
    rate : float
        Supersteps a second so far.
    left : float or None
        Seconds left at that rate, where the total is known.
    """

    superstep: int
    total: int | None
    rate: float
    left: float | None


class Pace:
    """How fast a run gets on; it logs that at INFO, at most once in `PAUSE` seconds.

    Parameters
    ----------
    plan : Plan
        The plan that is run.
    first : int
        The superstep that it begins with.
    began : float, optional
        When it began, by `time.monotonic`; by default now.
    """

    def __init__(self, plan: Plan, first: int = 0, began: float | None = None) -> None:
        self._plan, self._first = plan, first
        self._began = self._said = time.monotonic() if began is None else began

    def reached(self, k: int) -> Standing | None:
        """Return how far the run is at superstep `k`, and log it; None if that was done less than `PAUSE` ago."""
        now, plan = time.monotonic(), self._plan
        if now - self._said < PAUSE or k <= self._first:
            return None
        self._said = now
        rate = (k - self._first) / (now - self._began)
        if plan.steps is None:
            _log.info("%s: superstep %d, %.3g a second", plan.algorithm, k, rate)
            return Standing(k, None, rate, None)
        left = max(0, plan.steps - k) / rate
        said = "%s: superstep %d of %d, %.3g a second, about %.0f s left"
        _log.info(said, plan.algorithm, k, plan.steps, rate, left)
        return Standing(k, plan.steps, rate, left)


@contextlib.contextmanager
def memory_errors(call: str, plan: Plan) -> Iterator[None]:
    """Turn a MemoryError of the block, in which a call's plan is run, into a MemoryLimitError with the numbers."""
    try:
        yield
    except MemoryError as error:
        raise_with_numbers(call, plan, error)
        raise


def raise_with_numbers(call: str, plan: Plan | None, error: BaseException) -> None:
    """Raise a MemoryLimitError for a MemoryError that is none, with the numbers of the call's plan if there is one."""
    if isinstance(error, MemoryError) and not isinstance(error, MemoryLimitError):
        raise MemoryLimitError(overrun(call, plan, error)) from error
