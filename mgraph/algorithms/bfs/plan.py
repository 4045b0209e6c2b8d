"""Plans of breadth-first searches, from one source or set of sources, and from many sources at a time."""

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ... import device as devices
from ...arguments import checked_choice
from ...dtypes import offset_type
from ...kernels import bfs as bfs_kernels
from ...kernels import bfs_by_level as bfs_by_level_kernels
from ...kernels import bfs_many as bfs_many_kernels
from ...planning.cut import Ranges, shares, sources_of, span_of
from ...planning.devices import DeviceSpec, rates_of, sharing
from ...planning.fit import fitted, shortfall
from ...planning.kernels import check_method
from ...planning.network import WITHIN_LAUNCH, Exchanged, gathered, meeting_way, traffic
from ...planning.plan import Plan
from ...planning.rates import EXCHANGE, SHORT
from ...planning.remembered import remembered
from ...planning.shape import Shape
from ..batched_bfs import levels_seconds
from ..sssp import plan as shortest_paths
from .detail import SearchDetail, SearchesDetail

#: Mean degree from which on a search reads each vertex's neighbour of highest degree first.
_HEADS_FROM = 8

#: Edges per vertex that it then reads, whatever the degrees: fitted to measured times on Kronecker graphs, random
#: graphs and dense graphs (benchmarks/NOTES.md).
_LOOKS = {"cuda": 3.5, "cpu": 6.0}

#: Vertices and edges up to which one core of a CPU searches alone, and the power of their number by which more cores
#: are faster, measured with up to 16: they share the memory.
_ONE_CORE_UP_TO, _CORES_EXPONENT = 1 << 21, 0.75

#: Levels of a search from which on a CPU pushes from every vertex, by lists, and what that takes in edges.
_LONG_SEARCH_LEVELS, _LONG_SEARCH_EDGES_PER_VERTEX = 64, 2

#: Vertices from which on the bitmap that is looked at exceeds half of a GPU's cache, and how much longer a look takes:
#: measured on Kronecker 28.
_BEYOND_CACHE, _SLOWER = 1 << 28, 1.45

#: Levels of such a graph that several GPUs launch, those in vain at the end included, and what a launch takes there.
_LAUNCHED, _LAUNCH = 12, 15e-6

#: Seconds of a level of GPUs that meet within a launch, thin or wide, and the levels of a graph of high degree:
#: measured on two H200s.
_THIN_LEVEL, _WIDE_LEVEL, _LEVELS = 4.5e-6, 27e-6, 8

#: Edges that a search reads if it only pulls, as a multiple of all: in its first two levels nearly all of them.
_PULLS = 2.5

#: How many times as fast an asynchronous search must be to be taken, as the number of levels is not always known.
_SAVED = 2

#: A list of vertices is sent instead of a bitmap if it is shorter by this factor.
LISTS = 16

#: Assumed number of levels of a search that do not fit lists.
_WIDE = 4

#: The methods of `mgraph.bfs` that launch each level by itself, which the program `by_level` runs.
BY_LEVEL = ("edge", "vertex", "mask", "queue", "privatized", "scan", "sequential")

#: Those that run many levels in a launch, which `search` runs, and that of the program `asynchronous`.
FUSED, ASYNCHRONOUS = ("hybrid", "frontier", "pull"), "asynchronous"

#: The methods of `mgraph.bfs`.
METHODS = (*FUSED, ASYNCHRONOUS, *BY_LEVEL)

#: Assumed number of levels of a search; the real one depends on the graph.
DEPTH = 20


def prepared_for(method: str, n: int, m: int) -> str | None:
    """Return what a search prepares once for a graph, as in `SearchDetail`.

    Heads speed up pulling in graphs of high degree. Quads speed up thin levels in graphs of low degree.
    """
    if m >= _HEADS_FROM * n:
        return "heads" if method in ("auto", "hybrid", "pull") else None
    return "quads" if method in ("auto", "hybrid", "frontier") else None


