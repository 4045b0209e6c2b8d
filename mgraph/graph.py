"""The checked input: a graph whose edges are kept once, with the views that algorithms ask for.

A graph is a list of directed edges (an undirected one holds both directions), sorted by source and
target. Its compressed forms by source (CSR) and by target (CSC) are made when first asked for, on the
device that asks, and kept with the graph.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from . import device as devices
from .arguments import checked_flag, checked_integer
from .errors import AmbiguousZerosError, DistanceOverflowError, InputError, MemoryLimitError
from .weights import chunk_rows, infinity, weight_dtype

Array = Any

#: Vertex ids are int32; a little is kept free, so that a kernel may count past the last one.
MAX_VERTICES = 2**31 - 2**20

#: Edges from which on their numbers have 64 bits: kernels step some way beyond the last one of 32.
MANY_EDGES = 2**31 - 2**16


#: Held while a view of any graph is made, one at a time: whoever finds one, in another thread or stream, finds it
#: finished.
_MAKING = threading.RLock()


class Compressed(NamedTuple):
    """Edges grouped by one end: those of vertex ``v`` are ``indices[indptr[v]:indptr[v + 1]]``.

    In CSR, rows are sources and `indices` targets; in CSC, rows are targets and `indices` sources.
    Indices ascend within a row. `weights` is None for an unweighted graph.
    """

    indptr: Array
    indices: Array
    weights: Array | None


class Edges(NamedTuple):
    """Edges one by one (COO): from ``src[e]`` to ``dst[e]``, sorted by both."""

    src: Array
    dst: Array
    weights: Array | None


class Graph:
    """A directed or undirected graph over the vertices 0 to n-1, weighted or not.

    Make one with `from_edges`, `from_scipy`, `from_adjacency`, `from_distances`, `from_dense` or `mgraph.read`.

    Attributes
    ----------
    n : int
        Number of vertices.
    m : int
        Number of stored directed edges; an undirected edge counts twice, a self-loop once.
    directed : bool
        False if each edge is stored in both directions.
    ids : array of int64 or None
        The vertices' original ids where the graph was relabelled: vertex ``v`` was ``ids[v]``.
    nonnegative : bool
        Whether it is known that no weight is negative.
    """

    def __init__(
        self,
        n: int,
        *,
        csr: Compressed | None = None,
        dense: Array | None = None,
        directed: bool = True,
        ids: np.ndarray | None = None,
        nonnegative: bool = False,
    ) -> None:
        if csr is None and dense is None:
            raise InputError(
                "a graph is made of edges or a matrix: use from_edges, from_scipy, from_dense or mgraph.read"
            )
        self.n = n
        self.directed = directed
        self.ids = ids
        self.nonnegative = nonnegative
        #: The distance matrix that the graph was made from, if it was.
        self.dense = dense
        self._home = devices.of(dense if csr is None else csr.indptr)
        #: What is kept on a device: arrays, tuples of them, and numbers.
        self._views: dict[tuple[str, str], Any] = {}
        if csr is not None:
            self._keep("csr", csr, self._home.name)

    @classmethod
    def from_edges(
        cls,
        src: Array,
        dst: Array,
        weights: Array | None = None,
        n: int | None = None,
        directed: bool = True,
        *,
        ids: np.ndarray | None = None,
    ) -> "Graph":
        """Return the graph with the given edges.

        Parameters
        ----------
        src, dst : array_like of int, shape (edges,)
            The edges' ends, numbered from 0. Self-loops and repeated edges are kept.
        weights : array_like, shape (edges,), optional
            Floats or integers; NaN is refused, ``inf`` is no edge.
        n : int, optional
            Number of vertices; by default one more than the largest id.
        directed : bool
            False stores every edge in both directions.
        ids : array_like of int, shape (n,), optional
            Original ids to keep with the graph, as int64.

        Raises
        ------
        InputError
            For ids that are negative, not integers, not below `n` or beyond int32, for arrays of
            different lengths, and for a NaN weight.
        """
        directed = checked_flag("directed", directed)
        xp = next((devices.of(a).xp for a in (src, dst, weights) if devices.of(a).kind == "cuda"), np)
        src, dst = _ids(src, "src", xp), _ids(dst, "dst", xp)
        if len(src) != len(dst):
            raise InputError(f"src has {len(src)} entries and dst has {len(dst)}: give one of each per edge")
        largest = max(int(src.max()), int(dst.max())) if len(src) else -1
        n = _vertex_count(n, largest)
        ids = None if ids is None else _checked_ids(ids, n)
        check_memory(n, len(src) if directed else 2 * len(src), devices.of(src))
        if weights is not None:
            weights = _checked_weights(as_array(weights, "weights", xp), len(src))
        src, dst = src.astype(np.int32), dst.astype(np.int32)
        if weights is not None and weights.dtype.kind == "f" and bool(xp.isinf(weights).any()):
            there = ~xp.isinf(weights)
            src, dst, weights = src[there], dst[there], weights[there]
        if not directed:
            both = src != dst
            src, dst = xp.concatenate([src, dst[both]]), xp.concatenate([dst, src[both]])
            if weights is not None:
                weights = xp.concatenate([weights, weights[both]])
        nonnegative = weights is None or not len(weights) or bool(weights.min() >= 0)
        compressed = _compress(src, dst, weights, n, xp)
        return cls(n, csr=compressed, directed=directed, ids=ids, nonnegative=nonnegative)

    @classmethod
    def from_scipy(cls, matrix: Any, directed: bool = True) -> "Graph":
        """Return the graph whose edges are the stored entries of a SciPy (or CuPy) sparse matrix.

        Stored zeros are edges of weight zero, but for those of a matrix of diagonals (DIA) or of blocks (BSR), which
        cannot tell them from no entry; a boolean matrix gives an unweighted graph; entries stored twice are parallel
        edges.

        Raises
        ------
        InputError
            If the matrix is not square, and as `from_edges` does.
        """
        if not hasattr(matrix, "tocoo"):
            raise InputError(f"from_scipy takes a sparse matrix, not {type(matrix).__name__}")
        _check_square(matrix.shape)
        coo = matrix.tocoo()
        row, column, weights = coo.row, coo.col, coo.data
        if getattr(matrix, "format", None) == "bsr":
            stored = weights != 0
            row, column, weights = row[stored], column[stored], weights[stored]
        return cls.from_edges(row, column, weights, n=matrix.shape[0], directed=directed)

    @classmethod
    def from_dense(cls, matrix: Array) -> "Graph":
        """Return the graph of a dense matrix that tells by itself what its zeros are.

        A matrix with an infinity, or without zeros off its diagonal, is read by `from_distances`, one of truth values
        by `from_adjacency`. A matrix in memory is looked through once, one in a file or on a cluster some rows at a
        time.

        Parameters
        ----------
        matrix : array_like, shape (n, n)
            Numbers or truth values; in memory, on a GPU, in a file (Zarr, HDF5) or on a cluster.

        Raises
        ------
        InputError
            If the matrix has zeros off its diagonal and no infinity, so that they may be edges of weight zero or no
            edges. Otherwise as `from_distances` and `from_adjacency` do.

        Examples
        --------
        >>> import numpy as np
        >>> import mgraph
        >>> mgraph.Graph.from_dense([[0, 3, np.inf], [2, 0, 0], [1, 4, 0]]).m
        5
        """
        matrix = _dense(matrix)
        if matrix.dtype.kind == "b":
            return cls.from_adjacency(matrix)
        nonnegative, ambiguous = _looked_through(matrix)
        if ambiguous:
            raise AmbiguousZerosError(
                "the matrix has zeros off its diagonal and no infinity: if they are no edges, as in SciPy, give "
                "Graph.from_adjacency(matrix); if they are edges of weight zero, give Graph.from_distances(matrix)"
            )
        return cls(int(matrix.shape[0]), dense=matrix, nonnegative=nonnegative)

    @classmethod
    def from_distances(cls, matrix: Array) -> "Graph":
        """Return the graph of a distance matrix, in which zeros are edges of weight zero.

        No edge is ``inf`` (for integers the type's largest value) or a masked entry. The diagonal counts as zero
        unless it is negative. The matrix is kept, not copied; one in a file (Zarr, HDF5) or on a cluster is read some
        rows at a time. Do not change it while the graph is in use: what has been made of it, its edges among others,
        is not made anew.

        Parameters
        ----------
        matrix : array_like, shape (n, n)
            Numbers.

        Raises
        ------
        InputError
            If the matrix is not square, or holds NaN, -inf or something that is no number.

        Examples
        --------
        >>> import mgraph
        >>> mgraph.apsp(mgraph.Graph.from_distances([[0, 0], [0, 0]])).distances.tolist()
        [[0, 0], [0, 0]]
        """
        matrix = _dense(matrix)
        if matrix.dtype.kind == "b":
            raise InputError("a distance matrix must hold numbers, got truth values: Graph.from_adjacency takes these")
        nonnegative, _ = _looked_through(matrix)
        return cls(int(matrix.shape[0]), dense=matrix, nonnegative=nonnegative)

    @classmethod
    def from_adjacency(cls, matrix: Array) -> "Graph":
        """Return the graph of an adjacency matrix, in which zeros are no edges, as in SciPy.

        No edge is also ``inf``, and a masked entry. An entry on the diagonal is a self-loop. Truth values make an
        unweighted graph. The edges are kept, not the matrix, of which some rows are read at a time.

        Parameters
        ----------
        matrix : array_like, shape (n, n)
            Numbers or truth values.

        Raises
        ------
        InputError
            If the matrix is not square, or holds NaN, -inf or something that is no number.
        MemoryLimitError
            If the edges do not fit the memory there is.

        Examples
        --------
        >>> import mgraph
        >>> mgraph.apsp(mgraph.Graph.from_adjacency([[0, 7], [0, 0]])).distances.tolist()
        [[0, 7], [2147483647, 0]]
        """
        matrix = _dense(matrix, missing=0)
        return cls(int(matrix.shape[0]), **_adjacent(matrix))

    @property
    def m(self) -> int:
        """Number of stored directed edges."""
        return len(self.adjacency("csr")[1])

    @property
    def weighted(self) -> bool:
        """Whether the edges have weights."""
        return self.weights_dtype is not None

    @property
    def weights_dtype(self) -> np.dtype | None:
        """The type of the weights; None for an unweighted graph."""
        if self.dense is not None:
            return weight_dtype(np.dtype(self.dense.dtype))
        weights = self._views.get(("csr.weights", self._home.name))
        return None if weights is None else np.dtype(weights.dtype)

    def extremes(self) -> tuple[float, float, bool]:
        """Return the least and the greatest weight, and whether all are whole numbers; 0 and 0 without edges."""
        extremes: tuple[float, float, bool] = self.kept("extremes", self._home, lambda: _extremes(self._weights()))
        return extremes

    def largest_sums(self, count: int) -> tuple[float, float]:
        """Return how far below and above zero a sum of up to `count` weights may be."""
        largest = [np.zeros(0), np.zeros(0)]
        for weights in self._weights():
            lengths = devices.to_host(weights).astype(np.float64)
            for side, signed in enumerate((-lengths, lengths)):
                kept = np.concatenate([largest[side], signed[signed > 0]])
                largest[side] = (
                    np.partition(kept, len(kept) - count)[len(kept) - count :] if len(kept) > count else kept
                )
        with np.errstate(over="ignore"):
            return float(largest[0].sum()), float(largest[1].sum())

    def _weights(self) -> Iterator[Array]:
        """Yield the weights of all edges, some at a time."""
        if self.dense is None:
            _, indices, weights = self.csr()
            yield self._home.xp.ones(min(len(indices), 1), np.int32) if weights is None else weights
            return
        rows = chunk_rows(self.n)
        for first in range(0, self.n, rows):
            block = in_memory(self.dense[first : first + rows])
            yield block[_present(block, first)]

    @property
    def device(self) -> str:
        """The name of the device that the graph was made on, and results are returned on."""
        return self._home.name

    def csr(self) -> Compressed:
        """Return the edges grouped by source: row ``v`` holds the targets of ``v``'s edges, ascending."""
        indptr, indices = self.adjacency("csr")
        return Compressed(indptr, indices, self._view("csr.weights", self._home))

    def csc(self) -> Compressed:
        """Return the edges grouped by target: row ``v`` holds the sources of edges into ``v``, ascending."""
        indptr, indices = self.adjacency("csc")
        return Compressed(indptr, indices, self._view("csc.weights", self._home))

    def coo(self) -> Edges:
        """Return the edges one by one, sorted by source and target."""
        indptr, indices, weights = self.csr()
        m = len(indices)
        # An edge's row is the number of rows, but the first, that begin at it or before.
        starts = self._home.xp.bincount(indptr[1:-1], minlength=m + 1)[:m] if m else indices
        return Edges(starts.cumsum().astype(np.int32), indices, weights)

    def adjacency(self, order: str, device: devices.Device | None = None) -> tuple[Array, Array]:
        """Return ``(indptr, indices)`` of ``"csr"`` or ``"csc"`` on a device, kept for the next call.

        Parameters
        ----------
        order : {"csr", "csc"}
            Grouped by source or by target; of an undirected graph both are the same arrays.
        device : Device, optional
            Where the arrays shall live; by default where the graph was made.
        """
        device = device or self._home
        return self._view(f"{order}.indptr", device), self._view(f"{order}.indices", device)

    def kept(self, name: str, device: devices.Device, make: Callable[[], Array]) -> Array:
        """Return what `make` derives from the graph on a device, kept for the next call under a name."""
        key = (name, device.name)
        if key not in self._views:
            with _MAKING:
                if key not in self._views:
                    made = make()
                    device.synchronize()
                    self._views[key] = made
        return self._views[key]

    def held(self, device: devices.Device, *names: str) -> int:
        """Return the bytes that what is kept under these names takes on a device."""
        held = (self._views.get((name, device.name)) for name in names)
        arrays = (array for value in held for array in (value if isinstance(value, tuple) else (value,)))
        return sum(getattr(array, "nbytes", 0) for array in arrays)

    def unweighted(self) -> "Graph":
        """Return the same graph without its weights."""
        indptr, indices = self.adjacency("csr")
        csr = Compressed(indptr, indices, None)
        return Graph(self.n, csr=csr, directed=self.directed, ids=self.ids, nonnegative=True)

    def _view(self, name: str, device: devices.Device) -> Array:
        order, _, part = name.partition(".")
        if order == "csc" and not self.directed:
            name = f"csr.{part}"
        order = name.partition(".")[0]
        if (f"{order}.indptr", self._home.name) not in self._views:
            with _MAKING:
                if (f"{order}.indptr", self._home.name) not in self._views:
                    made = self._made(order)
                    self._home.synchronize()
                    self._keep(order, made, self._home.name)
        home = self._views[name, self._home.name]
        if device.name == self._home.name or home is None:
            return home
        return self.kept(name, device, lambda: device.asarray(home))

    def _made(self, order: str) -> Compressed:
        if order == "csr":
            assert self.dense is not None
            src, dst, weights = _dense_edges(in_memory(self.dense))
            return _compress(src, dst, weights, self.n, self._home.xp)
        if self._home.kind == "cpu":
            return _transposed(*self.csr(), self.n)
        check_memory(self.n, self.m, self._home)
        src, dst, weights = self.coo()
        return _compress(dst, src, weights, self.n, self._home.xp)

    def _keep(self, order: str, made: Compressed, place: str) -> None:
        # What others look for, the offsets, comes last.
        for part, array in reversed(made._asdict().items()):
            self._views[f"{order}.{part}", place] = array

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        edges = f"m={self.m}" if self.dense is None else "dense"
        return f"Graph(n={self.n}, {edges}, {kind}, {self.weights_dtype or 'unweighted'})"


class StoredMatrix:
    """A matrix that is not in memory, or a rectangle of one: slicing does not read it, `in_memory` does.

    Parameters
    ----------
    source : array_like of two dimensions
        What has a shape, a dtype, and NumPy arrays for slices: an array of Zarr or HDF5, a DistributedMatrix.
    rows, columns : slice, optional
        The rectangle.
    missing : number, optional
        What a masked entry becomes: the chunks of a Dask array may be masked.
    """

    def __init__(
        self, source: Any, rows: slice = slice(None), columns: slice = slice(None), missing: float | None = None
    ) -> None:
        _check_square(source.shape)
        self._source = source
        self._rows = range(source.shape[0])[rows]
        self._columns = range(source.shape[1])[columns]
        self.shape = len(self._rows), len(self._columns)
        self.dtype = np.dtype(source.dtype)
        self._missing = missing

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: slice | tuple[slice, slice]) -> "StoredMatrix":
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        down, across = self._rows[rows], self._columns[columns]
        own = slice(down.start, down.stop), slice(across.start, across.stop)
        return StoredMatrix(self._source, *own, self._missing)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        rows, columns = (slice(part.start, part.stop) for part in (self._rows, self._columns))
        part = self._source[rows, columns]
        if hasattr(part, "compute"):  # of Dask, whose own conversion to an array drops masks
            part = part.compute()
        return np.asarray(part.filled(self._missing) if isinstance(part, np.ma.MaskedArray) else part, dtype)


