"""SciPy's larger modules, and others that not every program needs, imported at their first use.

SciPy's `csgraph` alone takes longer to import than all of mgraph. Everything else in the library gets these modules
here. CuPy, Numba and Dask have doors of their own: `mgraph.device.cuda`, `mgraph.device.numba` and `mgraph.cluster`.
"""

import importlib
from typing import Any


def sparse() -> Any:
    """Return `scipy.sparse`."""
    return importlib.import_module("scipy.sparse")


def csgraph() -> Any:
    """Return `scipy.sparse.csgraph`."""
    return importlib.import_module("scipy.sparse.csgraph")


def metadata() -> Any:
    """Return `importlib.metadata`."""
    return importlib.import_module("importlib.metadata")


def psutil() -> Any:
    """Return `psutil`."""
    return importlib.import_module("psutil")
