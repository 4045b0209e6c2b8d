"""Summary of ranks for the command line."""

from typing import Any

from ... import device as devices
from ..command import Summary
from .call import ListRankResult


def summary(succ: Any, result: ListRankResult, options: dict[str, Any]) -> Summary:
    """Sum up the ranks."""
    ranks = devices.to_host(result.ranks)
    count, largest = int((ranks == 0).sum()), int(ranks.max(initial=0))
    words = f"ranked: {count:,} lists, the largest rank is {largest:,}"
    return Summary({"lists": count, "largest_rank": largest}, words)
