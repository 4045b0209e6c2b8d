"""Proofs of results, before their times count: of the last repetition's, for all of a case do the same.

Each is a property that only the right answer has, as far as one is known, so that nothing needs to be solved again:

- Distances obey Bellman's equations: the source has 0, any other vertex the least sum of a neighbour's distance and
  the edge from it. With positive weights nothing else does. (Bellman, "On a routing problem", 1958.) Of all pairs as
  many rows are looked at as `SUMS` allows, all of a matrix of 1,024 vertices, and beside them the diagonal and of every
  row a few elements, so that all parts of the matrix are.
- Ranks are one less at every element's successor, and 0 at the last.
- Labels are the least vertices of their components: none exceeds its vertex, all are equal across every edge, and there
  are as many as SciPy counts components, so two components never share one.

S. Beamer, K. Asanović and D. Patterson, "The GAP benchmark suite", 2015, verifies likewise.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numba import prange
from scipy import sparse

from mgraph import device as devices
from mgraph.device.numba.caching import njit
from mgraph.dtypes import infinity
from mgraph.errors import MgraphError
from mgraph.graph import Graph

Array = Any

#: Edges looked at, or elements of a matrix summed, at a time.
AT_A_TIME = 1 << 26

#: Sums, of a distance and an edge, that may be made to look at rows of a matrix of distances: a second or two's worth.
SUMS = 1 << 30

#: Elements of every row that are looked at beside these, and rows of a matrix that is so large, or is on workers.
ROWS = 4

#: Elements of rows of a matrix that are looked at together, and rows and columns of a tile of its diagonal.
ELEMENTS, TILE = 1 << 22, 1 << 10

#: What rounding may add to distances of all pairs, whose sums are made in any order.
ROUNDING = 1e-5


class WrongResultError(MgraphError):
    """What a benchmark has computed is not the answer."""


def check(
    algorithm: str, graph: Any, arrays: dict[str, Any], source: int | None = None, names: Iterable[str] = ()
) -> str:
    """Raise unless a result has the properties that its kind must have; return these in words.

    Parameters
    ----------
    algorithm : str
        The suite's.
    graph : Graph, array of shape (n, n), or array of shape (n,)
        What was solved.
    arrays : dict of str to array
        ``"distances"``, ``"labels"`` and ``"count"``, or ``"ranks"``.
    source : int, optional
        Where distances are from, unless they are of all pairs.
    names : iterable of str
        Which of the algorithm's `CHECKS` to make; by default all.

    Raises
    ------
    WrongResultError
        If the result is wrong; it names a vertex.
    """
    made = CHECKS[algorithm]
    words = [made[name](graph, arrays, source) for name in made if not names or name in names]
    return ", ".join(filter(None, words))


def _one_row(graph: Any, arrays: dict[str, Any], source: int | None, unit: bool = False) -> str:
    """Check the distances of a search; with `unit` those in edges."""
    assert source is not None
    found = _as_float(arrays["distances"])
    if unit:
        found[found == -1] = np.inf
    _check_distances(graph, [source], found[None], unit=unit)
    return "Bellman's equations"


def _rows(graph: Any, arrays: dict[str, Any], source: None) -> str:
    """Check rows of all pairs: as many as may be looked at, in even distances."""
    distances, n = arrays["distances"], len(arrays["distances"])
    each = n + graph.m if isinstance(graph, Graph) and graph.dense is None else n * n
    count = min(n, SUMS // max(1, each))
    if count < n and not hasattr(distances, "strides"):
        count = 0  # it is distributed, and its rows arrive one by one
    rows = _sampled(n, max(ROWS, count))
    at_a_time = max(1, ELEMENTS // max(1, n))
    for start in range(0, len(rows), at_a_time):
        some = rows[start : start + at_a_time]
        if len(some) == some[-1] + 1 - some[0]:
            found = _as_float(distances[some[0] : some[-1] + 1])
        else:
            found = np.stack([_as_float(distances[i]) for i in some])
        _check_distances(graph, some, found, ROUNDING)
    return f"Bellman's equations of {'all' if len(rows) == n else len(rows)} rows"


def _diagonal(graph: Any, arrays: dict[str, Any], source: None) -> str:
    """Check that all pairs have zeros on the diagonal."""
    distances = arrays["distances"]
    for first in range(0, len(distances), TILE):
        own = slice(first, first + TILE)
        zeros = _as_float(distances[own, own].diagonal())
        if zeros.any():
            i = int(zeros.astype(bool).argmax())
            raise WrongResultError(f"from vertex {first + i} the distance of vertex {first + i} is {zeros[i]}, not 0")
    return "zeros on the diagonal"


def _elements(graph: Any, arrays: dict[str, Any], source: None) -> str:
    """Check a few elements of every row of all pairs."""
    distances = arrays["distances"]
    if not hasattr(distances, "strides"):
        return ""  # it is distributed, and its elements are far apart
    for columns in np.random.default_rng(1).permuted(np.tile(np.arange(len(distances)), (ROWS, 1)), axis=1):
        _check_elements(graph, distances, columns)
    return f"and of {ROWS} elements of each"


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


def _check_distances(
    graph: Any, sources: list[int], distances: np.ndarray, rounding: float = 0.0, unit: bool = False
) -> None:
    """Raise unless distances, a row from each source, obey Bellman's equations."""
    least = np.full(distances.shape, np.inf)
    if isinstance(graph, Graph):
        _through_edges(graph, distances, unit, least)
    else:
        _through_matrix(graph, distances, least)
    least[np.arange(len(sources)), sources] = 0
    close = _close(distances, least, rounding)
    if not close.all():
        i, v = map(int, np.unravel_index((~close).argmax(), close.shape))
        raise WrongResultError(
            f"from vertex {sources[i]} the distance of vertex {v} is {distances[i, v]}, by way of its neighbours "
            f"{least[i, v]}"
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


def _through_edges(graph: Graph, distances: np.ndarray, unit: bool, least: np.ndarray) -> None:
    """Lower `least` to the sum of a neighbour's distance and the edge from there, for every vertex in every row."""
    indptr, indices, weights = graph.csr()
    offsets = devices.to_host(indptr)
    for first, last in _cuts(offsets):
        some = slice(int(offsets[first]), int(offsets[last]))
        ends = devices.to_host(indices[some])
        lengths = np.ones(len(ends), np.int8) if unit or weights is None else devices.to_host(weights[some])
        _lower_by_edges(distances[:, first:last], offsets[first : last + 1] - offsets[first], ends, lengths, least)


def _through_matrix(matrix: Array, distances: np.ndarray, least: np.ndarray) -> None:
    """Lower `least` in the same way by a matrix, where it lives."""
    place = devices.of(matrix)
    if place.kind == "cpu":
        for first, part in _parts(matrix, place):
            _lower_by_matrix(distances[:, first : first + len(part)], part, least)
        return
    with place.active():
        there, found = place.asarray(distances), place.asarray(least)
        for first, part in _parts(matrix, place):
            for i in range(len(distances)):
                sums = part + there[i, first : first + len(part), None]
                found[i] = place.xp.minimum(found[i], sums.min(axis=0))
        least[:] = devices.to_host(found)


@njit(parallel=True, nogil=True, cache=True)
def _lower_by_edges(
    distances: np.ndarray, offsets: np.ndarray, ends: np.ndarray, lengths: np.ndarray, least: np.ndarray
) -> None:
    for i in prange(len(distances)):
        for u in range(distances.shape[1]):
            for e in range(offsets[u], offsets[u + 1]):
                through = distances[i, u] + lengths[e]
                if through < least[i, ends[e]]:
                    least[i, ends[e]] = through


@njit(parallel=True, nogil=True, cache=True)
def _lower_by_matrix(distances: np.ndarray, part: np.ndarray, least: np.ndarray) -> None:
    for i in prange(len(distances)):
        for u in range(distances.shape[1]):
            for v in range(part.shape[1]):
                through = distances[i, u] + part[u, v]
                least[i, v] = through if through < least[i, v] else least[i, v]


def _cuts(offsets: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield ranges of vertices with about `AT_A_TIME` edges each."""
    cuts = np.searchsorted(offsets, np.arange(AT_A_TIME, max(1, int(offsets[-1])), AT_A_TIME)).tolist()
    yield from itertools.pairwise([0, *cuts, len(offsets) - 1])


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


def _ranks(succ: Array, arrays: dict[str, Any], source: None) -> str:
    """Check that the last elements have rank 0 and any other one more than its successor."""
    ranks, place = arrays["ranks"], devices.of(succ)
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
    return "one less at the successor"


def _labels(graph: Graph, arrays: dict[str, Any], source: None) -> str:
    """Check that no label exceeds its vertex, and that all are equal across every edge."""
    labels = devices.to_host(arrays["labels"])
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
    return "equal across edges"


def _count(graph: Graph, arrays: dict[str, Any], source: None) -> str:
    """Check that there are as many labels as components, each that of the vertex it names."""
    labels, count = devices.to_host(arrays["labels"]), int(arrays["count"])
    indptr, indices = map(devices.to_host, graph.adjacency("csr"))
    matrix = sparse.csr_array((np.ones(len(indices), np.int8), indices, indptr), shape=(graph.n, graph.n))
    expected, _ = sparse.csgraph.connected_components(matrix, directed=True, connection="weak")
    names = np.unique(labels)
    if not count == len(names) == expected or not np.array_equal(labels[names], names):
        raise WrongResultError(f"{count} components with {len(names)} labels, and SciPy counts {expected}")
    return "as many as SciPy counts"


#: What can be checked of each algorithm's results, by names.
CHECKS: dict[str, dict[str, Callable[..., str]]] = {
    "apsp": {"diagonal": _diagonal, "rows": _rows, "elements": _elements},
    "bfs": {"distances": partial(_one_row, unit=True)},
    "sssp": {"distances": _one_row},
    "components": {"labels": _labels, "count": _count},
    "list_rank": {"ranks": _ranks},
}
