"""The certificate of a search: distances, with or without predecessors, are those of the shortest paths.

With predecessors, by the rules that Graph500 names: they form a tree without a cycle, rooted at the sources; an edge of
the graph leads from each vertex's predecessor and has the length by which they differ; and no edge shortens a distance.
Without them, every vertex has such an edge, called tight, from some vertex. If that vertex is nearer, induction over
the distances gives a path. Edges of length zero or less need a search along tight edges: vertices on a cycle of length
zero could explain each other.

Integers are compared exactly. Searches in floats add a distance and a length in the type of the distances, with one
rounding. So do the rules here, and they accept a difference of one unit in the last place. Distances of all pairs are
sums in any order, of which more rounding is accepted (`Question.rounding`).

Graph500 benchmark specification, "Validation"; `mgraph.algorithms.bellman` has the rules for rows of matrices.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ... import device as devices
from ...arrays import Array, distinct
from ...dtypes import NO_PREDECESSOR
from ...graph import Graph, PlacedGraph
from ...graph.compressed import Edges, rows_of
from ...graph.vertex_range import Beside, edges_of
from ...planning.plan import Plan
from ...runtime.communicator import Communicator
from .run import Faults, among_all, prove

#: What each rule says, the most basic first.
RULES: Mapping[str, str] = {
    "source": "a source has distance 0, and no predecessor",
    "limit": "no distance exceeds the limit, or that of the target",
    "tree": "a reached vertex has a predecessor that is reached, and no other vertex has one",
    "cycle": "predecessors lead back to a source",
    "tree edge": "an edge leads from the predecessor, as long as the two distances differ",
    "reached": "an edge from a reached vertex leads to a reached vertex, within the limit",
    "edge": "no distance exceeds that of a neighbour and the edge from there",
    "tight": "a reached vertex has a neighbour from which its distance is reached",
    "path": "a path is as long as the distance",
}


@dataclass(frozen=True)
class Question:
    """What a search was asked.

    Attributes
    ----------
    starts : tuple of int
        The sources.
    limit, target : float, int
        The greatest distance, and the vertex at which the search ended, or -1.
    unit : bool
        Whether every edge has length 1.
    unreached : float
        The distance of a vertex that was not reached.
    nonnegative : bool
        Whether no length is negative.
    rounding : float
        The relative error of floats to accept, if it is more than a unit in the last place.
    """

    starts: tuple[int, ...]
    limit: float
    target: int
    unit: bool
    unreached: float
    nonnegative: bool
    rounding: float = 0.0


#: Bytes that it takes to follow an edge that may close a circle of tight edges, beside its ends.
A_TIE = 24


@dataclass
class Proof:
    """A shard's state: the vectors of all vertices, of which it has its own part at first."""

    device: devices.Device
    beside: Beside
    first: int
    last: int
    distances: Array
    predecessors: Array | None
    faults: Faults
    done: bool = False


def verify(graph: Graph | PlacedGraph, question: Question, vectors: Mapping[str, Array]) -> None:
    """Raise VerificationError unless vectors, distances and perhaps predecessors, answer a question about a graph."""
    prove(graph, lambda plan: Certificate(plan, question), vectors, RULES)


