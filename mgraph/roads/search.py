"""The graph that searches of a network go through, and the ways by which places are left and reached.

A search begins and ends at vertices. A place within a street is left by the vertices that follow its link and reached
by the one before, and the part of the link to there costs its share of each column. Both directions of a two-way street
are such ways, and so is the part between two places on one street. The least sum counts.
"""

from typing import Any, NamedTuple

import numpy as np

from .. import device as devices
from ..graph import Graph


class Search(NamedTuple):
    """A graph that is searched: the links that its arcs pass, and where links and vertices begin and end.

    Attributes
    ----------
    graph : Graph
        A directed graph without weights.
    link_of_arc : array of int64, shape (arcs,)
        The link that each arc passes, in the order of `coo`; -1 for one that passes none.
    leaves, reaches : array of int64, shape (n,)
        The vertices of the graph by which each vertex of the network is left and reached.
    entered : array of int64, shape (links,)
        The vertex of the graph at which each link is entered.
    followers, begins : array of int64
        The vertices of the graph that links lead to, and where those of each link begin, shape (links + 1,).
    turn_of_arc, turn_of_follower : array of float64 or None
        What the turn of each arc, and from a link to each of its followers, costs; None if turns cost nothing.
    by_links : bool
        Whether vertex i of the graph is where link i is entered, and nothing else.
    """

    graph: Graph
    link_of_arc: np.ndarray
    leaves: np.ndarray
    reaches: np.ndarray
    entered: np.ndarray
    followers: np.ndarray
    begins: np.ndarray
    turn_of_arc: np.ndarray | None = None
    turn_of_follower: np.ndarray | None = None
    by_links: bool = False

    def column(self, links: np.ndarray, turns: bool) -> "Column":
        """Return a column of links as it is searched, with what turns cost or without."""
        arcs = np.append(links, 0.0)[self.link_of_arc]
        if not turns or self.turn_of_arc is None:
            return Column(links, arcs, None)
        return Column(links, arcs + self.turn_of_arc, self.turn_of_follower)

    def turns_along(self, links: np.ndarray) -> float:
        """Return what the turns between the links of a route cost."""
        if self.turn_of_follower is None:
            return 0.0
        total = 0.0
        for link, entered in zip(links[:-1].tolist(), self.entered[links[1:]].tolist(), strict=True):
            part = slice(self.begins[link], self.begins[link + 1])
            total += float(self.turn_of_follower[part][self.followers[part] == entered][0])
        return total

    def links(self, vertices: np.ndarray, column: np.ndarray) -> np.ndarray:
        """Return the links of a path; of parallel ones, the first of the least weight."""
        begins, targets = (devices.to_host(part) for part in self.graph.csr()[:2])
        costs, chosen = np.append(column, 0.0), []
        for tail, head in zip(vertices[:-1].tolist(), vertices[1:].tolist(), strict=True):
            arcs = slice(begins[tail], begins[tail + 1])
            links = self.link_of_arc[arcs][targets[arcs] == head]
            chosen.append(links[np.argmin(costs[links])])
        found = np.array(chosen, np.int64)
        return found[found >= 0]

    def ways_from(self, spots: "Spots") -> "Ways":
        """Return the ways by which places are left."""
        at = np.flatnonzero(spots.vertices >= 0)
        spot, turns = self.turns_of(spots.links)
        rows, links, shares = (each[spot] for each in (spots.rows, spots.links, 1 - spots.shares))
        vertices = self.leaves[spots.vertices[at]]
        return _ways(len(spots.vertices), at, vertices, self.followers[turns], rows, links, shares, turns)

    def entries_from(self, spots: "Spots") -> "Ways":
        """Return the ways by which places are left, each from where its link is entered, where no other is entered.

        That is a single way for all turns. Its share is that before the place, which is not gone: a negative one. The
        way from there to there is nothing then, not a `rounds`.
        """
        if not self.by_links:
            return self.ways_from(spots)
        at = np.flatnonzero(spots.vertices >= 0)
        vertices, none = self.leaves[spots.vertices[at]], np.full(len(spots.links), -1)
        return _ways(len(spots.vertices), at, vertices, spots.links, spots.rows, spots.links, -spots.shares, none)

    def turns_of(self, links: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return all turns from links to their followers: the places of the links among those given, and the turns."""
        counts = np.diff(self.begins)[links]
        step = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        return np.repeat(np.arange(len(links)), counts), np.repeat(self.begins[:-1][links], counts) + step

    def ways_to(self, spots: "Spots") -> "Ways":
        """Return the ways by which places are reached."""
        at = np.flatnonzero(spots.vertices >= 0)
        before = self.entered[spots.links]
        vertices = self.reaches[spots.vertices[at]]
        none = np.full(len(before), -1)
        return _ways(len(spots.vertices), at, vertices, before, spots.rows, spots.links, spots.shares, none)


class Spots(NamedTuple):
    """Where places lie: at a vertex, or within links, in both directions of a two-way street.

    Attributes
    ----------
    vertices : array of int64, shape (k,)
        The vertex of each place, -1 for one within a street.
    rows, links, shares : array, shape (p,)
        The places within streets, their links, and which share of each lies before the place.
    """

    vertices: np.ndarray
    rows: np.ndarray
    links: np.ndarray
    shares: np.ndarray


class Ways(NamedTuple):
    """The ways by which each of k places is left or reached.

    Attributes
    ----------
    vertices, links : array of int64, shape (k, ways)
        The vertex of the graph to or from which a way leads, and the link that it passes in part, -1 for none.
    shares : array of float64, shape (k, ways)
        Which share of the link it passes; ``inf`` where a place has fewer ways. A negative one is not gone of a link
        that the way from the vertex begins with.
    turns : array of int64, shape (k, ways)
        Which of all followers of links the vertex is, if it is one; otherwise -1.
    """

    vertices: np.ndarray
    links: np.ndarray
    shares: np.ndarray
    turns: np.ndarray


class Column(NamedTuple):
    """A column of links, the same numbers as weights of the arcs that are searched, and what turns cost."""

    links: np.ndarray
    arcs: np.ndarray
    turns: np.ndarray | None

    def passed(self, ways: Ways) -> np.ndarray:
        """Return what the ways from or to places cost, shape (k, ways)."""
        parts = part_of(self.links, ways.links, ways.shares)
        return parts if self.turns is None else parts + np.append(self.turns, 0.0)[ways.turns]


class Meetings(NamedTuple):
    """Pairs of places of which the second lies further along the same link, and the share of it between them."""

    rows: np.ndarray
    columns: np.ndarray
    links: np.ndarray
    shares: np.ndarray


def meetings(starts: Spots, ends: Spots) -> Meetings:
    """Return the pairs of places that a part of a single link connects."""
    order = np.argsort(ends.links, kind="stable")
    first, last = (np.searchsorted(ends.links[order], starts.links, side) for side in ("left", "right"))
    counts = last - first
    step = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    start, end = np.repeat(np.arange(len(counts)), counts), order[np.repeat(first, counts) + step]
    shares = ends.shares[end] - starts.shares[start]
    start, end, shares = (each[shares >= 0] for each in (start, end, shares))
    return Meetings(starts.rows[start], ends.rows[end], starts.links[start], shares)


def part_of(column: np.ndarray, links: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return shares of a column of links: of no link, and where nothing of it is passed, 0 or the ``inf`` of `Ways`.

    Any share of a closed link is ``inf``, a negative one too.
    """
    values = np.where(links < 0, 1.0, column[links]) if len(column) else np.ones(links.shape)
    found = np.multiply(values, shares, out=np.zeros(shares.shape), where=shares != 0)
    return np.where(np.isinf(found), np.inf, found)


def _ways(
    count: int,
    at: np.ndarray,
    vertices: np.ndarray,
    within: np.ndarray,
    rows: np.ndarray,
    links: np.ndarray,
    shares: np.ndarray,
    turns: np.ndarray,
) -> Ways:
    """Return the ways of places at vertices, and of those within links, side by side for each place."""
    rows = np.concatenate([at, rows])
    order = np.argsort(rows, kind="stable")
    rows = rows[order]
    slot = np.arange(len(rows)) - np.searchsorted(rows, rows)
    shape = count, int(slot.max(initial=0)) + 1
    found = Ways(np.zeros(shape, np.int64), np.full(shape, -1), np.full(shape, np.inf), np.full(shape, -1))
    none = np.full(len(at), -1)
    own_of = vertices, none, np.zeros(len(at)), none
    for matrix, own, others in zip(found, own_of, (within, links, shares, turns), strict=True):
        matrix[rows, slot] = np.concatenate([own, others])[order]
    return found


def numbered(tail: Any, head: Any, n: int, ids: Any = None) -> tuple[Graph, np.ndarray]:
    """Return a directed graph without weights, and which of the given edges each of its edges is."""
    graph = Graph.from_edges(tail, head, np.arange(len(tail), dtype=np.float64), n, ids=ids)
    numbers = graph.listed().weights
    edges = np.empty(0, np.int64) if numbers is None else devices.to_host(numbers).astype(np.int64)
    return graph.unweighted(), edges


def search_of(tail: np.ndarray, head: np.ndarray, graph: Graph, link_of_arc: np.ndarray) -> Search:
    """Return the search of a network without rules of turns: its own graph."""
    every = np.arange(graph.n)
    return Search(graph, link_of_arc, every, every, tail, head, np.arange(len(head) + 1))
