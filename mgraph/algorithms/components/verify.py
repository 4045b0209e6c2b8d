"""Labels of components: equal across every edge, each the least vertex of its component, as many as SciPy counts.

Labels are equal across edges, and there are as many as SciPy counts components: so two components never share one. No
label exceeds its vertex, and each is the label of its own vertex: so it is the least vertex of its component.
"""

from typing import Any

import numpy as np

from ... import device as devices
from ... import lazy
from ...arrays import distinct
from ...errors import WrongResultError
from ...graph import Graph


def labels(graph: Graph, arrays: dict[str, Any], source: object) -> str:
    """Raise unless no label exceeds its vertex, and labels are equal across every edge."""
    found = devices.to_host(arrays["labels"])
    outside = (found < 0) | (found > np.arange(graph.n))
    if outside.any():
        v = int(outside.argmax())
        raise WrongResultError(f"vertex {v} has label {found[v]}, but labels must be from 0 to the vertex itself")
    indptr, indices = map(devices.to_host, graph.layout("csr"))
    own = np.repeat(found, np.diff(indptr))
    across = own != found[indices]
    if across.any():
        e = int(across.argmax())
        raise WrongResultError(f"vertex {indices[e]} has label {found[indices[e]]}, a neighbour {own[e]}")
    return "equal across edges"


def count(graph: Graph, arrays: dict[str, Any], source: object) -> str:
    """Raise unless there are as many labels as components, and each label is the label of its own vertex."""
    found, count = devices.to_host(arrays["labels"]), int(arrays["count"])
    indptr, indices = map(devices.to_host, graph.layout("csr"))
    matrix = lazy.sparse().csr_array((np.ones(len(indices), np.int8), indices, indptr), shape=(graph.n, graph.n))
    # Where every edge is there in both directions, strong components are the components, and found without transposing.
    connection = "weak" if graph.directed else "strong"
    expected, _ = lazy.csgraph().connected_components(matrix, directed=True, connection=connection)
    names = distinct(found)
    if not count == len(names) == expected:
        raise WrongResultError(f"{count} components with {len(names)} labels, and SciPy counts {expected}")
    elsewhere = found[names] != names
    if elsewhere.any():
        v = names[int(elsewhere.argmax())]
        raise WrongResultError(f"vertex {v} is a label, but has label {found[v]}")
    return "as many as SciPy counts"
