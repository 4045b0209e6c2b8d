"""Distances of breadth-first searches: Bellman's equations, with every edge of length 1."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import bellman

#: The least number of rows to check of searches from many vertices.
ROWS = 4


def distances(graph: Any, arrays: dict[str, Any], source: int | Sequence[int]) -> str:
    """Raise unless the distances in edges from a vertex, or the nearest of several, are right."""
    _check(graph, arrays["distances"], source)
    return "Bellman's equations"


def rows(graph: Any, arrays: dict[str, Any], sources: Sequence[int]) -> str:
    """Raise unless the distances in edges from some vertices are right, a row from each."""
    picked = bellman.rows_within(len(sources), graph.n + graph.m, ROWS)
    for i in picked:
        _check(graph, arrays["distances"][i], sources[i])
    return f"Bellman's equations of {'all' if len(picked) == len(sources) else len(picked)} rows"


def _check(graph: Any, distances: Any, source: int | Sequence[int]) -> None:
    found = bellman.as_float(distances)
    found[found == -1] = np.inf
    bellman.check_rows(graph, [source], found[None], unit=True)
