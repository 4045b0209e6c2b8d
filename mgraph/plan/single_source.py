"""Shortest paths from one source."""

from typing import Any

import numpy as np

from ..errors import InputError
from ..rates import EXCHANGE, rates
from .cut import shares, span_of
from .devices import DeviceSpec
from .plans import Plan


def planned(
    n: int,
    m: int,
    specs: tuple[DeviceSpec, ...],
    method: str,
    dtype: np.dtype,
    predecessors: bool,
    nonnegative: bool,
    span: int | None,
    indptr: Any,
    memory_limit: int | None,
) -> Plan:
    """Plan shortest paths from one source: rounds, how many of which only the graph can tell."""
    from .. import single_source  # which knows of plans

    if method == "auto":
        method = "nearfar" if nonnegative else "bellman-ford"
    if method not in single_source.METHODS:
        raise InputError(f"method={method!r} is not known for sssp: use 'auto', 'nearfar', 'bellman-ford' or 'mask'")
    if dtype.itemsize < 4:
        raise InputError(f"dtype={dtype.name} is not supported for sssp: use float32, float64 or int32")
    kind, shards = specs[0].kind, len(specs)

    def peak(own: int, own_edges: int) -> int:
        masked = shards > 1 or method == "mask"
        return single_source.device_bytes(n, own_edges, own, dtype, predecessors, kind=kind, masked=masked)

    ranges, edges = shares(n, m, specs, memory_limit, indptr, peak)
    per_round = EXCHANGE["solo" if shards == 1 else kind] + (5e-6 if kind == "cuda" else 20e-6)
    return Plan(
        algorithm="sssp",
        method=method,
        n=n,
        m=m,
        dtype=dtype.name,
        predecessors=predecessors,
        block=0,
        ranges=ranges,
        devices=specs,
        steps=None,
        span=span or span_of(per_round),
        peak_bytes=tuple(peak(last - first, own_edges) for (first, last), own_edges in zip(ranges, edges, strict=True)),
        # An edge is passed a few times, and its weight and its end's distance looked at.
        seconds=4 * m / (rates(kind, specs[0].model).search * shards) + 60 * per_round,
    )
