"""Statements of studies in words, compared with our figures: a table, and a plot of ratios by x."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .. import amounts
from ..rows import Row, Rows, device_name, is_peer
from ..suite import Claim, Suite, matches, value
from .document import Block, Column, Plot, Section, Words, table
from .drawing import ends, words_of
from .plots import Curve, curves
from .published import kernels_of

#: The verdicts on a claim that one side is faster where the other one is, everywhere or at some x.
REVERSED, PARTLY_REVERSED = "reversed", "reversed in part"


@dataclass(frozen=True)
class Finding:
    """Our figures of a claim, by x (None if the claim names it), where they were measured, and by which kernels."""

    claim: Claim
    points: tuple[tuple[Any, Any], ...]
    on: str
    kernels: str = ""

    @property
    def verdict(self) -> str:
        """What became of the claim: whether our figures are in its band, or on which side of it or of 1."""
        band, found = self.claim.band, [figure for _, figure in self.points]
        if not band:
            return ""
        least, most = band
        if all(least <= figure <= most for figure in found):
            return "holds"
        if self.claim.steepest:
            return REVERSED  # an inflection where the study saw none, or none where it saw one
        if self.claim.over is not None and (least >= 1 or most <= 1) and least < most:
            crossed = [figure < 1 if least >= 1 else figure > 1 for figure in found]
            if any(crossed):
                return REVERSED if all(crossed) else PARTLY_REVERSED
        if all(figure > most for figure in found):
            return "more"
        return "less" if all(figure < least for figure in found) else "in part"


def blocks(suite: Suite, rows: list[Row]) -> list[Block]:
    """Return the table of a suite's claims, and before it a plot of the ratios of those with a band."""
    if not suite.claims:
        return []
    found = list(findings(suite, rows))
    lines = []
    for claim in suite.claims:
        own = [
            (*_measured(finding, suite.plot.x), finding.on, finding.verdict, finding.kernels)
            for finding in found
            if finding.claim is claim
        ]
        lines += [(claim.words, claim.published, *cells) for cells in own or [("not measured", "", "", "", "")]]
    columns = (
        *(Column("What the study says"), Column("Published"), Column("Measured here", str)),
        *(Column("At"), Column("On"), Column("Verdict"), Column("Kernels")),
    )
    caption = "What was published in words, beside the same of what was measured here."
    return [*_drawn(suite, found), table(lines, *columns, caption=caption)]


def section(suites: list[Suite], rows: Rows) -> Section | None:
    """Return the section that says how many claims hold, and lists those that are reversed; None without a verdict."""
    verdicts: Counter[str] = Counter()
    lines, links = [], []
    for suite in suites:
        for finding in findings(suite, [*rows.of(suite.name), *rows.ceilings]):
            verdicts[finding.verdict] += 1
            if finding.verdict in (REVERSED, PARTLY_REVERSED):
                claim = finding.claim
                said = suite.name, claim.words, claim.published
                measured = _measured(finding, suite.plot.x)[0]
                lines.append((*said, measured, finding.on, finding.verdict, finding.kernels))
                links.append(suite.name)
    del verdicts[""]
    if not verdicts:
        return None
    counts = ", ".join(f"{count} {words}" for words, count in verdicts.most_common())
    listed = "; these are reversed, all or in part:" if lines else "."
    words = Words(f"Ratios that studies state, beside ours: {counts}. Each is in the section of its suite{listed}")
    columns = (
        *(Column("Suite"), Column("What the study says"), Column("Published")),
        *(Column("Measured here", str), Column("On"), Column("Verdict"), Column("Kernels")),
    )
    return Section(
        "claims", "Claims of the studies", (words, *([table(lines, *columns, links=links)] if lines else []))
    )


def findings(suite: Suite, rows: list[Row]) -> Iterator[Finding]:
    """Yield the findings of a suite's claims, for each device or pair of devices that has rows of them."""
    for claim in suite.claims:
        own = _by_device(claim, claim.rows, rows)
        if claim.over is None:
            for here in own.values():
                chosen = [max(here, key=lambda row: value(row, claim.by))] if claim.by else here
                points = [(value(row, suite.plot.x), value(row, claim.of)) for row in chosen]
                points = [_steepest(points)] if claim.steepest else sorted(points, key=repr)
                yield Finding(claim, tuple(points), _on(chosen), kernels_of(chosen))
            continue
        for (model, these), (other, those) in itertools.product(
            own.items(), _by_device(claim, claim.over, rows).items()
        ):
            x = "" if claim.best or suite.plot.x in claim.over else suite.plot.x
            above, below = (_best(claim.of, side, x) for side in (these, those))
            shared = [x for x in above if x in below]
            if shared and (model == other or _between_kinds(claim, these, those)):
                ratios = tuple((x, value(above[x], claim.of) / value(below[x], claim.of)) for x in sorted(shared))
                sides = [[side[x] for x in shared] for side in (above, below)]
                on = " over ".join(dict.fromkeys(map(_on, sides)))
                yield Finding(claim, ratios, on, kernels_of([*sides[0], *sides[1]]))


