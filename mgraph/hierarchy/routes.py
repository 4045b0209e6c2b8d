"""Many pairs of vertices: their distances, paths, and the sums of other weights along these.

The climbs of all vertices are kept while pairs are joined: so a vertex climbs once however many pairs it is in, and a
pair takes one pass over its common ancestors. What does not fit the memory is taken in blocks of pairs. Labels are the
climbs of all vertices, kept with the hierarchy.
"""

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .. import device as devices
from ..arrays import Array, distinct
from ..dtypes import distance_range, infinity, kernel_infinity, offset_type, out_of_range
from ..errors import DistanceOverflowError
from ..kernels import routes as route_kernels
from ..kernels.routes import Climbs, Parts
from .lengths import Lengths
from .placed import OnDevice
from .structure import Fill, Structure

#: The most bytes of climbs that are kept at a time, if a quarter of the free memory has room for them.
CLIMBS = 1 << 30

#: Bytes of climbs for which the free memory is not asked how many to keep.
_FEW_BYTES = 1 << 20

#: Vertices of the graph for each one that is asked for, from which on pairs are few.
FEW = 128

#: Columns and rows of a table from which on it is joined as one, not pair by pair.
WIDE, HIGH = 32, 16

#: Bytes of a pair of a batch besides its distance: rows, places, the turn, and what is summed.
A_PAIR = 64

#: Called with how many of how many pairs are done.
Progress = Callable[[int, int], object]

_HOST = devices.find("cpu")


class Routes(NamedTuple):
    """Distances of pairs of vertices, and what was asked for beside them; None for what was not.

    Attributes
    ----------
    distances : array of the hierarchy's type
        The length of the shortest path of each pair; ``inf``, for int32 its largest value, where there is none.
    along : tuple of array, or None
        For each of other weights their sum along that path, float64 or int64: ``inf``, or the largest value of int64,
        where there is none.
    offsets : array of int64, shape (k + 1,), or None
        Where the vertices of each path begin.
    vertices : array of int32, or None
        The vertices of all paths: those of pair i, both ends included, are ``vertices[offsets[i]:offsets[i + 1]]``. A
        pair without a path has none.

    Examples
    --------
    >>> import mgraph
    >>> graph = mgraph.Graph.from_edges([0, 1], [1, 2], [4, 3])
    >>> roads = mgraph.Hierarchy(graph, order=[0, 2, 1], device="cpu")
    >>> found = roads.pairs([0, 2], [2, 0], paths=True)
    >>> found.offsets.tolist(), found.vertices.tolist()
    ([0, 3, 3], [0, 1, 2])
    """

    distances: Array
    along: tuple[Array, ...] | None = None
    offsets: Array | None = None
    vertices: Array | None = None


@dataclass(frozen=True)
class Batch:
    """Some pairs of a block, listed or a table, row by row.

    Attributes
    ----------
    places : slice or array
        Their places among all pairs.
    starts, ends : array of int32
        The numbers of the climbs of each pair, or of each row and each column of the table.
    is_table : bool
        Whether the pairs are a table.
    """

    places: slice | Array
    starts: Array
    ends: Array
    is_table: bool = False

    def __len__(self) -> int:
        return len(self.starts) * (len(self.ends) if self.is_table else 1)

    @functools.cached_property
    def sources(self) -> Array:
        """The number of the climb up, for each pair."""
        return self._xp.repeat(self.starts, len(self.ends)) if self.is_table else self.starts

    @functools.cached_property
    def targets(self) -> Array:
        """The number of the climb down, for each pair."""
        return self._xp.tile(self.ends, len(self.starts)) if self.is_table else self.ends

    @property
    def _xp(self) -> Any:
        return devices.of(self.starts).xp


class Block(NamedTuple):
    """Pairs whose climbs are kept at a time; `there` and `back` are the same where both directions are alike."""

    there: Climbs
    back: Climbs
    batches: Callable[[], Iterator[Batch]]


class Labels(NamedTuple):
    """The climbs of all vertices, without last entries; one object twice where both directions are alike."""

    there: Climbs
    back: Climbs


