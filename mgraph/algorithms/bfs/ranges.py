"""The base of the programs of breadth-first searches over ranges of vertices."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any, ClassVar, Protocol

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...dtypes import NO_PREDECESSOR
from ...graph import Compressed
from ...kernels import bfs as bfs_kernels
from ...kernels.edges import Adjacency
from ...planning.plan import Plan
from ...runtime.checkpoints import NumberRange, Piece, Resumable, Saved, fingerprint_of_edges, vertices_in_short
from ...runtime.communicator import Communicator
from .detail import SearchDetail


class Searched(Protocol):
    """Fields that the state of a shard has for every method."""

    device: devices.Device
    finished: bool

    @property
    def first(self) -> int:
        """The first of the shard's vertices."""

    @property
    def last(self) -> int:
        """The end of the shard's vertices."""

    @property
    def distances(self) -> Array:
        """The distances of all vertices."""

    @property
    def parents(self) -> Array | None:
        """The predecessors of the shard's vertices, if the plan has the search write them."""

    @property
    def by_target(self) -> Adjacency | None:
        """The edges into the shard's vertices, if they are needed."""

    @property
    def by_source(self) -> Adjacency | None:
        """The same edges by source, if they are needed."""


class FromSources(Resumable):
    """Base of searches over ranges of vertices: sources, target and depth limit, checkpoints, and the result.

    A superstep is a level. So the distances and the number of the next superstep tell what the frontier is.
    """

    facts: ClassVar[tuple[str, ...]] = ()
    ended = attrgetter("finished")

    #: Levels on one device between two checks of the host for the target.
    BATCH = 16

    def __init__(
        self,
        plan: Plan[SearchDetail],
        sources: tuple[int, ...],
        max_depth: int | None = None,
        target: int | None = None,
    ) -> None:
        self.plan = plan
        self.sources = sources
        self.max_depth = max_depth
        self.target = target
        # The range of each shard's words in the bitmap.
        self._words = tuple((lo // 32, -(-hi // 32)) if hi > lo else (0, 0) for lo, hi in plan.ranges)

    def identity(self) -> dict[str, Any]:
        """Return what a checkpoint must have been written for."""
        asked = {"sources": vertices_in_short(self.sources), "limit": self.max_depth, "target": self.target}
        return super().identity() | asked | {"tree": self.plan.detail.tree}

    def fingerprint(self, state: Searched, shard: int) -> int:
        """Return the fingerprint of the edges into the shard's vertices."""
        if state.by_target is not None:
            return fingerprint_of_edges(state.first, Compressed(*state.by_target, None))
        assert state.by_source is not None
        return fingerprint_of_edges(0, Compressed(*state.by_source, None))

    def pieces(self, state: Searched, shard: int) -> list[Piece]:
        """Return the distances of the shard's vertices, and their predecessors if the search writes them."""
        found = [Piece("distances", state.distances[state.first : state.last], (state.first,))]
        return found if state.parents is None else [*found, Piece("predecessors", state.parents, (state.first,))]

    def allowed(self) -> Mapping[str, NumberRange]:
        """Return the levels that there can be, or -1, and vertices for predecessors."""
        last = self.plan.n - 1
        return {"distances": NumberRange(0, last, -1), "predecessors": NumberRange(0, last, NO_PREDECESSOR)}

    def bytes_kept(self, shard: int) -> int:
        """Return the bytes of the distances and predecessors."""
        first, last = self.plan.ranges[shard]
        return 4 * (last - first) * (1 + self.plan.detail.tree)

    def resumed(self, state: Searched, shard: int, saved: Saved) -> int:
        """Fill the distances of all vertices, and begin with those of the last level as the frontier."""
        saved.fill(Piece("distances", state.distances, (0,)))
        if state.parents is not None:
            saved.fill(Piece("predecessors", state.parents, (state.first,)))
        self.begin(state, saved.manifest.step)
        return saved.manifest.step

    @abstractmethod
    def begin(self, state: Any, level: int) -> None:
        """Make the rest of the state from the distances; the vertices at distance `level` are the frontier."""

    def _found(self, state: Searched, comm: Communicator) -> int:
        """Return the target's distance, reduced from its owner; -1 if it has not been reached."""
        assert self.target is not None
        found = state.distances[self.target : self.target + 1].copy()
        comm.allreduce(found, "max")
        return int(found[0])

    def collect(self, state: Searched, comm: Communicator) -> dict[str, Array]:
        """Return the shard's part of the distances and predecessors."""
        own = slice(state.first, state.last)
        depth = -1 if self.target is None else self._found(state, comm)
        if depth >= 0:  # the search may have run some levels beyond the target's
            beyond = state.distances[own] > depth
            state.distances[own][beyond] = -1
            if state.parents is not None:
                state.parents[beyond] = NO_PREDECESSOR
        results = {"distances": state.distances[own]}
        if self.plan.predecessors:
            results["predecessors"] = self._least(state, comm) if state.parents is None else state.parents
        return results

    def _least(self, state: Searched, comm: Communicator) -> Array:
        """Return the least predecessor of each of the shard's vertices, found from the distances."""
        comm.allgather(state.distances, self.plan.ranges)
        assert state.by_target is not None
        xp, kernels = state.device.xp, bfs_kernels.on(state.device)
        parent = xp.empty(state.last - state.first, np.int32)
        root = self.sources[0] if len(self.sources) == 1 else -1
        work = xp.empty(kernels.hub_capacity(len(state.by_target[1])), np.int32), xp.empty(1, np.uint64)
        kernels.parents(state.by_target, state.first, state.last, state.distances, root, parent, work)
        return parent


def bitmap(vertices: Sequence[int]) -> dict[int, int]:
    """Return the nonzero words of a bitmap of these vertices, by word index."""
    words: dict[int, int] = {}
    for vertex in vertices:
        words[vertex // 32] = words.get(vertex // 32, 0) | 1 << vertex % 32
    return words
