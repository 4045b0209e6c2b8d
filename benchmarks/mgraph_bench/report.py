"""The report of what was measured: one page, a summary of it in Markdown, and the plots as files."""

import dataclasses
import json
import math
import statistics
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from . import amounts, claims, predictions, speedup, summit
from .baseline import Change, Comparison, compared
from .document import Block, Column, Details, Plot, Section, Table, Words, page, plots_of, summary
from .drawing import ends, words_of
from .plots import Bar, Curve, bars, curves, roofline
from .rows import (
    Row,
    Rows,
    case_name,
    device_name,
    figures,
    file_name,
    in_words,
    is_peer,
    label,
    parameters,
    ratio_words,
    read,
    rows_of,
)
from .run import write_table
from .suite import Plot as Drawn
from .suite import Published, Suite, load, names, value

TITLE = "What mgraph measured"

#: Rows of a suite up to which their table is open from the start.
OPEN = 14

_Y_WORDS = {
    "seconds": "time of the solve",
    "call_seconds": "time of the call",
    "per_element": "time of the solve, an element",
    "iterations": "rounds",
    "fraction": "share of the ceiling",
    "overhead": "load and collect, over the solve",
    "phase_rates": "bytes a second of each operation",
    "phases": "time of each operation",
}


def report(folder: Path, baseline: Path | None = None) -> tuple[Path, Path]:
    """Write the report of the rows in a folder: ``report.html``, ``report.md`` and its ``plots/*.svg``.

    Beside the rows of each run goes the same as a table, ``rows.csv``, where it is missing or older.

    Parameters
    ----------
    folder : path
        Where the rows are, of one run or of several in folders below; the newest row of a case on a device counts. The
        report is written there.
    baseline : path, optional
        The folder of another run, to tell what got slower since.

    Returns
    -------
    page, summary : path
        The HTML page, which needs nothing else, and the Markdown file, which needs the plots.

    Raises
    ------
    InputError
        If a folder has no rows or a line that is none, or Matplotlib is missing.
    """
    rows = _in_order(read(folder))
    for run in sorted(folder.rglob("rows.jsonl")):
        _keep_table(run)
    sections = list(_sections(rows, None if baseline is None else compared(rows, read(baseline))))
    (folder / "plots").mkdir(exist_ok=True)
    for section in sections:
        for plot in plots_of(section.blocks):
            (folder / "plots" / f"{plot.name}.svg").write_text(plot.svg, encoding="utf-8")
    written = folder / "report.html", folder / "report.md"
    written[0].write_text(page(TITLE, sections), encoding="utf-8")
    written[1].write_text(summary(TITLE, sections), encoding="utf-8")
    return written


def _in_order(rows: Rows) -> Rows:
    """Return rows with the cases of GPUs first, in the suites' order: runs that went on later leave them in any."""
    place = {name: i for i, name in enumerate(rows.suites)}
    known: dict[str, int] = {}
    for name in rows.suites:
        for quick in (False, True):
            for case in _suite(name).cases(quick):
                known.setdefault(_key(dataclasses.asdict(case)), len(known))

    def order(row: Row) -> tuple[bool, int, int, int]:
        on = row["device"]
        return on["kind"] == "cpu", place[row["suite"]], on["count"], known.get(_key(row), len(known))

    return dataclasses.replace(rows, cases=sorted(rows.cases, key=order))


def _key(case: Row) -> str:
    return json.dumps([case[name] for name in ("suite", "algorithm", "graph", "call", "run")], sort_keys=True)


def _keep_table(run: Path) -> None:
    """Write a run's rows as a table beside them, unless it is there and no older: a run that was copied has none."""
    table = run.with_suffix(".csv")
    stale = not table.is_file() or table.stat().st_mtime < run.stat().st_mtime
    if stale and all("kind" in row for row in rows_of(run)):  # else another program's
        write_table(run.parent)


