"""Plans of pairs and of flows by a hierarchy: pairs are dealt to the devices, each of which has all entries."""

import math

import numpy as np

from ...dtypes import name_of
from ...hierarchy.routes import A_PAIR, CLIMBS
from ...planning.cut import even_ranges
from ...planning.devices import DeviceSpec
from ...planning.fit import fitted
from ...planning.plan import Plan
from .detail import RoutesDetail

#: The most pairs that a device takes in a superstep.
BATCH = 1 << 20

#: Bytes of an entry: its ends, its lower vertex, what it consists of and carries in both directions; and of a vertex.
AN_ENTRY, A_VERTEX = 64, 64


def planned(
    n: int,
    m: int,
    specs: tuple[DeviceSpec, ...],
    *,
    entries: int,
    height: int,
    starts: int,
    ends: int,
    width: int,
    along: int,
    loads: bool,
    dtype: np.dtype,
    span: int | None,
    memory_limit: int | None,
) -> Plan[RoutesDetail]:
    """Plan pairs by a hierarchy of so many entries and levels.

    A start has `width` pairs: one, or one with each end of a table.
    """
    batch = max(1, min(starts, BATCH // max(1, width)))
    ranges = even_ranges(starts, len(specs), 1)
    result, sums = (8 * m if loads else 0), along * (8 * m + 16 * entries)
    each = dtype.itemsize + 8 * along
    climbs = min(CLIMBS, 2 * min(n, batch + ends) * height * (12 + dtype.itemsize + 8 * (along + loads)))
    asked = 4 * (starts + ends) + (8 * starts * width if loads else 0)
    fixed = AN_ENTRY * entries + A_VERTEX * n + result + sums + climbs + asked
    peaks = tuple(
        fixed + (last - first) * width * (0 if loads else each) + A_PAIR * min(batch, last - first) * width
        for first, last in ranges
    )
    made = Plan(
        algorithm="flows" if loads else "pairs",
        method="hierarchy",
        n=n,
        m=m,
        dtype=name_of(dtype),
        ranges=ranges,
        devices=specs,
        steps=max(-(-(last - first) // batch) for first, last in ranges),
        span=span or 1,
        peak_bytes=peaks,
        seconds=math.inf,
        detail=RoutesDetail(pairs=starts * width, batch=batch, along=along, loads=loads, entries=entries),
    )
    return fitted(made, memory_limit)
