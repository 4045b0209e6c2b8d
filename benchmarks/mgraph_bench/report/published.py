"""Published figures of studies beside ours: the same method on the same input, and the best method there."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .. import amounts, kernels
from ..rows import Row, device_name, figures, is_peer
from ..suite import Published, Suite, matches, value
from .document import Block, Column, table
from .drawing import ends, words_of

#: How many times as fast ours is, of a published figure and ours: of times, and of rates.
_FASTER: dict[str, Callable[[float, float], float]] = {
    **dict.fromkeys(("seconds", "call_seconds", "first_call_seconds"), lambda published, ours: published / ours),
    **dict.fromkeys(("rate", "phase_rates"), lambda published, ours: ours / published),
}

#: What a row beside a published figure names, and the best row on the same input need not.
_OF_A_METHOD = ("method", "peer", "blocks", "phase")


@dataclass(frozen=True)
class Beside:
    """A figure of a published series, and the rows of one device that are like it, each with its figure, if any are.

    ``best`` is the fastest of this project's rows on the same device and input, with its figure, where the figure is a
    time. ``faster`` and ``best_faster`` are how many times as fast ours are, None if that is unknown.
    """

    published: Published
    place: int
    ours: tuple[tuple[Row, float], ...] = ()
    best: tuple[Row, float] | None = None

    @property
    def faster(self) -> float | None:
        """How many times as fast as published the like row is."""
        return self._ratio(self.ours[0][1]) if self.ours else None

    @property
    def best_faster(self) -> float | None:
        """How many times as fast as published the best row is."""
        return self._ratio(self.best[1]) if self.best else None

    def _ratio(self, ours: float) -> float | None:
        if self.published.of not in _FASTER or self.published.upper:
            return None
        return _FASTER[self.published.of](self.published.y[self.place], ours)


def comparable(row: Row, published: Published) -> bool:
    """Return whether a row is like a published series."""
    return matches(row, {name: what for name, what in published.beside.items() if name != "phase"})


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
    """Yield a suite's published figures beside ours at the same x, for each device that has some."""
    x_name = suite.plot.x
    for published in suite.published:
        phase = published.beside.get("phase", "")
        input_of = {name: what for name, what in published.beside.items() if name not in _OF_A_METHOD}
        for i, x in enumerate(published.x):
            here = [row for row in rows if plain(value(row, x_name)) == x]
            ours = [
                (row, found)
                for row in here
                if comparable(row, published)
                for what, found in figures(row, published.of)
                if what == phase
            ]
            own = [
                (row, figure)
                for row in here
                if published.of.endswith("seconds") and not is_peer(row) and matches(row, input_of)
                if (figure := value(row, published.of)) is not None
            ]
            shown = ours or (own if "device" in input_of else [])
            if not shown:
                yield Beside(published, i)
            for model in dict.fromkeys(device_name(row) for row, _ in shown):
                like = tuple(each for each in ours if device_name(each[0]) == model)
                known = [each for each in own if device_name(each[0]) == model]
                yield Beside(published, i, like, min(known, key=lambda each: each[1], default=None))


def ratios(suite: Suite, rows: list[Row]) -> dict[str, list[float]]:
    """Return by method how many times as fast as published rows of the same method are."""
    by_method: dict[str, list[float]] = {}
    for found in beside(suite, rows):
        if found.faster is not None:
            by_method.setdefault(found.ours[0][0]["method"], []).append(found.faster)
    return by_method


def blocks(suite: Suite, rows: list[Row]) -> list[Block]:
    """Return the table of published figures, with ours on each device beside them; none without any."""
    found = list(beside(suite, rows))
    if not found:
        return []
    words_of_x = words_of(suite.plot.x)
    lines = []
    for each in found:
        published, i = each.published, each.place
        words, x = words_of(published.of), published.x[i]
        best = None if each.best is None else f"{words(each.best[1])} ({each.best[0]['method']})"
        rows_shown = [row for row, _ in (*each.ours, *filter(None, [each.best]))]
        lines.append(
            (
                *(published.machine, published.series, words_of_x(x) if x is not None else ""),
                ends(words, [published.y[i], *published.upper[i : i + 1]]),
                device_name(rows_shown[0]) if rows_shown else None,
                ends(words, [figure for _, figure in each.ours]) if each.ours else "not measured",
                *(each.faster, best, each.best_faster),
                kernels_of(rows_shown),
            )
        )
    columns = (
        *(Column("Published on"), Column("Method"), Column(suite.plot.x.replace("_", " "), str)),
        *(Column("Published", str), Column("Here on"), Column("The same method here", str)),
        *(Column("as fast", amounts.times), Column("The best here", str), Column("as fast", amounts.times)),
        Column("Kernels"),
    )
    used = [  # ratios, the best and the kernels only where there are some
        i for i in range(len(columns)) if i < len(columns) - 4 or any(line[i] for line in lines)
    ]
    best = ", and of the fastest method here" if any(each.best for each in found) else ""
    caption = f"Published figures beside those of the same method and input here{best}."
    return [table([[line[i] for i in used] for line in lines], *(columns[i] for i in used), caption=caption)]


def kernels_of(rows: list[Row]) -> str:
    """Return whether the kernels of rows are those of today."""
    return ", ".join(dict.fromkeys(filter(None, map(kernels.state, rows))))
