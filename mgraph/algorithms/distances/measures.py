"""Measures of graphs that are computed from distances: eccentricity, diameter, closeness and others.

Definitions are NetworkX's. Each is made batch by batch of rows (`mgraph.distances` with ``reduce=``), in memory for a
batch. The diameter of an undirected graph is bounded first, so that few vertices need be searched from (Crescenzi,
Grossi, Habib, Lanzi and Marino, "On computing the diameter of real-world undirected graphs", 2013).
"""

import functools
from collections.abc import Callable
from typing import Any, TypeVar, Unpack, cast

import numpy as np

from ... import device as devices
from ...arguments import checked_flag
from ...docstrings import with_common_parts
from ...dtypes import as_floats, infinity
from ...errors import ArgumentValue, InputError
from ...graph import Graph
from ...graph.question import Question
from ...hierarchy import Hierarchy
from ...runtime.call import flat_signature
from ...runtime.run import Run
from ...vocabulary import unknown_argument
from ..components.call import connected_components
from ..sssp.call import sssp
from .call import DistancesResult, distances, given_graph, once_read, type_and_run

#: Sources of the first batch of a bounded diameter. Each further batch has twice as many, as bounds get worse.
FIRST = 64


class Where(Run, total=False):
    """The options that measures pass on to `mgraph.distances`, which explains them."""

    method: str
    dtype: Any


Function = TypeVar("Function", bound=Callable[..., Any])


def measure(function: Function) -> Function:
    """Return a function that passes options on to `mgraph.distances`, with these in its signature and docstring."""
    signature = flat_signature(function)
    named = [each.replace(default="auto") if each.name == "method" else each for each in signature.parameters.values()]
    names = frozenset(signature.parameters)

    @functools.wraps(function)
    def checked(*args: Any, **options: Any) -> Any:
        unknown = options.keys() - names
        if unknown:
            raise unknown_argument(function.__name__, min(unknown), names)
        return function(*args, **options)

    checked.__signature__ = signature.replace(parameters=named)  # type: ignore[attr-defined]
    return with_common_parts(cast(Function, checked))


@measure
def eccentricity(
    graph: Any, v: Any = None, *, weight: bool = True, ids: bool | None = None, **where: Unpack[Where]
) -> np.ndarray:
    """Return the greatest distance from each vertex to any vertex.

    Parameters
    ----------
    graph : Graph, DistributedGraph, Hierarchy, sparse matrix, or array_like of shape (n, n)
        Read as `mgraph.distances` does.
    v : sequence of int or of ids, optional
        The vertices, 0 to n-1 or their ids in the graph. By default all.
    weight : bool
        Whether a path is as long as the sum of its weights. Otherwise it is as long as the number of its edges.
    {ids of vertices}
    method, dtype
        As of `mgraph.distances`.
    {common arguments}

    Returns
    -------
    array of float64, shape (n,) or (len(v),)
        ``inf`` where a vertex is out of reach. (NetworkX raises an error then.)

    Raises
    ------
    InputError
        For invalid input; see `mgraph.distances` for other errors.

    See Also
    --------
    mgraph.distances : Other measures of rows of distances, and to some targets only.
    mgraph.diameter : The greatest eccentricity.

    Examples
    --------
    >>> import mgraph
    >>> mgraph.eccentricity(mgraph.generate.grid(1, 4, weights=None), device="cpu").tolist()
    [3.0, 2.0, 2.0, 3.0]
    """
    return measured(graph, "eccentricity", "v", v, weight, False, where, ids).eccentricity


