"""The registry entry of distances from many sources."""

from collections.abc import Iterator
from typing import Any

from ...arguments import HISTOGRAM, MEASURES, WITHIN
from ...generate import grid
from ...planning.plan import Plan
from ...results import OF_BINS, OF_PAIRS
from ..command import IDS, LIMIT, PREDECESSORS, Command, Option, listed_vertices
from ..entry import Algorithm, Sample, declare, named
from ..samples import WEIGHTS, falling, graphs, with_weights
from ..work import Work
from . import verify
from .call import distances
from .histogram import distance_histogram
from .plan import METHODS, TYPES, planned
from .summary import summary
from .summary_of_histogram import edges_of_bins, summary_of_histogram

SOURCES = (
    "A file with the vertices to start from: a number or an id a line, or .npy; a line that begins with # is a comment "
    "unless it is an id. By default all vertices."
)

REVERSE = Option("reverse", bool, "Follow edges backwards: distances from each target to each source.")


def work(graph: Any, made: Plan | None, arrays: dict[str, Any]) -> Work:
    """Return the work of distances: the pairs of a source and a vertex."""
    return Work(len(arrays["distances"]) * graph.n, "pairs/s")


def samples(method: str) -> Iterator[Sample]:
    """Yield searches of every type from a few sources, and from more than share a pass over the edges."""
    first, *_, last = graphs()
    if method in ("blocked", "hierarchy"):  # whole weights, whose sums are exact
        first, last = grid(24, 20, weights=(1, 99)), last.unweighted()
    for dtype in TYPES:
        for graph, count in ((first, 3), (last, 70)):
            sources = [(7 * i) % graph.n for i in range(count)]
            yield Sample(
                graph, {"sources": sources, "dtype": dtype.name, "predecessors": method not in ("blocked", "hierarchy")}
            )


def further() -> Iterator[Sample]:
    """Yield measures, few targets, few of these and sparse rows of graphs with weights of every type; negative ones."""
    some: dict[str, Any] = {"sources": range(70)}
    measures = {
        "reduce": [
            *(name for name in MEASURES if not name.startswith("out_")),
            (WITHIN, [1, 2]),
            (HISTOGRAM, [0, 1, 9]),
        ]
    }
    for dtype in WEIGHTS:
        graph = with_weights(graphs()[0], dtype)
        for options in (measures, {"targets": [1, 2]}, {"nearest": 3}, {"limit": 3, "sparse": True}):
            yield Sample(graph, some | options)
    for graph in falling(100):
        yield Sample(graph, some | {"predecessors": True})
        yield Sample(graph, some | {"reduce": "mean"})


#: The histogram of a whole graph.
HISTOGRAM_OF_ALL = Command(
    name="distance-histogram",
    call=distance_histogram,
    help="Count the pairs of FILE's vertices at each distance: the hop plot, the effective diameter, mean, efficiency.",
    example="mgraph distance-histogram roads.gr --unweighted --out hops.csv",
    summary=summary_of_histogram,
    not_in=OF_BINS,
    prepared=True,
    options=(
        Option(
            "bins",
            str,
            "The edges of the bins in ascending order, such as 0,10,20,inf. By default a bin for each number of edges, "
            "or up to 128 of an equal width.",
            metavar="LIST",
            read=edges_of_bins,
        ),
    ),
)

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
    further=further,
    command=Command(
        name="distances",
        help="Find the shortest paths from some vertices of FILE's graph to some vertices.",
        example="mgraph distances roads.gr --sources a.txt --targets b.txt --limit 900 --nearest 5 --out od.parquet",
        summary=summary,
        not_in=OF_PAIRS,
        prepared=True,
        options=(
            listed_vertices("sources", SOURCES),
            listed_vertices("targets", "The same of the vertices whose distances are wanted."),
            Option("limit", float, LIMIT, metavar="D"),
            Option("nearest", int, "Keep this number of nearest targets of each source.", metavar="K"),
            IDS,
            REVERSE,
            Option("dtype", tuple(dtype.name for dtype in TYPES), "By default that of the weights."),
            PREDECESSORS,
        ),
    ),
    further_commands=(HISTOGRAM_OF_ALL,),
)

declare(DISTANCES)

#: The measures of distances, a command of their own; `MEASURES` are its flags.
MEASURED = Command(
    name="measures",
    help="""Measure the distances from each vertex of FILE's graph, or from some, by --eccentricity and other options.

    Of a directed graph, --reverse measures the distances to each vertex, which --closeness and --harmonic need.""",
    example="mgraph measures roads.gr --closeness --reached --reverse --out measures.parquet",
    summary=summary,
    prepared=True,
    options=(
        listed_vertices("sources", SOURCES),
        listed_vertices("targets", "The same of the vertices to which distances count."),
        Option("limit", float, LIMIT, metavar="D"),
        IDS,
        REVERSE,
    ),
)
