"""Plans of shortest paths from one source."""

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ... import device as devices
from ...arguments import checked_choice
from ...dtypes import DISTANCE_TYPES, distance_dtype, name_of, offset_type
from ...kernels import sssp as sssp_kernels
from ...planning.cut import shares, span_of
from ...planning.devices import DeviceSpec, rates_of, sharing
from ...planning.fit import fitted
from ...planning.network import WITHIN_LAUNCH, Exchanged, gathered, meeting_way, traffic
from ...planning.plan import Plan
from ...planning.rates import DEFAULT, EXCHANGE
from ...planning.remembered import remembered
from ...planning.shape import Shape
from ..sssp_window import reads
from .detail import OneSourceDetail
from .lists import list_length
from .nearest import A_VERTEX, AN_EDGE

#: What `sssp` can do.
METHODS = ("nearfar", "bellman-ford", "mask")

#: Assumed number of rounds; the real one depends on the graph.
_ROUNDS = 65

#: The least work that all cores of a CPU share, in edges and vertices: of a search, and of a level times the number of
#: cores. And what each core after the first adds to the speed: 2 are 1.4 times as fast as one, 4 are 2.7, 16 are 9.
_SHARED, _SHARED_LEVEL, _ANOTHER_CORE = 1 << 21, 1 << 16, 0.5

#: Seconds of a GPU for an edge while the distances lie in its cache, the bytes of distances from which on they do not,
#: and how much longer each doubling takes: measured on Kronecker 22 to 26.
_AN_EDGE, _CACHED, _SLOWER = 2.57e-11, 45e6, 0.3

#: What a round of several GPUs takes besides: two or three exchanges of the host's, and for each vertex.
_SHARED_ROUND, _A_VERTEX = 130e-6, 1.3e-12

#: The least and the most rounds of a shard that searches apart, between two exchanges: a quarter of the levels.
_ROUNDS_BETWEEN_EXCHANGES = {"cuda": (8, 64), "cpu": (512, 512)}

#: How often it goes through its edges, measured with two shards; and what masks take, as on a CPU each round reads all
#: vertices.
_REPEATED, _MASKED = 2.6, {"cuda": 1.4, "cpu": 4.0}

#: Rounds of a search to a level, exchanges for paths that change shards, and what a round of few vertices takes.
_A_LEVEL, _CROSSED = 1.6, 10
_THIN_ROUND = {"cuda": 4e-6, "cpu": 10e-6}

#: What a round of few vertices takes with the exchange of GPUs within a launch, and how much more often such GPUs go
#: through their edges than one alone. Measured on two H200s.
_MET_ROUND, _MET_REPEATED = 8e-6, 1.4

#: Rounds in which so many distances fall that shards exchange all, and how often a distance falls in the others.
_WIDE, _FALLS = 3, 2

#: What it computes in.
TYPES = tuple(dtype for dtype in DISTANCE_TYPES if dtype.itemsize >= 4)


@remembered
def planned(
    n: int,
    m: int,
    specs: tuple[DeviceSpec, ...],
    *,
    method: str = "auto",
    dtype: Any = None,
    predecessors: bool = False,
    sources: int = 1,
    nonnegative: bool = True,
    span: int | None = None,
    indptr: Any = None,
    memory_limit: int | None = None,
    shape: Shape | None = None,
    network: float | None = None,
    gpus_per_node: int = 8,
) -> Plan:
    """Plan shortest paths from one source, or from the nearest of `sources`, by the faster exchange."""
    dtype, shape = distance_dtype(None, dtype, TYPES), shape or Shape()
    checked_choice("method", method, ("auto", *METHODS))
    if method == "auto":
        method = "nearfar" if nonnegative else "bellman-ford"
    made = partial(
        with_exchanges,
        *(n, m, specs),
        method=method,
        dtype=dtype,
        predecessors=predecessors,
        several=sources > 1,
        span=span,
        indptr=indptr,
        memory_limit=memory_limit,
        shape=shape,
        network=network,
        gpus_per_node=gpus_per_node,
    )
    ways = [made(0)]
    if len(specs) > 1 and method == "nearfar" and nonnegative:
        ways.append(made(rounds_alone(specs[0].kind, shape)))
    return fitted(min(ways, key=lambda way: way.seconds), memory_limit)


def rounds_alone(kind: str, shape: Shape) -> int:
    """Return how many rounds a shard that searches apart runs between two exchanges."""
    least, most = _ROUNDS_BETWEEN_EXCHANGES[kind]
    return max(least, min(most, int(shape.levels / 4)))