def _sections(rows: Rows, comparison: Comparison | None) -> Iterator[Section]:
    suites = [_suite(name) for name in rows.suites]
    yield _overview(rows)
    if rows.wrong:
        yield Section("wrong", "Wrong results", (_reasons(rows.wrong),), "Their times do not count.")
    if rows.cases:
        yield _headlines(rows, suites)
    if comparison is not None:
        yield _changes(comparison)
    for suite in suites:
        yield _suite_section(suite, rows)
    yield from _rooflines(rows)
    for section in (predictions.section(rows), summit.section()):
        if section is not None:
            yield section
    if rows.skipped:
        yield Section("skipped", "What was skipped or failed, and why", (_reasons(rows.skipped),))


def _suite(name: str) -> Suite:
    """Return the suite of a name; of one that is no longer there what its rows alone tell."""
    if name in names():
        return load(name)
    return Suite(name, name, "", "This suite is not among those installed.", "", Drawn("n"), (), {}, ())


# What was measured where.


def _overview(rows: Rows) -> Section:
    total = [row for row in (*rows.cases, *rows.ceilings)]
    counts = f"{len(rows.cases)} rows of {len(rows.suites)} suites"
    quick = sum(bool(row.get("quick")) for row in rows.cases)
    if quick:
        counts += (
            f", {'all' if quick == len(rows.cases) else quick} of them quick: small inputs, whose times say little"
        )
    if rows.skipped:
        counts += f"; {len(rows.skipped)} cases were skipped or failed"
    if rows.wrong:
        counts += f"; {len(rows.wrong)} results were wrong"
    if rows.others:
        counts += f"; {rows.others} lines of the files are no rows and were left out"
    lines, versions = [], []
    for model in dict.fromkeys(device_name(row, False) for row in total):
        here = [row for row in total if device_name(row, False) == model]
        cases = [row for row in here if row["kind"] == "case"]
        numbers = sorted({row["device"]["count"] for row in here})
        cores = sorted({row["device"].get("cores") or 1 for row in here if row["device"]["kind"] == "cpu"})
        lines.append(
            (
                model,
                ", ".join(map(str, numbers)) if not cores else f"{_joined(cores)} cores",
                str(len(cases)),
                str(len({row["suite"] for row in cases})),
                _dates(here),
                _joined(row.get("commit") for row in here),
            )
        )
        installed = ", ".join(
            f"{name} {_joined(row.get('versions', {}).get(name) for row in here)}"
            for name in dict.fromkeys(name for row in here for name in row.get("versions", {}))
        )
        versions.append(Words(f"{model}: {installed or amounts.NONE}"))
    columns = (
        *(
            Column("Device", False),
            Column("How many", False),
            Column("Rows"),
            Column("Suites"),
            Column("Measured", False),
        ),
        Column("Commit", False),
    )
    table: tuple[Block, ...] = (Table(columns, tuple(lines)), Details("Versions", tuple(versions))) if lines else ()
    checked = "Times are medians of the solve; every case's result was checked before its time counted."
    return Section("measured", "What was measured where", (Words(f"{counts}. {checked}"), *table))


def _dates(rows: list[Row]) -> str:
    days = sorted({row["date"][:10] for row in rows if row.get("date")})
    return f"{days[0]} to {days[-1]}" if len(days) > 1 else _joined(days)


def _joined(values: Any) -> str:
    return ", ".join(dict.fromkeys(str(what) for what in values if what is not None)) or amounts.NONE


