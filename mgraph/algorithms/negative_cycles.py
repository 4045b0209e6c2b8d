"""The search for a negative cycle: by exact potentials, which exist only without one, on one core where the graph lies.

It decides for every call. Methods that sum floats find most negative cycles by themselves, but by rounding they miss
some, and see some that are not. So a graph of negative weights whose sums may round is searched before it is solved. A
dense matrix is searched after that, as its distances leave few edges to look at. What was found is kept with the graph.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from .. import device as devices
from ..arrays import Array
from ..errors import NegativeCycleError
from ..graph import Graph, PlacedGraph, sums_are_exact
from ..graph.dense_cycles import vertex_on_cycle_of
from ..graph.potentials import reached_part, vertex_on_cycle
from ..graph.vertex_range import VertexRange
from ..planning.plan import Plan
from ..runtime.communicator import Communicator
from ..runtime.gathering import Whole


def may_be_missed(graph: Graph | PlacedGraph, dtype: np.dtype) -> bool:
    """Return whether sums in a type may be rounded, so that a method that computes in it may miss a negative cycle."""
    return not graph.nonnegative and graph.extremes()[0] < 0 and not sums_are_exact(graph, dtype)


def check(graph: Graph | PlacedGraph, plan: Plan, sources: Sequence[int] | None = None) -> None:
    """Raise NegativeCycleError if there is a cycle of negative weight; with `sources`, one that they reach.

    The edges of a graph that lies on workers are gathered on the first of them. `plan` is that of the call.
    """
    vertex = _known(graph, partial(_found, graph, plan, None))
    if vertex >= 0 and sources is not None:
        vertex = _found(graph, plan, sources)
    if vertex >= 0:
        raise NegativeCycleError(vertex)


def check_solved(graph: Graph, distances: Any) -> None:
    """Raise NegativeCycleError if a distance matrix has a cycle of negative weight, once its distances are known."""
    vertex = _known(graph, partial(vertex_on_cycle_of, graph.dense, distances))
    if vertex >= 0:
        raise NegativeCycleError(vertex)


def _known(graph: Graph | PlacedGraph, find: Callable[[], int]) -> int:
    """Return a vertex on a negative cycle, or -1, which is found once for a graph."""
    known: list[int] = graph.kept("negative cycle", devices.find("cpu"), list, weights=True)
    if not known:  # found outside of `kept`, whose lock a worker in this process may need for that
        known.append(find())
    return known[0]


def _found(graph: Graph | PlacedGraph, plan: Plan, sources: Sequence[int] | None) -> int:
    """Return a vertex on a negative cycle, with `sources` one that they reach, or -1."""
    if isinstance(graph, Graph):
        return _found_in(graph, sources)
    searched = replace(plan, method="potentials", steps=1, alternatives=())
    program = Search(Whole(graph.placed, graph.nonnegative), sources)
    outcome = graph.executor().run(program, lambda shard: None, searched, None)
    return int(outcome.arrays["vertex"][0])


def _found_in(graph: Graph, sources: Sequence[int] | None) -> int:
    """Return the same of a graph in this process."""
    if graph.dense is not None:
        graph = Graph.from_distances(graph.dense, copy=False)  # so that the list of edges is freed with it
    return vertex_on_cycle(graph if sources is None else reached_part(graph, np.asarray(sources)))


@dataclass
class Searched:
    """A shard's state; the first has what it found."""

    device: devices.Device
    part: VertexRange
    vertex: int = -1


class Search:
    """The search for a negative cycle of a graph in ranges, on the first shard, in one superstep."""

    facts: ClassVar[tuple[str, ...]] = ("vertex",)

    def __init__(self, whole: Whole, sources: Sequence[int] | None) -> None:
        self.whole = whole
        self.sources = sources

    def load(self, shard: int, piece: VertexRange, device: devices.Device) -> Searched:
        """Return the shard with its range."""
        return Searched(device, piece)

    def step(self, state: Searched, first: int, limit: int, comm: Communicator) -> int:
        """Gather the graph on the first shard, which searches."""
        if first:
            return 0
        graph = self.whole.graph_on(0, state.part, state.device, comm)
        if graph is not None:
            state.vertex = _found_in(graph, self.sources)
        return 1

    def collect(self, state: Searched, comm: Communicator) -> dict[str, Array]:
        """Return the vertex that was found."""
        return {"vertex": np.full(1, state.vertex)}
