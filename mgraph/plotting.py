"""Pictures of arrays by Matplotlib: counts as bars, distributions, a matrix, a small graph, and a map of any graph.

A graph is laid out by stress majorization: distances in the picture follow distances in edges, those of near vertices
closest. It starts from classical scaling of the distances.

Sources: W. Torgerson, "Multidimensional scaling: I. Theory and method", 1952, for the start; E. Gansner, Y. Koren and
S. North, "Graph drawing by stress majorization", 2004.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import lazy
from .errors import InputError

#: The most values of which a distribution is made, and the most rows and columns of a matrix that are shown.
MOST_VALUES, MOST_ROWS = 1 << 22, 1000

#: The most different integers that have a bar each.
MOST_BARS = 100

#: The most vertices of a graph that is drawn, and of one whose vertices are named in the picture.
MOST_VERTICES, MOST_NAMED = 500, 50

#: The lines beyond which a map is a picture of points in a file of vectors, such as PDF.
MOST_LINES = 20_000

#: The colours of a map, and the codes of Matplotlib that begin a line and end it.
COLOURS, _TO = 128, (1, 2)

#: Rounds of majorization, and the relative gain of stress at which it ends.
_ROUNDS, _GAIN = 200, 1e-4


def axes_of(given: Any) -> Any:
    """Return the axes to draw on: the given ones, or those of a new figure; InputError for what is no axes."""
    lazy.optional("matplotlib", "plot()")
    if given is None:
        return lazy.optional("matplotlib.pyplot", "plot()").subplots()[1]
    if not isinstance(given, lazy.optional("matplotlib.axes", "plot()").Axes):
        raise InputError(argument="ax", value=given, expected="axes of Matplotlib")
    return given


def draw_bars(axes: Any, counts: np.ndarray, across: str, up: str) -> None:
    """Draw a bar for each position from 0 on."""
    axes.bar(np.arange(len(counts)), counts, width=0.9)
    axes.set(xlabel=across, ylabel=up)


def draw_distribution(axes: Any, values: np.ndarray, across: str) -> None:
    """Draw how often values occur: a bar for each integer if they are few, otherwise a histogram."""
    whole = values.dtype.kind in "iu" and len(values) and int(values.max()) - int(values.min()) < MOST_BARS
    if whole:
        first = int(values.min())
        counts = np.bincount(values.astype(np.int64) - first)
        axes.bar(first + np.arange(len(counts)), counts, width=0.9)
    else:
        axes.hist(values, bins=min(MOST_BARS, max(10, round(len(values) ** 0.5))))
    axes.set(xlabel=across, ylabel="count")


def draw_matrix(axes: Any, matrix: np.ndarray, step: int, label: str) -> None:
    """Draw a matrix as a picture with a scale of colours; entries that are masked or NaN stay empty.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw.
    matrix : array, shape (rows, columns)
        Every row and column whose number is a multiple of `step`.
    step : int
        What the axes' numbers are multiplied by.
    label : str
        What the colours mean.
    """
    rows, columns = matrix.shape
    there = (-0.5 * step, (columns - 0.5) * step, (rows - 0.5) * step, -0.5 * step)
    image = axes.imshow(matrix, extent=there, interpolation="nearest")
    axes.set(xlabel="target", ylabel="source")
    axes.figure.colorbar(image, ax=axes, label=label)


def draw_hops(axes: Any, values: np.ndarray, pairs: int, across: str) -> None:
    """Draw the share of all `pairs` at each distance or less, and where it is nine tenths of those that are reached."""
    ordered = np.sort(values)
    places, counts = np.unique(ordered, return_counts=True)
    most = ordered[-(-9 * len(ordered) // 10) - 1] if len(ordered) else None
    draw_shares(axes, places, counts.cumsum() / max(pairs, 1), most, across, steps=True)


def draw_shares(
    axes: Any, places: np.ndarray, shares: np.ndarray, most: float | None, across: str, steps: bool
) -> None:
    """Draw the share of pairs within each distance, in steps or by lines, and where nine tenths of the paths are."""
    axes.plot(places, shares, drawstyle="steps-post" if steps else "default")
    if most is not None:
        axes.axvline(most, linestyle="--", color="grey", label=f"90% of the paths: {most:,g} or less")
        axes.legend()
    axes.set(xlabel=across, ylabel="share of pairs within", ylim=(0, 1.02))


def draw_map(
    axes: Any,
    places: np.ndarray,
    edges: tuple[np.ndarray, np.ndarray],
    tree: tuple[np.ndarray, np.ndarray],
    values: "np.ma.MaskedArray",
    label: str,
    kinds: bool,
    starts: np.ndarray,
    routes: Sequence[np.ndarray],
) -> None:
    """Draw the edges of a graph of any size where its vertices lie, coloured by the values of their ends.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw.
    places : array of float64, shape (n, 2)
        The vertices' coordinates; edges from or to one with NaN are not drawn.
    edges, tree : tuple of two arrays of int
        The ends of all edges, and of those that are black.
    values : masked array, shape (n,)
        What the colours show; an edge has the greater value of its ends, and is grey if one is masked.
    label : str
        What the colours mean.
    kinds : bool
        Whether values are names: then the most frequent ones have a colour each, and others are grey.
    starts : array of int
        Vertices with a mark.
    routes : sequence of arrays of int
        Paths, which are drawn above all edges.
    """
    collection = lazy.optional("matplotlib.collections", "plot()").PathCollection
    path = lazy.optional("matplotlib.path", "plot()").Path
    n = len(places)
    known = ~np.isnan(places).any(axis=1)
    src, dst = _once(*edges, n)
    there = known[src] & known[dst]
    src, dst = src[there], dst[there]
    width = float(np.clip(150 / max(len(src), 1) ** 0.5, 0.3, 1.5))
    style = {"linewidths": width, "rasterized": len(src) > MOST_LINES, "zorder": 1}

    def add(*bundles: tuple[np.ndarray, np.ndarray], **further: Any) -> Any:
        # One path for all lines of a colour takes a third of the time that a path for each line does.
        paths = [
            path(places[np.stack(ends, axis=1)].reshape(-1, 2), np.tile(_TO, len(ends[0])).astype(path.code_type))
            for ends in bundles
            if len(ends[0])
        ]
        return axes.add_collection(collection(paths, facecolors="none", **style | further), autolim=False)

    hidden = np.ma.getmaskarray(values)
    grey = hidden[src] | hidden[dst] | (len(tree[0]) > 0)
    if kinds:
        grey = _draw_kinds(axes, add, src, dst, grey, values, label)
    elif not grey.all():
        _draw_shades(axes, add, src[~grey], dst[~grey], values.data, label)
    add((src[grey], dst[grey]), edgecolors="lightgrey")
    if len(tree[0]):
        inside = known[tree[0]] & known[tree[1]]
        add((tree[0][inside], tree[1][inside]), edgecolors="black", zorder=2)
    for route in routes:
        axes.plot(*places[route].T, color="crimson", linewidth=2.5, zorder=3, solid_capstyle="round")
    marked = starts[:MOST_NAMED]
    axes.scatter(*places[marked].T, marker="*", s=120, color="crimson", edgecolors="white", linewidths=0.7, zorder=4)
    low, high = places[known].min(axis=0), places[known].max(axis=0)
    margin = 0.02 * np.where(high > low, high - low, 1)
    axes.set(xlim=(low[0] - margin[0], high[0] + margin[0]), ylim=(low[1] - margin[1], high[1] + margin[1]))
    axes.set_aspect(_aspect(places[known]))
    axes.set_axis_off()


def _draw_kinds(
    axes: Any,
    add: Callable[..., Any],
    src: np.ndarray,
    dst: np.ndarray,
    grey: np.ndarray,
    values: "np.ma.MaskedArray",
    label: str,
) -> np.ndarray:
    """Draw the edges within the most frequent kinds, a colour each; return which edges are grey.

    `grey` says which are in any case.
    """
    colours = lazy.optional("matplotlib", "plot()").colormaps["tab10"].colors
    names, sizes = np.unique(values.compressed(), return_counts=True)
    largest = np.argsort(-sizes, kind="stable")[: len(colours)]
    for colour, place in zip(colours, largest.tolist(), strict=False):
        own = ~grey & (values.data[src] == names[place]) & (values.data[dst] == names[place])
        grey |= own
        add((src[own], dst[own]), edgecolors=[colour], zorder=1.5)
        axes.plot([], [], color=colour, linewidth=2.5, label=f"{sizes[place]:,} vertices")
    axes.legend(title=f"largest {label}", loc="upper left", bbox_to_anchor=(1, 1), fontsize="small", frameon=False)
    outside: np.ndarray = ~np.isin(values.data[src], names[largest]) | (values.data[src] != values.data[dst])
    return outside


def _draw_shades(
    axes: Any, add: Callable[..., Any], src: np.ndarray, dst: np.ndarray, values: np.ndarray, label: str
) -> None:
    """Draw edges in shades, each by the greater value of its ends."""
    shown = np.maximum(values[src], values[dst]).astype(np.float64)
    bounds = np.linspace(shown.min(), shown.max(), COLOURS + 1)
    colour = np.searchsorted(bounds[1:-1], shown)
    order = np.argsort(colour, kind="stable")
    groups = np.split(order, np.searchsorted(colour[order], np.arange(1, COLOURS)))
    centres = [(low + high) / 2 for low, high, own in zip(bounds[:-1], bounds[1:], groups, strict=True) if len(own)]
    bundles = [(src[own], dst[own]) for own in groups]
    drawn = add(*bundles, array=centres, cmap="viridis_r", clim=(bounds[0], bounds[-1]), zorder=1.5)
    axes.figure.colorbar(drawn, ax=axes, label=label, shrink=0.8)


def _once(src: np.ndarray, dst: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of edges without self-loops, and each edge once, whatever its direction."""
    low, high = np.minimum(src, dst).astype(np.int64), np.maximum(src, dst)
    pairs = np.unique(low[low < high] * n + high[low < high])
    return pairs // max(n, 1), pairs % max(n, 1)


