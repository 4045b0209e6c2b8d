"""Published figures of studies, compared with ours."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .. import amounts
from ..rows import Row, device_name, figures
from ..suite import Published, Suite, value
from .document import Block, Column, Table
from .drawing import ends, words_of
from .frames import unstacked

#: How many times as fast ours is, of a published figure and ours: of times, and of rates.
_FASTER: dict[str, Callable[[float, float], float]] = {
    **dict.fromkeys(("seconds", "call_seconds", "first_call_seconds"), lambda published, ours: published / ours),
    **dict.fromkeys(("rate", "phase_rates"), lambda published, ours: ours / published),
}


@dataclass(frozen=True)
class Beside:
    """A figure of a published series, and the rows of one device to compare with it, each with its figure.

    ``faster`` is how many times as fast ours is, None if that is unknown.
    """

    published: Published
    place: int
    ours: list[tuple[Row, float]]
    faster: float | None


def comparable(row: Row, published: Published) -> bool:
    """Return whether a row is to be compared with a published series."""
    return all(value(row, name) == what for name, what in published.beside.items() if name != "phase")


def plain(x: Any) -> Any:
    """Return an x in a form that can be compared: a list in words."""
    return " to ".join(map(amounts.count, x)) if isinstance(x, list) else x


def as_drawn(
    y: str, published: Published, rows: list[Row], x: str, points: tuple[tuple[Any, float], ...]
) -> tuple[tuple[Any, float], ...]:
    """Return published figures as drawn: unchanged, or times converted by the work of our row at the same x."""
    if published.of == y:
        return points
    if published.of != "seconds" or y not in ("rate", "per_element"):
        return ()
    found = []
    for at, seconds in points:
        same = [row for row in rows if plain(value(row, x)) == at and comparable(row, published)]
        if same and same[0].get("work") and y == "rate":
            found.append((at, same[0]["work"] / seconds))
        elif same and y == "per_element":
            found.append((at, seconds / same[0]["n"]))
    return tuple(found)


def beside(suite: Suite, rows: list[Row]) -> Iterator[Beside]:
    """Yield a suite's published figures beside ours.

    If a device's rows have no x of a series, the nearest are taken, without a ratio.
    """
    x_name = suite.plot.x
    for published in suite.published:
        phase = published.beside.get("phase", "")
        ours = [
            (row, found)
            for row in rows
            if comparable(row, published) and value(row, x_name) is not None
            for what, found in figures(row, published.of)
            if what == phase
        ]
        for model in dict.fromkeys(device_name(row) for row, _ in ours):
            here = [(row, found) for row, found in ours if device_name(row) == model]
            near = []
            for i, x in enumerate(published.x):
                distances = [_distance(plain(value(row, x_name)), x) for row, _ in here]
                most = min(distances) * 1.001  # 15,999,999 and 64,000,000 are as far from 32,000,000
                near.append((min(distances), i, [one for one, far in zip(here, distances, strict=True) if far <= most]))
            least = min(distance for distance, *_ in near)
            for distance, i, found in near:
                if distance == 0 and published.of in _FASTER:
                    faster = _FASTER[published.of](published.y[i], found[0][1])
                    yield Beside(published, i, found[:1], faster)
                elif distance == least < math.inf:
                    yield Beside(published, i, found, None)


def ratios(suite: Suite, rows: list[Row]) -> list[float]:
    """Return how many times as fast as published rows are."""
    return [found.faster for found in beside(suite, rows) if found.faster is not None]


def _distance(ours: Any, published: Any) -> float:
    if ours == published:
        return 0.0
    if all(isinstance(what, (int, float)) and what > 0 for what in (ours, published)):
        return abs(math.log(ours / published))
    return math.inf


def blocks(suite: Suite, rows: list[Row]) -> list[Block]:
    """Return the table of published figures, with ours on each device beside them; none without any."""
    found = list(beside(suite, rows))
    if not found:
        return []
    x_of = words_of(suite.plot.x)
    shown = ["ours", "faster"] if any(each.faster is not None for each in found) else ["ours"]
    figure: dict[tuple[str, Any], str] = {}
    lines = []
    for each in found:
        published, i = each.published, each.place
        words, x = words_of(published.of), published.x[i]
        text = ends(words, [published.y[i], *published.upper[i : i + 1]])
        lines.append(
            {
                "series": published.series,
                "x": x,
                "figure": figure.setdefault((published.series, x), text),
                "model": device_name(each.ours[0][0]),
                "ours": _ours(each, suite.plot.x, x_of),
                "faster": each.faster,
            }
        )
    wide = unstacked(lines, ["series", "x", "figure"], "model", shown)
    columns = [
        column
        for model in dict.fromkeys(line["model"] for line in lines)
        for column in (Column(f"Ours, {model}", str), Column("as fast", amounts.times))[: len(shown)]
    ]
    titles = Column("Published"), Column(suite.plot.x.replace("_", " "), x_of), Column("Figure", str)
    return [Table(wide, (*titles, *columns), "What was published beside what was measured here.")]


def _ours(each: Beside, x_name: str, x_of: Callable[[Any], str]) -> str:
    """Return our figures beside a published one, with their x where it is another."""
    words, x = words_of(each.published.of), each.published.x[each.place]
    at: dict[Any, list[float]] = {}
    for row, figure in each.ours:
        at.setdefault(plain(value(row, x_name)), []).append(figure)
    places = {where: f" (at {x_of(where)})" if where != x else "" for where in at}
    return "; ".join(dict.fromkeys(ends(words, figures) + places[where] for where, figures in sorted(at.items())))
