"""The functions of NetworkX that return a value for each node of a graph, made from the registry's entries."""

from collections.abc import Callable
from typing import Any

from ..algorithms.entry import Algorithm
from ..algorithms.registry import ALGORITHMS
from ..errors import InputError
from ..results import on_host
from .converted import ConvertedGraph


def _made(entry: Algorithm, name: str) -> Callable[[ConvertedGraph], dict[Any, Any]]:
    """Return the function of NetworkX that an entry names."""

    def by_node(G: ConvertedGraph) -> dict[Any, Any]:
        if G.is_multigraph():
            raise NotImplementedError("the graph is a multigraph")
        try:
            result = entry.call(G.graph_of())
        except InputError as error:
            raise NotImplementedError(str(error)) from error
        return dict(zip(G, on_host(next(iter(entry.arrays(result).values()))).tolist(), strict=True))

    by_node.__name__ = by_node.__qualname__ = name
    by_node.__doc__ = f"Return `networkx.{name}`."
    return by_node


FUNCTIONS = {
    name: _made(entry, name) for entry in ALGORITHMS.values() for name in [entry.by_vertex.get("networkx")] if name
}
globals().update(FUNCTIONS)
