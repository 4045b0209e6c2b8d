"""The calls that are struck, and the moments at which they are."""

import contextlib
import logging
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
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

#: Seconds for which a worker is stopped so that the others wait for it in an exchange, until the fault and on.
WAITING = 0.3


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
            placed = generate.grid(16, 16, device=device, client=client, worker_timeout=on["worker_timeout"])
            return algorithm(placed, *given, span=1, progress=on["progress"])

        return call

    return [
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
            lambda **on: apsp(roads, method="sssp", span=2, **on),
            distances,
            stays=True,
            kept=True,
        ),
        Case("bfs", "bfs", lambda **on: bfs(roads, 0, span=1, **on), distances),
        Case("bfs_many", "bfs_many", lambda **on: bfs_many(roads, range(100), span=2, **on), distances, stays=True),
        Case(
            "bfs_many with checkpoints",
            "bfs_many",
            lambda **on: bfs_many(roads, range(100), span=2, **on),
            distances,
            stays=True,
            kept=True,
        ),
        Case("sssp", "sssp", lambda **on: sssp(roads, 0, span=1, **on), distances),
        Case("components", "components", lambda **on: connected_components(roads, span=1, **on), lambda r: r.labels),
        Case("closure", "closure", lambda **on: transitive_closure(roads, span=1, **on), lambda r: r.words, stays=True),
        Case(
            "closure with checkpoints",
            "closure",
            lambda **on: transitive_closure(roads, span=1, **on),
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
            "components on workers",
            "components",
            on_grid(connected_components),
            lambda found: found.labels,
            stays=True,
        ),
    ]


class Moment(logging.Handler):
    """Calls `act` once, in a thread, at a moment of a call.

    Parameters
    ----------
    name : {"opening", "superstep", "exchange", "collecting"}
        The moment. In an exchange all workers but one are, as that one is stopped for `WAITING`.
    random : Random
        Says which superstep it is, and how long after its beginning.
    act : callable
        What is done.
    client : Client
        The client of the call.
    struck : str
        The address of a worker that must not be the one that is stopped.
    """

    NAMES = ("opening", "superstep", "exchange", "collecting")

    def __init__(self, name: str, random: Random, act: Callable[[], None], client: Client, struck: str) -> None:
        super().__init__(logging.DEBUG)
        self.moment, self._random, self._client, self._struck = name, random, client, struck
        self._superstep = random.randint(1, 5)
        self._act = act
        self._thread: threading.Timer | None = None
        self._stopping: subprocess.Popen[bytes] | None = None
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
        if self._stopping is not None:
            self._stopping.wait()

    def emit(self, record: logging.LogRecord) -> None:
        """Recognize the opening and the end of a call by what mgraph logs."""
        words = record.getMessage()
        if ": method " in words and self.moment == "opening":
            self._begin(0.1)
        elif words.endswith(", the last one") and self.moment == "collecting":
            self._begin(0.02)
        elif " is made again, on the " in words:
            self.repeated += 1

    def progress(self, k: int, of: int | None) -> None:
        """Recognize a superstep."""
        if k >= self._superstep and self.moment in ("superstep", "exchange") and not self.came:
            if self.moment == "exchange":
                pids = self._client.run(os.getpid, on_error="ignore")
                pids.pop(self._struck, None)
                if pids:
                    self._stopping = stop_for(pids[self._random.choice(sorted(pids))], 2 * WAITING)
            self._begin(0.05, WAITING if self.moment == "exchange" else 0.0)

    def _begin(self, most: float, least: float = 0.0) -> None:
        if not self.came:
            self._thread = threading.Timer(least + self._random.uniform(0, most), self._act)
            self._thread.start()


def stop_for(pid: int, seconds: float) -> subprocess.Popen[bytes]:
    """Return a process that stops another one for so many seconds, even if this one is killed meanwhile."""
    return subprocess.Popen(
        ["sh", "-c", f"kill -STOP {pid}; sleep {seconds}; kill -CONT {pid}"], start_new_session=True
    )
