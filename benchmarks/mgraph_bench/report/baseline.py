"""Changes since another run: which cases became slower or faster by more than noise.

A case's times scatter within a run, and its median moves from run to run even where nothing changed: clocks, placement
of memory, what else the machine does. So a case counts as slower only where

- the ratio of the medians exceeds 1 + `DRIFT` + `SIGMAS` times the relative noise of both runs together, and
- where both have times of one piece of work, the middle halves of these times do not overlap.

Noise is the median absolute deviation over the median, scaled to a standard deviation (by 1.4826, as of normal noise):
one slow repetition among five does not move it. The times of a case with several sources differ by the source, not by
noise alone; there it is half of the spread, as the range of five normal values is 2.3 standard deviations.
"""

import math
import statistics
from dataclasses import dataclass

from ..rows import Row, Rows, key

#: What medians of two runs of the same code may differ by although neither run's own times scatter.
DRIFT = 0.05

#: Standard deviations of noise beyond that.
SIGMAS = 3.0


@dataclass(frozen=True)
class Change:
    """A case of both runs: its rows, the ratio of its times, the ratio that may be noise, and the verdict."""

    row: Row
    before: Row
    ratio: float
    threshold: float
    verdict: str


@dataclass(frozen=True)
class Comparison:
    """A run and its baseline: the cases of both, and those of one only.

    ``gone`` are those of suites and devices that were measured now, too; of the others there are ``elsewhere``.
    """

    changes: list[Change]
    new: list[Row]
    gone: list[Row]
    elsewhere: int

    def of(self, verdict: str) -> list[Change]:
        """Return the cases of a verdict, the most changed first."""
        return sorted((c for c in self.changes if c.verdict == verdict), key=lambda c: -abs(math.log(c.ratio)))


def compared(rows: Rows, baseline: Rows) -> Comparison:
    """Compare the same cases of two folders, on devices of the same model and number."""
    now, before = ({key(row): row for row in each.cases} for each in (rows, baseline))
    covered = {_where(row) for row in rows.cases}
    missing = [row for name, row in before.items() if name not in now]
    return Comparison(
        changes=[change(row, before[name]) for name, row in now.items() if name in before],
        new=[row for name, row in now.items() if name not in before],
        gone=[row for row in missing if _where(row) in covered],
        elsewhere=sum(_where(row) not in covered for row in missing),
    )


def change(row: Row, before: Row) -> Change:
    """Compare a case's row with that of its baseline."""
    ratio = row["seconds"] / before["seconds"]
    threshold = 1 + DRIFT + SIGMAS * math.hypot(noise(row), noise(before))
    verdict = "within noise"
    if ratio > threshold and _apart(before, row):
        verdict = "slower"
    elif 1 / ratio > threshold and _apart(row, before):
        verdict = "faster"
    return Change(row, before, ratio, threshold, verdict)


def noise(row: Row) -> float:
    """Return the standard deviation of a case's times, relative to their median."""
    if _sources(row) > 1 or len(row.get("times", ())) < 3:
        return float(row.get("spread") or 0.0) / 2
    middle = statistics.median(row["times"])
    return 1.4826 * statistics.median(abs(t - middle) for t in row["times"]) / middle


def _apart(quicker: Row, slower: Row) -> bool:
    """Return whether the middle halves of two rows' times are apart; True if there are too few times."""
    if max(map(_sources, (quicker, slower))) > 1 or min(len(row.get("times", ())) for row in (quicker, slower)) < 3:
        return True
    return (
        statistics.quantiles(quicker["times"], n=4, method="inclusive")[2]
        < (statistics.quantiles(slower["times"], n=4, method="inclusive")[0])
    )


def _sources(row: Row) -> int:
    return int(row["run"].get("sources") or 1)


def _where(row: Row) -> tuple[str, str, int]:
    return row["suite"], row["device"]["model"], row["device"]["count"]
