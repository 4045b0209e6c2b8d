"""Sweeps down a hierarchy from many sources on one device: what `mgraph.distances` does with a `mgraph.Hierarchy`.

The costs of preparing a hierarchy and of its sweeps stand here too. The figures are of road networks, on the machines
of benchmarks/NOTES.md ("Hierarchies"), relative to the rates of the planner.
"""

import math

import numpy as np

from .. import device as devices
from ..arrays import Array
from ..dtypes import NO_PREDECESSOR, infinity, name_of
from ..graph import Compressed, Graph
from ..graph.potentials import edge_lengths, reached_part
from ..graph.vertex_range import VertexRange
from ..hierarchy import Hierarchy, sweeps
from ..hierarchy.hierarchy import elimination_of, prepared
from ..hierarchy.lengths import Lengths, on_host
from ..hierarchy.placed import placed
from ..hierarchy.predecessors import by_entries
from ..hierarchy.prepared import Prepared
from ..hierarchy.structure import AN_ENTRY, Fill, Structure
from ..kernels import sssp_many as sssp_many_kernels
from ..kernels.hierarchy.ops import LABELS
from ..planning.devices import DeviceSpec, rates_of, speed_of
from ..planning.shape import SAMPLED_EDGES, measured_shape
from ..runtime.checkpoints import Piece, fingerprint_of
from ..runtime.communicator import Communicator
from ..runtime.gathering import Whole

#: Sources of a batch whose rows are wanted, at least, and of one that a GPU measures.
BATCH, MEASURED = 1024, 1 << 15

#: The least number of sources that share a sweep on a core, and the most.
LEAST, LANES = 32, 128

#: The most edges of a vertex, on average, of a graph that is prepared unasked.
_SPARSE = 8

#: Seconds in which METIS orders a vertex, for each doubling of the number of vertices; and the bytes of the host that
#: it takes for a vertex and for an edge, whose two directions count: grids of up to a million vertices.
_ORDER = 0.34e-6
_ORDERED_VERTEX, _ORDERED_EDGE = 48, 30

#: Seconds in which an entry is found and placed, and in which customization reads a pair of entries on a core.
_FILL, _PAIR = 0.2e-6, 10e-9

#: Share of the rate of (min, +) products at which a core reads entries for `LANES` sources; and for how many sources it
#: would read one in the time that it takes besides.
_ENTRIES, _FETCH = 0.5, 100

#: Bytes that a CPU moves for a distance that is stored.
_STORED = 20

#: Seconds of a level of the tree in a GPU's sweep and of an entry in a climb, which bound a sweep from few sources; and
#: how often it moves a distance that is stored.
_LEVEL, _CLIMB, _MOVED = 8e-6, 10e-9, 3

#: Share of the rate of (min, +) products at which a GPU reads as many entries of a vertex as roads have, that number,
#: and the share for further entries: fewer warps have room for the larger stacks of meshes.
_READS, _SHALLOW, _DEEP = 0.17, 6, 0.06

#: Entries that are read in the time of a further measure.
_MEASURE = {"cpu": 1, "cuda": 2}

#: Share of the vertices whose labels a GPU keeps to measure the others' distances.
_KEPT = 1 / 16


def fingerprint_of_hierarchy(structure: Structure, lengths: Lengths, first: int, last: int) -> int:
    """Return the fingerprint of some vertices in the order of elimination, and of the lengths of their entries."""
    begin, up, down = structure.entries.begin, lengths.up, lengths.down
    low, high = int(begin[first]), int(begin[last])
    order = Piece("order", structure.order[first:last], (first,))
    return fingerprint_of([order, Piece("up", up[low:high], (low,)), Piece("down", down[low:high], (len(up) + low,))])


