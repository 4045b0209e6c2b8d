"""The public class `Network`: streets as a graph with columns of numbers, and what is asked of them."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from .. import device as devices
from .. import lazy
from ..arguments import as_array, checked_choice, checked_integer, checked_number
from ..errors import InputError
from ..graph import Graph
from ..graph.coordinates import checked_coordinates
from ..graph.question import Question
from ..hierarchy import Hierarchy
from .isochrones import Isochrones, area_around, pieces, reached_links
from .places import FAR, Places, nearest_vertices
from .route import Route
from .sphere import vectors
from .table import NearestOf, Table, nearest_of, table


class Network:
    """A network of streets: links with lengths and times between vertices that have coordinates.

    Make one with `read_osm`, `from_osmnx` or `from_frames`. Calls take points as arrays of longitude and latitude, or
    the `Places` of `nearest`.

    Parameters
    ----------
    tail, head : array_like of int, shape (links,)
        The vertices that each link leads from and to.
    links : mapping of str to array_like, shape (links,)
        Columns of numbers of 0 or more, such as ``"metres"`` and ``"seconds"``; ``inf`` closes a link.
    coordinates : array_like of float, shape (n, 2)
        The longitude and the latitude of each vertex in degrees.
    ids : array_like of int or str, shape (n,), optional
        The vertices' ids, such as those of OpenStreetMap's nodes.
    shapes : tuple of two arrays, optional
        The points of the links' geometry, shape (points, 2), and where those of each link begin, shape (links + 1,).
        By default a link is a straight line.

    Attributes
    ----------
    graph : Graph
        The links as a directed graph without weights, with ids and coordinates; its edges are in the order of `coo`.
    tail, head, coordinates : array
        As above.
    links : dict of str to array of float64
        The columns, in the order that links were given in.
    link_of_edge, edge_of_link : array of int64, shape (links,)
        The link of each edge of `graph`, and the edge of each link.

    Examples
    --------
    >>> from mgraph.roads import Network
    >>> network = Network([0, 1, 2], [1, 2, 0], {"metres": [70, 80, 90]}, [[24.94, 60.17], [24.95, 60.17], [24.95, 60]])
    >>> network
    Network(3 vertices, 3 links: metres)
    """

    def __init__(
        self,
        tail: Any,
        head: Any,
        links: Mapping[str, Any],
        coordinates: Any,
        ids: Any = None,
        shapes: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> None:
        n = len(coordinates)
        columns = {str(name): _checked_column(name, values, len(tail)) for name, values in links.items()}
        if not columns:
            raise InputError(argument="links", value={}, expected="columns of numbers, such as 'metres' and 'seconds'")
        numbered = Graph.from_edges(tail, head, np.arange(len(tail), dtype=np.float64), n, ids=ids)
        numbers = numbered.listed().weights
        self.link_of_edge = np.empty(0, np.int64) if numbers is None else devices.to_host(numbers).astype(np.int64)
        self.edge_of_link = np.argsort(self.link_of_edge)
        self.graph = numbered.unweighted().with_coordinates(checked_coordinates(coordinates, n, None))
        self.tail, self.head = (np.asarray(each, np.int64) for each in (tail, head))
        self.links = columns
        self._shapes = shapes
        self._customized: dict[str, Hierarchy] = {}

    def __repr__(self) -> str:
        return f"Network({self.graph.n:,} vertices, {len(self.tail):,} links: {', '.join(self.links)})"

    @property
    def coordinates(self) -> np.ndarray:
        """The longitude and the latitude of each vertex.

        Examples
        --------
        >>> from mgraph.roads import Network
        >>> where = [[24.94, 60.17], [24.95, 60.17], [24.96, 60.17]]
        >>> network = Network([0, 1], [1, 2], {"seconds": [7, 8], "metres": [70, 90]}, where)
        >>> network.coordinates[1].tolist()
        [24.95, 60.17]
        """
        return np.empty((0, 2)) if self.graph.coordinates is None else self.graph.coordinates

    @property
    def ids(self) -> np.ndarray:
        """The id of each vertex: its number if none were given.

        Examples
        --------
        >>> from mgraph.roads import Network
        >>> where = [[24.94, 60.17], [24.95, 60.17], [24.96, 60.17]]
        >>> network = Network([0, 1], [1, 2], {"seconds": [7, 8], "metres": [70, 90]}, where)
        >>> network.ids.tolist()
        [0, 1, 2]
        """
        return np.arange(self.graph.n) if self.graph.ids is None else self.graph.ids

    @cached_property
    def _tree(self) -> Any:
        return lazy.spatial().cKDTree(vectors(self.coordinates))

    @cached_property
    def _prepared(self) -> Hierarchy:
        return Hierarchy(self.graph)

    def hierarchy(self, weight: str = "seconds") -> Hierarchy:
        """Return the hierarchy of the network with a column as weights; it is prepared once, and kept.

        Raises
        ------
        InputError
            If there is no such column.
        MissingPackageError
            If pymetis is not installed.

        Examples
        --------
        >>> from mgraph.roads import Network
        >>> where = [[24.94, 60.17], [24.95, 60.17], [24.96, 60.17]]
        >>> network = Network([0, 1], [1, 2], {"seconds": [7, 8], "metres": [70, 90]}, where)
        >>> network.hierarchy("metres").distance(0, 2)
        160.0
        """
        column = self._column("weight", weight)
        if weight not in self._customized:
            self._customized[weight] = self._prepared.customize(column[self.link_of_edge])
        return self._customized[weight]

    def nearest(self, points: Any, *, limit: float = FAR) -> Places:
        """Return the vertices nearest to points, as straight lines go.

        Parameters
        ----------
        points : array_like of shape (k, 2), GeoSeries, GeoDataFrame, or sequence of str
            Longitudes and latitudes in degrees, longitude first. The index of a series becomes their ids. Text is the
            id of a vertex of the network.
        limit : float
            How many metres a point may lie away from its vertex.

        Returns
        -------
        Places

        Raises
        ------
        InputError
            For points of another shape, or not in degrees, for one that lies farther away than `limit`, and for a text
            that is no id of the network.

        Examples
        --------
        >>> from mgraph.roads import Network
        >>> network = Network([0, 1], [1, 0], {"metres": [70, 70]}, [[24.94, 60.17], [24.95, 60.17]])
        >>> places = network.nearest([[24.9402, 60.17], [24.951, 60.17]])
        >>> places.vertices.tolist(), places.metres.round().tolist()
        ([0, 1], [11.0, 55.0])
        """
        return self._places(points, "points", limit)

    def table(
        self, origins: Any, destinations: Any = None, weight: str = "seconds", along: Sequence[str] = ("metres",)
    ) -> Table:
        """Return the least weight from each origin to each destination, and other columns along the same routes.

        Parameters
        ----------
        origins, destinations : points as of `nearest`, or Places
            By default the destinations are the origins. The way from a point to its vertex is not counted.
        weight : str
            The column of `links` that routes are shortest by.
        along : sequence of str
            Further columns, which are added up along these routes. Those that the network has not, and that are not
            named by the caller, are left out.

        Returns
        -------
        Table
            A matrix for each column, NaN where there is no route.

        Raises
        ------
        InputError
            As `nearest` does, and for columns that the network has not.
        MemoryLimitError
            If the matrices do not fit the free memory.

        Examples
        --------
        >>> from mgraph.roads import Network
        >>> where = [[24.94, 60.17], [24.95, 60.17], [24.96, 60.17]]
        >>> network = Network([0, 1], [1, 2], {"seconds": [7, 8], "metres": [70, 90]}, where)
        >>> found = network.table(where[:2], where[1:])
        >>> found.seconds.tolist(), found.metres.tolist()
        ([[7.0, 15.0], [0.0, 8.0]], [[70.0, 160.0], [0.0, 90.0]])
        """
        starts = self._places(origins, "origins")
        ends = starts if destinations is None else self._places(destinations, "destinations")
        names = self._along(weight, along)
        columns = {name: self.links[name][self.link_of_edge] for name in names}
        return table(self.hierarchy(weight), starts, ends, weight, columns)

    def nearest_of(self, origins: Any, facilities: Any, k: int = 3, weight: str = "seconds") -> NearestOf:
        """Return the k facilities that are nearest to each origin by a column of `links`.

        Parameters
        ----------
        origins, facilities : points as of `nearest`, or Places
            From where, and to what.
        k : int
            How many; fewer if there are fewer facilities.
        weight : str
            The column that routes are shortest by.

        Returns
        -------
        NearestOf
            Rows of the facilities, -1 for one without a route, and the weights of the routes.

        Raises
        ------
        InputError, MemoryLimitError
            As `table` does.

        Examples
        --------
        >>> from mgraph.roads import Network
        >>> where = [[24.94, 60.17], [24.95, 60.17], [24.96, 60.17]]
        >>> network = Network([0, 1], [1, 2], {"seconds": [7, 8], "metres": [70, 90]}, where)
        >>> network.nearest_of([where[0]], where[1:], k=2).weights.tolist()
        [[7.0, 15.0]]
        """
        starts, ends = self._places(origins, "origins"), self._places(facilities, "facilities")
        return nearest_of(self.hierarchy(weight), starts, ends, checked_integer("k", k, 1))

    def isochrones(
        self, points: Any, limits: Sequence[float], weight: str = "seconds", *, buffer: float = 50
    ) -> Isochrones:
        """Return the streets and the areas that are reached from points within limits.

        Parameters
        ----------
        points : points as of `nearest`, or Places
            Where the isochrones begin.
        limits : sequence of float
            Of the column `weight`, such as 300, 600 and 900 seconds.
        weight : str
            The column that routes are shortest by.
        buffer : float
            An area is what lies within so many metres of a reached street. Of an area that a grid of 4 million cells
            does not resolve it is larger.

        Returns
        -------
        Isochrones

        Raises
        ------
        InputError
            As `nearest` does, and for limits that are not numbers above 0.
        MissingPackageError
            If contourpy, which comes with Matplotlib, is not installed.

        Examples
        --------
        >>> from mgraph.roads import Network
        >>> where = [[24.94, 60.17], [24.95, 60.17], [24.96, 60.17]]
        >>> network = Network([0, 1], [1, 2], {"seconds": [7, 8], "metres": [70, 90]}, where)
        >>> found = network.isochrones([where[0]], [5, 11])
        >>> [each.links.tolist() for each in found.reached[0]]
        [[0], [0, 1]]
        """
        places = self._places(points, "points")
        column, width = self._column("weight", weight), checked_number("buffer", buffer, 1)
        steps = sorted(checked_number("limits", each, 0) for each in np.atleast_1d(np.asarray(limits, object)).tolist())
        reached, polygons = [], []
        for vertex in places.vertices.tolist():
            distances = devices.to_host(self.hierarchy(weight).distances([vertex], ids=False))[0]
            found = [reached_links(self.tail, column, distances, limit) for limit in steps]
            lines = [[pieces(self.shape(link), share) for link, share in zip(*each, strict=True)] for each in found]
            reached.append(found)
            polygons.append([area_around(each, width) for each in lines])
        return Isochrones(places, steps, reached, polygons)

    def route(self, origin: Any, destination: Any, weight: str = "seconds") -> Route:
        """Return the shortest route by a column of `links`, with its geometry and the sums of all columns.

        Parameters
        ----------
        origin, destination : point, shape (2,), id that is text, or Places of one point
            The ends.
        weight : str
            The column that the route is shortest by.

        Returns
        -------
        Route

        Raises
        ------
        InputError
            As `nearest` does, and for more than one point.

        Examples
        --------
        >>> from mgraph.roads import Network
        >>> where = [[24.94, 60.17], [24.95, 60.17], [24.96, 60.17]]
        >>> network = Network([0, 1], [1, 2], {"seconds": [7, 8], "metres": [70, 90]}, where, ids=[31, 32, 33])
        >>> found = network.route(where[0], where[2])
        >>> found.ids.tolist(), found.totals
        ([31, 32, 33], {'seconds': 15.0, 'metres': 160.0})
        """
        ends = []
        for name, given in (("origin", origin), ("destination", destination)):
            places = self._places(given, name)
            if len(places.ids) != 1:
                raise InputError(argument=name, value=f"{len(places.ids)} points", expected="one point")
            ends.append(places.vertices[0])
        column = self._column("weight", weight)
        found = self.hierarchy(weight).pairs(ends[:1], ends[1:], paths=True, ids=False)
        vertices = devices.to_host(found.vertices).astype(np.int64)
        links = self._links_between(vertices[:-1], vertices[1:], column)
        there = len(vertices) > 0
        totals = {name: float(each[links].sum()) if there else float("nan") for name, each in self.links.items()}
        parts = [self.shape(link)[1 if place else 0 :] for place, link in enumerate(links.tolist())]
        points = np.concatenate(parts) if parts else self.coordinates[vertices]
        return Route(links, self.ids[vertices], totals, points)

    def _links_between(self, tails: np.ndarray, heads: np.ndarray, column: np.ndarray) -> np.ndarray:
        """Return the link from each tail to its head; of parallel ones, the first of the least weight."""
        begins = devices.to_host(self.graph.csr().indptr)
        chosen = []
        for tail, head in zip(tails.tolist(), heads.tolist(), strict=True):
            links = self.link_of_edge[begins[tail] : begins[tail + 1]]
            links = links[self.head[links] == head]
            chosen.append(links[np.argmin(column[links])])
        return np.array(chosen, np.int64)

    def largest_component(self, connection: str = "weak") -> "Network":
        """Return the network of the largest component alone, as of `Graph.largest_component`.

        Examples
        --------
        >>> from mgraph.roads import Network
        >>> where = [[24.94, 60.17], [24.95, 60.17], [24.96, 60.17]]
        >>> network = Network([0, 1], [1, 2], {"seconds": [7, 8], "metres": [70, 90]}, where)
        >>> network.largest_component().graph.n
        3
        """
        plain = Graph.from_edges(self.tail, self.head, n=self.graph.n)
        kept = np.asarray(plain.largest_component(connection).ids)
        number = np.full(self.graph.n, -1)
        number[kept] = np.arange(len(kept))
        tail, head = number[self.tail], number[self.head]
        chosen = np.flatnonzero((tail >= 0) & (head >= 0))
        shapes = None
        if self._shapes is not None:
            points, begins = self._shapes
            sizes = np.diff(begins)[chosen]
            first = np.concatenate([[0], np.cumsum(sizes)])
            steps = np.arange(first[-1]) - np.repeat(first[:-1], sizes)
            shapes = points[np.repeat(begins[chosen], sizes) + steps], first
        columns = {name: column[chosen] for name, column in self.links.items()}
        ids = None if self.graph.ids is None else self.graph.ids[kept]
        return Network(tail[chosen], head[chosen], columns, self.coordinates[kept], ids, shapes)

    def shape(self, link: int) -> np.ndarray:
        """Return the points of a link's geometry, from its tail to its head, shape (points, 2).

        Examples
        --------
        >>> from mgraph.roads import Network
        >>> where = [[24.94, 60.17], [24.95, 60.17], [24.96, 60.17]]
        >>> network = Network([0, 1], [1, 2], {"seconds": [7, 8], "metres": [70, 90]}, where)
        >>> network.shape(0).tolist()
        [[24.94, 60.17], [24.95, 60.17]]
        """
        if self._shapes is None:
            return self.coordinates[[self.tail[link], self.head[link]]]
        points, begins = self._shapes
        return points[begins[link] : begins[link + 1]]

    def _places(self, points: Any, name: str, limit: float = FAR) -> Places:
        """Return points as places on this network; a text is the id of a vertex."""
        names = [points] if isinstance(points, str) else points.tolist() if hasattr(points, "tolist") else points
        if isinstance(names, (list, tuple)) and len(names) and all(isinstance(each, str) for each in names):
            vertices = Question(self.graph, self.graph.n).vertices(name, names).astype(np.int64)
            return Places(vertices, np.zeros(len(vertices)), self.ids[vertices])
        if not isinstance(points, Places):
            return nearest_vertices(self._tree, points, name, limit)
        outside = (points.vertices < 0) | (points.vertices >= self.graph.n)
        if outside.any():
            wanted = f"places of this network, which has {self.graph.n:,} vertices"
            raise InputError(argument=name, value=int(points.vertices[outside.argmax()]), expected=wanted)
        return points

    def _column(self, name: str, value: Any) -> np.ndarray:
        return self.links[checked_choice(name, value, list(self.links))]

    def _along(self, weight: str, along: Iterable[str]) -> list[str]:
        if isinstance(along, str):
            raise InputError(argument="along", value=along, expected="a sequence of columns, such as ['metres']")
        self._column("weight", weight)
        names = [name for name in along if name != weight and not (name == "metres" and name not in self.links)]
        for name in names:
            self._column("along", name)
        return names


def _checked_column(name: str, values: Any, count: int) -> np.ndarray:
    """Return a column of links as float64, or raise InputError."""
    found = as_array(values, str(name))
    if found.shape != (count,) or found.dtype.kind not in "iuf":
        raise InputError(argument=str(name), value=found.shape, expected=f"a number for each of {count:,} links")
    found = found.astype(np.float64)
    wrong = ~(found >= 0)
    if wrong.any():
        raise InputError(argument=str(name), value=float(found[wrong.argmax()]), expected="numbers of 0 or more")
    return found
