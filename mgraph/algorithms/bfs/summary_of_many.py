"""Summary of searches from many vertices for the command line."""

from typing import Any

import numpy as np

from ...graph import Graph
from ..command import Summary, blocks_of_rows, edges_from
from .many import BfsManyResult


def summary_of_many(graph: Graph, result: BfsManyResult, options: dict[str, Any]) -> Summary:
    """Sum up the searches, some at a time."""
    degrees = edges_from(graph)
    reached, farthest, passed = 0, 0, 0
    for distances in blocks_of_rows(result.distances):
        found = distances >= 0
        reached += int(np.count_nonzero(found))
        passed += 0 if degrees is None else int((np.count_nonzero(found, axis=0) * degrees).sum())
        farthest = max(farthest, int(distances.max()))
    pairs = len(result.sources) * graph.n
    facts = {
        "rate": None if degrees is None else passed / max(result.timings["solve"], 1e-9),
        "sources": list(result.sources),
        "reached_pairs": reached,
        "largest_distance": farthest,
    }
    words = f"reached: {reached:,} of {pairs:,} pairs of a source and a vertex, the farthest at {farthest:,}"
    return Summary(facts, words, "" if degrees is None else "edges")