def in_memory(matrix: Array) -> Array:
    """Return `matrix` as it is, or read it if it is stored elsewhere."""
    return np.asarray(matrix) if isinstance(matrix, StoredMatrix) else matrix


def outline(value: Any) -> tuple[int, str]:
    """Return the number of vertices and the device of a graph or sparse matrix, before any edge is touched.

    Raises
    ------
    InputError
        If the matrix is not square.
    """
    if isinstance(value, Graph):
        return value.n, value.device
    _check_square(value.shape)
    return int(value.shape[0]), devices.of(getattr(value, "data", None)).name


def as_graph(value: Any) -> Graph:
    """Return `value` as a graph: a `Graph`, a sparse matrix, or a dense one as `Graph.from_dense` reads it.

    Raises
    ------
    InputError
        If it is none of these, or one that cannot be used.
    """
    if isinstance(value, Graph):
        return value
    if hasattr(value, "tocoo"):
        return Graph.from_scipy(value)
    advice = ""
    if isinstance(value, (str, os.PathLike)):
        advice = ": mgraph.read(path) reads one from a file"
    elif hasattr(value, "adjacency"):
        advice = ": networkx.to_scipy_sparse_array(graph, weight=...) makes one of NetworkX's"
    elif hasattr(value, "shape") or hasattr(value, "__array__") or isinstance(value, Sequence):
        return Graph.from_dense(value)
    raise InputError(f"expected a Graph, a sparse or dense matrix, got {type(value).__name__}{advice}")


