"""Summary of connected components for the command line."""

from typing import Any

import numpy as np

from ... import device as devices
from ...graph import Graph
from ..command import Summary
from .call import ComponentsResult


def summary(graph: Graph, result: ComponentsResult, options: dict[str, Any]) -> Summary:
    """Sum up the components."""
    sizes = np.bincount(devices.to_host(result.labels), minlength=1) if graph.n else np.zeros(1, int)
    facts = {"components": result.count, "largest_component": int(sizes.max()), "rounds": result.iterations}
    return Summary(facts, f"components: {result.count:,}, the largest with {sizes.max():,} of {graph.n:,} vertices")
