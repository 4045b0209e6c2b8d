"""What was kept of rows of distances, computed anew from a row that has been proved; checks for the registry."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import device as devices
from ...arguments import WITHIN
from ...dtypes import NO_PREDECESSOR, infinity
from .. import bellman
from .wanted import Wanted

#: The least number of rows to check.
ROWS = 4

#: Relative error that the potentials of negative weights may add to a distance in floats.
ROUNDING = 1e-5


def rows(graph: Any, arrays: dict[str, Any], sources: Sequence[int]) -> str:
    """Raise unless the distances from some vertices to all are right, a row from each."""
    picked, unit = bellman.rows_within(len(sources), graph.n + graph.m, ROWS), not graph.weighted
    rounding = bellman.grouped(np.dtype(arrays["distances"].dtype), graph.n)
    for i in picked:
        bellman.check_rows(graph, [sources[i]], devices.to_host(arrays["distances"][i])[None], rounding, unit)
    return f"Bellman's equations and paths of {'all' if len(picked) == len(sources) else len(picked)} rows"


def kept_of(row: np.ndarray, source: int, wanted: Wanted) -> dict[str, Any]:
    """Return by name what a result must have of a source's distances to all vertices, found one by one."""
    vertices = range(len(row)) if wanted.targets is None else wanted.targets.tolist()
    unreached = infinity(row.dtype)
    lengths = [row[v].item() for v in vertices]
    if wanted.sparse:
        return {"distances": np.array([0 if d == unreached else d for d in lengths], row.dtype)}
    if not wanted.vectors:
        if wanted.nearest is None:
            return {"distances": np.array(lengths, row.dtype)}
        count = min(wanted.nearest, len(lengths))
        first = sorted(zip(lengths, vertices, strict=True))[:count]
        return {
            "distances": np.array([d for d, _ in first], row.dtype),
            "nearest": np.array([NO_PREDECESSOR if d == unreached else v for d, v in first], np.int32),
        }
    others = [d for d, v in zip(lengths, vertices, strict=True) if v != source]
    there = [d for d in others if d != unreached]
    total = math.fsum(there)
    found = {
        "eccentricity": math.inf if len(there) < len(others) else max(lengths),
        "mean": total / len(there) if there else math.nan,
        "closeness": len(there) / total * len(there) / len(others) if total > 0 else 0.0,
        "harmonic": math.fsum(1 / d for d in there if d != 0),
        "reached": sum(d != unreached for d in lengths),
    }
    kept: dict[str, Any] = {name: found[name] for name in wanted.measures}
    if wanted.radii:
        kept[WITHIN] = np.array([sum(d != unreached and d <= radius for d in lengths) for radius in wanted.radii])
    return kept
