"""Regular undirected graphs: grids of streets, trees and lists."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from .. import device as devices
from ..arguments import as_written, checked_flag, checked_integer
from ..dtypes import MAX_VERTICES
from ..errors import InputError
from ..graph import Graph
from ..graph.compressed import Edges
from ..kernels import trees as tree_kernels
from .checks import checked_place, host_random
from .parts import EDGES_AT_A_TIME, chunk_of, first_of, part_of
from .weights import checked_weights, drawn_weights
from .workers import built, cluster_of

if TYPE_CHECKING:
    from distributed import Client

    from ..runtime.dask import DistributedGraph


@overload
def grid(
    rows: int,
    columns: int,
    *,
    weights: tuple[int, int] | None = (1, 255),
    seed: int = 0,
    device: str | None = None,
    client: None = None,
    workers: None = None,
    worker_timeout: None = None,
    wait_for_workers: None = None,
) -> Graph: ...


@overload
def grid(
    rows: int,
    columns: int,
    *,
    weights: tuple[int, int] | None = (1, 255),
    seed: int = 0,
    device: str | None = None,
    client: "Client",
    workers: Sequence[str | int] | None = None,
    worker_timeout: float | str | None = None,
    wait_for_workers: int | None = None,
) -> "DistributedGraph": ...


def grid(
    rows: int,
    columns: int,
    *,
    weights: tuple[int, int] | None = (1, 255),
    seed: int = 0,
    device: str | None = None,
    client: Any = None,
    workers: Sequence[str | int] | None = None,
    worker_timeout: float | str | None = None,
    wait_for_workers: int | None = None,
) -> Any:
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
        The device on which the graph lives; by default the CPU. With `client`, the kind of its workers' devices.
    client : distributed.Client, optional
        Generate the graph on the workers of this client, each its share of the streets, as a `mgraph.DistributedGraph`.
    workers : sequence of str or int, optional
        The client's workers to use, by address or name, as of `mgraph.DistributedGraph.from_graph`.
    worker_timeout : float or str, optional
        With `client`, seconds that a worker may be silent before the call ends.
    wait_for_workers : int, optional
        With `client`, the number of workers to wait for, as of calls with ``client=``.

    Returns
    -------
    Graph or DistributedGraph
        The same graph either way.

    See Also
    --------
    mgraph.generate.rmat : A graph of few levels and unequal degrees.

    Examples
    --------
    >>> import mgraph
    >>> mgraph.generate.grid(3, 4)
    Graph(n=12, m=34, undirected, int32)

    On the workers of a Dask client:

    >>> from distributed import Client
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     mgraph.generate.grid(3, 4, client=client, device="cpu")
    DistributedGraph(n=12, m=34, undirected, int32, on 1 worker)
    """
    rows, columns = checked_integer("rows", rows, 0, MAX_VERTICES), checked_integer("columns", columns, 0, MAX_VERTICES)
    if rows * columns > MAX_VERTICES:
        raise InputError(f"rows={rows} and columns={columns} make {rows * columns} vertices: at most {MAX_VERTICES}")
    weights = checked_weights(weights)
    random = host_random(seed)
    there = cluster_of(client, device, workers, worker_timeout, wait_for_workers)
    if there is not None:
        made = as_written("mgraph.generate.grid", rows, columns, weights=weights, seed=seed, device=device)
        return built(Streets(rows, columns, weights, int(seed)), there, made)
    m = rows * max(0, columns - 1) + max(0, rows - 1) * columns
    place = checked_place(device, rows * columns, 2 * m)
    lengths = drawn_weights(m, weights, random)
    with place.active():
        xp = place.xp
        cell = xp.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
        src = xp.concatenate([cell[:, :-1].ravel(), cell[:-1].ravel()])
        dst = xp.concatenate([cell[:, 1:].ravel(), cell[1:].ravel()])
        return Graph.from_edges(src, dst, lengths, n=rows * columns, directed=False)


