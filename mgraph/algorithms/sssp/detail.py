"""What plans of shortest paths from one source have beside the fields of all plans."""

from collections.abc import Iterator
from dataclasses import dataclass

from ...planning.plan import Detail, Plan


@dataclass(frozen=True)
class OneSourceDetail(Detail):
    """Shortest paths from one source.

    Attributes
    ----------
    apart : bool
        Whether a shard goes on until none of its own vertices falls, before it tells the others what fell.
    """

    apart: bool = False

    def lines(self, plan: Plan) -> Iterator[str]:
        """Yield when distances are exchanged."""
        if self.apart:
            yield "exchanged: what fell, once a shard has followed all paths within its own vertices"
        yield from super().lines(plan)
