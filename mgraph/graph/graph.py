"""The `Graph`: its edges, and views of them (CSR, CSC), computed once and kept on each device that needs them.

The file is long because it has the whole public class with its documentation. What the methods do stands in the modules
beside it.
"""

import logging
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .. import device as devices
from .. import lazy, vocabulary
from ..arguments import as_array, checked_choice, checked_flag
from ..arrays import Array, chunk_rows
from ..docstrings import with_common_parts
from ..dtypes import weight_dtype
from ..errors import AmbiguousZerosError, InputError, type_name
from .checks import (
    check_both_directions,
    check_memory,
    check_square,
    checked_edge_ends,
    checked_weights,
    vertex_count,
)
from .compressed import (
    Compressed,
    Edges,
    compress,
    copied_bytes,
    lightest,
    rows_of,
    selected,
    transposed,
    transposed_bytes,
)
from .conversion import (
    arrow_columns,
    column_edges,
    igraph_edges,
    networkx_edges,
    networkx_graph,
    pandas_columns,
)
from .coordinates import checked_coordinates, coordinates_of, number_of
from .dense import (
    Ends,
    adjacent,
    dense,
    dense_edges,
    ends,
    ends_of_edges,
    largest,
    largest_of_edges,
    own,
    present,
    scan_matrix,
)
from .grouping import extremes
from .ids import checked_ids, index_of, places_among
from .question import FIRST, Question, check_distinct
from .sparse import check_structure, entries, stored_rows
from .stored import StoredMatrix, in_memory
from .views import ArrayCache, handed_out

_log = logging.getLogger(__name__)

EdgeArrays = TypeVar("EdgeArrays", Compressed, Edges)


