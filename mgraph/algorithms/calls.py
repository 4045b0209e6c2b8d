"""The algorithms, a line each: the public calls and their results.

To add an algorithm, write a package for it, whose ``__all__`` has what users call and whose `entry` declares what the
planner, the command line, the benchmarks and the tests are made from. Name the package here, and what users call in
`mgraph.public`.
"""

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

#: The names of the calls and the results.
NAMES = sorted(name for name in globals() if not name.startswith("_"))
