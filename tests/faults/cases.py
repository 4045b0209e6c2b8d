"""The calls that are struck, and the moments at which they are."""

import contextlib
import logging
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

import numpy as np
from distributed import Client

from mgraph import (
    apsp,
    bfs,
    bfs_many,
    connected_components,
    generate,
    list_rank,
    minimum_spanning_forest,
    sssp,
    transitive_closure,
)
from mgraph import distances as distances_between
from mgraph.algorithms.registry import ALGORITHMS

#: Seconds for which a worker is stopped so that the others wait for it in an exchange, until the fault and on.
WAITING = 0.3

#: Seconds within which such a worker is stopped.
STOPPING = 0.05

#: Seconds for which reports of progress wait, in half of the calls, once the fault has come.
PAUSE = 0.1


@dataclass(frozen=True)
class Case:
    """A call.

    Attributes
    ----------
    name, algorithm : str
        Its name, and that of its algorithm in the registry.
    call : callable
        Makes it, on workers or without ``client``.
    result : callable
        The part of what it returns that is compared.
    stays : bool
        Whether this part lies on the workers.
    kept : bool
        Whether it writes checkpoints.
    """

    name: str
    algorithm: str
    call: Callable[..., Any]
    result: Callable[[Any], Any]
    stays: bool = False
    kept: bool = False


def cases() -> list[Case]:
    """Return the calls; most make each superstep a task, so that they take long enough to be struck."""
    rng = np.random.default_rng(0)
    n = 320
    matrix = np.where(rng.random((n, n)) < 0.05, rng.integers(1, 50, (n, n)), np.inf).astype(np.float32)
    roads = generate.grid(16, 16, weights=(1, 9), device="cpu")
    large = generate.grid(48, 48, weights=(1, 9), device="cpu")  # several batches of sources, and blocks of pivots
    successors = generate.linked_list(20_000, device="cpu")

    def distances(found: Any) -> Any:
        return found.distances

    def blocked(**on: Any) -> Any:
        return apsp(matrix, method="blocked", block=32, **on)

    def on_grid(algorithm: Callable[..., Any], *given: Any) -> Callable[..., Any]:
        def call(client: Client | None = None, device: str = "cpu", **on: Any) -> Any:
            if client is None:
                return algorithm(generate.grid(16, 16, device=device), *given, device=device)
            # A fault can strike while the workers make the graph, too. They keep it until nothing refers to it.
            placed = generate.grid(16, 16, device=device, client=client, worker_timeout=on.pop("worker_timeout"))
            return algorithm(placed, *given, span=1, **on)

        return call

    made = [
        Case("apsp", "apsp", lambda **on: blocked(span=1, **on), distances, stays=True),
        Case(
            "apsp with predecessors",
            "apsp",
            lambda **on: blocked(predecessors=True, span=5, **on),
            lambda found: found.predecessors,
            stays=True,
        ),
        Case("apsp in one span", "apsp", lambda **on: blocked(span=1000, **on), distances, stays=True),
        Case("apsp by search", "apsp", lambda **on: apsp(roads, method="sssp", span=2, **on), distances, stays=True),
        Case("apsp with checkpoints", "apsp", lambda **on: blocked(span=1, **on), distances, stays=True, kept=True),
        Case(
            "apsp by search with checkpoints",
            "apsp",
            lambda **on: apsp(large, method="sssp", span=1, **on),
            distances,
            stays=True,
            kept=True,
        ),
        Case("bfs", "bfs", lambda **on: bfs(roads, 0, span=1, **on), distances),
        Case("bfs_many", "bfs_many", lambda **on: bfs_many(roads, range(100), span=2, **on), distances, stays=True),
        Case(
            "bfs_many with checkpoints",
            "bfs_many",
            lambda **on: bfs_many(roads, [*range(256)] * 3, span=20, **on),
            distances,
            stays=True,
            kept=True,
        ),
        Case("sssp", "sssp", lambda **on: sssp(roads, 0, span=1, **on), distances),
        Case(
            "distances",
            "distances",
            lambda **on: distances_between(large, range(0, 2304, 5), range(9), span=1, **on),
            distances,
            stays=True,
        ),
        Case(
            "distances, measured",
            "distances",
            lambda **on: distances_between(large, reduce="mean", span=1, **on),
            lambda found: found.mean,
        ),
        Case("components", "components", lambda **on: connected_components(roads, span=1, **on), lambda r: r.labels),
        Case("closure", "closure", lambda **on: transitive_closure(roads, span=1, **on), lambda r: r.words, stays=True),
        Case(
            "closure with checkpoints",
            "closure",
            lambda **on: transitive_closure(large, span=3, **on),
            lambda found: found.words,
            stays=True,
            kept=True,
        ),
        Case("list_rank", "list_rank", lambda **on: list_rank(successors, span=1, **on), lambda r: r.ranks),
        Case(
            "minimum_spanning_forest",
            "minimum_spanning_forest",
            lambda **on: minimum_spanning_forest(roads, span=1, **on),
            lambda found: [found.src, found.dst, found.weights],
        ),
        Case("bfs on workers", "bfs", on_grid(bfs, 0), distances, stays=True),
        Case(
            "components on workers", "components", on_grid(connected_components), lambda found: found.labels, stays=True
        ),
        Case(
            "apsp on workers with checkpoints",
            "apsp",
            on_grid(partial(apsp, method="blocked", block=32)),
            distances,
            stays=True,
            kept=True,
        ),
        Case("sssp on workers with checkpoints", "sssp", on_grid(sssp, 0), distances, stays=True, kept=True),
    ]
    struck = {case.algorithm for case in made}
    return made + [sampled(name) for name in ALGORITHMS if name not in struck]


