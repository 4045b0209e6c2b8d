"""Plans of distances from many sources: how the sources are dealt to the devices, and how many fit at a time."""

from typing import Any

import numpy as np

from ...arguments import checked_choice
from ...dtypes import DISTANCE_TYPES, distance_dtype
from ...errors import Given, InputError
from ...planning.cut import fitting_rows, span_of
from ...planning.devices import DeviceSpec, rates_of, usable
from ...planning.fit import fitted
from ...planning.plan import Plan
from ...planning.shape import Shape
from ..many_levels import levels_bytes, levels_seconds, words_for
from ..many_sources import (
    SLICE,
    apart_seconds,
    batch_size,
    derivation_seconds,
    gathered_bytes,
    relaxing_seconds,
    searches_bytes,
)
from .detail import DistancesDetail
from .keepers import keeper_bytes
from .wanted import checked_reduce, columns

#: The methods of `mgraph.distances`.
METHODS = ("sssp", "johnson", "bfs")

#: The types to compute in: searches do not compute in int16.
TYPES = tuple(dtype for dtype in DISTANCE_TYPES if dtype != np.int16)


def planned(
    n: int,
    m: int,
    specs: tuple[DeviceSpec, ...],
    *,
    method: str = "auto",
    dtype: Any = None,
    predecessors: bool = False,
    sources: int | None = None,
    targets: int | None = None,
    nearest: int | None = None,
    reduce: Any = None,
    sparse: bool = False,
    span: int | None = None,
    memory_limit: int | None = None,
    nonnegative: bool = True,
    weighted: bool = True,
    directed: bool = True,
    gathered: bool = False,
    weight_bytes: int = 0,
    shape: Shape | None = None,
) -> Plan:
    """Plan distances from `sources` vertices to `targets` vertices, of which all or the `nearest` are kept.

    A `sparse` result takes memory for what lies within the limit, which is not known before.

    A limit shortens the searches by what lies beyond it, which the plan does not know: it predicts searches without.
    """
    checked_choice("method", method, ("auto", *METHODS))
    kind, k = specs[0].kind, n if sources is None else sources
    made = distance_dtype(None, dtype, TYPES)
    shape = shape or Shape()
    if method == "auto":
        method = "bfs" if not weighted else "sssp" if nonnegative else "johnson"
    computed = np.dtype(np.float64) if method == "johnson" and made == np.float32 else made
    measured = any(checked_reduce(reduce))
    if measured and (nearest is not None or predecessors):
        other = Given("predecessors", True) if nearest is None else Given("nearest", nearest)
        raise InputError(Given("reduce", reduce), " keeps no distances: leave out ", other)
    wide = columns(n, targets, nearest, measured or sparse)

    share = -(-k // len(specs))
    # Sources that are few, or lie apart in a road network, are searched from one by one.
    apart = (
        kind == "cpu"
        and method != "bfs"
        and apart_seconds(n, m, share, specs[0], shape) < relaxing_seconds(n, m, share, specs[0], weighted, shape)
    )

    def words_of(batch: int) -> int:
        """Return how many words to search by at a time; none on a CPU where a queue for each search is faster."""
        shared = words_for(batch, kind) if method == "bfs" else 0
        if kind == "cpu" and shared:
            return min((shared, 0), key=lambda words: levels_seconds(n, m, batch, words, specs[0], shape))
        return shared

    def peak(rows: int, batch: int) -> int:
        batch = min(batch, rows)
        if method == "bfs":
            found = words_of(batch)
            searched = levels_bytes(n, m, batch, found, made, kind=kind, directed=directed, cores=specs[0].cores)
        else:
            cores = specs[0].cores if apart else 0
            searched = searches_bytes(n, m, batch, computed, made, kind=kind, directed=directed, apart=cores)
        kept = keeper_bytes(
            (wide, measured or sparse, nearest is not None), rows, n, batch, made, predecessors, kind=kind
        )
        held = gathered_bytes(m, weight_bytes, directed, nonnegative) if gathered else 0
        return held + searched + kept

    # As many sources at a time as are best, or fewer if so many do not fit.
    best = max(SLICE[kind], 4 * specs[0].cores) if apart else batch_size(n, computed, kind)
    batch, least = max(1, min(best, k)), 1 if apart else SLICE[kind]
    most = min(usable(spec, memory_limit) for spec in specs)
    while batch > least and peak(share, batch) > most:
        batch = max(least, -(-batch // 2 // least) * least)
    ranges = fitting_rows(k, 1, specs, memory_limit, lambda rows: peak(rows, batch))
    rows = max(last - first for first, last in ranges)
    steps, rates = -(-rows // batch), rates_of(specs[0])
    taken = min(batch, rows)
    words = words_of(taken)
    if method == "bfs":
        passed = levels_seconds(n, m, taken, words, specs[0], shape)
    elif apart:
        passed = apart_seconds(n, m, taken, specs[0], shape)
    else:
        passed = relaxing_seconds(n, m, taken, specs[0], weighted, shape)
    if predecessors and kind == "cpu":
        passed += derivation_seconds(m, taken, specs[0], weighted)
    # Rows are copied to pages that the host has yet to allocate, which halves the rate.
    moved = taken * (2 * wide * (made.itemsize + 4 * predecessors) / rates.copy + n * made.itemsize / rates.memory)
    step_seconds = max(passed, moved) + rates.launch
    return fitted(
        Plan(
            algorithm="distances",
            method=method,
            n=n,
            m=m,
            dtype=made.name,
            predecessors=predecessors,
            ranges=ranges,
            devices=specs,
            steps=steps,
            span=span or span_of(step_seconds),
            peak_bytes=tuple(peak(last - first, batch) for first, last in ranges),
            seconds=steps * step_seconds,
            host_bytes=k * wide * (made.itemsize + 4 * predecessors + 4 * (nearest is not None))
            if kind == "cuda" and len(specs) == 1
            else 0,
            detail=DistancesDetail(
                sources=k,
                columns=wide,
                batch=batch,
                computed=computed.name,
                words=words,
                apart=apart or (method == "bfs" and not words),
                sparse=sparse,
            ),
        ),
        memory_limit,
    )
