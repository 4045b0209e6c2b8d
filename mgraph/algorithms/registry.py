"""The entries of the algorithms, from which the planner, the command line, the benchmarks and the tests are made."""

import importlib

from .calls import PACKAGES
from .entry import Algorithm, Planned, all_declared
from .routes.entry import PLANNED as _OF_HIERARCHIES

for _package in PACKAGES:
    importlib.import_module(f".{_package}", __package__)  # which declares its entries

#: The entries by their names.
ALGORITHMS: dict[str, Algorithm] = all_declared()

#: All that has plans, by its name: the algorithms, and the calls that take a hierarchy.
PLANNED: dict[str, Algorithm | Planned] = dict(sorted((ALGORITHMS | _OF_HIERARCHIES).items()))