def check_sums(graph: Graph, dtype: np.dtype, shifted: bool = False) -> None:
    """Refuse negative weights of which a sum along a path may be beyond the floats `dtype`.

    Without negative weights such a sum only grows: the distance itself is then infinite. With them it may come back,
    but infinity does not. No path has as many edges as there are vertices.

    Parameters
    ----------
    graph : Graph
        The graph.
    dtype : dtype
        What is computed in.
    shifted : bool
        Whether the weights are shifted by potentials, which are such sums themselves.

    Raises
    ------
    DistanceOverflowError
        If a sum may be too large.
    """
    if dtype.kind != "f" or graph.nonnegative:
        return
    limits, edges = np.finfo(dtype), max(graph.n - 1, 0)
    room = float(limits.max) / (1 + graph.n * float(limits.eps))  # each sum may be rounded up

    def fit(below: float, above: float) -> bool:
        return below + above <= room if shifted else max(below, above) <= room

    least, most, _ = graph.extremes()
    if fit(float(edges) * max(-least, 0), float(edges) * max(most, 0)):
        return
    below, above = graph.largest_sums(edges)
    if not fit(below, above):
        what = f"below the least {dtype.name}" if below > room else f"beyond the largest {dtype.name} and come back"
        advice = "use dtype='float64'" if dtype == np.float32 else "scale the weights down"
        raise DistanceOverflowError(
            f"with negative weights of this size, a sum of weights along a path may be {what}: {advice}"
        )


