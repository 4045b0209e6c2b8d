"""Plans of betweenness: how the sources are dealt to the devices, and how many fit at a time."""

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...arguments import checked_choice
from ...dtypes import name_of, offset_type
from ...hierarchy.structure import Fill
from ...kernels import betweenness as betweenness_kernels
from ...kernels import betweenness_sweeps as sweeps_kernels
from ...kernels.betweenness_many import WORDS, memory_bytes, words_of
from ...kernels.betweenness_sweeps import GROUP, GROUPS, LANES, SHARES
from ...planning.cut import even_ranges, span_of
from ...planning.devices import DeviceSpec, rates_of, unheld, usable
from ...planning.fit import fitted, shortfall
from ...planning.plan import Plan
from ...planning.rates import DEFAULT, EXCHANGE
from ...planning.remembered import remembered
from ...planning.shape import Shape
from ..batched_sssp import SLICE, apart_seconds, gathered_bytes, relaxing_seconds, searches_bytes
from ..batched_sweeps import preparation_bytes
from ..sssp_window import reads as searching
from .detail import BetweennessDetail

#: Reads of edges by a search from a source that take as long on a CPU, for each edge and each vertex; measured
#: (benchmarks/NOTES.md). By weights, vertices are sorted by their distances. Adding up edges reads each once more.
AN_EDGE_READ, A_VERTEX_READ, A_SORTED_VERTEX = 0.4, 3.4, 10.0

#: How often a GPU reads an edge for a source, without lengths; assumed. If sources share reads, measured, and how much
#: more adding up edges takes.
READS, SHARED_READS, SHARED_SUMS = 3, 1.0, 0.3

#: Seconds in which a GPU's blocks pass a level of their searches, from what New York takes (benchmarks/NOTES.md). By
#: weights they pass it twice as often, to count down the vertices before each one.
A_PASSED_LEVEL = 20e-6

#: The most levels of a search that is worth sharing: all multiprocessors wait for each other at each level.
SHALLOW = 64

#: Reads of edges by a search from a source that take as long on a CPU as to pass an entry of a hierarchy for a source,
#: there and back; as to hand down a pair of entries; and as to find an entry's place, to prepare a pair, and to order a
#: vertex for each doubling of their number; measured (benchmarks/NOTES.md).
AN_ENTRY, A_PAIR, A_PLACE, A_PREPARED_PAIR, AN_ORDERED_VERTEX = 0.3, 8.0, 40.0, 4.0, 68.0

#: Bytes of an entry, of a length of it, and of an edge of a hierarchy that is prepared.
A_KEPT_ENTRY, A_LENGTH, A_KEPT_EDGE = 16, 4, 16

#: Sources that are swept at a time, before their sums are handed down on the host. It depends on nothing but the kind
#: of device, so that the sums have the same bits for any number of cores.
SWEPT = {"cpu": 1 << 14, "cuda": 1 << 17}

#: Bytes that a GPU moves to pass an entry of a hierarchy for a source, from what New York takes (benchmarks/NOTES.md);
#: and seconds of a level of the tree, assumed.
A_MOVED_ENTRY, A_LEVEL = 70, 20e-6

#: A hierarchy is swept, its preparation counted, where this takes less by this factor and by this number of a core's
#: reads of edges. So the choice, like the bits, depends neither on the number of cores nor on their speed.
ADVANTAGE, WORTH = 2.0, 1e8

#: Bytes of an edge that are needed to add up both directions, and to list the ends: numbers, their order, the sums.
AN_EDGE = 36


