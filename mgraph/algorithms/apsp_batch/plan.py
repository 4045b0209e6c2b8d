"""Plans of batches of small graphs: one device, one superstep, all graphs at once."""

import numpy as np

from ...dtypes import name_of
from ...planning.devices import DeviceSpec
from ...planning.fit import fitted
from ...planning.plan import Plan
from ...planning.remembered import remembered
from .detail import BatchDetail


@remembered
def planned(
    count: int,
    side: int,
    m: int,
    specs: tuple[DeviceSpec, ...],
    *,
    given_bytes: int,
    weighted: bool,
    dtype: np.dtype,
    computed: np.dtype,
    predecessors: bool,
    memory_limit: int | None,
) -> Plan[BatchDetail]:
    """Plan a batch of `count` graphs of up to `side` vertices, and `m` edges in all.

    `given_bytes` are those of the input. It may be copied to the device, and converted there.
    """
    pairs = count * side * side
    working = 0 if weighted else 4 * count * side * -(-side // 32)
    # Beside the result, where it is infinite: a byte, and on a GPU 4 bytes for the places of these elements.
    converted = 0 if dtype == computed else (dtype.itemsize + 5) * pairs
    results = (computed.itemsize + 4 * predecessors) * pairs + converted
    made = Plan(
        algorithm="apsp_batch",
        method="floyd-warshall" if weighted else "bitmaps",
        n=count,
        m=m,
        dtype=name_of(dtype),
        predecessors=predecessors,
        ranges=((0, count),),
        devices=specs,
        steps=1,
        span=1,
        peak_bytes=(results + working + 2 * given_bytes,),
        seconds=float("inf"),
        detail=BatchDetail(side=side, computed=computed.name),
    )
    return fitted(made, memory_limit)
