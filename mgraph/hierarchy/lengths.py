"""Customization: the lengths of a hierarchy's entries for a set of weights, by min-plus elimination.

Integers are computed in int32 if no sum of weights along a path can exceed its range, and otherwise in float64, whose
sums are exact as far as a distance in int32 reaches. Distances in float32 are computed in float64 and rounded once,
unless all sums are exact in float32: so they are within a unit in the last place of the exact sums, however shortcuts
group these.
"""

from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np

from .. import device as devices
from .. import lazy
from ..arrays import Array
from ..dtypes import DISTANCE_TYPES, band, distance_range
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
    [greatest] = _greatest(edges[None], np)
    overflows = _may_overflow(greatest, dtype, graph.n)
    inner = _inner(edges[None], [greatest], graph.n, np)[0] if nonnegative else np.dtype(np.float64)
    edges = edges.astype(inner, copy=False)
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
        down = up if _alike(on, lengths[None])[0] else xp.empty_like(up)
        on.kernels.customize(on.entries, on.lower, on.upward, on.downward, lengths, up, down, on.stages)
        if not decided:
            _check_cycles(graph, structure, edges, xp.flatnonzero(up + down < 0)[:1].tolist())
    return Lengths(dtype, lengths, up, down, nonnegative, overflows)


def customized_sets(
    graph: Graph, structure: Structure, on: OnDevice, weights: Array, dtype: np.dtype
) -> list[Lengths | None]:
    """Return what `customized` does for each of several sets of weights, computed together.

    Parameters
    ----------
    graph, structure, on, dtype
        As for `customized`.
    weights : array of numbers, shape (sets, m)
        On any device; of at most as many sets as the kernels take.

    Returns
    -------
    list
        The lengths of each set; None for one that `customized` takes alone, or has an error for: of weights that are
        negative, NaN or out of range.
    """
    xp = on.device.xp
    found: list[Lengths | None] = [None] * len(weights)
    what = f"lengths of {len(structure.entries.upper):,} entries for {len(weights)} sets of weights"
    needed = bytes_of_sets(structure, on, graph.m, weights.dtype.itemsize, len(weights))
    with on.device.active(), devices.allocating(what, needed, on.device):
        given = on.device.asarray(weights)
        usual = np.flatnonzero(_are_usual(given, dtype, xp))
        if not len(usual) or not graph.m:
            return found
        edges = xp.empty((len(usual), graph.m), dtype)
        encode(given if len(usual) == len(given) else given[xp.asarray(usual)], edges, on.device)
        greatest = _greatest(edges, xp)
        kinds = defaultdict(list)
        for number, kind in enumerate(zip(_inner(edges, greatest, graph.n, xp), _alike(on, edges), strict=True)):
            kinds[kind].append(number)
        for (inner, alike), numbers in kinds.items():
            own = edges if len(numbers) == len(edges) else edges[xp.asarray(numbers)]
            own = own.astype(inner, copy=False)
            ups = [xp.empty(len(structure.entries.upper), inner) for _ in numbers]
            downs = ups if alike else [xp.empty_like(up) for up in ups]
            on.kernels.customize_sets(on.entries, on.lower, on.upward, on.downward, own, ups, downs, on.stages)
            for number, row, up, down in zip(numbers, own, ups, downs, strict=True):
                overflows = _may_overflow(greatest[number], dtype, graph.n)
                # A view would keep the lengths of all sets.
                found[usual[number]] = Lengths(dtype, row.copy(), up, down, True, overflows)
    return found


def sets_that_fit(structure: Structure, on: OnDevice, m: int, itemsize: int) -> int:
    """Return how many sets of weights of `itemsize` bytes are computed together in half the free memory, at least 1."""
    free = on.device.available_memory() // 2
    fit = (sets for sets in range(on.kernels.SETS, 1, -1) if bytes_of_sets(structure, on, m, itemsize, sets) <= free)
    return next(fit, 1)


