"""Plans of batches of small graphs: one device, one superstep, all graphs at once."""

import numpy as np

from ...dtypes import name_of
from ...planning.devices import DeviceSpec, rates_of, speed_of
from ...planning.fit import fitted
from ...planning.plan import Plan
from ...planning.remembered import remembered
from .detail import BatchDetail

#: The most vertices of a graph whose searches a GPU, or a core of a CPU, makes at the first of these rates, in pairs a
#: second; those of larger graphs at the second.
SEARCHES = {"cuda": (128, 3e11, 7.5e10), "cpu": (64, 3e8, 9e7)}

#: The share of that rate at which they also record predecessors.
RECORDING = 0.2

#: Seconds that a pivot takes for a row in addition to its sums, and how many times as long sums take as those of the
#: product of large matrices.
ROW, SLOWER = {"cuda": 2e-12, "cpu": 25e-9}, {"cuda": 3.0, "cpu": 1.0}


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

    `given_bytes` are those of the input. It may be copied to the device, and converted there. The predicted time is
    that of graphs that all have `side` vertices.
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
        seconds=_seconds(count, side, specs[0], computed if weighted else None, predecessors),
        detail=BatchDetail(side=side, computed=computed.name),
    )
    return fitted(made, memory_limit)


def _seconds(count: int, side: int, spec: DeviceSpec, weights: np.dtype | None, predecessors: bool) -> float:
    """Return the predicted seconds of the solve; without `weights` of searches."""
    rates, speed, pairs = rates_of(spec), speed_of(spec), count * side * side
    if weights is None:
        most, few, many = SEARCHES[spec.kind]
        rate = (few if side <= most else many) * (RECORDING if predecessors else 1) * speed.searches
        return rates.launch + pairs / (rate * spec.cores)
    products = rates.labelled if predecessors else rates.minplus
    row = ROW[spec.kind] / speed.arithmetic + SLOWER[spec.kind] * side / products[weights.name]
    return rates.launch + pairs * row / spec.cores