class Sweeps:
    """Sweeps on a device, a batch of sources at a time.

    Parameters
    ----------
    piece : Prepared
        The hierarchy, which is brought to the device.
    device : Device
        Where to sweep.
    targets : array of int32, shape (t,), or None
        The vertices whose distances are wanted; None is all.
    limit : float
        The greatest distance.
    rows : bool
        Whether distances are written, or else measured.
    """

    def __init__(
        self, piece: Prepared, device: devices.Device, targets: np.ndarray | None, limit: float, rows: bool
    ) -> None:
        self._structure, self._limit = piece.structure, limit
        self._on, self._lengths = piece.on(device)
        rank = self._structure.rank
        self.n = len(rank)
        self._ends = rank if targets is None else rank[targets]
        self._sweep = piece.sweep_to(self._on, None if targets is None else self._ends, rows)
        self._lasts, self._by_target = piece.lasts, None
        if self._lasts is not None:
            self._here, self._lengths_here = placed(self._structure, devices.find("cpu")), on_host(self._lengths)
        if piece.by_target is not None:
            indptr, indices = (device.asarray(part) for part in piece.by_target[:2])
            edges = Compressed(indptr, indices, piece.by_target.weights)
            self._by_target = indptr, indices, edge_lengths(edges, None, self._lengths.dtype, device)

    def fingerprint(self, first: int, last: int) -> int:
        """Return the fingerprint of some vertices in the order of elimination, and of the lengths of their entries."""
        return fingerprint_of_hierarchy(self._structure, self._lengths, first, last)

    def write(self, sources: np.ndarray, D: Array, P: Array | None = None) -> None:
        """Write the distances from some sources to the targets to the rows of D, and predecessors to those of P.

        Both are arrays on the device. Predecessors are found with the distances to all vertices: from these by the rule
        of searches, or by entries on the host, as the hierarchy was prepared.
        """
        starts, device = self._structure.rank[sources], self._on.device
        returns = P is not None and not self._lengths.nonnegative and self._limit < float("inf")
        limit = float("inf") if returns else self._limit  # a path may return from beyond the limit
        sweeps.distances(self._structure, self._on, device, self._lengths, starts, self._sweep, limit, D)
        if P is not None and self._lasts is not None:
            known, every = (self._structure, self._here, self._lengths_here, self._lasts), np.arange(len(self._ends))
            P[...] = device.asarray(by_entries(*known, lambda *_: devices.to_host(D), sources, every).predecessors)
        elif P is not None and self._by_target is not None:
            kernels = sssp_many_kernels.on(device)
            kernels.predecessors(D, device.asarray(sources), self._by_target, P)
            P[infinity(np.dtype(D.dtype)) == D] = NO_PREDECESSOR
        if returns:
            sweeps.cut(D, self._limit, self._lengths)

    def measured(
        self, sources: np.ndarray, measures: tuple[str, ...], radii: tuple[float, ...], bins: tuple[float, ...]
    ) -> sweeps.Measured:
        """Return measures of the distances from some sources to the targets, without storing these."""
        return sweeps.measured(
            self._structure,
            self._on,
            self._lengths,
            self._structure.rank[sources],
            self._ends,
            self._sweep,
            self._limit,
            measures,
            radii,
            bins,
        )


def gathered_hierarchy(
    whole: Whole,
    dtype: np.dtype,
    part: VertexRange,
    device: devices.Device,
    comm: Communicator,
    *,
    reverse: bool = False,
    predecessors: bool = False,
    rounding: bool = False,
    within: np.ndarray | None = None,
) -> Prepared:
    """Return the hierarchy of a graph that lies in ranges, on every shard; the first one finds the order.

    In `reverse`, edges are reversed. It has what `predecessors` need, by entries if there is `rounding`. `within`
    are sources: then only the edges that they reach count.
    """
    graph = whole.graph(part, device, comm)
    if within is not None:
        graph = reached_part(graph, within, reverse)
    order = device.xp.empty(graph.n, np.int32)
    if comm.rank == 0:
        order[:] = device.asarray(elimination_of(graph).order)
    comm.broadcast(order, 0, range(comm.size))
    found = prepared(Hierarchy(graph, order, dtype=dtype, device=device.name), device)
    found = found.reversed if reverse else found
    return with_predecessors(found, graph, reverse, rounding) if predecessors else found


def with_predecessors(piece: Prepared, graph: Graph, reverse: bool, rounding: bool) -> Prepared:
    """Return the hierarchy of a graph with what predecessors need.

    With `rounding`, sums of lengths may round, or lengths are negative: then no rule that compares sums finds them, but
    the entries do.
    """
    return piece.with_lasts if rounding else piece.with_edges(graph.reversed() if reverse else graph)


def may_have_small_separators(graph: Graph) -> bool:
    """Return whether a graph may be a road network or a mesh: sparse, and with more levels than a random graph."""
    if graph.m > _SPARSE * graph.n:
        return False
    shape = measured_shape(graph) if graph.m >= SAMPLED_EDGES else None
    return shape is None or shape.levels > 2 * math.log2(max(2, graph.n))


