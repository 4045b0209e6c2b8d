"""The spans of a run, and the checkpoints between them: the loop of every executor.

A run is a sequence of spans of supersteps. Between two of them progress is reported and checkpoints are ordered and
completed (`mgraph.runtime.checkpoints`). An executor says how it reaches its shards.
"""

import logging
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from ..planning.plan import Plan
from .checkpoints import CheckpointRun, Checkpoints, Order, Report, Written, checked_resumable
from .program import Pace, Program, Progress, Standing
from .progress import bar_of

_log = logging.getLogger(__name__)


class Shards(Protocol):
    """The shards of a run, which have loaded their pieces, or do so when they are first asked for something."""

    def fingerprint(self) -> int:
        """Return the fingerprint of the whole input: the sum of the shards' own."""

    def fill(self, place: str, number: int) -> Sequence[int | str]:
        """Fill all shards from a checkpoint; return for each the next superstep, or in words what was wrong."""

    def span(self, first: int, order: Order | None) -> tuple[int, bool, Sequence[Report | None]]:
        """Run a span of supersteps from number `first` on, and begin to write a checkpoint if that is ordered.

        Returns the number of the next superstep, whether the program has ended, and what each shard has written since
        it was last asked, once that is done.
        """


class Spans:
    """The spans of a run, from its beginning or from its last checkpoint.

    Parameters
    ----------
    program : Program
        The program.
    plan : Plan
        The plan of the run.
    checkpoints : Checkpoints or None
        The checkpoints to write, and to go on from.
    shards : Shards
        The shards.
    on_event : callable, optional
        Called with how far the run is, now and then, and with each checkpoint that is complete.

    Raises
    ------
    CheckpointError
        If the checkpoints are of another call or another input, or all of them are damaged.
    """

    def __init__(
        self,
        program: Program,
        plan: Plan,
        checkpoints: Checkpoints | None,
        shards: Shards,
        on_event: Callable[[Standing | Written], None] = lambda what: None,
    ) -> None:
        self._plan, self._shards, self._on_event = plan, shards, on_event
        self._keeping: CheckpointRun | None = None
        self._reached = 0
        if checkpoints is not None:
            self._keeping = CheckpointRun(checkpoints, checked_resumable(program, plan), shards.fingerprint(), plan)
            self._reached = self._keeping.begin(partial(shards.fill, checkpoints.store.place))

    def run(self, progress: Progress | None) -> None:
        """Run all spans; report progress after each."""
        if progress is True:
            with bar_of(self._plan.algorithm) as shown:
                self.run(shown)
            return
        keeping, pace, finished = self._keeping, None, False
        begun, began = self._reached, time.monotonic()
        try:
            while not finished:
                first = self._reached
                order = None if keeping is None else keeping.order(first)
                self._reached, finished, reports = self._shards.span(first, order)
                if _log.isEnabledFor(logging.DEBUG):
                    name, last = self._plan.algorithm, ", the last one" if finished else ""
                    _log.debug("%s: a span from superstep %d to %d%s", name, first, self._reached, last)
                if not finished:
                    pace = pace or Pace(self._plan, begun, began)
                    standing = pace.reached(self._reached)
                    if standing is not None:
                        self._on_event(standing)
                if keeping is not None:
                    made = keeping.take(reports)
                    if made is not None:
                        self._on_event(made)
                    if order is not None and not finished:
                        keeping.ordered(self._reached)
                if progress is not None:
                    progress(self._reached, self._plan.steps)
        finally:
            if keeping is not None:
                keeping.settle()

    def end(self) -> None:
        """Remove what belongs to no complete checkpoint; called when the shards write nothing any more."""
        if self._keeping is not None:
            self._keeping.end()
