"""Edges are grouped by row in two steps: they are moved to buckets of some rows each, then each bucket is sorted.

This is a radix sort whose first pass goes by the most significant digit [1]_. It moves each edge once through memory,
into a bucket that fits a core's cache. The other passes stay in that cache: by the digits of the column, the least
significant one first, and at last by row. All passes are stable, so repeated edges keep their order.

Cores share the first step by chunks of edges. The numbers that `count` returns say where each chunk's edges go in each
bucket. So no two cores write to the same place, and the result does not depend on the number of chunks. In the second
step, each core takes the next bucket.

Edges are moved to the arrays of the result. Beside these, an edge needs 16 bits, for its row in its bucket.

References
----------
.. [1] O. Polychroniou and K. A. Ross, "A comprehensive study of main-memory partitioning and its application to
   large-scale comparison- and radix-sort", SIGMOD 2014.
"""

import numpy as np

from ...device.numba import numba, prange
from ...device.numba.atomics import fetch_and_add
from ...device.numba.caching import njit


def threads():
    return int(numba.get_num_threads())


@njit(parallel=True, nogil=True, cache=True)
def extremes(numbers, floats, least, greatest):
    """Write the least and the greatest number of each part; floats are given, and compared, by their bits."""
    each = (len(numbers) + len(least) - 1) // len(least)
    for part in prange(len(least)):
        begin = min(len(numbers), part * each)
        low, high = _extremes(numbers[begin : min(len(numbers), begin + each)], floats)
        least[part] = low
        greatest[part] = high


@njit(nogil=True, cache=True)
def _extremes(numbers, floats):
    """Return the least and the greatest number of a part; of none, the type's greatest and least integer."""
    sign, most = 8 * numbers.itemsize - 1, np.iinfo(numbers.dtype).max
    low, high = numbers.dtype.type(most), numbers.dtype.type(~most)
    rest = numbers.dtype.type(most if floats else 0)
    for e in range(len(numbers)):  # which LLVM makes vector instructions of, unlike a loop over the numbers
        x = numbers[e]
        ordered = numbers.dtype.type(x ^ (numbers.dtype.type(x >> sign) & rest))
        low = ordered if ordered < low else low
        high = ordered if ordered > high else high
    return low, high


@njit(parallel=True, nogil=True, cache=True)
def ascending(indptr, indices, n, strictly, faults):
    edges = len(indices)
    each = (edges + len(faults) - 1) // len(faults)
    for part in prange(len(faults)):
        begin = min(edges, part * each)
        end = min(edges, begin + each)
        row = _row_of(indptr, begin)
        wrong = False
        while begin < end:
            stop = min(end, indptr[row + 1])
            if begin < stop:
                wrong |= indices[begin] < 0 or indices[stop - 1] >= n
                for e in range(np.uint64(max(begin, indptr[row] + 1)), np.uint64(stop)):
                    before = indices[e - np.uint64(1)]
                    wrong |= indices[e] < before or (strictly and indices[e] == before)
            begin = stop
            row += 1
        faults[part] = wrong


@njit(parallel=True, nogil=True, cache=True)
def imbalance(indptr, indices, values, keys, sums):
    edges = len(indices)
    each = (edges + len(sums) - 1) // len(sums)
    for part in prange(len(sums)):
        begin = min(edges, part * each)
        end = min(edges, begin + each)
        row = _row_of(indptr, begin)
        while begin < end:
            stop = min(end, indptr[row + 1])
            _add_hashes(np.uint64(row), np.uint64(begin), np.uint64(stop), indices, values, keys, sums[part])
            begin = stop
            row += 1


@njit(nogil=True, cache=True)
def _add_hashes(row, begin, end, indices, values, keys, sums):
    """Add to the sums the hashes of some edges of a row, or subtract them, or neither for an edge to the row itself."""
    zero = np.uint64(0)
    first, second = zero, zero
    for e in range(begin, end):
        column = np.uint64(indices[e])
        ends = min(row, column) << np.uint64(32) | max(row, column)
        bits = np.uint64(values[e]) if len(values) else zero
        # Masks in place of branches, which would be guessed wrong half of the time.
        above, below = zero - np.uint64(column > row), zero - np.uint64(column < row)
        base = _mixed(ends + keys[0])
        one, other = _mixed(base + bits + keys[1]), _mixed(base + bits + bits + keys[2])
        first += (one & above) - (one & below)
        second += (other & above) - (other & below)
    sums[0] += first
    sums[1] += second


