"""The algorithms, a line each: their packages, and the public calls and results of each.

To add an algorithm, write a package for it, whose ``__all__`` has what users call and whose `entry` declares what the
planner, the command line, the benchmarks and the tests are made from. Name it here, in the table and for type checkers.
"""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from .apsp import *
    from .apsp_batch import *
    from .betweenness import *
    from .bfs import *
    from .closure import *
    from .components import *
    from .core_number import *
    from .distances import *
    from .list_rank import *
    from .minimum_spanning_forest import *
    from .path_counts import *
    from .routes import *
    from .sssp import *

#: What each package gives: all of its ``__all__``, so that none is imported before one of its names is used.
PACKAGES = {
    "apsp": "ApspResult apsp",
    "apsp_batch": "ApspBatchResult apsp_batch",
    "betweenness": "BetweennessResult EdgeBetweennessResult betweenness",
    "bfs": "BfsManyResult BfsResult bfs bfs_many",
    "closure": "ClosureResult transitive_closure",
    "components": "ComponentsResult connected_components",
    "core_number": "CoreNumberResult core_number",
    "distances": "DistanceHistogram DistancesResult average_distance center closeness diameter distance_blocks "
    "distance_histogram distances eccentricity harmonic_closeness periphery radius",
    "list_rank": "ListRankResult list_rank",
    "minimum_spanning_forest": "SpanningForestResult minimum_spanning_forest",
    "path_counts": "PathCountsResult path_counts",
    "routes": "flows pairs",
    "sssp": "SsspResult sssp",
}

#: The names of the calls and the results.
NAMES = sorted(name for names in PACKAGES.values() for name in names.split())
