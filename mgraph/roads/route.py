"""A single route through a network."""

from typing import Any, NamedTuple

import numpy as np


class Route(NamedTuple):
    """What `Network.route` finds.

    Attributes
    ----------
    links : array of int64, shape (k,)
        The links of the route in order; none if there is no route, or if both ends are one vertex.
    ids : array, shape (k + 1,)
        The ids of the vertices that it passes; none if there is no route.
    totals : dict of str to float
        The sum of each column of the network; NaN if there is no route.
    points : array of float64, shape (points, 2)
        The geometry: longitudes and latitudes.
    """

    links: np.ndarray
    ids: np.ndarray
    totals: dict[str, float]
    points: np.ndarray

    def to_geojson(self) -> dict[str, Any]:
        """Return a Feature of GeoJSON: a LineString with the sums as properties, null where there is no route."""
        sums = {name: None if np.isnan(value) else value for name, value in self.totals.items()}
        shape = {"type": "LineString", "coordinates": self.points.tolist()} if len(self.points) > 1 else None
        return {"type": "Feature", "properties": sums, "geometry": shape}
