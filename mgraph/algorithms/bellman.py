"""Distances are verified by Bellman's equations, and by paths that are as long as the distances say.

A row of distances d from a source is accepted if

1. d[source] is 0, and every other d[v] is the least d[u] + length(u, v) over the edges into v;
2. a path of tight edges leads from the source to every reached vertex. An edge (u, v) is tight if
   d[u] + length(u, v) = d[v].

Together these two are a proof, whatever the signs of the lengths: by 1 no path is shorter than d[v], and by 2 one path
is as long. 1 alone accepts wrong distances on cycles of length zero, whose vertices explain each other. No edge into
the source may lower its distance, so that a negative cycle is refused as well.

A vertex with a tight edge from a vertex of lesser distance needs no search for 2 if all others have one too: such
edges lead back to the source. Only rows where a vertex has none, because of lengths of zero or less, are searched.

Integers are compared exactly, floats up to a `margin`, of which `Rounding` gives the reasons. Edges and rows are
checked in parts, so that the check takes little memory; a matrix is checked on its own device. Only a search reads all
edges of a graph at once.
"""

import contextlib
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import device as devices
from ..arrays import Array
from ..dtypes import as_floats, infinity
from ..errors import NegativeCycleError, VerificationError
from ..graph import Graph, PlacedGraph
from ..graph.potentials import kept_potentials
from ..kernels import bellman as bellman_kernels

#: Edges, or elements of a matrix, checked at a time.
AT_A_TIME = 1 << 26

#: Sums of a distance and an edge that a check of several rows may take: a second or two of work.
SUMS = 1 << 30


@dataclass(frozen=True)
class Rounding:
    """How far distances in floats may differ from one another and the edge between, if they are sums in any order.

    Without negative weights no sum on the way exceeds the distance, so that errors are relative to it. With them, large
    numbers may cancel. Then errors are relative to the largest one, which is at most twice the largest of the row: the
    other part of a shortest path is no longer than their difference.

    Attributes
    ----------
    relative : float
        The relative error; of a search, which adds edge by edge, 0.
    largest : float or array of shape (n,)
        The greatest magnitude of a weight, if one is negative, else 0. Of several graphs together, for each vertex the
        largest number of its graph and of the row.
    absolute : float
        What is added besides: by potentials, by which weights were shifted, and by the least number of the type.
    """

    relative: float = 0.0
    largest: Any = 0.0
    absolute: float = 0.0

    def slack(self, largest: Any) -> Any:
        """Return the error to accept in rows with these largest distances, if a weight is negative."""
        return self.relative * np.maximum(largest, self.largest) + self.absolute


#: Of searches, which add one edge after the other: no error but half a unit in the last place.
EDGE_BY_EDGE = Rounding()


def rounding_of(graph: Graph | PlacedGraph, dtype: np.dtype, relative: float, shifted: bool = False) -> Rounding:
    """Return how far distances in a graph may differ, which may be computed from `shifted` weights.

    In float64 it is what `grouped` says, where that is less than the given relative error.
    """
    if not relative or dtype.kind == "i":
        return Rounding(relative)
    if graph.nonnegative:
        return Rounding(min(relative, grouped(dtype, graph.n)) if dtype == np.float64 else relative)
    least, greatest, _ = graph.extremes()
    exact, absolute = grouped(np.dtype(np.float64), graph.n), float(np.finfo(dtype).smallest_subnormal)
    if shifted:
        absolute += exact * _largest_potential(graph)
    return Rounding(min(relative, exact) if dtype == np.float64 else relative, max(-least, greatest), absolute)


def _largest_potential(graph: Graph | PlacedGraph) -> float:
    """Return a bound of the magnitude of Johnson's potentials; only workers have those of what lies there."""
    if isinstance(graph, Graph):
        with contextlib.suppress(NegativeCycleError):  # of a cycle that no source reaches
            return float(np.abs(kept_potentials(graph)).max(initial=0))
    return graph.largest_sums(graph.n - 1)[0]


