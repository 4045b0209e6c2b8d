"""What a command says of its input: as values for JSON, and in words."""

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from ..graph import Graph

if TYPE_CHECKING:
    from ..cluster import DistributedGraph


def as_json_text(facts: dict[str, Any]) -> str:
    """Return JSON as the standard has it: without the words Infinity and NaN."""
    return json.dumps(facts, allow_nan=False)


def _edges(graph: "Graph | DistributedGraph") -> int | None:
    """Return the number of edges; None for a dense matrix, whose edges would have to be listed first."""
    return None if isinstance(graph, Graph) and graph.dense is not None else graph.m


def described(graph: "Graph | DistributedGraph") -> tuple[dict[str, Any], str]:
    """Return what is known of a graph, as values and in words."""
    m = _edges(graph)
    weighted = graph.weights_dtype is not None
    facts = {"n": graph.n, "m": m, "directed": graph.directed, "weighted": weighted}
    edges = "a dense matrix" if m is None else f"{m:,} stored edges"
    kind = "directed" if graph.directed else "undirected"
    return facts, f"graph: {graph.n:,} vertices, {edges}, {kind}, {'weighted' if weighted else 'unweighted'}"


def described_list(succ: np.ndarray) -> tuple[dict[str, Any], str]:
    """Return what is known of lists, as values and in words."""
    return {"n": len(succ)}, f"lists: {len(succ):,} elements in all"
