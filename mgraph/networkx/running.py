"""Which calls of NetworkX mgraph can run, and which it should; conversions of graphs both ways."""

import functools
import inspect
import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import networkx as nx

from mgraph_networkx import FUNCTIONS

from .. import lazy, report
from . import betweenness, components, dense, generic, measures, registered, traversal, trees, unweighted, weighted
from .converted import ConvertedGraph

#: NetworkX's own tests that fail where mgraph runs its calls, each with the reason.
EXPECTED_FAILURES = {
    "TestBellmanFordAndGoldbergRadzik::test_find_negative_cycle_longer_cycle": "the cycle begins at another node",
}

_MODULES = (betweenness, components, dense, generic, measures, registered, traversal, trees, unweighted, weighted)

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


def _noting(
    answer: Callable[[str, tuple[Any, ...], dict[str, Any]], bool | str],
) -> Callable[[str, tuple[Any, ...], dict[str, Any]], bool | str]:
    """Return a function that answers NetworkX, and notes for the report why a call is declined."""

    @functools.wraps(answer)
    def answered(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        found = answer(name, args, kwargs)
        if found is not True:
            report.say(name, str(found))
        return found

    return answered


@_noting
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
    if "G" not in arguments:
        return True
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


@_noting
def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Return True if mgraph is expected to gain time, or why not.

    What a call costs is taken from measured break-evens, for a graph that is converted already and for one that is not:
    reading a graph takes as long as one search without weights.

    Parameters
    ----------
    name : str
        A function's name.
    args, kwargs : tuple, dict
        The arguments, for which `can_run` returned True.

    Returns
    -------
    bool or str

    Examples
    --------
    >>> import networkx
    >>> from mgraph.networkx import should_run
    >>> should_run("closeness_centrality", (networkx.path_graph(2),), {})
    'it gains from 100 nodes on of a graph that is not converted yet, and this one has 2'
    """
    arguments = _arguments(name, args, kwargs)
    if "G" not in arguments:
        return "there is no graph: it reads dictionaries"
    graph = arguments["G"]
    least = _gains(name, arguments)
    if least is None:
        return "NetworkX searches from both ends"
    ready = isinstance(graph, ConvertedGraph) or bool(_known(graph))
    cold = report.is_cold()
    needed = least.cold if cold else least.converted if ready else least.original
    if needed is None:
        return "reading the graph takes longer than the call gains"
    if len(graph) >= needed or (least is _EVERY and _alike(graph, arguments.get("k")) >= needed):
        return True
    unread = " by the first call of a script" if cold else "" if ready else " that is not converted yet"
    return f"it gains from {needed:,} nodes on of a graph{unread}, and this one has {len(graph):,}"


class Gains(NamedTuple):
    """From how many nodes on mgraph gains time: of a graph that is converted already, and of another one.

    None is never, as reading the graph takes longer than NetworkX's call. The first call that is run of a script that
    was not edited must be worth a second, in which kernels are loaded.
    """

    converted: int
    original: int | None
    cold: int | None = None


#: Measured with 3 edges a node on 2 cores; benchmarks/NOTES.md has the table.
_SEARCH, _BY_WEIGHT, _BY_ANY_WEIGHT, _EVERY = (
    Gains(1000, None),
    Gains(1000, 20_000),
    Gains(300, 1000, 10_000),
    Gains(100, 100, 3000),
)
#: A spanning tree gains less than a process takes to load kernels: one alone is NetworkX's.
_TREE, _DENSE, _STRONG = Gains(1000, None), Gains(200, 200, 400), Gains(300, 3000)

#: Functions that take more, or less, than a search from every node.
_GAINS = (
    dict.fromkeys(vars(traversal), _SEARCH)
    | dict.fromkeys(vars(components), _SEARCH)
    | dict.fromkeys((name for name in FUNCTIONS if "strongly" in name or name == "condensation"), _STRONG)
    | dict.fromkeys(vars(unweighted), _SEARCH)
    | dict.fromkeys(vars(weighted), _BY_WEIGHT)
    | dict.fromkeys(
        (
            "bellman_ford_path",
            "bellman_ford_path_length",
            "bellman_ford_predecessor_and_distance",
            "find_negative_cycle",
            "goldberg_radzik",
            "negative_edge_cycle",
            "single_source_bellman_ford",
            "single_source_bellman_ford_path",
            "single_source_bellman_ford_path_length",
        ),
        _BY_ANY_WEIGHT,
    )
    | dict.fromkeys((name for name in FUNCTIONS if name.startswith("all_pairs_") or name == "johnson"), _EVERY)
    | dict.fromkeys(registered.FUNCTIONS, _SEARCH)
    | dict.fromkeys(("minimum_spanning_edges", "minimum_spanning_tree"), _TREE)
    | {"floyd_warshall_numpy": _DENSE, "voronoi_cells": _BY_WEIGHT}
)


def _alike(graph: Any, searches: Any) -> float:
    """Return how many nodes a graph of 3 edges a node has, for which searches from all of its nodes take as long.

    Those of a graph of many edges, or only `searches` of them, read nodes and edges once each.
    """
    count = searches if isinstance(searches, int) else len(graph)
    return math.sqrt(count * (len(graph) + graph.number_of_edges()) / 4)


def _gains(name: str, arguments: dict[str, Any]) -> Gains | None:
    """Return from where on mgraph gains time; None if it does not."""
    weight = arguments.get("weight")
    if name in ("shortest_path", "shortest_path_length", "all_shortest_paths", "single_source_all_shortest_paths"):
        ends = [arguments.get(end) is not None for end in ("source", "target")]
        if not any(ends):
            return _EVERY
        bellman = arguments["method"] == "bellman-ford"
        if all(ends) and name != "all_shortest_paths" and (weight is None or (name == "shortest_path" and not bellman)):
            return None
        return _SEARCH if weight is None else _BY_ANY_WEIGHT if bellman else _BY_WEIGHT
    if name in ("bidirectional_shortest_path", "bidirectional_dijkstra", "has_path"):
        return None
    if arguments.get("u" if name == "closeness_centrality" else "v") is not None:  # the measure of some nodes
        return _SEARCH
    return _GAINS.get(name, _EVERY)


def _known(graph: Any) -> ConvertedGraph | None:
    """Return what NetworkX has kept of a graph's conversion, if it keeps any."""
    cache = (getattr(graph, "__networkx_cache__", None) or {}) if nx.config.cache_converted_graphs else {}
    kept = cache.get("backends", {}).get(ConvertedGraph.__networkx_backend__, {}).values()
    return next((known for known in kept if isinstance(known, ConvertedGraph)), None)


def convert_from_nx(graph: Any, **wanted: Any) -> ConvertedGraph:
    """Return a NetworkX graph as one of the backend's; all calls get the same one, but for a view of another graph.

    A view is converted at every call: NetworkX does not drop what it keeps with a view when the graph below changes.

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
    if hasattr(graph, "_graph"):  # a view, which NetworkX is told to keep nothing with
        graph.__networkx_cache__ = None
    known = _known(graph)
    return ConvertedGraph(graph) if known is None else known


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
