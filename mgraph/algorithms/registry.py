"""The algorithms, an entry each, from which the planner, the command line, the benchmarks and the tests are made.

To add an algorithm, write a package for it whose `entry` describes it, and name that entry here.
"""

from .apsp.entry import APSP
from .bfs.entry import BFS, BFS_MANY
from .closure.entry import CLOSURE
from .components.entry import COMPONENTS
from .distances.entry import DISTANCES
from .entry import Algorithm
from .list_rank.entry import LIST_RANK
from .minimum_spanning_forest.entry import MINIMUM_SPANNING_FOREST
from .sssp.entry import SSSP

#: The entries by their names.
ALGORITHMS: dict[str, Algorithm] = {
    entry.name: entry
    for entry in (
        APSP,
        BFS,
        BFS_MANY,
        CLOSURE,
        COMPONENTS,
        DISTANCES,
        LIST_RANK,
        MINIMUM_SPANNING_FOREST,
        SSSP,
    )
}
