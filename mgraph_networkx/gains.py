"""Which calls of NetworkX mgraph can run, and which it should: what NetworkX asks before each, without the engine."""

import functools
import inspect
import math
from typing import Any, NamedTuple

import networkx as nx

from mgraph.report import is_cold

from . import COSTS, first_calls

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


@functools.cache
def _signature(name: str) -> inspect.Signature:
    """Return the signature of a function of NetworkX, without what it adds for backends; mgraph's has the same."""
    return inspect.signature(nx.utils.backends._registered_algorithms[name].orig_func)


@functools.cache
def _parameters(name: str) -> tuple[tuple[str, ...], dict[str, Any], set[str]]:
    """Return the parameters that have places, the defaults, and all names."""
    all_of = _signature(name).parameters.values()
    placed = tuple(each.name for each in all_of if each.kind is each.POSITIONAL_OR_KEYWORD)
    defaults = {each.name: each.default for each in all_of if each.default is not each.empty}
    return placed, defaults, {each.name for each in all_of}


def _arguments(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return a call's arguments by name, with the defaults; TypeError where they do not fit.

    NetworkX asks twice before each small call. `inspect` takes longer than many of these, and is for what is unusual.
    """
    placed, defaults, names = _parameters(name)
    arguments = {**defaults, **dict(zip(placed, args, strict=False)), **kwargs}
    twice = len(args) > len(placed) or not kwargs.keys().isdisjoint(placed[: len(args)])
    if arguments.keys() == names and not twice:
        return arguments
    bound = _signature(name).bind(*args, **kwargs)
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
    if "G" not in arguments:
        return True
    graph = arguments["G"]
    if not isinstance(graph, nx.Graph) and not is_converted(graph):
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
    'it gains from 60 nodes on of a graph that is not converted yet, and this one has 2'
    """
    arguments = _arguments(name, args, kwargs)
    if "G" not in arguments:
        return "there is no graph: it reads dictionaries"
    return _reason(name, arguments["G"], arguments) or True


def reason_to_leave(name: str, graph: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Return why NetworkX is faster for a graph of its own, in a microsecond, or "": then `can_run` is to be asked."""
    return _reason(
        name, graph, dict(zip(_parameters(name)[0], args, strict=False)) | kwargs if len(args) > 1 else kwargs
    )


def _reason(name: str, graph: Any, arguments: dict[str, Any]) -> str:
    """Return why NetworkX is faster; "" if it is not. Arguments that have their defaults may be missing."""
    least = _gains(name, arguments)
    if least is None:
        return "NetworkX searches from both ends"
    if is_cold() and not is_converted(graph):
        return first_calls.reason(name, graph, arguments) if least in _FROM_ALL else _UNREAD
    ready = is_converted(graph) or bool(known(graph))
    needed = least.converted if ready else least.original
    if needed is None:
        return _UNREAD
    n = len(graph)
    if n >= needed or (least in _FROM_ALL[:2] and _alike(graph, n, arguments.get("k"), needed) >= needed):
        return ""
    unread = "" if ready else " that is not converted yet"
    return f"it gains from {needed:,} nodes on of a graph{unread}, and this one has {n:,}"


#: Why a call that reads few edges is left, such as one search.
_UNREAD = "reading the graph takes longer than the call gains"


class Gains(NamedTuple):
    """From how many nodes on mgraph gains time: of a graph that is converted already, and of another one.

    None is never, as reading the graph takes longer than NetworkX's call.
    """

    converted: int
    original: int | None


#: Measured with 3 edges a node on 2 cores; benchmarks/NOTES.md has the table.
_SEARCH, _BY_WEIGHT, _BY_ANY_WEIGHT = Gains(300, None), Gains(500, 6000), Gains(150, 700)
_TO_ONE, _TREE, _STRONG = Gains(1000, 20_000), Gains(300, None), Gains(100, 1200)
_EVERY, _PATHS, _DENSE = Gains(50, 60), Gains(100, 100), Gains(50, 100)

#: Those of a search from every node.
_FROM_ALL = (_EVERY, _PATHS, _DENSE)

#: From how many nodes on each function gains, if its arguments do not decide.
_GAINS = {
    name: least
    for cost, least in {
        "search": _SEARCH,
        "by weight": _BY_WEIGHT,
        "to one": _TO_ONE,
        "by any weight": _BY_ANY_WEIGHT,
        "strong": _STRONG,
        "tree": _TREE,
        "cores": Gains(300, 2000),
        "dense": _DENSE,
        "paths": _PATHS,
        "every": _EVERY,
    }.items()
    for name in COSTS[cost]
}


def _alike(graph: Any, n: int, searches: Any, needed: int) -> float:
    """Return how many nodes a graph of 3 edges a node has, for which searches from all of its nodes take as long.

    Those of a graph of many edges, or only `searches` of them, read nodes and edges once each. Edges are counted only
    where there may be so many that the answer is `needed`.
    """
    if n * math.sqrt(n + 1) < 2 * needed and not graph.is_multigraph():
        return 0
    count = searches if isinstance(searches, int) else n
    return math.sqrt(count * (n + graph.number_of_edges()) / 4)


def _gains(name: str, arguments: dict[str, Any]) -> Gains | None:
    """Return from where on mgraph gains time; None if it does not."""
    weight = arguments.get("weight")
    if name in ("shortest_path", "shortest_path_length", "all_shortest_paths", "single_source_all_shortest_paths"):
        ends = [arguments.get(end) is not None for end in ("source", "target")]
        if not any(ends):
            return _EVERY if name == "shortest_path_length" else _PATHS
        bellman = arguments.get("method") == "bellman-ford"
        if all(ends) and name != "all_shortest_paths" and (weight is None or (name == "shortest_path" and not bellman)):
            return None
        return _SEARCH if weight is None else _BY_ANY_WEIGHT if bellman else _TO_ONE if all(ends) else _BY_WEIGHT
    if name in ("bidirectional_shortest_path", "bidirectional_dijkstra", "has_path"):
        return None
    if arguments.get("u" if name == "closeness_centrality" else "v") is not None:  # the measure of some nodes
        return _SEARCH
    return _GAINS[name]


def is_converted(graph: Any) -> bool:
    """Return whether a graph is one of the backend's, `mgraph.networkx.ConvertedGraph`."""
    return getattr(graph, "__networkx_backend__", None) == "mgraph"


def known(graph: Any) -> Any:
    """Return what NetworkX has kept of a graph's conversion, if it keeps any."""
    cache = (getattr(graph, "__networkx_cache__", None) or {}) if nx.config.cache_converted_graphs else {}
    kept = cache.get("backends", {}).get("mgraph", {}).values()
    return next((each for each in kept if is_converted(each)), None)
