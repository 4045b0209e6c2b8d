"""The edges into a range of vertices: what a shard holds of a graph, in the forms that programs ask for."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from .. import device as devices
from ..arrays import Array
from .compressed import PLACING_BYTES, Compressed, Edges, rows_of, transposed, write_into_rows
from .graph import Graph
from .views import ArrayCache

#: Edges that `edges_of` yields at a time, and whose weights are computed at a time.
AT_A_TIME = {"cpu": 1 << 20, "cuda": 1 << 24}


class Weigh(Protocol):
    """The weights of edges, as a function of their ends."""

    @property
    def dtype(self) -> np.dtype:
        """The type of the weights."""

    def __call__(self, src: Array, dst: Array) -> Array:
        """Return the weights of some edges."""


class Part(Protocol):
    """The edges of a graph that a shard works on: a `Graph`, with all of them, or a `VertexRange`."""

    def layout(self, order: str, device: devices.Device | None = None) -> tuple[Array, Array]:
        """Return ``(indptr, indices)`` on a device.

        In ``"csc"`` a row for each of the shard's vertices holds sources. In ``"csr"`` a row for each vertex of the
        graph holds those targets that are the shard's.
        """

    def compressed(self, order: str, device: devices.Device | None = None) -> Compressed:
        """Return the edges as of `layout` with their weights, by default where the part lives."""

    def incident(self, device: devices.Device | None = None) -> tuple[Array, Array]:
        """Return ``(indptr, indices)`` on a device: a row for each of the shard's vertices, in either direction."""

    def kept(self, name: str, device: devices.Device, make: Callable[[], Any], *, weights: bool = False) -> Any:
        """Return what `make` derives from the part on a device, kept under a name for the next call."""


class VertexRange(ArrayCache):
    """The edges into the vertices from `first` to `last`, on one device.

    Edges by source are derived when they are first needed, and kept.

    Parameters
    ----------
    n : int
        Number of vertices of the whole graph.
    first, last : int
        The range.
    csc : Compressed
        The edges by target: a row for each vertex of the range.
    directed : bool
        As of the graph.
    unused : int
        Bytes of larger arrays, of which these are views, beyond the parts that are used.
    """

    def __init__(self, n: int, first: int, last: int, csc: Compressed, directed: bool, unused: int = 0) -> None:
        super().__init__()
        self._unused = unused
        self.n, self.first, self.last, self.directed = n, first, last, directed
        self._csc = csc
        self._home = devices.of(csc.indptr)

    def layout(self, order: str, device: devices.Device | None = None) -> tuple[Array, Array]:
        """Return ``(indptr, indices)`` on a device, as `Part` says."""
        indptr, indices, _ = self.compressed(order)
        return (indptr, indices) if device is None else (device.asarray(indptr), device.asarray(indices))

    def compressed(self, order: str, device: devices.Device | None = None) -> Compressed:
        """Return the edges by source, a row for each vertex of the graph, or by target, one for each of the range."""
        found = self._csc
        if order == "csr" and (self.directed or (self.first, self.last) != (0, self.n)):
            found = self.kept("csr", self._home, self._by_source, weights=True)
        if device is None:
            return found
        return Compressed(*(None if part is None else device.asarray(part) for part in found))

    def incident(self, device: devices.Device | None = None) -> tuple[Array, Array]:
        """Return the edges by target, which are at the range's vertices."""
        return self.layout("csc", device)

    def on(self, device: devices.Device) -> "VertexRange":
        """Return the same edges on a device."""
        csc = Compressed(*(None if part is None else device.asarray(part) for part in self._csc))
        return VertexRange(self.n, self.first, self.last, csc, self.directed)

    def with_weights(self, weights: Array | None) -> "VertexRange":
        """Return the same edges with other weights, in the order of `csc`; both share what depends on edges alone."""
        csc = self._csc._replace(weights=weights)
        found = VertexRange(self.n, self.first, self.last, csc, self.directed, self._unused)
        found._share_edges(self)
        return found

    def weights_of(self, weigh: Weigh) -> Array:
        """Return a weight for each edge, in the order of `csc`, computed some at a time."""
        indptr, indices, _ = self._csc
        m, xp, at_a_time = len(indices), self._home.xp, AT_A_TIME[self._home.kind]
        needed = m * weigh.dtype.itemsize + 80 * min(m, at_a_time)
        with devices.allocating(f"weights of {m:,} edges", needed, self._home):
            found = xp.empty(m, weigh.dtype)
            for start in range(0, m, at_a_time):
                edges = xp.arange(start, min(m, start + at_a_time), dtype=indptr.dtype)
                targets = (xp.searchsorted(indptr, edges, side="right") + (self.first - 1)).astype(np.int32)
                found[start : start + len(edges)] = weigh(indices[start : start + len(edges)], targets)
        return found

    def finite(self) -> "VertexRange":
        """Return the same edges but those of weight ``inf``; the part itself if there are none."""
        indptr, indices, weights = self._csc
        if weights is None or weights.dtype.kind != "f" or not bool(self._home.xp.isinf(weights).any()):
            return self
        there = ~self._home.xp.isinf(weights)
        before = self._home.xp.concatenate([indptr[:1] * 0, self._home.xp.cumsum(there, dtype=indptr.dtype)])
        csc = Compressed(before[indptr], indices[there], weights[there])
        return VertexRange(self.n, self.first, self.last, csc, self.directed)

    def fault(self, cut: tuple[int, int, int]) -> str:
        """Return what is wrong with these as edges into a range of vertices, ``(n, first, last)``; "" if nothing is."""
        indptr, indices, weights = self._csc
        fits = (self.n, self.first, self.last) == cut and len(indptr) == self.last - self.first + 1
        ends = devices.to_host(indptr[[0, -1]]).tolist() if fits else []
        if ends != [0, len(indices)] or bool((indptr[1:] < indptr[:-1]).any()):
            return f"the offsets of the vertices {cut[1]:,} to {cut[2] - 1:,} do not ascend to the number of edges"
        if len(indices) and not (0 <= int(indices.min()) and int(indices.max()) < self.n):
            return f"an edge comes from a vertex outside of 0 to {self.n - 1:,}"
        if weights is not None and len(weights) != len(indices):
            return f"there are {len(weights):,} weights of {len(indices):,} edges"
        return ""

    def sizes(self) -> dict[str, int]:
        """Return the bytes of the edges, and of all that is kept on the part's device, by name."""
        own = sum(part.nbytes for part in self._csc[:2]) + self._unused
        kept = {name: views.nbytes(name, place) for views in (self._views, self._weight_views) for name, place in views}
        return {"csc": own, "weights": 0 if self._csc.weights is None else self._csc.weights.nbytes, **kept}

    def _by_source(self) -> Compressed:
        indptr, indices, weights = self._csc
        if self._home.kind == "cpu":
            found = transposed(indptr, indices, weights, self.n)
            np.add(found.indices, np.int32(self.first), out=found.indices)
            return found
        # A counting sort, which needs little memory beside the result: the edges are in the order of their targets.
        xp, m = self._home.xp, len(indices)
        an_edge = 4 + (0 if weights is None else weights.dtype.itemsize)
        needed = an_edge * m + 24 * self.n + PLACING_BYTES * min(m, AT_A_TIME["cuda"])
        with devices.allocating(f"{m:,} edges by source", needed, self._home):
            by_source = xp.zeros(self.n + 1, indptr.dtype)
            xp.cumsum(xp.bincount(indices, minlength=self.n)[: self.n], out=by_source[1:])
            free = by_source[:-1].astype(np.int64)
            into = [xp.empty(m, np.int32)] + ([] if weights is None else [xp.empty(m, weights.dtype)])
            for src, dst, lengths in edges_of(self, self._home):
                write_into_rows(src, (dst,) if lengths is None else (dst, lengths), free, into, xp)
        return Compressed(by_source, into[0], None if weights is None else into[1])

    def _own(self) -> dict[tuple[str, str], Any]:
        return {}


