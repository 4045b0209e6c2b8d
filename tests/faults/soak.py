"""Many calls in one client, with a worker killed now and then: what grows by them.

The worker that is killed is always the same one. The other stays, so that what grows there shows.
"""

import os
import random
import threading
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

#: Kills after which a call may end in an error: its result may lie on the worker, or its graph.
LOSSES = ("right", "WorkerLostError", "result lost")


class Sample(NamedTuple):
    """What a process has."""

    mebibytes: int
    descriptors: int
    threads: int


#: By how much a process may grow after the first sample.
MOST = Sample(64, 12, 4)


class Soak:
    """Calls of all kinds on the two workers of a site. A context: it ends them."""

    def __init__(self, folder: Path, seed: int, device: str = "cpu") -> None:
        self.rounds = Rounds(folder, seed, cells(), device, workers=2)
        self.seed = seed
        self.endings: Counter[str] = Counter()
        self.samples: list[tuple[int, dict[str, Sample]]] = []
        self.problems: list[str] = []

    def __enter__(self) -> "Soak":
        return self

    def __exit__(self, *_: object) -> None:
        self.rounds.__exit__()

    def run(self, count: int) -> Iterator[str]:
        """Make the calls; yield a line for each sample."""
        site, chosen = self.rounds.site("plain"), random.Random(self.seed)
        every = list(self.rounds.cases.values())
        for case in every:
            self.rounds.measure(case, site)
        for number in range(1, count + 1):
            case = chosen.choice(every)
            killing = number % KILLS == 0
            if killing:
                mortal = site.worker(0)
                kill = threading.Timer(chosen.uniform(0, self.rounds.usual[case.name]), mortal.kill)
                kill.start()
            ended = self.rounds.ended(case, site)
            self.endings[ended.how] += 1
            if ended.how not in (LOSSES if killing else LOSSES[:1]):
                self.problems.append(f"call {number}, {case.name}: {ended.how}: {ended.words}")
            if killing:
                kill.join()
                mortal.wait()
                site.settle()
            if number % SAMPLES == 0:
                wait_until(lambda: not left(site), f"call {number}: something is left", FREE)
                self.samples.append((number, self._sample()))
                yield self._line(*self.samples[-1])
        self.problems += [f"{name} has grown by {words}" for name, words in self.grown()]

    def grown(self) -> list[tuple[str, str]]:
        """Return the processes that have grown by more than they may, and by how much, in words."""
        (_, first), (_, last) = self.samples[0], self.samples[-1]
        return [
            (name, f"{now - then} {kind}, of {most} allowed")
            for name in first
            for kind, then, now, most in zip(Sample._fields, first[name], last[name], MOST, strict=True)
            if now - then > most
        ]

    def table(self) -> str:
        """Return the samples as a table in Markdown."""
        names = list(self.samples[0][1])
        lines = [
            f"| calls | {' | '.join(f'{name}: MiB, files, threads' for name in names)} |",
            "| --- " * (len(names) + 1) + "|",
            *(self._line(*sample) for sample in self.samples),
            "",
            ", ".join(f"{how}: {count}" for how, count in self.endings.most_common()),
            "",
        ]
        return "\n".join(lines)

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
