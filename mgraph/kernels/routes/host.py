"""Hierarchies for many pairs on a CPU: climbs that are kept, their meetings, paths, flows and sums along paths.

- `climb` of few vertices follows the entries of all ancestors of each. Of many it goes down the tree, by falling rank,
  as labels of hubs are computed [1]_: the row of a vertex is the least of its upper neighbours' rows, each with the
  length of its entry added. The rows of the ancestors at hand are a stack by depth, which fits a core's cache, and the
  loop over a row is vectorised: New York's roads take 740 additions a vertex, in vectors of 8, and a climb 6,300.
- `meet` finds the number of common ancestors by bisection, then the least sum of two rows. `meet_table` sorts the
  columns: neighbours in a postorder have the same number in common with a row, but for few. Their labels lie side by
  side, depth by depth, so the loop over columns is vectorised. Of the 32 common ancestors that random pairs of New York
  have, a loop over one pair's ancestors is mostly its beginning and its end.
- `push` and `spread` assign flows from top to bottom [2]_: those of all paths that share an entry are one number when
  it is divided, so the work is that of all climbs and all entries, not of all paths.

References
----------
.. [1] D. Ouyang, L. Qin, L. Chang, X. Lin, Y. Zhang and Q. Zhu, "When hierarchy meets 2-hop-labeling: efficient
   shortest distance queries on road networks", 2018.
.. [2] V. Buchhold, P. Sanders and D. Wagner, "Real-time traffic assignment using engineered customizable contraction
   hierarchies", 2019.
"""

import numpy as np

from ... import dtypes
from ...device.numba import numba
from ...device.numba.caching import njit
from ...device.numba.sharing import on_all_cores
from ...dtypes import kernel_infinity
from .ops import APART, STACK

#: A table of distances alone is swept: that takes as long, and keeps no climbs.
JOINED: int = 0

#: Pairs that are joined at a time.
BATCH: int = 1 << 20

#: The most bytes of a core's labels of a table's columns, which fit its cache, and the columns at least.
TABLE, _LANES = 1 << 20, 16

#: Calls for each core among which work is dealt, and the climbs or paths, and the pairs or entries, of a call at least.
_PARTS, _FEW_CLIMBS, _FEW_PAIRS = 4, 16, 1 << 10

#: Vertices of a call at least that turns them into ranks, some nanoseconds each.
_FEW_VERTICES = 1 << 14


def rank(vertices, rank_of, ranks, wrong):
    """ranks[i] = rank_of[vertices[i]]; wrong[0] becomes 1 if a number is no vertex."""

    def work(part):
        some = vertices[part]
        if some.min() < 0 or some.max() >= len(rank_of):
            wrong[0] = 1
        else:
            np.take(rank_of, some, out=ranks[part], mode="clip")  # other modes write to a buffer first

    on_all_cores(work, _dealt(len(vertices), _PARTS, _FEW_VERTICES))


def climb(vertices, tree, entries, lengths, climbs):
    infinity, height, entry = _infinity(lengths.dtype), tree.height, climbs.entry
    together = _is_together(len(vertices), tree, lengths.itemsize + entry.itemsize)

    def work(part):
        if not together:
            _climb_each(vertices, part.start, part.stop, tree, entries, lengths, climbs, infinity)
            return
        line, stack = np.full(height, -1, np.int32), np.empty((height, height), lengths.dtype)
        last = np.empty((height if len(entry) else 0, height), entry.dtype)
        _climb_together(vertices, part.start, part.stop, tree, entries, lengths, climbs, infinity, line, stack, last)

    on_all_cores(work, _dealt(len(vertices), 1 if together else _PARTS, _FEW_CLIMBS))


def workspace_bytes(vertices, tree, itemsize, entrysize):
    each = tree.height * (4 + tree.height * (itemsize + entrysize))
    together = _is_together(vertices, tree, itemsize + entrysize)
    return min(vertices, numba.get_num_threads()) * each * together


def _is_together(vertices, tree, itemsize):
    """Return whether vertices climb by a stack of rows, with so many bytes for each element."""
    return vertices * APART >= len(tree.depth) and tree.height**2 * itemsize <= STACK


