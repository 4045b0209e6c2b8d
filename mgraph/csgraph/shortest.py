"""Shortest paths with the interface of `scipy.sparse.csgraph`.

The functions differ in what they take. How the paths are found is up to mgraph's planner, from the graph, the number of
sources and the device, not to the name of the function or ``method=``.
"""

from typing import Any

import numpy as np

from .. import device as devices
from ..algorithms.apsp.call import apsp
from ..algorithms.distances.call import distances
from ..algorithms.sssp.call import sssp
from ..arrays import Array, distinct
from ..dtypes import NO_PREDECESSOR, as_floats
from ..errors import InputError
from ..graph import Graph
from ..graph.potentials import potentials
from .negative_cycles import scipys_errors
from .reading import graph_of


def shortest_path(
    csgraph: Any,
    method: str = "auto",
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
    overwrite: bool = False,
    indices: Any = None,
) -> Any:
    """Return the lengths of shortest paths, as `scipy.sparse.csgraph.shortest_path` does.

    Parameters
    ----------
    csgraph : array_like, masked array or sparse matrix, shape (n, n)
        Entry (i, j) is the edge from i to j; on a GPU if it is CuPy's.
    method : {"auto", "FW", "D", "BF", "J"}
        Which of SciPy's functions to stand for: `floyd_warshall`, `dijkstra`, `bellman_ford` or `johnson`. ``"auto"``
        takes `johnson`, which allows negative weights.
    directed : bool
        False joins i and j by the lighter of the entries (i, j) and (j, i).
    return_predecessors : bool
        Whether to return the predecessors, too.
    unweighted : bool
        Whether every edge counts 1.
    overwrite : bool
        Whether `floyd_warshall` may overwrite the matrix.
    indices : array_like of int, optional
        The sources; by default all vertices. Negative ones count from the end.

    Returns
    -------
    distances : array of float64, shape (n, n), or the shape of `indices` and n
        ``inf`` where there is no path.
    predecessors : array of int32, of the same shape
        The vertex before the last on each path, -9999 where there is none; only with `return_predecessors`.

    Raises
    ------
    NegativeCycleError
        If there is a cycle of negative weight.
    InputError
        For invalid input; it is a ValueError.

    Examples
    --------
    >>> from mgraph import csgraph
    >>> csgraph.shortest_path([[0, 3, 8], [0, 0, 4], [0, 0, 0]], indices=0)
    array([0., 3., 7.])
    """
    if method not in ("auto", "FW", "D", "BF", "J"):
        raise InputError(argument="method", value=method, expected="'auto', 'FW', 'D', 'BF' or 'J'")
    if method == "FW":
        if indices is not None:
            raise InputError("method 'FW' computes all pairs: leave out indices")
        return floyd_warshall(csgraph, directed, return_predecessors, unweighted, overwrite)
    function = {"auto": johnson, "D": dijkstra, "BF": bellman_ford, "J": johnson}[method]
    return function(csgraph, directed, indices, return_predecessors, unweighted)


def floyd_warshall(
    csgraph: Any,
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
    overwrite: bool = False,
) -> Any:
    """Return the lengths of the shortest paths between all pairs, as `scipy.sparse.csgraph.floyd_warshall` does.

    Parameters
    ----------
    csgraph, directed, return_predecessors, unweighted
        As of `shortest_path`.
    overwrite : bool
        Whether to write the distances into `csgraph` and return it, if it is a C-contiguous array of float64.

    Returns
    -------
    distances, predecessors
        As of `shortest_path`.

    Raises
    ------
    NegativeCycleError
        If there is a cycle of negative weight; a negative entry on the diagonal is one, too.
    InputError
        For invalid input.

    Examples
    --------
    >>> from mgraph import csgraph
    >>> csgraph.floyd_warshall([[0, 3, 8], [0, 0, 4], [1, 0, 0]])
    array([[0., 3., 7.],
           [5., 0., 4.],
           [1., 4., 0.]])
    """
    found = johnson(csgraph, directed, None, return_predecessors, unweighted)
    if overwrite and _takes(csgraph):
        csgraph[...] = found[0] if return_predecessors else found
        return (csgraph, found[1]) if return_predecessors else csgraph
    return found


