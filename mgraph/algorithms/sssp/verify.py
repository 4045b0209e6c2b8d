"""Distances of the shortest paths from a vertex: Bellman's equations."""

from typing import Any

from .. import bellman


def distances(graph: Any, arrays: dict[str, Any], source: int) -> str:
    """Raise unless the distances from a vertex are right."""
    bellman.check_rows(graph, [source], bellman.as_float(arrays["distances"])[None])
    return "Bellman's equations"
