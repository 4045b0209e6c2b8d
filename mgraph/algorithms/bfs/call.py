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
must wait for the counts (`mgraph.algorithms.bfs.plan`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from ... import device as devices
from ...arguments import checked_flag, checked_vertices
from ...arrays import Array
from ...docstrings import with_common_parts
from ...errors import Given, InputError
from ...graph import as_graph
from ...kernels import bfs as bfs_kernels
from ...paths import walked_back
from ...planning.shape import shape_beside
from ...results import Result
from ...runtime.program import Progress, memory_errors
from ...runtime.select import checked_memory_limit, checked_span, executor, specs_holding
from . import plan as searches
from .plan import prepared_for
from .ranges import IncomingEdges, checked_depth, piece
from .search import Search, walking_aids


@memory_errors("bfs")
@with_common_parts
def bfs(
    graph: Any,
    source: int | None = None,
    *,
    sources: Sequence[int] | None = None,
    method: str = "auto",
    predecessors: bool = False,
    limit: int | None = None,
    target: int | None = None,
    device: str | None = None,
    client: Any = None,
    memory_limit: int | float | str | None = None,
    span: int | None = None,
    progress: Progress | None = None,
    worker_timeout: float | str | None = None,
    max_depth: int | None = None,
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
    limit : int, optional
        The greatest distance to search to; vertices beyond it count as unreached. Formerly ``max_depth``, which still
        works and warns.
    target : int, optional
        The vertex with whose level the search ends; what is farther counts as unreached.
    {common arguments}

    Returns
    -------
    BfsResult

    Raises
    ------
    InputError
        If `source` is not a vertex, for input that cannot be used, and for a method that the devices do not have.
    {common errors}

    See Also
    --------
    mgraph.bfs_many : Searches from many sources, each on its own.
    mgraph.sssp : The same with weights.
    mgraph.connected_components : Only which vertices are connected.

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
    predecessors, limit = checked_flag("predecessors", predecessors), checked_depth(limit, max_depth)
    runner = executor(device, client, graph.device, worker_timeout)
    quads = None
    if runner.place is not None and prepared_for(method, graph.n, graph.m, 1) == "quads":
        needed = bfs_kernels.on(runner.place).quads_needed
        quads = graph.kept("quads needed", runner.place, lambda: needed(graph.adjacency("csr")[0]))
    plan = searches.planned(
        graph.n,
        graph.m,
        specs_holding(runner, graph, "heads", "quads"),
        method=method,
        predecessors=predecessors,
        memory_limit=checked_memory_limit(memory_limit),
        span=checked_span(span, progress),
        directed=graph.directed,
        quads=quads,
        indptr=devices.to_host(graph.adjacency("csc")[0]) if len(runner.specs) > 1 else None,
        shape=shape_beside(graph, runner.specs),
    )

    from . import by_level as bfs_by_level  # which knows of this module

    program = (bfs_by_level.SearchByLevel if plan.method in bfs_by_level.METHODS else Search)(
        plan, start, limit, target
    )
    prepared = prepared_for(plan.method, graph.n, graph.m, len(plan.ranges))

    def edges(shard: int) -> IncomingEdges:
        taken = piece(graph, plan.ranges, shard, program.needed, runner.place)
        if runner.place is None or prepared is None or len(plan.ranges) > 1:
            return taken
        both = (graph.adjacency(order, runner.place) for order in ("csc", "csr"))
        make = partial(walking_aids, prepared, runner.place, *both)
        return taken._replace(prepared=graph.kept(prepared, runner.place, make))

    outcome = runner.run(program, edges, plan, progress)
    home = devices.find(graph.device)
    results = {name: home.asarray(value) for name, value in outcome.arrays.items()}
    return BfsResult(**results, sources=start, plan=plan, timings=outcome.timings)


@with_common_parts
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class BfsResult(Result):
    """The result of `bfs`.

    Attributes
    ----------
    sources : tuple of int
        The vertices that the search started from.
    distances : array of int32, shape (n,)
        Edges on the shortest path from the source; -1 where there is none.
    predecessors : array of int32, shape (n,), or None
        The vertex before on such a path; -9999 where there is none and for the source.
    {common attributes}
    """

    ARRAYS = ("distances", "predecessors")
    FACTS = ("sources",)

    sources: tuple[int, ...]
    distances: Array
    predecessors: Array | None = None

    @property
    def source(self) -> int | None:
        """The vertex that the search started from; None if it started from several."""
        return self.sources[0] if len(self.sources) == 1 else None

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
            raise InputError("path() needs the predecessors: call bfs(..., ", Given("predecessors", True), ")")
        [vertex] = checked_vertices("vertex", [vertex], self.plan.n)
        return walked_back(self.predecessors, vertex) if self.distances[vertex] >= 0 else []
