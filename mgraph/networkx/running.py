"""Which calls of NetworkX mgraph can run, and which it should; conversions of graphs both ways."""

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import networkx as nx

from .. import lazy
from . import components, dense, generic, measures, traversal, trees, unweighted, weighted
from .converted import ConvertedGraph

#: NetworkX's own tests that fail where mgraph runs its calls, each with the reason.
EXPECTED_FAILURES = {
    "TestBellmanFordAndGoldbergRadzik::test_find_negative_cycle_longer_cycle": "the cycle begins at another node",
}

_MODULES = (components, dense, generic, measures, traversal, trees, unweighted, weighted)

#: Arguments for which a call is NetworkX's, unless they have this value.
_DECLINED = {
    "sort_neighbors": None,
    "neighbors": None,
    "scc": None,
    "sp": None,
    "e": None,
    "usebounds": False,
    "algorithm": "kruskal",
}


def _function(name: str) -> Callable[..., Any]:
    """Return the backend's function of a name."""
    found: Callable[..., Any] = next(vars(module)[name] for module in _MODULES if name in vars(module))
    return found


def _arguments(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return a call's arguments by name, with the defaults."""
    bound = inspect.signature(_function(name)).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.arguments


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Return True if mgraph can run a call, or why it cannot.

    Weights are looked at when the graph is converted: then a function raises NotImplementedError, and NetworkX runs the
    call itself.

    Parameters
    ----------
    name : str
        A function's name.
    args, kwargs : tuple, dict
        The arguments.

    Returns
    -------
    bool or str

    Examples
    --------
    >>> import networkx
    >>> from mgraph.networkx import can_run
    >>> can_run("dijkstra_path", (networkx.path_graph(2), 0, 1), {"weight": lambda u, v, edge: 1})
    'weight is a function'
    """
    try:
        arguments = _arguments(name, args, kwargs)
    except TypeError as error:
        return str(error)
    graph = arguments["G"]
    if not isinstance(graph, (nx.Graph, ConvertedGraph)):
        return f"G is a {type(graph).__name__}"
    if not len(graph):
        return "the graph has no nodes"
    for argument in ("weight", "distance"):
        if callable(arguments.get(argument)):
            return f"{argument} is a function"
    for argument, value in _DECLINED.items():
        if arguments.get(argument, value) != value:
            return f"{argument} is given"
    if name == "kosaraju_strongly_connected_components" and arguments["source"] is not None:
        return "source is given"
    return True


def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Return True if mgraph is expected to gain time, or why not; the graph is not converted yet.

    Parameters
    ----------
    name : str
        A function's name.
    args, kwargs : tuple, dict
        The arguments.

    Returns
    -------
    bool or str

    Examples
    --------
    >>> import networkx
    >>> from mgraph.networkx import should_run
    >>> should_run("closeness_centrality", (networkx.path_graph(2),), {})
    'a graph of 2 nodes is too small to gain: 100 are needed'
    """
    return True


def convert_from_nx(graph: Any, **wanted: Any) -> ConvertedGraph:
    """Return a NetworkX graph as one of the backend's; all calls get the same one.

    Parameters
    ----------
    graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
        The graph.
    **wanted
        Attributes that are to be preserved. All are, as they are read from the original graph.

    Returns
    -------
    ConvertedGraph

    Examples
    --------
    >>> import networkx
    >>> from mgraph.networkx import convert_from_nx
    >>> len(convert_from_nx(networkx.path_graph(3)))
    3
    """
    cache = (getattr(graph, "__networkx_cache__", None) or {}) if nx.config.cache_converted_graphs else {}
    for known in cache.get("backends", {}).get(ConvertedGraph.__networkx_backend__, {}).values():
        if isinstance(known, ConvertedGraph):
            return known
    return ConvertedGraph(graph)


def convert_to_nx(result: Any) -> Any:
    """Return the NetworkX graph that was converted; any other result as it is.

    Parameters
    ----------
    result : ConvertedGraph or object
        A graph, or what a function returns.

    Returns
    -------
    networkx.Graph or object

    Examples
    --------
    >>> import networkx
    >>> from mgraph.networkx import convert_from_nx, convert_to_nx
    >>> graph = networkx.path_graph(3)
    >>> convert_to_nx(convert_from_nx(graph)) is graph
    True
    """
    return result.original if isinstance(result, ConvertedGraph) else result


def on_start_tests(items: Iterable[Any]) -> None:
    """Mark those of NetworkX's tests that are expected to fail.

    Parameters
    ----------
    items : sequence of pytest.Item
        The tests.

    Examples
    --------
    >>> from mgraph.networkx import on_start_tests
    >>> on_start_tests([])
    """
    pytest = lazy.optional("pytest", "on_start_tests()")
    for item in items:
        reason = EXPECTED_FAILURES.get(item.nodeid.partition("::")[2])
        if reason is not None:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
