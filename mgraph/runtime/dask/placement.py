"""What calls ask of a graph on workers, on the client's side: facts, the cut, and the executor."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import device as devices
from ...dtypes import offset_type
from ...errors import InputError
from ...graph import Compressed, Graph, PlacedGraph
from ...graph.views import CachedArray
from ...planning.cut import Placed
from ...planning.plan import Plan
from . import residents
from .group import Group, RemotePin, lying
from .remade import Origin
from .resident import Resident
from .vector import DistributedVector

#: Bytes an edge that `Placement.to_graph` takes beside the joined edges: targets, and sorting by source.
SORTED = 32


@dataclass(frozen=True)
class Facts:
    """What is known of a graph on the client while its edges are elsewhere; the fields are those of `PlacedGraph`."""

    n: int
    m: int
    directed: bool
    weights_dtype: np.dtype | None
    extremes: tuple[float, float, bool]
    total: float
    ids: Any = None

    def alike(self, other: "Facts") -> bool:
        """Return whether other facts may be those of the same graph."""
        ours, theirs = ((each.n, each.m, each.directed, each.weights_dtype, each.extremes) for each in (self, other))
        return ours == theirs

    @classmethod
    def of(cls, graph: Graph) -> "Facts":
        """Return the facts of a graph."""
        extremes, total = graph.extremes(), graph.total()
        return cls(graph.n, graph.m, graph.directed, graph.weights_dtype, extremes, total, graph.ids)


class Placement(PlacedGraph):
    """The edges of a `DistributedGraph` in a group's sessions, until the object goes or is closed."""

    def __init__(self, group: Group, facts: Facts, cut: Placed, name: str, held: list[Mapping[str, int]]) -> None:
        super().__init__(facts.n, facts.m, facts.directed, facts.weights_dtype, facts.extremes, facts.total)
        self.facts, self.ids = facts, facts.ids
        self.group, self.cut, self.name, self.sizes = group, cut, name, held
        self.kept_there = RemotePin(group, name)
        group.asked = -math.inf  # the next call plans with the memory that is left
        #: The plan of building the graph, if the workers have built it.
        self.plan: Plan | None = None
        #: The line of Python that makes the graph again, if it was generated or read.
        self.made = ""
        #: The least id in use, if the vertices are ids of files that do not say how they are numbered.
        self.least: int | None = None
        #: How it was made, if it can be made again.
        self.origin: Origin[Any] | None = None

    @property
    def closed(self) -> bool:
        """Whether the edges have been released."""
        return not self.kept_there.close.alive

    @property
    def placed(self) -> Placed:
        """The ranges of vertices of the workers, and the number of edges into each."""
        return self.cut

    def executor(self, vectors: Mapping[str, Any] | None = None) -> Resident:
        """Return the executor that runs programs where the edges lie, with vectors beside them if given."""
        self.check()
        there, here = {}, {}
        for name, vector in (vectors or {}).items():
            if not isinstance(vector, DistributedVector):
                here[name] = devices.to_host(vector)
                continue
            vector._group.check(vector._loss)
            if vector._lies_on(self.group, self.cut.ranges):
                there[name] = vector
            else:
                raise InputError(f"{name} does not lie beside {self!r}: give the graph that the result is of")
        sent = [{name: vector[first:last] for name, vector in here.items()} for first, last in self.cut.ranges]
        beside = None if vectors is None else there
        return Resident(self.group, self.name, self.sizes, beside, self.loss, sent if here else ())

    def held(self, names: Sequence[str]) -> tuple[int, ...]:
        """Return the bytes that each worker's device keeps of the graph under some names."""
        return tuple(sum(sizes.get(name, 0) for name in names) for sizes in self.sizes)

    def cached(self) -> list[CachedArray]:
        """Return the arrays that calls have derived from the graph, with the worker's device and the bytes of each."""
        named = zip(self.group.specs, self._asked(False), strict=True)
        return [
            CachedArray(name, spec.name, size)
            for spec, sizes in named
            for name, size in sorted(sizes.items())
            if size and name not in ("csc", "weights")
        ] + list(self._numbers.derived({}))

    def release(self) -> None:
        """Free the arrays that calls have derived from the graph."""
        self._asked(True)
        self._numbers.release({}, None)
        self.group.changed = True

    def _asked(self, release: bool) -> list[Mapping[str, int]]:
        """Return the bytes of each worker's part, and of what is derived from it unless that is released, by name."""
        self.check()
        self.group.ready()
        self.sizes[:] = self.group.each(residents.sizes, [(release,)] * len(self.cut.ranges), self.name)
        return self.sizes

    def seen(self, look: Callable[[Any, Any], Any]) -> Any:
        """Return what a function makes of the edges into the first worker's vertices, ``(indptr, indices)``, there."""
        self.check()
        self.group.ready()
        return self.group.one(0, residents.seen, self.name, look)[0]

    def lightest(self) -> tuple[int, int]:
        """Return the ends of the first edge that has the least weight."""
        self.check()
        self.group.ready()
        found = self.group.each(residents.lightest, [()] * len(self.cut.ranges), self.name)
        _, start, end = min(each for each in found if each is not None)
        return start, end

    def check(self) -> None:
        """Raise InputError if the edges have been released, and WorkerLostError if a part of them was lost."""
        if self.closed:
            raise InputError(f"{self._described()} has been closed: {self._again()}")
        self.group.check(self.loss)

    def loss(self, workers: Collection[str]) -> str:
        """Return in words what of the graph was lost with some workers, and how it is made again."""
        own = zip(self.group.addresses, self.cut.ranges, strict=True)
        missing = None if self.origin is None else self.origin.missing
        reason = f"without {missing} it is not made again by itself: " if missing else ""
        return f"the edges into {lying('the vertices', workers, own)} of {self!r} were lost: {reason}{self._again()}"

    def _again(self) -> str:
        """Return in words how the graph is made again."""
        return f"{self.made} makes it again" if self.made else "make the graph again"

    def to_graph(self) -> Graph:
        """Return the graph with all edges in this process's memory."""
        self.check()
        self.group.ready()
        edge = 4 + (0 if self.weights_dtype is None else self.weights_dtype.itemsize)
        # The parts and the joined edges, or these, their targets and what sorting them takes.
        needed = self.m * max(2 * edge, edge + SORTED) + self.n * 24
        devices.check_free_memory(f"all edges of {self!r} in this process", needed, devices.find("cpu"))
        parts: list[Compressed] = self.group.each(residents.edges, [()] * len(self.cut.ranges), self.name)
        degrees = np.concatenate([np.diff(part.indptr) for part in parts])
        sources = np.concatenate([part.indices for part in parts])
        weights = np.concatenate([part.weights for part in parts]) if self.weighted else None
        del parts
        if self.directed:
            targets = np.repeat(np.arange(self.n, dtype=np.int32), degrees)
            csr = Graph.from_edges(sources, targets, weights, n=self.n).compressed("csr")
        else:  # the edges into a vertex are those from it, in the same order
            indptr = np.concatenate([[0], degrees.cumsum()]).astype(offset_type(self.m))
            csr = Compressed(indptr, sources, weights)
        return Graph(
            self.n,
            csr=csr,
            directed=self.directed,
            ids=None if self.ids is None else np.asarray(self.ids),
            nonnegative=self.nonnegative,
        )

    def _described(self, where: str = "") -> str:
        kind = "directed" if self.directed else "undirected"
        return f"DistributedGraph(n={self.n}, m={self.m}, {kind}, {self.weights_dtype or 'unweighted'}{where})"

    def __repr__(self) -> str:
        count = len(self.cut.ranges)
        return self._described(", closed" if self.closed else f", on {count} worker{'s' * (count > 1)}")
