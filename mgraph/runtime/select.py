"""Selection of the executor by a call's arguments, and checks of the arguments that all calls share."""

import itertools
import logging
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .. import device as devices
from .. import lazy
from ..arguments import check_without_client, checked_bytes, checked_integer
from ..errors import ArgumentValue, InputError
from ..graph import Graph, PlacedGraph, StoredMatrix
from ..graph.vertex_range import Part, incoming, range_of
from ..planning.cut import Placed
from ..planning.devices import DeviceSpec, holding
from ..planning.plan import Plan
from .checkpoints import Checkpoints, checked_checkpoints
from .direct import Direct
from .program import Executor
from .run import CHECKPOINTING, Run

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


def executor(run: Run, home: str, *, small: bool = False) -> Executor:
    """Return where to run: on a device of this process, or on the workers of a client.

    Parameters
    ----------
    run : Run
        What the caller says. Without a device, the input's own if that is a GPU, else a GPU if there is one.
    home : str
        The name of the device on which the input lives.
    small : bool
        Whether the call is small: then what the host had free a moment ago is good enough.
    """
    if run.get("client") is not None:
        from .dask import visiting

        where = run.get("device"), run.get("worker_timeout"), run.get("wait_for_workers")
        return visiting(run["client"], *where)
    if "worker_timeout" in run or "wait_for_workers" in run:
        check_without_client(worker_timeout=run.get("worker_timeout"), wait_for_workers=run.get("wait_for_workers"))
    device = run.get("device")
    return Direct(devices.find(home if device is None and home != "cpu" else device), small)


def near_workers(matrix: Any, run: Run) -> tuple[Any, Executor | None]:
    """Return a call's input so that workers read it without the client, and their executor.

    These are a matrix of Dask, in a file, or on workers, or a graph made of one. A matrix on workers is solved there,
    unless the call names a device or another client. The input is returned as it is, and None, where nothing of this
    holds.
    """
    source = matrix.dense if isinstance(matrix, Graph) else matrix
    device, client, missing = run.get("device"), run.get("client"), None
    if isinstance(source, StoredMatrix):
        source, missing = source.source, source.missing
    if client is None and device is None and hasattr(source, "to_dask_array"):
        client = getattr(source, "client", None)
    in_memory = hasattr(source, "__array_struct__") or devices.of(source).kind == "cuda"
    if client is None or not hasattr(source, "dtype") or (in_memory and not isinstance(source, np.memmap)):
        return matrix, None
    from .dask import Cluster, on_workers
    from .dask import near_workers as near

    timeout, wait = run.get("worker_timeout"), run.get("wait_for_workers")
    found = near(source, Cluster(client, device, timeout, wait_for_workers=wait))
    if found is None:
        return matrix, None
    # Its memory is what the blocks of the matrix have left.
    runner = on_workers(Cluster(client, device, timeout, wait_for_workers=wait), device)
    if not isinstance(matrix, Graph):
        return found, runner
    dense = found.filled(missing)
    return Graph(
        matrix.n, dense=dense, directed=matrix.directed, ids=matrix.ids, nonnegative=matrix.nonnegative
    ), runner


def runner_of(graph: Graph | PlacedGraph, run: Run, rows: int = 0) -> Executor:
    """Return where to run a call on a graph: where it lies if that is on workers, else as `executor` chooses.

    `rows` is the number of the call's sources, if it computes a row for each.
    """
    if not isinstance(graph, PlacedGraph):
        if run.get("client") is not None:
            _hint(graph)
        small = is_small(graph.n, graph.m if graph.dense is None else 0, rows)
        return executor(run, graph.device, small=small)
    _check_left_out(graph, run)
    found: Executor = graph.executor()
    return found


def runner_of_vector(name: str, vector: Any, run: Run) -> Executor:
    """Return where to run a call on a vector, which programs take by name: where it lies, if that is on workers."""
    if not placed_vector(vector):
        return executor(run, devices.of(vector).name, small=is_small(1, 0, len(vector)))
    _check_left_out(vector, run)
    from .dask import beside

    return beside(name, vector)


def placed_vector(vector: Any) -> bool:
    """Return whether something is a `mgraph.cluster.DistributedVector`, without importing Dask."""
    return hasattr(vector, "place") and hasattr(vector, "to_dask_array")


def _check_left_out(placed: Any, run: Run) -> None:
    """Raise InputError if a call on what lies on workers says where to run."""
    for name in ("device", "client", "worker_timeout", "wait_for_workers"):
        if run.get(name) is not None:
            raise InputError(f"{placed!r} runs on the workers that hold it: leave out ", ArgumentValue(name))


def _hint(graph: Graph) -> None:
    """Log from the second call on that a graph is sent to the workers again and again."""
    calls = graph.kept("calls with client=", devices.find("cpu"), lambda: itertools.count(1))
    if next(calls) == REPEATED:
        _log.info("%r is sent to the workers by every call: mgraph.DistributedGraph.from_graph sends it once", graph)


def at_home(graph: Graph | PlacedGraph, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return results by name where the graph is; those that stay on workers as they are."""
    if isinstance(graph, PlacedGraph):
        return dict(arrays)
    for array in arrays.values():
        if hasattr(array, "to_dask_array"):
            return dict(arrays)
    return devices.all_on(devices.find(graph.device), arrays)


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
    return tuple(map(holding, runner.specs, itertools.repeat(held)))


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


def checkpoints_of(run: Run) -> Checkpoints | None:
    """Return the checkpoints that a call is to write, or raise InputError; None for none."""
    if CHECKPOINTING.isdisjoint(run):
        return None
    return checked_checkpoints(run.get("checkpoint"), run.get("checkpoint_every"), run.get("resume", False))


def checked_span(run: Run) -> int | None:
    """Return a call's span, or raise InputError if it or ``progress`` is invalid."""
    span, progress = run.get("span"), run.get("progress")
    if progress is not None and progress is not True and not callable(progress):
        expected = "True, which shows a bar, or a function of the supersteps done and their total"
        raise InputError(argument="progress", value=progress, expected=expected)
    if span is None:
        return None
    return min(checked_integer("span", span, 1), 2**31 - 1)


def checked_memory_limit(run: Run, runner: Executor) -> int | None:
    """Return the most bytes that a call may allocate on a device, or raise InputError if it is not a size of memory.

    On workers, that of Dask's configuration where the caller gives none.
    """
    memory_limit = run.get("memory_limit")
    if memory_limit is not None:
        return checked_bytes("memory_limit", memory_limit)
    given = None if runner.place is not None else lazy.dask().config.get("mgraph.memory-limit", None)
    return None if given is None else checked_bytes("mgraph.memory-limit of Dask's configuration", given)
