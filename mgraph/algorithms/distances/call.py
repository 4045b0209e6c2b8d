"""Distances from many sources to many targets: the public call and its result; `program` has the program."""

import itertools
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, TypeVar, Unpack, cast

import numpy as np

from ... import device as devices
from ... import lazy
from ...arguments import (
    HISTOGRAM,
    MEASURES,
    WITHIN,
    check_left_out,
    checked_choice,
    checked_flag,
    checked_integer,
    checked_limit,
    checked_reduce,
)
from ...arrays import distinct
from ...device.clock import clock
from ...docstrings import with_common_parts
from ...dtypes import NO_PREDECESSOR, distance_dtype, infinity
from ...errors import ArgumentValue, DistanceOverflowError, InputError, NegativeCycleError, VerificationError
from ...graph import Graph, PlacedGraph, as_any_graph, check_sums, check_weights, sums_are_exact
from ...graph.potentials import kept_potentials, lengths_name, reached_part
from ...graph.question import Question, ids_of
from ...hierarchy import Hierarchy
from ...hierarchy.hierarchy import found_fill, hierarchy_of, is_prepared, known_fill, prepared
from ...hierarchy.prepared import Prepared
from ...hierarchy.structure import is_worth
from ...planning.plan import Plan, warn_of_minutes
from ...planning.shape import measured_shape, shape_beside
from ...results import (
    INTEGERS,
    CallInput,
    FromSearches,
    Proofs,
    Result,
    as_text,
    check_named,
    on_workers,
    solved_graph,
)
from ...runtime.call import call
from ...runtime.checkpoints import Checkpoints, plan_with_copies
from ...runtime.gathering import Gather, Whole
from ...runtime.program import Outcome
from ...runtime.run import ResumableRun, Run
from ...runtime.select import checkpoints_of, specs_holding
from ...runtime.solving import GraphCall
from .. import bellman
from ..batched_sssp import Network, gathered_network, network
from ..batched_sweeps import gathered_hierarchy, may_have_small_separators, with_predecessors
from ..certificates import distances as certificate
from ..certificates.run import as_int32, called
from .by_matrix import kept_of_all_pairs
from .detail import DistancesDetail
from .from_targets import kept_of_columns
from .output import COUNTS, DATA, INDICES, Output, within
from .plan import METHODS, TYPES, UNKNOWN, Preparation, planned
from .program import FromSources
from .verify import ROUNDING, condition, kept_of, of_type
from .writing import Rows, check_out, written

RunT = TypeVar("RunT", bound=Run)

#: Distances of a block of rows.
BLOCK = 1 << 26

#: Rows that are verified at a time.
ROWS_AT_A_TIME = 64


