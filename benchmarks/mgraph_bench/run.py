"""Runs: measure the cases of suites that a folder does not have yet, and write a row for each.

A run is a folder: ``rows.jsonl`` has a row a line, each written as soon as it is measured, ``rows.csv`` the same as a
table. A case that cannot be measured here gets a row that says why. A run that was interrupted, or that reached its
time limit, continues if it is called again with the same folder.
"""

import contextlib
import csv
import dataclasses
import functools
import json
import platform
import re
import subprocess
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, TextIO

import mgraph
from mgraph import device as devices
from mgraph.arguments import checked_integer
from mgraph.errors import DeviceError, InputError, WrongResultError, interrupted
from mgraph.planning.devices import spec_of

from . import CHECKOUT, ceilings
from .case import Bench, Unfit, described, row
from .peers import PEERS
from .rows import Row, rows_of
from .suite import Case, Suite, load, names

#: Packages whose versions every row has.
PACKAGES = ("numpy", "scipy", "numba", "dask", "distributed", "cupy-cuda13x", "cupy-cuda12x")


@dataclass
class Ended:
    """Numbers of rows measured, kept from before, skipped, wrong and failed; whether the time limit ended the run."""

    measured: int = 0
    kept: int = 0
    skipped: int = 0
    wrong: int = 0
    failed: int = 0
    limited: bool = False


def bench(
    suites: Iterable[str] = (),
    out: Path = Path("bench"),
    *,
    device: str | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    quick: bool = False,
    limit: float | None = None,
    data: Path | None = None,
    on_row: Callable[[Row], None] = lambda row: None,
) -> Ended:
    """Measure suites, and write their rows to a folder.

    Parameters
    ----------
    suites : iterable of str
        Names of suites; all by default.
    out : path
        The run's folder, created if needed. Cases that have a row there, from this device, commit and versions, are not
        measured again.
    device : {"cpu", "cuda", "cuda:N"}, optional
        Measure on this device only: cases of other devices, such as most other libraries, are left out. By default
        cases run on the device that they name, and those that name none on a GPU if there is one.
    workers : int, optional
        Dask workers, at least one, for the cases that do not say how many; by default none.
    scheduler : str, optional
        The address of a scheduler whose workers, all of them, take the cases that run on workers. It has to answer
        before anything is measured.
    quick : bool
        Shrink every sweep to seconds.
    limit : float, optional
        Seconds after which no further row is begun; 0 begins none.
    data : path, optional
        Where files of graphs are; by default they are looked for in `mgraph_bench.inputs.DATA`.
    on_row : callable
        Called with every row after it was measured.

    Raises
    ------
    InputError
        If a suite or the device is unknown, a suite's file or an argument is invalid, a line of the folder's file is
        not a row, or another run writes to it.
    DeviceError
        If the device does not exist.
    SchedulerError
        If the scheduler does not answer.
    """
    began = time.monotonic()
    devices.find(device)
    if workers is not None:
        checked_integer("workers", workers, 1)
    if limit is not None and not limit >= 0:
        raise InputError(argument="limit", value=limit, expected="a number of seconds, 0 or more")
    chosen = [load(name) for name in (suites or names())]
    cases = list(cases_of(chosen, quick, workers, scheduler))
    if scheduler is not None:
        check_scheduler(scheduler)
        if cases == list(cases_of(chosen, quick, workers, None)):
            warnings.warn(
                f"scheduler={scheduler!r} is not used: no case of the chosen suites runs on workers", stacklevel=2
            )
    if workers is not None and cases == list(cases_of(chosen, quick, None, scheduler)):
        warnings.warn(
            f"workers={workers} is not used: every case of the chosen suites says itself what it runs on", stacklevel=2
        )
    out.mkdir(parents=True, exist_ok=True)
    ended, facts = Ended(), {"versions": versions(), "commit": commit()}
    with ExitStack() as stack:
        lines = stack.enter_context((out / "rows.jsonl").open("a"))
        _lock(lines)
        _drop_half_a_line(out / "rows.jsonl")
        known = {identity(found): found for found in read_rows(out)}
        stack.callback(write_table, out)  # also of a run that is interrupted
        clients = stack.enter_context(Clients())

        def write(found: Row) -> None:
            found = found | facts | {"date": datetime.now(UTC).isoformat(timespec="seconds")}
            if known.get(identity(found), {}).get("why") != found.get("why", ""):
                lines.write(json.dumps(found, allow_nan=False) + "\n")
                lines.flush()
            known[identity(found)] = found
            on_row(found)

        shared = Bench(data, clients.client)
        for suite, case in cases:
            if limit is not None and time.monotonic() - began >= limit:
                ended.limited = True
                break
            place = _place(case, device)
            of_peer = PEERS[case.run["peer"]].kind if "peer" in case.run else place.kind
            named = case.run.get("device", of_peer).partition(":")[0]
            if device is not None and named != devices.find(device).kind:
                continue
            asked = {**dataclasses.asdict(case), "device": described(place), "quick": quick}
            if known.get(identity(asked | facts), {}).get("kind") == "case":
                ended.kept += 1
                continue
            try:
                if place.kind == "cuda" or "peer" not in case.run:
                    shared.ceilings[place.model()] = _ceilings(place, quick, known, facts, write)
                found = row(case, suite, shared, place, quick)
                json.dumps(found, allow_nan=False)  # otherwise this case fails
                ended.measured += 1
            except WrongResultError as error:
                found = {"kind": "wrong", "why": str(error)}
                ended.wrong += 1
            except (Unfit, mgraph.MgraphError, MemoryError) as error:
                found = {"kind": "skipped", "why": str(error) or "not enough memory"}
                ended.skipped += 1
            except Exception as error:  # of another library, or a bug in this one; other cases may still work
                if interrupted(error):
                    raise
                words = " ".join(str(error).split())
                found = {"kind": "skipped", "why": f"failed with {type(error).__name__}: {words}"}
                ended.failed += 1
            write(asked | found)
    return ended


