"""A single route through a network."""

from typing import Any, NamedTuple

import numpy as np

from .. import device as devices
from ..hierarchy import Hierarchy
from .maps import explored
from .search import Column, Search, meetings, part_of
from .table import Ends


class Route(NamedTuple):
    """What `Network.route` finds.

    Attributes
    ----------
    links : array of int64, shape (k,)
        The links of the route in order; none if there is no route, or if both ends are one vertex. Of a link on which
        an end lies, the route takes a part.
    ids : array
        The ids of the vertices that it passes, its ends among them if they are vertices; none if there is no route.
    totals : dict of str to float
        The sum of each column of the network, such as ``seconds``, which is also an attribute of the route; NaN if
        there is no route.
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

    def __getattr__(self, name: str) -> float:
        if name in self.totals:
            return self.totals[name]
        totals = ", ".join(self.totals)
        raise AttributeError(f"the route has no {name!r}: it has to_geojson(), explore() and the totals {totals}")

    def __repr__(self) -> str:
        sums = "".join(f", {name} {value:,.1f}" for name, value in self.totals.items())
        return f"<Route: {len(self.links):,} links{sums}>"

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

    def explore(self) -> Any:
        """Return a map of folium with the route, which a notebook shows and ``.save`` writes as HTML.

        Raises
        ------
        MissingPackageError
            If folium is not installed.

        Examples
        --------
        >>> from mgraph.roads import Network
        >>> where = [[24.94, 60.17], [24.95, 60.17], [24.96, 60.17]]
        >>> network = Network([0, 1], [1, 2], {"seconds": [7, 8], "metres": [70, 90]}, where)
        >>> network.route(where[0], where[2]).explore().save("route.html")      # doctest: +SKIP
        """
        return explored([self.to_geojson()])


class Steps(NamedTuple):
    """The links of a route, and between which shares each is passed; `start` is the vertex it begins at, or -1."""

    start: int
    links: np.ndarray
    begins: np.ndarray
    ends: np.ndarray


def shortest_steps(
    hierarchy: Hierarchy, search: Search, origin: Ends, destination: Ends, column: Column
) -> Steps | None:
    """Return the shortest route between two places by a column of links; None if there is none."""
    starts, stops = origin.ways, destination.ways
    shape = starts.vertices.shape[1], stops.vertices.shape[1]
    pairs = np.repeat(starts.vertices[0], shape[1]), np.tile(stops.vertices[0], shape[0])
    found = hierarchy.pairs(*pairs, paths=True, ids=False)
    between = devices.to_host(found.distances).reshape(shape)
    sums = column.passed(starts)[0][:, None] + between + column.passed(stops)[0]
    way, other = np.unravel_index(np.argmin(sums), shape)
    met = meetings(origin.spots, destination.spots)
    direct = part_of(column.links, met.links, met.shares)
    if len(direct) and direct.min() <= sums[way, other] and np.isfinite(direct.min()):
        best = int(np.argmin(direct))
        links = met.links[[best]]
        begins = origin.spots.shares[origin.spots.links == links]
        return Steps(-1, links, begins, begins + met.shares[best])
    if np.isinf(sums[way, other]):
        return None
    pair, offsets = int(way) * shape[1] + int(other), devices.to_host(found.offsets)
    links = search.links(devices.to_host(found.vertices)[offsets[pair] : offsets[pair + 1]], column.links)
    begins, ends = np.zeros(len(links)), np.ones(len(links))
    if starts.links[0, way] >= 0:
        links, begins = np.append(starts.links[0, way], links), np.append(1 - starts.shares[0, way], begins)
        ends = np.append(1.0, ends)
    if stops.links[0, other] >= 0:
        links, begins = np.append(links, stops.links[0, other]), np.append(begins, 0.0)
        ends = np.append(ends, stops.shares[0, other])
    return Steps(int(origin.spots.vertices[0]), links, begins, ends)
