"""The certificate of weak components: labels are equal across edges, and all that have one are connected.

Each label is the least vertex of its component, and its own. Edges join what is connected by hooking and doubling, from
every vertex on its own [1]_; a vertex must end with its label's vertex. The first edges of each vertex come first [2]_:
they join most vertices, so that few of the other edges are between two trees.

References
----------
.. [1] Y. Zhang, A. Azad and Z. Hu, "FastSV: a distributed-memory connected component algorithm with fast convergence",
   2020.
.. [2] M. Sutton, T. Ben-Nun and A. Barak, "Optimizing parallel graph connectivity computation via subgraph sampling",
   2018.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...errors import VerificationError
from ...graph.compressed import Edges
from ...graph.vertex_range import Beside, Part, VertexRange, edges_of
from ...planning.plan import Plan
from ...results import solved_graph
from ...runtime.communicator import Communicator
from .run import Faults, among_all, prove

#: Edges of a vertex that are joined before all others.
SAMPLED = 2

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
        labels = among_all(piece.vectors["labels"], first, self.plan.n)
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
        place = state.beside.part, state.device
        joined = _joined(numbers, lambda: _first_edges(*place), comm, xp)
        joined = _joined(joined, lambda: edges_of(*place), comm, xp)
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


def _joined(parent: Array, edges: Callable[[], Iterable[Edges]], comm: Communicator, xp: Any) -> Array:
    """Return the least vertex that each vertex is connected with, by `parent` already or by some edges."""
    while True:
        above = parent[parent]
        lowered = above.copy()
        for src, dst, _ in edges():
            apart = above[src] != above[dst]
            src, dst = src[apart], dst[apart]
            for one, other in ((src, dst), (dst, src)):
                xp.minimum.at(lowered, one, above[other])
                xp.minimum.at(lowered, parent[one], above[other])
        comm.allreduce(lowered, "min")
        if bool((lowered == parent).all()):
            return parent
        parent = lowered


def _first_edges(part: Part, device: devices.Device) -> Iterator[Edges]:
    """Yield the first two edges of each row of a part; their directions do not matter here."""
    xp = device.xp
    indptr, indices, _ = part.compressed("csc" if isinstance(part, VertexRange) else "csr")
    indptr, indices = device.asarray(indptr), device.asarray(indices)
    degrees, number = xp.diff(indptr), part.first if isinstance(part, VertexRange) else 0
    for k in range(SAMPLED):
        rows = xp.flatnonzero(degrees > k)
        yield Edges((rows + number).astype(np.int32), indices[indptr[rows] + k], None)
