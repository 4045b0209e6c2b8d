"""What a plan for a CPU asks of a graph beside its size: two figures, from a look that takes a few milliseconds.

Roads are numbered so that neighbours lie near each other in memory, and a search finds them in its cache; the
neighbours in a random graph lie anywhere. And roads have hundreds of levels, where others have ten.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from .. import device as devices
from .devices import DeviceSpec

#: Edges that are looked at, and how far apart the numbers of two vertices are whose distances one cache does not hold.
_EDGES, _APART = 1024, 1 << 14

#: Levels and vertices that a search goes to find out how fast levels grow.
_LEVELS, _VERTICES = 32, 1024

#: Vertices of a level that it goes on from at most, and neighbours of each that it looks at.
_NEIGHBOURS = 128


#: Vertices whose distances a core's own cache holds.
CACHED = 1 << 16


class Shape(NamedTuple):
    """What is known of a graph's form.

    Attributes
    ----------
    far : float
        Share of the edges between vertices whose numbers lie far apart.
    levels : float
        About how many levels a search has.
    """

    far: float = 1.0
    levels: float = 20.0

    def reads(self, n: int, most: float) -> float:
        """Return how long a read of a vertex takes beside one from a near cache; `most` is what the farthest adds."""
        doublings = math.log2(max(n, CACHED) / CACHED)
        return 0.8 + most * self.far * min(1.5, doublings / 2)


#: Edges below which a graph is not looked at: its calls take less than a look is worth.
_FEW = 1 << 16


def shape_beside(graph: Any, specs: tuple[DeviceSpec, ...]) -> Shape | None:
    """Return the shape of a graph on the host that its CPU shall work on, which is looked at once; None of others."""
    if len(specs) > 1 or specs[0].kind != "cpu" or graph.device != "cpu":
        return None
    found: Shape = graph.kept("shape", devices.find("cpu"), lambda: shape_of(*graph.adjacency("csr")))
    return found


def shape_of(indptr: Any, indices: Any) -> Shape:
    """Return the shape of a graph, given by each vertex's neighbours, from some of its edges and one vertex's ball."""
    if len(indices) < _FEW:
        return Shape(far=0.0)
    picked = np.linspace(0, len(indices) - 1, _EDGES).astype(indptr.dtype)  # of another type, indptr would be copied
    ends = np.searchsorted(indptr, picked, "right") - 1, indices[picked].astype(np.int64)
    far = float((np.abs(ends[0] - ends[1]) > _APART).mean())
    return Shape(far, _levels(indptr, indices, int(ends[0][_EDGES // 2])))


def _levels(indptr: np.ndarray, indices: np.ndarray, source: int) -> float:
    """Return about how many levels a search has, by how the ball around a vertex grows with its radius."""
    n = len(indptr) - 1
    seen = {source}
    frontier = np.array([source])
    volumes = [1]
    while len(frontier) and len(volumes) < _LEVELS and volumes[-1] < _VERTICES:
        parts = [indices[indptr[v] : indptr[v + 1]][:_NEIGHBOURS] for v in frontier[:_NEIGHBOURS]]
        frontier = np.array(sorted(set(np.unique(np.concatenate(parts)).tolist()) - seen), np.int64)
        seen.update(frontier.tolist())
        volumes.append(len(seen))
    radius, volume = len(volumes) - 1, volumes[-1]
    if not len(frontier) or volume >= n // 2:
        return radius + 1.0
    half = volumes[radius // 2]
    if radius >= 8 and volume < 16 * half:  # grows as a power of the radius: a road network, a grid, a path
        power = max(1.0, math.log2(volume / half))
        return min(float(n), 2 * radius * (n / volume) ** (1 / power))  # half of all begin nearer to the border
    growth = max(2.0, volume / volumes[-2])
    return radius + 3 + math.log(n / volume) / math.log(growth)
