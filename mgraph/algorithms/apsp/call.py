"""All-pairs shortest paths: the public call and its result.

Each method is a program of its own: `mgraph.matrices.floyd_warshall`, `naive`, `squaring` and `by_source`.
`out_of_core` and `by_component` are two more ways to run Floyd-Warshall. The planner chooses (`plan`).
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple, Unpack

import numpy as np

from ...arguments import checked_choice, checked_flag, checked_integer
from ...device.clock import clock
from ...docstrings import with_common_parts
from ...dtypes import DISTANCE_TYPES, distance_dtype, exact_types, infinity
from ...errors import (
    ArgumentValue,
    CheckpointError,
    DistanceOverflowError,
    InputError,
    MemoryLimitError,
    NegativeCycleError,
    RoundingError,
)
from ...graph import Graph, PlacedGraph, check_sums, check_weights, in_this_process
from ...graph.potentials import kept_potentials, lengths_name
from ...graph.question import Question
from ...matrices.at_once import AtOnce
from ...matrices.distance_matrix import gathered_part, kept_part, parts
from ...matrices.floyd_warshall import FloydWarshall
from ...paths import needed_for_paths, unfolded_path, walked_back
from ...planning.cut import GROUP
from ...planning.plan import Plan
from ...results import CallInput, FromRows, Proofs, solved_graph
from ...runtime.call import call as public_call
from ...runtime.checkpoints import Checkpoints
from ...runtime.gathering import Gather, Whole
from ...runtime.program import Outcome, Program
from ...runtime.run import ResumableRun
from ...runtime.select import at_home, specs_holding
from ...runtime.solving import MatrixCall
from .. import bellman, negative_cycles
from ..batched_sssp import gathered_network, network
from ..certificates import distances as certificate
from . import plan as all_pairs
from .by_component import ByComponent
from .by_source import FromEverySource
from .components import components, groups
from .detail import COMPONENTS_FIRST
from .naive import Naive
from .out_of_core import OutOfCore
from .plan import METHODS, SEARCHES
from .squaring import Squaring
from .verify import ROUNDING, Splits, check_rows, check_tree, lengths_of_edges


@public_call
def apsp(
    matrix_or_graph: Any,
    *,
    method: str = "auto",
    predecessors: bool = False,
    intermediate: bool = False,
    dtype: Any = None,
    block: int | None = None,
    ids: bool | None = None,
    **run: Unpack[ResumableRun],
) -> "ApspResult":
    """Return the lengths of the shortest paths between all pairs of vertices.

    Parameters
    ----------
    matrix_or_graph : Graph, DistributedGraph, sparse matrix, or array_like of shape (n, n)
        A dense matrix with an infinity in it (for integers the type's largest value), or without zeros off its
        diagonal, is a distance matrix, read by `Graph.from_distances`. One of truth values is an adjacency matrix,
        read by `Graph.from_adjacency`. For any other matrix, call one of these two to say what its zeros mean. A dense
        matrix may lie in a file (``numpy.memmap``, Zarr, HDF5) or be a Dask array: it is read some rows at a time, and
        with `client` each worker reads its own part. A `DistributedMatrix`, such as the distances of another call, is
        solved on its workers, without `client`, unless `device` is given. A sparse matrix's stored entries are its
        edges, stored zeros included. An unweighted graph's edges have length 1.
    method : {"auto", "blocked", "naive", "squaring", "sssp", "johnson"}
        ``"blocked"`` is the blocked Floyd-Warshall algorithm [1]_ [2]_, and ``"naive"`` the same pivot by pivot [3]_.
        ``"squaring"`` is repeated squaring in the (min, +) algebra [4]_. ``"sssp"`` searches from every vertex, many
        at a time, and streams the rows to the host [3]_. ``"johnson"`` does the same after a reweighting that allows
        negative weights [5]_. Reweighting rounds floats, so ``"auto"`` takes ``"johnson"`` for integers, and for floats
        only where rounding makes a cycle look negative to the other methods. Otherwise ``"auto"`` takes the method that
        is predicted to be fastest of those that fit, and solves components one by one where that is faster [6]_.
    predecessors : bool
        Whether to record the vertex before the last on each path.
    intermediate : bool
        Whether to record the highest intermediate vertex of each path instead; for ``"blocked"`` and
        ``"naive"``.
    dtype : {"float32", "float64", "int32", "int16", "auto"}, optional
        The type to compute in. By default that of the weights, but int32 for integers and float32 for hop counts.
        ``"auto"`` takes an exact type: for integers and hop counts int16, int32 or float64; for floats float32 if all
        weights are whole numbers whose sums are exact in it, else their own type. Of several it takes the narrowest
        that holds every distance, or a wider one that is predicted to be faster. So the type may depend on `device`
        and `client`.
    block : int, optional
        Number of pivots eliminated at a time (32, 64, 96 or 128); it changes the speed, never the result.
    ids : bool
        Whether integers are ids of the graph, not numbers of vertices, in the result's `path`. Text always is an id.
    {common arguments}
    {checkpoint arguments}

    Returns
    -------
    ApspResult

    Raises
    ------
    NegativeCycleError
        If there is a cycle of negative weight, whose exact sum counts; the error's `vertex` lies on one.
    RoundingError
        If rounding makes a cycle look negative that is not, and `method` or `intermediate` excludes ``"johnson"``.
    DistanceOverflowError
        If a weight or distance is out of range for its type. In int32, a weight may be up to 2**28, of either sign, and
        a distance up to 3 * 2**28 - 2; if any weight is negative, distances may be from 1 - 2**28 to 2**28. In int16
        the same holds with 2**12. In floats, a weight must be finite in the type; if any is negative, so must be the
        sum of the n - 1 largest positive weights, and that of the n - 1 least negative ones (for ``"johnson"`` both
        together, in float64).
    InputError
        For invalid input.
    {common errors}
    {checkpoint errors}

    See Also
    --------
    mgraph.sssp : Shortest paths from one source.
    mgraph.transitive_closure : Which vertices reach which others, without distances.
    mgraph.plan : The predicted time and memory of a call.

    Notes
    -----
    A matrix that exceeds `memory_limit`, or the device's free memory, is streamed from host memory, or from a temporary
    file if it does not fit there either (with ``device="cpu"``, always from a file). The result stays where it is.

    References
    ----------
    .. [1] Venkataraman, Sahni and Mukhopadhyaya, "A blocked all-pairs shortest-paths algorithm", 2003.
    .. [2] Katz and Kider, "All-pairs shortest-paths for large graphs on the GPU", 2008.
    .. [3] Harish and Narayanan, "Accelerating large graph algorithms on the GPU using CUDA", 2007.
    .. [4] Cormen, Leiserson, Rivest and Stein, "Introduction to algorithms", 25.1.
    .. [5] Johnson, "Efficient algorithms for shortest paths in sparse networks", 1977.
    .. [6] Djidjev et al., "Efficient multi-GPU computation of all-pairs shortest paths", 2014.

    Examples
    --------
    >>> import mgraph
    >>> result = mgraph.apsp([[0, 3, 8], [2, 0, 5], [1, 4, 0]], predecessors=True, device="cpu")
    >>> int(result.distances[0, 2]), result.path(0, 2)
    (8, [0, 2])
    """
    call = MatrixCall(matrix_or_graph, run)
    by_ids = Question(call.given, call.n, ids).ids
    predecessors, intermediate = (
        checked_flag("predecessors", predecessors),
        checked_flag("intermediate", intermediate),
    )
    checked_choice("method", method, ("auto", *METHODS))
    asked = _as_before(call.checkpoints, Asked(method, predecessors, intermediate, dtype, block))
    parted = asked.method == "auto" and call.runner.place is not None and call.n > GROUP
    if not isinstance(call.given, Graph) or (call.given.dense is None and parted):
        # Refuse a call that does not fit before its edges are sorted, or searched for components. This plan cannot be
        # the final one: the sign of the weights and the types to choose from are known only afterwards.
        _planner(call, asked)(m=call.entries, dtype=asked.dtype if not asked.narrowest else asked.narrow)
    graph = call.graph()
    _check_weights(graph, asked.method)
    sizes, order = np.empty(0, np.int64), None
    if parted and isinstance(graph, Graph) and graph.dense is None:
        sizes, order = components(graph)
    planned = _planner(call, asked, graph, tuple(sizes.tolist()))
    plan, outcome = _first_right(call, asked, graph, _plans(call, asked, graph, planned), planned, order)
    results = outcome.arrays
    if call.runner.place is not None and plan.method not in SEARCHES and not plan.detail.strip:
        results = at_home(graph, results)
    return ApspResult(
        **results,
        plan=plan,
        timings=outcome.timings,
        _solved=CallInput(matrix_or_graph if isinstance(matrix_or_graph, Graph) else graph, by_ids=by_ids),
    )


class Asked(NamedTuple):
    """What a call asks for: arguments of `apsp`, and what else the call was that wrote the checkpoint to go on from.

    Attributes
    ----------
    apart : bool
        Whether it solved the components one by one.
    derived : bool
        Whether it derived the predecessors from the distances.
    exactly : bool
        Whether the caller leaves the type to the call, so that it must hold integers exactly.
    """

    method: str
    predecessors: bool
    intermediate: bool
    dtype: Any
    block: int | None
    by_component: bool = False
    derived: bool = False
    exactly: bool = False

    @property
    def narrowest(self) -> bool:
        """Whether to take the narrowest exact type."""
        return isinstance(self.dtype, str) and self.dtype == "auto"

    @property
    def narrow(self) -> str | None:
        """The narrowest type that is tried: int16, of distances alone by methods on the matrix."""
        others = self.predecessors or self.intermediate or self.method in SEARCHES
        return "int16" if self.narrowest and not others else None


def _as_before(checkpoints: Checkpoints | None, asked: Asked) -> Asked:
    """Return what a call asks for, with method, type and block of the call whose checkpoint it goes on from."""
    known = {} if checkpoints is None else checkpoints.call("apsp")
    if checkpoints is not None and not _is_of_a_call(known):
        raise CheckpointError(f"{checkpoints.store.place}: its call has a type or a block that mgraph.apsp has not")
    method, block, dtype = asked.method, asked.block, asked.dtype
    by_component = known.get("method") == COMPONENTS_FIRST and method == "auto"
    if by_component or (known.get("method") in METHODS and method in ("auto", known["method"])):
        method = method if by_component else known["method"]
        block = (known.get("block") or None) if block is None else block  # 0 of methods without blocks
        dtype = known.get("dtype") if dtype is None or asked.narrowest else dtype
    block = None if block is None else checked_integer("block", block, 1)
    derived = asked.predecessors and known.get("labels") is False
    return asked._replace(
        method=method, block=block, dtype=dtype, by_component=by_component, derived=derived, exactly=asked.narrowest
    )


def _planner(
    call: MatrixCall, asked: Asked, graph: Graph | PlacedGraph | None = None, sizes: tuple[int, ...] = ()
) -> Callable[..., Plan]:
    """Return the planner with all that a call knows but the type and the edges; `sizes` are those of components."""
    given = call.given
    planned = partial(
        all_pairs.planned,
        call.n,
        specs=specs_holding(call.runner, given) if isinstance(given, Graph) else call.specs,
        method=asked.method,
        predecessors=asked.predecessors,
        intermediate=asked.intermediate,
        block=asked.block,
        span=call.span,
        memory_limit=call.memory_limit,
    )
    if graph is None:
        return planned
    return partial(
        planned,
        nonnegative=graph.nonnegative,
        weighted=graph.weighted,
        directed=graph.directed,
        components=sizes,
        gathered=isinstance(graph, PlacedGraph),
        weight_bytes=0 if graph.weights_dtype is None else graph.weights_dtype.itemsize,
        derived=asked.derived,
        by_component=asked.by_component,
    )


def _plans(call: MatrixCall, asked: Asked, graph: Graph | PlacedGraph, planned: Callable[..., Plan]) -> list[Plan]:
    """Return plans in the order in which to try them: of the quickest type, and then of those that hold more."""
    if asked.narrowest:
        types = exact_types(graph.weights_dtype, *graph.extremes(), call.n, asked.narrow is not None)
    else:
        types = [distance_dtype(graph.weights_dtype, asked.dtype)]
    m = graph.m if graph.dense is None else call.n**2 if asked.method in SEARCHES else 0
    plans: list[Plan] = []
    refusal: MemoryLimitError | None = None
    for each in types:
        options: dict[str, Any] = {"m": m, "dtype": each, "exact": each.kind == "i" or not graph.weighted}
        if isinstance(graph, Graph) and graph.nonnegative:
            options["specs"] = specs_holding(call.runner, graph, lengths_name("csc", graph.directed, each))
        try:
            plans.append(planned(**options))
        except MemoryLimitError as error:
            refusal = refusal or error
    if not plans:
        assert refusal is not None
        raise refusal
    return plans[all_pairs.quickest(plans) :]  # a wider type can be faster: it has methods that a narrower one lacks


def _first_right(
    call: MatrixCall,
    asked: Asked,
    graph: Graph | PlacedGraph,
    plans: list[Plan],
    planned: Callable[..., Plan],
    order: Any,
) -> tuple[Plan, Outcome]:
    """Return the first plan whose type holds all distances, and whose rounding hides no cycle, with its outcome."""
    counting = asked.exactly and graph.weights_dtype is not None and graph.weights_dtype.kind == "i"
    for plan in plans:  # to which one may be added
        computed = np.dtype(plan.detail.computed)
        try:
            check_sums(graph, np.dtype(plan.dtype))
            check_sums(graph, computed, shifted=plan.method == "johnson")
            if plan.method == "johnson":
                check_weights(graph, np.dtype(plan.dtype))
            missed = plan.method != "johnson" and negative_cycles.may_be_missed(graph, computed)
            if missed and graph.dense is None:
                negative_cycles.check(graph, plan)
            ran, outcome = _solved(call, graph, plan, order)
            if missed and isinstance(graph, Graph) and graph.dense is not None:
                negative_cycles.check_solved(graph, outcome.arrays["distances"])
            if counting:
                check_counting(outcome.arrays["distances"], ran)
            return ran, outcome
        except NegativeCycleError as error:
            wrong = _mistaken(graph, plan, error)
            for note in getattr(error, "__notes__", ()):  # where a worker raised it
                wrong.add_note(note)
            if isinstance(wrong, RoundingError) and asked.method == "auto" and not asked.intermediate:
                plans.append(planned(method="johnson", block=None, m=graph.m, dtype=plan.dtype))
            elif plan is plans[-1] or isinstance(wrong, NegativeCycleError):
                raise wrong from None
        except DistanceOverflowError:
            if plan is plans[-1]:
                raise
        call.anew()
    raise AssertionError("the last plan returns or raises")


def _is_of_a_call(known: dict[str, Any]) -> bool:
    """Return whether what a checkpoint says of its call may be true; it comes from a file."""
    names = [None, *(dtype.name for dtype in DISTANCE_TYPES)]
    return known.get("dtype") in names and type(known.get("block", 0)) is int and known.get("block", 0) >= 0


def check_counting(distances: Any, plan: Plan) -> None:
    """Raise DistanceOverflowError if float64 distances of whole weights may be inexact."""
    if plan.dtype != "float64":
        return
    chunks = distances.chunks() if hasattr(distances, "chunks") else [distances]
    if any(bool((abs(chunk[chunk != np.inf]) >= 2.0**53).any()) for chunk in chunks):
        raise DistanceOverflowError(
            "a distance is 2**53 or more, beyond which float64 skips integers: no type holds it exactly"
        )


def _mistaken(graph: Graph | PlacedGraph, plan: Plan, error: NegativeCycleError) -> Exception:
    """Return the error to raise for a negative cycle that a method reported.

    Wrapped integers or a rounded sum of floats may look like a negative cycle. And a (min, +) product finds a closed
    walk of negative weight, but not which of its cycles is negative. So the edges are checked exactly.
    """
    wraps = np.dtype(plan.detail.computed).kind == "i"
    try:
        negative_cycles.check(graph, plan)
    except NegativeCycleError as found:
        return found
    if wraps:
        return DistanceOverflowError(
            f"a distance is too small for {plan.dtype}: use ", ArgumentValue("dtype", "float64")
        )
    return RoundingError(
        ArgumentValue("method", plan.method),
        f" cannot compute the distances: rounding makes a cycle through vertex {error.vertex} look negative, "
        "though its weight is not; use ",
        ArgumentValue("method", "johnson"),
    )


def _check_weights(graph: Graph | PlacedGraph, method: str) -> None:
    if method == "sssp" and not graph.nonnegative:
        lowest = graph.extremes()[0]
        if lowest < 0:
            raise InputError(
                ArgumentValue("method", "sssp"),
                f" requires non-negative weights; the least is {lowest}: use ",
                ArgumentValue("method", "johnson"),
            )


def _solved(call: MatrixCall, graph: Graph | PlacedGraph, plan: Plan, order: Any) -> tuple[Plan, Outcome]:
    """Run the plan's program; return the plan with the memory that checkpoints take, and the outcome."""
    place = call.runner.place
    shifts = plan.method == "johnson" and not graph.nonnegative
    piece: Callable[[int], Any] = lambda _: None  # noqa: E731
    prepared = compiled = 0.0
    if isinstance(graph, PlacedGraph):
        whole = Whole(graph.placed, graph.nonnegative)
        if plan.method in SEARCHES:
            program: Program = FromEverySource(plan, "cpu")
            gather: Gather = partial(gathered_network, whole, shifts)
        else:
            program, gather = _on_matrix(plan, graph.nonnegative), partial(gathered_part, whole, plan)
        piece = lambda _: gather  # noqa: E731
    elif plan.method in SEARCHES:
        started, compiled = time.perf_counter(), clock().seconds()
        # Every shard needs the same edges and potentials, so they are prepared once, before the engine loads shards.
        searched = network(graph, kept_potentials(graph) if shifts else None, place)
        prepared, compiled = time.perf_counter() - started, clock().seconds() - compiled
        program, piece = FromEverySource(plan, "file" if plan.disk_bytes else "cpu"), lambda _: searched
    elif plan.detail.groups:
        program, piece = ByComponent(plan, graph.nonnegative), groups(graph, plan, order)
    else:
        program, piece = _on_matrix(plan, graph.nonnegative), parts(graph, plan)
        listed = graph.dense is None and plan.detail.computed == plan.dtype
        if plan.detail.at_once and listed and place is not None:
            piece = kept_part(graph, plan, place)
    plan, outcome = call.run(program, piece, plan)
    outcome.timings["load"] += prepared - compiled
    outcome.timings["compile"] += compiled
    return plan, outcome


def _on_matrix(plan: Plan, nonnegative: bool) -> Program:
    """Return the program of a plan that works on the matrix of distances."""
    if plan.detail.at_once:
        return AtOnce(plan, nonnegative)
    if plan.detail.strip:
        return OutOfCore(plan, nonnegative)
    if plan.method == "squaring":
        return Squaring(plan, nonnegative)
    if plan.method == "naive":
        return Naive(plan, nonnegative)
    return FloydWarshall(plan, nonnegative)


@with_common_parts
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ApspResult(FromRows):
    """The result of `apsp`.

    Attributes
    ----------
    distances : array of shape (n, n), or DistributedMatrix
        ``distances[i, j]`` is the length of the shortest path from ``i`` to ``j``; ``inf``, for integers
        the type's largest value, where there is none.
    predecessors : array of int32, shape (n, n), DistributedMatrix or None
        The vertex before ``j`` on the path from ``i`` to ``j``; -9999 where there is none and for
        ``i == j``.
    {common attributes}
    intermediate : array of int32, shape (n, n), DistributedMatrix or None
        The highest intermediate vertex of the path from ``i`` to ``j``; -9999 if the path has none or does not exist.

    Examples
    --------
    >>> import mgraph
    >>> result = mgraph.apsp([[0, 3, 9], [2, 0, 5], [1, 6, 0]], predecessors=True, device="cpu")
    >>> result.distances.tolist(), result.predecessors.tolist()
    ([[0, 3, 8], [2, 0, 5], [1, 4, 0]], [[-9999, 0, 1], [1, -9999, 1], [2, 0, -9999]])
    """

    ARRAYS = ("distances", "predecessors", "intermediate")
    VERTICES = ("predecessors", "intermediate")
    OPTIONAL = ("intermediate",)
    PROOFS: ClassVar[Proofs] = {
        "distances": ("neighbours", *certificate.OF_DISTANCES, "intermediate"),
        "predecessors": certificate.OF_PREDECESSORS,
        "intermediate": ("intermediate", "tree edge"),
    }

    distances: Any
    predecessors: Any = None
    intermediate: Any = None

    @with_common_parts
    def path(self, i: Any, j: Any, *, ids: bool | None = None) -> list[Any]:
        """Return the vertices of the shortest path from `i` to `j`, both ends included.

        Takes time linear in its length. Empty where there is no path.

        Parameters
        ----------
        i, j : int or id
            The first and the last vertex, in [0, n), or their ids in the graph.
        {ids of a method}

        Returns
        -------
        list of int, or of ids
            The vertices, as ids if `i` or `j` is one; empty where there is no path.

        Raises
        ------
        InputError
            If neither predecessors nor intermediate vertices were requested, or a vertex is not in [0, n) and
            no id of the graph.
        RoundingError
            If the path does not end, as rounding makes a cycle on it look negative, or short edges vanish in it.

        Examples
        --------
        >>> import mgraph
        >>> mgraph.apsp([[0, 3, 9], [2, 0, 5], [1, 4, 0]], predecessors=True, device="cpu").path(0, 2)
        [0, 1, 2]
        """
        if self.intermediate is None:
            needed_for_paths(self.predecessors, "apsp")
        question = self._question(ids)
        i, j = question.vertex("i", i), question.vertex("j", j)
        return question.listed(self._vertices_between(i, j))

    def _vertices_between(self, i: int, j: int) -> list[int]:
        """Return the vertices of the path from `i` to `j`."""
        if i == j:
            return [i]
        if self.predecessors is None:
            return self._unfolded(i, j)
        distributed = hasattr(self.predecessors, "row")
        vertices = walked_back(self.predecessors.row(i) if distributed else self.predecessors[i], j)
        return vertices if vertices[0] == i else []

    def verify(self, graph: Any = None, *, rows: int | None = 16) -> None:
        """Raise unless some rows are right.

        A row is right if each distance is the least sum of another distance and the edge from there (Bellman's
        equation), and edges of the right lengths lead to each reached vertex from the row's own. Its predecessors are
        right if they lead back to the row's vertex by edges of the right lengths. Its intermediate vertices are if both
        parts of a path together are as long as the whole and have lesser intermediate vertices; a path without one is
        an edge. Integers are compared exactly. Floats may differ by a relative error of 1e-5, as methods add them in
        different orders; where a weight is negative, relative to the largest number of the row or of the weights. Of
        the intermediate vertices of floats, those of the parts need not be lesser, if the path ends.

        Parameters
        ----------
        graph : Graph, DistributedGraph or array of shape (n, n), optional
            What was solved. By default the call's graph, if it still exists: the result does not keep it. If it lies on
            workers, the rows are checked there. Matrices on workers are copied if there are intermediate vertices.
        rows : int or None
            How many rows to check, evenly spaced, the first and the last included; None checks all.

        Raises
        ------
        VerificationError
            If a rule is broken: the error's `rule` names it, and `vertex` is the first vertex that breaks it in the
            first such row. It is ``"neighbours"`` or ``"path"``, ``"intermediate"``, or one of those of
            `mgraph.SsspResult.verify`: for predecessors, and if the graph lies on workers.
        InputError
            If the graph has gone or has another number of vertices, and for invalid `rows`.
        MemoryLimitError
            If what the check needs does not fit.

        Examples
        --------
        >>> import mgraph
        >>> matrix = [[0, 3, 9], [2, 0, 5], [1, 6, 0]]
        >>> result = mgraph.apsp(matrix, device="cpu")
        >>> result.verify(matrix)
        >>> result.distances[0, 2] = 9
        >>> result.verify(matrix)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        mgraph.errors.VerificationError: from vertex 0 the distance of vertex 2 is 9.0, ...
        """
        known, n = solved_graph(self, graph), self.plan.n
        picked = bellman.sampled(n, n if rows is None else checked_integer("rows", rows, 1))
        dtype = np.dtype(self.distances.dtype)
        rounding = bellman.rounding_of(known, dtype, ROUNDING, self.plan.method == "johnson")
        dense = known.dense if isinstance(known, Graph) else None
        if dense is not None or (self.predecessors is None and isinstance(known, Graph)):
            check_rows(known if dense is None else dense, self.distances, picked, rounding)
        else:
            for i in picked:
                self._verify_row(known, i, rounding)
        if isinstance(known, Graph) and dense is not None and self.predecessors is not None:
            lengths = lengths_of_edges(known)
            for i in picked:
                check_tree(lengths, i, self.distances[i], self.predecessors[i], rounding)
        if self.intermediate is not None:
            splits = Splits(in_this_process(known), self.distances, self.intermediate, rounding)
            for i in picked:
                splits.check(i)

    def _verify_row(self, graph: Graph | PlacedGraph, i: int, rounding: bellman.Rounding) -> None:
        """Raise unless a row is right, and its predecessors if there are any, by the certificate of a search."""
        unit, unreached = not graph.weighted, infinity(np.dtype(self.distances.dtype))
        question = certificate.Question((i,), float("inf"), -1, unit, unreached, graph.nonnegative, rounding, i)
        vectors = {name: array[i] for name, array in self.arrays.items() if name != "intermediate"}
        certificate.verify(graph, question, vectors, self.plan.devices)

    def _unfolded(self, i: int, j: int) -> list[int]:
        """Return the path from `i` to `j`: split it at its highest intermediate vertex, and again each part."""
        if self.distances[i, j] == infinity(np.dtype(self.distances.dtype)):
            return []
        return unfolded_path(self.intermediate, i, j, self.plan.n)