class Certificate:
    """Distances from some sources, checked over ranges of vertices in one superstep.

    Parameters
    ----------
    plan : Plan
        Its ranges are those of the vertices.
    question : Question
        What the search was asked.
    """

    facts: ClassVar[tuple[str, ...]] = ("faults",)

    def __init__(self, plan: Plan, question: Question) -> None:
        self.plan = plan
        self.question = question

    def load(self, shard: int, piece: Beside, device: devices.Device) -> Proof:
        """Return the shard with its own part of the vectors."""
        first, last = self.plan.ranges[shard]
        whole = {name: among_all(own, first, self.plan.n) for name, own in piece.vectors.items()}
        faults = Faults(tuple(RULES), self.plan.n)
        return Proof(device, piece, first, last, whole["distances"], whole.get("predecessors"), faults)

    def step(self, state: Proof, first: int, limit: int, comm: Communicator) -> int:
        """Gather the vectors, and check all rules."""
        if state.done:
            return 0
        with np.errstate(over="ignore", invalid="ignore"):  # sums may be infinite, and wrong distances anything
            self._check(state, comm)
        found = state.device.asarray(state.faults.least)
        comm.allreduce(found, "min")
        state.faults.least = devices.to_host(found)
        state.done = True
        return 1

    def collect(self, state: Proof, comm: Communicator) -> dict[str, Array]:
        """Return the first vertex that breaks each rule, or n; the same on every shard."""
        return {"faults": state.faults.least}

    def _check(self, state: Proof, comm: Communicator) -> None:
        xp, q, faults, d = state.device.xp, self.question, state.faults, state.distances
        own = slice(state.first, state.last)
        comm.allgather(d, self.plan.ranges)
        starts = state.device.asarray(np.array(q.starts, np.int64))
        start = xp.zeros(self.plan.n, bool)
        start[starts] = True
        reached = d != q.unreached
        most = q.limit
        if q.target >= 0 and bool(reached[q.target]):
            most = min(most, d[q.target].item())
        faults.add("source", starts[d[starts] != 0])
        faults.add("limit", state.first + xp.flatnonzero(reached[own] & (d[own] > most)))
        if state.predecessors is not None:
            comm.allgather(state.predecessors, self.plan.ranges)
            self._check_tree(state, start, reached)
        proven, tight, ties = self._check_edges(state, reached, most)
        needed = reached[own] & ~start[own]
        if state.predecessors is not None:
            faults.add("tree edge", state.first + xp.flatnonzero(needed & ~proven))
            return
        faults.add("tight", state.first + xp.flatnonzero(needed & ~tight))
        marks = xp.zeros(self.plan.n, np.int32)
        marks[own] = start[own] | proven
        self._spread(state, ties, marks, comm)
        faults.add("path", state.first + xp.flatnonzero(needed & (marks[own] == 0)))

    def _check_tree(self, state: Proof, start: Array, reached: Array) -> None:
        """Check that each reached vertex leads back to a source by predecessors: by doubling the steps taken."""
        xp, faults, parent = state.device.xp, state.faults, state.predecessors
        assert parent is not None
        own, n = slice(state.first, state.last), self.plan.n
        inner = (parent >= 0) & (parent < n)
        up = xp.where(inner & ~start, parent, xp.arange(n, dtype=parent.dtype))
        rooted = start | ~reached
        faults.add("source", xp.flatnonzero(start & (parent != NO_PREDECESSOR)))
        wrong = xp.where(reached, ~(inner & reached[up]), parent != NO_PREDECESSOR) & ~start
        faults.add("tree", state.first + xp.flatnonzero(wrong[own]))
        for _ in range(n.bit_length()):
            up = up[up]
        faults.add("cycle", state.first + xp.flatnonzero((~rooted & ~start[up])[own]))

    def _check_edges(self, state: Proof, reached: Array, most: float) -> tuple[Array, Array, list[Edges]]:
        """Check the edges into the shard's vertices.

        Returns
        -------
        proven : array of bool, shape (last - first,)
            Whether a tight edge leads from the vertex's predecessor; without predecessors, from a nearer vertex.
        tight : array of bool, shape (last - first,)
            Whether any tight edge leads to the vertex.
        ties : list of Edges
            Without predecessors, the tight edges along which to search for the others.
        """
        xp, q, faults, d = state.device.xp, self.question, state.faults, state.distances
        proven, tight = xp.zeros((2, state.last - state.first), bool)
        ties: list[Edges] = []
        for src, dst, weights in edges_of(state.beside.part, state.device):
            before, after = d[src], d[dst]
            low, high = self._sums(xp, before, None if q.unit else weights)
            there, both = reached[src], reached[src] & reached[dst]
            faults.add("reached", dst[there & ~reached[dst] & (high <= most) & (high < float("inf"))])
            faults.add("edge", dst[both & (after > high)])
            exact = both & (low <= after) & (after <= high)
            if q.nonnegative:
                exact &= before <= after
            if state.predecessors is not None:
                proven[dst[exact & (src == state.predecessors[dst])] - state.first] = True
                continue
            tight[dst[exact] - state.first] = True
            nearer = exact & (before < after) if q.nonnegative else xp.zeros(len(src), bool)
            proven[dst[nearer] - state.first] = True
            tie = exact & ~nearer & (src != dst)
            if bool(tie.any()):
                ties.append(Edges(src[tie], dst[tie], None))
                found = sum(len(some.src) for some in ties)
                devices.check_free_memory(f"proving {found:,} edges between equals", A_TIE * found, state.device)
        return proven, tight, ties

    def _sums(self, xp: Any, before: Array, weights: Array | None) -> tuple[Array, Array]:
        """Return the least and the greatest sum to accept of distances and the lengths of edges."""
        if before.dtype.kind == "i":
            sums = before.astype(np.int64) + (1 if weights is None else weights)
            return sums, sums
        length = before.dtype.type(1) if weights is None else weights.astype(before.dtype)
        sums = before + length
        infinity = before.dtype.type("inf")
        low, high = xp.nextafter(sums, -infinity), xp.nextafter(sums, infinity)
        if self.question.rounding:
            margin = xp.where(xp.isfinite(sums), abs(sums), 0) * before.dtype.type(self.question.rounding)
            low, high = xp.minimum(low, sums - margin), xp.maximum(high, sums + margin)
        return low, high

    def _spread(self, state: Proof, ties: list[Edges], marks: Array, comm: Communicator) -> None:
        """Mark what ties lead to from the marked vertices, on all shards, level by level."""
        xp, ranges = state.device.xp, self.plan.ranges
        none = xp.zeros(0, np.int32)
        src, dst = xp.concatenate([none, *(e.src for e in ties)]), xp.concatenate([none, *(e.dst for e in ties)])
        order = xp.argsort(src)
        src, dst = src[order], dst[order]
        known = xp.zeros(len(marks), np.int32)
        while True:
            comm.allgather(marks, ranges)
            level = xp.flatnonzero(marks > known)
            if not len(level):
                return
            known = marks.copy()
            while len(level):
                starts, ends = xp.searchsorted(src, level, side="left"), xp.searchsorted(src, level, side="right")
                offsets = xp.zeros(len(level) + 1, np.int64)
                xp.cumsum(ends - starts, out=offsets[1:])
                rows = rows_of(offsets, int(offsets[-1]), xp)
                found = dst[starts[rows] + xp.arange(len(rows)) - offsets[rows]]
                level = distinct(found[marks[found] == 0], xp)
                marks[level] = 1
