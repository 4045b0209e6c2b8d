"""Numbers of shortest paths, and all of them one by one."""

from .call import PathCounts, path_counts

__all__ = ["PathCounts", "path_counts"]
