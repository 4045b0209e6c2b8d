"""Programs whose shards need more of a graph than their own parts, which they gather from each other.

Searches from every source, and what works on a matrix of all pairs, need all edges on every shard. A graph that lies on
workers has only its range of vertices on each. So a shard gathers the other ranges before it loads the program.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import device as devices
from ..arrays import Array
from ..dtypes import offset_type
from ..graph import Compressed, Graph
from ..graph.vertex_range import VertexRange
from ..planning.cut import Placed, Ranges
from .communicator import Communicator

#: ``gather(part, device, comm)`` makes a shard's piece of its part of the input and the others'. All shards call it at
#: the same time, before they load the program.
Gather = Callable[[Any, devices.Device, Communicator], Any]


@dataclass(frozen=True)
class Whole:
    """What a shard must know of a graph that lies in ranges to gather all of it.

    Attributes
    ----------
    cut : Placed
        The ranges, and the number of edges into each.
    nonnegative : bool
        As of a `Graph`.
    weighted : bool
        Whether to gather weights too, if there are any.
    """

    cut: Placed
    nonnegative: bool
    weighted: bool = True

    def graph(self, part: VertexRange, device: devices.Device, comm: Communicator) -> Graph:
        """Return the whole graph on a device, on every shard; all of them call this at the same time."""
        whole = part = self._wanted(part)
        if comm.size > 1:
            own = slice(*self._edges()[comm.rank])
            arrays = self._allocated(part, device)
            arrays.indptr[part.first + 1 : part.last + 1] = (
                part.compressed("csc").indptr[1:].astype(arrays.indptr.dtype) + own.start
            )
            comm.allgather(arrays.indptr, tuple((first + 1, last + 1) for first, last in self.cut.ranges))
            for array, ours in zip(arrays[1:], part.compressed("csc")[1:], strict=True):
                if array is not None:
                    array[own] = ours
                    comm.allgather(array, self._edges())
            whole = VertexRange(part.n, 0, part.n, arrays, part.directed)
        return self._made(whole)

    def graph_on(self, root: int, part: VertexRange, device: devices.Device, comm: Communicator) -> Graph | None:
        """Return the whole graph on one shard, None on the others; all of them call this at the same time."""
        part = self._wanted(part)
        if comm.size == 1:
            return self._made(part)
        indptr, indices, weights = part.compressed("csc")
        if comm.rank == root:
            self._allocated(part, device)
        degrees = device.xp.diff(indptr).astype(offset_type(self._edges()[-1][1]))
        [degrees] = _sent([degrees], root, comm)
        ends, *lengths = _sent([indices] if weights is None else [indices, weights], root, comm)
        if comm.rank != root:
            return None
        offsets = device.xp.zeros(part.n + 1, degrees.dtype)
        device.xp.cumsum(degrees, out=offsets[1:])
        csc = Compressed(offsets, ends, lengths[0] if lengths else None)
        return self._made(VertexRange(part.n, 0, part.n, csc, part.directed))

    def _wanted(self, part: VertexRange) -> VertexRange:
        return part if self.weighted or part.compressed("csc").weights is None else part.with_weights(None)

    def _edges(self) -> Ranges:
        """Return where the edges of each range begin and end among all."""
        return tuple(itertools.pairwise(itertools.accumulate(self.cut.edges, initial=0)))

    def _allocated(self, part: VertexRange, device: devices.Device) -> Compressed:
        """Return arrays for all edges by target, or raise MemoryLimitError if they do not fit."""
        weights, m = part.compressed("csc").weights, sum(self.cut.edges)
        offsets, an_edge = offset_type(m), 4 + (0 if weights is None else weights.dtype.itemsize)
        with devices.allocating(f"gathering {m:,} edges", offsets.itemsize * (part.n + 1) + an_edge * m, device):
            return Compressed(
                device.xp.zeros(part.n + 1, offsets),
                device.xp.empty(m, np.int32),
                None if weights is None else device.xp.empty(m, weights.dtype),
            )

    def _made(self, whole: VertexRange) -> Graph:
        return Graph(
            whole.n,
            csr=whole.compressed("csr"),
            csc=whole.compressed("csc"),
            directed=whole.directed,
            nonnegative=self.nonnegative,
        )


def _sent(arrays: list[Array], root: int, comm: Communicator) -> list[Array]:
    """Send arrays to one shard; return those of all shards there, joined."""
    counts = np.zeros(comm.size, np.int64)
    counts[root] = len(arrays[0])
    return comm.exchange(arrays, counts)