@remembered
def planned(
    n: int,
    m: int,
    specs: tuple[DeviceSpec, ...],
    *,
    method: str = "auto",
    predecessors: bool | str = False,
    span: int | None = None,
    directed: bool = True,
    indptr: Any = None,
    quads: int | None = None,
    memory_limit: int | None = None,
    shape: Shape | None = None,
    network: float | None = None,
    gpus_per_node: int = 8,
) -> Plan:
    """Plan a search from one source, or from a set of them, level by level.

    `quads` is the graph's number of quads, which counts if `prepared_for` says that they are prepared.
    """
    checked_choice("method", method, ("auto", *METHODS))
    if method in BY_LEVEL:
        check_method(method, bfs_by_level_kernels.of_kind(specs[0].kind).METHODS)
    asked = {"span": span, "indptr": indptr, "memory_limit": memory_limit, "shape": shape or Shape()}
    asked |= {"network": network, "gpus_per_node": gpus_per_node}
    asynchronous = partial(asynchronously_planned, n, m, specs, predecessors=bool(predecessors), **asked)
    if method == ASYNCHRONOUS:
        return fitted(asynchronous(), memory_limit)
    made = _level_by_level(n, m, specs, method, predecessors, directed=directed, quads=quads, **asked)
    if method == "auto" and len(specs) > 1:
        other = asynchronous()
        if _SAVED * other.seconds < made.seconds and not shortfall(other, memory_limit):
            return other
    return fitted(made, memory_limit)


def _level_by_level(
    n: int,
    m: int,
    specs: tuple[DeviceSpec, ...],
    method: str,
    predecessors: bool | str,
    *,
    span: int | None,
    directed: bool,
    indptr: Any,
    quads: int | None,
    memory_limit: int | None,
    shape: Shape,
    network: float | None,
    gpus_per_node: int,
) -> Plan:
    """Plan a search level by level, which only pulls if no more than the edges by target fits."""
    kind, level_by_level = specs[0].kind, method in BY_LEVEL
    tree, predecessors = predecessors == "any" and not level_by_level, bool(predecessors)
    listed = 0 if level_by_level or method == "pull" else list_capacity(n, len(specs), kind)
    shared, prepared = len(specs) == 1 and not directed, prepared_for(method, n, m)
    quads = quads if quads is not None else n if kind == "cuda" else 0
    way = "" if level_by_level else meeting_way(specs, network)
    together, to_share = way.startswith(WITHIN_LAUNCH), 0
    if together:
        to_share = devices.shared_bytes(bfs_kernels.of_kind(kind).shared_words(n, len(specs)), len(specs))
        specs = sharing(specs, to_share)
    memory = _Memory(
        *(n, offset_type(m).itemsize, kind, method, predecessors, tree, shared),
        *(listed, prepared, quads, len(specs), to_share),
    )
    ranges, edges, peaks = shares(n, m, specs, memory_limit, indptr, memory.peak)
    predicted = _predicted(n, m, specs, method, shape, max(edges), together)
    levels = _exchanged(n, len(specs), listed, predicted.depth)
    between = traffic(len(specs), kind, network, gpus_per_node, gathered(levels), levels)
    rest = predicted.depth * predicted.per_level + (between.seconds if between else 0)
    made = Plan(
        algorithm="bfs",
        method="hybrid" if method == "auto" else method,
        n=n,
        m=m,
        dtype="int32",
        predecessors=predecessors,
        ranges=ranges,
        devices=specs,
        steps=None,
        span=span or span_of(predicted.level),
        peak_bytes=peaks,
        seconds=predicted.reads + rest,
        detail=SearchDetail(listed, *_lists(method, predecessors), prepared, tree, meeting_way=way, traffic=between),
    )
    if method in ("auto", "hybrid", "pull") and not shared and shortfall(made, memory_limit):
        pulled = _by_pulling(made, rest, *shares(n, m, specs, memory_limit, indptr, memory.of_pulling))
        return made if shortfall(pulled, memory_limit) else pulled
    return made


