"""mgraph: graph algorithms by one call, on a CPU, on one GPU, on all GPUs of a host, on a Dask cluster.

    >>> import mgraph
    >>> result = mgraph.apsp([[0, 3, 8], [2, 0, 5], [1, 4, 0]])
    >>> int(result.distances[0, 2])
    8

`mgraph.generate` generates graphs; `mgraph.cluster` connects to Dask. Importing mgraph loads nothing: each name that
is used imports NumPy and what of the library it needs. Neither Numba, nor Dask, nor CuPy, nor SciPy comes with it: each
is imported by the first call that needs it.
"""

import importlib
import sys
from _thread import RLock  # which threading, slower to import, has from there

from .namesake import warn_of_neighbour
from .version import __version__ as __version__

warn_of_neighbour()

TYPE_CHECKING = False  # to import it from typing takes longer than all of this

if TYPE_CHECKING:
    from . import cluster as cluster
    from . import csgraph as csgraph
    from . import roads as roads
    from .public import *
else:
    #: Modules that import each other must not be imported by two threads at once.
    _IMPORTING = RLock()

    def __getattr__(name: str) -> object:
        modules = importlib.import_module(".public", __name__).MODULES
        if name == "__all__":
            return sorted([*modules, "datasets", "generate"])
        if name in modules:
            with _IMPORTING:
                globals()[name] = value = getattr(importlib.import_module(modules[name], __name__), name)
            return value
        may = name.isidentifier() and not name.startswith("__")
        if may and importlib.import_module("importlib.util").find_spec(f"{__name__}.{name}"):
            return importlib.import_module(f".{name}", __name__)
        words = importlib.import_module(".vocabulary", __name__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{words.advice(words.CALLS, name)}")

    def __dir__() -> list[str]:
        """Return what the reference describes."""
        public = sys.modules[__name__].__all__
        special = [name for name in globals() if name.startswith("__")]
        return sorted({*public, *special, "cluster", "csgraph", "device", "planner", "roads"})
