"""Dask clusters: connecting to one, starting one on this machine, its network, and what stays on its workers."""

from .runtime.dask import (
    Cluster,
    DistributedGraph,
    DistributedMatrix,
    DistributedVector,
    Network,
    check_network,
    connect,
    local_client,
    published,
    resident,
    unpublish,
)

__all__ = [
    "Cluster",
    "DistributedGraph",
    "DistributedMatrix",
    "DistributedVector",
    "Network",
    "check_network",
    "connect",
    "local_client",
    "published",
    "resident",
    "unpublish",
]
