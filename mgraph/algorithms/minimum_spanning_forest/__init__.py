"""Minimum spanning forests."""

from . import entry as _entry  # noqa: F401 - declares what the registry knows of it
from .call import SpanningForestResult, minimum_spanning_forest

__all__ = ["SpanningForestResult", "minimum_spanning_forest"]
