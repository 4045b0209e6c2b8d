"""The search for a negative cycle of a dense matrix, once its distances are known.

A dense matrix has too many edges for `potentials`. Its distances are potentials but for rounding: by them, no edge is
shorter than some small -x. A negative cycle has at most n edges, so none of them is longer than n x. Only edges that
short are relaxed; they are few, unless a large part of the matrix is on the verge of a negative cycle.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from .. import device as devices
from ..arrays import Array
from . import Graph, StoredMatrix, bands, in_memory
from .compressed import Edges
from .dense import present
from .potentials import vertex_on_cycle


def vertex_on_cycle_of(matrix: Array, distances: Any) -> int:
    """Return a vertex on a cycle of negative weight of a distance matrix, or -1; its distances may be rounded."""
    least = (devices.to_host(chunk.min(axis=0)) for chunk in _chunks(distances) if chunk.size)
    h = np.minimum.reduce([np.zeros(len(matrix)), *least])
    shortest = min(_mapped(matrix, partial(_shortest, h=h)), default=0.0)
    edges = _mapped(matrix, partial(_short_edges, h=h, most=-shortest * len(h)))
    if not edges:
        return -1
    parts = ([devices.to_host(part) for part in each] for each in zip(*edges, strict=True))
    src, dst, weights = map(np.concatenate, parts)
    return vertex_on_cycle(Graph.from_edges(src, dst, weights, n=len(h)))


def _chunks(distances: Any) -> Iterable[Array]:
    """Return some rows of distances at a time."""
    return distances.chunks() if hasattr(distances, "chunks") else (distances[some] for some in bands(distances))


def _mapped(matrix: Array, function: Callable[[Array, int, int], Any]) -> list[Any]:
    """Return what a function makes of blocks of a matrix, in memory or where it is stored."""
    if isinstance(matrix, StoredMatrix):
        return matrix.mapped(function)
    return [function(in_memory(matrix[some]), some.start, 0) for some in bands(matrix)]


def _least_lengths(block: Array, top: int, left: int, h: np.ndarray) -> Array:
    """Return lower bounds of the shifted lengths of a block's edges, whatever is rounded; elsewhere infinity."""
    place = devices.of(block)
    there, rows, columns = present(block, top, left), len(block), block.shape[1]
    before, behind = place.asarray(h[top : top + rows, None]), place.asarray(h[left : left + columns])
    weights = place.xp.where(there, block, 0).astype(np.float64)
    rounding = 4 * np.finfo(np.float64).eps * (abs(weights) + abs(before) + abs(behind))
    return place.xp.where(there, weights + (before - behind) - rounding, np.inf)


def _shortest(block: Array, top: int, left: int, h: np.ndarray) -> float:
    """Return the least shifted length in a block, or 0."""
    return min(0.0, float(_least_lengths(block, top, left, h).min())) if block.size else 0.0


def _short_edges(block: Array, top: int, left: int, h: np.ndarray, most: float) -> Edges:
    """Return the edges of a block whose shifted lengths may be up to `most`."""
    row, column = (_least_lengths(block, top, left, h) <= most).nonzero()
    return Edges(row + top, column + left, block[row, column])