def sampled(name: str) -> Case:
    """Return the case of an algorithm that has none above: the largest of its samples."""
    entry = ALGORITHMS[name]
    sample = max(entry.samples("auto"), key=lambda sample: getattr(sample.given, "n", None) or np.size(sample.given))
    call = partial(entry.call, sample.given, span=1, **sample.options)
    return Case(name, name, call, lambda found: next(iter(entry.arrays(found).values())))


class Moment(logging.Handler):
    """Calls `act` once, in a thread, at a moment of a call.

    Parameters
    ----------
    name : {"opening", "superstep", "exchange", "collecting"}
        The moment. For an exchange another worker is stopped for a while: those that run wait for it.
    random : Random
        Says which superstep it is, and how long after its beginning.
    act : callable
        What is done.
    others : sequence of int
        The processes of workers that may be stopped.
    reports : sequence of int
        The supersteps after which the call reports its progress before it ends. If there are none, as all supersteps
        are one span, the moment comes at random within the call's usual time.
    usual : float
        That time, in seconds.
    """

    NAMES = ("opening", "superstep", "exchange", "collecting")

    def __init__(
        self,
        name: str,
        random: Random,
        act: Callable[[], None],
        others: Sequence[int],
        reports: Sequence[int],
        usual: float,
    ) -> None:
        super().__init__(logging.DEBUG)
        self.moment, self._random, self._others, self._usual = name, random, others, usual
        self._superstep = random.choice(reports) if reports else None
        self._pause = random.choice([0.0, PAUSE])
        self._act = act
        self._thread: threading.Timer | None = None
        #: How many times the call was made again.
        self.repeated = 0

    @contextlib.contextmanager
    def awaited(self) -> Iterator[Callable[[int, int | None], None]]:
        """Wait for the moment in the block; yield the report of progress by which it is recognized."""
        logger = logging.getLogger("mgraph")
        before, logger.propagate = (logger.level, logger.propagate), False
        logger.setLevel(logging.DEBUG)
        logger.addHandler(self)
        try:
            yield self.progress
        finally:
            logger.removeHandler(self)
            logger.setLevel(before[0])
            logger.propagate = before[1]

    @property
    def came(self) -> bool:
        """Whether the moment has come."""
        return self._thread is not None

    def join(self) -> None:
        """Wait until it is done, if the moment has come."""
        if self._thread is not None:
            self._thread.join()

    def emit(self, record: logging.LogRecord) -> None:
        """Recognize the opening and the end of a call, and one of a single span, by what mgraph logs."""
        words = record.getMessage()
        if self.moment == "opening" and ": method " in words:
            self._begin(0.1)
        elif self.moment == "collecting" and words.endswith(", the last one"):
            self._begin(0.02)
        elif self.moment in ("superstep", "exchange") and self._superstep is None and "opened session" in words:
            self._begin(self._usual)
        elif " is made again, on the " in words:
            self.repeated += 1

    def progress(self, k: int, of: int | None) -> None:
        """Recognize a superstep; later reports take some time, so that the fault has its effect during the call."""
        if self.came:
            time.sleep(self._pause)
        elif self._superstep is not None and k >= self._superstep:
            if self.moment == "superstep":
                self._begin(0.05)
            elif self.moment == "exchange":
                self._begin(0.0)
                time.sleep(STOPPING)

    def _begin(self, most: float) -> None:
        if not self.came:
            self._thread = threading.Timer(self._random.uniform(0, most), self._run)
            self._thread.start()

    def _run(self) -> None:
        if self.moment == "exchange" and self._others:
            stopped = stop_for(self._random.choice(self._others), 2 * WAITING)
            time.sleep(WAITING)
            self._act()
            stopped.wait()
        else:
            self._act()


def stop_for(pid: int, seconds: float) -> subprocess.Popen[bytes]:
    """Return a process that stops another one for so many seconds, even if this one is killed meanwhile."""
    return subprocess.Popen(
        ["sh", "-c", f"kill -STOP {pid}; sleep {seconds}; kill -CONT {pid}"], start_new_session=True
    )
