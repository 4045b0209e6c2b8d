"""Plans of betweenness: how the sources are dealt to the devices, and how many fit at a time."""

from typing import Any, NamedTuple

import numpy as np

from ...arguments import checked_choice
from ...dtypes import name_of, offset_type
from ...kernels import betweenness as betweenness_kernels
from ...kernels.betweenness_many.ops import WORDS, memory_bytes, words_of
from ...planning.cut import even_ranges, span_of
from ...planning.devices import DeviceSpec, rates_of, usable
from ...planning.fit import fitted
from ...planning.plan import Plan
from ...planning.rates import EXCHANGE
from ...planning.remembered import remembered
from ...planning.shape import Shape
from ..batched_sssp import SLICE, apart_seconds, gathered_bytes, relaxing_seconds, searches_bytes
from .detail import BetweennessDetail

#: Reads of edges by a search from a source that take as long on a CPU, for each edge and each vertex; measured
#: (benchmarks/NOTES.md). By weights, vertices are sorted by their distances. Adding up edges reads each once more.
AN_EDGE_READ, A_VERTEX_READ, A_SORTED_VERTEX = 0.4, 3.4, 10.0

#: How often a GPU reads an edge for a source, without lengths; assumed. If sources share reads, measured, and how much
#: more adding up edges takes.
READS, SHARED_READS, SHARED_SUMS = 3, 1.0, 0.3

#: The most levels of a search that is worth sharing: all multiprocessors wait for each other at each level.
SHALLOW = 64

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
    """
    checked_choice("method", method, ("auto", "brandes"))
    kind, shape, sources = specs[0].kind, shape or Shape(), n if sources is None else sources
    dtype, share = np.dtype(computed if weighted else np.int32), max(1, -(-sources // len(specs)))
    batched = relaxing_seconds(n, m, share, specs[0], True, shape) if weighted else 0.0
    alone = apart_seconds(n, m, share, specs[0], shape) if weighted else 0.0
    apart = weighted and kind == "cpu" and alone < batched
    held = gathered_bytes(m, weight_bytes, directed, True) if gathered and weighted else 0
    counting = _Counting(n, m, specs[0], dtype, weighted, edges, directed, wide, apart, held)
    most = min(usable(spec, memory_limit) for spec in specs)
    small = kind == "cuda" and not weighted and not wide and shape.levels <= SHALLOW
    together = small and counting.peak(share, 32, True) <= most
    batch = counting.batch(share, most, together)
    ranges, steps = even_ranges(sources, len(specs), 1), -(-share // batch) if sources else 0
    seconds = counting.seconds(batch, together) + (alone if apart else batched) * batch / share
    how: dict[str, Any] = {"sources": sources, "batch": batch, "apart": apart, "together": together}
    return fitted(
        Plan(
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
        ),
        memory_limit,
    )


class _Counting(NamedTuple):
    """Counting paths from sources: what decides its memory and time on a device.

    Attributes
    ----------
    n, m : int
        Numbers of vertices and edges.
    spec : DeviceSpec
        The device.
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
    dtype: np.dtype
    weighted: bool
    edges: bool
    directed: bool
    wide: bool
    apart: bool
    held: int

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

    def seconds(self, batch: int, together: bool) -> float:
        """Predict the seconds of a batch by the edges that it reads, without searches by weights."""
        n, m, edges, weighted, able = self.n, self.m, self.edges, self.weighted, rates_of(self.spec)
        if self.spec.kind == "cpu":
            reads = (AN_EDGE_READ + edges) * m + (A_SORTED_VERTEX if weighted else A_VERTEX_READ) * n
        else:
            reads = (SHARED_READS + edges * SHARED_SUMS if together else READS + weighted + edges) * max(m, n)
        return reads * batch / (able.search * self.spec.cores) + able.launch
