"""Distances of the shortest paths from a vertex: Bellman's equations, and a path as long as each distance."""

from typing import Any

from .. import bellman


def distances(graph: Any, arrays: dict[str, Any], source: int) -> str:
    """Raise unless the distances from a vertex are right."""
    bellman.check_rows(graph, [source], arrays["distances"][None])
    return "Bellman's equations and paths"
