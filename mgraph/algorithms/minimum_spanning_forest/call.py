"""Minimum spanning forest: the public call and its result."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...docstrings import with_common_parts
from ...graph import as_any_graph
from ...planning.shape import shape_beside
from ...results import Result, Solved, on_workers
from ...runtime.program import Progress, memory_errors
from ...runtime.recovery import recovering
from ...runtime.select import at_home, checked_memory_limit, checked_span, cut_of, parts, runner_of, specs_holding
from . import plan as forest_plan
from .keys import kept_names, needs_table, orders_of
from .program import SpanningForest


@recovering
@memory_errors("minimum_spanning_forest")
@with_common_parts
def minimum_spanning_forest(
    graph: Any,
    *,
    method: str = "auto",
    device: str | None = None,
    client: Any = None,
    memory_limit: int | float | str | None = None,
    span: int | None = None,
    progress: Progress | None = None,
    worker_timeout: float | str | None = None,
    wait_for_workers: int | None = None,
    retries: int | None = None,
) -> "SpanningForestResult":
    """Return a spanning forest of least total weight: a tree for each connected component.

    Edges of equal weight are compared by their lesser end, then by their greater end. So there is one answer, the
    same on every device and for any number of workers.

    Parameters
    ----------
    graph : Graph, DistributedGraph, sparse matrix, or array_like of shape (n, n)
        Read as `mgraph.apsp` does. A directed graph counts as undirected; of several edges between two vertices, the
        lightest counts. Weights may be negative; without weights every edge counts 1. Self-loops are ignored.
    method : {"auto", "boruvka"}
        Borůvka's algorithm [1]_ [2]_: in each round every tree takes its least edge to another one.
    {common arguments}

    Returns
    -------
    SpanningForestResult

    Raises
    ------
    InputError
        For invalid input.
    {common errors}

    See Also
    --------
    mgraph.connected_components : The components that the trees span.

    References
    ----------
    .. [1] Borůvka, "O jistém problému minimálním", 1926.
    .. [2] Fallin, Gonzalez, Seo and Burtscher, "A high-performance MST implementation for GPUs", 2023.

    Examples
    --------
    >>> import mgraph
    >>> graph = mgraph.Graph.from_edges([0, 1, 0, 3], [1, 2, 2, 4], [4, 3, 9, 1], directed=False)
    >>> forest = mgraph.minimum_spanning_forest(graph, device="cpu")
    >>> forest.src.tolist(), forest.dst.tolist(), forest.weights.tolist()
    ([0, 1, 3], [1, 2, 4], [4, 3, 1])
    >>> forest.total, forest.trees
    (8, 2)
    """
    graph = as_any_graph(graph)
    runner = runner_of(graph, device, client, worker_timeout, wait_for_workers)
    dtype, extremes = graph.weights_dtype, graph.extremes()
    plan = forest_plan.planned(
        graph.n,
        graph.m,
        specs_holding(runner, graph, *kept_names(dtype, graph.directed), orders=orders_of(graph.directed)),
        method=method,
        memory_limit=checked_memory_limit(memory_limit, runner),
        span=checked_span(span, progress),
        directed=graph.directed,
        indptr=cut_of(runner, graph),
        shape=shape_beside(graph, runner.specs),
        a_weight=0 if runner.place is not None or dtype is None or dtype == np.int32 else dtype.itemsize,
        converted=dtype is not None and dtype != np.int32,
        distinct=needs_table(dtype, extremes),
    )
    program = SpanningForest(plan, graph.directed, extremes)
    outcome = runner.run(program, parts(runner, graph, plan), plan, progress)
    edges = at_home(graph, outcome.arrays)
    return SpanningForestResult(**edges, plan=plan, timings=outcome.timings, _solved=Solved(graph))


@with_common_parts
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SpanningForestResult(Result):
    """The result of `minimum_spanning_forest`: its edges, in the order of `src` and `dst`.

    Attributes
    ----------
    src, dst : array or DistributedVector of int32, shape (edges,)
        The lesser and the greater end of each edge.
    weights : array or DistributedVector, shape (edges,)
        Their weights, in the type that the graph keeps; ones of int32 where it has none.
    {common attributes}

    Examples
    --------
    >>> import mgraph
    >>> graph = mgraph.Graph.from_edges([0, 1, 0], [1, 2, 2], [4, 3, 9], n=4)
    >>> result = mgraph.minimum_spanning_forest(graph, device="cpu")
    >>> result.src.tolist(), result.dst.tolist(), result.weights.tolist()
    ([0, 1], [1, 2], [4, 3])
    """

    ARRAYS = ("weights", "src", "dst")
    VERTICES = ("src", "dst")
    FACTS = ("trees",)
    INDEX = "edge"
    PICTURES = ("distribution", "graph")

    src: Array
    dst: Array
    weights: Array

    @cached_property
    def total(self) -> int | float:
        """Sum of the weights: of integers exact, of floats in float64, infinite if it is beyond that.

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.Graph.from_edges([0, 1, 0], [1, 2, 2], [4, 3, 9], n=4)
        >>> mgraph.minimum_spanning_forest(graph, device="cpu").total
        7
        """
        parts = self.weights.chunks() if on_workers(self.weights) else [devices.to_host(self.weights)]
        if self.weights.dtype.kind == "f":
            with np.errstate(over="ignore"):
                return float(sum(part.sum(dtype=np.float64) for part in parts))
        return sum(sum(part.tolist()) for part in parts)

    def _colours(self) -> tuple[np.ndarray, str]:
        return np.bincount(np.concatenate(self._tree()), minlength=self.plan.n), "degree in the forest"

    def _tree(self) -> tuple[np.ndarray, np.ndarray]:
        src, dst = (end.to_numpy() if on_workers(end) else devices.to_host(end) for end in (self.src, self.dst))
        return src, dst

    @property
    def trees(self) -> int:
        """Number of trees, isolated vertices included.

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.Graph.from_edges([0, 1, 0], [1, 2, 2], [4, 3, 9], n=4)
        >>> mgraph.minimum_spanning_forest(graph, device="cpu").trees
        2
        """
        return self.plan.n - len(self.src)