@measure
def diameter(
    graph: Any, e: Any = None, *, weight: bool = True, components: bool = False, **where: Unpack[Where]
) -> float:
    """Return the greatest distance between two vertices.

    Parameters
    ----------
    graph : Graph, DistributedGraph, Hierarchy, sparse matrix, or array_like of shape (n, n)
        Read as `mgraph.distances` does.
    e : array of shape (n,), optional
        The eccentricities, if they are known.
    weight : bool
        Whether a path is as long as the sum of its weights. Otherwise it is as long as the number of its edges.
    components : bool
        Whether to return the greatest diameter of a connected component of an undirected graph, not ``inf``, if the
        graph has several.
    method, dtype
        As of `mgraph.distances`.
    {common arguments}

    Returns
    -------
    float
        ``inf`` where a vertex is out of reach of another. (NetworkX raises an error then.)

    Raises
    ------
    InputError
        For a graph without vertices, for `components` with a directed graph, and for invalid input; see
        `mgraph.distances` for other errors.

    See Also
    --------
    mgraph.eccentricity : The greatest distance from each vertex.

    Notes
    -----
    In an undirected graph without negative weights, two vertices within distance d of a third one are at most 2 d
    apart. So vertices are searched from in the order of their distance from a central one, the farthest first, until
    the greatest distance found is at least twice that of the next one [1]_. In social networks few searches are left,
    in grids many. Sums of floats may differ from those of `mgraph.eccentricity` by rounding.

    References
    ----------
    .. [1] Crescenzi, Grossi, Habib, Lanzi and Marino, "On computing the diameter of real-world undirected graphs",
       2013.

    Examples
    --------
    >>> import mgraph
    >>> mgraph.diameter(mgraph.generate.grid(3, 4, weights=None), device="cpu")
    5.0
    """
    graph, components = once_read(graph), checked_flag("components", components)
    given = given_graph(graph)
    if components and given.directed:
        raise InputError(ArgumentValue("components", True), " needs an undirected graph")
    if components and e is not None:
        raise InputError(
            ArgumentValue("components", True), " needs those of each component: leave out ", ArgumentValue("e")
        )
    weighs = checked_flag("weight", weight) and where.get("method") != "bfs"
    if e is not None or not isinstance(given, Graph) or given.directed or not (given.nonnegative or not weighs):
        return float(_eccentricities(graph, e, weight, where).max())
    _check_vertices(given)
    if isinstance(graph, Hierarchy):
        dtype, where = type_and_run(graph, where.get("dtype"), where)
        where = {"method": "hierarchy", **where, "dtype": dtype}
    searched = given if weighs else given.unweighted()
    labels = devices.to_host(connected_components(searched, **_without(where, "method", "dtype", "progress")).labels)
    order = np.argsort(labels, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)
    if len(parts) > 1 and not components:
        return float("inf")
    most = 0.0
    for part in sorted(parts, key=len, reverse=True):
        if len(part) == 1:  # as are all that follow
            break
        most = max(most, _bounded(searched, part.astype(np.int32), most, where))
    return most


@measure
def radius(graph: Any, e: Any = None, *, weight: bool = True, **where: Unpack[Where]) -> float:
    """Return the least eccentricity.

    Parameters
    ----------
    graph, e, weight, method, dtype
        As of `mgraph.diameter`.
    {common arguments}

    Returns
    -------
    float
        ``inf`` if no vertex reaches all others.

    Raises
    ------
    InputError
        For a graph without vertices, and for invalid input; see `mgraph.distances` for other errors.

    Examples
    --------
    >>> import mgraph
    >>> mgraph.radius(mgraph.generate.grid(1, 4, weights=None), device="cpu")
    2.0
    """
    return float(_eccentricities(graph, e, weight, where).min())


@measure
def center(
    graph: Any, e: Any = None, *, weight: bool = True, ids: bool | None = None, **where: Unpack[Where]
) -> np.ndarray:
    """Return the vertices whose eccentricity is the radius.

    Parameters
    ----------
    graph, e, weight, method, dtype
        As of `mgraph.diameter`.
    ids : bool
        Whether to return the vertices by the graph's ids.
    {common arguments}

    Returns
    -------
    array of int64, or of ids
        The vertices, ascending; none if no vertex reaches all others.

    Raises
    ------
    InputError
        For a graph without vertices, and for invalid input; see `mgraph.distances` for other errors.

    Examples
    --------
    >>> import mgraph
    >>> mgraph.center(mgraph.generate.grid(1, 4, weights=None), device="cpu").tolist()
    [1, 2]
    """
    graph = once_read(graph)
    question, found = _question(graph, ids), _eccentricities(graph, e, weight, where)
    least = found.min()
    return question.answer(np.flatnonzero(found == least) if least < np.inf else np.empty(0, np.int64))


