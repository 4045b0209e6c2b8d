"""Flows: how much of a demand each edge carries, if all of it takes shortest paths.

No path is written out. The amounts of all pairs that turn at an ancestor are added up, first by source, then by target;
from there they go down to the ends over the entries of the climbs. What an entry carries is divided between its parts
once, from the last entry to the first.
"""

from dataclasses import dataclass, field

import numpy as np

from .. import device as devices
from ..errors import VerificationError
from ..graph import Graph
from ..kernels import routes as route_kernels
from ..kernels.routes import Parts
from .demand import MOST
from .lengths import Lengths
from .routes import Pairs, Progress, met
from .structure import Structure

#: How much of the total a vertex may gain or lose by rounding, for each edge at it and each pair.
_ROUNDING = 2.0**-50

_HOST = devices.find("cpu")


@dataclass(frozen=True, eq=False, kw_only=True)
class Flows:
    """What `Hierarchy.flows` finds: the load of each edge if a demand takes shortest paths.

    Attributes
    ----------
    loads : array of int64 or float64, shape (m,)
        How much each edge carries, in the order of `Graph.coo`; integers for a demand of integers.
    cost : float
        The sum of the amounts times the distances, of the pairs with a path.
    unserved : float
        The sum of the amounts of pairs without a path.
    supply : array of the loads' type, shape (n,)
        How much begins at each vertex less what ends there, of the pairs with a path.

    Examples
    --------
    >>> import mgraph
    >>> graph = mgraph.Graph.from_edges([0, 1, 0], [1, 2, 2], [4, 3, 9])
    >>> roads = mgraph.Hierarchy(graph, order=[0, 2, 1], device="cpu")
    >>> flows = roads.flows(([0, 1], [2, 2], [10, 5]))
    >>> flows.verify()
    >>> flows.loads.tolist(), flows.cost, flows.supply.tolist()
    ([10, 0, 15], 85.0, [10, 5, -15])
    """

    loads: np.ndarray
    cost: float
    unserved: float
    supply: np.ndarray
    _graph: Graph = field(repr=False)
    _lengths: np.ndarray = field(repr=False)

    def verify(self) -> None:
        """Prove that the flow is conserved at every vertex, and takes shortest paths only.

        The rules are "load" (no load is negative, or on an edge that is closed), "conservation" (what leaves a vertex
        is what enters it and its supply) and "cost" (the edges' loads times their lengths add up to `cost`: longer
        paths would cost more). Integers are compared exactly, floats up to rounding.

        Raises
        ------
        VerificationError
            If a rule is broken; its `rule` and `vertex` say which, and where.

        Examples
        --------
        See `Flows`.

        >>> import mgraph
        >>> graph = mgraph.Graph.from_edges([0, 1], [1, 2], [4, 3])
        >>> flows = mgraph.Hierarchy(graph, order=[0, 2, 1], device="cpu").flows(([0], [2], [10]))
        >>> flows.loads[1] = 9
        >>> flows.verify()
        Traceback (most recent call last):
            ...
        mgraph.errors.VerificationError: vertex 1 has a supply of 0, but 10 enter it and 9 leave it
        """
        src, dst = (devices.to_host(part) for part in self._graph.listed()[:2])
        n, loads = self._graph.n, self.loads
        closed = np.isinf(self._lengths)
        wrong = np.flatnonzero(~(loads >= 0) | (closed & (loads != 0)))
        if len(wrong):
            e = int(wrong[0])
            raise VerificationError(
                f"the load of edge {e}, from {src[e]} to {dst[e]}, is {loads[e]}", rule="load", vertex=int(src[e])
            )
        exact = loads.dtype.kind == "i"
        leaves, enters = (np.bincount(ends, loads, n) for ends in (src, dst))  # in float64, which is exact below MOST
        # A vertex sums as many numbers as it has edges, each of them a sum of amounts.
        room = 0.0 if exact else _ROUNDING * (len(loads) + 1) * (float(leaves.max(initial=0)) + 1e-300)
        wrong = np.flatnonzero(~(np.abs(leaves - enters - self.supply) <= room))
        if len(wrong):
            v = int(wrong[0])
            numbers = (np.array([supply]).astype(loads.dtype)[0] for supply in (self.supply[v], enters[v], leaves[v]))
            supply, entering, leaving = numbers
            raise VerificationError(
                f"vertex {v} has a supply of {supply}, but {entering} enter it and {leaving} leave it",
                rule="conservation",
                vertex=v,
            )
        carried = loads != 0
        lengths = self._lengths[carried].astype(np.float64)
        each = loads[carried].astype(np.float64) * lengths
        total, size = float(each.sum()), float(np.abs(each).sum())
        # Of lengths, not of products: those round to whole numbers, too.
        whole = exact and size < MOST and bool((lengths == np.floor(lengths)).all())
        allowed = 0.0 if whole else 1e-6 * size
        if not abs(total - self.cost) <= allowed:
            raise VerificationError(
                f"the loads times the lengths add up to {total}, the amounts times the distances to {self.cost}",
                rule="cost",
            )


