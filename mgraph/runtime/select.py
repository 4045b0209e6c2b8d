"""Selection of the executor by a call's arguments, and checks of the arguments that all calls share."""

import itertools
import logging
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .. import device as devices
from .. import lazy
from ..arguments import check_without_client, checked_bytes, checked_integer
from ..errors import Given, InputError
from ..graph import Graph, PlacedGraph, StoredMatrix
from ..graph.vertex_range import Part, incoming, range_of
from ..planning.cut import Placed
from ..planning.devices import DeviceSpec, holding
from ..planning.plan import Plan
from .direct import Direct
from .program import Executor

_log = logging.getLogger(__name__)

#: The call with client= on one graph at which a hint is logged.
REPEATED = 2


#: Elements of the largest array of a call that is small.
SMALL_CALL_ELEMENTS = 1 << 18


def is_small(n: int, m: int, rows: int = 0) -> bool:
    """Return whether a call needs so little memory that it hardly matters what is free.

    It reads n vertices and m edges, and computes n numbers for each of them, or for each of `rows` sources.
    """
    return m <= SMALL_CALL_ELEMENTS and n * max(n, rows) <= SMALL_CALL_ELEMENTS


def executor(
    device: str | None,
    client: Any,
    home: str,
    worker_timeout: Any = None,
    wait_for_workers: Any = None,
    *,
    small: bool = False,
) -> Executor:
    """Return where to run: on `device`, or on the workers of `client`.

    Parameters
    ----------
    device : str or None
        A device's name; None takes the input's own device if that is a GPU, else a GPU if there is one.
    client : distributed.Client or None
        With a client, the kind of device that its workers use.
    home : str
        The name of the device on which the input lives.
    worker_timeout : float or str, optional
        Seconds that a worker of `client` may be silent.
    wait_for_workers : int, optional
        Number of workers of `client` to wait for.
    small : bool
        Whether the call is small: then what the host had free a moment ago is good enough.
    """
    if client is not None:
        from .dask import Cluster

        return Cluster(client, device, worker_timeout, wait_for_workers=wait_for_workers)
    check_without_client(worker_timeout=worker_timeout, wait_for_workers=wait_for_workers)
    return Direct(devices.find(home if device is None and home != "cpu" else device), small)


def near_workers(
    matrix: Any, device: str | None, client: Any, worker_timeout: Any, wait_for_workers: Any
) -> tuple[Any, Executor | None]:
    """Return a call's input so that workers read it without the client, and their executor.

    These are a matrix of Dask, in a file, or on workers, or a graph made of one. A matrix on workers is solved there,
    unless the call names a device or another client. The input is returned as it is, and None, where nothing of this
    holds.
    """
    source = matrix.dense if isinstance(matrix, Graph) else matrix
    missing = None
    if isinstance(source, StoredMatrix):
        source, missing = source.source, source.missing
    if client is None and device is None and hasattr(source, "to_dask_array"):
        client = getattr(source, "client", None)
    in_memory = hasattr(source, "__array_struct__") or devices.of(source).kind == "cuda"
    if client is None or not hasattr(source, "dtype") or (in_memory and not isinstance(source, np.memmap)):
        return matrix, None
    from .dask import Cluster
    from .dask import near_workers as near

    found = near(source, Cluster(client, device, worker_timeout, wait_for_workers=wait_for_workers))
    if found is None:
        return matrix, None
    runner = Cluster(client, device, worker_timeout)  # whose memory is what the blocks of the matrix have left
    if not isinstance(matrix, Graph):
        return found, runner
    dense = found.filled(missing)
    return Graph(
        matrix.n, dense=dense, directed=matrix.directed, ids=matrix.ids, nonnegative=matrix.nonnegative
    ), runner


def runner_of(
    graph: Graph | PlacedGraph,
    device: str | None,
    client: Any,
    worker_timeout: Any,
    wait_for_workers: Any,
    rows: int = 0,
) -> Executor:
    """Return where to run a call on a graph: where it lies if that is on workers, else as `executor` chooses.

    `rows` is the number of the call's sources, if it computes a row for each.
    """
    if not isinstance(graph, PlacedGraph):
        if client is not None:
            _hint(graph)
        small = is_small(graph.n, graph.m if graph.dense is None else 0, rows)
        return executor(device, client, graph.device, worker_timeout, wait_for_workers, small=small)
    _check_left_out(graph, device, client, worker_timeout, wait_for_workers)
    found: Executor = graph.executor()
    return found


