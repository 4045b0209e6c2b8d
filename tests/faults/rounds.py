"""The rounds: in each a call is struck, the next one is made, and what they leave is looked for."""

import contextlib
import faulthandler
import itertools
import os
import random
import signal
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import dask
import numpy as np
import psutil
from distributed import Client

from mgraph.device import gpu_count
from mgraph.errors import MgraphError
from mgraph.limits import cores
from tests.faults.cases import Case, Moment, cases
from tests.faults.faults import FAULTS, SMALL, Fault, Scene, kill_client
from tests.faults.left import left, unnamed
from tests.faults.site import Site, can_mount, processes, wait_until
from tests.faults.table import Made, Row

#: Seconds that a worker may be silent.
TIMEOUT = 8.0

#: Seconds within which a call has to end, beyond its usual time and that for which workers may be silent. Where other
#: programs run, too, it is so many times longer as there are processes for each core.
ALLOWANCE = 90.0

#: Seconds after which a call counts as hanging: the process prints the stacks of its threads and ends.
HANG = 300.0

#: Seconds within which everything must be free.
FREE = 180.0

#: Bytes by which a worker may grow with a client that is killed.
GROWTH = 64 << 20

#: Seconds before the end of a call within which the loss of a worker need not be noticed by it.
UNNOTICED = 4.0

#: A cell of the matrix: fault, moment, case.
Cell = tuple[str, str, str]


class Ending(NamedTuple):
    """How a call ended: "right", "WRONG", "result lost", or the name of an error; with the words, and its seconds."""

    how: str
    words: str
    seconds: float


def cells(faults: Sequence[str] = (), algorithms: Sequence[str] = (), moments: Sequence[str] = ()) -> list[Cell]:
    """Return the cells of some faults, algorithms and moments; of all by default."""
    kept = {case.name: case.kept for case in cases() if not algorithms or case.name in algorithms}
    return [
        (fault, moment, name)
        for fault, moment, name in itertools.product(faults or FAULTS, moments or Moment.NAMES, kept)
        if kept[name] or not FAULTS[fault].on_checkpoints
    ]


def possible(device: str, workers: int) -> list[str]:
    """Return the faults that can be made on this machine."""
    return [
        name
        for name, fault in FAULTS.items()
        if (fault.site != "disk" or can_mount()) and (not fault.adds or device == "cpu" or gpu_count() > workers)
    ]


def _options(kind: str, device: str) -> dict[str, Any]:
    """Return what a kind of site is made with. The disk has room for a few checkpoints."""
    options: dict[str, dict[str, Any]] = {
        "plain": {},
        "small": {"memory_limit": SMALL[device]},
        "proxied": {"proxied": True},
        "disk": {"disk": 2 << 20},
    }
    return options[kind]