def _takes(csgraph: Any) -> bool:
    """Return whether distances may be written into the input: SciPy's documented condition."""
    plain = type(csgraph) is np.ndarray or devices.of(csgraph).kind == "cuda"
    return (
        plain
        and csgraph.dtype == np.float64
        and csgraph.flags.c_contiguous
        and getattr(csgraph.flags, "writeable", True)
    )


def dijkstra(
    csgraph: Any,
    directed: bool = True,
    indices: Any = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
    limit: float = np.inf,
    min_only: bool = False,
) -> Any:
    """Return the lengths of shortest paths up to a limit, as `scipy.sparse.csgraph.dijkstra` does.

    Negative weights are allowed here, and negative cycles found: SciPy warns of the former, and may not end.

    Parameters
    ----------
    csgraph, directed, indices, return_predecessors, unweighted
        As of `shortest_path`.
    limit : float
        The greatest distance, 0 or more; vertices beyond it count as unreached.
    min_only : bool
        Whether to return, for every vertex, the distance from the nearest source alone.

    Returns
    -------
    distances, predecessors
        As of `shortest_path`; with `min_only` of shape (n,).
    sources : array of int32, shape (n,)
        The nearest source of each vertex, -9999 where there is none; only with `min_only` and `return_predecessors`.

    Raises
    ------
    NegativeCycleError
        If a cycle of negative weight can be reached.
    InputError
        For invalid input.

    Examples
    --------
    >>> from mgraph import csgraph
    >>> csgraph.dijkstra([[0, 3, 8], [0, 0, 4], [0, 0, 0]], indices=[0, 1], limit=5)
    array([[ 0.,  3., inf],
           [inf,  0.,  4.]])
    >>> csgraph.dijkstra([[0, 3, 8], [0, 0, 4], [0, 0, 0]], indices=[0, 1], min_only=True)
    array([0., 0., 4.])
    """
    graph = graph_of(csgraph, directed, unweighted)
    if not limit >= 0:
        raise InputError(argument="limit", value=limit, expected="a number of 0 or more")
    sources = checked_indices(indices, graph.n)
    with scipys_errors():
        if not min_only:
            rows = _solved(graph, sources, return_predecessors, limit)
            return rows if return_predecessors else rows[0]
        found = _nearest(graph, sources.ravel(), limit)
        return found if return_predecessors else found[0]


def _nearest(graph: Graph, sources: np.ndarray, limit: float) -> tuple[Array, Array, Array]:
    """Return each vertex's distance from the nearest source, its predecessor and the source where its path begins."""
    xp, n = devices.find(graph.device).xp, graph.n
    if not len(sources):
        none = xp.full(n, NO_PREDECESSOR, np.int32)
        return xp.full(n, np.inf), none, none.copy()
    starts, most = distinct(sources).tolist(), None if limit == np.inf else limit
    found = sssp(graph, sources=starts, predecessors=True, limit=most)
    lengths, before = as_floats(found.distances), found.predecessors
    assert before is not None
    before[lengths == np.inf] = NO_PREDECESSOR
    nearest = xp.where(before < 0, xp.arange(n, dtype=np.int32), before)
    for _ in range(n.bit_length()):  # each round doubles the way back
        nearest = nearest[nearest]
    nearest[lengths == np.inf] = NO_PREDECESSOR
    return lengths, before, nearest


def bellman_ford(
    csgraph: Any,
    directed: bool = True,
    indices: Any = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
) -> Any:
    """Return the lengths of shortest paths, as `scipy.sparse.csgraph.bellman_ford` does.

    Parameters
    ----------
    csgraph, directed, indices, return_predecessors, unweighted
        As of `shortest_path`.

    Returns
    -------
    distances, predecessors
        As of `shortest_path`.

    Raises
    ------
    NegativeCycleError
        If a cycle of negative weight can be reached from a source.
    InputError
        For invalid input.

    Examples
    --------
    >>> from mgraph import csgraph
    >>> csgraph.bellman_ford([[0, 3, 0], [0, 0, -2], [0, 0, 0]], indices=0)
    array([0., 3., 1.])
    """
    return dijkstra(csgraph, directed, indices, return_predecessors, unweighted)