@njit(nogil=True, cache=True)
def _mixed(bits):
    """Return 64 bits of which each depends on all of those given, by the last step of the generator SplitMix64."""
    bits = (bits ^ bits >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ bits >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return bits ^ bits >> np.uint64(31)


@njit(parallel=True, nogil=True, cache=True)
def count(rows, columns, both, shift, counts):
    """Count the edges of each chunk by ranges of ``2**shift`` rows, and if `both` the reversed edges."""
    chunks = len(counts) >> 1 if both else len(counts)
    each = (len(rows) + chunks - 1) // chunks
    for chunk in prange(chunks):
        begin = np.uint64(min(len(rows), chunk * each))
        end = np.uint64(min(len(rows), (chunk + 1) * each))
        own = counts[chunk]
        for e in range(begin, end):
            own[np.uint64(rows[e]) >> np.uint64(shift)] += 1
        if both:
            reverse = counts[chunks + chunk]
            for e in range(begin, end):
                reverse[np.uint64(columns[e]) >> np.uint64(shift)] += rows[e] != columns[e]


@njit(parallel=True, nogil=True, cache=True)
def place(rows, columns, values, both, ranges, to):
    """Move each edge to the next place of its bucket, and if `both` each reversed edge after these."""
    shift = np.uint64(ranges.shift)
    buckets = ranges.buckets
    places = ranges.places
    low = to.low
    indices = to.indices
    weights = to.values
    chunks = len(places) >> 1 if both else len(places)
    each = (len(rows) + chunks - 1) // chunks
    for chunk in prange(len(places)):
        begin = np.uint64(min(len(rows), chunk % chunks * each))
        end = np.uint64(min(len(rows), (chunk % chunks + 1) * each))
        back = chunk >= chunks
        ends, others = (columns, rows) if back else (rows, columns)
        _place(ends, others, values, begin, end, back, shift, buckets, places[chunk], low, indices, weights)


@njit(nogil=True, cache=True)
def _place(rows, columns, values, begin, end, distinct, shift, buckets, places, low, indices, weights):
    """Move some edges to the next places of their buckets; if `distinct`, those between two vertices only."""
    for e in range(begin, end):
        if distinct and rows[e] == columns[e]:
            continue
        row = np.uint64(rows[e])
        bucket = np.uint64(buckets[row >> shift])
        at = np.uint64(places[bucket])
        places[bucket] += 1
        low[at] = np.uint16(row)
        indices[at] = columns[e]
        if len(values):
            weights[at] = values[e]


@njit(parallel=True, nogil=True, cache=True)
def place_reversed(indptr, indices, values, ranges, to):
    shift = np.uint64(ranges.shift)
    buckets = ranges.buckets
    places = ranges.places
    low = to.low
    columns = to.indices
    weights = to.values
    edges = len(indices)
    each = (edges + len(places) - 1) // len(places)
    for chunk in prange(len(places)):
        begin = min(edges, chunk * each)
        end = min(edges, begin + each)
        own = places[chunk]
        column = _row_of(indptr, begin)
        while begin < end:
            stop = min(end, indptr[column + 1])
            for e in range(np.uint64(begin), np.uint64(stop)):
                row = np.uint64(indices[e])
                bucket = np.uint64(buckets[row >> shift])
                at = np.uint64(own[bucket])
                own[bucket] += 1
                low[at] = np.uint16(row)
                columns[at] = column
                if len(values):
                    weights[at] = values[e]
            begin = stop
            column += 1


@njit(nogil=True, cache=True)
def _row_of(indptr, edge):
    """Return the row that has an edge."""
    row, end = 0, len(indptr) - 1
    while end - row > 1:
        middle = (row + end) // 2
        if indptr[middle] <= edge:
            row = middle
        else:
            end = middle
    return row


@njit(parallel=True, nogil=True, cache=True)
def order(buckets, passes, bits, edges, indptr, spare, counters, turn):
    low = edges.low
    indices = edges.indices
    values = edges.values
    spare_low = spare.low
    spare_indices = spare.indices
    spare_values = spare.values
    for slot in prange(len(counters)):
        while True:
            own = np.int64(fetch_and_add(turn, 0, np.int64(1)))
            if own >= len(buckets):
                break
            bucket = buckets[own]
            rows = counters[slot, : bucket[1] - bucket[0]]
            _begin_rows(bucket, low, rows, indptr)
            if not _are_in_order(bucket, passes > 0, low, indices):
                room = bucket[4] if bucket[4] >= 0 else -bucket[4] * slot
                digits = counters[slot, counters.shape[1] - (1 << bits) :]
                _sort(bucket, room, passes, bits, low, indices, values, spare_low, spare_indices, spare_values, digits)
                _by_row(bucket, room, spare_low, spare_indices, spare_values, rows, indices, values)


@njit(nogil=True, cache=True)
def _begin_rows(bucket, low, rows, indptr):
    """Write where a bucket's rows begin, to `rows` too."""
    first = np.uint16(bucket[0])
    rows[:] = 0
    for e in range(np.uint64(bucket[2]), np.uint64(bucket[3])):
        rows[np.uint64(np.uint16(low[e] - first))] += 1
    at = bucket[2]
    for row in range(len(rows)):
        following = at + rows[row]
        rows[row] = at
        at = following
        indptr[bucket[0] + row + 1] = at


@njit(nogil=True, cache=True)
def _are_in_order(bucket, by_column, low, indices):
    """Return whether a bucket's edges are in the order of rows, and if `by_column` in that of columns in each row."""
    first = np.uint16(bucket[0])
    row_before, column_before = np.uint16(0), np.int32(0)
    for e in range(np.uint64(bucket[2]), np.uint64(bucket[3])):
        row, column = np.uint16(low[e] - first), indices[e]
        if row < row_before or (by_column and row == row_before and column < column_before):
            return False
        row_before, column_before = row, column
    return True


@njit(nogil=True, cache=True)
def _sort(bucket, room, passes, bits, low, indices, values, spare_low, spare_indices, spare_values, digits):
    """Sort a bucket's edges by column; they end in the spare place `room`, from which the pass by row returns them."""
    begin, edges = bucket[2], bucket[3] - bucket[2]
    if passes & 1 == 0:
        for e in range(edges):  # Numba takes seconds to compile assignments of slices
            spare_low[room + e] = low[begin + e]
            spare_indices[room + e] = indices[begin + e]
            if len(values):
                spare_values[room + e] = values[begin + e]
    for done in range(passes):
        shift = np.uint32(done * bits)
        if (passes - done) & 1 == 0:
            _by_digit(shift, digits, edges, spare_low, spare_indices, spare_values, room, low, indices, values, begin)
        else:
            _by_digit(shift, digits, edges, low, indices, values, begin, spare_low, spare_indices, spare_values, room)


@njit(nogil=True, cache=True)
def _by_digit(shift, counts, edges, low, indices, values, begin, to_low, to_indices, to_values, to):
    """Copy some edges in the order of a digit of their columns, those of the same digit in their own order."""
    mask = np.uint32(len(counts) - 1)
    first, last = np.uint64(begin), np.uint64(begin + edges)
    counts[:] = 0
    for e in range(first, last):
        counts[np.uint64(np.uint32(indices[e]) >> shift & mask)] += 1
    at = to
    for digit in range(len(counts)):
        following = at + counts[digit]
        counts[digit] = at
        at = following
    for e in range(first, last):
        digit = np.uint64(np.uint32(indices[e]) >> shift & mask)
        place = np.uint64(counts[digit])
        counts[digit] += 1
        to_low[place] = low[e]
        to_indices[place] = indices[e]
        if len(values):
            to_values[place] = values[e]


@njit(nogil=True, cache=True)
def _by_row(bucket, room, low, indices, values, rows, to_indices, to_values):
    """Copy a bucket's edges from the spare place `room` to where their rows begin."""
    first = np.uint16(bucket[0])
    for e in range(np.uint64(room), np.uint64(room + bucket[3] - bucket[2])):
        row = np.uint64(np.uint16(low[e] - first))
        at = np.uint64(rows[row])
        rows[row] += 1
        to_indices[at] = indices[e]
        if len(values):
            to_values[at] = values[e]
