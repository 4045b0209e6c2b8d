"""The registry entry of connected components."""

from collections.abc import Iterator

import numpy as np

from ...graph import Graph
from ..command import Command, Option
from ..entry import Algorithm, Sample, named
from ..samples import graphs
from ..work import of_edges
from . import verify
from .call import connected_components
from .plan import EVERY_METHOD, METHODS, STRONG_METHODS, planned
from .summary import summary


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
    command=Command(
        name="components",
        help="Find the connected components of FILE's graph; each vertex is labelled with the least of its own.",
        example="mgraph components friends.txt --relabel --out labels.npy",
        summary=summary,
        options=(Option("connection", ("weak", "strong"), default="weak"),),
    ),
)
