"""Summary of a transitive closure for the command line."""

from typing import Any

from ...graph import Graph
from ..command import Summary
from .call import ClosureResult


def summary(graph: Graph, result: ClosureResult, options: dict[str, Any]) -> Summary:
    """Sum up a closure."""
    facts = {"reachable_pairs": result.count}
    words = f"reachable: {result.count:,} of {graph.n**2:,} pairs, a vertex with itself counted as one"
    return Summary(facts, words)
