"""Minimum spanning forest: the program over vertex ranges.

``kernels/spanning_forest.cu`` explains the algorithm. A shard owns a range of vertices and the edges at them: of an
undirected graph one list, of a directed one those by source and those by target. A superstep is a round. Every shard
knows all components. It chooses among its own edges, the shards agree on the least by two minima, and each hooks all
roots by itself, with the same outcome.
"""

from dataclasses import dataclass

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...kernels import spanning_forest as spanning_forest_kernels
from ...kernels.edges import HubBuffers
from ...kernels.spanning_forest.ops import Components, ForestEdges, Incident
from ...planning.plan import Plan
from ...runtime.communicator import Communicator


@dataclass
class ForestShard:
    """A shard's state; ``kernels/spanning_forest.cu`` says what each array means."""

    device: devices.Device
    kernels: spanning_forest_kernels.Operations
    first: int
    last: int
    lists: list[Incident]
    choices: list[Array]
    components: Components
    hubs: HubBuffers
    forest: ForestEdges
    counts: Array
    hooked: int = 0
    finished: bool = False


class SpanningForest:
    """Borůvka's algorithm over ranges of vertices."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def load(self, shard: int, piece: list[Incident], device: devices.Device) -> ForestShard:
        """Return the shard with every vertex a component by itself."""
        xp, n, kernels = device.xp, self.plan.n, spanning_forest_kernels.on(device)
        first, last = self.plan.ranges[shard]
        lists = [Incident(*map(device.asarray, edges)) for edges in piece]
        most = max(len(edges.indices) for edges in lists)
        return ForestShard(
            device=device,
            kernels=kernels,
            first=first,
            last=last,
            lists=lists,
            choices=[xp.empty(last - first, np.int64) for _ in lists],
            components=Components(
                comp=xp.arange(n, dtype=np.int32),
                parent=xp.arange(n, dtype=np.int32),
                best=xp.full(n, np.iinfo(np.int64).max, np.int64),
                ends=xp.full(n, np.iinfo(np.int32).max, np.int32),
            ),
            hubs=(xp.empty(kernels.hub_capacity(most), np.int32), xp.empty(1, np.uint64)),
            forest=ForestEdges(*(xp.empty(n, np.int32) for _ in range(3))),
            counts=xp.zeros(2, np.int32),
        )

    def step(self, state: ForestShard, first: int, limit: int, comm: Communicator) -> int:
        """Run one round."""
        s, k = state, state.kernels
        if s.finished or not self.plan.n:
            return 0
        for edges, choice in zip(s.lists, s.choices, strict=True):
            k.choose(edges, s.first, first == 0, s.components, choice, s.hubs)
        comm.allreduce(s.components.best, "min")
        for edges, choice in zip(s.lists, s.choices, strict=True):
            k.settle(edges, s.first, s.components, choice)
        comm.allreduce(s.components.ends, "min")
        k.hook(s.first, s.last, s.components, s.forest, s.counts)
        k.relabel(s.components)
        hooked = int(devices.to_host(s.counts)[0])
        s.finished, s.hooked = hooked == s.hooked, hooked  # all shards hook the same roots
        return 1

    def collect(self, state: ForestShard, comm: Communicator) -> dict[str, Array]:
        """Return the edges whose lesser end is the shard's, in the order of both ends, and their keys."""
        found = int(devices.to_host(state.counts)[1])
        low, high, keys = (part[:found] for part in state.forest)
        del state.choices, state.components  # frees memory for the sort
        order = (low.astype(np.int64) << 32 | high).argsort()
        return {"src": low[order], "dst": high[order], "keys": keys[order]}
