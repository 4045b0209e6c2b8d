"""The registry entry of shortest paths from one source."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ... import device as devices
from ...dtypes import infinity
from ...graph import Graph
from ..command import IDS, LIMIT, PREDECESSORS, SOURCE, TARGET, Command, Option, Summary, isolation, route, started
from ..entry import Algorithm, Sample, declare, named
from ..samples import WEIGHTS, falling, graphs, large, with_weights
from ..work import of_search
from . import verify
from .call import SsspResult, sssp
from .plan import METHODS, TYPES, planned


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


def summary(graph: Graph, result: SsspResult, options: dict[str, Any]) -> Summary:
    """Sum up the paths from one vertex."""
    target = options["target"]
    distances = devices.to_host(result.distances)
    reached = distances[distances != infinity(distances.dtype)]
    facts = {"source": result.source, "rounds": result.iterations}
    words = f"{started(graph, result, result.source)}\n"
    if target is None:
        facts |= {"reached": len(reached), "largest_distance": reached.max().item()}
        words += f"reached: {len(reached):,} of {graph.n:,} vertices, the farthest at {reached.max()}"
        words += isolation([*result.sources], len(reached), options) if graph.n > 1 else ""
        return Summary(facts, words)
    found = distances[result.solved.target]
    distance = None if found == infinity(distances.dtype) else found.item()
    way = route(graph, result, target, distance, len(reached))
    return Summary(facts | way.facts, words + way.words)


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
