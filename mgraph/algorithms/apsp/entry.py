"""The registry entry of all pairs of shortest paths."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...dtypes import DISTANCE_TYPES, infinity
from ...generate import random_matrix
from ...graph import Graph
from ...planning.plan import Plan
from ...results import OF_PAIRS
from ..command import PREDECESSORS, Command, Option, Summary, blocks_of_rows
from ..entry import Algorithm, Sample, declare
from ..samples import WEIGHTS, falling, graphs, with_weights
from ..work import Work, size_of
from . import verify
from .call import ApspResult, apsp
from .candidates import products
from .plan import METHODS, SEARCHES, planned


def work(graph: Any, made: Plan | None, arrays: dict[str, Any]) -> Work:
    """Return the work of all pairs: of searches from every vertex the pairs, else n cubed sums and minima."""
    n = size_of(graph)
    if made is not None and made.method in SEARCHES:
        return Work(n * n, "pairs/s")
    return Work(float(n) ** 3, "min-plus/s", None if made is None else _traffic(made))


def _traffic(made: Plan) -> int:
    """Return the bytes that all passes over the matrix read and write."""
    cell = np.dtype(made.dtype).itemsize + 4 * made.detail.labelled
    passes = made.n
    if made.detail.block:
        passes = -(-made.n // made.detail.block)
    elif made.method == "squaring":
        passes = products(made.n, True)
    return 2 * cell * made.n**2 * passes


def samples(method: str) -> Iterator[Sample]:
    """Yield matrices of every type, and for searches graphs, with each kind of label that the method has.

    Searches that allow negative weights have some.
    """
    for dtype in (each.name for each in DISTANCE_TYPES):
        if method not in SEARCHES:
            matrix = random_matrix(150, density=0.3, dtype=dtype, high=90)
            yield Sample(matrix, {"dtype": dtype})
            yield Sample(matrix, {"dtype": dtype, "predecessors": True})
            if method in ("blocked", "naive"):
                yield Sample(matrix, {"dtype": dtype, "intermediate": True})
        elif dtype != "int16":
            for graph in graphs()[:3:2]:
                yield Sample(graph, {"dtype": dtype, "predecessors": True})
    for graph in falling(60) if method == "johnson" else ():
        yield Sample(graph, {"predecessors": True})


def further() -> Iterator[Sample]:
    """Yield small and large matrices of every type, with each kind of label, and graphs; negative weights."""
    for dtype in (each.name for each in DISTANCE_TYPES):
        for n in (20, 150):
            matrix = random_matrix(n, density=0.3, dtype=dtype, high=90)
            yield Sample(matrix, {"dtype": dtype, "predecessors": True})
            yield Sample(matrix, {"dtype": dtype, "intermediate": True})
        yield Sample(graphs()[0], {"dtype": dtype})
    for graph in falling(60):
        yield Sample(graph, {"predecessors": True})
    for weights in WEIGHTS:
        yield Sample(with_weights(graphs()[0], weights), {"predecessors": True})


def summary(graph: Graph, result: ApspResult, options: dict[str, Any]) -> Summary:
    """Sum up a distance matrix, some rows at a time."""
    count, total, largest = 0, 0.0, None
    scale = 2.0 ** -(graph.n**2).bit_length()  # a sum of scaled distances does not overflow
    first = 0
    for chunk in blocks_of_rows(result.distances):
        there = chunk != infinity(chunk.dtype)
        own = np.arange(len(chunk))
        there[own, first + own] = False
        first += len(chunk)
        found = int(np.count_nonzero(there))
        if found:
            count += found
            total += float(np.multiply(chunk, scale, dtype=np.float64).sum(where=there))
            most = chunk.max(where=there, initial=-np.inf if chunk.dtype.kind == "f" else np.iinfo(chunk.dtype).min)
            largest = most if largest is None else max(largest, most)
    mean = total / (count * scale) if count else None
    searched = result.plan.method in SEARCHES
    rate = graph.n ** (2 if searched else 3) / max(result.timings["solve"], 1e-9)
    facts = {
        "rate": rate,
        "reachable_pairs": count,
        "mean_distance": mean if mean is not None and math.isfinite(mean) else None,
        "largest_distance": largest.item() if largest is not None and math.isfinite(largest) else None,
    }
    words = f"reachable: {count:,} of {graph.n * (graph.n - 1):,} pairs"
    if largest is not None:
        words += f", mean distance {mean:.6g}, largest {largest}"
    return Summary(facts, words, "pairs" if searched else "sums and minima")


APSP = Algorithm(
    name="apsp",
    call=apsp,
    planner=planned,
    needs_edges=False,
    methods=METHODS,
    takes=("graph", "matrix"),
    checks={"diagonal": verify.diagonal, "rows": verify.rows, "elements": verify.elements},
    arrays=lambda result: dict(result.arrays),
    work=work,
    rounds=lambda result: int(result.plan.steps),
    samples=samples,
    further=further,
    command=Command(
        name="apsp",
        help="Find the shortest paths between all pairs of the vertices of FILE's graph.",
        example="mgraph apsp --rmat 11 --out distances.npy",
        summary=summary,
        not_in=OF_PAIRS,
        options=(
            Option(
                "dtype",
                (*(dtype.name for dtype in DISTANCE_TYPES), "auto"),
                "The type to compute in; by default that of the weights; auto: the narrowest that is exact.",
            ),
            Option("intermediate", bool, "Find the highest intermediate vertices, not predecessors.", array=True),
            Option("block", int, "Pivots eliminated at a time: 32, 64, 96 or 128.", metavar="N"),
            PREDECESSORS,
        ),
    ),
)

declare(APSP)
