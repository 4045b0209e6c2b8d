"""mgraph: graph algorithms by one call, on a CPU, on one GPU, on all GPUs of a host, on a Dask cluster.

    >>> import mgraph
    >>> result = mgraph.apsp([[0, 3, 8], [2, 0, 5], [1, 4, 0]])
    >>> int(result.distances[0, 2])
    8

`mgraph.generate` generates graphs; `mgraph.cluster` connects to Dask. Importing mgraph loads neither Numba, nor Dask,
nor CuPy, nor SciPy: each is imported by the first call that needs it.
"""

import importlib
from typing import TYPE_CHECKING, Any

from . import datasets, generate
from .algorithms import calls as _calls
from .algorithms.calls import *
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
    NegativeCycleError,
    OutputExistsError,
    RoundingError,
    SchedulerError,
    VerificationError,
    VersionError,
    WorkerLostError,
)
from .graph import Graph
from .hierarchy import Flows, Hierarchy, Measured, Paths, Routes
from .io import SparseIdsWarning, write
from .namesake import warn_of_neighbour
from .planner import plan
from .planning.devices import DeviceSpec
from .planning.plan import Plan
from .reading import read
from .results import Result
from .version import __version__ as __version__
from .vocabulary import CALLS as _calls_elsewhere
from .vocabulary import advice as _advice

__all__ = [
    "AmbiguousZerosError",
    "CheckpointError",
    "DeviceError",
    "DeviceSpec",
    "DistanceOverflowError",
    "DistributedGraph",
    "Flows",
    "FormatError",
    "Graph",
    "Hierarchy",
    "InputError",
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
    "Routes",
    "SchedulerError",
    "SparseIdsWarning",
    "VerificationError",
    "VersionError",
    "WorkerLostError",
    "datasets",
    "generate",
    "plan",
    "read",
    "resident",
    "write",
]
__all__ = sorted(__all__ + _calls.NAMES)

warn_of_neighbour()


if TYPE_CHECKING:
    from . import cluster as cluster
    from . import csgraph as csgraph
    from . import roads as roads
    from .cluster import DistributedGraph as DistributedGraph
    from .cluster import resident as resident
else:

    def __getattr__(name: str) -> Any:
        if name == "cluster":  # which imports Dask
            return importlib.import_module(".cluster", __name__)
        if name in ("csgraph", "roads"):
            return importlib.import_module(f".{name}", __name__)
        if name in ("DistributedGraph", "resident"):  # which import Dask, too
            return getattr(importlib.import_module(".cluster", __name__), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{_advice(_calls_elsewhere, name)}")

    def __dir__() -> list[str]:
        """Return what the reference describes."""
        special = (name for name in globals() if name.startswith("__"))
        return sorted({*__all__, *special, "cluster", "csgraph", "device", "planner", "roads"})
