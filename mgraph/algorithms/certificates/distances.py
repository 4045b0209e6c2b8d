"""The certificate of a search: distances, with or without predecessors, are those of the shortest paths.

With predecessors, by the rules that Graph500 names: they form a tree without a cycle, rooted at the sources; an edge of
the graph leads from each vertex's predecessor and has the length by which they differ; and no edge shortens a distance.
Without them, every vertex has such an edge, called tight, from some vertex. If that vertex is nearer, induction over
the distances gives a path. Edges of length zero or less need a search along tight edges: vertices on a cycle of length
zero could explain each other.

Predecessors that are all nearer than their vertices form no cycle: distances fall along them, so they end at a vertex
without one, a source. Only if some is not nearer, which takes a length of zero or less or rounding, predecessors are
followed: by doubling the steps, at most as often as the number of vertices has bits.

One pass over the edges checks most rules (``kernels/certificates.cu``). A rule is checked only if those before it hold:
the error names the first that does not.

Integers are compared exactly. Searches in floats add a distance and a length in the type of the distances, with one
rounding. So do the rules here, and they accept a difference of one unit in the last place. Distances of all pairs are
sums in any order, of which more rounding is accepted (`Question.rounding`). Kernels take it relative to a sum. Where
large numbers may cancel, it is not: then a constant is added to all distances, beside which they all are small.

The nearest of several sources, of equally near ones the least, is proved by a second pass over the edges: no tight edge
leads from a vertex of a lesser one, and the distances are still proved if only those edges count that lead between
vertices of the same nearest source. Sums are then compared exactly, as those are that tell which is nearest.

Graph500 benchmark specification, "Validation"; `mgraph.algorithms.bellman` has the rules for rows of matrices.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...errors import VerificationError
from ...graph import Graph, PlacedGraph
from ...graph.vertex_range import Part, PartWithVectors
from ...kernels import certificates as certificate_kernels
from ...planning.devices import DeviceSpec
from ...planning.plan import Plan
from ...runtime.communicator import Communicator
from ..bellman import EDGE_BY_EDGE, Rounding
from .run import Needs, among_all, as_int32, broken, called, prove, row_order

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
    "nearest": "shortest paths lead from the nearest source, and from no lesser one",
}

#: The rules that a wrong distance, predecessor and nearest source breaks.
OF_DISTANCES = ("source", "limit", "tree", "tree edge", "reached", "edge", "tight", "path")
OF_PREDECESSORS = ("source", "tree", "cycle", "tree edge")
OF_NEAREST = ("nearest",)


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
    rounding : Rounding
        The error of floats to accept, if it is more than a unit in the last place.
    row : int or None
        The vertex of whose row the errors tell, if the result has several.
    """

    starts: tuple[int, ...]
    limit: float
    target: int
    unit: bool
    unreached: float
    nonnegative: bool
    rounding: Rounding = EDGE_BY_EDGE
    row: int | None = None


#: Bytes for each vertex beside the vectors: a mark of sources, two of what edges prove; the vertex above; and where
#: there are nearest sources, marks of those that are their own.
A_VERTEX, ABOVE, OWN = 3, 4, 1

#: Bytes on the host for each tight edge that is searched, and for each vertex.
A_TIE, A_VERTEX_OF_TIES = 16, 16

#: The relative error of sums to accept that adding a constant makes: a few roundings in float64, each of 2**-53.
SHIFTED = 2.0**-48

#: The places of rules in the order of `RULES`.
CYCLE, TREE_EDGE, REACHED, TIGHT, PATH, NEAREST = map(
    list(RULES).index, ("cycle", "tree edge", "reached", "tight", "path", "nearest")
)


