"""The registry entry of connected components."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ... import device as devices
from ...graph import Graph
from ..command import Command, Option, Summary
from ..entry import Algorithm, Sample, declare, named
from ..samples import graphs, large
from ..work import of_edges
from . import verify
from .call import ComponentsResult, connected_components
from .plan import EVERY_METHOD, METHODS, STRONG_METHODS, planned


def samples(method: str) -> Iterator[Sample]:
    """Yield every graph, directed ones too; for strong components all as directed ones of both directions.

    So strong components are the weak ones, and the same checks hold.
    """
    for graph in graphs():
        if method in ("auto", *METHODS):
            yield Sample(graph, {})
        if method in ("auto", *STRONG_METHODS):
            src, dst, _ = graph.listed()
            both = Graph.from_edges(np.r_[src, dst], np.r_[dst, src], n=graph.n, directed=True)
            yield Sample(both, {"connection": "strong"})


def further() -> Iterator[Sample]:
    """Yield large graphs, and strong components of which many can be proved at a time."""
    graph = large()
    yield Sample(graph, {})
    src, dst, _ = graph.listed()
    yield Sample(Graph.from_edges(src, dst, n=graph.n), {"connection": "strong"})
    yield Sample(Graph.from_edges(np.zeros(9000, int), np.arange(1, 9001)), {"connection": "strong"})


def summary(graph: Graph, result: ComponentsResult, options: dict[str, Any]) -> Summary:
    """Sum up the components."""
    sizes = np.bincount(devices.to_host(result.labels), minlength=1) if graph.n else np.zeros(1, int)
    facts = {"components": result.count, "largest_component": int(sizes.max()), "rounds": result.iterations}
    return Summary(facts, f"components: {result.count:,}, the largest with {sizes.max():,} of {graph.n:,} vertices")


COMPONENTS = Algorithm(
    name="components",
    call=connected_components,
    planner=planned,
    needs_edges=True,
    methods=EVERY_METHOD,
    cpu_only=("sequential", "multistep"),
    skipping=("afforest", "multistep", "colouring"),
    checks={"labels": verify.labels, "count": verify.count},
    arrays=named("labels", "count"),
    unique=("labels", "count"),
    work=of_edges,
    rounds=lambda result: int(result.iterations),
    samples=samples,
    further=further,
    command=Command(
        name="components",
        help="Find the connected components of FILE's graph; each vertex is labelled with the least of its own.",
        example="mgraph components friends.txt --relabel --out labels.npy",
        summary=summary,
        weights=False,
        options=(Option("connection", ("weak", "strong"), default="weak"),),
    ),
)

declare(COMPONENTS)
