"""Paths along predecessors, walked where these lie: each shard walks as far as it can, and says where it has come."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import device as devices
from .. import paths
from ..arrays import Array
from ..dtypes import NO_PREDECESSOR
from ..planning.cut import Ranges
from ..planning.plan import Detail, Plan
from .communicator import Communicator
from .select import placed_vector, runner_of_vector

#: Bytes of predecessors on workers up to which all are read, which takes no longer than a call there.
SHORT = 1 << 22


def walked_back(predecessors: Any, vertex: int) -> list[int]:
    """Return the path to `vertex`, from a vertex without a predecessor; each vertex is the predecessor of the next.

    Raises
    ------
    RoundingError
        If the predecessors form a cycle.
    InputError
        If a predecessor is not a vertex.
    """
    if not placed_vector(predecessors):
        return paths.walked_back(predecessors, vertex)
    if predecessors.nbytes <= SHORT:
        return paths.walked_back(predecessors.to_numpy(), vertex)
    runner = runner_of_vector("predecessors", predecessors, {})
    plan = Plan(
        algorithm="path",
        method="walk",
        n=predecessors.size,
        dtype="int32",
        ranges=predecessors.ranges,
        devices=runner.specs,
        steps=1,
        span=1,
        peak_bytes=(0,) * len(runner.specs),
        seconds=math.inf,  # not predicted: it depends on how often the path changes shards
        detail=Detail(),
    )
    found = runner.run(Walk(plan.ranges, vertex), lambda shard: None, plan, None).arrays
    if len(found["vertices"]) > predecessors.size:
        raise paths.endless("predecessors")
    path: list[int] = found["vertices"][found["places"].argsort()[::-1]].tolist()
    end = int(found["end"][0])
    if end != NO_PREDECESSOR:
        raise paths.changed("predecessors", path[0], end, predecessors.size)
    return path


@dataclass
class State:
    """A shard's predecessors, the vertices that it has passed, and their places on the path, from its end.

    `end` is what the last vertex has as its predecessor: none, or a number that is not a vertex.
    """

    device: devices.Device
    predecessors: Array
    end: int = NO_PREDECESSOR
    vertices: list[int] = field(default_factory=list)
    places: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Walk:
    """Walks from a vertex until there is none before, or more vertices were passed than there are.

    Whose turn it is follows from the vertex: the shard walks within its own range, and sends the others the next vertex
    and the number of those passed.
    """

    ranges: Ranges
    vertex: int
    facts = ("vertices", "places", "end")

    def load(self, shard: int, piece: dict[str, Array], device: devices.Device) -> State:
        """Return the shard's predecessors."""
        return State(device, piece["predecessors"])

    def step(self, s: State, first: int, limit: int, comm: Communicator) -> int:
        """Walk the whole path, in the first superstep."""
        if first:
            return 0
        everyone, n = range(comm.size), self.ranges[-1][1]
        vertex, passed = self.vertex, 0
        while 0 <= vertex < n and passed <= n:
            turn = next(shard for shard, (start, end) in enumerate(self.ranges) if start <= vertex < end)
            if turn == comm.rank:
                vertex, passed = self._walked(s, *self.ranges[turn], vertex, passed)
            message = s.device.asarray(np.array([vertex, passed]))
            comm.broadcast(message, turn, everyone)
            vertex, passed = devices.to_host(message).tolist()
        s.end = vertex
        return 1

    def _walked(self, s: State, first: int, last: int, vertex: int, passed: int) -> tuple[int, int]:
        """Walk within the shard's range; return the next vertex, and the number of all that were passed."""
        while first <= vertex < last and passed <= self.ranges[-1][1]:
            s.vertices.append(vertex)
            s.places.append(passed)
            vertex, passed = int(s.predecessors[vertex - first]), passed + 1
        return vertex, passed

    def collect(self, s: State, comm: Communicator) -> dict[str, Array]:
        """Return the vertices that the shard has passed, their places on the path, from its end, and `end`."""
        passed = {"vertices": np.array(s.vertices, np.int64), "places": np.array(s.places, np.int64)}
        return passed | {"end": np.full(1, s.end)}
