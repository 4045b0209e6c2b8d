"""The registry entry of betweenness."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...generate import grid
from ...graph import Graph
from ...planning.plan import Plan
from ...results import on_host
from ..command import IDS, Command, Option, Summary, listed_vertices
from ..entry import Algorithm, Sample, declare
from ..samples import WEIGHTS, graphs, large, with_weights
from ..work import Work
from . import verify
from .call import BetweennessResult, EdgeBetweennessResult, betweenness
from .plan import planned


def work(graph: Graph, made: Plan | None, arrays: dict[str, Any]) -> Work:
    """Return the work of betweenness: the edges, as often as there are sources."""
    return Work(len(arrays["sources"]) * graph.m, "TEPS")


def samples(method: str) -> Iterator[Sample]:
    """Yield measures of vertices and of edges, by edges and by weights, and of a grid with very many paths."""
    for graph in graphs():
        sources = [(7 * i) % graph.n for i in range(5)]
        for edges in (False, True):
            yield Sample(graph.unweighted(), {"sources": sources, "edges": edges})
            for dtype in ("int32", "float64"):
                yield Sample(with_weights(graph, dtype, 1), {"sources": sources, "edges": edges})


def further() -> Iterator[Sample]:
    """Yield graphs with weights of every type, a large one, and streets, of which a CPU takes a hierarchy."""
    for dtype in WEIGHTS:
        yield Sample(with_weights(graphs()[0], dtype, 1), {"sources": [1, 2]})
    yield Sample(large(), {"sources": [1, 2]})
    for edges in (False, True):
        yield Sample(grid(64, 64, weights=(1, 30)), {"edges": edges})


def summary(graph: Graph, result: BetweennessResult, options: dict[str, Any]) -> Summary:
    """Sum up the greatest value and where it is."""
    values = on_host(result.betweenness)
    rate = {"rate": result.plan.detail.sources * graph.m / max(result.timings["solve"], 1e-9)}
    if not len(values) or np.isnan(values).all():
        return Summary({**rate, "greatest": None, "at": None}, "there is nothing to measure", "TEPS")
    place = int(np.nanargmax(values))
    where: Any = place
    if isinstance(result, EdgeBetweennessResult):
        where = [int(on_host(result.src)[place]), int(on_host(result.dst)[place])]
    words = f"edge {where[0]} to {where[1]}" if isinstance(where, list) else f"vertex {where}"
    if graph.ids is not None:
        named = [str(graph.ids[vertex]) for vertex in (where if isinstance(where, list) else [where])]
        words += f", which FILE calls {' to '.join(named)}"
    greatest = float(values[place])
    return Summary(
        {**rate, "greatest": greatest, "at": where}, f"greatest betweenness: {greatest:.6g}, {words}", "TEPS"
    )


BETWEENNESS = Algorithm(
    name="betweenness",
    call=betweenness,
    planner=planned,
    needs_edges=True,
    methods=(),
    start="sources",
    checks={"values": verify.values},
    arrays=lambda result: {**result.arrays, "sources": result.sources},
    work=work,
    rounds=lambda result: int(result.plan.steps),
    samples=samples,
    further=further,
    command=Command(
        name="betweenness",
        help="Find how many shortest paths of FILE's graph pass each vertex, or each edge.",
        example="mgraph betweenness roads.gr --samples 50 --seed 1 --out betweenness.npy",
        summary=summary,
        options=(
            listed_vertices(
                "sources",
                "A file with the vertices that paths start from: a number or an id a line, or .npy. By default all.",
            ),
            listed_vertices("targets", "The same of the vertices that paths lead to."),
            Option("samples", int, "Take so many sources, drawn at random, and scale up.", metavar="K"),
            Option("seed", int, "Draws the samples.", metavar="N"),
            Option("edges", bool, "Measure edges, not vertices.", array=True),
            Option("endpoints", bool, "Count the ends of a path as passed."),
            Option("limit", float, "The length of the longest paths that count.", metavar="D"),
            IDS,
        ),
    ),
)

declare(BETWEENNESS)
