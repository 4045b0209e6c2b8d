"""Hierarchies on a CPU: the elimination tree and the fill, customization, climbs, and the sweep for many sources.

Vertices are numbered by rank, the order of their elimination. The ranks are a postorder of the elimination tree, so a
subtree is a range of ranks that ends with its root. All upper neighbours of a vertex are its ancestors.

- `parents` is Liu's algorithm with path compression [1]_; `counts` is the one of Gilbert, Ng and Peyton [2]_, which
  takes nearly linear time and no memory for the fill.
- `customize` is min-plus elimination [3]_ over lower triangles [4]_: row v gathers the paths through each lower
  neighbour. An ancestor's depth is its place in a table that fits a core's cache. A row whose entries above v are all
  of v's needs no table, so such loops are vectorised. Disjoint subtrees are shared between the cores; what is above
  them is eliminated by one. `customize_sets` does so for several sets of weights at once: an entry has a row of their
  lengths, so that a triangle is looked up once, and every loop over the sets is vectorised.
- `last_vertices` unpacks each entry to the last edge of its path: an edge of the graph, or the last edge of the second
  part of the path over a lower neighbour, which is known by then.
- `sweep` goes down the tree [5]_, in the reverse order of ranks, for a slice of sources at a time. The ancestors of the
  vertex at hand are the rows of a stack, by depth, that fits a core's cache. So a row of distances is written once and
  read by nothing but the copy into the result, which transposes blocks in registers. The cores share the slices.

References
----------
.. [1] J. W. H. Liu, "A compact row storage scheme for Cholesky factors using elimination trees", 1986.
.. [2] J. R. Gilbert, E. G. Ng and B. W. Peyton, "An efficient algorithm to compute row and column counts for sparse
   Cholesky factorization", 1994.
.. [3] B. A. Carré, "An algebra for network routing problems", 1971.
.. [4] J. Dibbelt, B. Strasser and D. Wagner, "Customizable contraction hierarchies", 2016.
.. [5] D. Delling, A. V. Goldberg, A. Nowatzyk and R. F. Werneck, "PHAST: hardware-accelerated shortest path trees",
   2011; for chosen targets D. Delling, A. V. Goldberg and R. F. Werneck, "Faster batched shortest paths in road
   networks", 2011.
"""

from typing import Any, NamedTuple

import numpy as np

from ...device.numba import numba, prange
from ...device.numba.bins import place_of, places_in_one
from ...device.numba.caching import njit
from ...device.numba.least import opaque_zero
from ...device.numba.sharing import on_all_cores, parts
from ...device.numba.transpose import BLOCK, write_transposed
from ...dtypes import NO_PREDECESSOR, kernel_infinity
from ...dtypes import infinity as result_infinity
from .ops import Schedule

#: Sources that a core takes at a time: some lanes, or several times as many. The compiler knows the number by the
#: length of a tuple, so that it vectorises loops over the lanes without a remainder.
_LANES = 32
_ONE_GROUP_OF_LANES = (0,)
_FOUR_GROUPS_OF_LANES = (0, 0, 0, 0)

#: Shares of the work of customization for each core.
_SHARES = 16

#: The most sets of weights that are customized at a time, each in a lane of an entry's row, and the fewest for which a
#: row takes less time than one set after the other: if directions are alike, and if they differ.
SETS = 16
_FEWEST = 4, 5

#: Entries whose rows a core turns at a time, in its cache.
_TURNED = 64

#: Calls for each core among which customization deals the subtrees.
_PARTS = 4

#: Vertices whose rows a core measures at a time, while they are in its cache.
_TILE = 64

#: Radii, about equally far apart, from which on it takes less time to find the least one around each distance than to
#: compare it with all, which is vectorised.
_MANY_RADII = 64

#: Columns of the result that a core writes at a time: what it reads of them fits the second level of its cache.
_COLUMNS = 256


def parents(indptr, indices, parent):
    _parents(indptr, indices, parent, np.empty_like(parent))


# Work arrays are arguments of kernels: to compile NumPy's functions would take longer than some of these.
@njit(nogil=True, cache=True)
def _parents(indptr, indices, parent, above):
    for v in range(len(parent)):
        parent[v] = -1
        above[v] = -1
        for e in range(indptr[v], indptr[v + 1]):
            u = indices[e]
            while u != -1 and u < v:
                following = above[u]
                above[u] = v
                if following == -1:
                    parent[u] = v
                u = following


def postorder(parent, order):
    n = len(parent)
    _postorder(parent, order, np.full(n + 1, -1, np.int32), *np.empty((2, n + 1), np.int32))


@njit(nogil=True, cache=True)
def _postorder(parent, order, first, following, stack):
    n = len(parent)  # its children are the roots
    for v in range(n - 1, -1, -1):
        above = parent[v] if parent[v] >= 0 else n
        following[v] = first[above]
        first[above] = v
    stack[0] = n
    depth, placed = 1, 0
    while depth > 0:
        v = stack[depth - 1]
        child = first[v]
        if child < 0:
            depth -= 1
            if v < n:
                order[placed] = v
                placed += 1
        else:
            first[v] = following[child]
            stack[depth] = child
            depth += 1


@njit(nogil=True, cache=True)
def extents(parent, depth, size):
    for v in range(len(parent) - 1, -1, -1):
        depth[v] = depth[parent[v]] + 1 if parent[v] >= 0 else 0
        size[v] = 1
    for v in range(len(parent)):
        if parent[v] >= 0:
            size[parent[v]] += size[v]


