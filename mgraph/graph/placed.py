"""A graph whose edges lie on workers, as calls see it: the placement of a `mgraph.DistributedGraph`, without Dask."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from .. import device as devices
from .graph import Graph
from .views import Views


class PlacedGraph:
    """A graph whose edges lie on workers: the facts that calls ask for, kept where the calls are made.

    Attributes
    ----------
    n, m : int
        Numbers of vertices and of stored directed edges, as of a `Graph`.
    directed, nonnegative : bool
        As of a `Graph`.
    weights_dtype : dtype or None
        The type of the weights; None for an unweighted graph.
    """

    #: The name of the device that results are returned on.
    device = "workers"

    #: The original id of each vertex, if the input had ids; of a graph read by workers, a vector on them.
    ids: Any

    #: Edges are placed, never a distance matrix.
    dense: ClassVar[None] = None

    def __init__(
        self,
        n: int,
        m: int,
        directed: bool,
        weights_dtype: np.dtype | None,
        extremes: tuple[float, float, bool],
        total: float,
    ) -> None:
        self.n, self.m, self.directed, self.weights_dtype = n, m, directed, weights_dtype
        self.nonnegative = weights_dtype is None or extremes[0] >= 0
        self._extremes, self._total = extremes, total
        self._numbers = Views()

    @property
    def weighted(self) -> bool:
        """Whether the edges have weights."""
        return self.weights_dtype is not None

    def extremes(self) -> tuple[float, float, bool]:
        """Return the least and the greatest weight, and whether all are whole numbers; 0 and 0 without edges."""
        return self._extremes

    def total(self) -> float:
        """Return the sum of the weights."""
        return self._total

    def largest_sums(self, count: int) -> tuple[float, float]:
        """Return bounds of the magnitudes below and above zero that a sum of up to `count` weights may have."""
        least, most, _ = self._extremes
        return float(count) * max(-least, 0), float(count) * max(most, 0)

    def kept(self, name: str, device: devices.Device, make: Callable[[], Any], *, weights: bool = False) -> Any:
        """Return a number that `make` computes, or the ids and their index, kept here under a name."""
        return self._numbers.kept(name, devices.find("cpu"), make)

    @property
    def placed(self) -> Any:
        """The ranges of vertices of the workers, and the number of edges into each: `mgraph.planning.cut.Placed`."""
        raise NotImplementedError

    def executor(self, vectors: Mapping[str, Any] | None = None) -> Any:
        """Return the executor that runs programs where the edges lie.

        With `vectors`, by name, a shard's piece is a `PartWithVectors`. Those on workers must lie beside the edges. Of
        the others each worker is sent its own part.
        """
        raise NotImplementedError

    def seen(self, look: Callable[[Any, Any], Any]) -> Any:
        """Return what a function makes of the edges into the first worker's vertices, ``(indptr, indices)``, there."""
        raise NotImplementedError

    def lightest(self) -> tuple[int, int]:
        """Return the ends of an edge that has the least weight."""
        raise NotImplementedError

    def to_graph(self) -> Graph:
        """Return the graph with all edges in this process's memory."""
        raise NotImplementedError

    def held(self, names: Sequence[str]) -> tuple[int, ...]:
        """Return the bytes that each worker's device keeps of the graph under some names."""
        raise NotImplementedError
