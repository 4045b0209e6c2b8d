"""Positions on streets: the nearest one of a point, by a k-d tree of the middles of short pieces of all links.

A piece is at most as long as the mean of all straight parts, so that there are at most twice as many pieces as parts.
No position of a piece lies farther from its middle than half of that. So a point asks for more and more middles, until
the farthest of them is too far away for its piece, or any farther one, to be nearer than the nearest piece so far.
"""

import numpy as np

from .. import lazy
from .sphere import metres_of_chords, unit, vectors

#: Middles that a point asks for at first.
_FIRST = 8


class Pieces:
    """The short pieces of all links: their ends as unit vectors, and the shares of the links that they are.

    Parameters
    ----------
    points : array of float64, shape (points, 2)
        The geometry of all links, of longitudes and latitudes.
    begins : array of int, shape (links + 1,)
        Where the points of each link begin.
    """

    def __init__(self, points: np.ndarray, begins: np.ndarray) -> None:
        where = vectors(points)
        first = np.ones(len(points), bool)
        first[begins[1:] - 1] = False
        first = np.flatnonzero(first)  # a straight part leads from each point but the last one of a link
        link = np.repeat(np.arange(len(begins) - 1), np.diff(begins) - 1)
        lengths = np.linalg.norm(where[first + 1] - where[first], axis=1)
        self._longest = float(lengths.mean()) if len(lengths) else 0.0
        counts = np.ones(len(first), np.int64)
        if self._longest > 0:
            counts = np.maximum(np.ceil(lengths / self._longest), 1).astype(np.int64)
        part = np.repeat(np.arange(len(first)), counts)
        step = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        ends = [self._along(where[first], where[first + 1], part, (step + side) / counts[part]) for side in (0, 1)]
        self._starts, self._stops = ends
        total = np.bincount(link, lengths, len(begins) - 1)
        before = np.cumsum(lengths) - lengths
        before -= before[np.searchsorted(link, link)]
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = [
                np.nan_to_num((before[part] + lengths[part] * (step + side) / counts[part]) / total[link[part]])
                for side in (0, 1)
            ]
        self._links = link[part]
        self._low, self._high = shares
        self._high[np.append(self._links[1:] != self._links[:-1], True)] = 1  # without the rounding of sums
        self._tree = lazy.spatial().cKDTree(unit(self._starts + self._stops))

    @staticmethod
    def _along(starts: np.ndarray, stops: np.ndarray, part: np.ndarray, share: np.ndarray) -> np.ndarray:
        return unit(starts[part] + (stops - starts)[part] * share[:, None])

    def nearest(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the link nearest to each point, the share of it before the position, and the metres to it."""
        where, count = vectors(points), len(self._links)
        links, shares, chords = np.empty(len(points), np.int64), np.empty(len(points)), np.empty(len(points))
        open_, asked = np.arange(len(points)), min(_FIRST, count)
        while len(open_):
            middles, pieces = self._tree.query(where[open_], np.arange(1, asked + 1))
            away, share = self._distances(where[open_][:, None], pieces)
            best = np.argmin(away, axis=1)
            row = np.arange(len(open_))
            piece, chords[open_] = pieces[row, best], away[row, best]
            links[open_] = self._links[piece]
            shares[open_] = self._low[piece] + share[row, best] * (self._high[piece] - self._low[piece])
            near = middles[:, -1] - self._longest / 2 < chords[open_]
            open_ = open_[near & (asked < count)]
            asked = min(2 * asked, count)
        return links, shares, metres_of_chords(chords)

    def _distances(self, where: np.ndarray, pieces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the chords between points and pieces, and the shares of the pieces before the nearest positions."""
        start = self._starts[pieces]
        step = self._stops[pieces] - start
        square = (step**2).sum(axis=-1)
        share = np.clip(((where - start) * step).sum(axis=-1) / np.where(square > 0, square, 1), 0, 1)
        return np.linalg.norm(where - unit(start + share[..., None] * step), axis=-1), share