def _check_square(shape: tuple[int, ...]) -> None:
    if len(shape) != 2 or shape[0] != shape[1]:
        raise InputError(f"the matrix has shape {tuple(shape)}: it must be square, a row and column per vertex")
    if shape[0] > MAX_VERTICES:
        raise InputError(f"{shape[0]} vertices are beyond int32: at most {MAX_VERTICES}")


def offset_type(m: int) -> np.dtype:
    """Return the type of the offsets into the lists of so many edges."""
    return np.dtype(np.int32 if m < MANY_EDGES else np.int64)


def check_memory(n: int, edges: int, home: devices.Device) -> None:
    """Refuse a graph whose sorting does not fit: three lists of offsets, and copies of the edges."""
    needed, there = 12 * n + 40 * edges, home.available_memory()
    if needed > there:
        raise MemoryLimitError(
            f"a graph of {n:,} vertices and {edges:,} edges needs about {needed / 2**30:.1f} GiB to be sorted, and "
            f"{home.name} has {there / 2**30:.1f} GiB free: take fewer, or relabel the ids of a file if they are "
            "sparse (relabel=True)"
        )


def as_array(values: Any, name: str, xp: Any = np) -> Array:
    """Return an argument as an array, or raise InputError for masked elements and for rows of unequal lengths."""
    if np.ma.is_masked(values):
        raise InputError(f"{name} must not have masked elements: leave out what they belong to, or fill them")
    try:
        return xp.asarray(values)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} cannot be made an array: {error}") from error


