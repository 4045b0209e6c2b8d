"""Summary of distances from many sources for the command line."""

from typing import Any

import numpy as np

from ...dtypes import infinity
from ...graph import Graph
from ..command import Summary, blocks_of_rows
from .call import DistancesResult


def summary(graph: Graph, result: DistancesResult, options: dict[str, Any]) -> Summary:
    """Sum up the distances, some rows at a time, or the measures."""
    k = len(result.sources)
    facts: dict[str, Any] = {"sources": k, "rate": k * graph.n / max(result.timings["solve"], 1e-9)}
    if result.distances is None:
        return _of_measures(result, facts)
    reached, largest = 0, None
    for block in blocks_of_rows(result.distances):
        there = block[block != infinity(block.dtype)]
        reached += there.size
        if there.size:
            most = there.max().item()
            largest = most if largest is None else max(largest, most)
    pairs = k * result.distances.shape[1]
    facts |= {"pairs": pairs, "reached_pairs": reached, "largest_distance": largest}
    words = f"reached: {reached:,} of {pairs:,} pairs" + ("" if largest is None else f", the farthest at {largest}")
    return Summary(facts, words, "pairs")


def _of_measures(result: DistancesResult, facts: dict[str, Any]) -> Summary:
    """Sum up each measure by its least, mean and greatest finite value."""
    lines = []
    frame = {name: array.reshape(len(array), -1) for name, array in result.arrays.items()}
    for name, columns in frame.items():
        finite = columns[np.isfinite(columns) & (columns != infinity(columns.dtype))]
        found = {"least": finite.min(), "mean": finite.mean(), "most": finite.max()} if finite.size else {}
        facts[name] = {key: value.item() for key, value in found.items()}
        ends = f"{found['least']:.6g} to {found['most']:.6g}, mean {found['mean']:.6g}" if found else "nowhere finite"
        lines.append(
            f"{name}: {ends}"
            + (f"; {columns.size - finite.size:,} not finite" if found and finite.size < columns.size else "")
        )
    return Summary(facts, "\n".join(lines), "pairs")
