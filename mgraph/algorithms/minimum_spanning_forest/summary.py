"""Summary of a minimum spanning forest for the command line."""

import math
from typing import Any

from ...graph import Graph
from ..command import Summary
from .call import SpanningForestResult


def summary(graph: Graph, result: SpanningForestResult, options: dict[str, Any]) -> Summary:
    """Sum up the forest."""
    edges, trees, total = len(result.src), result.trees, result.total
    facts = {"edges": edges, "trees": trees, "total_weight": total if math.isfinite(total) else None}
    weight = f"{total:,}" if isinstance(total, int) else f"{total:.6g}"
    sizes = f"{edges:,} {'edge' if edges == 1 else 'edges'}, {trees:,} {'tree' if trees == 1 else 'trees'}"
    return Summary(facts, f"{sizes}, total weight {weight}")
