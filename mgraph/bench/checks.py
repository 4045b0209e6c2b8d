"""Proofs of results, before their times count.

Each is a property that only the right answer has, as far as one is known, so that nothing needs to be solved again:

- Distances obey Bellman's equations: the source has 0, any other vertex the least sum of a neighbour's distance and
  the edge from it. With positive weights nothing else does. (Bellman, "On a routing problem", 1958.) Of all pairs some
  rows are looked at, and of every row a few elements, so that all parts of the matrix are.
- Ranks are one less at every element's successor, and 0 at the last.
- Labels are the least vertices of their components: none exceeds its vertex, all are equal across every edge, and there
  are as many as SciPy counts components, so two components never share one.

R. Beamer, K. Asanović and D. Patterson, "The GAP benchmark suite", 2015, verifies likewise.
"""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from .. import device as devices
from ..errors import MgraphError
from ..graph import Graph
from ..weights import infinity

Array = Any

#: Edges looked at, or elements of a matrix summed, at a time.
AT_A_TIME = 1 << 26

#: Rows of a matrix of distances that are looked at, and elements of every row.
ROWS = 4

#: What rounding may add to distances of all pairs, whose sums are made in any order.
ROUNDING = 1e-5


class WrongResultError(MgraphError):
    """What a benchmark has computed is not the answer."""


def check(algorithm: str, graph: Any, arrays: dict[str, Any], source: int | None = None) -> str:
    """Raise unless a result has the property that its kind must have; return the property's name.

    Parameters
    ----------
    algorithm : str
        The suite's.
    graph : Graph, array of shape (n, n), or array of shape (n,)
        What was solved.
    arrays : dict of str to array
        ``"distances"``, ``"labels"`` and ``"count"``, or ``"ranks"``.
    source : int, optional
        Where distances are from; of all pairs some rows are looked at.

    Raises
    ------
    WrongResultError
        If the result is wrong; it names a vertex.
    """
    if algorithm == "components":
        _check_labels(graph, devices.to_host(arrays["labels"]), int(arrays["count"]))
        return "equal across edges, as many as SciPy counts"
    if algorithm == "list_rank":
        _check_ranks(graph, arrays["ranks"])
        return "one less at the successor"
    if algorithm == "apsp":
        distances = arrays["distances"]
        for i in _sampled(distances.shape[0], ROWS):
            _check_distances(graph, i, _as_float(distances[i]), ROUNDING)
        if hasattr(distances, "strides"):  # else it is distributed, and its elements are far apart
            for columns in np.random.default_rng(1).permuted(np.tile(np.arange(len(distances)), (ROWS, 1)), axis=1):
                _check_elements(graph, distances, columns)
    else:
        assert source is not None
        found = _as_float(arrays["distances"])
        if algorithm == "bfs":
            found[found == -1] = np.inf
        _check_distances(graph, source, found, unit=algorithm == "bfs")
    return "Bellman's equations"


def _sampled(n: int, count: int) -> list[int]:
    """Return some rows of so many, the first and the last among them."""
    return sorted(set(np.linspace(0, n - 1, min(count, n)).astype(int).tolist()))


def _as_float(distances: Array) -> np.ndarray:
    """Return distances on the host as float64, ``inf`` where there is no path."""
    found = devices.to_host(distances)
    floats = found.astype(np.float64)
    if found.dtype.kind == "i":
        floats[found == np.iinfo(found.dtype).max] = np.inf
    return floats


def _check_distances(graph: Any, source: int, distances: np.ndarray, rounding: float = 0.0, unit: bool = False) -> None:
    """Raise unless distances obey Bellman's equations."""
    if isinstance(graph, Graph):
        least = _through_edges(graph, distances, unit)
    else:
        least = _through_matrix(graph, distances)
    least[source] = 0
    close = _close(distances, least, rounding)
    if not close.all():
        v = int((~close).argmax())
        raise WrongResultError(
            f"from vertex {source} the distance of vertex {v} is {distances[v]}, by way of its neighbours {least[v]}"
        )


def _close(found: np.ndarray, expected: np.ndarray, rounding: float) -> np.ndarray:
    """Return where numbers are equal, but for the last bit of a float32 or a share that rounding may add.

    An edge is often shorter than any fixed share of a long path, so a search, which adds edge by edge, gets the former.
    """
    with np.errstate(invalid="ignore"):  # of infinities
        within = np.maximum(np.spacing(np.abs(expected).astype(np.float32)) / 2, rounding * np.abs(expected))
        close: np.ndarray = (found == expected) | (np.abs(found - expected) <= within)
    return close & ~(np.isinf(found) ^ np.isinf(expected))


def _check_elements(graph: Any, distances: Array, columns: np.ndarray) -> None:
    """Raise unless one element of every row is the least sum of an edge from there and the distance beyond it."""
    found = _as_float(_gathered(distances, np.arange(len(columns)), columns))
    if isinstance(graph, Graph):
        least = _over_edges(graph, distances, columns)
    else:
        least = _over_matrix(graph, distances, columns)
    least[columns == np.arange(len(columns))] = 0
    close = _close(found, least, ROUNDING)
    if not close.all():
        i = int((~close).argmax())
        raise WrongResultError(
            f"from vertex {i} the distance of vertex {columns[i]} is {found[i]}, by way of its neighbours {least[i]}"
        )