@measure
def periphery(
    graph: Any, e: Any = None, *, weight: bool = True, ids: bool | None = None, **where: Unpack[Where]
) -> np.ndarray:
    """Return the vertices whose eccentricity is the diameter.

    Parameters
    ----------
    graph, e, weight, method, dtype
        As of `mgraph.diameter`.
    ids : bool
        Whether to return the vertices by the graph's ids.
    {common arguments}

    Returns
    -------
    array of int64, or of ids
        The vertices, ascending; if a vertex is out of reach of another, those that do not reach all.

    Raises
    ------
    InputError
        For a graph without vertices, and for invalid input; see `mgraph.distances` for other errors.

    Examples
    --------
    >>> import mgraph
    >>> mgraph.periphery(mgraph.generate.grid(1, 4, weights=None), device="cpu").tolist()
    [0, 3]
    """
    graph = once_read(graph)
    question, found = _question(graph, ids), _eccentricities(graph, e, weight, where)
    return question.answer(np.flatnonzero(found == found.max()))


@measure
def closeness(
    graph: Any,
    u: Any = None,
    *,
    weight: bool = True,
    wf_improved: bool = True,
    ids: bool | None = None,
    **where: Unpack[Where],
) -> np.ndarray:
    """Return the closeness centrality of each vertex, by the distances to it.

    It is (r - 1) / s for the r vertices from which a vertex is reached, itself included, and the sum s of their
    distances; and 0 if s is 0.

    Parameters
    ----------
    graph : Graph, DistributedGraph, Hierarchy, sparse matrix, or array_like of shape (n, n)
        Read as `mgraph.distances` does.
    u : sequence of int or of ids, optional
        The vertices, 0 to n-1 or their ids in the graph. By default all.
    weight : bool
        Whether a path is as long as the sum of its weights. Otherwise it is as long as the number of its edges.
    wf_improved : bool
        Whether to multiply by (r - 1) / (n - 1), so that small components count less (Wasserman and Faust).
    {ids of vertices}
    method, dtype
        As of `mgraph.distances`.
    {common arguments}

    Returns
    -------
    array of float64, shape (n,) or (len(u),)

    Raises
    ------
    InputError
        For invalid input; see `mgraph.distances` for other errors.

    See Also
    --------
    mgraph.distances : With ``reduce="out_closeness"``, by the distances from each vertex.

    Examples
    --------
    >>> import mgraph
    >>> mgraph.closeness(mgraph.Graph.from_edges([0, 1], [1, 2]), device="cpu").tolist()
    [0.0, 0.5, 0.6666666666666666]
    """
    if checked_flag("wf_improved", wf_improved):
        return measured(graph, "closeness", "u", u, weight, True, where, ids).closeness
    mean = measured(graph, "mean", "u", u, weight, True, where, ids).mean
    with np.errstate(divide="ignore", over="ignore"):
        return np.where(mean > 0, 1 / mean, 0.0)


@measure
def harmonic_closeness(
    graph: Any, nbunch: Any = None, *, weight: bool = True, ids: bool | None = None, **where: Unpack[Where]
) -> np.ndarray:
    """Return the harmonic centrality of each vertex: the sum of 1 / distance over the vertices that reach it.

    Vertices that do not reach it, or are at distance 0, add nothing.

    Parameters
    ----------
    graph : Graph, DistributedGraph, Hierarchy, sparse matrix, or array_like of shape (n, n)
        Read as `mgraph.distances` does.
    nbunch : sequence of int or of ids, optional
        The vertices, 0 to n-1 or their ids in the graph. By default all.
    weight : bool
        Whether a path is as long as the sum of its weights. Otherwise it is as long as the number of its edges.
    {ids of vertices}
    method, dtype
        As of `mgraph.distances`.
    {common arguments}

    Returns
    -------
    array of float64, shape (n,) or (len(nbunch),)

    Raises
    ------
    InputError
        For invalid input; see `mgraph.distances` for other errors.

    Examples
    --------
    >>> import mgraph
    >>> mgraph.harmonic_closeness(mgraph.Graph.from_edges([0, 1], [1, 2]), device="cpu").tolist()
    [0.0, 1.0, 1.5]
    """
    return measured(graph, "harmonic", "nbunch", nbunch, weight, True, where, ids).harmonic


