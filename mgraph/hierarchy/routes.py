"""Many pairs of vertices: their distances, paths, and the sums of other weights along these.

The climbs of all vertices are kept while pairs are joined: so a vertex climbs once however many pairs it is in, and a
pair takes one pass over its common ancestors. What does not fit the memory is taken in blocks of pairs.
"""

from collections.abc import Callable, Iterator
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
from .structure import Structure

#: The most bytes of climbs that are kept at a time, if a quarter of the free memory has room for them.
CLIMBS = 1 << 30

#: Bytes of climbs for which the free memory is not asked how many to keep.
_FEW = 1 << 20

#: Pairs that are joined at a time, between which progress is reported.
BATCH = 1 << 20

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


class Batch(NamedTuple):
    """Some pairs of a block: their places among all, and the numbers of their climbs."""

    places: slice | Array
    sources: Array
    targets: Array


class Block(NamedTuple):
    """Pairs whose climbs are kept at a time; `there` and `back` are the same where both directions are alike."""

    there: Climbs
    back: Climbs
    batches: Callable[[], Iterator[Batch]]


class Pairs:
    """The pairs that are asked for.

    Parameters
    ----------
    on : OnDevice
        The hierarchy's structure on the device that computes.
    lengths : Lengths
        The lengths there.
    starts, ends : array of int32
        Ranks: the two ends of each pair, or of a table.
    table : bool
        Whether each start is paired with each end.
    entries : bool
        Whether paths are needed, and so the last entries of climbs, which only a CPU finds.

    Raises
    ------
    MemoryLimitError
        If a block of climbs does not fit the free memory.
    """

    def __init__(
        self, on: OnDevice, lengths: Lengths, starts: np.ndarray, ends: np.ndarray, *, table: bool, entries: bool
    ) -> None:
        self.on, self.lengths = on, lengths
        self._table, self._entries, self._alike = table, entries, lengths.down is lengths.up
        self.count = len(starts) * len(ends) if table else len(starts)
        device, xp, kernels = on.device, on.device.xp, route_kernels.on(on.device)
        devices.check_free_memory(f"{self.count:,} pairs", 8 * (len(starts) + len(ends)), device)
        with device.active():
            self._starts, self._ends = device.asarray(starts), device.asarray(ends)
            known = sum(
                int((on.tree.depth[distinct(some, xp)] + 1).sum(dtype=np.int64)) for some in (self._starts, self._ends)
            )
        entry_bytes = on.entries.begin.itemsize if entries else 0
        self._element = 4 + entry_bytes + lengths.up.itemsize
        few = self._element * known <= min(_FEW, CLIMBS)
        room = _FEW if few else min(CLIMBS, device.available_memory() // 4)
        height = on.tree.height
        #: Starts and ends of a block; None if one block has all.
        self._most = None if self._element * known <= room else max(1, room // (2 * self._element * height))
        #: Elements of the climbs that are kept at a time, and the bytes that these, a batch and the kernels take.
        self.elements = min(self._element * known, room) // self._element
        vertices = min(len(on.tree.depth), len(starts) + len(ends))
        work = kernels.workspace_bytes(vertices, on.tree, lengths.up.itemsize, entry_bytes)
        self.bytes = self.elements * self._element + work + A_PAIR * min(self.count, BATCH)
        devices.check_free_memory(f"climbs of {self.count:,} pairs", self.bytes, device)

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
            for first in range(0, len(sources), BATCH):
                some = slice(first, first + BATCH)
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
        number = xp.arange(min(width, BATCH))

        def batches() -> Iterator[Batch]:
            high = max(1, BATCH // width)
            for first in range(0, len(sources), high):
                some = sources[first : first + high]
                for left in range(0, width, BATCH):
                    part = targets[left : left + BATCH]
                    begin = (row + first) * len(self._ends)
                    if len(part) == len(self._ends):
                        places = slice(begin, begin + len(some) * width)
                    else:
                        begins = begin + len(self._ends) * xp.arange(len(some)) + column + left
                        places = (begins[:, None] + number[: len(part)]).ravel()
                    yield Batch(places, xp.repeat(some, len(part)), xp.tile(part, len(some)))

        return Block(there, back, batches)

    def _climbed(self, starts: Array, ends: Array) -> tuple[Climbs, Climbs, Array, Array]:
        """Return the climbs from starts and from ends, and the number of each in them."""
        n, xp = len(self.on.tree.depth), self.on.device.xp
        if self._alike:
            ranks, number = _numbered(xp.concatenate([starts, ends]), n, xp)
            both = self._climbs(ranks, self.lengths.up)
            return both, both, number[: len(starts)], number[len(starts) :]
        (ranks, sources), (others, targets) = (_numbered(some, n, xp) for some in (starts, ends))
        return self._climbs(ranks, self.lengths.up), self._climbs(others, self.lengths.down), sources, targets

    def _climbs(self, ranks: Array, lengths: Array) -> Climbs:
        tree, entries, device, xp = self.on.tree, self.on.entries, self.on.device, self.on.device.xp
        first = xp.zeros(len(ranks) + 1, np.int64)
        first[1:] = xp.cumsum(tree.depth[ranks] + 1, dtype=np.int64)
        total = int(first[-1])
        with devices.allocating(f"climbs of {len(ranks):,} vertices", self._element * total, device):
            vertex, label = xp.empty(total, np.int32), xp.empty(total, lengths.dtype)
            made = Climbs(first, vertex, label, xp.empty(total if self._entries else 0, entries.begin.dtype))
            route_kernels.on(device).climb(ranks, tree, entries, lengths, made)
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
    needed = pairs.count * lengths.dtype.itemsize + pairs.bytes
    with device.active(), devices.allocating(f"distances of {pairs.count:,} pairs", needed, device):
        D, none = xp.empty(pairs.count, lengths.dtype), xp.empty(0, np.int32)
        for block in pairs.blocks():
            for batch in block.batches():
                found = xp.empty(len(batch.sources), lengths.up.dtype)
                route_kernels.on(device).meet(batch.sources, batch.targets, block.there, block.back, found, none)
                D[batch.places] = _finished(found, lengths, xp)
                done += len(found)
                if progress is not None:
                    device.synchronize()
                    progress(done, pairs.count)
    return D


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


def _sums(parts: Parts, values: np.ndarray, n: int) -> np.ndarray:
    """Return the sums of the edges' values along the ways, float64 or int64.

    Raises
    ------
    DistanceOverflowError
        If a sum of integers along a path may exceed int64.
    """
    if values.dtype.kind == "i" and len(values):
        most = max(abs(int(values.min())), abs(int(values.max())))
        if most * n >= np.iinfo(np.int64).max:
            raise DistanceOverflowError(
                f"a sum of weights of up to {most} along a path may be out of range for int64: give them as float64"
            )
    values = values.astype(np.float64 if values.dtype.kind == "f" else np.int64, copy=False)
    count = len(parts.ways)
    with devices.allocating(f"sums of {count:,} ways", 8 * count, _HOST):
        sums = np.empty(count, values.dtype)
        route_kernels.on(_HOST).add_up(parts, values, sums)
    return sums


def routes(
    structure: Structure,
    pairs: Pairs,
    parts: Parts,
    along: tuple[np.ndarray, ...],
    targets: np.ndarray | None,
    progress: Progress | None,
) -> Routes:
    """Return the distances of pairs, the sums of other weights along their paths, and the paths, found on the CPU.

    Parameters
    ----------
    structure : Structure
        That of the hierarchy.
    pairs : Pairs
        The pairs, with entries, on the CPU.
    parts : Parts
        What the paths of entries consist of.
    along : tuple of array, shape (m,)
        Other weights.
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
    kernels, n, count, lengths = route_kernels.on(_HOST), len(structure.order), pairs.count, pairs.lengths
    wanted = [*along, *([] if targets is None else [np.ones(len(targets), np.int64)])]
    stored = count * (lengths.dtype.itemsize + 8 * len(wanted))
    devices.check_free_memory(f"routes of {count:,} pairs", stored + pairs.bytes, _HOST)
    sums = [_sums(parts, values, n) for values in wanted]
    D, totals = np.empty(count, lengths.dtype), [np.empty(count, each.dtype) for each in sums]
    done, steps, block = 0, count * (1 + (targets is not None)), None
    for block in pairs.blocks():
        carried = [_carried(parts, block, each) for each in sums]
        for batch in block.batches():
            found, turn = met(block, batch, lengths)
            D[batch.places] = _finished(found, lengths, np)
            one, two = block.there.first[batch.sources] + turn, block.back.first[batch.targets] + turn
            for (there, back), total in zip(carried, totals, strict=True):
                total[batch.places] = np.where(turn >= 0, there[one] + back[two], infinity(total.dtype))
            done += len(found)
            if progress is not None:
                progress(done, steps)
    found_along = tuple(totals[: len(along)]) if along else None
    if targets is None:
        return Routes(D, found_along)
    edges = totals.pop()
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(np.where(edges == infinity(edges.dtype), 0, edges + 1), out=offsets[1:])
    size = int(offsets[-1])
    with devices.allocating(f"the {size:,} vertices of {count:,} paths", 4 * size, _HOST):
        vertices, numbers = np.empty(size, np.int32), np.empty(count, np.int64)
        for each in [block] if pairs.is_one_block and block is not None else pairs.blocks():
            for batch in each.batches():
                _, turn = met(each, batch, lengths)
                number = np.empty(len(turn), np.int64)
                kernels.write_paths(
                    *(batch.sources, batch.targets, turn, each.there, each.back, parts),
                    *(structure.order, targets, offsets[:-1][batch.places], vertices, number),
                )
                numbers[batch.places] = number
                done += len(turn)
                if progress is not None:
                    progress(done, steps)
        return Routes(D, found_along, *_compacted(offsets, vertices, numbers))


def met(block: Block, batch: Batch, lengths: Lengths) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances of a batch on the CPU, in the type that is computed in, and the depths where paths turn."""
    found, turn = np.empty(len(batch.sources), lengths.up.dtype), np.empty(len(batch.sources), np.int32)
    route_kernels.on(_HOST).meet(batch.sources, batch.targets, block.there, block.back, found, turn)
    return found, turn


def _compacted(offsets: np.ndarray, vertices: np.ndarray, number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return paths without the room of cycles that were left out."""
    room = np.diff(offsets)
    if np.array_equal(room, number):
        return offsets, vertices
    place = np.arange(len(vertices)) - np.repeat(offsets[:-1], room)
    shorter = np.zeros_like(offsets)
    np.cumsum(number, out=shorter[1:])
    return shorter, vertices[place < np.repeat(number, room)]


def _carried(parts: Parts, block: Block, sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return sums of ways along the paths of a block's climbs, by depth."""
    made = []
    for down, climbs in enumerate((block.there, block.back)):
        with devices.allocating("sums along climbs", sums.itemsize * len(climbs.label), _HOST):
            made.append(np.empty(len(climbs.label), sums.dtype))
            route_kernels.on(_HOST).carry(parts, climbs, down, sums, made[-1])
    return made[0], made[1]


def _finished(found: Array, lengths: Lengths, xp: Any) -> Array:
    """Return distances in their type, of those that were computed; DistanceOverflowError if one is out of range."""
    if lengths.dtype.kind == "f":
        with np.errstate(over="ignore"):
            return found.astype(lengths.dtype, copy=False)
    reached = found < kernel_infinity(np.dtype(found.dtype))
    least, greatest = distance_range(lengths.dtype, lengths.nonnegative)
    if bool((reached & ((found < least) | (found > greatest))).any()):
        raise out_of_range(lengths.dtype, lengths.nonnegative)
    return xp.where(reached, found, infinity(lengths.dtype)).astype(lengths.dtype)
