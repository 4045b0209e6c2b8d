"""Betweenness: the program over ranges of the list of sources.

``kernels/betweenness.cu`` explains the algorithm. A shard has the whole graph and a range of the sources. A superstep
takes the next batch of them: it finds their distances by weights, if there are weights, then counts paths and gathers
dependencies, and adds these to the shard's sums. On a GPU, sources share reads of edges (``betweenness_many.cu``) if
there are no weights and few levels. Of a road network, sweeps down a hierarchy do all this
(``betweenness_sweeps.cu``). At the end the shards' sums are added up.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...graph import Compressed, Graph
from ...graph.compressed import lightest, rows_of
from ...graph.potentials import lengths_of
from ...graph.vertex_range import VertexRange
from ...hierarchy.hierarchy import hierarchy_of, prepared
from ...hierarchy.prepared import Prepared
from ...kernels import betweenness as betweenness_kernels
from ...kernels import betweenness_many as together_kernels
from ...kernels import betweenness_sweeps as sweeps_kernels
from ...kernels.betweenness import LONG, TOO_LONG, TOO_MANY, Rows
from ...kernels.betweenness_many import Memory, memory, memory_bytes, words_of
from ...planning.plan import Plan
from ...runtime.checkpoints import NumberRange, Piece, Resumable, Saved, fingerprint_of_edges, vertices_in_short
from ...runtime.communicator import Communicator
from ...runtime.gathering import Whole
from ..batched_sssp import Network, Searches, batches_of, network, resumed_rows
from .detail import BetweennessDetail
from .pairs import Pairs


class Edges(NamedTuple):
    """A whole graph, as shards are given it.

    Attributes
    ----------
    network : Network
        The graph without parallel edges.
    by_source : Compressed
        Its edges by source.
    given : Compressed or None
        All edges by source, if there are parallel ones.
    prepared : Prepared or None
        A hierarchy of the graph without parallel edges, to sweep down it.
    """

    network: Network
    by_source: Compressed
    given: Compressed | None
    prepared: Prepared | None = None


def edges_of(graph: Graph, place: devices.Device | None = None, swept: bool = False) -> Edges:
    """Return a graph as the piece of each shard; on `place`, if that is the device of the only shard.

    If it is to be `swept`, it has a hierarchy.
    """
    chosen = without_parallel_edges(graph)
    given = None if chosen is graph else graph.compressed("csr")
    found = None
    if swept:
        host = devices.find("cpu")
        found = prepared(hierarchy_of(chosen, np.dtype(np.int32), host), host if place is not None else None)
    return Edges(network(chosen, place=place), chosen.compressed("csr"), given, found)


def without_parallel_edges(graph: Graph) -> Graph:
    """Return a graph without all but the lightest of parallel edges; itself if it has no such edges."""
    simple: Graph | None = graph.kept(
        "without parallel edges", devices.find("cpu"), partial(_simple, graph), weights=True
    )
    return graph if simple is None else simple


def _simple(graph: Graph) -> Graph | None:
    """Return a graph without all but the lightest of parallel edges; None if it has no such edges."""
    edges = graph.compressed("csr")
    xp = devices.of(edges.indices).xp
    if not bool(_is_first(*edges[:2], xp).all()):
        found = lightest(Compressed(*(None if part is None else devices.to_host(part) for part in edges)))
        return Graph(graph.n, csr=found, directed=graph.directed, nonnegative=graph.nonnegative)
    return None


def _is_first(indptr: Array, indices: Array, xp: Any) -> Array:
    """Return which edges by source are the first of those between their two vertices."""
    first = xp.ones(len(indices), bool)
    first[1:] = indices[1:] != indices[:-1]
    starts = indptr[:-1]
    first[starts[starts < len(indices)]] = True
    return first


def gathered_edges(whole: Whole, part: VertexRange, device: devices.Device, comm: Communicator) -> Edges:
    """Return a graph that lies in ranges, on every shard."""
    return edges_of(whole.graph(part, device, comm))


def _may_be_long(weights: Array | None, n: int) -> bool:
    """Return whether integer weights may add up to `LONG` along a path."""
    if weights is None or np.dtype(weights.dtype).kind == "f" or not len(weights):
        return False
    return int(weights.max()) * max(1, n - 1) >= LONG


def longest(rows: Array, xp: Any) -> float:
    """Return the greatest finite distance of some rows, which are taken one by one, for want of memory."""
    return max((float(xp.where(row < np.inf, row, 0.0).max()) for row in rows), default=0.0)


@dataclass
class Shard:
    """A shard's state.

    Attributes
    ----------
    by_source, by_target : tuple of array
        The edges, with their lengths if there are any.
    searches : Searches or None
        What finds distances by weights.
    rows : Rows or None
        What is computed from each source of a batch.
    memory : Memory or None
        What is computed from all sources of a batch, if they share reads of edges.
    swept : Swept or None
        A hierarchy that is swept down.
    trouble : array of int32, shape (3,)
        As of the kernels' operations.
    may_be_long : bool
        Whether distances in float64 stand for integers that may be `LONG`.
    marks : array of uint8, shape (k, 1)
        Ones, a row for each source of the shard, by which checkpoints know those that are done.
    batches, done : list of (int, int)
        The sources that were left when the call began, and those that are done since, as rows of the shard.
    begun, rounds : int
        The superstep of the first batch, and that after the last batch of the shard with most of them.
    """

    device: devices.Device
    kernels: betweenness_kernels.Operations
    edges: Edges
    by_source: tuple[Array, ...]
    by_target: tuple[Array, ...]
    searches: Searches | None
    sources: Array
    targets: Array
    rows: Rows | None
    memory: Memory | None
    swept: "Swept | None"
    sums: Array
    trouble: Array
    marks: Array
    batches: list[tuple[int, int]]
    rounds: int
    may_be_long: bool = False
    begun: int = 0
    stopped: bool = False
    done: list[tuple[int, int]] = field(default_factory=list)


class Swept:
    """A hierarchy, prepared on the host, with the numbers of paths of its entries; to be swept on a device."""

    def __init__(self, piece: Prepared, device: devices.Device) -> None:
        on, lengths = piece.on(devices.find("cpu"))
        self._order, self._rank = piece.structure.order, piece.structure.rank
        self._host, self._device, self._kernels = sweeps_kernels.on(on.device), device, sweeps_kernels.on(device)
        structure = on.tree, on.entries, on.lower, on.upward, on.downward
        self._numbers = self._host.numbers(structure, lengths.edges, lengths.up, lengths.down)
        self._placed = self._kernels.placed(self._numbers)

    def add(self, sources: Array, targets: Array, pairs: Pairs, directed: bool, sums: Array) -> bool:
        """Add what sources contribute to sums over vertices or edges; return whether no number was too large."""
        starts, ends = self._rank[devices.to_host(sources)], devices.to_host(targets)[self._order]
        most = int(min(pairs.limit, np.iinfo(np.int32).max))
        swept = self._kernels.sweep(self._placed, starts, ends, most, pairs.endpoints, directed)
        if swept is None:
            return False
        found = np.zeros(len(sums))
        self._host.hand_down(self._numbers, swept, pairs.edges, found)
        sums += self._device.asarray(found if pairs.edges else found[self._rank])
        return True


class Dependencies(Resumable):
    """Sums of dependencies over ranges of the list of sources.

    Parameters
    ----------
    plan : Plan
        Its ranges are those of the list; each shard's device has the whole graph.
    pairs : Pairs
        Which pairs count.
    directed : bool
        Whether the graph is directed.
    """

    #: The results that go to the caller, if the graph lies on workers.
    facts: ClassVar[tuple[str, ...]] = ("betweenness", "src", "dst", "trouble")

    def __init__(self, plan: Plan[BetweennessDetail], pairs: Pairs, directed: bool) -> None:
        self.plan = plan
        self.pairs = pairs
        self.directed = directed

    def load(self, shard: int, piece: Edges, device: devices.Device) -> Shard:
        """Return the shard with the graph on its device, before the first batch."""
        xp, n, detail, kernels = device.xp, self.plan.n, self.plan.detail, betweenness_kernels.on(device)
        batches = [batches_of([(0, last - first)], detail.batch) for first, last in self.plan.ranges]
        own = self.pairs.sources[slice(*self.plan.ranges[shard])]
        batch, computed = min(detail.batch, len(own)), np.dtype(detail.computed)
        by_target: tuple[Array, ...] = tuple(map(device.asarray, piece.network.incoming[:2]))
        outgoing = piece.network.outgoing
        by_source = by_target if outgoing is None else tuple(map(device.asarray, outgoing))
        searches = None
        if detail.entries and detail.weighted:
            by_target = (*by_target, lengths_of(piece.network.incoming, computed, device))  # for checkpoints
        elif detail.weighted:
            limit, apart = self.pairs.limit, detail.apart
            searches = Searches(piece.network, device, batch, computed, computed, limit, apart)
            by_target = searches.by_target
            by_source = (*by_source, self._lengths(piece, computed, device)) if self.directed else by_target
        return Shard(
            device=device,
            kernels=kernels,
            edges=piece,
            by_source=by_source,
            by_target=by_target,
            searches=searches,
            sources=device.asarray(own),
            targets=device.asarray(self.pairs.is_target(n)),
            rows=None if detail.together or detail.entries else kernels.rows(xp, batch, n, computed, detail.wide),
            memory=memory(xp, n, len(by_source[1]), words_of(batch)) if detail.together and batch else None,
            swept=Swept(piece.prepared, device) if detail.entries and piece.prepared is not None else None,
            sums=xp.zeros(len(by_source[1]) if self.pairs.edges else n, np.float64),
            trouble=xp.zeros(3, np.int32),
            marks=xp.ones((len(own), 1), np.uint8),
            batches=batches[shard],
            rounds=max(map(len, batches)),
            may_be_long=_may_be_long(piece.network.incoming.weights, n),
        )

    def _lengths(self, piece: Edges, computed: np.dtype, device: devices.Device) -> Array:
        """Return the lengths of the edges by source."""
        kept = piece.network.lengths("csr", computed, device)
        return lengths_of(piece.by_source, computed, device) if kept is None else kept

    def step(self, state: Shard, first: int, limit: int, comm: Communicator) -> int:
        """Add what one batch of sources contributes; nothing more once numbers of paths were too large."""
        s = state
        if first >= s.rounds:
            return 0
        number = first - s.begun
        if number < len(s.batches) and not s.stopped:
            sources = s.sources[slice(*s.batches[number])]
            if s.swept is not None:
                if not s.swept.add(sources, s.targets, self.pairs, self.directed, s.sums):
                    s.trouble[TOO_MANY], s.stopped = 1, True
            elif s.memory is None or not self._add_together(s, sources):
                rows = self._rows(s)
                for top in range(0, len(sources), len(rows.counts)):
                    self._add(s, sources[top : top + len(rows.counts)], rows)
            if not s.stopped:
                s.done.append(s.batches[number])
        return 1

    def identity(self) -> dict[str, Any]:
        """Return what a checkpoint must have been written for."""
        pairs, detail = self.pairs, self.plan.detail
        return super().identity() | {
            "m": self.plan.m,
            "weighted": detail.weighted,
            "computed": detail.computed,
            "wide": detail.wide,
            "sources": vertices_in_short(pairs.sources.tolist()),
            "targets": None if pairs.targets is None else vertices_in_short(pairs.targets.tolist()),
            "sampled": pairs.sampled,
            "limit": None if pairs.limit == float("inf") else pairs.limit,
            "edges": pairs.edges,
            "normalized": pairs.normalized,
            "endpoints": pairs.endpoints,
        }

    def fingerprint(self, state: Shard, shard: int) -> int:
        """Return the fingerprint of the edges into a shard's share of the vertices; every shard has all edges."""
        n, shards = self.plan.n, len(self.plan.ranges)
        first, last = n * shard // shards, n * (shard + 1) // shards
        indptr, indices, *lengths = state.by_target
        own = slice(int(indptr[first]), int(indptr[last]))
        values = lengths[0][own] if lengths else None
        return fingerprint_of_edges(first, Compressed(indptr[first : last + 1] - indptr[first], indices[own], values))

    def pieces(self, state: Shard, shard: int) -> list[Piece]:
        """Return the shard's sums, and marks of the sources that are done since the call began."""
        first = self.plan.ranges[shard][0]
        done = [Piece("done", state.marks[top:end], (first + top, 0), final=True) for top, end in state.done]
        return [Piece("sums", state.sums[None], (shard, 0)), *done]

    def allowed(self) -> Mapping[str, NumberRange]:
        """Return sums that are no NaN, and the marks."""
        return {"sums": NumberRange(0.0, float("inf")), "done": NumberRange(1, 1)}

    def bytes_kept(self, shard: int) -> int:
        """Return the bytes of the sums."""
        return 8 * (self.plan.m if self.pairs.edges else self.plan.n)

    def resumed(self, state: Shard, shard: int, saved: Saved) -> int:
        """Add the sums of one shard in so many, and go on with the sources that are left, in the last supersteps."""
        state.sums.fill(0)  # a later checkpoint, which turned out to be damaged, may have been added
        for row, _ in saved.rows("sums", len(saved.manifest.files)):
            if row % len(self.plan.ranges) == shard:
                sums = state.device.xp.empty((1, len(state.sums)), np.float64)
                saved.fill(Piece("sums", sums, (row, 0)))
                state.sums += sums[0]
        sources, batch = len(self.pairs.sources), self.plan.detail.batch
        return resumed_rows(state, shard, saved, self.plan, batch, "done", sources, {"done": state.marks})

    def _add_together(self, s: Shard, sources: Array) -> bool:
        """Add what sources contribute that share reads of edges; return whether they could."""
        most, pairs, held = int(min(self.pairs.limit, self.plan.n)), self.pairs, s.memory
        assert held is not None
        edges = s.by_source[:2], s.by_target[:2]
        operation = together_kernels.on(s.device).add_together
        fits = operation(*edges, sources, s.targets, most, pairs.endpoints, pairs.edges, held, s.sums, s.trouble)
        s.stopped = bool(devices.to_host(s.trouble).any())
        return fits

    def _rows(self, s: Shard) -> Rows:
        """Return the rows; make as many as take the memory of a batch that turned out to have too many levels."""
        if s.rows is None:
            n, itemsize = self.plan.n, np.dtype(np.int32).itemsize
            room = memory_bytes(n, len(s.by_source[1]), words_of(self.plan.detail.batch))
            s.memory = None
            count = max(1, min(self.plan.detail.batch, room // s.kernels.row_bytes(n, itemsize, False)))
            s.rows = s.kernels.rows(s.device.xp, count, n, np.int32, False)
        return s.rows

    def _add(self, s: Shard, sources: Array, rows: Rows) -> None:
        """Add what sources contribute, each by itself, unless numbers of paths were too large."""
        if s.stopped:
            return
        k, rows = s.kernels, Rows(*(array[: len(sources)] for array in rows))
        if s.searches is None:
            k.levels(
                s.by_source, s.by_target, sources, s.targets, int(min(self.pairs.limit, self.plan.n)), rows, s.trouble
            )
        else:
            s.searches.write(sources, rows.distances, None)
            if s.may_be_long and longest(rows.distances, s.device.xp) >= LONG:
                s.trouble[TOO_LONG], s.stopped = 1, True
                return
            k.tight(s.by_source, s.by_target, sources, s.targets, rows, s.trouble)
        s.stopped = bool(devices.to_host(s.trouble).any())
        if not s.stopped and self.pairs.edges:
            k.add_edges(s.by_source[:2], None if s.searches is None else s.by_source[2], rows, s.sums)
        elif not s.stopped:
            k.add(sources, s.targets, self.pairs.endpoints, rows, s.sums)

    def collect(self, state: Shard, comm: Communicator) -> dict[str, Array]:
        """Return the shard's share of the vertices or edges, with the sums of all shards, and its `trouble`."""
        xp, sums = state.device.xp, state.sums
        comm.allreduce(sums, "sum")
        del state.rows, state.memory, state.searches, state.swept  # frees memory to sort edges
        found = {"betweenness": sums}
        if self.pairs.edges:
            found = self._of_edges(state, xp)
        self.pairs.scale(found["betweenness"], self.directed, self.plan.n, xp)
        count, shards = len(found["betweenness"]), len(self.plan.ranges)
        own = slice(count * comm.rank // shards, count * (comm.rank + 1) // shards)
        return {name: array[own] for name, array in found.items()} | {"trouble": state.trouble}

    def _of_edges(self, state: Shard, xp: Any) -> dict[str, Array]:
        """Return the sums of all edges and their ends; both directions of an undirected edge have the sum of both.

        Of parallel edges the lightest share the sum.
        """
        n, sums, device = self.plan.n, state.sums, state.device
        indptr, indices = state.by_source[:2]
        src = rows_of(indptr, len(indices), xp)
        if not self.directed:
            sums = sums + sums[(indices.astype(np.int64) * n + src).argsort()]
        if state.edges.given is None:
            return {"betweenness": sums, "src": src, "dst": indices.copy()}
        indptr, indices = map(device.asarray, state.edges.given[:2])
        place = xp.cumsum(_is_first(indptr, indices, xp)) - 1
        counted = xp.ones(len(indices), bool)
        if self.plan.detail.weighted:
            all_weights, least = state.edges.given.weights, state.edges.by_source.weights
            counted = device.asarray(all_weights) == device.asarray(least)[place]
        sharing = xp.bincount(place[counted], minlength=len(sums))
        values = xp.where(counted, (sums / sharing)[place], 0.0)
        return {"betweenness": values, "src": rows_of(indptr, len(indices), xp), "dst": indices.copy()}
