"""Running programs on Dask workers, one shard each: Dask controls, NCCL or messages carry the data."""

from .connect import connect, local_client
from .driver import Cluster
from .matrix import DistributedMatrix

__all__ = ["Cluster", "DistributedMatrix", "connect", "local_client"]