def check_scheduler(scheduler: str) -> None:
    """Raise unless a scheduler of this address answers."""
    if not re.fullmatch(r"(\w+://)?(\[[\da-fA-F:.%]+\]|[^\s/:\[\]]+):\d+", scheduler):
        expected = "an address such as tcp://10.0.0.1:8786"
        raise InputError(argument="scheduler", value=scheduler, expected=expected)
    from mgraph.cluster import connect  # and Dask

    connect(scheduler).close()


def identity(found: Row) -> str:
    """Return a row's identity: the case, the device's model, the commit and the versions."""
    model, count = found["device"]["model"], found["device"]["count"]
    names = ("suite", "algorithm", "graph", "call", "run", "quick", "commit", "versions")
    case = {name: found.get(name) for name in names}
    return json.dumps([case, model, count if found.get("kind") == "ceilings" else None], sort_keys=True)


def read_rows(folder: Path) -> Iterator[Row]:
    """Yield the rows of a folder's run, the oldest first."""
    file = folder / "rows.jsonl"
    if file.is_file():
        yield from rows_of(file, own=True)


def _lock(lines: TextIO) -> None:
    """Lock a run's file until it is closed; raise if another process has locked it."""
    try:
        import fcntl

        fcntl.flock(lines, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise InputError(f"another run writes to {lines.name}: wait for its end, or name another folder") from error
    except (ImportError, OSError):
        pass  # the system or the file system has no locks


def _drop_half_a_line(file: Path) -> None:
    """Remove an incomplete last line; its case is measured again."""
    with file.open("r+b") as lines:
        lines.truncate(lines.read().rfind(b"\n") + 1)


def write_table(folder: Path) -> Path:
    """Write a folder's rows as CSV, with a column for each field; a nested field is named ``outer.inner``."""
    flat = [dict(_flat(found)) for found in rows_of(folder / "rows.jsonl") if found.get("kind") == "case"]
    columns = list(dict.fromkeys(name for found in flat for name in found))
    file = folder / "rows.csv"
    with file.open("w", newline="") as text:
        writer = csv.DictWriter(text, columns)
        writer.writeheader()
        writer.writerows(flat)
    return file


def _flat(found: Row, before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in found.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield before + name, " ".join(map(str, value)) if isinstance(value, list) else value


def cases_of(
    suites: list[Suite], quick: bool, workers: int | None, scheduler: str | None
) -> Iterator[tuple[Suite, Case]]:
    """Yield all cases, with the workers of the command line if they do not name a number themselves.

    Other libraries, and cases that are tuned in this process, run without workers. Cases with the same number of
    workers follow one another: starting workers takes longer than making a graph again.
    """
    for suite in suites:
        for case in sorted(suite.cases(quick), key=lambda case: case.run.get("workers", 0)):
            run = case.run
            if workers is not None and not run.keys() & {"peer", "blocks", "tile"}:
                run = {"workers": workers} | run
            if scheduler is not None and "workers" in run:
                run = run | {"workers": scheduler}
            yield suite, dataclasses.replace(case, run=run)


def _place(case: Case, device: str | None) -> devices.Device:
    """Return the device of a case: its own, or the CPU if that is missing; without one, that of the command line."""
    if "peer" in case.run and PEERS[case.run["peer"]].kind == "cpu":
        return devices.find("cpu")
    named = case.run.get("device")
    if named is None or devices.find(device).name.startswith(named):
        return devices.find(device)
    try:
        return devices.find(named)
    except DeviceError:
        return devices.find("cpu")


def _ceilings(
    place: devices.Device, quick: bool, known: dict[str, Row], facts: Row, write: Callable[[Row], None]
) -> Row:
    """Return a device's ceilings, from the run's rows or measured now."""
    asked = {"kind": "ceilings", "device": described(place), "quick": quick}
    key = identity(asked | facts)
    if key not in known:
        write(asked | ceilings.ceilings(place, quick=quick))
    return known[key]


class Clients(ExitStack):
    """Dask clients of local workers or of a running scheduler, one at a time, closed at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.current: tuple[Any, Any] = (None, None)

    def client(self, workers: int | str | None, kind: str) -> Any:
        """Return a client of that many workers on a kind of device, or of a scheduler's address; None for None."""
        wanted = None if workers is None else (workers, kind)
        if wanted != self.current[0]:
            self.close()
            self.current = (None, None)
            if workers is not None:
                self.current = (wanted, self._opened(workers, kind))
        return self.current[1]

    def _opened(self, workers: int | str, kind: str) -> Any:
        from mgraph.cluster import connect, local_client  # and Dask

        if isinstance(workers, str):
            return self.enter_context(connect(workers))
        if kind == "cpu" and workers > (cores := spec_of(devices.find("cpu")).cores):
            raise DeviceError(f"workers={workers} on a CPU need a core each and this machine has {cores}: use fewer")
        return self.enter_context(local_client(workers, kind))


def versions() -> dict[str, str]:
    """Return the versions of the packages that a row's time depends on."""
    found = {"mgraph": mgraph.__version__, "python": platform.python_version()}
    for name in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


@functools.cache
def commit(checkout: Path = CHECKOUT) -> str | None:
    """Return the commit of the checkout that runs this; None if a checkout does not, or the folder lies below one."""

    def git(*asked: str) -> str:
        done = subprocess.run(["git", *asked], cwd=checkout, capture_output=True, text=True, timeout=10, check=True)
        return done.stdout.strip()

    try:
        if Path(git("rev-parse", "--show-toplevel")).resolve() != checkout:
            return None
        return git("describe", "--always", "--dirty", "--abbrev=12", "--exclude=*")
    except (OSError, subprocess.SubprocessError):
        return None
