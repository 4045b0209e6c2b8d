"""What a command says of its input and of what it found: as values for JSON, and in words."""

import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from tqdm import tqdm

import mgraph

from .. import device as devices
from ..algorithms.apsp.plan import SEARCHES
from ..dtypes import infinity
from ..graph import Graph

#: Elements of a distance matrix summed up at a time.
ELEMENTS_AT_A_TIME = 1 << 22


def as_json_text(facts: dict[str, Any]) -> str:
    """Return JSON as the standard has it: without the words Infinity and NaN."""
    return json.dumps(facts, allow_nan=False)


def _edges(graph: Graph) -> int | None:
    """Return the number of edges; None for a dense matrix, whose edges would have to be listed first."""
    return None if graph.dense is not None else graph.m


def described(graph: Graph) -> tuple[dict[str, Any], str]:
    """Return what is known of a graph, as values and in words."""
    m = _edges(graph)
    facts = {"n": graph.n, "m": m, "directed": graph.directed, "weighted": graph.weighted}
    edges = "a dense matrix" if m is None else f"{m:,} stored edges"
    kind = "directed" if graph.directed else "undirected"
    return facts, f"graph: {graph.n:,} vertices, {edges}, {kind}, {'weighted' if graph.weighted else 'unweighted'}"


def described_list(succ: np.ndarray) -> tuple[dict[str, Any], str]:
    """Return what is known of lists, as values and in words."""
    return {"n": len(succ)}, f"lists: {len(succ):,} elements in all"


def pairs(graph: Graph, result: mgraph.ApspResult) -> tuple[dict[str, Any], str]:
    """Sum up a distance matrix, some rows at a time: what was found, as values and in words."""
    count, total, largest = 0, 0.0, None
    scale = 2.0 ** -(graph.n**2).bit_length()  # a sum of scaled distances does not overflow
    first = 0
    for chunk in _chunks(result.distances):
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
    words = f"rate: {tqdm.format_sizeof(rate)} {'pairs' if searched else 'sums and minima'} a second\n"
    words += f"reachable: {count:,} of {graph.n * (graph.n - 1):,} pairs"
    if largest is not None:
        words += f", mean distance {mean:.6g}, largest {largest}"
    return facts, words


def _chunks(matrix: Any) -> Iterator[np.ndarray]:
    """Yield consecutive blocks of rows, as NumPy arrays."""
    if hasattr(matrix, "chunks"):
        yield from matrix.chunks()
        return
    rows = max(1, ELEMENTS_AT_A_TIME // max(1, matrix.shape[1]))
    for first in range(0, len(matrix), rows):
        yield devices.to_host(matrix[first : first + rows])


def lengths(graph: Graph, result: mgraph.SsspResult, target: int | None) -> tuple[dict[str, Any], str]:
    """Sum up the paths from one vertex: what was found, as values and in words."""
    distances = devices.to_host(result.distances)
    reached = distances[distances != infinity(distances.dtype)]
    facts = {
        "source": result.source,
        "reached": len(reached),
        "largest_distance": reached.max().item(),
        "rounds": result.iterations,
    }
    words = f"reached: {len(reached):,} of {graph.n:,} vertices, the farthest at {reached.max()}"
    if target is None:
        return facts, words
    distance = None if distances[target] == infinity(distances.dtype) else distances[target].item()
    there, told = _route(result, target, distance)
    return facts | there, f"{words}\n{told}"


def _route(
    result: mgraph.BfsResult | mgraph.SsspResult, target: int, distance: float | None
) -> tuple[dict[str, Any], str]:
    """Return the way to the target of a search, as values and in words; its distance is None where there is none."""
    route = None if result.predecessors is None or distance is None else result.path(target)
    facts = {"target": target, "distance": distance, "route": route}
    if distance is None:
        return facts, f"vertex {target} was not reached"
    words = f"distance to vertex {target}: {distance}"
    return facts, words if route is None else f"{words}\nroute: {' '.join(map(str, route))}"


def sizes(graph: Graph, result: mgraph.ComponentsResult) -> tuple[dict[str, Any], str]:
    """Sum up the components: what was found, as values and in words."""
    sizes = np.bincount(devices.to_host(result.labels), minlength=1) if graph.n else np.zeros(1, int)
    facts = {"components": result.count, "largest_component": int(sizes.max()), "rounds": result.iterations}
    return facts, f"components: {result.count:,}, the largest with {sizes.max():,} of {graph.n:,} vertices"


def ranked(succ: np.ndarray, result: mgraph.ListRankResult) -> tuple[dict[str, Any], str]:
    """Sum up the ranks: what was found, as values and in words."""
    ranks = devices.to_host(result.ranks)
    count, largest = int((ranks == 0).sum()), int(ranks.max(initial=0))
    return {"lists": count, "largest_rank": largest}, f"ranked: {count:,} lists, the largest rank is {largest:,}"


def reachable(graph: Graph, result: mgraph.ClosureResult) -> tuple[dict[str, Any], str]:
    """Sum up a closure: what was found, as values and in words."""
    facts = {"reachable_pairs": result.count}
    return facts, f"reachable: {result.count:,} of {graph.n**2:,} pairs, a vertex with itself counted as one"


def levels(graph: Graph, result: mgraph.BfsResult, target: int | None) -> tuple[dict[str, Any], str]:
    """Sum up a search: what was found, as values and in words."""
    levels, distances = devices.to_host(result.levels), devices.to_host(result.distances)
    sources = np.flatnonzero(distances == 0).tolist()
    reached, widest = int(levels.sum()), int(levels.argmax())
    degrees = np.diff(devices.to_host(graph.adjacency("csr")[0]))
    passed = int(degrees[distances >= 0].sum())
    rate = passed / max(result.timings["solve"], 1e-9)
    facts = {
        "rate": rate,
        **({"source": sources[0]} if len(sources) == 1 else {"sources": sources}),
        "reached": reached,
        "levels": len(levels),
        "widest_level": widest,
        "widest_level_vertices": int(levels[widest]),
    }
    words = (
        f"rate: {tqdm.format_sizeof(rate)} edges a second\n"
        f"reached: {reached:,} of {graph.n:,} vertices; levels: {len(levels):,}, the widest is level {widest:,} "
        f"with {levels[widest]:,}"
    )
    if target is None:
        return facts, words
    there, told = _route(result, target, int(distances[target]) if distances[target] >= 0 else None)
    return facts | there, f"{words}\n{told}"
