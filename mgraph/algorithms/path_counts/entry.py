"""The registry entry of numbers of shortest paths."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...graph import Graph
from ...planning.plan import Plan
from ...results import OF_PAIRS
from ..command import IDS, SOURCES, Command, Option, Summary, called
from ..entry import Algorithm, Sample, declare
from ..samples import WEIGHTS, graphs, with_weights
from ..work import Work
from . import verify
from .call import PathCountsResult, path_counts
from .plan import planned


def work(graph: Graph, made: Plan | None, arrays: dict[str, Any]) -> Work:
    """Return the work of counting: the edges, as often as there are sources."""
    return Work(len(arrays["counts"]) * graph.m, "TEPS")


def samples(method: str) -> Iterator[Sample]:
    """Yield counts by edges and by weights, and a graph of more paths than float64 counts."""
    first, *others = graphs()
    yield from _of_each_type(first)
    start = 3 * np.arange(1100)  # of a diamond, each of which doubles the number of paths
    ends = [(start, start + 1), (start, start + 2), (start + 1, start + 3), (start + 2, start + 3)]
    src, dst = (np.concatenate(side) for side in zip(*ends, strict=True))
    for weights in (None, np.ones(len(src), np.int32), np.ones(len(src))):
        yield Sample(Graph.from_edges(src, dst, weights), {"sources": [0]})
    for graph in others:
        yield from _of_each_type(graph)


def _of_each_type(graph: Graph) -> Iterator[Sample]:
    """Yield a graph without weights, and with integers and floats."""
    for dtype in (None, "int32", "float64"):
        yield Sample(with_weights(graph, dtype, 1), {"sources": [(7 * i) % graph.n for i in range(3)]})


def further() -> Iterator[Sample]:
    """Yield graphs with weights of every type."""
    for dtype in WEIGHTS:
        yield Sample(with_weights(graphs()[0], dtype, 1), {"sources": [1, 2]})


def summary(graph: Graph, result: PathCountsResult, options: dict[str, Any]) -> Summary:
    """Sum up how many pairs have a path, and where there are most."""
    pairs, reached = result.counts.size, int(np.count_nonzero(result.counts))
    facts: dict[str, Any] = {"sources": len(result.sources), "pairs": pairs, "reached_pairs": reached}
    words = f"reached: {reached:,} of {pairs:,} pairs"
    if not reached:
        return Summary({**facts, "most_paths_log2": None, "from": None, "to": None}, words)
    with np.errstate(divide="ignore"):
        bits = np.log2(result.counts) + (0 if result.exponents is None else result.exponents)
    row, vertex = map(int, np.unravel_index(bits.argmax(), bits.shape))
    source, most = result.sources.tolist()[row], float(bits[row, vertex])
    number = f"{result.counts[row, vertex]:,.0f}" if most < 53 else f"about 10^{most * math.log10(2):.2f}"
    facts |= {"most_paths_log2": most, "from": source, "to": vertex}
    end = graph.ids[vertex] if graph.ids is not None and result.solved.by_ids else called(graph, result, vertex)
    return Summary(facts, f"{words}; most paths: {number}, from {called(graph, result, source)} to {end}")


PATH_COUNTS = Algorithm(
    name="path_counts",
    call=path_counts,
    planner=planned,
    needs_edges=True,
    methods=(),
    start="sources",
    checks={"counts": verify.counts},
    arrays=lambda result: result.arrays,
    work=work,
    rounds=lambda result: int(result.plan.steps),
    samples=samples,
    further=further,
    command=Command(
        name="path-counts",
        help="Find how many shortest paths lead from some vertices of FILE's graph to every vertex, and their lengths.",
        example="mgraph path-counts roads.gr --source 0 --source 7 --out paths.npz",
        summary=summary,
        not_in=OF_PAIRS,
        options=(
            SOURCES,
            Option("limit", float, "The length of the longest paths that count.", metavar="D"),
            IDS,
        ),
    ),
)

declare(PATH_COUNTS)
