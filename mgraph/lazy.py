"""SciPy's larger modules, and packages that not every program needs, imported at their first use.

SciPy's `csgraph` alone takes longer to import than all of mgraph. Everything else in the library gets these modules
here. CuPy, Numba and Dask's schedulers have doors of their own: `mgraph.device.cuda`, `mgraph.device.numba` and
`mgraph.cluster`.
"""

import functools
import importlib
import importlib.util
import sys
from types import SimpleNamespace
from typing import Any

from .errors import MissingPackageError


def sparse() -> Any:
    """Return `scipy.sparse`."""
    return importlib.import_module("scipy.sparse")


@functools.cache
def csgraph() -> Any:
    """Return what `scipy.sparse.csgraph` exports; `mgraph.csgraph.enable` changes that module, but not this."""
    module = importlib.import_module("scipy.sparse.csgraph")
    return SimpleNamespace(**{name: getattr(module, name) for name in module.__all__})


def spatial() -> Any:
    """Return `scipy.spatial`, for its k-d tree."""
    return importlib.import_module("scipy.spatial")


def cupy_sparse() -> Any:
    """Return `cupyx.scipy.sparse`."""
    return importlib.import_module("cupyx.scipy.sparse")


def metadata() -> Any:
    """Return `importlib.metadata`."""
    return importlib.import_module("importlib.metadata")


def dask() -> Any:
    """Return `dask`, for its configuration and its durations; schedulers and workers are behind `mgraph.cluster`."""
    importlib.import_module("dask.utils")
    return importlib.import_module("dask")


def psutil() -> Any:
    """Return `psutil`."""
    return importlib.import_module("psutil")


def tqdm() -> Any:
    """Return the class of progress bars for where this runs: a terminal or a notebook, whose module imports asyncio."""
    return importlib.import_module("tqdm.auto" if "IPython" in sys.modules else "tqdm").tqdm


def zstd() -> Any:
    """Return the module that decompresses zstd: Python's own from 3.14 on, before that a package of the same names."""
    return optional("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd", "reading zstd")


def optional(package: str, caller: str) -> Any:
    """Return a package that mgraph does not require, such as pandas, for `caller`, such as ``"to_pandas()"``.

    Raises
    ------
    MissingPackageError
        If it cannot be imported; the message says how to install it.
    """
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise MissingPackageError(
            f"{caller} needs {package}, which cannot be imported ({error}): python -m pip install {package}"
        ) from error


@functools.cache
def installed(package: str) -> bool:
    """Return whether a package that mgraph does not require is there, without importing it."""
    return importlib.util.find_spec(package) is not None


def missing(caller: str, error: ImportError) -> MissingPackageError:
    """Return the error for `caller` if another library says that it lacks a package, such as fsspec for a URL."""
    return MissingPackageError(f"{caller} needs a package that is not installed: {error}")