def _reasons(rows: list[Row]) -> Table:
    """Return why cases have no time, those of one reason in a line."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["suite"], device_name(row), row["why"]), []).append(row)
    lines = tuple(
        (
            suite,
            device,
            str(len(group)),
            why,
            "; ".join(dict.fromkeys(f"{row['algorithm']} {case_name(row)}" for row in group)),
        )
        for (suite, device, why), group in groups.items()
    )
    columns = (Column("Suite", False), Column("Device", False), Column("Cases"), Column("Why", False))
    return Table((*columns, Column("Which", False, brief=False)), lines)


# A line for each suite.


def _headlines(rows: Rows, suites: list[Suite]) -> Section:
    lines, links = [], []
    for suite in suites:
        groups: dict[tuple[bool, str, str], list[Row]] = {}
        for row in rows.of(suite.name):
            if not is_peer(row):
                groups.setdefault(
                    (row["device"]["kind"] == "cpu", device_name(row, False), row["algorithm"]), []
                ).append(row)
        several = len({algorithm for *_, algorithm in groups}) > 1
        for (_, _, algorithm), own in sorted(groups.items(), key=lambda group: group[0][:2]):
            best = max(own, key=lambda row: (row.get("rate") or 0.0, -row["seconds"]))
            faster = [ratio for *_, ratio in _beside(suite, own) if ratio is not None]
            known = suite.name in links
            links.append(suite.name)
            lines.append(
                (
                    "" if known else suite.name,
                    device_name(best),
                    f"{algorithm}, " * several + f"{best.get('method')}, n {amounts.count(best['n'])}",
                    amounts.seconds(best["seconds"]),
                    amounts.rate(best.get("rate"), best.get("unit", "")),
                    amounts.share(best.get("fraction")),
                    _range(faster),
                )
            )
    columns = (
        *(Column("Suite", False), Column("Device", False), Column("At its best", False)),
        *(Column("Median"), Column("Best rate"), Column("Of ceiling"), Column("As fast as published")),
    )
    words = Words(
        "Of each suite and device the case of the highest rate, and how many times as fast as published ours are, from"
        " the least to the most."
    )
    return Section("summary", "Summary", (words, Table(columns, tuple(lines), links=tuple(links))))


def _range(ratios: list[float]) -> str:
    if not ratios:
        return amounts.NONE
    least, most = amounts.digits(min(ratios)), amounts.digits(max(ratios))
    return f"{least} ×" if least == most else f"{least} to {most} ×"


# A suite.


def _suite_section(suite: Suite, rows: Rows) -> Section:
    own = rows.of(suite.name)
    blocks: list[Block] = [Words(suite.about)]
    if own:
        for drawing, shown in _drawings(suite, own):
            blocks += _drawn(suite, drawing, shown)
        blocks += _published_table(suite, own)
        blocks += claims.blocks(suite, [*own, *rows.ceilings])
        blocks += speedup.of_devices(suite.name, own)
        blocks += speedup.of_peers(suite.name, own)
        blocks.append(_rows_table(own))
        blocks += _phases(suite, own)
    else:
        blocks.append(Words("No case of this suite was measured: its section below says why."))
    below = ", ".join(word for word in (suite.source, f"suite {suite.name}") if word)
    return Section(suite.name, suite.title, tuple(blocks), below)


def _label_of(suite: Suite, rows: list[Row], row: Row) -> str:
    models = len({device_name(other, False) for other in rows})
    counts = 1 if suite.plot.x == "devices" else len({other["device"]["count"] for other in rows})
    return label(row, suite.plot.series, models, counts)


def _drawings(suite: Suite, rows: list[Row]) -> Iterator[tuple[Drawn, list[Row]]]:
    """Yield a suite's plots with their rows: what it says and, where another field was published, that."""
    yield suite.plot, rows
    for of in dict.fromkeys(published.of for published in suite.published):
        if of != suite.plot.y and not (of == "seconds" and suite.plot.y in ("rate", "per_element")):
            beside = [published for published in suite.published if published.of == of]
            shown = [row for row in rows if any(_stands_beside(row, published) for published in beside)]
            yield dataclasses.replace(suite.plot, y=of, log=tuple({*suite.plot.log} - {"y"})), shown


