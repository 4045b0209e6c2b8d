"""Details of the plans of betweenness: their own fields, and their lines of `explain()`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ...planning.plan import Detail, Plan, duration_in_words


@dataclass(frozen=True, kw_only=True)
class BetweennessDetail(Detail):
    """Betweenness.

    Attributes
    ----------
    sources : int
        Number of sources.
    batch : int
        Sources taken at the same time, by each device.
    weighted : bool
        Whether paths are as long as the sum of their weights.
    computed : str
        The type of the distances.
    apart : bool
        Whether the cores of a CPU search from one source each; otherwise searches by weights share reads of edges.
    together : bool
        Whether the sources of a batch share reads of edges; otherwise a GPU takes a block of threads for each.
    wide : bool
        Whether numbers of paths are scaled, as they are too large for float64.
    edges : bool
        Whether edges are measured, not vertices.
    entries : int
        Number of entries of the hierarchy that is swept down; 0 of searches.
    preparation : float
        Predicted seconds in which the hierarchy is prepared.
    """

    values: ClassVar[str] = "betweenness"
    divided: ClassVar[bool] = False  # every device has the whole graph
    dealt: ClassVar[str] = "sources"

    sources: int
    batch: int
    weighted: bool
    computed: str
    apart: bool = False
    together: bool = False
    wide: bool = False
    edges: bool = False
    entries: int = 0
    preparation: float = 0.0

    def result(self, plan: Plan) -> str:
        """Return the names and types of the results."""
        return super().result(plan) + (", src and dst int32, of each edge" if self.edges else " of each vertex")

    def result_bytes(self, plan: Plan) -> int | None:
        """Return the bytes of the results."""
        return 16 * plan.m if self.edges else 8 * plan.n

    def lines(self, plan: Plan) -> Iterator[str]:
        """Yield the number of sources at a time, and the types of distances and of numbers of paths."""
        how = (
            ", each searched from by itself" if self.apart else ", which share reads of edges" if self.together else ""
        )
        yield f"sources: {self.batch:,} at a time, of {self.sources:,}{how}"
        if self.entries:
            yield f"hierarchy: {self.entries:,} entries, prepared in about {duration_in_words(self.preparation)}"
        scaled = " with exponents of their own" if self.wide else ""
        yield f"distances: {self.computed}, numbers of paths: float64{scaled}"
        yield from super().lines(plan)
