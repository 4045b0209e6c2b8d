"""Direction-optimizing breadth-first search: the program over vertex ranges.

Levels push from the frontier or pull into the unvisited vertices (Beamer, Asanović and Patterson, 2012); the kernels
are described in ``kernels/bfs.cu``.

A shard owns a range of vertices and the edges into them. A superstep is a level: every shard has the whole frontier,
finds which of its own vertices come next, and gathers the other shards' part of the new frontier. A single shard runs
as many levels in one launch as the span allows. So do GPUs of a host that reach each other's memory: they exchange
frontiers within the launch, as ``kernels/peers.cuh`` describes. What follows is of all others.

A frontier is exchanged as a bitmap of all vertices. Where the bitmap is long and the frontier thin, lists of fixed
length are exchanged instead, which begin with their counts. A count above the length means that the list did not fit:
then the bitmap follows, and the rest of the batch uses bitmaps without trying lists. The choice depends only on the
counts, which all shards have, so they agree. The plan decides whether to try lists at all
(`mgraph.algorithms.bfs.plan`): a short bitmap takes no longer than a list, and on GPUs the host, which otherwise reads
nothing back within a batch, must wait for the counts.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from ... import device as devices
from ...arrays import Array, bits_of, vertices_on
from ...dtypes import NO_PREDECESSOR
from ...graph.vertex_range import Part
from ...kernels import bfs as bfs_kernels
from ...kernels.bfs import SearchArrays, SearchEdges
from ...kernels.edges import Adjacency
from ...runtime.communicator import Communicator, PeerMissingError
from .prepared_edges import prepared_edges
from .ranges import FromSources


@dataclass
class SearchShard:
    """A shard's state."""

    device: devices.Device
    kernels: bfs_kernels.Operations
    edges: SearchEdges
    arrays: SearchArrays
    parents: Array | None
    listed: bool = False
    finished: bool = False

    @property
    def first(self) -> int:
        """The first of the shard's vertices."""
        return self.arrays.first

    @property
    def last(self) -> int:
        """The end of the shard's vertices."""
        return self.arrays.last

    @property
    def distances(self) -> Array:
        """The distances of all vertices."""
        return self.arrays.distances

    @property
    def by_target(self) -> Adjacency:
        """The edges into the shard's vertices."""
        return self.edges.in_indptr, self.edges.in_indices

    @property
    def by_source(self) -> Adjacency:
        """The same edges by source; those by target where they are not needed."""
        return self.edges.out_indptr, self.edges.out_indices


class Search(FromSources):
    """Breadth-first search from one source or more over ranges of vertices."""

    #: Launches between two checks for an empty frontier, where each level needs an exchange. A check is cheaper than an
    #: exchange, so only a few launches may be wasted.
    LAUNCHES = 4

    def load(self, shard: int, piece: Part, device: devices.Device) -> SearchShard:
        """Return the shard with the source as its frontier."""
        xp, n = device.xp, self.plan.n
        kernels = bfs_kernels.on(device)
        first, last = self.plan.ranges[shard]
        shards, listed = len(self.plan.ranges), 1 + self.plan.detail.listed
        words, own_words = -(-n // 32), -(-(last - first) // 32)
        control, lists, visited, frontier = devices.zeroed(xp, kernels.CONTROL_WORDS, shards * listed, own_words, words)
        by_target = piece.layout("csc", device)
        pushes, what, tree = self.plan.detail.by_source, self.plan.detail.prepared, self.plan.detail.tree
        kernels.compile_ahead(by_target[0], tree and last > first, self.plan.detail.meets)  # as `levels` chooses
        by_source = piece.layout("csr", device) if pushes else by_target  # a pull reads no edges by source
        make = partial(prepared_edges, what, device, by_target, by_source)
        heads, quads = make() if what is None else piece.kept(what, device, make)
        arrays = SearchArrays(
            first=first,
            last=last,
            distances=xp.empty(n, np.int32),
            parents=xp.empty(last - first if tree else 0, np.int32),
            visited=visited.view(np.uint32),
            frontier=frontier.view(np.uint32),
            found=xp.empty(own_words, np.uint32),
            queue=xp.empty(n if pushes else 0, np.int32),
            hubs=xp.empty(kernels.hub_capacity(len(by_target[1])), np.int32),
            lists=lists.reshape(shards, listed),
            control=control,
        )
        kernels.fill(arrays.distances, -1)
        if tree:
            kernels.fill(arrays.parents, NO_PREDECESSOR)
        kernels.seed(vertices_on(device, self.sources), first, last, arrays.distances, arrays.visited, arrays.frontier)
        edges = SearchEdges(by_source[0], by_source[1], by_target[0], by_target[1], heads, quads)
        return SearchShard(device, kernels, edges, arrays, arrays.parents if tree else None)

    def step(self, state: SearchShard, first: int, limit: int, comm: Communicator) -> int:
        """Run up to `limit` levels, all in one launch if there is no other shard, or the shards meet within it."""
        if self.max_depth is not None:
            limit = min(limit, self.max_depth - first)
        if state.finished or limit <= 0:
            return 0
        if self.target is not None:
            limit = min(limit, self.BATCH)
        if self.plan.detail.meets:
            meeting = comm.meeting(state.kernels.shared_words(self.plan.n, comm.size), self.plan.ranges)
            if meeting is not None:
                return self._together(state, first, limit, comm, meeting)
        horizon = comm.horizon(limit)
        launches = min(self.LAUNCHES, -(-limit // horizon))
        listing = self.plan.detail.listed > 0
        arrays, method = state.arrays, state.kernels.METHODS[self.plan.method]
        for _ in range(launches):
            state.kernels.levels(state.edges, arrays, horizon, method, comm.rank, state.listed)
            listing = listing and self._exchange_lists(state, comm)
            state.listed = listing
            if not listing:
                comm.allgather(arrays.frontier, self._words)
        ran = int(devices.to_host(arrays.control)[state.kernels.LEVEL]) - first
        # Levels end when the frontier of all shards is empty, so all come to the same conclusion.
        state.finished = ran < launches * horizon or (self.target is not None and self._found(state, comm) >= 0)
        return ran

    def _together(
        self, state: SearchShard, first: int, limit: int, comm: Communicator, meeting: devices.Meeting
    ) -> int:
        """Run up to `limit` levels of all shards in one launch, within which they exchange frontiers."""
        method = state.kernels.METHODS[self.plan.method]
        state.kernels.levels(state.edges, state.arrays, limit, method, comm.rank, False, meeting)
        control = devices.to_host(state.arrays.control)
        if control[state.kernels.LOST]:
            raise PeerMissingError("a GPU has not come to the end of a level")
        ran = int(control[state.kernels.LEVEL]) - first
        state.finished = ran < limit or (self.target is not None and self._found(state, comm) >= 0)
        return ran

    def begin(self, state: SearchShard, level: int) -> None:
        """Mark the vertices that have a distance as visited, and those of a level as the frontier."""
        arrays = state.arrays
        arrays.frontier[:] = bits_of(arrays.distances == level, state.device.xp)
        arrays.visited[:] = bits_of(arrays.distances[state.first : state.last] >= 0, state.device.xp)
        arrays.control[state.kernels.LEVEL] = level

    def _exchange_lists(self, state: SearchShard, comm: Communicator) -> bool:
        """Gather the lists of the new frontier; return whether the frontier fitted them."""
        lists = state.arrays.lists
        length = lists.shape[1]
        comm.allgather(lists.reshape(-1), tuple((r * length, (r + 1) * length) for r in range(comm.size)))
        return int(devices.to_host(lists[:, 0]).max()) <= self.plan.detail.listed
