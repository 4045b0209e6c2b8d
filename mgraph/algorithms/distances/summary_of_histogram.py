"""What the command line reads and prints of the histogram of all distances."""

import math
from typing import Any

from ...errors import InputError
from ...graph import Graph
from ..command import Summary
from .histogram import DistanceHistogram

#: The most bins that are shown.
SHOWN = 40


def edges_of_bins(text: str) -> list[float]:
    """Return the edges of bins that an option lists."""
    try:
        return [float(edge) for edge in text.split(",")]
    except ValueError as error:
        raise InputError(argument="bins", value=text, expected="numbers with commas between them") from error


def summary_of_histogram(graph: Graph, result: DistanceHistogram, options: dict[str, Any]) -> Summary:
    """Sum up the histogram, and show its bins if they are few."""
    n, complete = result.plan.n, int(result.counts.sum()) == result.pairs
    facts = {
        "rate": n * n / max(result.timings["solve"], 1e-9),
        "connected_pairs": result.pairs,
        "mean": _finite(result.mean),
        "efficiency": _finite(result.efficiency),
        "effective_diameter": _finite(result.effective_diameter()) if complete else None,
        "edges": [_finite(edge) for edge in result.edges.tolist()],
        "counts": result.counts.tolist(),
    }
    words = (
        f"pairs with a path: {result.pairs:,} of {n * (n - 1):,}\n"
        f"mean distance: {result.mean:.6g}, efficiency: {result.efficiency:.6g}"
    )
    if complete:
        words += f", effective diameter: {result.effective_diameter():.6g}"
    if 0 < len(result.counts) <= SHOWN:
        ends = zip(result.edges[:-1], result.edges[1:], result.counts.tolist(), strict=True)
        words += "".join(f"\n{low:g} to {high:g}: {count:,}" for low, high, count in ends)
    return Summary(facts, words, "pairs")


def _finite(number: float) -> float | None:
    """Return a number, or None for one that JSON does not have."""
    return number if math.isfinite(number) else None
