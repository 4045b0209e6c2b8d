"""Regular undirected graphs: grids of streets, trees and lists."""

import numpy as np

from ..arguments import checked_integer
from ..dtypes import MAX_VERTICES
from ..errors import InputError
from ..graph import Graph
from .checks import checked_place, host_random
from .parts import first_of, part_of
from .weights import checked_weights, drawn_weights


def grid(
    rows: int,
    columns: int,
    *,
    weights: tuple[int, int] | None = (1, 255),
    seed: int = 0,
    device: str | None = None,
) -> Graph:
    """Return an undirected grid of streets. Like a road network, it has small degrees and many levels.

    Parameters
    ----------
    rows, columns : int
        The crossing in row ``i`` and column ``j`` is vertex ``i * columns + j``.
    weights : tuple of (int, int), optional
        The least and the greatest length of a street, drawn uniformly; None for a graph without weights.
    seed : int
        The same arguments give the same graph, on every device.
    device : {"cpu", "cuda", "cuda:N"}, optional
        The device on which the graph lives; by default the CPU.

    Returns
    -------
    Graph

    See Also
    --------
    mgraph.generate.rmat : A graph of few levels and unequal degrees.

    Examples
    --------
    >>> import mgraph
    >>> mgraph.generate.grid(3, 4)
    Graph(n=12, m=34, undirected, int32)
    """
    rows, columns = checked_integer("rows", rows, 0, MAX_VERTICES), checked_integer("columns", columns, 0, MAX_VERTICES)
    if rows * columns > MAX_VERTICES:
        raise InputError(f"rows={rows} and columns={columns} make {rows * columns} vertices: at most {MAX_VERTICES}")
    weights = checked_weights(weights)
    random = host_random(seed)
    m = rows * max(0, columns - 1) + max(0, rows - 1) * columns
    place = checked_place(device, rows * columns, 2 * m)
    lengths = drawn_weights(m, weights, random)
    with place.active():
        xp = place.xp
        cell = xp.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
        src = xp.concatenate([cell[:, :-1].ravel(), cell[:-1].ravel()])
        dst = xp.concatenate([cell[:, 1:].ravel(), cell[1:].ravel()])
        return Graph.from_edges(src, dst, lengths, n=rows * columns, directed=False)


def list_graph(n: int, count: int, *, seed: int = 0, device: str | None = None) -> Graph:
    """Return an undirected graph of `count` lists with `n` vertices in all: components of the greatest diameter.

    The same as `tree_graph` with one child per vertex.

    Parameters
    ----------
    n : int
        Number of vertices.
    count : int
        Number of lists, at most `n`.
    seed : int
        The same arguments give the same graph.
    device : {"cpu", "cuda", "cuda:N"}, optional
        Where the graph is made; by default the CPU.

    Returns
    -------
    Graph

    See Also
    --------
    mgraph.generate.tree_graph : Trees in place of lists.
    mgraph.generate.linked_list : A list for list ranking.

    References
    ----------
    Yogaratnam, a study of list ranking and connected components on GPUs, 2010.

    Examples
    --------
    >>> import mgraph
    >>> mgraph.generate.list_graph(10, 2)
    Graph(n=10, m=16, undirected, unweighted)
    """
    return tree_graph(n, count, 1, seed=seed, device=device)


def tree_graph(n: int, count: int, k: int, *, seed: int = 0, device: str | None = None) -> Graph:
    """Return an undirected graph of `count` complete `k`-ary trees of about equal size, with `n` vertices in all.

    Parameters
    ----------
    n : int
        Number of vertices, numbered at random.
    count : int
        Number of trees, which are the components.
    k : int
        Children of a vertex; 1 makes lists.
    seed : int
        The same arguments give the same graph, on every device.
    device : {"cpu", "cuda", "cuda:N"}, optional
        The device on which the graph lives; by default the CPU.

    Returns
    -------
    Graph

    See Also
    --------
    mgraph.generate.list_graph : Lists in place of trees.

    References
    ----------
    Yogaratnam, a study of list ranking and connected components on GPUs, 2010: trees of 2 to 20 children.

    Examples
    --------
    >>> import mgraph
    >>> mgraph.generate.tree_graph(15, 1, 2)
    Graph(n=15, m=28, undirected, unweighted)
    """
    n = checked_integer("n", n, 0, MAX_VERTICES)
    count, k = checked_integer("count", count, min(n, 1), n), checked_integer("k", k, 1, MAX_VERTICES)
    random = host_random(seed)
    place = checked_place(device, n, 2 * (n - count))
    names = random.permutation(np.arange(n, dtype=np.int32))
    with place.active():
        xp = place.xp
        child = xp.arange(n)
        root = first_of(part_of(child, n, count), n, count)
        child, root = child[child > root], root[child > root]
        parent = root + (child - root - 1) // k
        names = place.asarray(names)
        return Graph.from_edges(names[parent], names[child], n=n, directed=False)