def counts(indptr, indices, parent, count):
    n = len(parent)
    _counts(indptr, indices, parent, count, *np.full((3, n), -1, np.int32), np.arange(n, dtype=np.int32))


@njit(nogil=True, cache=True)
def _counts(indptr, indices, parent, count, first, greatest, leaf, ancestor):
    n = len(parent)
    for v in range(n):
        count[v] = 1 if first[v] == -1 else 0
        u = v
        while u != -1 and first[u] == -1:
            first[u] = v
            u = parent[u]
    for v in range(n):
        if parent[v] != -1:
            count[parent[v]] -= 1
        for e in range(indptr[v], indptr[v + 1]):
            u = indices[e]
            if u <= v or first[v] <= greatest[u]:
                continue  # v is no leaf of the subtree of u's row
            greatest[u] = first[v]
            before = leaf[u]
            leaf[u] = v
            count[v] += 1
            if before != -1:
                root = before
                while root != ancestor[root]:
                    root = ancestor[root]
                while before != root:
                    above = ancestor[before]
                    ancestor[before] = root
                    before = above
                count[root] -= 1
        if parent[v] != -1:
            ancestor[v] = parent[v]
    for v in range(n):
        if parent[v] != -1:
            count[parent[v]] += count[v]
    for v in range(n):
        count[v] -= 1


def fill(indptr, indices, parent, begin, upper):
    _fill(indptr, indices, parent, begin[:-1].copy(), upper, np.full(len(parent), -1, np.int32))


@njit(nogil=True, cache=True)
def _fill(indptr, indices, parent, free, upper, met):
    """Write each vertex to the rows that have it: those on the ways up the tree from its lower neighbours to it.

    Vertices are written in ascending order, so rows are ascending. No vertex is met twice on the ways to another.
    """
    for v in range(len(parent)):
        for e in range(indptr[v], indptr[v + 1]):
            u = indices[e]
            while u < v and met[u] != v:
                met[u] = v
                upper[free[u]] = v
                free[u] += 1
                u = parent[u]


@njit(nogil=True, cache=True)
def slots(src, dst, begin, upper, slot):
    for e in range(len(src)):
        low, high = min(src[e], dst[e]), max(src[e], dst[e])
        slot[e] = -1 if low == high else _entry(upper, begin[low], begin[low + 1], high)


@njit(nogil=True, cache=True)
def _entry(upper, first, last, vertex):
    """Return the number of a vertex among ascending entries, or -1."""
    end = last
    while first < last:
        middle = (first + last) // 2
        if upper[middle] < vertex:
            first = middle + 1
        else:
            last = middle
    return first if first < end and upper[first] == vertex else -1


def stages(tree, entries):
    """Return disjoint subtrees, as ranges of ranks, largest first, and the vertices above them, ascending.

    The work of a subtree is estimated by the squares of its vertices' entries. Subtrees are cut until none has more
    than a share of the work, a small part of what a core does.
    """
    count = np.diff(entries.begin).astype(np.float64)
    work = np.concatenate([np.zeros(1), np.cumsum(count * count + 1)])
    n = len(count)
    ends = np.arange(n) + 1
    own = work[ends] - work[ends - tree.size]
    share = work[-1] / (_SHARES * numba.get_num_threads())
    light = own <= share
    roots = np.flatnonzero(light & ((tree.parent < 0) | ~light[tree.parent]))
    roots = roots[np.argsort(-own[roots], kind="stable")]
    return np.stack([roots + 1 - tree.size[roots], roots + 1], axis=1), np.flatnonzero(~light)


def customize(entries, lower, upward, downward, lengths, up, down, stages):
    infinity = _infinity(up.dtype)
    arguments = entries, lower, upward, downward, lengths, up, down, down is not up, infinity
    ranges, top = stages

    def eliminate(some):
        _eliminate_ranges(*arguments, np.ascontiguousarray(some), np.empty(len(entries.begin), np.int64))

    # Each of these has subtrees of all sizes.
    parts = max(1, min(len(ranges), _PARTS * numba.get_num_threads()))
    on_all_cores(eliminate, [ranges[part::parts] for part in range(parts)])
    eliminate(np.stack([top, top + 1], axis=1))


@njit(nogil=True, cache=True)
def _eliminate_ranges(entries, lower, upward, downward, lengths, up, down, both, infinity, ranges, table):
    for r in range(len(ranges)):
        for v in range(ranges[r, 0], ranges[r, 1]):
            _eliminate(v, entries, lower, upward, downward, lengths, up, down, both, infinity, table)


@njit(nogil=True, cache=True)
def _eliminate(v, entries, lower, upward, downward, lengths, up, down, both, infinity, table):
    """Compute the entries of v: its edges, then the paths through each lower neighbour x."""
    begin, depth = entries.begin, entries.depth
    first, last = np.int64(begin[v]), np.int64(begin[v + 1])
    for e in range(first, last):
        table[depth[e]] = e
        up[e] = infinity
        if both:
            down[e] = infinity
    for k in range(upward.begin[v], upward.begin[v + 1]):
        e = upward.entry[k]
        up[e] = min(up[e], lengths[upward.edge[k]])
    if both:
        for k in range(downward.begin[v], downward.begin[v + 1]):
            e = downward.entry[k]
            down[e] = min(down[e], lengths[downward.edge[k]])
    for k in range(lower.begin[v], lower.begin[v + 1]):
        own = np.int64(lower.entry[k])
        after, end = own + 1, np.int64(begin[lower.vertex[k] + 1])
        there, back = down[own], up[own]  # from v to x, and from x to v
        if end - after == last - first:  # the entries of x above v are those of v
            for j in range(last - first):
                through, known = there + up[after + j], up[first + j]
                up[first + j] = through if through < known else known
            if both:
                for j in range(last - first):
                    through, known = down[after + j] + back, down[first + j]
                    down[first + j] = through if through < known else known
            continue
        for e in range(after, end):
            slot = table[depth[e]]
            through = there + up[e]
            if through < up[slot]:
                up[slot] = through
            if both:
                through = down[e] + back
                if through < down[slot]:
                    down[slot] = through


