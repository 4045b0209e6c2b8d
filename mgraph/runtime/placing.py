"""Placing the edges of a source on shards: each gets the edges into a range of vertices, sorted.

The chunks of the source are dealt to the shards in turn. In two passes over them, edges are counted and placed:

1. Each shard counts the edges of its chunks into every vertex. By the sums of all shards, all cut the vertices into the
   same ranges, balanced by edges. Then each adds up the counts of its own range, and knows where every row begins.
2. A chunk of each shard at a time, edges go to the shards of their targets (`Communicator.exchange`), which write each
   into the next free place of its row.

Finally, each shard sorts its rows, some at a time, in place. So a shard never has more than its own edges, those of
some chunks, and counters for each vertex: what this takes is known, and checked, once the edges are counted. Dropping
repeated edges leaves unused places behind the others; only if there are many are the others copied. Chunks arrive in
their order, and sorting is stable, so parallel edges are in the order of the source, as in `Graph.from_edges`: this is
a counting sort followed by a sort of the rows.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import device as devices
from ..arrays import Array, compact
from ..dtypes import offset_type
from ..graph.checks import vertex_count
from ..graph.compressed import PLACING_BYTES, Edges, rows_of, write_into_rows
from ..graph.source import EdgeSource
from ..planning.cut import Ranges, balanced_ranges
from .communicator import Communicator

#: Edges that are sorted at a time.
SORTED_AT_A_TIME = {"cpu": 1 << 20, "cuda": 1 << 26}

#: Bytes for each edge of a chunk that making it takes, and that sending and placing it take besides; and those of the
#: libraries that readers load into a process.
MAKING, SENDING = 64, 100
LIBRARIES = {"cpu": 80 << 20, "cuda": 0}

#: What is to be done where they do not fit.
ADVICE = "use more workers, or ones with more memory (dask worker --memory-limit)"

#: Ranges of vertices begin at multiples of it.
WORD = 32

#: Rounds of chunks after which memory is given back that is kept for chunks of another size.
TRIMMED_EACH = 16


@dataclass
class State:
    """A shard's state.

    Attributes
    ----------
    device : Device
        Where the shard works.
    source : EdgeSource
        The edges.
    ranges : tuple of (int, int)
        The vertices of each shard.
    indptr, indices, weights : array
        The edges into the shard's vertices, a row for each.
    free : list of array
        The next free place in each row, for each of the directions in which an edge is placed.
    longest : int
        The edges of the longest of the shard's chunks.
    peak : int
        The bytes that the shard is predicted to take at most.
    """

    device: devices.Device
    source: EdgeSource
    n: int = 0
    ranges: Ranges = ()
    indptr: Any = None
    indices: Any = None
    weights: Any = None
    free: list[Array] = field(default_factory=list)
    longest: int = 0
    peak: int = 0


class Placing:
    """Places the edges of a source, the piece of every shard.

    Supersteps: counting, one for each round of chunks, and sorting.
    """

    #: What is sent to the caller: the range of vertices, the edges in it, what is known of the weights, and the bytes.
    facts = ("n", "directed", "range", "m", "least", "most", "whole", "total", "peak")

    def load(self, shard: int, piece: EdgeSource, device: devices.Device) -> State:
        """Return the state of a shard; nothing is allocated yet."""
        return State(device, piece)

    def step(self, s: State, first: int, limit: int, comm: Communicator) -> int:
        """Count, place a round of chunks, or sort."""
        rounds = -(-s.source.chunks // comm.size)
        if first == 0:
            _count(s, comm)
        elif first <= rounds:
            _place(s, first - 1, comm)
            if first % TRIMMED_EACH == 0:
                s.device.trim()
        elif first == rounds + 1:
            s.free = []
            _sort(s)
            s.device.trim()
        else:
            return 0
        return 1

    def collect(self, s: State, comm: Communicator) -> dict[str, Array]:
        """Return the rows of the shard and the facts about them."""
        xp, weights = s.device.xp, s.weights
        lengths = xp.ones(min(len(s.indices), 1), np.int32) if weights is None else weights
        some = len(lengths) > 0
        found = {
            "n": [s.n],
            "directed": [s.source.directed],
            "range": s.ranges[comm.rank],
            "m": [len(s.indices)],
            "least": lengths.min()[None] if some else lengths,
            "most": lengths.max()[None] if some else lengths,
            "whole": [lengths.dtype.kind in "iu" or bool((lengths % 1 == 0).all())],
            "total": [float(len(s.indices) if weights is None else weights.sum())],
            "peak": [s.peak],
        }
        arrays = {name: xp.asarray(value) for name, value in found.items()}
        arrays |= {"indptr": s.indptr, "indices": s.indices}
        return arrays if weights is None else {**arrays, "weights": weights}


def _sides(s: State, edges: Edges) -> list[tuple[Array, ...]]:
    """Return edges as rows, columns and weights, for each direction in which they are placed.

    An undirected edge is placed in both directions. Parallel edges are in the order of `Graph.from_edges`: all of the
    first direction come before all of the second. Without weights they are equal, and both directions are one list.
    """
    src, dst, weights = edges
    extra = () if weights is None else (weights,)
    if s.source.directed:
        return [(dst, src, *extra)]
    both = src != dst
    there = (src, dst, *extra)
    back = (dst[both], src[both], *(array[both] for array in extra))
    if extra:
        return [there, back]
    return [tuple(s.device.xp.concatenate(pair) for pair in zip(there, back, strict=True))]


def _count(s: State, comm: Communicator) -> None:
    """Count the edges into each vertex, and cut the vertices into ranges with about equal numbers of edges."""
    xp, source = s.device.xp, s.source
    several = not source.directed and source.weights_dtype is not None
    counts = _resized(s, xp.zeros((1 + several, 0), np.uint64), source.n or 0)
    largest = -1
    for number in range(comm.rank, source.chunks, comm.size):
        edges = source.chunk(number, s.device)
        if not len(edges.src):
            continue
        s.longest = max(s.longest, len(edges.src))
        largest = max(largest, int(edges.src.max()), int(edges.dst.max()))
        if source.n is None and largest >= counts.shape[1]:
            counts = _resized(s, counts, max(largest + 1, 2 * counts.shape[1]))
        for side, (rows, *_) in enumerate(_sides(s, edges)):
            xp.add.at(counts[side], rows.astype(np.int64), np.uint64(1))
    most = xp.array([largest], np.int64)
    comm.allreduce(most, "max")
    s.n = vertex_count(source.n, int(most[0]))
    if counts.shape[1] != s.n:
        counts = _resized(s, counts, s.n)
    s.ranges = _cut(counts, comm, xp)
    for side in counts:
        comm.reduce_scatter(side, s.ranges, "sum")
    first, last = s.ranges[comm.rank]
    counts = counts.view(np.int64)[:, first:last].copy()
    s.device.trim()
    _allocate(s, counts)


def _resized(s: State, counts: Array, n: int) -> Array:
    """Return the counters of n vertices; those that are dropped or added are zero."""
    size = 8 * len(counts) * n
    with devices.allocating(f"counting the edges into {n:,} vertices", size, s.device, ADVICE):
        resized = s.device.xp.zeros((len(counts), n), np.uint64)
    width = min(n, counts.shape[1])
    resized[:, :width] = counts[:, :width]
    return resized


def _cut(counts: Array, comm: Communicator, xp: Any) -> Ranges:
    """Return ranges of vertices, balanced by the numbers of edges into the vertices, which all shards count.

    Ranges begin at whole words of a bitmap, so the sums of as many vertices are enough.
    """
    n = counts.shape[1]
    whole = n // WORD * WORD
    sums = xp.zeros(whole // WORD + 1, np.int64)
    for side in counts.view(np.int64):
        sums[:-1] += side[:whole].reshape(-1, WORD).sum(axis=1)
        sums[-1] += side[whole:].sum()
    comm.allreduce(sums, "sum")
    before = np.append(0, devices.to_host(sums).cumsum())
    return balanced_ranges(n, lambda vertex: int(before[-(-vertex // WORD)]), comm.size)


def _allocate(s: State, counts: Array) -> None:
    """Allocate the shard's rows, or raise MemoryLimitError before anything is placed.

    `counts` has the number of edges of each row, of each direction.
    """
    xp, dtype = s.device.xp, s.source.weights_dtype
    total = counts[0] if len(counts) == 1 else counts.sum(axis=0)
    m, rows, sides = int(total.sum()), len(total), len(counts)
    sent = s.longest * (1 if s.source.directed or sides > 1 else 2)
    an_edge = 4 + (0 if dtype is None else dtype.itemsize)
    offsets = offset_type(m)
    kept = an_edge * m + offsets.itemsize * (rows + 1)
    sorting = PLACING_BYTES * min(m, SORTED_AT_A_TIME[s.device.kind])
    placing = 8 * sides * rows + MAKING * s.longest + SENDING * sent
    counting = 8 * sides * (s.n + rows) + MAKING * s.longest
    needed = kept + max(sorting, placing)
    s.peak = LIBRARIES[s.device.kind] + sum(s.source.sizes().values()) + max(needed, counting)
    with devices.allocating(f"placing {m:,} edges into {rows:,} vertices", needed, s.device, ADVICE):
        s.indptr = xp.zeros(rows + 1, offsets)
        xp.cumsum(total, out=s.indptr[1:])
        s.indices = xp.empty(m, np.int32)
        s.weights = None if dtype is None else xp.empty(m, dtype)
        s.free = [s.indptr[:-1].astype(np.int64)]
        if sides > 1:
            s.free.append(s.free[0] + counts[0])


def _place(s: State, turn: int, comm: Communicator) -> None:
    """Send the edges of a round of chunks to the shards of their rows, and write those that arrive into their rows."""
    xp, source = s.device.xp, s.source
    number = turn * comm.size + comm.rank
    edges = source.chunk(number, s.device) if number < source.chunks else _no_edges(xp, source.weights_dtype)
    first, _ = s.ranges[comm.rank]
    bounds = xp.asarray([start for start, _ in s.ranges[1:]], np.int32)
    for side, arrays in enumerate(_sides(s, edges)):
        counts = np.full(1, len(arrays[0]))
        if comm.size > 1:
            owners = xp.searchsorted(bounds, arrays[0], side="right").astype(np.int16)
            order = owners.argsort(kind="stable")
            arrays = tuple(array[order] for array in arrays)
            counts = devices.to_host(xp.bincount(owners, minlength=comm.size))
        rows, columns, *weights = comm.exchange(arrays, counts)
        if not len(rows):
            continue
        into = [s.indices] if s.weights is None else [s.indices, s.weights]
        write_into_rows(rows - np.int32(first), [columns, *weights], s.free[side], into, xp)


def _no_edges(xp: Any, dtype: np.dtype | None) -> Edges:
    none = xp.zeros(0, np.int32)
    return Edges(none, none, None if dtype is None else xp.zeros(0, dtype))


def _sort(s: State) -> None:
    """Sort each row by column, some rows at a time; drop repeated edges if the source says so."""
    xp, at_a_time = s.device.xp, SORTED_AT_A_TIME[s.device.kind]
    count, m = len(s.indptr) - 1, len(s.indices)
    first, start, kept = 0, 0, 0
    while first < count:
        goal = xp.asarray([min(start + at_a_time, m)], s.indptr.dtype)
        last = min(count, max(first + 1, int(xp.searchsorted(s.indptr, goal, side="right")[0]) - 1))
        end = int(s.indptr[last])
        offsets = s.indptr[first : last + 1] - start
        offsets[0] = 0  # in place of where the row now begins
        rows = rows_of(offsets, end - start, xp)
        keys = rows.astype(np.int64) << 32 | s.indices[start:end]
        if s.weights is None:
            keys.sort()
        else:
            order = keys.argsort(kind="stable")
            keys = keys[order]
            s.weights[start:end] = s.weights[start:end][order]
        if s.source.unique:
            new = xp.ones(len(keys), bool)
            new[1:] = keys[1:] != keys[:-1]
            keys = keys[new]
            degrees = xp.bincount(keys >> 32, minlength=last - first)[: last - first]
            s.indptr[first + 1 : last + 1] = kept + xp.cumsum(degrees)
        s.indices[kept : kept + len(keys)] = keys & 0xFFFFFFFF
        kept += len(keys)
        first, start = last, end
    if s.source.unique:
        s.indices = compact(s.indices[:kept])
        s.indptr = s.indptr.astype(offset_type(kept), copy=False)
