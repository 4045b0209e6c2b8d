"""Core numbers: the plan, and the program over vertex ranges, whose operations ``kernels/core_number.cu`` describes.

A shard owns a range of vertices and the edges into them. It reads them by target, and those of a directed graph by
source too: a vertex that is taken lowers the degrees at the other ends of both. All shards know all degrees, and add up
in each round what the vertices have lost.
"""

from dataclasses import dataclass
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np

from ... import device as devices
from ...arguments import checked_choice
from ...arrays import Array
from ...dtypes import offset_type
from ...graph.vertex_range import Part, VertexRange
from ...kernels import core_number as core_kernels
from ...planning.cut import shares, span_of
from ...planning.devices import DeviceSpec, rates_of
from ...planning.fit import fitted
from ...planning.plan import Detail, Plan
from ...planning.rates import EXCHANGE
from ...planning.remembered import remembered
from ...planning.shape import Shape
from ...runtime.communicator import Communicator

#: What `mgraph.core_number` can do.
METHODS = ("peeling",)

#: Rounds of a graph of a few levels, and of a long path each two vertices of which are a round. Assumed.
_ROUNDS = 100

#: Launches and copies in a round.
_LAUNCHES = 5

_MOST = np.iinfo(np.int32).max


@dataclass(frozen=True)
class CoreDetail(Detail):
    """No fields; only the name of the result differs."""

    values: ClassVar[str] = "cores"


def orders_of(directed: bool) -> tuple[str, ...]:
    """Return the orders in which shards read their edges; an undirected one is in the rows of both of its ends."""
    return ("csc", "csr") if directed else ("csc",)


@remembered
def planned(
    n: int,
    m: int,
    specs: tuple[DeviceSpec, ...],
    *,
    method: str = "auto",
    span: int | None = None,
    directed: bool = True,
    indptr: Any = None,
    memory_limit: int | None = None,
    shape: Shape | None = None,
) -> Plan:
    """Plan core numbers: rounds over all vertices, and every edge once, by ranges of the vertices."""
    checked_choice("method", method, ("auto", *METHODS))
    kind, shards, lists = specs[0].kind, len(specs), 2 if directed else 1
    offset, shape = offset_type(m).itemsize, shape or Shape()
    listed = 8 * core_kernels.of_kind(kind).list_capacity(n)

    def peak(own: int, own_edges: int) -> int:
        rows = own + 1 + (lists - 1) * (n + 1)
        return lists * 4 * own_edges + offset * rows + 16 * n + 16 * max(n, 1) + listed

    ranges, edges, peaks = shares(n, m, specs, memory_limit, indptr, peak)
    able, rounds = rates_of(specs[0]), min(max(1, n), max(_ROUNDS, int(shape.levels)))
    exchange = 0 if shards == 1 else EXCHANGE[kind] + 4 * n / able.link
    touches = (2 * lists * max(edges) + 2 * n) / (able.search * specs[0].cores)
    seconds = touches + rounds * (24 * n / able.memory + _LAUNCHES * able.launch + exchange)
    plan = Plan(
        algorithm="core_number",
        method="peeling",
        n=n,
        m=m,
        dtype="int32",
        ranges=ranges,
        devices=specs,
        steps=None,
        span=span or span_of(seconds / rounds),
        peak_bytes=peaks,
        seconds=seconds,
        detail=CoreDetail(),
    )
    return fitted(plan, memory_limit)


@dataclass
class CoreShard:
    """A shard's state; `mgraph.kernels.core_number` says what each array is."""

    kernels: core_kernels.Operations
    first: int
    last: int
    rows: list[tuple[int, Array, Array]]
    lists: core_kernels.Lists
    lost: Array
    taken: Array
    degrees: Array
    cores: Array
    least: Array
    flaws: Array
    level: int = 0
    finished: bool = False


class Peeling:
    """Peeling over ranges of vertices."""

    facts: ClassVar[tuple[str, ...]] = ("rounds", "flaws")
    ended = attrgetter("finished")

    def __init__(self, plan: Plan, directed: bool) -> None:
        self.plan, self.directed = plan, directed

    def load(self, shard: int, piece: Part, device: devices.Device) -> CoreShard:
        """Return the shard with the degrees that its own edges make."""
        xp, n = device.xp, self.plan.n
        first, last = self.plan.ranges[shard]
        rows = []
        degrees = xp.zeros(n, np.int32)
        for order in orders_of(self.directed):
            indptr, indices = piece.layout(order, device)
            top = first if order == "csc" and isinstance(piece, VertexRange) else 0
            rows.append((top, indptr, indices))
            degrees[top : top + len(indptr) - 1] += (indptr[1:] - indptr[:-1]).astype(np.int32)
        kernels = core_kernels.on(device)
        capacity = kernels.list_capacity(n)
        left, gone = xp.arange(capacity, dtype=np.int32), xp.empty(capacity, np.int32)
        return CoreShard(
            kernels=kernels,
            first=first,
            last=last,
            rows=rows,
            lists=core_kernels.Lists(left, gone, xp.array([capacity, 0], np.int64)),
            lost=xp.zeros(n, np.int32),
            taken=xp.full(n, -1, np.int32),
            degrees=degrees,
            cores=xp.zeros(n, np.int32),
            least=xp.empty(1, np.int32),
            flaws=xp.full(2, n, np.int32),
        )

    def step(self, state: CoreShard, first: int, limit: int, comm: Communicator) -> int:
        """Run a round; before the first, look for self-loops and parallel edges, which end it all."""
        s, k = state, state.kernels
        if s.finished or not self.plan.n:
            return 0
        if first == 0:
            top, indptr, indices = s.rows[0]
            k.find_flaws(indptr, indices, top, s.flaws)
            comm.allreduce(s.flaws, "min")
            comm.allreduce(s.degrees, "sum")
            s.finished = bool((s.flaws < self.plan.n).any())
        else:
            comm.allreduce(s.lost, "sum")
        s.least.fill(_MOST)
        k.settle(s.lists, s.lost, s.taken, s.degrees, s.least)
        least = int(s.least[0])
        s.finished = s.finished or least == _MOST
        if s.finished:
            return 1
        s.level = max(s.level, least)
        k.take(s.lists, s.degrees, s.taken, s.cores, s.level, first)
        for top, indptr, indices in s.rows:
            k.lower(s.lists, indptr, indices, top, s.taken, first, s.lost)
        return 1

    def collect(self, state: CoreShard, comm: Communicator) -> dict[str, Array]:
        """Return the core numbers of the shard's vertices, the rounds, and the first vertices with flaws."""
        rounds = int(state.taken.max()) + 1 if self.plan.n else 0
        return {
            "cores": state.cores[state.first : state.last],
            "rounds": np.array([rounds]),
            "flaws": devices.to_host(state.flaws),
        }
