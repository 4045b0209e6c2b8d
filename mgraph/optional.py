"""Packages that mgraph can do without, imported when something asks for them: pandas and NetworkX."""

import importlib
from typing import Any

from .errors import MissingPackageError


def imported(package: str, caller: str) -> Any:
    """Return an optional package for `caller`, such as ``"to_dataframe()"``.

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