class Known(NamedTuple):
    """What a call knows of its hierarchy.

    Attributes
    ----------
    fill : Fill
        Its entries and levels.
    ancestors : float
        The ancestors of a vertex, on average, with the vertex itself.
    inner : dtype
        The type in which lengths are added.
    alike : bool
        Whether both directions have the same lengths, and so the same climbs.
    labelled : bool
        Whether the climbs of all vertices are kept.
    here : bool
        Whether it is on the device already.
    """

    fill: Fill
    ancestors: float
    inner: np.dtype
    alike: bool
    labelled: bool
    here: bool


def ranked(device: devices.Device, rank_of: Array, given: tuple[Array, Array]) -> tuple[Array, Array] | None:
    """Return the ranks of both ends of pairs, which are integers of any type; None if one of them is no vertex.

    They are copied to the device as they are, and checked there, where `rank_of` has the rank of each vertex.

    Raises
    ------
    MemoryLimitError
        If they do not fit the free memory.
    """
    xp, kernels = device.xp, route_kernels.on(device)
    needed = sum(4 * len(ends) + (0 if devices.of(ends) is device else ends.nbytes) for ends in given)
    needed += sum(4 * len(ends) for ends in given if ends.itemsize < 4 or not ends.flags.c_contiguous)
    with device.active(), devices.allocating(f"ranks of {len(given[0]):,} pairs", needed, device):
        wrong = xp.zeros(1, np.int32)
        starts, ends = (xp.empty(len(numbers), np.int32) for numbers in given)
        for numbers, ranks in zip(given, (starts, ends), strict=True):
            kernels.rank(_signed(device.asarray(numbers), xp), rank_of, ranks, wrong)
        return None if wrong[0] else (starts, ends)


def _signed(numbers: Array, xp: Any) -> Array:
    """Return integers as contiguous int32 or int64; those out of range are negative."""
    if numbers.itemsize < 4:
        numbers = numbers.astype(np.int32)
    return xp.ascontiguousarray(numbers).view(f"i{numbers.itemsize}")


def labelled(on: OnDevice, lengths: Lengths) -> Labels:
    """Return the climbs of all vertices.

    Raises
    ------
    MemoryLimitError
        If they do not fit the free memory.
    """
    device, xp, n = on.device, on.device.xp, len(on.tree.depth)
    with device.active():
        count = int((on.tree.depth + 1).sum(dtype=np.int64))
        alike = lengths.down is lengths.up
        work = route_kernels.on(device).workspace_bytes(n, on.tree, lengths.up.itemsize, 0)
        needed = (1 if alike else 2) * (count * (4 + lengths.up.itemsize) + 8 * (n + 1)) + work + 4 * n
        with devices.allocating(f"{count:,} labels of {n:,} vertices", needed, device):
            ranks = xp.arange(n, dtype=np.int32)
            there = _climbs(on, ranks, lengths.up, entries=False)
            return Labels(there, there if alike else _climbs(on, ranks, lengths.down, entries=False))


