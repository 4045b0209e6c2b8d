"""Shortest paths from one source."""

from . import entry as _entry  # noqa: F401 - declares what the registry knows of it
from .call import SsspResult, sssp

__all__ = ["SsspResult", "sssp"]
