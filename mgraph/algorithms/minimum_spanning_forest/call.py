"""Minimum spanning forest: the public call and its result."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Unpack

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...docstrings import with_common_parts
from ...graph import Graph, as_any_graph
from ...results import INTEGERS, CallInput, Proofs, Result, on_host, on_workers
from ...runtime.call import call
from ...runtime.run import Run
from ...runtime.solving import GraphCall
from ..certificates import forest as certificate
from . import plan as forest_plan
from .keys import kept_names, needs_table, orders_of
from .program import SpanningForest


@call
def minimum_spanning_forest(
    graph: Any,
    *,
    method: str = "auto",
    **run: Unpack[Run],
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
    asked = GraphCall(graph, run)
    dtype, extremes = graph.weights_dtype, graph.extremes()
    plan = asked.planned(
        forest_plan.planned,
        *kept_names(dtype, graph.directed),
        orders=orders_of(graph.directed),
        method=method,
        directed=graph.directed,
        a_weight=0 if asked.place is not None or dtype is None or dtype == np.int32 else dtype.itemsize,
        converted=dtype is not None and dtype != np.int32,
        distinct=needs_table(dtype, extremes),
    )
    found = asked.solved(SpanningForest(plan, graph.directed, extremes), plan)
    return SpanningForestResult(**found, _solved=CallInput(graph))


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
    NOT_IN: ClassVar[Mapping[str, str]] = {".npy": "its arrays are of use only together; write .npz"}
    PICTURES = ("distribution", "graph", "map")
    PROOFS: ClassVar[Proofs] = {
        "src": tuple(certificate.RULES),
        "dst": tuple(certificate.RULES),
        "weights": ("lightest", "edge"),
    }

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

    def verify(self, graph: Any = None) -> None:
        """Raise unless the edges are those of the lightest spanning forest; their `total` and `trees` follow from them.

        Verified by a second algorithm on the host: the forest's edges unite trees in the order of their weights, on one
        core; a pass over the graph's edges, on all cores, compares each with the last one on the forest's path between
        its ends. A graph on workers is copied first.

        Parameters
        ----------
        graph : Graph or DistributedGraph, optional
            The graph that was solved. By default the call's, if it still exists: the result does not keep it.

        Raises
        ------
        VerificationError
            If a rule is broken: the error's `rule` names the first one. Its `vertex` is the first vertex with such an
            edge of the graph, or the place of the first such edge of the forest.
        InputError
            If the graph has gone or has another number of vertices.
        MemoryLimitError
            If what the check needs does not fit.

        Notes
        -----
        The rules, in this order: ``"ends"`` (edges of the forest lead from a lesser to a greater vertex, and are in the
        order of their ends), ``"cycle"`` (they close none), ``"connected"`` (the ends of an edge of the graph are in
        one tree), ``"lightest"`` (it does not precede the last edge on the path between them, by weight and then by
        ends), ``"edge"`` (an edge of the forest is the graph's, with its weight).

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.Graph.from_edges([0, 1, 0], [1, 2, 2], [4, 3, 9])
        >>> result = mgraph.minimum_spanning_forest(graph, device="cpu")
        >>> result.verify()
        >>> result.weights[0] = 5
        >>> result.verify()  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        mgraph.errors.VerificationError: vertex 0 breaks the rule 'lightest': ...
        """
        certificate.verify(self, graph)

    def _shape_of(self, name: str) -> tuple[int, ...]:
        return (len(self.src),)

    def _types_of(self, name: str) -> tuple[str, ...]:
        return INTEGERS if name in self.VERTICES else ("int32", "int64", "float32", "float64")

    def _names_of_call(self) -> set[str]:
        return set(self.ARRAYS)

    def to_networkx(self, graph: Any = None) -> Any:
        """Return the forest as a NetworkX graph, with `weight` as an attribute of its edges.

        Its nodes are 0 to n-1, with the attribute `id` if the graph has ids.

        Parameters
        ----------
        graph : Graph, optional
            Not needed: the forest has all of its edges.

        Returns
        -------
        networkx.Graph

        Raises
        ------
        MissingPackageError
            If NetworkX is not installed.
        MemoryLimitError
            If the NetworkX graph does not fit the free memory.

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.Graph.from_edges([0, 1, 0], [1, 2, 2], [4, 3, 9], ids=["Rome", "Pisa", "Genoa"])
        >>> mgraph.minimum_spanning_forest(graph, device="cpu").to_networkx().edges(data="weight")
        EdgeDataView([(0, 1, 4), (1, 2, 3)])
        """
        src, dst, weights = map(on_host, (self.src, self.dst, self.weights))
        return Graph.from_edges(src, dst, weights, self.plan.n, directed=False, ids=self._ids()).to_networkx()

    def _colours(self) -> tuple[np.ndarray, str]:
        return np.bincount(np.concatenate(self._tree()), minlength=self.plan.n), "degree in the forest"

    def _forest(self) -> tuple[np.ndarray, np.ndarray]:
        return self._tree()

    def _tree(self) -> tuple[np.ndarray, np.ndarray]:
        return on_host(self.src), on_host(self.dst)

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
