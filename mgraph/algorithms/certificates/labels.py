"""The certificate of weak components: labels are equal across edges, and all that have one are connected.

Each label is the least vertex of its component, and its own. Edges unite trees of a forest, from every vertex on its
own, by the union of trees with halved paths [1]_; a vertex must end in the tree of its label's vertex. The first edges
of each vertex come first [2]_: they join most vertices with their label's vertex, and an edge between two such vertices
of one label is between vertices of one tree, so that it is only looked at for its labels. The solver finds components
in a similar way, but no code is shared with it: the proof would not see what is wrong with both.

Each shard has the edges into its own vertices, and a forest of all vertices. The shards' forests are joined by uniting
each vertex with the least root that it has on any shard, until it has the same on all.

References
----------
.. [1] R. E. Tarjan and J. van Leeuwen, "Worst-case analysis of set union algorithms", 1984.
.. [2] M. Sutton, T. Ben-Nun and A. Barak, "Optimizing parallel graph connectivity computation via subgraph sampling",
   2018.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...errors import VerificationError
from ...graph.vertex_range import Part, PartWithVectors
from ...kernels import certificates as certificate_kernels
from ...planning.plan import Plan
from ...results import solved_graph
from ...runtime.communicator import Communicator
from .run import Needs, among_all, as_int32, broken, prove, row_order

#: Bytes for each vertex beside the labels: two forests, and labels with a mark.
A_VERTEX = 12

#: What each rule says, the most basic first.
RULES: Mapping[str, str] = {
    "label": "a label is the number of a vertex that has it too, and is at most the vertex's own number",
    "edge": "labels are equal across an edge",
    "connected": "a vertex is connected with the vertex whose number is its label",
}


@dataclass
class Proof:
    """A shard's state: the labels of all vertices, of which it has its own part at first, and the faults."""

    device: devices.Device
    part: Part
    first: int
    last: int
    labels: Array
    least: Array = field(init=False)
    roots: Array = field(init=False)
    done: bool = False

    def __post_init__(self) -> None:
        self.least = self.device.xp.full(len(RULES), len(self.labels), np.int32)
        self.roots = self.device.xp.zeros(1, np.int32)


def verify(result: Any, given: Any) -> None:
    """Raise VerificationError unless the labels and the count of a result are right."""
    graph = solved_graph(result, given)
    labels, needs = {"labels": result.labels}, Needs(A_VERTEX, False)
    facts = prove(graph, Certificate, labels, RULES, needs, result.plan.devices)
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

    def load(self, shard: int, piece: PartWithVectors, device: devices.Device) -> Proof:
        """Return the shard with its own part of the labels."""
        first, last = self.plan.ranges[shard]
        labels = among_all(as_int32(piece.vectors["labels"], device.xp), first, self.plan.n)
        return Proof(device, piece.part, first, last, labels)

    def step(self, state: Proof, first: int, limit: int, comm: Communicator) -> int:
        """Gather the labels, and check all rules; those of edges only if the first holds."""
        if state.done:
            return 0
        kernels, labels, own = certificate_kernels.on(state.device), state.labels, (state.first, state.last)
        comm.allgather(labels, self.plan.ranges)
        kernels.check_labels(labels, *own, state.least, state.roots)
        comm.allreduce(state.least, "min")
        if not broken(state.least, self.plan.n):
            xp = state.device.xp
            edges = *state.part.layout(row_order(state.part)[0], state.device), state.first
            parent, codes = xp.arange(self.plan.n, dtype=np.int32), xp.empty(self.plan.n, np.int32)
            kernels.join_first(*edges, parent)
            self._join_all(state, parent, comm)
            kernels.mark_joined(labels, parent, codes)
            kernels.check_across(*edges, codes, parent, state.least[1:])
            self._join_all(state, parent, comm)
            kernels.check_joined(labels, parent, *own, state.least[2:])
            comm.allreduce(state.least, "min")
        state.done = True
        return 1

    def collect(self, state: Proof, comm: Communicator) -> dict[str, Array]:
        """Return the first vertex that breaks each rule, or n, and the number of the shard's roots."""
        return {"faults": devices.to_host(state.least), "roots": devices.to_host(state.roots)}

    def _join_all(self, state: Proof, parent: Array, comm: Communicator) -> None:
        """Flatten the forest, after uniting it with those of all shards."""
        kernels, differ = certificate_kernels.on(state.device), state.device.xp.ones(1, np.int32)
        kernels.flatten(parent)
        while comm.size > 1 and int(differ[0]):
            least = parent.copy()
            comm.allreduce(least, "min")
            differ[0] = bool((least != parent).any())
            comm.allreduce(differ, "max")
            kernels.join(least, parent)
            kernels.flatten(parent)
