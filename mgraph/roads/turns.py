"""Turns from one link into the next: those that restrictions bar, and the graph that is searched with them.

That graph has a vertex for each link, at which it is entered, and two for each vertex of the network, by which it is
left and reached. An arc passes a link and turns into the next one. (Caldwell, "On finding minimum routes in a network
with turn penalties", 1961; Winter, "Modeling costs of turns in route planning", 2002.)
"""

from typing import NamedTuple

import numpy as np

from .search import Search, numbered


class Restriction(NamedTuple):
    """A restriction of turns from ways into ways at a node, by ids: it bars these, or with `only` all others there."""

    sources: frozenset[int]
    via: int
    targets: frozenset[int]
    only: bool


class Rules(NamedTuple):
    """Restrictions of turns, and whether one may turn back everywhere, or only where no other turn is left."""

    restrictions: list[Restriction]
    back: bool


class TurnCosts(NamedTuple):
    """What turns to the left, to the right and back cost, in the unit of a column of links."""

    left: float
    right: float
    back: float
    weight: str


#: Up to which angle one goes straight on, and beyond which one turns back.
_STRAIGHT, _BACK = np.radians(45), np.radians(179)


class _Grouped(NamedTuple):
    """Links by one of their ends."""

    links: np.ndarray
    begins: np.ndarray

    def at(self, vertex: int) -> np.ndarray:
        return self.links[self.begins[vertex] : self.begins[vertex + 1]]


def _grouped(ends: np.ndarray, n: int) -> _Grouped:
    return _Grouped(np.argsort(ends, kind="stable"), np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=n))]))


def turns_between(tail: np.ndarray, head: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return all pairs of links of which the second begins where the first ends."""
    links, begins = _grouped(tail, n)
    counts = np.diff(begins)[head]
    step = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(np.arange(len(head)), counts), links[np.repeat(begins[:-1][head], counts) + step]


def barred_turns(
    tail: np.ndarray,
    head: np.ndarray,
    ids: np.ndarray,
    ways: np.ndarray,
    backward: np.ndarray,
    rules: Rules,
) -> np.ndarray:
    """Return the pairs of links that rules bar, shape (k, 2).

    What bars a turn from a way into itself bars to turn back, not to go on where the way is not cut.

    `ids` are those of the vertices, ascending; `ways` are the ids of the links' ways, and `backward` the links of the
    other directions, -1 for none.
    """
    n, count = len(ids), len(tail)
    leaving, arriving = _grouped(tail, n), _grouped(head, n)
    parts = [np.empty(0, np.int64)]
    for rule in rules.restrictions:
        vertex = int(np.searchsorted(ids, rule.via))
        if vertex == n or ids[vertex] != rule.via:
            continue
        before, after = arriving.at(vertex), leaving.at(vertex)
        before = before[np.isin(ways[before], list(rule.sources))]
        named = np.isin(ways[after], list(rule.targets))
        if named.any():
            start, stop = (each.ravel() for each in np.meshgrid(before, after[named != rule.only]))
            whole = (ways[start] == ways[stop]) & (backward[start] != stop) & (not rule.only)
            parts.append((start * count + stop)[~whole])
    first, second = turns_between(tail, head, n)
    barred = np.isin(first * count + second, np.concatenate(parts))
    if not rules.back:
        back = backward[first] == second
        others = np.bincount(first[~barred & ~back], minlength=count)
        barred |= back & (others[first] > 0)
    return np.stack([first[barred], second[barred]], axis=1)


def headings(points: np.ndarray, begins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the directions in which links leave their tails and reach their heads, counterclockwise from east.

    They are in radians; NaN of a link without length.
    """
    across, up = np.diff(points, axis=0).T
    across = ((across + 180) % 360 - 180) * np.cos(np.radians(points[1:, 1]))
    within = np.ones(len(across), bool)
    within[begins[1:-1] - 1] = False  # no part leads from the last point of a link to the first of the next
    moves = np.flatnonzero(within & ((across != 0) | (up != 0)))
    angles = np.append(np.arctan2(up[moves], across[moves]), np.nan)
    first = np.searchsorted(moves, begins[:-1])
    last = np.searchsorted(moves, begins[1:]) - 1
    still = first > last
    return angles[np.where(still, -1, first)], angles[np.where(still, -1, last)]


def turn_costs(
    first: np.ndarray,
    second: np.ndarray,
    tail: np.ndarray,
    head: np.ndarray,
    directions: tuple[np.ndarray, np.ndarray],
    costs: TurnCosts,
) -> np.ndarray:
    """Return what the turn from each first link into the second one costs, among all turns of a network.

    A bend of a street costs nothing: a turn to a side is one from a link that several others follow.
    """
    leaving, arriving = directions
    angle = (leaving[second] - arriving[first] + np.pi) % (2 * np.pi) - np.pi
    back = (head[second] == tail[first]) & (np.abs(angle) > _BACK)
    several = np.bincount(first[~back], minlength=len(tail))[first] > 1
    sides = np.where(angle > _STRAIGHT, costs.left, np.where(angle < -_STRAIGHT, costs.right, 0.0))
    return np.where(back, costs.back, np.where(several, sides, 0.0))


def search_with_turns(
    tail: np.ndarray,
    head: np.ndarray,
    n: int,
    barred: np.ndarray,
    costs: TurnCosts | None = None,
    geometry: tuple[np.ndarray, np.ndarray] | None = None,
) -> Search:
    """Return the search of a network some of whose turns are barred, and cost by the geometry of the links."""
    count, every = len(tail), np.arange(n)
    first, second = turns_between(tail, head, n)
    cost = None
    if costs is not None and geometry is not None:
        cost = turn_costs(first, second, tail, head, headings(*geometry), costs)
    free = ~np.isin(first * count + second, barred[:, 0] * count + barred[:, 1])
    first, second = first[free], second[free]
    links, leaves, reaches = np.arange(count), count + every, count + n + every
    # A link leads to the next ones and to its head; a vertex is left by its links, or reached at once.
    starts = np.concatenate([first, links, leaves[tail], leaves])
    stops = np.concatenate([second, reaches[head], links, reaches])
    passed = np.concatenate([first, links, np.full(count + n, -1)])
    graph, arcs = numbered(starts, stops, count + 2 * n)
    begins = np.concatenate([[0], np.cumsum(np.bincount(first, minlength=count) + 1)])
    order = np.argsort(np.concatenate([first, links]), kind="stable")
    search = Search(graph, passed[arcs], leaves, reaches, links, stops[: len(order)][order], begins, by_links=True)
    if cost is None:
        return search
    cost = np.append(cost[free], np.zeros(len(starts) - len(first)))
    return search._replace(turn_of_arc=cost[arcs], turn_of_follower=cost[: len(order)][order])
