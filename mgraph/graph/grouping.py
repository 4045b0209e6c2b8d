"""Long lists of edges on a CPU: looked through, and grouped by one end, on all cores.

`mgraph.kernels.grouping` has the algorithm. Here the tables between its steps are made: which rows a bucket has, and
where each core puts its edges. All memory is allocated here: beside the result, 2 bytes for each edge, the tables, and
room in which each core sorts a bucket.
"""

import itertools
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from .. import device as devices
from ..dtypes import offset_type
from ..kernels import grouping as grouping_kernels
from ..kernels.grouping import Placed, Ranges

#: The fewest edges, or elements of a matrix, for which all cores are used. SciPy groups fewer edges on one core in less
#: time than Numba takes to load.
MANY = 1 << 23

#: Ranges of rows are 2 to the power of one of these: few, so that their counters fit the first cache. For many edges
#: there are more, so that a bucket of one range fits the second.
FEWEST_RANGES, MOST_RANGES = 10, 13

#: The most edges of a bucket of several ranges, by its power of 2; and the buckets for each thread, if edges suffice.
BUCKET, BUCKETS_A_THREAD = 17, 8

#: The rows of a bucket, as a power of 2: 16 bits number them.
ROWS = 16

#: Chunks of edges for each thread.
CHUNKS = 2

Item = TypeVar("Item")

WORD, LONG = np.dtype(np.int32), np.dtype(np.int64)


class Grouped(NamedTuple):
    """Edges grouped by row: `indptr`, `indices` and `weights` as in `Compressed`."""

    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray | None


def extremes(numbers: Any) -> tuple[Any, Any]:
    """Return the least and the greatest number of an array that is not empty; two NaN if one number is NaN."""
    dtype = np.dtype(numbers.dtype).newbyteorder("=")
    if len(numbers) < MANY or dtype.kind not in "if" or dtype.itemsize < 4 or devices.of(numbers).kind != "cpu":
        return numbers.min().item(), numbers.max().item()
    words = WORD if dtype.itemsize == 4 else LONG
    least, greatest = np.empty((2, CHUNKS * thread_count()), words)
    grouping_kernels.on(devices.find("cpu")).extremes(
        usable(numbers, dtype).view(words), dtype.kind == "f", least, greatest
    )
    ends = np.array([least.min(), greatest.max()])
    if dtype.kind == "f":
        ends = (ends ^ (ends >> (8 * dtype.itemsize - 1) & np.iinfo(words.name).max)).view(dtype)
        if np.isnan(ends).any():
            ends[:] = np.nan
    low, high = ends.tolist()
    return low, high


def ascending(indptr: np.ndarray, indices: np.ndarray, n: int, strictly: bool = False) -> bool:
    """Return whether the columns of each row ascend and are in [0, n); unless `strictly`, they may repeat.

    `indptr` is right.
    """
    if len(indices) < MANY:
        falls = np.flatnonzero((np.less_equal if strictly else np.less)(indices[1:], indices[:-1])) + 1
        begins = np.zeros(len(indices) + 1, bool)
        begins[indptr] = True
        in_range = not len(indices) or (int(indices.min()) >= 0 and int(indices.max()) < n)
        return in_range and bool(begins[falls].all())
    indptr, indices = (usable(part, WORD if np.can_cast(part.dtype, WORD) else LONG) for part in (indptr, indices))
    faults = np.empty(CHUNKS * thread_count(), bool)
    grouping_kernels.on(devices.find("cpu")).ascending(indptr, indices, n, strictly, faults)
    return not faults.any()


