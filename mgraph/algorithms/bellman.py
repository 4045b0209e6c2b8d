"""Bellman's equations, by which distances are verified.

A row of distances d from a source is right if d[source] is 0 and every other d[v] is the least d[u] + length(u, v).
The solution is unique where every cycle has positive length. Edges and rows are checked in parts, so that the check
takes little memory; a matrix is checked on its own device.

S. Beamer, K. Asanović and D. Patterson, "The GAP benchmark suite", 2015, uses the same check.
"""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .. import device as devices
from ..arrays import Array
from ..dtypes import infinity
from ..errors import WrongResultError
from ..graph import Graph
from ..kernels import bellman as bellman_kernels

#: Edges, or elements of a matrix, checked at a time.
AT_A_TIME = 1 << 26

#: Sums of a distance and an edge that a check of several rows may take: a second or two of work.
SUMS = 1 << 30


def check_rows(
    graph: Any, sources: Sequence[int | Sequence[int]], distances: np.ndarray, rounding: float = 0.0, unit: bool = False
) -> None:
    """Raise unless distances, a row from each source or set of sources, obey Bellman's equations."""
    least = np.full(distances.shape, np.inf)
    if isinstance(graph, Graph):
        through_edges(graph, distances, unit, least)
    else:
        through_matrix(graph, distances, least)
    for row, source in zip(least, sources, strict=True):
        row[np.asarray(source)] = 0
    right = close(distances, least, rounding)
    if not right.all():
        i, v = map(int, np.unravel_index((~right).argmax(), right.shape))
        raise WrongResultError(
            f"from vertex {sources[i]} the distance of vertex {v} is {distances[i, v]}, by way of its neighbours "
            f"{least[i, v]}"
        )


def sampled(n: int, count: int) -> list[int]:
    """Return up to `count` of n rows, evenly spaced, the first and the last included."""
    return sorted(set(np.linspace(0, n - 1, min(count, n)).astype(int).tolist()))


def rows_within(n: int, sums: int, least: int) -> list[int]:
    """Return as many of `n` rows as `SUMS` allows, each of `sums` sums, but at least `least`."""
    return sampled(n, max(least, SUMS // max(1, sums)))


def as_float(distances: Array) -> np.ndarray:
    """Return distances on the host as float64, ``inf`` where there is no path."""
    found = devices.to_host(distances)
    floats = found.astype(np.float64)
    if found.dtype.kind == "i":
        floats[found == np.iinfo(found.dtype).max] = np.inf
    return floats


def close(found: np.ndarray, expected: np.ndarray, rounding: float) -> np.ndarray:
    """Return where numbers are equal up to half a unit in the last place of float32, or up to a relative error.

    A relative error would hide a wrong edge, which is often short beside a long path. So searches, which add edge by
    edge, are checked with `rounding` 0.
    """
    with np.errstate(invalid="ignore"):  # of infinities
        within = np.maximum(np.spacing(np.abs(expected).astype(np.float32)) / 2, rounding * np.abs(expected))
        equal: np.ndarray = (found == expected) | (np.abs(found - expected) <= within)
    return equal & ~(np.isinf(found) ^ np.isinf(expected))


def through_edges(graph: Graph, distances: np.ndarray, unit: bool, least: np.ndarray) -> None:
    """Lower `least` to the sum of a neighbour's distance and the edge from there, for every vertex in every row."""
    indptr, indices, weights = graph.csr()
    offsets = devices.to_host(indptr)
    for first, last in cuts(offsets):
        some = slice(int(offsets[first]), int(offsets[last]))
        ends = devices.to_host(indices[some])
        lengths = np.ones(len(ends), np.int8) if unit or weights is None else devices.to_host(weights[some])
        bellman_kernels.on(devices.find("cpu")).lower_by_edges(
            distances[:, first:last], offsets[first : last + 1] - offsets[first], ends, lengths, least
        )


def through_matrix(matrix: Array, distances: np.ndarray, least: np.ndarray) -> None:
    """Lower `least` in the same way by a matrix, where it lives."""
    place = devices.of(matrix)
    if place.kind == "cpu":
        for first, part in parts(matrix, place):
            bellman_kernels.on(devices.find("cpu")).lower_by_matrix(
                distances[:, first : first + len(part)], part, least
            )
        return
    with place.active():
        there, found = place.asarray(distances), place.asarray(least)
        for first, part in parts(matrix, place):
            for i in range(len(distances)):
                sums = part + there[i, first : first + len(part), None]
                found[i] = place.xp.minimum(found[i], sums.min(axis=0))
        least[:] = devices.to_host(found)


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
    if np.dtype(part.dtype).kind == "i":
        copy[part == infinity(np.dtype(part.dtype))] = np.inf
    return copy
