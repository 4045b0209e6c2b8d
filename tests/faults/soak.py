"""Many calls in one client, with a worker killed now and then: what grows by them.

The worker that is killed is always the same one. The other stays, so that what grows there shows.
"""

import math
import os
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import psutil

from tests.faults.left import left
from tests.faults.rounds import FREE, Rounds, cells
from tests.faults.site import wait_until

#: Calls between two kills, and between two samples, of which the first counts as the beginning.
KILLS, SAMPLES = 50, 100

#: How a call may end while a worker is killed: its result may lie there, or its graph.
LOSSES = ("right", "WorkerLostError", "result lost")


class Sample(NamedTuple):
    """What a process has."""

    mebibytes: int
    descriptors: int
    threads: int


#: By how much a process may grow after the first sample.
MOST = Sample(24, 12, 4)


class Soak:
    """Calls of all kinds on the two workers of a site. A context: it ends them."""

    def __init__(self, folder: Path, seed: int, device: str = "cpu") -> None:
        self.rounds = Rounds(folder, seed, cells(), device, workers=2)
        self.seed = seed
        self.endings: Counter[str] = Counter()
        self.samples: list[tuple[int, dict[str, Sample]]] = []
        self.kills = 0
        self._failed: list[str] = []
        self._began = time.monotonic()

    def __enter__(self) -> "Soak":
        return self

    def __exit__(self, *_: object) -> None:
        self.rounds.__exit__()

    def run(self, count: int, seconds: float = math.inf) -> Iterator[str]:
        """Make so many calls, or as many as begin within so many seconds; yield a line for each sample."""
        site, chosen = self.rounds.site("plain"), random.Random(self.seed)
        for case in self.rounds.cases.values():
            self.rounds.measure(case, site)
        self._began = time.monotonic()
        for number in range(1, count + 1):
            if time.monotonic() - self._began > seconds:
                break
            self._call(number, chosen)
            if number % SAMPLES == 0:
                try:
                    wait_until(lambda: not left(site), "", FREE)
                except TimeoutError:
                    self._failed.append(f"left after call {number}: {', '.join(left(site))}")
                site.forget_names()
                self.samples.append((number, self._sample()))
                yield self._line(*self.samples[-1])

    def _call(self, number: int, chosen: random.Random) -> None:
        """Make a call, in which the mortal worker may be killed."""
        site = self.rounds.site("plain")
        # All kinds together take about as long as one another.
        names, often = list(self.rounds.usual), [1 / seconds for seconds in self.rounds.usual.values()]
        case = self.rounds.cases[chosen.choices(names, often)[0]]
        killing = number % KILLS == 0
        if killing:
            mortal = site.worker(0)
            kill = threading.Timer(chosen.uniform(0, self.rounds.usual[case.name]), mortal.kill)
            kill.start()
        ended = self.rounds.ended(case, site)
        self.endings[ended.how] += 1
        if ended.how not in (LOSSES if killing else LOSSES[:1]):
            self._failed.append(f"call {number}, {case.name}: {ended.how}: {ended.words}")
        if killing:
            kill.join()
            mortal.wait()
            site.settle()
            self.kills += 1

    @property
    def problems(self) -> list[str]:
        """What was wrong: calls that did not end well, and what has grown by more than it may."""
        few = [f"{len(self.samples)} samples show no growth: make {2 * SAMPLES} calls"] if len(self.samples) < 2 else []
        return [*self._failed, *few, *(f"{name}: {words}" for name, words in self.grown())]

    def grown(self) -> list[tuple[str, str]]:
        """Return the processes that have grown by more than they may, and by how much, in words."""
        return [
            (name, f"{now - then} {kind} more than at call {SAMPLES}, of {most} allowed")
            for name, then, now in self._growth()
            for kind, then, now, most in zip(Sample._fields, then, now, MOST, strict=True)
            if now - then > most
        ]

    def verdict(self) -> str:
        """Return what the calls have come to, in words."""
        made, seconds = self.endings.total(), time.monotonic() - self._began
        grown = [
            f"the {name} has grown by {more.mebibytes} MiB, {more.descriptors} files, {more.threads} threads"
            for name, then, now in self._growth()
            for more in [Sample(*(new - old for new, old in zip(now, then, strict=True)))]
        ]
        return "\n".join(
            [
                f"{made} calls in {seconds:.0f} s, {self.kills} kills: {len(self.problems)} problems",
                *(f"since call {SAMPLES} {words}" for words in grown),
                *self.problems,
                "",
            ]
        )

    def table(self) -> str:
        """Return the samples as a table in Markdown, with the verdict."""
        names = list(self.samples[0][1])
        lines = [
            f"| calls | {' | '.join(f'{name}: MiB, files, threads' for name in names)} |",
            "| --- " * (len(names) + 1) + "|",
            *(self._line(*sample) for sample in self.samples),
            "",
            ", ".join(f"{how}: {count}" for how, count in self.endings.most_common()),
            "",
            self.verdict(),
        ]
        return "\n".join(lines)

    def _growth(self) -> Iterator[tuple[str, Sample, Sample]]:
        """Yield each process, and what it had at the first sample and at the last one."""
        if self.samples:
            (_, first), (_, last) = self.samples[0], self.samples[-1]
            for name in first:
                yield name, first[name], last[name]

    def _sample(self) -> dict[str, Sample]:
        """Return what the processes have that are never killed."""
        site = self.rounds.site("plain")
        there = {"client": psutil.Process(os.getpid()), "scheduler": site.scheduler, "worker": site.worker(1)}
        return {
            name: Sample(process.memory_info().rss >> 20, process.num_fds(), process.num_threads())
            for name, process in there.items()
        }

    def _line(self, number: int, sample: dict[str, Sample]) -> str:
        return f"| {number} | {' | '.join(', '.join(map(str, each)) for each in sample.values())} |"
