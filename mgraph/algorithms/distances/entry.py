"""The registry entry of distances from many sources."""

from collections.abc import Iterator
from typing import Any

from ...planning.plan import Plan
from ..entry import Algorithm, Sample, named
from ..samples import graphs
from ..work import Work
from . import verify
from .call import distances
from .plan import METHODS, TYPES, planned


def work(graph: Any, made: Plan | None, arrays: dict[str, Any]) -> Work:
    """Return the work of distances: the pairs of a source and a vertex."""
    return Work(len(arrays["distances"]) * graph.n, "pairs/s")


def samples(method: str) -> Iterator[Sample]:
    """Yield searches of every type from a few sources, and from more than share a pass over the edges."""
    first, *_, last = graphs()
    for dtype in TYPES:
        for graph, count in ((first, 3), (last, 70)):
            sources = [(7 * i) % graph.n for i in range(count)]
            yield Sample(graph, {"sources": sources, "dtype": dtype.name, "predecessors": True})


DISTANCES = Algorithm(
    name="distances",
    call=distances,
    planner=planned,
    needs_edges=True,
    methods=METHODS,
    start="sources",
    checks={"rows": verify.rows},
    arrays=named("distances"),
    work=work,
    rounds=lambda result: int(result.plan.steps),
    samples=samples,
)
