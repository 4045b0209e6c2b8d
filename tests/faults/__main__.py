"""Runs the rounds or the soak that the arguments ask for; ends with 1 if there was a problem."""

import argparse
import shutil
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import tests.faults
from tests.faults.cases import Moment, cases
from tests.faults.faults import FAULTS
from tests.faults.rounds import Rounds, cells
from tests.faults.soak import Soak


def main() -> int:
    """Run what the arguments ask for."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.faults", description=tests.faults.__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--count", type=int, default=300, help="rounds")
    parser.add_argument("--first", type=int, default=0, help="the first round, to make a round again that failed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fault", action="append", choices=FAULTS, default=[])
    parser.add_argument("--moment", action="append", choices=Moment.NAMES, default=[])
    parser.add_argument("--algorithm", action="append", choices=[case.name for case in cases()], default=[])
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--soak", type=int, metavar="CALLS", help="many calls in one client, at least 200")
    parser.add_argument("--table", type=Path, help="the file for the table")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="mgraph-faults-"))
    problems = soaked(folder, given) if given.soak else struck(folder, given)
    if problems:
        print(f"what the processes have printed: {folder}/*/log")
        return 1
    shutil.rmtree(folder)
    return 0


def struck(folder: Path, given: argparse.Namespace) -> list[str]:
    """Make the rounds, until the last one or Ctrl-C, print their table, and return their problems."""
    begun = time.monotonic()
    chosen = cells(given.fault, given.algorithm, given.moment)
    with Rounds(folder, given.seed, chosen, given.device, given.workers) as rounds, suppress(KeyboardInterrupt):
        for number in range(given.first, given.first + given.count):
            for problem in rounds.round(number):
                print(problem, flush=True)
            made, minutes = number - given.first + 1, (time.monotonic() - begun) / 60
            report = (
                f"{made} rounds of seed {given.seed} from round {given.first} on, {given.workers} workers, "
                f"{given.device}: {len(rounds.problems)} problems, {minutes:.0f} minutes\n\n{rounds.table()}"
            )
            if given.table is not None:
                given.table.write_text(f"# Faults in the middle of calls\n\n{report}")
    print(report)
    return rounds.problems


def soaked(folder: Path, given: argparse.Namespace) -> list[str]:
    """Make many calls, print what has grown, and return the problems."""
    with Soak(folder, given.seed, given.device) as soak:
        for line in soak.run(given.soak):
            print(line, flush=True)
    print("\n".join([f"{len(soak.problems)} problems", *soak.problems]))
    if given.table is not None:
        given.table.write_text(f"# {given.soak} calls in one client\n\n{soak.table()}")
    return soak.problems


if __name__ == "__main__":
    sys.exit(main())
