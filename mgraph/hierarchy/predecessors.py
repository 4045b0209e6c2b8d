"""Predecessors of the distances of a hierarchy: the vertex before each target on a shortest path from each source.

Where sums of lengths are exact and none is negative, they are found from the distances, by the rule of all searches
(`mgraph.kernels.sssp_many`), so that they are the same. That takes the distances of the targets' neighbours too.

Floats of shortcuts round differently than those of edges. There the sweep notes by which entry each distance comes, and
the last edge of that entry's path is the last one of the shortest path. Each is right by itself; but rounding, and
cycles of length zero, may let predecessors lead round in a cycle. Then a path between the two climbs replaces those of
its vertices that lead to the cycle. Others may be nearer than it has them, where short edges vanish in its length.
"""

import itertools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .. import device as devices
from .. import lazy
from ..arrays import Array, distinct
from ..graph import Graph
from ..kernels import hierarchy as hierarchy_kernels
from ..kernels import sssp_many as sssp_many_kernels
from .lengths import Lengths
from .paths import path
from .placed import OnDevice
from .structure import Structure
from .sweeps import sweep_to

#: Returns the rows of distances from some vertices to others, on the host.
Rows = Callable[[np.ndarray, np.ndarray], np.ndarray]


class Paths(NamedTuple):
    """Distances from some sources to some targets, and the vertex before each target.

    Attributes
    ----------
    distances : array of the hierarchy's type, shape (k, t)
        The length of the shortest path; ``inf``, for int32 its largest value, where there is none.
    predecessors : array of int32, shape (k, t)
        The vertex before the target on such a path; -9999 where there is none and for the source itself.

    Examples
    --------
    >>> import mgraph
    >>> graph = mgraph.Graph.from_edges([0, 1], [1, 2], [4, 3], directed=False)
    >>> roads = mgraph.Hierarchy(graph, order=[0, 2, 1], device="cpu")
    >>> roads.distances([0], predecessors=True).predecessors.tolist()
    [[-9999, 0, 1]]
    """

    distances: Array
    predecessors: Array


class Lasts(NamedTuple):
    """The vertex before the last one on the path of each entry, as ranks; see the kernels' `last_vertices`."""

    up: np.ndarray
    down: np.ndarray


def last_vertices(structure: Structure, lengths: Lengths) -> Lasts:
    """Return where the paths of all entries end; `lengths` lie on the host."""
    found = Lasts(*(np.empty(len(lengths.up), np.int32) for _ in range(2)))
    parts = structure.entries, structure.lower, structure.upward, structure.downward
    kernels = hierarchy_kernels.on(devices.find("cpu"))
    kernels.last_vertices(*parts, lengths.edges, lengths.up, lengths.down, *found)
    return found


def are_exact(lengths: Lengths, n: int) -> bool:
    """Return whether no length on the host is negative, and sums of them along a path are exact.

    Sums of floats are exact if all are multiples of a power of two, the unit, and the largest is few enough units.
    """
    if not lengths.nonnegative or lengths.dtype.kind == "i":
        return lengths.nonnegative
    edges = lengths.edges[np.isfinite(lengths.edges) & (lengths.edges > 0)].astype(np.float64, copy=False)
    if not len(edges):
        return True
    mantissas, exponents = np.frexp(edges)
    digits = np.ldexp(mantissas, 53).astype(np.int64)
    unit = np.ldexp((digits & -digits).astype(np.float64), exponents - 53).min()
    return bool(edges.max() * n <= 2.0 ** (np.finfo(lengths.dtype).nmant + 1) * unit)


def by_distances(graph: Graph, lengths: Lengths, rows: Rows, sources: np.ndarray, targets: np.ndarray) -> Paths:
    """Return distances between vertices, and predecessors by the rule of searches, for exact lengths."""
    edges = _edges_into(graph, lengths, targets)
    local = np.full(graph.n, -1, np.int32)
    local[edges.vertices] = np.arange(len(edges.vertices), dtype=np.int32)
    _check_room(sources, targets, len(edges.vertices), lengths)
    wide = rows(sources, edges.vertices)
    host, columns = devices.find("cpu"), local[targets]
    with devices.allocating(_what(sources, targets), 4 * wide.size + 12 * len(sources) * len(targets), host):
        before = np.empty(wide.shape, np.int32)
        sssp_many_kernels.on(host).predecessors(wide, local[sources], edges.by_target, before)
        D, P = wide[:, columns], before[:, columns]
        P[P >= 0] = edges.vertices[P[P >= 0]]
    return Paths(D, P)