def _between_kinds(claim: Claim, these: list[Row], those: list[Row]) -> bool:
    """Whether a claim is of a CPU beside a GPU, and these rows are of one each."""
    assert claim.over is not None
    across = "device" in claim.rows or "device" in claim.over
    return across and these[0]["device"]["kind"] != those[0]["device"]["kind"]


def _steepest(points: list[tuple[Any, float]]) -> tuple[Any, float]:
    """Return the x at which a figure rises most over that of the x before, and how many times as great it is."""
    points = sorted(points)
    rises = [(x, y / before) for (_, before), (x, y) in itertools.pairwise(points)]
    return max(rises, key=lambda rise: rise[1], default=(points[0][0], 1.0))


def _by_device(claim: Claim, wanted: dict[str, Any], rows: list[Row]) -> dict[str, list[Row]]:
    """Return the rows that match `wanted` and have the claim's figure, by the model of their device."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        if value(row, claim.of) is not None and matches(row, wanted):
            found.setdefault(device_name(row, False), []).append(row)
    return found


def _best(of: str, rows: list[Row], x: str) -> dict[Any, Row]:
    """Return the best row at each x: that of the least time, or of the greatest other figure."""
    best: Callable[..., Row] = (
        min if of.endswith("seconds") or of.startswith(("per_element", "per_iteration", "phases")) else max
    )
    at: dict[Any, list[Row]] = {}
    for row in rows:
        at.setdefault(value(row, x) if x else None, []).append(row)
    return {place: best(here, key=lambda row: value(row, of)) for place, here in at.items()}


def _on(rows: list[Row]) -> str:
    """Return the devices of rows in words, with the cores of CPUs and the names of other libraries."""
    return ", ".join(dict.fromkeys(map(_place, rows)))


def _place(row: Row) -> str:
    name = device_name(row)
    if row["kind"] == "case" and is_peer(row):
        return f"{name} ({row['method']})"
    if row["device"]["kind"] != "cpu" or row["device"]["count"] > 1:
        return name
    at_most = 1 if value(row, "method") == "sequential" else row["device"].get("cores") or 1
    cores = value(row, "blocks") or at_most
    return f"{name} ({cores} core{'s' * (cores > 1)})"


def _measured(finding: Finding, x: str) -> tuple[str, str]:
    """Return the least and the greatest figure of a finding in words, and their x."""
    claim = finding.claim
    of_ratios = claim.over is not None or claim.steepest
    words = amounts.share if "%" in claim.published else amounts.times if of_ratios else words_of(claim.of)
    figures = [figure for _, figure in finding.points]
    if claim.by:
        return words(figures[0]), ""
    places = [at for at, _ in finding.points if at is not None]
    where = f"{x.replace('_', ' ')} {ends(words_of(x), places)}" if places else ""
    return ends(words, figures), where


def _drawn(suite: Suite, found: list[Finding]) -> list[Block]:
    """Return the plot of ratios by x of the claims with a band, if one has several x."""
    several = [each for each in found if each.claim.band and each.claim.over is not None and len(each.points) > 1]
    if not several:
        return []
    xs = [x for finding in several for x, _ in finding.points]
    bands = list(dict.fromkeys((finding.claim.published, finding.claim.band) for finding in several))
    series = [Curve(f"{each.claim.words}: {each.on}", each.points, i) for i, each in enumerate(several)]
    for published, (least, most) in bands:
        place = next(i for i, each in enumerate(several) if each.claim.published == published)
        ends = tuple((x, least) for x in (min(xs), max(xs)))
        series.append(Curve(published, ends, place, published=True, upper=(most, most) if most > least else ()))
    name = f"{suite.name}-ratios"
    drawing = curves(name, f"{suite.title}: ratios", series, suite.plot.x, "times", ("x", "y"), "times as fast")
    caption = f"How many times as fast by {suite.plot.x.replace('_', ' ')}; shaded or dashed: published."
    return [Plot(name, drawing, caption)]
