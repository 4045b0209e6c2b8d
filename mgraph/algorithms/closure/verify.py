"""The transitive closure: rows equal to what SciPy's breadth-first search reaches."""

from typing import Any

import numpy as np

from ... import device as devices
from ... import lazy
from ...errors import WrongResultError
from ...graph import Graph
from ..bellman import sampled

#: Number of rows to check.
ROWS = 64


def rows(graph: Graph, arrays: dict[str, Any], source: object) -> str:
    """Raise unless sampled rows (of a small graph, all) hold the vertices that can be reached from their vertex.

    Whether a vertex on no cycle reaches itself depends on the call's `reflexive`, but must be the same for all.
    """
    indptr, indices = map(devices.to_host, graph.layout("csr"))
    matrix = lazy.sparse().csr_array((np.ones(len(indices), np.int8), indices, indptr), shape=(graph.n, graph.n))
    picked, themselves = sampled(graph.n, ROWS), set()
    for i in picked:
        reached = lazy.csgraph().breadth_first_order(matrix, i, return_predecessors=False)
        expected = np.zeros(graph.n, bool)
        expected[reached] = True
        found = devices.to_host(arrays["reachable"].rows(i, i + 1))[0]
        on_cycle = np.isin(i, np.concatenate([indices[indptr[u] : indptr[u + 1]] for u in reached]))
        if not on_cycle:
            themselves.add(bool(found[i]))
            expected[i] = found[i]
        if len(themselves) > 1 or not np.array_equal(found, expected):
            wrong = int((found != expected).argmax()) if len(themselves) < 2 else i
            raise WrongResultError(f"vertex {i} reaches vertex {wrong}: {bool(found[wrong])}, by SciPy otherwise")
    return f"{'all' if len(picked) == graph.n else len(picked)} rows as SciPy searches"
