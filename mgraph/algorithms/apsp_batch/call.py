"""Shortest paths of many small graphs: the public call and its result.

``kernels/apsp_batch.cu`` describes the algorithms. All graphs are solved by one launch for each class of sizes. What is
rare is left to `mgraph.apsp`: a graph in which a cycle looks negative is solved again by it, as it sums such cycles
exactly.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Unpack

import numpy as np

from ... import device as devices
from ... import lazy
from ...arguments import checked_flag, checked_integer, size_in_words
from ...arrays import Array
from ...docstrings import with_common_parts
from ...dtypes import NO_PREDECESSOR, distance_dtype, exact_types, infinity
from ...errors import ArgumentValue, DistanceOverflowError, InputError, NegativeCycleError, VerificationError
from ...graph import Graph, check_sums, sums_are_exact
from ...graph.ids import as_ids, id_of
from ...graph.question import Question
from ...paths import needed_for_paths, walked_back
from ...planning.plan import Plan
from ...results import MOST_BYTES, OF_PAIRS, CallInput, OfDistances, Proofs, as_text, check_arrays, named
from ...runtime.call import call
from ...runtime.program import Executor, Outcome
from ...runtime.run import OneDeviceRun, Run
from ...runtime.select import checked_memory_limit, executor, is_small
from ..apsp.call import apsp, check_counting
from ..apsp.verify import ROUNDING
from ..bellman import as_float, rounding_of, sampled
from ..certificates import distances as certificate
from .plan import planned
from .program import NO_CYCLE, AllPairs
from .request import Batch, batch_of

#: The types of hop counts that kernels compute, and those of weighted distances.
NARROW = tuple(map(np.dtype, (np.int8, np.int16)))
WEIGHTED = tuple(map(np.dtype, (np.float32, np.float64, np.int32)))


@call
def apsp_batch(
    graphs: Any = None,
    *,
    edge_index: Any = None,
    batch: Any = None,
    weights: Any = None,
    lengths: Any = None,
    predecessors: bool = False,
    dtype: Any = "auto",
    ids: bool = False,
    **run: Unpack[OneDeviceRun],
) -> "ApspBatchResult":
    """Return the lengths of the shortest paths between all pairs of vertices of many small graphs, solved together.

    Give either `graphs`, or `edge_index` and `batch`. All arrays may be of any library that speaks DLPack, such as
    tensors of PyTorch; on a GPU they stay there.

    Parameters
    ----------
    graphs : list of Graph, sparse matrix, array_like, networkx.Graph or Data; Batch; or array of shape (count, n, n)
        The graphs, of up to 512 vertices. An array of truth values holds adjacency matrices, one of numbers distance
        matrices: ``inf`` (of integers the type's largest value) means no edge, and a diagonal counts as zero unless it
        is negative. A list of arrays of one type is read in the same way; other matrices in a list as `mgraph.apsp`
        reads them. ``Data`` and ``Batch`` are those of PyTorch Geometric, whose ``edge_weight``, if there is one, has
        the weights. NetworkX's graphs are read by `mgraph.Graph.from_networkx`, by the attribute ``weight``: for
        another one give what its ``from_networkx(G, weight=...)`` returns. Paths are as long as the number of their
        edges if no graph has weights; otherwise an edge without a weight has length 1.
    edge_index : array of int, shape (2, m)
        In place of `graphs`: the source and the target of each edge, in any order, as PyTorch Geometric has them. The
        vertices of all graphs are numbered in a row. An undirected edge is given in both directions.
    batch : array of int, shape (vertices,)
        With `edge_index`: the graph of each vertex, ascending. A number that does not occur is a graph without
        vertices.
    weights : array, shape (m,), optional
        With `edge_index`: the length of each edge. By default paths are as long as the number of their edges.
    lengths : array of int, shape (count,), optional
        With an array of matrices: how many vertices each graph has. The rest of its rows and columns is not read. By
        default all.
    predecessors : bool
        Whether to record the vertex before the last on each path.
    dtype : {"auto", "int8", "int16", "int32", "float32", "float64"}
        The type of the distances. ``"auto"`` takes an exact type, the narrowest of these: for hop counts int8 or int16,
        for integer weights int32 or float64, for floats as `mgraph.apsp` does. Weighted distances are not computed in
        int8 or int16.
    ids : bool
        Whether integers are ids of the graphs, not numbers of vertices, in the result's `path`. Text always is an id.
    device : {"cpu", "cuda", "cuda:N"}, optional
        Where to run. By default the input's own device if that is a GPU, else a GPU if there is one.
    memory_limit : int, float or str, optional
        The most bytes that the call may allocate on the device, such as 1e9 or ``"1GiB"``. By default the free memory.

    Returns
    -------
    ApspBatchResult
        On the device that the input came from.

    Raises
    ------
    NegativeCycleError
        If there is a cycle of negative weight: the error's `graph` is the first graph that has one, and its `vertex`
        one of that graph's on such a cycle.
    DistanceOverflowError
        If a weight or distance is out of range for its type: in int8, hop counts go up to 126, in int16 to 32766. For
        the other types see `mgraph.apsp`.
    InputError
        For invalid input: a graph of more than 512 vertices, a `batch` that is not ascending, an edge between two
        graphs, ``ids=True`` with a graph that has no ids, and as `mgraph.apsp` does.
    MemoryLimitError
        If the batch does not fit the free memory, or `memory_limit`; raised before the results are allocated.
    DeviceError
        If the device does not exist or cannot be used.

    See Also
    --------
    mgraph.apsp : One graph, of any size, on any number of devices.

    Notes
    -----
    Hop counts are found by searches from all vertices, with a level as a bitmap; weighted distances by the algorithm of
    Floyd and Warshall [1]_, on a GPU with a matrix in the registers of a thread block, or a block of pivots at a time
    [2]_. The call runs on one device, and takes no ``client``: of more graphs than fit a device, give some at a time.

    References
    ----------
    .. [1] Floyd, "Algorithm 97: Shortest path", 1962.
    .. [2] Venkataraman, Sahni and Mukhopadhyaya, "A blocked all-pairs shortest-paths algorithm", 2003.

    Examples
    --------
    A path of three vertices, and an edge:

    >>> import mgraph
    >>> edges = [[0, 1, 1, 2, 3, 4], [1, 0, 2, 1, 4, 3]]
    >>> result = mgraph.apsp_batch(edge_index=edges, batch=[0, 0, 0, 1, 1], device="cpu")
    >>> result.distances.dtype.name, result.distances.shape, result.lengths.tolist()
    ('int8', (2, 3, 3), [3, 2])
    >>> result.distances[1].tolist()
    [[0, 1, 127], [1, 0, 127], [127, 127, 127]]
    >>> result[1].tolist()
    [[0, 1], [1, 0]]
    """
    predecessors = checked_flag("predecessors", predecessors)
    given = batch_of(graphs, lengths, edge_index, batch, weights)
    if checked_flag("ids", ids):
        _check_ids(given)
    types = _types(given, dtype)
    small = is_small(given.side, given.m, given.side * given.count)
    where = Run(**run)
    runner = executor(where, given.home.name, small=small)
    plan_of = partial(
        planned,
        given.count,
        given.side,
        given.m,
        runner.specs,
        given_bytes=given.nbytes,
        weighted=given.weights_dtype is not None,
        predecessors=predecessors,
        memory_limit=checked_memory_limit(where, runner),
    )
    kept = given.weights_dtype
    exactly = isinstance(dtype, str) and dtype == "auto" and kept is not None and kept.kind == "i"
    plan, outcome = _solved(given, runner, plan_of, types, exactly)
    arrays = devices.all_on(given.home, outcome.arrays)
    solved = CallInput(by_ids=ids)
    return ApspBatchResult(
        **arrays, lengths=given.lengths, plan=plan, timings=outcome.timings, _solved=solved, _names=given.ids
    )


def _solved(
    given: Batch,
    runner: Executor,
    plan_of: Callable[..., Plan],
    types: Sequence[tuple[np.dtype, np.dtype]],
    exactly: bool,
) -> tuple[Plan, Outcome]:
    """Return the plan and the distances in the first of some types that holds every one of them.

    If they must hold them `exactly`, those that float64 may have rounded count as out of range.
    """
    for wanted, computed in types:
        try:
            check_sums(given, computed)
            plan = plan_of(dtype=wanted, computed=computed)
            outcome = runner.run(AllPairs(plan, given.nonnegative), lambda _: given, plan, None)
            if not (given.nonnegative or sums_are_exact(given, computed)):
                _check_cycles(given)
            _solve_apart(given, outcome.arrays, plan)
            if exactly:
                check_counting(outcome.arrays["distances"], plan)
            break
        except DistanceOverflowError:
            if computed is types[-1][1]:
                raise
    return plan, outcome


def _check_ids(given: Batch) -> None:
    """Raise InputError unless all graphs have ids."""
    lacking = next((number for number in range(given.count) if number not in given.ids), None)
    if lacking is not None:
        raise InputError(ArgumentValue("ids", True), f" needs graphs with ids, and graph {lacking} has none")


def _types(given: Batch, dtype: Any) -> list[tuple[np.dtype, np.dtype]]:
    """Return pairs of types: of the result, and to compute in; the first that holds every distance is to be taken."""
    automatic = isinstance(dtype, str) and dtype == "auto"
    kept = given.weights_dtype
    if kept is not None:
        if automatic:
            found = exact_types(kept, *given.extremes(), given.side, narrow=False)
        else:
            found = [distance_dtype(kept, dtype, WEIGHTED)]
        return [(each, each) for each in found]
    enough = NARROW[:1] if given.side <= np.iinfo(np.int8).max else NARROW
    if automatic:
        return [(each, each) for each in enough]
    wanted = distance_dtype(None, dtype, (*NARROW, *WEIGHTED))
    return [(wanted, wanted if wanted in NARROW else enough[-1])]


def _check_cycles(given: Batch) -> None:
    """Raise NegativeCycleError for the first graph with a cycle of negative weight, which rounding may have hidden."""
    g, found = given.count, -1
    while g and (on_cycle := given.vertex_on_cycle(g)) is not None:
        g, found = on_cycle
    if found >= 0:
        raise _negative_cycle(given, g, found)


def _negative_cycle(given: Batch, g: int, vertex: int) -> NegativeCycleError:
    """Return the error of a vertex of graph g on a cycle of negative weight."""
    return NegativeCycleError(vertex, g, id_of(given.ids.get(g), vertex))


def _solve_apart(given: Batch, arrays: dict[str, Array], plan: Plan) -> None:
    """Solve graphs in which a cycle looks negative by `apsp`, or raise NegativeCycleError if it is."""
    cycles = arrays.pop("cycles", None)
    if cycles is None:
        return
    home = devices.of(arrays["distances"])
    for g in np.flatnonzero(devices.to_host(cycles) != NO_CYCLE).tolist():
        graph = given.graph(g)
        try:
            alone = apsp(graph, predecessors=plan.predecessors, dtype=plan.dtype, device="cpu")
        except NegativeCycleError as error:
            raise _negative_cycle(given, g, error.vertex) from None
        for name, array in arrays.items():
            array[g, : graph.n, : graph.n] = home.asarray(alone.arrays[name])


@with_common_parts
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ApspBatchResult(OfDistances):
    """The result of `apsp_batch`.

    ``result[g]`` are the distances of graph g alone, ``len(result)`` is the number of graphs, and iterating yields the
    distances of one graph after the other.

    Attributes
    ----------
    distances : array of shape (count, n, n)
        ``distances[g, i, j]`` is the length of the shortest path from ``i`` to ``j`` in graph g; n is the most vertices
        that a graph has, or that of an array of matrices. ``inf``, for integers the type's largest value, where there
        is no path, and beyond the graph's own vertices.
    predecessors : array of int32, shape (count, n, n), or None
        The vertex before ``j`` on the path from ``i`` to ``j``; -9999 where there is none and for ``i == j``. Of hop
        counts, the least such vertex; of weighted distances, the one that `mgraph.apsp` records with
        ``method="naive"``.
    lengths : array of int32, shape (count,)
        The number of vertices of each graph.
    {common attributes}

    Examples
    --------
    >>> import mgraph
    >>> edge, path = mgraph.generate.grid(1, 2, weights=None), mgraph.generate.grid(1, 3, weights=None)
    >>> result = mgraph.apsp_batch([edge, path], predecessors=True, device="cpu")
    >>> len(result), result[0].tolist(), result.path(1, 0, 2)
    (2, [[0, 1], [1, 0]], [0, 1, 2])
    """

    ARRAYS = ("distances", "predecessors", "lengths")
    NOT_IN = OF_PAIRS
    PROOFS: ClassVar[Proofs] = {
        "distances": (*certificate.OF_DISTANCES, "beyond"),
        "predecessors": (*certificate.OF_PREDECESSORS, "beyond"),
        "lengths": ("lengths",),
    }

    distances: Any
    predecessors: Any = None
    lengths: Any

    #: The vertices' ids of each graph that has some, by its number.
    _names: Mapping[int, np.ndarray] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.plan.n

    def __iter__(self) -> Iterator[Array]:
        return (self[graph] for graph in range(len(self)))

    def __getitem__(self, graph: int) -> Array:
        number = checked_integer("graph", graph, -self.plan.n, self.plan.n - 1) % max(self.plan.n, 1)
        n = int(self.lengths[number])
        return self.distances[number, :n, :n]

    @with_common_parts
    def distance(self, graph: int, i: Any, j: Any, *, ids: bool | None = None) -> float:
        """Return the distance of one pair of vertices of a graph.

        Parameters
        ----------
        graph : int
            The number of the graph.
        i, j : int or id
            The two vertices, numbered from 0 in the graph, or their ids in it.
        {ids of a method}

        Returns
        -------
        float or int
            ``inf`` if there is no path.

        Raises
        ------
        InputError
            If there is no such graph or vertex.

        Examples
        --------
        >>> import mgraph
        >>> result = mgraph.apsp_batch([[[0, 3, 9], [2, 0, 5], [1, 4, 0]]], device="cpu")
        >>> result.distance(0, 0, 2)
        8
        """
        graph, question = self._question_about(graph, ids)
        return self._number(self.distances[graph, question.vertex("i", i), question.vertex("j", j)])

    def _question_about(self, graph: int, ids: bool | None) -> tuple[int, Question]:
        """Return the number of a graph, checked, and a question about its vertices."""
        graph = checked_integer("graph", graph, 0, self.plan.n - 1)
        given = CallInput(ids=self._names.get(graph))
        return graph, Question(given, int(self.lengths[graph]), self.solved.by_ids if ids is None else ids)

    @with_common_parts
    def path(self, graph: int, i: Any, j: Any, *, ids: bool | None = None) -> list[Any]:
        """Return the vertices of the shortest path from `i` to `j` in a graph, both ends included.

        Parameters
        ----------
        graph : int
            The number of the graph.
        i, j : int or id
            The first and the last vertex, numbered from 0 in the graph, or their ids in it.
        {ids of a method}

        Returns
        -------
        list of int, or of ids
            The vertices, as ids if `i` or `j` is one; empty where there is no path.

        Raises
        ------
        InputError
            If predecessors were not requested, or there is no such graph or vertex.

        Examples
        --------
        >>> import mgraph
        >>> result = mgraph.apsp_batch([[[0, 3, 9], [2, 0, 5], [1, 4, 0]]], predecessors=True, device="cpu")
        >>> result.path(0, 0, 2)
        [0, 1, 2]
        """
        before = needed_for_paths(self.predecessors, "apsp_batch")
        graph, question = self._question_about(graph, ids)
        n, i, j = question.n, question.vertex("i", i), question.vertex("j", j)
        vertices = [i] if i == j else walked_back(before[graph, i, :n], j)
        return question.listed(vertices) if vertices[0] == i else []

    def verify(
        self,
        graphs: Any = None,
        *,
        edge_index: Any = None,
        batch: Any = None,
        weights: Any = None,
        lengths: Any = None,
        rows: int | None = 16,
    ) -> None:
        """Raise unless some rows of each graph are right, by the rules of `mgraph.SsspResult.verify`.

        All graphs together are one graph, in which a search from a vertex of each proves a row of each. Not proved is
        which of several right predecessors is returned.

        Parameters
        ----------
        graphs, edge_index, batch, weights, lengths
            What was solved, as `mgraph.apsp_batch` takes it: the result does not keep it.
        rows : int or None
            How many rows of each graph to check, evenly spaced, the first and the last of the largest graph included;
            None checks all.

        Raises
        ------
        VerificationError
            If a rule is broken: the error's `rule` names it, and `vertex` is the first vertex that breaks it, of the
            first such graph. Further rules are ``"lengths"`` (the numbers of vertices are those of the graphs), of
            which `vertex` is the number of a graph, and ``"beyond"`` (there are no distances and predecessors beyond a
            graph's own vertices).
        InputError
            If the graphs are others in number or size, and for invalid input.
        MemoryLimitError
            If what the check needs does not fit.

        Examples
        --------
        >>> import mgraph
        >>> path = mgraph.generate.grid(1, 3, weights=None)
        >>> result = mgraph.apsp_batch([path], device="cpu")
        >>> result.verify([path])
        >>> result.distances[0, 0, 2] = 1
        >>> result.verify([path])  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        mgraph.errors.VerificationError: graph 0, from vertex 0: vertex 2 breaks the rule 'tight': ...
        """
        if graphs is None and edge_index is None and batch is None:
            words = "verify() needs what was solved, which the result does not keep: give the same graphs, or "
            raise InputError(
                words, ArgumentValue("edge_index"), " and ", ArgumentValue("batch"), ", as to apsp_batch()"
            )
        given, side = batch_of(graphs, lengths, edge_index, batch, weights), self.plan.detail.side
        check_arrays(self)
        if (given.count, given.side) != (len(self), side):
            found = f"{given.count} graphs of up to {given.side} vertices"
            raise InputError(argument="graphs", value=found, expected=f"{len(self)} of up to {side}")
        sizes = devices.to_host(given.lengths)
        wrong = devices.to_host(self.lengths) != sizes
        if wrong.any():
            g = int(wrong.argmax())
            message = f"graph {g} breaks the rule 'lengths': it has {sizes[g]} vertices, not {int(self.lengths[g])}"
            raise VerificationError(message, rule="lengths", vertex=g)
        picked = sampled(side, side if rows is None else checked_integer("rows", rows, 1)) if side else []
        with given.home.active():
            graph, first = given.together(given.count)
        unit, kind = given.weights_dtype is None, np.dtype(self.distances.dtype)
        rounding, most = rounding_of(graph, kind, ROUNDING), _largest_negative(graph, first)
        unreached, nonnegative = infinity(kind), unit or given.nonnegative
        for i in picked:
            starts = tuple((first[sizes > i] + i).tolist())
            vectors = self._row_of_all(i, first, sizes, graph.n)
            if not graph.nonnegative:  # a graph's numbers cancel, but not those of others
                lengths = np.abs(as_float(vectors["distances"]))
                counts, row = np.diff(first, append=graph.n), np.zeros(len(first))
                np.maximum.at(row, np.repeat(np.arange(len(first)), counts), np.where(np.isfinite(lengths), lengths, 0))
                largest = np.repeat(np.where(most > 0, np.maximum(most, row), 0), counts)
                rounding = replace(rounding, largest=largest)
            question = certificate.Question(starts, float("inf"), -1, unit, unreached, nonnegative, rounding)
            try:
                certificate.verify(graph, question, vectors, self.plan.devices)
            except VerificationError as error:
                assert error.vertex is not None
                g = int(first.searchsorted(error.vertex, side="right")) - 1
                raise _broken(g, i, error.vertex - int(first[g]), error.rule, certificate.RULES[error.rule]) from None

    def _shape_of(self, name: str) -> tuple[int, ...]:
        side = self.plan.detail.side
        return (len(self),) if name == "lengths" else (len(self), side, side)

    def _types_of(self, name: str) -> tuple[str, ...]:
        return ("int32",) if name == "lengths" else super()._types_of(name)

    def _names_of_call(self) -> set[str]:
        return super()._names_of_call() | {"lengths"}

    def _row_of_all(self, i: int, first: np.ndarray, sizes: np.ndarray, n: int) -> dict[str, np.ndarray]:
        """Return row i of all graphs together; raise unless nothing is beyond their own vertices."""
        vectors, own = {}, np.arange(self.distances.shape[1]) < sizes[:, None]
        none = {"distances": infinity(np.dtype(self.distances.dtype)), "predecessors": NO_PREDECESSOR}
        for name, nothing in none.items():
            if name not in self.arrays:
                continue
            row = devices.to_host(self.arrays[name][:, i])
            wrong = (row != nothing) & ~(own & (i < sizes)[:, None])
            if wrong.any():
                g, j = map(int, np.unravel_index(wrong.argmax(), wrong.shape))
                raise _broken(g, i, j, "beyond", f"beyond the graph's own vertices {name} has nothing")
            if name == "predecessors":  # one that is no vertex of the graph may be one of another
                inside = (row >= 0) & (row < sizes[:, None])
                row = np.where(inside, row + first[:, None], np.where(row == nothing, nothing, -1))
            vectors[name] = row.reshape(-1) if row.size == n else row[own]
        return vectors

    def to_pandas(self) -> Any:
        """Return the connected pairs of vertices as a pandas DataFrame, a row for each pair.

        Returns
        -------
        pandas.DataFrame
            With columns ``graph``, ``source`` and ``target``, and the arrays of pairs. Vertices are int32, or the ids
            of graphs that have some.

        Raises
        ------
        InputError
            If a row for every pair might take more than a GiB.
        MissingPackageError
            If pandas is not installed.
        MemoryLimitError
            If the rows, and what is needed to make them, do not fit the free memory.

        Examples
        --------
        >>> import mgraph
        >>> mgraph.apsp_batch([mgraph.Graph.from_edges([0], [1])], device="cpu").to_pandas()
           graph  source  target  distances
        0      0       0       0          0
        1      0       0       1          1
        2      0       1       1          0
        """
        pandas = lazy.optional("pandas", "to_pandas()")
        pairs = {name: array for name, array in self.arrays.items() if name != "lengths"}
        needed = int(self.distances.size) * (12 + sum(array.dtype.itemsize for array in pairs.values()))
        if needed > MOST_BYTES:
            raise InputError(
                f"a DataFrame of these pairs may take {size_in_words(needed)}, and the most is "
                f"{size_in_words(MOST_BYTES)}: use the arrays"
            )
        with devices.allocating("to_pandas()", 2 * needed + 24 * int(self.distances.size), devices.find("cpu")):
            there = np.nonzero(self._reached(devices.to_host(self.distances)))
            columns = dict(zip(("graph", "source", "target"), (axis.astype(np.int32) for axis in there), strict=True))
            columns |= {name: devices.to_host(array)[there] for name, array in pairs.items()}
            names, first = self._all_names()
            for name in {"source", "target", *self.VERTICES} & columns.keys():
                vertices = columns[name] if names is None else columns[name] + first[columns["graph"]]
                vertices = np.where(columns[name] < 0, columns[name], vertices)
                columns[name] = named(vertices, names)
            return pandas.DataFrame(columns)

    def _all_names(self) -> tuple[np.ndarray | None, np.ndarray]:
        """Return the ids of all graphs' vertices in a row, None if none has any, and where those of each begin."""
        lengths = devices.to_host(self.lengths).astype(np.int64)
        first = np.cumsum(lengths) - lengths
        if not self._names:
            return None, first
        each = (self._names[g].tolist() if g in self._names else range(n) for g, n in enumerate(lengths.tolist()))
        return as_text(as_ids(itertools.chain.from_iterable(each)), "to_pandas()"), first

    def _entries(self) -> int:
        return int((devices.to_host(self.lengths).astype(np.int64) ** 2).sum())


def _largest_negative(graph: Graph, first: np.ndarray) -> np.ndarray:
    """Return the greatest magnitude of a weight of each graph that has a negative one, of the others 0."""
    most, negative = np.zeros(len(first)), np.zeros(len(first), bool)
    if not graph.nonnegative:
        src, _, weights = graph.coo()
        own = first.searchsorted(devices.to_host(src), side="right") - 1
        np.maximum.at(most, own, np.abs(devices.to_host(weights).astype(np.float64)))
        negative[own[devices.to_host(weights) < 0]] = True
    return np.where(negative, most, 0)


def _broken(graph: int, source: int, vertex: int, rule: str, says: str) -> VerificationError:
    message = f"graph {graph}, from vertex {source}: vertex {vertex} breaks the rule {rule!r}: {says}"
    return VerificationError(message, rule=rule, vertex=vertex)
