"""Customization: the lengths of a hierarchy's entries for a set of weights, by min-plus elimination.

Integers are computed in int32 if no sum of weights along a path can exceed its range, and otherwise in float64, whose
sums are exact as far as a distance in int32 reaches. Distances in float32 are computed in float64 and rounded once,
unless all sums are exact in float32: so they are within a unit in the last place of the exact sums, however shortcuts
group these.
"""

from typing import NamedTuple

import numpy as np

from .. import device as devices
from .. import lazy
from ..arrays import Array
from ..dtypes import DISTANCE_TYPES, distance_range
from ..errors import NegativeCycleError
from ..graph import Graph, check_sums, sums_are_exact
from ..graph.ids import id_of
from ..graph.potentials import potentials
from ..graph.weights import encode
from .placed import OnDevice
from .structure import Structure

#: The types of distances.
TYPES = tuple(dtype for dtype in DISTANCE_TYPES if dtype.itemsize >= 4)


class Lengths(NamedTuple):
    """The lengths of edges and entries for a set of weights.

    Attributes
    ----------
    dtype : dtype
        The type of distances.
    edges : array, shape (m,)
        The length of each edge, in the type that is computed in, as are the others; `inf` closes an edge.
    up, down : array, shape (entries,)
        The length of each entry upwards and downwards; one array if they are equal.
    nonnegative : bool
        Whether no edge has a negative length.
    overflows : bool
        Whether a finite distance may be greater than the greatest float of `dtype`.
    """

    dtype: np.dtype
    edges: Array
    up: Array
    down: Array
    nonnegative: bool
    overflows: bool = False


def encoded(weights: np.ndarray | None, m: int, dtype: np.dtype) -> np.ndarray:
    """Return the lengths of edges in the type of distances; 1 without weights.

    Raises
    ------
    DistanceOverflowError
        If a weight is out of range for an integer type.
    """
    lengths = np.ones(m, dtype)
    if weights is not None:
        encode(weights, lengths, devices.find("cpu"))
    return lengths


def customized(
    graph: Graph, structure: Structure, on: OnDevice, edges: np.ndarray, dtype: np.dtype, weights: np.ndarray | None
) -> Lengths:
    """Return the lengths of the entries, computed and kept on a device.

    Parameters
    ----------
    graph : Graph
        Whose edges are meant; its weights are not read.
    structure : Structure
        Its structure.
    on : OnDevice
        The same on the device.
    edges : array, shape (m,)
        The lengths of the edges, as `encoded` returns them; `inf` of floats closes an edge.
    dtype : dtype
        The type of distances.
    weights : array, shape (m,), or None
        What the lengths were encoded from: their exact sums decide whether a cycle is negative.

    Raises
    ------
    NegativeCycleError
        If there is a cycle of negative weight; its `vertex` lies on one.
    DistanceOverflowError
        If weights are negative and a sum of them may overflow.
    """
    nonnegative = not len(edges) or bool(edges.min() >= 0)
    if not nonnegative:
        check_sums(_graph_of(graph, edges), dtype)
    overflows = dtype.kind == "f" and _greatest(edges) * graph.n > float(np.finfo(dtype).max)
    edges = edges.astype(_inner(edges, dtype, graph.n, nonnegative), copy=False)
    decided = nonnegative  # that no cycle is negative
    if weights is not None and weights.min(initial=0) < 0:
        weighted = _graph_of(graph, weights)
        decided = not sums_are_exact(weighted, edges.dtype)
        if decided:
            potentials(weighted)  # raises if there is a negative cycle, whatever rounding makes of it
    xp, count = on.device.xp, len(structure.entries.upper)
    needed = edges.nbytes + 2 * count * edges.itemsize
    with on.device.active(), devices.allocating(f"lengths of {count:,} entries", needed, on.device):
        lengths = on.device.asarray(edges)
        up = xp.empty(count, edges.dtype)
        down = up if _alike(on, lengths) else xp.empty_like(up)
        on.kernels.customize(on.entries, on.lower, on.upward, on.downward, lengths, up, down, on.stages)
        if not decided:
            _check_cycles(graph, structure, edges, xp.flatnonzero(up + down < 0)[:1].tolist())
    return Lengths(dtype, lengths, up, down, nonnegative, overflows)


def on_host(lengths: Lengths) -> Lengths:
    """Return lengths on the host."""
    edges, up, down = (devices.to_host(part) for part in (lengths.edges, lengths.up, lengths.down))
    return lengths._replace(edges=edges, up=up, down=up if lengths.down is lengths.up else down)


def _inner(edges: np.ndarray, dtype: np.dtype, n: int, nonnegative: bool) -> np.dtype:
    """Return the type to compute in."""
    if dtype.kind == "f":
        whole = nonnegative and bool(((edges == np.floor(edges)) | np.isinf(edges)).all())
        exact = whole and _greatest(edges) * n <= 2.0 ** (np.finfo(dtype).nmant + 1)
        return dtype if exact else np.dtype(np.float64)
    greatest = distance_range(dtype, nonnegative=True)[1]
    most, count = int(edges.max(initial=0)), min(len(edges), max(n - 1, 0))
    fits = nonnegative and (
        most * count <= greatest
        or int(edges.sum(dtype=np.int64)) <= greatest
        or int(np.partition(edges, len(edges) - count)[len(edges) - count :].sum(dtype=np.int64)) <= greatest
    )
    return dtype if fits else np.dtype(np.float64)


def _greatest(edges: np.ndarray) -> float:
    """Return the greatest length of edges that are not closed."""
    return float(edges.max(initial=0, where=np.isfinite(edges)))


def _alike(on: OnDevice, lengths: Array) -> bool:
    """Return whether each edge has one back of the same length; it may miss some of parallel edges."""
    xp, upward, downward = on.device.xp, on.upward, on.downward
    return bool(
        xp.array_equal(upward.entry, downward.entry) and xp.array_equal(lengths[upward.edge], lengths[downward.edge])
    )


def _check_cycles(graph: Graph, structure: Structure, edges: np.ndarray, below_zero: list[int]) -> None:
    """Raise NegativeCycleError if there is a negative cycle: of a vertex with itself, or with an upper neighbour.

    `below_zero` has the first entry that has a negative length up and down again, if there is one. The greatest two
    ranks of a simple cycle are joined by entries no longer than the cycle's two parts, so a negative cycle has such an
    entry. At the least rank of one, lengths are still those of a graph without negative cycles, so it lies on one.
    """
    loops = structure.loops[edges[structure.loops] < 0]
    if len(loops):
        vertex = int(graph.listed().src[loops[0]])
        raise NegativeCycleError(vertex, id=id_of(graph.ids, vertex))
    if below_zero:
        rank = int(np.searchsorted(structure.entries.begin, below_zero[0], side="right")) - 1
        vertex = int(structure.order[rank])
        raise NegativeCycleError(vertex, id=id_of(graph.ids, vertex))


def _graph_of(graph: Graph, edges: np.ndarray) -> Graph:
    """Return a directed graph of the edges with these lengths, without those that are closed."""
    indptr, indices = (devices.to_host(part) for part in graph.layout("csr"))
    return Graph.from_scipy(lazy.sparse().csr_array((edges, indices, indptr), shape=(graph.n, graph.n)), copy=False)
