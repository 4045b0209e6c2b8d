"""The public names of `mgraph`, and the modules that have them.

`mgraph` imports a module with the first of its names that is used, so that one algorithm is used without the others.
"""

from .algorithms.calls import PACKAGES

TYPE_CHECKING = False

if TYPE_CHECKING:
    from . import datasets as datasets
    from . import generate as generate
    from .algorithms.calls import *
    from .cluster import DistributedGraph as DistributedGraph
    from .cluster import resident as resident
    from .errors import AmbiguousZerosError as AmbiguousZerosError
    from .errors import CheckpointError as CheckpointError
    from .errors import DeviceError as DeviceError
    from .errors import DistanceOverflowError as DistanceOverflowError
    from .errors import FormatError as FormatError
    from .errors import InputError as InputError
    from .errors import MemoryLimitError as MemoryLimitError
    from .errors import MgraphError as MgraphError
    from .errors import MissingFileError as MissingFileError
    from .errors import MissingPackageError as MissingPackageError
    from .errors import NegativeCycleError as NegativeCycleError
    from .errors import OutputExistsError as OutputExistsError
    from .errors import RoundingError as RoundingError
    from .errors import SchedulerError as SchedulerError
    from .errors import VerificationError as VerificationError
    from .errors import VersionError as VersionError
    from .errors import WorkerLostError as WorkerLostError
    from .graph import Graph as Graph
    from .hierarchy import Flows as Flows
    from .hierarchy import Hierarchy as Hierarchy
    from .hierarchy import Measured as Measured
    from .hierarchy import Paths as Paths
    from .hierarchy import Routes as Routes
    from .io import SparseIdsWarning as SparseIdsWarning
    from .io import write as write
    from .planner import plan as plan
    from .planning.devices import DeviceSpec as DeviceSpec
    from .planning.plan import Plan as Plan
    from .reading import read as read
    from .results import Result as Result

#: The names by their modules.
_NAMES = {
    **{f".algorithms.{package}": names for package, names in PACKAGES.items()},
    ".cluster": "DistributedGraph resident",
    ".errors": "AmbiguousZerosError CheckpointError DeviceError DistanceOverflowError FormatError InputError "
    "MemoryLimitError MgraphError MissingFileError MissingPackageError NegativeCycleError OutputExistsError "
    "RoundingError SchedulerError VerificationError VersionError WorkerLostError",
    ".graph": "Graph",
    ".hierarchy": "Flows Hierarchy Measured Paths Routes",
    ".io": "SparseIdsWarning write",
    ".planner": "plan",
    ".planning.devices": "DeviceSpec",
    ".planning.plan": "Plan",
    ".reading": "read",
    ".results": "Result",
}

#: The module of each name.
MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}
