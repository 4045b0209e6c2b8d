"""All-pairs shortest paths of a disconnected graph, component by component.

No path leaves its component, so c components of equal size take 1 / c**2 of the work. This is the simplest case of
Djidjev, Thulasidasan, Chapuis, Andonov and Lavenier, "Efficient multi-GPU computation of all-pairs shortest paths",
2014, who also cut connected graphs. Whole components are grouped until a group keeps a device busy; a superstep solves
one group. In a group the vertices keep their order, so the pivots keep the order of the whole graph, and the result has
the same bits.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ... import device as devices
from ... import errors, lazy
from ...arrays import Array, chunk_rows
from ...dtypes import NO_PREDECESSOR, infinity
from ...graph import Compressed, Graph
from ...matrices.distance_matrix import Part, empty
from ...matrices.floyd_warshall import FloydWarshall
from ...planning.plan import Plan
from ...runtime.communicator import Communicator
from .detail import AllPairsDetail


class Group(NamedTuple):
    """Some components: their vertices, ascending, and the edges among them, numbered within the group."""

    vertices: np.ndarray
    part: Part


def components(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Return the weak components' sizes, and the vertices component by component, ascending in each."""
    indptr, indices = (devices.to_host(array) for array in graph.adjacency("csr"))
    marks = lazy.sparse().csr_array((np.ones(len(indices), np.int8), indices, indptr), shape=(graph.n, graph.n))
    _, labels = lazy.csgraph().connected_components(marks, directed=graph.directed, connection="weak")
    return np.bincount(labels), np.argsort(labels, kind="stable")


def groups(graph: Graph, plan: Plan[AllPairsDetail], order: np.ndarray) -> Callable[[int], list[Group]]:
    """Return a function from a shard to the plan's groups of the graph; `order` lists the vertices by component."""

    def pieces(shard: int) -> list[Group]:
        csr = graph.csr()
        indptr, indices = devices.to_host(csr.indptr), devices.to_host(csr.indices)
        weights = None if csr.weights is None else devices.to_host(csr.weights)
        place = np.empty(graph.n, np.int32)  # a vertex's number in its group
        found, first = [], 0
        for size in plan.detail.groups:
            vertices = np.sort(order[first : first + size])
            first += size
            place[vertices] = np.arange(size, dtype=np.int32)
            degrees = indptr[vertices + 1] - indptr[vertices]
            offsets = np.concatenate([[0], np.cumsum(degrees)]).astype(indptr.dtype)
            edges = np.repeat(indptr[vertices] - offsets[:-1], degrees) + np.arange(offsets[-1])
            lengths = None if weights is None else weights[edges]
            found.append(Group(vertices, Part(None, Compressed(offsets, place[indices[edges]], lengths))))
        return found

    return pieces


@dataclass
class GroupsShard:
    """The state: the groups, and the whole matrix, to which each solved group is written."""

    device: devices.Device
    groups: list[Group]
    D: Array
    P: Array | None


class ByComponent:
    """The blocked Floyd-Warshall algorithm on one group of components after another."""

    def __init__(self, plan: Plan[AllPairsDetail], nonnegative: bool) -> None:
        self.plan = plan
        self.detail = plan.detail
        self.nonnegative = nonnegative

    def load(self, shard: int, piece: list[Group], device: devices.Device) -> GroupsShard:
        """Return the matrix without any path."""
        n, dtype = self.plan.n, np.dtype(self.plan.dtype)
        D = empty(n, n, dtype, device)
        D.fill(infinity(dtype))
        P = empty(n, n, np.int32, device) if self.detail.labelled else None
        if P is not None:
            P.fill(NO_PREDECESSOR)
        return GroupsShard(device, piece, D, P)

    def step(self, state: GroupsShard, first: int, limit: int, comm: Communicator) -> int:
        """Solve one group and write its distances and labels to the matrix."""
        if first >= len(state.groups):
            return 0
        s, (vertices, part) = state, state.groups[first]
        size = len(vertices)
        alone = replace(
            self.plan,
            n=size,
            ranges=((0, size),),
            detail=replace(
                self.detail,
                columns=((0, size),),
                groups=(),
                look_ahead=self.detail.look_ahead and size > self.detail.block,
            ),
        )
        program = FloydWarshall(alone, self.nonnegative)
        shard = program.load(0, part, s.device)
        steps = 0
        while ran := program.step(shard, steps, 3 * size, comm):
            steps += ran
        try:
            found = program.collect(shard, comm)
        except errors.NegativeCycleError as error:
            raise errors.NegativeCycleError(int(vertices[error.vertex])) from None
        xp, own = s.device.xp, s.device.asarray(vertices)
        names = own.astype(np.int32)
        chunk = chunk_rows(size)
        for top in range(0, size, chunk):
            some = slice(top, top + chunk)
            s.D[own[some, None], own] = found["distances"][some]
            if s.P is not None:
                labels = found["intermediate" if self.detail.intermediate else "predecessors"][some]
                s.P[own[some, None], own] = xp.where(labels == NO_PREDECESSOR, labels, names[labels.clip(0)])
        return 1

    def collect(self, state: GroupsShard, comm: Communicator) -> dict[str, Array]:
        """Return the matrix."""
        results = {"distances": state.D}
        if state.P is not None:
            results["intermediate" if self.detail.intermediate else "predecessors"] = state.P
        return results
