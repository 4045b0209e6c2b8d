"""What a batch is given as: edges of all graphs together, or one array of matrices; checked, where it lies.

Vertices of all graphs are numbered in a row, as PyTorch Geometric does it. Lists of graphs become such edges. The edges
themselves are checked by the kernels that place them, in the same pass.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ... import device as devices
from ...arguments import as_array
from ...arrays import Array
from ...dtypes import infinity, weight_dtype
from ...errors import AmbiguousZerosError, ArgumentValue, InputError, type_name
from ...graph import Graph, as_graph
from ...graph.checks import checked_weights
from ...graph.potentials import vertex_on_cycle

#: Edges by row: where each row begins, the columns, and the weights if there are any.
Rows = tuple[Array, Array, Array | None]

#: The most vertices of a graph.
MOST = 512

#: The most graphs, and the most vertices, or rows of matrices, of all together: their numbers are int32 in kernels.
MOST_GRAPHS = 2**31 - 2**20


@dataclass
class Batch:
    """A batch of graphs: its edges, or its matrices.

    Attributes
    ----------
    home : Device
        Where it lies.
    lengths : array of int32, shape (count,)
        The number of vertices of each graph.
    src, dst : array of int64, shape (m,), or None
        The edges, between the vertices of all graphs in a row.
    batch : array of int64, shape (vertices,), or None
        The graph of each vertex, ascending.
    matrices : array of shape (count, n, n), or None
        Adjacency matrices of truth values, or lengths of edges, infinity where there is none.
    weights : array of shape (m,), or None
        The edges' weights, if they have any.
    ids : mapping of int to array
        The vertices' ids of each graph that has some, by its number.
    weights_dtype : dtype or None
        The type in which a graph would keep the weights; None of unweighted graphs.
    least, most : float
        The least and the greatest weight, and 0.
    """

    home: devices.Device
    lengths: Array
    src: Array | None = None
    dst: Array | None = None
    batch: Array | None = None
    matrices: Array | None = None
    weights: Array | None = None
    ids: Mapping[int, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.count = len(self.lengths)
        if self.matrices is not None:
            self.side = int(self.matrices.shape[1])
        else:
            self.side = int(self.lengths.max()) if self.count else 0
        if self.side > MOST:
            g = int(self.lengths.argmax())
            raise InputError(
                f"graph {g} has {int(self.lengths[g])} vertices, and a batch takes graphs of at most {MOST}: "
                "mgraph.apsp solves larger ones, one by one"
            )
        values = self._values()
        self.weights_dtype = None if values is None else weight_dtype(np.dtype(values.dtype))
        self.least: float = 0
        self.most: float = 0
        if self.weights_dtype is not None and values.size:
            self.least, self.most = min(values.min().item(), 0), max(values.max().item(), 0)
            none = infinity(np.dtype(values.dtype))
            if self.most == none and (self.matrices is not None or none == np.inf):
                self.most = self.home.xp.where(values == none, values.dtype.type(0), values).max().item()

    def _values(self) -> Array:
        """Return the weights of edges, or the matrices."""
        return self.weights if self.matrices is None else self.matrices

    @property
    def m(self) -> int:
        """The number of edges; 0 of matrices, whose edges are not counted."""
        return 0 if self.src is None else len(self.src)

    @property
    def n(self) -> int:
        """The most vertices of a graph."""
        return self.side

    @property
    def nonnegative(self) -> bool:
        """Whether no weight is negative."""
        return self.least >= 0

    def extremes(self) -> tuple[float, float, bool]:
        """Return the least and the greatest weight, or 0, and whether all are whole numbers."""
        values = self._values()
        counts = values is None or values.dtype.kind != "f"
        return self.least, self.most, counts or bool((self.home.xp.rint(values) == values).all())

    def largest_sums(self, count: int) -> tuple[float, float]:
        """Return bounds of the magnitudes below and above zero that a sum of up to `count` weights may have."""
        return float(count) * max(-self.least, 0), float(count) * max(self.most, 0)

    @property
    def nbytes(self) -> int:
        """The bytes of the arrays."""
        arrays = self.lengths, self.src, self.dst, self.batch, self.matrices, self.weights
        return sum(int(array.nbytes) for array in arrays if array is not None)

    def graph(self, number: int) -> Graph:
        """Return one of the graphs, in host memory."""
        n = int(self.lengths[number])
        if self.matrices is not None:
            return Graph.from_distances(devices.to_host(self.matrices[number, :n, :n]), copy=False)
        assert self.src is not None and self.dst is not None and self.batch is not None
        first = int((self.batch < number).sum())
        own = self.batch[self.src] == number
        src, dst = (devices.to_host(end[own] - first) for end in (self.src, self.dst))
        weights = None if self.weights is None else devices.to_host(self.weights[own])
        return Graph.from_edges(src, dst, weights, n=n)

    def together(self, count: int) -> tuple[Graph, np.ndarray]:
        """Return the first `count` graphs as one, and the number of the first vertex of each in it."""
        if self.matrices is not None:
            some, weights = self.matrices[:count], None
            if self.weights_dtype is None:
                graphs, src, dst = some.nonzero()
                inside = self.home.xp.maximum(src, dst) < self.lengths[graphs]  # others are no edges
                graphs, src, dst = graphs[inside], src[inside], dst[inside]
            else:
                graphs, src, dst = (some != infinity(np.dtype(some.dtype))).nonzero()
                weights = some[graphs, src, dst]
            first, n = np.arange(count) * self.side, count * self.side
            src, dst = src + graphs * self.side, dst + graphs * self.side
        else:
            assert self.src is not None and self.dst is not None and self.batch is not None
            own = self.batch[self.src] < count
            src, dst, weights = self.src[own], self.dst[own], None if self.weights is None else self.weights[own]
            lengths = devices.to_host(self.lengths[:count]).astype(np.int64)
            first, n = np.cumsum(lengths) - lengths, int(lengths.sum())
        return Graph.from_edges(src, dst, weights, n=n), first

    def vertex_on_cycle(self, count: int) -> tuple[int, int] | None:
        """Return a graph of the first `count` and its vertex on a cycle of negative weight; None if none has one."""
        graph, first = self.together(count)
        found = vertex_on_cycle(graph)
        if found < 0:
            return None
        g = int(first.searchsorted(found, side="right")) - 1
        return g, found - int(first[g])


def batch_of_edges(edge_index: Any, batch: Any, weights: Any, count: int = 0) -> Batch:
    """Return a batch whose edges and graphs of vertices are given as PyTorch Geometric has them.

    It has at least `count` graphs: the last ones may have no vertex.
    """
    if edge_index is None or batch is None:
        missing, other = ("edge_index", "batch") if edge_index is None else ("batch", "edge_index")
        raise InputError(
            "give ", ArgumentValue(missing), " with ", ArgumentValue(other), ": the edges, and the graph of each vertex"
        )
    ends, graphs, weights = (devices.imported(given) for given in (edge_index, batch, weights))
    home = next((devices.of(a) for a in (ends, graphs, weights) if devices.of(a).kind == "cuda"), devices.of(ends))
    xp = home.xp
    with home.active():
        ends = as_array(ends, "edge_index", xp)
        if ends.ndim != 2 or ends.shape[0] != 2:
            raise InputError(argument="edge_index", value=ends.shape, expected="of shape (2, m), a column per edge")
        graphs = as_array(graphs, "batch", xp)
        if graphs.ndim != 1:
            raise InputError(argument="batch", value=graphs.shape, expected="of shape (n,), a graph per vertex")
        for name, array in (("edge_index", ends), ("batch", graphs)):
            if array.size and array.dtype.kind not in "iu":
                raise InputError(argument=name, value=array.dtype.name, expected="integers")
        ends, graphs = ends.astype(np.int64, copy=False), xp.ascontiguousarray(graphs.astype(np.int64, copy=False))
        lengths = _lengths(graphs, count, xp)
        lengths_of_edges = None
        if weights is not None:
            lengths_of_edges = checked_weights(as_array(weights, "weights", xp), ends.shape[1], copy=False)
        src, dst = map(xp.ascontiguousarray, ends)
        return Batch(home, lengths, src, dst, graphs, weights=lengths_of_edges)


def _lengths(graphs: Array, count: int, xp: Any) -> Array:
    """Return the number of vertices of each graph, from the graph of each vertex; or raise InputError."""
    if not len(graphs):
        return xp.zeros(count, np.int32)
    falls = graphs[1:] < graphs[:-1]
    if bool(falls.any()):
        place = int(falls.argmax()) + 1
        raise InputError(
            f" at {place}, after {int(graphs[place - 1])}",
            argument="batch",
            value=int(graphs[place]),
            expected="ascending, as the vertices of a graph are numbered in a row",
        )
    first, last = devices.to_host(graphs[:: max(1, len(graphs) - 1)])[[0, -1]].tolist()
    if first < 0:
        raise InputError(argument="batch", value=first, expected="graphs of 0 or more")
    if max(last, len(graphs)) >= MOST_GRAPHS:
        wanted = f"of fewer than {MOST_GRAPHS} vertices and graphs"
        raise InputError(argument="batch", value=max(last, len(graphs)), expected=wanted)
    count = max(count, last + 1)
    devices.check_free_memory(f"counting the vertices of {count:,} graphs", 32 * count, devices.of(graphs))
    return xp.diff(xp.searchsorted(graphs, xp.arange(count + 1))).astype(np.int32)


def batch_of_matrices(matrices: Array, lengths: Any) -> Batch:
    """Return a batch of matrices in one array, of which each graph has the first `lengths` rows and columns."""
    home = devices.of(matrices)
    xp = home.xp
    with home.active():
        if matrices.ndim != 3 or matrices.shape[1] != matrices.shape[2]:
            raise InputError(f"the matrices have shape {tuple(matrices.shape)}: it must be (count, n, n)")
        count, side = map(int, matrices.shape[:2])
        if max(count, count * side) >= MOST_GRAPHS:
            many = f"{count} matrices of {side} x {side} have too many rows"
            raise InputError(f"{many}: give fewer than {MOST_GRAPHS} in all, in several calls")
        sizes = xp.full(count, side, np.int32) if lengths is None else _checked_lengths(lengths, count, side, xp)
        if weight_dtype(np.dtype(matrices.dtype)) is None:
            return Batch(home, sizes, matrices=xp.ascontiguousarray(matrices))
        none = matrices.dtype.type(infinity(np.dtype(matrices.dtype)))
        if lengths is None:
            matrices = matrices.copy()
        else:
            inside = xp.arange(side, dtype=np.int32) < sizes[:, None]
            matrices = xp.where(inside[:, :, None] & inside[:, None, :], matrices, none)
        _check_numbers(matrices)
        own, beyond = xp.arange(side), count * side**2 - int((sizes.astype(np.int64) ** 2).sum())
        diagonal = matrices[:, own, own]
        if int((matrices == none).sum()) == beyond and bool((matrices == 0).sum() > (diagonal == 0).sum()):
            raise AmbiguousZerosError(
                "the matrices have zeros off their diagonals and no infinity: if zeros mean no edge, give "
                "matrices != 0 for graphs without weights, or put inf (of integers the type's largest value) there; if "
                "they are edges of weight zero, give the edges as ",
                ArgumentValue("edge_index"),
            )
        matrices[:, own, own] = xp.where(diagonal == none, none, xp.minimum(diagonal, diagonal.dtype.type(0)))
        return Batch(home, sizes, matrices=matrices)


def _check_numbers(matrices: Array) -> None:
    """Raise InputError for a NaN or a negative infinity."""
    if matrices.size and not float(matrices.min()) > -np.inf:
        g, i, j = (int(axis[0]) for axis in (~(matrices > -np.inf)).nonzero())
        value = "NaN" if bool(matrices[g, i, j] != matrices[g, i, j]) else "-inf"
        raise InputError(f"entry ({i}, {j}) of matrix {g} is {value}: use a number, or inf for 'no edge'")


def _checked_lengths(lengths: Any, count: int, side: int, xp: Any) -> Array:
    """Return the numbers of vertices that the caller gives, or raise InputError."""
    sizes = as_array(devices.imported(lengths), "lengths", xp)
    if sizes.shape != (count,):
        raise InputError(argument="lengths", value=sizes.shape, expected=f"of shape ({count},), a number per graph")
    if count and sizes.dtype.kind not in "iu":
        raise InputError(argument="lengths", value=sizes.dtype.name, expected="integers")
    wrong = xp.flatnonzero((sizes < 0) | (sizes > side))
    if len(wrong):
        raise InputError(argument="lengths", value=int(sizes[wrong[0]]), expected=f"in [0, {side}]")
    return sizes.astype(np.int32)


def batch_of_graphs(graphs: Sequence[Any]) -> Batch:
    """Return a batch of graphs or matrices in a list."""
    known = [_read(each, number) for number, each in enumerate(graphs)]
    ids = {number: each.ids for number, each in enumerate(known) if isinstance(each, Graph) and each.ids is not None}
    rows = [_compressed(each) for each in known]
    home = next((devices.of(each[1]) for each in rows if devices.of(each[1]).kind == "cuda"), devices.find("cpu"))
    xp = home.xp
    with home.active():
        sizes = np.array([len(indptr) - 1 for indptr, *_ in rows], np.int64)
        edges = np.array([len(indices) for _, indices, _ in rows], np.int64)
        nothing = xp.zeros(0, np.int64)
        offsets = xp.concatenate([nothing, *(home.asarray(indptr) for indptr, *_ in rows)])
        ends = np.cumsum(sizes + 1)
        if len(rows):
            first, last = offsets[xp.asarray(ends - sizes - 1)], offsets[xp.asarray(ends - 1)]
            degrees = xp.diff(offsets)
            degrees = xp.delete(degrees, ends[:-1] - 1)
            wrong = int(offsets.min()) < 0  # or degrees may be beyond int64, and look positive
            wrong |= bool((first != 0).any()) or bool((last != xp.asarray(edges)).any()) or bool((degrees < 0).any())
            if wrong:
                raise InputError("a sparse matrix's indptr does not fit its indices")
        else:
            degrees = nothing
        batch = xp.asarray(np.repeat(np.arange(len(rows)), sizes))
        starts = np.cumsum(sizes) - sizes
        shift = xp.asarray(np.repeat(starts, edges))
        src = xp.asarray(np.repeat(np.arange(len(batch)), devices.to_host(degrees)))
        dst = xp.concatenate([nothing, *(home.asarray(indices) for _, indices, _ in rows)]).astype(np.int64) + shift
        weights = None
        if any(lengths is not None for *_, lengths in rows):
            each_of = [xp.ones(len(i), np.int32) if w is None else home.asarray(w) for _, i, w in rows]
            weights = checked_weights(xp.concatenate(each_of), len(dst), copy=False)
        return Batch(home, xp.asarray(sizes.astype(np.int32)), src, dst, batch, weights=weights, ids=ids)


def _stacked(matrices: Sequence[Any]) -> Batch | None:
    """Return a batch of dense matrices of one type on one device, which may be of different sizes; None for others."""
    known = [devices.imported(each) for each in matrices]
    if not known or not all(map(_is_array, known)):
        return None
    dtype, home = known[0].dtype, devices.of(known[0])
    if any(each.ndim != 2 or each.shape[0] != each.shape[1] or each.dtype != dtype for each in known):
        return None
    if any(devices.of(each) is not home or isinstance(each, np.ma.MaskedArray) for each in known):
        return None
    sizes = np.array([len(each) for each in known])
    side = int(sizes.max())
    missing = False if dtype.kind == "b" else infinity(np.dtype(dtype))
    needed = len(known) * side * side * dtype.itemsize
    with home.active(), devices.allocating(f"{len(known):,} matrices of {side} x {side}", needed, home):
        padded = home.xp.full((len(known), side, side), missing, dtype)
        for number, each in enumerate(known):
            padded[number, : len(each), : len(each)] = each
    return batch_of_matrices(padded, sizes)


def _is_array(given: Any) -> bool:
    """Return whether this is an array of NumPy or CuPy."""
    return isinstance(given, np.ndarray) or devices.of(given).kind == "cuda"


def _read(given: Any, number: int) -> Graph | Rows:
    """Return a graph, or the edges by row of a sparse matrix as they are stored, which are not checked yet."""
    if getattr(given, "format", None) == "csr":
        stored: list[Any] = [getattr(given, name, None) for name in ("indptr", "indices", "data")]
        indptr, indices, weights = stored
        vectors = all(_is_array(each) and each.ndim == 1 for each in stored)
        if vectors and given.shape == (len(indptr) - 1,) * 2 and len(indices) == len(weights):
            if indptr.dtype.kind == indices.dtype.kind == "i":
                return indptr, indices, None if weight_dtype(weights.dtype) is None else weights
    try:
        return given if isinstance(given, Graph) else _graph(given)
    except InputError as error:
        raise InputError(f"graph {number}: {error}") from error


def _compressed(known: Graph | Rows) -> Rows:
    """Return the edges of a graph by row."""
    if not isinstance(known, Graph):
        return known
    if known.dense is not None and known.n > MOST:
        raise InputError(f"a matrix has {known.n} rows, and a batch takes graphs of at most {MOST} vertices")
    return known.compressed("csr")


def _graph(given: Any) -> Graph:
    """Return a matrix, a graph of NetworkX or one of PyTorch Geometric as a graph."""
    if hasattr(given, "adjacency") and hasattr(given, "is_multigraph"):
        return Graph.from_networkx(given)
    if _is_geometric(given):
        return Graph.from_edge_index(given.edge_index, getattr(given, "edge_weight", None), n=given.num_nodes)
    return as_graph(given)


def _is_geometric(given: Any) -> bool:
    """Return whether this is a ``Data`` of PyTorch Geometric, or a ``Batch`` of them."""
    return hasattr(given, "edge_index") and hasattr(given, "num_nodes")


def batch_of(graphs: Any, lengths: Any, edge_index: Any, batch: Any, weights: Any) -> Batch:
    """Return what a call was given, checked, but for the ends of edges."""
    if (graphs is None) == (edge_index is None and batch is None):
        raise InputError("give either graphs, or ", ArgumentValue("edge_index"), " and ", ArgumentValue("batch"))
    if graphs is None:
        if lengths is not None:
            raise InputError(ArgumentValue("lengths"), " goes with one array of matrices: leave it out")
        return batch_of_edges(edge_index, batch, weights)
    if weights is not None:
        raise InputError(ArgumentValue("weights"), " goes with ", ArgumentValue("edge_index"), ": leave it out")
    known = devices.imported(graphs)
    if hasattr(known, "ndim") and hasattr(known, "dtype") and not hasattr(known, "tocoo"):
        whole = known if devices.of(known).kind == "cuda" else as_array(known, "the matrices")
        return batch_of_matrices(whole, lengths)
    if lengths is not None:
        raise InputError(ArgumentValue("lengths"), " goes with one array of matrices: leave it out")
    if _is_geometric(known) and getattr(known, "batch", None) is None:
        return batch_of_graphs([known])
    if _is_geometric(known):
        return batch_of_edges(known.edge_index, known.batch, getattr(known, "edge_weight", None), known.num_graphs)
    if isinstance(known, Sequence) and not isinstance(known, (str, bytes, os.PathLike)):
        return _stacked(known) or batch_of_graphs(known)
    raise InputError(
        f"expected a list of graphs or matrices, or one array of shape (count, n, n), got {type_name(known)}"
    )
