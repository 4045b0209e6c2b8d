"""The registry entry of distances from many sources."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...arguments import HISTOGRAM, MEASURES, WITHIN
from ...dtypes import infinity
from ...errors import InputError
from ...generate import grid
from ...graph import Graph
from ...planning.plan import Plan
from ...results import OF_BINS, OF_PAIRS
from ..command import IDS, LIMIT, PREDECESSORS, Command, Option, Summary, blocks_of_rows, listed_vertices
from ..entry import Algorithm, Sample, declare, named
from ..samples import WEIGHTS, falling, graphs, with_weights
from ..work import Work
from . import verify
from .call import DistancesResult, distances
from .histogram import DistanceHistogram, distance_histogram
from .plan import METHODS, TYPES, planned

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


#: The most distances that are shown.
SHOWN = 100


def summary(graph: Graph, result: DistancesResult, options: dict[str, Any]) -> Summary:
    """Sum up the distances, some rows at a time, or the measures."""
    k, solve = len(result.sources), max(result.timings["solve"], 1e-9)
    if result.distances is None:
        ends = graph.n if result.targets is None else len(result.targets)
        return _of_measures(result, {"sources": k, "rate": k * ends / solve})
    reached, largest = 0, None
    for block in blocks_of_rows(result.distances):
        there = block[block != infinity(block.dtype)]
        reached += there.size
        if there.size:
            most = there.max().item()
            largest = most if largest is None else max(largest, most)
    pairs = k * result.distances.shape[1]
    facts = {"sources": k, "rate": pairs / solve}
    facts |= {"pairs": pairs, "reached_pairs": reached, "largest_distance": largest}
    words = f"reached: {reached:,} of {pairs:,} pairs" + ("" if largest is None else f", the farthest at {largest}")
    if pairs <= SHOWN and result.nearest is None and not hasattr(result.distances, "indptr"):
        words += "\n" + _table(result, graph)
    return Summary(facts, words, "pairs")


def _table(result: DistancesResult, graph: Graph) -> str:
    """Return the distances as lines of text: a row for each source, a column for each target, - where there is none."""
    ids = graph.ids if graph.ids is not None and len(graph.ids) and isinstance(graph.ids[0], str) else None
    sources, targets = (
        [end if ids is None or isinstance(end, str) else ids[end] for end in ends]
        for ends in (result.sources.tolist(), range(graph.n) if result.targets is None else result.targets.tolist())
    )
    rows = [["from \\ to", *map(str, targets)]]
    for source, row in zip(sources, np.concatenate([*blocks_of_rows(result.distances)]), strict=True):
        rows.append([str(source), *("-" if d == infinity(row.dtype) else str(d) for d in row.tolist())])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(word.rjust(width) for word, width in zip(row, widths, strict=True)) for row in rows)


def _of_measures(result: DistancesResult, facts: dict[str, Any]) -> Summary:
    """Sum up each measure by its least, mean and greatest finite value."""
    lines = []
    frame = {name: array.reshape(len(array), -1) for name, array in result.arrays.items()}
    for name, columns in frame.items():
        finite = columns[np.isfinite(columns) & (columns != infinity(columns.dtype))]
        found = {"least": finite.min(), "mean": finite.mean(), "most": finite.max()} if finite.size else {}
        facts[name] = {key: value.item() for key, value in found.items()}
        ends = f"{found['least']:.6g} to {found['most']:.6g}, mean {found['mean']:.6g}" if found else "nowhere finite"
        lines.append(
            f"{name}: {ends}"
            + (f"; {columns.size - finite.size:,} not finite" if found and finite.size < columns.size else "")
        )
    return Summary(facts, "\n".join(lines), "pairs")


#: The most bins that are shown.
BINS_SHOWN = 40


def edges_of_bins(text: str) -> list[float]:
    """Return the edges of bins that an option lists."""
    try:
        return [float(edge) for edge in text.split(",")]
    except ValueError as error:
        raise InputError(argument="bins", value=text, expected="numbers with commas between them") from error


def summary_of_histogram(graph: Graph, result: DistanceHistogram, options: dict[str, Any]) -> Summary:
    """Sum up the histogram, and show its bins if they are few."""
    n, complete = result.plan.n, int(result.counts.sum()) == result.pairs
    facts = {
        "rate": n * n / max(result.timings["solve"], 1e-9),
        "connected_pairs": result.pairs,
        "mean": _finite(result.mean),
        "efficiency": _finite(result.efficiency),
        "effective_diameter": _finite(result.effective_diameter()) if complete else None,
        "edges": [_finite(edge) for edge in result.edges.tolist()],
        "counts": result.counts.tolist(),
    }
    words = (
        f"pairs with a path: {result.pairs:,} of {n * (n - 1):,}\n"
        f"mean distance: {result.mean:.6g}, efficiency: {result.efficiency:.6g}"
    )
    if complete:
        words += f", effective diameter: {result.effective_diameter():.6g}"
    if 0 < len(result.counts) <= BINS_SHOWN:
        ends = zip(result.edges[:-1], result.edges[1:], result.counts.tolist(), strict=True)
        words += "".join(f"\n{low:g} to {high:g}: {count:,}" for low, high, count in ends)
    return Summary(facts, words, "pairs")


def _finite(number: float) -> float | None:
    """Return a number, or None for one that JSON does not have."""
    return number if math.isfinite(number) else None


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
