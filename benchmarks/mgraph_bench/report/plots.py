"""The plots of a report: curves over a parameter, bars, predictions beside measurements, and rooflines."""

import itertools
import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Patch

from .. import amounts
from .drawing import (
    CHARACTER,
    GRID,
    GROUND,
    INK,
    MARKERS,
    MUTED,
    SERIES,
    above,
    drawn,
    label_beside,
    lines_of,
    margin_of,
    svg,
    ticks_at,
    value_axis,
    words_of,
    wrapped,
)


@dataclass(frozen=True)
class Curve:
    """The points of a series along x, and the index of its colour and marker.

    Published ones are dashed; those of a further device are thinner lines of the same colour. Where there are `upper`
    values, it is a band from the points up to these.
    """

    label: str
    points: tuple[tuple[Any, float], ...]
    place: int = 0
    published: bool = False
    thin: bool = False
    upper: tuple[float, ...] = ()

    @property
    def colour(self) -> str:
        """The series' colour."""
        return SERIES[self.place % len(SERIES)]

    @property
    def marker(self) -> str:
        """The series' marker, which differs where colours repeat."""
        return MARKERS[(self.place + self.place // len(SERIES)) % len(MARKERS)]


@dataclass(frozen=True)
class Bar:
    """A bar: its label, its parts with the indices of their colours, and the text beside it.

    Bars of one ``group``, one after another, have it as their heading.
    """

    label: str
    parts: tuple[tuple[str, float, int], ...]
    beside: str
    published: bool = False
    group: str = ""


def curves(
    name: str,
    title: str,
    series: Sequence[Curve],
    x: str,
    y: str,
    log: Sequence[str] = (),
    y_words: str = "",
    ideal: Callable[[float], float] | None = None,
) -> str:
    """Return a plot of series over `x`, each labelled beside its last point.

    Parameters
    ----------
    name, title : str
        Of the plot.
    series : sequence of Curve
        The curves; if an x is not a number, all are put at equal distances in order of appearance.
    x, y : str
        Names of rows' values.
    log : sequence of str
        ``"x"`` and ``"y"``, where their axis is logarithmic.
    y_words : str
        Text above the y axis.
    ideal : callable, optional
        The ideal y at an x, drawn as a thin line.
    """
    found = list(dict.fromkeys(point[0] for curve in series for point in curve.points))
    numeric = all(isinstance(what, (int, float)) and not isinstance(what, bool) for what in found)
    place = {what: float(what) if numeric else float(i) for i, what in enumerate(found)}
    ys = [y for curve in series for y in (*(point[1] for point in curve.points), *curve.upper)]
    log_x = "x" in log and numeric and min(place.values()) > 0 and len(found) > 1
    log_y = "y" in log and min(ys) > 0
    labels = [wrapped(curve.label + (" (published)" if curve.published else "")) for curve in series]
    height = max(360.0, 90 + lines_of(labels))
    with drawn(name, height, right=margin_of(labels), top=40) as axes:
        axes.set_xscale("log" if log_x else "linear")
        axes.set_yscale("log" if log_y else "linear")
        axes.set_xlim(*_limits(list(place.values()), log_x))
        bests = [ideal(at) for at in place.values()] if ideal else []
        axes.set_ylim(*_limits(ys + bests, log_y, from_zero=not log_y))
        axes.grid(axis="y")
        if ideal:
            ends = sorted(place.values())
            axes.plot(ends, [ideal(end) for end in ends], color=MUTED, linewidth=1, linestyle=(0, (1, 2)))
        for i, curve in enumerate(series):
            _draw_curve(axes, curve, [place[point[0]] for point in curve.points], i)
        if numeric:
            ticks_at(axes, "x", sorted(place.values()), words_of(x))
        else:
            axes.set_xticks(list(place.values()), [wrapped(amounts.count(what), 14) for what in place])
        if ideal:
            halves = [part for part in (0.125, 0.25, 0.5) if part > min(ys)]
            ticks_at(axes, "y", [*halves, *sorted(place.values())], words_of(y))
        else:
            value_axis(axes, "y", words_of(y), log_y)
        axes.set_xlabel(x.replace("_", " "))
        above(axes, y_words)
        label_beside(axes, [_label(curve, text, place) for curve, text in zip(series, labels, strict=True)])
        return svg(axes.figure, name, title)


def _label(curve: Curve, text: str, place: dict[Any, float]) -> tuple[float, float, str, str]:
    """Return where a series' label stands, the label and its colour: beside the last point, of a band in its middle."""
    x, y = curve.points[-1]
    return place[x], statistics.mean([y, *curve.upper[-1:]]), text, curve.colour


def _draw_curve(axes: Axes, curve: Curve, xs: list[float], i: int) -> None:
    """Draw the series numbered `i`: a line with a marker at each x, or a published band."""
    ys, kind = [point[1] for point in curve.points], "published" if curve.published else "measured"
    if curve.upper:
        band = axes.fill_between(xs, ys, curve.upper, color=curve.colour, alpha=0.13, linewidth=0)
        band.set_gid(f"published-{i}")
        return
    (line,) = axes.plot(
        xs,
        ys,
        color=curve.colour,
        marker=curve.marker,
        linewidth=0.9 if curve.thin else 1.8,
        markersize=4 if curve.thin else 5,
        linestyle=(0, (4, 2.5)) if curve.published else "-",
        markerfacecolor="none" if curve.published else curve.colour,
    )
    line.set_gid(f"{kind}-{i}")


def bars(
    name: str,
    title: str,
    rows: Sequence[Bar],
    words: Callable[[float], str],
    x_words: str,
    log: bool = False,
    start: float | None = None,
) -> str:
    """Return a plot of horizontal bars, which begin at `start` or, without one, at 0.

    Bars of a logarithmic axis begin at `start`, to either side of it, or without one at the left end.
    """
    parts = dict.fromkeys((part, place) for row in rows for part, _, place in row.parts if part)
    left = min(230.0, 16 + CHARACTER * max(len(row.label) for row in rows))
    labels = [wrapped(row.label, int((left - 14) / CHARACTER)) for row in rows]
    taken = [max(19.0, 14.0 * (text.count("\n") + 1) + 5) for text in labels]
    headed = [bool(row.group) and (i == 0 or rows[i - 1].group != row.group) for i, row in enumerate(rows)]
    ends_at = list(itertools.accumulate(tall + 24 * head for tall, head in zip(taken, headed, strict=True)))
    legend = 22 * (-(-len(parts) // 4))
    beside = 16 + CHARACTER * max(len(row.beside) for row in rows)
    totals = [sum(value for _, value, _ in row.parts) for row in rows]
    with drawn(name, 60 + legend + ends_at[-1], left=left, right=beside, top=12 + legend, bottom=48) as axes:
        axes.set_xscale("log" if log else "linear")
        ends = [*totals, start] if start is not None else totals
        axes.set_xlim(*_limits(ends, log, from_zero=not log, tight=True))
        axes.set_ylim(ends_at[-1], 0)
        axes.grid(axis="x")
        axes.spines["left"].set_visible(False)
        middles = [end - tall / 2 for end, tall in zip(ends_at, taken, strict=True)]
        origin = start if start is not None else axes.get_xlim()[0] if log else 0.0
        for i, (row, middle, total) in enumerate(zip(rows, middles, totals, strict=True)):
            _draw_bar(axes, row, i, middle, origin, log)
            beside_bar = {"textcoords": "offset points", "va": "center", "annotation_clip": False}
            axes.annotate(row.beside, (max(total, origin), middle), (6, 0), color=INK, **beside_bar)
        for row, end, tall, head in zip(rows, ends_at, taken, headed, strict=True):
            if head:
                _head_group(axes, row.group, end - tall - 8, 8 - left)
        axes.set_yticks(middles, labels)
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        value_axis(axes, "x", words, log)
        axes.set_xlabel(x_words)
        if start is not None:
            axes.axvline(start, color=MUTED, linewidth=1)
        if parts:
            _explain_parts(axes, parts)
        return svg(axes.figure, name, title)


def _draw_bar(axes: Axes, row: Bar, i: int, middle: float, origin: float, log: bool) -> None:
    """Draw the parts of the bar numbered `i`, end to end, or of a logarithmic axis each from the origin."""
    reached, kind = origin, "published" if row.published else "measured"
    for j, (_, value, place) in enumerate(row.parts):
        colour, end = SERIES[place % len(SERIES)], value if log else reached + value
        axes.barh(
            middle,
            end - reached,
            height=12,
            left=reached,
            color="none" if row.published else colour,
            edgecolor=colour if row.published else "none",
            linestyle=(0, (4, 2.5)) if row.published else "-",
            alpha=1 if row.published else _opacity(place),
            gid=f"{kind}-{i}-{j}",
        )
        reached = end


def _opacity(place: int) -> float:
    """Return the opacity of a part: colours that come again are lighter."""
    return 1 if place < len(SERIES) else 0.55


def _head_group(axes: Axes, words: str, y: float, left: float) -> None:
    """Write the heading of a group of bars at a height, `left` pixels from the axis."""
    axes.annotate(
        words,
        (0, y),
        (left, 0),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        va="center",
        weight="bold",
        bbox={"facecolor": GROUND, "edgecolor": "none", "pad": 1.5},
        annotation_clip=False,
    )


def _explain_parts(axes: Axes, parts: Iterable[tuple[str, int]]) -> None:
    """Draw the legend of the parts of bars, above them."""
    handles = [Patch(color=SERIES[at % len(SERIES)], label=part, alpha=_opacity(at)) for part, at in parts]
    axes.figure.legend(
        handles=handles,
        loc="upper left",
        ncols=4,
        frameon=False,
        bbox_to_anchor=(0, 1),
        handlelength=1,
        handleheight=1,
        columnspacing=1.4,
        borderpad=0.2,
    )


def over_predictions(
    name: str, title: str, groups: Sequence[tuple[str, list[tuple[float, float]]]], within: float
) -> str:
    """Return a plot of predicted over measured times, by the measured ones.

    Parameters
    ----------
    name, title : str
        Of the plot.
    groups : sequence of (str, list of (float, float))
        Named pairs of a predicted and a measured time, in seconds.
    within : float
        The share to either side of which a band is drawn.
    """
    ratios = [predicted / measured for _, pairs in groups for predicted, measured in pairs]
    labels = [wrapped(label) for label, _ in groups]
    with drawn(name, max(380.0, 110 + lines_of(labels)), right=margin_of(labels), top=40) as axes:
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(*_limits([measured for _, pairs in groups for _, measured in pairs], True))
        axes.set_ylim(*_limits([*ratios, 0.5, 2.0], True))
        axes.grid(axis="y")
        axes.axhspan(1 / (1 + within), 1 + within, color=GRID, linewidth=0, alpha=0.7)
        axes.axhline(1, color=MUTED, linewidth=1)
        for i, (_, pairs) in enumerate(groups):
            axes.plot(
                [measured for _, measured in pairs],
                [predicted / measured for predicted, measured in pairs],
                color=SERIES[i % len(SERIES)],
                marker=MARKERS[i % len(MARKERS)],
                markersize=4,
                linestyle="none",
                alpha=0.75,
            )
        value_axis(axes, "x", amounts.seconds, True)
        value_axis(axes, "y", amounts.times, True)
        axes.set_xlabel("measured")
        above(axes, "predicted over measured")
        last = [max(pairs, key=lambda pair: pair[1]) for _, pairs in groups]
        ends = [(measured, predicted / measured) for predicted, measured in last]
        label_beside(
            axes,
            [(*end, text, SERIES[i % len(SERIES)]) for i, (end, text) in enumerate(zip(ends, labels, strict=True))],
        )
        return svg(axes.figure, name, title)


def roofline(name: str, title: str, ceilings: dict[str, Any], points: Sequence[tuple[str, float, float]]) -> str:
    """Return a roofline, work a second over work a byte; points are (label, work a byte, work a second).

    The slanted roof is the device's copying, the level ones its (min, +) product by type and its random reads, which
    bound work that needs a read each. After S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual
    performance model for multicore architectures", 2009.
    """
    copy = ceilings.get("copy")
    flat = [(f"(min, +), {name}", rate) for name, rate in (ceilings.get("minplus") or {}).items() if rate]
    reads = sorted(ceilings.get("reads") or [])
    flat += [(f"random reads, {amounts.size(table)} table", rate) for table, rate in reads[:: max(1, len(reads) - 1)]]
    rates = [rate for _, rate in flat] + [rate for _, _, rate in points]
    steps = [step for _, step, _ in points] + ([rate / copy for _, rate in flat] if copy else [])
    low, high = _limits(steps, True)
    low, high = low / 2, high * 2
    labels = [wrapped(label, 28) for label, *_ in points]
    names = [f"{what}: {amounts.rate(rate)}/s".replace(" /s", "/s") for what, rate in flat]
    with drawn(name, max(400.0, 120 + lines_of([*labels, *names])), right=margin_of([*labels, *names]), top=40) as axes:
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(low, high)
        axes.set_ylim(*_limits([*rates, *([copy * low] if copy and points else [])], True))
        axes.grid()
        beside = []
        for (_, rate), text in zip(flat, names, strict=True):
            begin = max(low, rate / copy) if copy else low
            axes.plot([begin, high], [rate, rate], color=MUTED, linewidth=1)
            beside.append((high, rate, text, MUTED))
        if copy:
            top = max((rate for _, rate in flat), default=max(rates))
            axes.plot([low, top / copy], [copy * low, top], color=INK, linewidth=1.6)
            least = axes.get_ylim()[0]
            at = max(low, least / copy) * 1.3
            box = axes.get_window_extent()
            (x0, y0), (x1, y1) = (axes.transData.transform((step, copy * step)) for step in (low, low * 10))
            axes.annotate(
                f"copy {amounts.rate(copy, 'B/s')}",
                (at, copy * at),
                (-2, 5),
                textcoords="offset points",
                rotation=math.degrees(math.atan2(y1 - y0, x1 - x0)),
                rotation_mode="anchor",
                color=INK,
                annotation_clip=box.height > 0,
            )
        for i, (_, step, rate) in enumerate(points):
            colour = SERIES[i % len(SERIES)]
            axes.plot([step], [rate], color=colour, marker=MARKERS[i % len(MARKERS)], markersize=7, linestyle="none")
            beside.append((step, rate, labels[i], colour))
        value_axis(axes, "x", amounts.count, True)
        value_axis(axes, "y", amounts.rate, True)
        axes.set_xlabel("work a byte of memory traffic")
        above(axes, "work a second: (min, +), edges or elements")
        label_beside(axes, beside)
        return svg(axes.figure, name, title)


def _limits(values: list[float], log: bool, from_zero: bool = False, tight: bool = False) -> tuple[float, float]:
    """Return the limits of an axis: a little beyond the values, or from 0."""
    least, most = min(values), max(values)
    if log:
        beyond = max((most / least) ** 0.06, 1.12)
        return least / beyond, most if tight and most > least else most * beyond
    if from_zero:
        return min(0.0, least), most * (1 if tight else 1.06) or 1.0
    beyond = 0.05 * (most - least) or 0.5
    return least - beyond, most + beyond
