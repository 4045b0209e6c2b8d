"""The public class `Network`: streets as a graph with columns of numbers, and what is asked of them."""

import copy
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from .. import device as devices
from .. import lazy
from ..arguments import as_array, checked_choice, checked_flag, checked_integer, checked_number
from ..docstrings import with_common_parts
from ..errors import InputError
from ..graph import Graph
from ..graph.coordinates import checked_coordinates
from ..graph.question import Question
from ..hierarchy import Hierarchy
from .isochrones import Isochrones, area_around, piece, pieces, reached_links
from .places import FAR, Places, check_near, checked_points
from .route import Route, shortest_steps
from .search import Column, Search, Spots, numbered, part_of, search_of
from .sphere import metres_of_chords, vectors
from .streets import Pieces
from .table import Ends, NearestOf, Progress, Table, bytes_of_table, nearest_of, table
from .turns import TurnCosts, search_with_turns


@with_common_parts
class Network:
    """A network of streets: links with lengths and times between vertices that have coordinates.

    Make one with `read_osm`, `from_osmnx` or `from_frames`. Calls take points as arrays of longitude and latitude, or
    the `Places` of `nearest`, or ids of vertices: text, or integers with ``ids=True``.

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
    barred : array_like of int, shape (k, 2), optional
        Turns that no route takes: pairs of links, the second of which must not follow the first. Routes are then
        searched in a graph with a vertex for each link, which is made once.

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
    barred : array of int64, shape (k, 2), or None
        As above.
    turn_costs : TurnCosts or None
        What turns cost, as `with_turn_costs` was told.

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
        barred: Any = None,
    ) -> None:
        n = len(coordinates)
        columns = {str(name): _checked_column(name, values, len(tail)) for name, values in links.items()}
        if not columns:
            raise InputError(argument="links", value={}, expected="columns of numbers, such as 'metres' and 'seconds'")
        graph, self.link_of_edge = numbered(tail, head, n, ids)
        self.edge_of_link = np.argsort(self.link_of_edge)
        where = checked_coordinates(coordinates, n, None)
        if np.isnan(where).any():
            raise InputError(argument="coordinates", value=np.nan, expected="a longitude and a latitude of each vertex")
        self.graph = graph.with_coordinates(where)
        self.tail, self.head = (np.asarray(each, np.int64) for each in (tail, head))
        self.links = columns
        self._shapes = None if shapes is None else _checked_shapes(shapes, len(self.tail))
        self.barred = None if barred is None else _checked_turns(barred, len(self.tail))
        self.turn_costs: TurnCosts | None = None
        self._customized: dict[str, Hierarchy] = {}

    def __repr__(self) -> str:
        return f"Network({self.graph.n:,} vertices, {len(self.tail):,} links: {', '.join(self.links)})"

    @property
    def coordinates(self) -> np.ndarray:
        """The longitude and the latitude of each vertex.

        Examples
        --------
        {a network of three places}
        >>> network.coordinates[1].tolist()
        [24.95, 60.17]
        """
        return np.empty((0, 2)) if self.graph.coordinates is None else self.graph.coordinates

    @property
    def ids(self) -> np.ndarray:
        """The id of each vertex: its number if none were given.

        Examples
        --------
        {a network of three places}
        >>> network.ids.tolist()
        [0, 1, 2]
        """
        return np.arange(self.graph.n) if self.graph.ids is None else self.graph.ids

    @cached_property
    def _tree(self) -> Any:
        return lazy.spatial().cKDTree(vectors(self.coordinates))

    @cached_property
    def _pieces(self) -> Pieces:
        return Pieces(*self._geometry())

    def _geometry(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the points of all links, and where those of each begin."""
        if self._shapes is not None:
            return self._shapes
        ends = np.stack([self.tail, self.head], axis=1).ravel()
        return self.coordinates[ends], np.arange(0, len(ends) + 1, 2)

    @cached_property
    def _search(self) -> Search:
        if self.barred is None and self.turn_costs is None:
            return search_of(self.tail, self.head, self.graph, self.link_of_edge)
        barred = np.empty((0, 2), np.int64) if self.barred is None else self.barred
        return search_with_turns(self.tail, self.head, self.graph.n, barred, self.turn_costs, self._geometry())

    @cached_property
    def _prepared(self) -> Hierarchy:
        return Hierarchy(self._search.graph)

    def hierarchy(self, weight: str = "seconds") -> Hierarchy:
        """Return the hierarchy of the network with a column as weights; it is prepared once, and kept.

        With turns that are barred or cost, its vertices are those of the graph that is searched: at first the links,
        each where it is entered, then the vertices as places that routes begin at, then those as places that they end
        at.

        Raises
        ------
        InputError
            If there is no such column.
        MissingPackageError
            If pymetis is not installed.

        Examples
        --------
        {a network of three places}
        >>> network.hierarchy("metres").distance(0, 2)
        160.0
        """
        column = self._searched(weight)
        if weight not in self._customized:
            self._customized[weight] = self._prepared.customize(column.arcs)
        return self._customized[weight]

    def with_turn_costs(self, left: float = 0, right: float = 0, back: float = 0, weight: str = "seconds") -> "Network":
        """Return the network with what turns cost, which tables, routes and isochrones then count in one column.

        A turn to the left or to the right is one by more than 45 degrees where a street leads on in several ways. To
        turn back is to take the same street in the other direction. Routes are searched in a graph with a vertex for
        each link, which is made once.

        Parameters
        ----------
        left, right, back : float
            What a turn costs, in the unit of the column. Where traffic keeps to the right, the left turn takes longer.
        weight : str
            The column that the costs are added to.

        Returns
        -------
        Network
            Its turns that are barred are those of this one.

        Raises
        ------
        InputError
            For a cost that is not a number of 0 or more, and if there is no such column.

        Examples
        --------
        Straight on to the east from the second crossing, or left to the north:

        >>> from mgraph.roads import Network
        >>> where = [[24.94, 60.17], [24.95, 60.17], [24.96, 60.17], [24.95, 60.18]]
        >>> network = Network([0, 1, 1], [1, 2, 3], {"seconds": [7, 8, 8]}, where).with_turn_costs(left=6, right=3)
        >>> network.table(where[:1], where[2:]).seconds.tolist()
        [[15.0, 21.0]]
        """
        self._column("weight", weight)
        to_left, to_right = checked_number("left", left, 0), checked_number("right", right, 0)
        made = copy.copy(self)
        made.turn_costs = TurnCosts(to_left, to_right, checked_number("back", back, 0), weight)
        made._customized = {}
        for name in ("_search", "_prepared"):
            made.__dict__.pop(name, None)
        return made

    def nearest(self, points: Any, *, on: str = "vertices", limit: float = FAR, ids: bool = False) -> Places:
        """Return the vertices, or the positions on links, that are nearest to points, as straight lines go.

        Parameters
        ----------
        points : array_like of shape (k, 2), GeoSeries, GeoDataFrame, or sequence of ids
            Longitudes and latitudes in degrees, longitude first; of a DataFrame its columns ``lon`` and ``lat``, in any
            order. The index of a series becomes their ids. Text is the id of a vertex of the network, as is an integer
            with ``ids=True``.
        on : {"vertices", "edges"}
            Whether a place is a vertex, or any position on a link. Routes from a position go along the link, and back
            along it if the street is two-way: if another link leads back with the same geometry.
        limit : float
            How many metres a point may lie away from its place.
        ids : bool
            Whether integers are ids, such as those of OpenStreetMap's nodes.

        Returns
        -------
        Places
            In the place of points, all calls take them.

        Raises
        ------
        InputError
            For points of another shape, or not in degrees, for one that lies farther away than `limit`, for what is not
            an id of the network, and for positions on a network without links.

        Examples
        --------
        >>> from mgraph.roads import Network
        >>> where = [[24.94, 60.17], [24.95, 60.17]]
        >>> network = Network([0, 1], [1, 0], {"seconds": [60, 60], "metres": [550, 550]}, where)
        >>> places = network.nearest([[24.9402, 60.17], [24.951, 60.17]])
        >>> places.vertices.tolist(), places.metres.round().tolist()
        ([0, 1], [11.0, 55.0])
        >>> places = network.nearest([[24.9425, 60.17], [24.9475, 60.17]], on="edges")
        >>> network.table(places).seconds.round(3).tolist()
        [[0.0, 30.0], [30.0, 0.0]]
        """
        checked_choice("on", on, ("vertices", "edges"))
        return places_of(self, points, "points", ids, limit, on == "edges")

    def table(
        self,
        origins: Any,
        destinations: Any = None,
        weight: str = "seconds",
        along: Sequence[str] = ("metres",),
        *,
        ids: bool = False,
        progress: Progress | None = None,
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
        ids : bool
            Whether integers are ids, such as those of OpenStreetMap's nodes.
        progress : callable, optional
            Called with how many of how many origins are done. An exception that it raises ends the call.

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
        {a network of three places}
        >>> found = network.table(where[:2], where[1:])
        >>> found.seconds.tolist(), found.metres.tolist()
        ([[7.0, 15.0], [0.0, 8.0]], [[70.0, 160.0], [0.0, 90.0]])
        """
        starts = places_of(self, origins, "origins", ids)
        ends = starts if destinations is None else places_of(self, destinations, "destinations", ids)
        columns = {name: self._searched(name) for name in (weight, *self._along(weight, along))}
        matrices = table(self.hierarchy(weight), self._search, self._entries(starts), self._to(ends), columns, progress)
        return Table(starts, ends, matrices)

    def table_bytes(
        self, origins: Places, destinations: Places, weight: str = "seconds", along: Sequence[str] = ("metres",)
    ) -> int:
        """Return how many bytes of memory `table` takes, which it checks before it takes them.

        Examples
        --------
        {a network of three places}
        >>> places = network.nearest(where)
        >>> network.table_bytes(places, places)
        720
        """
        columns = 1 + len(self._along(weight, along))
        return bytes_of_table(self._entries(origins), self._to(destinations), columns)

    def nearest_of(
        self,
        origins: Any,
        facilities: Any,
        k: int = 3,
        weight: str = "seconds",
        *,
        ids: bool = False,
        progress: Progress | None = None,
    ) -> NearestOf:
        """Return the k facilities that are nearest to each origin by a column of `links`.

        Parameters
        ----------
        origins, facilities : points as of `nearest`, or Places
            From where, and to what.
        k : int
            How many; fewer if there are fewer facilities.
        weight : str
            The column that routes are shortest by.
        ids : bool
            Whether integers are ids, such as those of OpenStreetMap's nodes.
        progress : callable, optional
            Called with how many of how many origins are done. An exception that it raises ends the call.

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
        {a network of three places}
        >>> network.nearest_of([where[0]], where[1:], k=2).weights.tolist()
        [[7.0, 15.0]]
        """
        starts, ends = places_of(self, origins, "origins", ids), places_of(self, facilities, "facilities", ids)
        hierarchy, column, most = self.hierarchy(weight), self._searched(weight), checked_integer("k", k, 1)
        return nearest_of(hierarchy, self._search, self._entries(starts), self._to(ends), column, most, progress)

    def isochrones(
        self,
        points: Any,
        limits: Sequence[float],
        weight: str = "seconds",
        *,
        buffer: float = 50,
        ids: bool = False,
        progress: Progress | None = None,
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
        ids : bool
            Whether integers are ids, such as those of OpenStreetMap's nodes.
        progress : callable, optional
            Called with how many of how many points are done. An exception that it raises ends the call.

        Returns
        -------
        Isochrones

        Raises
        ------
        InputError
            As `nearest` does, and for limits that are not finite numbers above 0.
        MissingPackageError
            If contourpy, which comes with Matplotlib, is not installed.

        Examples
        --------
        {a network of three places}
        >>> found = network.isochrones([where[0]], [5, 11])
        >>> [each.links.tolist() for each in found.reached[0]]
        [[0], [0, 1]]
        """
        places = places_of(self, points, "points", ids)
        column, width = self._searched(weight), checked_number("buffer", buffer, 1)
        steps = sorted(checked_number("limits", each, 0) for each in np.atleast_1d(np.asarray(limits, object)).tolist())
        if not all(0 < each < np.inf for each in steps):
            raise InputError(argument="limits", value=steps, expected="finite numbers above 0")
        reached, polygons = [], []
        for row in range(len(places.ids)):
            spots, ways = self._from(places.row(row))
            distances = devices.to_host(self.hierarchy(weight).distances(ways.vertices[0], ids=False))
            first = column.passed(ways)[0]
            starts = (first[:, None] + distances[:, self._search.entered]).min(axis=0)
            found = [reached_links(column.links, starts, spots, limit) for limit in steps]
            reached.append(found)
            polygons.append([area_around(pieces(each, self.shape), width) for each in found])
            if progress is not None:
                progress(row + 1, len(places.ids))
        return Isochrones(places, steps, reached, polygons, self.shape)

    def route(self, origin: Any, destination: Any, weight: str = "seconds", *, ids: bool = False) -> Route:
        """Return the shortest route by a column of `links`, with its geometry and the sums of all columns.

        Parameters
        ----------
        origin, destination : point, shape (2,), id, or Places of one point
            The ends.
        weight : str
            The column that the route is shortest by.
        ids : bool
            Whether integers are ids, such as those of OpenStreetMap's nodes.

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
        places = []
        for name, given in (("origin", origin), ("destination", destination)):
            place = places_of(self, given, name, ids)
            if len(place.ids) != 1:
                raise InputError(argument=name, value=f"{len(place.ids)} points", expected="one point")
            places.append(place)
        column, hierarchy = self._searched(weight), self.hierarchy(weight)
        steps = shortest_steps(hierarchy, self._search, self._from(places[0]), self._to(places[1]), column)
        if steps is None:
            totals = dict.fromkeys(self.links, float("nan"))
            return Route(np.empty(0, np.int64), self.ids[:0], totals, np.empty((0, 2)))
        start, links, begins, ends = steps
        totals = {name: float(part_of(each, links, ends - begins).sum()) for name, each in self.links.items()}
        if self.turn_costs is not None:
            totals[self.turn_costs.weight] += self._search.turns_along(links)
        passed = np.append(self.tail[links[begins == 0]], self.head[links[-1:]][ends[-1:] == 1])
        vertices = passed if len(links) else np.array([start])
        parts = [
            piece(self.shape(link), begin, end)[1 if place else 0 :]
            for place, (link, begin, end) in enumerate(zip(links.tolist(), begins, ends, strict=True))
        ]
        return Route(links, self.ids[vertices], totals, np.concatenate(parts) if parts else self.coordinates[vertices])

    def largest_component(self, connection: str = "weak") -> "Network":
        """Return the network of the largest component alone, as of `Graph.largest_component`, barred turns aside.

        Examples
        --------
        {a network of three places}
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
        barred = None
        if self.barred is not None:
            link = np.full(len(self.tail), -1)
            link[chosen] = np.arange(len(chosen))
            barred = link[self.barred]
            barred = barred[(barred >= 0).all(axis=1)]
        found = Network(tail[chosen], head[chosen], columns, self.coordinates[kept], ids, shapes, barred)
        found.turn_costs = self.turn_costs
        return found

    def shape(self, link: int) -> np.ndarray:
        """Return the points of a link's geometry, from its tail to its head, shape (points, 2).

        Examples
        --------
        {a network of three places}
        >>> network.shape(0).tolist()
        [[24.94, 60.17], [24.95, 60.17]]
        """
        if self._shapes is None:
            return self.coordinates[[self.tail[link], self.head[link]]]
        points, begins = self._shapes
        return points[begins[link] : begins[link + 1]]

    def _named(self, points: Any, name: str, ids: bool) -> np.ndarray | None:
        """Return the vertices with the ids that are given in place of points; None for points."""
        by_number = checked_flag("ids", ids)
        listed = points.tolist() if hasattr(points, "tolist") else points
        listed = [listed] if isinstance(listed, (str, int)) else listed
        if not isinstance(listed, (list, tuple)) or not len(listed):
            return None
        integers = by_number and all(type(each) is int for each in listed)
        if not integers and not all(isinstance(each, str) for each in listed):
            return None
        return Question(self.graph, self.graph.n, ids or None).vertices(name, listed).astype(np.int64)

    def _checked_places(self, places: Places, name: str) -> Places:
        """Return places, or raise InputError if they are not of this network."""
        numbers, most, what = places.vertices, self.graph.n, "vertices"
        if places.links is not None:
            numbers, most, what = places.links, len(self.tail), "links"
        wrong = (numbers < 0) | (numbers >= most)
        if places.shares is not None:
            wrong |= ~((places.shares >= 0) & (places.shares <= 1))
        if wrong.any():
            wanted = f"places of this network, which has {most:,} {what}"
            raise InputError(argument=name, value=int(numbers[wrong.argmax()]), expected=wanted)
        return places

    def _searched(self, name: str) -> Column:
        counted = self.turn_costs is not None and self.turn_costs.weight == name
        return self._search.column(self._column("weight", name), counted)

    def _from(self, places: Places) -> Ends:
        spots = self._spots(places)
        return Ends(spots, self._search.ways_from(spots))

    def _entries(self, places: Places) -> Ends:
        spots = self._spots(places)
        return Ends(spots, self._search.entries_from(spots))

    def _to(self, places: Places) -> Ends:
        spots = self._spots(places)
        return Ends(spots, self._search.ways_to(spots))

    def _spots(self, places: Places) -> Spots:
        """Return where places lie; a position at an end of a link is that vertex."""
        none = np.empty(0, np.int64)
        if places.links is None or places.shares is None:
            return Spots(places.vertices, none, none, np.empty(0))
        links, shares = places.links, places.shares
        vertices = np.where(shares <= 0, self.tail[links], np.where(shares >= 1, self.head[links], -1))
        rows = np.flatnonzero(vertices < 0)
        links, shares = links[rows], shares[rows]
        back = self._backward(links)
        two = back >= 0
        return Spots(
            vertices,
            np.append(rows, rows[two]),
            np.append(links, back[two]),
            np.append(shares, 1 - shares[two]),
        )

    def _backward(self, links: np.ndarray) -> np.ndarray:
        """Return the link of the other direction of each link's street: the first with its geometry; -1 if one-way."""
        begins = devices.to_host(self.graph.csr().indptr)
        found = np.full(len(links), -1)
        for place, link in enumerate(links.tolist()):
            head, shape = self.head[link], self.shape(link)[::-1]
            for other in self.link_of_edge[begins[head] : begins[head + 1]].tolist():
                alike = other != link and self.head[other] == self.tail[link]
                if alike and np.array_equal(self.shape(other), shape):
                    found[place] = other
                    break
        return found

    def _column(self, name: str, value: Any) -> np.ndarray:
        return self.links[checked_choice(name, value, list(self.links))]

    def _along(self, weight: str, along: Iterable[str]) -> list[str]:
        if isinstance(along, str) or not isinstance(along, Iterable):
            raise InputError(argument="along", value=along, expected="a sequence of columns, such as ['metres']")
        self._column("weight", weight)
        names = [name for name in along if name != weight and not (name == "metres" and name not in self.links)]
        for name in names:
            self._column("along", name)
        return names


def places_of(
    network: Network, points: Any, name: str, ids: bool = False, limit: float = FAR, on_links: bool = False
) -> Places:
    """Return points as places on a network; a text is the id of a vertex, as are integers with `ids`."""
    farthest = checked_number("limit", limit, 0)
    if isinstance(points, Places):
        return network._checked_places(points, name)
    named = network._named(points, name, ids)
    if named is not None:
        return Places(named, np.zeros(len(named)), network.ids[named])
    where, own = checked_points(points, name)
    if on_links and not len(network.tail):
        raise InputError(argument="on", value="edges", expected="'vertices' of a network without links")
    if not len(where):
        none = np.empty(0, np.int64)
        return Places(none, np.empty(0), own, *((none, np.empty(0)) if on_links else ()))
    if on_links:
        links, shares, metres = network._pieces.nearest(where)
        vertices = np.where(shares <= 0.5, network.tail[links], network.head[links])
        places = Places(vertices, metres, own, links, shares)
    else:
        chords, vertices = network._tree.query(vectors(where))
        places = Places(vertices.astype(np.int64), metres_of_chords(chords), own)
    check_near(places.metres, where, name, farthest)
    return places


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


def _checked_shapes(shapes: Any, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the points of all links and where those of each begin, or raise InputError."""
    points, begins = (as_array(each, "shapes") for each in shapes)
    right = points.ndim == 2 and points.shape[1] == 2 and begins.shape == (count + 1,) and begins.dtype.kind in "iu"
    right = right and begins[0] == 0 and begins[-1] == len(points) and (count == 0 or np.diff(begins).min() >= 2)
    if not (right and points.dtype.kind in "iuf" and np.isfinite(points).all()):
        wanted = f"numbers of shape (points, 2), and where two or more of them begin for each of {count:,} links"
        raise InputError(argument="shapes", value=(points.shape, begins.shape), expected=wanted)
    return points.astype(np.float64), begins.astype(np.int64)


def _checked_turns(values: Any, count: int) -> np.ndarray:
    """Return pairs of links as int64, or raise InputError."""
    found = as_array(values, "barred")
    if not found.size:
        return np.empty((0, 2), np.int64)
    if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iu":
        wanted = "integers of shape (k, 2), two links for each turn"
        raise InputError(argument="barred", value=f"{found.dtype} of shape {found.shape}", expected=wanted)
    wrong = (found < 0) | (found >= count)
    if wrong.any():
        raise InputError(argument="barred", value=int(found[wrong][0]), expected=f"links in [0, {count})")
    return found.astype(np.int64)
