"""Searches level by level from many sources on one device that has the whole graph: distances in edges.

The searches and their sources are described in ``kernels/bfs_many.cu``: each has a bit in every vertex's words, so one
look at an edge serves them all. Where levels are thin, as on roads, that look is not shared, and reading every vertex
in each level takes most of the time: then a CPU searches from one source after the other, each core with a queue.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .. import device as devices
from ..arrays import Array
from ..dtypes import infinity, offset_type
from ..graph import Compressed
from ..kernels import bfs as bfs_kernels
from ..kernels import bfs_many as bfs_many_kernels
from ..kernels.bfs_many import Counts, SearchWords
from ..planning.devices import DeviceSpec, rates_of
from ..planning.rates import EXCHANGE
from ..planning.shape import Shape
from ..runtime.checkpoints import fingerprint_of_edges
from .batched_sssp import Network

#: Pull if more than one in `PULL_SHARE` vertices is in a frontier.
PULL_SHARE = 16

#: Levels whose counts come to the host at a time: a search of a long path has as many levels as vertices.
_LEVELS = 1 << 10


class _Together:
    """Searches from as many sources as a vertex's words have bits, level by level."""

    def __init__(self, piece: Network, device: devices.Device, words: int) -> None:
        xp = device.xp
        self.device = device
        self.by_target = indptr, indices = tuple(map(device.asarray, piece.incoming[:2]))
        self.by_source = tuple(map(device.asarray, piece.outgoing or (indptr, indices)))
        self.n = len(indptr) - 1
        self.kernels = bfs_many_kernels.on(device)
        self.most = 64 * words
        shape = self.n, words
        self.words = SearchWords(xp.empty(shape, np.uint64), xp.empty(shape, np.uint64), xp.zeros(shape, np.uint64))
        hubs = bfs_kernels.on(device).hub_capacity(len(indices))
        self.hubs = xp.empty(hubs, np.int32), xp.empty(1, np.uint64)
        self._active = xp.zeros(1, np.int64)

    def fingerprint(self, first: int, last: int) -> int:
        """Return the fingerprint of the edges into some vertices."""
        indptr, indices = self.by_target
        own = slice(int(indptr[first]), int(indptr[last]))
        return fingerprint_of_edges(first, Compressed(indptr[first : last + 1] - indptr[first], indices[own], None))

    def clear(self, searches: int) -> None:
        """Make the words those of a number of searches that have seen nothing."""
        words = self.words
        counts = [min(64, max(0, searches - bit)) for bit in range(0, self.most, 64)]
        # Bits without a search count as seen.
        words.seen[:] = self.device.xp.asarray([2**64 - 2**count for count in counts], np.uint64)
        words.frontier.fill(0)

    def search(self, size: int, most: int, settle: Callable[[int, Array], None]) -> int:
        """Search from frontiers of `size` vertices, for so many levels at most; return the number of levels.

        ``settle(level, active)`` makes the vertices that were found the next frontiers, and adds their number.
        """
        k, words, level = self.kernels, self.words, 0
        while size and level < most:
            if size * PULL_SHARE < self.n:
                k.push(self.by_source, 0, words, self.hubs)
            else:
                k.pull(self.by_target, words, self.hubs)
            level += 1
            self._active.fill(0)
            settle(level, self._active)
            size = int(self._active[0])
        return level


