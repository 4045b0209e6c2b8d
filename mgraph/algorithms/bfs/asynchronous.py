"""Asynchronous breadth-first search: shortest paths with edges of length one, between shards that meet seldom.

A shard goes on for many levels among the edges into its own vertices before it tells the others what it found. A vertex
may get a distance that is too great, and fall to the right one after an exchange. In graphs of hundreds of levels that
costs less than an exchange a level. After R. Pearce, M. Gokhale and N. Amato, "Multithreaded asynchronous graph
traversal for in-memory and semi-external memory", 2010.
"""

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...graph.vertex_range import Part
from ...planning.plan import Plan
from ...runtime.communicator import Communicator
from ..sssp.program import FromOneSource, OneSourceShard, Request


class AsynchronousSearch(FromOneSource):
    """Breadth-first search by the program of shortest paths.

    Parameters
    ----------
    plan : Plan
        The plan.
    sources : tuple of int
        The vertices to start from.
    max_depth, target : int or None
        The greatest distance to search to, and the vertex to end at.
    """

    facts = ()

    def __init__(
        self, plan: Plan, sources: tuple[int, ...], max_depth: int | None = None, target: int | None = None
    ) -> None:
        limit, end = float("inf") if max_depth is None else max_depth, -1 if target is None else target
        window = float("inf")  # of equal lengths no distance falls twice
        super().__init__(plan, Request(sources, False, limit, end, window, negative=False), None)

    def lengths(self, piece: Part, device: devices.Device) -> Array:
        """Return ones."""
        _, indices = piece.layout("csr", device)
        return piece.kept("lengths.ones", device, lambda: device.xp.ones(len(indices), np.int32))

    def collect(self, state: OneSourceShard, comm: Communicator) -> dict[str, Array]:
        """Return the shard's part of the distances and predecessors."""
        found = super().collect(state, comm)
        distances = found["distances"]
        distances[distances == np.iinfo(np.int32).max] = -1
        return {name: found[name] for name in ("distances", "predecessors") if name in found}