def runner_of_vector(
    name: str, vector: Any, device: str | None, client: Any, worker_timeout: Any, wait_for_workers: Any
) -> Executor:
    """Return where to run a call on a vector, which programs take by name: where it lies, if that is on workers."""
    if not placed_vector(vector):
        home, small = devices.of(vector).name, is_small(1, 0, len(vector))
        return executor(device, client, home, worker_timeout, wait_for_workers, small=small)
    _check_left_out(vector, device, client, worker_timeout, wait_for_workers)
    from .dask import beside

    return beside(name, vector)


def placed_vector(vector: Any) -> bool:
    """Return whether something is a `mgraph.cluster.DistributedVector`, without importing Dask."""
    return hasattr(vector, "place") and hasattr(vector, "to_dask_array")


def _check_left_out(placed: Any, device: Any, client: Any, worker_timeout: Any, wait_for_workers: Any) -> None:
    """Raise InputError if a call on what lies on workers says where to run."""
    given = {"device": device, "client": client, "worker_timeout": worker_timeout, "wait_for_workers": wait_for_workers}
    for name, value in given.items():
        if value is not None:
            raise InputError(f"{placed!r} runs on the workers that hold it: leave out ", Given(name))


def _hint(graph: Graph) -> None:
    """Log from the second call on that a graph is sent to the workers again and again."""
    calls = graph.kept("calls with client=", devices.find("cpu"), lambda: itertools.count(1))
    if next(calls) == REPEATED:
        _log.info("%r is sent to the workers by every call: mgraph.DistributedGraph.from_graph sends it once", graph)


def at_home(graph: Graph | PlacedGraph, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return results by name where the graph is; those that stay on workers as they are."""
    return dict(arrays) if isinstance(graph, PlacedGraph) else devices.all_on(devices.find(graph.device), arrays)


def specs_holding(
    runner: Executor, graph: Graph | PlacedGraph, *kept: str, orders: tuple[str, ...] = ("csc", "csr")
) -> tuple[DeviceSpec, ...]:
    """Return an executor's devices with the bytes that they already hold of the graph.

    These are the edges and the arrays that the graph keeps under the names `kept`, which a plan's peak includes. Of a
    graph on workers they are the edges in some `orders`, as those in another one are no part of the peak.
    """
    if isinstance(graph, PlacedGraph):
        sizes = graph.held((*orders, *kept))
        return tuple(map(holding, runner.specs, sizes))
    if runner.place is None:
        return runner.specs
    held = graph.held(runner.place, "csr.indptr", "csr.indices", "csc.indptr", "csc.indices", *kept)
    return tuple([holding(spec, held) for spec in runner.specs])


def cut_of(runner: Executor, graph: Graph | PlacedGraph) -> np.ndarray | Placed | None:
    """Return how a graph was cut, or where each vertex's incoming edges begin, to balance them; None for one shard."""
    if isinstance(graph, PlacedGraph):
        placed: Placed = graph.placed
        return placed
    return incoming(graph) if len(runner.specs) > 1 else None


def parts(
    runner: Executor, graph: Graph | PlacedGraph, plan: Plan, *, weighted: bool = True
) -> Callable[[int], Part | None]:
    """Return a function of the shard that returns its part of the graph; None where it lies on its worker.

    Workers are sent the weights only for programs that read them: `weighted`.
    """

    def part(shard: int) -> Part | None:
        if isinstance(graph, PlacedGraph):
            return None
        if runner.place is not None:
            return graph
        found = range_of(graph, *plan.ranges[shard])
        return found if weighted else found.with_weights(None)

    return part


def checked_span(span: Any, progress: Any) -> int | None:
    """Return a user's span, or raise InputError if it or `progress` is invalid."""
    if progress is not None and progress is not True and not callable(progress):
        expected = "True, which shows a bar, or a function of the supersteps done and their total"
        raise InputError(argument="progress", value=progress, expected=expected)
    if span is None:
        return None
    return min(checked_integer("span", span, 1), 2**31 - 1)


def checked_memory_limit(memory_limit: Any, runner: Executor) -> int | None:
    """Return the most bytes that a call may allocate on a device, or raise InputError if it is not a size of memory.

    On workers, that of Dask's configuration where the caller gives none.
    """
    if memory_limit is not None:
        return checked_bytes("memory_limit", memory_limit)
    given = None if runner.place is not None else lazy.dask().config.get("mgraph.memory-limit", None)
    return None if given is None else checked_bytes("mgraph.memory-limit of Dask's configuration", given)
