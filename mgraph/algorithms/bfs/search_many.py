"""Breadth-first searches from many sources: the program over vertex ranges.

The algorithm and its sources are described in ``kernels/bfs_many.cu``. Sources are searched in batches; each search of
a batch has a bit in every vertex's words. A shard owns a range of vertices, the edges into them, and their columns of
the distances. A superstep is a level of a batch: every shard has the frontier words of all vertices, computes those of
its own, and gathers the others'.

Where levels are thin, as on roads, little is shared. There a CPU that has the whole graph searches by a queue for each
source, and a superstep is a batch.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...graph import Compressed
from ...graph.vertex_range import Part
from ...kernels import bfs as bfs_kernels
from ...kernels import bfs_many as bfs_many_kernels
from ...kernels.bfs_many import SearchWords
from ...kernels.edges import Adjacency, HubBuffers
from ...planning.plan import Plan
from ...runtime.checkpoints import NumberRange, Piece, Resumable, Saved, fingerprint_of_edges, vertices_in_short
from ...runtime.communicator import Communicator
from .detail import SearchesDetail

#: Pull if more than one in `PULL_SHARE` vertices is in a frontier.
PULL_SHARE = 16


@dataclass
class BatchShard:
    """A shard's state; ``kernels/bfs_many.cu`` describes the other arrays.

    Attributes
    ----------
    active : array of int64, shape (1,)
        Number of vertices in a frontier.
    begun : int
        Row of the first source that was searched from since the call began or went on.
    row, end : int
        Rows of the batch's first source, and after its last one; 0 before the first batch.
    level : int
        Distance of the vertices in the frontiers.
    size : int
        Number of these vertices; 0 when the batch is done.
    """

    device: devices.Device
    kernels: bfs_many_kernels.Operations
    first: int
    last: int
    by_source: Adjacency
    by_target: Adjacency
    sources: Array
    distances: Array
    words: SearchWords
    active: Array
    hubs: HubBuffers
    begun: int = 0
    row: int = 0
    end: int = 0
    level: int = 0
    size: int = 0


class SearchMany(Resumable):
    """Breadth-first searches from many sources over ranges of vertices."""

    facts: ClassVar[tuple[str, ...]] = ()

    def __init__(self, plan: Plan[SearchesDetail], sources: tuple[int, ...], max_depth: int | None = None) -> None:
        self.plan = plan
        self.detail = plan.detail
        self.sources = sources
        self.max_depth = max_depth

    def load(self, shard: int, piece: Part, device: devices.Device) -> BatchShard:
        """Return the shard before the first batch."""
        xp, n, words = device.xp, self.plan.n, 0 if self.detail.apart else self.detail.batch // 64
        first, last = self.plan.ranges[shard]
        by_target = piece.layout("csc", device)
        return BatchShard(
            device=device,
            kernels=bfs_many_kernels.on(device),
            first=first,
            last=last,
            by_source=piece.layout("csr", device),
            by_target=by_target,
            sources=xp.asarray(self.sources, np.int32),
            distances=xp.full((len(self.sources), last - first), -1, np.int32),
            words=SearchWords(
                frontier=xp.empty((n, words), np.uint64),
                seen=xp.empty((last - first, words), np.uint64),
                following=xp.zeros((last - first, words), np.uint64),
            ),
            active=xp.zeros(1, np.int64),
            hubs=(
                xp.empty(bfs_kernels.on(device).hub_capacity(len(by_target[1])), np.int32),
                xp.empty(1, np.uint64),
            ),
        )

    def step(self, state: BatchShard, first: int, limit: int, comm: Communicator) -> int:
        """Run up to `limit` levels of this batch and the next ones, or as many batches of searches by themselves."""
        ran = 0
        while ran < limit:
            if self._searching(state):
                self._level(state, comm)
                ran += 1
            elif self._begin(state):
                ran += int(self.detail.apart)
            else:
                break
        return ran

    def collect(self, state: BatchShard, comm: Communicator) -> dict[str, Array]:
        """Return the shard's columns of the distances and predecessors."""
        results = {"distances": state.distances}
        if self.plan.predecessors:
            xp, own = state.device.xp, slice(state.first, state.last)
            row, results["predecessors"] = xp.empty(self.plan.n, np.int32), xp.empty_like(state.distances)
            kernels = bfs_kernels.on(state.device)
            for source, distances, before in zip(self.sources, state.distances, results["predecessors"], strict=True):
                row[own] = distances
                comm.allgather(row, self.plan.ranges)
                kernels.parents(state.by_target, state.first, state.last, row, source, before, state.hubs)
        return results

    def identity(self) -> dict[str, Any]:
        """Return what a checkpoint must have been written for."""
        return super().identity() | {"sources": vertices_in_short(self.sources), "limit": self.max_depth}

    def fingerprint(self, state: BatchShard, shard: int) -> int:
        """Return the fingerprint of the edges into the shard's vertices."""
        return fingerprint_of_edges(state.first, Compressed(*state.by_target, None))

    def pieces(self, state: BatchShard, shard: int) -> list[Piece]:
        """Return the rows of the batches that are done since the call began, which are final."""
        done = state.row if self._searching(state) else state.end
        batches = range(state.begun, done, self.detail.batch)
        rows = [(top, min(top + self.detail.batch, done)) for top in batches]
        return [Piece("distances", state.distances[top:bottom], (top, state.first), final=True) for top, bottom in rows]

    def allowed(self) -> Mapping[str, NumberRange]:
        """Return the levels that there can be, or -1."""
        return {"distances": NumberRange(0, self.plan.n - 1, -1)}

    def bytes_kept(self, shard: int) -> int:
        """Return 0: rows that are done do not change, so they are not copied."""
        return 0

    def resumed(self, state: BatchShard, shard: int, saved: Saved) -> int:
        """Fill the rows that are done, and search from the other sources only."""
        done = max((end for _, end in saved.rows("distances", len(self.sources))), default=0)
        saved.fill(Piece("distances", state.distances[:done], (0, state.first)))
        state.begun = state.row = state.end = done
        return saved.manifest.step

    def _searching(self, state: BatchShard) -> bool:
        """Return whether the batch has levels left."""
        return bool(state.size) and state.level != self.max_depth

    def _begin(self, state: BatchShard) -> bool:
        """Start the next batch, or search from its sources one by one; return whether there was one."""
        row, batch = state.end, self.sources[state.end : state.end + self.detail.batch]
        if not batch:
            return False
        if self.detail.apart:
            rows = slice(row, row + len(batch))
            most = self.plan.n if self.max_depth is None else self.max_depth
            state.kernels.one_by_one(state.by_source, state.sources[rows], most, state.distances[rows])
            state.row, state.end = row, row + len(batch)
            return True
        searches = [min(64, max(0, len(batch) - bit)) for bit in range(0, self.detail.batch, 64)]
        # Bits without a search count as seen.
        state.words.seen[:] = state.device.xp.asarray([2**64 - 2**count for count in searches], np.uint64)
        state.words.frontier.fill(0)
        sources = state.sources[row : row + len(batch)]
        state.kernels.plant(sources, state.first, state.last, state.words, row, state.distances)
        state.row, state.end, state.level, state.size = row, row + len(batch), 0, len(set(batch))
        return True

    def _level(self, state: BatchShard, comm: Communicator) -> None:
        """Run a level of a batch: push if few vertices are in a frontier, else pull."""
        s, k = state, state.kernels
        if s.size * PULL_SHARE < self.plan.n:
            k.push(s.by_source, s.first, s.words, s.hubs)
        else:
            k.pull(s.by_target, s.words, s.hubs)
        s.level += 1
        s.active.fill(0)
        k.settle(s.first, s.last, s.words, s.level, s.row, s.distances, s.active)
        comm.allgather(s.words.frontier, self.plan.ranges)
        comm.allreduce(s.active, "sum")
        s.size = int(s.active[0])