def customize_sets(entries, lower, upward, downward, lengths, ups, downs, stages):
    """Write the lengths of the entries for several sets of weights, as `customize` does for each."""
    both = downs is not ups
    if len(lengths) < _FEWEST[both]:
        for row, up, down in zip(lengths, ups, downs, strict=True):
            customize(entries, lower, upward, downward, row, up, down if both else up, stages)
        return
    units, infinity = (0,) * (1 + both), _infinity(lengths.dtype)
    edges = np.empty((lengths.shape[1], SETS), lengths.dtype)
    rows = np.empty((len(entries.upper), SETS * len(units)), lengths.dtype)

    def turn(some):  # a part of all columns would be an array of another layout, and compile anew
        _to_rows(lengths, infinity, some.start, some.stop, edges)

    on_all_cores(turn, parts(len(edges), SETS))
    ranges, top = stages

    def eliminate(some):
        table, cross = np.empty(len(entries.begin), np.int64), np.empty(rows.shape[1], rows.dtype)
        some = np.ascontiguousarray(some)
        _eliminate_sets(entries, lower, upward, downward, edges, rows, units, infinity, some, table, cross)

    shares = max(1, min(len(ranges), _PARTS * numba.get_num_threads()))
    on_all_cores(eliminate, [ranges[share::shares] for share in range(shares)])
    eliminate(np.stack([top, top + 1], axis=1))
    _write_sets(rows, 0, ups)
    if both:
        _write_sets(rows, SETS, downs)


def _write_sets(rows, lane, targets):
    """Write the lengths in some lanes to an array for each set."""
    count = len(targets)
    targets = (*targets, *targets[:1] * (SETS - count))  # always as many, so that this is compiled once

    def write(some):
        _from_rows(rows, lane, some.start, some.stop, count, targets)

    on_all_cores(write, parts(len(rows)))


def workspace_of_sets(entries, edges, sets, itemsize, directions):
    """Return the bytes that `customize_sets` allocates."""
    return SETS * (edges + directions * entries) * itemsize


@njit(nogil=True, cache=True)
def _to_rows(lengths, infinity, begin, end, rows):
    """rows[e, set] = lengths[set, e], for the edges from `begin` to `end`; lanes beyond the last set are infinite."""
    sets = len(lengths)
    for first in range(begin, end, _TURNED):
        last = min(first + _TURNED, end)
        for lane in range(SETS):
            for e in range(first, last):
                rows[e, lane] = lengths[lane, e] if lane < sets else infinity


@njit(nogil=True, cache=True)
def _from_rows(rows, lane, begin, end, sets, targets):
    """targets[set][e] = rows[e, lane + set], for the entries from `begin` to `end`."""
    for first in range(begin, end, _TURNED):
        last = min(first + _TURNED, end)
        for number in range(sets):
            target = targets[number]
            for e in range(first, last):
                target[e] = rows[e, lane + number]


@njit(nogil=True, cache=True)
def _eliminate_sets(entries, lower, upward, downward, lengths, rows, units, infinity, ranges, table, cross):
    for r in range(len(ranges)):
        for v in range(ranges[r, 0], ranges[r, 1]):
            _eliminate_rows(v, entries, lower, upward, downward, lengths, rows, units, infinity, table, cross)


@njit(nogil=True, cache=True)
def _eliminate_rows(v, entries, lower, upward, downward, lengths, rows, units, infinity, table, cross):
    """Compute the rows of v's entries, as `_eliminate` does: a lane for each set upwards, then one for each downwards.

    `cross` takes the lengths between v and its lower neighbour, in the order of what they are added to.
    """
    begin, depth, lanes, number = entries.begin, entries.depth, SETS * len(units), rows.dtype.type
    for e in range(np.int64(begin[v]), np.int64(begin[v + 1])):
        table[depth[e]] = e
        row = rows[e]
        for lane in range(lanes):
            row[lane] = infinity
    for k in range(upward.begin[v], upward.begin[v + 1]):
        row, edge = rows[upward.entry[k]], lengths[upward.edge[k]]
        for lane in range(SETS):
            row[lane] = min(row[lane], edge[lane])
    if len(units) > 1:
        for k in range(downward.begin[v], downward.begin[v + 1]):
            row, edge = rows[downward.entry[k]], lengths[downward.edge[k]]
            for lane in range(SETS):
                row[SETS + lane] = min(row[SETS + lane], edge[lane])
    for k in range(lower.begin[v], lower.begin[v + 1]):
        own = np.int64(lower.entry[k])
        between = rows[own]
        for lane in range(SETS):  # from v, and to v
            cross[lane] = between[lanes - SETS + lane]
            cross[lanes - SETS + lane] = between[lane]
        for e in range(own + 1, np.int64(begin[lower.vertex[k] + 1])):
            row, above = rows[np.uint64(table[depth[e]])], rows[np.uint64(e)]
            for lane in range(lanes):
                through, known = number(cross[lane] + above[lane]), row[lane]
                row[lane] = through if through < known else known


