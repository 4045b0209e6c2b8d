"""Random weights: for the edges of a given graph, and for those that a generator draws."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from .. import device as devices
from ..arrays import Array
from ..dtypes import DISTANCE_TYPES, distance_dtype
from ..errors import InputError
from ..graph import Compressed, Graph, PlacedGraph, as_graph
from ..graph.vertex_range import Weigh
from .workers import weighed as weighed_there

if TYPE_CHECKING:
    from ..runtime.dask import DistributedGraph

#: The types of random weights.
_TYPES = tuple(dtype for dtype in DISTANCE_TYPES if dtype.itemsize >= 4)

#: Edges whose weights are computed at a time.
_EDGES_AT_A_TIME = 1 << 20


@overload
def weighted(graph: "DistributedGraph", weights: tuple[int, int], dtype: Any = "int32") -> "DistributedGraph": ...


@overload
def weighted(graph: Any, weights: tuple[int, int], dtype: Any = "int32") -> Graph: ...


def weighted(graph: Any, weights: tuple[int, int], dtype: Any = "int32") -> Any:
    """Return a graph with the edges of another and uniform integer weights.

    The weight depends on the pair of vertices, so both directions of an edge, and parallel edges, have the same.

    Parameters
    ----------
    graph : Graph, DistributedGraph, or what `mgraph.apsp` reads as one
        The edges. Its own weights are ignored.
    weights : tuple of (int, int)
        The least and the greatest weight, less than 2**31 apart.
    dtype : {"int32", "float32", "float64"}
        The type of the weights. Sums of integers are exact by every method.

    Returns
    -------
    Graph, or a DistributedGraph of one
        On the device of `graph`, or on its workers; the weights are the same everywhere.

    Raises
    ------
    InputError
        For an invalid range, type or graph.
    MemoryLimitError
        If the weights do not fit the free memory.

    See Also
    --------
    mgraph.Graph.with_weights : The same edges with given weights.

    Examples
    --------
    >>> import mgraph
    >>> mgraph.generate.weighted(mgraph.generate.rmat(6), (1, 255))
    Graph(n=64, m=780, undirected, int32)
    """
    low, high = checked_range(weights)
    if high - low >= 2**31:
        raise InputError(argument="weights", value=weights, expected="at most 2**31 - 1 apart")
    kind = distance_dtype(None, dtype, _TYPES)

    def line(made: str) -> str:
        return f"mgraph.generate.weighted({made}, {(low, high)}, {kind.name!r})"

    return weighed_by(graph, Hashed(low, high, kind), low >= 0, line)


def weighed_by(
    graph: Any, weights_of: Weigh, nonnegative: bool, line: Callable[[str], str] = lambda made: ""
) -> "Graph | DistributedGraph":
    """Return a graph with the edges of another, and the weights of a function of their ends.

    `line` returns the line of Python that makes it again, given that of the other graph.
    """
    if isinstance(getattr(graph, "placement", None), PlacedGraph):
        return weighed_there(graph, weights_of, line)
    graph = as_graph(graph, copy=True)
    with devices.find(graph.device).active():
        src, dst, _ = graph.listed()
        needed = graph.m * weights_of.dtype.itemsize + 48 * min(graph.m, _EDGES_AT_A_TIME)
        with devices.allocating(f"weights of {graph.m:,} edges", needed, devices.find(graph.device)):
            lengths = devices.of(src).xp.empty(graph.m, weights_of.dtype)
            for first in range(0, graph.m, _EDGES_AT_A_TIME):
                some = slice(first, first + _EDGES_AT_A_TIME)
                lengths[some] = weights_of(src[some], dst[some])
        indptr, indices, _ = graph.compressed("csr")
        csr = Compressed(indptr, indices, lengths)
        return Graph(
            graph.n,
            csr=csr,
            directed=graph.directed,
            ids=graph.ids,
            coordinates=graph.coordinates,
            nonnegative=nonnegative,
        )


@dataclass(frozen=True)
class Hashed:
    """The weights of edges from `low` to `high`: a hash of each pair of vertices."""

    low: int
    high: int
    dtype: np.dtype

    def __call__(self, src: Array, dst: Array) -> Array:
        """Return the weights of some edges."""
        return (_hashed(src, dst, self.high - self.low + 1) + self.low).astype(self.dtype)


def _hashed(src: Array, dst: Array, count: int) -> Array:
    """Return an int64 integer in [0, count) for each edge: a hash of its pair of vertices."""
    a, b = np.minimum(src, dst).astype(np.uint64), np.maximum(src, dst).astype(np.uint64)
    mixed = (a * np.uint64(0x9E3779B97F4A7C15)) ^ (b * np.uint64(0xC2B2AE3D27D4EB4F))
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    return ((mixed >> np.uint64(33)) % np.uint64(count)).astype(np.int64)


def checked_weights(weights: Any) -> tuple[int, int] | None:
    """Return the least and the greatest weight; None for a graph without weights."""
    return None if weights is None else checked_range(weights)


def checked_range(weights: Any) -> tuple[int, int]:
    """Return the least and the greatest weight, or raise InputError."""
    ends = tuple(weights) if isinstance(weights, Sequence) else ()
    whole = all(isinstance(end, (int, np.integer)) and not isinstance(end, bool) for end in ends)
    if len(ends) != 2 or not whole or not -(2**31) <= ends[0] <= ends[1] < 2**31:
        raise InputError(argument="weights", value=weights, expected="two int32 integers, the least and the greatest")
    return int(ends[0]), int(ends[1])


def drawn_weights(edges: int, between: tuple[int, int] | None, random: "np.random.Generator") -> np.ndarray | None:
    """Draw the weights of `edges` edges; None for a graph without weights."""
    return None if between is None else random.integers(*between, edges, np.int32, endpoint=True)
