"""Weak components: the program over vertex ranges; ``kernels/components.cu`` describes the algorithms.

Each shard makes a forest of all vertices from its own edges. In the end the forests are joined, and each shard has the
roots of its own vertices.
"""

from dataclasses import dataclass
from operator import attrgetter
from typing import ClassVar

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...graph.vertex_range import Part
from ...kernels import components as components_kernels
from ...kernels.edges import Adjacency
from ...planning.plan import Plan
from ...runtime.communicator import Communicator


@dataclass
class ComponentsShard:
    """A shard's state; ``kernels/components.cu`` describes the arrays.

    Attributes
    ----------
    parent : array of int32, shape (n,)
        The forest.
    other : array of int32, shape (n,), or None
        What other shards pass on, or the parents that a round of Shiloach and Vishkin changes; None if neither is
        needed.
    marks : array of int32, shape (n,), or None
        For each vertex, the last round in which its tree changed.
    giants : array of int32, shape (shards,)
        The root of each shard's largest component.
    skipped, active, count : array of int32, shape (1,)
        The component that linking skips, or -1, whether a round changed anything, and the number of the shard's roots.
    """

    device: devices.Device
    kernels: components_kernels.Operations
    first: int
    last: int
    edges: Adjacency
    parent: Array
    other: Array | None
    marks: Array | None
    giants: Array
    skipped: Array
    active: Array
    count: Array
    iterations: int = 1
    finished: bool = False

    @property
    def own(self) -> tuple[Array, Array, int, int]:
        """The shard's edges and its range of vertices, in the order of a kernel's arguments."""
        return *self.edges, self.first, self.last


