"""Transitive closure: the public call and its result.

The algorithm and its sources are described in ``kernels/closure.cu``. It is the blocked Floyd-Warshall algorithm in the
Boolean algebra, on packed bits. So the program is that of `mgraph.matrices.floyd_warshall` with other kernels; filling
and collecting a shard differ, and a word holds 32 columns.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Unpack

import numpy as np

from ... import device as devices
from ...arguments import checked_flag, checked_integer
from ...arrays import Array
from ...docstrings import with_common_parts
from ...errors import VerificationError
from ...graph import PlacedGraph
from ...graph.question import Question
from ...kernels import closure as closure_kernels
from ...matrices.distance_matrix import gathered_part, parts
from ...results import CallInput, MatrixResult, Proofs, on_workers, solved_graph
from ...runtime.call import call
from ...runtime.gathering import Whole
from ...runtime.run import ResumableRun
from ...runtime.select import at_home
from ...runtime.solving import MatrixCall
from ..bellman import sampled
from ..bfs.many import bfs_many
from . import plan as closure_plan
from .program import Closure
from .verify import bits_set, entering_edges, first_difference

#: Searches that are verified at a time.
SEARCHES = 256


@call
def transitive_closure(
    matrix_or_graph: Any,
    *,
    reflexive: bool = True,
    ids: bool | None = None,
    **run: Unpack[ResumableRun],
) -> "ClosureResult":
    """Return which vertices can be reached from which.

    Parameters
    ----------
    matrix_or_graph : Graph, DistributedGraph, sparse matrix, or array_like of shape (n, n)
        Read as `mgraph.apsp` does; weights do not matter.
    reflexive : bool
        Whether every vertex reaches itself. If False, only vertices on a cycle do.
    ids : bool
        Whether integers are ids of the graph, not numbers of vertices, in the result's `reaches`. Text always is an id.
    {common arguments}
    {checkpoint arguments}

    Returns
    -------
    ClosureResult

    Raises
    ------
    InputError
        For invalid input.
    {common errors}
    {checkpoint errors}

    See Also
    --------
    mgraph.apsp : The distances too.
    mgraph.connected_components : Which vertices are connected, ignoring directions.

    Notes
    -----
    Warshall's algorithm [1]_, many pivots at a time: on a GPU by products of bits on its tensor cores, on a CPU by
    tables of unions [2]_.

    References
    ----------
    .. [1] Warshall, "A theorem on Boolean matrices", 1962.
    .. [2] Arlazarov, Dinic, Kronrod and Faradzhev, "On economical construction of the transitive closure of a
       directed graph", 1970.

    Examples
    --------
    >>> import mgraph
    >>> result = mgraph.transitive_closure(mgraph.Graph.from_edges([0, 1], [1, 2]), device="cpu")
    >>> result.reaches(0, 2), result.reaches(2, 0), result.count
    (True, False, 6)
    """
    reflexive = checked_flag("reflexive", reflexive)
    asked = MatrixCall(matrix_or_graph, run)
    by_ids = Question(asked.given, asked.n, ids).ids
    planned = partial(
        closure_plan.planned, asked.n, specs=asked.specs, span=asked.span, memory_limit=asked.memory_limit
    )
    planned(m=asked.entries)  # refuse a call that does not fit before its edges are sorted
    graph = asked.graph()
    m = 0 if graph.dense is not None else graph.m
    plan = planned(m=m, gathered=isinstance(graph, PlacedGraph), directed=graph.directed)
    if isinstance(graph, PlacedGraph):
        gather = partial(gathered_part, Whole(graph.placed, graph.nonnegative, weighted=False), plan)
        plan, outcome = asked.run(Closure(plan, reflexive), lambda _: gather, plan)
    else:
        plan, outcome = asked.run(Closure(plan, reflexive), parts(graph, plan), plan)
    [words] = at_home(graph, {"words": outcome.arrays["words"]}).values()
    count = int(outcome.arrays["counts"].sum())
    return ClosureResult(
        words=words,
        count=count,
        plan=plan,
        timings=outcome.timings,
        _solved=CallInput(graph, by_ids=by_ids),
        _reflexive=reflexive,
    )


@with_common_parts
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ClosureResult(MatrixResult):
    """The result of `transitive_closure`.

    Attributes
    ----------
    words : array of uint32, shape (n, ceil(n / 32)), or DistributedMatrix
        Bit ``j % 32`` of ``words[i, j // 32]`` says whether ``i`` reaches ``j``; bits beyond the last vertex are zero.
    count : int
        Number of pairs ``(i, j)`` where ``i`` reaches ``j``.
    {common attributes}

    Examples
    --------
    >>> import mgraph
    >>> result = mgraph.transitive_closure(mgraph.Graph.from_edges([0, 1], [1, 2]), device="cpu")
    >>> result.count, [f"{word:03b}" for word in result.words[:, 0]]
    (6, ['111', '110', '100'])
    """

    ARRAYS = ("words",)
    FACTS = ("count",)
    PICTURES = ("matrix",)
    PROOFS: ClassVar[Proofs] = {"words": ("row", "count"), "count": ("count",)}

    words: Any
    count: int
    _reflexive: bool = True

    @with_common_parts
    def reaches(self, i: Any, j: Any, *, ids: bool | None = None) -> bool:
        """Return whether there is a path from `i` to `j`.

        Parameters
        ----------
        i, j : int or id
            The first and the last vertex, in [0, n), or their ids in the graph.
        {ids of a method}

        Returns
        -------
        bool

        Raises
        ------
        InputError
            If a vertex is not in [0, n) and no id of the graph.

        Examples
        --------
        >>> import mgraph
        >>> result = mgraph.transitive_closure(mgraph.Graph.from_edges([0, 1], [1, 2]), device="cpu")
        >>> result.reaches(0, 2), result.reaches(2, 0)
        (True, False)
        """
        question = self._question(ids)
        i, j = question.vertex("i", i), question.vertex("j", j)
        return bool(int(self.words[i, j // 32]) >> j % 32 & 1)

    def rows(self, first: int, last: int) -> Array:
        """Return rows `first` to `last` - 1 as a Boolean array on the device of the bits; in NumPy if distributed.

        Parameters
        ----------
        first, last : int
            The first row, and the one after the last, as in a slice.

        Returns
        -------
        array of bool, shape (last - first, n)

        Examples
        --------
        >>> import mgraph
        >>> result = mgraph.transitive_closure(mgraph.Graph.from_edges([0, 1], [1, 2]), device="cpu")
        >>> result.rows(1, 3).tolist()
        [[False, True, True], [False, False, True]]
        """
        words = self.words[first:last]
        device = devices.of(words)
        with device.active():
            reachable = device.xp.empty((len(words), self.plan.n), bool)
            closure_kernels.on(device).unpack(words, reachable)
        return reachable

    def to_dense(self) -> Array:
        """Return the whole matrix as a Boolean array, eight times the size of the bits.

        Returns
        -------
        array of bool, shape (n, n)

        Raises
        ------
        MemoryLimitError
            If it does not fit the free memory.

        Examples
        --------
        >>> import mgraph
        >>> result = mgraph.transitive_closure(mgraph.Graph.from_edges([0, 1], [1, 2]), device="cpu")
        >>> result.to_dense().astype(int).tolist()
        [[1, 1, 1], [0, 1, 1], [0, 0, 1]]
        """
        n = self.plan.n
        with devices.allocating(f"to_dense() of {n:,} vertices", n * n, devices.of(self.words)):
            return self.rows(0, n)

    def verify(self, graph: Any = None, *, rows: int | None = 16) -> None:
        """Raise unless some rows have the vertices that searches reach, and the count is that of all bits.

        A row is proved by a search from its vertex, which is proved by the rules of `mgraph.BfsResult.verify`. All rows
        are proved only if ``rows=None``.

        Parameters
        ----------
        graph : Graph, DistributedGraph or array of shape (n, n), optional
            What was solved. By default the call's graph, if it still exists: the result does not keep it. If it lies on
            workers, the searches run there; for ``reflexive=False`` its edges are copied first.
        rows : int or None
            How many rows to check, evenly spaced, the first and the last included; None checks all.

        Raises
        ------
        VerificationError
            If a rule is broken: ``"row"`` at the first vertex whose bit is wrong, or n or more for a bit beyond the
            last vertex, in the first such row; or ``"count"``.
        InputError
            If the graph has gone or has another number of vertices, and for invalid `rows`.
        MemoryLimitError
            If what the check needs does not fit.

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.Graph.from_edges([0, 1], [1, 2])
        >>> result = mgraph.transitive_closure(graph, device="cpu")
        >>> result.verify()
        >>> result.words[2, 0] |= 1
        >>> result.verify()
        Traceback (most recent call last):
            ...
        mgraph.errors.VerificationError: vertex 0 breaks the rule 'row': it is set in row 2, by a search otherwise
        """
        known, n = solved_graph(self, graph), self.plan.n
        picked = sampled(n, n if rows is None else checked_integer("rows", rows, 1)) if n else []
        entering = None if self._reflexive else entering_edges(known)
        for first in range(0, len(picked), SEARCHES):
            some = picked[first : first + SEARCHES]
            searches = bfs_many(known, some)
            searches.verify(known, rows=None)
            for k, i in enumerate(some):
                reached = devices.to_host(searches.distances[k]) >= 0
                if entering is not None:
                    reached[i] = reached[entering(i)].any()
                vertex = first_difference(np.ascontiguousarray(devices.to_host(self.words[i])), reached)
                if vertex >= 0:
                    there = "not set" if vertex < n and reached[vertex] else "set"
                    raise VerificationError(
                        f"vertex {vertex} breaks the rule 'row': it is {there} in row {i}, by a search otherwise",
                        rule="row",
                        vertex=vertex,
                    )
        count = sum(map(bits_set, self.words.chunks() if on_workers(self.words) else [self.words]))
        if count != self.count:
            raise VerificationError(
                f"the rule 'count' is broken: {count} bits are set, and the count is {self.count}", rule="count"
            )

    def _shape_of(self, name: str) -> tuple[int, ...]:
        return self.plan.n, -(-self.plan.n // 32)

    def _types_of(self, name: str) -> tuple[str, ...]:
        return ("uint32",)

    def _picture_name(self) -> str:
        return "reachable"

    def _some_rows(self, step: int) -> np.ndarray:
        picked = range(0, self.plan.n, step)
        rows = [devices.to_host(self.rows(i, i + 1))[0] for i in picked]
        return np.array(rows, np.uint8).reshape(len(picked), self.plan.n)

    def _by_pair(self) -> dict[str, Array]:
        return {}  # a word belongs to 32 pairs

    def _connected(self, first: int, last: int) -> np.ndarray:
        return devices.to_host(self.rows(first, last))