def _dealt(count, each, least=1):
    """Return slices of `count` items, as many for each core, of at least so many items if there are as many."""
    pieces = max(1, min(-(-count // least), each * numba.get_num_threads()))
    return [slice(count * i // pieces, count * (i + 1) // pieces) for i in range(pieces)]


@njit(nogil=True, cache=True)
def _climb_each(vertices, start, stop, tree, entries, lengths, climbs, infinity):
    begin, depth = entries.begin, entries.depth
    for i in range(start, stop):
        first, last = climbs.first[i], climbs.first[i + 1]
        line, label, last_entry = climbs.vertex[first:last], climbs.label[first:last], climbs.entry[first:last]
        for d in range(len(label)):
            label[d] = infinity
        for d in range(len(last_entry)):
            last_entry[d] = -1
        v, d = vertices[i], len(label) - 1
        label[d] = 0
        while v >= 0:
            line[d] = v
            if label[d] < infinity:
                own = label[d]
                for e in range(begin[v], begin[v + 1]):
                    above, through = depth[e], label.dtype.type(own + lengths[e])
                    if through < label[above]:  # not if it is equal: the deepest ancestor is met first
                        label[above] = through
                        if len(last_entry):
                            last_entry[above] = e
            v = tree.parent[v]
            d -= 1


@njit(nogil=True, cache=True)
def _climb_together(vertices, start, stop, tree, entries, lengths, climbs, infinity, line, stack, last):
    """Write climbs as `_climb_each` does. ``stack[d]`` is the row of ``line[d]``, the ancestor at depth d.

    Of two entries to one ancestor, the one from the deeper vertex has the lesser number.
    """
    begin, depth, number, entry = entries.begin, entries.depth, stack.dtype.type, last.dtype.type
    for i in range(stop - 1, start - 1, -1):
        v, own = vertices[i], tree.depth[vertices[i]]
        d = own
        while v >= 0 and line[d] != v:
            line[d] = v
            v = tree.parent[v]
            d -= 1
        for k in range(d + 1, own + 1):
            v, row = line[k], stack[k]
            for j in range(k):
                row[j] = infinity
            row[k] = 0
            if len(last):
                by = last[k]
                for j in range(k + 1):
                    by[j] = -1
            for e in range(begin[v], begin[v + 1]):
                above, length = depth[e], lengths[e]
                if not length < infinity:
                    continue
                other = stack[above]
                if len(last):
                    by, others = last[k], last[above]
                    for j in range(above):
                        through, known, new, old = number(length + other[j]), row[j], others[j], by[j]
                        nearer = (through < known) | ((through == known) & (new < old))
                        row[j] = through if nearer else known
                        by[j] = new if nearer else old
                    if length <= row[above]:  # this entry leads from the vertex itself, which is the deepest
                        row[above], by[above] = length, entry(e)
                else:
                    for j in range(above + 1):
                        through, known = number(length + other[j]), row[j]
                        row[j] = through if through < known else known
        first = climbs.first[i]
        for j in range(own + 1):
            climbs.vertex[first + j] = line[j]
            climbs.label[first + j] = stack[own, j]
        if len(last):
            for j in range(own + 1):
                climbs.entry[first + j] = last[own, j]


def meet(sources, targets, there, back, D, turn):
    infinity = _infinity(D.dtype)
    on_all_cores(
        lambda part: _meet(sources, targets, part.start, part.stop, there, back, infinity, D, turn),
        _dealt(len(D), _PARTS, _FEW_PAIRS),
    )


@njit(nogil=True, cache=True, fastmath={"nnan", "nsz"})
def _meet(sources, targets, start, stop, there, back, infinity, D, turn):
    number = D.dtype.type
    for i in range(start, stop):
        own, other = there.first[sources[i]], back.first[targets[i]]
        ends = there.first[sources[i] + 1], back.first[targets[i] + 1]
        low = _common(there.vertex[own : ends[0]], back.vertex[other : ends[1]])
        one, two = there.label[own : own + low], back.label[other : other + low]
        best = infinity
        for d in range(low):
            through = number(one[d] + two[d])
            best = through if through < best else best
        D[i] = best
        if len(turn):
            d = -1
            if best < infinity:
                d = low - 1
                while number(one[d] + two[d]) != best:
                    d -= 1
            turn[i] = d


@njit(nogil=True, cache=True)
def _common(line, other):
    """Return how many ancestors two climbs have in common."""
    low, high = 0, min(len(line), len(other))
    while low < high:
        middle = (low + high) // 2
        if line[middle] == other[middle]:
            low = middle + 1
        else:
            high = middle
    return low


def meet_table(rows, columns, there, back, D, turn):
    infinity, order = _infinity(D.dtype), np.argsort(columns)
    columns = columns[order]
    shared, own = np.zeros(len(columns) + 1, np.int64), np.empty(len(columns), np.int32)
    _share(columns, back.first, back.vertex, shared, own)
    height = int((back.first[columns + 1] - back.first[columns]).max())
    width = max(_LANES, min(len(columns), TABLE // (height * D.itemsize)))

    def work(part):
        labels, best, deepest = np.empty((height, width), D.dtype), np.empty(width, D.dtype), np.empty(width, np.int32)
        some = slice(part.start, part.stop)
        for left in range(0, len(columns), width):
            right = min(left + width, len(columns))
            tile = columns[left:right], own[left:right], shared[left : right + 1], order[left:right]
            _meet_tile(rows[some], *tile, there, back, infinity, labels, best, deepest, D[some], turn[some])

    on_all_cores(work, _dealt(len(rows), 1, _FEW_CLIMBS))


@njit(nogil=True, cache=True)
def _share(columns, firsts, vertex, shared, own):
    """Write how many ancestors each column has in common with the one before it, and its own vertex."""
    for j in range(len(columns)):
        first, last = firsts[columns[j]], firsts[columns[j] + 1]
        own[j] = vertex[last - 1]
        if j:
            before = columns[j - 1]
            shared[j] = _common(vertex[firsts[before] : firsts[before + 1]], vertex[first:last])


@njit(nogil=True, cache=True)
def _meet_tile(rows, columns, own, shared, order, there, back, infinity, labels, best, deepest, D, turn):
    """Write the meetings of rows with some columns. ``labels[d]`` has the labels of these at depth d.

    Columns ascend in a postorder. So each has no more ancestors in common with a row than one between them has.
    """
    count = len(columns)
    for j in range(count):
        first = back.first[columns[j]]
        for d in range(back.first[columns[j] + 1] - first):
            labels[d, j] = back.label[first + d]
    for i in range(len(rows)):
        first, last = there.first[rows[i]], there.first[rows[i] + 1]
        line, label = there.vertex[first:last], there.label[first:last]
        for j in range(count):
            best[j], deepest[j] = infinity, -1
        right = np.searchsorted(own, line[len(line) - 1])
        if right < count:
            low, start = _common(line, _line(back, columns[right])), right
            while start < count and low:
                stop = start + 1
                while stop < count and shared[stop] >= low:
                    stop += 1
                _meet_lanes(label[:low], labels, start, best[start:stop], deepest[start:stop])
                start, low = stop, min(low, shared[stop])
        if right:
            low, stop = _common(line, _line(back, columns[right - 1])), right
            while stop and low:
                start = stop - 1
                while start and shared[start] >= low:
                    start -= 1
                _meet_lanes(label[:low], labels, start, best[start:stop], deepest[start:stop])
                stop, low = start, min(low, shared[start])
        for j in range(count):
            D[i, order[j]] = best[j]
            turn[i, order[j]] = deepest[j] if best[j] < infinity else -1


@njit(nogil=True, cache=True)
def _line(climbs, number):
    return climbs.vertex[climbs.first[number] : climbs.first[number + 1]]


@njit(nogil=True, cache=True, fastmath={"nnan", "nsz"})
def _meet_lanes(label, labels, start, best, deepest):
    """Meet columns that have as many ancestors in common with a row as there are labels."""
    number = best.dtype.type
    for d in range(len(label)):
        own, others, depth = label[d], labels[d, start : start + len(best)], deepest.dtype.type(d)
        for j in range(len(best)):
            through, known, turn = number(own + others[j]), best[j], deepest[j]
            nearer = through <= known
            best[j] = through if nearer else known
            deepest[j] = depth if nearer else turn


def between(source, target, there, back):
    """Return the length of the shortest path of one pair."""
    D = np.empty(1, there.label.dtype)
    _between(source, target, there, back, _infinity(D.dtype), D)
    return D[0]


@njit(nogil=True, cache=True)
def _between(source, target, there, back, infinity, D):
    ends = np.array([source, target], np.int32)
    _meet(ends[:1], ends[1:], 0, 1, there, back, infinity, D, ends[:0])


def divide(tree, entries, lower, upward, downward, lengths, up, down, parts):
    n, infinity, begin = len(tree.depth), _infinity(up.dtype), entries.begin
    parts.depth[:] = np.repeat(tree.depth, np.diff(begin))
    # Shares of about as many entries; the last vertices have the most work for each.
    cuts = np.searchsorted(begin, [part.start for part in _dealt(len(up), 4 * _PARTS, _FEW_PAIRS)])
    shares = list(zip([0, *cuts[1:].tolist()], [*cuts[1:].tolist(), n], strict=True))

    def work(share):
        table = np.empty(tree.height, np.int64)
        _divide(*share, entries, lower, upward, downward, lengths, up, down, parts.ways, infinity, table)

    on_all_cores(work, shares[::-1])


@njit(nogil=True, cache=True)
def _divide(start, stop, entries, lower, upward, downward, lengths, up, down, ways, infinity, table):
    begin, depth = entries.begin, entries.depth
    for v in range(start, stop):
        for e in range(begin[v], begin[v + 1]):
            table[depth[e]] = e
            ways[2 * e : 2 * e + 2] = -1
        for k in range(upward.begin[v], upward.begin[v + 1]):
            e = upward.entry[k]
            if ways[2 * e, 0] < 0 and up[e] < infinity and lengths[upward.edge[k]] == up[e]:
                ways[2 * e, 0] = upward.edge[k]
        for k in range(downward.begin[v], downward.begin[v + 1]):
            e = downward.entry[k]
            if ways[2 * e + 1, 0] < 0 and down[e] < infinity and lengths[downward.edge[k]] == down[e]:
                ways[2 * e + 1, 0] = downward.edge[k]
        for k in range(lower.begin[v], lower.begin[v + 1]):
            own = np.int64(lower.entry[k])
            for e in range(own + 1, np.int64(begin[lower.vertex[k] + 1])):
                slot = table[depth[e]]
                if down[own] + up[e] == up[slot] and ways[2 * slot, 0] < 0 and up[slot] < infinity:
                    ways[2 * slot, 0], ways[2 * slot, 1] = 2 * own + 1, 2 * e
                if down[e] + up[own] == down[slot] and ways[2 * slot + 1, 0] < 0 and down[slot] < infinity:
                    ways[2 * slot + 1, 0], ways[2 * slot + 1, 1] = 2 * e + 1, 2 * own


def add_up(parts, stages, values, sums):
    _add_up(parts.ways, values, sums)


@njit(nogil=True, cache=True)
def _add_up(ways, values, sums):
    for way in range(len(sums)):  # its parts have less numbers, as their lower vertex is lower
        first, second = ways[way, 0], ways[way, 1]
        if second >= 0:
            sums[way] = sums[first] + sums[second]
        elif first >= 0:
            sums[way] = values[first]
        else:
            sums[way] = 0


def carry(depth, climbs, down, sums, carried):
    on_all_cores(
        lambda part: _carry(part.start, part.stop, depth, climbs.first, climbs.entry, down, sums, carried),
        _dealt(len(climbs.first) - 1, _PARTS, _FEW_CLIMBS),
    )


# Kernels that read no labels do not get them, or they would be compiled for each of their types.
@njit(nogil=True, cache=True)
def _carry(start, stop, depth, firsts, entry, down, sums, carried):
    for i in range(start, stop):
        first = firsts[i]
        for place in range(firsts[i + 1] - 1, first - 1, -1):
            e = np.int64(entry[place])
            carried[place] = 0 if e < 0 else carried[first + depth[e]] + sums[2 * e + down]


def join(sources, targets, turn, firsts, carried, totals):
    none = totals.dtype.type(dtypes.infinity(totals.dtype))
    on_all_cores(
        lambda part: _join(part.start, part.stop, sources, targets, turn, *firsts, *carried, none, totals),
        _dealt(len(totals), _PARTS, _FEW_PAIRS),
    )


@njit(nogil=True, cache=True)
def _join(start, stop, sources, targets, turn, there_first, back_first, there, back, none, totals):
    for i in range(start, stop):
        d = turn[i]
        totals[i] = none if d < 0 else there[there_first[sources[i]] + d] + back[back_first[targets[i]] + d]


def write_paths(sources, targets, turn, there, back, parts, order, ends, offsets, vertices, count):
    height, own = int(parts.depth.max(initial=0)) + 2, there.vertex[there.first[1:] - 1]
    climbs = there.first, there.entry, back.first, back.entry
    arguments = sources, targets, turn, climbs, parts, order[own], ends, offsets, vertices, count

    def work(part):
        met, (line, waiting) = np.empty(len(order), np.int32), np.empty((2, height), np.int64)
        _write_paths(part.start, part.stop, *arguments, met, line, waiting)

    on_all_cores(work, _dealt(len(turn), 1, _FEW_CLIMBS))


@njit(nogil=True, cache=True)
def _write_paths(
    start, stop, sources, targets, turn, climbs, parts, starts, ends, offsets, vertices, count, met, line, waiting
):
    there, there_entry, back, back_entry = climbs
    for i in range(start, stop):
        count[i] = 0
        if turn[i] < 0:
            continue
        path = vertices[offsets[i] :]
        first, last = there[sources[i]], there[sources[i] + 1] - 1
        v = starts[sources[i]]
        path[0], met[v], length = v, 0, 1
        place, chain = first + turn[i], 0
        while place < last:  # from the turn back to the source
            line[chain] = there_entry[place]
            place = first + parts.depth[line[chain]]
            chain += 1
        for k in range(chain - 1, -1, -1):
            length = unpack(2 * line[k], parts, ends, path, length, met, waiting)
        first, last = back[targets[i]], back[targets[i] + 1] - 1
        place = first + turn[i]
        while place < last:  # from the turn to the target
            e = np.int64(back_entry[place])
            length = unpack(2 * e + 1, parts, ends, path, length, met, waiting)
            place = first + parts.depth[e]
        count[i] = length


@njit(nogil=True, cache=True)
def unpack(way, parts, ends, path, length, met, waiting):
    """Add a way to the path, and return the length of that.

    ``met[v]`` is the place of vertex v in the path, if it is there. Then a cycle ends there, which is left out.
    """
    waits = 0
    while True:
        first, second = np.int64(parts.ways[way, 0]), np.int64(parts.ways[way, 1])
        if second >= 0:
            waiting[waits] = second
            waits += 1
            way = first
            continue
        v = ends[first]
        place = met[v]
        if place < 0 or place >= length or path[place] != v:
            place = length
            path[place] = v
            met[v] = place
        length = place + 1
        if not waits:
            return length
        waits -= 1
        way = waiting[waits]


def push(depth, climbs, down, amounts, load):
    _push(depth, climbs.first, climbs.entry, down, amounts, load)


@njit(nogil=True, cache=True)
def _push(depth, firsts, entry, down, amounts, load):
    for i in range(len(firsts) - 1):
        first = firsts[i]
        for place in range(first, firsts[i + 1] - 1):  # an entry leads from a deeper ancestor, which comes later
            amount = amounts[place]
            if amount != 0:
                e = np.int64(entry[place])
                load[2 * e + down] += amount
                amounts[first + depth[e]] += amount


@njit(nogil=True, cache=True)
def spread(parts, ways, load):
    """Add what the ways carry to the load of each edge, from the last way on: its parts come later."""
    for way in range(len(ways) - 1, -1, -1):
        amount = ways[way]
        if amount != 0:
            first, second = parts.ways[way, 0], parts.ways[way, 1]
            if second >= 0:
                ways[first] += amount
                ways[second] += amount
            else:
                load[first] += amount


def _infinity(dtype):
    return dtype.type(kernel_infinity(dtype))
