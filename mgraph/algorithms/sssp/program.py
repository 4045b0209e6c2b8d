"""Shortest paths from one source: the program over vertex ranges.

The algorithms and their sources are described in ``kernels/sssp.cu``. A shard owns a range of vertices and the edges
into them. A superstep is a round: every shard has all distances and a mask of the vertices to relax, relaxes the edges
into its own vertices, and learns what fell in the others' ranges: from lists of vertices and distances, or, where the
shards' ranges are short or most distances fell, by gathering all distances and masks. Then every method runs over
masks, as piles depend on the order in which distances fall. Where the plan says so, shards search apart instead: a
superstep is then many rounds by piles on each shard, and an exchange. GPUs of a host that reach each other's memory
exchange within a launch instead, after each round. A single shard runs as many rounds in one launch as the span allows,
each method as its paper describes it.

Predecessors are computed from the finished distances, so they are the same for every method and number of shards.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np

from ... import device as devices
from ...arrays import Array, filled, vertices_on
from ...dtypes import NO_PREDECESSOR, distance_range, infinity, kernel_infinity, name_of
from ...graph import Compressed
from ...graph.potentials import lengths_of
from ...graph.vertex_range import Part
from ...graph.weights import decode
from ...kernels import sssp as sssp_kernels
from ...planning.plan import Plan
from ...runtime.checkpoints import Bits, NumberRange, Piece, Resumable, Saved, fingerprint_of_edges, vertices_in_short
from ...runtime.communicator import Communicator
from .nearest import nearest_sources
from .relaxation import Apart, Relaxation

#: Rounds after which a graph with negative weights is checked for a negative cycle, with which rounds would never end.
PATIENCE = 1024


@dataclass(frozen=True)
class Request:
    """The parameters of a search.

    Attributes
    ----------
    sources : tuple of int
        The vertices to start from.
    nearest : bool
        Whether to find each vertex's nearest source.
    target : int
        The vertex to end at; -1 means none.
    limit : float
        The greatest distance to search to.
    window : float
        Width of the window of distances that are relaxed before those beyond it.
    negative : bool
        Whether there are negative weights.
    """

    sources: tuple[int, ...]
    nearest: bool
    limit: float
    target: int
    window: float
    negative: bool

    @property
    def several(self) -> bool:
        """Whether there may be more than one source."""
        return self.nearest or len(self.sources) > 1


@dataclass
class OneSourceShard:
    """A shard's state.

    Attributes
    ----------
    before : int
        Rounds that were run before the call went on from a checkpoint.
    """

    device: devices.Device
    number: int
    search: Relaxation
    before: int = 0


class FromOneSource(Resumable):
    """Shortest paths from one source, or from the nearest of several, over ranges of vertices.

    Parameters
    ----------
    plan : Plan
        The plan.
    request : Request
        The parameters of the search.
    patience : int, optional
        Rounds after which to stop and report `doubt`: there may be a negative cycle. By default there are at most n + 1
        rounds, which only rounding of floats exceeds, and no doubt.
    """

    facts: ClassVar[tuple[str, ...]] = ("rounds", "doubt")
    ended = attrgetter("search.finished")

    def __init__(self, plan: Plan, request: Request, patience: int | None = None) -> None:
        self.plan = plan
        self.request = request
        self.patience = patience
        #: The most rounds to run: no path of least weight has more edges than there are vertices.
        self.most = min(patience or plan.n + 1, plan.n + 1) if request.negative else None
        alone = plan.detail.alone
        self.masked = plan.method == "mask" or (len(plan.ranges) > 1 and not alone)
        #: What makes the searches of a shard.
        self.search: Callable[..., Relaxation] = (
            partial(Apart, alone=alone) if alone else partial(Relaxation, masked=self.masked)
        )

    def load(self, shard: int, piece: Part, device: devices.Device) -> OneSourceShard:
        """Return the shard with only the sources reached."""
        xp, dtype, request = device.xp, np.dtype(self.plan.dtype), self.request
        indptr, indices = piece.layout("csr", device)
        kernels = sssp_kernels.on(device)
        kernels.compile_ahead(indptr, dtype, self.masked, self.plan.detail.meets)
        edges = Compressed(indptr, indices, self.lengths(piece, device))
        distances = filled(self.plan.n, kernel_infinity(dtype), dtype, xp)
        search = self.search(
            *(device, kernels, edges, distances, vertices_on(device, request.sources), self.plan.ranges, shard),
            window=request.window,
            # With negative weights a path may return from beyond the limit, so the limit prunes nothing.
            limit=float("inf") if request.negative else request.limit,
            target=-1 if request.negative else request.target,
        )
        return OneSourceShard(device, shard, search)

    def lengths(self, piece: Part, device: devices.Device) -> Array:
        """Return the encoded weights of the edges into the shard's vertices, by source."""
        dtype = np.dtype(self.plan.dtype)
        make = lambda: lengths_of(piece.compressed("csr"), dtype, device)  # noqa: E731
        return piece.kept(f"lengths.{name_of(dtype)}", device, make, weights=True)

    def step(self, state: OneSourceShard, first: int, limit: int, comm: Communicator) -> int:
        """Run up to `limit` rounds, all in one launch if there is no other shard, or the shards meet within it."""
        if self.most is not None:
            limit = min(limit, self.most - state.before - state.search.rounds)
        return state.search.advance(limit, comm) if limit > 0 else 0

    def collect(self, state: OneSourceShard, comm: Communicator) -> dict[str, Array]:
        """Return the shard's part of the results, the rounds, and `doubt`: whether there may be a negative cycle."""
        search, request = state.search, self.request
        first, last = self.plan.ranges[state.number]
        distances, dtype = search.distances, np.dtype(self.plan.dtype)
        # A distance below the type's range may have fallen there along a negative cycle.
        doubt = self.patience is not None and (
            not search.finished
            or (dtype.kind == "i" and int(distances.min()) < distance_range(dtype, nonnegative=False)[0])
        )
        results = {"rounds": np.array([state.before + search.rounds]), "doubt": np.array([doubt])}
        if doubt:
            return results | {"distances": distances[first:last]}
        if not request.negative and (request.target >= 0 or request.limit < math.inf):
            _cut(distances, request, kernel_infinity(dtype))
        if self.plan.predecessors or request.nearest:
            parents = self._predecessors(state, comm)
            if self.plan.predecessors:
                results["predecessors"] = parents
            if request.nearest:
                everyone = state.device.xp.full(last - first, search.kernels.OPEN, np.int32)
                known = state.device, search.tight(first, everyone), distances, parents
                sources = vertices_on(state.device, request.sources)
                results["nearest"] = nearest_sources(*known, sources, self.plan.ranges, comm)
        own = distances[first:last]
        decode(own.reshape(1, -1), None, state.device, not request.negative, lowered=False)
        if request.negative:  # after decode: a path within the limit may pass distances out of range, which is an error
            _cut(distances, request, infinity(dtype))
            if request.nearest:
                results["nearest"][own == infinity(dtype)] = NO_PREDECESSOR
        return results | {"distances": own}

    def identity(self) -> dict[str, Any]:
        """Return what a checkpoint must have been written for."""
        request = self.request
        limit = None if math.isinf(request.limit) else float(request.limit)
        start = vertices_in_short(request.sources) if request.several else request.sources[0]
        return super().identity() | {"source": start, "limit": limit, "target": request.target}

    def fingerprint(self, state: OneSourceShard, shard: int) -> int:
        """Return the fingerprint of the edges into the shard's vertices."""
        return fingerprint_of_edges(0, state.search.edges)

    def pieces(self, state: OneSourceShard, shard: int) -> list[Piece]:
        """Return the distances of the shard's vertices, a bitmap of those to relax, and the bound of the near ones."""
        (first, last), search = self.plan.ranges[shard], state.search
        words = search.pending()[first // 32 :][: -(-(last - first) // 32)]
        return [
            Piece("distances", search.distances[first:last], (first,)),
            Piece("pending", words, (first // 32,)),
            Piece("bound", search.bound, (shard,)),
        ]

    def allowed(self) -> Mapping[str, NumberRange | Bits]:
        """Return the distances that a search finds, and a bit for each vertex."""
        dtype = np.dtype(self.plan.dtype)
        distances = NumberRange(float("-inf") if self.request.negative else 0, kernel_infinity(dtype))
        return {"distances": distances, "bound": distances, "pending": Bits(self.plan.n)}

    def bytes_kept(self, shard: int) -> int:
        """Return the bytes of the distances and of the bitmap."""
        first, last = self.plan.ranges[shard]
        return (last - first) * np.dtype(self.plan.dtype).itemsize + 4 * -(-(last - first) // 32)

    def resumed(self, state: OneSourceShard, shard: int, saved: Saved) -> int:
        """Fill the distances of all vertices, and go on with those that were to be relaxed."""
        pending = state.device.xp.zeros(-(-self.plan.n // 32), np.uint32)
        saved.fill(Piece("pending", pending, (0,)))
        [bound, *_] = saved.values("bound", (1,), self.plan.dtype)
        state.search.begin(
            pending, state.device.asarray(bound), lambda distances: saved.fill(Piece("distances", distances, (0,)))
        )
        state.before = saved.manifest.step
        return saved.manifest.step

    def _predecessors(self, state: OneSourceShard, comm: Communicator) -> Array:
        """Return the predecessors of the shard's vertices.

        An edge is tight if it lies on a shortest path. A vertex without a tight edge from a nearer vertex is left open
        at first. A second search then counts hops along tight edges from all other vertices to the open ones, and by
        hops each of these has a nearer vertex.
        """
        device, search, request, ranges = state.device, state.search, self.request, self.plan.ranges
        xp, kernels, edges, distances = device.xp, search.kernels, search.edges, search.distances
        first, last = ranges[state.number]
        parent = xp.full(last - first, kernels.OPEN, np.int32)
        if not request.negative:
            kernels.parents(edges, first, distances, parent, search.pieces, search.control)
        open_anywhere = xp.zeros(1, np.int32)
        if request.several:  # a source that is reached by a path of negative weight is no root
            roots = vertices_on(device, request.sources)
            roots = roots[(roots >= first) & (roots < last) & (distances[roots] == 0)]
            parent[roots - first] = NO_PREDECESSOR
        kernels.settle_roots(first, -1 if request.several else request.sources[0], distances, parent, open_anywhere)
        comm.allreduce(open_anywhere, "max")  # and all have ended the first search: the second one uses its memory
        if int(open_anywhere[0]):
            unreached = kernel_infinity(np.dtype(distances.dtype))
            hops = xp.full(self.plan.n, kernel_infinity(np.dtype(np.int32)), np.int32)
            hops[first:last][(distances[first:last] < unreached) & (parent != kernels.OPEN)] = 0
            comm.allgather(hops, ranges)
            tight = search.tight(first, parent)
            seeds = xp.flatnonzero(hops == 0).astype(np.int32)
            second = self.search(device, kernels, tight, hops, seeds, ranges, state.number)
            while second.advance(len(hops) + 1, comm):
                pass
            kernels.parents(tight, first, hops, parent, second.pieces, second.control)
            parent[parent == kernels.OPEN] = NO_PREDECESSOR
        return parent


def _cut(distances: Array, request: Request, unreached: float) -> None:
    """Set distances beyond the limit, or farther than the target, to `unreached`."""
    most = request.limit if request.target < 0 else min(request.limit, distances[request.target].item())
    if most < unreached:
        distances[distances > most] = unreached
