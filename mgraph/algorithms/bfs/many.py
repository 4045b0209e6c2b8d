"""Breadth-first searches from many sources: the public call, its result, and its program over vertex ranges.

The algorithm and its sources are described in ``kernels/bfs_many.cu``. Sources are searched in batches; each search of
a batch has a bit in every vertex's words. A shard owns a range of vertices, the edges into them, and their columns of
the distances. A superstep is a level of a batch: every shard has the frontier words of all vertices, computes those of
its own, and gathers the others'.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import device as devices
from ...arguments import checked_flag, checked_vertices
from ...arrays import Array
from ...docstrings import with_common_parts
from ...errors import Given, InputError, shown
from ...graph import as_graph
from ...kernels import bfs as bfs_kernels
from ...kernels import bfs_many as bfs_many_kernels
from ...kernels.bfs_many.ops import SearchWords
from ...kernels.edges import Adjacency, HubBuffers
from ...paths import walked_back
from ...planning.plan import Plan
from ...planning.shape import shape_beside
from ...results import MatrixResult
from ...runtime.communicator import Communicator
from ...runtime.program import Progress, memory_errors
from ...runtime.select import checked_memory_limit, checked_span, executor, specs_holding
from . import plan as searches
from .ranges import IncomingEdges, checked_depth, piece, transposed

#: Pull if more than one in `_PULL_SHARE` vertices is in a frontier.
_PULL_SHARE = 16


@memory_errors("bfs_many")
@with_common_parts
def bfs_many(
    graph: Any,
    sources: Sequence[int],
    *,
    predecessors: bool = False,
    limit: int | None = None,
    device: str | None = None,
    client: Any = None,
    memory_limit: int | float | str | None = None,
    span: int | None = None,
    progress: Progress | None = None,
    worker_timeout: float | str | None = None,
    max_depth: int | None = None,
) -> "BfsManyResult":
    """Return every vertex's distance in edges from each of many sources.

    Each search has a bit of a word, so one read of an edge serves up to 256 searches [1]_ [2]_.

    Parameters
    ----------
    graph : Graph, sparse matrix, or array_like of shape (n, n)
        Read as `mgraph.apsp` does; weights do not matter. Edges are followed from source to target.
    sources : sequence of int
        The vertices to start from, 0 to n-1, one search each; vertices may be repeated.
    predecessors : bool
        Whether to return each vertex's predecessor in each search: the least one on a shortest path.
    limit : int, optional
        The greatest distance to search to; vertices beyond it count as unreached. Formerly ``max_depth``, which still
        works and warns.
    {common arguments}

    Returns
    -------
    BfsManyResult

    Raises
    ------
    InputError
        If a source is not an integer in [0, n), if there is no source, and for invalid input.
    {common errors}

    See Also
    --------
    mgraph.bfs : One search, also from several sources at once.
    mgraph.apsp : Distances from every vertex, with weights.

    References
    ----------
    .. [1] Then, Kaufmann, Chirigati, Hoang-Vu, Pham, Kemper, Neumann and Vo, "The more the merrier: efficient
       multi-source graph traversal", 2014.
    .. [2] Liu, Huang and Hu, "iBFS: concurrent breadth-first search on GPUs", 2016.

    Examples
    --------
    >>> import mgraph
    >>> mgraph.bfs_many(mgraph.Graph.from_edges([0, 1], [1, 2]), [0, 2], device="cpu").distances.tolist()
    [[0, 1, 2], [-1, -1, 0]]
    """
    graph = as_graph(graph)
    start = checked_vertices("sources", sources, graph.n, f": for one vertex give [{shown(sources)}]")
    predecessors, limit = checked_flag("predecessors", predecessors), checked_depth(limit, max_depth)
    runner = executor(device, client, graph.device, worker_timeout)
    plan = searches.planned_for_many(
        graph.n,
        graph.m,
        specs_holding(runner, graph),
        sources=len(start),
        predecessors=predecessors,
        memory_limit=checked_memory_limit(memory_limit),
        span=checked_span(span, progress),
        directed=graph.directed,
        indptr=devices.to_host(graph.adjacency("csc")[0]) if len(runner.specs) > 1 else None,
        shape=shape_beside(graph, runner.specs),
    )

    def edges(shard: int) -> IncomingEdges:
        return piece(graph, plan.ranges, shard, (True, True), runner.place)

    outcome = runner.run(SearchMany(plan, start, limit), edges, plan, progress)
    results = outcome.arrays
    if client is None:
        home = devices.find(graph.device)
        results = {name: home.asarray(value) for name, value in results.items()}
    return BfsManyResult(**results, sources=start, plan=plan, timings=outcome.timings)


@with_common_parts
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class BfsManyResult(MatrixResult):
    """The result of `bfs_many`.

    Attributes
    ----------
    sources : tuple of int
        The vertices that the searches started from.
    distances : array or DistributedMatrix of int32, shape (len(sources), n)
        Edges on the shortest path from each source; -1 where there is none.
    predecessors : array or DistributedMatrix of int32, shape (len(sources), n), or None
        The vertex before the last on a shortest path; -9999 where there is none and for the source.
    {common attributes}
    """

    ARRAYS = ("distances", "predecessors")
    FACTS = ("sources",)

    sources: tuple[int, ...]
    distances: Any
    predecessors: Any = None

    def path(self, source: int, vertex: int) -> list[int]:
        """Return the vertices of the shortest path from one of the sources to `vertex`, both included.

        Takes time linear in its length; on a GPU, plus copying a row. Empty where there is no path.

        Raises
        ------
        InputError
            If predecessors were not requested, `source` is not among the sources, or `vertex` is not in [0, n).
        """
        if self.predecessors is None:
            raise InputError("path() needs the predecessors: call bfs_many(..., ", Given("predecessors", True), ")")
        [source], [vertex] = (
            checked_vertices(name, [value], self.plan.n) for name, value in (("source", source), ("vertex", vertex))
        )
        if source not in self.sources:
            raise InputError(Given("source", source), f" is not among the {len(self.sources)} sources of the searches")
        vertices = walked_back(self.predecessors[self.sources.index(source)], vertex)
        return vertices if vertices[0] == source else []

    def _row_sources(self) -> Sequence[int]:
        return self.sources

    def _connected(self, first: int, last: int) -> np.ndarray:
        return devices.to_host(self.distances[first:last]) >= 0


@dataclass
class BatchShard:
    """A shard's state; ``kernels/bfs_many.cu`` describes the other arrays.

    Attributes
    ----------
    active : array of int64, shape (1,)
        Number of vertices in a frontier.
    row : int
        Row of the batch's first source; -1 before the first batch.
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
    row: int = -1
    level: int = 0
    size: int = 0


