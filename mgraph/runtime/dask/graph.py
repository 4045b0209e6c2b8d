"""Graphs that lie on Dask workers: a range of vertices on each, kept until it is released."""

import html
import uuid
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from distributed import Client, default_client

from ...arguments import checked_flag, checked_integer, size_in_words
from ...docstrings import with_common_parts
from ...dtypes import MAX_VERTICES
from ...errors import InputError, MemoryLimitError
from ...graph import Graph
from ...graph.ids import checked_ids
from ...graph.vertex_range import Weigh, incoming, range_of
from ...graph.views import CachedArray
from ...planning.cut import Placed, range_in_words, shares
from ...planning.devices import neighbours_in_words, usable
from . import residents
from .building import collected, identified, reweighed
from .group import Group
from .placement import Facts, Placement
from .publication import publish
from .remade import Handle, Origin, Recipe, Reference, at_hand, first_made, kept_up, weakly
from .survey import Cluster


@with_common_parts
class DistributedGraph(Handle):
    """A graph whose edges lie on Dask workers, so that calls carry nothing of it.

    Each worker's device holds the edges into a range of vertices; the ranges are balanced by edges. Calls take it in
    place of a `Graph`, without `client`. Their vectors stay on the workers too, as `mgraph.cluster.DistributedVector`,
    and their matrices as `mgraph.cluster.DistributedMatrix`. For `mgraph.apsp` and `mgraph.transitive_closure` each
    worker gathers all edges during the call. Strong components are refused.

    The edges stay until `close`, the end of a ``with`` block, or until nothing refers to the graph any more. If one of
    its workers is lost, the next use of the graph makes it again on the workers that are left or come back, in other
    ranges, and goes on. That needs what it was made of: a `Graph`, a collection of Dask, which must be lazy, or an
    array of weights is not kept alive for it. Without these every later use raises WorkerLostError; so it does in other
    clients if the graph was published, and was neither read nor generated.

    Attributes
    ----------
    n, m : int
        Numbers of vertices and of stored directed edges.
    directed : bool
        False if each edge is stored in both directions.
    weights_dtype : dtype or None
        The type of the weights; None for an unweighted graph.
    ids : array of int64 or of objects, DistributedVector or None
        The id of each vertex, if they have any; on the workers if they have numbered the vertices. It is read-only:
        `with_ids` returns a graph with others.
    ranges : tuple of (int, int)
        The vertices of each worker.
    plan : Plan or None
        What building the graph was predicted to take: its `peak_bytes` were known, and checked, before any edge was
        placed. None for a graph that the client had, and for one that was published.

    Examples
    --------
    {a larger graph on workers}
    ...     print(graph, mgraph.bfs(graph, 0).distances.max())
    DistributedGraph(n=12, m=34, undirected, int32, on 1 worker) 5
    """

    def __init__(self, placement: Placement) -> None:
        super().__init__()
        #: Those that were lost. Results refer to them, and say that their graph is lost.
        self._lost: list[Placement] = []
        self._refer(placement)

    def _refer(self, placement: Placement) -> None:
        self.n, self.m, self.directed = placement.n, placement.m, placement.directed
        self.weights_dtype, self.ranges = placement.weights_dtype, placement.cut.ranges
        self.plan = placement.plan
        self._placement = placement

    @property
    def _lies(self) -> tuple[Group, Origin[Any] | None]:
        return self._placement.group, self._placement.origin

    def _take(self, made: Placement) -> None:
        old = self._placement
        if not made.facts.alike(old.facts):
            raise InputError(f"{old!r} was made again, as a worker was lost, and is another graph now: {made!r}")
        if self.closed:
            made.kept_there.close()
        self._lost.append(old)
        self._refer(made)

    @classmethod
    def from_graph(
        cls,
        graph: Graph,
        client: Client,
        *,
        device: str | None = None,
        workers: Sequence[str | int] | None = None,
        worker_timeout: float | str | None = None,
        wait_for_workers: int | None = None,
    ) -> "DistributedGraph":
        """Return a graph on the workers of a client; its edges are sent to them once.

        Parameters
        ----------
        graph : Graph
            The graph.
        client : distributed.Client
            The client whose workers are to hold the graph.
        device : {"cpu", "cuda"}, optional
            The kind of device to hold it. By default GPUs if all workers have one, else CPUs.
        workers : sequence of str or int, optional
            The client's workers to use, by their addresses or by the names that Dask gives them. By default all that
            answer and have free memory.
        worker_timeout : float or str, optional
            Seconds that a worker may be silent before a call ends, as of calls with ``client=``.
        wait_for_workers : int, optional
            Number of workers to wait for, as of calls with ``client=``.

        Returns
        -------
        DistributedGraph

        Raises
        ------
        InputError
            If `graph` is not a `Graph`, or for a worker that the scheduler does not know.
        MemoryLimitError
            If the edges do not fit the workers' devices.
        WorkerLostError
            If workers are lost more often than ``mgraph.retries`` of Dask's configuration allows.
        SchedulerError
            If the scheduler does not answer or has no or too few workers.

        Examples
        --------
        {a larger graph on workers}
        ...     mgraph.connected_components(graph).count
        1
        """
        if not isinstance(graph, Graph):
            raise InputError(argument="graph", value=graph, expected="a Graph")
        there = Cluster(client, device, worker_timeout, workers, wait_for_workers=wait_for_workers)
        return cls(first_made(_sent, there, {"the Graph that was sent": graph}))

    @classmethod
    def from_dask(
        cls,
        src: Any,
        dst: Any,
        weights: Any = None,
        *,
        n: int | None = None,
        directed: bool = True,
        client: Client | None = None,
        device: str | None = None,
        workers: Sequence[str | int] | None = None,
        worker_timeout: float | str | None = None,
        wait_for_workers: int | None = None,
    ) -> "DistributedGraph":
        """Return the graph of edges that Dask has; they go from worker to worker.

        Parameters
        ----------
        src, dst : dask.array.Array of int, shape (edges,), or columns of a Dask dataframe
            The edges' ends, numbered from 0. Self-loops and repeated edges are kept.
        weights : the same, of floats or integers, optional
            NaN is an error; an edge of weight ``inf`` is left out.
        n : int, optional
            Number of vertices; by default one more than the largest id.
        directed : bool
            False stores every edge in both directions.
        client : distributed.Client, optional
            The client whose workers are to hold the graph; by default Dask's current one.
        device : {"cpu", "cuda"}, optional
            The kind of device to hold it, as of `from_graph`.
        workers : sequence of str or int, optional
            The client's workers to use, as of `from_graph`.
        worker_timeout : float or str, optional
            Seconds that a worker may be silent before a call ends, as of calls with ``client=``.
        wait_for_workers : int, optional
            Number of workers to wait for, as of calls with ``client=``.

        Returns
        -------
        DistributedGraph
            The same graph as `mgraph.Graph.from_edges` makes of these edges.

        Raises
        ------
        InputError
            As `mgraph.Graph.from_edges` does, and if there is no client.
        MemoryLimitError
            If the edges do not fit the workers' devices.
        WorkerLostError
            If workers are lost more often than ``mgraph.retries`` of Dask's configuration allows.
        SchedulerError
            If the scheduler does not answer or has no or too few workers.

        Examples
        --------
        >>> import dask.array
        {a client}
        ...     src, dst = dask.array.arange(9, chunks=3), dask.array.arange(1, 10, chunks=3)
        ...     graph = mgraph.DistributedGraph.from_dask(src, dst, client=client, device="cpu")
        ...     mgraph.bfs(graph, 0).distances[9]
        9
        """
        directed = checked_flag("directed", directed)
        n = None if n is None else checked_integer("n", n, 0, MAX_VERTICES)
        if client is None:
            try:
                client = default_client()
            except ValueError as error:
                wanted = "a distributed.Client, as Dask has none of its own here"
                raise InputError(argument="client", value=None, expected=wanted) from error
        there = Cluster(client, device, worker_timeout, workers, wait_for_workers=wait_for_workers)
        return cls(collected(src, dst, weights, n, directed, there))

    def with_weights(self, weights: Any) -> "DistributedGraph":
        """Return a graph of the same edges with other weights.

        Both graphs share the edges, and what calls derive from the edges alone; only the weights are sent or computed.

        Parameters
        ----------
        weights : function, array_like of shape (m,), dask.array.Array, column of a Dask dataframe, or DistributedVector
            A function of two arrays, the edges' sources and targets, which returns an array of weights and is called on
            the workers, some edges at a time. Or the weights themselves, floats or integers, in the order of the edges
            by target and then by source, as ``to_graph().csc()`` lists them; each worker gets its own. The two
            directions of an undirected edge must have the same weight. NaN is an error; an edge of weight ``inf`` is
            left out.

        Returns
        -------
        DistributedGraph

        Raises
        ------
        InputError
            For weights of another shape, truth values or NaN, and if the two directions of an undirected edge differ.
        MemoryLimitError
            If the weights do not fit the workers' devices.
        WorkerLostError
            If a worker with a part of the graph has been lost, and the graph cannot be made again.

        See Also
        --------
        mgraph.generate.weighted : The same graph with random weights.

        Examples
        --------
        {a client}
        ...     graph = mgraph.generate.grid(3, 4, client=client, device="cpu")
        ...     longer = graph.with_weights(lambda src, dst: 10 * abs(src - dst))
        ...     longer, mgraph.sssp(longer, 0).distances[11]
        (DistributedGraph(n=12, m=34, undirected, int32, on 1 worker), 110)
        """
        return weighed(self, weights)

    def with_ids(self, ids: Any) -> "DistributedGraph":
        """Return the same graph with ids for its vertices.

        Both graphs share their edges, and what calls derive from them. Calls then take ids in place of vertices, and
        answer with them.

        Parameters
        ----------
        ids : sequence or array, shape (n,)
            An id for each vertex, which no other has: integers of up to 64 bits, strings, or other values that can be
            hashed. They stay in this process.

        Returns
        -------
        DistributedGraph

        Raises
        ------
        InputError
            For another number of ids, one that is missing or of two vertices, and for floating-point numbers; and if
            the graph has been closed.
        MemoryLimitError
            If their index does not fit the free memory of this process.
        WorkerLostError
            If a worker with a part of the graph has been lost, and the graph cannot be made again.

        Examples
        --------
        {a client}
        ...     path = mgraph.generate.grid(1, 3, client=client, device="cpu")
        ...     named = path.with_ids(["Rome", "Pisa", "Genoa"])
        ...     mgraph.bfs(named, "Rome", predecessors=True).path("Genoa")
        ['Rome', 'Pisa', 'Genoa']
        """
        checked = checked_ids(ids, self.n)
        named = partial(identified, ids=checked)
        made = kept_up(self, lambda: named(self.placement))
        sources = {"a graph of its edges": _edges(self)}
        made.origin = Origin(lambda edges: named(_placement(edges)), sources, _recipe(self, named))
        return DistributedGraph(made)

    @property
    def ids(self) -> Any:
        """The id of each vertex: an array, or a DistributedVector if the workers have numbered them; None without ids.

        Examples
        --------
        >>> from distributed import Client
        >>> import mgraph
        >>> named = mgraph.Graph.from_edges([0, 1], [1, 2], ids=["Rome", "Pisa", "Genoa"])
        >>> with Client(processes=False, dashboard_address=":0") as client:
        ...     graph = mgraph.DistributedGraph.from_graph(named, client, device="cpu")
        ...     graph.ids.tolist(), mgraph.bfs(graph, "Rome", predecessors=True).path("Genoa")
        (['Rome', 'Pisa', 'Genoa'], ['Rome', 'Pisa', 'Genoa'])
        """
        return self._placement.ids

    @property
    def placement(self) -> Placement:
        """What calls ask for: how the graph is cut, what is held of it, and the executor that runs programs on it.

        Examples
        --------
        {a larger graph on workers}
        ...     graph.placement.held(["csc"])
        (188,)
        """
        return self._placement

    @property
    def closed(self) -> bool:
        """Whether the edges have been released.

        Examples
        --------
        {a client}
        ...     with mgraph.DistributedGraph.from_graph(mgraph.generate.grid(3, 4), client, device="cpu") as graph:
        ...         graph.closed
        ...     graph.closed
        False
        True
        """
        return self._placement.closed

    def to_graph(self) -> Graph:
        """Return the graph with all edges in this process's memory.

        Returns
        -------
        Graph

        Raises
        ------
        InputError
            If the graph has been closed.
        WorkerLostError
            If a worker with a part of it has been lost, and the graph cannot be made again.
        MemoryLimitError
            If the edges do not fit the memory of this process.

        Examples
        --------
        {a larger graph on workers}
        ...     graph.to_graph()
        Graph(n=12, m=34, undirected, int32)
        """
        return kept_up(self, lambda: self._placement.to_graph())

    def cached(self) -> list[CachedArray]:
        """Return the arrays that calls have derived from the graph and keep with it: names, devices and bytes.

        The graph's own edges are not listed.

        Returns
        -------
        list of CachedArray
            By worker; sizes in bytes.

        Raises
        ------
        InputError
            If the graph has been closed.
        WorkerLostError
            If a worker with a part of it has been lost, and the graph cannot be made again.

        See Also
        --------
        release : Free these arrays.

        Examples
        --------
        {a client}
        ...     graph = mgraph.generate.rmat(4, directed=True, client=client, device="cpu")
        ...     _ = mgraph.bfs(graph, 0)
        ...     [kept.name for kept in graph.cached()]
        ['csr']
        """
        return kept_up(self, lambda: self._placement.cached())

    def release(self) -> None:
        """Free the arrays that calls have derived from the graph; a later call derives again what it needs.

        Graphs returned by `with_weights` share the arrays that do not depend on weights: these are released for all of
        them, and where the graph is published for its other users.

        Raises
        ------
        InputError
            If the graph has been closed.
        WorkerLostError
            If a worker with a part of it has been lost, and the graph cannot be made again.

        See Also
        --------
        cached : List these arrays.

        Examples
        --------
        {a client}
        ...     graph = mgraph.generate.rmat(4, directed=True, client=client, device="cpu")
        ...     _ = mgraph.bfs(graph, 0)
        ...     graph.release()
        ...     graph.cached()
        []
        """
        kept_up(self, lambda: self._placement.release())

    def publish(self, name: str) -> None:
        """Keep the edges on the workers under a name, whatever becomes of this client.

        `mgraph.resident` returns the graph to any client of the scheduler, until `mgraph.cluster.unpublish`. Nothing is
        copied or moved. Closing this graph leaves the published one as it is. If a worker is lost, a graph that was
        read or generated is made again, under the same name.

        Parameters
        ----------
        name : str
            A name that no other published graph has, of at most 200 printable characters.

        Raises
        ------
        InputError
            If the name is invalid or in use, or the graph has been closed.
        WorkerLostError
            If a worker with a part of the graph has been lost, and the graph cannot be made again.

        Examples
        --------
        {a client}
        ...     with mgraph.DistributedGraph.from_graph(mgraph.generate.grid(3, 4), client, device="cpu") as graph:
        ...         graph.publish("roads")
        ...     mgraph.resident("roads", client)
        DistributedGraph(n=12, m=34, undirected, int32, on 1 worker)
        """
        kept_up(self, lambda: publish(self._placement, name))

    def close(self) -> None:
        """Release the edges on the workers; vectors that calls have computed stay.

        Examples
        --------
        {a larger graph on workers}
        ...     found = mgraph.bfs(graph, 0)
        ...     graph.close()
        ...     found.distances.max()
        5
        """
        self._placement.kept_there.close()

    def __enter__(self) -> "DistributedGraph":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise InputError(f"{self!r} stays there and cannot be pickled")

    def __repr__(self) -> str:
        return repr(self._placement)

    def _repr_html_(self) -> str:
        there = self._placement
        cells = zip(there.group.specs, there.cut.ranges, there.cut.edges, there.sizes, strict=True)
        rows = "".join(
            f"<tr><td>{html.escape(spec.name)}</td><td>{range_in_words(own)}</td><td>{edges:,}</td>"
            f"<td>{size_in_words(sum(sizes.values()))}</td></tr>"
            for spec, own, edges, sizes in cells
        )
        head = "".join(f"<th>{name}</th>" for name in ("device", "vertices", "edges", "held"))
        line = html.escape(repr(self))
        return f"<div><b>{line}</b><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"


