"""Parts of all plots: colours on light and on dark ground, axes, labels beside the curves, and SVG.

A plot is drawn by Matplotlib in the light colours, its text left as text. In a file of its own it has an opaque ground,
and a style that changes the colours where the reader's system is dark; within a page, colours are the page's variables.
The same rows give the same file.
"""

import contextlib
import io
import math
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .. import amounts

#: Each colour's variable in a page: on light ground and on dark. The series' colours are those of Okabe and Ito ("Color
#: universal design", 2008), which colour-blind readers can distinguish, darkened and lightened to be read as text.
THEME = {
    "ground": ("#fffffe", "#14181d"),
    "ink": ("#1d2329", "#e3e7eb"),
    "muted": ("#59636e", "#98a2ad"),
    "grid": ("#dfe3e8", "#2b3139"),
    "series0": ("#0067a8", "#5ab4f0"),
    "series1": ("#bf4d00", "#f5935a"),
    "series2": ("#00775a", "#38c79d"),
    "series3": ("#a34a7c", "#e6a0c6"),
    "series4": ("#8a6500", "#e3b341"),
    "series5": ("#5a5fb8", "#a5abff"),
}

SERIES = [light for name, (light, _) in THEME.items() if name.startswith("series")]
GROUND, INK, MUTED, GRID = (THEME[name][0] for name in ("ground", "ink", "muted", "grid"))

#: Markers of the series in order, so that they differ by more than colour.
MARKERS = "osD^vPX*"

#: A plot's width, and that of a character of its text, in CSS pixels. Matplotlib's own unit is the same: 72 an inch.
WIDTH = 680
CHARACTER = 6.1
TEXT = 11
LINE = 15.0

#: About how many ticks an axis has.
TICKS = 6

_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"


@contextlib.contextmanager
def drawn(
    name: str, height: float, left: float = 62, right: float = 20, top: float = 34, bottom: float = 42
) -> Iterator[Any]:
    """Yield empty axes with margins in pixels; afterwards they are ready for `svg`.

    Everything of Matplotlib's that depends on the user's settings is set while the block runs.
    """
    settings = matplotlib.rcParamsDefault | {
        "font.size": TEXT,
        "font.family": "DejaVu Sans",
        "svg.fonttype": "none",
        "svg.hashsalt": name,
        "text.color": INK,
        "axes.edgecolor": GRID,
        "axes.labelcolor": MUTED,
        "axes.facecolor": "none",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.unicode_minus": True,
        "xtick.color": GRID,
        "ytick.color": GRID,
        "xtick.labelcolor": MUTED,
        "ytick.labelcolor": MUTED,
        "grid.color": GRID,
        "grid.linewidth": 0.8,
        "figure.facecolor": GROUND,
        "lines.linewidth": 1.8,
        "lines.markersize": 5,
        "hatch.linewidth": 1,
    }
    with matplotlib.rc_context(settings):
        drawing = Figure(figsize=(WIDTH / 72, height / 72), dpi=72)
        axes = drawing.add_axes(
            (left / WIDTH, bottom / height, (WIDTH - left - right) / WIDTH, (height - top - bottom) / height)
        )
        axes.set_axisbelow(True)
        yield axes