def _gathered(matrix: Array, rows: Array, columns: Array) -> Array:
    """Return elements of a matrix, where it lives."""
    place = devices.of(matrix)
    with place.active():
        return matrix[place.asarray(rows), place.asarray(columns)]


def _over_edges(graph: Graph, distances: Array, columns: np.ndarray) -> np.ndarray:
    """Return for every vertex the least sum of an edge from it and the distance from there to its column's vertex."""
    indptr, indices, weights = graph.csr()
    offsets = devices.to_host(indptr)
    least = np.full(graph.n, np.inf)
    for first, last in _cuts(offsets):
        some = slice(int(offsets[first]), int(offsets[last]))
        own = np.repeat(np.arange(first, last), np.diff(offsets[first : last + 1]))
        sums = _as_float(_gathered(distances, indices[some], columns[own]))
        sums += 1 if weights is None else devices.to_host(weights[some])
        np.minimum.at(least, own, sums)
    return least


def _over_matrix(matrix: Array, distances: Array, columns: np.ndarray) -> np.ndarray:
    """The same of a matrix, where the distances live."""
    place, n = devices.of(distances), len(matrix)
    least = np.empty(n)
    with place.active():
        for first, part in _parts(matrix, place):
            there = distances[:, place.asarray(columns[first : first + len(part)])].T
            sums = part + _infinite(there)
            least[first : first + len(part)] = devices.to_host(sums.min(axis=1))
    return least


def _through_edges(graph: Graph, distances: np.ndarray, unit: bool) -> np.ndarray:
    """Return for every vertex the least sum of a neighbour's distance and the edge from there."""
    indptr, indices, weights = graph.csr()
    offsets = devices.to_host(indptr)
    least = np.full(graph.n, np.inf)
    for first, last in _cuts(offsets):
        start, end = int(offsets[first]), int(offsets[last])
        sums = np.repeat(distances[first:last], np.diff(offsets[first : last + 1]))
        sums += 1 if unit or weights is None else devices.to_host(weights[start:end])
        np.minimum.at(least, devices.to_host(indices[start:end]), sums)
    return least


def _cuts(offsets: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield ranges of vertices with about `AT_A_TIME` edges each."""
    cuts = np.searchsorted(offsets, np.arange(AT_A_TIME, max(1, int(offsets[-1])), AT_A_TIME)).tolist()
    yield from itertools.pairwise([0, *cuts, len(offsets) - 1])


def _through_matrix(matrix: Array, distances: np.ndarray) -> np.ndarray:
    """The same of a matrix, where it lives."""
    place = devices.of(matrix)
    xp = place.xp
    with place.active():
        least, there = xp.full(len(matrix), np.inf), place.asarray(distances)
        for first, part in _parts(matrix, place):
            part += there[first : first + len(part), None]
            least = xp.minimum(least, part.min(axis=0))
        return devices.to_host(least)


def _parts(matrix: Array, place: devices.Device) -> Iterator[tuple[int, Array]]:
    """Yield some rows at a time on a device, with the number of the first: as float64, ``inf`` where no edge is."""
    rows = max(1, AT_A_TIME // max(1, len(matrix)))
    for first in range(0, len(matrix), rows):
        part = _infinite(place.asarray(matrix[first : first + rows]))
        own = place.xp.arange(len(part))
        part[own, first + own] = np.inf
        yield first, part


def _infinite(part: Array) -> Array:
    """Return a copy in float64, with ``inf`` where integers have what stands for it."""
    copy = part.astype(np.float64)
    if np.dtype(part.dtype).kind == "i":
        copy[part == infinity(np.dtype(part.dtype))] = np.inf
    return copy


def _check_ranks(succ: Array, ranks: Array) -> None:
    """Raise unless the last elements have rank 0 and any other one more than its successor."""
    place = devices.of(succ)
    with place.active():
        ranks = place.asarray(ranks)
        for first in range(0, len(succ), AT_A_TIME):
            some, own = succ[first : first + AT_A_TIME], ranks[first : first + AT_A_TIME]
            last = some == place.xp.arange(first, first + len(some), dtype=succ.dtype)
            right = place.xp.where(last, own == 0, own == ranks[some] + 1)
            if not bool(right.all()):
                i = int((~right).argmax())
                raise WrongResultError(
                    f"element {first + i} has rank {int(own[i])}, its successor {int(ranks[int(some[i])])}"
                )


def _check_labels(graph: Graph, labels: np.ndarray, count: int) -> None:
    """Raise unless labels are the least vertices of components."""
    outside = (labels < 0) | (labels > np.arange(graph.n))
    if outside.any():
        v = int(outside.argmax())
        raise WrongResultError(f"vertex {v} has label {labels[v]}, and the least vertex of its component is 0 to {v}")
    indptr, indices = map(devices.to_host, graph.adjacency("csr"))
    own = np.repeat(labels, np.diff(indptr))
    across = own != labels[indices]
    if across.any():
        e = int(across.argmax())
        raise WrongResultError(f"vertex {indices[e]} has label {labels[indices[e]]}, a neighbour {own[e]}")
    matrix = sparse.csr_array((np.ones(len(indices), np.int8), indices, indptr), shape=(graph.n, graph.n))
    expected, _ = sparse.csgraph.connected_components(matrix, directed=True, connection="weak")
    names = np.unique(labels)
    if not count == len(names) == expected or not np.array_equal(labels[names], names):
        raise WrongResultError(f"{count} components with {len(names)} labels, and SciPy counts {expected}")
