"""Shortest paths from one source: the public call and its result; `program` has the program."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Unpack

import numpy as np

from ... import device as devices
from ...arguments import checked_flag, checked_limit
from ...arrays import Array
from ...docstrings import with_common_parts
from ...dtypes import distance_dtype, infinity, name_of
from ...errors import ArgumentValue, InputError, VerificationError
from ...graph import Graph, PlacedGraph, as_any_graph, check_sums
from ...graph.question import Question
from ...planning.plan import Plan
from ...results import CallInput, FromSources, Proofs, check_named, solved_graph
from ...runtime.call import call
from ...runtime.run import ResumableRun
from ...runtime.solving import GraphCall
from .. import negative_cycles
from ..certificates import distances as certificate
from ..certificates.run import called
from ..sssp_window import alone_width, near_width
from . import plan as single_source_plan
from .plan import METHODS, TYPES
from .program import PATIENCE, FromOneSource, Request


@call
def sssp(
    graph: Any,
    source: Any = None,
    sources: Sequence[Any] | None = None,
    *,
    method: str = "auto",
    predecessors: bool = False,
    dtype: Any = None,
    limit: float | None = None,
    target: Any = None,
    ids: bool | None = None,
    **run: Unpack[ResumableRun],
) -> "SsspResult":
    """Return the length of the shortest path to every vertex from `source`, or from the nearest of several.

    Parameters
    ----------
    graph : Graph, DistributedGraph, sparse matrix, or array_like of shape (n, n)
        Read as `mgraph.apsp` does. The edges of an unweighted graph have length 1.
    source : int or id, optional
        The vertex to start from, 0 to n-1, or its id in the graph.
    sources : sequence of int or of ids, optional
        Several vertices to start from at once. Then the result has each vertex's nearest source, too: of equally near
        ones the least. Give either this or `source`.
    method : {"auto", "nearfar", "bellman-ford", "mask"}
        ``"nearfar"`` relaxes the vertices within a window of distances before those beyond it [1]_ [2]_.
        ``"bellman-ford"`` relaxes all vertices whose distance fell, and allows negative weights [3]_. ``"mask"`` does
        the same in two passes over all vertices [4]_. ``"auto"`` takes ``"nearfar"``, or ``"bellman-ford"`` if a
        weight is negative.
    predecessors : bool
        Whether to return each vertex's predecessor on a shortest path: the least of those nearer to the source. Where
        there is none (weights of zero, or negative), the least of those reached by the fewest edges of shortest paths.
    dtype : {"float32", "float64", "int32"}, optional
        The type to compute in. By default that of the weights; integers in int32, hop counts in float32.
    limit : float, optional
        The greatest distance to search to; vertices beyond it count as unreached. Where weights are negative, a path
        within the limit may pass vertices beyond it: vertices that are cut off keep their predecessors.
    target : int or id, optional
        Stop once this vertex's distance is known; vertices farther away count as unreached.
    {ids argument}
    {common arguments}
    {checkpoint arguments}

    Returns
    -------
    SsspResult

    Raises
    ------
    NegativeCycleError
        If a cycle of negative weight, whose exact sum counts, can be reached from the source; the error's `vertex` lies
        on such a cycle.
    DistanceOverflowError
        If a weight or distance is out of range for its type; `mgraph.apsp` lists the ranges.
    InputError
        For negative weights with another method than ``"bellman-ford"``, if `source` or `target` is not an integer in
        [0, n) or no id of the graph, and for invalid input.
    {common errors}
    {checkpoint errors}

    See Also
    --------
    mgraph.bfs : Distances without weights.
    mgraph.apsp : Shortest paths between all pairs.

    References
    ----------
    .. [1] Davidson, Baxter, Garland and Owens, "Work-efficient parallel GPU methods for single-source shortest
       paths", 2014.
    .. [2] Meyer and Sanders, "Δ-stepping: a parallelizable shortest path algorithm", 2003.
    .. [3] Bellman, "On a routing problem", 1958.
    .. [4] Harish and Narayanan, "Accelerating large graph algorithms on the GPU using CUDA", 2007.

    Examples
    --------
    >>> import mgraph
    >>> graph = mgraph.Graph.from_edges([0, 0, 1], [1, 2, 2], [4, 9, 3])
    >>> result = mgraph.sssp(graph, 0, predecessors=True, device="cpu")
    >>> result.distances.tolist(), result.path(2)
    ([0, 4, 7], [0, 1, 2])
    """
    graph = as_any_graph(graph)
    question = Question(graph, graph.n, ids)
    start = tuple(sorted(set(question.starts(source, sources))))
    predecessors = checked_flag("predecessors", predecessors)
    end = -1 if target is None else question.vertex("target", target)
    computed = distance_dtype(graph.weights_dtype, dtype, TYPES)
    most = checked_limit(limit, computed)
    asked = GraphCall(graph, run)
    method = asked.method("sssp", method, METHODS)
    least = 0 if graph.nonnegative else graph.extremes()[0]
    if least < 0:
        if method in ("nearfar", "mask"):
            other = ArgumentValue("method", method), " does not support: use ", ArgumentValue("method", "bellman-ford")
            raise InputError(f"the weight {least} is negative, which ", *other)
        check_sums(graph, computed)
    plan = asked.planned(
        single_source_plan.planned,
        f"lengths.{name_of(computed)}",
        method=method,
        dtype=computed,
        predecessors=predecessors,
        sources=len(start) if sources is not None else 1,
        nonnegative=least >= 0,
    )
    width = _width(graph, plan, computed) if plan.method == "nearfar" else float("inf")
    request = Request(start, sources is not None, most, end, width, negative=least < 0)

    found = _checked_for_cycles(asked, plan, request) if least < 0 else asked.solved(FromOneSource(plan, request), plan)
    del found["doubt"]
    rounds = found.pop("rounds")
    return SsspResult(
        **found,
        iterations=int(rounds[0]),
        sources=tuple(question.listed(start)),
        _starts=start,
        _solved=CallInput(graph, most, end, question.ids),
    )


@with_common_parts
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SsspResult(FromSources):
    """The result of `sssp`.

    Attributes
    ----------
    distances : array or DistributedVector of float32, float64 or int32, shape (n,)
        Length of the shortest path from the source; ``inf``, for int32 its largest value, where there is none.
    predecessors : array or DistributedVector of int32, shape (n,), or None
        The vertex before the last on such a path; -9999 where there is none and for the source. With negative weights,
        a vertex beyond the limit, or farther than the target, keeps its predecessor: a path may return from there.
    iterations : int
        Number of rounds that were run; of several devices that search apart, that of their exchanges.
    sources : tuple of int or of ids
        The sources of the distances, in the order of their numbers.
    nearest : array or DistributedVector of int32, shape (n,), or None
        Each vertex's nearest source, of equally near ones the least; -9999 where there is none. None after a search
        from one ``source``.
    {common attributes}

    Examples
    --------
    >>> import mgraph
    >>> graph = mgraph.Graph.from_edges([0, 0, 1], [1, 2, 2], [4, 9, 3])
    >>> result = mgraph.sssp(graph, 0, predecessors=True, device="cpu")
    >>> result.source, result.distances.tolist(), result.predecessors.tolist()
    (0, [0, 4, 7], [-9999, 0, 1])
    >>> mgraph.sssp(graph, sources=[1, 0], device="cpu").nearest.tolist()
    [0, 1, 1]
    """

    ARRAYS = ("distances", "predecessors", "nearest")
    VERTICES = ("predecessors", "nearest")
    FACTS = ("sources",)
    OPTIONAL = ("nearest",)
    PICTURES = ("distribution", "hops", "graph", "map")
    PROOFS: ClassVar[Proofs] = {
        "distances": (*certificate.OF_DISTANCES, *certificate.OF_NEAREST),
        "predecessors": certificate.OF_PREDECESSORS,
        "nearest": certificate.OF_NEAREST,
        "sources": ("source",),
        "iterations": (),
    }

    sources: tuple[Any, ...]
    distances: Array
    predecessors: Array | None = None
    nearest: Array | None = None
    iterations: int
    _starts: tuple[int, ...] = ()

    @property
    def source(self) -> Any:
        """The source if there is only one, otherwise None.

        Examples
        --------
        >>> import mgraph
        >>> mgraph.sssp(mgraph.Graph.from_edges([0], [1], [5]), 1, device="cpu").source
        1
        """
        return self.sources[0] if len(self.sources) == 1 else None

    def verify(self, graph: Any = None) -> None:
        """Raise unless the result is right.

        Verified in one pass over the edges, and a second one if there are several sources, on the GPU that computed it
        if it has room for this, else where the graph is, by kernels that share nothing with the search. The rules are
        those of Graph500. Integers are compared exactly, floats up to one unit in the last place of a sum.

        Parameters
        ----------
        graph : Graph or DistributedGraph, optional
            The graph that was solved. By default the call's, if it still exists: the result does not keep it.

        Raises
        ------
        VerificationError
            If a rule is broken: the error's `rule` names the first one, and `vertex` the first vertex that breaks it.
        InputError
            If the graph has gone or has another number of vertices, or if weights are negative
            and a limit or a target cut off vertices that shortest paths may pass.
        MemoryLimitError
            If what the check needs does not fit.

        Notes
        -----
        The rules, in this order: ``"source"`` (its distance is 0, or less by a path from another), ``"limit"`` (no
        distance exceeds the limit, or the target's), ``"tree"``, ``"cycle"`` and ``"tree edge"`` (predecessors are
        reached, lead back to a source, and by edges of the right length), ``"reached"`` (edges from reached vertices
        lead to reached ones), ``"edge"`` (no edge shortens a distance). Without predecessors also ``"tight"`` (a
        reached vertex has an edge of the right length) and ``"path"`` (such edges lead to it from a source). From
        several sources also ``"nearest"`` (such edges lead to a vertex from its nearest source, and from no lesser
        one).

        Not proved are `iterations`, and that a predecessor is the least of several that are right.

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.Graph.from_edges([0, 0, 1], [1, 2, 2], [4, 9, 3])
        >>> result = mgraph.sssp(graph, 0, predecessors=True, device="cpu")
        >>> result.verify()
        >>> result.distances[2] = 9
        >>> result.verify()  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        mgraph.errors.VerificationError: vertex 2 breaks the rule 'tree edge': ...
        """
        known, solved = solved_graph(self, graph), self.solved
        check_named(self, "sources", self._starts, "source")
        if not known.nonnegative and (solved.target >= 0 or solved.limit < float("inf")):
            raise InputError(
                "with negative weights and a limit or a target the result lacks distances that prove it: solve without"
            )
        unreached = infinity(np.dtype(self.distances.dtype))
        limits = solved.limit, solved.target
        roots = self._starts if known.nonnegative else self._roots(known)
        question = certificate.Question(roots, *limits, False, unreached, known.nonnegative)
        certificate.verify(known, question, self.arrays, self.plan.devices)

    def _roots(self, graph: Graph | PlacedGraph) -> tuple[int, ...]:
        """Return the sources at distance 0; raise unless the others are nearer.

        Negative weights may lead from one source to another. A path from those at distance 0 proves the others.
        """
        at = {source: self.distances[source] for source in self._starts}
        for source, distance in at.items():
            if not distance <= 0:
                message = f"vertex {called(graph, source)} breaks the rule 'source': {certificate.RULES['source']}"
                raise VerificationError(f"{message}; it has distances {distance}", rule="source", vertex=source)
        return tuple(source for source, distance in at.items() if distance == 0)


def _checked_for_cycles(call: GraphCall, plan: Plan, request: Request) -> dict[str, Any]:
    """Return what a search along negative weights finds, or raise NegativeCycleError.

    Cycles are looked for once the search has taken long, or before it if rounding may hide them from it.
    """
    graph, missed = call.graph, negative_cycles.may_be_missed(call.graph, np.dtype(plan.dtype))
    if missed:
        negative_cycles.check(graph, plan, request.sources)
    found = call.solved(FromOneSource(plan, request, None if missed else PATIENCE), plan)
    if found["doubt"][0]:
        negative_cycles.check(graph, plan, request.sources)
        found = call.solved(FromOneSource(plan, request), plan, resume=True)
    return found


def _width(graph: Graph | PlacedGraph, plan: Plan, dtype: np.dtype) -> float:
    """Return the width of the window by which the devices of a plan search."""
    width: float = graph.kept("window", devices.HOST, partial(_window, graph), weights=True)
    alone = len(plan.devices) == 1 and plan.devices[0].kind == "cpu"
    return alone_width(plan.n, plan.m, width, dtype) if alone else width


def _window(graph: Graph | PlacedGraph) -> float:
    """Return the best width of the window of distances that are relaxed together.

    Where all weights are equal, no distance falls twice, and the window is infinite.
    """
    dtype, (least, most, _) = graph.weights_dtype, graph.extremes()
    if not graph.m or dtype is None or least == most:
        return float("inf")
    return near_width(graph.n, graph.m, graph.total() / graph.m, dtype)
