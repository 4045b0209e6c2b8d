"""The shape of a graph, for plans: two figures besides its size, measured in a few milliseconds.

In road networks, neighbours usually have near numbers, so a search finds them in its cache; in a random graph they are
anywhere in memory. And road networks have hundreds of levels, where others have ten.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from .. import device as devices
from ..arrays import Array
from ..graph import PlacedGraph
from .devices import DeviceSpec

#: The number of sampled edges, and the difference of two vertex numbers from which one cache does not hold both.
_EDGES, _APART = 1024, 1 << 14

#: The most levels and vertices of the search that measures how fast levels grow.
_LEVELS, _VERTICES = 32, 1024

#: The most vertices of a level that this search expands, and the most neighbours of each.
_NEIGHBOURS = 128


#: Number of vertices whose distances fit a core's own cache.
CACHED = 1 << 16


class Shape(NamedTuple):
    """The estimated shape of a graph.

    Attributes
    ----------
    far : float
        Share of the edges between vertices whose numbers lie far apart.
    levels : float
        Approximate number of levels of a search.
    """

    far: float = 1.0
    levels: float = 20.0

    def reads(self, n: int, most: float) -> float:
        """Return the time of a vertex read relative to one from a near cache; the farthest reads add `most`."""
        doublings = math.log2(max(n, CACHED) / CACHED)
        return 0.8 + most * self.far * min(1.5, doublings / 2)


#: The fewest edges of a graph that is sampled: calls on a smaller one take too little time.
SAMPLED_EDGES = 1 << 16

#: The shape of a graph that is not sampled.
UNSAMPLED = Shape(far=0.0)


def shape_beside(graph: Any, m: int, specs: tuple[DeviceSpec, ...]) -> Shape | None:
    """Return the shape of a graph of m edges, measured once; None for a plan of one GPU, where it decides nothing."""
    if len(specs) == 1 and specs[0].kind == "cuda":
        return None
    return UNSAMPLED if m < SAMPLED_EDGES else measured_shape(graph)  # a small call enters few functions


def measured_shape(graph: Any) -> Shape:
    """Return the shape of a graph, measured once."""
    if graph.m < SAMPLED_EDGES:
        return UNSAMPLED
    there = isinstance(graph, PlacedGraph)
    found: Shape = graph.kept(
        "shape", devices.find("cpu"), lambda: graph.seen(shape_of) if there else shape_of(*graph.layout("csr"))
    )
    return found


def shape_of(indptr: Any, indices: Any) -> Shape:
    """Return the shape of a graph in CSR form, estimated from a sample of edges and a search from one vertex.

    Of a graph on several workers, these are the rows of the first worker's vertices, and the search stays among them.
    """
    if len(indices) < SAMPLED_EDGES:
        return UNSAMPLED
    xp = devices.of(indices).xp
    picked = np.linspace(0, len(indices) - 1, _EDGES).astype(indptr.dtype)  # of another type, indptr would be copied
    picked = xp.asarray(picked)
    ends = [devices.to_host(end) for end in (xp.searchsorted(indptr, picked, "right") - 1, indices[picked])]
    ends[1] = ends[1].astype(np.int64)
    far = float((np.abs(ends[0] - ends[1]) > _APART).mean())
    return Shape(far, _levels(indptr, indices, int(ends[0][_EDGES // 2])))


def _neighbours(indptr: Array, indices: Array, vertices: np.ndarray) -> np.ndarray:
    """Return the first neighbours of some vertices."""
    xp = devices.of(indices).xp
    begin, end = (devices.to_host(indptr[xp.asarray(row)]) for row in (vertices, vertices + 1))
    counts = np.minimum(end - begin, _NEIGHBOURS)
    places = np.repeat(begin - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
    found = devices.to_host(indices[xp.asarray(places)])
    return found[found < len(indptr) - 1]


def _levels(indptr: Array, indices: Array, source: int) -> float:
    """Return the approximate number of levels of a search, from how the ball around a vertex grows with its radius."""
    n = len(indptr) - 1
    seen = {source}
    frontier = np.array([source])
    volumes = [1]
    while len(frontier) and len(volumes) < _LEVELS and volumes[-1] < _VERTICES:
        found = _neighbours(indptr, indices, frontier[:_NEIGHBOURS])
        frontier = np.array(sorted(set(found.tolist()) - seen), np.int64)
        seen.update(frontier.tolist())
        volumes.append(len(seen))
    radius, volume = len(volumes) - 1, volumes[-1]
    if not len(frontier) or volume >= n // 2:
        return radius + 1.0
    half = volumes[radius // 2]
    if radius >= 8 and volume < 16 * half:  # grows as a power of the radius: a road network, a grid, a path
        power = max(1.0, math.log2(volume / half))
        return min(float(n), 2 * radius * (n / volume) ** (1 / power))  # twice: from the border, a search crosses
    growth = max(2.0, volume / volumes[-2])
    return radius + 3 + math.log(n / volume) / math.log(growth)