def check_rows(
    graph: Any,
    sources: Sequence[int | Sequence[int]],
    distances: Array,
    rounding: Rounding = EDGE_BY_EDGE,
    unit: bool = False,
) -> None:
    """Raise unless distances, a row from each source or set of sources, are those of the shortest paths.

    Parameters
    ----------
    graph : Graph, or array of shape (n, n)
        The graph, or the matrix of lengths.
    sources : sequence of int or of sequences of int
        The source of each row, or the set of sources of which the nearest counts.
    distances : array of shape (rows, n)
        The type's infinity where there is no path.
    rounding : Rounding
        How far sums of floats may differ.
    unit : bool
        Whether every edge has length 1, whatever its weight.
    """
    found, margins = as_float(distances), margin(distances, rounding)
    least, nearer = np.full((2, *found.shape), np.inf)
    if isinstance(graph, Graph):
        through_edges(graph, found, unit, least, nearer)
    else:
        through_matrix(graph, found, least, nearer)
    if np.dtype(distances.dtype).kind == "f":
        with np.errstate(over="ignore"):
            for sums in (least, nearer):  # what the type cannot hold is out of reach
                sums[np.isposinf(sums.astype(distances.dtype))] = np.inf
    starts = np.zeros(found.shape, bool)
    for row, source in zip(starts, sources, strict=True):
        row[np.asarray(source)] = True
    cycles = starts & (least < -margins.max(axis=1)[:, None])
    least[starts & ~cycles] = 0
    _refuse(cycles | (starts & (found != 0)) | ~close(found, least, margins), sources, found, least)
    reached = starts | (found == np.inf)
    unsure = np.flatnonzero(~(reached | close(found, nearer, margins)).all(axis=1))
    if len(unsure):
        some = (found[unsure], margins[unsure], starts[unsure])
        tight = reach_by_edges(graph, unit, *some) if isinstance(graph, Graph) else reach_in_matrix(graph, *some)
        _refuse(~(reached[unsure] | tight), [sources[i] for i in unsure.tolist()], found[unsure], None)


def _refuse(wrong: np.ndarray, sources: Sequence[Any], found: np.ndarray, least: np.ndarray | None) -> None:
    """Raise for the first distance that is wrong, if there is one."""
    if wrong.any():
        i, v = map(int, np.unravel_index(wrong.argmax(), wrong.shape))
        why = "but no path is that long" if least is None else f"by way of its neighbours {least[i, v]}"
        raise VerificationError(
            f"from vertex {sources[i]} the distance of vertex {v} is {found[i, v]}, {why}",
            rule="path" if least is None else "neighbours",
            vertex=v,
        )


def sampled(n: int, count: int) -> list[int]:
    """Return up to `count` of n rows, evenly spaced, the first and the last included."""
    return sorted(set(np.linspace(0, n - 1, min(count, n)).astype(int).tolist()))


