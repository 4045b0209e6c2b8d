"""Areas that a network is cut to: a box of coordinates, or a polygon."""

from typing import Any

import numpy as np

from ..errors import InputError

_WANTED = "(west, south, east, north), or a polygon of longitudes and latitudes, in degrees"


def _united(given: Any) -> Any:
    """Return the union of GeoPandas' shapes, in degrees; all else as it is."""
    if not hasattr(given, "union_all"):
        return given
    try:
        return (given if given.crs is None else given.to_crs(4326)).union_all()
    except Exception as error:  # of GEOS or PROJ, or of a frame without shapes
        raise InputError(argument="extract", value=given, expected=f"{_WANTED}; its shapes: {error}") from error


def _in_degrees(corners: np.ndarray) -> bool:
    return bool((np.abs(corners) <= [360, 90]).all())


class Area:
    """A box or a polygon; `None` is everywhere.

    A polygon is an array of shape (k, 2), or an object with `__geo_interface__`, such as Shapely's, of one or more
    polygons with holes; or GeoPandas' shapes whose union is one.
    """

    def __init__(self, given: Any) -> None:
        self._rings: list[np.ndarray] = []
        self._box: np.ndarray | None = None
        if given is None:
            return
        united = _united(given)
        try:
            shape = getattr(united, "__geo_interface__", None)
            if shape is not None:
                parts = {"Polygon": [shape.get("coordinates")], "MultiPolygon": shape.get("coordinates")}[shape["type"]]
                self._rings = [np.array(ring, np.float64)[:, :2] for part in parts for ring in part]
            elif np.shape(given) == (4,):
                self._box = np.array(given, np.float64)
            else:
                self._rings = [np.array(given, np.float64)]
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise InputError(argument="extract", value=given, expected=_WANTED) from error
        if self._box is not None:
            west, south, east, north = self._box
            right = west < east and south < north and _in_degrees(self._box.reshape(2, 2))
        else:
            right = all(ring.ndim == 2 and ring.shape[1] == 2 and len(ring) > 2 for ring in self._rings)
            right = right and bool(self._rings) and all(_in_degrees(ring) for ring in self._rings)
        if not right:
            raise InputError(argument="extract", value=given, expected=_WANTED)

    def has(self, points: np.ndarray) -> np.ndarray:
        """Return whether each point lies within; a ray to the east crosses the rings an odd number of times."""
        across, up = points.T
        if self._box is not None:
            west, south, east, north = self._box
            return (across >= west) & (across <= east) & (up >= south) & (up <= north)
        inside = np.full(len(points), not self._rings)
        for ring in self._rings:
            for (x, y), (other_x, other_y) in zip(ring, np.roll(ring, -1, axis=0), strict=True):
                if y != other_y:
                    crossing = x + (up - y) * (other_x - x) / (other_y - y)
                    inside ^= ((y > up) != (other_y > up)) & (across < crossing)
        return inside
