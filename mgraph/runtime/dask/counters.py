"""Counters for Prometheus of what the calls of all clients do, fed by their events.

Dask's scheduler serves the default registry of ``prometheus_client`` under ``/metrics`` where that package is
installed. The counters are in that registry. Schedulers of one process share it.
"""

import contextlib
import functools
from typing import Any

from distributed import Scheduler
from distributed.diagnostics.plugin import SchedulerPlugin

from ... import lazy
from ...errors import MissingPackageError
from .events import TOPIC

NAME = "mgraph-counters"

#: The counters of runs, by the event that they begin or end with: the name, and what it counts.
RUNS = {
    "plan": ("mgraph_runs_begun", "Runs that have begun: calls, and graphs made on workers"),
    "ended": ("mgraph_runs_ended", "Runs that have ended with a result"),
    "lost": ("mgraph_runs_lost", "Runs that have ended with the loss of a worker"),
    "failed": ("mgraph_runs_failed", "Runs that have ended in another error"),
}


class Counters(SchedulerPlugin):
    """Counts events of mgraph. Raises MissingPackageError without ``prometheus_client``."""

    name = NAME

    def __init__(self) -> None:
        self._counters = _registered()

    def log_event(self, topic: str, msg: Any) -> None:
        """Count an event of any topic."""
        if topic != TOPIC:
            return
        count, event = self._counters, msg["event"]
        if event in RUNS:
            count[event].inc()
        if event == "lost":
            count["workers"].inc(len(msg["workers"]))
        elif event == "again":
            count["again"].inc()
        elif event == "checkpoint":
            count["checkpoints"].inc()
            count["bytes"].inc(msg["bytes"])


@functools.cache
def _registered() -> dict[str, Any]:
    """Return the counters, which a registry takes only once."""
    counter = lazy.optional("prometheus_client", "counting for Prometheus").Counter
    return {event: counter(*given) for event, given in RUNS.items()} | {
        "workers": counter("mgraph_workers_lost", "Workers that runs have lost"),
        "again": counter("mgraph_again", "Calls and graphs that were made again after a loss"),
        "checkpoints": counter("mgraph_checkpoints", "Checkpoints that are complete"),
        "bytes": counter("mgraph_checkpoint_bytes", "Bytes of complete checkpoints"),
    }


def count_on(scheduler: Scheduler) -> None:
    """Let a scheduler count events from now on, if it can."""
    if NAME not in scheduler.plugins:
        with contextlib.suppress(MissingPackageError):
            scheduler.add_plugin(Counters(), name=NAME)