class Rounds:
    """The rounds of a seed, on sites that are started when they are first needed. A context: it ends them."""

    def __init__(self, folder: Path, seed: int, chosen: Sequence[Cell], device: str = "cpu", workers: int = 3) -> None:
        self.folder, self.seed, self.device, self.workers = folder, seed, device, workers
        self.cells = chosen
        self.cases = {case.name: case for case in cases()}
        self.expected = {
            name: np.asarray(case.result(case.call(device="cpu")))
            for name, case in self.cases.items()
            if any(name == cell[2] for cell in self.cells)
        }
        #: Of each call the seconds that it takes undisturbed, and the supersteps at which it reports before the last.
        self.usual: dict[str, float] = {}
        self.reports: dict[str, list[int]] = {}
        self._sites: dict[str, Site] = {}
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> "Rounds":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def site(self, kind: str) -> Site:
        """Return the site of a kind."""
        if kind not in self._sites:
            made = Site(self.folder / kind, self.workers, self.device, **_options(kind, self.device))
            self._stack.callback(made.close)
            self._sites[kind] = made
        return self._sites[kind]

    def measure(self, case: Case, site: Site) -> None:
        """Make a call undisturbed, to measure its time and to compile its kernels."""
        if case.name not in self.usual:
            self.ended(case, site, worker_timeout=HANG)  # it may compile, on a busy machine
            seen: list[int] = []
            found = self.ended(case, site, worker_timeout=HANG, progress=lambda k, of: seen.append(k))
            if found.how != "right":
                raise RuntimeError(f"{case.name}, undisturbed: {found.how}: {found.words}")
            self.usual[case.name], self.reports[case.name] = found.seconds, seen[:-1]

    def ended(self, case: Case, site: Site, **options: Any) -> Ending:
        """Make a call; return how it ended."""
        faulthandler.dump_traceback_later(HANG, exit=True)
        given = {
            "device": self.device,
            "client": site.client,
            "worker_timeout": TIMEOUT,
            "progress": lambda k, of: None,
        }
        if case.kept:
            given |= {"checkpoint": site.checkpoints, "checkpoint_every": 0}
            if "resume" not in options:
                site.forget_checkpoints()
        started, how, words = time.monotonic(), "", ""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # of workers left out
                made = case.call(**given | options)
                how = "result lost"
                seconds = time.monotonic() - started
                found = np.asarray(case.result(made))
            expected = self.expected[case.name]
            same = found.dtype == expected.dtype and np.array_equal(found, expected)
            return Ending("right" if same else "WRONG", "", seconds)
        except Exception as error:
            # As words: the error has frames that refer to the call.
            mine = isinstance(error, MgraphError)
            words = str(error) if mine else repr(error)
            if not (how and type(error).__name__ == "WorkerLostError"):
                how = type(error).__name__ if mine else f"RAW {type(error).__name__}"
            return Ending(how, words, time.monotonic() - started)
        finally:
            faulthandler.cancel_dump_traceback_later()

    def round(self, number: int) -> Made:
        """Make a round."""
        cell = fault, moment, case = self.cells[number % len(self.cells)]
        rng = random.Random(f"{self.seed} {number}")
        retries = 0 if rng.random() < 0.25 else 2
        row = Row()
        try:
            found = self._struck(FAULTS[fault], moment, self.cases[case], retries, rng, row)
        except Exception as error:
            found = [f"{type(error).__name__}: {error}"]
        row.problems += bool(found)
        what = f"seed {self.seed}, round {number}: {fault}, {moment}, {case}, retries={retries}"
        return Made(*cell, row, [f"{what}: {problem}" for problem in found])

    def _struck(self, fault: Fault, moment: str, case: Case, retries: int, rng: random.Random, row: Row) -> list[str]:
        site = self.site(fault.site)
        self.measure(case, site)
        site.settle()
        pids = site.pids()
        address = rng.choice(sorted(pids))
        scene = Scene(site, address, psutil.Process(pids[address]), rng)
        later = fault.lasting and rng.random() < 0.5
        if fault.on_client:
            found = self._of_dead_client(case, moment, scene, row)
        else:
            found = self._of_call(fault, moment, case, retries, scene, row, later)
        going_on = {"resume": True} if case.kept and not fault.on_checkpoints else {}
        following = self.ended(case, site, **going_on)
        if following.how != "right":
            found.append(f"the next call: {following.how}: {following.words}")
        if later:
            fault.end(scene)
        site.settle()
        rest = [f"disk: no checkpoint has {name}" for name in unnamed(site.checkpoints)]
        return found + self._left(site) + rest + [f"the log: {record}" for record in site.logged()]

    def _of_call(
        self, fault: Fault, moment: str, case: Case, retries: int, scene: Scene, row: Row, later: bool
    ) -> list[str]:
        """Make a call that is struck; return what is wrong with its end."""
        times: list[float] = []
        found: list[str] = []

        def act() -> None:
            times.append(time.monotonic())
            try:
                fault.strike(scene)
            except Exception as error:
                found.append(f"the strike: {type(error).__name__}: {error}")

        awaited = Moment(moment, scene.random, act, *self._usually(case, scene))
        begun = time.monotonic()
        with awaited.awaited() as progress, dask.config.set({"mgraph.retries": retries}):
            ending = self.ended(case, scene.site, progress=progress)
        awaited.join()
        if awaited.came and not later:
            fault.end(scene)
        row.missed += not times or times[0] > begun + ending.seconds
        row.repeated += awaited.repeated
        row.endings[ending.how] += 1
        allowed = fault.again if retries else fault.once
        allowed += scene.excused
        unnoticed = UNNOTICED + (TIMEOUT if fault.silent else 0)
        if case.stays and times and times[0] > begun + ending.seconds - unnoticed:
            allowed += ("result lost",)
        if ending.how not in allowed:
            found.append(f"{ending.how}: {ending.words}")
        silence = TIMEOUT * (1 + retries) if fault.silent else 0
        beyond = ending.seconds - (1 + awaited.repeated) * self.usual[case.name] - silence
        row.slowest = max(row.slowest, beyond)
        if beyond > ALLOWANCE * max(1.0, os.getloadavg()[0] / cores()):
            found.append(f"{ending.how} after {ending.seconds:.0f} s, {beyond:.0f} s beyond what is allowed")
        return found

    def _usually(self, case: Case, scene: Scene) -> tuple[list[int], list[int], float]:
        """Return the workers that are not struck, and when a call reports its progress, and the seconds it takes."""
        others = sorted(set(scene.site.pids().values()) - {scene.victim.pid})
        return others, self.reports[case.name], self.usual[case.name]

    def _of_dead_client(self, case: Case, moment: str, scene: Scene, row: Row) -> list[str]:
        """Have another process make a call and be killed in it; return what is wrong with what it leaves."""
        site = scene.site
        self.ended(case, site)  # so that all workers have loaded its kernels
        before = {pid: psutil.Process(pid).memory_info().rss for pid in site.pids().values()}
        site.forget_checkpoints()
        doomed = processes(self.device).Process(
            target=_die,
            args=(site.address, site.checkpoints, case.name, self.device, moment, scene.random.random()),
            kwargs={"usually": self._usually(case, scene)},
        )
        doomed.start()
        doomed.join(HANG)
        died = doomed.exitcode == -signal.SIGKILL
        row.missed += not died
        row.endings["killed" if died else "right"] += 1
        if doomed.exitcode not in (-signal.SIGKILL, 0):
            return [f"the client ended with {doomed.exitcode}"]
        started = time.monotonic()
        found = self._left(site)
        row.slowest = max(row.slowest, time.monotonic() - started)
        grown = {pid: psutil.Process(pid).memory_info().rss - bytes_ for pid, bytes_ in before.items()}
        return found + [f"a worker has grown by {size >> 20} MiB" for size in grown.values() if size > GROWTH]

    def _left(self, site: Site) -> list[str]:
        """Wait until nothing is left; return what is."""
        rest: list[str] = []

        def clear() -> bool:
            rest[:] = left(site)
            return not rest

        with contextlib.suppress(TimeoutError):
            wait_until(clear, "", FREE)
        return [f"left after {FREE:.0f} s: {words}" for words in rest]


def _die(
    address: str, checkpoints: Path, name: str, device: str, moment: str, seed: float, usually: tuple[Any, ...]
) -> None:
    """Process: a client that kills itself at a moment of a call."""
    [case] = [case for case in cases() if case.name == name]
    kept = {"checkpoint": checkpoints, "checkpoint_every": 0} if case.kept else {}
    with Client(address, set_as_default=False) as client:
        awaited = Moment(moment, random.Random(seed), kill_client, *usually)
        with awaited.awaited() as progress:
            case.result(case.call(client=client, device=device, worker_timeout=TIMEOUT, progress=progress, **kept))
        awaited.join()
