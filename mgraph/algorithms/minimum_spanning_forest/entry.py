"""The registry entry of minimum spanning forests."""

from collections.abc import Iterator

from ...generate import weighted
from ..command import Command
from ..entry import Algorithm, Sample, declare, named
from ..samples import WEIGHTS, graphs, with_weights
from ..work import of_edges
from . import verify
from .call import SpanningForestResult, minimum_spanning_forest
from .plan import METHODS, planned
from .summary import summary


def samples(method: str) -> Iterator[Sample]:
    """Yield every graph without weights and with few different ones."""
    for graph in graphs():
        yield Sample(graph, {})
        yield Sample(weighted(graph, (-2, 5), "int32"), {})


def further() -> Iterator[Sample]:
    """Yield a graph with weights of every type."""
    for dtype in WEIGHTS:
        yield Sample(with_weights(graphs()[0], dtype), {})


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