class Components:
    """Weak components over ranges of vertices.

    Parameters
    ----------
    plan : Plan
        Its ranges are those of the vertices.
    directed : bool
        Whether an edge is stored at one end only: then no edge may be skipped.
    """

    facts: ClassVar[tuple[str, ...]] = ("count", "iterations")
    ended = attrgetter("finished")

    def __init__(self, plan: Plan, directed: bool) -> None:
        self.plan = plan
        self.directed = directed

    def load(self, shard: int, piece: Part, device: devices.Device) -> ComponentsShard:
        """Return the shard with a buffer for its forest, which the first kernel of a method initialises."""
        xp, n = device.xp, self.plan.n
        rounds = self.plan.method == "shiloach-vishkin"
        first, last = self.plan.ranges[shard]
        skipped, active, count = xp.zeros((3, 1), np.int32)
        return ComponentsShard(
            device=device,
            kernels=components_kernels.on(device),
            first=first,
            last=last,
            edges=piece.incident(device),
            parent=xp.empty(n, np.int32),
            other=xp.empty(n, np.int32) if rounds or len(self.plan.ranges) > 1 else None,
            marks=xp.empty(n, np.int32) if rounds else None,
            giants=xp.zeros(len(self.plan.ranges), np.int32),
            skipped=skipped,
            active=active,
            count=count,
        )

    def step(self, state: ComponentsShard, first: int, limit: int, comm: Communicator) -> int:
        """Run a round or part of the method; join the shards' forests when they are complete."""
        if state.finished or not self.plan.n:
            return 0
        if self.plan.method == "afforest":
            state.finished = self._afforest(state, first, comm)
        else:
            if self.plan.method == "sequential":
                state.kernels.unite_all(*state.own, state.parent)
                state.finished = True
            else:
                state.finished = self._round(state, first + 1, comm)
            if state.finished:
                _join(state, comm)
        if state.finished:
            state.kernels.count_roots(state.first, state.last, state.parent, state.count)
        return 1

    def collect(self, state: ComponentsShard, comm: Communicator) -> dict[str, Array]:
        """Return the shard's part of the labels, its number of roots, and the number of rounds."""
        return {
            "labels": state.parent[state.first : state.last],
            "count": devices.to_host(state.count),
            "iterations": np.array([state.iterations]),
        }

    def _afforest(self, state: ComponentsShard, step: int, comm: Communicator) -> bool:
        """Link with the first neighbours in the first superstep, else with the rest; return whether it was the last.

        A shard skips the vertices of its largest component. An edge that is skipped from both ends joins nothing if
        the shards' largest components are one after the forests have been joined. Otherwise all skip only one of them,
        and join the forests again.
        """
        s, k = state, state.kernels
        if step == 0:
            k.plant(*s.own, s.parent)
            k.compress(s.first, s.last, s.parent)
            k.sample(*s.own, s.parent)
            k.compress(s.first, s.last, s.parent)
            return False
        own_giant = s.giants[comm.rank : comm.rank + 1]
        if self.plan.detail.selects or not self.directed:
            k.largest(s.first, s.last, s.parent, own_giant)
            comm.allgather(s.giants, tuple((shard, shard + 1) for shard in range(comm.size)))
        if self.directed:
            s.skipped.fill(-1)  # none
        else:
            s.skipped[:] = own_giant
        if self.plan.detail.selects:
            self._link_and_pass_on(s, comm)
        else:
            k.link(*s.own, s.skipped, s.parent)
            _join(s, comm)
        if comm.size > 1 and not self.directed:
            k.roots(s.giants, s.parent)  # the same on all shards, which all go on or none
            tops = devices.to_host(s.giants)
            if len({int(tops[r]) for r, (first, last) in enumerate(self.plan.ranges) if first < last}) > 1:
                s.skipped.fill(int(tops[0]))
                k.link(*s.own, s.skipped, s.parent)
                _join(s, comm)
        return True

    def _link_and_pass_on(self, state: ComponentsShard, comm: Communicator) -> None:
        """Link with all neighbours and join the forests; pass on members of giant components, and other parents."""
        s, k, ranges = state, state.kernels, self.plan.ranges
        others = [shard for shard in range(comm.size) if shard != comm.rank]
        assert s.other is not None
        words = -(-self.plan.n // 32)
        bits = s.other[:words].view(np.uint32)
        k.members(s.first, s.last, s.parent, s.giants[comm.rank : comm.rank + 1], bits)
        comm.allgather(bits, tuple((-(-first // 32), -(-last // 32)) for first, last in ranges))
        k.link(*s.own, s.skipped, s.parent)
        for shard in others:
            k.absorb(s.first, s.last, *ranges[shard], bits, s.giants, shard, s.parent)
        lists = s.other[words + words % 2 :]
        most = len(lists) // (2 * comm.size)  # pairs of a shard
        counts = s.device.xp.zeros(comm.size, np.int32)
        mine = 2 * most * comm.rank
        k.list_parents(bits, s.parent, lists[mine : mine + 2 * most].reshape(-1, 2), counts[comm.rank : comm.rank + 1])
        comm.allgather(counts, tuple((shard, shard + 1) for shard in range(comm.size)))
        listed = devices.to_host(counts).tolist()
        if max(listed) > most:
            _join(s, comm)
            return
        parts = tuple((2 * most * shard, 2 * (most * shard + count)) for shard, count in enumerate(listed))
        comm.allgather(lists, parts)
        for shard in others:
            k.unite_pairs(lists[slice(*parts[shard])].reshape(-1, 2), s.parent)
        k.compress(s.first, s.last, s.parent)

    def _round(self, state: ComponentsShard, number: int, comm: Communicator) -> bool:
        """Run a round of Shiloach and Vishkin; return whether nothing changed on any shard."""
        s, k = state, state.kernels
        if number == 1:
            k.initialise(s.parent, s.marks)
        s.active.fill(0)
        k.shortcut_and_mark(s.parent, s.other, s.marks, number)
        k.hook(*s.own, s.parent, s.other, s.marks, number)
        k.hook_stagnant(*s.own, s.other, s.marks, number)
        k.shortcut_and_check(s.other, s.parent, s.marks, number, s.active)
        comm.allreduce(s.active, "max")
        s.iterations = number
        if int(s.active[0]):
            return False
        k.least(s.parent, s.other)
        k.rename(s.other, s.parent)
        return True


def _join(state: ComponentsShard, comm: Communicator) -> None:
    """Join the forests of all shards into one that all shards have; their own vertices point to their roots.

    By dissemination: in each round every shard passes on what it knows, twice as far as in the round before.
    """
    distance = 1
    while distance < comm.size:
        comm.shift(state.parent, state.other, distance)
        state.kernels.join(state.other, state.parent)
        distance *= 2
    state.kernels.compress(state.first, state.last, state.parent)
