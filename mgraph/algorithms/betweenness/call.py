"""Betweenness: the public call and its results."""

import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, ClassVar, Unpack

import numpy as np

from ... import lazy
from ...arguments import checked_flag, checked_integer, checked_limit
from ...arrays import Array
from ...device.clock import clock
from ...docstrings import with_common_parts
from ...dtypes import band
from ...errors import ArgumentValue, InputError, VerificationError
from ...graph import Graph, PlacedGraph, as_any_graph, check_positive
from ...graph.potentials import lengths_name
from ...graph.question import Question
from ...hierarchy.hierarchy import found_fill
from ...hierarchy.structure import is_worth
from ...kernels.betweenness import LOST, TOO_LONG, TOO_MANY
from ...planning.plan import Plan, warn_of_minutes
from ...planning.shape import measured_shape
from ...results import CallInput, Proofs, Result, check_named, graph_for_networkx, on_host, solved_graph
from ...runtime.call import call
from ...runtime.gathering import Whole
from ...runtime.run import ResumableRun, Run
from ...runtime.select import at_home, runner_of, specs_holding
from ...runtime.solving import Call
from ..batched_sweeps import expected_fill, may_have_small_separators
from .pairs import Pairs
from .plan import planned
from .program import Dependencies, edges_of, gathered_edges, without_parallel_edges
from .verify import first_difference


@call
def betweenness(
    graph: Any,
    sources: Sequence[Any] | np.ndarray | None = None,
    targets: Sequence[Any] | np.ndarray | None = None,
    *,
    samples: int | None = None,
    seed: int | random.Random | None = None,
    weight: bool = True,
    edges: bool = False,
    normalized: bool = True,
    endpoints: bool = False,
    limit: float | None = None,
    ids: bool | None = None,
    **run: Unpack[ResumableRun],
) -> "BetweennessResult":
    """Return the betweenness of each vertex, or of each edge: how many shortest paths pass it.

    A pair of a source and a target counts by the share of its shortest paths that pass. Definitions are NetworkX's. On
    a CPU, results have the same bits for any number of cores; workers add up other parts, whose rounding differs.

    Parameters
    ----------
    graph : Graph, DistributedGraph, sparse matrix, or array_like of shape (n, n)
        Read as `mgraph.apsp` does. Weights must be positive: with edges of length 0 the number of shortest paths
        depends on their order. Of parallel edges the lightest counts, once.
    sources, targets : sequence of int or of ids, optional
        The vertices that paths lead from and to, 0 to n-1 or their ids in the graph. By default all. A source that is
        repeated counts as often. The sum over these pairs is not scaled up to all pairs.
    samples : int, optional
        Take so many sources, drawn at random without repetition, and scale the result up to all.
    seed : int or random.Random, optional
        Draws the `samples`, the same as NetworkX's ``seed`` does. By default others at each call.
    weight : bool
        Whether a path is as long as the sum of its weights. Otherwise it is as long as the number of its edges.
    edges : bool
        Whether to return the betweenness of edges, in the order of `Graph.coo`. Both directions of an undirected edge
        have its value; of parallel edges the lightest share it.
    normalized : bool
        Whether to divide by the number of pairs: (n - 1) (n - 2), or n (n - 1) for edges and with `endpoints`.
        Otherwise the pairs of an undirected graph count once, not in both directions.
    endpoints : bool
        Whether a path passes its own ends.
    limit : float, optional
        The length of the longest paths that count.
    {ids argument}
    {common arguments}
    {checkpoint arguments}

    Returns
    -------
    BetweennessResult
        With `edges`, an `EdgeBetweennessResult`.

    Raises
    ------
    InputError
        If a weight is not positive, or is so small beside another one that it is lost in the sum along a path; if
        integers add up to 2**53 or more along a path; for `samples` beyond the number of vertices, or together with
        `sources` or `targets`; for `endpoints` together with `edges`; and for invalid input.
    DistanceOverflowError
        If a weight is out of range.
    {common errors}
    {checkpoint errors}

    See Also
    --------
    mgraph.closeness : Another measure of how central a vertex is.

    Notes
    -----
    Brandes' algorithm [1]_ [2]_: for each source the number of shortest paths to every vertex, then the dependencies,
    the farthest vertices first. Distances by weights are those of `mgraph.distances`: exact for integers, and for
    floats the sums of float64 along a path, compared for equality. Numbers of paths are float64, exact up to 2**53;
    beyond 2**1000 the call begins again with scaled ones, so that they are never infinite.

    Of roads or grids with integer weights a device takes a hierarchy, as `mgraph.Hierarchy` prepares one, where that is
    worth it: numbers of paths come from sweeps down it, dependencies from sweeps up.

    Memory is that of a batch of sources, 48 bytes a vertex for each, whatever their number; on a GPU without weights 14
    at most.

    References
    ----------
    .. [1] Brandes, "A faster algorithm for betweenness centrality", 2001.
    .. [2] Brandes, "On variants of shortest-path betweenness centrality and their generic computation", 2008.

    Examples
    --------
    >>> import mgraph
    >>> path = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 3], [4, 1, 1], directed=False)
    >>> mgraph.betweenness(path, normalized=False, device="cpu").betweenness.tolist()
    [0.0, 2.0, 2.0, 0.0]
    >>> result = mgraph.betweenness(path, edges=True, normalized=False, device="cpu")
    >>> result.to_pandas().query("src < dst").values.tolist()
    [[0.0, 1.0, 3.0], [1.0, 2.0, 4.0], [2.0, 3.0, 3.0]]
    """
    graph = as_any_graph(graph)
    n = graph.n
    flags = {"weight": weight, "edges": edges, "normalized": normalized, "endpoints": endpoints}
    weight, edges, normalized, endpoints = (checked_flag(name, value) for name, value in flags.items())
    if edges and endpoints:
        raise InputError(
            ArgumentValue("endpoints", True), " is for vertices: leave it out, or ", ArgumentValue("edges")
        )
    question = Question(graph, n, ids)
    starts = np.arange(n, dtype=np.int32) if sources is None else question.vertices("sources", sources)
    ends = None if targets is None else question.vertices("targets", targets)
    drawing = _drawing(seed)
    if samples is not None:
        for name, given in (("sources", sources), ("targets", targets)):
            if given is not None:
                raise InputError(
                    ArgumentValue("samples", samples), " draws from all vertices: leave out ", ArgumentValue(name)
                )
        count = checked_integer("samples", samples, 1, n)
        starts = np.array(drawing.sample(range(n), count), np.int32)
    most = checked_limit(limit, _computed(graph, weight))
    pairs = Pairs(starts, ends, samples is not None, most, edges, normalized, endpoints)
    return of_pairs(graph, pairs, weight, run, question)