def johnson(
    csgraph: Any,
    directed: bool = True,
    indices: Any = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
) -> Any:
    """Return the lengths of shortest paths, as `scipy.sparse.csgraph.johnson` does.

    Parameters
    ----------
    csgraph, directed, indices, return_predecessors, unweighted
        As of `shortest_path`.

    Returns
    -------
    distances, predecessors
        As of `shortest_path`.

    Raises
    ------
    NegativeCycleError
        If there is a cycle of negative weight, whether or not a source reaches it.
    InputError
        For invalid input.

    Examples
    --------
    >>> from mgraph import csgraph
    >>> csgraph.johnson([[0, 3, 0], [0, 0, -2], [0, 0, 0]])
    array([[ 0.,  3.,  1.],
           [inf,  0., -2.],
           [inf, inf,  0.]])
    """
    graph = graph_of(csgraph, directed, unweighted)
    sources = checked_indices(indices, graph.n)
    with scipys_errors():
        found = _solved(graph, sources, return_predecessors, everywhere=True)
    return found if return_predecessors else found[0]


def checked_indices(indices: Any, n: int) -> np.ndarray:
    """Return sources as an array of int64 in [0, n), of the shape given; all vertices for None.

    Raises
    ------
    InputError
        For one that is not an integer in [-n, n).
    """
    if indices is None:
        return np.arange(n)
    given = np.asarray(devices.to_host(indices) if devices.of(indices).kind == "cuda" else indices)
    if given.dtype.kind not in "biuf":
        raise InputError(argument="indices", value=given.dtype.name, expected="integers")
    wrong = (given < -n) | (given >= n) | (given != np.floor(given))
    if wrong.any():
        raise InputError(argument="indices", value=given[wrong].flat[0], expected=f"integers in [{-n}, {n})")
    sources = given.astype(np.int64)
    return np.where(sources < 0, sources + n, sources)


def _solved(
    graph: Graph, sources: np.ndarray, predecessors: bool, limit: float = np.inf, everywhere: bool = False
) -> tuple[Array, Array | None]:
    """Return the distances from sources, and the predecessors or None, of the shape of `sources` and n.

    With `everywhere`, a negative cycle is an error wherever it is, otherwise only if it can be reached.
    """
    home, flat = devices.find(graph.device), sources.ravel()
    xp, shape, few = home.xp, (*sources.shape, graph.n), len(flat) * VERTICES_PER_SOURCE < graph.n
    most = None if limit == np.inf else limit
    every = len(flat) == graph.n and bool((flat == np.arange(graph.n)).all())
    if everywhere and not graph.nonnegative and not every:
        potentials(graph)  # raises for a negative cycle
    if not flat.size:
        return xp.zeros(shape), xp.full(shape, NO_PREDECESSOR, np.int32) if predecessors else None
    if len(flat) == 1 or not (graph.nonnegative or everywhere or every):
        found = [sssp(graph, int(source), predecessors=predecessors, limit=most) for source in flat]
        lengths = xp.stack([as_floats(row.distances) for row in found])
        parents = xp.stack([row.predecessors for row in found]) if predecessors else None
    elif most is None and (every or not (few or graph.dense is None)):
        pairs = apsp(graph, predecessors=predecessors, dtype="auto")
        lengths, parents = pairs.distances, pairs.predecessors
        if not every:
            rows = xp.asarray(flat)
            lengths = home.asarray(lengths)[rows]
            parents = None if parents is None else home.asarray(parents)[rows]
    else:
        some = distances(graph, flat.tolist(), limit=most, predecessors=predecessors)
        lengths, parents = some.distances, some.predecessors
    lengths = as_floats(home.asarray(lengths)).reshape(shape)
    if parents is None:
        return lengths, None
    parents = home.asarray(parents).reshape(shape)
    if most is not None:  # with negative weights, vertices beyond the limit keep their predecessors
        parents[lengths == np.inf] = NO_PREDECESSOR
    return lengths, parents


#: All pairs of a dense matrix are computed for one source in so many vertices, or more.
VERTICES_PER_SOURCE = 8