def _drawn(suite: Suite, drawing: Drawn, rows: list[Row]) -> list[Block]:
    """Return a plot of a suite, with what was published dashed, or shaded where it is a band."""
    name_of_plot = suite.name if drawing.y == suite.plot.y else f"{suite.name}-{drawing.y.replace('_', '-')}"
    caption = f"{_Y_WORDS.get(drawing.y, drawing.y.replace('_', ' ')).capitalize()} by {drawing.x.replace('_', ' ')}."
    if drawing.y == "phases":
        return _phase_bars(name_of_plot, rows, f"{suite.name}, {suite.title}")
    found = [(row, value(row, drawing.x), what, y) for row in rows for what, y in figures(row, drawing.y)]
    units = list(dict.fromkeys(row["unit"] for row in rows if row.get("unit")))
    y_words = _Y_WORDS.get(drawing.y, drawing.y.replace("_", " "))
    if drawing.y == "rate":
        y_words = units[0] if len(units) == 1 else "work a second: " + ", ".join(units)
        caption = f"Rate ({', '.join(units)}) by {drawing.x.replace('_', ' ')}."
    series: dict[tuple[str, str, str], list[tuple[Any, float]]] = {}
    for row, x, what, y in found:
        if y > 0 and (x is not None or drawing.kind == "bars"):
            name = _label_of(suite, rows, row), what, label(row, drawing.series)
            series.setdefault(name, []).append((_x_of(row, rows) if x is None else _plain(x), y))
    same_colour = [", ".join(filter(None, (without_device, what))) for _, what, without_device in series]
    places = {name: place for place, name in enumerate(dict.fromkeys(same_colour))}
    curves_drawn = [
        Curve(", ".join(filter(None, (name, what))), _by_x(points), places[colour], thin=colour in same_colour[:i])
        for i, (((name, what, _), points), colour) in enumerate(zip(series.items(), same_colour, strict=True))
    ]
    for published in suite.published:
        points = tuple(zip(map(_plain, published.x), published.y, strict=True))
        converted = _as(drawing.y, published, rows, drawing.x, points)
        if converted:
            same = [label(row, drawing.series) for row in rows if _stands_beside(row, published)]
            phase = published.beside.get("phase")
            same = [f"{name}, {phase}" if phase else name for name in same]
            place = next((places[name] for name in same if name in places), None)
            if place is None:
                place = places[published.series] = len(places)
            upper = published.upper if converted == points else ()
            curves_drawn.append(Curve(published.series, converted, place, published=True, upper=upper))
    if not curves_drawn:
        return []
    title = f"{suite.title} ({suite.name})"
    if drawing.kind == "bars":
        svg = _grouped_bars(name_of_plot, title, curves_drawn, drawing, y_words)
    else:
        svg = curves(name_of_plot, title, curves_drawn, drawing.x, drawing.y, drawing.log, y_words)
    if any(curve.published for curve in curves_drawn):
        caption += " Shaded: published." if any(curve.upper for curve in curves_drawn) else " Dashed: published."
    return [Plot(name_of_plot, svg, caption)]


def _plain(x: Any) -> Any:
    """Return an x that can be told from others: a list in words."""
    return " to ".join(map(amounts.count, x)) if isinstance(x, list) else x


def _x_of(row: Row, rows: list[Row]) -> str:
    """Return what tells a row from others that is not along x."""
    _, varying = parameters(rows)
    return ", ".join(in_words(name, value(row, name)) for name in varying if value(row, name) is not None) or "default"


def _by_x(points: list[tuple[Any, float]]) -> tuple[tuple[Any, float], ...]:
    """Return points by x, where x are numbers; of several at one x the median."""
    at: dict[Any, list[float]] = {}
    for x, y in points:
        at.setdefault(x, []).append(y)
    numeric = all(isinstance(x, (int, float)) for x in at)
    return tuple((x, statistics.median(at[x])) for x in (sorted(at) if numeric else at))


def _grouped_bars(name: str, title: str, series: list[Curve], drawing: Drawn, y_words: str) -> str:
    """Return a plot of a bar for each x and series: by x or, where there are more x than series, by series."""
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


def _stands_beside(row: Row, published: Published) -> bool:
    return all(value(row, name) == what for name, what in published.beside.items() if name != "phase")


