"""The report's first sections: the devices, each suite's highest rates, and the cases without a time."""

from collections.abc import Sequence
from typing import Any

from .. import amounts
from ..rows import Row, Rows, case_name
from ..suite import Suite
from .document import Block, Column, Details, Section, Table, Words, table
from .drawing import ends
from .frames import frame_of, joined
from .published import ratios


def measured(rows: Rows) -> Section:
    """Return the section of the devices, with the numbers of rows, dates, commits and versions."""
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
    for model, here in frame_of([*rows.cases, *rows.ceilings]).groupby("model", sort=False):
        cases = here[here["suite"].notna()]
        cores = sorted({row["device"].get("cores") or 1 for row in here.loc[here["cpu"].astype(bool), "row"]})
        numbers = f"{joined(cores)} cores" if cores else joined(sorted(set(here["count"])))
        suites = cases["suite"].nunique()
        lines.append((model, numbers, len(cases), suites, _days([*here["day"].dropna()]), joined(here["commit"])))
        versions.append(Words(f"{model}: {_versions(list(here['row'])) or amounts.NONE}"))
    found = table(
        lines,
        *(Column("Device"), Column("How many"), Column("Rows", str), Column("Suites", str)),
        *(Column("Measured"), Column("Commit")),
    )
    blocks: tuple[Block, ...] = (found, Details("Versions", tuple(versions))) if lines else ()
    times = "Times are medians of the solve, of several sources the mean of their medians."
    checked = "Every case's result was checked before its time counted."
    return Section("measured", "What was measured where", (Words(f"{counts}. {times} {checked}"), *blocks))


def _days(days: Sequence[str]) -> str | None:
    first, last = (min(days), max(days)) if len(days) else (None, None)
    return first if first == last else f"{first} to {last}"


def _versions(rows: list[Row]) -> str:
    names = dict.fromkeys(name for row in rows for name in row.get("versions", {}))
    return ", ".join(f"{name} {joined(row.get('versions', {}).get(name) for row in rows)}" for name in names)


def reasons(rows: list[Row]) -> Table:
    """Return why cases have no time, a line for each reason."""
    return table(
        [
            (suite, device, len(group), why, joined_cases(group["row"]))
            for (suite, device, why), group in frame_of(rows).groupby(["suite", "device", "why"], sort=False)
        ],
        *(Column("Suite"), Column("Device"), Column("Cases", str), Column("Why"), Column("Which", brief=False)),
    )


def joined_cases(rows: Any) -> str:
    """Return descriptions of rows' cases."""
    return "; ".join(dict.fromkeys(f"{row['algorithm']} {case_name(row)}" for row in rows))


def headlines(rows: Rows, suites: list[Suite]) -> Section:
    """Return the section with a line for each suite, device and algorithm: the case of the highest rate."""
    lines, links = [], []
    for suite in suites:
        own = frame_of(rows.of(suite.name))
        own = own[~own["peer"].astype(bool)].sort_values(["cpu", "model"], kind="stable")
        several = own["algorithm"].nunique() > 1
        for (_, _, algorithm), group in own.groupby(["cpu", "model", "algorithm"], sort=False):
            order = group.assign(rate=group["rate"].fillna(0.0)).sort_values(
                ["rate", "seconds"], ascending=[False, True], kind="stable"
            )
            best: Row = order["row"].iloc[0]
            lines.append(
                (
                    "" if suite.name in links else suite.name,
                    order["device"].iloc[0],
                    f"{algorithm}, " * several + f"{best.get('method')}, n {amounts.count(best['n'])}",
                    best["seconds"],
                    amounts.rate(best.get("rate"), best.get("unit", "")),
                    best.get("fraction"),
                    _ranges(ratios(suite, list(group["row"]))),
                )
            )
            links.append(suite.name)
    words = Words(
        "Of each suite and device the case of the highest rate. The last column is of the methods that studies"
        " measured: how many times as fast as published each is, from the least to the most."
    )
    found = table(
        lines,
        *(Column("Suite"), Column("Device"), Column("At its best"), Column("Median", amounts.seconds)),
        *(Column("Best rate", str), Column("Of ceiling", amounts.share), Column("As fast as published", str)),
        links=links,
    )
    return Section("summary", "Summary", (words, found))


def _ranges(by_method: dict[str, list[float]]) -> str | None:
    """Return the least and the greatest of each method's ratios in words; None without any."""
    return "; ".join(f"{method} {ends(amounts.times, found)}" for method, found in by_method.items()) or None