def _ids(values: Any, name: str, xp: Any) -> Array:
    values = as_array(values, name, xp)
    if values.ndim != 1:
        raise InputError(f"{name} has shape {values.shape}: give one vertex id per edge")
    if not values.size:
        return values.astype(np.int64)
    if values.dtype.kind not in "iu":
        raise InputError(f"{name} is of type {values.dtype}: vertex ids are integers, numbered from 0")
    if int(values.min()) < 0:
        raise InputError(f"{name} holds the vertex id {int(values.min())}: ids are numbered from 0")
    return values


def _checked_ids(ids: Any, n: int) -> np.ndarray:
    """Return the vertices' original ids."""
    ids = np.asarray(devices.to_host(ids)) if devices.of(ids).kind == "cuda" else as_array(ids, "ids")
    integers = ids.dtype.kind in "iu" or not ids.size
    if ids.shape != (n,) or not integers or (ids.dtype == np.uint64 and ids.max(initial=0) > np.iinfo(np.int64).max):
        raise InputError(
            f"ids must be {n} integers of at most 64 bits, one per vertex, got type {ids.dtype} and shape {ids.shape}"
        )
    return ids.astype(np.int64, copy=False)


def _vertex_count(n: int | None, largest: int) -> int:
    if largest >= MAX_VERTICES:
        raise InputError(f"the vertex id {largest} is beyond int32: relabel the ids (relabel=True on reading)")
    if n is None:
        return largest + 1
    n = checked_integer("n", n, 0, MAX_VERTICES)
    if largest >= n:
        raise InputError(f"the vertex id {largest} is not below n={n}: ids are numbered from 0 to n-1")
    return n