def _as(
    y: str, published: Published, rows: list[Row], x: str, points: tuple[tuple[Any, float], ...]
) -> tuple[tuple[Any, float], ...]:
    """Return published figures as what is drawn: as they are or, of times, by the work of our row at the same x."""
    if published.of == y:
        return points
    if published.of != "seconds" or y not in ("rate", "per_element"):
        return ()
    found = []
    for at, seconds in points:
        same = [row for row in rows if _plain(value(row, x)) == at and _stands_beside(row, published)]
        if same and same[0].get("work") and y == "rate":
            found.append((at, same[0]["work"] / seconds))
        elif same and y == "per_element":
            found.append((at, seconds / same[0]["n"]))
    return tuple(found)


def _beside(suite: Suite, rows: list[Row]) -> Iterator[tuple[Published, int, list[tuple[Row, float]], float | None]]:
    """Yield published figures beside ours: series, which of its figures, our rows with theirs, how many times as fast.

    Of a series none of whose x a device's rows have, the nearest are taken, and nothing is said of how fast.
    """
    x_name = suite.plot.x
    for published in suite.published:
        phase = published.beside.get("phase", "")
        ours = [
            (row, found)
            for row in rows
            if _stands_beside(row, published) and value(row, x_name) is not None
            for what, found in figures(row, published.of)
            if what == phase
        ]
        for model in dict.fromkeys(device_name(row) for row, _ in ours):
            here = [(row, found) for row, found in ours if device_name(row) == model]
            near = []
            for i, x in enumerate(published.x):
                distances = [_distance(_plain(value(row, x_name)), x) for row, _ in here]
                most = min(distances) * 1.001  # 15,999,999 and 64,000,000 are as far from 32,000,000
                near.append((min(distances), i, [one for one, far in zip(here, distances, strict=True) if far <= most]))
            least = min(distance for distance, *_ in near)
            for distance, i, found in near:
                if distance == 0 and published.of in _FASTER:
                    yield published, i, found[:1], _FASTER[published.of](published.y[i], found[0][1])
                elif distance == least < math.inf:
                    yield published, i, found, None


#: How many times as fast ours is, of a published figure and ours: of times, and of rates.
_FASTER: dict[str, Callable[[float, float], float]] = {
    **dict.fromkeys(("seconds", "call_seconds", "first_call_seconds"), lambda published, ours: published / ours),
    **dict.fromkeys(("rate", "phase_rates"), lambda published, ours: ours / published),
}


def _distance(ours: Any, published: Any) -> float:
    if ours == published:
        return 0.0
    if all(isinstance(what, (int, float)) and what > 0 for what in (ours, published)):
        return abs(math.log(ours / published))
    return math.inf


def _published_table(suite: Suite, rows: list[Row]) -> list[Block]:
    """Return the table of published figures, with ours on each device beside them."""
    found = list(_beside(suite, rows))
    if not found:
        return []
    models = list(dict.fromkeys(device_name(row) for *_, ours, _ in found for row, _ in ours))
    compared = any(better is not None for *_, better in found)
    lines: dict[tuple[str, Any], list[str]] = {}
    x_of = words_of(suite.plot.x)
    for published, i, rows_found, better in found:
        words, x = words_of(published.of), published.x[i]
        figure = ends(words, [published.y[i], *published.upper[i : i + 1]])
        empty = [amounts.NONE] * (len(models) * (2 if compared else 1))
        line = lines.setdefault((published.series, x), [published.series, x_of(x), figure, *empty])
        place = 3 + models.index(device_name(rows_found[0][0])) * (2 if compared else 1)
        at: dict[Any, list[float]] = {}
        for row, ours_found in rows_found:
            at.setdefault(_plain(value(row, suite.plot.x)), []).append(ours_found)
        places = {where: f" (at {x_of(where)})" if where != x else "" for where in at}
        line[place] = "; ".join(
            dict.fromkeys(ends(words, figures_found) + places[where] for where, figures_found in sorted(at.items()))
        )
        if compared:
            line[place + 1] = amounts.times(better)
    x_words = suite.plot.x.replace("_", " ")
    ours = [Column(title) for model in models for title in (f"Ours, {model}", "as fast")[: 2 if compared else 1]]
    columns = (Column("Published", False), Column(x_words), Column("Figure"), *ours)
    return [Table(columns, tuple(map(tuple, lines.values())), "What was published beside what was measured here.")]


