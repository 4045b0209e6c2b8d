"""Breadth-first search: the public call, its result, and its program over vertex ranges.

The algorithm is told in ``kernels/bfs.cu``. A shard owns a range of vertices and the edges into them. A
superstep is a level: every shard knows the whole frontier, finds which of its own vertices come next, and
gets the others' part of the new frontier. Where there are no others, a launch runs as many levels as the
span allows.

A frontier is exchanged as a bitmap of all vertices, or, where that is long and the frontier thin, as lists
of fixed length that open with their counts. A count beyond the length says that the list did not fit; then
the bitmap follows, and bitmaps are exchanged for the rest of the batch without trying lists. All shards see
all counts and nothing else decides, so they agree. Whether to try lists at all is the plan's to say: a short
bitmap takes no longer than a list, and on GPUs the host, which otherwise reads nothing back within a batch,
must wait for the counts (`mgraph.plan`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse

from . import device as devices
from .arguments import checked_flag, checked_integer
from .comm import Communicator
from .dtypes import MAX_VERTICES, NO_PREDECESSOR
from .engine import Progress, checked_span, executor, memory_errors, specs_beside
from .errors import InputError, RoundingError
from .graph import Graph, as_graph
from .plan import searches
from .plan.plans import Plan
from .plan.searches import prepared_for
from .plan.shape import shape_beside

Array = Any


@memory_errors("bfs")
def bfs(
    graph: Any,
    source: int | None = None,
    *,
    sources: Sequence[int] | None = None,
    method: str = "auto",
    predecessors: bool = False,
    max_depth: int | None = None,
    target: int | None = None,
    device: str | None = None,
    client: Any = None,
    span: int | None = None,
    progress: Progress | None = None,
    worker_timeout: float | str | None = None,
) -> "BfsResult":
    """Return every vertex's distance in edges from `source`, or from the nearest of several.

    Parameters
    ----------
    graph : Graph, sparse matrix, or array_like of shape (n, n)
        Read as `mgraph.apsp` does; weights do not matter. Edges are followed from source to target.
    source : int, optional
        The vertex to start from, 0 to n-1.
    sources : sequence of int, optional
        Instead of `source`, several to start from at once.
    method : {"auto", "hybrid", "frontier", "pull", "edge", "vertex", "mask", "privatized", "scan", "sequential"}
        ``"frontier"`` expands the queue of a level, ``"pull"`` lets unvisited vertices look for a neighbour in
        it, ``"hybrid"`` takes whichever is cheaper at each level [1]_; it is what ``"auto"`` takes. The others
        are there to compare: every level looks at each ``"edge"`` or ``"vertex"`` [2]_, or at two ``"mask"``
        arrays of them [3]_; blocks find the next level in ``"privatized"`` queues [4]_, or by the prefix sums of a
        ``"scan"`` in linear work [5]_; ``"sequential"`` is the queue on one core of a CPU.
    predecessors : bool
        Whether to return each vertex's predecessor: the least that lies on a shortest path.
    max_depth : int, optional
        The distance to search up to; what is farther counts as unreached.
    target : int, optional
        The vertex with whose level the search ends; what is farther counts as unreached.
    device : {"cpu", "cuda", "cuda:N"}, optional
        By default the graph's own device where that is a GPU, else a GPU where there is one. With
        `client`, what its workers shall use.
    client : distributed.Client, optional
        Run on the client's workers, one range of vertices each.
    worker_timeout : float or str, optional
        Seconds, 1 or more, or such as ``"2 minutes"``, for which a worker of `client` may be silent before the call
        ends in `WorkerLostError`. By default ``mgraph.worker-timeout`` of Dask's configuration, or 60.
    span : int, optional
        Levels between two barriers of Dask; 1 makes each a task. By default about a second's worth.
    progress : callable, optional
        Called between spans with the levels done, and None as their number is not known.

    Returns
    -------
    BfsResult

    Raises
    ------
    InputError
        If `source` is not a vertex, for input that cannot be used, and for a method that the devices do not have.
    MemoryLimitError
        If no plan fits; raised before anything is allocated.
    DeviceError
        If the device is not there or cannot be used.
    WorkerLostError, SchedulerError, VersionError
        With `client`: if a worker is lost during the call, the scheduler does not answer or has no workers, or a worker
        has another version of mgraph.

    References
    ----------
    .. [1] Beamer, Asanović and Patterson, "Direction-optimizing breadth-first search", 2012.
    .. [2] Jia, Lu, Hoberock, Garland and Hart, "Edge v. node parallelism for graph centrality metrics", 2011.
    .. [3] Harish and Narayanan, "Accelerating large graph algorithms on the GPU using CUDA", 2007.
    .. [4] Luo, Wong and Hwu, "An effective GPU implementation of breadth-first search", 2010.
    .. [5] Merrill, Garland and Grimshaw, "Scalable GPU graph traversal", 2012.

    Examples
    --------
    >>> import mgraph
    >>> result = mgraph.bfs(mgraph.Graph.from_edges([0, 1], [1, 2]), 0, predecessors=True, device="cpu")
    >>> result.distances.tolist(), result.path(2)
    ([0, 1, 2], [0, 1, 2])
    """
    graph = as_graph(graph)
    if (source is None) == (sources is None):
        raise InputError("give either source, a vertex, or sources, several")
    name, several = ("source", [source]) if sources is None else ("sources", sources)
    start = checked_vertices(name, several, graph.n)
    if target is not None:
        [target] = checked_vertices("target", [target], graph.n)
    predecessors, max_depth = checked_flag("predecessors", predecessors), checked_depth(max_depth)
    runner = executor(device, client, graph.device, worker_timeout)
    rows = None
    if runner.place is not None and prepared_for(method, graph.n, graph.m, 1) == "rows of four":
        needed = runner.place.kernels("bfs").rows_needed
        rows = graph.kept("rows needed", runner.place, lambda: needed(graph.adjacency("csr")[0]))
    made = searches.planned(
        graph.n,
        graph.m,
        specs_beside(runner, graph, "heads", "rows of four"),
        method=method,
        predecessors=predecessors,
        span=checked_span(span, progress),
        directed=graph.directed,
        rows=rows,
        indptr=devices.to_host(graph.adjacency("csc")[0]) if len(runner.specs) > 1 else None,
        shape=shape_beside(graph, runner.specs),
    )

    from . import bfs_by_level  # which knows of this module

    program = (bfs_by_level.SearchByLevel if made.method in bfs_by_level.METHODS else Search)(
        made, start, max_depth, target
    )
    prepared = prepared_for(made.method, graph.n, graph.m, len(made.ranges))

    def edges(shard: int) -> Edges:
        taken = piece(graph, made.ranges, shard, program.needed, runner.place)
        if runner.place is None or prepared is None or len(made.ranges) > 1:
            return taken
        both = (graph.adjacency(order, runner.place) for order in ("csc", "csr"))
        make = partial(_prepared, prepared, runner.place, *both)
        return taken._replace(prepared=graph.kept(prepared, runner.place, make))

    outcome = runner.run(program, edges, made, progress)
    home = devices.find(graph.device)
    results = {name: home.asarray(value) for name, value in outcome.arrays.items()}
    return BfsResult(results["distances"], results.get("predecessors"), made, outcome.timings)


def checked_vertices(name: str, values: Any, n: int) -> tuple[int, ...]:
    """Return the vertices that an argument names, or raise InputError."""
    scalar = isinstance(values, str) or (isinstance(values, np.ndarray) and not values.ndim)
    if scalar or not isinstance(values, Sequence | np.ndarray):
        raise InputError(f"{name} must be a sequence of vertices, got {values!r}: for one vertex give source=")
    if not len(values):
        raise InputError(f"{name} must have one vertex or more, got none")
    if not n:
        raise InputError(f"{name} must be a vertex, and the graph has none: got {values[0]!r}")
    return tuple(checked_integer(name, value, 0, n - 1) for value in values)


def checked_depth(max_depth: Any) -> int | None:
    """Return a greatest distance, if any, or raise InputError for one that is none."""
    if max_depth is None:
        return None
    return min(checked_integer("max_depth", max_depth, 0), MAX_VERTICES)


@dataclass(frozen=True, eq=False)
class BfsResult:
    """The result of `bfs`.

    Attributes
    ----------
    distances : array of int32, shape (n,)
        Edges on the shortest path from the source; -1 where there is none.
    predecessors : array of int32, shape (n,), or None
        The vertex before on such a path; -9999 where there is none and for the source.
    plan : Plan
        How the call was run.
    timings : dict of str to float
        Seconds spent in ``"load"``, ``"solve"`` and ``"collect"``, and apart from these in ``"compile"``: kernels are
        compiled, or loaded from a cache, at their first use.
    """

    distances: Array
    predecessors: Array | None
    plan: Plan
    timings: dict[str, float]

    @cached_property
    def levels(self) -> Array:
        """Number of vertices at each distance, from 0 on."""
        reached = self.distances[self.distances >= 0]
        return devices.of(reached).xp.bincount(reached)

    def path(self, vertex: int) -> list[int]:
        """Return the vertices of the shortest path to `vertex` from the source, or the nearest of them, both included.

        Takes time linear in its length, and from a GPU that of copying the predecessors. Empty where there is no path.

        Raises
        ------
        InputError
            If predecessors were not asked for, or `vertex` is out of range.
        """
        if self.predecessors is None:
            raise InputError("path() needs the predecessors: call bfs(..., predecessors=True)")
        [vertex] = checked_vertices("vertex", [vertex], self.plan.n)
        return walked_back(self.predecessors, vertex) if self.distances[vertex] >= 0 else []


def endless() -> RoundingError:
    """Return the error for a path that has no end."""
    return RoundingError("the path goes round a cycle whose weight rounding makes negative: use method='johnson'")


def walked_back(predecessors: Array, vertex: int) -> list[int]:
    """Return the vertices from one that has no predecessor to `vertex`, each the predecessor of the next.

    Raises
    ------
    RoundingError
        If there is no such one: the predecessors form a cycle.
    """
    before = devices.to_host(predecessors)
    vertices: list[int] = []
    while vertex != NO_PREDECESSOR:
        if len(vertices) == len(before):
            raise endless()
        vertices.append(vertex)
        vertex = int(before[vertex])
    return vertices[::-1]


class Edges(NamedTuple):
    """The edges into a shard's vertices by target, and by source: where they are needed, and at hand.

    From those by target a shard makes the others. What it has `prepared`, it makes of both.
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
) -> Edges:
    """Return the edges into a shard's vertices; those of the only shard, as `lists` asks for them, on its device."""
    if len(ranges) == 1:
        by_target, by_source = lists
        return Edges(
            graph.adjacency("csc", place) if by_target else None, graph.adjacency("csr", place) if by_source else None
        )
    first, last = ranges[shard]
    indptr, indices = graph.adjacency("csc")
    start, end = int(indptr[first]), int(indptr[last])
    return Edges((indptr[first : last + 1] - indptr[first], indices[start:end]))


