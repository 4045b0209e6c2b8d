"""Running programs on Dask workers, one shard each: Dask controls, NCCL or messages carry the data."""

from .building import built, computed
from .connect import connect, local_client
from .driver import Visiting, on_workers, visiting
from .graph import DistributedGraph, weighed
from .matrix import DistributedMatrix
from .names import published, resident, unpublish
from .network import Network, check_network
from .reading import read
from .remade import groups_of, leave_out, restorable, restore
from .resident import beside
from .stored import near_workers
from .survey import Cluster, await_workers, returned
from .vector import DistributedVector
from .watch import configured_retries, recovery_wait, retries_of

__all__ = [
    "Cluster",
    "DistributedGraph",
    "DistributedMatrix",
    "DistributedVector",
    "Network",
    "Visiting",
    "await_workers",
    "beside",
    "built",
    "check_network",
    "computed",
    "configured_retries",
    "connect",
    "groups_of",
    "leave_out",
    "local_client",
    "near_workers",
    "on_workers",
    "published",
    "read",
    "recovery_wait",
    "resident",
    "restorable",
    "restore",
    "retries_of",
    "returned",
    "unpublish",
    "visiting",
    "weighed",
]
