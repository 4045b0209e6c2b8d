"""Distances of a breadth-first search: Bellman's equations, with every edge of length 1."""

from typing import Any

import numpy as np

from . import bellman


def distances(graph: Any, arrays: dict[str, Any], source: int) -> str:
    """Raise unless the distances in edges from a vertex are right."""
    found = bellman.as_float(arrays["distances"])
    found[found == -1] = np.inf
    bellman.check_rows(graph, [source], found[None], unit=True)
    return "Bellman's equations"
