"""Connected components: the public call, its result, and its program over vertex ranges.

The algorithms are told in ``kernels/components.cu``. A shard owns a range of vertices and the edges from them, and
finds a forest of all n vertices by these edges alone: an edge joins its ends whichever shard has it, so that the
edges of a directed graph are needed at one end only. Then the forests are joined: each is sent to all the others
once, 4 n bytes, whatever the number of edges. A root is the least vertex of its tree, so the labels are the same
from every method and any number of shards.

Strong components are SciPy's, on one core: the depth-first search of D. J. Pearce, "An improved algorithm for
finding the strongly connected components of a directed graph", 2005.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ... import device as devices
from ...arrays import Array
from ...errors import InputError
from ...graph import as_graph
from ...planning.plan import Plan
from ...planning.shape import shape_beside
from ...runtime.program import Progress, memory_errors
from ...runtime.select import checked_span, executor, specs_beside
from . import plan as components_plan
from .program import Components, OutgoingEdges
from .strong import Strong


@memory_errors("connected_components")
def connected_components(
    graph: Any,
    *,
    method: str = "auto",
    connection: str = "weak",
    device: str | None = None,
    client: Any = None,
    span: int | None = None,
    progress: Progress | None = None,
    worker_timeout: float | str | None = None,
) -> "ComponentsResult":
    """Return the number of connected components, and the component of every vertex.

    Parameters
    ----------
    graph : Graph, sparse matrix, or array_like of shape (n, n)
        Read as `mgraph.apsp` does; weights do not matter.
    method : {"auto", "afforest", "shiloach-vishkin", "sequential"}
        ``"afforest"`` links every vertex with some neighbours, then all but those of the giant component with
        the rest [1]_. ``"shiloach-vishkin"`` hooks and short-cuts all trees in rounds [2]_ [3]_; ``"sequential"``
        is union-find on one core of a CPU. ``"auto"`` takes the first, and for few edges on a CPU the last.
    connection : {"weak", "strong"}
        Whether the two ends of a directed edge are connected, or only two vertices that reach each other.
        Strong components of a directed graph are found on one core of a CPU [4]_.
    device : {"cpu", "cuda", "cuda:N"}, optional
        By default the graph's own device where that is a GPU, else a GPU where there is one. With
        `client`, what its workers shall use.
    client : distributed.Client, optional
        Run on the client's workers, one range of vertices each.
    worker_timeout : float or str, optional
        Seconds, 1 or more, or such as ``"2 minutes"``, for which a worker of `client` may be silent before the call
        ends in `WorkerLostError`. By default ``mgraph.worker-timeout`` of Dask's configuration, or 60.
    span : int, optional
        Supersteps between two barriers of Dask; 1 makes each a task. By default about a second's worth.
    progress : callable, optional
        Called between spans with the supersteps done and, unless only the graph can tell, their number.

    Returns
    -------
    ComponentsResult
        Unpacks as ``(count, labels)``.

    Raises
    ------
    InputError
        For input that cannot be used, and for a method or connection that the devices do not have.
    MemoryLimitError
        If no plan fits; raised before anything is allocated.
    DeviceError
        If the device is not there or cannot be used.
    WorkerLostError, SchedulerError, VersionError
        With `client`: if a worker is lost during the call, the scheduler does not answer or has no workers, or a worker
        has another version of mgraph.

    References
    ----------
    .. [1] Sutton, Ben-Nun and Barak, "Optimizing parallel graph connectivity computation via subgraph sampling",
       2018.
    .. [2] Shiloach and Vishkin, "An O(log n) parallel connectivity algorithm", 1982.
    .. [3] Dehne and Yogaratnam, "Exploring the limits of GPUs with parallel graph algorithms", 2010.
    .. [4] Pearce, "An improved algorithm for finding the strongly connected components of a directed graph", 2005.

    Examples
    --------
    >>> import mgraph
    >>> result = mgraph.connected_components(mgraph.Graph.from_edges([0, 2], [1, 3]), device="cpu")
    >>> result.count, result.labels.tolist()
    (2, [0, 0, 2, 2])
    """
    graph = as_graph(graph)
    if connection not in ("weak", "strong"):
        raise InputError(f"connection={connection!r} is not known: use 'weak' or 'strong'")
    strong = connection == "strong" and graph.directed
    if strong:
        for name, value, fitting in (("method", method, ("auto", "sequential")), ("device", device, (None, "cpu"))):
            if value not in fitting:
                raise InputError(f"connection='strong' is found on one core of a CPU: leave out {name}={value!r}")
        if client is not None:
            raise InputError("connection='strong' is found on one core of a CPU: leave out client=")
        method, device = "sequential", "cpu"
    runner = executor(device, client, graph.device, worker_timeout)
    made = components_plan.planned(
        graph.n,
        graph.m,
        specs_beside(runner, graph),
        method=method,
        span=checked_span(span, progress),
        directed=graph.directed,
        indptr=devices.to_host(graph.adjacency("csr")[0]) if len(runner.specs) > 1 else None,
        shape=shape_beside(graph, runner.specs),
    )

    def edges(shard: int) -> OutgoingEdges:
        if len(made.ranges) == 1:
            return OutgoingEdges(*graph.adjacency("csr", runner.place))
        first, last = made.ranges[shard]
        indptr, indices = graph.adjacency("csr")
        start, end = int(indptr[first]), int(indptr[last])
        return OutgoingEdges(indptr[first : last + 1] - indptr[first], indices[start:end])

    program = Strong(made) if strong else Components(made, graph.directed)
    outcome = runner.run(program, edges, made, progress)
    labels = devices.find(graph.device).asarray(outcome.arrays["labels"])
    count, iterations = outcome.arrays["count"].sum(), outcome.arrays["iterations"].max()
    return ComponentsResult(int(count), labels, int(iterations), made, outcome.timings)


@dataclass(frozen=True, eq=False)
class ComponentsResult:
    """The result of `connected_components`, which unpacks as ``(count, labels)``.

    Attributes
    ----------
    count : int
        Number of components.
    labels : array of int32, shape (n,)
        The smallest vertex of each vertex's component.
    iterations : int
        Rounds of the algorithm of Shiloach and Vishkin until nothing happened, the last one included; 1 for
        the other methods, which hook every edge once.
    plan : Plan
        How the call was run.
    timings : dict of str to float
        Seconds spent in ``"load"``, ``"solve"`` and ``"collect"``, and apart from these in ``"compile"``: kernels are
        compiled, or loaded from a cache, at their first use.
    """

    count: int
    labels: Array
    iterations: int
    plan: Plan
    timings: dict[str, float]

    def __iter__(self) -> Iterator[Any]:
        yield self.count
        yield self.labels
