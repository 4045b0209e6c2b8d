"""Plans of connected components."""

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from ...arguments import checked_choice
from ...dtypes import offset_type
from ...kernels import components as components_kernels
from ...planning.cut import shares, span_of
from ...planning.devices import DeviceSpec, rates_of
from ...planning.fit import fitted
from ...planning.kernels import check_method
from ...planning.network import Exchanged, traffic
from ...planning.plan import Detail, Plan
from ...planning.rates import EXCHANGE
from ...planning.shape import Shape

#: Up to this number of edges one core of a CPU is as fast as all, whose threads take time to wake up.
FEW_EDGES = 1 << 17

#: Rounds in which labels would be exchanged in a grid of two dimensions: those of Shiloach and Vishkin's method.
_ROUNDS = 10

#: What `mgraph.connected_components` can do.
METHODS = ("afforest", "shiloach-vishkin", "sequential")


@dataclass(frozen=True)
class ComponentsDetail(Detail):
    """No fields; only the name of the result differs."""

    values: ClassVar[str] = "labels"


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
    network: float | None = None,
    gpus_per_node: int = 8,
) -> Plan:
    """Plan connected components: the reads of vertices and edges by a method, and the forests that it keeps."""
    checked_choice("method", method, ("auto", *METHODS))
    kind, shards, shape = specs[0].kind, len(specs), shape or Shape()
    if method == "auto":
        method = "sequential" if kind == "cpu" and m <= FEW_EDGES else "afforest"
    check_method(method, components_kernels.of_kind(kind).METHODS)
    rounds = method == "shiloach-vishkin"
    offset = offset_type(m).itemsize
    forests = 3 if rounds else 1 + (shards > 1)

    def peak(own: int, own_edges: int) -> int:
        return 4 * own_edges + offset * (own + 1) + forests * 4 * n

    ranges, edges, peaks = shares(n, m, specs, memory_limit, indptr, peak)
    most, joins = max(edges), (shards - 1).bit_length()
    touches: float
    if method == "sequential":
        touches, cores, launches = most + n, 1, 1
    elif rounds:  # measured: about ten rounds, each of two passes over the edges and four launches
        touches, cores, launches = 20 * most + 80 * n, specs[0].cores, 40
        touches *= 1 if kind == "cuda" else 0.5 + shape.far
    elif kind == "cpu":  # finding a vertex's root reads the cache, or memory if the cache is too small
        touches, cores, launches = (0.8 * most if directed else 0) + (2 + 12 * shape.far) * n, specs[0].cores, 8
    else:  # measured: passes over the whole forest, others over a shard's own vertices, and joining other forests
        own = n / shards
        touches = 1.8 * n + own + (most if directed else min(most, 2 * own)) + 0.65 * n * joins
        cores, launches = specs[0].cores, 8 if shards == 1 else 20
    able = rates_of(specs[0])
    exchanges = 0 if shards == 1 else (joins + 3) * EXCHANGE[kind] + joins * 4 * n / able.link
    seconds = touches / (able.search * cores) + launches * able.launch + exchanges
    between = traffic(shards, kind, network, gpus_per_node, partial(_forests, n), Exchanged(_ROUNDS, 4 * n * _ROUNDS))
    made = Plan(
        algorithm="components",
        method=method,
        n=n,
        m=m,
        dtype="int32",
        ranges=ranges,
        devices=specs,
        steps={"sequential": 1, "afforest": 2}.get(method),
        span=span or span_of(seconds / (10 if rounds else 1)),
        peak_bytes=peaks,
        seconds=seconds + (between.seconds if between else 0),
        detail=ComponentsDetail(traffic=between),
    )
    return fitted(made, memory_limit)


def _forests(n: int, shards: int, per_node: int) -> Exchanged:
    """Return what enters a node when the forests of all shards are joined: each is sent on, twice as far each time."""
    joins = (shards - 1).bit_length()
    return Exchanged(joins, 4 * n * sum(min(per_node, 1 << join) for join in range(joins)))