class LevelSearches:
    """Searches on a device, a batch of sources at a time; weights do not matter.

    Parameters
    ----------
    piece : Network
        The graph, which is brought to the device.
    device : Device
        Where to search.
    batch : int
        The most sources of a batch.
    dtype : dtype
        The type of the results.
    limit : float
        The greatest distance to search to.
    words : int
        Words of 64 searches that share the look at an edge; 0 where each search has a queue.
    """

    def __init__(
        self, piece: Network, device: devices.Device, batch: int, dtype: np.dtype, limit: float, words: int
    ) -> None:
        self.device = device
        self._searches = _Together(piece, device, words)
        self.n, self.fingerprint = self._searches.n, self._searches.fingerprint
        self._most = int(min(limit, self.n))
        self._kernels, self._parents = bfs_many_kernels.on(device), bfs_kernels.on(device).parents
        self._found = None if dtype == np.int32 else device.xp.empty((batch, self.n), np.int32)

    def write(self, sources: Array, D: Array, P: Array | None) -> None:
        """Write the distances from some sources, int32 on the device, to the rows of D, and predecessors to those of P.

        Vertices that are not reached within the limit have the distance `mgraph.dtypes.infinity`.
        """
        found = D if self._found is None else self._found[: len(sources)]
        found.fill(-1)
        starts = devices.to_host(sources).tolist()
        together, by_target, hubs = self._searches.most, self._searches.by_target, self._searches.hubs
        if not together:
            self._kernels.one_by_one(self._searches.by_source, sources, self._most, found)
        for row in range(0, len(starts) if together else 0, max(1, together)):
            self._search(sources[row : row + together], starts[row : row + together], row, found)
        if P is not None:
            for source, distances, before in zip(starts, found, P, strict=True):
                self._parents(by_target, 0, self.n, distances, source, before, hubs)
        if found is not D:
            D[...] = found
        D[found < 0] = infinity(np.dtype(D.dtype))

    def _search(self, sources: Array, starts: list[int], row: int, found: Array) -> None:
        """Search from as many sources as there are bits; their distances are in `found` from a row on."""
        searches = self._searches
        k, words = searches.kernels, searches.words
        searches.clear(len(starts))
        k.plant(sources, 0, self.n, words, row, found)

        def settle(level: int, active: Array) -> None:
            k.settle(0, self.n, words, level, row, found, active)

        searches.search(len(set(starts)), self._most, settle)


class LevelCounts:
    """Searches that only count the targets of each level: nothing is written for a pair of vertices.

    Searches share the look at an edge as in Then et al., "The more the merrier: efficient multi-source graph
    traversal", 2014. On a CPU, each core may have 64 of them, with a queue.

    Parameters
    ----------
    piece : Network
        The graph, which is brought to the device.
    device : Device
        Where to search.
    targets : array of int32, shape (t,), or None
        The vertices that count; None is all.
    limit : float
        The greatest distance to search to.
    words : int
        Words of 64 searches that share the look at an edge; 0 where 64 have a queue.
    """

    def __init__(
        self, piece: Network, device: devices.Device, targets: np.ndarray | None, limit: float, words: int
    ) -> None:
        self._searches = searches = _Together(piece, device, words)
        n = self.n = searches.n
        self.fingerprint = searches.fingerprint
        #: The number of edges from each vertex, where words are searched by.
        self._degrees = np.diff(devices.to_host(searches.by_source[0])) if words else np.empty(0, np.int32)
        self._most = int(min(limit, n))
        self._targets = np.ones(n, bool)
        if targets is not None:
            self._targets = np.zeros(n, bool)
            self._targets[targets] = True
        self._targets_there = device.asarray(self._targets)

    def counted(self, sources: np.ndarray, radii: np.ndarray, limits: np.ndarray) -> Counts:
        """Return what is counted from each source, int32; `radii` and the `limits` of bins are float64."""
        k, bins = len(sources), max(0, len(limits) - 1)
        reached, total, farthest = (np.zeros(k, np.int64) for _ in range(3))
        within, histogram = np.zeros((k, len(radii)), np.int64), np.zeros((k, bins), np.int64)
        counts = Counts(reached, total, np.zeros(k), farthest, within, histogram)
        together, searches = self._searches.most, self._searches
        if not together:
            searches.kernels.count_levels(searches.by_source, sources, self._most, self._targets, radii, limits, counts)
            return counts
        itself = self._targets[sources]
        reached += itself
        within[:] = itself[:, None]
        _add_to_bin(histogram, slice(None), limits, 0, itself)
        lead_on = np.flatnonzero(self._degrees[sources])
        for first in range(0, len(lead_on), together):
            some = lead_on[first : first + together]
            self._search(sources[some], partial(_add, counts, some, radii, limits))
        return counts

    def _search(self, sources: np.ndarray, add: Callable[[int, np.ndarray], None]) -> None:
        """Search from some sources; call ``add(level, found)`` with how many targets each search finds at a level."""
        searches = self._searches
        k, words, xp = searches.kernels, searches.words, searches.device.xp
        searches.clear(len(sources))
        k.plant(searches.device.asarray(sources), 0, 0, words, 0, xp.empty((0, 0), np.int32))
        words.seen[:] |= words.frontier
        found = xp.zeros((_LEVELS, searches.most), np.uint32)

        def carry(level: int, rows: Array) -> None:
            """Add what was found at the levels up to this one."""
            for number, row in enumerate(devices.to_host(rows).astype(np.int64), level - len(rows) + 1):
                add(number, row[: len(sources)])
            rows.fill(0)

        def settle(level: int, active: Array) -> None:
            k.tally(words, self._targets_there, found[(level - 1) % _LEVELS], active)
            if level % _LEVELS == 0:
                carry(level, found)

        last = searches.search(len(np.unique(sources)), self._most, settle)
        if last % _LEVELS:
            carry(last, found[: last % _LEVELS])