class Pairs:
    """The pairs that are asked for.

    Parameters
    ----------
    on : OnDevice
        The hierarchy's structure on the device that computes.
    lengths : Lengths
        The lengths there.
    starts, ends : array of int32
        Ranks, on any device: the two ends of each pair, or of a table.
    table : bool
        Whether each start is paired with each end.
    entries : bool
        Whether paths are needed, and so the last entries of climbs.
    labels : Labels or None
        Climbs that are kept, to be used where last entries are not needed.

    Raises
    ------
    MemoryLimitError
        If a block of climbs does not fit the free memory.
    """

    def __init__(
        self,
        on: OnDevice,
        lengths: Lengths,
        starts: Array,
        ends: Array,
        *,
        table: bool,
        entries: bool,
        labels: Labels | None = None,
    ) -> None:
        self.on, self.lengths = on, lengths
        self._table, self._entries, self._alike = table, entries, lengths.down is lengths.up
        self.count = len(starts) * len(ends) if table else len(starts)
        self._labels = None if entries else labels
        device, xp, kernels = on.device, on.device.xp, route_kernels.on(on.device)
        devices.check_free_memory(f"{self.count:,} pairs", 8 * (len(starts) + len(ends)), device)
        with device.active():
            self._starts, self._ends = device.asarray(starts), device.asarray(ends)
            climbing = () if self._labels else (self._starts, self._ends)
            known = sum(int((on.tree.depth[distinct(some, xp)] + 1).sum(dtype=np.int64)) for some in climbing)
        entry_bytes = on.entries.begin.itemsize if entries else 0
        self._element = 4 + entry_bytes + lengths.up.itemsize
        few = self._element * known <= min(_FEW_BYTES, CLIMBS)
        room = _FEW_BYTES if few else min(CLIMBS, device.available_memory() // 4)
        height = on.tree.height
        #: Starts and ends of a block; None if one block has all.
        self._most = None if self._element * known <= room else max(1, room // (2 * self._element * height))
        #: Elements of the climbs that are kept at a time, and the bytes that these, a batch and the kernels take.
        self.elements = min(self._element * known, room) // self._element
        vertices = min(len(on.tree.depth), sum(map(len, climbing)))
        work = kernels.workspace_bytes(vertices, on.tree, lengths.up.itemsize, entry_bytes)
        #: Pairs that are joined at a time.
        self._batch = kernels.BATCH
        self.bytes = self.elements * self._element + work + A_PAIR * min(self.count, self._batch)
        self.bytes += 8 * self.count * (self._most is not None and not table)  # the order of their blocks
        devices.check_free_memory(f"climbs of {self.count:,} pairs", self.bytes, device)

    @property
    def are_few(self) -> bool:
        """Whether to take pairs one by one: on a CPU, few of the vertices, most of them in one pair, and no labels."""
        if self.on.device.kind != "cpu" or self._table or self._entries or self._labels is not None:
            return False
        vertices = len(distinct(np.concatenate(self.ends)))
        return self.count <= vertices and vertices * FEW <= len(self.on.tree.depth)

    @property
    def ends(self) -> tuple[Array, Array]:
        """The ranks of both ends of each pair."""
        return self._starts, self._ends

    @property
    def is_one_block(self) -> bool:
        """Whether all climbs are kept at a time."""
        return self._most is None

    def blocks(self) -> Iterator[Block]:
        """Yield all pairs, with their climbs."""
        if self._table:
            yield from self._blocks_of_table()
            return
        if self._most is None:
            yield self._listed(None)
            return
        order = self.on.device.xp.argsort(self._starts)  # so that few vertices are in several blocks
        for first in range(0, len(order), self._most):
            yield self._listed(order[first : first + self._most])

    def _listed(self, chosen: Array | None) -> Block:
        starts, ends = (some if chosen is None else some[chosen] for some in (self._starts, self._ends))
        there, back, sources, targets = self._climbed(starts, ends)

        def batches() -> Iterator[Batch]:
            for first in range(0, len(sources), self._batch):
                some = slice(first, first + self._batch)
                yield Batch(some if chosen is None else chosen[some], sources[some], targets[some])

        return Block(there, back, batches)

    def _blocks_of_table(self) -> Iterator[Block]:
        rows, columns = (self._most or max(1, len(some)) for some in (self._starts, self._ends))
        for row in range(0, len(self._starts), rows):
            for column in range(0, len(self._ends), columns):
                yield self._tabled(row, column, rows, columns)

    def _tabled(self, row: int, column: int, rows: int, columns: int) -> Block:
        there, back, sources, targets = self._climbed(
            self._starts[row : row + rows], self._ends[column : column + columns]
        )
        width, xp = len(targets), self.on.device.xp
        number = xp.arange(min(width, self._batch))

        def batches() -> Iterator[Batch]:
            high = max(1, self._batch // width)
            for first in range(0, len(sources), high):
                some = sources[first : first + high]
                for left in range(0, width, self._batch):
                    part = targets[left : left + self._batch]
                    begin = (row + first) * len(self._ends)
                    if len(part) == len(self._ends):
                        places = slice(begin, begin + len(some) * width)
                    else:
                        begins = begin + len(self._ends) * xp.arange(len(some)) + column + left
                        places = (begins[:, None] + number[: len(part)]).ravel()
                    yield Batch(places, some, part, is_table=True)

        return Block(there, back, batches)

    def _climbed(self, starts: Array, ends: Array) -> tuple[Climbs, Climbs, Array, Array]:
        """Return the climbs from starts and from ends, and the number of each in them."""
        if self._labels is not None:
            return *self._labels, starts, ends
        n, xp = len(self.on.tree.depth), self.on.device.xp
        if self._alike:
            ranks, number = _numbered(xp.concatenate([starts, ends]), n, xp)
            both = self._climbs(ranks, self.lengths.up)
            return both, both, number[: len(starts)], number[len(starts) :]
        (ranks, sources), (others, targets) = (_numbered(some, n, xp) for some in (starts, ends))
        return self._climbs(ranks, self.lengths.up), self._climbs(others, self.lengths.down), sources, targets

    def _climbs(self, ranks: Array, lengths: Array) -> Climbs:
        return _climbs(self.on, ranks, lengths, self._entries)


def _climbs(on: OnDevice, ranks: Array, lengths: Array, entries: bool) -> Climbs:
    """Return the climbs of ranks, which ascend, and their last entries if these are wanted."""
    device, xp, dtype = on.device, on.device.xp, on.entries.begin.dtype
    first = xp.zeros(len(ranks) + 1, np.int64)
    first[1:] = xp.cumsum(on.tree.depth[ranks] + 1, dtype=np.int64)
    total = int(first[-1])
    needed = (4 + lengths.itemsize + (dtype.itemsize if entries else 0)) * total
    with devices.allocating(f"climbs of {len(ranks):,} vertices", needed, device):
        vertex, label = xp.empty(total, np.int32), xp.empty(total, lengths.dtype)
        made = Climbs(first, vertex, label, xp.empty(total if entries else 0, dtype))
        if len(ranks):
            route_kernels.on(device).climb(ranks, on.tree, on.entries, lengths, made)
    return made


def _numbered(values: Array, n: int, xp: Any) -> tuple[Array, Array]:
    """Return the different values, which are less than n, ascending, and the number of each value among them."""
    if len(values) * 16 < n:
        ranks = distinct(values, xp)
        return ranks, xp.searchsorted(ranks, values).astype(np.int32)
    number = xp.zeros(n, np.int32)
    number[values] = 1
    ranks = xp.flatnonzero(number).astype(np.int32)
    number[ranks] = xp.arange(len(ranks), dtype=np.int32)
    return ranks, number[values]


def are_joined(on: OnDevice, lengths: Lengths, rows: int, columns: int) -> bool:
    """Return whether a table of distances is joined from climbs, not swept: where that is faster and has the same bits.

    Sums in another order have these if they are exact: of integers, and of floats that are computed in float32.
    """
    count, inner = rows * columns, np.dtype(lengths.up.dtype)
    if not 0 < count <= route_kernels.on(on.device).JOINED or inner == np.float64:
        return False
    return 2 * count * inner.itemsize <= on.device.available_memory()


def distances(pairs: Pairs, progress: Progress | None) -> Array:
    """Return the distances of pairs, on the device that computes them.

    Parameters
    ----------
    pairs : Pairs
        The pairs.
    progress : callable or None
        Told of the pairs that are done.

    Raises
    ------
    DistanceOverflowError
        If a distance is out of range for its type.
    MemoryLimitError
        If the distances do not fit the free memory.
    """
    lengths, device, xp, done = pairs.lengths, pairs.on.device, pairs.on.device.xp, 0
    if pairs.are_few:
        return _one_by_one(pairs, progress)
    needed = pairs.count * lengths.dtype.itemsize + pairs.bytes
    with device.active(), devices.allocating(f"distances of {pairs.count:,} pairs", needed, device):
        D = xp.empty(pairs.count, lengths.dtype)
        for block in pairs.blocks():
            for batch in block.batches():
                found, _ = met(pairs, block, batch, turns=False)
                D[batch.places] = _finished(found, lengths, xp)
                done += len(found)
                if progress is not None:
                    device.synchronize()
                    progress(done, pairs.count)
            del block  # before the next one is made
    return D


def _one_by_one(pairs: Pairs, progress: Progress | None) -> np.ndarray:
    """Return the distances of few pairs on the CPU: their climbs end as soon as a path is found."""
    lengths, on, (starts, ends) = pairs.lengths, pairs.on, pairs.ends
    found = np.empty(pairs.count, lengths.up.dtype)
    of_all = on.tree, on.entries, lengths.up, lengths.down, lengths.nonnegative
    on.kernels.lengths_of(starts, ends, *of_all, found)
    if progress is not None:
        progress(pairs.count, pairs.count)
    return _finished(found, lengths, np)


def divided(structure: Structure, lengths: Lengths) -> Parts:
    """Return what the paths of entries consist of; `lengths` lie on the host.

    Raises
    ------
    MemoryLimitError
        If that does not fit the free memory.
    """
    entries, count = structure.entries, len(lengths.up)
    numbers = offset_type(max(2 * count, len(lengths.edges)))
    needed = count * (4 * numbers.itemsize + 4)
    with devices.allocating(f"the parts of {count:,} entries", needed, _HOST):
        parts = Parts(np.empty((2 * count, 2), numbers), np.empty(count, np.int32))
        route_kernels.on(_HOST).divide(
            *(structure.tree, entries, structure.lower, structure.upward, structure.downward),
            *(lengths.edges, lengths.up, lengths.down, parts),
        )
    return parts


def parts_on(device: devices.Device, parts: Parts) -> Parts:
    """Return what the paths of entries consist of, on a device.

    Raises
    ------
    MemoryLimitError
        If that does not fit the free memory.
    """
    needed = 0 if device.kind == "cpu" else sum(part.nbytes for part in parts)  # on a CPU it is there
    with devices.allocating(f"the parts of {len(parts.depth):,} entries", needed, device):
        return Parts(*map(device.asarray, parts))


def _sums(on: OnDevice, parts: Parts, values: np.ndarray) -> Array:
    """Return the sums of the edges' values along the ways, float64 or int64, on the device.

    Raises
    ------
    DistanceOverflowError
        If a sum of integers along a path may exceed int64.
    """
    if values.dtype.kind == "i" and len(values):
        most = max(abs(int(values.min())), abs(int(values.max())))
        if most * len(on.rank) >= np.iinfo(np.int64).max:
            raise DistanceOverflowError(
                f"a sum of weights of up to {most} along a path may be out of range for int64: give them as float64"
            )
    values = values.astype(np.float64 if values.dtype.kind == "f" else np.int64, copy=False)
    count, device = len(parts.ways), on.device
    with devices.allocating(f"sums of {count:,} ways", 8 * (count + len(values)), device):
        sums = device.xp.empty(count, values.dtype)
        route_kernels.on(device).add_up(parts, on.stages, device.asarray(values), sums)
    return sums


def routes(
    structure: Structure,
    pairs: Pairs,
    parts: Parts,
    along: tuple[np.ndarray, ...] | None,
    targets: np.ndarray | None,
    progress: Progress | None,
) -> Routes:
    """Return the distances of pairs, the sums of other weights along their paths, and the paths, where they are found.

    Parameters
    ----------
    structure : Structure
        That of the hierarchy.
    pairs : Pairs
        The pairs, with entries; on the CPU if paths are wanted.
    parts : Parts
        What the paths of entries consist of, on the device of the pairs.
    along : tuple of array, shape (m,), or None
        Other weights, if sums are wanted.
    targets : array of int32, shape (m,), or None
        The target of each edge, if paths are wanted.
    progress : callable or None
        Told of the pairs that are done.

    Raises
    ------
    DistanceOverflowError
        If a distance, or a sum of other weights, is out of range for its type.
    MemoryLimitError
        If the result does not fit the free memory.
    """
    count, lengths, device = pairs.count, pairs.lengths, pairs.on.device
    kernels, xp = route_kernels.on(device), device.xp
    wanted = [*(along or ()), *([] if targets is None else [np.ones(len(targets), np.int64)])]
    of_sums = len(wanted) * (len(parts.ways) + 2 * pairs.elements) + max(map(len, wanted), default=0)
    stored = count * (lengths.dtype.itemsize + 8 * len(wanted))
    devices.check_free_memory(f"routes of {count:,} pairs", stored + 8 * of_sums + pairs.bytes, device)
    done, steps, only = 0, count * (1 + (targets is not None)), None
    with device.active():
        sums = [_sums(pairs.on, parts, values) for values in wanted]
        D, totals = xp.empty(count, lengths.dtype), [xp.empty(count, each.dtype) for each in sums]
        for block in pairs.blocks():
            carried = [_carried(device, parts.depth, block, each) for each in sums]
            for batch in block.batches():
                found, turn = met(pairs, block, batch)
                D[batch.places] = _finished(found, lengths, xp)
                for parts_of, total in zip(carried, totals, strict=True):
                    joined = xp.empty(len(found), total.dtype)
                    firsts = block.there.first, block.back.first
                    kernels.join(batch.sources, batch.targets, turn, firsts, parts_of, joined)
                    total[batch.places] = joined
                done += len(found)
                if progress is not None:
                    device.synchronize()
                    progress(done, steps)
            carried, only = [], block if pairs.is_one_block else None
            del block  # before the next one is made
    found_along = None if along is None else tuple(totals[: len(along)])
    if targets is None:
        return Routes(D, found_along)
    blocks = pairs.blocks() if only is None else [only]
    return Routes(D, found_along, *_paths(structure, pairs, blocks, parts, targets, totals.pop(), progress))


def _paths(
    structure: Structure,
    pairs: Pairs,
    blocks: Iterable[Block],
    parts: Parts,
    targets: np.ndarray,
    edges: np.ndarray,
    progress: Progress | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return where the vertices of each path begin, and these of all; `edges` says how many edges each has."""
    count = pairs.count
    devices.check_free_memory(f"{count:,} paths", 24 * count, _HOST)
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(np.where(edges == infinity(edges.dtype), 0, edges + 1), out=offsets[1:])
    size, done = int(offsets[-1]), 0
    with devices.allocating(f"the {size:,} vertices of {count:,} paths", 4 * size + 8 * count, _HOST):
        vertices, numbers = np.empty(size, np.int32), np.empty(count, np.int64)
        for block in blocks:
            for batch in block.batches():
                _, turn = met(pairs, block, batch)
                number = np.empty(len(turn), np.int64)
                route_kernels.on(pairs.on.device).write_paths(
                    *(batch.sources, batch.targets, turn, block.there, block.back, parts),
                    *(structure.order, targets, offsets[:-1][batch.places], vertices, number),
                )
                numbers[batch.places] = number
                done += len(turn)
                if progress is not None:
                    progress(count + done, 2 * count)
            del block
        return _compacted(offsets, vertices, numbers)


def met(pairs: Pairs, block: Block, batch: Batch, turns: bool = True) -> tuple[Array, Array]:
    """Return the distances of a batch, in the type that is computed in, and the depths where paths turn, if wanted."""
    device, count, shape = pairs.on.device, len(batch), (len(batch.starts), len(batch.ends))
    as_table = batch.is_table and shape[0] >= HIGH and shape[1] >= WIDE
    found = device.xp.empty(count, pairs.lengths.up.dtype)
    turn = device.xp.empty(count if turns or as_table else 0, np.int32)
    kernels, climbs = route_kernels.on(device), (block.there, block.back)
    if as_table:
        kernels.meet_table(batch.starts, batch.ends, *climbs, found.reshape(shape), turn.reshape(shape))
    else:
        kernels.meet(batch.sources, batch.targets, *climbs, found, turn)
    return found, turn


def _compacted(offsets: np.ndarray, vertices: np.ndarray, number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return paths without the room of cycles that were left out."""
    room = np.diff(offsets)
    if np.array_equal(room, number):
        return offsets, vertices
    changes = np.zeros(len(vertices) + 1, np.int8)  # where a path begins and ends
    np.add.at(changes, offsets[:-1], 1)
    np.subtract.at(changes, offsets[:-1] + number, 1)
    shorter = np.zeros_like(offsets)
    np.cumsum(number, out=shorter[1:])
    return shorter, vertices[np.cumsum(changes[:-1], dtype=np.int8).view(bool)]


def _carried(device: devices.Device, depth: Array, block: Block, sums: Array) -> tuple[Array, Array]:
    """Return sums of ways along the paths of a block's climbs, by depth."""
    made = []
    for down, climbs in enumerate((block.there, block.back)):
        with devices.allocating("sums along climbs", sums.itemsize * len(climbs.label), device):
            made.append(device.xp.empty(len(climbs.label), sums.dtype))
            route_kernels.on(device).carry(depth, climbs, down, sums, made[-1])
    return made[0], made[1]


def _finished(found: Array, lengths: Lengths, xp: Any) -> Array:
    """Return distances in their type, of those that were computed; DistanceOverflowError if one is out of range."""
    if lengths.dtype.kind == "f":
        with np.errstate(over="ignore"):
            return found.astype(lengths.dtype, copy=False)
    reached = found < kernel_infinity(np.dtype(found.dtype))
    if found.dtype != lengths.dtype:  # or no sum is out of range
        least, greatest = distance_range(lengths.dtype, lengths.nonnegative)
        if bool((reached & ((found < least) | (found > greatest))).any()):
            raise out_of_range(lengths.dtype, lengths.nonnegative)
    return xp.where(reached, found, infinity(lengths.dtype)).astype(lengths.dtype, copy=False)
