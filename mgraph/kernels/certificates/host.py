"""The kernels of ``kernels/certificates.cu`` for the CPU: the same operations on the same arrays, on all cores.

That file's opening explains the rules and why cores may write marks and the forest at the same time. Edges are cut
into pieces of as many edges, so that a vertex of many neighbours is shared by several cores.

`reach_within` and `peel`, of strong components, search level by level; all cores share the edges of a level if these
are many. Thus a long path costs no more than it does on one core.
"""

import numpy as np
from numba import types
from numba.extending import overload, register_jitable

from ...device.numba import numba, prange
from ...device.numba.atomics import compare_and_swap, fetch_and_add, fetch_and_min
from ...device.numba.caching import njit
from ...device.numba.small import VERTICES, is_small, unless
from ...dtypes import NO_PREDECESSOR

_EDGES = 1 << 15  # edges, and
_CHUNK = 1 << 13  # vertices that a core takes at a time
_SAMPLED = 2  # edges of a vertex that `join_first` looks at
FEW = 1 << 12  # waiting vertices that one core searches from
_FOUND = 256  # vertices that a core finds before it lists them for all
_NONE = NO_PREDECESSOR

# A relative and an absolute difference of floats that are each more than a unit in the last place.
_NEAR, _TINY = np.float32(2.0**-22), np.float32(2.0**-125)


@njit(nogil=True, cache=True)
def _row_of(indptr, e):
    """Return the row of an edge: the last that begins at it or before, of those that are not empty."""
    low, high = 0, len(indptr) - 1
    while high - low > 1:
        middle = (low + high) >> 1
        if indptr[middle] <= e:
            low = middle
        else:
            high = middle
    return low


@njit(nogil=True, cache=True)
def _lower(least, rule, vertex):
    if vertex < least[rule]:
        fetch_and_min(least, rule, np.int32(vertex))


