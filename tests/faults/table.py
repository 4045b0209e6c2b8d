"""The table of the rounds: what struck calls have come to, by fault and moment, and by call."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass
class Row:
    """What rounds have come to: how calls ended, how often they were made again, and how many missed their fault."""

    endings: Counter[str] = field(default_factory=Counter)
    repeated: int = 0
    missed: int = 0
    problems: int = 0
    slowest: float = 0.0

    def add(self, other: "Row") -> None:
        """Add other rounds."""
        self.endings += other.endings
        self.repeated += other.repeated
        self.missed += other.missed
        self.problems += other.problems
        self.slowest = max(self.slowest, other.slowest)


class Made(NamedTuple):
    """A round that was made: the names of its fault, moment and case, its row, and its problems in words."""

    fault: str
    moment: str
    case: str
    row: Row
    problems: list[str]


class Table:
    """What the rounds have come to."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.made = 0
        self._rows: dict[tuple[str, str], Row] = {}
        self._cases: dict[str, Row] = {}

    def add(self, made: Made) -> None:
        """Add a round."""
        self.made += 1
        self.problems += made.problems
        self._rows.setdefault((made.fault, made.moment), Row()).add(made.row)
        self._cases.setdefault(made.case, Row()).add(made.row)

    def __str__(self) -> str:
        """Return the table in Markdown."""
        return "\n".join([*self._by_fault(), "", *self._by_case(), ""])

    def _by_fault(self) -> Iterator[str]:
        yield "| fault | moment | calls | right | WorkerLostError | another end | made again | slowest, s | problems |"
        yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
        for (fault, moment), row in sorted(self._rows.items()):
            rest = {how: count for how, count in row.endings.items() if how not in ("right", "WorkerLostError")}
            others = [f"{how} {count}" for how, count in sorted(rest.items())]
            if row.missed:
                others.append(f"not struck {row.missed}")
            right, lost = row.endings["right"], row.endings["WorkerLostError"]
            yield (
                f"| {fault} | {moment} | {row.endings.total()} | {right} | {lost} | {', '.join(others)} | "
                f"{row.repeated} | {row.slowest:.1f} | {row.problems} |"
            )

    def _by_case(self) -> Iterator[str]:
        yield "| call | rounds | of them with problems |"
        yield "| --- | --- | --- |"
        for name, row in sorted(self._cases.items()):
            yield f"| {name} | {row.endings.total()} | {row.problems} |"