class Graph(ArrayCache):
    """A directed or undirected graph over the vertices 0 to n-1, weighted or not.

    Make one with `from_edges`, `from_edge_index`, `from_scipy`, `from_adjacency`, `from_distances`, `from_dense`,
    `from_networkx`, `from_igraph`, `from_pandas`, `from_arrow` or `mgraph.read`.

    Attributes
    ----------
    n : int
        Number of vertices.
    m : int
        Number of stored directed edges; an undirected edge counts twice, a self-loop once.
    directed : bool
        False if each edge is stored in both directions.
    ids : array of int64 or of objects, or None
        The id of each vertex, such as its name; objects if not all are integers. Calls take ids in place of vertices
        and answer with them. It is read-only: `with_ids` returns a graph with others.
    coordinates : array of float64, shape (n, 2), or None
        Where each vertex lies, for maps; NaN where that is not known.
    nonnegative : bool
        True if no weight is negative.

    Examples
    --------
    >>> import mgraph
    >>> graph = mgraph.Graph.from_edges([0, 1], [1, 2], [5, 6], directed=False)
    >>> graph.n, graph.m, graph.directed, graph.nonnegative
    (3, 4, False, True)
    """

    def __init__(
        self,
        n: int,
        *,
        csr: Compressed | None = None,
        csc: Compressed | None = None,
        dense: Array | None = None,
        directed: bool = True,
        ids: np.ndarray | None = None,
        coordinates: np.ndarray | None = None,
        nonnegative: bool = False,
    ) -> None:
        if csr is None and dense is None:
            raise InputError(
                "a graph is made of edges or a matrix: use from_edges, from_scipy, from_dense or mgraph.read"
            )
        self.n = n
        self.directed = directed
        self._ids = ids
        self._coordinates = coordinates
        self.nonnegative = nonnegative
        #: The distance matrix that the graph was made from, if it was.
        self.dense = dense
        self._home = devices.of(dense if csr is None else csr.indptr)
        super().__init__()
        if csr is not None:
            self._keep("csr", csr)
        if csc is not None:
            self._keep("csc", csc)

    @classmethod
    @vocabulary.advised
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
            The edges' ends, numbered from 0. Self-loops and repeated edges are kept. These and the weights may be
            arrays or tensors of any library that speaks DLPack, such as PyTorch; on a GPU they stay there.
        weights : array_like, shape (edges,), optional
            Floats or integers. NaN is an error; an edge of weight ``inf`` is left out.
        n : int, optional
            Number of vertices; by default one more than the largest id.
        directed : bool
            False stores every edge in both directions.
        ids : array_like, shape (n,), optional
            An id of each vertex, as of `with_ids`.

        Returns
        -------
        Graph

        Raises
        ------
        InputError
            For edge ends that are not integers in [0, n) or exceed int32, for arrays of different lengths, and for
            weights that are truth values or NaN.
        MemoryLimitError
            If sorting the edges does not fit the free memory.

        Examples
        --------
        >>> import mgraph
        >>> mgraph.Graph.from_edges([0, 1], [1, 2], [5, 6], directed=False)
        Graph(n=3, m=4, undirected, int64)
        """
        directed = checked_flag("directed", directed)
        src, dst, weights = map(devices.imported, (src, dst, weights))
        xp = next((devices.of(a).xp for a in (src, dst, weights) if devices.of(a).kind == "cuda"), np)
        src, largest_source = checked_edge_ends(src, "src", xp)
        dst, largest_target = checked_edge_ends(dst, "dst", xp)
        if len(src) != len(dst):
            raise InputError(f"src has {len(src)} entries and dst has {len(dst)}: give one of each per edge")
        n = vertex_count(n, max(largest_source, largest_target))
        ids = None if ids is None else checked_ids(ids, n)
        check_memory(n, len(src) if directed else 2 * len(src), devices.of(src))
        if weights is not None:
            weights = checked_weights(as_array(weights, "weights", xp), len(src), copy=False)
        least, greatest = (0, 0) if weights is None or not len(weights) else extremes(weights)
        if weights is not None and greatest == np.inf:
            there = ~xp.isinf(weights)
            src, dst, weights = src[there], dst[there], weights[there]
        compressed = compress(src, dst, weights, n, xp, both=not directed)
        return cls(n, csr=compressed, directed=directed, ids=ids, nonnegative=least >= 0)

    @classmethod
    @vocabulary.advised
    def from_scipy(cls, matrix: Any, directed: bool = True, *, copy: bool = True) -> "Graph":
        """Return the graph whose edges are the stored entries of a SciPy (or CuPy) sparse matrix.

        Stored zeros are edges of weight zero, except in the formats DIA and BSR, where a stored zero may only be fill.
        A boolean matrix gives an unweighted graph. Entries stored twice are parallel edges.

        Parameters
        ----------
        matrix : sparse matrix or array, shape (n, n)
            Entry (i, j) is the edge from i to j.
        directed : bool
            False stores every entry in both directions, as `from_edges` does: give one triangle of a symmetric matrix.
        copy : bool
            False shares the arrays of a matrix in CSR whose rows are sorted, as far as they have the types that a graph
            keeps: int32 indices, and weights of int32, int64, float32 or float64. The matrix must then not change as
            long as the graph exists: compiled code reads its arrays unchecked, and a changed one may end the process.

        Returns
        -------
        Graph

        Raises
        ------
        InputError
            If the matrix is not square, and as `from_edges` does.
        MemoryLimitError
            If sorting the edges does not fit the free memory.

        See Also
        --------
        to_scipy : The edges as a SciPy matrix.

        Examples
        --------
        >>> import mgraph
        >>> from scipy import sparse
        >>> mgraph.Graph.from_scipy(sparse.csr_array([[0, 3], [2, 0]]))
        Graph(n=2, m=2, directed, int64)
        """
        if not hasattr(matrix, "tocoo"):
            raise InputError(f"from_scipy takes a sparse matrix, not {type_name(matrix)}")
        check_square(matrix.shape)
        check_structure(matrix)
        directed = checked_flag("directed", directed)
        copy = checked_flag("copy", copy)
        csr, nonnegative = stored_rows(matrix, copy) if directed else (None, False)
        if csr is not None:
            return cls(int(matrix.shape[0]), csr=csr, nonnegative=nonnegative)
        check_memory(matrix.shape[0], matrix.nnz, devices.of(getattr(matrix, "data", None)))
        return cls.from_edges(*entries(matrix), n=matrix.shape[0], directed=directed)

    @classmethod
    def from_dense(cls, matrix: Array, *, copy: bool = True) -> "Graph":
        """Return the graph of a dense matrix whose zeros are unambiguous.

        A matrix with an infinity, or without zeros off its diagonal, is read by `from_distances`; one of truth values
        by `from_adjacency`. A matrix in memory is scanned once; one in a file or on a cluster is read some rows at a
        time.

        Parameters
        ----------
        matrix : array_like, shape (n, n)
            Numbers or truth values; in memory, on a GPU, in a file (``numpy.memmap``, Zarr, HDF5) or on a cluster.
        copy : bool
            As of `from_distances`.

        Returns
        -------
        Graph

        Raises
        ------
        InputError
            `AmbiguousZerosError` if the matrix has zeros off its diagonal and no infinity: its zeros may mean edges of
            weight zero or no edges. Otherwise as `from_distances` and `from_adjacency` do.

        Examples
        --------
        >>> import numpy as np
        >>> import mgraph
        >>> mgraph.Graph.from_dense([[0, 3, np.inf], [2, 0, 0], [1, 4, 0]]).m
        5
        """
        given, copy = matrix, checked_flag("copy", copy)
        matrix = dense(given)
        if matrix.dtype.kind == "b":
            return cls.from_adjacency(matrix)
        matrix = own(matrix, given) if copy else matrix
        nonnegative, ambiguous = scan_matrix(matrix)
        if ambiguous:
            raise AmbiguousZerosError(
                "the matrix has zeros off its diagonal and no infinity: if zeros mean no edge, as in SciPy, give "
                "Graph.from_adjacency(matrix); if they are edges of weight zero, give Graph.from_distances(matrix)"
            )
        return cls(int(matrix.shape[0]), dense=matrix, nonnegative=nonnegative)

    @classmethod
    def from_distances(cls, matrix: Array, *, copy: bool = True) -> "Graph":
        """Return the graph of a distance matrix, in which zeros are edges of weight zero.

        ``inf`` (for integers the type's largest value) and masked entries mean no edge. The diagonal counts as zero
        unless it is negative.

        A matrix in a file (``numpy.memmap``, Zarr, HDF5) or on a cluster is not copied, but read some rows at a time.
        It must not change as long as the graph exists: its least weight and the arrays derived from it, such as its
        edges, are kept. If a mapped file is cut short, the system ends the process.

        Parameters
        ----------
        matrix : array_like, shape (n, n)
            Numbers.
        copy : bool
            False shares a matrix in memory instead of copying it. It must then not change as long as the graph exists.

        Returns
        -------
        Graph

        Raises
        ------
        InputError
            If the matrix is not square, or holds NaN, -inf or an element that is not a number.

        See Also
        --------
        from_adjacency : The graph of a matrix in which zeros mean no edge.

        Examples
        --------
        >>> import mgraph
        >>> mgraph.apsp(mgraph.Graph.from_distances([[0, 0], [0, 0]])).distances.tolist()
        [[0, 0], [0, 0]]
        """
        given, copy = matrix, checked_flag("copy", copy)
        matrix = dense(given)
        if matrix.dtype.kind == "b":
            raise InputError("a distance matrix must hold numbers, got truth values: use Graph.from_adjacency")
        matrix = own(matrix, given) if copy else matrix
        nonnegative, _ = scan_matrix(matrix)
        return cls(int(matrix.shape[0]), dense=matrix, nonnegative=nonnegative)

    @classmethod
    def from_adjacency(cls, matrix: Array) -> "Graph":
        """Return the graph of an adjacency matrix, in which zeros mean no edge, as in SciPy.

        ``inf`` and masked entries mean no edge, too. An entry on the diagonal is a self-loop. Truth values give an
        unweighted graph. The edges are kept, not the matrix, which is read some rows at a time.

        Parameters
        ----------
        matrix : array_like, shape (n, n)
            Numbers or truth values.

        Returns
        -------
        Graph

        Raises
        ------
        InputError
            If the matrix is not square, or holds NaN, -inf or an element that is not a number.
        MemoryLimitError
            If the edges do not fit the free memory.

        See Also
        --------
        from_distances : The graph of a matrix in which zeros are edges of weight zero.

        Examples
        --------
        >>> import mgraph
        >>> mgraph.apsp(mgraph.Graph.from_adjacency([[0, 7], [0, 0]])).distances.tolist()
        [[0, 7], [2147483647, 0]]
        """
        matrix = dense(matrix, missing=0)
        return cls(int(matrix.shape[0]), **adjacent(matrix))

    @classmethod
    @vocabulary.advised
    def from_networkx(cls, graph: Any, weight: str | None = "weight") -> "Graph":
        """Return a NetworkX graph; vertex v is its node number v, ``list(graph)[v]``.

        Parameters
        ----------
        graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
            Parallel edges are kept.
        weight : str or None
            The attribute of the edges that is their weight, such as ``"length"`` in OSMnx's graphs. An edge without it
            has weight 1. An edge whose weight is None is left out, as NetworkX hides it. The graph is unweighted for
            None, and if no edge has the attribute.

        Returns
        -------
        Graph
            Directed as `graph` is. Its `ids` are the nodes, if these are not 0 to n-1 already, and its `coordinates`
            the nodes' attributes ``x`` and ``y``, as OSMnx has them, or ``pos``.

        Raises
        ------
        InputError
            If `graph` is not NetworkX's, if `weight` is a function, and for weights as `from_edges` does.
        MemoryLimitError
            If sorting the edges does not fit the free memory.

        See Also
        --------
        to_networkx : The inverse.

        Examples
        --------
        >>> import networkx
        >>> import mgraph
        >>> roads = networkx.Graph()
        >>> roads.add_edge("Rome", "Pisa", weight=354)
        >>> roads.add_edge("Pisa", "Genoa", weight=159)
        >>> graph = mgraph.Graph.from_networkx(roads)
        >>> dict(zip(graph.ids, mgraph.sssp(graph, 0, device="cpu").distances.tolist()))
        {'Rome': 0, 'Pisa': 354, 'Genoa': 513}
        """
        if not (hasattr(graph, "adjacency") and hasattr(graph, "is_multigraph")):
            raise InputError(argument="graph", value=type_name(graph), expected="a NetworkX graph")
        if callable(weight):
            advice = ": networkx.set_edge_attributes stores what a function returns"
            raise InputError(advice, argument="weight", value=weight, expected="the name of an attribute")
        edges, nodes = networkx_edges(graph, weight)
        made = cls.from_edges(*edges, n=len(graph), directed=graph.is_directed(), ids=nodes)
        places = coordinates_of((data for _, data in graph.nodes(data=True)), len(graph))
        return made if places is None else made.with_coordinates(places)

    @classmethod
    def from_igraph(cls, graph: Any, weight: str | None = "weight") -> "Graph":
        """Return an igraph graph; vertex v is its vertex v.

        Parameters
        ----------
        graph : igraph.Graph
            Parallel edges are kept.
        weight : str or None
            The attribute of the edges that is their weight; an edge whose weight is None has weight 1. The graph is
            unweighted for None, and if there is no such attribute.

        Returns
        -------
        Graph
            Directed as `graph` is. Its `ids` are the vertices' attribute ``"name"``, if all have one, and its
            `coordinates` their attributes ``"x"`` and ``"y"``.

        Raises
        ------
        InputError
            If `graph` is not igraph's, and for weights as `from_edges` does.
        MemoryLimitError
            If sorting the edges does not fit the free memory.

        Examples
        --------
        >>> import igraph
        >>> import mgraph
        >>> roads = igraph.Graph.TupleList([("Rome", "Pisa", 354), ("Pisa", "Genoa", 159)], weights=True)
        >>> graph = mgraph.Graph.from_igraph(roads)
        >>> graph.ids.tolist(), mgraph.sssp(graph, 0, device="cpu").distances.tolist()
        (['Rome', 'Pisa', 'Genoa'], [0, 354, 513])
        """
        if not (hasattr(graph, "get_edgelist") and hasattr(graph, "vcount")):
            raise InputError(argument="graph", value=type_name(graph), expected="an igraph graph")
        edges, names = igraph_edges(graph, weight)
        made = cls.from_edges(*edges, n=graph.vcount(), directed=graph.is_directed(), ids=names)
        if not {"x", "y"} <= set(graph.vs.attributes()):
            return made
        places = zip(map(number_of, graph.vs["x"]), map(number_of, graph.vs["y"]), strict=True)
        return made.with_coordinates(np.array(list(places)).reshape(-1, 2))

    @classmethod
    def from_edge_index(
        cls, edge_index: Array, weights: Array | None = None, n: int | None = None, directed: bool = True
    ) -> "Graph":
        """Return the graph of an ``edge_index``, as PyTorch Geometric keeps edges.

        Parameters
        ----------
        edge_index : array_like of int, shape (2, edges)
            The edges' sources and targets: a tensor, or an array of any library that speaks DLPack.
        weights : array_like, shape (edges,), optional
            Floats or integers. An ``edge_attr`` of shape (edges, 1) is given as ``edge_attr[:, 0]``.
        n : int, optional
            Number of vertices; by default one more than the largest id.
        directed : bool
            False stores every edge in both directions. PyTorch Geometric's undirected graphs have both already.

        Returns
        -------
        Graph

        Raises
        ------
        InputError
            If `edge_index` has another shape, and as `from_edges` does.
        MemoryLimitError
            If sorting the edges does not fit the free memory.

        Examples
        --------
        >>> import mgraph
        >>> mgraph.Graph.from_edge_index([[0, 1, 1], [1, 0, 2]], weights=[5.0, 5.0, 6.0])
        Graph(n=3, m=3, directed, float64)
        """
        ends = devices.imported(edge_index)
        ends = as_array(ends, "edge_index", devices.of(ends).xp)
        if ends.ndim != 2 or len(ends) != 2:
            raise InputError(argument="edge_index", value=tuple(ends.shape), expected="of shape (2, edges)")
        return cls.from_edges(ends[0], ends[1], weights, n, directed)

    @classmethod
    @vocabulary.advised
    def from_pandas(
        cls,
        frame: Any,
        source: str = "source",
        target: str = "target",
        weight: str | None = None,
        directed: bool = True,
    ) -> "Graph":
        """Return the graph whose edges are the rows of a dataframe.

        Parameters
        ----------
        frame : pandas.DataFrame
            A row for each edge; a dataframe of another library whose columns have `to_numpy`, too.
        source, target : str
            The columns of the edges' ends: ids of any kind, such as strings, or integers of any size and sign.
        weight : str, optional
            The column of the weights. By default edges have none, whatever columns there are; `mgraph.read` refuses a
            file with further columns of numbers until it is told what they are.
        directed : bool
            False stores every edge in both directions.

        Returns
        -------
        Graph
            The vertices are the ids in use, ascending, or in the order in which they appear if they are neither all
            integers nor all strings. They are its `ids` if they are not 0 to n-1.

        Raises
        ------
        InputError
            For a column that is not there or there twice, ids that are missing or floating-point numbers, and for
            weights as `from_edges` does.
        MemoryLimitError
            If sorting the edges does not fit the free memory.

        See Also
        --------
        from_arrow : The graph of a table of Polars, cuDF or PyArrow.
        vertices_of : The vertices of ids.

        Examples
        --------
        >>> import pandas
        >>> import mgraph
        >>> frame = pandas.DataFrame({"from": ["Rome", "Pisa"], "to": ["Pisa", "Genoa"], "km": [354.0, 159.0]})
        >>> graph = mgraph.Graph.from_pandas(frame, "from", "to", weight="km")
        >>> graph.ids.tolist()
        ['Genoa', 'Pisa', 'Rome']
        >>> mgraph.distances(graph, ["Rome"], ids=True, device="cpu").distances.tolist()
        [[513.0, 354.0, 0.0]]
        """
        edges, ids = column_edges(pandas_columns(frame), source, target, weight)
        return cls.from_edges(*edges, n=None if ids is None else len(ids), directed=directed, ids=ids)

    @classmethod
    @vocabulary.advised
    def from_arrow(
        cls,
        table: Any,
        source: str = "source",
        target: str = "target",
        weight: str | None = None,
        directed: bool = True,
    ) -> "Graph":
        """Return the graph whose edges are the rows of a table of any library that speaks Arrow, such as Polars.

        Parameters
        ----------
        table : dataframe or table
            A row for each edge: an object with ``__arrow_c_stream__``, such as a dataframe of Polars or cuDF or a
            table of PyArrow, or with ``__dataframe__``.
        source, target, weight, directed
            As of `from_pandas`.

        Returns
        -------
        Graph
            Numbered as by `from_pandas`.

        Raises
        ------
        InputError
            As `from_pandas` does, and for a column with nulls.
        MissingPackageError
            If PyArrow is not installed.
        MemoryLimitError
            If sorting the edges does not fit the free memory.

        Examples
        --------
        >>> import pyarrow
        >>> import mgraph
        >>> table = pyarrow.table({"from": [70, 90], "to": [90, 50], "km": [4.5, 3.0]})
        >>> graph = mgraph.Graph.from_arrow(table, "from", "to", weight="km")
        >>> graph.ids.tolist(), mgraph.distances(graph, [70], ids=True, device="cpu").distances.tolist()
        ([50, 70, 90], [[7.5, 0.0, 4.5]])
        """
        edges, ids = column_edges(arrow_columns(table), source, target, weight)
        return cls.from_edges(*edges, n=None if ids is None else len(ids), directed=directed, ids=ids)

    def vertices_of(self, ids: Any) -> np.ndarray:
        """Return the vertices with some original ids.

        Parameters
        ----------
        ids : sequence
            Ids among those of the graph; of a graph without `ids`, its vertices.

        Returns
        -------
        array of int32

        Raises
        ------
        InputError
            For an id that the graph does not have.

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.Graph.from_edges([0, 1], [1, 2], ids=["Rome", "Pisa", "Genoa"])
        >>> graph.vertices_of(["Genoa", "Rome"]).tolist()
        [2, 0]
        """
        if self.ids is None:
            every = np.arange(self.n)
            return places_among(every, index_of(every), ids, "ids")
        return Question(self, self.n, ids=True).vertices("ids", ids)

    @property
    def ids(self) -> np.ndarray | None:
        """The id of each vertex, as int64 or as objects; None if the graph has none.

        Examples
        --------
        >>> import mgraph
        >>> mgraph.Graph.from_edges([0, 1], [1, 2], ids=["Rome", "Pisa", "Genoa"]).ids
        array(['Rome', 'Pisa', 'Genoa'], dtype=object)
        """
        return self._ids

    def with_ids(self, ids: Any) -> "Graph":
        """Return the same graph with ids for its vertices.

        Both graphs share their edges. Calls then take ids in place of vertices, and answer with them.

        Parameters
        ----------
        ids : sequence or array, shape (n,)
            An id for each vertex, which no other has: integers of up to 64 bits, strings, or other values that can be
            hashed.

        Returns
        -------
        Graph

        Raises
        ------
        InputError
            For another number of ids, one that is missing or of two vertices, and for floating-point numbers.
        MemoryLimitError
            If their index does not fit the free memory.

        See Also
        --------
        vertices_of : The vertices of ids.

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.Graph.from_edges([0, 1], [1, 2], [354, 159]).with_ids(["Rome", "Pisa", "Genoa"])
        >>> mgraph.sssp(graph, "Rome", predecessors=True, device="cpu").path("Genoa")
        ['Rome', 'Pisa', 'Genoa']
        """
        checked = checked_ids(ids, self.n)
        csr, nonnegative = None if self.dense is not None else self.compressed("csr"), self.nonnegative
        made = Graph(
            self.n,
            csr=csr,
            dense=self.dense,
            directed=self.directed,
            ids=checked,
            coordinates=self.coordinates,
            nonnegative=nonnegative,
        )
        check_distinct(made)
        return made

    @property
    def coordinates(self) -> np.ndarray | None:
        """Where each vertex lies, read-only: x and y in a row each, NaN if not known; None if the graph has none.

        Files and graphs of other libraries bring them: see `mgraph.read` and `from_networkx`.

        Examples
        --------
        >>> import networkx
        >>> import mgraph
        >>> roads = networkx.Graph([("Rome", "Pisa")])
        >>> roads.nodes["Rome"].update(x=12.5, y=41.9)
        >>> roads.nodes["Pisa"].update(x=10.4, y=43.7)
        >>> mgraph.Graph.from_networkx(roads).coordinates
        array([[12.5, 41.9],
               [10.4, 43.7]])
        """
        return self._coordinates

    def with_coordinates(self, coordinates: Any) -> "Graph":
        """Return the same graph with coordinates for its vertices.

        Both graphs share their edges.

        Parameters
        ----------
        coordinates : array_like of shape (n, 2), dataframe, or mapping
            x and y of each vertex, such as longitude and latitude; NaN where they are not known. Of a dataframe the
            columns ``x`` and ``y``, ``lon`` and ``lat``, or ``longitude`` and ``latitude``: its index has the ids of
            vertices, or their numbers if the graph has no ids. Of a mapping, such as a layout of NetworkX, the two
            numbers of each id. Vertices that are not in it have NaN, and others are ignored.

        Returns
        -------
        Graph

        Raises
        ------
        InputError
            For another shape, infinite coordinates, a dataframe without these columns, and a dataframe or a mapping
            with no id of the graph.

        See Also
        --------
        mgraph.Result.plot : The kind ``"map"`` draws a graph that has coordinates.

        Examples
        --------
        >>> import pandas
        >>> import mgraph
        >>> graph = mgraph.Graph.from_edges([0, 1], [1, 2], ids=["Rome", "Pisa", "Genoa"])
        >>> towns = pandas.DataFrame({"x": [10.4, 12.5], "y": [43.7, 41.9]}, index=["Pisa", "Rome"])
        >>> graph.with_coordinates(towns).coordinates.tolist()
        [[12.5, 41.9], [10.4, 43.7], [nan, nan]]
        """
        checked = checked_coordinates(coordinates, self.n, self.ids)
        csr = None if self.dense is not None else self.compressed("csr")
        made = Graph(
            self.n,
            csr=csr,
            dense=self.dense,
            directed=self.directed,
            ids=self.ids,
            coordinates=checked,
            nonnegative=self.nonnegative,
        )
        if self.dense is None:
            made._share_edges(self)
        return made

    @with_common_parts
    def subgraph(self, vertices: Any, *, ids: bool | None = None) -> "Graph":
        """Return the graph of some vertices and of the edges between them.

        Parameters
        ----------
        vertices : sequence of int or of ids
            Vertices of this graph, none of them twice. Their order is that of the new numbers, from 0 on.
        {ids of vertices}

        Returns
        -------
        Graph
            It keeps weights, ids and coordinates. If this graph has no ids, those of the new one are the numbers here.

        Raises
        ------
        InputError
            If a vertex is not an integer in [0, n) or no id of the graph, or is there twice.
        MemoryLimitError
            If the edges, and what chooses them, do not fit the free memory.

        See Also
        --------
        largest_component : The graph of the largest component.

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], [4, 5, 6, 7])
        >>> part = graph.subgraph([3, 0, 1])
        >>> part, part.ids.tolist(), part.coo().weights.tolist()
        (Graph(n=3, m=2, directed, int64), [3, 0, 1], [7, 4])
        """
        chosen = Question(self, self.n, ids).vertices("vertices", vertices) if len(vertices) else np.empty(0, np.int32)
        return self._part_of(chosen)

    def _part_of(self, chosen: np.ndarray) -> "Graph":
        """Return the graph of some vertices, which are not repeated."""
        home, n = self._home, len(chosen)
        needed = 4 * self.n + 18 * self.m  # the new number of each vertex, and the edges: their ends and which are kept
        with devices.allocating(f"a part of {n:,} vertices", needed, home):
            number = np.full(self.n, -1, np.int32)
            number[chosen] = np.arange(n, dtype=np.int32)
            if np.count_nonzero(number >= 0) < n:
                twice = int(chosen[number[chosen] != np.arange(n)][0])
                raise InputError(argument="vertices", value=twice, expected="vertices that differ, and has it twice")
            src, dst, weights = self.listed()
            number = home.asarray(number)
            src, dst = number[src], number[dst]
            kept = (src >= 0) & (dst >= 0)
            csr = compress(src[kept], dst[kept], None if weights is None else weights[kept], n, home.xp)
        ids = chosen.astype(np.int64) if self.ids is None else self.ids[chosen]
        places = None if self.coordinates is None else handed_out(self.coordinates[chosen])
        return Graph(
            n,
            csr=csr,
            directed=self.directed,
            ids=handed_out(ids),
            coordinates=places,
            nonnegative=self.nonnegative,
        )

    def largest_component(self, connection: str = "weak") -> "Graph":
        """Return the graph of the largest connected component; of equally large ones, that of the least vertex.

        Its vertices keep their order, and ids as of `subgraph`.

        Parameters
        ----------
        connection : {"weak", "strong"}
            As of `mgraph.connected_components`. Of an undirected graph both are the same.

        Returns
        -------
        Graph

        Raises
        ------
        MemoryLimitError
            If the components, by SciPy on the host, or the part do not fit the free memory.

        See Also
        --------
        mgraph.connected_components : All components.

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.Graph.from_edges([0, 2, 3], [1, 3, 4], directed=False)
        >>> graph.largest_component().ids.tolist()
        [2, 3, 4]
        """
        checked_choice("connection", connection, ("weak", "strong"))
        with devices.allocating(f"components of {self.n:,} vertices", 40 * self.n, devices.find("cpu")):
            directed = self.directed and connection == "strong"
            _, labels = lazy.csgraph().connected_components(self.to_scipy(), directed, connection)
            sizes = np.bincount(labels) if self.n else np.zeros(1, int)
            # SciPy numbers weak components by their least vertices, and strong ones otherwise.
            most = sizes[labels] == sizes.max()
            chosen = np.flatnonzero(labels == labels[most.argmax()]) if self.n else np.empty(0, int)
        return self._part_of(chosen.astype(np.int32))

    def degrees(self) -> Array:
        """Return the number of edges from each vertex; those into each are ``graph.reversed().degrees()``.

        Returns
        -------
        array of int32 or int64, shape (n,)
            On the graph's device. A self-loop counts once, and each parallel edge.

        Examples
        --------
        >>> import mgraph
        >>> mgraph.Graph.from_edges([0, 0, 1], [1, 2, 2]).degrees().tolist()
        [2, 1, 0]
        """
        return self._home.xp.diff(self.layout("csr")[0])

    @property
    def m(self) -> int:
        """Number of stored directed edges.

        Examples
        --------
        >>> import mgraph
        >>> mgraph.Graph.from_edges([0, 1], [1, 1], directed=False).m
        3
        """
        indices = self._views.get(("csr.indices", self._home.name))
        return len(self.layout("csr")[1] if indices is None else indices)

    @property
    def weighted(self) -> bool:
        """Whether the edges have weights.

        Examples
        --------
        >>> import mgraph
        >>> mgraph.Graph.from_edges([0], [1]).weighted, mgraph.Graph.from_edges([0], [1], [5]).weighted
        (False, True)
        """
        return self.weights_dtype is not None

    @property
    def weights_dtype(self) -> np.dtype | None:
        """The type of the weights; None for an unweighted graph.

        Examples
        --------
        >>> import mgraph
        >>> mgraph.Graph.from_edges([0], [1], [0.5]).weights_dtype
        dtype('float64')
        """
        if self.dense is not None:
            return weight_dtype(np.dtype(self.dense.dtype))
        weights = self._weight_views.get(("csr.weights", self._home.name))
        return None if weights is None else np.dtype(weights.dtype)

    def extremes(self) -> tuple[float, float, bool]:
        """Return the least and the greatest weight, and whether all are whole numbers; 0 and 0 without edges.

        Returns
        -------
        tuple of (int or float, int or float, bool)

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.Graph.from_edges([0, 0, 1], [1, 2, 2], [5, 6, 7])
        >>> graph.extremes()
        (5, 7, True)
        """
        extremes: tuple[float, float, bool] = self.kept(
            "extremes", self._home, lambda: _extremes(self._ends()), weights=True
        )
        return extremes

    def total(self) -> float:
        """Return the sum of the weights; the number of edges of an unweighted graph.

        Returns
        -------
        float

        Examples
        --------
        >>> import mgraph
        >>> mgraph.Graph.from_edges([0, 0, 1], [1, 2, 2], [5, 6, 7]).total()
        18.0
        """
        weights = self.compressed("csr").weights
        with np.errstate(over="ignore"):
            return float(self.m if weights is None else weights.sum())

    def largest_sums(self, count: int) -> tuple[float, float]:
        """Return the largest magnitudes below and above zero that a sum of up to `count` weights may have.

        Parameters
        ----------
        count : int
            The most weights in a sum.

        Returns
        -------
        tuple of (float, float)

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.Graph.from_edges([0, 0, 1], [1, 2, 2], [5, 6, 7])
        >>> graph.largest_sums(2)
        (0.0, 13.0)
        """
        if isinstance(self.dense, StoredMatrix):
            found = self.dense.mapped(partial(largest_of_edges, count=count))
        else:
            found = [largest(weights, count) for weights in self._weights()]
        below, above = (
            largest(np.concatenate([np.zeros(0), *(pair[side] for pair in found)]), count)[1] for side in (0, 1)
        )
        with np.errstate(over="ignore"):
            return float(below.sum()), float(above.sum())

    def _ends(self) -> Iterable[Ends | None]:
        """Return the ends of the weights of all edges, of some at a time."""
        if isinstance(self.dense, StoredMatrix):
            return self.dense.mapped(ends_of_edges)
        return (ends(weights) for weights in self._weights())

    def _weights(self) -> Iterator[Array]:
        """Yield the weights of all edges, some at a time."""
        if self.dense is None:
            _, indices, weights = self.compressed("csr")
            yield self._home.xp.ones(min(len(indices), 1), np.int32) if weights is None else weights
            return
        rows = chunk_rows(self.n)
        for first in range(0, self.n, rows):
            block = in_memory(self.dense[first : first + rows])
            yield block[present(block, first)]

    @property
    def device(self) -> str:
        """The name of the device on which the graph was created, and on which results are returned.

        Examples
        --------
        >>> import mgraph
        >>> mgraph.Graph.from_edges([0], [1]).device
        'cpu'
        """
        return self._home.name

    def csr(self) -> Compressed:
        """Return the edges grouped by source: row ``v`` holds the targets of ``v``'s edges, ascending.

        Returns
        -------
        Compressed
            `indptr` of shape (n + 1,), int32, or int64 for about 2^31 edges or more; `indices`, int32 of shape (m,);
            and `weights` of shape (m,), or None for an unweighted graph. NumPy arrays are read-only views of the
            graph's own; on a GPU they are copies.

        Raises
        ------
        MemoryLimitError
            If copies on a GPU do not fit its free memory.

        Examples
        --------
        >>> import mgraph
        >>> csr = mgraph.Graph.from_edges([0, 0, 1], [1, 2, 2], [5, 6, 7]).csr()
        >>> csr.indptr.tolist(), csr.indices.tolist(), csr.weights.tolist()
        ([0, 2, 3, 3], [1, 2, 2], [5, 6, 7])
        """
        return _handed_out(self.compressed("csr"))

    def csc(self) -> Compressed:
        """Return the edges grouped by target: row ``v`` holds the sources of edges into ``v``, ascending.

        Returns
        -------
        Compressed
            Read-only, of shapes and types as of `csr`. Of an undirected graph both are the same arrays.

        Raises
        ------
        MemoryLimitError
            If the edges by target do not fit the free memory.

        Examples
        --------
        >>> import mgraph
        >>> csc = mgraph.Graph.from_edges([0, 0, 1], [1, 2, 2], [5, 6, 7]).csc()
        >>> csc.indptr.tolist(), csc.indices.tolist(), csc.weights.tolist()
        ([0, 0, 1, 3], [0, 0, 1], [5, 6, 7])
        """
        return _handed_out(self.compressed("csc"))

    def coo(self) -> Edges:
        """Return the edges one by one, sorted by source and target.

        Returns
        -------
        Edges
            `src` and `dst`, int32 of shape (m,), and `weights` of shape (m,), or None for an unweighted graph. An
            undirected edge is listed in both directions. Read-only as of `csr`.

        Raises
        ------
        MemoryLimitError
            If the sources do not fit the free memory.

        Examples
        --------
        >>> import mgraph
        >>> src, dst, weights = mgraph.Graph.from_edges([1, 0], [2, 1], [7, 5]).coo()
        >>> src.tolist(), dst.tolist(), weights.tolist()
        ([0, 1], [1, 2], [5, 7])
        """
        return _handed_out(self.listed())

    def adjacency(self, order: str, device: devices.Device | None = None) -> tuple[Array, Array]:
        """Return ``(indptr, indices)`` of ``"csr"`` or ``"csc"`` on a device, read-only as of `csr`.

        Parameters
        ----------
        order : {"csr", "csc"}
            Grouped by source or by target; of an undirected graph both are the same arrays.
        device : Device, optional
            The device of the returned arrays; by default the graph's own.

        Returns
        -------
        indptr : array of int32 or int64, shape (n + 1,)
            Where each row begins.
        indices : array of int32, shape (m,)
            The other end of each edge, ascending in a row.

        Raises
        ------
        InputError
            For another `order`.

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.Graph.from_edges([0, 0, 1], [1, 2, 2], [5, 6, 7])
        >>> indptr, indices = graph.adjacency("csc")
        >>> indptr.tolist(), indices.tolist()
        ([0, 0, 1, 3], [0, 0, 1])
        """
        indptr, indices = self.layout(order, device)
        return handed_out(indptr), handed_out(indices)

    def layout(self, order: str, device: devices.Device | None = None) -> tuple[Array, Array]:
        """Return ``(indptr, indices)`` of ``"csr"`` or ``"csc"`` on a device, kept for the next call.

        These are the graph's own arrays, for compiled code, which does not check them: they must not be changed.

        Parameters
        ----------
        order, device
            As of `adjacency`.

        Returns
        -------
        indptr, indices : arrays
            As of `adjacency`.

        Raises
        ------
        InputError
            For another `order`.

        Examples
        --------
        >>> import mgraph
        >>> indptr, indices = mgraph.Graph.from_edges([0, 0, 1], [1, 2, 2]).layout("csr")
        >>> indptr.tolist(), indices.tolist()
        ([0, 2, 3, 3], [1, 2, 2])
        """
        if order not in ("csr", "csc"):
            raise InputError(argument="order", value=order, expected="'csr' or 'csc'")
        device = device or self._home
        views, names = self._views, (f"{order}.indptr", f"{order}.indices")
        indptr, indices = views.get((names[0], device.name)), views.get((names[1], device.name))
        if indptr is None or indices is None:
            return self._view(names[0], device), self._view(names[1], device)
        return indptr, indices

    def compressed(self, order: str, device: devices.Device | None = None) -> Compressed:
        """Return the edges with their weights on a device, kept for the next call: the graph's own, as of `layout`.

        Parameters
        ----------
        order, device
            As of `adjacency`.

        Returns
        -------
        Compressed

        Examples
        --------
        >>> import mgraph
        >>> mgraph.Graph.from_edges([0, 1], [1, 2], [5, 6]).compressed("csr").weights.tolist()
        [5, 6]
        """
        device = device or self._home
        return Compressed(*self.layout(order, device), self._view(f"{order}.weights", device))

    def listed(self) -> Edges:
        """Return the edges one by one, as `coo` does, but with the graph's own targets and weights, as of `layout`.

        Returns
        -------
        Edges

        Examples
        --------
        >>> import mgraph
        >>> mgraph.Graph.from_edges([1, 0], [2, 1]).listed().src.tolist()
        [0, 1]
        """
        indptr, indices, weights = self.compressed("csr")
        m, home = len(indices), self._home
        with devices.allocating(f"coo() of {m:,} edges", 4 * m + (20 * self.n if home.kind == "cpu" else 8 * m), home):
            return Edges(rows_of(indptr, m, home.xp), indices, weights)

    def incident(self, device: devices.Device | None = None) -> tuple[Array, Array]:
        """Return ``(indptr, indices)`` on a device: each row holds neighbours of one vertex, by edges from it.

        Parameters
        ----------
        device : Device, optional
            The device of the returned arrays; by default the graph's own.

        Returns
        -------
        indptr, indices : arrays
            As of ``layout("csr")``.

        Examples
        --------
        >>> import mgraph
        >>> indptr, indices = mgraph.Graph.from_edges([0, 0, 1], [1, 2, 2]).incident()
        >>> indptr.tolist(), indices.tolist()
        ([0, 2, 3, 3], [1, 2, 2])
        """
        return self.layout("csr", device)

    def unweighted(self) -> "Graph":
        """Return the same graph without its weights.

        Returns
        -------
        Graph

        Examples
        --------
        >>> import mgraph
        >>> mgraph.Graph.from_edges([0], [1], [5]).unweighted().weights_dtype is None
        True
        """
        return self._with(None)

    def reversed(self) -> "Graph":
        """Return the graph with every edge reversed; an undirected graph is returned as it is.

        Nothing is sorted again: its edges by source are those of this graph by target.

        Returns
        -------
        Graph

        Examples
        --------
        >>> import mgraph
        >>> src, dst, _ = mgraph.Graph.from_edges([0, 0], [1, 2]).reversed().coo()
        >>> src.tolist(), dst.tolist()
        ([1, 2], [0, 0])
        """
        if not self.directed:
            return self
        return Graph(
            self.n,
            csr=self.compressed("csc"),
            csc=self.compressed("csr"),
            directed=True,
            ids=self.ids,
            coordinates=self.coordinates,
            nonnegative=self.nonnegative,
        )

    def with_weights(self, weights: Array) -> "Graph":
        """Return a graph of the same edges with other weights.

        Nothing is sorted again, and both graphs share the arrays that calls derive from the edges alone.

        Parameters
        ----------
        weights : array_like, shape (m,)
            Floats or integers, in the order of `coo`. An undirected graph lists both directions of an edge, which must
            have the same weight. NaN is an error; an edge of weight ``inf`` is left out, as in `from_edges`.

        Returns
        -------
        Graph

        Raises
        ------
        InputError
            For another shape, truth values or NaN, and if the two directions of an undirected edge differ.
        MemoryLimitError
            If the weights, and what their check takes, do not fit the free memory.

        See Also
        --------
        coo : The edges in their order.
        unweighted : The same graph without weights.

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.Graph.from_edges([0, 0, 1], [1, 2, 2], [4, 9, 3])
        >>> src, dst, lengths = graph.coo()
        >>> mgraph.sssp(graph.with_weights(lengths / 2), 0, device="cpu").distances.tolist()
        [0.0, 2.0, 3.5]
        """
        xp = self._home.xp
        to_host = xp is np and devices.of(weights).kind == "cuda"
        given = as_array(devices.to_host(weights) if to_host else weights, "weights", xp)
        if given.dtype.kind == "b":
            raise InputError("weights must be numbers, got truth values: Graph.unweighted() drops weights")
        # The weights as they are kept, of up to 8 bytes, and marks of some of them. To compare both directions: the
        # edges by target, and their sources.
        needed = 10 * self.m + (0 if self.directed else 16 * self.m + 28 * self.n)
        what = f"with_weights() of {self.m:,} edges"
        with devices.allocating(what, needed, self._home):
            lengths = checked_weights(given, self.m)
            made = self._with(lengths)
            if not self.directed:
                check_both_directions(made.listed(), made._made("csc").weights)
            if lengths.dtype.kind == "f" and bool(xp.isinf(lengths).any()):
                with devices.allocating(what, 22 * self.m + 28 * self.n, self._home):
                    csr = selected(made.listed(), ~xp.isinf(lengths), self.n, xp)
                return Graph(
                    self.n,
                    csr=csr,
                    directed=self.directed,
                    ids=self.ids,
                    coordinates=self.coordinates,
                    nonnegative=made.nonnegative,
                )
            return made

    def to_scipy(self) -> Any:
        """Return the edges as a ``scipy.sparse.csr_array``, a copy in the host's memory.

        An undirected graph gives a symmetric matrix. Edges of weight zero are stored entries. Of parallel edges the
        lightest is the entry: SciPy would add up entries of one place. An unweighted graph gives truth values.

        Returns
        -------
        scipy.sparse.csr_array, shape (n, n)
            Of the weights' type, or bool for an unweighted graph.

        Raises
        ------
        MemoryLimitError
            If the copy does not fit the free memory.

        See Also
        --------
        from_scipy : The inverse, but for parallel edges.
        coo : All edges.

        Examples
        --------
        >>> import mgraph
        >>> mgraph.Graph.from_edges([0, 1], [1, 2], [5, 6]).to_scipy().toarray().tolist()
        [[0, 5, 0], [0, 0, 6], [0, 0, 0]]
        """
        csr = self.compressed("csr")
        needed = copied_bytes(csr, 4) + self.m  # SciPy keeps indptr and indices in one type
        with devices.allocating(f"to_scipy() of {self.m:,} edges", needed, devices.find("cpu")):
            indptr, indices, weights = lightest(Compressed(*(None if a is None else devices.to_host(a) for a in csr)))
            data = np.ones(len(indices), bool) if weights is None else weights
            shared = self._home.kind == "cpu" and len(indices) == self.m
            return lazy.sparse().csr_array((data, indices, indptr), shape=(self.n, self.n), copy=shared)

    def to_networkx(self) -> Any:
        """Return the graph as a NetworkX graph, with `weight` as an attribute of its edges.

        Its nodes are 0 to n-1, with the attribute `id` if the graph has ids, and `x` and `y` if it has coordinates:
        ``networkx.relabel_nodes(G, dict(G.nodes("id")))`` calls them by their ids. It is a ``networkx.Graph`` or
        ``networkx.DiGraph``, or with parallel edges a ``networkx.MultiGraph`` or ``networkx.MultiDiGraph``.

        Returns
        -------
        networkx.Graph, DiGraph, MultiGraph or MultiDiGraph

        Raises
        ------
        MissingPackageError
            If NetworkX is not installed.
        MemoryLimitError
            If the NetworkX graph, of about 250 to 650 bytes an edge, does not fit the free memory.

        Examples
        --------
        >>> import mgraph
        >>> mgraph.Graph.from_edges([0, 1], [1, 2], [5, 6], directed=False).to_networkx().edges(data="weight")
        EdgeDataView([(0, 1, 5), (1, 2, 6)])
        """
        networkx = lazy.optional("networkx", "to_networkx()")
        made = networkx_graph(networkx, self.n, self.listed(), self.directed, self.ids)
        if self.coordinates is not None:
            for vertex in np.flatnonzero(~np.isnan(self.coordinates).any(axis=1)).tolist():
                made.nodes[vertex].update(zip("xy", self.coordinates[vertex].tolist(), strict=True))
        return made

    def _with(self, weights: Array | None) -> "Graph":
        """Return a graph of the same edges with these weights, which have been checked."""
        indptr, indices = self.layout("csr")
        csr = Compressed(indptr, indices, weights)
        made = Graph(
            self.n,
            csr=csr,
            directed=self.directed,
            ids=self.ids,
            coordinates=self.coordinates,
            nonnegative=_nonnegative(weights),
        )
        if self.dense is None:  # whose edges can be released
            made._share_edges(self)
        return made

    def _own(self) -> dict[tuple[str, str], Any]:
        if self.dense is not None:
            return {}
        names = {(f"csr.{part}", self._home.name) for part in Compressed._fields}
        return {key: value for key, value in (self._views | self._weight_views).items() if key in names}

    def _view(self, name: str, device: devices.Device) -> Array:
        found = self._views.get((name, device.name))
        if found is not None:
            return found
        order, _, part = name.partition(".")
        if order == "csc" and not self.directed:
            order, name = "csr", f"csr.{part}"
        views = self._weight_views if part == "weights" else self._views
        home = views.kept(name, self._home, lambda: self._part(order, part))
        if home is None or device.name == self._home.name:
            return home
        return self.kept(name, device, lambda: device.asarray(home), weights=part == "weights")

    def _part(self, order: str, part: str) -> Array:
        """Compute the edges in an order, keep them, and return one of their arrays."""
        made = self._made(order)
        self._home.synchronize()
        self._keep(order, made)
        _log.debug("%r keeps its edges as %s on %s", self, order, self._home.name)
        return getattr(made, part)

    def _made(self, order: str) -> Compressed:
        if order == "csr":
            assert self.dense is not None
            src, dst, weights = dense_edges(in_memory(self.dense))
            if self.nonnegative and not _nonnegative(weights):  # on which a search would go round and round
                raise InputError(
                    "the matrix has a negative weight, and had none when the graph was made: make it again"
                )
            return compress(src, dst, weights, self.n, self._home.xp)
        if self._home.kind == "cpu":
            csr = self.compressed("csr")
            needed = transposed_bytes(csr)
            with devices.allocating(f"csc() of {self.m:,} edges", needed, self._home):
                return transposed(*csr, self.n)
        check_memory(self.n, self.m, self._home)
        src, dst, weights = self.listed()
        return compress(dst, src, weights, self.n, self._home.xp)

    def _keep(self, order: str, made: Compressed) -> None:
        place = self._home.name
        self._views.setdefault((f"{order}.indptr", place), made.indptr)
        self._views.setdefault((f"{order}.indices", place), made.indices)
        self._weight_views.setdefault((f"{order}.weights", place), made.weights)

    def __len__(self) -> int:
        """Return the number of vertices, `n`.

        Examples
        --------
        >>> import mgraph
        >>> len(mgraph.generate.grid(2, 3))
        6
        """
        return self.n

    def __bool__(self) -> bool:
        return True  # also without vertices

    if not TYPE_CHECKING:  # or mypy would take every name for an attribute

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(
                f"'Graph' object has no attribute {name!r}{vocabulary.advice(vocabulary.ATTRIBUTES, name)}"
            )

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        edges = f"m={self.m}" if self.dense is None else "dense"
        first = self._views.get((FIRST, "cpu"))  # looked at only, as what keeps arrays shows the graph in its log
        counted = f", from 0 where its file counts from {first}" if first else ""
        return f"Graph(n={self.n}, {edges}, {kind}, {self.weights_dtype or 'unweighted'}{counted})"


def _handed_out(edges: EdgeArrays) -> EdgeArrays:
    """Return edges for a caller, who cannot change the graph by their arrays."""
    return type(edges)(*(None if part is None else handed_out(part) for part in edges))


def _nonnegative(weights: Array | None) -> bool:
    return weights is None or not len(weights) or bool(extremes(weights)[0] >= 0)


def _extremes(pieces: Iterable[Ends | None]) -> tuple[float, float, bool]:
    """Return the least and the greatest number of all pieces, and whether all are whole; 0 and 0 without any."""
    found = [piece for piece in pieces if piece is not None]
    least, most = min((each.least for each in found), default=0), max((each.most for each in found), default=0)
    return least, most, all(each.whole for each in found)
