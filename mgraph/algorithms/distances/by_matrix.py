"""Distances by the blocked method on the matrix of all pairs, where the graph is small and dense.

The method of `mgraph.apsp` runs as it is. Of its matrix the rows of the sources are kept as those of searches are.
"""

from typing import Any

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...dtypes import infinity
from ...graph import Graph
from ...planning.plan import Plan
from ...runtime.program import Outcome
from ..apsp.call import apsp
from .output import Output
from .row_sinks import keeper


def kept_of_all_pairs(
    graph: Graph, plan: Plan, starts: np.ndarray, wanted: Output, limit: float, **options: Any
) -> Outcome:
    """Return what is kept of the rows of some sources, once all pairs have been computed on one device.

    Parameters
    ----------
    graph : Graph
        The graph.
    plan : Plan
        The plan of the distances.
    starts : array of int32, shape (k,)
        The sources.
    wanted : Output
        What to keep of their rows.
    limit : float
        The greatest distance.
    **options
        Those of `mgraph.apsp` that say where and how it runs.
    """
    found = apsp(graph, method="blocked", dtype=plan.dtype, **options)
    device, dtype = devices.of(found.distances), np.dtype(plan.dtype)
    batch, sources = plan.detail.batch, device.asarray(starts)
    with device.active():
        kept = keeper(wanted, device, "cpu", len(starts), graph.n, batch, dtype, False)
        for top in range(0, len(starts), batch):
            bottom = min(top + batch, len(starts))
            rows: Array = kept.rows(top, bottom)[0]
            rows[...] = found.distances[sources[top:bottom]]
            if limit < infinity(dtype):
                rows[rows > limit] = infinity(dtype)
            kept.keep(top, bottom, sources[top:bottom])
        return Outcome(kept.results(), dict(found.timings))
