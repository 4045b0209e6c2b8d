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

    Examples
    --------
    >>> from mgraph.roads import Network
    >>> where = [[24.94, 60.17], [24.95, 60.17], [24.96, 60.17]]
    >>> network = Network([0, 1], [1, 2], {"seconds": [7, 8], "metres": [70, 90]}, where)
    >>> network.route(where[0], where[2]).links.tolist()
    [0, 1]
    """

    links: np.ndarray
    ids: np.ndarray
    totals: dict[str, float]
    points: np.ndarray

    def to_geojson(self) -> dict[str, Any]:
        """Return a Feature of GeoJSON: a LineString with the sums as properties, null where there is no route.

        Examples
        --------
        >>> from mgraph.roads import Network
        >>> where = [[24.94, 60.17], [24.95, 60.17], [24.96, 60.17]]
        >>> network = Network([0, 1], [1, 2], {"seconds": [7, 8], "metres": [70, 90]}, where)
        >>> network.route(where[0], where[1]).to_geojson()["properties"]
        {'seconds': 7.0, 'metres': 70.0}
        """
        sums = {name: None if np.isnan(value) else value for name, value in self.totals.items()}
        shape = {"type": "LineString", "coordinates": self.points.tolist()} if len(self.points) > 1 else None
        return {"type": "Feature", "properties": sums, "geometry": shape}
