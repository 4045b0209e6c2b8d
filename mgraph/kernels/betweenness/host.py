"""The kernels of ``kernels/betweenness.cu`` for the CPU: the same operations on the same arrays.

That file's opening explains the algorithm. Here a core takes a source. What the sources of a batch contribute is added
vertex by vertex, in their order. So the results have the same bits for any number of cores.

By weights, few edges of a graph of many are on shortest paths from a source. They are listed in one pass over the
edges, the predecessors of Brandes' algorithm the other way round, and then followed forward and backward.
"""

import math

import numpy as np

from ...device.numba import prange
from ...device.numba.caching import njit
from ...dtypes import infinity
from . import LARGE, LOST, TOO_MANY, Rows

#: Sources of a batch for each core, several so that cores that are done sooner than others wait little.
SOURCES = 8

_LARGE, _TOO_MANY, _LOST = LARGE, TOO_MANY, LOST
_FAR = np.iinfo(np.int32).max
_GATHERED = 4  # edges that are gathered from in the time in which one is followed
_DENSE = 6  # edges for each vertex from which on those on shortest paths are listed
_LISTED = 2  # edges on shortest paths for each vertex for which there is room in a row's list
_CHUNK = 1024  # vertices of which a core adds up the dependencies at a time


def rows(xp, k, n, dtype, wide):
    return Rows(
        distances=np.empty((k, n), dtype),
        order=np.empty((k, n), np.int32),
        work=np.empty((k, 1 + (1 + _LISTED) * n), np.int32),
        counts=np.empty((k, n)),
        exponents=np.empty((k, n if wide else 0), np.int32),
        dependencies=np.empty((k, n)),
        shares=np.empty((k, n)),
    )


def row_bytes(n, itemsize, wide):
    return n * (itemsize + 32 + 4 * _LISTED + 4 * wide) + 4


@njit(parallel=True, nogil=True, cache=True)
def levels(by_source, by_target, sources, targets, limit, rows, trouble):
    indptr = by_source[0]
    indices = by_source[1]
    in_indptr = by_target[0]
    in_indices = by_target[1]
    distances = rows.distances
    order = rows.order
    work = rows.work
    counts = rows.counts
    exponents = rows.exponents
    dependencies = rows.dependencies
    shares = rows.shares
    unit = np.ones(1, np.int32)
    for i in prange(len(sources)):
        edges, incoming = (indptr, indices, unit, 0), (in_indptr, in_indices)
        row = distances[i], order[i], work[i], counts[i], exponents[i], dependencies[i], shares[i]
        dependencies[i] = 0.0
        counts[i] = 0.0
        found, reached = _search(edges, incoming, sources[i], limit, row)
        if exponents.shape[1]:
            _count((in_indptr, in_indices, unit, 0), sources[i], _FAR, reached, row)
            _depend(edges, sources[i], targets, _FAR, reached, row)
        elif _depend_by_level(edges, sources[i], targets, found, reached, row):
            trouble[_TOO_MANY] = 1


@njit(nogil=True, cache=True)
def _search(edges, incoming, source, limit, row):
    """Search from a source, and count the shortest paths; return where each level begins in the order, and the end.

    A level is found from the vertices of the one before, or by the vertices that are left if these have few edges. To
    gather, a vertex adds up what `front` has of all its neighbours: zero for those that are not of the level before.
    """
    indptr, indices, _, _ = edges
    in_indptr, in_indices = incoming
    distances, order, starts, counts, _, _, front = row
    n = np.uint64(len(distances))
    distances[:] = _FAR
    front[:] = 0.0
    distances[source], counts[source], order[0] = 0, 1.0, source
    begin, tail, level = 0, 1, 0
    left = np.int64(in_indptr[n]) - (in_indptr[source + 1] - in_indptr[source])
    ahead = np.int64(indptr[source + 1] - indptr[source])
    while begin < tail and level < limit:
        starts[level] = begin
        level += 1
        end, following = tail, 0
        if _GATHERED * ahead > left + len(distances):
            for place in range(begin, end):
                front[order[place]] = counts[order[place]]
            for v in range(n):
                if distances[v] > level:
                    paths = _sum(front, in_indices, np.uint64(in_indptr[v]), np.uint64(in_indptr[v + np.uint64(1)]))
                    if paths:
                        distances[v], counts[v], order[tail] = level, paths, v
                        tail += 1
            for place in range(begin, end):
                front[order[place]] = 0.0
        else:
            for place in range(begin, end):
                u = np.uint64(order[place])
                paths = counts[u]
                for e in range(np.uint64(indptr[u]), np.uint64(indptr[u + np.uint64(1)])):
                    v = np.uint64(indices[e])
                    if distances[v] > level:
                        distances[v] = level
                        order[tail] = v
                        tail += 1
                    if distances[v] == level:
                        counts[v] += paths
        for place in range(end, tail):
            v = np.uint64(order[place])
            left -= in_indptr[v + np.uint64(1)] - in_indptr[v]
            following += indptr[v + np.uint64(1)] - indptr[v]
        begin, ahead = end, following
    if begin < tail:
        starts[level] = begin
        level += 1
    return level, tail


