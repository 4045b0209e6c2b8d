"""Vertex ranges of searches: the edges into a shard's vertices, and the base of searches over ranges."""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from ... import device as devices
from ... import lazy
from ...arguments import checked_integer
from ...arrays import Array
from ...dtypes import MAX_VERTICES
from ...errors import Given, InputError, RenamedWarning
from ...graph import Graph
from ...kernels import bfs as bfs_kernels
from ...planning.plan import Plan
from ...runtime.communicator import Communicator


def checked_depth(limit: Any, max_depth: Any) -> int | None:
    """Return the greatest distance to search to, or None; warn of ``max_depth=``, the former name of ``limit=``."""
    if max_depth is not None:
        if limit is not None:
            raise InputError("give ", Given("limit"), " only: ", Given("max_depth"), " is its former name")
        names = Given("max_depth"), " is the former name of ", Given("limit")
        message = RenamedWarning(*names, ", which replaces it in the next release")
        warnings.warn(message, stacklevel=4)  # of the call, which is decorated once
    name, value = ("limit", limit) if max_depth is None else ("max_depth", max_depth)
    return None if value is None else min(checked_integer(name, value, 0), MAX_VERTICES)


class IncomingEdges(NamedTuple):
    """The edges into a shard's vertices, by target and by source, as far as they are needed and already exist.

    A shard derives missing edges by source from those by target, and missing `prepared` arrays from both.
    """

    by_target: tuple[Array, Array] | None
    by_source: tuple[Array, Array] | None = None
    prepared: tuple[Array, Array] | None = None


def piece(
    graph: Graph,
    ranges: tuple[tuple[int, int], ...],
    shard: int,
    lists: tuple[bool, bool],
    place: devices.Device | None,
) -> IncomingEdges:
    """Return the edges into a shard's vertices; for a single shard, in the orders that `lists` requests."""
    if len(ranges) == 1:
        by_target, by_source = lists
        return IncomingEdges(
            graph.adjacency("csc", place) if by_target else None, graph.adjacency("csr", place) if by_source else None
        )
    first, last = ranges[shard]
    indptr, indices = graph.adjacency("csc")
    start, end = int(indptr[first]), int(indptr[last])
    return IncomingEdges((indptr[first : last + 1] - indptr[first], indices[start:end]))


class Searched(Protocol):
    """Fields that the state of a shard has for every method."""

    device: devices.Device

    @property
    def first(self) -> int:
        """The first of the shard's vertices."""
        ...

    @property
    def last(self) -> int:
        """The end of the shard's vertices."""
        ...

    @property
    def distances(self) -> Array:
        """The distances of all vertices."""
        ...

    @property
    def by_target(self) -> tuple[Array, Array] | None:
        """The edges into the shard's vertices, if they are needed."""
        ...


class FromSources:
    """Base of searches over ranges of vertices: sources, target and depth limit, and collecting the result."""

    #: Levels on one device between two checks of the host for the target.
    BATCH = 16

    def __init__(
        self, plan: Plan, sources: tuple[int, ...], max_depth: int | None = None, target: int | None = None
    ) -> None:
        self.plan = plan
        self.sources = sources
        self.max_depth = max_depth
        self.target = target
        # The range of each shard's words in the bitmap.
        self._words = tuple((lo // 32, -(-hi // 32)) if hi > lo else (0, 0) for lo, hi in plan.ranges)

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
            state.distances[own][state.distances[own] > depth] = -1
        results = {"distances": state.distances[own]}
        if self.plan.predecessors:
            comm.allgather(state.distances, self.plan.ranges)
            assert state.by_target is not None
            xp, kernels = state.device.xp, bfs_kernels.on(state.device)
            parent = xp.empty(state.last - state.first, np.int32)
            root = self.sources[0] if len(self.sources) == 1 else -1
            work = xp.empty(kernels.hub_capacity(len(state.by_target[1])), np.int32), xp.empty(1, np.uint64)
            kernels.parents(state.by_target, state.first, state.last, state.distances, root, parent, work)
            results["predecessors"] = parent
        return results


def bitmap(vertices: Sequence[int]) -> dict[int, int]:
    """Return the nonzero words of a bitmap of these vertices, by word index."""
    words: dict[int, int] = {}
    for vertex in vertices:
        words[vertex // 32] = words.get(vertex // 32, 0) | 1 << vertex % 32
    return words


def transposed(by_target: tuple[Array, Array], n: int, first: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the same edges by source: rows are all n vertices, ``indices`` are targets."""
    indptr, indices = devices.to_host(by_target[0]), devices.to_host(by_target[1])
    rows = len(indptr) - 1
    marks = lazy.sparse().csr_matrix((np.ones(len(indices), np.int8), indices, indptr), shape=(rows, n)).tocsc()
    return marks.indptr.astype(indptr.dtype), (marks.indices + first).astype(np.int32)