class _Memory(NamedTuple):
    """What decides how many bytes a shard of a search takes on its device.

    Attributes
    ----------
    n, offset : int
        Number of vertices, and bytes of an element of ``indptr``.
    kind, method : str
        Of the device, and of the search.
    predecessors, tree : bool
        Whether predecessors are returned, and whether any one of them will do.
    shared : bool
        Whether the edges by source and by target are the same arrays.
    listed : int
        The most vertices of a level that are sent as a list.
    prepared : str or None
        As of `prepared_for`.
    quads, shards : int
        The number of quads of the graph, and of shards.
    to_share : int
        The bytes of the memory that a GPU shares with the others of its host.
    """

    n: int
    offset: int
    kind: str
    method: str
    predecessors: bool
    tree: bool
    shared: bool
    listed: int
    prepared: str | None
    quads: int
    shards: int
    to_share: int

    def peak(self, own: int, own_edges: int) -> int:
        """Return the peak bytes of a shard with the edges that the method needs."""
        hubs, found = self._hubs(own, own_edges)
        if self.method in BY_LEVEL:
            what = self.n, own, own_edges, self.method, self.predecessors
            return _bytes_by_level(*what, offset=self.offset, shared=self.shared) + found
        lists = own_edges * 4 + (own + 1) * self.offset
        if not self.shared:
            lists += own_edges * 4 + (self.n + 1) * self.offset
        once = {"heads": 4 * own, "quads": 16 * self.quads, None: 0}[self.prepared]
        rest = hubs + 4 * self.shards * (1 + self.listed) + once + found
        return lists + 8 * self.n + _bitmaps(self.n, own) + rest + self.to_share

    def of_pulling(self, own: int, own_edges: int) -> int:
        """Return the peak bytes of a shard that only pulls: with the edges by target alone."""
        hubs, found = self._hubs(own, own_edges)
        lists = own_edges * 4 + (own + 1) * self.offset
        return lists + 4 * self.n + _bitmaps(self.n, own) + hubs + 4 * self.shards + found + self.to_share

    def _hubs(self, own: int, own_edges: int) -> tuple[int, int]:
        """Return the bytes of the list of hubs, and those of predecessors with a list of their own."""
        hubs: int = 4 * bfs_kernels.of_kind(self.kind).hub_capacity(own_edges)
        return hubs, self.predecessors * (4 * own + (not self.tree) * hubs)


def _by_pulling(made: Plan, rest: float, ranges: Ranges, edges: list[int], peaks: tuple[int, ...]) -> Plan:
    """Return the plan of a search that only pulls, where a thin level looks at all edges of the unvisited.

    `rest` are the seconds of launches and exchanges; the others are the shares of such a search.
    """
    specs = made.devices
    reads = _PULLS * made.m / (rates_of(specs[0]).search * len(specs))
    detail = replace(made.detail, listed=0, by_target=True, by_source=False, prepared=None)
    return replace(made, method="pull", ranges=ranges, peak_bytes=peaks, seconds=reads + rest, detail=detail)


def asynchronously_planned(n: int, m: int, specs: tuple[DeviceSpec, ...], *, shape: Shape, **asked: Any) -> Plan:
    """Plan a search as shortest paths whose edges are one long, without regard to what fits."""
    alone = shortest_paths.rounds_alone(specs[0].kind, shape) if len(specs) > 1 else 0
    unit = np.dtype(np.int32)
    asked |= {"method": "nearfar", "dtype": unit, "several": False, "shape": shape}
    made = shortest_paths.with_exchanges(n, m, specs, alone, **asked)
    return replace(made, algorithm="bfs", method=ASYNCHRONOUS)


class _Predicted(NamedTuple):
    """What is predicted of a search.

    Attributes
    ----------
    depth : float
        The number of levels.
    reads : float
        Seconds for reading vertices and edges, in all levels.
    per_level : float
        Seconds that a level takes beside the reads: launches and the exchange.
    level : float
        Seconds of a level, by which spans are cut; without the reads where one launch runs many levels.
    """

    depth: float
    reads: float
    per_level: float
    level: float


def _predicted(
    n: int, m: int, specs: tuple[DeviceSpec, ...], method: str, shape: Shape, most: int, together: bool
) -> _Predicted:
    """Predict what a search takes; a shard has at most `most` edges. `together`: within one launch of several GPUs."""
    kind, rates = specs[0].kind, rates_of(specs[0])
    per_level = EXCHANGE["solo" if len(specs) == 1 else kind] + (5e-6 if kind == "cuda" else 1e-6)
    if together:
        per_level = _THIN_LEVEL
    depth = shape.levels if kind == "cpu" or len(specs) > 1 else DEPTH
    few = method in ("auto", "hybrid") and m >= _HEADS_FROM * n
    looked = _LOOKS[kind] * n if few else m
    if few and kind == "cuda":
        looked *= _SLOWER if n >= _BEYOND_CACHE else 1
        if len(specs) > 1:
            depth = _LEVELS if together else _LAUNCHED
            per_level = (_WIDE_LEVEL if together else EXCHANGE[kind] + _LAUNCH) + n / 8 / rates.link
    if method in BY_LEVEL:
        return _predicted_by_level(n, specs[0], method, shape, most, depth, per_level)
    if kind == "cpu" and method == "pull":  # each level reads all vertices that are not yet reached
        looked = depth * n * (0.7 + shape.far) / specs[0].cores
    elif kind == "cpu":
        if not few:
            looked *= shape.reads(n, 1.6 if method == "frontier" else 0.9)
            looked += _LONG_SEARCH_EDGES_PER_VERTEX * n * (shape.levels > _LONG_SEARCH_LEVELS)
        if shape.levels <= _LONG_SEARCH_LEVELS and n + m > _ONE_CORE_UP_TO:
            looked /= specs[0].cores ** _CORES_EXPONENT
    return _Predicted(depth, looked / (rates.search * len(specs)), per_level, per_level)