def _add(
    counts: Counts, some: np.ndarray, radii: np.ndarray, limits: np.ndarray, level: int, found: np.ndarray
) -> None:
    """Add to the counts of some searches what each has found at a level."""
    counts.reached[some] += found
    counts.total[some] += level * found
    counts.harmonic[some] += found / level
    counts.farthest[some[found > 0]] = level
    if len(radii):
        counts.within[some] += found[:, None] * (level <= radii)
    _add_to_bin(counts.histogram, some, limits, level, found)


def _add_to_bin(histogram: np.ndarray, some: Any, limits: np.ndarray, level: int, found: np.ndarray) -> None:
    """Add to the bin that has a level, if there is one."""
    place = int(np.searchsorted(limits, level)) - 1
    if 0 <= place < histogram.shape[1]:
        histogram[some, place] += found


def words_for(batch: int, kind: str) -> int:
    """Return how many words of 64 searches to search by at a time: the most that a batch fills."""
    wanted = -(-batch // 64)
    return next((words for words in bfs_many_kernels.of_kind(kind).WORDS if words < 2 * wanted), 1)


def levels_bytes(
    n: int, m: int, batch: int, words: int, dtype: np.dtype, *, kind: str, directed: bool, cores: int
) -> int:
    """Return the bytes that `LevelSearches` allocates on its device, with some cores."""
    lists = (2 if directed else 1) * ((n + 1) * offset_type(m).itemsize + 4 * m)
    hubs = 4 * int(bfs_kernels.of_kind(kind).hub_capacity(m))
    state = 24 * words * n if words else 4 * cores * n
    return lists + hubs + state + (dtype != np.int32) * batch * n * 4 + batch * n


def counts_bytes(n: int, m: int, batch: int, words: int, *, kind: str, directed: bool, cores: int) -> int:
    """Return the bytes that `LevelCounts` allocates on its device, with some cores."""
    lists = (2 if directed else 1) * ((n + 1) * offset_type(m).itemsize + 4 * m)
    hubs = 4 * int(bfs_kernels.of_kind(kind).hub_capacity(m))
    levels = 256 * words * _LEVELS  # counts of 4 bytes that have not come to the host
    return lists + hubs + n + (24 * words if words else 32 * cores) * n + 64 * batch + levels


def counts_seconds(n: int, m: int, sources: int, words: int, spec: DeviceSpec, shape: Shape) -> float:
    """Predict the seconds in which a device counts the levels of searches from a batch of sources."""
    if words:
        return -(-sources // (64 * words)) * _turn_seconds(n, m, words, spec, shape)
    rates, rounds = rates_of(spec), -(-sources // (64 * spec.cores))
    # In few levels, the 64 searches reach a vertex in about three of them; on roads, each in another one.
    looks = min(64.0, max(3.0, shape.levels / 4))
    return rounds * (looks * m * shape.reads(n, 1.6) + 4 * n) / rates.search


def levels_seconds(n: int, m: int, sources: int, words: int, spec: DeviceSpec, shape: Shape) -> float:
    """Predict the seconds in which a device searches level by level from a batch of sources."""
    rates = rates_of(spec)
    if not words:
        rounds = -(-sources // spec.cores)
        return rounds * (m * shape.reads(n, 1.6) + 2 * n) / rates.search
    per_level, turns = EXCHANGE["solo"] + 3 * rates.launch, -(-sources // (64 * words))
    if spec.kind == "cpu":  # word by word; a level reads all vertices, and each distance is written by itself
        touches = words * (3 * m + 2 * shape.levels * n) + 38 * words * n
        return turns * (touches / (rates.search * spec.cores) + shape.levels * per_level)
    # Each distance is written once.
    return turns * _turn_seconds(n, m, words, spec, shape) + 8 * sources * n / rates.memory


def _turn_seconds(n: int, m: int, words: int, spec: DeviceSpec, shape: Shape) -> float:
    """Predict the seconds in which a GPU searches from 64 sources for each word, but for writing distances."""
    rates = rates_of(spec)
    # An edge is read in some levels, the words of a vertex in all.
    passes = shape.levels * (24 * words * n / rates.memory + EXCHANGE["solo"] + 3 * rates.launch)
    return 3 * m / (rates.search * spec.cores) + passes