def _aspect(places: np.ndarray) -> float:
    """Return how much longer a unit of y is drawn than one of x: for longitudes and latitudes by the mean latitude.

    These are in degrees, or in millionths as DIMACS has them. Lengths that look like either are drawn almost alike.
    """
    most = np.abs(places).max(axis=0)
    unit = next((unit for unit in (1, 1e6) if most[0] <= 180 * unit and most[1] <= 90 * unit), None)
    latitude = 0.0 if unit is None else places[:, 1].mean() / unit
    return float(1 / max(np.cos(np.radians(latitude)), 0.05))


def draw_graph(
    axes: Any,
    n: int,
    edges: tuple[np.ndarray, np.ndarray],
    tree: tuple[np.ndarray, np.ndarray],
    values: "np.ma.MaskedArray",
    label: str,
    names: np.ndarray,
) -> None:
    """Draw a small graph: grey edges, those of `tree` black, and vertices coloured by their values.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw.
    n : int
        The number of vertices.
    edges, tree : tuple of two arrays of int
        The ends of all edges, and of those that are black.
    values : masked array, shape (n,)
        What the colours show; masked vertices are white.
    label : str
        What the colours mean.
    names : array, shape (n,)
        What is written beside the vertices, if they are few.
    """
    places = layout(n, *edges)
    lines = lazy.optional("matplotlib.collections", "plot()").LineCollection
    for (src, dst), colour, width in ((edges, "lightgrey", 1.0), (tree, "black", 1.5)):
        axes.add_collection(lines(np.stack([places[src], places[dst]], axis=1), colors=colour, linewidths=width))
    size = float(np.clip(6000 / max(n, 1), 15, 250))
    colours = lazy.optional("matplotlib", "plot()").colormaps["viridis"].with_extremes(bad="white")
    rim = {"edgecolors": "black", "linewidths": 0.5, "zorder": 2}
    drawn = axes.scatter(*places.T, s=size, c=values, cmap=colours, plotnonfinite=True, **rim)
    if n <= MOST_NAMED:
        for name, place in zip(names, places, strict=True):
            axes.annotate(
                str(name), place, textcoords="offset points", xytext=(7, 7), fontsize="small", parse_math=False
            )
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.figure.colorbar(drawn, ax=axes, label=label)


