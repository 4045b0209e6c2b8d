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
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from . import device as devices
from .comm import Communicator
from .engine import Progress, checked_span, executor, memory_errors, specs_beside
from .errors import InputError
from .graph import as_graph
from .plan import components as components_plan
from .plan.plans import Plan
from .plan.shape import shape_beside

Array = Any


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

    def edges(shard: int) -> Edges:
        if len(made.ranges) == 1:
            return Edges(*graph.adjacency("csr", runner.place))
        first, last = made.ranges[shard]
        indptr, indices = graph.adjacency("csr")
        start, end = int(indptr[first]), int(indptr[last])
        return Edges(indptr[first : last + 1] - indptr[first], indices[start:end])

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


class Edges(NamedTuple):
    """The edges from a shard's vertices: row ``v - first`` holds the targets of ``v``'s edges."""

    indptr: Array
    indices: Array


@dataclass
class Shard:
    """A shard's state; what each array means is told in ``kernels/components.cu``.

    Attributes
    ----------
    parent : array of int32, shape (n,)
        The forest.
    other : array of int32, shape (n,), or None
        Another shard's forest, or the parents that a round of Shiloach and Vishkin changes; None where there
        is neither.
    marks : array of int32, shape (n,), or None
        The last round in which something happened to a vertex.
    giant, active, count : array of int32, shape (1,)
        The component that is passed over, whether anything happened in a round, and the shard's roots.
    """

    device: devices.Device
    kernels: Any
    first: int
    last: int
    edges: Edges
    parent: Array
    other: Array | None
    marks: Array | None
    giant: Array
    active: Array
    count: Array
    iterations: int = 1
    finished: bool = False

    @property
    def own(self) -> tuple[Array, Array, int, int]:
        """The shard's edges, and the first of its vertices and the one behind the last, as a kernel takes them."""
        return *self.edges, self.first, self.last


class Components:
    """Weak components over ranges of vertices.

    Parameters
    ----------
    plan : Plan
        Its ranges are those of the vertices.
    directed : bool
        Whether an edge is stored at one end only: then every one of them must be looked at.
    """

    def __init__(self, plan: Plan, directed: bool) -> None:
        self.plan = plan
        self.directed = directed

    def load(self, shard: int, piece: Edges, device: devices.Device) -> Shard:
        """Return the shard with room for its forest, which a method's first kernel plants."""
        xp, n = device.xp, self.plan.n
        rounds = self.plan.method == "shiloach-vishkin"
        first, last = self.plan.ranges[shard]
        giant, active, count = xp.zeros((3, 1), np.int32)
        return Shard(
            device=device,
            kernels=device.kernels("components"),
            first=first,
            last=last,
            edges=Edges(device.asarray(piece.indptr), device.asarray(piece.indices)),
            parent=xp.empty(n, np.int32),
            other=xp.empty(n, np.int32) if rounds or len(self.plan.ranges) > 1 else None,
            marks=xp.empty(n, np.int32) if rounds else None,
            giant=giant,
            active=active,
            count=count,
        )

    def step(self, state: Shard, first: int, limit: int, comm: Communicator) -> int:
        """Hook some edges, or all; where a forest shall be known to the others too, join them."""
        if state.finished or not self.plan.n:
            return 0
        if self.plan.method == "sequential":
            state.kernels.unite_all(*state.own, state.parent)
            state.finished = True
        elif self.plan.method == "afforest":
            state.finished = self._afforest(state, first)
        else:
            state.finished = self._round(state, first + 1, comm)
        if state.finished or self.plan.method == "afforest":
            _join(state, comm)
        if state.finished:
            state.kernels.count_roots(state.first, state.last, state.parent, state.count)
        return 1

    def collect(self, state: Shard, comm: Communicator) -> dict[str, Array]:
        """Return the shard's part of the labels, and how many of its vertices are their component's smallest."""
        return {
            "labels": state.parent[state.first : state.last],
            "count": devices.to_host(state.count),
            "iterations": np.array([state.iterations]),
        }

    def _afforest(self, state: Shard, step: int) -> bool:
        """Link with the first neighbours in the first superstep, with the rest in the second; return if it is this."""
        k = state.kernels
        if step == 0:
            k.plant(*state.own, state.parent)
            k.compress(state.parent)
            k.sample(*state.own, state.parent)
            return False
        if self.directed:
            state.giant.fill(-1)  # none
        else:
            k.largest(state.parent, state.giant)
        k.link(*state.own, state.giant, state.parent)
        return True

    def _round(self, state: Shard, number: int, comm: Communicator) -> bool:
        """Run a round of Shiloach and Vishkin; return whether nothing happened anywhere."""
        s, k = state, state.kernels
        if number == 1:
            k.initialise(s.parent, s.marks)
        s.active.fill(0)
        k.shortcut_and_mark(s.parent, s.other, s.marks, number)
        k.hook(*s.own, s.parent, s.other, s.marks, number)
        k.hook_stagnant(*s.own, s.other, s.marks, number)
        k.shortcut_and_check(s.other, s.parent, s.marks, number, s.active)
        comm.allreduce(s.active, "max")
        s.iterations = number
        if int(s.active[0]):
            return False
        k.least(s.parent, s.other)
        k.rename(s.other, s.parent)
        return True


def _join(state: Shard, comm: Communicator) -> None:
    """Join the forests of all shards: then all have the same one, every vertex pointing to its root."""
    for root in range(comm.size):
        forest = state.parent if root == comm.rank else state.other
        comm.broadcast(forest, root, range(comm.size))
        if root != comm.rank:
            state.kernels.join(forest, state.parent)
    state.kernels.compress(state.parent)


class Strong:
    """Strong components of a directed graph by SciPy, on one core of a CPU."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def load(self, shard: int, piece: Edges, device: devices.Device) -> dict[str, Array]:
        """Return the state: the edges, and what is found in them."""
        n, indptr, indices = self.plan.n, *map(devices.to_host, piece)
        marks = sparse.csr_array((np.ones(len(indices), bool), indices, indptr), shape=(n, n), copy=True)
        marks.sum_duplicates()  # of repeated edges SciPy's search finds no end
        return {"marks": marks}

    def step(self, state: dict[str, Array], first: int, limit: int, comm: Communicator) -> int:
        """Find all components."""
        if "labels" in state:
            return 0
        count, found = sparse.csgraph.connected_components(state["marks"], connection="strong")
        # The vertex that a number comes first at is the smallest of its component.
        _, smallest = np.unique(found, return_index=True)
        state |= {"labels": smallest.astype(np.int32)[found], "count": np.array([count])}
        return 1

    def collect(self, state: dict[str, Array], comm: Communicator) -> dict[str, Array]:
        """Return the labels and their number."""
        return {"labels": state["labels"], "count": state["count"], "iterations": np.ones(1, int)}
