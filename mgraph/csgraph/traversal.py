"""Breadth-first order with the interface of `scipy.sparse.csgraph`.

SciPy's order is that of a queue: the vertices of a level follow the order of their predecessors, and those of one
predecessor the order of its edges as they are stored. Here a level is computed at a time, from the edges of the level
before it in their order: of the edges that reach a new vertex, the first counts.
"""

from typing import Any

import numpy as np

from .. import device as devices
from ..arguments import checked_vertices
from ..arrays import Array
from ..dtypes import NO_PREDECESSOR
from ..graph.compressed import rows_of as row_numbers
from .predecessors import reconstruct_path
from .reading import rows_of


def breadth_first_order(csgraph: Any, i_start: int, directed: bool = True, return_predecessors: bool = True) -> Any:
    """Return the vertices in breadth-first order, as `scipy.sparse.csgraph.breadth_first_order` does.

    Parameters
    ----------
    csgraph : array_like, masked array or sparse matrix, shape (n, n)
        Entry (i, j) is the edge from i to j.
    i_start : int
        The vertex to start from, in [0, n).
    directed : bool
        False follows edges in both directions.
    return_predecessors : bool
        Whether to return the predecessors, too.

    Returns
    -------
    node_array : array of int32
        The vertices that are reached, in SciPy's order.
    predecessors : array of int32, shape (n,)
        The vertex from which each was reached first; -9999 where there is none.

    Raises
    ------
    InputError
        For invalid input.

    Examples
    --------
    >>> from mgraph import csgraph
    >>> csgraph.breadth_first_order([[0, 1, 2, 0], [0, 0, 0, 1], [2, 0, 0, 3], [0, 0, 0, 0]], 0)
    (array([0, 1, 2, 3], dtype=int32), array([-9999,     0,     0,     1], dtype=int32))
    """
    rows = rows_of(csgraph, directed)
    xp, n = devices.of(rows.data).xp, rows.shape[0]
    [source] = checked_vertices("i_start", [i_start], n)
    indptr, targets = rows.indptr, rows.indices
    if not directed:
        indptr, targets = _both_ways(indptr, targets, n, xp)
    predecessors, firsts = xp.full(n, NO_PREDECESSOR, np.int32), xp.empty(n, np.uint64)
    seen = xp.zeros(n, bool)
    seen[source] = True
    level = xp.full(1, source, np.int32)
    order = [level]
    while len(level):
        begins = indptr[level]
        counts = indptr[level + np.int32(1)] - begins
        ends = counts.cumsum()
        owner = row_numbers(xp.concatenate([xp.zeros(1, ends.dtype), ends]), int(ends[-1]), xp)
        reached = targets[xp.arange(len(owner)) + (begins - ends + counts)[owner]]
        fresh = ~seen[reached]
        reached, owner = reached[fresh], owner[fresh]
        numbers = xp.arange(len(reached), dtype=np.uint64)  # of which CuPy finds the least
        firsts[reached] = len(reached)
        xp.minimum.at(firsts, reached, numbers)
        first = firsts[reached] == numbers
        reached, owner = reached[first].astype(np.int32, copy=False), owner[first]
        predecessors[reached] = level[owner]
        seen[reached] = True
        level = reached
        order.append(level)
    found = xp.concatenate(order)
    return (found, predecessors) if return_predecessors else found


def _both_ways(indptr: Array, targets: Array, n: int, xp: Any) -> tuple[Array, Array]:
    """Return the neighbours of each vertex: by its own entries, then by those of others, ascending."""
    row = row_numbers(indptr, len(targets), xp)
    owner, neighbour = xp.concatenate([row, targets]), xp.concatenate([targets, row])
    order = (owner.astype(np.int64) * len(owner) + xp.arange(len(owner))).argsort()
    both = xp.zeros(n + 1, np.int64)
    both[1:] = xp.bincount(owner, minlength=n).cumsum()
    return both, neighbour[order]


def breadth_first_tree(csgraph: Any, i_start: int, directed: bool = True) -> Any:
    """Return the tree of a breadth-first search, as `scipy.sparse.csgraph.breadth_first_tree` does.

    Parameters
    ----------
    csgraph, i_start, directed
        As of `breadth_first_order`.

    Returns
    -------
    csr_array of float64, shape (n, n)
        The edge by which each vertex was reached first, as `reconstruct_path` returns it.

    Raises
    ------
    InputError
        For invalid input.

    Examples
    --------
    >>> from mgraph import csgraph
    >>> csgraph.breadth_first_tree([[0, 8, 3], [0, 0, 2], [0, 0, 0]], 0).toarray()
    array([[0., 8., 3.],
           [0., 0., 0.],
           [0., 0., 0.]])
    """
    _, predecessors = breadth_first_order(csgraph, i_start, directed)
    return reconstruct_path(csgraph, predecessors, directed)
