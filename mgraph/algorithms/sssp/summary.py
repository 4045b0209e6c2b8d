"""Summary of shortest paths from one source for the command line."""

from typing import Any

from ... import device as devices
from ...dtypes import infinity
from ...graph import Graph
from ..command import Summary, isolation, route, started
from .call import SsspResult


def summary(graph: Graph, result: SsspResult, options: dict[str, Any]) -> Summary:
    """Sum up the paths from one vertex."""
    target = options["target"]
    distances = devices.to_host(result.distances)
    reached = distances[distances != infinity(distances.dtype)]
    facts = {"source": result.source, "rounds": result.iterations}
    words = f"{started(graph, result, result.source)}\n"
    if target is None:
        facts |= {"reached": len(reached), "largest_distance": reached.max().item()}
        words += f"reached: {len(reached):,} of {graph.n:,} vertices, the farthest at {reached.max()}"
        words += isolation([*result.sources], len(reached), options) if graph.n > 1 else ""
        return Summary(facts, words)
    found = distances[result.solved.target]
    distance = None if found == infinity(distances.dtype) else found.item()
    way = route(graph, result, target, distance, len(reached))
    return Summary(facts | way.facts, words + way.words)
