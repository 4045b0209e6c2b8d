"""Places: points that callers give, moved to the nearest vertex of a network, or position on its streets."""

from typing import Any, NamedTuple

import numpy as np

from ..arguments import as_array
from ..errors import Argument, ArgumentValue, InputError
from ..graph.coordinates import COLUMNS

#: How far from the nearest road a point may lie by default, in metres.
FAR = 5000.0


class Places(NamedTuple):
    """Points on a network, as `Network.nearest` returns them.

    Attributes
    ----------
    vertices : array of int, shape (k,)
        The nearest vertex of each point; of a position on a link, the nearer end of the link.
    metres : array of float64, shape (k,)
        How far the vertex, or the position, is away from the point.
    ids : array, shape (k,)
        The index of the caller's dataframe or series, or the ids that the caller gave in place of points; 0 to k - 1
        for other points.
    links : array of int64, shape (k,), optional
        The link on which each position lies: of a two-way street, one of the two directions. None for vertices.
    shares : array of float64, shape (k,), optional
        Which share of the link lies before the position, from its tail.

    Examples
    --------
    >>> from mgraph.roads import Network
    >>> where = [[24.94, 60.17], [24.95, 60.17], [24.96, 60.17]]
    >>> network = Network([0, 1], [1, 2], {"seconds": [7, 8], "metres": [70, 90]}, where)
    >>> network.nearest([where[1]]).vertices.tolist()
    [1]
    >>> places = network.nearest([[24.9425, 60.1701]], on="edges")
    >>> places.links.tolist(), places.shares.round(3).tolist(), places.metres.round().tolist()
    ([0], [0.25], [11.0])
    """

    vertices: np.ndarray
    metres: np.ndarray
    ids: np.ndarray
    links: np.ndarray | None = None
    shares: np.ndarray | None = None

    def row(self, row: int) -> "Places":
        """Return a single place.

        Examples
        --------
        >>> import numpy as np
        >>> from mgraph.roads import Places
        >>> Places(np.array([4, 7]), np.zeros(2), np.array(["home", "work"])).row(1).ids.tolist()
        ['work']
        """
        kept = slice(row, row + 1)
        links, shares = (None if each is None else each[kept] for each in (self.links, self.shares))
        return Places(self.vertices[kept], self.metres[kept], self.ids[kept], links, shares)


def checked_points(points: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return points as longitudes and latitudes, shape (k, 2), and their ids, or raise InputError.

    A GeoSeries or a GeoDataFrame has points as geometry, and is converted to degrees if it says of what it is. Of
    another dataframe the columns ``lon`` and ``lat`` count, or others of `COLUMNS`, in whatever order they stand.
    """
    ids = getattr(points, "index", None)
    shapes = getattr(points, "geometry", None)
    if shapes is not None:
        if getattr(shapes, "crs", None) is not None:
            shapes = shapes.to_crs(4326)
        points = np.stack([shapes.x, shapes.y], axis=1) if len(shapes) else np.empty((0, 2))
    elif pair := next((each for each in COLUMNS if set(each) <= set(getattr(points, "columns", ()))), None):
        points = np.stack([points[name] for name in pair], axis=1)
    found = as_array(points, name)
    if found.shape in ((2,), (0,)):
        found = found.reshape(-1, 2)
    if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iuf":
        wanted = "of shape (k, 2), a longitude and a latitude for each point, or ids"
        advice = ("; integers are ids with ", ArgumentValue("ids", True)) if found.dtype.kind in "iu" else ()
        raise InputError(*advice, argument=name, value=f"{found.dtype} of shape {found.shape}", expected=wanted)
    found = found.astype(np.float64)
    wrong = ~((np.abs(found[:, 0]) <= 360) & (np.abs(found[:, 1]) <= 90))
    if wrong.any():
        row = int(np.argmax(wrong))
        wanted = "longitudes and latitudes in degrees, longitude first"
        raise InputError(f" in row {row}", argument=name, value=tuple(found[row].tolist()), expected=wanted)
    own = callable(ids) or ids is None or len(ids) != len(found)  # a list has a method of that name
    return found, np.arange(len(found)) if own else np.asarray(ids)


def check_near(metres: np.ndarray, points: np.ndarray, name: str, limit: float) -> None:
    """Raise InputError for the point that lies farthest from the roads, if it is farther than a limit."""
    far = int(np.argmax(metres)) if len(metres) else 0
    if len(metres) and metres[far] > limit:
        advice = ": give the longitude first, leave it out, or raise "
        row = f" {tuple(points[far].tolist())} (row {far})"
        away = f" is {metres[far]:,.0f} m away from the nearest road"
        raise InputError("the point", row, " of ", Argument(name), away, advice, ArgumentValue("limit", limit))
