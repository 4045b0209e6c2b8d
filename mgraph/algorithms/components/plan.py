"""Plans of connected components."""

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from ...arguments import checked_choice, one_of
from ...dtypes import offset_type
from ...errors import ArgumentValue, InputError
from ...kernels import components as components_kernels
from ...kernels import strong as strong_kernels
from ...planning.cut import shares, span_of
from ...planning.devices import DeviceSpec, rates_of
from ...planning.fit import fitted
from ...planning.kernels import check_method
from ...planning.network import Exchanged, traffic
from ...planning.plan import Detail, Plan
from ...planning.rates import EXCHANGE
from ...planning.remembered import remembered
from ...planning.shape import Shape

#: Up to this number of edges one core of a CPU is as fast as all, whose threads take time to wake up.
FEW_EDGES = 1 << 17

#: Rounds in which labels would be exchanged in a grid of two dimensions: those of Shiloach and Vishkin's method.
_ROUNDS = 10

#: The vertices above which shards pass on only parents that the others do not know; in smaller graphs the whole forest
#: takes NVLink less time than a GPU needs to select them. Assumed. LISTED is the share of all vertices whose parents
#: each shard passes on: 0.01 to 0.03 of a Kronecker graph on two to sixteen shards. So the lists of more shards would
#: not fit where a forest does.
MANY, LISTED, MOST_SHARDS = 1 << 20, 0.02, 16

#: The methods of `mgraph.connected_components` for weak components, and for strong ones.
METHODS = ("afforest", "shiloach-vishkin", "sequential")
STRONG_METHODS = ("multistep", "colouring", "sequential")
EVERY_METHOD = tuple(dict.fromkeys((*METHODS, *STRONG_METHODS)))

#: Where one core finds strong components sooner than all: up to this number of vertices and edges, with fewer edges a
#: vertex than this, or with more levels than this, as the searches for a giant component are given up there.
_SMALL, _SPARSE, _DEEP = 1 << 21, 4, 48


@dataclass(frozen=True)
class ComponentsDetail(Detail):
    """The fields of a plan of components.

    Attributes
    ----------
    selects : bool
        Whether shards select the parents that they pass on to the others.
    """

    selects: bool = False

    values: ClassVar[str] = "labels"


@remembered
def planned(
    n: int,
    m: int,
    specs: tuple[DeviceSpec, ...],
    *,
    method: str = "auto",
    connection: str = "weak",
    span: int | None = None,
    directed: bool = True,
    indptr: Any = None,
    memory_limit: int | None = None,
    shape: Shape | None = None,
    network: float | None = None,
    gpus_per_node: int = 8,
) -> Plan:
    """Plan connected components: the reads of vertices and edges by a method, and the forests that it keeps.

    A method that finds only strong components is planned for these, whatever the `connection`.
    """
    checked_choice("method", method, ("auto", *EVERY_METHOD))
    if (connection == "strong" and directed) or method not in ("auto", *METHODS):
        return _planned_strong(n, m, specs, method, span, memory_limit, shape or Shape())
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
    selects = method == "afforest" and 1 < shards <= MOST_SHARDS and n > MANY
    seconds = _seconds(n, max(edges), specs, method, directed, shape, selects)
    passed_on = partial(_parents if selects else _forests, n)
    between = traffic(shards, kind, network, gpus_per_node, passed_on, Exchanged(_ROUNDS, 4 * n * _ROUNDS))
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
        detail=ComponentsDetail(selects=selects, traffic=between),
    )
    return fitted(made, memory_limit)


def _seconds(
    n: int, most: int, specs: tuple[DeviceSpec, ...], method: str, directed: bool, shape: Shape, selects: bool
) -> float:
    """Predict the seconds of a method for weak components, of which a shard reads at most `most` edges."""
    kind, shards, able = specs[0].kind, len(specs), rates_of(specs[0])
    cores, joins = specs[0].cores, (shards - 1).bit_length()
    touches: float
    if method == "sequential":
        touches, cores, launches = most + n, 1, 1
    elif method == "shiloach-vishkin":  # measured: about ten rounds, each of two passes over the edges, four launches
        touches, launches = 20 * most + 80 * n, 40
        touches *= 1 if kind == "cuda" else 0.5 + shape.far
    elif kind == "cpu":  # finding a vertex's root reads the cache, or memory if the cache is too small
        touches, launches = (0.8 * most if directed else 0) + (2 + 12 * shape.far) * n, 8
    else:  # measured: passes over a shard's own vertices, and others over the whole forest to join those of all shards
        own = n / shards
        touches = 2.3 * own + (most if directed else min(most, 2 * own))
        if shards > 1:
            touches += 0.7 * n if selects else (0.5 + 0.65 * joins) * n
        launches = 8 if shards == 1 else 20
    entering = _parents(n, shards, 1) if selects else _forests(n, shards, 1)
    exchanges = 0 if shards == 1 else (joins + 3) * EXCHANGE[kind] + entering.bytes / able.link
    return touches / (able.search * cores) + launches * able.launch + exchanges


def _planned_strong(
    n: int, m: int, specs: tuple[DeviceSpec, ...], method: str, span: int | None, memory_limit: int | None, shape: Shape
) -> Plan:
    """Plan strong components, on one device."""
    if len(specs) > 1:
        raise InputError(ArgumentValue("connection", "strong"), f" is computed on one device, got {len(specs)}")
    kind, cores, offset = specs[0].kind, specs[0].cores, offset_type(m).itemsize
    if method == "auto" and kind == "cpu":
        alone = n + m <= _SMALL or m < _SPARSE * n or shape.levels > _DEEP
        method = "sequential" if alone else "multistep"
    elif method == "auto":
        method = "colouring"
    if method not in STRONG_METHODS:
        names = one_of([repr(each) for each in ("auto", *STRONG_METHODS)])
        raise InputError(argument="method", value=method, expected=f"{names} for strong components")
    check_method(method, strong_kernels.of_kind(kind).METHODS)
    # Labels and two marks; then keys and classes, or what a search on one core keeps of each vertex.
    peak = 4 * m + offset * (n + 1) + (4 + 2 + (12 if method == "colouring" else 8 + offset)) * n
    able = rates_of(specs[0])
    # Measured on R-MAT graphs; long paths take colouring longer.
    factors = {"sequential": 0.4 + 0.8 * shape.far, "multistep": 1.5 / cores, "colouring": 3 / cores}
    seconds = factors[method] * (m + 4 * n) / able.search + (10 if kind == "cuda" else 50) * able.launch
    made = Plan(
        algorithm="components",
        method=method,
        n=n,
        m=m,
        dtype="int32",
        ranges=((0, n),),
        devices=specs,
        steps=1 if method == "sequential" else 2,
        span=span or span_of(seconds),
        peak_bytes=(peak,),
        seconds=seconds,
        detail=ComponentsDetail(),
    )
    return fitted(made, memory_limit)


def _parents(n: int, shards: int, per_node: int) -> Exchanged:
    """Return what enters a node when shards pass on a bit of each of their vertices, and pairs of 8 bytes."""
    share = max(0, shards - per_node) / shards
    return Exchanged(4, share * (n / 8 + 8 * LISTED * n * shards))


def _forests(n: int, shards: int, per_node: int) -> Exchanged:
    """Return what enters a node when the forests of all shards are joined: each is sent on, twice as far each time."""
    joins = (shards - 1).bit_length()
    return Exchanged(joins, 4 * n * sum(min(per_node, 1 << join) for join in range(joins)))
