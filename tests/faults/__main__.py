"""Runs the rounds or the soak that the arguments ask for; ends with 1 if there was a problem."""

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import tests.faults
from tests.faults.cases import Moment, cases
from tests.faults.crew import Crew, interrupted_by_signals
from tests.faults.faults import FAULTS
from tests.faults.rounds import cells, possible
from tests.faults.soak import Soak
from tests.faults.table import Table


def main() -> int:
    """Run what the arguments ask for."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.faults", description=tests.faults.__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--count", type=int, default=300, help="rounds")
    parser.add_argument("--first", type=int, default=0, help="the first round, to make a round again that failed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="processes that make rounds side by side")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="after so many, no round or call begins")
    parser.add_argument("--fault", action="append", choices=FAULTS, default=[])
    parser.add_argument("--moment", action="append", choices=Moment.NAMES, default=[])
    parser.add_argument("--algorithm", action="append", choices=[case.name for case in cases()], default=[])
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--soak", type=int, metavar="CALLS", help="many calls in one client, at least 200")
    parser.add_argument("--table", type=Path, help="the file for the table")
    given = parser.parse_args()
    interrupted_by_signals()
    folder = Path(tempfile.mkdtemp(prefix="mgraph-faults-"))
    problems = soaked(folder, given) if given.soak else struck(folder, given)
    if problems:
        print(f"what the processes have printed: {folder}/**/log")
        return 1
    shutil.rmtree(folder)
    return 0


def struck(folder: Path, given: argparse.Namespace) -> list[str]:
    """Make the rounds, until the last one, SIGTERM or Ctrl-C, print their table, and return their problems."""
    begun = time.monotonic()
    there = possible(given.device, given.workers)
    chosen = [cell for cell in cells(given.fault, given.algorithm, given.moment) if cell[0] in there]
    if not chosen:
        return [f"this machine can make none of {', '.join(given.fault)}"]
    random.Random(given.seed).shuffle(chosen)
    without = [f"; not made here: {', '.join(sorted(FAULTS.keys() - there))}"] if FAULTS.keys() - there else []
    what = f"rounds of seed {given.seed} from round {given.first} on, {given.workers} workers, {given.device}"
    where = f"{given.jobs} processes side by side on {os.cpu_count()} cores"
    table, report = Table(), ""
    numbers = iter(range(given.first, given.first + given.count))
    with Crew(folder, given.jobs, given.seed, chosen, given.device, given.workers) as crew:
        with suppress(KeyboardInterrupt):
            for made in crew.made(numbers, chosen, given.seconds):
                print(*made.problems, sep="\n", end="\n" * bool(made.problems), flush=True)
                table.add(made)
                minutes = (time.monotonic() - begun) / 60
                report = "".join(
                    [
                        f"{table.made} {what}, {where}: {len(table.problems)} problems, {minutes:.1f} minutes",
                        *without,
                        f"\n\n{table}",
                    ]
                )
                if given.table is not None:
                    given.table.write_text(f"# Faults in the middle of calls\n\n{report}")
        if crew.underway:
            print(f"stopped in the rounds {', '.join(map(str, sorted(crew.underway.values())))}")
    print(report)
    return table.problems


def soaked(folder: Path, given: argparse.Namespace) -> list[str]:
    """Make many calls, print what has grown, and return the problems."""
    with Soak(folder, given.seed, given.device) as soak, suppress(KeyboardInterrupt):
        for line in soak.run(given.soak, given.seconds):
            print(line, flush=True)
            if given.table is not None:
                given.table.write_text(f"# {given.soak} calls in one client\n\n{soak.table()}")
    print(soak.verdict())
    return soak.problems


if __name__ == "__main__":
    sys.exit(main())
