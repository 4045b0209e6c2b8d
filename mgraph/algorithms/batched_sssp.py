"""Searches from many sources on one device that has the whole graph: what all pairs and `mgraph.distances` share.

The search is described in ``kernels/sssp_many.cu``: sources that are searched from together share the reads of edges.
On a CPU sources may also be searched from one by one, each by a core, as in ``kernels/sssp.cu``. That takes less time
where there are few sources, or where they lie apart in a road network.

Negative weights are shifted first (Johnson, "Efficient algorithms for shortest paths in sparse networks", 1977): with
potentials ``h``, ``weight + h[u] - h[v]`` is never negative, and each path from s to t becomes longer by the same
``h[s] - h[t]``, which is subtracted from the finished distances. For floats this subtraction loses digits in proportion
to the potentials, not to the distance, so float32 is searched in float64.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np

from .. import device as devices
from .. import lazy
from ..arrays import Array
from ..dtypes import NO_PREDECESSOR, infinity, kernel_infinity, offset_type
from ..graph import Compressed, Graph
from ..graph.potentials import edge_lengths, kept_lengths, potentials, reached_part
from ..graph.vertex_range import VertexRange
from ..graph.weights import decode
from ..kernels import sssp_many as sssp_many_kernels
from ..planning.devices import DeviceSpec, rates_of
from ..planning.plan import Plan
from ..planning.shape import Shape
from ..runtime.checkpoints import Piece, Saved, fingerprint_of, fingerprint_of_edges
from ..runtime.communicator import Communicator
from ..runtime.gathering import Whole
from .sssp_window import near_width, reads

#: Width of the window of distances that are settled together, in average weights; measured (benchmarks/NOTES.md).
_WINDOW = 20

#: Sources that share a pass over the edges; a batch is cut to multiples of these where memory is short.
SLICE = {"cpu": 64, "cuda": 128}

#: Sources that a core of a CPU searches from in a superstep, at least: several slices, as cores wait for the last one.
CORE_SOURCES = 4 * SLICE["cpu"]

#: Levels between sources up to which they share reads, how many more take as long again as the first ones, and how
#: often a row is relaxed if they share none; measured (benchmarks/NOTES.md).
_NEAR_BY, _A_LEVEL, _ALONE_FACTOR = 10, 8, {"cpu": 25, "cuda": 58}


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
    graph : Graph or None
        The graph itself, which keeps what searches derive from it; None where that is not for another call.
    reverse : bool
        Whether its edges are reversed: those by target are the graph's by source.
    """

    incoming: Compressed
    outgoing: tuple[Array, Array] | None
    potentials: Array | None
    graph: Graph | None = None
    reverse: bool = False

    def lengths(self, order: str, dtype: np.dtype, device: devices.Device) -> Array | None:
        """Return the edges' lengths in an order if the graph keeps them, else None."""
        if self.graph is None or self.potentials is not None:
            return None
        return kept_lengths(self.graph, other_order(order) if self.reverse else order, dtype, device)

    def once(self, name: str, device: devices.Device, make: Callable[[], float]) -> float:
        """Return a number that depends on the lengths, which the graph keeps under a name."""
        if self.graph is None:
            return make()
        name += "" if self.potentials is None else ", shifted"
        name += ", reversed" if self.reverse else ""
        number: float = self.graph.kept(name, device, make, weights=True)
        return number


def network(
    graph: Graph, potentials: Array | None = None, place: devices.Device | None = None, *, reverse: bool = False
) -> Network:
    """Return a graph as the piece of each shard of a program that searches from many sources.

    The edges are those that the graph keeps on `place`, where that is the device of the only shard. In `reverse` they
    are reversed, and potentials are those of the reversed graph.
    """
    order = "csr" if reverse else "csc"
    outgoing = graph.layout(other_order(order), place) if graph.directed else None
    if place is None:
        return Network(graph.compressed(order), outgoing, potentials)
    incoming = Compressed(*graph.layout(order, place), graph.compressed(order).weights)
    return Network(incoming, outgoing, potentials, graph, reverse)


def other_order(order: str) -> str:
    """Return the order of the edges, ``"csr"`` or ``"csc"``, that is not this one."""
    return "csc" if order == "csr" else "csr"