@njit(nogil=True, cache=True)
def _sum(values, indices, begin, end):
    """Return the sum of some values, four at a time: each sum would wait for the one before."""
    first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
    e = begin
    while e + np.uint64(4) <= end:
        first += values[np.uint64(indices[e])]
        second += values[np.uint64(indices[e + np.uint64(1)])]
        third += values[np.uint64(indices[e + np.uint64(2)])]
        fourth += values[np.uint64(indices[e + np.uint64(3)])]
        e += np.uint64(4)
    while e < end:
        first += values[np.uint64(indices[e])]
        e += np.uint64(1)
    return (first + second) + (third + fourth)


@njit(nogil=True, cache=True)
def _depend_by_level(edges, source, targets, levels, reached, row):
    """Gather the dependencies, the last level first; return whether a number of paths is too large.

    While a level gathers, `shares` is zero for all vertices but those of the next level.
    """
    indptr, indices, _, _ = edges
    _, order, starts, counts, _, dependencies, shares = row
    large, end, last = False, reached, reached
    for level in range(levels - 1, -1, -1):
        begin = starts[level]
        for place in range(begin, end):
            u = np.uint64(order[place])
            large |= not counts[u] <= _LARGE
            dependencies[u] = counts[u] * _sum(
                shares, indices, np.uint64(indptr[u]), np.uint64(indptr[u + np.uint64(1)])
            )
        for place in range(end, last):
            shares[order[place]] = 0.0
        for place in range(begin, end):
            u = np.uint64(order[place])
            shares[u] = (dependencies[u] + (targets[u] and u != source)) / counts[u]
        last, end = end, begin
    for place in range(reached):
        u = np.uint64(order[place])
        shares[u] = (dependencies[u] + (targets[u] and u != source)) / counts[u]
    return large


def tight(by_source, by_target, sources, targets, rows, trouble):
    dtype = rows.distances.dtype
    _tight(by_source, by_target, sources, targets, infinity(dtype), dtype.kind == "i", rows, trouble)


@njit(parallel=True, nogil=True, cache=True)
def _tight(by_source, by_target, sources, targets, far, whole, rows, trouble):
    """Fill the rows but for the distances, which are `far` where there is no path, and may be `whole` numbers."""
    indptr = by_source[0]
    indices = by_source[1]
    lengths = by_source[2]
    in_indptr = by_target[0]
    in_indices = by_target[1]
    in_lengths = by_target[2]
    distances = rows.distances
    order = rows.order
    work = rows.work
    counts = rows.counts
    exponents = rows.exponents
    dependencies = rows.dependencies
    shares = rows.shares
    n = distances.shape[1]
    listed = len(indices) >= _DENSE * n and not exponents.shape[1]
    for i in prange(len(sources)):
        edges, incoming = (indptr, indices, lengths, 1), (in_indptr, in_indices, in_lengths, 1)
        row = distances[i], order[i], work[i], counts[i], exponents[i], dependencies[i], shares[i]
        starts, ends = work[i, : n + 1], work[i, n + 1 :]
        if listed and _list(edges, far, distances[i], starts, ends):
            reached = _ordered((starts, ends, lengths, 0), sources[i], far, whole, (0,), row)
            lost = reached < 0 or not _count_listed(starts, ends, sources[i], reached, row)
            large = not lost and _depend_listed(starts, ends, sources[i], targets, reached, row)
        else:
            reached = _ordered(edges, sources[i], far, whole, (), row)
            lost = reached < 0 or not _count(incoming, sources[i], far, reached, row)
            large = not lost and _depend(edges, sources[i], targets, far, reached, row)
        if lost:
            trouble[_LOST] = 1
        if large:
            trouble[_TOO_MANY] = 1


