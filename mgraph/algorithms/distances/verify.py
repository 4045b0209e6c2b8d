"""What was kept of rows of distances, computed anew from a row that has been proved; checks for the registry."""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import device as devices
from ...arguments import HISTOGRAM, OUT, WITHIN
from ...dtypes import NO_PREDECESSOR, as_floats, infinity
from ...errors import VerificationError
from .. import bellman
from .output import Output

#: The least number of rows to check.
ROWS = 4

#: Relative error that the potentials of negative weights may add to a distance in floats.
ROUNDING = 1e-5


def rows(graph: Any, arrays: dict[str, Any], sources: Sequence[int]) -> str:
    """Raise unless the distances from some vertices to all are right, a row from each."""
    picked, unit = bellman.rows_within(len(sources), graph.n + graph.m, ROWS), not graph.weighted
    dtype = np.dtype(arrays["distances"].dtype)
    rounding = bellman.rounding_of(graph, dtype, bellman.grouped(dtype, graph.n))
    for i in picked:
        bellman.check_rows(graph, [sources[i]], devices.to_host(arrays["distances"][i])[None], rounding, unit)
    return f"Bellman's equations and paths of {'all' if len(picked) == len(sources) else len(picked)} rows"


def of_type(distances: Any, dtype: np.dtype, source: int) -> Any:
    """Return distances from a source in the call's type; they may have been written to an array of another one."""
    if distances.dtype == dtype:
        return distances
    found = as_floats(devices.to_host(distances))
    with np.errstate(invalid="ignore", over="ignore"):
        cast = np.where(found == np.inf, infinity(dtype), found).astype(dtype)
    if not np.array_equal(as_floats(cast), found):
        message = f"distances of source {source} are no {dtype}, in which they were computed"
        raise VerificationError(message, rule="distances", vertex=source)
    return cast


def condition(name: str, row: np.ndarray, source: int, wanted: Output) -> float:
    """Return how many times larger the relative error of a measure may be than that of the distances it sums."""
    vertices = range(len(row)) if wanted.targets is None else wanted.targets.tolist()
    there = [d for v in vertices if v != source and (d := row[v].item()) != infinity(row.dtype)]
    terms = [1 / d for d in there if d] if name.endswith("harmonic") else there
    total = abs(math.fsum(terms))
    return math.fsum(map(abs, terms)) / total if total else math.inf


def kept_of(row: np.ndarray, source: int, wanted: Output) -> dict[str, Any]:
    """Return by name what a result must have of a source's distances to all vertices, found one by one."""
    vertices = range(len(row)) if wanted.targets is None else wanted.targets.tolist()
    unreached = infinity(row.dtype)
    lengths = [row[v].item() for v in vertices]
    if wanted.sparse or not wanted.vectors:
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
    try:
        total = math.fsum(there)
    except OverflowError:
        total = math.inf
    found = {
        "eccentricity": math.inf if len(there) < len(others) else max(lengths),
        "mean": total / len(there) if there else math.nan,
        "closeness": len(there) / total * len(there) / len(others) if total > 0 else 0.0,
        "harmonic": math.fsum(1 / d for d in there if d != 0),
        "reached": sum(d != unreached for d in lengths),
    }
    kept: dict[str, Any] = {name: found[name.removeprefix(OUT)] for name in wanted.measures}
    if wanted.radii:
        kept[WITHIN] = np.array([sum(d != unreached and d <= radius for d in lengths) for radius in wanted.radii])
    if wanted.bins:
        last, near = wanted.bins[-1], [d for d in lengths if d != unreached]
        ends = itertools.pairwise(wanted.bins)
        kept[HISTOGRAM] = np.array([sum(low <= d < high or d == high == last for d in near) for low, high in ends])
    return kept