def _check_room(sources: np.ndarray, targets: np.ndarray, columns: int, lengths: Lengths) -> None:
    """Raise MemoryLimitError unless the host has room for the distances to so many vertices, and for predecessors."""
    each = columns * (lengths.dtype.itemsize + 4) + 12 * len(targets)
    devices.check_free_memory(_what(sources, targets), len(sources) * each, devices.find("cpu"))


def _what(sources: np.ndarray, targets: np.ndarray) -> str:
    return f"predecessors of {len(sources):,} x {len(targets):,}"


class _EdgesInto(NamedTuple):
    """Edges by target among some vertices, ascending, in whose order these are numbered."""

    vertices: np.ndarray
    by_target: tuple[np.ndarray, np.ndarray, np.ndarray]


def _edges_into(graph: Graph, lengths: Lengths, targets: np.ndarray) -> _EdgesInto:
    """Return the edges into targets, and into vertices from which edges of length zero lead there."""
    n, sparse = graph.n, lazy.sparse()
    indptr, indices = (devices.to_host(part) for part in graph.layout("csr"))
    edges = lengths.edges.astype(lengths.dtype, copy=False)
    into = distinct(targets)
    if len(into) < n and not edges.all():
        src = np.repeat(np.arange(n), np.diff(indptr))
        ends = src[edges == 0], indices[edges == 0]
        zeros = sparse.coo_array((np.ones(len(ends[0]), bool), ends), shape=(n, n))
        _, label = lazy.csgraph().connected_components(zeros, directed=False)
        into = np.flatnonzero(np.isin(label, label[into]))
    by_target = sparse.csr_array((edges, indices, indptr), shape=(n, n)).tocsc()
    some = by_target if len(into) == n else by_target[:, into]
    vertices = distinct(np.concatenate([into, some.indices]))
    counts = np.zeros(len(vertices), some.indptr.dtype)
    counts[np.searchsorted(vertices, into)] = np.diff(some.indptr)
    begin = np.concatenate([np.zeros(1, counts.dtype), np.cumsum(counts, dtype=counts.dtype)])
    return _EdgesInto(vertices, (begin, np.searchsorted(vertices, some.indices).astype(np.int32), some.data))


def _leads_out(before: np.ndarray, column: np.ndarray, vertex: int) -> bool:
    """Return whether a source's predecessors lead from a target to the source, or to what is not a target."""
    for _ in range(len(before)):
        vertex = int(before[column[vertex]])
        if vertex < 0 or column[vertex] < 0:
            return True
    return False


def by_entries(
    structure: Structure,
    here: OnDevice,
    lengths: Lengths,
    lasts: Lasts,
    rows: Rows,
    sources: np.ndarray,
    targets: np.ndarray,
) -> Paths:
    """Return distances between vertices, and predecessors by the entries by which distances come.

    `here` is the structure on the host, where the lengths lie, too.
    """
    kernels, ranks, ends = here.kernels, structure.rank, distinct(targets)
    column = np.full(len(ranks), -1, np.int32)
    column[ends] = np.arange(len(ends), dtype=np.int32)
    _check_room(sources, targets, len(ends), lengths)
    D, sweep = rows(sources, ends), sweep_to(structure, here, ranks[ends], rows=True)
    with devices.allocating(_what(sources, targets), 5 * D.size + 12 * len(sources) * len(targets), here.device):
        P, cycles = np.empty(D.shape, np.int32), np.zeros(D.shape, bool)
        kernels.sweep_predecessors(
            *(structure.tree, structure.entries, lengths.up, lengths.down, *lasts, ranks[sources]),
            *(sweep.schedule, structure.order, D, P),
        )
        kernels.closed(D, P, column, cycles)
        for r, j in np.argwhere(cycles).tolist():
            found = path(structure, lengths, int(ranks[sources[r]]), int(ranks[ends[j]]))
            for before, vertex in itertools.pairwise(found):
                if column[vertex] >= 0 and not _leads_out(P[r], column, vertex):
                    P[r, column[vertex]] = before
        if np.array_equal(ends, targets):
            return Paths(D, P)
        return Paths(D[:, column[targets]], P[:, column[targets]])