def _checked_weights(weights: Array, edges: int) -> Array | None:
    if weights.shape != (edges,):
        raise InputError(f"weights has shape {tuple(weights.shape)} for {edges} edges: give one per edge")
    dtype = weight_dtype(np.dtype(weights.dtype))
    if dtype is None:
        return None
    if dtype.kind == "f":
        bad = ~(weights > -np.inf)
        if bool(bad.any()):
            edge = int(bad.nonzero()[0][0])
            raise InputError(f"the weight of edge {edge} is {float(weights[edge])}: use a number, or inf for 'no edge'")
    elif weights.dtype.kind == "u" and weights.size and int(weights.max()) > np.iinfo(np.int64).max:
        raise InputError(f"the weight {int(weights.max())} is beyond int64")
    return weights.astype(dtype)


def _compress(rows: Array, columns: Array, weights: Array | None, n: int, xp: Any) -> Compressed:
    """Group edges by row, columns ascending; repeated edges stay."""
    offsets = offset_type(len(rows))
    if xp is np:
        # SciPy's conversions are counting sorts: two transpositions leave every row sorted, in O(m).
        order = np.arange(len(rows), dtype=offsets)
        matrix = sparse.coo_matrix((order, (rows, columns)), shape=(n, n))
        matrix.has_canonical_format = True  # or tocsr() would add up repeated edges
        matrix = matrix.tocsr().tocsc().tocsr()
        indptr, indices, order = matrix.indptr, matrix.indices, matrix.data
    else:
        order = xp.argsort(rows.astype(np.int64) * n + columns)
        indptr = xp.zeros(n + 1, offsets)
        xp.cumsum(xp.bincount(rows, minlength=n)[:n], out=indptr[1:])
        indices = columns[order]
    weights = None if weights is None else weights[order]
    return Compressed(indptr.astype(offsets, copy=False), indices.astype(np.int32, copy=False), weights)


