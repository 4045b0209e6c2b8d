"""The entries of the algorithms, from which the planner, the command line, the benchmarks and the tests are made."""

from . import calls as _calls  # noqa: F401 - imports every algorithm, which declares its entries
from .entry import Algorithm, all_declared

#: The entries by their names.
ALGORITHMS: dict[str, Algorithm] = all_declared()
