"""The shape of a graph, for plans on a CPU: two figures besides its size, measured in a few milliseconds.

In road networks, neighbours usually have near numbers, so a search finds them in its cache; in a random graph they are
anywhere in memory. And road networks have hundreds of levels, where others have ten.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from .. import device as devices
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


#: Number of edges below which a graph is not sampled: its calls take too little time.
FEW = 1 << 16


def shape_beside(graph: Any, specs: tuple[DeviceSpec, ...]) -> Shape | None:
    """Return the shape of a graph in host memory if the plan is for one CPU, measured once; otherwise None."""
    return None if len(specs) > 1 or specs[0].kind != "cpu" else shape_on_host(graph)


def shape_on_host(graph: Any) -> Shape | None:
    """Return the shape of a graph in the memory of hosts, measured once; None of a graph on a GPU."""
    there = isinstance(graph, PlacedGraph)
    if not there and graph.device != "cpu":
        return None
    found: Shape = graph.kept(
        "shape", devices.find("cpu"), lambda: graph.seen(shape_of) if there else shape_of(*graph.adjacency("csr"))
    )
    return found


def shape_of(indptr: Any, indices: Any) -> Shape:
    """Return the shape of a graph in CSR form, estimated from a sample of edges and a search from one vertex."""
    if len(indices) < FEW:
        return Shape(far=0.0)
    picked = np.linspace(0, len(indices) - 1, _EDGES).astype(indptr.dtype)  # of another type, indptr would be copied
    ends = np.searchsorted(indptr, picked, "right") - 1, indices[picked].astype(np.int64)
    far = float((np.abs(ends[0] - ends[1]) > _APART).mean())
    return Shape(far, _levels(indptr, indices, int(ends[0][_EDGES // 2])))


def _levels(indptr: np.ndarray, indices: np.ndarray, source: int) -> float:
    """Return the approximate number of levels of a search, from how the ball around a vertex grows with its radius."""
    n = len(indptr) - 1
    seen = {source}
    frontier = np.array([source])
    volumes = [1]
    while len(frontier) and len(volumes) < _LEVELS and volumes[-1] < _VERTICES:
        parts = [indices[indptr[v] : indptr[v + 1]][:_NEIGHBOURS] for v in frontier[:_NEIGHBOURS]]
        frontier = np.array(sorted(set(np.concatenate(parts).tolist()) - seen), np.int64)
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