@dataclass
class Shard:
    """A shard's state; what each array means is told in ``kernels/bfs.cu``."""

    device: devices.Device
    kernels: Any
    first: int
    last: int
    by_source: tuple[Array, Array]
    by_target: tuple[Array, Array]
    heads: Array
    quads: Array
    distances: Array
    visited: Array
    frontier: Array
    found: Array
    queue: Array
    hubs: Array
    lists: Array
    control: Array
    listed: bool = False
    finished: bool = False


class Searched(Protocol):
    """What the state of a shard holds whatever the method."""

    device: devices.Device
    first: int
    last: int
    distances: Array

    @property
    def by_target(self) -> tuple[Array, Array] | None:
        """The edges into the shard's vertices, if they are needed."""
        ...


class FromSources:
    """What all searches over ranges of vertices share: where they begin and end, and what is collected."""

    #: Levels on one device before the host looks whether the target was found.
    BATCH = 16

    def __init__(
        self, plan: Plan, sources: tuple[int, ...], max_depth: int | None = None, target: int | None = None
    ) -> None:
        self.plan = plan
        self.sources = sources
        self.max_depth = max_depth
        self.target = target
        # Each shard's words of the bitmap.
        self._words = tuple((lo // 32, -(-hi // 32)) if hi > lo else (0, 0) for lo, hi in plan.ranges)

    def _found(self, state: Searched, comm: Communicator) -> int:
        """Return the target's distance, which its owner knows; -1 if it has not been reached."""
        assert self.target is not None
        found = state.distances[self.target : self.target + 1].copy()
        comm.allreduce(found, "max")
        return int(found[0])

    def collect(self, state: Searched, comm: Communicator) -> dict[str, Array]:
        """Return the shard's part of the distances and predecessors."""
        own = slice(state.first, state.last)
        depth = -1 if self.target is None else self._found(state, comm)
        if depth >= 0:  # some levels more may have been searched than were asked for
            state.distances[own][state.distances[own] > depth] = -1
        results = {"distances": state.distances[own]}
        if self.plan.predecessors:
            comm.allgather(state.distances, self.plan.ranges)
            assert state.by_target is not None
            xp, kernels = state.device.xp, state.device.kernels("bfs")
            parent = xp.empty(state.last - state.first, np.int32)
            root = self.sources[0] if len(self.sources) == 1 else -1
            work = xp.empty(kernels.hub_capacity(len(state.by_target[1])), np.int32), xp.empty(1, np.uint64)
            kernels.parents(*state.by_target, state.first, state.last, state.distances, root, parent, *work)
            results["predecessors"] = parent
        return results


class Search(FromSources):
    """Breadth-first search from one source or more over ranges of vertices."""

    #: Launches before it looks whether the frontier is empty, where each level needs an exchange, which takes longer
    #: than a look: so few are in vain.
    LAUNCHES = 4

    @property
    def needed(self) -> tuple[bool, bool]:
        """Whether the program needs the edges by target, and whether by source."""
        return True, True

    def load(self, shard: int, piece: Edges, device: devices.Device) -> Shard:
        """Return the shard with the source as its frontier."""
        xp, n = device.xp, self.plan.n
        kernels = device.kernels("bfs")
        first, last = self.plan.ranges[shard]
        shards, listed = len(self.plan.ranges), 1 + self.plan.listed
        words, own_words = -(-n // 32), -(-(last - first) // 32)
        control, lists, visited, frontier = devices.zeroed(xp, kernels.CONTROL_WORDS, shards * listed, own_words, words)
        assert piece.by_target is not None
        kernels.compile_ahead(piece.by_target[0])
        by_source = piece.by_source or transposed(piece.by_target, n, first)
        by_source = device.asarray(by_source[0]), device.asarray(by_source[1])
        by_target = device.asarray(piece.by_target[0]), device.asarray(piece.by_target[1])
        wanted = prepared_for(self.plan.method, n, self.plan.m, len(self.plan.ranges))
        heads, quads = piece.prepared or _prepared(wanted, device, by_target, by_source)
        state = Shard(
            device=device,
            kernels=kernels,
            first=first,
            last=last,
            by_source=by_source,
            by_target=by_target,
            heads=heads,
            quads=quads,
            distances=xp.full(n, -1, np.int32),
            visited=visited.view(np.uint32),
            frontier=frontier.view(np.uint32),
            found=xp.empty(own_words, np.uint32),
            queue=xp.empty(n, np.int32),
            hubs=xp.empty(kernels.hub_capacity(len(by_target[1])), np.int32),
            lists=lists.reshape(shards, listed),
            control=control,
        )
        # One is written by a kernel, which does not have to wait for the host.
        alone = len(self.sources) == 1
        sources = xp.full(1, self.sources[0], np.int32) if alone else device.asarray(np.array(self.sources, np.int32))
        kernels.seed(sources, first, last, state.distances, state.visited, state.frontier)
        return state

    def step(self, state: Shard, first: int, limit: int, comm: Communicator) -> int:
        """Run some levels; all of them in one launch where no other shard must be heard."""
        if self.max_depth is not None:
            limit = min(limit, self.max_depth - first)
        if state.finished or limit <= 0:
            return 0
        if self.target is not None:
            limit = min(limit, self.BATCH)
        horizon = comm.horizon(limit)
        launches = min(self.LAUNCHES, -(-limit // horizon))
        listing = self.plan.listed > 0
        for _ in range(launches):
            state.kernels.levels(
                *state.by_source,
                *state.by_target,
                state.heads,
                state.quads,
                *(state.first, state.last, state.distances, state.visited, state.frontier, state.found),
                *(state.queue, state.hubs, state.lists, state.control, horizon),
                *(state.kernels.METHODS[self.plan.method], comm.rank, state.listed),
            )
            listing = listing and self._exchange_lists(state, comm)
            state.listed = listing
            if not listing:
                comm.allgather(state.frontier, self._words)
        ran = int(devices.to_host(state.control)[state.kernels.LEVEL]) - first
        # Levels end when the frontier of all shards is empty, so all come to the same conclusion.
        state.finished = ran < launches * horizon or (self.target is not None and self._found(state, comm) >= 0)
        return ran

    def _exchange_lists(self, state: Shard, comm: Communicator) -> bool:
        """Complete the lists of the new frontier; return whether all of it fitted them."""
        length = state.lists.shape[1]
        comm.allgather(state.lists.reshape(-1), tuple((r * length, (r + 1) * length) for r in range(comm.size)))
        return int(devices.to_host(state.lists[:, 0]).max()) <= self.plan.listed


def _prepared(
    what: str | None, device: devices.Device, by_target: tuple[Array, Array], by_source: tuple[Array, Array]
) -> tuple[Array, Array]:
    """Return the heads and the rows of four, empty but for `what` is wanted."""
    xp, kernels = device.xp, device.kernels("bfs")
    with device.active():
        heads = xp.empty(len(by_target[0]) - 1 if what == "heads" else 0, np.int32)
        if what == "heads":
            kernels.heads(*by_target, by_source[0], heads)
        return heads, kernels.rows_of_four(xp, *by_source) if what == "rows of four" else xp.empty((0, 4), np.int32)


def bitmap(vertices: Sequence[int]) -> dict[int, int]:
    """Return the words of a bitmap of these vertices that are not zero, by their places."""
    words: dict[int, int] = {}
    for vertex in vertices:
        words[vertex // 32] = words.get(vertex // 32, 0) | 1 << vertex % 32
    return words


def transposed(by_target: tuple[Array, Array], n: int, first: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the same edges by source: ``indices`` are targets, rows are all n vertices."""
    indptr, indices = devices.to_host(by_target[0]), devices.to_host(by_target[1])
    rows = len(indptr) - 1
    marks = sparse.csr_matrix((np.ones(len(indices), np.int8), indices, indptr), shape=(rows, n)).tocsc()
    return marks.indptr.astype(indptr.dtype), (marks.indices + first).astype(np.int32)
