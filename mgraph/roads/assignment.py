"""Traffic assignment: the public call and its result."""

import math
import os
import sys
import time
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .. import lazy
from ..arguments import checked_integer
from ..docstrings import with_common_parts
from ..errors import InputError, VerificationError
from ..graph.checks import host_array
from ..hierarchy import Hierarchy
from ..io import check_output, path_of, save, save_table, suffix_of
from .equilibrium import Progress, equilibrium
from .performance import Links, Performance
from .search import Search
from .traffic import Traffic, traffic_of

#: The files that an assignment is saved to.
SUFFIXES = (".npz", ".csv", ".csv.gz", ".parquet")

#: How much of a sum of amounts `verify` allows to be rounded away, for each link.
_ROUNDING = 2.0**-50


@with_common_parts
@dataclass(frozen=True, eq=False, kw_only=True)
class Assignment:
    """What `assignment` finds: flows at which no traveller gains much by another route.

    Attributes
    ----------
    flows : array of float64, shape (m,)
        How much each link carries, in the order of the file's or the network's links.
    costs : array of float64, shape (m,)
        What each link costs at these flows: its time, and its toll and length by their factors. ``inf`` of a link that
        is closed.
    gaps : array of float64, shape (iterations,)
        The relative gap of the flows of each iteration; the last one is that of `flows`. It is (C - S) / C, with C the
        cost of all travellers, the sum of flows times costs, and S what they would pay if each took the cheapest route
        at the same costs.
    tail, head : array, shape (m,)
        The nodes that each link leads from and to: as the file numbers them, or the ids of the network's vertices.
    converged : bool
        Whether the gap that was asked for is reached.
    seconds : float
        How long it took.

    Examples
    --------
    {two links}
    >>> found = roads.assignment(roads.TntpNetwork(2, 2, 0, links), [[0, 60], [0, 0]])
    >>> found.flows.round(2).tolist(), found.converged
    ([20.0, 40.0], True)
    """

    flows: np.ndarray
    costs: np.ndarray
    gaps: np.ndarray
    tail: np.ndarray
    head: np.ndarray
    converged: bool
    seconds: float
    _traffic: Traffic = field(repr=False)
    _supply: np.ndarray = field(repr=False)
    _performance: Performance = field(repr=False)

    @property
    def gap(self) -> float:
        """The relative gap of `flows`.

        Examples
        --------
        {two links}
        >>> found = roads.assignment(roads.TntpNetwork(2, 2, 0, links), [[0, 60], [0, 0]])
        >>> found.gap <= 1e-6
        True
        """
        return float(self.gaps[-1])

    def __repr__(self) -> str:
        reached = "" if self.converged else ", not converged"
        iterations = len(self.gaps)
        return f"<Assignment: {len(self.flows)} links, {iterations} iterations, relative gap {self.gap:.3g}{reached}>"

    def to_pandas(self) -> Any:
        """Return a DataFrame with a row for each link, in the order of the file.

        Raises
        ------
        MissingPackageError
            If pandas is not installed.

        Examples
        --------
        >>> import pandas
        {two links}
        >>> found = roads.assignment(roads.TntpNetwork(2, 2, 0, links), [[0, 60], [0, 0]])
        >>> found.to_pandas()["flow"].round(2).tolist()
        [20.0, 40.0]
        """
        pandas = lazy.optional("pandas", "Assignment.to_pandas")
        return pandas.DataFrame(self._columns())

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the links' flows and costs to a file, which appears whole or not at all.

        Parameters
        ----------
        path : path or URL
            Ends with ``.npz``, which has the gaps as well, ``.csv``, ``.csv.gz`` or ``.parquet``.
        overwrite : bool
            Replace a file that exists.

        Raises
        ------
        InputError
            For another suffix, or a path that cannot be written.
        OutputExistsError
            If the file exists.
        MissingPackageError
            If a package that writes the format is not installed.

        Examples
        --------
        >>> import pathlib, tempfile
        {two links}
        >>> found = roads.assignment(roads.TntpNetwork(2, 2, 0, links), [[0, 60], [0, 0]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     found.save(pathlib.Path(folder, "flows.npz"))
        """
        check_output(path, overwrite, SUFFIXES)
        target = path_of(os.fspath(path))
        if suffix_of(target) == ".npz":
            save(target, {**self._columns(), "gaps": self.gaps}, overwrite)
        else:
            save_table(target, [self.to_pandas()], overwrite)

    def verify(self) -> None:
        """Prove that the flows carry the demand, and that the costs are those of the flows.

        The rules are "flow" (no flow is negative), "conservation" (what leaves a node is what enters it and what begins
        there, less what ends there, up to rounding) and "cost".

        Raises
        ------
        VerificationError
            If a rule is broken; its `rule` says which, and `vertex` at which node, numbered from 0.

        Examples
        --------
        {two links}
        >>> found = roads.assignment(roads.TntpNetwork(2, 2, 0, links), [[0, 60], [0, 0]])
        >>> found.verify()
        """
        flows, ends = self.flows, self._traffic.links[:2]
        wrong = np.flatnonzero(~(flows >= 0))
        if len(wrong):
            link = int(wrong[0])
            raise VerificationError(f"the flow of link {link} is {flows[link]}", rule="flow", vertex=int(ends[0][link]))
        leaves, enters = (np.bincount(each, flows, len(self._supply)) for each in ends)
        left = np.abs(leaves - enters - self._supply)
        wrong = np.flatnonzero(~(left <= _ROUNDING * (len(flows) + 1) * (leaves.max(initial=0) + 1e-300)))
        if len(wrong):
            node = int(wrong[0])
            raise VerificationError(
                f"node {self._traffic.nodes[node]} has a supply of {self._supply[node]}, but {enters[node]} enter it "
                f"and {leaves[node]} leave it",
                rule="conservation",
                vertex=node,
            )
        wrong = np.flatnonzero(~(self.costs == self._performance.costs(flows)))
        if len(wrong):
            link = int(wrong[0])
            raise VerificationError(f"the cost of link {link} is not that of its flow", rule="cost")

    def _columns(self) -> dict[str, np.ndarray]:
        return {"tail": self.tail, "head": self.head, "flow": self.flows, "cost": self.costs}


def assignment(
    network: Any,
    demand: Any,
    zones: Any = None,
    *,
    gap: float = 1e-6,
    toll_factor: float = 0,
    distance_factor: float = 0,
    iterations: int = 10_000,
    progress: Progress | None = None,
) -> Assignment:
    r"""Return the user equilibrium of a demand: flows at which no traveller gains by another route [1]_.

    The cost of a link is its time at its flow + `toll_factor` * its toll + `distance_factor` * its length. The time is
    ``free_flow_time * (1 + b * (flow / capacity) ** power)``. With a power of 0 it is ``free_flow_time * (1 + b)``. A
    link whose time would grow and whose capacity is 0 is closed. Nodes before ``<FIRST THRU NODE>`` begin and end
    routes, and are not passed.

    Parameters
    ----------
    network : TntpNetwork or Network
        A network with zones, as `from_tntp` reads it, or streets with a column ``"capacity"``, as `read_osm` reads them
        with ``capacity=True``. Of streets ``"seconds"`` is the free-flow time and ``"metres"`` the length; columns
        ``"b"``, ``"power"`` and ``"toll"`` are 0.15, 4 and 0 unless the network has them. Turns that are barred are
        not taken.
    demand : array_like or sparse matrix, shape (zones, zones)
        How much goes from each zone to each other: numbers of 0 or more. What stays in a zone takes no link, nor does
        what goes between two zones at one vertex.
    zones : points as of `Network.nearest`, or Places, optional
        Where the zones of streets lie: their traffic begins and ends at the nearest vertices.
    gap : float
        The relative gap at which to end, as `Assignment` defines it.
    toll_factor, distance_factor : float
        What a unit of toll and of length costs, in units of time.
    iterations : int
        The most iterations. If `gap` is not reached by then, the flows are those of the last one, and `converged` is
        False.
    progress : callable, optional
        Called after each iteration with the number of iterations so far, and the relative gap. An exception that it
        raises ends the call.

    Returns
    -------
    Assignment

    Raises
    ------
    InputError
        For a demand that is negative, NaN, infinite or of another shape; for demand between zones without a route; for
        a cost that is negative; for factors that are not finite; and for a network without zones, or without
        capacities, or whose turns cost.
    MemoryLimitError
        If the network's hierarchy does not fit the free memory.
    MissingPackageError
        If pymetis is not installed.

    Notes
    -----
    The method is that of Frank and Wolfe with biconjugate directions [2]_, over `Hierarchy.flows` on the CPU. Flows
    of links are unique where times grow with flows; others may divide a demand among routes of one cost in any way.

    References
    ----------
    .. [1] J. G. Wardrop, "Some theoretical aspects of road traffic research", 1952.
    .. [2] M. Mitradjieva and P. O. Lindberg, "The stiff is moving: conjugate direction Frank-Wolfe methods with
       applications to traffic assignment", 2013.

    Examples
    --------
    Of two links from 1 to 2, the second has twice the capacity, so that it carries twice as much at the same cost.

    >>> import pathlib, tempfile
    >>> from mgraph import roads
    >>> head = "<NUMBER OF ZONES> 2\n<NUMBER OF NODES> 2\n<NUMBER OF LINKS> 2\n<END OF METADATA>\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "town_net.tntp")
    ...     _ = path.write_text(head + "1 2 10 5 4 0.15 4 0 0 1 ;\n1 2 20 7 4 0.15 4 0 0 1 ;\n")
    ...     network = roads.from_tntp(path)
    >>> found = roads.assignment(network, [[0, 60], [0, 0]])
    >>> found.flows.round(2).tolist(), found.costs.round(2).tolist()
    ([20.0, 40.0], [13.6, 13.6])
    >>> found.verify()
    """
    traffic = traffic_of(network, zones)
    wanted, most = _checked_number("gap", gap, 0), checked_integer("iterations", iterations, 1)
    trips, started = _checked_trips(demand, traffic), time.perf_counter()
    factors = _checked_number("toll_factor", toll_factor), _checked_number("distance_factor", distance_factor)
    links, performance = traffic.links, Performance(traffic.links, *factors)
    _check_costs(performance.fixed, traffic)
    passable = (links.tail != links.head) | (traffic.barred is not None)
    usable = np.flatnonzero(np.isfinite(performance.fixed) & passable)
    load = _Loading(traffic.search(usable), trips)
    open_links = Links(*(column[usable] for column in links))
    found = equilibrium(Performance(open_links, *factors), load, wanted, most, progress)
    flows = np.zeros(len(links.tail))
    flows[usable] = found.flows
    leaving, arriving = (np.bincount(ends, trips.amounts, len(traffic.nodes)) for ends in trips[:2])
    return Assignment(
        flows=flows,
        costs=performance.costs(flows),
        gaps=found.gaps,
        tail=traffic.nodes[links.tail],
        head=traffic.nodes[links.head],
        converged=bool(found.gaps[-1] <= wanted),
        seconds=time.perf_counter() - started,
        _traffic=traffic,
        _supply=leaving - arriving,
        _performance=performance,
    )


class _Trips(NamedTuple):
    """The demand between different vertices, each pair once: its vertices, how much it is, the names of two zones."""

    origins: np.ndarray
    destinations: np.ndarray
    amounts: np.ndarray
    starts: np.ndarray
    ends: np.ndarray


class _Loading:
    """Assigns a demand to the cheapest routes, all or nothing, over a hierarchy that is customized for each costs."""

    def __init__(self, search: Search, trips: _Trips) -> None:
        self._search, n = search, search.graph.n
        self._hierarchy = Hierarchy(search.graph, device="cpu")
        self._trips = trips
        starts, ends = search.leaves[trips.origins], search.reaches[trips.destinations]
        self._ends, self._served = (starts, ends), False
        #: The demand as `Hierarchy.flows` takes it: a table unless most of that were zeros.
        self._demand: tuple[Any, ...] = ((starts, ends, trips.amounts),)
        rank = np.argsort(self._hierarchy.order)  # neighbours in the hierarchy read the same parts of it
        rows, columns = (each[np.argsort(rank[each])] for each in (np.unique(starts), np.unique(ends)))
        if 2 * len(starts) > len(rows) * len(columns):
            table = np.zeros((len(rows), len(columns)))
            table[_places(rows, n)[starts], _places(columns, n)[ends]] = trips.amounts
            self._demand = table, rows, columns

    def __call__(self, costs: np.ndarray) -> np.ndarray:
        """Return the flow of each link at these costs."""
        if not len(self._trips.amounts):
            return np.zeros(len(costs))
        customized = self._hierarchy.customize(self._search.column(costs, turns=False).arcs)
        found = customized.flows(*self._demand)
        if not self._served:  # once is enough, as no link is closed later
            self._check_served(customized)
        links = self._search.link_of_arc
        return np.bincount(links[links >= 0], found.loads[links >= 0], len(costs))

    def _check_served(self, customized: Hierarchy) -> None:
        """Raise InputError if there is demand between zones without a route."""
        without = np.flatnonzero(np.isinf(customized.pairs(*self._ends)))
        if len(without):
            amount, origin, destination = (column[without[0]] for column in self._trips[2:])
            others = f", nor for {len(without) - 1:,} other pairs of zones" if len(without) > 1 else ""
            raise InputError(
                f"there is no route from zone {origin} to zone {destination} for a demand of {amount:g}{others}"
                ": set it to 0, or add links"
            )
        self._served = True


def _places(values: np.ndarray, n: int) -> np.ndarray:
    """Return the place of each of some values, which are less than n."""
    places = np.empty(n, np.int64)
    places[values] = np.arange(len(values))
    return places


def _checked_trips(demand: Any, traffic: Traffic) -> _Trips:
    """Return the demand between the vertices of different zones, or raise InputError."""
    zones = len(traffic.zones)
    given: Any = demand.tocoo() if hasattr(demand, "tocoo") else host_array(demand, "demand")
    if given.shape != (zones, zones):
        wanted = f"of shape {zones, zones}, an amount from each zone to each"
        raise InputError(argument="demand", value=given.shape, expected=wanted)
    if hasattr(demand, "tocoo"):
        origins, destinations, amounts = given.row, given.col, given.data
    else:
        origins, destinations = np.nonzero(given)
        amounts = given[origins, destinations]
    if amounts.dtype.kind not in "iuf":
        raise InputError(argument="demand", value=amounts.dtype.name, expected="numbers of 0 or more")
    amounts = amounts.astype(np.float64)
    wrong = np.flatnonzero(~((amounts >= 0) & (amounts < np.inf)))
    if len(wrong):
        raise InputError(argument="demand", value=float(amounts[wrong[0]]), expected="numbers of 0 or more")
    starts, ends = traffic.zones[origins], traffic.zones[destinations]
    moves = np.flatnonzero((amounts > 0) & (starts != ends))
    pairs = starts[moves] * len(traffic.nodes) + ends[moves]
    _, first, pair = np.unique(pairs, return_index=True, return_inverse=True)
    amounts, moves = np.bincount(pair, amounts[moves], len(first)), moves[first]
    return _Trips(
        starts[moves], ends[moves], amounts, traffic.names[origins[moves]], traffic.names[destinations[moves]]
    )


def _checked_number(name: str, value: Any, least: float = -math.inf) -> float:
    """Return a finite number, or raise InputError."""
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not number or not abs(value) <= sys.float_info.max or value < least:
        wanted = "a finite number" if least == -math.inf else f"a number of {least:g} or more"
        raise InputError(argument=name, value=value, expected=wanted)
    return float(value)


def _check_costs(fixed: np.ndarray, traffic: Traffic) -> None:
    """Raise InputError if a cost is negative or not a number: the toll or the length of a link is."""
    wrong = np.flatnonzero(~(fixed >= 0))
    if len(wrong):
        link = int(wrong[0])
        tail, head = (traffic.nodes[ends[link]] for ends in traffic.links[:2])
        raise InputError(
            f"the cost of the link from node {tail} to node {head} is {fixed[link]:g} "
            "without traffic: choose factors of tolls and lengths that leave no cost negative"
        )
