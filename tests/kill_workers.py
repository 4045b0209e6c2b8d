"""Kills and stops workers in the middle of calls, and checks how each call ends.

``python -m tests.kill_workers --count 200 --seed 1``, on GPUs with ``--device cuda --workers 2``. Each round makes
a call on a cluster of this machine, and during it a worker gets SIGKILL, or SIGSTOP and after the call SIGCONT;
half of them within the first 0.2 s. The call has to end in the right result or in one error of mgraph's, within
its timeout; and the next call, half of the time while the worker is still stopped, in the right result. At the
end no session is left. Prints each round that failed, and a table of how calls ended; exits with 1 if one failed.
"""

import argparse
import contextlib
import faulthandler
import logging
import random
import signal
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import dask
import numpy as np
import psutil
from distributed import Client, LocalCluster

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
from mgraph.errors import MgraphError, WorkerLostError
from tests.present import present

#: Seconds of silence after which a call is to end.
TIMEOUT = 5.0

#: Seconds beyond the timeout and twice the time of an undisturbed call within which a call has to end: it notices the
#: silence, waits for tasks, and frees what it holds. The factor is for a machine with more to do.
ALLOWANCE = 15.0

#: Seconds after which a call counts as hanging, and the process ends with the stacks of its threads.
HANG = 300.0

#: Rounds with the same cluster.
ROUNDS = 20

#: A call: its name, the function that makes it, and the part of its result that is compared.
Case = tuple[str, Callable[..., Any], Callable[[Any], Any]]


def cases() -> list[Case]:
    """Return the calls; most make each superstep a task, so that they take long enough to be disturbed."""
    rng = np.random.default_rng(0)
    n = 320
    matrix = np.where(rng.random((n, n)) < 0.05, rng.integers(1, 50, (n, n)), np.inf).astype(np.float32)
    roads = generate.grid(16, 16, weights=(1, 9), device="cpu")
    successors = generate.linked_list(20_000, device="cpu")
    return [
        ("apsp", lambda **on: apsp(matrix, block=32, span=1, **on), lambda r: r.distances),
        (
            "apsp with predecessors",
            lambda **on: apsp(matrix, predecessors=True, block=32, span=5, **on),
            lambda r: r.distances,
        ),
        ("apsp in one span", lambda **on: apsp(matrix, block=32, span=1000, **on), lambda r: r.distances),
        ("bfs", lambda **on: bfs(roads, 0, span=1, **on), lambda r: r.distances),
        ("bfs_many", lambda **on: bfs_many(roads, range(100), span=2, **on), lambda r: r.distances),
        ("sssp", lambda **on: sssp(roads, 0, span=1, **on), lambda r: r.distances),
        ("components", lambda **on: connected_components(roads, span=1, **on), lambda r: r.labels),
        ("closure", lambda **on: transitive_closure(roads, span=1, **on), lambda r: r.words),
        ("list_rank", lambda **on: list_rank(successors, span=1, **on), lambda r: r.ranks),
        (
            "minimum_spanning_forest",
            lambda **on: minimum_spanning_forest(roads, span=1, **on),
            lambda r: [r.src, r.dst, r.weights],
        ),
    ]


@contextlib.contextmanager
def cluster(workers: int, device: str) -> Iterator[tuple[Any, Client]]:
    """Yield a cluster of this machine, with nannies, and its client."""
    options: dict[str, Any] = dict(n_workers=workers, dashboard_address=":0", silence_logs=logging.CRITICAL)
    # A nanny on a busy machine takes longer than the 15 s after which LocalCluster gives its worker up.
    dask.config.set({"distributed.deploy.lost-worker-timeout": "10 minutes"})
    if device == "cuda":
        from dask_cuda import LocalCUDACluster

        made = LocalCUDACluster(**options)
    else:
        made = LocalCluster(threads_per_worker=1, memory_limit=0, **options)
    with made, Client(made, set_as_default=False) as client:
        yield made, client


class Disturber:
    """Sends a worker's process a signal after a delay, from a thread; `undo` wakes the worker."""

    def __init__(self, pid: int, number: signal.Signals, delay: float) -> None:
        self._process = psutil.Process(pid)  # it never signals another process that reuses the number
        self._number = number
        self._timer = threading.Timer(delay, self._send, [number])
        self._timer.start()

    def _send(self, number: signal.Signals) -> None:
        # It may have ended by itself.
        with contextlib.suppress(psutil.NoSuchProcess):
            self._process.send_signal(number)

    def settle(self) -> None:
        """Wait until the signal is sent."""
        self._timer.join()

    def undo(self) -> None:
        """Wake a worker that was stopped."""
        if self._number == signal.SIGSTOP:
            self._send(signal.SIGCONT)


def sessions(dask_worker: Any) -> int:
    """Return how many sessions a worker has; for `Client.run`."""
    plugin = dask_worker.plugins.get("mgraph")
    return 0 if plugin is None else len(plugin.sessions)