@call
def distances(
    graph: Any,
    sources: Sequence[Any] | np.ndarray | None = None,
    targets: Sequence[Any] | np.ndarray | None = None,
    *,
    limit: float | None = None,
    nearest: int | None = None,
    reduce: Any = None,
    predecessors: bool = False,
    method: str = "auto",
    dtype: Any = None,
    ids: bool | None = None,
    reverse: bool = False,
    sparse: bool = False,
    out: Any = None,
    overwrite: bool = False,
    **run: Unpack[ResumableRun],
) -> "DistancesResult":
    """Return the lengths of the shortest paths from some vertices to some vertices, or what is computed from them.

    Sources are searched from in batches. Of each batch only what is wanted is kept, so that a call for some targets,
    the nearest of them, or measures takes memory for a batch of rows, however many sources there are. Edges are
    followed from source to target, or in `reverse`.

    Parameters
    ----------
    graph : Graph, DistributedGraph, Hierarchy, sparse matrix, or array_like of shape (n, n)
        Read as `mgraph.apsp` does. The edges of an unweighted graph have length 1. A `Hierarchy` is used as it was
        prepared, by default on its own device.
    sources : sequence of int or of ids, optional
        The vertices to start from, 0 to n-1 or their ids in the graph, in any order; vertices may be repeated. By
        default all vertices.
    targets : sequence of int or of ids, optional
        The vertices whose distances are wanted. By default all vertices. For `nearest` and `reduce` a vertex that is
        repeated counts once.
    limit : float, optional
        The greatest distance to search to; vertices beyond it count as unreached. Searches end there, which saves most
        of the time where most vertices lie beyond it.
    nearest : int, optional
        Return this number of nearest targets of each source, and their distances: of equally near ones, those of the
        least numbers. A source that is a target is at distance 0 from itself.
    reduce : str, pair or sequence of these, optional
        Return measures of each source's distances, not the distances. A target that is not reached is out of reach.

        - ``"eccentricity"``: the greatest distance to a target; ``inf`` if one is out of reach.
        - ``"mean"``: the mean distance to the targets within reach but the source itself; NaN if there is none.
        - ``"closeness"``: the number of these targets over the sum of their distances, times their share of all
          targets but the source (Wasserman and Faust); 0 if there is none.
        - ``"harmonic"``: the sum of 1 / distance over the targets; those out of reach, or at distance 0, add nothing.
        - ``"out_closeness"``, ``"out_harmonic"``: the same of a directed graph by the distances from each source, while
          the former two are by those to it, as in NetworkX, and need `reverse`.
        - ``"reached"``: the number of targets within reach; the source itself counts if it is one.
        - ``("within", [r1, r2, ...])``: the numbers of targets at distances up to each radius, in a column each.
        - ``("histogram", [e0, e1, ...])``: the numbers of targets in the bins between two edges, in a column each. A
          bin has its lower edge, and the last one both, as in NumPy. The last edge may be ``inf``.
    predecessors : bool
        Whether to return the vertex before each target on a shortest path, as `mgraph.apsp` does.
    method : {"auto", "sssp", "johnson", "bfs", "blocked", "hierarchy"}
        ``"sssp"`` relaxes edges for many sources at a time [1]_ [2]_. ``"johnson"`` does the same after a reweighting
        that allows negative weights [3]_. ``"bfs"`` finds distances in edges, whatever the weights: with a bit for each
        search [4]_, or on a CPU by a queue for each where that is faster. ``"blocked"`` computes all pairs by the
        method of `mgraph.apsp` on the matrix, on one device. ``"hierarchy"`` prepares the graph as
        `mgraph.Hierarchy` does, unless the graph keeps a hierarchy of an earlier call, and sweeps down from many
        sources at a time: for road networks and meshes. If sums of weights round, or a weight is negative, its
        predecessors need not be those of searches. ``"auto"`` takes ``"bfs"`` for an unweighted graph, and
        ``"johnson"`` if a weight is negative. It takes ``"blocked"`` or ``"hierarchy"`` where that is predicted clearly
        faster, preparation counted, and all sums of weights are exact, so that the result is the same. On these
        conditions it searches from the targets, against the edges, if they are fewer than the sources, on one device
        and without `predecessors`, `sparse` and `checkpoint`.
    dtype : {"float32", "float64", "int32"}, optional
        The type to compute in. By default that of the weights; integers in int32, hop counts in float32.
    {ids argument}
    reverse : bool
        Whether to follow edges backwards. Then distances are those from each target to each source, and measures those
        of the distances to each source.
    sparse : bool
        Whether to return the distances as a sparse matrix of those within reach, and the `limit`; zeros are stored. No
        more than a batch of rows is ever dense. It is a ``scipy.sparse.csr_array`` or, of a graph on a GPU, a
        ``cupyx.scipy.sparse.csr_matrix``, which holds floats only: integers come as SciPy's.
    out : str, path or array of shape (k, t), optional
        Write the distances there, a block of rows at a time, so that they need not fit into memory: to a new file,
        ``.npy``, ``.zarr``, or a table ``.parquet``, ``.csv`` or ``.csv.gz`` (a row for each pair within reach), or to
        an array of the distances' type or float64, such as a ``numpy.memmap``. The result's distances are the array,
        the file opened for reading, or the path of the table.
    overwrite : bool
        Replace the file `out` if there is one.
    {common arguments}
    {checkpoint arguments}

    Returns
    -------
    DistancesResult

    Raises
    ------
    NegativeCycleError
        If a cycle of negative weight can be reached from a source; the error's `vertex` lies on such a cycle.
    DistanceOverflowError
        If a weight or distance is out of range for its type; `mgraph.apsp` lists the ranges.
    InputError
        If a source or target is not an integer in [0, n) or no id of the graph, for negative weights with
        ``method="sssp"``, for `reduce` together with `nearest` or `predecessors`, for `sparse` or `out` together with
        any of the three or each other, for ``method="hierarchy"`` if there would be too many entries, for ``"blocked"``
        with `predecessors`, on workers or with `checkpoint`, for `checkpoint` with `sparse` or `out`, and for invalid
        input.
    OutputExistsError
        If the file `out` exists, and `overwrite` is false.
    {common errors}
    {checkpoint errors}

    See Also
    --------
    mgraph.apsp : Distances between all pairs, also by methods on the matrix.
    mgraph.sssp : Distances from one source.
    mgraph.Hierarchy : A graph that is prepared once for many calls.
    mgraph.bfs_many : Distances in edges from many sources.

    References
    ----------
    .. [1] Bellman, "On a routing problem", 1958.
    .. [2] Davidson, Baxter, Garland and Owens, "Work-efficient parallel GPU methods for single-source shortest
       paths", 2014.
    .. [3] Johnson, "Efficient algorithms for shortest paths in sparse networks", 1977.
    .. [4] Then et al., "The more the merrier: efficient multi-source graph traversal", 2014.

    Examples
    --------
    >>> import mgraph
    >>> graph = mgraph.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], [2, 3, 4, 5])
    >>> mgraph.distances(graph, [0, 2], [1, 3], device="cpu").distances.tolist()
    [[2, 9], [11, 4]]
    >>> result = mgraph.distances(graph, [0], nearest=2, device="cpu")
    >>> result.nearest.tolist(), result.distances.tolist()
    ([[0, 1]], [[0, 2]])
    >>> result = mgraph.distances(graph, reduce=["eccentricity", ("within", [3, 6])], device="cpu")
    >>> result.eccentricity.tolist(), result.within.tolist()
    ([9.0, 12.0, 11.0, 10.0], [[2, 3], [2, 2], [1, 2], [1, 2]])
    """
    if isinstance(graph, Hierarchy):
        dtype, run = type_and_run(graph, dtype, run)
    given = given_graph(graph)
    predecessors, reverse = checked_flag("predecessors", predecessors), checked_flag("reverse", reverse)
    direction = ("to" if reverse else "from") if given.directed else ""
    question = Question(given, given.n, ids)
    starts = np.arange(given.n, dtype=np.int32) if sources is None else question.vertices("sources", sources)
    sparse, overwrite = checked_flag("sparse", sparse), checked_flag("overwrite", overwrite)
    wanted = _output(question, targets, nearest, reduce, direction, sparse)
    _check_alone(sparse, out, reduce=reduce, nearest=nearest, predecessors=predecessors or None)
    method = _method(graph, method, checkpoints_of(run), sparse=sparse or None, out=out)
    computed = distance_dtype(None if method == "bfs" else given.weights_dtype, dtype, TYPES)
    most = checked_limit(limit, computed)
    shape = len(starts), given.n if wanted.targets is None else len(wanted.targets)
    if out is not None:
        check_out(out, shape, computed, overwrite)
        options: dict[str, Any] = {"limit": limit, "method": method, "dtype": dtype, "reverse": direction == "to"}
        options |= {name: value for name, value in run.items() if name != "retries"}
        return _written(given, graph, starts, wanted.targets, shape, computed, out, overwrite, question, options)
    asked = _Asked(starts, wanted, most, method, computed, predecessors, direction == "to", reduce)
    plan, outcome = _solved(GraphCall(given, run, rows=-(-shape[0] * shape[1] // max(1, given.n))), asked)
    return DistancesResult(
        **_assembled(given, outcome.arrays, wanted, shape),
        sources=question.answer(starts),
        targets=None if wanted.targets is None else question.answer(wanted.targets),
        plan=plan,
        timings=outcome.timings,
        _starts=starts,
        _wanted=wanted,
        _reverse=asked.reverse,
        _solved=CallInput(given, most, -1, question.ids),
    )


def distance_blocks(
    graph: Any,
    sources: Sequence[Any] | np.ndarray | None = None,
    targets: Sequence[Any] | np.ndarray | None = None,
    *,
    rows: int | None = None,
    ids: bool | None = None,
    **options: Any,
) -> Iterator["DistancesResult"]:
    """Yield the results of `distances` for consecutive sources, some at a time, each when it is asked for.

    Parameters
    ----------
    graph, sources, targets, ids, **options
        As of `mgraph.distances`.
    rows : int, optional
        Number of sources of a block. By default as many as have 2**26 distances to the targets, but at least 128.

    Yields
    ------
    DistancesResult

    Raises
    ------
    InputError
        For invalid input; see `mgraph.distances` for other errors.

    See Also
    --------
    mgraph.distances : All at once, or with ``out=`` to a file.

    Examples
    --------
    >>> import mgraph
    >>> graph = mgraph.generate.grid(1, 4, weights=None)
    >>> [block.distances.tolist() for block in mgraph.distance_blocks(graph, targets=[0], rows=3, device="cpu")]
    [[[0.0], [1.0], [2.0]], [[3.0]]]
    """
    if options.get("checkpoint") is not None:
        raise InputError(
            ArgumentValue("checkpoint"), " keeps the rows of one call, mgraph.distances, and blocks are a call each"
        )
    if options.get("out") is not None:
        raise InputError(
            ArgumentValue("out"), " takes the rows of one call, mgraph.distances, and blocks are a call each"
        )
    searched = once_read(graph)
    given = given_graph(searched)
    question = Question(given, given.n, ids)
    starts = np.arange(given.n, dtype=np.int32) if sources is None else question.vertices("sources", sources)
    targets = None if targets is None else question.vertices("targets", targets)
    ends = None if targets is None else question.answer(targets)
    width = given.n if ends is None else len(ends)
    step = max(128, BLOCK // max(1, width)) if rows is None else checked_integer("rows", rows, 1)
    for first in range(0, max(1, len(starts)), step):
        some = question.answer(starts[first : first + step]) if given.n else None
        yield distances(searched, some, ends, ids=question.named, **options)


def _written(
    given: Graph | PlacedGraph,
    graph: Any,
    starts: np.ndarray,
    ends: np.ndarray | None,
    shape: tuple[int, int],
    dtype: np.dtype,
    out: Any,
    overwrite: bool,
    question: Question,
    options: dict[str, Any],
) -> "DistancesResult":
    """Write the distances to `out` block by block; return the result, with the plan of the first block."""
    done: list[DistancesResult] = []
    timings: Counter[str] = Counter()

    def blocks() -> Iterator[DistancesResult]:
        named = (None if part is None or not given.n else question.answer(part) for part in (starts, ends))
        searched, ids = given if isinstance(given, Graph) else graph, question.named
        for block in distance_blocks(searched, *named, ids=ids, **options):
            timings.update(block.timings)
            done.append(replace(block, distances=None))
            yield block if isinstance(block.distances, np.ndarray) else block._at_home()

    def frames() -> Iterator[Any]:
        ids = None if given.ids is None else as_text(ids_of(CallInput(given)), "a table")
        for block in blocks():
            yield from block._frames(ids)

    found = written(out, Rows(shape, dtype, blocks()), frames(), overwrite)
    whole = {"distances": found, "sources": question.answer(starts), "_starts": starts}
    solved = CallInput(given, done[0].solved.limit, -1, question.ids)
    return replace(done[0], **whole, timings=dict(timings), _solved=solved, _blocks=tuple(len(b._starts) for b in done))


def _check_alone(sparse: bool, out: Any, **others: Any) -> None:
    """Raise InputError if other arguments are given beside one that takes the distances to all targets as they are."""
    if sparse:
        check_left_out(others, ArgumentValue("sparse"), " takes distances to all targets: leave out ")
    if out is not None:
        others["sparse"] = sparse or None
        check_left_out(others, ArgumentValue("out"), " takes distances to all targets: leave out ")


def _output(question: Question, targets: Any, nearest: Any, reduce: Any, direction: str, sparse: bool) -> Output:
    """Return what to keep of each source's row, checked; `direction` is that of `checked_reduce`."""
    measures, radii, bins = checked_reduce(reduce, direction)
    ends = None if targets is None else question.vertices("targets", targets)
    if ends is not None and (nearest is not None or reduce is not None):
        ends = distinct(ends)
    nearest = None if nearest is None else checked_integer("nearest", nearest, 1)
    return Output(ends, nearest, measures, radii, bins, sparse)


def _method(graph: Any, method: str, checkpoints: Checkpoints | None, **others: Any) -> str:
    """Return the method of a call: of a hierarchy by it, and as before from checkpoints, which exclude arguments."""
    checked_choice("method", method, ("auto", *METHODS))
    if method == "auto" and isinstance(graph, Hierarchy):
        method = "hierarchy"
    if checkpoints is None:
        return method
    others["method"] = method if method == "blocked" else None
    check_left_out(others, ArgumentValue("checkpoint"), " keeps rows of results in memory: leave out ")
    return checkpoints.method("distances", method, METHODS)


class _Asked(NamedTuple):
    """The arguments of a call, checked.

    Attributes
    ----------
    starts : array of int32
        The sources.
    wanted : Output
        What to keep of their rows.
    limit : float
        The greatest distance.
    method : str
        The method, or ``"auto"``.
    computed : dtype
        The type of the distances.
    predecessors, reverse : bool
        Whether predecessors are asked for, and distances to the sources.
    reduce : object
        The measures, as the caller names them.
    """

    starts: np.ndarray
    wanted: Output
    limit: float
    method: str
    computed: np.dtype
    predecessors: bool
    reverse: bool
    reduce: Any = None


def _assembled(
    graph: Graph | PlacedGraph, arrays: dict[str, Any], wanted: Output, shape: tuple[int, int]
) -> dict[str, Any]:
    """Return the arrays of a result: a sparse matrix in one of its parts, and one of all radii."""
    if wanted.sparse:
        offsets = np.append(0, arrays.pop(COUNTS).cumsum())
        if offsets[-1] <= np.iinfo(np.int32).max:  # SciPy copies columns to the type of the offsets
            offsets = offsets.astype(np.int32)
        arrays["distances"] = _sparse(graph, (arrays.pop(DATA), arrays.pop(INDICES), offsets), shape)
    if wanted.radii:
        arrays[WITHIN] = np.stack([arrays.pop(within(i)) for i in range(len(wanted.radii))], axis=1)
    return arrays


def _solved(call: GraphCall, asked: _Asked) -> tuple[Plan, Outcome]:
    """Plan the searches and run them; a negative cycle counts only if a source reaches it."""
    try:
        return _tried(call, call.graph, asked)
    except NegativeCycleError:
        if len(distinct(asked.starts)) == call.graph.n:
            raise
    graph = call.graph
    if isinstance(graph, Graph):
        graph = reached_part(graph, asked.starts, asked.reverse)
    return _tried(call, graph, asked, within=asked.starts)


def _tried(
    call: GraphCall, graph: Graph | PlacedGraph, asked: _Asked, within: np.ndarray | None = None
) -> tuple[Plan, Outcome]:
    """Plan the searches and run them on a graph, of whose edges on workers only those count that `within` reach."""
    plan_with = _planner(call, graph, asked)
    known = _preparation(graph, asked.computed) if asked.method in ("auto", "hierarchy") else Preparation()
    plan = plan_with(preparation=known)
    warn_of_minutes(plan)
    started, compiled = time.perf_counter(), clock().seconds()
    if isinstance(graph, Graph) and plan.method == "hierarchy" and known.fill is None:
        plan = _planned_with_fill(graph, asked.computed, plan.detail, plan_with, known)
    if isinstance(graph, Graph) and plan.method == "blocked":
        return plan, _on_matrix(call, graph, plan, asked)
    _check_lengths(graph, plan)
    program, from_targets = _program(graph, plan, asked), plan.detail.from_targets > 0
    if call.checkpoints is not None:
        plan = plan_with_copies(plan, program, call.memory_limit)
    run = partial(call.runner.run, plan=plan, progress=call.progress, checkpoints=call.checkpoints)
    backwards = graph.directed and asked.reverse != from_targets
    if isinstance(graph, PlacedGraph):
        gather = _gather(graph, plan, asked.computed, backwards, known.rounding, within)
        return plan, run(program, lambda _: gather)
    # Every shard needs the same piece, so it is prepared once, before shards are loaded.
    piece = _piece(graph, plan, asked.computed, call.place, backwards, known.rounding)
    seconds, compiled = time.perf_counter() - started, clock().seconds() - compiled
    outcome = run(program, lambda _: piece)
    outcome.timings["load"] += seconds - compiled
    outcome.timings["compile"] += compiled
    if from_targets:
        begun = time.perf_counter()
        arrays = kept_of_columns(outcome.arrays["distances"], asked.starts, asked.wanted)
        outcome = Outcome(arrays, outcome.timings)
        outcome.timings["collect"] += time.perf_counter() - begun
    return plan, outcome


def _on_matrix(call: GraphCall, graph: Graph, plan: Plan, asked: _Asked) -> Outcome:
    """Return what is kept of the matrix of all pairs."""
    where: dict[str, Any] = {"device": call.runner.specs[0].name, "progress": call.progress}
    where |= {"memory_limit": call.memory_limit, "span": call.span}
    followed = graph.reversed() if asked.reverse else graph
    return kept_of_all_pairs(followed, plan, asked.starts, asked.wanted, asked.limit, **where)


def _check_lengths(graph: Graph | PlacedGraph, plan: Plan) -> None:
    """Raise unless the lengths of paths, and of edges that potentials shift, are in range for the types of a plan."""
    if graph.weighted and plan.method not in ("bfs", "hierarchy"):
        check_sums(graph, np.dtype(plan.detail.computed), shifted=plan.method == "johnson")
        if plan.method == "johnson":
            check_weights(graph, np.dtype(plan.dtype))


def _program(graph: Graph | PlacedGraph, plan: Plan, asked: _Asked) -> FromSources:
    """Return the program of searches from the sources, or from the targets where a plan says so."""
    starts, targets = asked.starts, asked.wanted.targets
    if plan.detail.from_targets == 0 or targets is None:
        return FromSources(plan, starts, asked.wanted, asked.limit)
    every = np.array_equal(starts, np.arange(graph.n))
    return FromSources(plan, targets, Output(None if every else starts), asked.limit)


def _planned_with_fill(
    graph: Graph, computed: np.dtype, first: DistancesDetail, plan_with: Callable[..., Plan], known: Preparation
) -> Plan:
    """Return the plan once the fill of a hierarchy is known; `first` is the detail of the one that asked for it.

    The order of the vertices, by which it is known, costs less than half of what the searches would take.
    """
    fill = found_fill(graph, computed)
    full = "" if is_worth(fill.entries, graph) else f"a hierarchy would have {fill.entries:,} entries"
    plan = plan_with(preparation=known._replace(fill=fill, why_not=known.why_not or full))
    if plan.method != "hierarchy":
        return plan
    # What METIS took no longer decides, but is a part of the preparation.
    whole = first.ordering + plan.detail.preparation
    ordering = {"ordering": first.ordering, "ordering_bytes": first.ordering_bytes}
    return replace(plan, detail=replace(plan.detail, preparation=whole, **ordering))


def _planner(call: GraphCall, graph: Graph | PlacedGraph, asked: _Asked) -> Callable[..., Plan]:
    """Return `planned` with all that it takes but what is known of a hierarchy.

    Raises
    ------
    InputError
        If a weight is negative, and the method takes none.
    """
    runner, wanted, method, computed = call.runner, asked.wanted, asked.method, asked.computed
    hops, placed = method == "bfs" or not graph.weighted, isinstance(graph, PlacedGraph)
    least = 0 if graph.nonnegative or hops else graph.extremes()[0]
    # Searches from the targets take the edges' lengths in the other order: then kept ones do not count as usable.
    shifted, either = least < 0, method == "auto" and wanted.targets is not None
    order = "csr" if asked.reverse else "csc"
    lengths = () if hops or shifted or either else (lengths_name(order, graph.directed, computed),)
    if shifted and method == "sssp":
        raise InputError(
            ArgumentValue("method", method),
            f" requires non-negative weights; the least is {least}: use ",
            ArgumentValue("method", "johnson"),
        )
    only = _searches_only(graph, computed, asked.limit, asked.predecessors)
    shape = shape_beside(graph, graph.m, runner.specs)
    if shape is None and isinstance(graph, Graph):
        shape = measured_shape(graph)  # a GPU's searches, too, take longer in many levels, and from sources far apart
    return partial(
        planned,
        graph.n,
        graph.m,
        specs_holding(runner, graph, *lengths) if not placed or len(runner.specs) == 1 else runner.specs,
        method=method,
        dtype=computed,
        predecessors=asked.predecessors,
        sources=len(asked.starts),
        targets=None if wanted.targets is None else len(wanted.targets),
        nearest=wanted.nearest,
        sparse=wanted.sparse,
        nonnegative=least >= 0,
        weighted=not hops,
        directed=graph.directed,
        gathered=placed,
        weight_bytes=0 if graph.weights_dtype is None else graph.weights_dtype.itemsize,
        shape=shape,
        reduce=asked.reduce,
        memory_limit=call.memory_limit,
        span=call.span,
        here=call.place is not None and call.checkpoints is None,
        searches_only=only if method == "auto" else "",
        exact=_is_exact(graph, computed),
    )


def _gather(
    graph: PlacedGraph, plan: Plan, computed: np.dtype, reverse: bool, rounding: bool, within: np.ndarray | None
) -> Gather:
    """Return how a shard gathers its piece of a graph on workers: the whole graph, or a hierarchy of it.

    `within` are sources: then only the edges that they reach.
    """
    whole = Whole(graph.placed, graph.nonnegative, weighted=graph.weighted and plan.method != "bfs")
    if plan.method == "hierarchy":
        parents = plan.predecessors
        asked: dict[str, Any] = {"reverse": reverse, "predecessors": parents, "rounding": rounding, "within": within}
        return partial(gathered_hierarchy, whole, computed, **asked)
    return partial(gathered_network, whole, _shifts(graph, plan), reverse=reverse, within=within)


def _piece(
    graph: Graph, plan: Plan, computed: np.dtype, place: devices.Device | None, reverse: bool, rounding: bool
) -> Network | Prepared:
    """Return what each shard needs of a graph: a hierarchy of it, or its edges and potentials."""
    if plan.method == "hierarchy":
        piece = prepared(hierarchy_of(graph, computed, place or devices.find("cpu")), place)
        piece = piece.reversed if reverse else piece
        return with_predecessors(piece, graph, reverse, rounding) if plan.predecessors else piece
    h = kept_potentials(graph.reversed() if reverse else graph) if _shifts(graph, plan) else None
    return network(graph, h, place, reverse=reverse)


def _shifts(graph: Graph | PlacedGraph, plan: Plan) -> bool:
    """Return whether weights are shifted by potentials."""
    return plan.method == "johnson" and not graph.nonnegative


def given_graph(graph: Any) -> Graph | PlacedGraph:
    """Return a call's input as a graph: of a hierarchy its own, which keeps it."""
    return as_any_graph(graph.graph if isinstance(graph, Hierarchy) else graph)


def once_read(graph: Any) -> Any:
    """Return a call's input for further calls: a matrix as a graph, so that they do not read it again."""
    given = given_graph(graph)
    return given if isinstance(given, Graph) and not isinstance(graph, Hierarchy) else graph


def type_and_run(hierarchy: Hierarchy, dtype: Any, run: RunT) -> tuple[np.dtype, RunT]:
    """Return the type of a call on a hierarchy and where it runs, by default the hierarchy's own type and device."""
    if dtype is not None and distance_dtype(None, dtype, TYPES) != hierarchy.dtype:
        wanted = f"{hierarchy.dtype}, which {hierarchy!r} was prepared for"
        raise InputError(argument="dtype", value=dtype, expected=wanted)
    if run.get("device") is None and run.get("client") is None:
        run = cast(RunT, {**run, "device": hierarchy.device})
    return hierarchy.dtype, run


def _preparation(graph: Graph | PlacedGraph, dtype: np.dtype) -> Preparation:
    """Return what is known of a graph's hierarchy, and whether ``"auto"`` may take one."""
    rounding = not (graph.nonnegative and _is_exact(graph, dtype))
    if isinstance(graph, PlacedGraph):
        return Preparation(rounding=rounding, why_not=UNKNOWN)
    done, fill, why_not = is_prepared(graph, dtype), known_fill(graph, dtype), ""
    if fill is None and not lazy.installed("pymetis"):
        why_not = "only used if pymetis is installed, which orders a graph: pip install pymetis"
    elif fill is None and not may_have_small_separators(graph):
        why_not = "the graph does not look like a road network or a mesh"
    return Preparation(fill, done, rounding, why_not)


def _searches_only(graph: Graph | PlacedGraph, dtype: np.dtype, limit: float, predecessors: bool) -> str:
    """Return why ``"auto"`` must take searches; empty if other methods may be faster, and are as precise."""
    if limit < infinity(dtype):
        return "searches end at the limit"
    if predecessors and not graph.nonnegative:
        return "with negative weights, predecessors come from searches"
    if not graph.nonnegative and not sums_are_exact(graph, dtype):
        return f"with negative weights, rounding may be as large as a distance, so {UNKNOWN}"
    return ""


def _is_exact(graph: Graph | PlacedGraph, dtype: np.dtype) -> bool:
    """Return whether the sum of the weights of any path is exact, however it is grouped."""
    if dtype.kind == "i":
        return True
    least, most, whole = graph.extremes() if graph.weighted else (1, 1, True)
    return whole and least >= 0 and most * graph.n <= 2.0 ** (np.finfo(dtype).nmant + 1)


def _rounding(graph: Graph | PlacedGraph, method: str, dtype: np.dtype) -> bellman.Rounding:
    """Return how far a distance may differ from another one and the edge to it."""
    if method != "johnson" and (method not in ("blocked", "hierarchy") or _is_exact(graph, dtype)):
        return bellman.EDGE_BY_EDGE
    relative = ROUNDING if method == "blocked" else bellman.grouped(dtype, graph.n)
    return bellman.rounding_of(graph, dtype, relative, method == "johnson")


def _sparse(graph: Graph | PlacedGraph, parts: tuple[np.ndarray, ...], shape: tuple[int, int]) -> Any:
    """Return a sparse matrix of some data, columns and offsets of rows: on the graph's GPU if CuPy can have it there.

    CuPy's matrices are of floats, and number their entries in 32 bits.
    """
    data = parts[0]
    on_gpu = isinstance(graph, Graph) and graph.device != "cpu"
    if not on_gpu or data.dtype.kind != "f" or data.size >= 2**31:
        return lazy.sparse().csr_array(parts, shape=shape)
    device = devices.find(graph.device)
    with device.active(), devices.allocating("sparse distances", 2 * sum(part.nbytes for part in parts), device):
        return lazy.cupy_sparse().csr_matrix(tuple(map(device.asarray, parts)), shape=shape)


@with_common_parts
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DistancesResult(FromSearches):
    """The result of `distances`; what was not asked for is None.

    Attributes
    ----------
    sources : array of int32 or of ids, shape (k,)
        The source of each row, as ids if a vertex was asked for by its id.
    targets : array of int32 or of ids, shape (t,), or None
        The target of each column, in the order of numbers where it was asked for `nearest` or `reduce`; None is all
        vertices.
    distances : array, DistributedMatrix or sparse matrix, shape (k, t) or (k, min(nearest, t)); or path
        The length of the shortest path from each source to each target, or to each of its nearest ones; ``inf``, for
        int32 its largest value, where there is none. With `out`, what has them: a read-only array on disk, the array
        that was given, or the path of a table.
    predecessors : array or DistributedMatrix of int32, of the shape of `distances`
        The vertex before the target on such a path; -9999 where there is none and for the source itself. With negative
        weights, a vertex beyond the limit keeps its predecessor: a path may return from there.
    nearest : array or DistributedMatrix of int32, shape (k, min(nearest, t))
        The nearest targets, nearest first; -9999 where fewer are within reach. They are numbers, as in all
        arrays; `to_pandas` has their ids.
    eccentricity : array of float64, shape (k,)
        The greatest distance; ``inf`` if a target is out of reach.
    mean, closeness, harmonic, out_closeness, out_harmonic : array of float64, shape (k,)
        As `distances` defines them.
    reached : array of int64, shape (k,)
        The number of targets within reach.
    within : array of int64, shape (k, number of radii)
        The number of targets at distances up to each radius.
    histogram : array of int64, shape (k, number of bins)
        The number of targets at distances in each bin.
    {common attributes}

    Examples
    --------
    >>> import mgraph
    >>> result = mgraph.distances(mgraph.generate.grid(1, 4, weights=None), [0, 2], [3], device="cpu")
    >>> result.sources.tolist(), result.targets.tolist(), result.distances.tolist()
    ([0, 2], [3], [[3.0], [1.0]])
    """

    ARRAYS = (
        "distances",
        "predecessors",
        "nearest",
        "eccentricity",
        "mean",
        "closeness",
        "harmonic",
        "out_closeness",
        "out_harmonic",
        "reached",
        "within",
        "histogram",
    )
    INDEX = "source"
    PROOFS: ClassVar[Proofs] = {
        "distances": (*certificate.OF_DISTANCES, "distances"),
        "predecessors": certificate.OF_PREDECESSORS,
        "nearest": ("nearest",),
        **{name: (name,) for name in (*MEASURES, WITHIN, HISTOGRAM)},
        "sources": ("source",),
        "targets": ("targets",),
    }

    sources: np.ndarray
    targets: np.ndarray | None = None
    distances: Any = None
    predecessors: Any = None
    nearest: Any = None
    eccentricity: Any = None
    mean: Any = None
    closeness: Any = None
    harmonic: Any = None
    out_closeness: Any = None
    out_harmonic: Any = None
    reached: Any = None
    within: Any = None
    histogram: Any = None
    _starts: np.ndarray = field(default_factory=lambda: np.empty(0, np.int32))
    _wanted: Output = field(default_factory=Output)
    _reverse: bool = False
    #: How many sources each block of rows had, if they were written to a file or an array.
    _blocks: tuple[int, ...] = ()

    @property
    def arrays(self) -> dict[str, Any]:
        """The computed arrays by name, the main one first; of a sparse matrix ``data``, ``indices`` and ``indptr``.

        Examples
        --------
        >>> import mgraph
        >>> list(mgraph.distances(mgraph.generate.grid(1, 4, weights=None), sparse=True, limit=1, device="cpu").arrays)
        ['data', 'indices', 'indptr']
        """
        if hasattr(self.distances, "indptr"):
            return {name: getattr(self.distances, name) for name in ("data", "indices", "indptr")}
        return {name: array for name, array in super().arrays.items() if not isinstance(array, os.PathLike)}

    def explain(self, verbose: bool = False) -> str:
        """Return the plan in words, as `mgraph.Result.explain` does; of rows that were written, that of the first ones.

        Examples
        --------
        >>> import mgraph
        >>> import numpy as np
        >>> out = np.empty((4, 4), np.float32)
        >>> result = mgraph.distances(mgraph.generate.grid(1, 4, weights=None), out=out, device="cpu")
        >>> print(result.explain())  # doctest: +ELLIPSIS
        4 x 4 distances, written in 1 block of 4 sources
        ...
        """
        explained = super().explain(verbose)
        if not self._blocks:
            return explained
        blocks, rows = len(self._blocks), self._blocks[0]
        several = f"{blocks} blocks of up to {rows:,} sources; the plan is that of the first"
        columns = replace(self._wanted, sparse=False).columns(self.plan.n)
        size = f"{len(self._starts):,} x {columns:,} distances"
        return f"{size}, written in {f'1 block of {rows:,} sources' if blocks == 1 else several}\n{explained}"

    def _facts(self) -> list[str]:
        if not isinstance(self.distances, os.PathLike):
            return super()._facts()
        columns = self.plan.n if self._wanted.targets is None else len(self._wanted.targets)
        return [f"{len(self._starts):,} x {columns:,} distances in {os.fspath(self.distances)!r}"]

    def _not_in(self) -> Mapping[str, str]:
        if self._wanted.sparse:
            return {".npy": "it is a sparse matrix of three arrays; write .npz", **self.NOT_IN}
        return {} if self._wanted.vectors else self.NOT_IN

    def _attributes(self) -> Iterator[tuple[str, np.ndarray, Any]]:
        frame = self.to_pandas()
        return ((name, self._starts, frame[name]) for name in frame)

    def _frames(self, ids: np.ndarray | None) -> Iterator[Any]:
        if isinstance(self.distances, os.PathLike) or self.distances is None or hasattr(self.distances, "indptr"):
            return Result._frames(self, ids)
        return super()._frames(ids)

    def _at_home(self) -> "DistancesResult":
        """Return the same result with matrices on workers brought to this process."""
        here = {name: array.to_numpy() for name, array in self.arrays.items() if on_workers(array)}
        return replace(self, **here)

    def _predecessors_of_all(self) -> Any:
        for name in ("targets", "nearest"):
            if getattr(self._wanted, name) is not None:
                words = "path() needs the predecessors of all vertices: call distances(..., "
                others = ", or find one path by mgraph.sssp(..., target=), many by mgraph.Hierarchy(graph).path"
                raise InputError(words, ArgumentValue("predecessors", True), ") without ", ArgumentValue(name), others)
        return super()._predecessors_of_all()

    def _distance_in(self, row: int, end: int, target: Any) -> float:
        if not self._wanted.sparse:
            return super()._distance_in(row, end, target)
        first, last = self.distances.indptr[row : row + 2].tolist()
        columns = devices.to_host(self.distances.indices[first:last])
        if self._wanted.targets is not None:
            end = self._place("target", target, end, self._wanted.targets, "targets")
        places = np.flatnonzero(columns == end)
        return self._number(self.distances.data[first + int(places[0])]) if len(places) else float("inf")

    def _pictures(self) -> tuple[str, ...]:
        rows = self.distances is not None and not hasattr(self.distances, "indptr")
        return self.PICTURES if rows else ("distribution", "map") if self.distances is None else ("distribution",)

    def _picture_name(self) -> str:
        return super()._picture_name() if self.distances is None else "distances"

    def _by_vertex(self) -> "tuple[np.ma.MaskedArray, str]":
        name, measure = self._main()
        values = np.full(self.plan.n, np.nan)
        values[self._starts] = measure if measure.ndim == 1 else measure[:, -1]
        return np.ma.masked_invalid(values), name

    def _sparse_at_home(self) -> Any:
        """Return the sparse matrix as one of SciPy."""
        return self.distances.get() if hasattr(self.distances, "get") else self.distances

    def _check_sparse(self) -> None:
        """Raise VerificationError unless the sparse matrix has the call's shape, and is one."""
        shape = len(self._starts), replace(self._wanted, sparse=False).columns(self.plan.n)
        try:
            found = self._sparse_at_home()  # which may say of itself what it was before it was changed
            matrix = lazy.sparse().csr_array((found.data, found.indices, found.indptr), shape)
            matrix.check_format()
            right = found.shape == shape and matrix.has_canonical_format
        except (AttributeError, IndexError, ValueError):
            right = False
        if not right:
            raise VerificationError(
                f"the rule 'shape' is broken: the distances are no sparse matrix of shape {shape}", rule="shape"
            )

    def to_pandas(self, wide: bool = False) -> Any:
        """Return the arrays as a pandas DataFrame: a row for each connected pair, or for each source's measures.

        The columns of pairs are ``source``, ``target`` and the arrays. Pairs without a path are left out. Measures have
        a column each, ``within`` one for each radius, ``histogram`` one for each bin, and the index is the source.
        Vertices are called by the graph's `ids`, if it has any.

        Parameters
        ----------
        wide : bool
            Whether to return the distances as a matrix instead, a row for each source and a column for each target.
            Integer distances of no path are missing.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        InputError
            If a row for every pair might take more than a GiB, and for `wide` measures, nearest targets, sparse
            distances and a table that was written.
        MissingPackageError
            If pandas is not installed.
        MemoryLimitError
            If it does not fit the free memory.

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.Graph.from_edges([0, 1], [1, 2], [5, 6], ids=["Rome", "Pisa", "Genoa"])
        >>> mgraph.distances(graph, ["Rome", "Pisa"], ["Genoa"], device="cpu").to_pandas()
          source target  distances
        0   Rome  Genoa         11
        1   Pisa  Genoa          6
        >>> mgraph.distances(graph, ["Rome", "Pisa"], device="cpu").to_pandas(wide=True).loc["Rome", "Genoa"]
        np.int32(11)
        """
        pandas, ids = lazy.optional("pandas", "to_pandas()"), self._ids()
        table = isinstance(self.distances, os.PathLike)
        plain = self.distances is not None and self.nearest is None and not self._wanted.sparse and not table
        if checked_flag("wide", wide) and not plain:
            raise InputError(
                ArgumentValue("wide", True),
                " is for distances to all targets, and this result has no such matrix",
            )
        if table:
            read = pandas.read_parquet if self.distances.suffix == ".parquet" else pandas.read_csv
            return read(os.fspath(self.distances))
        if hasattr(self.distances, "indptr"):
            pairs = self._sparse_at_home().tocoo()
            ends = self._starts[pairs.row], self._targets(0, np.zeros(len(pairs.col), int), pairs.col)
            source, target = ends if ids is None else (ids[end] for end in ends)
            return pandas.DataFrame({"source": source, "target": target, "distances": pairs.data})
        if self.distances is not None:
            return super().to_pandas(wide)
        starts = self._starts if ids is None else ids[self._starts]
        columns = {name: array for name, array in self.arrays.items() if name not in (WITHIN, HISTOGRAM)}
        if self.within is not None:
            radii = self._wanted.radii
            columns |= {f"{WITHIN} {radius:g}": self.within[:, i] for i, radius in enumerate(radii)}
        if self.histogram is not None:
            bins = enumerate(itertools.pairwise(self._wanted.bins))
            columns |= {f"{low:g} to {high:g}": self.histogram[:, i] for i, (low, high) in bins}
        return pandas.DataFrame(columns, index=pandas.Index(starts, name=self.INDEX, tupleize_cols=False))

    def verify(self, graph: Any = None, *, rows: int | None = 16) -> None:
        """Raise unless the distances from some sources are right, and what was kept of them.

        Each is searched from again unless its distances to all vertices are in the result. The row is proved by the
        rules of `mgraph.SsspResult.verify`, with its predecessors if there are any. Then targets, nearest ones and
        measures are computed from it anew, and compared: integers exactly, sums of floats up to a relative error of
        1e-9. Predecessors of some targets are proved within those of such a search. Not proved are pairs that were
        written to a table.

        Parameters
        ----------
        graph : Graph or DistributedGraph, optional
            The graph that was searched. By default the call's, if it still exists: the result does not keep it. If it
            lies on workers, the rows are searched and checked there.
        rows : int or None
            How many sources to check, evenly spaced, the first and the last included; None checks all.

        Raises
        ------
        VerificationError
            If a rule is broken. The error's `rule` names it, or the array that differs; its `vertex` is the first
            vertex that breaks the rule, or the source.
        InputError
            If the graph has gone or has another number of vertices, for invalid `rows`, and with negative weights and
            a limit, which cuts off vertices that shortest paths may pass; and after a call in `reverse` if a directed
            graph lies on workers.

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.generate.grid(2, 3)
        >>> mgraph.distances(graph, reduce="closeness", device="cpu").verify()
        """
        if isinstance(self.distances, os.PathLike):
            raise InputError(
                f"the distances are pairs in {self.distances}: give ", ArgumentValue("out"), " a matrix to verify"
            )
        known, limit = solved_graph(self, graph), self.solved.limit
        check_named(self, "sources", self._starts, "source")
        if self._wanted.targets is not None:
            check_named(self, "targets", self._wanted.targets, "targets")
        elif self.targets is not None:
            raise VerificationError("the rule 'targets' is broken: the call was for all vertices", rule="targets")
        if self._reverse and isinstance(known, PlacedGraph):
            raise InputError("distances against the edges are not verified on workers: pass the Graph")
        if self._wanted.sparse:
            self._check_sparse()
        followed = known.reversed() if self._reverse and isinstance(known, Graph) else known
        if self.plan.method in ("johnson", "blocked", "hierarchy") and not known.nonnegative and limit < float("inf"):
            raise InputError(
                "with negative weights and a limit the result lacks distances that prove it: solve without"
            )
        count = len(self._starts) if rows is None else checked_integer("rows", rows, 1)
        picked = bellman.sampled(len(self._starts), count) if len(self._starts) else []
        dtype = np.dtype(self.plan.dtype)
        rounding = _rounding(followed, self.plan.method, dtype)
        columns = self._wanted.targets is None and self._wanted.nearest is None and not self._wanted.sparse
        whole = self.distances is not None and columns
        for first in range(0, len(picked), ROWS_AT_A_TIME):
            some = picked[first : first + ROWS_AT_A_TIME]
            rows_of = self.arrays if whole else self._searched(known, self._starts[some], dtype)
            for k, i in enumerate(some):
                row = {name: array[i if whole else k] for name, array in rows_of.items()}
                self._verify_row(followed, i, row, rounding, whole)

    def _searched(self, graph: Graph | PlacedGraph, starts: np.ndarray, dtype: np.dtype) -> dict[str, Any]:
        """Return the distances to all vertices from some sources, and predecessors if the result has any."""
        # What the sources reach may have no negative weight, though the graph has one: then "auto" searches that alone.
        method = "auto" if self.plan.method == "sssp" and not graph.nonnegative else self.plan.method
        parents = self.predecessors is not None
        call, asked = (
            GraphCall(graph, {}),
            _Asked(starts, Output(), self.solved.limit, method, dtype, parents, self._reverse),
        )
        try:
            _, outcome = _solved(call, asked)
        except DistanceOverflowError:  # a hierarchy measures them in float64, and returns some targets alone
            _, outcome = _solved(call, asked._replace(computed=np.dtype(np.float64)))
        return dict(outcome.arrays)

    def _verify_row(
        self, graph: Graph | PlacedGraph, i: int, row: dict[str, Any], rounding: bellman.Rounding, whole: bool
    ) -> None:
        """Raise unless a row to all vertices is right, and what was kept of it."""
        source, dtype = int(self._starts[i]), np.dtype(self.plan.dtype if whole else row["distances"].dtype)
        row = row | {"distances": of_type(row["distances"], dtype, source)}
        unit = self.plan.method == "bfs" or not graph.weighted
        question = certificate.Question(
            (source,), self.solved.limit, -1, unit, infinity(dtype), unit or graph.nonnegative, rounding, source
        )
        certificate.verify(graph, question, row, self.plan.devices)
        if whole:
            return
        for name, expected in kept_of(devices.to_host(row["distances"]), source, self._wanted).items():
            if self._wanted.sparse:
                stored = self._sparse_at_home()[[i]]
                found = np.full(len(expected), infinity(dtype), dtype)
                found[stored.indices] = stored.data
            else:
                found = np.asarray(devices.to_host(self.arrays[name][i]))
                found = of_type(found, dtype, source) if name == "distances" else found
            if found.dtype.kind == "f":
                exact = 0.0 if dtype.kind == "i" else float(np.finfo(dtype).eps)
                relative = max(exact if name in ("distances", "eccentricity") else 1e-9, rounding.relative)
                if name in MEASURES and name != "eccentricity" and not graph.nonnegative:
                    relative *= condition(name, devices.to_host(row["distances"]), source, self._wanted)
                same = relative > 1 or np.isclose(found, expected, rtol=relative, atol=0, equal_nan=True)
            else:
                same = found == expected
            if not np.all(same):
                place = int(np.argmin(same))
                one, other = np.ravel(found)[place], np.ravel(expected)[place]
                where = f"{name} of source {called(graph, source)}" + (f" at place {place}" if np.ndim(found) else "")
                raise VerificationError(f"{where} is {one}, but {other} by its distances", rule=name, vertex=source)
        if self.predecessors is None:
            return
        ends = self._wanted.targets if self._wanted.nearest is None else devices.to_host(self.nearest[i])
        assert ends is not None  # or the row is whole
        parents = devices.to_host(self.predecessors[i])
        none = ends < 0  # there are fewer targets within reach
        if (parents[none] != NO_PREDECESSOR).any():
            raise VerificationError(
                f"source {source} has predecessors where it has no nearest target", rule="tree", vertex=source
            )
        ends, parents = ends[~none], parents[~none]
        while len(ends):  # each time a target is repeated
            _, first = np.unique(ends, return_index=True)
            tree = as_int32(devices.to_host(row["predecessors"]), np).copy()
            tree[ends[first]] = as_int32(parents[first], np)
            certificate.verify(graph, question, row | {"predecessors": tree}, self.plan.devices)
            ends, parents = np.delete(ends, first), np.delete(parents, first)

    def _row_sources(self) -> np.ndarray:
        return self._starts

    def _width(self) -> int:
        return int(self.distances.shape[1])

    def _names_of_call(self) -> set[str]:
        wanted = self._wanted
        if wanted.sparse:
            return set()
        small = {*wanted.measures, *(WITHIN,) * bool(wanted.radii), *(HISTOGRAM,) * bool(wanted.bins)}
        names = small if wanted.vectors else {"distances"}
        names |= {"nearest"} if wanted.nearest is not None else set()
        return names | ({"predecessors"} if self.plan.predecessors else set())

    def _types_of(self, name: str) -> tuple[str, ...]:
        if name == "distances":  # `out` may be of float64, and of any order of bytes
            kinds = [np.dtype(kind) for kind in {self.plan.dtype, "float64"}]
            return tuple(each.str for kind in kinds for each in (kind, kind.newbyteorder()))
        if name in ("predecessors", "nearest", "indices", "indptr"):
            return INTEGERS
        if name in (WITHIN, HISTOGRAM, "reached"):
            return ("int64",)
        return ("float64",) if name in MEASURES else (np.dtype(self.plan.dtype).name,)

    def _shape_of(self, name: str) -> tuple[int, ...]:
        rows, wanted = len(self._starts), self._wanted
        if name in MEASURES:
            return (rows,)
        if name == WITHIN:
            return rows, len(wanted.radii)
        if name == HISTOGRAM:
            return rows, len(wanted.bins) - 1
        if self._wanted.sparse:  # its arrays are checked as one matrix
            return tuple(self.arrays[name].shape)
        return rows, wanted.columns(self.plan.n)

    def _targets(self, first: int, row: np.ndarray, column: np.ndarray) -> np.ndarray:
        if self.nearest is not None:
            return devices.to_host(self.nearest[first : first + int(row.max(initial=0)) + 1])[row, column]
        targets = self._wanted.targets
        return column.astype(np.int32) if targets is None else targets[column]

    def _by_pair(self) -> dict[str, Any]:
        return {name: array for name, array in self.arrays.items() if name in ("distances", "predecessors")}
