"""Places: points that callers give, moved to the nearest vertex of a network."""

from typing import Any, NamedTuple

import numpy as np

from ..arguments import as_array, checked_number
from ..errors import Argument, ArgumentValue, InputError
from .sphere import metres_of_chords, vectors

#: How far from the nearest vertex a point may lie by default, in metres.
FAR = 5000.0


class Places(NamedTuple):
    """Points on a network, as `Network.nearest` returns them.

    Attributes
    ----------
    vertices : array of int, shape (k,)
        The nearest vertex of each point.
    metres : array of float64, shape (k,)
        How far it is away from the point.
    ids : array, shape (k,)
        The index of the caller's dataframe or series, or the ids that the caller gave in place of points; 0 to k - 1
        for other points.

    Examples
    --------
    >>> from mgraph.roads import Network
    >>> where = [[24.94, 60.17], [24.95, 60.17], [24.96, 60.17]]
    >>> network = Network([0, 1], [1, 2], {"seconds": [7, 8], "metres": [70, 90]}, where)
    >>> network.nearest([where[1]]).vertices.tolist()
    [1]
    """

    vertices: np.ndarray
    metres: np.ndarray
    ids: np.ndarray


def checked_points(points: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return points as longitudes and latitudes, shape (k, 2), and their ids, or raise InputError.

    A GeoSeries or a GeoDataFrame has points as geometry, and is converted to degrees if it says of what it is.
    """
    ids = getattr(points, "index", None)
    shapes = getattr(points, "geometry", None)
    if shapes is not None:
        if getattr(shapes, "crs", None) is not None:
            shapes = shapes.to_crs(4326)
        points = np.stack([shapes.x, shapes.y], axis=1) if len(shapes) else np.empty((0, 2))
    found = as_array(points, name)
    if found.ndim == 1 and found.shape == (2,):
        found = found[None]
    if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iuf":
        wanted = "of shape (k, 2), a longitude and a latitude for each point"
        raise InputError(argument=name, value=f"{found.dtype} of shape {found.shape}", expected=wanted)
    found = found.astype(np.float64)
    wrong = ~((np.abs(found[:, 0]) <= 360) & (np.abs(found[:, 1]) <= 90))
    if wrong.any():
        row = int(np.argmax(wrong))
        wanted = "longitudes and latitudes in degrees, longitude first"
        raise InputError(f" in row {row}", argument=name, value=tuple(found[row].tolist()), expected=wanted)
    own = callable(ids) or ids is None or len(ids) != len(found)  # a list has a method of that name
    return found, np.arange(len(found)) if own else np.asarray(ids)


def nearest_vertices(tree: Any, points: Any, name: str, limit: Any) -> Places:
    """Return the nearest vertices of points by a k-d tree of the vertices' unit vectors."""
    most = checked_number("limit", limit, 0)
    where, ids = checked_points(points, name)
    if not len(where):
        return Places(np.empty(0, np.int64), np.empty(0), ids)
    chords, vertices = tree.query(vectors(where))
    metres = metres_of_chords(chords)
    far = int(np.argmax(metres))
    if metres[far] > most:
        advice = f" is {metres[far]:,.0f} m away from the nearest road: leave it out, or raise "
        row = f" {tuple(where[far].tolist())} (row {far})"
        raise InputError("the point", row, " of ", Argument(name), advice, ArgumentValue("limit", most))
    return Places(vertices.astype(np.int64), metres, ids)
