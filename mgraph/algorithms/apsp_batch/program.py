"""Shortest paths of a batch of small graphs: the program, of one superstep on one device."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...dtypes import NO_PREDECESSOR, infinity, kernel_infinity
from ...errors import ArgumentValue, DistanceOverflowError, InputError
from ...graph.weights import decode, encode
from ...kernels import apsp_batch as batch_kernels
from ...kernels import closure as closure_kernels
from ...planning.plan import Plan
from ...runtime.communicator import Communicator
from .detail import BatchDetail
from .request import Batch

#: The value for "no negative cycle was found".
NO_CYCLE = -1


@dataclass
class Loaded:
    """The batch on its device.

    Attributes
    ----------
    bits : array of uint32, shape (count, side, words), or None
        The edges of unweighted graphs.
    distances : array of shape (count, side, side)
        The lengths of edges, or infinity, before the superstep.
    predecessors : array of int32, shape (count, side, side), or None
        -9999 before the superstep.
    classes : list of (int, array of int32)
        The most vertices, and the graphs, of each class of sizes.
    flags : array of int32
        Whether a hop count does not fit its type; of weighted graphs the vertex on a negative cycle of each, or
        `NO_CYCLE`.
    """

    device: devices.Device
    lengths: Array
    bits: Array | None
    distances: Array
    predecessors: Array | None
    classes: list[tuple[int, Array]]
    flags: Array


class AllPairs:
    """Distances between all pairs of vertices of each graph of a batch."""

    def __init__(self, plan: Plan[BatchDetail], nonnegative: bool) -> None:
        self.plan = plan
        self.nonnegative = nonnegative

    def load(self, shard: int, piece: Batch, device: devices.Device) -> Loaded:
        """Place the edges on the device."""
        xp, kernels = device.xp, batch_kernels.on(device)
        count, side, dtype = piece.count, piece.side, np.dtype(self.plan.detail.computed)
        lengths = device.asarray(piece.lengths)
        shape = count, side, side
        weighted = piece.weights_dtype is not None
        distances = xp.empty(shape, dtype)
        kernels.fill(distances, kernel_infinity(dtype) if weighted else infinity(dtype))
        predecessors = xp.empty(shape, np.int32) if self.plan.predecessors else None
        if predecessors is not None:
            kernels.fill(predecessors, NO_PREDECESSOR)
        bits = None if weighted else xp.zeros((count, side, -(-side // 32)), np.uint32)
        if piece.matrices is not None:
            matrices = device.asarray(piece.matrices).reshape(count * side, side)
            if bits is not None:
                closure_kernels.on(device).pack(matrices, bits.reshape(count * side, bits.shape[2]))
            else:
                # Their diagonals are no longer positive; that of all rows together lies beyond the columns.
                encode(matrices, distances.reshape(matrices.shape), device, diagonal=side, result=self.plan.dtype)
        else:
            self._place(piece, device, bits, distances)
        flags = xp.full(count, NO_CYCLE, np.int32) if weighted else xp.zeros(1, np.int32)
        classes = _classes(lengths, side, kernels.CLASSES, xp)
        return Loaded(device, lengths, bits, distances, predecessors, classes, flags)

    def _place(self, piece: Batch, device: devices.Device, bits: Array | None, distances: Array) -> None:
        """Set the bits of edges, or lower their distances to their weights; or raise InputError for a wrong edge."""
        xp, kernels = device.xp, batch_kernels.on(device)
        src, dst, batch = map(device.asarray, (piece.src, piece.dst, piece.batch))
        starts = xp.zeros(piece.count + 1, np.int64)
        xp.cumsum(device.asarray(piece.lengths), out=starts[1:])
        bad = xp.full(1, len(src), np.int64)
        if bits is not None:
            kernels.mark(src, dst, batch, starts, bits, bad)
        else:
            weights = xp.empty(len(src), distances.dtype)
            encode(device.asarray(piece.weights), weights, device, result=self.plan.dtype)
            kernels.lay(src, dst, batch, starts, weights, distances, bad)
        edge = int(bad[0])
        if edge < len(src):
            u, v, vertices = int(src[edge]), int(dst[edge]), len(batch)
            for end in (u, v):
                if not 0 <= end < vertices:
                    raise InputError(
                        f" in edge {edge}", argument="edge_index", value=end, expected=f"vertices in [0, {vertices})"
                    )
            raise InputError(
                f"edge {edge} leads from vertex {u} of graph {int(batch[u])} to vertex {v} of graph {int(batch[v])}: "
                "an edge must lie in one graph"
            )

    def step(self, state: Loaded, first: int, limit: int, comm: Communicator) -> int:
        """Solve the graphs, a class of sizes after the other."""
        if first:
            return 0
        kernels = batch_kernels.on(state.device)
        for longest, order in state.classes:
            results = state.distances, state.predecessors, state.flags
            if state.bits is not None:
                kernels.hops(state.bits, order, state.lengths, longest, *results)
            else:
                kernels.solve(order, state.lengths, longest, *results)
        return 1

    def collect(self, state: Loaded, comm: Communicator) -> dict[str, Array]:
        """Return the results, decoded, and the vertex of each graph on a negative cycle, if weights are negative."""
        xp, D, P = state.device.xp, state.distances, state.predecessors
        wanted, found = np.dtype(self.plan.dtype), {}
        if state.bits is not None:
            if int(state.flags[0]):
                most = infinity(np.dtype(D.dtype)) - 1
                raise DistanceOverflowError(
                    f"a path has more than {most} edges, the most of {D.dtype.name}: use ",
                    ArgumentValue("dtype", "int16"),
                )
            if D.dtype != wanted:
                none = D == infinity(np.dtype(D.dtype))
                D = D.astype(wanted)
                D[none] = infinity(wanted)
        else:
            if not self.nonnegative:
                found["cycles"] = self._cycles(state, xp)
            rows = D.reshape(len(D), D.shape[1] * D.shape[2])  # kernels count rows in int32, and graphs fit
            decode(rows, None if P is None else P.reshape(rows.shape), state.device, self.nonnegative)
        return {"distances": D} | ({} if P is None else {"predecessors": P}) | found

    def _cycles(self, state: Loaded, xp: Any) -> Array:
        """Return a vertex on a negative cycle of each graph, or `NO_CYCLE`; such a graph's distances become infinite.

        By rounding, a float on the diagonal may fall below zero after its vertex was the pivot.
        """
        D, cycles = state.distances, state.flags
        own = xp.arange(D.shape[1])
        fallen = D[:, own, own] < 0
        late = fallen.any(axis=1) & (cycles == NO_CYCLE)
        cycles[late] = fallen[late].argmax(axis=1)
        D[xp.flatnonzero(cycles != NO_CYCLE)] = kernel_infinity(np.dtype(D.dtype))
        return cycles


def _classes(lengths: Array, side: int, bounds: tuple[int, ...], xp: Any) -> list[tuple[int, Array]]:
    """Return the graphs by classes of sizes: each class's bound and its graphs."""
    needed = [bound for bound in bounds if bound < side]
    if not needed:
        return [(bounds[0], xp.arange(len(lengths), dtype=np.int32))] if len(lengths) else []
    classes = xp.searchsorted(xp.asarray(needed), lengths)
    order = classes.argsort(kind="stable").astype(np.int32)
    ends = devices.to_host(xp.bincount(classes, minlength=len(needed) + 1)).cumsum().tolist()
    parts = zip(bounds, [0, *ends[:-1]], ends, strict=False)
    return [(bound, order[first:last]) for bound, first, last in parts if first < last]
