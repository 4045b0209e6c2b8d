"""The certificate of a lightest spanning forest: no edge precedes the last one on the forest's path between its ends.

Edges are in the order of their weights, of equal ones in that of their lesser and then their greater ends, so that
there is one lightest forest. The forest's edges unite trees of vertices in this order, the smaller below the root of
the larger [1]_. Then the edge that joined a vertex to the one above it precedes that of the latter. So the last edge on
the path between two vertices is the one by which they first have a common vertex above: a few steps, at most twice the
bits of the number of vertices [2]_. One pass over the graph's edges, on all cores of the host, compares each with that
edge, by which also each edge of the forest is found in the graph. If none precedes it, the forest is the lightest
[3]_.

References
----------
.. [1] J. B. Kruskal, "On the shortest spanning subtree of a graph and the traveling salesman problem", 1956.
.. [2] R. E. Tarjan, J. van Leeuwen, "Worst-case analysis of set union algorithms", 1984: union by size.
.. [3] J. Komlós, "Linear verification for spanning trees", 1985.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ... import device as devices
from ...dtypes import offset_type
from ...errors import VerificationError
from ...graph import in_this_process
from ...kernels import certificates as certificate_kernels
from ...results import on_host, solved_graph
from .run import as_int32, called

#: Bytes for each vertex: what is above it, which edge leads there, the size of its tree; and of each edge of the forest
#: its ends, its weight, and its place in the order.
A_VERTEX = 48

#: What each rule says, the most basic first.
RULES: Mapping[str, str] = {
    "ends": "edges lead from a lesser to a greater vertex, and are in the order of their ends",
    "cycle": "edges close no cycle",
    "connected": "the ends of an edge of the graph are in one tree",
    "lightest": "no edge of the graph precedes the last one on the forest's path between its ends",
    "edge": "an edge is the graph's, with its weight",
}


def verify(result: Any, given: Any) -> None:
    """Raise VerificationError unless the edges of a result are those of the lightest spanning forest."""
    graph, host = in_this_process(solved_graph(result, given)), devices.find("cpu")
    n, a_weight = graph.n, 0 if graph.weights_dtype is None else graph.weights_dtype.itemsize
    edges = 0 if graph.device == "cpu" else (4 + a_weight) * graph.m + offset_type(graph.m).itemsize * (n + 1)
    with devices.allocating("verify()", A_VERTEX * n + edges, host):
        src, dst, weights = map(on_host, (result.src, result.dst, result.weights))
        if graph.weights_dtype is not None and weights.dtype.kind != graph.weights_dtype.kind:
            message = f"the rule 'shape' is broken: weights are {weights.dtype}, and the graph's {graph.weights_dtype}"
            raise VerificationError(message, rule="shape")
        src, dst = as_int32(src, np), as_int32(dst, np)
        wrong = (src < 0) | (src >= dst) | (dst >= n)
        wrong[1:] |= (src[1:] < src[:-1]) | ((src[1:] == src[:-1]) & (dst[1:] <= dst[:-1]))
        _refuse_edge(result, "ends", int(wrong.argmax()) if wrong.any() else -1)
        kernels, order = certificate_kernels.on(host), np.argsort(weights, kind="stable")
        src, dst, weights = src[order], dst[order], weights[order]
        above, joined = np.arange(n, dtype=np.int32), np.full(n, len(order), np.int32)
        closing = kernels.join_in_order(src, dst, above, joined)
        _refuse_edge(result, "cycle", int(order[closing]) if closing >= 0 else -1)
        indptr, indices, lengths = (None if a is None else devices.to_host(a) for a in graph.compressed("csr"))
        proven, least = np.zeros(len(order), np.uint8), np.full(2, n, np.int32)
        kernels.check_lightest(indptr, indices, lengths, src, dst, weights, above, joined, proven, least)
        for rule, vertex in zip(("connected", "lightest"), least.tolist(), strict=True):
            if vertex < n:
                message = f"vertex {called(graph, vertex)} breaks the rule {rule!r}: {RULES[rule]}"
                raise VerificationError(message, rule=rule, vertex=vertex)
        _refuse_edge(result, "edge", -1 if proven.all() else int(order[proven == 0].min()))


def _refuse_edge(result: Any, rule: str, number: int) -> None:
    """Raise for the edge of the forest that breaks a rule; -1 is none."""
    if number >= 0:
        src, dst, weight = (array[number] for array in (result.src, result.dst, result.weights))
        message = (
            f"edge {number} breaks the rule {rule!r}: {RULES[rule]}; it joins {src} and {dst} with weight {weight}"
        )
        raise VerificationError(message, rule=rule, vertex=number)
