"""A suite's section: its plots, comparisons with published figures, speed-ups, and all its rows."""

import dataclasses
import statistics
from collections.abc import Iterator
from typing import Any

from .. import amounts, kernels
from ..rows import Row, Rows, device_name, figures, in_words, label, parameters
from ..suite import Drawing, Suite, matches, value
from ..suite import Plot as Drawn
from . import claims, published, speedup
from .document import Block, Column, Details, Plot, Section, Words, table
from .drawing import words_of
from .plots import Bar, Curve, bars, curves
from .published import as_drawn, comparable, plain

#: Maximum number of rows of a table that is open from the start.
OPEN = 14

_Y_WORDS = {
    "seconds": "time of the solve",
    "call_seconds": "time of the call",
    "per_element": "time of the solve, an element",
    "iterations": "rounds",
    "fraction": "share of the ceiling",
    "overhead": "load and collect, over the solve",
    "phase_rates": "bytes a second of each operation, as the study counts them",
    "moved_rates": "bytes a second of each operation",
    "phases": "time of each operation",
    "phases_per_element": "time of each operation, an element",
    "phases_per_iteration": "time of each operation, a round",
}


def section(suite: Suite, rows: Rows) -> Section:
    """Return a suite's section."""
    own = rows.of(suite.name)
    blocks: list[Block] = [Words(suite.about)]
    if own:
        for drawing, shown in _drawings(suite, own):
            blocks += _drawn(suite, drawing, shown)
        blocks += published.blocks(suite, own)
        blocks += claims.blocks(suite, [*own, *rows.ceilings])
        for number, further in enumerate(suite.drawings, 1):
            shown = [row for row in own if matches(row, further.plot.rows)]
            blocks += _drawn(suite, further.plot, shown, further, f"{suite.name}-{number}")
        blocks += _ages(own)
        blocks += speedup.of_devices(suite.name, own)
        blocks += speedup.of_peers(suite.name, own)
        blocks.append(_rows_table(own))
        blocks += _phases(suite, own)
    else:
        blocks.append(Words("No case of this suite was measured: its section below says why."))
    below = ", ".join(word for word in (suite.source, f"suite {suite.name}") if word)
    return Section(suite.name, suite.title, tuple(blocks), below)


def _label_of(drawing: Drawn, rows: list[Row], row: Row) -> str:
    models = len({device_name(other, False) for other in rows})
    counts = 1 if drawing.x == "devices" else len({other["device"]["count"] for other in rows})
    return label(row, drawing.series, models, counts)


def _drawings(suite: Suite, rows: list[Row]) -> Iterator[tuple[Drawn, list[Row]]]:
    """Yield a suite's plots with their rows: its own, and one for each other published field."""
    yield suite.plot, [row for row in rows if matches(row, suite.plot.rows)]
    for of in dict.fromkeys(study.of for study in suite.published):
        if of != suite.plot.y and not (of == "seconds" and suite.plot.y in ("rate", "per_element")):
            beside = [study for study in suite.published if study.of == of]
            shown = [row for row in rows if any(comparable(row, study) for study in beside)]
            yield dataclasses.replace(suite.plot, y=of, log=tuple({*suite.plot.log} - {"y"})), shown


def _ages(rows: list[Row]) -> list[Block]:
    """Return the sentence that says how many rows are not of the kernels of today; none where all are."""
    states = [kernels.state(row) for row in rows]
    said = {
        kernels.CHANGED: "ran kernels that have changed since",
        kernels.UNKNOWN: "do not say which kernels they ran",
    }
    parts = [f"{count} {words}" for state, words in said.items() if (count := states.count(state))]
    if not parts:
        return []
    return [Words(f"Of {len(rows)} rows {' and '.join(parts)}: today's times may differ.")]


