"""Distances of searches from many vertices: Bellman's equations of many rows, with every edge of length 1."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import bellman

#: Rows that are checked at least.
ROWS = 4


def distances(graph: Any, arrays: dict[str, Any], sources: Sequence[int]) -> str:
    """Raise unless the distances in edges from some vertices are right, a row from each."""
    rows = bellman.rows_within(len(sources), graph.n + graph.m, ROWS)
    for i in rows:
        found = bellman.as_float(arrays["distances"][i])
        found[found == -1] = np.inf
        bellman.check_rows(graph, [sources[i]], found[None], unit=True)
    return f"Bellman's equations of {'all' if len(rows) == len(sources) else len(rows)} rows"