def layout(n: int, src: np.ndarray, dst: np.ndarray) -> np.ndarray:
    """Return places in the plane for the vertices of a graph, as an array of float64 of shape (n, 2).

    Components are as far from each other as a path somewhat longer than the longest shortest one.
    """
    if n < 2:
        return np.zeros((n, 2))
    matrix = lazy.sparse().coo_array((np.ones(len(src)), (src, dst)), shape=(n, n)).tocsr()
    wanted = lazy.csgraph().shortest_path(matrix, directed=False, unweighted=True)
    reached = np.isfinite(wanted)
    wanted[~reached] = 1.2 * wanted[reached].max() + 1
    places = _scaled(wanted)
    weights = 1 / (wanted + np.eye(n)) ** 2
    np.fill_diagonal(weights, 0)
    # The Laplacian is singular: a shift of all vertices changes nothing. Adding 1 / n everywhere fixes their mean.
    inverse = np.linalg.inv(np.diag(weights.sum(axis=1)) - weights + 1 / n)
    before = np.inf
    for _ in range(_ROUNDS):
        apart = np.linalg.norm(places[:, None] - places[None], axis=2)
        stress = float((weights * (apart - wanted) ** 2).sum()) / 2
        if before - stress <= _GAIN * stress:
            break
        before = stress
        pulls = weights * np.divide(wanted, apart, out=np.zeros_like(apart), where=apart > 0)
        places = inverse @ (pulls.sum(axis=1)[:, None] * places - pulls @ places)
    return places


def _scaled(distances: np.ndarray) -> np.ndarray:
    """Return places by classical scaling: the two greatest eigenvectors of the centred squares of the distances."""
    squares = distances**2
    centred = (squares.mean(axis=0) + squares.mean(axis=1)[:, None] - squares - squares.mean()) / 2
    lengths, directions = np.linalg.eigh(centred)
    places: np.ndarray = directions[:, -2:] * np.sqrt(np.maximum(lengths[-2:], 0))
    # Vertices of equal places, such as a star's leaves, would never part: a fixed small noise separates them.
    return places + 1e-3 * np.random.default_rng(0).standard_normal(places.shape)
