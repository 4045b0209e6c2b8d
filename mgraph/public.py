"""The public names of `mgraph`, but for those that import Dask: `mgraph` imports them with the first that is used."""

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
from .planner import plan
from .planning.devices import DeviceSpec
from .planning.plan import Plan
from .reading import read
from .results import Result

__all__ = [
    "AmbiguousZerosError",
    "CheckpointError",
    "DeviceError",
    "DeviceSpec",
    "DistanceOverflowError",
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
    "write",
]
__all__ = sorted(__all__ + _calls.NAMES)
