"""What is assigned: a file's network with zones, or streets with capacities and points that traffic goes between."""

from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError
from .network import Network, places_of
from .performance import Links
from .search import Search, numbered, search_of
from .tntp import TntpNetwork
from .turns import search_with_turns

#: The columns of streets that `Links` has by other names, and what they are where there are none.
_TIME, _LENGTH = "seconds", "metres"
_DEFAULTS = {"b": 0.15, "power": 4.0, "toll": 0.0}


class Traffic(NamedTuple):
    """Links, and the vertices that traffic goes between.

    Attributes
    ----------
    links : Links
        Their nodes are numbered from 0.
    nodes : array of shape (n,)
        The name of each node.
    zones, names : array of shape (zones,)
        The node of each zone, and its name.
    first_through : int
        The first node that routes may pass.
    barred : array of int64, shape (k, 2), or None
        Pairs of links that must not follow each other.
    """

    links: Links
    nodes: np.ndarray
    zones: np.ndarray
    names: np.ndarray
    first_through: int
    barred: np.ndarray | None

    def search(self, links: np.ndarray) -> Search:
        """Return the search of some links; a node that is not to be passed is left and reached by two vertices."""
        tail, head, n = self.links.tail[links], self.links.head[links], len(self.nodes)
        if self.barred is not None:
            number = np.full(len(self.links.tail), -1)
            number[links] = np.arange(len(links))
            barred = number[self.barred]
            return search_with_turns(tail, head, n, barred[(barred >= 0).all(axis=1)])
        every, split = np.arange(n), self.first_through
        graph, arcs = numbered(tail, np.where(head < split, n + head, head), n + split)
        return search_of(tail, head, graph, arcs)._replace(
            leaves=every, reaches=np.where(every < split, n + every, every)
        )


def traffic_of(network: Any, zones: Any) -> Traffic:
    """Return what is assigned of a network, or raise InputError."""
    if isinstance(network, TntpNetwork):
        if zones is not None:
            raise InputError(argument="zones", value=zones, expected="None for a network of TNTP, whose file has them")
        numbers, count = np.arange(network.nodes), network.zones
        return Traffic(network.links, numbers + 1, numbers[:count], numbers[:count] + 1, network.first_through, None)
    if not isinstance(network, Network):
        wanted = "a network with zones, as roads.from_tntp reads, or a roads.Network with capacities"
        raise InputError(argument="network", value=network, expected=wanted)
    if zones is None:
        raise InputError(argument="zones", value=None, expected="the points that the demand goes between")
    if network.turn_costs is not None:
        raise InputError("assignment does not count what turns cost: give the network without them")
    places = places_of(network, zones, "zones")
    return Traffic(_links_of(network), network.ids, places.vertices, places.ids, 0, network.barred)


def _links_of(network: Network) -> Links:
    """Return the links of streets with capacities."""
    columns = network.links
    missing = [name for name in (_TIME, "capacity") if name not in columns]
    if missing:
        advice = ": read_osm(path, capacity=True) makes both"
        raise InputError(
            advice, argument="network", value=list(columns), expected=f"links with a column {missing[0]!r}"
        )
    count = len(network.tail)
    others = {name: columns.get(name, np.full(count, value)) for name, value in _DEFAULTS.items()}
    length = columns.get(_LENGTH, np.zeros(count))
    return Links(network.tail, network.head, columns[_TIME], capacity=columns["capacity"], length=length, **others)
