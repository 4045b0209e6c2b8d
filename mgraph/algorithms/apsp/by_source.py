"""All-pairs shortest paths by a search from every source, for sparse graphs; negative weights are allowed.

The search is described in ``kernels/sssp_many.cu``. A shard holds the whole graph and a range of the sources; a
superstep takes the next batch of them. Shards do not communicate. The rows of a batch are final once written, so they
are sent to the host at once: the result may be far larger than the GPU's memory.

Negative weights are shifted first (Johnson, "Efficient algorithms for shortest paths in sparse networks", 1977): with
potentials ``h``, ``weight + h[u] - h[v]`` is never negative, and each path from s to t becomes longer by the same
``h[s] - h[t]``, which is subtracted from the finished distances. For floats this subtraction loses digits in proportion
to the potentials, not to the distance, so float32 is searched in float64.
"""

import itertools
from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...dtypes import kernel_infinity
from ...graph import Compressed, Graph
from ...graph.potentials import edge_lengths, potentials
from ...graph.vertex_range import VertexRange
from ...graph.weights import decode
from ...kernels import sssp_many as sssp_many_kernels
from ...kernels.edges import Adjacency, WeightedAdjacency
from ...planning.plan import Plan
from ...runtime.checkpoints import Lasting, Piece, Saved, fingerprint_of, fingerprint_of_edges
from ...runtime.communicator import Communicator
from ...runtime.gathering import Whole
from .detail import SLOTS, SourcesDetail

#: Width of the window of distances that are settled together, in average weights; measured (benchmarks/NOTES.md).
_WINDOW = 20


class Network(NamedTuple):
    """A whole graph, with the arrays that a search from any vertex needs.

    Attributes
    ----------
    incoming : Compressed
        The edges by target, sources ascending; weights of None are all 1.
    outgoing : tuple of two arrays, or None
        ``(indptr, indices)`` of the edges by source; None if they are the same as by target.
    potentials : array of float64, shape (n,), or None
        Johnson's potentials, which shift the weights; None if no weight is negative.
    """

    incoming: Compressed
    outgoing: tuple[Array, Array] | None
    potentials: Array | None


def network(graph: Graph, potentials: Array | None = None) -> Network:
    """Return a graph as the piece of each shard of `FromEverySource`."""
    return Network(graph.csc(), graph.adjacency("csr") if graph.directed else None, potentials)


def gathered_network(
    whole: Whole, shifts: bool, part: VertexRange, device: devices.Device, comm: Communicator
) -> Network:
    """Return the network of a graph that lies in ranges, on every shard; the first one computes the potentials."""
    graph = whole.graph(part, device, comm)
    if not shifts:
        return network(graph)
    h = device.asarray(potentials(graph)) if comm.rank == 0 else device.xp.empty(graph.n)
    comm.broadcast(h, 0, range(comm.size))
    return network(graph, h)


class RowStream:
    """A matrix whose rows a device computes batch by batch; it lives on the device or on the host.

    If it lives on the host, each batch is written to one of two buffers on the device, and copied to the host while
    the next batch is computed.
    """

    def __init__(self, device: devices.Device, home: str, shape: tuple[int, int], batch: int, dtype: Any) -> None:
        self.device = device
        self.stays = home == device.kind
        rows, n = shape
        self.whole: Array = (device.xp if self.stays else np).empty(shape, dtype)
        if self.stays:
            return
        self.buffers = [device.xp.empty((min(batch, rows), n), dtype) for _ in range(SLOTS)]
        self.carried: list[list[Future[None]]] = [[] for _ in range(SLOTS)]
        self.slot = 0

    def batch(self, first: int, last: int) -> Array:
        """Return the array on the device to write rows `first` to `last` to."""
        if self.stays:
            return self.whole[first:last]
        for carried in self.carried[self.slot]:
            carried.result()
        return self.buffers[self.slot][: last - first]

    def send(self, first: int, last: int) -> None:
        """Start copying the rows of the last `batch` to the host, after the work launched so far."""
        if self.stays:
            return
        rows = self.buffers[self.slot][: last - first]
        self.carried[self.slot] = devices.carry_home(self.device, rows, self.whole[first:last])
        self.slot = (self.slot + 1) % SLOTS

    def complete(self) -> Array:
        """Return the matrix once all rows that were sent have arrived."""
        if not self.stays:
            for carried in itertools.chain(*self.carried):
                carried.result()
        return self.whole


