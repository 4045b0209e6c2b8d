"""Breadth-first search by published methods other than the default: the program that launches each level by itself.

The algorithms and their sources are described in ``kernels/bfs_by_level.cu``. A shard owns a range of vertices and the
edges into them, sorted as its method needs. Between levels the frontier is a bitmap of all vertices for every method,
as in `mgraph.algorithms.bfs.search`: so all methods share the exchange, the predecessors and the end of a search. They
do not write a tree as they search: also where any predecessor would do, they find the least.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ... import device as devices
from ...arrays import Array, bits_of
from ...graph.vertex_range import Part
from ...kernels import bfs_by_level as bfs_by_level_kernels
from ...kernels.bfs_by_level import Queued, Visited
from ...kernels.edges import Adjacency
from ...runtime.communicator import Communicator
from .ranges import FromSources, bitmap


@dataclass
class Levels:
    """A shard's state; ``kernels/bfs_by_level.cu`` describes the arrays.

    Attributes
    ----------
    work : dict of str to array
        Buffers that only the shard's method needs.
    """

    device: devices.Device
    kernels: bfs_by_level_kernels.Operations
    first: int
    last: int
    by_source: Adjacency | None
    by_target: Adjacency | None
    distances: Array
    frontier: Array
    control: Array
    work: dict[str, Array] = field(default_factory=dict)
    finished: bool = False
    parents: Array | None = None

    @property
    def own_words(self) -> slice:
        """The words of the bitmap that hold the shard's vertices."""
        return slice(self.first // 32, self.first // 32 - (self.first - self.last) // 32)

    def launched(self, launch: Callable[..., None], *arguments: Any) -> tuple[int, ...]:
        """Launch an operation that takes the control words last, and return the words that it wrote."""
        self.control.fill(0)
        launch(*arguments, self.control)
        return tuple(devices.to_host(self.control).tolist())


class SearchByLevel(FromSources):
    """Breadth-first search that launches each level by itself, over ranges of vertices."""

    def load(self, shard: int, piece: Part, device: devices.Device) -> Levels:
        """Return the shard with the sources as its frontier."""
        xp, n = device.xp, self.plan.n
        first, last = self.plan.ranges[shard]
        needed = self.plan.detail
        kernels = bfs_by_level_kernels.on(device)
        state = Levels(
            device=device,
            kernels=kernels,
            first=first,
            last=last,
            by_source=piece.layout("csr", device) if needed.by_source else None,
            by_target=piece.layout("csc", device) if needed.by_target else None,
            distances=xp.full(n, -1, np.int32),
            frontier=xp.zeros(-(-n // 32), np.uint32),
            control=xp.zeros(kernels.CONTROL_WORDS, np.int64),
        )
        work, own = state.work, [source for source in self.sources if first <= source < last]
        for source in own:
            state.distances[source] = 0
        for word, bits in bitmap(self.sources).items():
            state.frontier[word] = np.uint32(bits)
        method = self.plan.method
        if method == "edge":
            assert state.by_target is not None
            work["targets"] = xp.empty(len(state.by_target[1]), np.int32)
            kernels.rows(state.by_target[0], first, last, work["targets"])
        elif method == "mask":
            work["visited"], work["updating"] = xp.zeros(last - first, np.uint8), xp.zeros(last - first, np.uint8)
            for source in own:
                work["visited"][source - first] = 1
        elif method != "vertex":
            work["queue"] = xp.empty(n, np.int32)
        if method == "scan":
            assert state.by_source is not None
            work["visited"] = state.frontier[state.own_words].copy()
            work["edges"] = xp.empty(len(state.by_source[1]), np.int32)
        return state

    def step(self, state: Levels, first: int, limit: int, comm: Communicator) -> int:
        """Run up to `limit` levels; return how many were run."""
        if self.max_depth is not None:
            limit = min(limit, self.max_depth - first)
        if state.finished or limit <= 0:
            return 0
        if self.target is not None:
            limit = min(limit, self.BATCH)
        horizon = comm.horizon(limit)
        advance = _along_a_queue if "queue" in state.work else _by_the_bitmap
        ran = 0
        while ran < limit and not state.finished:
            asked = min(horizon, limit - ran)
            done = advance(state, self.plan.method, first + ran + 1, asked)
            comm.allgather(state.frontier, self._words)
            ran += done
            # The frontier of all shards is empty, so all come to the same conclusion.
            state.finished = done < asked
        if self.target is not None and self._found(state, comm) >= 0:
            state.finished = True
        return ran

    def begin(self, state: Levels, level: int) -> None:
        """Mark the vertices that have a distance as visited, and those of a level as the frontier."""
        state.frontier[:] = bits_of(state.distances == level, state.device.xp)
        visited = state.distances[state.first : state.last] >= 0
        if "visited" in state.work:
            state.work["visited"][:] = visited if self.plan.method == "mask" else bits_of(visited, state.device.xp)


def _by_the_bitmap(state: Levels, method: str, level: int, limit: int) -> int:
    """Run up to `limit` levels over the bitmap, the first at distance `level`; return how many were run."""
    s, k, work = state, state.kernels, state.work
    size, *_ = s.launched(k.count, s.frontier)
    ran = 0
    while ran < limit and size:
        if method == "edge":
            assert s.by_target is not None
            k.edge(s.by_target[1], work["targets"], s.frontier, level + ran, s.distances)
        elif method == "vertex":
            k.vertex(_walked(s), s.frontier, level + ran, s.distances)
        else:
            masks = s.frontier, work["visited"], level + ran, work["updating"]
            k.expand(_walked(s), s.first, *masks, s.distances)
        if method == "mask":
            size, *_ = s.launched(k.update, s.first, s.last, work["visited"], work["updating"], s.frontier)
        else:
            size, *_ = s.launched(k.settle, s.first, s.last, level + ran, s.distances, s.frontier)
        ran += 1
    return ran


def _along_a_queue(state: Levels, method: str, level: int, limit: int) -> int:
    """Run up to `limit` levels over a queue, the first at distance `level`; return how many were run."""
    s, k, queue = state, state.kernels, state.work["queue"]
    head, (tail, *_) = 0, s.launched(k.list_frontier, s.frontier, queue)
    ran = 0
    while ran < limit and head < tail:
        now, left = level + ran, limit - ran
        if method == "sequential":
            frontier = Queued(queue, head, tail)
            found, levels, size, _ = s.launched(k.sequential, _walked(s), s.distances, frontier, now, left)
        elif method == "scan":
            found, levels, size = _scanned(s, head, tail, now, left)
        else:
            held = k.HELD if method == "privatized" else 0
            found, *_ = s.launched(k.enqueue, _walked(s), queue[head:tail], now, s.distances, queue[tail:], held)
            levels, size = 1, found
        tail += found
        head = tail - size
        ran += levels
    s.frontier[s.own_words] = 0
    k.mark(queue[head:tail], s.frontier)
    return ran


def _scanned(s: Levels, head: int, tail: int, level: int, limit: int) -> tuple[int, int, int]:
    """Run some levels of the scan; return the vertices found, the number of levels, and the size of the last one."""
    k, queue, targets = s.kernels, s.work["queue"], s.work["edges"]
    edges, visited = _walked(s), Visited(s.first, s.work["visited"])
    if tail - head <= k.THIN:
        frontier = Queued(queue, head, tail)
        found, levels, size, _ = s.launched(k.thin, edges, visited, s.distances, frontier, level, limit)
        if levels:  # else the frontier had too many edges for the thin kernel
            return found, levels, size
    s.control.fill(0)
    k.gather(edges, queue[head:tail], targets, s.control)
    k.filter_edges(targets, visited, level, s.distances, queue[tail:], s.control)
    found = int(devices.to_host(s.control)[k.FOUND])
    return found, 1, found


def _walked(s: Levels) -> Adjacency:
    assert s.by_source is not None
    return s.by_source
