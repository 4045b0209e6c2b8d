"""Core numbers proved in two steps, by NumPy alone.

If every vertex has as many edges as its number to vertices of numbers at least as high, no number is too high. If the
vertices of each number can be taken away one after the other, each when at most as many edges as its number are left to
vertices of that number and higher ones, none is too low. All numbers are peeled at the same time.
"""

from typing import Any

import numpy as np

from ... import device as devices
from ...dtypes import offset_type
from ...errors import VerificationError
from ...graph import Graph, in_this_process
from ...results import on_host, solved_graph
from ..certificates.run import as_int32, called

#: What each rule says.
RULES = {
    "support": "a vertex has as many edges as its core number to vertices of at least that number",
    "peeled": "the vertices of a core number can be taken away, each with at most that many edges left",
}


def prove(graph: Graph, cores: np.ndarray) -> None:
    """Raise VerificationError unless these are the core numbers of a graph in this process."""
    orders = ("csr", "csc") if graph.directed else ("csr",)
    rows = [tuple(map(devices.to_host, graph.layout(order))) for order in orders]
    left = np.zeros(graph.n, np.int64)
    for indptr, indices in rows:
        own = np.repeat(cores, np.diff(indptr))
        sums = np.concatenate([[0], np.cumsum(cores[indices] >= own)])
        left += sums[indptr[1:]] - sums[indptr[:-1]]
    _refuse(graph, "support", (cores < 0) | (left < cores))
    there = np.ones(graph.n, bool)
    going = np.flatnonzero(left <= cores)
    while len(going):
        there[going] = False
        lowered = []
        for indptr, indices in rows:
            first, degrees = indptr[going], np.diff(indptr)[going]
            own = np.repeat(cores[going], degrees)
            ends = np.repeat(first - np.cumsum(degrees) + degrees, degrees) + np.arange(degrees.sum())
            other = indices[ends]
            lowered.append(other[there[other] & (cores[other] == own)])
        met, counts = np.unique(np.concatenate(lowered), return_counts=True)
        left[met] -= counts
        going = met[left[met] <= cores[met]]
    _refuse(graph, "peeled", there)


def verify(result: Any, given: Any) -> None:
    """Raise VerificationError unless the core numbers of a result are right."""
    graph = in_this_process(solved_graph(result, given))
    edges = 0 if graph.device == "cpu" else 8 * graph.m + 2 * offset_type(graph.m).itemsize * (graph.n + 1)
    with devices.allocating("verify()", 32 * graph.n + 24 * graph.m + edges, devices.find("cpu")):
        prove(graph, as_int32(on_host(result.cores), np))


def _refuse(graph: Graph, rule: str, wrong: np.ndarray) -> None:
    if wrong.any():
        vertex = int(wrong.argmax())
        message = f"vertex {called(graph, vertex)} breaks the rule {rule!r}: {RULES[rule]}"
        raise VerificationError(message, rule=rule, vertex=vertex)
