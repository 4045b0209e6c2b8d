"""Distances of all pairs: the diagonal, a proof of many rows, and the equations of a few elements of every row."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...errors import WrongResultError
from ...graph import Graph
from .. import bellman
from ..bellman import as_float, close, cuts, infinite, margin, parts, sampled

#: The least number of rows to check, and the number of elements to check in every row.
ROWS = 4

#: Elements checked at a time in rows, and the size of a tile of the diagonal.
ELEMENTS, TILE = 1 << 22, 1 << 10

#: Relative error that rounding may add to a distance: sums are computed in any order.
ROUNDING = 1e-5


def diagonal(graph: Any, arrays: dict[str, Any], source: object) -> str:
    """Raise unless the diagonal is zero."""
    distances = arrays["distances"]
    for first in range(0, len(distances), TILE):
        own = slice(first, first + TILE)
        zeros = as_float(distances[own, own].diagonal())
        if zeros.any():
            i = int(zeros.astype(bool).argmax())
            raise WrongResultError(f"from vertex {first + i} the distance of vertex {first + i} is {zeros[i]}, not 0")
    return "zeros on the diagonal"


def rows(graph: Any, arrays: dict[str, Any], source: object) -> str:
    """Raise unless rows are right, each by a proof: as many as `bellman.SUMS` allows, evenly spaced."""
    distances, n = arrays["distances"], len(arrays["distances"])
    each = n + graph.m if isinstance(graph, Graph) and graph.dense is None else n * n
    count = min(n, bellman.SUMS // max(1, each))
    if count < n and not hasattr(distances, "strides"):
        count = 0  # it is distributed, and its rows arrive one by one
    rows = sampled(n, max(ROWS, count))
    check_rows(graph, distances, rows)
    return f"Bellman's equations and paths of {'all' if len(rows) == n else len(rows)} rows"


def check_rows(graph: Any, distances: Any, rows: Sequence[int]) -> None:
    """Raise unless some rows of a matrix of distances are right, each by a proof."""
    at_a_time = max(1, ELEMENTS // max(1, len(distances)))
    for start in range(0, len(rows), at_a_time):
        some = rows[start : start + at_a_time]
        if len(some) == some[-1] + 1 - some[0]:
            found = devices.to_host(distances[some[0] : some[-1] + 1])
        else:
            found = np.stack([devices.to_host(distances[i]) for i in some])
        bellman.check_rows(graph, some, found, ROUNDING)


def elements(graph: Any, arrays: dict[str, Any], source: object) -> str:
    """Raise unless a few elements of every row obey Bellman's equations, which right ones do and few wrong ones."""
    distances = arrays["distances"]
    if not hasattr(distances, "strides"):
        return ""  # it is distributed, and its elements are far apart
    for columns in np.random.default_rng(1).permuted(np.tile(np.arange(len(distances)), (ROWS, 1)), axis=1):
        _check_elements(graph, distances, columns)
    return f"the equations of {ROWS} elements of each row"


def _check_elements(graph: Any, distances: Array, columns: np.ndarray) -> None:
    """Raise unless one element of every row is the least sum of an edge from there and the distance beyond it."""
    picked = gathered(distances, np.arange(len(columns)), columns)
    found = as_float(picked)
    if isinstance(graph, Graph):
        least = _over_edges(graph, distances, columns)
    else:
        least = _over_matrix(graph, distances, columns)
    least[columns == np.arange(len(columns))] = 0
    right = close(found, least, margin(picked, ROUNDING))
    if not right.all():
        i = int((~right).argmax())
        raise WrongResultError(
            f"from vertex {i} the distance of vertex {columns[i]} is {found[i]}, by way of its neighbours {least[i]}"
        )


def gathered(matrix: Array, rows: Array, columns: Array) -> Array:
    """Return elements of a matrix, where it lives."""
    place = devices.of(matrix)
    with place.active():
        return matrix[place.asarray(rows), place.asarray(columns)]


def _over_edges(graph: Graph, distances: Array, columns: np.ndarray) -> np.ndarray:
    """Return for every vertex the least sum of an edge from it and the distance from there to its column's vertex."""
    indptr, indices, weights = graph.compressed("csr")
    offsets = devices.to_host(indptr)
    least = np.full(graph.n, np.inf)
    for first, last in cuts(offsets):
        some = slice(int(offsets[first]), int(offsets[last]))
        own = np.repeat(np.arange(first, last), np.diff(offsets[first : last + 1]))
        sums = as_float(gathered(distances, indices[some], columns[own]))
        sums += 1 if weights is None else devices.to_host(weights[some])
        np.minimum.at(least, own, sums)
    return least


def _over_matrix(matrix: Array, distances: Array, columns: np.ndarray) -> np.ndarray:
    """Return the same for a distance matrix, on the device of the distances."""
    place, n = devices.of(distances), len(matrix)
    least = np.empty(n)
    with place.active():
        for first, part in parts(matrix, place):
            there = distances[:, place.asarray(columns[first : first + len(part)])].T
            sums = part + infinite(there)
            least[first : first + len(part)] = devices.to_host(sums.min(axis=1))
    return least