def gathered_network(
    whole: Whole,
    shifts: bool,
    part: VertexRange,
    device: devices.Device,
    comm: Communicator,
    *,
    reverse: bool = False,
    within: np.ndarray | None = None,
) -> Network:
    """Return the network of a graph that lies in ranges, on every shard; the first one computes the potentials.

    In `reverse`, edges are reversed. `within` are sources: then only the edges that they reach count.
    """
    graph = whole.graph(part, device, comm)
    if reverse:
        graph = graph.reversed()
    if within is not None:
        graph = reached_part(graph, within)
    if not shifts:
        return network(graph)
    h = device.asarray(potentials(graph)) if comm.rank == 0 else device.xp.empty(graph.n)
    comm.broadcast(h, 0, range(comm.size))
    return network(graph, h)


class Searches:
    """Searches on a device, a batch of sources at a time.

    Parameters
    ----------
    piece : Network
        The graph, which is brought to the device.
    device : Device
        Where to search.
    batch : int
        The most sources of a batch.
    computed, dtype : dtype
        The type that the search computes in, and that of its results.
    limit : float
        The greatest distance to search to.
    apart : bool
        Whether to search from each source by itself; only on a CPU.
    """

    def __init__(
        self,
        piece: Network,
        device: devices.Device,
        batch: int,
        computed: np.dtype,
        dtype: np.dtype,
        limit: float = float("inf"),
        apart: bool = False,
    ) -> None:
        xp = device.xp
        self.device = device
        self.limit = limit
        indptr, indices = (device.asarray(part) for part in piece.incoming[:2])
        self.n = len(indptr) - 1
        #: Johnson's potentials, or None.
        self.h = None if piece.potentials is None else device.asarray(piece.potentials)
        #: The edges by target; no weight is negative.
        lengths = piece.lengths("csc", computed, device)
        if lengths is None:
            lengths = edge_lengths(Compressed(indptr, indices, piece.incoming.weights), self.h, computed, device)
        self.by_target = indptr, indices, lengths
        self._kernels = sssp_many_kernels.on(device)
        end = beyond(limit if computed == dtype else _greatest_rounding_to(limit, dtype), computed)
        self._end = kernel_infinity(computed) if self.h is not None else end
        self._search = self._one_by_one(piece) if apart else self._together(piece, batch)
        self._shifted = None if computed == dtype else xp.empty((batch, self.n), computed)

    def _together(self, piece: Network, batch: int) -> Callable[[Array, Array], None]:
        """Return the search from sources that share reads of edges: it writes the distances from them to rows."""
        kernels, end, (indptr, indices, weights) = self._kernels, self._end, self.by_target
        by_source = (indptr, indices) if piece.outgoing is None else tuple(map(self.device.asarray, piece.outgoing))
        window = piece.once(f"window of {weights.dtype}", self.device, partial(_window, weights))
        edges = kernels.layout(by_source, self.by_target)
        work = kernels.workspace(self.device.xp, self.n, batch, np.dtype(weights.dtype))
        return lambda D, sources: kernels.distances(D, sources, edges, window, end, work)

    def _one_by_one(self, piece: Network) -> Callable[[Array, Array], None]:
        """Return the search from each source by itself."""
        kernels, end, weights = self._kernels, self._end, self.by_target[2]
        edges, lengths = self.by_target, piece.lengths("csr", weights.dtype, self.device)
        if piece.outgoing is not None:
            edges = _transposed(edges) if lengths is None else (*piece.outgoing, lengths)
        mean = piece.once(f"mean of {weights.dtype}", self.device, partial(_mean, weights))
        window = near_width(self.n, len(weights), mean, weights.dtype)
        return lambda D, sources: kernels.one_by_one(D, sources, edges, window, end)

    def fingerprint(self, first: int, last: int) -> int:
        """Return the fingerprint of the edges into some vertices, and of what their weights were shifted by."""
        indptr, indices, weights = self.by_target
        own = slice(int(indptr[first]), int(indptr[last]))
        edges = Compressed(indptr[first : last + 1] - indptr[first], indices[own], weights[own])
        shifts = [] if self.h is None else [Piece("potentials", self.h[first:last], (first,))]
        return fingerprint_of_edges(first, edges) + fingerprint_of(shifts)

    def write(self, sources: Array, D: Array, P: Array | None) -> None:
        """Write the distances from some sources, int32 on the device, to the rows of D, and predecessors to those of P.

        Vertices that are not reached within the limit have the distance `mgraph.dtypes.infinity`.
        """
        found = D if self._shifted is None else self._shifted[: len(sources)]
        k = self._kernels
        self._search(found, sources)
        if P is not None:
            k.predecessors(found, sources, self.by_target, P)
        if self.h is not None:
            k.unshift(found, sources, self.h)
        if found is not D:
            with np.errstate(over="ignore"):
                D[...] = found
            if P is not None:  # a distance that the narrower type cannot hold is that of no path
                P[D == np.inf] = NO_PREDECESSOR
        decode(D, P, self.device, self.h is None, lowered=False)
        if self.h is not None and self.limit < float("inf"):  # a path within the limit may pass vertices beyond it
            D[D > self.limit] = infinity(np.dtype(D.dtype))


