"""All-pairs shortest paths."""

from . import entry as _entry  # noqa: F401 - declares what the registry knows of it
from .call import ApspResult, apsp

__all__ = ["ApspResult", "apsp"]
