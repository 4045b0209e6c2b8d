"""Dask clusters: connecting to one, starting one on this machine, and the matrices that stay on its workers."""

from .runtime.dask import Cluster, DistributedMatrix, connect, local_client

__all__ = ["Cluster", "DistributedMatrix", "connect", "local_client"]
