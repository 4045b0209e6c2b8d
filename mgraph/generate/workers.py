"""Generating graphs on workers: the way to Dask, which is imported only when it is needed."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import Argument, Given, InputError
from ..graph.source import EdgeSource
from ..graph.vertex_range import Weigh
from ..planning.devices import DeviceSpec
from ..planning.plan import Plan
from ..runtime.program import Program

if TYPE_CHECKING:
    from ..runtime.dask import DistributedGraph, DistributedVector


def built(source: EdgeSource, client: Any, device: str | None, workers: Any, made: str) -> "DistributedGraph":
    """Return the graph of a source of edges, `made` by this line, on the workers of a client or on some of them."""
    _check_client(client)
    from ..runtime import dask

    return dask.DistributedGraph(dask.built(source, dask.Cluster(client, device, workers=workers), made))


def weighed(graph: "DistributedGraph", weights_of: Weigh, line: Callable[[str], str]) -> "DistributedGraph":
    """Return a graph with the weights of a function of the edges' ends; `line` makes it of the line of the old one."""
    from ..runtime import dask

    return dask.DistributedGraph(dask.weighed(graph.placement, weights_of, line))


def computed(
    name: str,
    planned: Callable[[tuple[DeviceSpec, ...]], tuple[Program, Plan]],
    client: Any,
    device: str | None,
    workers: Any,
) -> "DistributedVector":
    """Return a vector that a program computes on the workers of a client, or on some of them."""
    _check_client(client)
    from ..runtime import dask

    return dask.computed(name, planned, dask.Cluster(client, device, workers=workers))


def _check_client(client: Any) -> None:
    """Raise InputError if workers are given without a client."""
    if client is None:
        raise InputError(Argument("workers"), " are those of a client: give ", Given("client"), " too, or leave it out")