def _rows_table(rows: list[Row]) -> Block:
    """Return all rows of a suite: what tells them apart, and what was found."""
    common, varying = parameters(rows)
    several = len({device_name(row) for row in rows}) > 1
    algorithms = len({row["algorithm"] for row in rows}) > 1
    quick = len({bool(row.get("quick")) for row in rows}) > 1
    lines = []
    for row in rows:
        transfers = row.get("transfers") or {}
        line = [device_name(row)] if several else []
        line += [row["algorithm"]] if algorithms else []
        line += [("quick" if row.get("quick") else "")] if quick else []
        line += [str(row.get("method")), amounts.count(row["n"])]
        line += [in_words("", what).strip() for what in _said(row, varying)]
        line += [
            amounts.seconds(row["seconds"]),
            amounts.share(row.get("spread")),
            amounts.rate(row.get("rate"), row.get("unit", "")),
            amounts.share(row.get("fraction")),
            amounts.count(row.get("iterations")),
            amounts.seconds(transfers.get("load")),
            amounts.seconds(transfers.get("collect")),
            amounts.seconds(row.get("call_seconds")),
            amounts.seconds(row.get("first_call_seconds")),
            amounts.size(row.get("peak_bytes")),
            _over(row.get("predicted_seconds"), row["seconds"]),
            _over(row.get("predicted_bytes"), row.get("peak_bytes")),
            row.get("checked") or amounts.NONE,
        ]
        lines.append(tuple(line))
    front = [name for name, there in (("Device", several), ("Algorithm", algorithms), ("", quick)) if there]
    columns = (
        *(Column(name, False) for name in (*front, "Method")),
        Column("n"),
        *(Column(name.replace("_", " "), _numbers(rows, name)) for name in varying),
        *(Column("Median"), Column("Spread"), Column("Rate"), Column("Of ceiling"), Column("Rounds", brief=False)),
        *(Column(name, brief=False) for name in ("Load", "Collect", "Whole call", "First call", "Peak memory")),
        *(Column(name, brief=False) for name in ("Predicted time over measured", "Predicted memory over measured")),
        Column("Checked by", False, brief=False),
    )
    said = ", ".join(in_words(name, what) for name, what in common.items())
    device = "" if several else device_name(rows[0])
    shared = ", ".join(word for word in (device, said) if word)
    caption = (
        f"All rows: {shared}. " if shared else ""
    ) + "Spread is (greatest − least) / median. Load and collect are apart from the solve; the whole call has all."
    return Details(f"{len(rows)} rows", (Table(columns, tuple(lines), caption),), open=len(rows) <= OPEN, brief=True)


def _said(row: Row, varying: list[str]) -> Iterator[Any]:
    said = {**row["graph"], **row["call"], **row["run"]}
    for name in varying:
        what = said.get(name)
        yield what if isinstance(what, (str, list)) else amounts.count(what)


def _numbers(rows: list[Row], name: str) -> bool:
    found = [what for row in rows if (what := {**row["graph"], **row["call"], **row["run"]}.get(name)) is not None]
    return all(isinstance(what, (int, float)) for what in found)


def _over(predicted: float | None, measured: float | None) -> str:
    return amounts.digits(predicted / measured) if predicted and measured else amounts.NONE


def _phases(suite: Suite, rows: list[Row]) -> list[Block]:
    if suite.plot.y == "phases" or not any(row.get("phases") for row in rows):
        return []
    blocks = _phase_bars(f"{suite.name}-phases", rows, f"Time by operation ({suite.name})")
    return [Details("Where the time went, by kernel operation", tuple(blocks))]


def _phase_bars(name: str, rows: list[Row], title: str) -> list[Block]:
    """Return the shares of the time of each operation, as stacked bars: small and large cases share no scale."""
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


# What devices can do, and what got slower.


