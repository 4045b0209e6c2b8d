"""Summary of all-pairs shortest paths for the command line."""

import math
from typing import Any

import numpy as np

from ...dtypes import infinity
from ...graph import Graph
from ..command import Summary, blocks_of_rows
from .call import ApspResult
from .plan import SEARCHES


def summary(graph: Graph, result: ApspResult, options: dict[str, Any]) -> Summary:
    """Sum up a distance matrix, some rows at a time."""
    count, total, largest = 0, 0.0, None
    scale = 2.0 ** -(graph.n**2).bit_length()  # a sum of scaled distances does not overflow
    first = 0
    for chunk in blocks_of_rows(result.distances):
        there = chunk != infinity(chunk.dtype)
        own = np.arange(len(chunk))
        there[own, first + own] = False
        first += len(chunk)
        found = int(np.count_nonzero(there))
        if found:
            count += found
            total += float(np.multiply(chunk, scale, dtype=np.float64).sum(where=there))
            most = chunk.max(where=there, initial=-np.inf if chunk.dtype.kind == "f" else np.iinfo(chunk.dtype).min)
            largest = most if largest is None else max(largest, most)
    mean = total / (count * scale) if count else None
    searched = result.plan.method in SEARCHES
    rate = graph.n ** (2 if searched else 3) / max(result.timings["solve"], 1e-9)
    facts = {
        "rate": rate,
        "reachable_pairs": count,
        "mean_distance": mean if mean is not None and math.isfinite(mean) else None,
        "largest_distance": largest.item() if largest is not None and math.isfinite(largest) else None,
    }
    words = f"reachable: {count:,} of {graph.n * (graph.n - 1):,} pairs"
    if largest is not None:
        words += f", mean distance {mean:.6g}, largest {largest}"
    return Summary(facts, words, "pairs" if searched else "sums and minima")
