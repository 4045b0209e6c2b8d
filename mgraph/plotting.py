"""Pictures of arrays by Matplotlib: counts as bars, a distribution, a matrix, and a small graph.

A graph is laid out by stress majorization: distances in the picture follow distances in edges, those of near vertices
closest. It starts from classical scaling of the distances.

Sources: W. Torgerson, "Multidimensional scaling: I. Theory and method", 1952, for the start; E. Gansner, Y. Koren and
S. North, "Graph drawing by stress majorization", 2004.
"""

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


def draw_graph(
    axes: Any,
    n: int,
    edges: tuple[np.ndarray, np.ndarray],
    tree: tuple[np.ndarray, np.ndarray],
    values: np.ma.MaskedArray,
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
