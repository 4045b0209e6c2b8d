"""Distances of breadth-first searches, as of shortest paths where every edge has length 1: see `bellman`."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import device as devices
from ...dtypes import infinity
from .. import bellman

#: The least number of rows to check of searches from many vertices.
ROWS = 4


def distances(graph: Any, arrays: dict[str, Any], source: int | Sequence[int]) -> str:
    """Raise unless the distances in edges from a vertex, or the nearest of several, are right."""
    _check(graph, arrays["distances"], source)
    return "Bellman's equations and paths"


def rows(graph: Any, arrays: dict[str, Any], sources: Sequence[int]) -> str:
    """Raise unless the distances in edges from some vertices are right, a row from each."""
    picked = bellman.rows_within(len(sources), graph.n + graph.m, ROWS)
    for i in picked:
        _check(graph, arrays["distances"][i], sources[i])
    return f"Bellman's equations and paths of {'all' if len(picked) == len(sources) else len(picked)} rows"


def _check(graph: Any, distances: Any, source: int | Sequence[int]) -> None:
    found = devices.to_host(distances).astype(np.int64)
    found[found == -1] = infinity(found.dtype)
    bellman.check_rows(graph, [source], found[None], unit=True)