@dataclass
class SourcesShard:
    """A shard's state: the graph, and the rows of its sources."""

    device: devices.Device
    kernels: sssp_many_kernels.Operations
    by_source: Adjacency
    by_target: WeightedAdjacency  # no weight is negative
    window: float  # width of the window of distances that are settled together
    h: Array | None  # Johnson's potentials
    work: Any
    shifted: Array | None  # a batch of distances in the type of the search, if the result's type differs
    D: RowStream
    P: RowStream | None
    batches: list[tuple[int, int]]  # of sources that are left to search from, as rows of the shard
    rounds: int  # batches that the shard with most of them has
    done: list[tuple[int, int]] = field(default_factory=list)


class FromEverySource(Lasting):
    """Shortest paths from every vertex, batch by batch of sources, over ranges of the sources.

    Parameters
    ----------
    plan : Plan
        Its ranges are those of the sources; each shard's device has the whole graph.
    home : {"cpu", "cuda"}
        Where the shards' results are kept: on the host, or on the devices that compute them.
    """

    def __init__(self, plan: Plan[SourcesDetail], home: str) -> None:
        self.plan = plan
        self.detail = plan.detail
        self.home = home

    def load(self, shard: int, piece: Network, device: devices.Device) -> SourcesShard:
        """Return the shard with the graph on its device and the rows of its result allocated."""
        xp, n, dtype = device.xp, self.plan.n, np.dtype(self.detail.computed)
        kernels = sssp_many_kernels.on(device)
        first, last = self.plan.ranges[shard]
        indptr, indices = (device.asarray(part) for part in piece.incoming[:2])
        out_indptr, out_indices = map(device.asarray, piece.outgoing or (indptr, indices))
        h = None if piece.potentials is None else device.asarray(piece.potentials)
        weights = edge_lengths(Compressed(indptr, indices, piece.incoming.weights), h, dtype, device)
        batch = min(last - first, self.detail.batch)
        shape = (last - first, n)
        lengths = [end - start for start, end in self.plan.ranges]
        batches = [_batches([(0, length)], self.detail.batch) for length in lengths]
        return SourcesShard(
            device=device,
            kernels=kernels,
            by_source=(out_indptr, out_indices),
            by_target=(indptr, indices, weights),
            window=_window(weights),
            h=h,
            work=kernels.workspace(xp, n, batch, dtype),
            shifted=None if dtype == np.dtype(self.plan.dtype) else xp.empty((batch, n), dtype),
            D=RowStream(device, self.home, shape, batch, self.plan.dtype),
            P=RowStream(device, self.home, shape, batch, np.int32) if self.plan.predecessors else None,
            batches=batches[shard],
            rounds=max(map(len, batches)),
        )

    def step(self, state: SourcesShard, first: int, limit: int, comm: Communicator) -> int:
        """Search from one batch of sources."""
        if first >= state.rounds:
            return 0
        if first >= len(state.batches):
            return 1
        top, bottom = state.batches[first]
        k, source = state.kernels, self.plan.ranges[comm.rank][0] + top
        rows = state.D.batch(top, bottom)
        D = rows if state.shifted is None else state.shifted[: bottom - top]
        P = None if state.P is None else state.P.batch(top, bottom)
        k.distances(D, source, state.by_source, state.by_target, state.window, state.work)
        if P is not None:
            k.predecessors(D, source, state.by_target, P)
        if state.h is not None:
            k.unshift(D, source, state.h)
        if D is not rows:
            with np.errstate(over="ignore"):
                rows[...] = D
        decode(rows, P, state.device, state.h is None, lowered=False)
        state.D.send(top, bottom)
        if state.P is not None:
            state.P.send(top, bottom)
        state.done.append((top, bottom))
        return 1

    def described(self) -> dict[str, Any]:
        """Return what a checkpoint must have been written for."""
        return super().described() | {"computed": self.detail.computed}

    def fingerprint(self, state: SourcesShard, shard: int) -> int:
        """Return that of the edges into the shard's sources, and of what their weights were shifted by."""
        first, last = self.plan.ranges[shard]
        indptr, indices, weights = state.by_target
        own = slice(int(indptr[first]), int(indptr[last]))
        edges = Compressed(indptr[first : last + 1] - indptr[first], indices[own], weights[own])
        shifts = [] if state.h is None else [Piece("potentials", state.h[first:last], (first,))]
        return fingerprint_of_edges(first, edges) + fingerprint_of(shifts)

    def pieces(self, state: SourcesShard, shard: int) -> list[Piece]:
        """Return the rows that are done since the call began, which are final."""
        first = self.plan.ranges[shard][0]
        streams = {"distances": state.D} | ({} if state.P is None else {"predecessors": state.P})
        return [
            Piece(name, stream.complete()[top:bottom], (first + top, 0), final=True)
            for name, stream in streams.items()
            for top, bottom in state.done
        ]

    def bytes_kept(self, shard: int) -> int:
        """Return 0: rows that are done do not change, so they are not copied."""
        return 0

    def resumed(self, state: SourcesShard, shard: int, saved: Saved) -> int:
        """Fill the rows that are done, and search from the other sources only."""
        known = [rows for rows, _ in saved.manifest.boxes("distances")]
        left = [_left(known, *own) for own in self.plan.ranges]
        batches = [_batches(rows, self.detail.batch) for rows in left]
        state.batches, state.rounds = batches[shard], max(map(len, batches))
        first, last = self.plan.ranges[shard]
        streams = {"distances": state.D} | ({} if state.P is None else {"predecessors": state.P})
        for top, bottom in _left([(first + top, first + bottom) for top, bottom in left[shard]], first, last):
            for name, stream in streams.items():
                saved.fill(Piece(name, stream.whole[top:bottom], (first + top, 0)))
        return 0

    def collect(self, state: SourcesShard, comm: Communicator) -> dict[str, Array]:
        """Return the shard's rows of the result."""
        results = {"distances": state.D.complete()}
        if state.P is not None:
            results["predecessors"] = state.P.complete()
        return results


def _left(known: Iterable[tuple[int, int]], first: int, last: int) -> list[tuple[int, int]]:
    """Return the ranges from `first` to `last` that no known one covers, less `first`."""
    left, end = [], first
    for top, bottom in sorted(known):
        if top >= last:
            break
        if top > end:
            left.append((end - first, top - first))
        end = max(end, min(bottom, last))
    return [*left, (end - first, last - first)] if end < last else left


def _batches(rows: Iterable[tuple[int, int]], size: int) -> list[tuple[int, int]]:
    """Return ranges cut into batches of at most `size`."""
    return [(top, min(top + size, end)) for start, end in rows for top in range(start, end, max(1, size))]


def _window(weights: Array) -> float:
    """Return the best width of the window of distances that are settled together: `_WINDOW` average weights."""
    dtype = np.dtype(weights.dtype)
    most, least, largest = kernel_infinity(dtype), 1.0, float(kernel_infinity(dtype))
    if dtype.kind == "f":
        least, largest = float(np.finfo(dtype).tiny), float(np.finfo(dtype).max)
    with np.errstate(over="ignore"):
        width = _WINDOW * float(weights.sum()) / len(weights) if len(weights) else 0.0
    return width if least <= width <= largest else most
