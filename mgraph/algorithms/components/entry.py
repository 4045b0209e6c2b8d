"""The registry entry of connected components."""

from collections.abc import Iterator

from ..command import Command, Option
from ..entry import Algorithm, Sample, named
from ..samples import graphs
from ..work import of_edges
from . import verify
from .call import connected_components
from .plan import METHODS, planned
from .summary import summary


def samples(method: str) -> Iterator[Sample]:
    """Yield every graph, directed ones too."""
    for graph in graphs():
        yield Sample(graph, {})


COMPONENTS = Algorithm(
    name="components",
    call=connected_components,
    planner=planned,
    needs_edges=True,
    methods=METHODS,
    cpu_only=("sequential",),
    skipping=("afforest",),
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
