"""Minimum spanning forest: the program over vertex ranges.

``kernels/spanning_forest.cu`` explains the algorithm. A shard owns a range of vertices and the edges into them. It
reads them by target, a row for each of its vertices. Those of a directed graph it reads by source too, a row for each
vertex of the graph, because an edge may be the least one of either end's component. A superstep is a round. Every shard
knows all components. It chooses among its own edges, the shards agree on the least by two minima, and each hooks all
roots by itself, with the same outcome. Of a large graph they exchange the minima of only the components that are left:
roots that edges leave, fewer than half of the vertices after the first round.
"""

from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import ClassVar, NamedTuple

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...graph.vertex_range import Part, VertexRange
from ...kernels import spanning_forest as spanning_forest_kernels
from ...kernels.edges import HubBuffers
from ...kernels.spanning_forest import Components, ForestEdges, Incident
from ...planning.plan import Plan
from ...runtime.communicator import Communicator
from .keys import TABLE, Keys, keys_of, needs_table, orders_of

_NONE = np.int64(np.iinfo(np.int64).max)


class Rows(NamedTuple):
    """One of a shard's lists of edges.

    Attributes
    ----------
    first : int
        The vertex of the first row.
    edges : Incident
        The edges.
    choice : array of int64, shape (rows,)
        The edge that each row chose.
    """

    first: int
    edges: Incident
    choice: Array


@dataclass
class ForestShard:
    """A shard's state; ``kernels/spanning_forest.cu`` says what each array means.

    `left` are the roots that edges leave, as far as shards must know; None for all vertices.
    """

    device: devices.Device
    kernels: spanning_forest_kernels.Operations
    first: int
    last: int
    part: Part
    keys: Keys | None
    lists: list[Rows]
    components: Components
    hubs: HubBuffers
    forest: ForestEdges
    counts: Array
    left: Array | None = None
    hooked: int = 0
    finished: bool = False


class SpanningForest:
    """Borůvka's algorithm over ranges of vertices.

    Parameters
    ----------
    plan : Plan of ForestDetail
        Its ranges are those of the vertices.
    directed : bool
        Whether an edge is stored in one direction only.
    extremes : tuple of (float, float, bool)
        The least and the greatest weight, and whether all are whole numbers.
    """

    facts: ClassVar[tuple[str, ...]] = ()
    ended = attrgetter("finished")

    def __init__(self, plan: Plan, directed: bool, extremes: tuple[float, float, bool]) -> None:
        self.plan = plan
        self.orders = orders_of(directed)
        self.extremes = extremes

    def load(self, shard: int, piece: Part, device: devices.Device) -> ForestShard:
        """Return the shard with every vertex a component by itself."""
        xp, n, kernels = device.xp, self.plan.n, spanning_forest_kernels.on(device)
        first, last = self.plan.ranges[shard]
        weights = piece.compressed("csc").weights
        several = needs_table(None if weights is None else np.dtype(weights.dtype), self.extremes)
        keys = None if several else keys_of(weights, self.extremes)
        most = len(piece.layout("csc")[1])
        return ForestShard(
            device=device,
            kernels=kernels,
            first=first,
            last=last,
            part=piece,
            keys=keys,
            lists=[] if keys is None else self._lists(piece, keys, device),
            components=Components(
                comp=xp.arange(n, dtype=np.int32),
                parent=xp.arange(n, dtype=np.int32),
                best=xp.full(n, _NONE, np.int64),
                ends=xp.full(n, np.iinfo(np.int32).max, np.int32),
            ),
            hubs=(xp.empty(kernels.hub_capacity(most), np.int32), xp.empty(1, np.uint64)),
            forest=ForestEdges(*(xp.empty(n, np.int32) for _ in range(3))),
            counts=xp.zeros(2, np.int32),
        )

    def step(self, state: ForestShard, first: int, limit: int, comm: Communicator) -> int:
        """Run one round."""
        s, k = state, state.kernels
        if s.keys is None:  # the distinct weights of all shards make them
            s.keys = self._keys_of_all(s.part, s.device, comm)
            s.lists = self._lists(s.part, s.keys, s.device)
        if s.finished or not self.plan.n:
            return 0
        for top, edges, choice in s.lists:
            k.choose(edges, top, first == 0, s.components, choice, s.hubs)
        agree = comm.allreduce if s.left is None else partial(_agree, s.left, comm)
        agree(s.components.best, "min")
        for top, edges, choice in s.lists:
            k.settle(edges, top, s.components, choice)
        agree(s.components.ends, "min")
        k.hook(s.first, s.last, s.components, s.forest, s.counts)
        if self.plan.detail.selects:
            s.left = _left(s.components, s.left)
        k.relabel(s.components)
        hooked = int(devices.to_host(s.counts)[0])
        s.finished, s.hooked = hooked == s.hooked, hooked  # all shards hook the same roots
        return 1

    def collect(self, state: ForestShard, comm: Communicator) -> dict[str, Array]:
        """Return the edges whose lesser end is the shard's, in the order of both ends, and their weights."""
        found = int(devices.to_host(state.counts)[1])
        low, high, keys = (part[:found] for part in state.forest)
        del state.lists, state.components  # frees memory for the sort
        order = state.kernels.order(low, high, self.plan.n)
        assert state.keys is not None
        return {"src": low[order], "dst": high[order], "weights": state.keys.weights(keys[order])}

    def _keys_of_all(self, part: Part, device: devices.Device, comm: Communicator) -> Keys:
        """Return the conversion by a table of all shards' distinct weights; a part with all edges keeps the table."""
        weights = part.compressed("csc").weights
        assert weights is not None
        if comm.size > 1:
            return keys_of(device.asarray(weights), self.extremes, comm)
        make = partial(_table, weights, self.extremes, device)
        return Keys(np.dtype(weights.dtype), part.kept(TABLE, device, make, weights=True))

    def _lists(self, part: Part, keys: Keys, device: devices.Device) -> list[Rows]:
        """Return the part's edges in each of the orders, with their keys, which the part keeps."""
        lists = []
        for order in self.orders:
            if keys.dtype == np.int32:
                indptr, indices, own = part.compressed(order, device)
            else:
                indptr, indices = part.layout(order, device)
                make = partial(_keys, keys, part.compressed(order).weights, len(indices), device)
                own = part.kept(f"{order}.keys", device, make, weights=True)
            top = part.first if order == "csc" and isinstance(part, VertexRange) else 0
            choice = device.xp.empty(len(indptr) - 1, np.int64)
            lists.append(Rows(top, Incident(indptr, indices, own), choice))
        return lists


def _agree(left: Array, comm: Communicator, array: Array, op: str) -> None:
    """Reduce an array over all shards as `Communicator.allreduce` does, at the places `left` only."""
    own = array[left]
    comm.allreduce(own, op)
    array[left] = own


def _left(components: Components, left: Array | None) -> Array:
    """Return the components that are left after roots were hooked, of those that were left before."""
    comp, parent, best, _ = components
    if left is None:  # each vertex was its own component
        return comp[(parent == comp) & (best != _NONE)]
    return left[(parent[left] == left) & (best[left] != _NONE)]


def _table(weights: Array, extremes: tuple[float, float, bool], device: devices.Device) -> Array:
    """Return the distinct weights on a device, computed where the weights are."""
    return device.asarray(keys_of(weights, extremes).table)


def _keys(keys: Keys, weights: Array | None, m: int, device: devices.Device) -> Array:
    """Return the keys of some weights on a device, computed where the weights are."""
    home = device if weights is None else devices.of(weights)
    return device.asarray(keys.on(home).of(weights, m, home))
