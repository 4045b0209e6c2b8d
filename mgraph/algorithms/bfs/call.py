"""Breadth-first search: the public call and its result; `search` and `by_level` have the programs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, Unpack

from ... import device as devices
from ... import plotting
from ...arguments import checked_depth, checked_predecessors
from ...arrays import Array
from ...docstrings import with_common_parts
from ...errors import ArgumentValue
from ...graph import as_any_graph
from ...graph.question import Question
from ...kernels import bfs as bfs_kernels
from ...results import CallInput, FromSources, Proofs, check_named, on_workers, solved_graph
from ...runtime.call import call
from ...runtime.run import ResumableRun
from ...runtime.solving import GraphCall
from ..certificates import distances as certificate
from . import plan as searches
from .asynchronous import AsynchronousSearch
from .by_level import SearchByLevel
from .search import Search

#: The programs of the methods other than those by level.
_PROGRAMS = {method: Search for method in searches.FUSED} | {searches.ASYNCHRONOUS: AsynchronousSearch}


@call
def bfs(
    graph: Any,
    source: Any = None,
    *,
    sources: Sequence[Any] | None = None,
    method: str = "auto",
    predecessors: bool | str = False,
    limit: int | None = None,
    target: Any = None,
    ids: bool | None = None,
    **run: Unpack[ResumableRun],
) -> "BfsResult":
    """Return every vertex's distance in edges from `source`, or from the nearest of several.

    Parameters
    ----------
    graph : Graph, DistributedGraph, sparse matrix, or array_like of shape (n, n)
        Read as `mgraph.apsp` does; weights do not matter. Edges are followed from source to target.
    source : int or id, optional
        The vertex to start from, 0 to n-1, or its id in the graph.
    sources : sequence of int or of ids, optional
        Several vertices to start from at once, instead of `source`.
    method : {"auto", "hybrid", "frontier", "pull", "asynchronous", "edge", "vertex", "mask", "queue", ...}
        ``"frontier"`` expands the queue of a level; ``"pull"`` lets unvisited vertices look for a neighbour in the
        frontier; ``"hybrid"`` takes whichever is cheaper at each level [1]_. With ``"asynchronous"`` each of several
        devices goes on for many levels by itself, and corrects distances after an exchange [6]_. ``"auto"`` takes
        ``"hybrid"``, or ``"asynchronous"`` on several devices for graphs of many levels. The other methods are for
        comparison. ``"edge"`` and ``"vertex"`` read every edge or every vertex at each level
        [2]_; ``"mask"`` reads two arrays of flags [3]_; ``"queue"`` appends each vertex found to one queue, and
        ``"privatized"`` gathers those of a block first [4]_; ``"scan"`` gathers the next level by prefix sums, in
        linear work [5]_; ``"sequential"`` uses one core of a CPU.
    predecessors : bool or "any"
        Whether to return each vertex's predecessor. With True it is the least one on a shortest path, the same for
        every method and on every device. With ``"any"`` it is whichever one on a shortest path the search meets first,
        which may differ from run to run and between devices. The search writes it as it goes, while finding the least
        one takes another pass over the edges, longer than the search of a large graph. Methods for comparison always
        find the least.
    limit : int, optional
        The greatest distance to search to; vertices beyond it count as unreached.
    target : int or id, optional
        The search ends with this vertex's level; vertices farther away count as unreached.
    {ids argument}
    {common arguments}
    {checkpoint arguments}

    Returns
    -------
    BfsResult

    Raises
    ------
    InputError
        If `source` is not an integer in [0, n) and no id of the graph, for invalid input, and for a method that the
        devices do not support.
    {common errors}
    {checkpoint errors}

    See Also
    --------
    mgraph.bfs_many : Searches from many sources, each on its own.
    mgraph.sssp : Distances with weights.
    mgraph.connected_components : Which vertices are connected, without distances.

    References
    ----------
    .. [1] Beamer, Asanović and Patterson, "Direction-optimizing breadth-first search", 2012.
    .. [2] Jia, Lu, Hoberock, Garland and Hart, "Edge v. node parallelism for graph centrality metrics", 2011.
    .. [3] Harish and Narayanan, "Accelerating large graph algorithms on the GPU using CUDA", 2007.
    .. [4] Luo, Wong and Hwu, "An effective GPU implementation of breadth-first search", 2010.
    .. [5] Merrill, Garland and Grimshaw, "Scalable GPU graph traversal", 2012.
    .. [6] Pearce, Gokhale and Amato, "Multithreaded asynchronous graph traversal for in-memory and semi-external
       memory", 2010.

    Examples
    --------
    >>> import mgraph
    >>> result = mgraph.bfs(mgraph.Graph.from_edges([0, 1], [1, 2]), 0, predecessors=True, device="cpu")
    >>> result.distances.tolist(), result.path(2)
    ([0, 1, 2], [0, 1, 2])
    """
    graph = as_any_graph(graph)
    question = Question(graph, graph.n, ids)
    start = question.starts(source, sources, ": for one vertex give ", ArgumentValue("source"))
    end = -1 if target is None else question.vertex("target", target)
    predecessors, limit = checked_predecessors(predecessors), checked_depth(limit, graph.n)
    asked = GraphCall(graph, run)
    method, place = asked.method("bfs", method, searches.METHODS), asked.place
    quads = None
    if place is not None and searches.prepared_for(method, graph.n, graph.m) == "quads":
        quads = graph.kept("quads needed", place, lambda: _quads_needed(graph, place))
    plan = asked.planned(
        searches.planned,
        "heads",
        "quads",
        method=method,
        predecessors=predecessors,
        directed=graph.directed,
        quads=quads,
    )
    program = _PROGRAMS.get(plan.method, SearchByLevel)
    found = asked.solved(program(plan, start, limit, None if target is None else end), plan, weighted=False)
    solved = CallInput(graph, float("inf") if limit is None else limit, end, question.ids)
    return BfsResult(**found, sources=tuple(question.listed(start)), _starts=start, _solved=solved)


def _quads_needed(graph: Any, place: devices.Device) -> int:
    """Return the number of quads that a device prepares for a graph."""
    return int(bfs_kernels.on(place).quads_needed(graph.layout("csr")[0]))


@with_common_parts
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class BfsResult(FromSources):
    """The result of `bfs`.

    Attributes
    ----------
    sources : tuple of int or of ids
        The vertices that the search started from.
    distances : array or DistributedVector of int32, shape (n,)
        Edges on the shortest path from the source; -1 where there is none.
    predecessors : array or DistributedVector of int32, shape (n,), or None
        The vertex before the last on such a path; -9999 where there is none and for the sources.
    {common attributes}

    Examples
    --------
    >>> import mgraph
    >>> result = mgraph.bfs(mgraph.generate.grid(2, 3), 0, predecessors=True, device="cpu")
    >>> result.distances.tolist(), result.predecessors[0]
    ([0, 1, 2, 1, 2, 3], np.int32(-9999))
    """

    ARRAYS = ("distances", "predecessors")
    FACTS = ("sources",)
    UNREACHED = -1
    PICTURES = ("levels", "hops", "graph", "map")
    PROOFS: ClassVar[Proofs] = {
        "distances": certificate.OF_DISTANCES,
        "predecessors": certificate.OF_PREDECESSORS,
        "sources": ("source",),
    }

    sources: tuple[Any, ...]
    distances: Array
    predecessors: Array | None = None
    _starts: tuple[int, ...] = ()

    @property
    def source(self) -> Any:
        """The vertex that the search started from; None if it started from several.

        Examples
        --------
        >>> import mgraph
        >>> mgraph.bfs(mgraph.generate.grid(2, 3), 4, device="cpu").source
        4
        """
        return self.sources[0] if len(self.sources) == 1 else None

    @cached_property
    def levels(self) -> Array:
        """Number of vertices at each distance, from 0 on.

        Examples
        --------
        >>> import mgraph
        >>> mgraph.bfs(mgraph.generate.grid(2, 3), 0, device="cpu").levels
        array([1, 2, 2, 1])
        """
        if on_workers(self.distances):
            return self.distances.bincount()
        reached = self.distances[self.distances >= 0]
        return devices.of(reached).xp.bincount(reached)

    def _drawing(self, kind: str, given: Any) -> Callable[[Any], None]:
        if kind != "levels":
            return super()._drawing(kind, given)
        levels = devices.to_host(self.levels)
        return partial(plotting.draw_bars, counts=levels, across="distance in edges", up="vertices")

    def verify(self, graph: Any = None) -> None:
        """Raise unless the result is right.

        Verified in one pass over the edges, on the GPU that computed it if it has room for this, else where the graph
        is, by kernels that share nothing with the search. The rules are those of Graph500. Integers are compared
        exactly, floats up to one unit in the last place of a sum.

        Parameters
        ----------
        graph : Graph or DistributedGraph, optional
            The graph that was solved. By default the call's, if it still exists: the result does not keep it.

        Raises
        ------
        VerificationError
            If a rule is broken: the error's `rule` names the first one, and `vertex` the first vertex that breaks it.
        InputError
            If the graph has gone or has another number of vertices.
        MemoryLimitError
            If what the check needs does not fit.

        Notes
        -----
        The rules, in this order: ``"source"`` (its distance is 0), ``"limit"`` (no distance exceeds the limit, or the
        target's), ``"tree"``, ``"cycle"`` and ``"tree edge"`` (predecessors are reached, lead back to a source, and by
        edges of the right length), ``"reached"`` (edges from reached vertices lead to reached ones), ``"edge"`` (no
        edge shortens a distance). Without predecessors also ``"tight"`` (a reached vertex has an edge of the right
        length) and ``"path"`` (such edges lead to it from a source). Not proved is that a predecessor is the least of
        several that are right.

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.generate.grid(2, 3)
        >>> result = mgraph.bfs(graph, 0, device="cpu")
        >>> result.verify()
        >>> result.distances[5] = 2
        >>> result.verify()  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        mgraph.errors.VerificationError: vertex 5 breaks the rule 'tight': ...
        """
        known, limits = solved_graph(self, graph), (self.solved.limit, self.solved.target)
        check_named(self, "sources", self._starts, "source")
        question = certificate.Question(self._starts, *limits, unit=True, unreached=-1, nonnegative=True)
        certificate.verify(known, question, self.arrays, self.plan.devices)