def of_pairs(
    graph: Graph | PlacedGraph, pairs: Pairs, weight: bool, run: Run, question: Question | None = None
) -> "BetweennessResult":
    """Return the betweenness by some pairs; `question` is the form of the answer."""
    question = question or Question(graph, graph.n)
    weighted = weight and graph.weighted
    if weighted:
        check_positive(graph, "betweenness counts shortest paths, which needs positive weights")
    found = _solved(graph, pairs, weighted, _computed(graph, weight), run)
    kind = EdgeBetweennessResult if pairs.edges else BetweennessResult
    return kind(
        **found,
        sources=question.answer(pairs.sources),
        _pairs=pairs,
        _weighted=weighted,
        _solved=CallInput(graph, pairs.limit, by_ids=question.ids),
    )


def _drawing(seed: Any) -> random.Random:
    """Return what draws samples."""
    if isinstance(seed, random.Random):
        return seed
    return random.Random(None if seed is None else checked_integer("seed", seed, 0))


def _computed(graph: Graph | PlacedGraph, weight: bool) -> np.dtype:
    """Return the type of distances: int32 if the sums of the weights along all paths are integers that fit."""
    dtype, integers = graph.weights_dtype, np.dtype(np.int32)
    if not weight or dtype is None:
        return integers
    fit = dtype.kind == "i" and graph.extremes()[1] * max(1, graph.n - 1) <= band(integers)
    return integers if fit else np.dtype(np.float64)