class SearchMany:
    """Breadth-first searches from many sources over ranges of vertices."""

    def __init__(self, plan: Plan, sources: tuple[int, ...], max_depth: int | None = None) -> None:
        self.plan = plan
        self.detail = plan.detail
        self.sources = sources
        self.max_depth = max_depth

    def load(self, shard: int, piece: IncomingEdges, device: devices.Device) -> BatchShard:
        """Return the shard before the first batch."""
        xp, n, words = device.xp, self.plan.n, self.detail.batch // 64
        first, last = self.plan.ranges[shard]
        assert piece.by_target is not None
        by_source = piece.by_source or transposed(piece.by_target, n, first)
        return BatchShard(
            device=device,
            kernels=bfs_many_kernels.on(device),
            first=first,
            last=last,
            by_source=(device.asarray(by_source[0]), device.asarray(by_source[1])),
            by_target=(device.asarray(piece.by_target[0]), device.asarray(piece.by_target[1])),
            sources=xp.asarray(self.sources, np.int32),
            distances=xp.full((len(self.sources), last - first), -1, np.int32),
            words=SearchWords(
                frontier=xp.empty((n, words), np.uint64),
                seen=xp.empty((last - first, words), np.uint64),
                following=xp.zeros((last - first, words), np.uint64),
            ),
            active=xp.zeros(1, np.int64),
            hubs=(
                xp.empty(bfs_kernels.on(device).hub_capacity(len(piece.by_target[1])), np.int32),
                xp.empty(1, np.uint64),
            ),
        )

    def step(self, state: BatchShard, first: int, limit: int, comm: Communicator) -> int:
        """Run up to `limit` levels of this batch and the next ones."""
        ran = 0
        while ran < limit:
            if state.size and state.level != self.max_depth:
                self._level(state, comm)
                ran += 1
            elif not self._begin(state):
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

    def _begin(self, state: BatchShard) -> bool:
        """Start the next batch; return whether there was one."""
        row = 0 if state.row < 0 else state.row + self.detail.batch
        batch = self.sources[row : row + self.detail.batch]
        if not batch:
            return False
        searches = [min(64, max(0, len(batch) - bit)) for bit in range(0, self.detail.batch, 64)]
        # Bits without a search count as seen.
        state.words.seen[:] = state.device.xp.asarray([2**64 - 2**count for count in searches], np.uint64)
        state.words.frontier.fill(0)
        sources = state.sources[row : row + len(batch)]
        state.kernels.plant(sources, state.first, state.last, state.words, row, state.distances)
        state.row, state.level, state.size = row, 0, len(set(batch))
        return True

    def _level(self, state: BatchShard, comm: Communicator) -> None:
        """Run a level of a batch: push if few vertices are in a frontier, else pull."""
        s, k = state, state.kernels
        if s.size * _PULL_SHARE < self.plan.n:
            k.push(s.by_source, s.first, s.words, s.hubs)
        else:
            k.pull(s.by_target, s.words, s.hubs)
        s.level += 1
        s.active.fill(0)
        k.settle(s.first, s.last, s.words, s.level, s.row, s.distances, s.active)
        comm.allgather(s.words.frontier, self.plan.ranges)
        comm.allreduce(s.active, "sum")
        s.size = int(s.active[0])
