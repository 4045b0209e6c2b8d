"""Breadth-first search, from one source or from many."""

from . import entry as _entry  # noqa: F401 - declares what the registry knows of it
from .call import BfsResult, bfs
from .many import BfsManyResult, bfs_many

__all__ = ["BfsManyResult", "BfsResult", "bfs", "bfs_many"]