def _solved(graph: Graph | PlacedGraph, pairs: Pairs, weighted: bool, computed: np.dtype, run: Run) -> dict[str, Any]:
    """Return what a result is made of; if numbers of paths are too large for float64, with scaled ones."""
    asked = Call(run, runner_of(graph, run, len(pairs.sources)))
    runner, placed = asked.runner, isinstance(graph, PlacedGraph)
    kept = [lengths_name(order, graph.directed, computed) for order in ("csr", "csc")] if weighted else []
    plan_with: Callable[..., Plan] = partial(
        planned,
        graph.n,
        graph.m,
        runner.specs if placed and len(runner.specs) > 1 else specs_holding(runner, graph, *dict.fromkeys(kept)),
        sources=len(pairs.sources),
        weighted=weighted,
        edges=pairs.edges,
        span=asked.span,
        memory_limit=asked.memory_limit,
        directed=graph.directed,
        gathered=placed,
        weight_bytes=0 if graph.weights_dtype is None else graph.weights_dtype.itemsize,
        computed=computed.name,
        shape=measured_shape(graph),
    )
    made: Callable[[bool], Any]
    if isinstance(graph, PlacedGraph):
        gather = partial(gathered_edges, Whole(graph.placed, graph.nonnegative, weighted=weighted))
        made = lambda _: gather  # noqa: E731
    else:
        searched = graph if weighted else graph.unweighted()
        # Every shard needs the same piece.
        made = cache(partial(edges_of, searched, runner.place))
        if computed.kind == "i":
            plan_with = partial(_with_hierarchy, searched, plan_with)

    def tried(wide: bool) -> dict[str, Any]:
        plan = plan_with(wide=wide)
        warn_of_minutes(plan)
        piece, making = _timed(partial(made, plan.detail.entries > 0))
        plan, outcome = asked.run(Dependencies(plan, pairs, graph.directed), lambda _: piece, plan)
        timings = {part: seconds + making.get(part, 0.0) for part, seconds in outcome.timings.items()}
        return {**at_home(graph, outcome.arrays), "plan": plan, "timings": timings}

    written = {} if asked.checkpoints is None else asked.checkpoints.call("betweenness")
    found = tried(wide=bool(written.get("wide")))
    trouble = np.reshape(on_host(found.pop("trouble")), (-1, 3))
    check_sums_along_paths(bool(trouble[:, LOST].any()), bool(trouble[:, TOO_LONG].any()))
    if trouble[:, TOO_MANY].any():
        asked.anew()
        found = tried(wide=True)
        del found["trouble"]
    return found


def check_sums_along_paths(lost: bool, too_long: bool) -> None:
    """Raise InputError if a weight is lost in the sum along a path, or integers are not exact in it."""
    if lost:
        what = "a weight is so small beside another one that it is lost in the sum along a path"
    elif too_long:
        what = "a path is 2**53 long or longer, where float64 does not hold all integers"
    else:
        return
    remedy = f"{what}, and with it the number of shortest paths: scale the weights, or count edges by "
    raise InputError(remedy, ArgumentValue("weight", False))


def _with_hierarchy(graph: Graph, plan_with: Callable[..., Plan], wide: bool) -> Plan:
    """Return a plan that may take a hierarchy; the vertices are ordered if that of a road network would be worth it."""
    plan = plan_with(wide=wide, fill=expected_fill(graph.n, graph.m))
    if not plan.detail.entries:
        return plan
    simple = without_parallel_edges(graph)
    may = lazy.installed("pymetis") and may_have_small_separators(simple)
    fill = found_fill(simple, np.dtype(np.int32)) if may else None
    return plan_with(wide=wide, fill=fill if fill is not None and is_worth(fill.entries, simple) else None)


