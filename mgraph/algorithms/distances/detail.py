"""Details of the plans of distances from many sources: their own fields, and their lines of `explain()`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...arguments import size_in_words
from ...errors import Argument, ArgumentValue, Words
from ...planning.cut import Ranges
from ...planning.plan import Detail, Plan, duration_in_words


@dataclass(frozen=True, kw_only=True)
class DistancesDetail(Detail):
    """Distances from many sources.

    Attributes
    ----------
    sources : int
        Number of sources.
    columns : int
        Number of columns of the resulting matrices: all vertices, the targets, or the nearest of them; 0 where only
        measures of each row are kept, or a sparse matrix.
    batch : int
        Sources searched from at the same time, by each device.
    computed : str
        The type that the search computes in.
    words : int
        Of ``"bfs"``, words of 64 searches that share a look at an edge; 0 where each search, or 64 of them, have a
        queue.
    counted : bool
        Whether searches of ``"bfs"`` count the targets of each level, for measures; otherwise rows are written.
    apart : bool
        Whether the cores of a CPU search from one source each; otherwise sources share reads of edges.
    sparse : bool
        Whether the result is a sparse matrix.
    nearest : bool
        Whether the nearest targets are returned, too.
    turned : int
        Number of targets that are searched from, against the edges, in place of the sources; 0 if sources are.
    entries : int
        Number of entries of the hierarchy, known or expected; 0 of searches.
    preparation : float
        Predicted seconds in which the hierarchy is prepared; 0 if the graph keeps one.
    ordering : float
        Those of them in which METIS orders the vertices; 0 if the graph keeps an order.
    ordering_bytes : int
        Bytes of the host's memory that METIS takes; the entries, which need more, are made after it.
    """

    divided: ClassVar[bool] = False  # every device has the whole graph
    dealt: ClassVar[str] = "sources"
    rows_leave: ClassVar[bool] = True

    sources: int
    columns: int
    batch: int
    computed: str
    words: int = 0
    counted: bool = False
    apart: bool = False
    sparse: bool = False
    nearest: bool = False
    from_targets: int = 0
    entries: int = 0
    preparation: float = 0.0
    ordering: float = 0.0
    ordering_bytes: int = 0

    def result(self, plan: Plan) -> str:
        """Return the types and the shape of the results."""
        if self.sparse:
            return (
                f"a sparse matrix of distances {plan.dtype} within reach, a row from each of {self.sources:,} sources"
            )
        if not self.columns:
            return f"measures of rows of distances {plan.dtype}, a row from each of {self.sources:,} sources"
        return f"{super().result(plan)}, {self.sources:,} x {self.columns:,}"

    def result_bytes(self, plan: Plan) -> int | None:
        """Return the bytes of the rows; None of measures, which are few, and of a sparse matrix."""
        if self.sparse or not self.columns:
            return None
        each = np.dtype(plan.dtype).itemsize + 4 * plan.predecessors + 4 * self.nearest
        return self.sources * self.columns * each

    def lines(self, plan: Plan) -> Iterator[str]:
        """Yield the number of sources, or of targets, at a time, whether they share reads, and the hierarchy."""
        how = ", each searched from by itself" if self.apart else ""
        if self.from_targets:
            targets = f"{self.batch:,} at a time, of {self.from_targets:,}"
            yield f"searched from the targets, against the edges: {targets}{how}"
        else:
            yield f"sources: {self.batch:,} at a time, of {self.sources:,}{how}"
        yield from self.preparing(plan)
        yield from super().lines(plan)

    def preparing(self, plan: Plan) -> Iterator[str]:
        """Yield the size of the hierarchy, and what it takes to prepare it."""
        if self.entries:
            seconds = duration_in_words(self.preparation)
            prepared = f"prepared in about {seconds}" if self.preparation else "prepared before"
            if self.ordering:
                room = size_in_words(self.ordering_bytes)
                prepared += f", of which METIS takes {duration_in_words(self.ordering)} and {room} of the host's memory"
            yield f"hierarchy: {self.entries:,} entries, {prepared}"

    def layout(self, plan: Plan) -> tuple[Ranges, Ranges]:
        """Return the sources of each shard as rows, and one range of columns."""
        return plan.ranges, ((0, self.columns),)

    def advice(self, plan: Plan, short: bool) -> Iterator[Words]:
        """Yield the advice to take fewer rows at a time."""
        if self.columns:
            yield "take fewer of the ", ArgumentValue("sources"), " at a time, or only some ", Argument("targets")
