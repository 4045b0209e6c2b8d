"""Betweenness down a hierarchy, on a CPU: numbers of paths by elimination, and dependencies by its adjoint.

A shortest path climbs to ever higher ranks, over entries upwards, and then falls over entries downwards. It does so in
one way only, if an entry stands for the paths between its ends over lower vertices. So pairs of a length and a number
of paths are eliminated as lengths are, in Carré's algebra [1]_, where equal lengths add up their numbers. A sweep down
the tree, as in PHAST [2]_ and by an order of nested dissection [3]_, finds the distance and the number of paths from
some sources, a lane each, to every vertex.

Brandes' dependencies are the adjoints of these numbers [4]_: the derivatives of the sum over the targets of the
logarithm of the number of paths to each. A sweep up the tree, in the reverse order, takes them from each vertex to its
upper neighbours, and adds up what each entry carries, over all sources. In the end the entries hand this down, once: to
the edge between their ends, and to the vertices below them, by the shares of the paths. All terms are positive, so that
nothing cancels.

- The ranks are a postorder of the tree. A block, a subtree of some vertices, is swept down and at once up again, while
  its rows are in the cache. Above the blocks a core keeps the rows of the ancestors of the vertex at hand, by depth.
- Distances are int32, so that equal ones are equal in whatever way sums are grouped. An entry whose upper vertex is not
  on shortest paths to the lower one adds zero, without a branch.
- Sources are dealt out by their ranks to `SHARES` shares, whose sums are added up in their order.

References
----------
.. [1] B. A. Carré, "An algebra for network routing problems", 1971.
.. [2] D. Delling, A. V. Goldberg, A. Nowatzyk and R. F. Werneck, "PHAST: hardware-accelerated shortest path trees",
   2011.
.. [3] J. Dibbelt, B. Strasser and D. Wagner, "Customizable contraction hierarchies", 2016.
.. [4] U. Brandes, "A faster algorithm for betweenness centrality", 2001; W. Baur and V. Strassen, "The complexity of
   partial derivatives", 1983.
"""

from typing import Any, NamedTuple

import numpy as np

from ...device.numba.caching import njit
from ...device.numba.least import opaque_zero
from ...device.numba.sharing import on_all_cores
from ...dtypes import kernel_infinity
from ..betweenness import LARGE
from . import LANES, SHARES, Numbers, Sums

_LANES, _LARGE, FAR = LANES, LARGE, np.int32(kernel_infinity(np.dtype(np.int32)))

#: The most vertices of a block: 200 KiB of rows.
_BLOCK = 320

#: Sums of positive terms may be made in the order that vectors have, and no branch asks for a division by zero.
_VECTORS: dict[str, Any] = {
    "nogil": True,
    "cache": True,
    "fastmath": {"nsz", "contract", "reassoc"},
    "error_model": "numpy",
}


class _Rows(NamedTuple):
    """A core's rows of lanes: distances, numbers of paths and adjoints, by depth and then those of a block."""

    distances: np.ndarray
    paths: np.ndarray
    adjoints: np.ndarray


class _Climbs(NamedTuple):
    """The same of the ways up from each lane's source, by depth, and the vertices of one way."""

    distances: np.ndarray
    paths: np.ndarray
    adjoints: np.ndarray
    way: np.ndarray


def numbers(structure, edges, up, down):
    tree, entries, lower, upward, downward = structure
    paths_up = np.empty(len(up))
    paths_down = paths_up if down is up else np.empty(len(up))
    table = np.empty(tree.height, np.int64)
    _count(entries, lower, upward, downward, edges, up, down, down is not up, paths_up, paths_down, table)
    first = _blocks(tree)
    places = np.empty(len(up), np.int32)
    _place(entries, first, tree.height, places)
    return Numbers(*structure, edges, up, down, paths_up, paths_down, first, places)


def prepared_bytes(n, entries, directed):
    return (12 + 8 * directed) * entries + 4 * n


