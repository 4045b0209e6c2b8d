"""mgraph: graph algorithms by one call, on a CPU, on one GPU, on all GPUs of a host, on a Dask cluster.

    >>> import mgraph
    >>> result = mgraph.apsp([[0, 3, 8], [2, 0, 5], [1, 4, 0]])
    >>> int(result.distances[0, 2])
    8

`mgraph.generate` generates graphs; `mgraph.cluster` connects to Dask. Importing mgraph loads neither Numba, nor Dask,
nor CuPy, nor SciPy: each is imported by the first call that needs it.
"""

import importlib
import logging
from typing import TYPE_CHECKING, Any

from . import datasets, errors, generate
from .algorithms.apsp.call import ApspResult, apsp
from .algorithms.apsp_batch.call import ApspBatchResult, apsp_batch
from .algorithms.bfs.call import BfsResult, bfs
from .algorithms.bfs.many import BfsManyResult, bfs_many
from .algorithms.closure.call import ClosureResult, transitive_closure
from .algorithms.components.call import ComponentsResult, connected_components
from .algorithms.distances.call import DistancesResult, distance_blocks, distances
from .algorithms.distances.measures import (
    average_distance,
    center,
    closeness,
    diameter,
    eccentricity,
    harmonic_closeness,
    periphery,
    radius,
)
from .algorithms.list_rank.call import ListRankResult, list_rank
from .algorithms.minimum_spanning_forest.call import SpanningForestResult, minimum_spanning_forest
from .algorithms.sssp.call import SsspResult, sssp
from .errors import (
    AmbiguousZerosError,
    CheckpointError,
    DeviceError,
    DistanceOverflowError,
    FormatError,
    InputError,
    MemoryLimitError,
    MgraphError,
    MissingFileError,
    MissingPackageError,
    OutputExistsError,
    RoundingError,
    SchedulerError,
    VerificationError,
    VersionError,
    WorkerLostError,
)
from .graph import Graph
from .hierarchy import Hierarchy, Measured, Paths
from .io import SparseIdsWarning, write
from .namesake import warn_of_neighbour
from .planner import plan
from .planning.devices import DeviceSpec
from .planning.plan import Plan
from .reading import read
from .results import Result
from .version import __version__ as __version__

__all__ = [
    "AmbiguousZerosError",
    "ApspBatchResult",
    "ApspResult",
    "BfsManyResult",
    "BfsResult",
    "CheckpointError",
    "ClosureResult",
    "ComponentsResult",
    "DeviceError",
    "DeviceSpec",
    "DistanceOverflowError",
    "DistancesResult",
    "DistributedGraph",
    "FormatError",
    "Graph",
    "Hierarchy",
    "InputError",
    "ListRankResult",
    "Measured",
    "MemoryLimitError",
    "MgraphError",
    "MissingFileError",
    "MissingPackageError",
    "NegativeCycleError",
    "OutputExistsError",
    "Paths",
    "Plan",
    "Result",
    "RoundingError",
    "SchedulerError",
    "SpanningForestResult",
    "SparseIdsWarning",
    "SsspResult",
    "VerificationError",
    "VersionError",
    "WorkerLostError",
    "apsp",
    "apsp_batch",
    "average_distance",
    "bfs",
    "bfs_many",
    "center",
    "closeness",
    "connected_components",
    "datasets",
    "diameter",
    "distance_blocks",
    "distances",
    "eccentricity",
    "generate",
    "harmonic_closeness",
    "list_rank",
    "minimum_spanning_forest",
    "periphery",
    "plan",
    "radius",
    "read",
    "resident",
    "sssp",
    "transitive_closure",
    "write",
]

warn_of_neighbour()

# Silent unless the program that uses mgraph configures logging.
logging.getLogger(__name__).addHandler(logging.NullHandler())

if TYPE_CHECKING:
    from . import cluster as cluster
    from . import csgraph as csgraph
    from .cluster import DistributedGraph as DistributedGraph
    from .cluster import resident as resident
    from .errors import NegativeCycleError as NegativeCycleError
else:

    def __getattr__(name: str) -> Any:
        if name == "cluster":  # which imports Dask
            return importlib.import_module(".cluster", __name__)
        if name == "csgraph":
            return importlib.import_module(".csgraph", __name__)
        if name in ("DistributedGraph", "resident"):  # which import Dask, too
            return getattr(importlib.import_module(".cluster", __name__), name)
        if name == "NegativeCycleError":  # which imports SciPy
            return errors.NegativeCycleError
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), "DistributedGraph", "NegativeCycleError", "cluster", "csgraph", "resident"})
