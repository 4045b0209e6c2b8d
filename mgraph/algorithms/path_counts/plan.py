"""Plans of numbers of shortest paths: that of the distances, and what counting takes after it."""

from dataclasses import replace
from typing import cast

import numpy as np

from ...kernels import betweenness as kernels_of_paths
from ...planning.devices import DeviceSpec, rates_of, usable
from ...planning.fit import fitted
from ...planning.plan import Plan
from ...planning.remembered import remembered
from ...planning.shape import Shape
from ..betweenness.plan import A_SORTED_VERTEX, AN_EDGE_READ, READS
from ..distances import plan as distances
from ..distances.detail import DistancesDetail
from .detail import PathCountsDetail


@remembered
def planned(
    n: int,
    m: int,
    specs: tuple[DeviceSpec, ...],
    *,
    method: str = "auto",
    sources: int | None = None,
    weighted: bool = True,
    directed: bool = True,
    span: int | None = None,
    memory_limit: int | None = None,
    shape: Shape | None = None,
) -> Plan:
    """Plan numbers of shortest paths from `sources` vertices, by default all, along weights that are integers."""
    found = distances.planned(
        n,
        m,
        specs,
        method=method,
        dtype=np.int32,
        sources=sources,
        weighted=weighted,
        directed=directed,
        span=span,
        memory_limit=memory_limit,
        shape=shape,
    )
    return fitted(with_counting(found, specs[0], directed, memory_limit), memory_limit)


def with_counting(
    found: Plan[DistancesDetail], spec: DeviceSpec, directed: bool, memory_limit: int | None, wide: bool = False
) -> Plan[PathCountsDetail]:
    """Return the plan of distances, with what it takes to count paths after them on a device.

    If the call has several devices, the peaks are those of the distances: paths are counted in this process. `wide` is
    for scaled numbers of paths.
    """
    n, m, detail, kernels = found.n, found.m, found.detail, kernels_of_paths.of_kind(spec.kind)
    itemsize = np.dtype(found.dtype).itemsize
    k, a_row = detail.sources, int(kernels.row_bytes(n, itemsize, wide))
    edges = (1 + directed) * ((8 + itemsize) * m + 8 * n)
    counts, distances_found = k * n * (8 + 4 * wide), k * n * itemsize

    def peak(batch: int) -> int:
        return edges + n + batch * a_row + (counts + distances_found) * (spec.kind == "cpu")

    batch = max(1, min(k, kernels.SOURCES * spec.cores))
    while batch > 1 and peak(batch) > usable(spec, memory_limit):
        batch = -(-batch // 2)
    alone, able = len(found.devices) == 1, rates_of(spec)
    reads = AN_EDGE_READ * m + A_SORTED_VERTEX * n if spec.kind == "cpu" else READS * max(m, n)
    made = replace(
        found,
        algorithm="path_counts",
        peak_bytes=tuple(max(own, peak(batch)) for own in found.peak_bytes) if alone else found.peak_bytes,
        host_bytes=found.host_bytes + counts * (spec.kind != "cpu"),
        seconds=found.seconds + k * reads / (able.search * spec.cores) + able.launch,
        detail=PathCountsDetail(**vars(detail), counting=batch, wide=wide),
    )
    return cast("Plan[PathCountsDetail]", made)
