"""Running a program superstep by superstep: the contract of a program, and the direct engine.

A `Program` describes an algorithm once: how a shard is loaded, one superstep, what is collected. An
executor runs it: `Direct` on one device in this process, `mgraph.cluster.Cluster` with one shard per Dask
worker. Both call `advance` for a span of supersteps at a time; progress is reported between spans.
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from . import device as devices
from .arguments import checked_integer
from .comm import Communicator, Solo
from .device.clock import clock
from .errors import InputError, MemoryLimitError
from .graph import Graph
from .plan import DeviceSpec, Plan
from .plan.devices import spec_of
from .plan.fit import overrun

Array = Any

#: Called between spans with the supersteps done and, where it is known, their total.
Progress = Callable[[int, int | None], None]


class Program(Protocol):
    """An algorithm as supersteps over shards; it never learns which executor runs it.

    A program is sent to every worker, so it holds the plan and no data; a shard's part of the input
    travels as its piece.
    """

    def load(self, shard: int, piece: Any, device: devices.Device) -> Any:
        """Return the state of a shard on `device`, made from its piece of the input."""
        ...

    def step(self, state: Any, first: int, limit: int, comm: Communicator) -> int:
        """Run supersteps from number `first` on, at least one and at most `limit` of them.

        Returns how many there were, the same number on every shard; 0 when none is left to run.
        """
        ...

    def collect(self, state: Any, comm: Communicator) -> dict[str, Array]:
        """Return the shard's results by name: matrices stay where they are, vectors go to the caller.

        A vector's parts are joined in the order of the shards.
        """
        ...


@dataclass
class Outcome:
    """What a run returned: result arrays by name, and the seconds spent in each part of the run."""

    arrays: dict[str, Any]
    timings: dict[str, float] = field(default_factory=dict)


class Executor(Protocol):
    """Where programs run.

    Attributes
    ----------
    specs : tuple of DeviceSpec
        The devices, one a shard.
    place : Device or None
        Where a piece of the input is best prepared; None if it will travel.
    """

    specs: tuple[DeviceSpec, ...]
    place: devices.Device | None

    def run(self, program: Program, piece: Callable[[int], Any], plan: Plan, progress: Progress | None) -> Outcome:
        """Run `program` by `plan`; ``piece(shard)`` is a shard's part of the input."""
        ...


def advance(
    program: Program,
    state: Any,
    first: int,
    span: int,
    comm: Communicator,
    begin: Callable[[int], None] = lambda k: None,
) -> tuple[int, bool]:
    """Run up to `span` supersteps from number `first` on; ``begin(k)`` is called before number ``k``.

    Returns
    -------
    reached : int
        The number of the next superstep.
    finished : bool
        Whether none is left.
    """
    k = first
    while k < first + span:
        begin(k)
        ran = program.step(state, k, first + span - k, comm)
        if ran == 0:
            return k, True
        k += ran
    return k, False


@contextlib.contextmanager
def memory_errors(call: str, made: Plan | None = None) -> Iterator[None]:
    """Make a MemoryError of the block, or of a function decorated with it, a MemoryLimitError that gives the numbers.

    Parameters
    ----------
    call : str
        What is called, e.g. ``"apsp"``.
    made : Plan, optional
        The plan that is being run; None while the input is prepared.
    """
    try:
        yield
    except MemoryLimitError:
        raise
    except MemoryError as error:
        raise MemoryLimitError(overrun(call, made, error)) from error


class Direct:
    """One device, in this process."""

    def __init__(self, device: devices.Device) -> None:
        self.place: devices.Device | None = device
        self.device = device
        self.specs: tuple[DeviceSpec, ...] = (spec_of(device),)

    def run(self, program: Program, piece: Callable[[int], Any], plan: Plan, progress: Progress | None) -> Outcome:
        """Run `program` on the device; results are arrays of it."""
        comm = Solo()
        with memory_errors(plan.algorithm, plan), self.device.active():
            try:
                begun = self._moment()
                state = program.load(0, piece(0), self.device)
                loaded = self._moment()
                k, finished = 0, False
                while not finished:
                    k, finished = advance(program, state, k, plan.span, comm)
                    solved = self._moment()
                    if progress is not None or not finished:  # else there is no need to wait before collecting
                        self.device.synchronize()
                    if progress is not None:
                        progress(k, plan.steps)
                arrays = program.collect(state, comm)
                collected = self._moment()
                self.device.synchronize()
            except BaseException:
                # Streams beside may still write to what the next call is given.
                with contextlib.suppress(Exception):
                    self.device.settle()
                raise
            timings = {
                "load": self._seconds(begun, loaded),
                "solve": self._seconds(loaded, solved),
                "collect": self._seconds(solved, collected),
                "compile": collected[1] - begun[1],
            }
        return Outcome(arrays, timings)

    def _moment(self) -> tuple[devices.Mark, float]:
        """Return the moment at which the work so far is done, and the seconds that kernels took to get ready."""
        return self.device.mark(), clock().seconds()

    def _seconds(self, start: tuple[devices.Mark, float], end: tuple[devices.Mark, float]) -> float:
        """Return the seconds between two moments in which no kernel was compiled or loaded."""
        return max(0.0, self.device.seconds_between(start[0], end[0]) - (end[1] - start[1]))


def executor(device: str | None, client: Any, home: str, worker_timeout: Any = None) -> Executor:
    """Return where to run: on `device`, or on the workers of `client`.

    Parameters
    ----------
    device : str or None
        A device's name; None takes the input's own where that is a GPU, else the best there is.
    client : distributed.Client or None
        With a client, `device` says what its workers shall use.
    home : str
        The name of the device that the input lives on.
    worker_timeout : float or str, optional
        Seconds that a worker of `client` may be silent.
    """
    if client is not None:
        from .cluster import Cluster

        return Cluster(client, device, worker_timeout)
    if worker_timeout is not None:
        raise InputError("worker_timeout is for workers: give client= too, or leave it out")
    return Direct(devices.find(home if device is None and home != "cpu" else device))


def specs_beside(runner: Executor, graph: Graph, *kept: str) -> tuple[DeviceSpec, ...]:
    """Return an executor's devices, with room for what one in this process holds already of a graph.

    A plan counts the lists of neighbours, and what is `kept` with the graph by these names, wherever they are.
    """
    if runner.place is None:
        return runner.specs
    held = graph.held(runner.place, "csr.indptr", "csr.indices", "csc.indptr", "csc.indices", *kept)
    return tuple(replace(spec, memory=spec.memory + held) for spec in runner.specs)


def checked_span(span: Any, progress: Any) -> int | None:
    """Return a user's span, or raise InputError if it or `progress` cannot be used."""
    if progress is not None and not callable(progress):
        raise InputError(f"progress={progress!r} cannot be called: give a function of the supersteps done and in all")
    if span is None:
        return None
    return min(checked_integer("span", span, 1), 2**31 - 1)
