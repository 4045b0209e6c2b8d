"""Summary of numbers of shortest paths for the command line."""

import math
from typing import Any

import numpy as np

from ...graph import Graph
from ..command import Summary, called
from .call import PathCountsResult


def summary(graph: Graph, result: PathCountsResult, options: dict[str, Any]) -> Summary:
    """Sum up how many pairs have a path, and where there are most."""
    pairs, reached = result.counts.size, int(np.count_nonzero(result.counts))
    facts: dict[str, Any] = {"sources": len(result.sources), "pairs": pairs, "reached_pairs": reached}
    words = f"reached: {reached:,} of {pairs:,} pairs"
    if not reached:
        return Summary({**facts, "most_paths_log2": None, "from": None, "to": None}, words)
    with np.errstate(divide="ignore"):
        bits = np.log2(result.counts) + (0 if result.exponents is None else result.exponents)
    row, vertex = map(int, np.unravel_index(bits.argmax(), bits.shape))
    source, most = result.sources.tolist()[row], float(bits[row, vertex])
    number = f"{result.counts[row, vertex]:,.0f}" if most < 53 else f"about 10^{most * math.log10(2):.2f}"
    facts |= {"most_paths_log2": most, "from": source, "to": vertex}
    end = graph.ids[vertex] if graph.ids is not None and result.solved.by_ids else called(graph, result, vertex)
    return Summary(facts, f"{words}; most paths: {number}, from {called(graph, result, source)} to {end}")
