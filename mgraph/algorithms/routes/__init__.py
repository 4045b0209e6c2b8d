"""Pairs of vertices and flows by a prepared hierarchy: dealt to workers, with plans and checkpoints."""

from .call import flows, pairs

__all__ = ["flows", "pairs"]