def last_vertices(entries, lower, upward, downward, lengths, up, down, last_up, last_down):
    _last_vertices(entries, lower, upward, downward, lengths, up, down, last_up, last_down, _infinity(up.dtype))


@njit(nogil=True, cache=True)
def _last_vertices(entries, lower, upward, downward, lengths, up, down, last_up, last_down, infinity):
    begin, upper, depth = entries.begin, entries.upper, entries.depth
    table = np.empty(len(begin), np.int64)
    for v in range(len(begin) - 1):
        for e in range(begin[v], begin[v + 1]):
            table[depth[e]] = e
            last_up[e] = -1
            last_down[e] = -1
        for k in range(upward.begin[v], upward.begin[v + 1]):
            e = upward.entry[k]
            if lengths[upward.edge[k]] == up[e] and up[e] < infinity:
                last_up[e] = v
        for k in range(downward.begin[v], downward.begin[v + 1]):
            e = downward.entry[k]
            if lengths[downward.edge[k]] == down[e] and down[e] < infinity:
                last_down[e] = upper[e]
        for k in range(lower.begin[v], lower.begin[v + 1]):
            own = np.int64(lower.entry[k])
            for e in range(own + 1, np.int64(begin[lower.vertex[k] + 1])):
                slot = table[depth[e]]
                if last_up[slot] < 0 and up[slot] < infinity and down[own] + up[e] == up[slot]:
                    last_up[slot] = last_up[e]
                if last_down[slot] < 0 and down[slot] < infinity and down[e] + up[own] == down[slot]:
                    last_down[slot] = last_up[own]


@njit(nogil=True, cache=True)
def _climb(source, tree, entries, lengths, label, bound, infinity):
    """Write the lengths of upward paths from `source` to its ancestors, by depth; beyond `bound` some are missing."""
    d = tree.depth[source]
    for above in range(d):
        label[above] = infinity
    label[d] = 0
    v = source
    while v >= 0:
        if label[d] <= bound:
            _relax(v, label[d], entries, lengths, label)
        v = tree.parent[v]
        d -= 1


@njit(nogil=True, cache=True)
def _relax(v, own, entries, lengths, label):
    """Lower the labels of the upper neighbours of v, whose own label is given."""
    for e in range(np.uint64(entries.begin[v]), np.uint64(entries.begin[v + 1])):
        d = np.uint64(entries.depth[e])  # unsigned, or Numba would check it for being negative
        through, known = label.dtype.type(own + lengths[e]), label[d]
        label[d] = through if through < known else known


def between(source, target, tree, entries, up, down, nonnegative, there, back):
    """Write both climbs, by the depth of the ancestor; return the depth where a shortest path turns, or -1."""
    return _between(source, target, tree, entries, up, down, nonnegative, there, back, _infinity(up.dtype))


@njit(nogil=True, cache=True)
def _between(source, target, tree, entries, up, down, nonnegative, there, back, infinity):
    s, t = source, target
    for d in range(tree.depth[s]):
        there[d] = infinity
    for d in range(tree.depth[t]):
        back[d] = infinity
    there[tree.depth[s]] = 0
    back[tree.depth[t]] = 0
    while s != t:  # up to their lowest common ancestor; an ancestor has a greater rank
        if s < t:
            if there[tree.depth[s]] < infinity:
                _relax(s, there[tree.depth[s]], entries, up, there)
            s = tree.parent[s]
        else:
            if back[tree.depth[t]] < infinity:
                _relax(t, back[tree.depth[t]], entries, down, back)
            t = tree.parent[t]
        if s < 0 or t < 0:
            return -1
    best, turn = infinity, -1
    for d in range(tree.depth[s], -1, -1):
        one, other = there[d], back[d]
        if one < infinity and other < infinity and one + other < best:
            best, turn = there.dtype.type(one + other), d
        # A label that is no shorter than a whole path leads to no shorter one.
        bound = best if nonnegative else infinity
        if one < bound:
            _relax(s, one, entries, up, there)
        if other < bound:
            _relax(s, other, entries, down, back)
        s = tree.parent[s]
    return turn


def length(source, target, tree, entries, up, down, nonnegative):
    return _length(source, target, tree, entries, up, down, nonnegative, _infinity(up.dtype))


@njit(nogil=True, cache=True)
def _length(source, target, tree, entries, up, down, nonnegative, infinity):
    there, back = np.empty(tree.depth[source] + 1, up.dtype), np.empty(tree.depth[target] + 1, up.dtype)
    turn = _between(source, target, tree, entries, up, down, nonnegative, there, back, infinity)
    return there[turn] + back[turn] if turn >= 0 else infinity


def lengths_of(sources, targets, tree, entries, up, down, nonnegative, D):
    of_all = tree, entries, up, down, nonnegative, _infinity(up.dtype)
    on_all_cores(lambda part: _lengths_of(sources[part], targets[part], *of_all, D[part]), _few_pairs(len(D)))


