"""Minimum spanning trees with the interface of `scipy.sparse.csgraph`."""

from typing import Any

import numpy as np

from .. import device as devices
from ..algorithms.minimum_spanning_forest.call import minimum_spanning_forest
from ..graph.compressed import rows_of as row_numbers
from .reading import csr, graph_of_rows, rows_of


def minimum_spanning_tree(csgraph: Any, overwrite: bool = False) -> Any:
    """Return a minimum spanning tree of each component, as `scipy.sparse.csgraph.minimum_spanning_tree` does.

    Edges of equal weight are compared by their ends, so there is one answer on every device; SciPy may choose others of
    equal weight.

    Parameters
    ----------
    csgraph : array_like, masked array or sparse matrix, shape (n, n)
        Vertices i and j are joined by the lighter of the entries (i, j) and (j, i).
    overwrite : bool
        Not used: the matrix is never changed.

    Returns
    -------
    csr_array of float64, shape (n, n)
        The entries of the trees; an edge of weight zero is left out, as in SciPy.

    Raises
    ------
    InputError
        For invalid input.

    Examples
    --------
    >>> from mgraph import csgraph
    >>> csgraph.minimum_spanning_tree([[0, 8, 0, 3], [0, 0, 2, 5], [0, 0, 0, 6], [0, 0, 0, 0]]).toarray()
    array([[0., 0., 0., 3.],
           [0., 0., 2., 5.],
           [0., 0., 0., 0.],
           [0., 0., 0., 0.]])
    """
    rows = rows_of(csgraph)
    xp, n = devices.of(rows.data).xp, rows.shape[0]
    forest = minimum_spanning_forest(graph_of_rows(rows))
    lesser, greater = xp.minimum(forest.src, forest.dst), xp.maximum(forest.src, forest.dst)
    keys = lesser.astype(np.int64) * n + greater
    order = keys.argsort()
    keys, lesser, greater, weights = keys[order], lesser[order], greater[order], forest.weights[order]
    # The forest's edge (i, j) is the entry (i, j) if that has its weight, and otherwise (j, i).
    row, column = row_numbers(rows.indptr, len(rows.data), xp), rows.indices
    above = row < column
    entries = row[above].astype(np.int64) * n + column[above]
    places = xp.searchsorted(keys, entries)
    places[places == len(keys)] = 0
    upper = xp.zeros(len(keys), bool)
    if len(keys):
        same = (keys[places] == entries) & (weights[places] == rows.data[above])
        upper[places[same]] = True
    tail, head = xp.where(upper, lesser, greater), xp.where(upper, greater, lesser)
    order = (tail.astype(np.int64) * n + head).argsort()
    order = order[weights[order] != 0]
    return csr(rows, tail[order], head[order], weights[order])
