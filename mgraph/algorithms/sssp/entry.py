"""The registry entry of shortest paths from one source."""

from collections.abc import Iterator

import numpy as np

from ...graph import Graph
from ..command import IDS, LIMIT, PREDECESSORS, SOURCE, TARGET, Command, Option
from ..entry import Algorithm, Sample, declare, named
from ..samples import WEIGHTS, falling, graphs, large, with_weights
from ..work import of_search
from . import verify
from .call import sssp
from .plan import METHODS, TYPES, planned
from .summary import summary


def samples(method: str) -> Iterator[Sample]:
    """Yield graphs with weights of every type, some of them zero."""
    for graph in graphs()[:4]:
        src, dst, _ = graph.listed()
        for dtype in TYPES:
            weights = np.random.default_rng(1).integers(0, 5, len(src)).astype(dtype)
            weighted = Graph.from_edges(src, dst, weights, n=graph.n)
            yield Sample(weighted, {"source": 1, "predecessors": True})
            yield Sample(weighted, {"sources": [1, 2], "predecessors": True})


def further() -> Iterator[Sample]:
    """Yield graphs with weights of other types, with negative ones, and large graphs."""
    for dtype in WEIGHTS:
        yield Sample(with_weights(graphs()[0], dtype), {"sources": [1, 2], "predecessors": True})
        yield Sample(with_weights(graphs()[0], dtype, 1), {"source": 1, "predecessors": True})
    for computed in TYPES:
        yield Sample(with_weights(large(), computed.name), {"source": 1, "predecessors": True})
    for graph in falling(100):
        yield Sample(graph, {"source": 1, "predecessors": True})


SSSP = Algorithm(
    name="sssp",
    call=sssp,
    planner=planned,
    needs_edges=True,
    methods=METHODS,
    start="source",
    checks={"distances": verify.distances},
    arrays=named("distances"),
    unique=("distances",),
    work=of_search(bytes_an_edge=8),
    rounds=lambda result: int(result.iterations),
    samples=samples,
    further=further,
    command=Command(
        name="sssp",
        help="Find the shortest paths from one vertex of FILE's graph.",
        example="mgraph sssp roads.gr --source 0 --predecessors --out tree.npz",
        summary=summary,
        options=(
            Option("source", str, SOURCE, default=0, metavar="V", vertices=True),
            Option("dtype", tuple(dtype.name for dtype in TYPES), "By default that of the weights."),
            Option("limit", float, LIMIT, metavar="D"),
            TARGET,
            IDS,
            PREDECESSORS,
        ),
    ),
)

declare(SSSP)