class Carried:
    """What the entries of a hierarchy carry of a demand, and what vertices supply, as pairs are added.

    Parameters
    ----------
    structure : Structure
        That of the hierarchy.
    lengths : Lengths
        The lengths on the device.
    parts : Parts
        Those of the entries, on the host.
    device : Device
        Where pairs are joined.

    Attributes
    ----------
    sums : array of float64
        All that is added up, one after the other: of both ways of each entry, of vertices by rank, the cost, and what
        is not served. The sums of two parts of a demand are added to those of the whole.
    """

    def __init__(self, structure: Structure, lengths: Lengths, parts: Parts, device: devices.Device) -> None:
        self._structure, self._parts, self._device = structure, parts, device
        ways, n = 2 * len(lengths.up), len(structure.order)
        self.sums = device.xp.zeros(ways + n + 2)
        self._ways, self._by_rank, self._totals = self.sums[:ways], self.sums[ways:-2], self.sums[-2:]
        self._depth = device.asarray(parts.depth)

    def add(self, pairs: Pairs, amounts: np.ndarray, progress: Progress | None) -> None:
        """Add pairs, with entries, that demand some amounts; `progress` is told of those that are done."""
        device, xp, done = self._device, self._device.xp, 0
        cost = unserved = 0.0
        for block in pairs.blocks():
            there, back = (xp.zeros(len(climbs.label)) for climbs in (block.there, block.back))
            for batch in block.batches():
                found, turn = met(pairs, block, batch)
                places = batch.places if isinstance(batch.places, slice) else devices.to_host(batch.places)
                asked = device.asarray(amounts[places].astype(np.float64))
                unserved += float(asked[turn < 0].sum())
                own, other = (
                    climbs.vertex[climbs.first[rows + 1] - 1]
                    for climbs, rows in ((block.there, batch.sources), (block.back, batch.targets))
                )
                moves = (turn >= 0) & (asked > 0) & (own != other)  # what is there already would only round
                asked, turn = asked[moves], turn[moves]
                cost += float((asked * found[moves].astype(np.float64)).sum())
                xp.add.at(there, block.there.first[batch.sources[moves]] + turn, asked)
                xp.add.at(back, block.back.first[batch.targets[moves]] + turn, asked)
                xp.add.at(self._by_rank, own[moves], asked)
                xp.add.at(self._by_rank, other[moves], -asked)
                done += len(batch)
                if progress is not None:
                    progress(done, pairs.count)
            for down, (climbs, carried) in enumerate(((block.there, there), (block.back, back))):
                route_kernels.on(device).push(self._depth, climbs, down, carried, self._ways)
            del block, there, back, climbs, carried  # before the next block is made
        self._totals[0] += cost
        self._totals[1] += unserved

    def divided(self, m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the loads of the edges, the supply of each vertex, and the cost with what is not served; once."""
        loads, supply = np.zeros(m), np.zeros(len(self._by_rank))
        supply[self._structure.order] = devices.to_host(self._by_rank)
        route_kernels.on(_HOST).spread(self._parts, devices.to_host(self._ways), loads)
        return loads, supply, devices.to_host(self._totals)


def flows(
    graph: Graph,
    structure: Structure,
    pairs: Pairs,
    parts: Parts,
    amounts: np.ndarray,
    progress: Progress | None,
) -> Flows:
    """Return the loads of a demand.

    Parameters
    ----------
    graph : Graph
        Whose edges carry the demand.
    structure : Structure
        That of the hierarchy.
    pairs : Pairs
        The pairs, with entries.
    parts : Parts
        Those of the entries, on the host.
    amounts : array of int64 or float64, shape (pairs,)
        How much each pair demands.
    progress : callable or None
        Told of the pairs that are done.

    Raises
    ------
    MemoryLimitError
        If what the entries carry does not fit the free memory.
    """
    lengths, device, n, count = pairs.lengths, pairs.on.device, len(structure.order), len(pairs.lengths.up)
    needed = 20 * count + 8 * n + 16 * pairs.elements + pairs.bytes
    devices.check_free_memory(f"loads of {graph.m:,} edges", 8 * graph.m + 16 * count, _HOST)
    with device.active(), devices.allocating(f"flows over {count:,} entries", needed, device):
        carried = Carried(structure, lengths, parts, device)
        carried.add(pairs, amounts, progress)
        loads, supply, totals = carried.divided(graph.m)
    return flows_of(graph, lengths, amounts.dtype, loads, supply, totals)


def flows_of(
    graph: Graph, lengths: Lengths, dtype: np.dtype, loads: np.ndarray, supply: np.ndarray, totals: np.ndarray
) -> Flows:
    """Return flows, given what `Carried.divided` returns, in the type of a demand's amounts."""
    return Flows(
        loads=loads.astype(dtype, copy=False),
        cost=float(totals[0]),
        unserved=float(totals[1]),
        supply=supply.astype(dtype, copy=False),
        _graph=graph,
        _lengths=devices.to_host(lengths.edges),
    )