def balanced(indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray | None) -> bool:
    """Return whether each edge above the diagonal is one below it, as often and with the same bits as its weight.

    The sums of two hashes of 64 bits, whose keys are drawn at each call, are compared instead of the edges [1]_. If the
    hashes were random, a wrong True had a probability of ``2**-128``. They are not proof against a file that was made
    to deceive; then the graph has an edge in one direction that should have two.

    References
    ----------
    .. [1] D. Clarke, S. Devadas, M. van Dijk, B. Gassend and G. E. Suh, "Incremental multiset hash functions and their
       application to memory integrity checking", ASIACRYPT 2003: MSet-Add-Hash.
    """
    keys = np.random.default_rng().integers(0, 1 << 64, 3, np.uint64)
    sums = np.zeros((CHUNKS * thread_count(), 2), np.uint64)
    grouping_kernels.on(devices.find("cpu")).imbalance(
        usable(indptr, indptr.dtype), usable(indices, WORD), _bits(weights), keys, sums
    )
    return not sums.sum(0).any()


def usable(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return an array of this type in a form for which kernels are compiled once: itself, or a copy."""
    found = _as_it_is(array, dtype)
    return copied(np.asarray(array), dtype) if found is None else found


def copied(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return a contiguous copy of an array in a type that holds its elements; of a long one by all cores."""
    copy = np.empty_like(array, dtype, subok=False)
    if array.size < MANY:
        np.copyto(copy, array, casting="unsafe")
        return copy
    source, target = (array, copy) if array.strides[0] >= array.strides[-1] else (array.T, copy.T)
    cuts = np.linspace(0, len(source), 4 * thread_count() + 1).astype(int).tolist()

    def copy_rows(ends: tuple[int, int]) -> None:
        np.copyto(target[slice(*ends)], source[slice(*ends)], casting="unsafe")

    shared_by_cores(copy_rows, itertools.pairwise(cuts), array.size)
    return copy


def shared_by_cores(task: Callable[[Item], object], items: Iterable[Item], elements: int) -> None:
    """Call `task`, in which NumPy goes through some of an array's elements, with each item; all cores share many."""
    if elements < MANY:
        for item in items:
            task(item)
        return
    from ..device.numba.sharing import on_all_cores

    on_all_cores(task, items, thread_count())


def copied_bytes(array: np.ndarray, dtype: np.dtype) -> int:
    """Return the bytes of the copy that `usable` makes; 0 for none."""
    return np.size(array) * dtype.itemsize if _as_it_is(array, dtype) is None else 0


def _as_it_is(array: np.ndarray, dtype: np.dtype) -> np.ndarray | None:
    """Return an array in the form of `usable` without a copy, or None; a view hides that it is read-only.

    Numba compiles kernels again for read-only arrays, such as those that a graph hands out.
    """
    view = np.asarray(array).view()
    try:
        view.flags.writeable = True
    except ValueError:  # its memory is read-only
        return None
    return view if view.dtype == dtype and view.flags.carray else None


def grouped(rows: np.ndarray, columns: np.ndarray, weights: np.ndarray | None, n: int, both: bool) -> Grouped:
    """Group edges by row, columns ascending; repeated edges keep their order.

    If `both`, add the other direction of each edge between two vertices; among repeated edges these come last.
    """
    kernels = grouping_kernels.on(devices.find("cpu"))
    wide = rows.dtype == columns.dtype == np.int64
    rows, columns = (usable(ends, LONG if wide else WORD) for ends in (rows, columns))
    values = _bits(weights)
    width = _range_width(n, len(rows) << both)
    counts = np.zeros((CHUNKS * thread_count() << both, _range_count(n, width)), np.int64)
    kernels.count(rows, columns, both, width, counts)
    buckets, ranges = _cut(counts, n, width, thread_count())
    edges = _room(int(buckets[-1, 3]), values)
    kernels.place(rows, columns, values, both, ranges, edges)
    passes = -(-max(1, (n - 1).bit_length()) // 12)  # counters of 12 bits fit the first cache
    return _ordered(buckets, passes, n, edges, weights)


def transposed(indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray | None, n: int) -> Grouped:
    """Group edges, which are grouped by row, by column; rows ascend, and repeated edges keep their order."""
    kernels = grouping_kernels.on(devices.find("cpu"))
    indptr, indices, values = usable(indptr, indptr.dtype), usable(indices, indices.dtype), _bits(weights)
    width = _range_width(n, len(indices))
    counts = np.zeros((CHUNKS * thread_count(), _range_count(n, width)), np.int64)
    kernels.count(indices, indices, False, width, counts)
    buckets, ranges = _cut(counts, n, width, thread_count())
    edges = _room(len(indices), values)
    kernels.place_reversed(indptr, indices, values, ranges, edges)
    return _ordered(buckets, 0, n, edges, weights)


def thread_count() -> int:
    """Return the number of threads that kernels run on."""
    return grouping_kernels.of_kind("cpu").threads()


def _bits(weights: np.ndarray | None) -> np.ndarray:
    """Return weights as words of their size, so that kernels that only move them are compiled for two types."""
    if weights is None:
        return np.empty(0, np.uint32)
    return usable(weights, weights.dtype).view(f"u{weights.dtype.itemsize}")


def _room(edges: int, values: np.ndarray) -> Placed:
    """Return room for edges with values like these."""
    return Placed(
        np.empty(edges, np.uint16), np.empty(edges, np.int32), np.empty(edges * bool(len(values)), values.dtype)
    )


def _range_width(n: int, edges: int) -> int:
    """Return the power of 2 that is the number of rows in a range."""
    ranges = min(max(FEWEST_RANGES, edges.bit_length() - BUCKET), MOST_RANGES)
    return min(max(0, (n - 1).bit_length() - ranges), ROWS)


def _range_count(n: int, width: int) -> int:
    return ((n - 1) >> width) + 1


def _cut(counts: np.ndarray, n: int, width: int, threads: int) -> tuple[np.ndarray, Ranges]:
    """Return the buckets that ranges are joined to, in their order, and where edges go; from each chunk's `counts`."""
    total = counts.sum(0)
    before = total.cumsum() - total
    most = min(1 << BUCKET, int(total.sum()) // (BUCKETS_A_THREAD * threads) + 1)
    first = np.arange(len(total)) << width
    group = np.stack([before // most, first >> ROWS])
    new = np.append(True, (group[:, 1:] != group[:, :-1]).any(0))
    begins = new.nonzero()[0]
    inside = np.add.reduceat(counts, begins, axis=1)  # by chunk and bucket
    after = inside.T.cumsum().reshape(len(begins), -1).T
    ends = after[-1]
    starts = np.append(0, ends[:-1])
    buckets = np.stack([first[begins], np.append(first[begins[1:]], n), starts, ends], 1)
    table = (new.cumsum() - 1).astype(np.uint16)
    return buckets, Ranges(width, table, np.ascontiguousarray(after - inside))


def _ordered(buckets: np.ndarray, passes: int, n: int, edges: Placed, weights: np.ndarray | None) -> Grouped:
    """Return the edges with each bucket sorted, the largest first; columns in so many passes."""
    kernels = grouping_kernels.on(devices.find("cpu"))
    threads = thread_count()
    sizes = buckets[:, 3] - buckets[:, 2]
    turns = np.argsort(-sizes, kind="stable")
    buckets, sizes = buckets[turns], sizes[turns]
    # Each thread has room for a bucket of usual size. The few larger ones, of hubs, have rooms of their own.
    large = sizes > 4 << BUCKET
    usual = int(sizes[~large].max(initial=1))
    own = np.where(large, sizes, 0)
    rooms = np.where(large, threads * usual + own.cumsum() - own, -usual)
    spare = _room(threads * usual + int(own.sum()), edges.values)
    bits = -(-max(1, (n - 1).bit_length()) // passes) if passes else 0
    indptr = np.zeros(n + 1, offset_type(len(edges.indices)))
    counters = np.empty((threads, int((buckets[:, 1] - buckets[:, 0]).max()) + (1 << bits)), np.int64)
    turn = np.zeros(1, np.int64)
    kernels.order(np.column_stack([buckets, rooms]), passes, bits, edges, indptr, spare, counters, turn)
    return Grouped(indptr, edges.indices, None if weights is None else edges.values.view(weights.dtype))