@unless(lambda distances, *_: len(distances) <= VERTICES)
def check_vertices(distances, predecessors, starts, first, last, unreached, most, least):
    n = len(distances)
    for part in prange((last - first + _CHUNK - 1) // _CHUNK):
        wrong_source = beyond = wrong_tree = n
        for v in range(min(last, first + (part + 1) * _CHUNK) - 1, first + part * _CHUNK - 1, -1):
            reached = distances[v] != unreached
            above = _NONE if predecessors is None else predecessors[v]
            if reached and distances[v] > most:
                beyond = v
            if starts[v]:
                if distances[v] != 0 or above != _NONE:
                    wrong_source = v
            elif predecessors is not None:
                if reached:
                    if above < 0 or above >= n or distances[above] == unreached:
                        wrong_tree = v
                elif above != _NONE:
                    wrong_tree = v
        _lower(least, 0, wrong_source)
        _lower(least, 1, beyond)
        _lower(least, 2, wrong_tree)


@unless(lambda distances, *_: len(distances) <= VERTICES)
def check_sources(distances, nearest, starts, first, last, unreached, own, least):
    n = len(distances)
    for part in prange((last - first + _CHUNK - 1) // _CHUNK):
        wrong = n
        for v in range(min(last, first + (part + 1) * _CHUNK) - 1, first + part * _CHUNK - 1, -1):
            near = nearest[v]
            if distances[v] == unreached:
                if near != _NONE:
                    wrong = v
            elif near < 0 or near >= n or not starts[near] or (starts[v] and near > v):
                wrong = v
            own[v] = starts[v] and near == v
        _lower(least, 0, wrong)


@unless(lambda distances, *_: len(distances) <= VERTICES)
def check_nearer(distances, predecessors, starts, first, last, least):
    for part in prange((last - first + _CHUNK - 1) // _CHUNK):
        for v in range(first + part * _CHUNK, min(last, first + (part + 1) * _CHUNK)):
            above = predecessors[v]
            if above != _NONE and not starts[v] and not distances[above] < distances[v]:
                _lower(least, 0, v)
                break


@unless(lambda predecessors, *_: len(predecessors) <= VERTICES)
def climb(predecessors, starts, above):
    for v in prange(len(above)):
        above[v] = v if starts[v] or predecessors[v] == _NONE else predecessors[v]


@unless(lambda above, *_: len(above) <= VERTICES)
def double(above, active):
    for part in prange((len(above) + _CHUNK - 1) // _CHUNK):
        changed = 0
        for v in range(part * _CHUNK, min(len(above), (part + 1) * _CHUNK)):
            top = above[above[v]]
            if top != above[v]:
                above[v] = top
                changed = 1
        if changed:
            active[0] = 1


@unless(lambda predecessors, *_: len(predecessors) <= VERTICES)
def check_roots(predecessors, above, starts, first, last, least):
    for part in prange((last - first + _CHUNK - 1) // _CHUNK):
        for v in range(first + part * _CHUNK, min(last, first + (part + 1) * _CHUNK)):
            if predecessors[v] != _NONE and not starts[above[v]]:
                _lower(least, 0, v)
                break


@register_jitable
def _sum(before, weights, e, rounding):
    """Return the sum of a distance and the length of an edge, in the type of `rounding`."""
    kind = type(rounding)
    return kind(before) + (kind(1) if weights is None else kind(weights[e]))


def _around(total, ulps, rounding):
    """Return the least and the greatest number to accept for a sum."""


@overload(_around)
def _around_of(total, ulps, rounding):
    if isinstance(total, types.Integer):
        return lambda total, ulps, rounding: (total, total)

    def around(total, ulps, rounding):
        low = high = total
        if ulps:
            infinity = type(total)(np.inf)
            low, high = np.nextafter(total, -infinity), np.nextafter(total, infinity)
        if rounding != 0 and np.isfinite(total):
            margin = abs(total) * rounding
            low, high = min(low, total - margin), max(high, total + margin)
        return low, high

    return around


def _is_sum(after, total, ulps, rounding):
    """Return whether a distance is a sum."""


@overload(_is_sum)
def _is_sum_of(after, total, ulps, rounding):
    if isinstance(total, types.Integer):
        return lambda after, total, ulps, rounding: after == total

    def is_sum(after, total, ulps, rounding):
        if after == total:
            return True
        # Few distances are this near to a sum without being it, and the next number takes long to find.
        if abs(after - total) > abs(total) * (_NEAR + 2 * rounding) + _TINY:
            return False
        low, high = _around(total, ulps, rounding)
        return low <= after and after <= high

    return is_sum


def check_edges(
    indptr,
    indices,
    weights,
    first,
    by_source,
    distances,
    predecessors,
    unreached,
    most,
    nonnegative,
    ulps,
    rounding,
    proven,
    tight,
    least,
):
    edges, asked = (indptr, indices, weights), (unreached, most, nonnegative, ulps)
    vectors = distances, predecessors
    _check_edges(*edges, first, by_source, *vectors, *asked, _margin(distances, rounding), proven, tight, least)


def _margin(distances, rounding):
    """Return a relative error in the type of sums."""
    return distances.dtype.type(rounding) if distances.dtype.kind == "f" else np.int64(0)


@unless(is_small)
def _check_edges(
    indptr,
    indices,
    weights,
    first,
    by_source,
    distances,
    predecessors,
    unreached,
    most,
    nonnegative,
    ulps,
    rounding,
    proven,
    tight,
    least,
):
    n, m = len(distances), indptr[-1]
    for part in prange((m + _EDGES - 1) // _EDGES):
        e = part * _EDGES
        end, row = min(m, e + _EDGES), _row_of(indptr, e)
        lost = longer = n
        while e < end:
            own, stop = np.uint32(first + row), min(end, indptr[row + 1])
            for k in range(np.uint64(e), np.uint64(stop)):
                other = np.uint32(indices[k])
                u, v = (own, other) if by_source else (other, own)
                before, after = distances[u], distances[v]
                if before == unreached:
                    continue
                total = _sum(before, weights, k, rounding)
                if after == unreached:
                    # Sums in another order than the search's may have exceeded the limit, others not.
                    high = _around(total, 0, rounding)[1]
                    if high <= most and high < np.inf:
                        lost = min(lost, np.int64(v))
                    continue
                if not _is_sum(after, total, ulps, rounding):
                    if after > total:
                        longer = min(longer, np.int64(v))
                elif before <= after or not nonnegative:
                    place = v if by_source else np.uint32(row)
                    if predecessors is None:
                        tight[place] = 1
                        if nonnegative and before < after:
                            proven[place] = 1
                    elif u == predecessors[v]:
                        proven[place] = 1
            e, row = stop, row + 1
        _lower(least, 0, lost)
        _lower(least, 1, longer)


def check_nearest(
    indptr, indices, weights, first, by_source, distances, nearest, unreached, nonnegative, proven, least
):
    edges, asked = (indptr, indices, weights), (unreached, nonnegative, _margin(distances, 0), proven, least)
    _check_nearest(*edges, first, by_source, distances, nearest, *asked)


@unless(is_small)
def _check_nearest(
    indptr, indices, weights, first, by_source, distances, nearest, unreached, nonnegative, exact, proven, least
):
    n, m = len(distances), indptr[-1]
    for part in prange((m + _EDGES - 1) // _EDGES):
        e = part * _EDGES
        end, row = min(m, e + _EDGES), _row_of(indptr, e)
        wrong = n
        while e < end:
            own, stop = np.uint32(first + row), min(end, indptr[row + 1])
            for k in range(np.uint64(e), np.uint64(stop)):
                other = np.uint32(indices[k])
                u, v = (own, other) if by_source else (other, own)
                before, after = distances[u], distances[v]
                if before == unreached or after == unreached or (nonnegative and after < before):
                    continue
                if after != _sum(before, weights, k, exact):
                    continue
                if nearest[u] < nearest[v]:
                    wrong = min(wrong, np.int64(v))
                elif nearest[u] == nearest[v] and nonnegative and before < after:
                    proven[v if by_source else np.uint32(row)] = 1
            e = stop
            row += 1
        _lower(least, 0, wrong)


@unless(lambda distances, *_: len(distances) <= VERTICES)
def check_marks(distances, starts, first, last, unreached, proven, least):
    for part in prange((last - first + _CHUNK - 1) // _CHUNK):
        for v in range(first + part * _CHUNK, min(last, first + (part + 1) * _CHUNK)):
            if not proven[v - first] and distances[v] != unreached and not starts[v]:
                _lower(least, 0, v)
                break


def list_ties(
    indptr,
    indices,
    weights,
    first,
    by_source,
    distances,
    nearest,
    unreached,
    nonnegative,
    ulps,
    rounding,
    proven,
    count,
    src,
    dst,
):
    edges, asked = (indptr, indices, weights), (unreached, nonnegative, ulps, _margin(distances, rounding))
    _list_ties(*edges, first, by_source, distances, nearest, *asked, proven, count, src, dst)


@unless(is_small)
def _list_ties(
    indptr,
    indices,
    weights,
    first,
    by_source,
    distances,
    nearest,
    unreached,
    nonnegative,
    ulps,
    rounding,
    proven,
    count,
    src,
    dst,
):
    m = indptr[-1]
    for part in prange((m + _EDGES - 1) // _EDGES):
        e = part * _EDGES
        end, row = min(m, e + _EDGES), _row_of(indptr, e)
        while e < end:
            stop = min(end, indptr[row + 1])
            for k in range(e, stop):
                own, other = np.int32(first + row), indices[k]
                u, v = (own, other) if by_source else (other, own)
                before, after = distances[u], distances[v]
                if proven[v if by_source else row] or before == unreached or after == unreached or u == v:
                    continue
                if nearest is not None and nearest[u] != nearest[v]:
                    continue
                total = _sum(before, weights, k, rounding)
                if _is_sum(after, total, ulps, rounding) and (before <= after or not nonnegative):
                    place = fetch_and_add(count, 0, 1)
                    if place < len(src):
                        src[place], dst[place] = u, v
            e = stop
            row += 1


@njit(nogil=True, cache=True)
def spread(src, dst, marks):
    n, new = len(marks), 0
    last, before = np.full(n, -1, np.int64), np.empty(len(src), np.int64)  # the edges from a vertex, as a linked list
    for e in range(len(src)):
        before[e] = last[src[e]]
        last[src[e]] = e
    waiting, count = np.empty(n, np.int32), 0
    for v in range(n):
        if marks[v] and last[v] >= 0:
            waiting[count] = v
            count += 1
    while count:
        count -= 1
        e = last[waiting[count]]
        while e >= 0:
            v = dst[e]
            if not marks[v]:
                marks[v] = 1
                new += 1
                waiting[count] = v
                count += 1
            e = before[e]
    return new


@unless(lambda succ, *_: len(succ) <= VERTICES)
def check_ranks(succ, first, ranks, least):
    n = len(ranks)
    for part in prange((len(succ) + _CHUNK - 1) // _CHUNK):
        for i in range(part * _CHUNK, min(len(succ), (part + 1) * _CHUNK)):
            v, after = np.int64(first + i), np.int64(succ[i])
            expected = np.int64(0) if after == v else np.int64(-1)
            if after != v and 0 <= after and after < n:
                expected = np.int64(ranks[after]) + 1
            if ranks[v] != expected or after < 0 or after >= n:
                fetch_and_min(least, 0, v)
                break


@unless(lambda labels, *_: len(labels) <= VERTICES)
def check_labels(labels, first, last, least, roots):
    """Check the rule "label" at some vertices, and count those that have their own number for a label."""
    for part in prange((last - first + _CHUNK - 1) // _CHUNK):
        wrong, own = len(labels), 0
        for v in range(min(last, first + (part + 1) * _CHUNK) - 1, first + part * _CHUNK - 1, -1):
            label = labels[v]
            if label < 0 or label > v or labels[label] != label:
                wrong = v
            own += label == v
        _lower(least, 0, wrong)
        if own:
            fetch_and_add(roots, 0, np.int32(own))


@njit(nogil=True, cache=True)
def _root(parent, v):
    """Return the root of a vertex, and halve the path to it."""
    while parent[v] != v:
        above = parent[parent[v]]
        parent[v] = above
        v = above
    return v


@njit(nogil=True, cache=True)
def _unite(parent, u, v):
    """Unite the trees of two vertices: the greater root gets the other for its parent."""
    u, v = _root(parent, u), _root(parent, v)
    while u != v:
        if u < v:
            u, v = v, u
        if compare_and_swap(parent, u, u, v) == u:
            return
        u = _root(parent, u)  # another core was faster


@unless(is_small)
def join_first(indptr, indices, first, parent):
    forest = parent.view(np.uint32)
    for row in prange(len(indptr) - 1):
        for e in range(indptr[row], min(indptr[row] + _SAMPLED, indptr[row + 1])):
            _unite(forest, np.uint32(first + row), np.uint32(indices[e]))


@unless(lambda parent: len(parent) <= VERTICES)
def flatten(parent):
    forest = parent.view(np.uint32)
    for v in prange(len(forest)):
        above = forest[v]
        while forest[above] != above:  # only v's own parent is written: others may have reached their root
            above = forest[above]
            forest[v] = above


@unless(lambda other, parent: len(parent) <= VERTICES)
def join(other, parent):
    forest = parent.view(np.uint32)
    for v in prange(len(forest)):
        _unite(forest, np.uint32(v), np.uint32(other[v]))


@unless(lambda labels, *_: len(labels) <= VERTICES)
def mark_joined(labels, parent, codes):
    for v in prange(len(labels)):
        codes[v] = labels[v] if parent[v] == parent[labels[v]] else ~labels[v]


@unless(is_small)
def check_across(indptr, indices, first, codes, parent, least):
    """Check the rule "edge", and unite the trees of the ends of edges that are not both joined with their label."""
    n, m, forest = len(codes), indptr[-1], parent.view(np.uint32)
    for part in prange((m + _EDGES - 1) // _EDGES):
        e = part * _EDGES
        end, row, wrong = min(m, e + _EDGES), _row_of(indptr, e), n
        while e < end:
            own, stop = np.uint32(first + row), min(end, indptr[row + 1])
            for k in range(e, stop):
                other = np.uint32(indices[k])
                one, two = codes[own], codes[other]
                if one == two and one >= 0:
                    continue
                if max(one, ~one) != max(two, ~two):
                    wrong = min(wrong, np.int64(max(own, other)))
                else:
                    _unite(forest, own, other)
            e = stop
            row += 1
        _lower(least, 0, wrong)


@unless(lambda labels, *_: len(labels) <= VERTICES)
def check_joined(labels, parent, first, last, least):
    for part in prange((last - first + _CHUNK - 1) // _CHUNK):
        for v in range(first + part * _CHUNK, min(last, first + (part + 1) * _CHUNK)):
            if parent[v] != parent[labels[v]]:
                _lower(least, 0, v)
                break


def reach_within(indptr, indices, labels, found):
    waiting, ends = np.empty(len(labels), np.int32), np.zeros(1, np.int64)
    own = np.flatnonzero(labels == np.arange(len(labels), dtype=np.int32))
    found.fill(0)
    found[own] = 1
    waiting[: len(own)] = own
    begin, ends[0], few = 0, len(own), _few()
    while begin < ends[0]:
        begin, end = _reach_alone(indptr, indices, labels, found, waiting, begin, ends, few)
        if begin < end:
            _reach_together(indptr, indices, labels, found, waiting, begin, end, ends)
            begin = end


def _few():
    """Return below how many waiting vertices one core goes on alone; without others always."""
    return np.int64(FEW if numba.get_num_threads() > 1 else 2**31)


@njit(nogil=True, cache=True)
def _reach_alone(indptr, indices, labels, found, waiting, begin, ends, few):
    """Search from the waiting vertices while these are few; return which of them are left."""
    end = ends[0]
    while begin < end and end - begin < few:
        v = waiting[begin]
        begin += 1
        for e in range(indptr[v], indptr[v + 1]):
            u = indices[e]
            if found[u] == 0 and labels[u] == labels[v]:
                found[u] = 1
                waiting[end] = u
                end += 1
    ends[0] = end
    return begin, end


@njit(parallel=True, nogil=True, cache=True)
def _reach_together(indptr, indices, labels, found, waiting, begin, end, ends):
    """Take a step from the waiting vertices, and list what it finds behind them."""
    for part in prange((end - begin + _FOUND - 1) // _FOUND):
        new, count = np.empty(_FOUND, np.int32), 0
        for at in range(begin + part * _FOUND, min(end, begin + (part + 1) * _FOUND)):
            v = waiting[at]
            for e in range(indptr[v], indptr[v + 1]):
                u = indices[e]
                if found[u] == 0 and labels[u] == labels[v] and compare_and_swap(found, u, 0, 1) == 0:
                    new[count] = u
                    count += 1
                    if count == _FOUND:
                        _list(new, count, waiting, ends)
                        count = 0
        _list(new, count, waiting, ends)


@njit(nogil=True, cache=True)
def _list(new, count, waiting, ends):
    """Add vertices to those that wait."""
    if count:
        place = fetch_and_add(ends, 0, count)
        waiting[place : place + count] = new[:count]


def peel(indptr, indices, labels, found):
    """Mark the labels that no cycle of labels reaches: those without edges from other labels left are taken off."""
    n = len(labels)
    left, waiting, ends = np.zeros(n, np.int64), np.empty(n, np.int32), np.zeros(1, np.int64)
    _count_entering(indptr, indices, labels, left)
    found.fill(0)
    found[(labels == np.arange(n, dtype=np.int32)) & (left == 0)] = 1
    starts = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(labels, minlength=n), out=starts[1:])
    members = np.empty(n, np.int32)
    _group(labels, starts[:-1].copy(), members)
    free = members[found[labels[members]] != 0]
    waiting[: len(free)] = free
    begin, ends[0], few = 0, len(free), _few()
    while begin < ends[0]:
        begin, end = _peel_alone(indptr, indices, labels, members, starts, found, left, waiting, begin, ends, few)
        if begin < end:
            _peel_together(indptr, indices, labels, members, starts, found, left, waiting, begin, end, ends)
            begin = end


@njit(nogil=True, cache=True)
def _group(labels, places, members):
    """Write the vertices of each label from its place on."""
    for v in range(len(labels)):
        members[places[labels[v]]] = v
        places[labels[v]] += 1


@unless(is_small)
def _count_entering(indptr, indices, labels, left):
    """Count the edges from other labels to each label."""
    m = indptr[-1]
    for part in prange((m + _EDGES - 1) // _EDGES):
        e = part * _EDGES
        end, row = min(m, e + _EDGES), _row_of(indptr, e)
        entered, times = np.int32(0), 0  # many edges lead to the largest component one after the other
        while e < end:
            stop = min(end, indptr[row + 1])
            for k in range(e, stop):
                label = labels[indices[k]]
                if label != labels[row]:
                    if label != entered:
                        fetch_and_add(left, entered, times)
                        entered, times = label, 0
                    times += 1
            e = stop
            row += 1
        fetch_and_add(left, entered, times)


@njit(nogil=True, cache=True)
def _peel_alone(indptr, indices, labels, members, starts, found, left, waiting, begin, ends, few):
    """Take off labels while few vertices wait; return which of them are left."""
    end = ends[0]
    while begin < end and end - begin < few:
        v = waiting[begin]
        begin += 1
        for e in range(indptr[v], indptr[v + 1]):
            label = labels[indices[e]]
            if label != labels[v]:
                left[label] -= 1
                if left[label] == 0:
                    found[label] = 1
                    for at in range(starts[label], starts[label + 1]):
                        waiting[end] = members[at]
                        end += 1
    ends[0] = end
    return begin, end


@njit(parallel=True, nogil=True, cache=True)
def _peel_together(indptr, indices, labels, members, starts, found, left, waiting, begin, end, ends):
    """Take the edges from all waiting vertices away, and list the vertices of the labels that become free."""
    for part in prange((end - begin + _FOUND - 1) // _FOUND):
        entered, times = np.int32(0), 0  # edges to one label that come one after the other are counted at once
        for at in range(begin + part * _FOUND, min(end, begin + (part + 1) * _FOUND)):
            v = waiting[at]
            for e in range(indptr[v], indptr[v + 1]):
                label = labels[indices[e]]
                if label != labels[v]:
                    if label != entered:
                        _take_away(entered, times, members, starts, found, left, waiting, ends)
                        entered, times = label, 0
                    times += 1
        _take_away(entered, times, members, starts, found, left, waiting, ends)


@njit(nogil=True, cache=True)
def _take_away(label, times, members, starts, found, left, waiting, ends):
    """Take edges to a label away; list its vertices if none is left."""
    if times and fetch_and_add(left, label, -times) == times:
        found[label] = 1
        _list(members[starts[label] :], starts[label + 1] - starts[label], waiting, ends)


@njit(nogil=True, cache=True)
def join_in_order(src, dst, above, joined):
    sizes = np.ones(len(above), np.int32)
    for e in range(len(src)):
        low, high = src[e], dst[e]
        while above[low] != low:
            low = above[low]
        while above[high] != high:
            high = above[high]
        if low == high:
            return e
        if sizes[low] > sizes[high]:
            low, high = high, low
        above[low] = high
        joined[low] = e
        sizes[high] += sizes[low]
    return -1


@unless(is_small)
def check_lightest(indptr, indices, weights, src, dst, forest_weights, above, joined, proven, least):
    n, m = len(above), indptr[-1]
    for part in prange((m + _EDGES - 1) // _EDGES):
        e = part * _EDGES
        end, row = min(m, e + _EDGES), _row_of(indptr, e)
        apart = lighter = n
        while e < end:
            stop = min(end, indptr[row + 1])
            for k in range(e, stop):
                low, high = min(np.int32(row), indices[k]), max(np.int32(row), indices[k])
                a, b, last = low, high, -1
                while a != b:
                    if joined[a] > joined[b]:
                        a, b = b, a
                    if above[a] == a:
                        break
                    last = joined[a]
                    a = above[a]
                if a != b:
                    apart = min(apart, np.int64(low))
                elif low != high:
                    length = 1 if weights is None else weights[k]
                    if length == forest_weights[last]:
                        if low == src[last] and high == dst[last]:
                            proven[last] = 1
                        elif low < src[last] or (low == src[last] and high < dst[last]):
                            lighter = min(lighter, np.int64(low))
                    elif length < forest_weights[last]:
                        lighter = min(lighter, np.int64(low))
            e = stop
            row += 1
        _lower(least, 0, apart)
        _lower(least, 1, lighter)