def _transposed(indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray | None, n: int) -> Compressed:
    """Group edges by their other end: SciPy's counting sort, which leaves every row sorted."""
    data = np.zeros(len(indices), bool) if weights is None else weights
    matrix = sparse.csr_array((data, indices, indptr), shape=(n, n)).tocsc()
    return Compressed(
        matrix.indptr.astype(indptr.dtype, copy=False),
        matrix.indices.astype(np.int32, copy=False),
        None if weights is None else matrix.data,
    )


def _dense(matrix: Any, missing: float | None = None) -> Array:
    """Return a square matrix of numbers or truth values as an array, or as a `StoredMatrix` where it is elsewhere.

    A masked entry becomes `missing`, by default what is no edge in a distance matrix.
    """
    if hasattr(matrix, "tocoo"):
        raise InputError(f"{type(matrix).__name__} is a sparse matrix: give it to from_scipy")
    on_host = devices.of(matrix).kind == "cpu"
    typed = isinstance(getattr(matrix, "dtype", None), np.dtype)
    elsewhere = on_host and typed and not hasattr(matrix, "__array_struct__")
    if on_host and not elsewhere and not isinstance(matrix, np.ma.MaskedArray):
        matrix = _rows(matrix)
    _check_square(matrix.shape)
    weight_dtype(matrix.dtype)
    if missing is None:
        missing = False if matrix.dtype.kind == "b" else infinity(matrix.dtype)
    if elsewhere:
        return StoredMatrix(matrix, missing=missing)
    return matrix.filled(missing) if isinstance(matrix, np.ma.MaskedArray) else matrix


def _rows(matrix: Any) -> np.ndarray:
    """Return what is no array as one, masked where a row is; raise InputError for rows of unequal length and such."""
    if isinstance(matrix, Sequence) and all(isinstance(row, Sequence) for row in matrix):
        lengths = [len(row) for row in matrix]
        odd = next((i for i, length in enumerate(lengths) if length != lengths[0]), None)
        if odd is not None:
            raise InputError(
                f"row {odd} of the matrix has length {lengths[odd]}, row 0 has length {lengths[0]}: a square matrix "
                "has a row and a column per vertex"
            )
    array = np.asarray(as_array(matrix, "the matrix"))
    if isinstance(matrix, Sequence) and any(isinstance(row, np.ma.MaskedArray) for row in matrix):
        return np.ma.array(array, mask=[np.ma.getmaskarray(row) for row in matrix])
    return array


