"""Numbers of shortest paths, and all of them one by one."""

from . import entry as _entry  # noqa: F401 - declares what the registry knows of it
from .call import PathCountsResult, path_counts

__all__ = ["PathCountsResult", "path_counts"]
