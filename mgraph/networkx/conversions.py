"""Conversions of graphs both ways, and NetworkX's own tests."""

from collections.abc import Iterable
from typing import Any

from mgraph_networkx.gains import known

from .. import lazy
from .converted import ConvertedGraph

#: NetworkX's own tests that fail where mgraph runs its calls, each with the reason.
EXPECTED_FAILURES = {
    "TestBellmanFordAndGoldbergRadzik::test_find_negative_cycle_longer_cycle": "the cycle begins at another node",
}


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
    converted: ConvertedGraph | None = known(graph)
    return ConvertedGraph(graph) if converted is None else converted


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
