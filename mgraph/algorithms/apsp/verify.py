"""Distances of all pairs: the diagonal, a proof of many rows, and the equations of a few elements of every row."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...dtypes import NO_PREDECESSOR
from ...errors import InputError, RoundingError, VerificationError, WrongResultError
from ...graph import Graph, as_graph, in_memory
from ...paths import unfolded_path
from ...results import on_workers
from .. import bellman
from ..bellman import Rounding, as_float, close, cuts, infinite, margin, parts, sampled

#: The least number of rows to check, and the number of elements to check in every row.
ROWS = 4

#: Elements checked at a time in rows, and the size of a tile of the diagonal.
ELEMENTS, TILE = 1 << 22, 1 << 10

#: Returns the lengths of the edges between some vertices and others.
Lengths = Callable[[Array, Array], Array]

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
    """Raise unless rows are right, each by a proof: as many as `bellman.SUMS` allows, evenly spaced.

    So must be their predecessors, or highest intermediate vertices.
    """
    distances, n = arrays["distances"], len(arrays["distances"])
    each = n + graph.m if isinstance(graph, Graph) and graph.dense is None else n * n
    count = min(n, bellman.SUMS // max(1, each))
    if count < n and not hasattr(distances, "strides"):
        count = 0  # it is distributed, and its rows arrive one by one
    rows, known = sampled(n, max(ROWS, count)), as_graph(graph)
    rounding = _rounding(known, distances)
    check_rows(graph, distances, rows, rounding)
    if "predecessors" in arrays:
        lengths = lengths_of_edges(known)
        for i in rows:
            check_tree(lengths, i, distances[i], arrays["predecessors"][i], rounding)
    if "intermediate" in arrays:
        splits = Splits(known, distances, arrays["intermediate"], rounding)
        for i in rows:
            splits.check(i)
    return f"Bellman's equations and paths of {'all' if len(rows) == n else len(rows)} rows"


def _rounding(graph: Graph, distances: Any) -> Rounding:
    """Return how far distances may differ, of which it is not known whether weights were shifted."""
    return bellman.rounding_of(graph, np.dtype(distances.dtype), ROUNDING, shifted=not graph.nonnegative)


def check_rows(graph: Any, distances: Any, rows: Sequence[int], rounding: Rounding) -> None:
    """Raise unless some rows of a matrix of distances are right, each by a proof."""
    at_a_time = max(1, ELEMENTS // max(1, len(distances)))
    for start in range(0, len(rows), at_a_time):
        some = rows[start : start + at_a_time]
        if len(some) == some[-1] + 1 - some[0]:
            found = devices.to_host(distances[some[0] : some[-1] + 1])
        else:
            found = np.stack([devices.to_host(distances[i]) for i in some])
        bellman.check_rows(graph, some, found, rounding)


def check_tree(lengths_of: Lengths, source: int, distances: Any, predecessors: Any, rounding: Rounding) -> None:
    """Raise unless the predecessors of a row are right, by the rules of a search; its distances to all vertices are."""
    found, above = as_float(distances), devices.to_host(predecessors)
    n, vertices = len(found), np.arange(len(found))
    own, reached = vertices == source, found < np.inf
    inner = (above >= 0) & (above < n)
    _refuse(source, "source", own & (above != NO_PREDECESSOR))
    parents = np.where(inner, above, source)
    _refuse(source, "tree", ~own & np.where(reached, ~(inner & reached[parents]), above != NO_PREDECESSOR))
    parents[own | ~reached] = vertices[own | ~reached]
    top = parents.copy()
    for _ in range(n.bit_length()):
        top = top[top]
    _refuse(source, "cycle", reached & (top != source))
    lengths = infinite(lengths_of(parents, vertices))
    lengths[parents == vertices] = 0
    _refuse(
        source, "tree edge", reached & ~close(found, found[parents] + as_float(lengths), margin(distances, rounding))
    )


def lengths_of_edges(graph: Graph) -> Lengths:
    """Return what returns the lengths of edges by their ends, the shortest of parallel ones, ``inf`` where none is."""
    if graph.dense is not None:
        return partial(gathered, in_memory(graph.dense))
    src, dst, weights = graph.listed()[:3]
    ends = devices.to_host(src).astype(np.int64) * graph.n + devices.to_host(dst)
    lengths = np.ones(len(ends)) if weights is None else devices.to_host(weights).astype(np.float64)
    order = np.lexsort((lengths, ends))
    ends, lengths = np.append(ends[order], -1), np.append(lengths[order], np.inf)  # the last stands for no edge

    def between(starts: Array, targets: Array) -> Array:
        wanted = np.asarray(starts, np.int64) * graph.n + targets
        places = np.searchsorted(ends[:-1], wanted)
        return np.where(ends[places] == wanted, lengths[places], np.inf)

    return between


class Splits:
    """The highest intermediate vertices of a matrix's paths, which split each path in two.

    Parameters
    ----------
    graph : Graph
        What was solved.
    distances, intermediate : array of shape (n, n), or DistributedMatrix
        The matrices; those on workers are copied.
    rounding : Rounding
        How far a sum of two distances may differ from one.
    """

    def __init__(self, graph: Graph, distances: Any, intermediate: Any, rounding: Rounding) -> None:
        self._graph, self._rounding = graph, rounding
        self._distances, self._intermediate = (
            matrix.to_numpy() if on_workers(matrix) else matrix for matrix in (distances, intermediate)
        )
        self._exact = np.dtype(distances.dtype).kind == "i"

    def check(self, i: int) -> None:
        """Raise unless each path from a vertex is an edge, or of two parts that are together as long, and ends.

        If the parts have lesser intermediate vertices, it ends if theirs do. In floats they may have greater ones, as a
        sum may round once more after a part has become shorter. Then the path is followed.
        """
        found, between = as_float(self._distances[i]), devices.to_host(self._intermediate[i])
        n, vertices, margins = len(found), np.arange(len(found)), margin(self._distances[i], self._rounding)
        reached, split = (found < np.inf) & (vertices != i), between != NO_PREDECESSOR
        inner = (between >= 0) & (between < n) & (between != i) & (between != vertices)
        _refuse(i, "intermediate", split & ~(reached & inner))
        ends = np.flatnonzero(split)
        middle = between[ends]
        ahead = as_float(gathered(self._distances, middle, ends))
        right = close(found[ends], found[middle] + ahead, margins[ends])
        lesser = (between[middle] < middle) & (devices.to_host(gathered(self._intermediate, middle, ends)) < middle)
        if self._exact:
            right &= lesser
        else:
            right[right & ~lesser] = [self._ends(i, j) for j in ends[right & ~lesser].tolist()]
        _refuse(i, "intermediate", np.isin(vertices, ends[~right]))
        _refuse(i, "tree edge", reached & ~split & ~close(found, self._edges_from(i), margins))

    def _ends(self, i: int, j: int) -> bool:
        """Return whether a path has an end."""
        self._intermediate = devices.to_host(self._intermediate)
        try:
            unfolded_path(self._intermediate, i, j, len(self._intermediate))
        except (InputError, RoundingError):
            return False
        return True

    def _edges_from(self, i: int) -> np.ndarray:
        """Return the length of the shortest edge from a vertex to each, ``inf`` where there is none."""
        if self._graph.dense is not None:
            return devices.to_host(infinite(in_memory(self._graph.dense[i : i + 1])[0]))
        indptr, indices, weights = self._graph.compressed("csr")
        own, lengths = slice(int(indptr[i]), int(indptr[i + 1])), np.full(self._graph.n, np.inf)
        np.minimum.at(lengths, devices.to_host(indices[own]), 1 if weights is None else devices.to_host(weights[own]))
        return lengths


#: What the rules say that are not those of searches.
_SAYS = {
    "source": "the row's own vertex has no predecessor",
    "tree": "a reached vertex has a predecessor that is reached, and no other vertex has one",
    "cycle": "predecessors lead back to the row's vertex",
    "tree edge": "an edge leads from the predecessor, as long as the two distances differ",
    "intermediate": "a path's highest intermediate vertex splits it in two that are together as long, and it ends",
}


def _refuse(source: int, rule: str, wrong: np.ndarray) -> None:
    """Raise for the first vertex that breaks a rule, if there is one."""
    if wrong.any():
        v = int(wrong.argmax())
        message = f"from vertex {source}: vertex {v} breaks the rule {rule!r}: {_SAYS[rule]}"
        raise VerificationError(message, rule=rule, vertex=v)


def elements(graph: Any, arrays: dict[str, Any], source: object) -> str:
    """Raise unless a few elements of every row obey Bellman's equations, which right ones do and few wrong ones."""
    distances = arrays["distances"]
    if not hasattr(distances, "strides"):
        return ""  # it is distributed, and its elements are far apart
    rounding = _rounding(as_graph(graph), distances)
    for columns in np.random.default_rng(1).permuted(np.tile(np.arange(len(distances)), (ROWS, 1)), axis=1):
        _check_elements(graph, distances, columns, rounding)
    return f"the equations of {ROWS} elements of each row"


def _check_elements(graph: Any, distances: Array, columns: np.ndarray, rounding: Rounding) -> None:
    """Raise unless one element of every row is the least sum of an edge from there and the distance beyond it."""
    picked = gathered(distances, np.arange(len(columns)), columns)
    found = as_float(picked)
    if isinstance(graph, Graph):
        least = _over_edges(graph, distances, columns)
    else:
        least = _over_matrix(graph, distances, columns)
    least[columns == np.arange(len(columns))] = 0
    right = close(found, least, margin(picked, rounding))
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
