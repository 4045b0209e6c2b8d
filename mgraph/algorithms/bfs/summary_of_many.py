"""Summary of searches from many vertices for the command line."""

from typing import Any

import numpy as np

from ... import device as devices
from ...graph import Graph
from ..command import Summary, blocks_of_rows
from .many import BfsManyResult


def summary_of_many(graph: Graph, result: BfsManyResult, options: dict[str, Any]) -> Summary:
    """Sum up the searches, some at a time."""
    degrees = np.diff(devices.to_host(graph.adjacency("csr")[0]))
    reached, farthest, passed = 0, 0, 0
    for distances in blocks_of_rows(result.distances):
        found = distances >= 0
        reached += int(np.count_nonzero(found))
        passed += int((np.count_nonzero(found, axis=0) * degrees).sum())
        farthest = max(farthest, int(distances.max()))
    pairs = len(result.sources) * graph.n
    facts = {
        "rate": passed / max(result.timings["solve"], 1e-9),
        "sources": list(result.sources),
        "reached_pairs": reached,
        "largest_distance": farthest,
    }
    words = f"reached: {reached:,} of {pairs:,} pairs of a source and a vertex, the farthest at {farthest:,}"
    return Summary(facts, words, "edges")
