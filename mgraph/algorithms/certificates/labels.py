"""The certificate of weak components: labels are equal across edges, and all that have one are connected.

Each label is the least vertex of its component, and its own. Edges join what is connected by hooking and doubling, from
every vertex on its own; a vertex must end with its label's vertex.

Y. Zhang, A. Azad and Z. Hu, "FastSV: a distributed-memory connected component algorithm with fast convergence", 2020.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...errors import VerificationError
from ...graph.vertex_range import Beside, edges_of
from ...planning.plan import Plan
from ...runtime.communicator import Communicator
from .run import Faults, prove, solved_graph

#: What each rule says, the most basic first.
RULES: Mapping[str, str] = {
    "label": "a label is the number of a vertex that has it too, and is at most the vertex's own number",
    "edge": "labels are equal across an edge",
    "connected": "a vertex is connected with the vertex whose number is its label",
}


@dataclass
class Proof:
    """A shard's state."""

    device: devices.Device
    beside: Beside
    first: int
    last: int
    labels: Array
    faults: Faults
    roots: int = 0
    done: bool = False


def verify(result: Any, given: Any) -> None:
    """Raise VerificationError unless the labels and the count of a result are right."""
    graph = solved_graph(result, given)
    facts = prove(graph, Certificate, {"labels": result.labels}, RULES)
    count = int(facts["roots"].sum())
    if count != result.count:
        raise VerificationError(
            f"the rule 'count' is broken: there are {count} components, not {result.count}", rule="count"
        )


class Certificate:
    """Labels, checked over ranges of vertices in one superstep."""

    facts: ClassVar[tuple[str, ...]] = ("faults", "roots")

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def load(self, shard: int, piece: Beside, device: devices.Device) -> Proof:
        """Return the shard with its own part of the labels."""
        first, last = self.plan.ranges[shard]
        own = piece.vectors["labels"]
        labels = own if len(own) == self.plan.n else device.xp.empty(self.plan.n, own.dtype)
        labels[first:last] = own
        return Proof(device, piece, first, last, labels, Faults(tuple(RULES), self.plan.n))

    def step(self, state: Proof, first: int, limit: int, comm: Communicator) -> int:
        """Gather the labels, and check all rules."""
        if state.done:
            return 0
        xp, n, faults, own = state.device.xp, self.plan.n, state.faults, slice(state.first, state.last)
        labels = state.labels
        comm.allgather(labels, self.plan.ranges)
        numbers = xp.arange(n, dtype=np.int32)
        inside = (labels >= 0) & (labels <= numbers)
        labels = xp.where(inside, labels, numbers)
        wrong = ~inside | (labels[labels] != labels)
        faults.add("label", state.first + xp.flatnonzero(wrong[own]))
        for src, dst, _ in edges_of(state.beside.part, state.device):
            differ = labels[src] != labels[dst]
            faults.add("edge", xp.maximum(src, dst)[differ])
        joined = self._joined(state, numbers, comm)
        faults.add("connected", state.first + xp.flatnonzero((joined != joined[labels])[own]))
        state.roots = int((labels[own] == numbers[own]).sum())
        found = state.device.asarray(faults.least)
        comm.allreduce(found, "min")
        faults.least = devices.to_host(found)
        state.done = True
        return 1

    def collect(self, state: Proof, comm: Communicator) -> dict[str, Array]:
        """Return the first vertex that breaks each rule, or n, and the number of the shard's roots."""
        return {"faults": state.faults.least, "roots": np.full(1, state.roots)}

    def _joined(self, state: Proof, numbers: Array, comm: Communicator) -> Array:
        """Return the least vertex that each vertex is connected with."""
        xp, parent = state.device.xp, numbers
        while True:
            above = parent[parent]
            lowered = above.copy()
            for src, dst, _ in edges_of(state.beside.part, state.device):
                for one, other in ((src, dst), (dst, src)):
                    xp.minimum.at(lowered, one, above[other])
                    xp.minimum.at(lowered, parent[one], above[other])
            comm.allreduce(lowered, "min")
            if bool((lowered == parent).all()):
                return parent
            parent = lowered
