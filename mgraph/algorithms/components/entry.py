"""Connected components, as the registry has them."""

from collections.abc import Iterator

from ..entry import Algorithm, Sample, named
from ..samples import graphs
from ..work import of_edges
from . import verify
from .call import connected_components
from .plan import METHODS, planned


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
    checks={"labels": verify.labels, "count": verify.count},
    arrays=named("labels", "count"),
    unique=("labels", "count"),
    work=of_edges,
    rounds=lambda result: int(result.iterations),
    samples=samples,
)