@measure
def average_distance(graph: Any, *, weight: bool = True, **where: Unpack[Where]) -> float:
    """Return the mean distance of all ordered pairs of different vertices.

    Parameters
    ----------
    graph : Graph, DistributedGraph, Hierarchy, sparse matrix, or array_like of shape (n, n)
        Read as `mgraph.distances` does.
    weight : bool
        Whether a path is as long as the sum of its weights. Otherwise it is as long as the number of its edges.
    method, dtype
        As of `mgraph.distances`.
    {common arguments}

    Returns
    -------
    float
        NetworkX calls it the average shortest path length. ``inf`` if a vertex is out of reach of another (NetworkX
        raises an error then); 0 for a single vertex.

    Raises
    ------
    InputError
        For a graph without vertices, and for invalid input; see `mgraph.distances` for other errors.

    Examples
    --------
    >>> import mgraph
    >>> mgraph.average_distance(mgraph.generate.grid(1, 5, weights=None), device="cpu")
    2.0
    """
    graph = once_read(graph)
    _check_vertices(given_graph(graph))
    found = measured(graph, ["mean", "reached"], "graph", None, weight, False, where)
    n = len(found.mean)
    if n == 1:
        return 0.0
    with np.errstate(over="ignore"):
        return float(found.mean.mean()) if int(found.reached.min()) == n else float("inf")


def measured(
    graph: Any,
    reduce: Any,
    name: str,
    vertices: Any,
    weight: bool,
    reverse: bool,
    where: Where,
    ids: bool | None = None,
) -> DistancesResult:
    """Return measures of the distances from some vertices, an argument of this name, or to them in `reverse`."""
    graph = once_read(graph)
    given = given_graph(graph)
    question = _question(graph, ids)
    vertices = None if vertices is None else question.vertices(name, vertices)
    if not checked_flag("weight", weight):
        if isinstance(given, Graph):
            graph = given.unweighted()
        elif where.setdefault("method", "bfs") != "bfs":
            raise InputError(
                ArgumentValue("method", where["method"]),
                " measures weights: leave out ",
                ArgumentValue("weight", weight),
            )
    return distances(graph, vertices, reduce=reduce, reverse=reverse, ids=False, **where)


def _question(graph: Any, ids: bool | None) -> Question:
    """Return a question about the vertices of a graph."""
    given = given_graph(graph)
    return Question(given, given.n, ids)


def _eccentricities(graph: Any, e: Any, weight: bool, where: Where) -> np.ndarray:
    """Return the eccentricities of all vertices, of which there must be some."""
    graph = once_read(graph)
    n = _check_vertices(given_graph(graph))
    if e is None:
        return eccentricity(graph, weight=weight, **where)
    known = np.asarray(devices.to_host(e))
    if known.shape != (n,) or known.dtype.kind not in "fiu":
        raise InputError(argument="e", value=e, expected=f"the eccentricities of n={n} vertices")
    if known.dtype.kind != "f" and known.max() > infinity(np.dtype(np.int32)):
        raise InputError(argument="e", value=e, expected="eccentricities, which are int32 if they are integers")
    return as_floats(known if known.dtype.kind == "f" else known.astype(np.int32))


def _check_vertices(graph: Any) -> int:
    """Return the number of vertices, or raise InputError if there are none."""
    if not graph.n:
        raise InputError(argument="graph", value=graph, expected="a graph with a vertex")
    return int(graph.n)


def _without(where: Where, *names: str) -> dict[str, Any]:
    """Return the common arguments without some."""
    return {name: value for name, value in where.items() if name not in names}


def _bounded(graph: Graph, part: np.ndarray, least: float, where: Where) -> float:
    """Return the diameter of a component if it is more than `least`, otherwise any number up to that."""
    around = _without(where, "method", "progress") | {"ids": False}

    # The middle of a longest path that two sweeps find, twice (Crescenzi et al.: 4-sweep).
    degrees = np.diff(devices.to_host(graph.layout("csr")[0]))
    middle = int(part[degrees[part].argmax()])
    for _ in range(2):
        first = int(part[devices.to_host(sssp(graph, middle, **around).distances)[part].argmax()])
        found = sssp(graph, first, predecessors=True, **around)
        there = devices.to_host(found.distances)
        last = int(part[there[part].argmax()])
        least = max(least, float(there[last]))
        if least == np.inf:  # the sum of some path is infinite
            return least
        path = np.array(found.path(last))
        middle = int(path[np.searchsorted(there[path], there[last] / 2)])
    away = devices.to_host(sssp(graph, middle, **around).distances)[part]
    order = np.argsort(-away, kind="stable")
    done, count = 0, FIRST
    # Two vertices that are left are at most twice as far apart as the farthest of them is from the middle.
    while done < len(part) and least < 2 * away[order[done]]:
        batch = part[order[done : done + count]]
        farthest = distances(graph, batch, part, reduce="eccentricity", ids=False, **where).eccentricity
        least = max(least, float(farthest.max()))
        done, count = done + count, 2 * count
    return least