@njit(nogil=True, cache=True)
def _list(edges, far, distances, starts, ends):
    """List the edges on shortest paths by their sources, if they are few; return whether they are.

    They are unless many paths are equally long, which shows after a part of the vertices.
    """
    indptr, indices, lengths, _ = edges
    n, count = len(distances), 0
    for u in range(np.uint64(n)):
        starts[u] = count
        away, room = distances[u], min(len(ends), _LISTED * u + n // 8 + 8)
        if away < far:
            for e in range(np.uint64(indptr[u]), np.uint64(indptr[u + np.uint64(1)])):
                v, there = np.uint64(indices[e]), away + lengths[e]
                if distances[v] == there and away < there < far:
                    if count >= room:
                        return False
                    ends[np.uint64(count)] = v
                    count += 1
    starts[n] = count
    return True


@njit(nogil=True, cache=True)
def _count_listed(starts, ends, source, reached, row):
    """Count the shortest paths along listed edges, as `_count` does."""
    _, order, _, counts, _, _, _ = row
    counts[:] = 0.0
    counts[source] = 1.0
    for place in range(reached):
        u = np.uint64(order[place])
        paths = counts[u]
        if paths == 0.0:
            return False
        for e in range(np.uint64(starts[u]), np.uint64(starts[u + np.uint64(1)])):
            counts[np.uint64(ends[e])] += paths
    return True


@njit(nogil=True, cache=True)
def _depend_listed(starts, ends, source, targets, reached, row):
    """Gather the dependencies along listed edges, as `_depend` does."""
    _, order, _, counts, _, dependencies, shares = row
    large = False
    dependencies[:] = 0.0
    for place in range(reached - 1, -1, -1):
        u = np.uint64(order[place])
        behind, paths = 0.0, counts[u]
        large |= not paths <= _LARGE
        for e in range(np.uint64(starts[u]), np.uint64(starts[u + np.uint64(1)])):
            behind += shares[np.uint64(ends[e])]
        dependencies[u] = paths * behind
        shares[u] = (dependencies[u] + (targets[u] and u != source)) / paths
    return large


@njit(nogil=True, cache=True)
def _fits(edges, e, away, distances, far, listed):
    """Return whether an edge from a vertex that is `away` is on shortest paths; one that is listed is."""
    if len(listed):
        return True
    _, indices, lengths, step = edges
    there = away + lengths[e * np.uint64(step)]
    return (distances[np.uint64(indices[e])] == there) & (away < there < far)


@njit(nogil=True, cache=True)
def _ordered(edges, source, far, whole, listed, row):
    """Order the vertices within reach; return how many there are, or -1 if one waits for ever.

    By their distances, if these are whole numbers of few digits, else by Kahn's algorithm. The compiler knows by the
    length of `listed` whether all edges are on shortest paths.
    """
    indptr, indices, _, _ = edges
    distances, order, _, _, _, dependencies, _ = row
    n, farthest, reached = np.uint64(len(distances)), distances[source], 0
    other = dependencies.view(np.int32)
    places = other[len(distances) :]
    for v in range(n):
        if distances[v] < far:
            farthest = max(farthest, distances[v])
            order[reached] = v
            reached += 1
    bits = 0
    while np.uint64(2) << np.uint64(bits) <= n:
        bits += 1
    if whole and np.int64(farthest) < np.int64(1) << 2 * bits:
        _sort_by_digit(distances, order, other, reached, 0, bits, places)
        _sort_by_digit(distances, other, order, reached, bits, bits, places)
        return reached
    waits = places
    waits[:] = 0
    for u in range(n):
        away = distances[u]
        if away < far:
            for e in range(np.uint64(indptr[u]), np.uint64(indptr[u + np.uint64(1)])):
                waits[np.uint64(indices[e])] += _fits(edges, e, away, distances, far, listed)
    order[0] = source
    head, tail = 0, 1
    while head < tail:
        u = np.uint64(order[head])
        head += 1
        away = distances[u]
        for e in range(np.uint64(indptr[u]), np.uint64(indptr[u + np.uint64(1)])):
            if _fits(edges, e, away, distances, far, listed):
                v = np.uint64(indices[e])
                waits[v] -= 1
                if not waits[v]:
                    order[tail] = v
                    tail += 1
    return reached if tail == reached else -1


@njit(nogil=True, cache=True)
def _sort_by_digit(distances, given, into, count, shift, bits, places):
    """Sort vertices by some bits of their distances, those of equal bits in the given order."""
    mask = np.int64((1 << bits) - 1)
    places[: mask + 1] = 0
    for k in range(count):
        places[np.uint64(np.int64(distances[given[k]]) >> shift & mask)] += 1
    before = np.int32(0)
    for digit in range(mask + 1):
        before, places[digit] = before + places[digit], before
    for k in range(count):
        digit = np.uint64(np.int64(distances[given[k]]) >> shift & mask)
        into[places[digit]] = given[k]
        places[digit] += 1


@njit(nogil=True, cache=True)
def _count(incoming, source, far, reached, row):
    """Count the shortest paths; return whether edges explain all distances."""
    indptr, indices, lengths, step = incoming
    distances, order, _, counts, exponents, _, _ = row
    wide = len(exponents) > 0
    counts[:] = 0.0
    counts[source] = 1.0
    if wide:
        exponents[source] = 0
    for place in range(1, reached):
        v = np.uint64(order[place])
        there, paths, exponent = distances[v], 0.0, np.int32(0)
        for e in range(np.uint64(indptr[v]), np.uint64(indptr[v + np.uint64(1)])):
            u = np.uint64(indices[e])
            away = distances[u]
            fits = (away + lengths[e * np.uint64(step)] == there) & (away < there)
            if not wide:
                paths += counts[u] * fits  # a vertex out of reach has a count of zero
            elif fits:
                shift = exponents[u] - exponent
                if paths == 0.0:
                    paths, exponent = counts[u], exponents[u]
                elif shift > 0:
                    paths, exponent = counts[u] + math.ldexp(paths, -shift), exponents[u]
                else:
                    paths += math.ldexp(counts[u], shift)
        if paths == 0.0:
            return False
        if wide:
            paths, shift = math.frexp(paths)
            exponents[v] = exponent + shift
        counts[v] = paths
    return True


@njit(nogil=True, cache=True)
def _depend(edges, source, targets, far, reached, row):
    """Gather the dependencies, the last vertices first; return whether a number of paths is too large."""
    indptr, indices, lengths, step = edges
    distances, order, _, counts, exponents, dependencies, shares = row
    large, wide = False, len(exponents) > 0
    dependencies[:] = 0.0
    shares[:] = 0.0
    for place in range(reached - 1, -1, -1):
        u = np.uint64(order[place])
        away, behind, paths = distances[u], 0.0, counts[u]
        large |= not paths <= _LARGE
        for e in range(np.uint64(indptr[u]), np.uint64(indptr[u + np.uint64(1)])):
            v = np.uint64(indices[e])
            there = distances[v]
            fits = (away + lengths[e * np.uint64(step)] == there) & (away < there)
            if not wide:
                behind += shares[v] * fits  # zero at a vertex out of reach
            elif fits and there < far:
                behind += math.ldexp(shares[v], exponents[u] - exponents[v])
        passing = paths * behind
        dependencies[u] = passing
        shares[u] = (passing + (targets[u] and u != source)) / paths
    return large


@njit(parallel=True, nogil=True, cache=True)
def add(sources, targets, endpoints, rows, sums):
    counts = rows.counts
    dependencies = rows.dependencies
    n = len(sums)
    for chunk in prange((n + _CHUNK - 1) // _CHUNK):
        first, last = chunk * _CHUNK, min(n, chunk * _CHUNK + _CHUNK)
        for i in range(len(sources)):
            source = sources[i]
            for v in range(first, last):
                if v != source:
                    sums[v] += dependencies[i, v] + (endpoints and targets[v] and counts[i, v] > 0.0)
                elif endpoints:
                    sums[v] += np.rint(dependencies[i, v])  # the number of targets within reach


def add_edges(by_source, lengths, rows, sums):
    step = int(lengths is not None)
    lengths = np.ones(1, np.int32) if lengths is None else lengths
    _add_edges(by_source, lengths, step, infinity(rows.distances.dtype), rows, sums)


@njit(parallel=True, nogil=True, cache=True)
def _add_edges(by_source, lengths, step, far, rows, sums):
    """Add the dependencies on each edge; with `step` 0 all have the first length."""
    indptr = by_source[0]
    indices = by_source[1]
    distances = rows.distances
    counts = rows.counts
    exponents = rows.exponents
    shares = rows.shares
    wide = exponents.shape[1] > 0
    for u in prange(len(indptr) - 1):
        for i in range(len(distances)):
            away, paths = distances[i, u], counts[i, u]
            if away < far:
                for e in range(indptr[u], indptr[u + 1]):
                    v, there = indices[e], away + lengths[e * step]
                    if distances[i, v] == there and away < there < far:
                        if wide:
                            sums[e] += paths * math.ldexp(shares[i, v], exponents[i, u] - exponents[i, v])
                        else:
                            sums[e] += paths * shares[i, v]
