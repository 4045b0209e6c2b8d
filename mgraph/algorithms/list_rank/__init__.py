"""List ranking."""

from . import entry as _entry  # noqa: F401 - declares what the registry knows of it
from .call import ListRankResult, list_rank

__all__ = ["ListRankResult", "list_rank"]
