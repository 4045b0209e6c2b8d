"""The entries of the algorithms, from which the planner, the command line, the benchmarks and the tests are made."""

from . import calls as _calls  # noqa: F401 - imports every algorithm, which declares its entries
from .entry import Algorithm, Planned, all_declared
from .routes.entry import PLANNED as _OF_HIERARCHIES

#: The entries by their names.
ALGORITHMS: dict[str, Algorithm] = all_declared()

#: All that has plans, by its name: the algorithms, and the calls that take a hierarchy.
PLANNED: dict[str, Algorithm | Planned] = dict(sorted((ALGORITHMS | _OF_HIERARCHIES).items()))