def weighed(graph: DistributedGraph, given: Any, line: Callable[[str], str] = lambda made: "") -> DistributedGraph:
    """Return a graph of the same edges with other weights, as `DistributedGraph.with_weights`.

    `line` returns the line of Python that makes it again, given that of `graph`.
    """
    made = kept_up(graph, lambda: reweighed(graph.placement, given, line))
    weights = (lambda: given) if callable(given) else weakly(given)
    sources = {"a graph of its edges": _edges(graph), "the array of its weights": weights}
    sent = callable(given) and hasattr(given, "dtype")
    recipe = _recipe(graph, partial(_weighed_as, given, made.made)) if sent else None
    made.origin = Origin(lambda edges, given: reweighed(_placement(edges), given, line), sources, recipe)
    return DistributedGraph(made)


def _weighed_as(weights_of: Weigh, line: str, edges: Placement) -> Placement:
    """Return the graph of some edges with weights by a function, made by this line of Python."""
    return reweighed(edges, weights_of, lambda made: line)


def _placement(edges: DistributedGraph | Origin[Placement]) -> Placement:
    """Return what `_edges` refers to as a placement; if only its origin is there, made again."""
    return edges.again() if isinstance(edges, Origin) else edges.placement


def _recipe(graph: DistributedGraph, derive: Callable[[Placement], Placement]) -> Recipe[Placement] | None:
    """Return how other clients make what is derived from a graph's edges; None if they cannot make these."""
    origin = graph.placement.origin
    if origin is None or origin.recipe is None:
        return None
    return Recipe(partial(_derived_on, origin.recipe.build, derive), origin.recipe.names)


