"""What predecessors give: the tree of one source, and the lengths of all paths, as in `scipy.sparse.csgraph`."""

from typing import Any

import numpy as np

from .. import device as devices
from ..arrays import Array, chunk_rows
from ..errors import InputError
from ..graph.compressed import rows_of as row_numbers
from .conversions import csgraph_to_dense
from .reading import checked, csr, is_sparse, rows_of, weights_of


def reconstruct_path(csgraph: Any, predecessors: Any, directed: bool = True) -> Any:
    """Return the tree that predecessors describe, as `scipy.sparse.csgraph.reconstruct_path` does.

    Parameters
    ----------
    csgraph : array_like, masked array or sparse matrix, shape (n, n)
        Entry (i, j) is the edge from i to j. Of parallel edges the lightest counts, where SciPy adds them up.
    predecessors : array_like of int, shape (n,)
        The vertex before each vertex; a negative number where there is none.
    directed : bool
        False joins i and j by the lighter of the entries (i, j) and (j, i).

    Returns
    -------
    csr_array of float64, shape (n, n)
        The edge from each vertex's predecessor. If there is no such edge, its weight is 0, undirected ``inf``.

    Raises
    ------
    InputError
        For another shape, or a predecessor of n or more.

    Examples
    --------
    >>> from mgraph import csgraph
    >>> csgraph.reconstruct_path([[0, 3, 8], [0, 0, 4], [0, 0, 0]], [-9999, 0, 1]).toarray()
    array([[0., 3., 0.],
           [0., 0., 4.],
           [0., 0., 0.]])
    """
    rows = rows_of(csgraph, directed)
    xp, n = devices.of(rows.data).xp, rows.shape[0]
    parents = xp.asarray(predecessors)
    if parents.shape != (n,) or parents.dtype.kind not in "iu" or bool((parents >= n).any()):
        raise InputError(f"predecessors must be {n} integers less than {n}")
    row, column = row_numbers(rows.indptr, len(rows.data), xp), rows.indices
    weights, entered = xp.full(n, np.inf), xp.zeros(n, bool)
    for tail, head in ((row, column),) if directed else ((row, column), (column, row)):
        there = parents[head] == tail
        entered[head[there]] = True
        with np.errstate(invalid="ignore"):  # a weight may be NaN
            xp.minimum.at(weights, head[there], rows.data[there])
    children = xp.flatnonzero(parents >= 0)
    children = children[(parents[children].astype(np.int64) * n + children).argsort()]
    found = weights[children]
    if directed:
        found[~entered[children]] = 0
    like = rows if is_sparse(csgraph) else weights  # of a numpy.matrix SciPy returns an array here
    return csr(like, parents[children], children, found)


def construct_dist_matrix(graph: Any, predecessors: Any, directed: bool = True, null_value: float = np.inf) -> Array:
    """Return the lengths of the paths that predecessors describe, as SciPy's `construct_dist_matrix` does.

    Each round doubles the part of every path that has been added up (pointer jumping: Wyllie, "The complexity of
    parallel computations", 1979).

    Parameters
    ----------
    graph : array_like, masked array or sparse matrix, shape (n, n)
        Entry (i, j) is the edge from i to j.
    predecessors : array of int32, shape (n, n)
        The vertex before j on the path from i to j; negative where there is none.
    directed : bool
        False joins i and j by the lighter of the entries (i, j) and (j, i).
    null_value : float
        The length where there is no path.

    Returns
    -------
    array of float64, shape (n, n)

    Raises
    ------
    InputError
        For another shape, or a predecessor of n or more.
    TypeError
        If `predecessors` are not int32.

    Examples
    --------
    >>> import numpy as np
    >>> from mgraph import csgraph
    >>> predecessors = np.array([[-9999, 0, 1], [-9999, -9999, 1], [-9999, -9999, -9999]], np.int32)
    >>> csgraph.construct_dist_matrix([[0, 3, 8], [0, 0, 4], [0, 0, 0]], predecessors)
    array([[ 0.,  3.,  7.],
           [inf,  0.,  4.],
           [inf, inf,  0.]])
    """
    matrix = checked(graph)
    weights = csgraph_to_dense(matrix, np.inf) if is_sparse(matrix) else weights_of(matrix)
    xp, n = devices.of(weights).xp, len(weights)
    parents = xp.asarray(predecessors)
    if parents.shape != weights.shape or bool((parents >= n).any()):
        raise InputError(f"predecessors must be a matrix of {n} x {n} integers less than {n}")
    if parents.dtype != np.int32:
        raise TypeError(f"predecessors must be int32, got {parents.dtype}")
    if not directed:
        weights = xp.minimum(weights, weights.T)
    lengths, vertices, height = xp.empty((n, n)), xp.arange(n), chunk_rows(n)
    for first in range(0, n, height):
        sources = vertices[first : first + height, None]
        before = parents[first : first + height]
        ends = (before < 0) | (vertices == sources)  # a path begins at its source, or where there is no predecessor
        before = xp.where(ends, vertices, before)
        sums = xp.where(ends, 0.0, weights[before, vertices])
        for _ in range(n.bit_length()):
            sums = sums + xp.take_along_axis(sums, before, 1)
            before = xp.take_along_axis(before, before, 1)
        lengths[first : first + height] = xp.where(before == sources, sums, null_value)
    return lengths