def _predicted_by_level(
    n: int, spec: DeviceSpec, method: str, shape: Shape, most: int, depth: float, per_level: float
) -> _Predicted:
    """Predict what a search takes that launches each level by itself: two launches, and the host reads its size."""
    rates, cores = rates_of(spec), 1 if method == "sequential" else spec.cores
    launches = (3 if spec.kind == "cuda" else 1) * (method not in ("sequential", "scan"))
    per_level += launches * rates.launch
    touches: float = _touches_by_level(n, most, method, int(depth))
    if spec.kind == "cpu":  # sequential reads take less than half of the time of random ones
        first = _touches_by_level(n, most, method, 0)
        touches = 0.4 * (touches - first) + shape.reads(n, 1.6) * first
    reads = touches / (rates.search * cores)
    return _Predicted(depth, reads, per_level, per_level + reads / depth)


def _exchanged(n: int, shards: int, listed: int, depth: float) -> Exchanged:
    """Return the levels of a search, and the bytes of their bitmaps and lists."""
    wide = min(depth, _WIDE) if listed else depth
    return Exchanged(depth, wide * n / 8 + (listed > 0) * depth * 4 * shards * (1 + listed))


def _bitmaps(n: int, own: int) -> int:
    """Return the bytes of the bitmap of all vertices and of the two of a shard's own."""
    return -(-n // 32) * 4 + 2 * -(-own // 32) * 4


def _lists(method: str, predecessors: bool) -> tuple[bool, bool]:
    """Return whether a method needs the edges by target, and whether by source."""
    return method not in BY_LEVEL or method == "edge" or predecessors, method != "edge"


def _bytes_by_level(n: int, own: int, edges: int, method: str, predecessors: bool, *, offset: int, shared: bool) -> int:
    """Return the peak bytes of a shard on its device before predecessors are computed.

    Parameters
    ----------
    n, own : int
        Number of vertices of the graph, and of the shard.
    edges : int
        Number of edges into the shard's vertices.
    method : str
        One of `BY_LEVEL`.
    predecessors : bool
        Whether predecessors will be computed.
    offset : int
        Bytes of an element of ``indptr``.
    shared : bool
        Whether the edges by source and by target are the same arrays.
    """
    by_target, by_source = _lists(method, predecessors)
    held = by_target * (4 * edges + offset * (own + 1))
    if by_source and not (by_target and shared):
        held += 4 * edges + offset * (n + 1)
    work = {
        "edge": 4 * edges,
        "vertex": 0,
        "mask": 2 * own,
        "queue": 4 * n,
        "privatized": 4 * n,
        "scan": 4 * n + 4 * -(-own // 32) + 4 * edges,
        "sequential": 4 * n,
    }
    return held + 4 * n + 4 * -(-n // 32) + work[method]


def _touches_by_level(n: int, edges: int, method: str, depth: int) -> int:
    """Return how many vertices and edges a search of `depth` levels reads."""
    each = {"edge": edges, "vertex": n, "mask": 2 * n}
    once = {"edge": 0, "vertex": edges, "mask": edges, "scan": n + 3 * edges}
    return depth * each.get(method, 0) + once.get(method, n + edges)


def list_capacity(n: int, shards: int, kind: str) -> int:
    """Return the most vertices of a level that a shard sends as a list; 0 where lists do not pay.

    They do not pay where a shard's part of the bitmap is short itself. A list is always sent in full length, and in
    vain if the level does not fit into it. So it must be short, and much shorter than the bitmap.
    """
    bitmap = n // 8 // shards
    if shards == 1 or bitmap <= SHORT[kind] // 2:
        return 0
    return min(bitmap // LISTS, SHORT[kind]) // 4 - 1


@remembered
def planned_for_many(
    n: int,
    m: int,
    specs: tuple[DeviceSpec, ...],
    *,
    sources: int = 1,
    method: str = "auto",
    predecessors: bool = False,
    span: int | None = None,
    directed: bool = True,
    indptr: Any = None,
    memory_limit: int | None = None,
    shape: Shape | None = None,
    network: float | None = None,
    gpus_per_node: int = 8,
) -> Plan:
    """Plan searches from many sources: as many words of 64 searches at a time as are needed, and fit.

    A CPU searches by a queue for each source instead where that takes less time, as on roads, whose levels are thin.
    """
    checked_choice("method", method, ("auto", "words"))
    kind, shards, shape = specs[0].kind, len(specs), shape or Shape()
    searches = _Searches(n, m, specs, sources, predecessors, directed or shards > 1, shape)

    def made(words: int) -> Plan:
        together = searches.together(words)
        batches = -(-sources // together)
        ranges, edges, peaks = shares(n, m, specs, memory_limit, indptr, partial(searches.peak, words))
        passes = searches.seconds(words, max(edges))
        levels = Exchanged(batches * DEPTH, batches * DEPTH * 8 * words * n)
        between = traffic(shards, kind, network, gpus_per_node, gathered(levels), levels)
        written = 8 * sources * n / (rates_of(specs[0]).memory * shards)
        return Plan(
            algorithm="bfs_many",
            method="words",
            n=n,
            m=m,
            dtype="int32",
            predecessors=predecessors,
            ranges=ranges,
            devices=specs,
            steps=None,
            span=span or span_of(passes / (batches * (DEPTH if words else 1))),
            peak_bytes=peaks,
            seconds=passes + written + (between.seconds if between else 0),
            detail=SearchesDetail(sources, together, apart=not words, traffic=between),
        )

    # At most the words that the sources need, rounded up to a power of two.
    ways = [made(words) for words in bfs_many_kernels.of_kind(kind).WORDS if words < 2 * -(-sources // 64)]
    if kind == "cpu" and shards == 1 and method == "auto":
        apart = made(0)
        ways = [apart, *ways] if apart.seconds < ways[0].seconds else [*ways, apart]
    return next((way for way in ways if not shortfall(way, memory_limit)), None) or fitted(ways[-1], memory_limit)


class _Searches(NamedTuple):
    """Searches from many sources, by some words of 64 of them at a time; by none with a queue for each.

    Attributes
    ----------
    n, m : int
        Numbers of vertices and edges.
    specs : tuple of DeviceSpec
        The devices.
    sources : int
        The number of sources.
    predecessors : bool
        Whether predecessors are returned.
    both : bool
        Whether a shard needs its edges both by source and by target.
    shape : Shape
        The graph's form.
    """

    n: int
    m: int
    specs: tuple[DeviceSpec, ...]
    sources: int
    predecessors: bool
    both: bool
    shape: Shape

    def together(self, words: int) -> int:
        """Return from how many sources to search at a time."""
        cores = self.specs[0].cores
        return 64 * words or sources_of(max(64, 4 * cores), 4 * cores, self._queue_seconds)

    def peak(self, words: int, own: int, own_edges: int) -> int:
        """Return the peak bytes of a shard."""
        n, spec, offset = self.n, self.specs[0], offset_type(self.m).itemsize
        lists = 4 * own_edges + offset * (own + 1) + self.both * (4 * own_edges + offset * (n + 1))
        hubs = 4 * bfs_kernels.of_kind(spec.kind).hub_capacity(own_edges)
        found = 4 * own * self.sources * (1 + self.predecessors) + self.predecessors * 4 * n
        state = 8 * words * (n + 2 * own) if words else 4 * n * min(self.sources, spec.cores)
        return lists + state + hubs + found

    def seconds(self, words: int, most: int) -> float:
        """Predict the seconds of all searches; a shard has at most `most` edges."""
        if not words:
            return self._queue_seconds(self.sources)
        batches = -(-self.sources // self.together(words))
        return batches * _words_seconds(self.n, most, words, self.specs, self.shape)

    def _queue_seconds(self, sources: int) -> float:
        """Predict the seconds of searches by queues."""
        return levels_seconds(self.n, self.m, sources, 0, self.specs[0], self.shape)


def _words_seconds(n: int, most: int, words: int, specs: tuple[DeviceSpec, ...], shape: Shape) -> float:
    """Predict what a batch of searches takes by so many words; a shard has at most `most` edges."""
    spec, r = specs[0], rates_of(specs[0])
    per_level = EXCHANGE["solo" if len(specs) == 1 else spec.kind] + 3 * r.launch
    if spec.kind == "cpu":  # word by word; a level reads all vertices, and each distance is written by itself
        touches = words * (3 * most + 2 * shape.levels * n) + 38 * words * n
        return touches / (r.search * spec.cores) + shape.levels * per_level
    # An edge is read in some levels, the words of a vertex in all; a distance is written once.
    passes = DEPTH * 24 * words * n / (r.memory * len(specs)) + DEPTH * per_level
    return 3 * most / (r.search * spec.cores) + passes