def _rooflines(rows: Rows) -> Iterator[Section]:
    blocks: list[Block] = []
    for ceilings in rows.ceilings:
        model = device_name(ceilings, False)
        points, faster = [], []
        for suite in rows.suites:
            own = [
                row
                for row in rows.of(suite)
                if device_name(row, False) == model
                and row["device"]["count"] == ceilings["device"]["count"]
                and row.get("rate")
                and not is_peer(row)
            ]
            for unit in dict.fromkeys(row["unit"] for row in own):
                by_rate = sorted((row for row in own if row["unit"] == unit), key=lambda row: -row["rate"])
                best = next((row for row in by_rate if row.get("bytes")), None)
                if best is not None:
                    points.append((f"{suite}: {best['method']}", best["work"] / best["bytes"], best["rate"]))
                if best is not by_rate[0]:
                    faster.append(f"{suite}: {by_rate[0]['method']}, {amounts.rate(by_rate[0]['rate'], unit)}")
        if not (points or ceilings.get("minplus") or ceilings.get("reads")):
            continue
        name = f"roofline-{file_name(device_name(ceilings))}"
        caption = (
            f"{device_name(ceilings)}: of each suite the row of the highest rate among those whose traffic to memory is"
            " known, and what the device can do at best, measured."
        )
        blocks.append(Plot(name, roofline(name, f"Roofline of {device_name(ceilings)}", ceilings, points), caption))
        if faster:
            blocks.append(
                Words(
                    "Of higher rate, but not drawn, as they leave out edges or vertices and no least traffic is known"
                    f" of them: {'; '.join(faster)}."
                )
            )
    if blocks:
        yield Section("roofline", "Rooflines", tuple(blocks))


def _changes(comparison: Comparison) -> Section:
    verdicts = {verdict: comparison.of(verdict) for verdict in ("slower", "faster", "within noise")}
    counts = [f"{len(found)} {verdict}" for verdict, found in verdicts.items()]
    counts += [f"{len(comparison.new)} new", f"{len(comparison.gone)} gone"]
    text = f"Of {len(comparison.changes)} cases that both runs have: {', '.join(counts[:3])}."
    text += f" Beside them: {', '.join(counts[3:])}."
    if comparison.elsewhere:
        text += f" {comparison.elsewhere} cases of the baseline are of suites or devices that were not measured now."
    blocks: list[Block] = [Words(text)]
    for verdict in ("slower", "faster"):
        if verdicts[verdict]:
            blocks.append(
                _change_table(verdicts[verdict], f"What got {verdict}, and by more than the noise of both runs.")
            )
    for title, found in (("New", comparison.new), ("Gone", comparison.gone)):
        if found:
            lines = tuple(
                (row["suite"], device_name(row), _case_of(row), amounts.seconds(row["seconds"])) for row in found
            )
            columns = (Column("Suite", False), Column("Device", False), Column("Case", False), Column("Median"))
            blocks.append(Details(f"{title}: {len(found)} cases", (Table(columns, lines),), brief=True))
    if verdicts["within noise"]:
        table = _change_table(verdicts["within noise"], "Changes that may be noise.")
        blocks.append(Details(f"Within noise: {len(verdicts['within noise'])} cases", (table,)))
    return Section("baseline", "What got slower since the baseline", tuple(blocks))


def _change_table(changes: list[Change], caption: str) -> Table:
    lines = tuple(
        (
            change.row["suite"],
            device_name(change.row),
            _case_of(change.row),
            amounts.seconds(change.before["seconds"]),
            amounts.seconds(change.row["seconds"]),
            ratio_words(change.ratio),
            f"±{100 * (change.threshold - 1):.0f} %",
            _joined([change.before.get("commit")]),
        )
        for change in changes
    )
    columns = (
        *(Column("Suite", False), Column("Device", False), Column("Case", False), Column("Then"), Column("Now")),
        *(Column("Time"), Column("May be noise"), Column("Commit then", False, brief=False)),
    )
    return Table(columns, lines, caption)


def _case_of(row: Row) -> str:
    return ", ".join(word for word in (row["algorithm"], case_name(row)) if word)