def _timed(make: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """Return what a function makes, and the seconds that it takes, as a part of what a call takes."""
    began, compiled = time.perf_counter(), clock().seconds()
    made = make()
    compiling = clock().seconds() - compiled
    return made, {"load": time.perf_counter() - began - compiling, "compile": compiling}


@with_common_parts
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class BetweennessResult(Result):
    """The result of `betweenness`.

    Attributes
    ----------
    betweenness : array of float64, shape (n,)
        The betweenness of each vertex. With a single sample and without `endpoints`, NaN for that vertex.
    sources : array of int32 or of ids, shape (k,)
        The sources, as they were given or drawn; as ids if a vertex was asked for by its id.
    {common attributes}

    Examples
    --------
    >>> import mgraph
    >>> mgraph.betweenness(mgraph.generate.grid(1, 5, weights=None), device="cpu").betweenness.round(2).tolist()
    [0.0, 0.5, 0.67, 0.5, 0.0]
    """

    ARRAYS: ClassVar[tuple[str, ...]] = ("betweenness",)
    VERTICES: ClassVar[tuple[str, ...]] = ()
    PICTURES: ClassVar[tuple[str, ...]] = ("distribution", "graph", "map")
    PROOFS: ClassVar[Proofs] = {"betweenness": ("value",), "sources": ("source",)}

    betweenness: Array
    sources: np.ndarray
    _pairs: Pairs = field(default_factory=lambda: Pairs(np.empty(0, np.int32)))
    _weighted: bool = False

    def verify(self, graph: Any = None) -> None:
        """Raise unless the values are those of a second algorithm, up to rounding.

        It runs on the host: distances by SciPy, logarithms of the numbers of paths by NumPy, source by source. That
        takes much longer than the call.

        Parameters
        ----------
        graph : Graph or DistributedGraph, optional
            The graph that was measured. By default the call's, if it still exists: the result does not keep it.

        Raises
        ------
        VerificationError
            If a rule is broken: the error's `rule` names it, and `vertex` the first vertex, or place of an edge, that
            breaks it.
        InputError
            If the graph has gone or has another number of vertices.

        Notes
        -----
        The rules, in this order: ``"source"`` (the sources are the call's), of edges ``"ends"`` (they are those of
        `Graph.coo`), and ``"value"``.

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.generate.grid(3, 3, weights=None)
        >>> result = mgraph.betweenness(graph, device="cpu")
        >>> result.verify()
        >>> result.betweenness[4] = 1
        >>> result.verify()  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        mgraph.errors.VerificationError: vertex 4 breaks the rule 'value': it is 1.0, and 0.38095238095... expected
        """
        known = solved_graph(self, graph)
        check_named(self, "sources", self._pairs.sources, "source")
        arrays = {name: on_host(array) for name, array in self.arrays.items()}
        broken = first_difference(known, arrays, self._pairs, self._weighted)
        if broken is not None:
            rule, place, found, expected = broken
            raise VerificationError(
                f"{self.INDEX} {place} breaks the rule {rule!r}: it is {found}, and {expected} was expected",
                rule=rule,
                vertex=place,
            )

    def _types_of(self, name: str) -> tuple[str, ...]:
        return ("int32",) if name in self.VERTICES else ("float64",)

    def _names_of_call(self) -> set[str]:
        return set(self.ARRAYS)


@with_common_parts
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class EdgeBetweennessResult(BetweennessResult):
    """The result of `betweenness` with ``edges=True``, in the order of `Graph.coo`.

    Attributes
    ----------
    betweenness : array of float64, shape (m,)
        The betweenness of each edge.
    src, dst : array of int32, shape (m,)
        The ends of each edge.
    sources : array of int32 or of ids, shape (k,)
        As of `BetweennessResult`.
    {common attributes}

    Examples
    --------
    >>> import mgraph
    >>> result = mgraph.betweenness(mgraph.Graph.from_edges([0, 1], [1, 2]), edges=True, device="cpu")
    >>> result.src.tolist(), result.dst.tolist(), result.betweenness.round(2).tolist()
    ([0, 1], [1, 2], [0.33, 0.33])
    """

    ARRAYS = ("betweenness", "src", "dst")
    VERTICES = ("src", "dst")
    INDEX = "edge"
    PICTURES = ("distribution",)
    PROOFS: ClassVar[Proofs] = {**BetweennessResult.PROOFS, "src": ("ends",), "dst": ("ends",)}

    src: Array
    dst: Array

    def _shape_of(self, name: str) -> tuple[int, ...]:
        return (self.plan.m,)

    def to_networkx(self, graph: Any = None) -> Any:
        """Return the graph as a NetworkX graph, with `betweenness` as an attribute of its edges.

        Parameters
        ----------
        graph : Graph, optional
            The graph that was measured, as of `mgraph.Result.to_networkx`.

        Returns
        -------
        networkx.Graph, DiGraph, MultiGraph or MultiDiGraph

        Raises
        ------
        InputError
            If the graph has gone, lies on workers, or is another one.
        MissingPackageError
            If NetworkX is not installed.
        MemoryLimitError
            If the NetworkX graph does not fit the free memory.

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.Graph.from_edges([0, 1], [1, 2])
        >>> made = mgraph.betweenness(graph, edges=True, normalized=False, device="cpu").to_networkx()
        >>> made.edges(data="betweenness")
        OutEdgeDataView([(0, 1, 2.0), (1, 2, 2.0)])
        """
        solved = graph_for_networkx(self, graph)
        made = solved.to_networkx()
        src, dst, values = (on_host(array).tolist() for array in (self.src, self.dst, self.betweenness))
        parallel: Counter[tuple[int, int]] = Counter()
        for *ends, value in zip(src, dst, values, strict=True):
            if solved.directed or ends[0] <= ends[1]:  # an edge without direction is added once
                key = (parallel[tuple(ends)],) if made.is_multigraph() else ()
                made.edges[(*ends, *key)]["betweenness"] = value
                parallel[tuple(ends)] += 1
        return made
