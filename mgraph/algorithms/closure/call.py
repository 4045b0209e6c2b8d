"""Transitive closure: the public call and its result.

The algorithm and its sources are described in ``kernels/closure.cu``. It is the blocked Floyd-Warshall algorithm in the
Boolean algebra, on packed bits. So the program is that of `mgraph.matrices.floyd_warshall` with other kernels; filling
and collecting a shard differ, and a word holds 32 columns.
"""

import os
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ... import device as devices
from ...arguments import checked_flag
from ...arrays import Array
from ...docstrings import with_common_parts
from ...graph import PlacedGraph, as_any_graph, as_graph, outline
from ...graph.question import Question
from ...kernels import closure as closure_kernels
from ...matrices.distance_matrix import gathered_part, parts
from ...results import MatrixResult, Solved
from ...runtime.checkpoints import checked_checkpoints, plan_with_copies
from ...runtime.gathering import Whole
from ...runtime.program import Progress, memory_errors
from ...runtime.recovery import recovering
from ...runtime.select import (
    at_home,
    checked_memory_limit,
    checked_span,
    executor,
    is_small,
    near_workers,
    runner_of,
    specs_holding,
)
from . import plan as closure_plan
from .program import Closure


@recovering
@memory_errors("transitive_closure")
@with_common_parts
def transitive_closure(
    matrix_or_graph: Any,
    *,
    reflexive: bool = True,
    ids: bool = False,
    device: str | None = None,
    client: Any = None,
    memory_limit: int | float | str | None = None,
    span: int | None = None,
    progress: Progress | None = None,
    worker_timeout: float | str | None = None,
    wait_for_workers: int | None = None,
    retries: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: float | str | None = None,
    resume: bool = False,
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
    wanted = checked_checkpoints(checkpoint, checkpoint_every, resume)
    matrix, near = near_workers(matrix_or_graph, device, client, worker_timeout, wait_for_workers)
    given = matrix if hasattr(matrix, "tocoo") else as_any_graph(matrix)
    n, home, entries = outline(given)
    by_ids = Question(given, n, ids).ids
    span = checked_span(span, progress)
    if isinstance(given, PlacedGraph):
        runner = runner_of(given, device, client, worker_timeout, wait_for_workers)
        # One worker has all edges already; of several, each gathers them.
        specs = specs_holding(runner, given) if len(runner.specs) == 1 else runner.specs
    else:
        small = is_small(n, entries)
        runner = near or executor(device, client, home, worker_timeout, wait_for_workers, small=small)
        specs = runner.specs
    limit = checked_memory_limit(memory_limit, runner)
    planned = partial(closure_plan.planned, n, specs=specs, span=span, memory_limit=limit)
    planned(m=entries)  # refuse a call that does not fit before its edges are sorted
    graph = given if isinstance(given, PlacedGraph) else as_graph(given)
    m = 0 if graph.dense is not None else graph.m
    plan = planned(m=m, gathered=isinstance(graph, PlacedGraph), directed=graph.directed)
    program = Closure(plan, reflexive)
    if wanted is not None:
        plan = plan_with_copies(plan, program, limit)
    if isinstance(graph, PlacedGraph):
        whole = Whole(graph.placed, graph.nonnegative, weighted=False)
        gather = partial(gathered_part, whole, plan)
        outcome = runner.run(program, lambda _: gather, plan, progress, wanted)
    else:
        outcome = runner.run(program, parts(graph, plan), plan, progress, wanted)
    words, counts = outcome.arrays["words"], outcome.arrays["counts"]
    if runner.place is not None:
        words = at_home(graph, {"words": words})["words"]
    count = int(counts.sum())
    return ClosureResult(
        words=words, count=count, plan=plan, timings=outcome.timings, _solved=Solved(graph, by_ids=by_ids)
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

    words: Any
    count: int

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