def _drawn(
    suite: Suite, drawing: Drawn, rows: list[Row], further: Drawing | None = None, name_of_plot: str = ""
) -> list[Block]:
    """Return a plot of a suite; published figures are dashed, or shaded if they are bands."""
    if not name_of_plot:
        name_of_plot = suite.name if drawing.y == suite.plot.y else f"{suite.name}-{drawing.y.replace('_', '-')}"
    caption = f"{_Y_WORDS.get(drawing.y, drawing.y.replace('_', ' ')).capitalize()} by {drawing.x.replace('_', ' ')}."
    if further:
        caption = further.words
    if drawing.y == "phases" and not further:
        return _phase_bars(name_of_plot, rows, f"{suite.name}, {suite.title}")
    found = [(row, value(row, drawing.x), what, y) for row in rows for what, y in figures(row, drawing.y)]
    if drawing.x == "round":
        found = [
            (row, number, what, y)
            for row in rows
            for what, each in (row.get("rounds") or {}).items()
            for number, y in enumerate(each)
        ]
    units = list(dict.fromkeys(row["unit"] for row in rows if row.get("unit")))
    y_words = _Y_WORDS.get(drawing.y, drawing.y.replace("_", " "))
    if drawing.y == "rate":
        y_words = units[0] if len(units) == 1 else "work a second: " + ", ".join(units)
        caption = f"Rate ({', '.join(units)}) by {drawing.x.replace('_', ' ')}."
    series: dict[tuple[str, str, str], list[tuple[Any, float]]] = {}
    for row, x, what, y in found:
        if y > 0 and (x is not None or drawing.kind == "bars"):
            name = _label_of(drawing, rows, row), what, label(row, drawing.series)
            series.setdefault(name, []).append((_x_of(row, rows) if x is None else plain(x), y))
    same_colour = [", ".join(filter(None, (without_device, what))) for _, what, without_device in series]
    places = {name: place for place, name in enumerate(dict.fromkeys(same_colour))}
    curves_drawn = [
        Curve(", ".join(filter(None, (name, what))), _by_x(points), places[colour], thin=colour in same_colour[:i])
        for i, (((name, what, _), points), colour) in enumerate(zip(series.items(), same_colour, strict=True))
    ]
    y_of_axis = drawing.y
    if further and further.relative:
        curves_drawn, y_of_axis = [_relative(curve) for curve in curves_drawn], "times"
        y_words = f"times as fast as at the first {drawing.x.replace('_', ' ')}"
    for study in () if further else suite.published:
        points = tuple(zip(map(plain, study.x), study.y, strict=True))
        converted = as_drawn(drawing.y, study, rows, drawing.x, points)
        if converted:
            same = [label(row, drawing.series) for row in rows if comparable(row, study)]
            phase = study.beside.get("phase")
            same = [f"{name}, {phase}" if phase else name for name in same]
            place = next((places[name] for name in same if name in places), None)
            if place is None:
                place = places[study.series] = len(places)
            upper = study.upper if converted == points else ()
            words = f"{study.series}, {study.machine}"
            curves_drawn.append(Curve(words, converted, place, published=True, upper=upper))
    if not curves_drawn:
        return []
    title = f"{suite.title} ({suite.name})"
    if drawing.kind == "bars":
        svg = _grouped_bars(name_of_plot, title, curves_drawn, drawing, y_words)
    else:
        svg = curves(name_of_plot, title, curves_drawn, drawing.x, y_of_axis, drawing.log, y_words)
    if any(curve.published for curve in curves_drawn):
        caption += " Shaded: published." if any(curve.upper for curve in curves_drawn) else " Dashed: published."
    return [Plot(name_of_plot, svg, caption)]


def _relative(curve: Curve) -> Curve:
    """Return a curve of times as one of how many times as fast each is as the first."""
    _, first = curve.points[0]
    return dataclasses.replace(curve, points=tuple((x, first / y) for x, y in curve.points))


def _x_of(row: Row, rows: list[Row]) -> str:
    """Return the parameters that distinguish a row from the others, in words."""
    _, varying = parameters(rows)
    return ", ".join(in_words(name, value(row, name)) for name in varying if value(row, name) is not None) or "default"


def _by_x(points: list[tuple[Any, float]]) -> tuple[tuple[Any, float], ...]:
    """Return points with one y at each x, the median; sorted if all x are numbers."""
    at: dict[Any, list[float]] = {}
    for x, y in points:
        at.setdefault(x, []).append(y)
    numeric = all(isinstance(x, (int, float)) for x in at)
    return tuple((x, statistics.median(at[x])) for x in (sorted(at) if numeric else at))


def _grouped_bars(name: str, title: str, series: list[Curve], drawing: Drawn, y_words: str) -> str:
    """Return a plot with a bar for each x and series, grouped by the one of which there are fewer."""
    words = words_of(drawing.y)
    found = [(x, curve, y) for curve in series for x, y in curve.points]
    xs = list(dict.fromkeys(x for x, *_ in found))
    by_x = len(xs) <= len(series)
    if by_x:
        found.sort(key=lambda each: xs.index(each[0]))
    rows = []
    for x, curve, y in found:
        what, group = (curve.label, amounts.count(x)) if by_x else (amounts.count(x), curve.label)
        rows.append(Bar(what, (("", y, curve.place),), words(y), curve.published, group))
    return bars(name, title, rows, words, y_words, log="y" in drawing.log)


