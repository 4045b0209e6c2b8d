"""The registry entries of breadth-first search, and of many searches at a time."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ... import device as devices
from ...graph import Graph
from ...results import OF_PAIRS
from ..command import (
    IDS,
    LIMIT,
    PREDECESSORS,
    SOURCE,
    SOURCES,
    TARGET,
    Command,
    Option,
    Summary,
    blocks_of_rows,
    edges_from,
    isolation,
    route,
    started,
)
from ..entry import Algorithm, Sample, declare, named
from ..samples import graphs, large
from ..work import of_search, of_searches
from . import verify
from .call import BfsResult, bfs
from .many import BfsManyResult, bfs_many
from .plan import BY_LEVEL, METHODS, planned, planned_for_many


def samples(method: str) -> Iterator[Sample]:
    """Yield searches of every graph from one source and from two; by level, of small graphs only with predecessors."""
    for graph in graphs():
        predecessors = method not in BY_LEVEL or graph.n < 600
        yield Sample(graph, {"source": 1, "predecessors": predecessors})
        if method not in BY_LEVEL:  # the search itself writes the tree
            yield Sample(graph, {"source": 1, "predecessors": "any"})
        yield Sample(graph, {"sources": [1, 2], "predecessors": predecessors})


def samples_of_many(method: str) -> Iterator[Sample]:
    """Yield searches from fewer sources than a word has bits, from some words of them, and from more than a batch."""
    first, *_, last = graphs()
    for graph in (first, last):
        for sources in (3, 70, 300):
            yield Sample(graph, {"sources": list(range(sources)), "predecessors": True})


def further() -> Iterator[Sample]:
    """Yield searches of a large graph from one source and from very many."""
    graph = large()
    yield Sample(graph, {"source": 1, "predecessors": True})
    yield Sample(graph, {"sources": range(0, graph.n, 40), "predecessors": True})


def summary(graph: Graph, result: BfsResult, options: dict[str, Any]) -> Summary:
    """Sum up a search."""
    target = options["target"]
    levels, distances = devices.to_host(result.levels), devices.to_host(result.distances)
    sources = list(dict.fromkeys(result.sources))
    reached, widest = int(levels.sum()), int(levels.argmax())
    degrees = edges_from(graph)
    rate = None if degrees is None else int(degrees[distances >= 0].sum()) / max(result.timings["solve"], 1e-9)
    unit = "" if rate is None else "edges"
    facts = {
        "rate": rate,
        **({"source": sources[0]} if len(sources) == 1 else {"sources": sources}),
    }
    words = "" if len(sources) > 1 else f"{started(graph, result, sources[0])}\n"
    if target is not None:
        distance = int(distances[result.solved.target])
        found = route(graph, result, target, distance if distance >= 0 else None, reached)
        return Summary(facts | found.facts, words + found.words, unit)
    facts |= {
        "reached": reached,
        "levels": len(levels),
        "widest_level": widest,
        "widest_level_vertices": int(levels[widest]),
    }
    words += (
        f"reached: {reached:,} of {graph.n:,} vertices; levels: {len(levels):,}, the widest is level {widest:,} "
        f"with {levels[widest]:,}"
    )
    words += isolation(sources, reached, options) if graph.n > len(sources) else ""
    return Summary(facts, words, unit)


def summary_of_many(graph: Graph, result: BfsManyResult, options: dict[str, Any]) -> Summary:
    """Sum up the searches, some at a time."""
    degrees = edges_from(graph)
    reached, farthest, passed = 0, 0, 0
    for distances in blocks_of_rows(result.distances):
        found = distances >= 0
        reached += int(np.count_nonzero(found))
        passed += 0 if degrees is None else int((np.count_nonzero(found, axis=0) * degrees).sum())
        farthest = max(farthest, int(distances.max()))
    pairs = len(result.sources) * graph.n
    facts = {
        "rate": None if degrees is None else passed / max(result.timings["solve"], 1e-9),
        "sources": list(result.sources),
        "reached_pairs": reached,
        "largest_distance": farthest,
    }
    words = f"reached: {reached:,} of {pairs:,} pairs of a source and a vertex, the farthest at {farthest:,}"
    return Summary(facts, words, "" if degrees is None else "edges")


BFS = Algorithm(
    name="bfs",
    call=bfs,
    planner=planned,
    needs_edges=True,
    methods=METHODS,
    cpu_only=("sequential",),
    skipping=("pull", "hybrid"),
    start="source",
    checks={"distances": verify.distances},
    arrays=named("distances"),
    unique=("distances",),
    work=of_search(bytes_an_edge=4),
    rounds=lambda result: len(result.levels),
    samples=samples,
    further=further,
    command=Command(
        name="bfs",
        help="Find every vertex's distance in edges from one vertex of FILE's graph, or from the nearest of several.",
        example="mgraph bfs roads.gr --source 0 --predecessors --out tree.npz",
        summary=summary,
        weights=False,
        options=(
            SOURCES._replace(help=f"{SOURCE} Give it again to start from several at once."),
            Option("limit", int, LIMIT, metavar="N"),
            TARGET,
            IDS,
            PREDECESSORS,
            Option(
                "predecessors",
                bool,
                "Find any predecessors on shortest paths, not the least ones: faster in large graphs.",
                spelled="--any-predecessors",
                array=True,
                flag="any",
            ),
        ),
    ),
)

BFS_MANY = Algorithm(
    name="bfs_many",
    call=bfs_many,
    planner=planned_for_many,
    needs_edges=True,
    methods=(),
    start="sources",
    checks={"distances": verify.rows},
    arrays=named("distances"),
    work=of_searches,
    samples=samples_of_many,
    command=Command(
        name="bfs-many",
        help="Find every vertex's distance in edges from each of many vertices of FILE's graph, a row for each.",
        example="mgraph bfs-many roads.gr --source 0 --source 7 --source 99 --out distances.npy",
        summary=summary_of_many,
        not_in=OF_PAIRS,
        weights=False,
        options=(
            SOURCES._replace(help=f"{SOURCE} Give it again for each further search."),
            Option("limit", int, LIMIT, metavar="N"),
            IDS,
            PREDECESSORS,
        ),
    ),
)

declare(BFS, BFS_MANY)