def rows_within(n: int, sums: int, least: int) -> list[int]:
    """Return as many of `n` rows as `SUMS` allows, each of `sums` sums, but at least `least`."""
    return sampled(n, max(least, SUMS // max(1, sums)))


def as_float(distances: Array) -> np.ndarray:
    """Return distances on the host as float64, ``inf`` where there is no path."""
    found: np.ndarray = as_floats(devices.to_host(distances))
    return found


def margin(distances: Array, rounding: Rounding) -> np.ndarray:
    """Return the error to accept of each distance of a row, or of rows, on the host.

    It is zero for integers. For floats it is half a unit in the last place, of float32 if all are numbers of that type,
    or what `rounding` says if that is more. That would hide a wrong edge, which is often short beside a long path. So
    searches, which add edge by edge, are checked without.
    """
    if np.dtype(distances.dtype).kind == "i":
        return np.zeros(distances.shape)
    sizes = np.abs(as_float(distances))
    with np.errstate(invalid="ignore", over="ignore"):
        narrow = sizes.astype(np.float32)
        units = np.spacing(narrow if np.array_equal(narrow, sizes) else sizes)
        margins = np.fmax(units * np.float64(0.5), rounding.relative * sizes)
    finite = np.isfinite(sizes)
    if rounding.largest:
        largest = sizes.max(axis=-1, keepdims=True, initial=0.0, where=finite)
        margins = np.fmax(margins, rounding.slack(largest))
    return np.where(finite, margins, 0)


def grouped(dtype: np.dtype, n: int) -> float:
    """Return by how much, relative to a distance, it may differ from another one and the edge to it.

    That is where both are sums of floats in any order that were computed in float64: in float32, which was rounded
    once, half a unit in the last place each, and of their sum; in float64 2**-53 for each edge (docs/numerics.md).
    """
    return 2.0**-22 if dtype == np.float32 else 2 * n * 2.0**-53


def close(found: np.ndarray, expected: np.ndarray, margins: np.ndarray) -> np.ndarray:
    """Return where numbers are equal up to a margin."""
    with np.errstate(invalid="ignore"):  # of infinities
        equal: np.ndarray = (found == expected) | (np.abs(found - expected) <= margins)
    return equal & ~(np.isinf(found) ^ np.isinf(expected))


def through_edges(graph: Graph, distances: np.ndarray, unit: bool, least: np.ndarray, nearer: np.ndarray) -> None:
    """Lower `least` to the sum of a neighbour's distance and the edge from there, for every vertex in every row.

    Lower `nearer` likewise, but only by neighbours of lesser distance.
    """
    indptr, indices, weights = graph.compressed("csc")
    offsets = devices.to_host(indptr)
    for first, last in cuts(offsets):
        some = slice(int(offsets[first]), int(offsets[last]))
        starts = devices.to_host(indices[some])
        lengths = np.ones(len(starts), np.int8) if unit or weights is None else devices.to_host(weights[some])
        bellman_kernels.on(devices.find("cpu")).lower_by_edges(
            distances, first, offsets[first : last + 1] - offsets[first], starts, lengths, least, nearer
        )


def through_matrix(matrix: Array, distances: np.ndarray, least: np.ndarray, nearer: np.ndarray) -> None:
    """Lower `least` and `nearer` in the same way by a matrix, where it lives."""
    place = devices.of(matrix)
    if place.kind == "cpu":
        for first, part in parts(matrix, place):
            bellman_kernels.on(devices.find("cpu")).lower_by_matrix(distances, first, part, least, nearer)
        return
    with place.active():
        there, found, below = place.asarray(distances), place.asarray(least), place.asarray(nearer)
        for first, part in parts(matrix, place):
            for i in range(len(distances)):
                own = there[i, first : first + len(part), None]
                sums = part + own
                found[i] = place.xp.minimum(found[i], sums.min(axis=0))
                sums[own >= there[i]] = np.inf
                below[i] = place.xp.minimum(below[i], sums.min(axis=0))
        least[:], nearer[:] = devices.to_host(found), devices.to_host(below)


def reach_by_edges(
    graph: Graph, unit: bool, distances: np.ndarray, margins: np.ndarray, starts: np.ndarray
) -> np.ndarray:
    """Return which vertices a search over tight edges reaches in every row, from the vertices where it starts."""
    indptr, indices, weights = graph.compressed("csr")
    offsets, ends = devices.to_host(indptr), devices.to_host(indices)
    lengths = np.ones(len(ends), np.int8) if unit or weights is None else devices.to_host(weights)
    reached = starts.copy()
    bellman_kernels.on(devices.find("cpu")).reach_by_edges(distances, offsets, ends, lengths, margins, reached)
    return reached


def reach_in_matrix(matrix: Array, distances: np.ndarray, margins: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return the same for a matrix, which is searched level by level where it lives."""
    place, reached = devices.of(matrix), starts.copy()
    at_a_time = max(1, AT_A_TIME // max(1, len(matrix)))
    with place.active(), np.errstate(invalid="ignore"):  # of infinities
        for row, *given in zip(reached, distances, margins, strict=True):
            there, within = map(place.asarray, given)
            seen = place.asarray(row)
            level = place.xp.flatnonzero(seen)
            while len(level):
                tight = place.xp.zeros(len(row), bool)
                for first in range(0, len(level), at_a_time):
                    some = level[first : first + at_a_time]
                    sums = infinite(place.asarray(matrix[some])) + there[some, None]
                    tight |= (abs(sums - there) <= within).any(axis=0)
                tight &= ~seen
                seen = seen | tight
                level = place.xp.flatnonzero(tight)
            row[:] = devices.to_host(seen)
    return reached


def cuts(offsets: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield ranges of vertices with about `AT_A_TIME` edges each."""
    cuts = np.searchsorted(offsets, np.arange(AT_A_TIME, max(1, int(offsets[-1])), AT_A_TIME)).tolist()
    yield from itertools.pairwise([0, *cuts, len(offsets) - 1])


def parts(matrix: Array, place: devices.Device) -> Iterator[tuple[int, Array]]:
    """Yield some rows at a time on a device, with the number of the first: as float64, ``inf`` where no edge is."""
    rows = max(1, AT_A_TIME // max(1, len(matrix)))
    for first in range(0, len(matrix), rows):
        part = infinite(place.asarray(matrix[first : first + rows]))
        own = place.xp.arange(len(part))
        part[own, first + own] = np.inf
        yield first, part


def infinite(part: Array) -> Array:
    """Return a copy in float64, with ``inf`` where integers have what stands for it."""
    copy = part.astype(np.float64)
    if np.dtype(part.dtype).kind in "iu":
        copy[part == infinity(np.dtype(part.dtype))] = np.inf
    return copy
