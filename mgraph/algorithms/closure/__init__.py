"""Transitive closure."""

from . import entry as _entry  # noqa: F401 - declares what the registry knows of it
from .call import ClosureResult, transitive_closure

__all__ = ["ClosureResult", "transitive_closure"]
