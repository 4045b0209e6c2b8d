"""The search for a negative cycle: by potentials, which exist only without one, on one core where the graph lies."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from .. import device as devices
from .. import lazy
from ..arrays import Array
from ..graph import Graph, PlacedGraph
from ..graph.potentials import potentials
from ..graph.vertex_range import VertexRange
from ..planning.plan import Plan
from ..runtime.communicator import Communicator
from ..runtime.gathering import Whole


def check(graph: Graph | PlacedGraph, plan: Plan, source: int | None = None) -> None:
    """Raise NegativeCycleError if there is a cycle of negative weight; with `source`, one that it reaches.

    The edges of a graph that lies on workers are gathered on the first of them. `plan` is that of the call.
    """
    if isinstance(graph, Graph):
        _check(graph, source)
        return
    searched = replace(plan, method="potentials", steps=1, alternatives=())
    program = Search(Whole(graph.placed, graph.nonnegative), source)
    graph.executor().run(program, lambda shard: None, searched, None)


@dataclass
class Searched:
    """A shard's state."""

    device: devices.Device
    part: VertexRange


class Search:
    """The search for a negative cycle of a graph in ranges, on the first shard, in one superstep."""

    facts: ClassVar[tuple[str, ...]] = ()

    def __init__(self, whole: Whole, source: int | None) -> None:
        self.whole = whole
        self.source = source

    def load(self, shard: int, piece: VertexRange, device: devices.Device) -> Searched:
        """Return the shard with its range."""
        return Searched(device, piece)

    def step(self, state: Searched, first: int, limit: int, comm: Communicator) -> int:
        """Gather the graph on the first shard, which searches."""
        if first:
            return 0
        graph = self.whole.graph_on(0, state.part, state.device, comm)
        if graph is not None:
            _check(graph, self.source)
        return 1

    def collect(self, state: Any, comm: Communicator) -> dict[str, Array]:
        """Return nothing: no error was raised."""
        return {}


def _check(graph: Graph, source: int | None) -> None:
    if source is None:
        potentials(graph)
        return
    indptr, indices = (devices.to_host(array) for array in graph.layout("csr"))
    marks = lazy.sparse().csr_array((np.ones(len(indices), np.int8), indices, indptr), shape=(graph.n, graph.n))
    reached = np.zeros(graph.n, bool)
    reached[lazy.csgraph().breadth_first_order(marks, source, return_predecessors=False)] = True
    src, dst, weights = (devices.to_host(part) for part in graph.listed())
    there = reached[src]
    potentials(Graph.from_edges(src[there], dst[there], weights[there], n=graph.n))
