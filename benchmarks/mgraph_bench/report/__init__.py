"""The report of the measurements: an HTML page, a summary of it in Markdown, and the plots as files."""

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

from ..rows import Row, Rows, read, rows_of
from ..run import write_table
from ..suite import Plot, Suite, load, names
from . import beside, betweenness, changes, claims, overview, predictions, rooflines, suites, summit
from .baseline import Comparison, compared
from .document import Details, Section, page, plots_of, summary

TITLE = "What mgraph measured"

#: The source of the suites that are not those of a study.
OWN = "this project"


def report(folder: Path, baseline: Path | None = None) -> tuple[Path, Path]:
    """Write the report of the rows in a folder: ``report.html``, ``report.md`` and its ``plots/*.svg``.

    It also writes the rows of each run as a table, ``rows.csv``, if that is missing or older.

    Parameters
    ----------
    folder : path
        Where the rows are, of one run or of several in folders below; the newest row of a case on a device counts. The
        report is written there.
    baseline : path, optional
        The folder of another run, to list what got slower since.

    Returns
    -------
    page, summary : path
        The HTML page, which needs nothing else, and the Markdown file, which needs the plots.

    Raises
    ------
    InputError
        If a folder has no rows, or a line is not a row.
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
    """Return rows with the cases of GPUs first, in the suites' order: resumed runs leave them in any order."""
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
    """Write a run's rows as a table beside them, unless it exists and is up to date: a copied run has none."""
    table = run.with_suffix(".csv")
    stale = not table.is_file() or table.stat().st_mtime < run.stat().st_mtime
    if stale and all("kind" in row for row in rows_of(run)):  # otherwise it is another program's
        write_table(run.parent)


def _sections(rows: Rows, comparison: Comparison | None) -> Iterator[Section]:
    """Yield what a reader looks for first, then, folded, this project's suites and the published studies'."""
    found = [_suite(name) for name in rows.suites]
    own = [suite for suite in found if suite.source in (OWN, "")]
    yield from filter(None, (beside.section(rows), overview.headlines(rows, found) if rows.cases else None))
    yield overview.measured(rows)
    if rows.wrong:
        yield Section("wrong", "Wrong results", (overview.reasons(rows.wrong),), "Their times do not count.")
    if comparison is not None:
        yield changes.section(comparison)
    yield from (dataclasses.replace(section, folded=True) for section in _in_detail(rows, found, own))


def _in_detail(rows: Rows, found: list[Suite], own: list[Suite]) -> Iterator[Section]:
    yield from (suites.section(suite, rows) for suite in own)
    yield from rooflines.sections(rows)
    yield from filter(None, (predictions.section(rows),))
    yield from (suites.section(suite, rows) for suite in found if suite not in own)
    yield from filter(None, (claims.section(found, rows), summit.section(), betweenness.section(rows)))
    without = [*rows.skipped, *_not_run(rows)]
    if without:
        listed = Details(f"{len(without)} cases", (overview.reasons(without),), brief=True)
        yield Section("skipped", "What was skipped, failed or not run, and why", (listed,))


def _not_run(rows: Rows) -> Iterator[Row]:
    """Yield the cases that have no row, of suites and kinds of device that were measured in full size."""
    measured = {row["device"]["kind"]: row["device"] for row in reversed(rows.cases) if not row.get("quick")}
    known = {_key(row) for row in (*rows.cases, *rows.skipped, *rows.wrong)}
    for name in rows.suites:
        for case in map(dataclasses.asdict, _suite(name).cases()):
            device = measured.get(str(case["run"].get("device")))
            if device is not None and _key(case) not in known:
                count = case["run"].get("workers", 1)
                yield case | {"device": device | {"count": count}, "why": "not run"}


def _suite(name: str) -> Suite:
    """Return the suite of a name; of a removed one, a suite made from its rows alone."""
    if name in names():
        return load(name)
    return Suite(name, name, "", "This suite is not among those installed.", "", Plot("n"), (), {}, ())
