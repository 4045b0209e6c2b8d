"""Breadth-first order with the interface of `scipy.sparse.csgraph`.

SciPy's order is that of a queue: the vertices of a level follow the order of their predecessors, and those of one
predecessor the order of its edges as they are stored. So it is found by one core of the CPU, also for edges on a GPU.
"""

from typing import Any

import numpy as np

from .. import device as devices
from ..arguments import checked_vertices
from ..dtypes import NO_PREDECESSOR
from ..kernels import bfs_by_level as bfs_kernels
from .predecessors import reconstruct_path
from .reading import host_rows


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
    rows, home = host_rows(csgraph, directed)
    n = rows.shape[0]
    [source] = checked_vertices("i_start", [i_start], n)
    edges = rows.indptr.astype(np.int64), rows.indices.astype(np.int32, copy=False)
    others = np.zeros(n + 1, np.int64), np.zeros(0, np.int32)
    if not directed:
        columns = rows.T.tocsr()
        others = columns.indptr.astype(np.int64), columns.indices.astype(np.int32, copy=False)
    order, predecessors = np.empty(n, np.int32), np.full(n, NO_PREDECESSOR, np.int32)
    search = bfs_kernels.on(devices.find("cpu")).in_queue_order
    start, levels = np.array([source], np.int32), np.full(n, -1, np.int32)
    found = home.asarray(order[: search(edges, others, start, n, order, predecessors, levels)])
    return (found, home.asarray(predecessors)) if return_predecessors else found


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