def with_exchanges(
    n: int,
    m: int,
    specs: tuple[DeviceSpec, ...],
    alone: int,
    *,
    method: str,
    dtype: np.dtype,
    predecessors: bool,
    several: bool,
    span: int | None,
    indptr: Any,
    memory_limit: int | None,
    shape: Shape,
    network: float | None,
    gpus_per_node: int,
) -> Plan:
    """Plan a search whose shards exchange distances after each round, or after `alone` of them; it may not fit."""
    kind, shards = specs[0].kind, len(specs)
    # Of several sources, the tree tells which is the nearest.
    tree = predecessors or several
    way = meeting_way(specs, network) if alone else ""
    together, to_share = way.startswith(WITHIN_LAUNCH), 0
    if together:
        to_share = devices.shared_bytes(sssp_kernels.of_kind(kind).shared_words(n, dtype.itemsize), shards)
        specs = sharing(specs, to_share)

    def peak(own: int, own_edges: int) -> int:
        masked = (shards > 1 and not alone) or method == "mask"
        what = n, own_edges, own, dtype, tree
        found = to_share + (AN_EDGE * own_edges + A_VERTEX * n if several else 0)
        return device_bytes(*what, kind=kind, masked=masked, shards=shards, apart=alone > 0) + found

    ranges, _, peaks = shares(n, m, specs, memory_limit, indptr, peak)
    supersteps = _together(shape) if together else _supersteps(n, shards, kind, shape, alone)
    exchanged = _exchanged(n, dtype.itemsize, shards, kind, supersteps.number)
    between = traffic(shards, kind, network, gpus_per_node, gathered(exchanged), exchanged)
    rate = rates_of(specs[0]).search * _speedup(n, m, specs[0], shape)
    work = _passed(n, m, n * dtype.itemsize / shards, method, kind, shape) / rate
    if shards > 1:
        work *= (_MET_REPEATED if together else _REPEATED if alone else _MASKED[kind]) / shards
    return Plan(
        algorithm="sssp",
        method=method,
        n=n,
        m=m,
        dtype=name_of(dtype),
        predecessors=predecessors,
        ranges=ranges,
        devices=specs,
        steps=None,
        span=span or span_of(supersteps.seconds),
        peak_bytes=peaks,
        seconds=work + supersteps.number * supersteps.seconds + (between.seconds if between else 0),
        detail=OneSourceDetail(alone, meeting_way=way, traffic=between),
    )


def _exchanged(n: int, itemsize: int, shards: int, kind: str, supersteps: float) -> Exchanged:
    """Return what a shard sends: all distances, and which of them fell, in each superstep, or lists of those."""
    whole = n * itemsize + n / 8
    listed = list_length(n, shards, itemsize, kind) > 0
    return Exchanged(supersteps, _WIDE * whole + _FALLS * n * (itemsize + 4) if listed else supersteps * whole)


class _Supersteps(NamedTuple):
    """The number of supersteps of a search, and what each takes beside the work in it."""

    number: float
    seconds: float


def _together(shape: Shape) -> _Supersteps:
    """Predict the rounds of GPUs that exchange after each of them within a launch."""
    return _Supersteps(max(_ROUNDS, _A_LEVEL * shape.levels), _MET_ROUND)


def _supersteps(n: int, shards: int, kind: str, shape: Shape, alone: int) -> _Supersteps:
    """Predict the supersteps; shards exchange after each round, or after `alone` of them."""
    if shards == 1:
        return _Supersteps(_ROUNDS, 5e-6 if kind == "cuda" else 1e-6)
    rounds = max(_ROUNDS, _A_LEVEL * shape.levels)
    if not alone:
        return _Supersteps(rounds, _SHARED_ROUND + _A_VERTEX * n if kind == "cuda" else EXCHANGE[kind])
    # Of edges between vertices far apart, half change shards.
    number = _CROSSED + rounds / alone + shape.far * shape.levels / 2
    return _Supersteps(number, EXCHANGE[kind] + rounds / number * _THIN_ROUND[kind])


def device_bytes(
    n: int,
    m: int,
    own: int,
    dtype: np.dtype,
    predecessors: bool,
    *,
    kind: str,
    masked: bool,
    shards: int = 1,
    apart: bool = False,
) -> int:
    """Return the peak bytes of a shard of `FromOneSource` on its device.

    Parameters
    ----------
    n, m : int
        Number of vertices of the graph, and of stored directed edges into the shard's vertices.
    own : int
        Number of vertices of the shard.
    dtype : dtype
        The type of the distances.
    predecessors : bool
        Whether predecessors are computed, with a second search where edges have weight zero.
    kind : {"cpu", "cuda"}
        The kind of device.
    masked : bool
        Whether the search runs over masks.
    shards : int
        The number of shards.
    apart : bool
        Whether shards search apart.
    """
    words = -(-n // 32) * 4
    pieces = 8 * sssp_kernels.of_kind(kind).piece_capacity(m)

    def search(itemsize: int) -> int:
        lists = shards * (4 + (itemsize + 4) * list_length(n, shards, itemsize, kind))
        between = own * itemsize + -(-own // 32) * 4 + words + lists if masked or shards > 1 else 0
        if apart:
            between = n * itemsize + words + lists
        state = between + (4 * n if masked else 20 * n)
        return n * itemsize + m * itemsize + state + words + pieces

    lists = 4 * m + (n + 1) * offset_type(m).itemsize
    encoding = m * (dtype.itemsize + 1)  # all weights are compared with the graph's own
    # In addition to the second search: the first results, and the vertices that the second one starts from.
    more = 4 * own + 4 * n + search(4) if predecessors else 0
    return lists + max(encoding, search(dtype.itemsize) + more)


def _speedup(n: int, m: int, spec: DeviceSpec, shape: Shape) -> float:
    """Return how many times faster the cores of a device are together than one of them."""
    if spec.kind == "cuda" or n + m <= _SHARED or (n + m) / shape.levels * spec.cores < _SHARED_LEVEL:
        return 1
    return 1 + _ANOTHER_CORE * (spec.cores - 1)


def _passed(n: int, m: int, own: float, method: str, kind: str, shape: Shape) -> float:
    """Return the work of a search in random reads, each as long as breadth-first search takes for an edge.

    A shard's own distances take `own` bytes.
    """
    if kind == "cuda":
        return m * _AN_EDGE * DEFAULT[kind].search * (1 + _SLOWER * max(0.0, math.log2(max(own, 1) / _CACHED)))
    # Without a window distances fall more often; with masks every round reads all vertices.
    levels = shape.levels if method == "mask" else 0
    return reads(n, m, shape) * (1 if method == "nearfar" else 1.5) + levels * n / 2
