"""Running programs on Dask workers, one shard each: Dask controls, NCCL or messages carry the data."""

from .building import built, computed, weighed
from .connect import connect, local_client
from .driver import Cluster, await_workers, joined_within
from .graph import DistributedGraph
from .matrix import DistributedMatrix
from .names import published, resident, unpublish
from .network import Network, check_network
from .reading import read
from .resident import beside
from .stored import near_workers
from .vector import DistributedVector
from .watch import configured_retries

__all__ = [
    "Cluster",
    "DistributedGraph",
    "DistributedMatrix",
    "DistributedVector",
    "Network",
    "await_workers",
    "beside",
    "built",
    "check_network",
    "computed",
    "configured_retries",
    "connect",
    "joined_within",
    "local_client",
    "near_workers",
    "published",
    "read",
    "resident",
    "unpublish",
    "weighed",
]
