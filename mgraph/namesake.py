"""Another project's distribution, `mgraph` on the package index, which installs a package `mgraph` too.

This one is `dask-mgraph`. Where both are installed they share a folder, and whichever came last has replaced files of
the other, ``__init__.py`` first of all. Uninstalling either then removes files that belong to both.
"""

import importlib
import os
import sys
import warnings

#: How to mend it.
_REMEDY = (
    "python -m pip uninstall mgraph, then python -m pip install --force-reinstall --no-deps dask-mgraph, "
    "or keep them in separate environments"
)


def neighbour() -> str | None:
    """Return the record of the other distribution beside this package, e.g. ``mgraph-1.0.dist-info``; None if none.

    This lists one folder, which takes a fraction of a millisecond: `importlib.metadata` would search all of them.
    """
    try:
        names = os.listdir(os.path.dirname(os.path.dirname(__file__)))
    except OSError:  # a zip file, say
        return None
    found = (name for name in names if name.startswith("mgraph-") and name.endswith((".dist-info", ".egg-info")))
    return next(found, None)


def warn_of_neighbour() -> None:
    """Warn, on import, that another distribution has installed a package of this name in the same folder."""
    if found := neighbour():
        warnings.warn(
            f"another distribution named mgraph ({found}) is installed in the same folder as dask-mgraph, and each "
            f"replaces files of the other: {_REMEDY}",
            stacklevel=3,
        )


def conflict() -> str | None:
    """Return a message if the other distribution is installed anywhere on Python's path; else None."""
    metadata = importlib.import_module("importlib.metadata")
    try:
        version = metadata.version("mgraph")
    except metadata.PackageNotFoundError:
        return None
    return f"another distribution named mgraph ({version}) is installed, with a package of the same name: {_REMEDY}"


def replaced() -> str | None:
    """Return a message if what is imported as `mgraph` is the other package, with which nothing works; else None."""
    if hasattr(sys.modules["mgraph"], "warn_of_neighbour"):
        return None
    return f"the package mgraph that Python finds is another distribution's: {_REMEDY}"
