"""Plans of minimum spanning forests."""

from dataclasses import dataclass
from typing import Any, ClassVar

from ...arguments import checked_choice
from ...dtypes import offset_type
from ...kernels import spanning_forest as spanning_forest_kernels
from ...planning.cut import shares, span_of
from ...planning.devices import DeviceSpec, rates_of
from ...planning.fit import fitted
from ...planning.plan import Detail, Plan
from ...planning.rates import EXCHANGE
from ...planning.shape import Shape

#: What `mgraph.minimum_spanning_forest` can do.
METHODS = ("boruvka",)

#: Assumed number of rounds; the real one depends on the graph.
ROUNDS = 6


@dataclass(frozen=True)
class ForestDetail(Detail):
    """No fields; only the name of the result differs."""

    values: ClassVar[str] = "edges"


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
    """Plan a minimum spanning forest: rounds over all edges, by ranges of the vertices."""
    checked_choice("method", method, ("auto", *METHODS))
    kind, shards, shape = specs[0].kind, len(specs), shape or Shape()
    offset, lists = offset_type(m).itemsize, 2 if directed else 1
    kernels = spanning_forest_kernels.of_kind(kind)

    def peak(own: int, own_edges: int) -> int:
        incident = lists * (8 * own_edges + offset * (own + 1)) + 4 * kernels.hub_capacity(own_edges)
        # Of each vertex the component, the parent, the bound and the end; of each row a choice. Of each edge of the
        # forest 12 bytes, and to sort them 41 more.
        return incident + 12 * n + max(20 * n + 8 * lists * own, 41 * n)

    ranges, edges = shares(n, m, specs, memory_limit, indptr, peak)
    able, most = rates_of(specs[0]), lists * max(edges)
    if kind == "cuda":
        each = 4 * most / able.memory + (0.3 * most + 4 * n) / able.search
    else:
        each = (0.25 * most + (2 + 4 * shape.far) * n) / (able.search * specs[0].cores)
    exchange = 0 if shards == 1 else 2 * EXCHANGE[kind] + 12 * n / able.link
    seconds = ROUNDS * (each + 7 * able.launch + exchange)
    made = Plan(
        algorithm="minimum_spanning_forest",
        method="boruvka",
        n=n,
        m=m,
        dtype="int32",
        ranges=ranges,
        devices=specs,
        steps=None,
        span=span or span_of(seconds / ROUNDS),
        peak_bytes=tuple(peak(last - first, own_edges) for (first, last), own_edges in zip(ranges, edges, strict=True)),
        seconds=seconds,
        detail=ForestDetail(),
    )
    return fitted(made, memory_limit)