@dataclass
class Proof:
    """A shard's state.

    Attributes
    ----------
    distances, predecessors, nearest : array, shape (n,)
        The vectors of all vertices, of which the shard has its own part at first.
    ulps : int
        The units in the last place that a distance may differ from a sum: 1 for floats.
    rounding : float
        The relative error of sums to accept.
    added, greatest : float
        What has been added to all distances, and the greatest one that their type held before.
    starts : array of uint8, shape (n,)
        Marks of the sources.
    least : array of int32
        The first vertex that breaks each rule, or n.
    """

    device: devices.Device
    part: Part
    first: int
    last: int
    distances: Array
    predecessors: Array | None
    nearest: Array | None
    ulps: int
    rounding: float
    starts: Array = field(init=False)
    least: Array = field(init=False)
    added: float = 0.0
    greatest: float = math.inf
    done: bool = False

    def __post_init__(self) -> None:
        self.starts = self.device.xp.zeros(len(self.distances), np.uint8)
        self.least = self.device.xp.full(len(RULES), len(self.distances), np.int32)


def verify(
    graph: Graph | PlacedGraph, question: Question, vectors: Mapping[str, Array], solved_on: Sequence[DeviceSpec]
) -> None:
    """Raise VerificationError unless vectors answer a question about a graph.

    They are distances, and perhaps predecessors and nearest sources. `solved_on` are the devices of the result's plan.
    An error tells of which row they are, if they are one.
    """
    a_vertex = A_VERTEX + (ABOVE if "predecessors" in vectors else 0) + (OWN if "nearest" in vectors else 0)
    needs = Needs(a_vertex, not question.unit)
    try:
        prove(graph, lambda plan: Certificate(plan, question), vectors, RULES, needs, solved_on)
    except VerificationError as error:
        if question.row is None:
            raise
        message = f"from vertex {called(graph, question.row)}: {error}"
        raise VerificationError(message, rule=error.rule, vertex=error.vertex) from None


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

    def load(self, shard: int, piece: PartWithVectors, device: devices.Device) -> Proof:
        """Return the shard with its own part of the vectors."""
        first, last = self.plan.ranges[shard]
        weights = None if self.question.unit else piece.part.compressed(row_order(piece.part)[0]).weights
        distances, ulps = _comparable(piece.vectors["distances"], weights)
        distances = among_all(distances, first, self.plan.n)
        parents, nearest = [
            None if vector is None else among_all(as_int32(vector, device.xp), first, self.plan.n)
            for vector in map(piece.vectors.get, ("predecessors", "nearest"))
        ]
        relative = self.question.rounding.relative
        return Proof(device, piece.part, first, last, distances, parents, nearest, ulps, relative)

    def step(self, state: Proof, first: int, limit: int, comm: Communicator) -> int:
        """Gather the vectors, and check all rules, up to a broken one that is more basic than the next."""
        if state.done:
            return 0
        for vector in (state.distances, state.predecessors, state.nearest):
            if vector is not None:
                comm.allgather(vector, self.plan.ranges)
        self._check_vertices(state, comm)
        if not broken(state.least, self.plan.n) and state.predecessors is not None:
            self._check_no_cycle(state, comm)
        if not broken(state.least, self.plan.n):
            if state.ulps and np.any(self.question.rounding.largest):
                self._level(state)
            self._check_edges(state, comm)
        if not broken(state.least, self.plan.n) and state.nearest is not None:
            self._check_nearest(state, comm)
        state.done = True
        return 1

    def collect(self, state: Proof, comm: Communicator) -> dict[str, Array]:
        """Return the first vertex that breaks each rule, or n; the same on every shard."""
        return {"faults": devices.to_host(state.least)}

    def _check_vertices(self, state: Proof, comm: Communicator) -> None:
        state.starts[state.device.asarray(np.array(self.question.starts, np.int64))] = 1
        kernels, own = certificate_kernels.on(state.device), (state.first, state.last)
        vectors = state.distances, state.predecessors, state.starts
        kernels.check_vertices(*vectors, *own, *self._bounds(state), state.least)
        comm.allreduce(state.least, "min")

    def _check_no_cycle(self, state: Proof, comm: Communicator) -> None:
        """Check that predecessors lead to a source, unless each is nearer than its vertex, which proves it."""
        xp, n, parents = state.device.xp, self.plan.n, state.predecessors
        kernels, own = certificate_kernels.on(state.device), (state.first, state.last)
        level = xp.full(1, n, np.int32)
        kernels.check_nearer(state.distances, parents, state.starts, *own, level)
        comm.allreduce(level, "min")
        if not broken(level, n):
            return
        above, active = xp.empty(n, np.int32), xp.ones(1, np.int32)
        kernels.climb(parents, state.starts, above)
        for _ in range(n.bit_length()):
            active.fill(0)
            kernels.double(above, active)
            if not int(active[0]):
                break
        kernels.check_roots(parents, above, state.starts, *own, state.least[CYCLE:])
        comm.allreduce(state.least, "min")

    def _level(self, state: Proof) -> None:
        """Add a constant to all distances, beside which what their sums may differ is a relative error."""
        rounding, xp = self.question.rounding, state.device.xp
        wide, state.greatest = state.distances.astype(np.float64), float(np.finfo(state.distances.dtype).max)
        if np.ndim(rounding.largest):  # of each vertex's graph; those without negative weights stay as they are
            state.distances = wide + 3 * state.device.asarray(rounding.largest)
            state.rounding = rounding.relative + SHIFTED
            return
        largest = max(float(xp.where(xp.isfinite(wide), abs(wide), 0).max()), rounding.largest)
        if np.isfinite(8 * largest):
            state.distances, state.added = wide + 3 * largest, 3 * largest  # sums are `largest` at least
            state.rounding = float(rounding.slack(largest)) / largest + SHIFTED

    def _edges(self, state: Proof) -> tuple[Array, Array, Array | None, int, bool, Array]:
        """Return the edges and the distances at their ends, as kernels take them."""
        order, by_source = row_order(state.part)
        lengths = None if self.question.unit else state.part.compressed(order, state.device).weights
        return *state.part.layout(order, state.device), lengths, state.first, by_source, state.distances

    def _check_edges(self, state: Proof, comm: Communicator) -> None:
        own, q, (unreached, most) = (state.first, state.last), self.question, self._bounds(state)
        kernels, vertices = certificate_kernels.on(state.device), (state.distances, state.starts, *own, unreached)
        proven, tight = state.device.xp.zeros((2, state.last - state.first), np.uint8)
        # Where distances round, a predecessor may be farther. That it leads to a source has been checked.
        ordered = q.nonnegative and (state.predecessors is None or not state.rounding)
        asked = unreached, most, ordered, state.ulps, state.rounding
        kernels.check_edges(*self._edges(state), state.predecessors, *asked, proven, tight, state.least[REACHED:])
        if state.predecessors is not None:
            kernels.check_marks(*vertices, proven, state.least[TREE_EDGE:])
            comm.allreduce(state.least, "min")
            return
        kernels.check_marks(*vertices, tight, state.least[TIGHT:])
        comm.allreduce(state.least, "min")
        if not broken(state.least, self.plan.n):
            self._check_paths(state, None, state.starts, state.ulps, proven, PATH, comm)
        if ordered and state.ulps and state.rounding and broken(state.least[TIGHT:], self.plan.n):
            # Where distances round, the vertex before may be farther: all tight edges are followed from the sources.
            state.least[TIGHT:] = self.plan.n
            proven.fill(0)
            self._check_paths(state, None, state.starts, state.ulps, proven, PATH, comm, ordered=False)

    def _check_nearest(self, state: Proof, comm: Communicator) -> None:
        """Check that tight edges prove each distance from its nearest source, and none from a lesser one."""
        xp, own, (unreached, _) = state.device.xp, (state.first, state.last), self._bounds(state)
        kernels, starts = certificate_kernels.on(state.device), xp.zeros(self.plan.n, np.uint8)
        vectors, least = (state.distances, state.nearest, state.starts), state.least[NEAREST:]
        kernels.check_sources(*vectors, *own, unreached, starts, least)
        comm.allreduce(state.least, "min")
        if broken(state.least, self.plan.n):
            return
        proven = xp.zeros(state.last - state.first, np.uint8)
        asked = unreached, self.question.nonnegative, proven, least
        kernels.check_nearest(*self._edges(state), state.nearest, *asked)
        comm.allreduce(state.least, "min")
        if not broken(state.least, self.plan.n):
            self._check_paths(state, state.nearest, starts, 0, proven, NEAREST, comm)

    def _check_paths(
        self,
        state: Proof,
        nearest: Array | None,
        starts: Array,
        ulps: int,
        proven: Array,
        rule: int,
        comm: Communicator,
        ordered: bool | None = None,
    ) -> None:
        """Check that tight edges lead to each reached vertex from `starts`; `proven` marks those from nearer ones.

        If not `ordered`, they may lead from farther ones; by default only if a length is negative.
        """
        kernels, q, own = certificate_kernels.on(state.device), self.question, slice(state.first, state.last)
        unreached = self._bounds(state)[0]
        vertices = state.distances, starts, state.first, state.last, unreached
        kernels.check_marks(*vertices, proven, state.least[rule:])
        comm.allreduce(state.least, "min")
        if not broken(state.least, self.plan.n):
            return
        state.least[rule:] = self.plan.n  # perhaps it holds: edges between equals may lead there
        proven |= starts[own]
        ordered = q.nonnegative if ordered is None else ordered
        asked = nearest, unreached, ordered, ulps, state.rounding if nearest is None else 0.0
        self._follow_ties(state, partial(kernels.list_ties, *self._edges(state), *asked, proven), proven, comm)
        kernels.check_marks(*vertices, proven, state.least[rule:])
        comm.allreduce(state.least, "min")

    def _follow_ties(
        self, state: Proof, list_ties: Callable[[Array, Array, Array], None], proven: Array, comm: Communicator
    ) -> None:
        """Mark what tight edges lead to from proven vertices, on all shards: a search on one core of the host."""
        xp, host, own = state.device.xp, devices.find("cpu"), slice(state.first, state.last)
        count, none = xp.zeros(1, np.int64), xp.empty(0, np.int32)
        list_ties(count, none, none)
        ties = int(count[0])
        for place in {state.device, host}:
            needed = A_TIE * ties + A_VERTEX_OF_TIES * self.plan.n
            devices.check_free_memory(f"proving {ties:,} edges between equals", needed, place)
        src, dst = xp.empty((2, ties), np.int32)
        count.fill(0)
        list_ties(count, src, dst)
        ends = devices.to_host(src), devices.to_host(dst)
        marks, new = xp.zeros(self.plan.n, np.int32), xp.ones(1, np.int64)
        marks[own] = proven
        while int(new[0]):
            comm.allgather(marks, self.plan.ranges)
            reached = devices.to_host(marks)
            new[0] = certificate_kernels.on(host).spread(*ends, reached)
            marks[own] = state.device.asarray(reached[own])
            comm.allreduce(new, "max")
        proven[:] = marks[own]

    def _bounds(self, state: Proof) -> tuple[Any, Any]:
        """Return the distance that means unreached, and the greatest to accept, as numbers of the distances' type."""
        q, most, kind = self.question, self.question.limit, state.distances.dtype
        if q.target >= 0:
            at = state.distances[q.target].item() - state.added
            most = most if at == q.unreached else min(most, at)
        if kind.kind == "f":
            with np.errstate(over="ignore"):
                return kind.type(q.unreached), kind.type(min(most, state.greatest) + state.added)
        whole = np.iinfo(np.int64)
        return kind.type(q.unreached), np.int64(min(max(most, whole.min), whole.max) // 1)


def _comparable(distances: Array, weights: Array | None) -> tuple[Array, int]:
    """Return distances in a type that kernels have, and the units in the last place that they may differ from sums."""
    if distances.dtype.kind == "f":
        return distances, 1
    if weights is not None and weights.dtype.kind == "f":
        return distances.astype(np.float64), 0
    return distances.astype(np.int32 if np.can_cast(distances.dtype, np.int32) else np.int64, copy=False), 0
