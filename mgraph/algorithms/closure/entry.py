"""The registry entry of the transitive closure."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...graph import Graph
from ...planning.plan import Plan
from ...results import OF_PAIRS
from ..command import Command, Option, Summary
from ..entry import Algorithm, Sample, declare
from ..work import Work, size_of
from . import verify
from .call import ClosureResult, transitive_closure
from .plan import planned


def work(graph: Any, made: Plan | None, arrays: dict[str, Any]) -> Work:
    """Return the work of a transitive closure: n cubed pairs of bits."""
    return Work(float(size_of(graph)) ** 3, "bits/s")


def samples(method: str) -> Iterator[Sample]:
    """Yield a graph of less than a block, and one of some blocks."""
    for n in (90, 700):
        src, dst = np.random.default_rng(n).integers(0, n, (2, 2 * n))
        yield Sample(Graph.from_edges(src, dst, n=n), {})


def further() -> Iterator[Sample]:
    """Yield a graph of more rows than one core takes at a time."""
    yield Sample(Graph.from_edges(np.arange(1200), np.arange(1200) + 1), {})


def summary(graph: Graph, result: ClosureResult, options: dict[str, Any]) -> Summary:
    """Sum up a closure."""
    facts = {"reachable_pairs": result.count}
    words = f"reachable: {result.count:,} of {graph.n**2:,} pairs, a vertex with itself counted as one"
    return Summary(facts, words)


CLOSURE = Algorithm(
    name="closure",
    call=transitive_closure,
    planner=planned,
    needs_edges=False,
    methods=(),
    checks={"rows": verify.rows},
    arrays=lambda result: {"reachable": result},
    work=work,
    rounds=lambda result: int(result.plan.steps),
    samples=samples,
    further=further,
    command=Command(
        name="closure",
        help="Find which vertices of FILE's graph can be reached from which; saved as bits, 32 to a word.",
        example="mgraph closure calls.txt --relabel --out reachable.npy",
        summary=summary,
        not_in=OF_PAIRS,
        weights=False,
        options=(
            Option(
                "reflexive",
                bool,
                "Whether every vertex reaches itself.",
                default=True,
                spelled="--reflexive/--irreflexive",
            ),
        ),
    ),
)

declare(CLOSURE)
