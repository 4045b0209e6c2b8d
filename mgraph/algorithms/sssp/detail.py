"""What plans of shortest paths from one source have beside the fields of all plans."""

from collections.abc import Iterator
from dataclasses import dataclass

from ...planning.network import IF_GPUS_MEET
from ...planning.plan import Detail, Plan


@dataclass(frozen=True)
class OneSourceDetail(Detail):
    """Shortest paths from one source.

    Attributes
    ----------
    alone : int
        The most rounds that a shard goes on by itself before it tells the others what fell; 0 if they exchange after
        each round.
    meets : bool
        Whether shards on GPUs of one host run all rounds in one launch, if these reach each other's memory. Then they
        exchange after each round.
    meeting_way : str
        How they have exchanged vertices, once a call has run.
    """

    alone: int = 0
    meets: bool = False
    meeting_way: str = ""

    def lines(self, plan: Plan) -> Iterator[str]:
        """Yield when distances are exchanged."""
        if self.meets:
            yield f"exchanged: {self.meeting_way or IF_GPUS_MEET}"
        elif self.alone:
            yield f"exchanged: what fell in up to {self.alone:,} rounds of a shard within its own vertices"
        yield from super().lines(plan)
