"""Summary of a search for the command line."""

from typing import Any

from ... import device as devices
from ...graph import Graph
from ..command import Summary, edges_from, isolation, route, started
from .call import BfsResult


def summary(graph: Graph, result: BfsResult, options: dict[str, Any]) -> Summary:
    """Sum up a search."""
    target = options["target"]
    levels, distances = devices.to_host(result.levels), devices.to_host(result.distances)
    sources = list(dict.fromkeys(result.sources))
    reached, widest = int(levels.sum()), int(levels.argmax())
    degrees = edges_from(graph)
    rate = None if degrees is None else int(degrees[distances >= 0].sum()) / max(result.timings["solve"], 1e-9)
    unit = "" if rate is None else "edges"
    facts = {
        "rate": rate,
        **({"source": sources[0]} if len(sources) == 1 else {"sources": sources}),
    }
    words = "" if len(sources) > 1 else f"{started(graph, result, sources[0])}\n"
    if target is not None:
        distance = int(distances[result.solved.target])
        found = route(graph, result, target, distance if distance >= 0 else None, reached)
        return Summary(facts | found.facts, words + found.words, unit)
    facts |= {
        "reached": reached,
        "levels": len(levels),
        "widest_level": widest,
        "widest_level_vertices": int(levels[widest]),
    }
    words += (
        f"reached: {reached:,} of {graph.n:,} vertices; levels: {len(levels):,}, the widest is level {widest:,} "
        f"with {levels[widest]:,}"
    )
    words += isolation(sources, reached, options) if graph.n > len(sources) else ""
    return Summary(facts, words, unit)