def svg(drawing: Figure, name: str, title: str) -> str:
    """Return a figure as the text of an SVG file, with a description for readers who cannot see it."""
    text = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        drawing.savefig(text, format="svg", metadata={"Date": None})
    _, _, body = text.getvalue().partition("<svg ")
    body = re.sub(r"\s*<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    # Several plots of one page must not share ids.
    body = re.sub(r'( id="|href="#|url\(#)', lambda found: f"{found[0]}{name}-", body)
    body = re.sub(r"font: ([^;\"]*?)'DejaVu Sans'[^;\"]*", rf"font: \g<1>{_FONT}", body)
    body = re.sub(r'(width|height)="([\d.]+)pt"', r'\g<1>="\g<2>"', body)
    # Hundredths of a pixel are enough; texts are not attributes.
    body = re.sub(r'="[^"]*"', lambda found: re.sub(r"(\.\d\d)\d+", r"\g<1>", found[0]), body)
    opening, _, rest = body.partition(">")
    alone = "\n".join(
        f'[style*="{what}: {light}"] {{ {what}: {dark} !important }}'
        for light, dark in THEME.values()
        for what in ("fill", "stroke")
    )
    style = f"<style>@media (prefers-color-scheme: dark) {{\n{alone}\n}}</style>"
    return f'<svg {opening} role="img">\n<title>{escaped(title)}</title>\n{style}{rest}'


def within_page(text: str) -> str:
    """Return an SVG file's text for a page that has the theme's colours as variables, and its ground."""
    text = re.sub(r"<style>@media.*?</style>", "", text, count=1, flags=re.DOTALL)
    for name, (light, _) in THEME.items():
        text = text.replace(light, f"var(--{name})")
    return text.strip()


def escaped(text: str) -> str:
    """Return text with the characters escaped that XML reserves."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def words_of(name: str) -> Callable[[float], str]:
    """Return the function that puts values of a name into words."""
    known: dict[str, Callable[[float], str]] = {
        "fraction": amounts.share,
        "overhead": amounts.share,
        "rate": amounts.rate,
        "phase_rates": lambda value: amounts.rate(value, "B/s"),
        "moved_rates": lambda value: amounts.rate(value, "B/s"),
        "aggregation": lambda value: amounts.rate(value, "B/s"),
        "copies": lambda value: amounts.rate(value, "B/s"),
        "per_device": amounts.rate,
        "edges": amounts.rate,
        "times": amounts.times,
        "copy": lambda value: amounts.rate(value, "B/s"),
        "peak_bytes": amounts.size,
        "bytes": amounts.size,
        "predicted_bytes": amounts.size,
    }
    if name in ("per_element", "per_iteration") or name.startswith("phases") or name.endswith("seconds"):
        return amounts.seconds
    return known.get(name.partition(".")[0], amounts.count)


def ends(words: Callable[[float], str], values: Sequence[float]) -> str:
    """Return the least and the greatest value in words."""
    return " to ".join(dict.fromkeys(map(words, (min(values), max(values)))))


def short(text: str) -> str:
    """Return an amount without trailing zeros after the point, for a tick."""
    return re.sub(r"(\.\d*?)0+(?=\D|$)", lambda found: found[1].rstrip("."), text)


def value_axis(axes: Axes, which: str, words: Callable[[float], str], log: bool) -> None:
    """Set round ticks with words on an axis, ``"x"`` or ``"y"``, whose limits are set."""
    ends = axes.get_xlim() if which == "x" else axes.get_ylim()
    rounded = round_log if log else round_linear
    ticks_at(axes, which, rounded(min(ends), max(ends)), words)


def ticks_at(axes: Axes, which: str, values: Sequence[float], words: Callable[[float], str]) -> None:
    """Set ticks at ascending values, from the last on, as many as fit."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    at = [axes.transData.transform((value, value))[int(which == "y")] for value in values]
    texts = [short(words(value)) for value in values]
    kept: list[int] = []
    for i in reversed(range(len(values))):
        room = CHARACTER * (len(texts[i]) + len(texts[kept[-1]])) / 2 + 8 if kept and which == "x" else TEXT + 3
        if not kept or at[kept[-1]] - at[i] > room:
            kept.append(i)
    axis.set_ticks([values[i] for i in kept], [texts[i] for i in kept])
    axis.set_ticks([], minor=True)


def round_log(least: float, most: float) -> list[float]:
    """Return round values between two, at about equal ratios."""
    decades = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
    for factors in ((1, 2, 5), (1, 3), (1,)):
        ticks = [factor * 10.0**decade for decade in decades for factor in factors]
        ticks = [tick for tick in ticks if least * (1 - 1e-9) <= tick <= most * (1 + 1e-9)]
        if len(ticks) <= TICKS + 1:
            return ticks
    return ticks[:: -(-len(ticks) // TICKS)]


def round_linear(least: float, most: float) -> list[float]:
    """Return round values between two, at equal distances."""
    step = 10.0 ** math.floor(math.log10((most - least) / TICKS))
    step *= next(factor for factor in (1, 2, 5, 10) if (most - least) / (factor * step) <= TICKS)
    first, last = math.ceil(least / step - 1e-9), math.floor(most / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


def spread_out(wanted: Sequence[float], heights: Sequence[float], most: float) -> list[float]:
    """Return places for labels of given heights that do not overlap, each near its wanted place."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    placed = [0.0] * len(wanted)
    below = 0.0
    for i in order:
        placed[i] = below = max(wanted[i], below + heights[i] / 2)
        below += heights[i] / 2
    above = most
    for i in reversed(order):
        placed[i] = above = min(placed[i], above - heights[i] / 2)
        above -= heights[i] / 2
    return placed


def wrapped(text: str, characters: int = 30) -> str:
    """Return text wrapped to lines of at most that many characters."""
    return "\n".join(textwrap.wrap(text, characters, break_long_words=False)) or text


def margin_of(labels: Sequence[str]) -> float:
    """Return the pixels that wrapped labels beside the axes take."""
    return 34 + CHARACTER * max((len(line) for text in labels for line in text.split("\n")), default=0)


def lines_of(labels: Sequence[str]) -> float:
    """Return the pixels that wrapped labels take, one below another."""
    return LINE * sum(text.count("\n") + 1 for text in labels)


def label_beside(axes: Axes, labels: Sequence[tuple[float, float, str, str]]) -> None:
    """Write labels right of the axes, each as (x, y, text, colour), with a thin line from its point."""
    box = axes.get_window_extent()
    ends = [axes.transData.transform((x, y)) for x, y, _, _ in labels]
    heights = [LINE * (text.count("\n") + 1) for _, _, text, _ in labels]
    places = spread_out([end[1] - box.y0 for end in ends], heights, box.height + 12)
    for (x, y, text, colour), place in zip(labels, places, strict=True):
        axes.annotate(
            text,
            (x, y),
            (1 + 22 / box.width, place / box.height),
            textcoords="axes fraction",
            color=colour,
            va="center",
            ha="left",
            linespacing=1.15,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": colour,
                "linewidth": 0.7,
                "alpha": 0.6,
                "relpos": (0, 0.5),
                "shrinkA": 1,
                "shrinkB": 4,
            },
        )


def above(axes: Axes, text: str) -> None:
    """Write the name of the y axis above it, so that the text is horizontal."""
    axes.annotate(text, (0, 1), (-50, 14), xycoords="axes fraction", textcoords="offset points", color=MUTED, ha="left")
