"""Generating graphs on workers: the way to Dask, which is imported only when it is needed."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..arguments import check_without_client
from ..graph.source import EdgeSource
from ..graph.vertex_range import Weigh
from ..planning.devices import DeviceSpec
from ..planning.plan import Plan
from ..runtime.program import Program

if TYPE_CHECKING:
    from ..runtime.dask import Cluster, DistributedGraph, DistributedVector


def cluster_of(
    client: Any, device: str | None, workers: Any, worker_timeout: Any, wait_for_workers: Any
) -> "Cluster | None":
    """Return the workers of a client, or some of them; None if there is no client, nor arguments about its workers."""
    if client is None:
        check_without_client(workers=workers, worker_timeout=worker_timeout, wait_for_workers=wait_for_workers)
        return None
    from ..runtime import dask

    return dask.Cluster(client, device, worker_timeout, workers, wait_for_workers=wait_for_workers)


def built(source: EdgeSource, cluster: "Cluster", made: str) -> "DistributedGraph":
    """Return the graph of a source of edges, `made` by this line, on workers."""
    from ..runtime import dask

    return dask.DistributedGraph(dask.built(source, cluster, made))


def weighed(graph: "DistributedGraph", weights_of: Weigh, line: Callable[[str], str]) -> "DistributedGraph":
    """Return a graph with the weights of a function of the edges' ends; `line` makes it of the line of the old one."""
    from ..runtime import dask

    return dask.weighed(graph, weights_of, line)


def computed(
    name: str, planned: Callable[[tuple[DeviceSpec, ...]], tuple[Program, Plan]], cluster: "Cluster"
) -> "DistributedVector":
    """Return a vector that a program computes on workers."""
    from ..runtime import dask

    return dask.computed(name, planned, cluster)
