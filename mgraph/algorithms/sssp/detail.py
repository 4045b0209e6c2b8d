"""What plans of shortest paths from one source have beside the fields of all plans."""

from collections.abc import Iterator
from dataclasses import dataclass

from ...planning.plan import Detail, Plan


@dataclass(frozen=True)
class OneSourceDetail(Detail):
    """Shortest paths from one source.

    Attributes
    ----------
    alone : int
        The most rounds that a shard goes on by itself before it tells the others what fell; 0 if they exchange after
        each round. GPUs that meet exchange after each.
    """

    alone: int = 0

    def lines(self, plan: Plan) -> Iterator[str]:
        """Yield when distances are exchanged."""
        if self.alone and not self.meets:
            yield f"exchanged: what fell in up to {self.alone:,} rounds of a shard within its own vertices"
        yield from super().lines(plan)
