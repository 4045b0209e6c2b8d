"""Betweenness of vertices and edges."""

from . import entry as _entry  # noqa: F401 - declares what the registry knows of it
from .call import BetweennessResult, EdgeBetweennessResult, betweenness

__all__ = ["BetweennessResult", "EdgeBetweennessResult", "betweenness"]