def _derived_on(
    build: Callable[[Group], Placement], derive: Callable[[Placement], Placement], group: Group
) -> Placement:
    return derive(build(group))


def _edges(graph: DistributedGraph) -> Reference:
    """Return a reference to a graph while it exists, whose edges are shared then, else to its origin."""
    there, origin = weakref.ref(graph), graph.placement.origin

    def found() -> DistributedGraph | Origin[Placement] | None:
        handle = there()
        if handle is not None and not handle.closed and at_hand(handle):
            return handle
        return origin if origin is not None and origin.missing is None else None

    return found


def _sent(group: Group, graph: Graph) -> Placement:
    """Return a graph that the client has, sent to a group's workers."""
    cut, name = _cut(graph, group), uuid.uuid4().hex
    held: list[Mapping[str, int]] = []
    with group.making(name):
        for rank, (first, last) in enumerate(cut.ranges):
            held += group.one(rank, residents.place, name, group.sent(rank, range_of(graph, first, last)))
        return Placement(group, Facts.of(graph), cut, name, held)


def _cut(graph: Graph, group: Group) -> Placed:
    """Return the ranges of vertices of the group's workers, balanced by edges, or refuse if they do not fit."""
    offset = graph.layout("csr")[0].dtype.itemsize
    an_edge = 4 + (graph.weights_dtype.itemsize if graph.weights_dtype is not None else 0)

    def peak(own: int, edges: int) -> int:
        return an_edge * edges + offset * (own + 1)

    ranges, edges, peaks = shares(graph.n, graph.m, group.specs, None, incoming(graph), peak)
    for spec, needed in zip(group.specs, peaks, strict=True):
        if needed > usable(spec, None):
            raise MemoryLimitError(
                f"the edges need {size_in_words(needed)} on {spec.name}, which has {size_in_words(spec.memory)} free"
                f"{neighbours_in_words(spec)}: "
                "add workers, or use ones with more memory"
            )
    return Placed(ranges, tuple(edges))
