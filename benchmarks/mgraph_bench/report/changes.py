"""What got slower or faster since a baseline: the section of a `baseline.Comparison`."""

from .. import amounts
from ..rows import Row, case_name, device_name, ratio_words
from .baseline import Change, Comparison
from .document import Block, Column, Details, Section, Table, Words, table


def section(comparison: Comparison) -> Section:
    """Return the section of the cases of both runs, by verdict, and of those of one only."""
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
            blocks.append(_changed(verdicts[verdict], f"What got {verdict}, and by more than the noise of both runs."))
    for title, found in (("New", comparison.new), ("Gone", comparison.gone)):
        if found:
            blocks.append(Details(f"{title}: {len(found)} cases", (_of_one_run(found),), brief=True))
    if verdicts["within noise"]:
        small = _changed(verdicts["within noise"], "Changes that may be noise.")
        blocks.append(Details(f"Within noise: {len(verdicts['within noise'])} cases", (small,)))
    return Section("baseline", "What got slower since the baseline", tuple(blocks))


def _changed(changes: list[Change], caption: str) -> Table:
    return table(
        [
            (
                *_names(change.row),
                change.before["seconds"],
                change.row["seconds"],
                change.ratio,
                change.threshold - 1,
                change.before.get("commit"),
            )
            for change in changes
        ],
        *(Column("Suite"), Column("Device"), Column("Case")),
        *(Column("Then", amounts.seconds), Column("Now", amounts.seconds), Column("Time", ratio_words)),
        *(Column("May be noise", lambda share: f"±{100 * share:.0f} %"), Column("Commit then", brief=False)),
        caption=caption,
    )


def _of_one_run(rows: list[Row]) -> Table:
    lines = [(*_names(row), row["seconds"]) for row in rows]
    return table(lines, Column("Suite"), Column("Device"), Column("Case"), Column("Median", amounts.seconds))


def _names(row: Row) -> tuple[str, str, str]:
    case = ", ".join(word for word in (row["algorithm"], case_name(row)) if word)
    return row["suite"], device_name(row), case