def swept_bytes(n, entries, height, sources, cores, directed):
    shares = min(SHARES, -(-sources // _LANES))
    return shares * 8 * (n + (1 + directed) * entries) + min(shares, cores) * _LANES * (40 * height + 20 * _BLOCK)


@njit(nogil=True, cache=True)
def _count(entries, lower, upward, downward, edges, up, down, both, paths_up, paths_down, table):
    """Count the shortest paths of each entry: its edge, then those over each lower neighbour."""
    begin, depth = entries.begin, entries.depth
    for v in range(len(begin) - 1):
        for e in range(begin[v], begin[v + 1]):
            table[depth[e]] = e
            paths_up[e] = 0.0
            paths_down[e] = 0.0
        for k in range(upward.begin[v], upward.begin[v + 1]):
            e = upward.entry[k]
            paths_up[e] = 1.0 if edges[upward.edge[k]] == up[e] else 0.0
        for k in range(downward.begin[v], downward.begin[v + 1] if both else downward.begin[v]):
            e = downward.entry[k]
            paths_down[e] = 1.0 if edges[downward.edge[k]] == down[e] else 0.0
        for k in range(lower.begin[v], lower.begin[v + 1]):
            own = np.int64(lower.entry[k])
            there, back = down[own], up[own]  # from v to the lower neighbour, and from it to v
            for e in range(own + 1, np.int64(begin[lower.vertex[k] + 1])):
                slot = table[depth[e]]
                if there + up[e] == up[slot] and up[slot] < FAR:
                    paths_up[slot] += paths_down[own] * paths_up[e]
                if both and down[e] + back == down[slot] and down[slot] < FAR:
                    paths_down[slot] += paths_down[e] * paths_up[own]


def _blocks(tree):
    """Return the first vertex of each vertex's block; -1 above the blocks."""
    small = tree.size <= _BLOCK
    roots = np.flatnonzero(small & ((tree.parent < 0) | ~small[tree.parent]))
    first = np.full(len(small), -1, np.int32)
    first[small] = np.repeat(roots + 1 - tree.size[roots], tree.size[roots])
    return first


@njit(nogil=True, cache=True)
def _place(entries, first, height, places):
    """Write where the row of each entry's upper vertex is."""
    for e in range(len(places)):
        u = entries.upper[e]
        places[e] = entries.depth[e] if first[u] < 0 else height + u - first[u]


def placed(numbers):
    return numbers


def sweep(placed, sources, targets, limit, endpoints, directed):
    """Return what sweeps from some sources add up; None if a number of paths is too large."""
    numbers = placed
    n, count, height, both = len(numbers.first), len(numbers.up), numbers.tree.height, numbers.down is not numbers.up
    ascending, limit = np.sort(sources), np.int32(min(limit, FAR - 1))
    slices = [ascending[first : first + _LANES] for first in range(0, len(sources), _LANES)]
    dealt = [slices[share::SHARES] for share in range(min(SHARES, len(slices)))]
    apart = both or directed
    shares = []
    for _ in dealt:
        up = np.zeros(count)
        shares.append(Sums(np.zeros(n), up, np.zeros(count) if apart else up))
    fits = [True] * len(dealt)

    def add(share):
        shapes = (height + _BLOCK, _LANES), (_LANES, height)
        rows, climbs = ((np.empty(shape, np.int32), np.zeros(shape), np.zeros(shape)) for shape in shapes)
        work = _Rows(*rows), _Climbs(*climbs, np.empty(height, np.int32))
        for some in dealt[share]:
            if fits[share]:
                fits[share] = bool(_add(numbers, some, targets, limit, endpoints, *work, shares[share]))

    on_all_cores(add, range(len(dealt)))
    if not all(fits) or numbers.paths_up.max(initial=0.0) > LARGE or numbers.paths_down.max(initial=0.0) > LARGE:
        return None
    for other in shares[1:]:
        for total, part in list(zip(shares[0], other, strict=True))[: 2 + apart]:
            total += part
    return shares[0]


def hand_down(numbers, found, edges, sums):
    """Add to `sums` what was found of vertices, or of the edges, once entries have handed down what they carry."""
    table, apart = np.empty(numbers.tree.height, np.int64), found.down is not found.up
    _hand_down(numbers, found, apart, edges, sums if edges else found.vertices, table)
    if not edges:
        sums += found.vertices


@njit(nogil=True, cache=True)
def _add(numbers, sources, targets, limit, endpoints, rows, climbs, sums):
    """Add what some sources, ascending, contribute; return whether no number of paths is too large."""
    tree, first = numbers.tree, numbers.first
    held, height, fits, low = 0, climbs.distances.shape[1], True, len(sources)
    lanes = 0 * low, low
    way = np.empty(height, np.int32)  # the vertices above the one at hand
    for lane in range(len(sources)):
        _climb(numbers, sources[lane], climbs.distances[lane], climbs.paths[lane], climbs.adjoints[lane])
    v = len(first) - 1
    while v >= 0 or held > 0:
        while held > (tree.depth[v] if v >= 0 else 0):  # all below them is done
            held -= 1
            u = way[held]
            _rise(numbers, u, u, held, lanes, (sources, targets, limit, endpoints), rows, climbs, sums)
        if v < 0:
            break
        if first[v] < 0:
            fits &= _fall(numbers, v, v, held, lanes, sources, rows, climbs)
            way[held] = v
            held += 1
            v -= 1
            continue
        begin = np.int64(first[v])
        low, high = _between(sources, begin, v, low)
        inside = low, high
        fits &= _fall(numbers, begin, v, height, inside, sources, rows, climbs)
        _rise(numbers, begin, v, height, inside, (sources, targets, limit, endpoints), rows, climbs, sums)
        v = begin - 1
    for lane in range(len(sources)):
        _descend(numbers, sources[lane], lane, endpoints, climbs, sums)
    return fits


@njit(nogil=True, cache=True)
def _between(sources, first, last, end):
    """Return where the sources in a range of ranks begin and end; those from `end` on are above it."""
    while end > 0 and sources[end - 1] > last:
        end -= 1
    begin = end
    while begin > 0 and sources[begin - 1] >= first:
        begin -= 1
    return begin, end


@njit(nogil=True, cache=True)
def _climb(numbers, source, distances, paths, adjoints):
    """Write the lengths and the numbers of the upward paths from a source to its ancestors, by depth."""
    begin, depth, up, counts = numbers.entries.begin, numbers.entries.depth, numbers.up, numbers.paths_up
    d = numbers.tree.depth[source]
    distances[:d] = FAR
    paths[:d] = 0.0
    adjoints[: d + 1] = 0.0
    distances[d], paths[d] = 0, 1.0
    v = source
    while v >= 0:
        own = distances[d]
        if own < FAR:
            for e in range(begin[v], begin[v + 1]):
                above, there = depth[e], own + up[e]
                if there < distances[above]:
                    distances[above], paths[above] = there, 0.0
                if there == distances[above] and there < FAR:
                    paths[above] += paths[d] * counts[e]
        v = numbers.tree.parent[v]
        d -= 1


@njit(nogil=True, cache=True)
def _fall(numbers, first, last, place, lanes, sources, rows, climbs):
    """Write the distances and numbers of paths of some vertices, the last one first; return whether none is too large.

    Their rows begin at a place. The sources of some lanes may lie below them.
    """
    begin, places, down, counts = numbers.entries.begin, numbers.places, numbers.down, numbers.paths_down
    greatest = 0.0
    for v in range(last, first - 1, -1):
        row = place + v - first
        distances, paths = rows.distances[row], rows.paths[row]
        lowest, d, e, end = v - numbers.tree.size[v], numbers.tree.depth[v], np.int64(begin[v]), np.int64(begin[v + 1])
        _clear(distances, paths, rows.adjoints[row])
        for lane in range(lanes[0], lanes[1]):
            if lowest < sources[lane] <= v:
                distances[lane] = climbs.distances[lane, d]
        _lower(e, end, places, down, rows.distances, distances)
        for lane in range(lanes[0], lanes[1]):
            if lowest < sources[lane] <= v and climbs.distances[lane, d] == distances[lane]:
                paths[lane] = climbs.paths[lane, d]
        greatest = max(greatest, _gather(e, end, places, down, counts, rows, distances, paths))
    return greatest <= _LARGE


@njit(**_VECTORS)
def _clear(distances, paths, adjoints):
    """Empty the rows of a vertex."""
    for lane in range(_LANES):
        distances[lane] = FAR
        paths[lane] = 0.0
        adjoints[lane] = 0.0


@njit(**_VECTORS)
def _lower(e, end, places, lengths, all_distances, distances):
    """Lower the distances of a vertex by its entries, four at a time, the last one again where there are fewer."""
    number, last = distances.dtype.type, end - 1
    nothing = opaque_zero(distances)
    while e < end:
        e1, e2, e3 = min(e + 1, last), min(e + 2, last), min(e + 3, last)
        w0, w1, w2, w3 = lengths[e], lengths[e1], lengths[e2], lengths[e3]
        p0, p1, p2, p3 = np.uint64(places[e]), np.uint64(places[e1]), np.uint64(places[e2]), np.uint64(places[e3])
        d0, d1, d2, d3 = all_distances[p0], all_distances[p1], all_distances[p2], all_distances[p3]
        for lane in range(_LANES):
            t0, t1, t2, t3 = number(d0[lane] + w0), number(d1[lane] + w1), number(d2[lane] + w2), number(d3[lane] + w3)
            t0 = t0 if t0 < t1 else t1
            t2 = t2 if t2 < t3 else t3
            t0 = t0 if t0 < t2 else t2
            known = number(distances[lane] + nothing)
            distances[lane] = t0 if t0 < known else known
        e += 4


@njit(**_VECTORS)
def _gather(begin, end, places, lengths, counts, rows, distances, paths):
    """Add the numbers of paths over the upper neighbours of a vertex; return the greatest number."""
    number = distances.dtype.type
    for e in range(np.uint64(begin), np.uint64(end)):
        place, length, count = np.uint64(places[e]), lengths[e], counts[e]
        above, there = rows.distances[place], rows.paths[place]
        for lane in range(_LANES):
            paths[lane] += there[lane] * count if number(above[lane] + length) == distances[lane] else 0.0
    greatest = 0.0
    for lane in range(_LANES):
        greatest = paths[lane] if paths[lane] > greatest else greatest
    return greatest


@njit(nogil=True, cache=True)
def _rise(numbers, first, last, place, lanes, asked, rows, climbs, sums):
    """Take the adjoints of some vertices to their upper neighbours, the first one first, once those below are done."""
    begin, places, down, counts = numbers.entries.begin, numbers.places, numbers.down, numbers.paths_down
    sources, targets, limit, endpoints = asked
    for v in range(first, last + 1):
        row = place + v - first
        distances, paths, adjoints = rows.distances[row], rows.paths[row], rows.adjoints[row]
        for lane in range(lanes[0], lanes[1]):
            if sources[lane] == v:
                paths[lane] = 0.0  # as nothing passes a source, and no path leads to it
        sums.vertices[v] += _end(distances, paths, adjoints, limit if targets[v] else np.int32(-1), endpoints)
        lowest, d, e, end = v - numbers.tree.size[v], numbers.tree.depth[v], np.int64(begin[v]), np.int64(begin[v + 1])
        _spread(e, end, places, down, counts, rows, distances, adjoints, sums.down)
        for lane in range(lanes[0], lanes[1]):
            if lowest < sources[lane] <= v and climbs.distances[lane, d] == distances[lane]:
                climbs.adjoints[lane, d] = adjoints[lane]


@njit(**_VECTORS)
def _end(distances, paths, adjoints, limit, endpoints):
    """Add to the adjoints of a vertex what ends there, of paths as long as `limit` at most; return what passes it."""
    passing, ending = 0.0, 0.0
    for lane in range(_LANES):
        ends = (distances[lane] <= limit) & (paths[lane] > 0.0)
        passing += adjoints[lane] * paths[lane]
        ending += 1.0 if ends else 0.0
        share = 1.0 / paths[lane]
        adjoints[lane] += share if ends else 0.0
    return passing + ending if endpoints else passing


@njit(**_VECTORS)
def _spread(begin, end, places, lengths, counts, rows, distances, adjoints, carried):
    """Add what the entries of a vertex carry to their sums, and its adjoints to those of its upper neighbours."""
    number = distances.dtype.type
    for e in range(np.uint64(begin), np.uint64(end)):
        place, length, count, total = np.uint64(places[e]), lengths[e], counts[e], 0.0
        above, paths_there, adjoints_there = rows.distances[place], rows.paths[place], rows.adjoints[place]
        for lane in range(_LANES):
            share = adjoints[lane] * count if number(above[lane] + length) == distances[lane] else 0.0
            adjoints_there[lane] += share
            total += share * paths_there[lane]
        carried[e] += total


@njit(nogil=True, cache=True)
def _descend(numbers, source, lane, endpoints, climbs, sums):
    """Take the adjoints of a source's ancestors down its way up."""
    begin, depth, up, counts = numbers.entries.begin, numbers.entries.depth, numbers.up, numbers.paths_up
    distances, paths, adjoints = climbs.distances[lane], climbs.paths[lane], climbs.adjoints[lane]
    last, v = numbers.tree.depth[source], source
    for d in range(last, -1, -1):
        climbs.way[d] = v
        v = numbers.tree.parent[v]
    for d in range(last + 1):
        v, behind = climbs.way[d], 0.0
        if distances[d] == FAR:
            continue
        for e in range(begin[v], begin[v + 1]):
            if distances[d] + up[e] == distances[depth[e]]:
                share = adjoints[depth[e]] * counts[e]
                behind += share
                sums.up[e] += share * paths[d]
        adjoints[d] += behind
        if d < last:
            sums.vertices[v] += behind * paths[d]
    if endpoints:
        sums.vertices[source] += np.rint(adjoints[last])  # the number of targets within reach


@njit(nogil=True, cache=True)
def _hand_down(numbers, carried, apart, of_edges, sums, table):
    """Hand down what entries carry, the highest first: to `sums` of the edges, or of the vertices below."""
    entries, lower, up, down = numbers.entries, numbers.lower, numbers.up, numbers.down
    begin, depth, paths_up, paths_down = entries.begin, entries.depth, numbers.paths_up, numbers.paths_down
    for v in range(len(begin) - 2, -1, -1):
        for e in range(begin[v], begin[v + 1]):
            table[depth[e]] = e
        if of_edges:
            _to_edges(v, numbers.upward, numbers.edges, up, paths_up, carried.up, sums)
            if apart:
                _to_edges(v, numbers.downward, numbers.edges, down, paths_down, carried.down, sums)
        for k in range(lower.begin[v], lower.begin[v + 1]):
            own, x = np.int64(lower.entry[k]), lower.vertex[k]
            for e in range(own + 1, np.int64(begin[x + 1])):
                slot = table[depth[e]]
                if carried.up[slot] > 0.0 and down[own] + up[e] == up[slot]:
                    share = carried.up[slot] * (paths_down[own] * paths_up[e] / paths_up[slot])
                    carried.down[own] += share
                    carried.up[e] += share
                    sums[x] += 0.0 if of_edges else share
                if apart and carried.down[slot] > 0.0 and down[e] + up[own] == down[slot]:
                    share = carried.down[slot] * (paths_down[e] * paths_up[own] / paths_down[slot])
                    carried.down[e] += share
                    carried.up[own] += share
                    sums[x] += 0.0 if of_edges else share


@njit(nogil=True, cache=True)
def _to_edges(v, edges_of, lengths, entry_lengths, paths, carried, sums):
    """Give the edges between a vertex and its upper neighbours their shares of what the entries carry."""
    for k in range(edges_of.begin[v], edges_of.begin[v + 1]):
        e, edge = edges_of.entry[k], edges_of.edge[k]
        if lengths[edge] == entry_lengths[e] and carried[e] > 0.0:
            sums[edge] += carried[e] / paths[e]
