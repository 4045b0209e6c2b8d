"""One search of a shard: rounds by piles on one shard, and by masks, apart or together on several.

By masks, shards exchange after each round what fell. Apart, each goes on by piles among the edges into its own vertices
for many rounds, and only then tells the others, which go on from there: as often as a shortest path changes shards,
instead of once a round. An exchange takes as long as many thin rounds: ten between GPUs, hundreds between workers with
CPUs. For that, distances may fall more often: those that a shard finds before it knows of a shorter path through
another one. It is the model of partial and incremental evaluation: W. Fan et al., "Parallelizing sequential graph
computations", 2017. GPUs of a host that reach each other's memory run rounds together, in one launch each, within which
they exchange what is near.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ... import device as devices
from ...arrays import Array, bits_of, members_of
from ...dtypes import kernel_infinity
from ...graph import Compressed
from ...kernels import bfs as bfs_kernels
from ...kernels.sssp import Bounds, Lists, Masks, Piles
from ...runtime.communicator import Communicator, PeerMissingError
from .lists import list_length

#: Exchanges of shards that search apart between two looks of the host for the end, and the rounds in them.
LAUNCHES, LOOKED = 4, 1 << 9


class Relaxation:
    """One search of a shard: its arrays and the kernels that run it; ``kernels/sssp.cu`` describes the arrays.

    Parameters
    ----------
    device : Device
        Where it runs.
    kernels : Operations
        The operations of the family `sssp` there.
    edges : Compressed
        The edges by source, only those into the shard's vertices, with encoded weights.
    distances : array, shape (n,)
        The kernels' infinity, except at vertices that have a distance from the start.
    seeds : array of int32
        The vertices to start from.
    ranges : tuple of (int, int)
        The vertices of each shard.
    shard : int
        This shard's number.
    masked : bool
        Whether to run over masks: several shards that do not run piles together or apart must.
    window, limit : float
        As in `Request`.
    target : int
        As in `Request`.
    """

    #: Rounds launched between two checks of the host for the end, where each round needs an exchange.
    BATCH = 16

    def __init__(
        self,
        device: devices.Device,
        kernels: Any,
        edges: Compressed,
        distances: Array,
        seeds: Array,
        ranges: tuple[tuple[int, int], ...],
        shard: int,
        *,
        masked: bool,
        window: float = float("inf"),
        limit: float = float("inf"),
        target: int = -1,
    ) -> None:
        xp, n, dtype = device.xp, len(distances), np.dtype(distances.dtype)
        self.kernels = kernels
        self.edges = edges
        self.distances = distances
        self.ranges = ranges
        self.rounds = 0
        self.finished = False
        self.masked = masked
        most = kernel_infinity(dtype)
        self.bounds = Bounds(min(window, most), min(limit, most), target)
        first, last = ranges[shard]
        words, own_words = -(-n // 32), -(-(last - first) // 32)
        self.pieces = xp.empty((self.kernels.piece_capacity(len(edges.indices)), 2), np.int32)
        if self.masked:
            self.control = xp.zeros(self.kernels.CONTROL_WORDS, np.int32)
            self.mask, waits = xp.zeros((2, words), np.uint32)
            distances[seeds] = 0
            bfs_kernels.on(device).seed(seeds, 0, 0, distances, self.mask, self.mask)
            updating, fell = distances[first:last].copy(), xp.zeros(own_words, np.uint32)
            queue, bound = xp.empty(n, np.int32), xp.full(2, most, dtype)
            bound[:1] = self.bounds.window
            arrays = Masks(first, last, distances, updating, self.mask, waits, fell, queue, self.pieces, bound)
            shape = len(ranges), list_length(n, len(ranges), dtype.itemsize, device.kind)
            self.lists = Lists(xp.empty(shape, np.int32), xp.empty(shape, dtype), xp.zeros(len(ranges), np.int32))
            self.listed = False
            self.arrays: Masks | Piles = arrays
            self.run = partial(self._masks, partial(self.kernels.masks, edges, arrays, self.lists), shard)
        else:
            self.control, stamps, waits = devices.zeroed(xp, self.kernels.CONTROL_WORDS, n, words)
            near, far, bound = xp.empty(2 * n, np.int32), xp.empty(2 * n, np.int32), xp.empty(1, dtype)
            self.kernels.start(seeds, self.bounds[0], distances, near, bound, self.control)
            piles = Piles(distances, near, far, stamps, waits.view(np.uint32), self.pieces, bound)
            self.arrays = piles
            self.run = partial(self.kernels.piles, edges, piles, self.control, self.bounds)

    def pending(self) -> Array:
        """Return a bitmap of the vertices to relax; of those of other shards it may lack some."""
        arrays = self.arrays
        if isinstance(arrays, Masks):
            return arrays.mask | arrays.waits
        return arrays.waits | bits_of(
            arrays.stamps == self.rounds, devices.of(arrays.stamps).xp
        )  # in the piles of the next round, and beyond

    @property
    def bound(self) -> Array:
        """The distance below which vertices are near, as an array."""
        return self.arrays.bounds[:1] if isinstance(self.arrays, Masks) else self.arrays.bound

    def begin(self, pending: Array, bound: Array, fill: Callable[[Array], None]) -> None:
        """Begin with other vertices to relax and another bound; ``fill(distances)`` writes the distances."""
        arrays = self.arrays
        if isinstance(arrays, Masks):
            fill(arrays.distances)
            arrays.updating[:] = arrays.distances[arrays.first : arrays.last]
            arrays.mask[:] = pending
            arrays.bounds[:1] = bound
            return
        seeds = members_of(pending, devices.of(pending).xp)
        # All of them are near at first: the far ones are relaxed once more if they fall.
        self.kernels.start(seeds, bound.item(), arrays.distances, arrays.near, arrays.bound, self.control)
        fill(arrays.distances)

    def advance(self, limit: int, comm: Communicator) -> int:
        """Run up to `limit` rounds, at least one if the search has not finished; return how many were run."""
        if self.finished:
            return 0
        if self.masked and self.lists.vertices.size:
            return self._advance_by_lists(limit, comm)
        horizon = comm.horizon(limit)
        launches = min(self.BATCH, -(-limit // horizon))
        for _ in range(launches):
            self.run(horizon)
            if self.masked:
                self._exchange_all(comm)
        ran = int(devices.to_host(self.control)[self.kernels.ROUND]) - self.rounds
        self.rounds += ran
        # All shards know the same distances and masks, so they come to the same conclusion.
        self.finished = ran < launches * horizon
        return ran

    def _advance_by_lists(self, limit: int, comm: Communicator) -> int:
        """Run up to `limit` rounds, after each of which lists are exchanged, or all distances if a list is too short.

        The choice depends only on the counts, which all shards have, so they agree.
        """
        vertices, values, counts = self.lists
        places, length = tuple((shard, shard + 1) for shard in range(comm.size)), vertices.shape[1]
        ran = 0
        while ran < limit and not self.finished:
            self.run(1)
            comm.allgather(counts, places)
            fell = devices.to_host(counts).tolist()
            self.finished = fell[0] < 0
            self.listed = max(fell) <= length
            if self.finished:
                break
            ran += 1
            if not self.listed:
                self._exchange_all(comm)
                continue
            parts = tuple((shard * length, shard * length + count) for shard, count in enumerate(fell))
            for lists in (vertices, values):
                comm.allgather(lists.reshape(-1), parts)
        self.rounds += ran
        return ran

    def tight(self, first: int, parent: Array) -> Compressed:
        """Return the edges with the weight 1 for each tight one to a vertex without a predecessor, else infinity.

        `parent` has the predecessors of the shard's vertices, which begin with `first`.
        """
        lengths = devices.of(self.distances).xp.empty(len(self.edges.indices), np.int32)
        self.kernels.tight(self.edges, first, self.distances, parent, lengths, self.pieces, self.control)
        return self.edges._replace(weights=lengths)

    def _masks(self, masks: Callable[..., None], shard: int, rounds: int) -> None:
        masks(self.control, self.bounds, shard, self.listed, rounds)

    def _exchange_all(self, comm: Communicator) -> None:
        words = tuple((lo // 32, -(-hi // 32)) if hi > lo else (0, 0) for lo, hi in self.ranges)
        comm.allgather(self.mask, words)
        comm.allgather(self.distances, self.ranges)


class Apart(Relaxation):
    """The search of a shard that goes on by piles for many rounds before it tells the others what fell.

    No length may be negative, as a negative cycle would keep a shard from ending. Parameters are those of `Relaxation`,
    and `alone`, the most rounds between two exchanges.
    """

    def __init__(
        self,
        device: devices.Device,
        kernels: Any,
        edges: Compressed,
        distances: Array,
        seeds: Array,
        ranges: tuple[tuple[int, int], ...],
        shard: int,
        *,
        alone: int,
        **bounds: Any,
    ) -> None:
        super().__init__(device, kernels, edges, distances, seeds, ranges, shard, masked=False, **bounds)
        xp, n, dtype = device.xp, len(distances), np.dtype(distances.dtype)
        self.shard, self.alone = shard, alone
        #: Exchanges between two looks of the host for the end.
        self.batch = max(1, min(LAUNCHES, LOOKED // alone))
        #: The distances as of the last exchange, and a bitmap of the shard's own vertices that fell before it.
        self.known = distances.copy()
        self.mask = xp.zeros(-(-n // 32), np.uint32)
        bfs_kernels.on(device).seed(seeds, 0, 0, distances, self.mask, self.mask)
        self.open = xp.empty(1, np.int32)
        # The host knows how long lists are where it looks after each exchange.
        length = list_length(n, len(ranges), dtype.itemsize, device.kind) if self.batch == 1 else 0
        shape, counts = (len(ranges), length), xp.zeros(len(ranges), np.int32)
        self.lists = Lists(xp.empty(shape, np.int32), xp.empty(shape, dtype), counts)

    def pending(self) -> Array:
        """Return a bitmap of the vertices that shards have not gone on from; of those of other shards it lacks some."""
        assert isinstance(self.arrays, Piles)
        near = self.arrays.stamps == self.control[self.kernels.ROUND]
        return self.mask | self.arrays.waits | bits_of(near, devices.of(near).xp)

    def begin(self, pending: Array, bound: Array, fill: Callable[[Array], None]) -> None:
        """Begin with other vertices to relax and another bound; ``fill(distances)`` writes the distances."""
        super().begin(pending, bound, fill)
        self.known[:] = self.distances
        self.mask[:] = pending

    def advance(self, limit: int, comm: Communicator) -> int:
        """Search and exchange up to `limit` times; return how often distances were exchanged.

        Shards that meet within a launch exchange after each round, what is near.
        """
        assert isinstance(self.arrays, Piles)
        words = self.kernels.shared_words(len(self.distances), self.distances.dtype.itemsize)
        meeting = None if self.finished else comm.meeting(words, self.ranges)
        if meeting is not None:
            return self._advance_together(limit, meeting)
        first, last = self.ranges[self.shard]
        ran, (near, far) = 0, (self.control[place : place + 1] for place in (self.kernels.NEAR, self.kernels.FAR))
        while ran < limit and not self.finished:
            batch = min(self.batch, limit - ran)
            for _ in range(batch):
                self.run(self.alone)
                self._exchange(comm)
                self.kernels.join(first, last, self.known, self.mask, self.arrays, self.control, self.bounds.window)
            ran += batch
            devices.of(near).xp.maximum(near, far, out=self.open)
            comm.allreduce(self.open, "max")
            self.finished = not int(devices.to_host(self.open)[0])
        self.rounds += ran
        return ran

    def _advance_together(self, limit: int, meeting: devices.Meeting) -> int:
        """Run up to `limit` rounds of all shards in one launch, within which they exchange what is near."""
        assert isinstance(self.arrays, Piles)
        self.kernels.piles(self.edges, self.arrays, self.control, self.bounds, limit, meeting)
        control = devices.to_host(self.control)
        if control[self.kernels.LOST]:
            raise PeerMissingError("a GPU has not come to the end of a round")
        ran = int(control[self.kernels.ROUND]) - self.rounds
        self.mask.fill(0)  # the others know of all that was near
        self.rounds += ran
        self.finished = ran < limit
        return ran

    def _exchange(self, comm: Communicator) -> None:
        """Learn the distances of the other shards' vertices: from lists of those that fell, if these fit."""
        if not self.lists.vertices.size or not self._listed(comm):
            comm.allgather(self.distances, self.ranges)

    def _listed(self, comm: Communicator) -> bool:
        """Exchange lists of the vertices that fell; return whether they fit."""
        vertices, values, counts = self.lists
        xp, length, own = devices.of(counts).xp, vertices.shape[1], slice(*self.ranges[self.shard])
        found = xp.flatnonzero(self.distances[own] < self.known[own]) + own.start
        counts[self.shard] = len(found)
        comm.allgather(counts, tuple((each, each + 1) for each in range(comm.size)))
        fell = devices.to_host(counts).tolist()
        if max(fell) > length:
            return False
        vertices[self.shard, : len(found)], values[self.shard, : len(found)] = found, self.distances[found]
        places = tuple((shard * length, shard * length + count) for shard, count in enumerate(fell))
        for lists in (vertices, values):
            comm.allgather(lists.reshape(-1), places)
        for other, count in enumerate(fell):
            if other != self.shard:
                self.distances[vertices[other, :count]] = values[other, :count]
        return True
