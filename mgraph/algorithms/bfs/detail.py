"""Details of the plans of breadth-first searches: their own fields, and their lines of `explain()`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...planning.cut import Ranges
from ...planning.plan import Detail, Plan


@dataclass(frozen=True)
class SearchDetail(Detail):
    """A search from one source, or from a set of them.

    Attributes
    ----------
    listed : int
        Vertices of a level up to which a shard sends a list of them, not a bitmap; 0 where it never does.
    by_target, by_source : bool
        Whether the program needs the edges by target, and by source.
    prepared : str or None
        What the search prepares once for a graph: ``"heads"``, ``"quads"`` or nothing. ``kernels/bfs.cu`` describes
        both.
    tree : bool
        Whether the search writes predecessors as it goes: any on a shortest path. Otherwise they are found from the
        distances, if they are wanted.
    """

    until: ClassVar[str] = "as many as the graph has levels"

    listed: int = 0
    by_target: bool = True
    by_source: bool = True
    prepared: str | None = None
    tree: bool = False

    def result(self, plan: Plan) -> str:
        """Return the names and types of the results, and which predecessors they are if not the least."""
        return super().result(plan) + (", any on a shortest path" if self.tree else "")

    def lines(self, plan: Plan) -> Iterator[str]:
        """Yield how levels are exchanged."""
        if self.listed and not self.meets:
            yield f"exchanged: up to {self.listed:,} vertices of a shard as a list, more as a bitmap"
        yield from super().lines(plan)


@dataclass(frozen=True)
class SearchesDetail(Detail):
    """Searches from many sources.

    Attributes
    ----------
    sources : int
        Number of sources.
    batch : int
        Sources searched from at the same time, a multiple of 64.
    apart : bool
        Whether the cores of a CPU search from one source each, by a queue; otherwise searches share reads of edges.
    """

    by_target: ClassVar[bool] = True  # the program needs both
    by_source: ClassVar[bool] = True

    sources: int
    batch: int
    apart: bool = False

    def lines(self, plan: Plan) -> Iterator[str]:
        """Yield the sources, and whether searches share reads."""
        how = ", each searched from by itself" if self.apart else ""
        yield f"sources: {self.batch:,} at a time, of {self.sources:,}{how}"
        yield from super().lines(plan)

    def result_bytes(self, plan: Plan) -> int | None:
        """Return the bytes of the rows of all sources."""
        return self.sources * plan.n * (np.dtype(plan.dtype).itemsize + 4 * plan.predecessors)

    def layout(self, plan: Plan) -> tuple[Ranges, Ranges]:
        """Return one range of rows, the sources, and the vertices of each shard as columns."""
        return ((0, self.sources),), plan.ranges