def _mean(weights: Array) -> float:
    """Return the mean weight, 0 without any; an infinite one makes a window as wide as can be."""
    with np.errstate(over="ignore"):
        return float(weights.mean(dtype=np.float64)) if len(weights) else 0.0


def _transposed(edges: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
    """Return edges on the host by their other end."""
    indptr, indices, weights = edges
    n = len(indptr) - 1
    found = lazy.sparse().csc_array((weights, indices, indptr), shape=(n, n)).tocsr()
    return found.indptr, found.indices, found.data


def rows_left(known: Iterable[tuple[int, int]], first: int, last: int) -> list[tuple[int, int]]:
    """Return the ranges from `first` to `last` that no known one covers, less `first`."""
    left, end = [], first
    for top, bottom in sorted(known):
        if top >= last:
            break
        if top > end:
            left.append((end - first, top - first))
        end = max(end, min(bottom, last))
    return [*left, (end - first, last - first)] if end < last else left


def batches_of(rows: Iterable[tuple[int, int]], size: int) -> list[tuple[int, int]]:
    """Return ranges cut into batches of at most `size`."""
    return [(top, min(top + size, end)) for start, end in rows for top in range(start, end, max(1, size))]


class Dealt(Protocol):
    """A shard's state as `resumed_rows` changes it.

    Attributes
    ----------
    batches : list of (int, int)
        The sources that are left to search from, as rows of the shard.
    begun, rounds : int
        The superstep of the first batch, and that after the last batch of the shard with most of them.
    """

    batches: list[tuple[int, int]]
    begun: int
    rounds: int


def resumed_rows(
    state: Dealt, shard: int, saved: Saved, plan: Plan, batch: int, name: str, sources: int, arrays: Mapping[str, Array]
) -> int:
    """Fill the rows that are done, and leave the other sources to the last supersteps; return the first of these.

    Parameters
    ----------
    state : Dealt
        The state of the shard, which gets its batches.
    shard : int
        The number of the shard.
    saved : Saved
        The checkpoint.
    plan : Plan
        Its ranges are those of the sources.
    batch : int
        The most sources of a batch.
    name : str
        The array by which rows are known to be done.
    sources : int
        The sources of all shards.
    arrays : mapping of str to array
        The shard's results by name, a row a source.
    """
    known = saved.rows(name, sources)
    left = [rows_left(known, *own) for own in plan.ranges]
    batches = [batches_of(rows, batch) for rows in left]
    assert plan.steps is not None
    state.batches, rounds = batches[shard], max(map(len, batches))
    state.begun = max(0, plan.steps - rounds)  # so progress ends at the plan's number of supersteps
    state.rounds = state.begun + rounds
    first, last = plan.ranges[shard]
    for top, bottom in rows_left([(first + top, first + bottom) for top, bottom in left[shard]], first, last):
        for each, array in arrays.items():
            saved.fill(Piece(each, array[top:bottom], (first + top, 0)))
    return state.begun


def beyond(limit: float, dtype: np.dtype) -> float:
    """Return the least number of a type that is more than a limit of that type; at most the kernels' infinity."""
    most = kernel_infinity(dtype)
    if limit >= most:
        return most
    return int(limit) + 1 if dtype.kind == "i" else float(np.nextafter(dtype.type(limit), dtype.type(np.inf)))


def _greatest_rounding_to(limit: float, dtype: np.dtype) -> float:
    """Return the greatest number of float64 that is at most a limit, of a type of fewer bits, once it is rounded."""
    with np.errstate(over="ignore"):
        halfway = limit / 2 + float(np.nextafter(dtype.type(limit), dtype.type(np.inf))) / 2
        return halfway if dtype.type(halfway) <= limit else float(np.nextafter(halfway, -np.inf))


def batch_size(n: int, dtype: np.dtype, kind: str) -> int:
    """Return the number of sources of a batch on a kind of device."""
    return int(sssp_many_kernels.of_kind(kind).batch_size(max(1, n), dtype.itemsize))


def searches_bytes(
    n: int, m: int, batch: int, computed: np.dtype, dtype: np.dtype, *, kind: str, directed: bool, apart: int = 0
) -> int:
    """Return the bytes that `Searches` allocates on its device; `apart` cores each search from a source by itself."""
    lists = (2 if directed else 1) * ((n + 1) * offset_type(m).itemsize + 4 * m)
    kernels = sssp_many_kernels.of_kind(kind)
    if apart:
        work = min(apart, batch) * (20 * n + 4 * -(-n // 32)) + directed * m * (computed.itemsize + 8)
    else:
        work = int(kernels.workspace_bytes(n, batch, computed.itemsize))
        work += int(kernels.layout_bytes(n, m, computed.itemsize, directed))
    return lists + m * computed.itemsize + work + (computed != dtype) * batch * n * computed.itemsize


def gathered_bytes(m: int, weight_bytes: int, directed: bool, nonnegative: bool) -> int:
    """Return the bytes of the edges that a device gathers, and keeps until `Searches` has counted them by both ends.

    It needs the weights by target alone, but to find potentials by source too, in float64.
    """
    by_source = 0 if nonnegative else directed * weight_bytes + 8
    return m * (weight_bytes + by_source)


def relaxing_seconds(
    n: int, m: int, sources: int, spec: DeviceSpec, weighted: bool, shape: Shape | None = None
) -> float:
    """Predict the seconds in which a device searches from a batch of sources that share reads of edges.

    A sweep relaxes every edge; there are as many as the longest shortest path needs. A core of a CPU takes a slice of
    sources at a time, in the same time if it is not full. Sources that lie many levels apart in a graph of this `shape`
    seldom relax an edge at the same time. Without a shape they count as neighbours, and reads as near ones.
    """
    sweeps = 2 * math.log2(max(2, n)) / math.log2(max(2, m / max(1, n)))
    slices = max(1, -(-sources // SLICE[spec.kind]))
    # The sources of a slice lie in a part of the graph that is as large as theirs is of all sources.
    levels = 0.0 if shape is None else shape.levels / math.sqrt(slices)
    alone = min(_ALONE_FACTOR[spec.kind], 1 + max(0.0, levels - _NEAR_BY) / _A_LEVEL)
    if spec.kind != "cpu":
        return sources * sweeps * alone * max(m, n) / (rates_of(spec).relaxations * spec.cores)
    if not weighted:
        sweeps *= 0.35  # without weights the first distance of a vertex is final
    read = 1.0 if shape is None else shape.reads(SLICE["cpu"] * n, 1.2)
    each = SLICE["cpu"] * sweeps * alone * read * max(m, n) / rates_of(spec).relaxations
    return -(-slices // spec.cores) * each


def apart_seconds(n: int, m: int, sources: int, spec: DeviceSpec, shape: Shape) -> float:
    """Predict the seconds in which the cores of a CPU search from sources one by one."""
    return -(-sources // spec.cores) * reads(n, m, shape) / rates_of(spec).search


def derivation_seconds(m: int, rows: int, spec: DeviceSpec, weighted: bool) -> float:
    """Predict the seconds in which predecessors are derived from this number of finished rows of distances."""
    rates = rates_of(spec)
    if spec.kind == "cuda":
        return m * rows / (rates.relaxations * spec.cores)
    # Edges are read until one explains the distance; without weights many do.
    return (1 if weighted else 0.15) * m * rows / (rates.search * spec.cores)


def _window(weights: Array) -> float:
    """Return the best width of the window of distances that are settled together: `_WINDOW` average weights."""
    dtype = np.dtype(weights.dtype)
    most, least, largest = kernel_infinity(dtype), 1.0, float(kernel_infinity(dtype))
    if dtype.kind == "f":
        least, largest = float(np.finfo(dtype).tiny), float(np.finfo(dtype).max)
    with np.errstate(over="ignore"):
        width = _WINDOW * float(weights.sum()) / len(weights) if len(weights) else 0.0
    return width if least <= width <= largest else most