def expected_fill(n: int, m: int) -> Fill:
    """Return the fill of a road network of this size; other graphs have more."""
    height = math.sqrt(n) / 2
    entries = int(max(5.0, 1.3 * m / max(1, n)) * n)
    return Fill(entries, 7 * entries, min(entries, height * height / 11), int(height) + 1)


def ordering_seconds(n: int, host: DeviceSpec) -> float:
    """Predict the seconds in which METIS orders the vertices, on one core of the host."""
    return _ORDER * n * math.log2(max(2, n)) / speed_of(host).searches


def ordering_bytes(n: int, m: int) -> int:
    """Return the bytes of the host's memory that METIS takes, which are free again when the entries are made."""
    return _ORDERED_VERTEX * n + _ORDERED_EDGE * m


def preparation_bytes(n: int, m: int, fill: Fill) -> int:
    """Return the bytes of the host's memory that a hierarchy takes while it is prepared, after its order is known."""
    return AN_ENTRY * fill.entries + 20 * m + 24 * n


def preparation_seconds(fill: Fill, host: DeviceSpec) -> float:
    """Predict the seconds in which a hierarchy is prepared on the host, once its order is known."""
    return (_FILL * fill.entries + _PAIR * fill.pairs / host.cores) / speed_of(host).arithmetic


def sweeps_seconds(
    n: int,
    sources: int,
    targets: int,
    fill: Fill,
    inner: np.dtype,
    dtype: np.dtype,
    spec: DeviceSpec,
    measures: int,
) -> float:
    """Predict the seconds in which a device sweeps from a batch of sources to some targets, and makes some measures.

    A sweep passes what is above the targets. Without measures, distances are stored; `inner` is the type of sums.
    """
    rates = rates_of(spec)
    passed = min(float(fill.entries), targets * fill.climb)
    further = _MEASURE[spec.kind] * max(0, measures - 1) * targets
    each = fill.climb + passed + further
    stored = 0 if measures else sources * targets
    if spec.kind == "cuda":
        deep = max(0.0, passed - _SHALLOW * n)
        read = sources * ((each - deep) / _READS + deep / _DEEP) / rates.minplus[name_of(inner)]
        return fill.height * _LEVEL + fill.climb * _CLIMB + read + _MOVED * stored * dtype.itemsize / rates.memory
    # A core takes up to LANES sources at a time. From fewer than LEAST, the other lanes are passed in vain.
    rounds, lanes = -(-sources // (LANES * spec.cores)), min(LANES, max(sources, LEAST))
    read = rounds * LANES * (lanes + _FETCH) / (LANES + _FETCH) * each
    return read / (_ENTRIES * rates.minplus[name_of(inner)]) + stored * _STORED / (rates.memory * spec.cores)


def batch_of(spec: DeviceSpec, measured: bool) -> int:
    """Return how many sources a device takes at a time: enough for all cores; to measure, a GPU keeps few labels."""
    if spec.kind == "cpu":
        return max(BATCH, (4 if measured else 1) * LANES * spec.cores)
    return MEASURED if measured else BATCH


def sweeps_bytes(
    n: int, m: int, batch: int, targets: int, fill: Fill, dtype: np.dtype, spec: DeviceSpec, measured: bool
) -> int:
    """Return the bytes that a hierarchy, and its sweeps to some targets, take on a device; `dtype` is that of sums."""
    hierarchy = preparation_bytes(n, m, fill)
    passed = min(n, targets * (fill.height + 1))
    if spec.kind == "cpu":
        lanes = min(spec.cores, -(-batch // LANES)) * LANES
        return hierarchy + lanes * (passed + 2 * fill.height) * dtype.itemsize
    groups = passed + fill.entries * passed // (4 * max(1, n))  # of up to four entries: rows, numbers and lengths
    kept = (int(_KEPT * passed) if measured else passed) + fill.height
    lanes = 512 // dtype.itemsize  # of a warp; few sources are rounded up to 32, more to a multiple of this
    batch = -(-batch // lanes) * lanes if batch >= lanes else -(-batch // 32) * 32
    labels = min(batch * kept * dtype.itemsize, max(LABELS, 512 * kept))
    return hierarchy + groups * (32 + 4 * dtype.itemsize) + 20 * passed + labels
