"""The registry entry of minimum spanning forests."""

import math
from collections.abc import Iterator
from typing import Any

from ...generate import weighted
from ...graph import Graph
from ..command import Command, Summary
from ..entry import Algorithm, Sample, declare, named
from ..samples import WEIGHTS, graphs, with_weights
from ..work import of_edges
from . import verify
from .call import SpanningForestResult, minimum_spanning_forest
from .plan import METHODS, planned


def samples(method: str) -> Iterator[Sample]:
    """Yield every graph without weights and with few different ones."""
    for graph in graphs():
        yield Sample(graph, {})
        yield Sample(weighted(graph, (-2, 5), "int32"), {})


def further() -> Iterator[Sample]:
    """Yield a graph with weights of every type."""
    for dtype in WEIGHTS:
        yield Sample(with_weights(graphs()[0], dtype), {})


def summary(graph: Graph, result: SpanningForestResult, options: dict[str, Any]) -> Summary:
    """Sum up the forest."""
    edges, trees, total = len(result.src), result.trees, result.total
    facts = {"edges": edges, "trees": trees, "total_weight": total if math.isfinite(total) else None}
    weight = f"{total:,}" if isinstance(total, int) else f"{total:.6g}"
    sizes = f"{edges:,} {'edge' if edges == 1 else 'edges'}, {trees:,} {'tree' if trees == 1 else 'trees'}"
    return Summary(facts, f"{sizes}, total weight {weight}")


MINIMUM_SPANNING_FOREST = Algorithm(
    name="minimum_spanning_forest",
    call=minimum_spanning_forest,
    planner=planned,
    needs_edges=True,
    methods=METHODS,
    checks={"forest": verify.forest, "weight": verify.weight},
    arrays=named("src", "dst", "weights"),
    unique=("src", "dst", "weights"),
    work=of_edges,
    samples=samples,
    further=further,
    command=Command(
        name="forest",
        help="Find the edges that connect each component of FILE's graph at the least total weight.",
        example="mgraph forest roads.gr --undirected --out forest.npz",
        summary=summary,
        not_in=SpanningForestResult.NOT_IN,
    ),
)

declare(MINIMUM_SPANNING_FOREST)