def _looked_through(matrix: Array) -> tuple[bool, bool]:
    """Return whether no entry of a matrix is negative, and whether it leaves open what its zeros are.

    On a GPU, whose reductions need no room, the matrix is looked through as a whole. Once an infinity is found, only
    the least entry is still asked for.
    """
    n, missing, least = len(matrix), infinity(np.dtype(matrix.dtype)), 0.0
    infinite = zeros = False
    rows = chunk_rows(n) if isinstance(matrix, (np.ndarray, StoredMatrix)) else n
    for first in range(0, n, max(1, rows)):
        block = in_memory(matrix[first : first + rows])
        low = float(block.min())
        if not low > -np.inf:  # a minimum with a NaN among its numbers is NaN
            raise _no_weight(block, first)
        least = min(low, least)
        infinite = infinite or bool(block.max() == missing)
        zeros = zeros or (low <= 0 and not infinite and _has_zeros(block, first))
    return least >= 0, zeros and not infinite


def _has_zeros(block: Array, first: int) -> bool:
    """Return whether rows of a matrix, from `first` on, have zeros off its diagonal."""
    place = devices.of(block)
    (found,) = devices.zeroed(place.xp, 1)
    place.kernels("weights").zeros(block, first, found)
    return bool(found[0])


def _no_weight(block: Array, first: int) -> InputError:
    """Return the error for a NaN or -inf among rows of a matrix, from `first` on."""
    i, j = (int(axis[0]) for axis in (~(block > -np.inf)).nonzero())
    value = "NaN" if block[i, j] != block[i, j] else "-inf"
    return InputError(f"entry ({first + i}, {j}) of the matrix is {value}: use a number, or inf for 'no edge'")


def _adjacent(matrix: Array) -> dict[str, Any]:
    """Return the edges of an adjacency matrix by source, and whether none is negative, as `Graph` takes them."""
    n, dtype, home = len(matrix), weight_dtype(np.dtype(matrix.dtype)), devices.of(matrix)
    xp = home.xp
    degrees, targets, weights = [xp.zeros(1, np.int64)], [xp.empty(0, np.int32)], [xp.empty(0, dtype)]
    m, rows = 0, chunk_rows(n)
    for first in range(0, n, rows):
        block = in_memory(matrix[first : first + rows])
        if block.dtype.kind == "f" and not float(block.min()) > -np.inf:
            raise _no_weight(block, first)
        present = (block != 0) & (block != np.inf) if block.dtype.kind == "f" else block != 0
        degrees.append(present.sum(axis=1, dtype=np.int64))
        m += int(degrees[-1].sum())
        check_memory(n, m, home)
        row, column = present.nonzero()
        targets.append(column.astype(np.int32))
        if dtype is not None:
            weights.append(block[row, column])
    lengths = None if dtype is None else _checked_weights(xp.concatenate(weights[1:] or weights), m)
    indptr = xp.concatenate(degrees).cumsum().astype(offset_type(m))
    nonnegative = lengths is None or not m or bool(lengths.min() >= 0)
    return {"csr": Compressed(indptr, xp.concatenate(targets), lengths), "nonnegative": nonnegative}


def _extremes(pieces: Iterable[Array]) -> tuple[float, float, bool]:
    """Return the least and the greatest number of all pieces, and whether all are whole; 0 and 0 without any."""
    ends: list[float] = []
    whole = True
    for piece in pieces:
        if piece.size:
            ends += piece.min().item(), piece.max().item()
            whole = whole and (piece.dtype.kind in "iu" or bool((piece % 1 == 0).all()))
    return min(ends, default=0), max(ends, default=0), whole


def _present(block: Array, first: int) -> Array:
    """Return where rows of a distance matrix, from `first` on, have edges: on its diagonal only negative ones."""
    present = block != infinity(np.dtype(block.dtype))
    row = devices.of(block).xp.arange(len(block))
    present[row, first + row] = block[row, first + row] < 0
    return present


def _dense_edges(matrix: Array) -> Edges:
    """Return the edges of a distance matrix, a negative diagonal entry as a self-loop."""
    src, dst = _present(matrix, 0).nonzero()
    weights = matrix[src, dst]
    dtype = weight_dtype(np.dtype(matrix.dtype))
    return Edges(src.astype(np.int32), dst.astype(np.int32), weights.astype(dtype))