class PartWithVectors(NamedTuple):
    """A shard's part of a graph, and its parts of vectors of an earlier result, by name."""

    part: Part
    vectors: Mapping[str, Array]


def edges_of(part: Part, device: devices.Device) -> Iterator[Edges]:
    """Yield a part's edges some at a time, on a device, in the order in which they are kept."""
    ranged = isinstance(part, VertexRange)
    indptr, indices, weights = part.compressed("csc" if ranged else "csr")
    xp, indptr, number = device.xp, device.asarray(indptr), part.first if isinstance(part, VertexRange) else 0
    at_a_time = AT_A_TIME[device.kind]
    for start in range(0, len(indices), at_a_time):
        end = min(len(indices), start + at_a_time)
        first = int(xp.searchsorted(indptr, xp.full(1, start, indptr.dtype), side="right")[0]) - 1
        last = int(xp.searchsorted(indptr, xp.full(1, end, indptr.dtype), side="left")[0])
        offsets = xp.clip(indptr[first : last + 1], start, end) - start
        rows = rows_of(offsets, end - start, xp) + np.int32(number + first)
        ends = device.asarray(indices[start:end])
        lengths = None if weights is None else device.asarray(weights[start:end])
        yield Edges(ends, rows, lengths) if ranged else Edges(rows, ends, lengths)


def range_of(graph: Graph, first: int, last: int) -> VertexRange:
    """Return the edges into a range of a graph's vertices, as views of the graph's arrays."""
    indptr, indices, weights = graph.compressed("csc")
    start, end = int(indptr[first]), int(indptr[last])
    own = None if weights is None else weights[start:end]
    csc = Compressed(indptr[first : last + 1] - indptr[first], indices[start:end], own)
    return VertexRange(graph.n, first, last, csc, graph.directed)


def incoming(graph: Graph) -> np.ndarray:
    """Return where each vertex's edges begin if a graph's edges are grouped by target, without grouping them."""
    indptr, indices = graph.layout("csr")
    if not graph.directed:
        return devices.to_host(indptr)
    degrees = np.bincount(devices.to_host(indices), minlength=graph.n)
    return np.concatenate([np.zeros(1, np.int64), degrees.cumsum()])