def _rows_table(rows: list[Row]) -> Block:
    """Return the table of all rows of a suite: their parameters and figures."""
    common, varying = parameters(rows)
    several = len({device_name(row) for row in rows}) > 1
    front = {
        "Device": several,
        "Algorithm": len({row["algorithm"] for row in rows}) > 1,
        "": len({bool(row.get("quick")) for row in rows}) > 1,
    }
    columns = (
        *(Column(name) for name, there in front.items() if there),
        *(Column("Method"), Column("n", amounts.count)),
        *(Column(name.replace("_", " "), str if _numbers(rows, name) else None) for name in varying),
        *(Column("Median", amounts.seconds), Column("Spread", amounts.share), Column("Rate", str)),
        *(Column("Of ceiling", amounts.share), Column("Rounds", amounts.count, brief=False)),
        *(Column(name, amounts.seconds, brief=False) for name in ("Load", "Collect", "Whole call", "First call")),
        Column("Peak memory", amounts.size, brief=False),
        Column("Predicted time over measured", amounts.digits, brief=False),
        Column("Predicted memory over measured", amounts.digits, brief=False),
        Column("Checked by", brief=False),
        Column("Kernels"),
    )
    lines = []
    for row in rows:
        transfers = row.get("transfers") or {}
        facts = device_name(row), row["algorithm"], "quick" if row.get("quick") else ""
        lines.append(
            (
                *(fact for fact, there in zip(facts, front.values(), strict=True) if there),
                *(str(row.get("method")), row["n"]),
                *(in_words("", what).strip() for what in _said(row, varying)),
                *(row["seconds"], row.get("spread"), amounts.rate(row.get("rate"), row.get("unit", ""))),
                *(row.get("fraction"), row.get("iterations"), transfers.get("load"), transfers.get("collect")),
                *(row.get("call_seconds"), row.get("first_call_seconds"), row.get("peak_bytes")),
                _over(row.get("predicted_seconds"), row["seconds"]),
                _over(row.get("predicted_bytes"), row.get("peak_bytes")),
                row.get("checked") or None,
                kernels.state(row) or None,
            )
        )
    said = ", ".join(in_words(name, what) for name, what in common.items())
    device = "" if several else device_name(rows[0])
    shared = ", ".join(word for word in (device, said) if word)
    caption = (
        f"All rows: {shared}. " if shared else ""
    ) + "Spread is (greatest − least) / median. Load and collect are apart from the solve; the whole call has all."
    found = table(lines, *columns, caption=caption)
    return Details(f"{len(rows)} rows", (found,), open=len(rows) <= OPEN, brief=True)


def _said(row: Row, varying: list[str]) -> Iterator[Any]:
    said = {**row["graph"], **row["call"], **row["run"]}
    for name in varying:
        what = said.get(name)
        yield what if isinstance(what, (str, list)) else amounts.count(what)


def _numbers(rows: list[Row], name: str) -> bool:
    found = [what for row in rows if (what := {**row["graph"], **row["call"], **row["run"]}.get(name)) is not None]
    return all(isinstance(what, (int, float)) for what in found)


def _over(predicted: float | None, measured: float | None) -> float | None:
    return predicted / measured if predicted and measured else None


def _phases(suite: Suite, rows: list[Row]) -> list[Block]:
    if suite.plot.y == "phases" or not any(row.get("phases") for row in rows):
        return []
    blocks = _phase_bars(f"{suite.name}-phases", rows, f"Time by operation ({suite.name})")
    return [Details("Where the time went, by kernel operation", tuple(blocks))]


def _phase_bars(name: str, rows: list[Row], title: str) -> list[Block]:
    """Return stacked bars of each operation's share of the time, as small and large cases have no common scale."""
    found = [row for row in rows if row.get("phases") and sum(row["phases"].values()) > 0]
    if not found:
        return []
    phases = list(dict.fromkeys(phase for row in found for phase in row["phases"]))
    _, varying = parameters(found)
    several = len({device_name(row) for row in found}) > 1
    algorithms = len({row["algorithm"] for row in found}) > 1
    drawn = []
    for row in found:
        total = sum(row["phases"].values())
        words = [row["algorithm"]] * algorithms + [str(row["method"]), f"n {amounts.count(row['n'])}"]
        words += [in_words(each, value(row, each)) for each in varying if value(row, each) is not None]
        parts = tuple((phase, seconds / total, phases.index(phase)) for phase, seconds in row["phases"].items())
        group = device_name(row) if several else ""
        drawn.append(Bar(", ".join(words), parts, amounts.seconds(total), group=group))
    svg = bars(name, title, drawn, amounts.share, "share of the time of all operations, which is at the right")
    return [Plot(name, svg, "Time by kernel operation, of one run that waited for each.")]
