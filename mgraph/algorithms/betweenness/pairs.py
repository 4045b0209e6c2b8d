"""Which pairs of vertices betweenness counts, and how the sums over them are scaled."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Array


@dataclass(frozen=True, eq=False)
class Pairs:
    """The pairs of a source and a target whose shortest paths count.

    Attributes
    ----------
    sources : array of int32, shape (k,)
        The sources.
    targets : array of int32, shape (t,), or None
        The targets; None is all vertices.
    sampled : bool
        Whether the sources stand for all vertices, so that sums are scaled up.
    limit : float
        The length of the longest paths that count.
    edges : bool
        Whether the edges' betweenness is wanted, not that of the vertices.
    normalized, endpoints : bool
        As of `mgraph.betweenness`.
    """

    sources: np.ndarray
    targets: np.ndarray | None = None
    sampled: bool = False
    limit: float = float("inf")
    edges: bool = False
    normalized: bool = True
    endpoints: bool = False

    def is_target(self, n: int) -> np.ndarray:
        """Return which vertices are targets."""
        found = np.full(n, self.targets is None)
        if self.targets is not None:
            found[self.targets] = True
        return found

    def scale(self, sums: Array, directed: bool, n: int, xp: Any) -> None:
        """Scale sums over the ordered pairs in place, as NetworkX does.

        Without `endpoints`, a vertex is the source of none of its own pairs. So if sources are sampled, the sampled
        ones are the middle of fewer pairs than the others are.
        """
        ends = self.edges or self.endpoints
        vertices = n if ends else n - 1
        if vertices < 2:
            return
        k = len(self.sources) if self.sampled else vertices
        if self.normalized:
            sums *= 1 / (k * (vertices - 1))
        else:
            sums *= vertices / (k * (1 if directed else 2))
        if self.sampled and not ends:
            # NaN for a single source, of whose own betweenness nothing is known.
            sums[xp.asarray(self.sources)] *= k / (k - 1) if k > 1 else np.nan
