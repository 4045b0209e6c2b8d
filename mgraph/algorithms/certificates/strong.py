"""The certificate of strong components: all that have a label reach each other, and no cycle joins two labels.

Each label is the least vertex of its component, and its own. Two searches within the labels, along the edges and
against them, show that each label's vertex reaches all that have the label and is reached by them. Then labels without
edges from others are taken off one after the other, as A. B. Kahn, "Topological sorting of large networks", 1962, sorts
vertices: if none is left, no cycle leads through two labels. All that reads the edges four times, on all cores of the
host: searches level by level, which take as long as their longest path where that is long.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ... import device as devices
from ...dtypes import offset_type
from ...errors import VerificationError
from ...graph import Graph, in_this_process
from ...kernels import certificates as certificate_kernels
from ...results import solved_graph
from .run import as_int32, refuse

#: Bytes for each vertex.
A_VERTEX = 48

#: What each rule says, the most basic first.
RULES: Mapping[str, str] = {
    "label": "a label is the number of a vertex that has it too, and is at most the vertex's own number",
    "reached": "the vertex whose number is a vertex's label reaches it, by vertices with that label",
    "reaching": "a vertex reaches the vertex whose number is its label, by vertices with that label",
    "cycle": "no cycle leads through vertices of two labels, nor from such a cycle to the vertex",
}


def verify(result: Any, given: Any) -> None:
    """Raise VerificationError unless the labels and the count of a result are right."""
    graph, host = in_this_process(solved_graph(result, given)), devices.find("cpu")
    edges = 0 if graph.device == "cpu" else 2 * (4 * graph.m + offset_type(graph.m).itemsize * (graph.n + 1))
    with devices.allocating("verify()", A_VERTEX * graph.n + edges, host):
        _check(result, graph, certificate_kernels.on(host))


def _check(result: Any, graph: Graph, kernels: certificate_kernels.Operations) -> None:
    n, labels = graph.n, as_int32(devices.to_host(result.labels), np)
    least, roots = np.full(len(RULES), n, np.int32), np.zeros(1, np.int32)
    kernels.check_labels(labels, 0, n, least[:1], roots)
    refuse(graph, {"labels": labels}, RULES, least)  # the rest takes labels as right
    by_source, by_target = ([devices.to_host(part) for part in graph.layout(order)] for order in ("csr", "csc"))
    found = np.empty(n, np.uint8)
    for rule, (indptr, indices) in enumerate((by_source, by_target), 1):
        kernels.reach_within(indptr, indices, labels, found)
        least[rule] = _first_unmarked(found)
    indptr, indices = by_source
    kernels.peel(indptr, indices, labels, found)
    least[3] = _first_unmarked(found[labels])
    refuse(graph, {"labels": labels}, RULES, least)
    count = int(roots[0])
    if count != result.count:
        raise VerificationError(
            f"the rule 'count' is broken: there are {count} components, not {result.count}", rule="count"
        )


def _first_unmarked(marks: np.ndarray) -> int:
    return len(marks) if marks.all() else int(marks.argmin())
