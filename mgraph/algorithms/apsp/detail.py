"""Details of the plans of all pairs of shortest paths: their own fields, and their lines of `explain()`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...arguments import size_in_words
from ...errors import ArgumentValue, Words
from ...matrices.plan import MatrixDetail
from ...planning.plan import Detail, Plan, duration_in_words

#: The name of a solve of the components one by one, among the alternatives of a plan and in checkpoints.
COMPONENTS_FIRST = "blocked, components first"


@dataclass(frozen=True, kw_only=True)
class AllPairsDetail(MatrixDetail):
    """All pairs on the matrix of distances.

    Attributes
    ----------
    products : int
        Number of (min, +) products of ``"squaring"``; 0 where there are none.
    groups : tuple of int
        Number of vertices of each group of components that is solved separately; empty where the graph is solved whole.
    strip : int
        Rows of a strip, where the matrix is solved out of core; 0 where it is not.
    buffers : int
        Number of strips that the device holds at a time.
    update, exchange : float
        Predicted seconds that the update takes in a round of ``"blocked"``, and the exchange of pivots between shards;
        0 where there are no such rounds, or only one shard.
    """

    products: int = 0
    groups: tuple[int, ...] = ()
    strip: int = 0
    buffers: int = 0
    update: float = 0.0
    exchange: float = 0.0

    def result(self, plan: Plan) -> str:
        """Return the types of the distances and of their labels."""
        return (
            super().result(plan)
            + (" derived from them" if self.derived else "")
            + (", intermediate vertices int32" if self.intermediate else "")
        )

    def lines(self, plan: Plan) -> Iterator[str]:
        """Yield the groups of components, the place of a matrix out of core, and the times of a round."""
        if self.groups:
            yield f"components first, in {len(self.groups):,} groups of at most {max(self.groups):,} vertices"
        if self.strip:
            size = plan.disk_bytes or plan.host_bytes
            where = "a temporary file" if plan.disk_bytes else "the host's memory"
            yield f"out of core: {self.strip:,} rows at a time, {size_in_words(size)} in {where}"
        yield from super().lines(plan)
        if self.exchange:
            times = f"update {duration_in_words(self.update)}, exchange {duration_in_words(self.exchange)}"
            yield f"a round: {times}, " + ("at the same time" if self.look_ahead else "one after the other")

    def advice(self, plan: Plan, short: bool) -> Iterator[Words]:
        """Yield ways that need less memory."""
        yield from with_less_memory(plan, not self.intermediate)


@dataclass(frozen=True, kw_only=True)
class SourcesDetail(Detail):
    """All pairs by a search from every source.

    Attributes
    ----------
    batch : int
        Sources searched from at the same time.
    computed : str
        The type that the search computes in.
    """

    divided: ClassVar[bool] = False  # every device has the whole graph
    rows_leave: ClassVar[bool] = True

    batch: int
    computed: str

    def result_bytes(self, plan: Plan) -> int | None:
        """Return the bytes of the rows of all sources."""
        return plan.n * plan.n * (np.dtype(plan.dtype).itemsize + 4 * plan.predecessors)

    def lines(self, plan: Plan) -> Iterator[str]:
        """Yield the number of sources at a time, and the place of rows that do not fit."""
        if plan.disk_bytes:
            yield f"out of core: {self.batch:,} rows at a time, {size_in_words(plan.disk_bytes)} in a temporary file"
        yield f"sources: {self.batch:,} at a time"
        yield from super().lines(plan)

    def advice(self, plan: Plan, short: bool) -> Iterator[Words]:
        """Yield ways that need less memory."""
        yield from with_less_memory(plan)


def with_less_memory(plan: Plan, rows: bool = True) -> Iterator[Words]:
    """Yield ways that need less memory: a smaller type, if there is one, and a call that returns some `rows`."""
    if plan.dtype != "int16":
        yield "a smaller type needs less (", ArgumentValue("dtype"), ")"
    if rows:
        # These are arguments of that call, not options of the command that plans or solves all pairs.
        yield (
            "mgraph.distances returns the rows of some sources only (sources=), "
            "or writes all rows to a file as they are found (out=)",
        )