class Streets:
    """The edges of `grid` as a source of chunks: those along the rows, then those between them.

    Parameters
    ----------
    rows, columns : int
        The crossings.
    weights : tuple of (int, int) or None
        The least and the greatest length of a street.
    seed : int
        The seed of the lengths. They are drawn one after the other, so a worker draws those before its chunks, too.
    """

    directed = False
    unique = False

    def __init__(self, rows: int, columns: int, weights: tuple[int, int] | None, seed: int) -> None:
        self.rows, self.columns, self.weights, self.seed = rows, columns, weights, seed
        self.n = rows * columns
        self.along = rows * max(0, columns - 1)
        self.edges = self.along + max(0, rows - 1) * columns
        self.weights_dtype = None if weights is None else np.dtype(np.int32)
        self._drawn = 0
        self._random = host_random(seed)

    @property
    def chunks(self) -> int:
        """The number of chunks."""
        return -(-self.edges // chunk_of(self.edges))

    def chunk(self, number: int, device: devices.Device) -> Edges:
        """Return the streets of a chunk."""
        first = number * chunk_of(self.edges)
        last = min(self.edges, first + chunk_of(self.edges))
        lengths, xp = self._lengths(first, last), device.xp
        street = xp.arange(first, last)
        place = street[: max(0, self.along - first)]
        src = xp.concatenate([place + place // max(1, self.columns - 1), street[len(place) :] - self.along])
        step = xp.ones(len(street), src.dtype)
        step[len(place) :] = self.columns
        dst = (src + step).astype(np.int32)
        return Edges(src.astype(np.int32), dst, None if lengths is None else device.asarray(lengths))

    def sizes(self) -> dict[str, int]:
        """Return nothing: no edge is kept."""
        return {}

    def _lengths(self, first: int, last: int) -> np.ndarray | None:
        """Draw the lengths of some streets, after those before them."""
        if self.weights is None:
            return None
        if first < self._drawn:
            self._drawn, self._random = 0, host_random(self.seed)
        while self._drawn < first:
            some = min(first - self._drawn, EDGES_AT_A_TIME["cpu"])
            drawn_weights(some, self.weights, self._random)
            self._drawn += some
        self._drawn = last
        return drawn_weights(last - first, self.weights, self._random)


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


def tree_graph(n: int, count: int, k: int, *, grown: bool = False, seed: int = 0, device: str | None = None) -> Graph:
    """Return an undirected graph of `count` trees of at most `k` children a vertex, with `n` vertices in all.

    The trees are complete and of about equal size. Those that are `grown` begin as roots, and the other vertices join
    one after the other, each as a child of a random vertex that is there and has fewer than `k`: they are deeper, and
    differ in size.

    Parameters
    ----------
    n : int
        Number of vertices, numbered at random.
    count : int
        Number of trees, which are the components.
    k : int
        Children of a vertex at most; 1 makes lists.
    grown : bool
        Whether the trees are grown at random.
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
    Yogaratnam, a study of list ranking and connected components on GPUs, 2010: grown trees of 2 to 20 children.

    Examples
    --------
    >>> import mgraph
    >>> mgraph.generate.tree_graph(15, 1, 2)
    Graph(n=15, m=28, undirected, unweighted)
    """
    n = checked_integer("n", n, 0, MAX_VERTICES)
    count, k = checked_integer("count", count, min(n, 1), n), checked_integer("k", k, 1, MAX_VERTICES)
    grown = checked_flag("grown", grown)
    random = host_random(seed)
    place = checked_place(device, n, 2 * (n - count))
    names = random.permutation(np.arange(n, dtype=np.int32))
    if grown:
        parents = np.empty(n - count, np.int32)
        kernels = tree_kernels.on(devices.find("cpu"))
        kernels.grow(random.random(n - count), k, np.empty(n, np.int32), parents)
        with place.active():
            src, dst = place.asarray(names[parents]), place.asarray(names[count:])
            return Graph.from_edges(src, dst, n=n, directed=False)
    with place.active():
        xp = place.xp
        child = xp.arange(n)
        root = first_of(part_of(child, n, count), n, count)
        child, root = child[child > root], root[child > root]
        parent = root + (child - root - 1) // k
        names = place.asarray(names)
        return Graph.from_edges(names[parent], names[child], n=n, directed=False)