def _few_pairs(count):
    """Return slices of pairs, of about as many for each core."""
    each = -(-count // numba.get_num_threads())
    return [slice(first, first + each) for first in range(0, count, each)]


@njit(nogil=True, cache=True)
def _lengths_of(sources, targets, tree, entries, up, down, nonnegative, infinity, D):
    for i in range(len(D)):
        D[i] = _length(sources[i], targets[i], tree, entries, up, down, nonnegative, infinity)


def unpacked(source, target, turn, tree, entries, lower, upward, downward, lengths, up, down, there, back):
    rising = _ascent(source, turn, tree, entries, up, there)
    falling = _ascent(target, turn, tree, entries, down, back)
    chain = np.concatenate([rising[::-1], falling[1:]])
    path, waiting = np.empty((2, len(chain) + 64), np.int32)
    path[0], waiting[: len(chain) - 1] = chain[0], chain[:0:-1]  # the vertices to come, the next one last
    length, waits = 1, len(chain) - 1
    while True:
        length, waits = _unpack(path, waiting, length, waits, entries, lower, upward, downward, lengths, up, down)
        if not waits:
            return path[:length]
        path, waiting = (np.concatenate([part, np.empty_like(part)]) for part in (path, waiting))


def _ascent(start, turn, tree, entries, lengths, label):
    """Return the vertices of a shortest path down to `start` from its ancestor at depth `turn`."""
    line, origin, path = np.empty((3, tree.depth[start] + 1), np.int32)
    return path[: _ascend(start, turn, tree, entries, lengths, label, line, origin, path)]


@njit(nogil=True, cache=True)
def _ascend(start, turn, tree, entries, lengths, label, line, origin, path):
    """Write the path; return its length. It goes to each ancestor from the deepest one, as those of many pairs do."""
    own = tree.depth[start]
    v, d = start, own
    for above in range(own + 1):
        origin[above] = -1
    while d >= turn:
        line[d] = v
        for e in range(entries.begin[v], entries.begin[v + 1]):
            above = entries.depth[e]
            if origin[above] < 0 and label[d] + lengths[e] == label[above]:
                origin[above] = d
        v = tree.parent[v]
        d -= 1
    path[0] = line[turn]
    length, d = 1, turn
    while d < own:
        d = origin[d]
        path[length] = line[d]
        length += 1
    return length


@njit(nogil=True, cache=True)
def _unpack(path, waiting, length, waits, entries, lower, upward, downward, lengths, up, down):
    """Turn a path over entries into one over edges, while there is room for one vertex more; return both lengths."""
    while 0 < waits < len(waiting) and length < len(path):
        a, b = path[length - 1], waiting[waits - 1]
        x = _middle(a, b, entries, lower, upward, downward, lengths, up, down)
        if x >= 0:
            waiting[waits] = x
            waits += 1
        else:
            path[length] = b
            length += 1
            waits -= 1
    return length, waits


@njit(nogil=True, cache=True)
def _middle(a, b, entries, lower, upward, downward, lengths, up, down):
    """Return the vertex below a and b over which the entry from a to b leads, or -1 if it is an edge."""
    begin, upper = entries.begin, entries.upper
    low, high = min(a, b), max(a, b)
    own = _entry(upper, begin[low], begin[low + 1], high)
    wanted = up[own] if a < b else down[own]
    edges = upward if a < b else downward
    for k in range(edges.begin[low], edges.begin[low + 1]):
        if edges.entry[k] == own and lengths[edges.edge[k]] == wanted:
            return -1
    for k in range(lower.begin[low], lower.begin[low + 1]):
        x, one = lower.vertex[k], lower.entry[k]
        other = _entry(upper, one + 1, begin[x + 1], high)
        if other >= 0:
            there, back = (one, other) if a < b else (other, one)
            if down[there] + up[back] == wanted:
                return x
    return -1


def schedule(tree, entries, chosen, targets):
    """Return how a sweep goes through the chosen vertices: depth first, by falling rank.

    If targets are given, its only part is the place of each.
    """
    vertices = np.flatnonzero(chosen)[::-1].astype(np.int32)
    if targets is None:
        return Schedule(vertices)
    place = np.empty(len(chosen), np.int32)
    place[vertices] = np.arange(len(vertices), dtype=np.int32)
    return Schedule(vertices, (), (place[targets],))


def _units(sources, measured):
    """Return the tuple that says how many lanes a slice has: whichever takes less time on all cores.

    A sweep of four times as many lanes takes one and a half times as long to measure, and two and a half times as long
    to store (benchmarks/NOTES.md).
    """
    besides = 5 if measured else 1

    def time(units):
        rounds = -(-sources // (_LANES * len(units) * numba.get_num_threads()))
        return rounds * (besides + len(units))

    return min(_ONE_GROUP_OF_LANES, _FOUR_GROUPS_OF_LANES, key=time)


def workspace_bytes(tree, entries, schedule, sources, itemsize, measured):
    lanes = _LANES * len(_units(sources, measured))
    rows = (_TILE if measured else len(schedule.vertices) + 1) + 2 * tree.height
    return min(numba.get_num_threads(), -(-sources // lanes)) * rows * lanes * itemsize


def sweep(tree, entries, up, down, sources, schedule, limit, D):
    vertices, [places] = schedule.vertices, schedule.parts
    infinity, limit, unreached = _infinity(up.dtype), up.dtype.type(limit), up.dtype.type(result_infinity(up.dtype))
    bound, prunes = _bound(limit, up, down)

    def work(slices, units, climbs, stack, rows):
        pruning = _pruning(bound, prunes, stack, len(vertices))
        rows[-1] = infinity
        for order in slices:
            lanes = sources[order]
            _climb_all(lanes, tree, entries, up, climbs, bound, infinity)
            pruning.below[0] = len(tree.depth)
            _sweep(tree, entries, down, lanes, climbs, vertices, pruning, infinity, units, stack, rows)
            found = np.where(pruning.skipped[places], np.int32(len(vertices)), places) if prunes else places
            _gather(rows, found, limit, unreached, order, D)

    _in_slices(work, sources, tree, vertices, up.dtype, len(vertices) + 1)


def sweep_predecessors(tree, entries, up, down, last_up, last_down, sources, schedule, names, D, P):
    """P[r, j] = the vertex before target number j of the schedule, by the entries that `sweep` comes by."""
    infinity, unreached, vertices = _infinity(up.dtype), D.dtype.type(result_infinity(D.dtype)), schedule.vertices
    [places] = schedule.parts
    wanted = vertices[places]

    def work(slices, units, climbs, stack, rows):
        before, turns = np.empty(rows.shape, np.int32), np.empty(climbs.shape, np.int32)
        for order in slices:
            lanes = sources[order]
            for lane, source in enumerate(lanes):
                _climb_by(source, tree, entries, up, last_up, climbs[lane], turns[lane], infinity)
            _sweep_by(
                tree, entries, down, last_down, lanes, climbs, turns, vertices, infinity, units, stack, rows, before
            )
            _gather_names(before, places, wanted, lanes, names, unreached, order, D, P)

    _in_slices(work, sources, tree, vertices, up.dtype, len(vertices))


@njit(nogil=True, cache=True)
def _climb_by(source, tree, entries, lengths, last, label, turn, infinity):
    """Write labels as `_climb` does, and the vertex before each ancestor; -1 where there is none."""
    d = tree.depth[source]
    label[:d] = infinity
    turn[: d + 1] = -1
    label[d] = 0
    v = source
    while v >= 0:
        if label[d] < infinity:
            for e in range(entries.begin[v], entries.begin[v + 1]):
                above = entries.depth[e]
                through = label.dtype.type(label[d] + lengths[e])
                if through < label[above]:
                    label[above] = through
                    turn[above] = last[e]
        v = tree.parent[v]
        d -= 1


@njit(nogil=True, cache=True)
def _sweep_by(tree, entries, down, last, sources, climbs, turns, schedule, infinity, units, stack, rows, before):
    """Write the rows of `_sweep`, and by which vertex each distance comes; sources descend."""
    lanes, number = _LANES * len(units), stack.dtype.type
    begin, depth = entries.begin, entries.depth
    reached = 0  # sources[reached] is the first one that is not above v
    for p in range(len(schedule)):
        v = schedule[p]
        row, by = rows[p], before[p]
        for lane in range(lanes):
            row[lane] = infinity
            by[lane] = -1
        for e in range(np.int64(begin[v]), np.int64(begin[v + 1])):
            length, vertex, above = down[e], np.int32(last[e]), stack[depth[e]]
            for lane in range(lanes):
                d, known = number(above[lane] + length), row[lane]
                by[lane] = vertex if d < known else by[lane]
                row[lane] = d if d < known else known
        while reached < len(sources) and sources[reached] > v:
            reached += 1
        lane, lowest, own = reached, v - tree.size[v], tree.depth[v]
        while lane < len(sources) and sources[lane] > lowest:
            if climbs[lane, own] <= row[lane]:
                row[lane] = climbs[lane, own]
                by[lane] = turns[lane, own]
            lane += 1
        ancestor = stack[own]
        for lane in range(lanes):
            ancestor[lane] = row[lane]


@njit(nogil=True, cache=True)
def _gather_names(before, places, vertices, sources, names, unreached, order, D, P):
    """P[order[lane], j] = the name of the vertex by which the distance of ``places[j]`` comes, unless D is infinite."""
    for first in range(0, len(places), _COLUMNS):
        last = min(first + _COLUMNS, len(places))
        for lane in range(len(order)):
            distances, target = D[order[lane]], P[order[lane]]
            for j in range(first, last):
                found = before[np.uint64(places[j]), lane]
                there = distances[j] < unreached and found >= 0 and vertices[j] != sources[lane]
                target[j] = names[found] if there else NO_PREDECESSOR


@njit(parallel=True, nogil=True, cache=True)
def closed(D, P, column, cycles):
    for r in prange(len(D)):
        d, p, cycle = D[r], P[r], cycles[r]
        suspect = False
        for j in range(len(d)):
            if p[j] >= 0:
                i = column[p[j]]
                suspect |= i >= 0 and not d[i] < d[j]
        if not suspect:
            continue
        met = np.full(len(d), -1, np.int32)  # the start of the first walk that met a target
        for start in range(len(d)):
            j = start
            while j >= 0 and met[j] < 0:
                met[j] = start
                j = column[p[j]] if p[j] >= 0 else -1
            if j >= 0 and met[j] == start:
                cycle[j] = True


def measure(tree, entries, up, down, sources, schedule, times, limit, radii, measures):
    vertices = schedule.vertices
    infinity, limit = _infinity(up.dtype), up.dtype.type(limit)
    bound, prunes = _bound(limit, up, down)
    by_size = np.argsort(radii, kind="stable")
    ascending = radii[by_size]

    def work(slices, units, climbs, stack, rows):
        pruning = _pruning(bound, prunes, stack, _TILE)
        for order in slices:
            lanes = sources[order]
            _climb_all(lanes, tree, entries, up, climbs, bound, infinity)
            pruning.below[0] = len(tree.depth)
            swept = tree, entries, down, lanes, climbs, vertices, pruning, infinity, units, stack, rows
            _measure(*swept, times, limit, ascending, by_size, order, measures)

    _in_slices(work, sources, tree, vertices, up.dtype, _TILE, measured=True)


class _Pruning(NamedTuple):
    """What a sweep with a limit knows of the vertices beyond it.

    Attributes
    ----------
    bound : number
        The limit.
    active : tuple
        Empty unless there is one, and no length is negative. The compiler knows by its length.
    far : array of bool
        Whether the ancestor at each depth is beyond the limit of all lanes.
    skipped : array of bool
        Whether each vertex of the schedule was skipped: its row is not written.
    below : array of int64, shape (1,)
        Ranks greater than this one are skipped, as a whole subtree.
    """

    bound: Any
    active: tuple[int, ...]
    far: np.ndarray
    skipped: np.ndarray
    below: np.ndarray


def _pruning(bound, active, stack, vertices):
    return _Pruning(
        bound, (0,) if active else (), np.zeros(len(stack), bool), np.zeros(vertices, bool), np.empty(1, np.int64)
    )


def _bound(limit, up, down):
    """Return the length beyond which no path leads within the limit, and whether any finite length is beyond it."""
    most = _infinity(up.dtype) - 1 if up.dtype.kind == "i" else np.finfo(up.dtype).max
    prunes = bool(limit < most) and not (_is_negative(up) or (down is not up and _is_negative(down)))
    return (limit if prunes else up.dtype.type(most)), prunes


@njit(nogil=True, cache=True)
def _is_negative(lengths):
    """Return whether a length is negative."""
    least = lengths.dtype.type(0)
    for e in range(len(lengths)):
        least = lengths[e] if lengths[e] < least else least
    return least < 0


def _in_slices(work, sources, tree, schedule, dtype, rows, measured=False):
    """Share slices of sources between the cores, each with its own climbs, stack and number of rows.

    A slice has the places of its sources, which descend: they are near each other in the tree, so that a sweep with a
    limit skips more of it.
    """
    height = 1 + max((int(tree.depth[some].max()) for some in (schedule, sources) if len(some)), default=0)
    units = _units(len(sources), measured)
    lanes = _LANES * len(units)
    order = np.argsort(sources)[::-1].copy()
    firsts = range(0, len(sources), lanes)
    slices = iter([order[first : first + lanes] for first in firsts])  # each core takes the next one
    shapes = (lanes, height), (height, lanes), (rows, lanes)

    def on_a_core(_):
        work(slices, units, *(np.empty(shape, dtype) for shape in shapes))

    on_all_cores(on_a_core, range(min(numba.get_num_threads(), len(firsts))))


@njit(nogil=True, cache=True)
def _climb_all(sources, tree, entries, up, climbs, bound, infinity):
    for lane in range(len(sources)):
        _climb(sources[lane], tree, entries, up, climbs[lane], bound, infinity)


@njit(nogil=True, cache=True)
def _sweep(tree, entries, down, sources, climbs, schedule, pruning, infinity, units, stack, rows):
    """Write the row of distances of each scheduled vertex; sources descend.

    A subtree without a source is skipped if all upper neighbours of its root are beyond the limit: paths into it lead
    over these.

    ``stack[d]`` is the row of the ancestor at depth d of the vertex at hand. Four entries are taken at a time, the last
    one again where there are fewer.
    """
    lanes, number = _LANES * len(units), stack.dtype.type  # Numba's sums of int32 are int64, which takes twice as long
    nothing = opaque_zero(stack)
    begin, depth, depth_of = entries.begin, entries.depth, tree.depth
    active, beyond, skipped, below = len(pruning.active) > 0, pruning.far, pruning.skipped, pruning.below
    reached = 0  # sources[reached] is the first one that is not above v
    p = -1
    while p + 1 < len(schedule):
        p += 1
        v = schedule[p]
        row, own, lowest = rows[p], depth_of[v], v - tree.size[v]
        while reached < len(sources) and sources[reached] > v:
            reached += 1
        e, end = np.int64(begin[v]), np.int64(begin[v + 1]) - 1
        if active:
            far = v > below[0]
            if not far and not (reached < len(sources) and sources[reached] > lowest):
                far, k = True, e
                while far and k <= end:
                    far = beyond[depth[k]]
                    k += 1
                if far:
                    below[0] = lowest
            skipped[p] = far
            if far:
                after = _after(schedule, p, below[0])
                for k in range(p, after):
                    skipped[k] = True
                p = after - 1
                continue
        if e > end:
            for lane in range(lanes):
                row[lane] = infinity
        else:
            e1, e2, e3 = min(e + 1, end), min(e + 2, end), min(e + 3, end)
            w0, w1, w2, w3 = down[e], down[e1], down[e2], down[e3]
            d0, d1, d2, d3 = stack[depth[e]], stack[depth[e1]], stack[depth[e2]], stack[depth[e3]]
            for lane in range(lanes):
                a, b = number(d0[lane] + w0), number(d1[lane] + w1)
                c, d = number(d2[lane] + w2), number(d3[lane] + w3)
                a = a if a < b else b
                c = c if c < d else d
                a = a if a < c else c
                row[lane] = a if a < infinity else infinity
            e += 4
            while e <= end:
                e1, e2, e3 = min(e + 1, end), min(e + 2, end), min(e + 3, end)
                w0, w1, w2, w3 = down[e], down[e1], down[e2], down[e3]
                d0, d1, d2, d3 = stack[depth[e]], stack[depth[e1]], stack[depth[e2]], stack[depth[e3]]
                for lane in range(lanes):
                    a, b = number(d0[lane] + w0), number(d1[lane] + w1)
                    c, d = number(d2[lane] + w2), number(d3[lane] + w3)
                    a = a if a < b else b
                    c = c if c < d else d
                    a = a if a < c else c
                    known = row[lane]
                    row[lane] = a if a < known else number(known + nothing)
                e += 4
        lane = reached
        while lane < len(sources) and sources[lane] > lowest:
            row[lane] = min(row[lane], climbs[lane, own])
            lane += 1
        if tree.size[v] > 1:
            ancestor = stack[own]
            for lane in range(lanes):
                ancestor[lane] = row[lane]
            if active:
                least = infinity
                for lane in range(lanes):
                    least = row[lane] if row[lane] < least else least
                beyond[own] = least > pruning.bound


@njit(nogil=True, cache=True)
def _after(schedule, first, below):
    """Return the first place from `first` on of a vertex of the schedule, which descends, that is not above `below`."""
    last = len(schedule)
    while first < last:
        middle = (first + last) // 2
        if schedule[middle] > below:
            first = middle + 1
        else:
            last = middle
    return first


@njit(nogil=True, cache=True)
def _gather(rows, places, limit, unreached, order, D):
    """D[order[lane], j] = rows[places[j], lane], or `unreached` beyond the limit, some columns at a time.

    What is left beside whole blocks is written an element at a time.
    """
    side = BLOCK // rows.itemsize
    whole = len(order) // side * side  # lanes of whole blocks
    for first in range(0, len(places), _COLUMNS):
        last = min(first + _COLUMNS, len(places))
        whole_end = first + (last - first) // side * side  # where the columns of whole blocks end
        for lane in range(0, whole, side):
            for j in range(first, whole_end, side):
                write_transposed(rows, places, j, lane, limit, unreached, D, order)
        for lane in range(len(order)):
            target = D[order[lane]]
            for j in range(whole_end if lane < whole else first, last):
                d = rows[np.uint64(places[j]), lane]  # unsigned, or Numba would check it for being negative
                target[j] = d if d <= limit else unreached


@njit(nogil=True, cache=True)
def _measure(
    tree,
    entries,
    down,
    sources,
    climbs,
    schedule,
    pruning,
    infinity,
    units,
    stack,
    rows,
    times,
    limit,
    radii,
    columns,
    order,
    own,
):
    """Sweep a tile of vertices at a time, and measure it while it is in the core's cache.

    Radii are ascending, and what is within each is written to its column.
    """
    lanes, number = _LANES * len(units), rows.dtype.type
    greatest, count = np.full(lanes, -infinity, rows.dtype), np.zeros(lanes, np.int32)
    total, inverse, within = np.zeros(lanes), np.zeros(lanes), np.zeros((len(radii), lanes), np.int32)
    all_within, in_one = True, places_in_one(radii) if len(radii) >= _MANY_RADII else 0.0
    searches = in_one > 0.0
    first = -_TILE
    while first + _TILE < len(schedule):
        first += _TILE
        if len(pruning.active) > 0 and schedule[first] > pruning.below[0]:
            first = _after(schedule, first, pruning.below[0])
        part = schedule[first : first + _TILE]
        _sweep(tree, entries, down, sources, climbs, part, pruning, infinity, units, stack, rows)
        for p in range(len(part)):
            some, row = np.int32(times[first + p]), rows[p]
            if len(pruning.active) > 0 and pruning.skipped[p]:
                all_within = False  # each subtree of the schedule has a target
                continue
            if some == 0:
                continue
            if len(own.greatest):
                for lane in range(lanes):
                    x = row[lane] if row[lane] <= limit else infinity
                    greatest[lane] = x if x > greatest[lane] else greatest[lane]
            if len(own.count):
                for lane in range(lanes):
                    count[lane] += some if row[lane] <= limit else np.int32(0)
            if len(own.total):
                for lane in range(lanes):
                    total[lane] += some * np.float64(row[lane]) if row[lane] <= limit else 0.0
            if len(own.inverse):
                for lane in range(lanes):
                    d = row[lane]
                    inverse[lane] += some / np.float64(d) if d <= limit and d != number(0) else 0.0
            if searches:
                for lane in range(lanes):
                    if row[lane] <= radii[-1]:
                        within[place_of(row[lane], radii, in_one), lane] += some
                continue
            for r in range(len(radii)):
                inside, radius = within[r], radii[r]
                for lane in range(lanes):
                    inside[lane] += some if row[lane] <= radius else np.int32(0)
    if searches:
        for r in range(1, len(radii)):
            within[r] += within[r - 1]
    for lane in range(len(order)):
        if len(own.greatest):
            own.greatest[order[lane]] = greatest[lane] if all_within and greatest[lane] < infinity else np.inf
        if len(own.count):
            own.count[order[lane]] = count[lane]
        if len(own.total):
            own.total[order[lane]] = total[lane]
        if len(own.inverse):
            own.inverse[order[lane]] = inverse[lane]
        for r in range(len(radii)):
            own.within[order[lane], columns[r]] = within[r, lane]


def _infinity(dtype):
    return dtype.type(kernel_infinity(dtype))