def wait_until(holds: Callable[[], bool], what: str) -> None:
    """Wait, or raise AssertionError."""
    end = time.monotonic() + HANG
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.1)


class Harness:
    """The rounds, and their outcomes."""

    def __init__(self, device: str, seed: int, timeout: float) -> None:
        self.random = random.Random(seed)
        self.cases = cases()
        self.expected = {name: np.asarray(of(call(device="cpu"))) for name, call, of in self.cases}
        self.on = {"device": device, "worker_timeout": timeout}
        self.usual: dict[str, float] = {}
        self.outcomes: Counter[tuple[str, str, str]] = Counter()
        self.problems: list[str] = []
        self.slowest = 0.0

    def measure(self, client: Client) -> None:
        """Make each call undisturbed, to measure its time and to compile its kernels."""
        for case in self.cases:
            started = time.monotonic()
            ended = self.ended(case, client, worker_timeout=HANG)  # it may compile, on a busy machine
            assert ended == "right", f"{case[0]}, undisturbed: {ended}"
            self.usual[case[0]] = time.monotonic() - started

    def ended(self, case: Case, client: Client, **options: Any) -> str:
        """Make a call; return how it ended."""
        name, call, of = case
        faulthandler.dump_traceback_later(HANG, exit=True)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # of workers left out
                found = np.asarray(of(call(client=client, **self.on | options)))
            return "right" if np.array_equal(found, self.expected[name]) else "WRONG"
        except MgraphError as error:
            return type(error).__name__ if isinstance(error, WorkerLostError) else f"{type(error).__name__}: {error}"
        except Exception as error:
            return f"RAW {type(error).__name__}: {error}"
        finally:
            faulthandler.cancel_dump_traceback_later()

    def round(self, number: int, made: Any, client: Client) -> None:
        """Make a call with a disturbance, the next call, and see that nothing is left."""
        case = self.random.choice(self.cases)
        name, usual = case[0], self.usual[case[0]]
        sent = (signal.SIGKILL, signal.SIGSTOP)[number % 2]
        early = number // 2 % 2 == 0
        delay = self.random.uniform(0, 0.2) if early else self.random.uniform(0.2, max(0.4, usual))
        pid = self.random.choice([nanny.pid for nanny in made.workers.values()])
        awake = self.random.random() < 0.5
        when = "first 0.2 s" if early else "later"
        what = f"round {number}: {sent.name} after {delay:.2f} s in {name}"

        started = time.monotonic()
        disturber = Disturber(pid, sent, delay)
        ended = self.ended(case, client)
        seconds = time.monotonic() - started
        disturber.settle()
        try:
            if awake:
                disturber.undo()
            following = self.ended(case, client)
        finally:
            disturber.undo()
        # It may wait for a silent worker, leave it out, and take its time with those that are left.
        beyond = seconds - 2 * usual - self.on["worker_timeout"]
        self.slowest = max(self.slowest, beyond)
        self.outcomes[sent.name, when, ended] += 1
        if ended not in ("right", "WorkerLostError"):
            self.problems.append(f"{what}: {ended}")
        if beyond > ALLOWANCE:
            self.problems.append(f"{what}: {ended} after {seconds:.1f} s, undisturbed after {usual:.1f} s")
        if following != "right":
            self.problems.append(f"{what}: the next call: {following}")
        wait_until(lambda: len(present(client)) == len(made.workers), f"{what}: the workers came back")
        wait_until(lambda: not any(client.run(sessions).values()), f"{what}: no session is left")

    def report(self) -> str:
        """Return the table of how the calls ended."""
        lines = [f"{'signal':10}{'when':14}{'ended':20}{'calls':>6}"]
        lines += [
            f"{s:10}{when:14}{ended[:60]:20}{count:6}" for (s, when, ended), count in sorted(self.outcomes.items())
        ]
        lines.append(f"{sum(self.outcomes.values())} calls, {len(self.problems)} problems")
        lines.append(f"the slowest ended {self.slowest:.1f} s beyond its timeout and twice its usual time")
        return "\n".join(lines)


def main() -> int:
    """Run the rounds that the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--workers", type=int, help="by default 2, 3 and 4 in turn; on GPUs 2")
    parser.add_argument("--timeout", type=float, default=TIMEOUT, help="worker_timeout of the calls, in seconds")
    given = parser.parse_args()
    harness = Harness(given.device, given.seed, given.timeout)
    for first in range(0, given.count, ROUNDS):
        workers = given.workers or (2 if given.device == "cuda" else 2 + first // ROUNDS % 3)
        with cluster(workers, given.device) as (made, client):
            harness.measure(client)
            for number in range(first, min(first + ROUNDS, given.count)):
                before = len(harness.problems)
                harness.round(number, made, client)
                for problem in harness.problems[before:]:
                    print(problem, flush=True)
        print(f"after {number + 1} rounds, {workers} workers:\n{harness.report()}", flush=True)
    return 1 if harness.problems else 0


if __name__ == "__main__":
    sys.exit(main())
