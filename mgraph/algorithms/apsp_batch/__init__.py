"""Shortest paths between all pairs of vertices of many small graphs."""

from .call import ApspBatchResult, apsp_batch

__all__ = ["ApspBatchResult", "apsp_batch"]