def bytes_of_sets(structure: Structure, on: OnDevice, m: int, itemsize: int, sets: int) -> int:
    """Return the most bytes that `customized_sets` allocates, for lengths of 64 bits that differ by direction.

    Weights are moved and chosen; their lengths are encoded, chosen, compared or widened, and kept.
    """
    count = len(structure.entries.upper)
    return on.kernels.workspace_of_sets(count, m, sets, 8, 2) + sets * (m * (2 * itemsize + 4 * 8) + 2 * 8 * count)


def _are_usual(weights: Array, dtype: np.dtype, xp: Any) -> np.ndarray:
    """Return whether no weight of each row is negative, NaN or out of range for a type."""
    if not weights.size:
        return np.ones(len(weights), bool)
    given, usual = np.dtype(weights.dtype), devices.to_host(weights.min(axis=1)) >= 0
    if given.kind in "iu":
        most = band(dtype) if dtype.kind == "i" else int(np.iinfo(np.int64).max)
        usual &= devices.to_host(weights.max(axis=1)) <= most
    elif dtype.itemsize < given.itemsize:
        there = (weights <= float(np.finfo(dtype).max)) | xp.isinf(weights)
        usual &= devices.to_host(there.all(axis=1))
    found: np.ndarray = usual
    return found


def on_host(lengths: Lengths) -> Lengths:
    """Return lengths on the host."""
    edges, up, down = (devices.to_host(part) for part in (lengths.edges, lengths.up, lengths.down))
    return lengths._replace(edges=edges, up=up, down=up if lengths.down is lengths.up else down)


def _inner(edges: Array, greatest: list[float], n: int, xp: Any) -> list[np.dtype]:
    """Return the type to compute in for each row of lengths, none of them negative, of which the greatest are known."""
    dtype, wide = np.dtype(edges.dtype), np.dtype(np.float64)
    if dtype.kind == "f":
        whole = devices.to_host((edges == xp.floor(edges)).all(axis=1))
        exact = whole & (np.array(greatest) <= 2.0 ** (np.finfo(dtype).nmant + 1) / max(1, n))
        return [dtype if fits else wide for fits in exact]
    most, m = distance_range(dtype, nonnegative=True)[1], edges.shape[1]
    count = min(m, max(n - 1, 0))
    fits = np.array(greatest) * count <= most
    if not fits.all():
        fits |= devices.to_host(edges.sum(axis=1, dtype=np.int64)) <= most
    if not fits.all():
        left = np.flatnonzero(~fits)
        largest = xp.partition(edges[xp.asarray(left)], m - count, axis=1)[:, m - count :]
        fits[left] = devices.to_host(largest.sum(axis=1, dtype=np.int64)) <= most
    return [dtype if fit else wide for fit in fits]


def _greatest(edges: Array, xp: Any) -> list[float]:
    """Return the greatest length of each row of edges, of those that are not closed."""
    if not edges.size:
        return [0.0] * len(edges)
    finite = edges if edges.dtype.kind == "i" else xp.where(xp.isfinite(edges), edges, 0)
    found: list[float] = np.maximum(devices.to_host(finite.max(axis=1)), 0).tolist()
    return found


def _may_overflow(greatest: float, dtype: np.dtype, n: int) -> bool:
    """Return whether a path may be longer than the greatest float of a type; its longest edge is given."""
    return dtype.kind == "f" and greatest * n > float(np.finfo(dtype).max)


def _alike(on: OnDevice, lengths: Array) -> list[bool]:
    """Return whether each edge has one back of the same length, for each row; it may miss some of parallel edges."""
    if not (len(lengths) and on.mirror):
        return [False] * len(lengths)
    [mirror] = on.mirror
    same = on.device.xp.stack([(row.take(mirror) == row).all() for row in lengths])
    found: list[bool] = devices.to_host(same).tolist()
    return found


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
