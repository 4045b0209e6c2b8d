"""The public names of `mgraph`, and the modules that have them.

`mgraph` imports a module with the first of its names that is used, so that one algorithm is used without the others.
"""

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

#: The names by their modules; a package of an algorithm gives all of its ``__all__``.
_NAMES = {
    ".algorithms.apsp": "ApspResult apsp",
    ".algorithms.apsp_batch": "ApspBatchResult apsp_batch",
    ".algorithms.betweenness": "BetweennessResult EdgeBetweennessResult betweenness",
    ".algorithms.bfs": "BfsManyResult BfsResult bfs bfs_many",
    ".algorithms.closure": "ClosureResult transitive_closure",
    ".algorithms.components": "ComponentsResult connected_components",
    ".algorithms.core_number": "CoreNumberResult core_number",
    ".algorithms.distances": "DistanceHistogram DistancesResult average_distance center closeness diameter "
    "distance_blocks distance_histogram distances eccentricity harmonic_closeness periphery radius",
    ".algorithms.list_rank": "ListRankResult list_rank",
    ".algorithms.minimum_spanning_forest": "SpanningForestResult minimum_spanning_forest",
    ".algorithms.path_counts": "PathCountsResult path_counts",
    ".algorithms.routes": "flows pairs",
    ".algorithms.sssp": "SsspResult sssp",
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
