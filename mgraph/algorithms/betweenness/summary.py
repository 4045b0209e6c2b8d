"""Summary of betweenness for the command line."""

from typing import Any

import numpy as np

from ...graph import Graph
from ...results import on_host
from ..command import Summary
from .call import BetweennessResult, EdgeBetweennessResult


def summary(graph: Graph, result: BetweennessResult, options: dict[str, Any]) -> Summary:
    """Sum up the greatest value and where it is."""
    values = on_host(result.betweenness)
    rate = {"rate": result.plan.detail.sources * graph.m / max(result.timings["solve"], 1e-9)}
    if not len(values) or np.isnan(values).all():
        return Summary({**rate, "greatest": None, "at": None}, "there is nothing to measure", "TEPS")
    place = int(np.nanargmax(values))
    where: Any = place
    if isinstance(result, EdgeBetweennessResult):
        where = [int(on_host(result.src)[place]), int(on_host(result.dst)[place])]
    words = f"edge {where[0]} to {where[1]}" if isinstance(where, list) else f"vertex {where}"
    if graph.ids is not None:
        named = [str(graph.ids[vertex]) for vertex in (where if isinstance(where, list) else [where])]
        words += f", which FILE calls {' to '.join(named)}"
    greatest = float(values[place])
    return Summary(
        {**rate, "greatest": greatest, "at": where}, f"greatest betweenness: {greatest:.6g}, {words}", "TEPS"
    )
