"""Connected components with the interface of `scipy.sparse.csgraph`."""

from typing import Any

import numpy as np

from .. import device as devices
from ..algorithms.components.call import connected_components as components
from ..algorithms.components.completed import completed
from ..arguments import checked_choice
from ..arrays import Array
from .reading import connections, host_rows, rows_of


def connected_components(
    csgraph: Any, directed: bool = True, connection: str = "weak", return_labels: bool = True
) -> Any:
    """Return the number of components and the component of every vertex, as SciPy's `connected_components` does.

    Of strong components only the partition is SciPy's, not the numbers, which differ between its versions, too. Labels
    are found by a search on one core there, and the count alone on all cores or on a GPU. SciPy before 1.18 may not end
    with repeated edges.

    Parameters
    ----------
    csgraph : array_like, masked array or sparse matrix, shape (n, n)
        Entry (i, j) is the edge from i to j.
    directed : bool
        False joins i and j by either entry.
    connection : {"weak", "strong"}
        Whether the directions of edges matter.
    return_labels : bool
        Whether to return the labels, too.

    Returns
    -------
    count : int
        Number of components.
    labels : array of int32, shape (n,)
        The components of the vertices, numbered from 0: weak ones in the order of their least vertices, a strong one
        before those that reach it.

    Raises
    ------
    InputError
        For invalid input.

    Examples
    --------
    >>> from mgraph import csgraph
    >>> csgraph.connected_components([[0, 1, 0], [0, 0, 0], [0, 0, 0]])
    (2, array([0, 0, 1], dtype=int32))
    """
    wanted = connection.lower() if isinstance(connection, str) else connection
    strong = checked_choice("connection", wanted, ("weak", "strong")) == "strong" and directed
    if strong and not return_labels:
        rows = rows_of(csgraph, directed)
        return components(connections(rows), connection="strong").count if rows.shape[0] else 0
    count, labels = _strong(csgraph) if strong else _weak(rows_of(csgraph, directed))
    return (count, labels) if return_labels else count


def _weak(rows: Any) -> tuple[int, Array]:
    if not rows.shape[0]:
        return 0, devices.of(rows.data).xp.zeros(0, np.int32)
    count, least = components(connections(rows))
    home = devices.of(least)
    numbers = (least == home.xp.arange(len(least))).cumsum(dtype=np.int32) - np.int32(1)
    return count, numbers[least]


def _strong(csgraph: Any) -> tuple[int, Array]:
    rows, home = host_rows(csgraph)
    indptr = rows.indptr if rows.indptr.dtype == np.int64 else rows.indptr.astype(np.int32, copy=False)
    count, labels = completed(indptr, rows.indices.astype(np.int32, copy=False))
    return count, home.asarray(labels)
