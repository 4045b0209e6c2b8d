"""Summary of distances from many sources for the command line."""

from typing import Any

import numpy as np

from ...dtypes import infinity
from ...graph import Graph
from ..command import Summary, blocks_of_rows
from .call import DistancesResult

#: The most distances that are shown.
SHOWN = 100


def summary(graph: Graph, result: DistancesResult, options: dict[str, Any]) -> Summary:
    """Sum up the distances, some rows at a time, or the measures."""
    k, solve = len(result.sources), max(result.timings["solve"], 1e-9)
    if result.distances is None:
        ends = graph.n if result.targets is None else len(result.targets)
        return _of_measures(result, {"sources": k, "rate": k * ends / solve})
    reached, largest = 0, None
    for block in blocks_of_rows(result.distances):
        there = block[block != infinity(block.dtype)]
        reached += there.size
        if there.size:
            most = there.max().item()
            largest = most if largest is None else max(largest, most)
    pairs = k * result.distances.shape[1]
    facts = {"sources": k, "rate": pairs / solve}
    facts |= {"pairs": pairs, "reached_pairs": reached, "largest_distance": largest}
    words = f"reached: {reached:,} of {pairs:,} pairs" + ("" if largest is None else f", the farthest at {largest}")
    if pairs <= SHOWN and result.nearest is None and not hasattr(result.distances, "indptr"):
        words += "\n" + _table(result, graph)
    return Summary(facts, words, "pairs")


def _table(result: DistancesResult, graph: Graph) -> str:
    """Return the distances as lines of text: a row for each source, a column for each target, - where there is none."""
    ids = graph.ids if graph.ids is not None and len(graph.ids) and isinstance(graph.ids[0], str) else None
    sources, targets = (
        [end if ids is None or isinstance(end, str) else ids[end] for end in ends]
        for ends in (result.sources.tolist(), range(graph.n) if result.targets is None else result.targets.tolist())
    )
    rows = [["from \\ to", *map(str, targets)]]
    for source, row in zip(sources, np.concatenate([*blocks_of_rows(result.distances)]), strict=True):
        rows.append([str(source), *("-" if d == infinity(row.dtype) else str(d) for d in row.tolist())])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(word.rjust(width) for word, width in zip(row, widths, strict=True)) for row in rows)


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