@remembered
def planned(
    n: int,
    m: int,
    specs: tuple[DeviceSpec, ...],
    *,
    method: str = "auto",
    sources: int | None = None,
    weighted: bool = True,
    edges: bool = False,
    span: int | None = None,
    memory_limit: int | None = None,
    directed: bool = True,
    gathered: bool = False,
    weight_bytes: int = 0,
    computed: str = "int32",
    wide: bool = False,
    shape: Shape | None = None,
    fill: Fill | None = None,
) -> Plan:
    """Plan the betweenness of vertices or `edges` by the paths from `sources` vertices.

    Parameters
    ----------
    gathered : bool
        Whether each device first gathers the edges of a graph that lies on workers, with weights of `weight_bytes`.
    computed : str
        The type of distances by weights.
    wide : bool
        Whether numbers of paths are scaled.
    fill : Fill or None
        How much a graph fills in, of which a device may take a hierarchy.
    """
    checked_choice("method", method, ("auto", "brandes"))
    kind, shape, sources = specs[0].kind, shape or Shape(), n if sources is None else sources
    dtype, share = np.dtype(computed if weighted else np.int32), max(1, -(-sources // len(specs)))
    batched = relaxing_seconds(n, m, share, specs[0], True, shape) if weighted else 0.0
    alone = apart_seconds(n, m, share, specs[0], shape) if weighted else 0.0
    apart = weighted and kind == "cpu" and alone < batched
    held = gathered_bytes(m, weight_bytes, directed, True) if gathered and weighted else 0
    counting = _Counting(n, m, specs[0], shape.levels, dtype, weighted, edges, directed, wide, apart, held)
    most = min(usable(spec, memory_limit) for spec in specs)
    together = counting.together(share, most)
    batch = counting.batch(share, most, together)
    ranges, steps = even_ranges(sources, len(specs), 1), -(-share // batch) if sources else 0
    seconds = counting.seconds(batch, together) + (alone if apart else batched) * batch / share
    how: dict[str, Any] = {"sources": sources, "batch": batch, "apart": apart, "together": together}
    searches = Plan(
        algorithm="betweenness",
        method="brandes",
        n=n,
        m=m,
        dtype="float64",
        ranges=ranges,
        devices=specs,
        steps=steps,
        span=span or span_of(seconds),
        peak_bytes=tuple(counting.peak(last - first, batch, together) for first, last in ranges),
        seconds=steps * seconds + (EXCHANGE[kind] if len(specs) > 1 else 0.0),
        detail=BetweennessDetail(**how, weighted=weighted, computed=name_of(dtype), wide=wide, edges=edges),
    )
    reads = counting.passed(together) + weighted * searching(n, m, shape)
    sweeps = _better_sweeps(searches, fill, reads, directed, span)
    return sweeps if sweeps and not shortfall(sweeps, memory_limit) else fitted(searches, memory_limit)


def _better_sweeps(searches: Plan, fill: Fill | None, reads: float, directed: bool, span: int | None) -> Plan | None:
    """Return the plan of sweeps down a hierarchy if they take less than searches, each of so many reads of a core."""
    if fill is None or not fill.entries or searches.detail.wide or np.dtype(searches.detail.computed).kind != "i":
        return None
    kind = searches.devices[0].kind
    share = max(1, -(-searches.detail.sources // len(searches.devices)))
    work, (prepared, swept) = share * reads, _swept(searches.n, share, fill, kind)
    sweeps = _sweeping(searches, fill, prepared, swept, directed, span)
    if kind == "cuda":
        work, swept = (DEFAULT["cpu"].search * plan.seconds for plan in (searches, sweeps))
    return sweeps if ADVANTAGE * (prepared + swept) + WORTH < work else None


def _swept(n: int, sources: int, fill: Fill, kind: str) -> tuple[float, float]:
    """Return a core's work of preparing a hierarchy and of sweeps down it from some sources, in reads of edges.

    On a GPU, sweeps leave the core only to hand down.
    """
    prepared = A_PLACE * fill.entries + A_PREPARED_PAIR * fill.pairs + AN_ORDERED_VERTEX * n * math.log2(max(2, n))
    lanes, batches = -(-sources // LANES) * LANES, -(-sources // SWEPT[kind])
    return prepared, AN_ENTRY * lanes * fill.entries * (kind == "cpu") + A_PAIR * batches * fill.pairs


def _sweeping(plan: Plan, fill: Fill, prepared: float, swept: float, directed: bool, span: int | None) -> Plan:
    """Return the plan of sweeps down a hierarchy in place of searches, from a core's work for the share of a device."""
    specs, n, m, edges = unheld(plan.devices), plan.n, plan.m, plan.detail.edges
    share = max(last - first for first, last in plan.ranges)
    kind, batch, able = specs[0].kind, min(share, SWEPT[specs[0].kind]), rates_of(specs[0])
    steps, kernels = -(-share // max(1, batch)), sweeps_kernels.of_kind(kind)
    lists = (1 + directed) * ((n + 1) * offset_type(m).itemsize + 4 * m)
    kept = (A_KEPT_ENTRY + (1 + directed) * A_LENGTH) * fill.entries + A_KEPT_EDGE * m + 20 * n
    made = kernels.prepared_bytes(n, fill.entries, directed)
    room = kernels.swept_bytes(n, fill.entries, fill.height, batch, specs[0].cores, directed)
    sums = 8 * m + max(8 * m + room, AN_EDGE * m) if edges else 24 * n + room
    preparing, host_bytes = preparation_bytes(n, m, fill), 0
    if kind == "cpu":
        peak = max(preparing, kept + made + sums)
        seconds = swept / (able.search * min(specs[0].cores, SHARES))
    else:
        peak, host_bytes = 4 * m + made + sums, max(preparing, kept) + made
        seconds = A_MOVED_ENTRY * fill.entries * share / able.memory + swept / DEFAULT["cpu"].search
        seconds += A_LEVEL * fill.height * -(-share // (GROUP * GROUPS))
    preparation = prepared / (able if kind == "cpu" else DEFAULT["cpu"]).search
    how = {"batch": batch, "apart": False, "together": False, "entries": fill.entries, "preparation": preparation}
    return replace(
        plan,
        devices=specs,
        steps=steps,
        span=span or span_of(seconds / max(1, steps)),
        peak_bytes=tuple(lists + peak + 5 * n + 4 * (last - first) for first, last in plan.ranges),
        host_bytes=host_bytes,
        seconds=seconds + steps * able.launch + (EXCHANGE[kind] if len(specs) > 1 else 0.0),
        detail=replace(plan.detail, **how),
    )


class _Counting(NamedTuple):
    """Counting paths from sources: what decides its memory and time on a device.

    Attributes
    ----------
    n, m : int
        Numbers of vertices and edges.
    spec : DeviceSpec
        The device.
    levels : float
        Approximate number of levels of a search.
    dtype : dtype
        The type of distances.
    weighted, edges, directed, wide : bool
        As of `planned`.
    apart : bool
        Whether sources are searched from one by one.
    held : int
        Bytes of edges that the device gathers.
    """

    n: int
    m: int
    spec: DeviceSpec
    levels: float
    dtype: np.dtype
    weighted: bool
    edges: bool
    directed: bool
    wide: bool
    apart: bool
    held: int

    def together(self, share: int, most: int) -> bool:
        """Return whether sources share levels: on a GPU, if levels are few and 32 sources fit `most` bytes."""
        small = not self.weighted and not self.wide and self.levels <= SHALLOW
        return self.spec.kind == "cuda" and small and self.peak(share, 32, True) <= most

    def batch(self, share: int, most: int, together: bool) -> int:
        """Return how many of a share of sources to take at a time in `most` bytes; `together` if they share levels."""
        kind = self.spec.kind
        sharing = SLICE[kind] if self.weighted and not self.apart else 1  # sources that share reads of edges
        alone = max(betweenness_kernels.of_kind(kind).SOURCES, sharing)
        batch = min(share, 32 * WORDS[0] if together else alone * self.spec.cores)
        while batch > 1 and self.peak(share, batch, together) > most:
            batch = -(-batch // 2)
        return batch

    def peak(self, rows: int, batch: int, together: bool) -> int:
        """Return the peak bytes of a device for its share of the sources."""
        n, m, spec, batch = self.n, self.m, self.spec, min(batch, rows)
        kind, itemsize = spec.kind, self.dtype.itemsize
        if self.weighted:
            cores = spec.cores if self.apart else 0
            found = searches_bytes(n, m, batch, self.dtype, self.dtype, kind=kind, directed=self.directed, apart=cores)
            found += self.directed * m * itemsize
        else:
            found = (1 + self.directed) * ((n + 1) * offset_type(m).itemsize + 4 * m)
        if together:
            taken = memory_bytes(n, m, words_of(batch))
        else:
            taken = batch * int(betweenness_kernels.of_kind(kind).row_bytes(n, itemsize, self.wide))
        sums = 8 * m + max(taken, AN_EDGE * m) if self.edges else 8 * n + taken
        return self.held + found + 5 * n + 4 * rows + sums

    def passed(self, together: bool) -> float:
        """Return the edges that are read for a source, without searches by weights."""
        n, m, edges, weighted = self.n, self.m, self.edges, self.weighted
        if self.spec.kind == "cpu":
            return (AN_EDGE_READ + edges) * m + (A_SORTED_VERTEX if weighted else A_VERTEX_READ) * n
        return (SHARED_READS + edges * SHARED_SUMS if together else READS + weighted + edges) * max(m, n)

    def seconds(self, batch: int, together: bool) -> float:
        """Predict the seconds of a batch, without searches by weights."""
        able, levels = rates_of(self.spec), 0.0
        if self.spec.kind == "cuda" and not together:
            levels = A_PASSED_LEVEL * 2 * (1 + self.weighted) * self.levels
        return self.passed(together) * batch / (able.search * self.spec.cores) + levels + able.launch
