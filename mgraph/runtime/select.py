"""Selection of the executor by a call's arguments, and checks of the arguments that all calls share."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .. import device as devices
from ..arguments import checked_bytes, checked_integer
from ..errors import Argument, Given, InputError
from ..graph import Graph
from ..graph.vertex_range import Part, incoming, range_of
from ..planning.devices import DeviceSpec
from ..planning.plan import Plan
from .direct import Direct
from .program import Executor


def executor(device: str | None, client: Any, home: str, worker_timeout: Any = None) -> Executor:
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
    """
    if client is not None:
        from .dask import Cluster

        return Cluster(client, device, worker_timeout)
    if worker_timeout is not None:
        raise InputError(Argument("worker_timeout"), " is for workers: give ", Given("client"), " too, or leave it out")
    return Direct(devices.find(home if device is None and home != "cpu" else device))


def specs_holding(runner: Executor, graph: Graph, *kept: str) -> tuple[DeviceSpec, ...]:
    """Return an executor's devices; for a device in this process, with the bytes that it already holds of the graph.

    These are the edges and the arrays that the graph keeps under the names `kept`, which a plan's peak includes.
    """
    if runner.place is None:
        return runner.specs
    held = graph.held(runner.place, "csr.indptr", "csr.indices", "csc.indptr", "csc.indices", *kept)
    return tuple(replace(spec, held=held) for spec in runner.specs)


def offsets_for(runner: Executor, graph: Graph) -> np.ndarray | None:
    """Return where each vertex's incoming edges begin, by which several shards are balanced; None for one shard."""
    return incoming(graph) if len(runner.specs) > 1 else None


def parts(runner: Executor, graph: Graph, plan: Plan) -> Callable[[int], Part]:
    """Return a function of the shard that returns its part of the graph."""

    def part(shard: int) -> Part:
        return range_of(graph, *plan.ranges[shard]) if runner.place is None else graph

    return part


def checked_span(span: Any, progress: Any) -> int | None:
    """Return a user's span, or raise InputError if it or `progress` is invalid."""
    if progress is not None and not callable(progress):
        raise InputError(
            argument="progress", value=progress, expected="a function of the supersteps done and their total"
        )
    if span is None:
        return None
    return min(checked_integer("span", span, 1), 2**31 - 1)


def checked_memory_limit(memory_limit: Any) -> int | None:
    """Return a user's limit in bytes, or raise InputError if it is not a size of memory."""
    return None if memory_limit is None else checked_bytes("memory_limit", memory_limit)
