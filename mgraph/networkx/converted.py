"""A NetworkX graph as arrays: its nodes numbered, its neighbours in NetworkX's order, its weights by attribute.

Each part is read when it is first used, and kept. NetworkX keeps the converted graph with the original one, and drops
it when that is changed.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from math import isfinite
from typing import Any, NamedTuple

import networkx as nx
import numpy as np

from ..dtypes import band, distance_range
from ..errors import InputError
from ..graph import Compressed, Graph
from ..graph.compressed import compress, rows_of
from ..graph.ids import numbers_of

#: Integers up to this magnitude are exact in float64.
EXACT = 2**53

#: What mgraph computes in from weights that are integers, if they fit.
INT32 = np.dtype(np.int32)


class Rows(NamedTuple):
    """The neighbours of each vertex, in the order in which NetworkX has them.

    Attributes
    ----------
    indptr : array of int64, shape (n + 1,)
        Where each row begins.
    indices : array of int32, shape (edges,)
        The neighbours; of parallel edges there is one.
    """

    indptr: np.ndarray
    indices: np.ndarray


class Weights(NamedTuple):
    """The weights of the edges of `Rows`, of parallel edges the least.

    Attributes
    ----------
    values : array of float64, shape (edges,)
        The weights.
    whole : bool
        Whether all are integers in Python; if not, all are floats, or both if that was allowed.
    """

    values: np.ndarray
    whole: bool


class ConvertedGraph:
    """A NetworkX graph for mgraph's backend.

    What it lacks of NetworkX's interface is the original graph's.

    Parameters
    ----------
    original : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
        The graph. It is kept, and read when it is needed: do not change it while this object is in use.

    Examples
    --------
    >>> import networkx
    >>> from mgraph.networkx import ConvertedGraph
    >>> graph = ConvertedGraph(networkx.path_graph(3))
    >>> graph.rows.indices.tolist()
    [1, 0, 2, 1]
    """

    __networkx_backend__ = "mgraph"

    def __init__(self, original: nx.Graph) -> None:
        self.original = original
        self._kept: dict[Any, Any] = {}

    def __len__(self) -> int:
        return len(self.original)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.original)

    def __contains__(self, node: Any) -> bool:
        return node in self.original

    def __getitem__(self, node: Any) -> Any:
        return self.original[node]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "original":  # also asked for while a pickle is read
            raise AttributeError(name)
        return getattr(self.original, name)

    def __getstate__(self) -> dict[str, Any]:
        return {"original": self.original}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def kept(self, name: Any, make: Callable[[], Any]) -> Any:
        """Return what `make` makes, which is kept under a name.

        Examples
        --------
        >>> import networkx
        >>> from mgraph.networkx import ConvertedGraph
        >>> graph = ConvertedGraph(networkx.path_graph(3))
        >>> graph.kept("a", lambda: 1), graph.kept("a", lambda: 2)
        (1, 1)
        """
        if name not in self._kept:
            self._kept[name] = make()
        return self._kept[name]

    @property
    def labels(self) -> np.ndarray | None:
        """The nodes by number, an array of objects; None if each is its number, as an int.

        Examples
        --------
        >>> import networkx
        >>> from mgraph.networkx import ConvertedGraph
        >>> ConvertedGraph(networkx.Graph([("a", "b")])).labels
        array(['a', 'b'], dtype=object)
        """
        found: np.ndarray | None = self.kept("labels", self._labels)
        return found

    def _labels(self) -> np.ndarray | None:
        nodes = list(self.original)
        if all(type(node) is int for node in nodes) and nodes == list(range(len(nodes))):
            return None
        labels = np.empty(len(nodes), object)
        labels[:] = nodes
        return labels

    def named(self, vertices: np.ndarray) -> list[Any]:
        """Return the nodes of some numbers.

        Examples
        --------
        >>> import numpy as np
        >>> import networkx
        >>> from mgraph.networkx import ConvertedGraph
        >>> ConvertedGraph(networkx.Graph([("a", "b")])).named(np.array([1]))
        ['b']
        """
        labels = self.labels
        found: list[Any] = vertices.tolist() if labels is None else labels[vertices].tolist()
        return found

    @property
    def numbers(self) -> dict[Any, int] | None:
        """The number of each node; None if each is its number.

        Examples
        --------
        >>> import networkx
        >>> from mgraph.networkx import ConvertedGraph
        >>> ConvertedGraph(networkx.Graph([("a", "b")])).numbers
        {'a': 0, 'b': 1}
        """
        if self.labels is None:
            return None
        found: dict[Any, int] = self.kept(
            "numbers", lambda: {node: number for number, node in enumerate(self.original)}
        )
        return found

    def numbered(self, nodes: Iterable[Any]) -> np.ndarray:
        """Return the numbers of some nodes of the graph, int32.

        Raises
        ------
        KeyError
            For a node that is not in the graph.

        Examples
        --------
        >>> import networkx
        >>> from mgraph.networkx import ConvertedGraph
        >>> ConvertedGraph(networkx.Graph([("a", "b")])).numbered(["b"])
        array([1], dtype=int32)
        """
        numbers = self.numbers
        if numbers is not None:
            return np.array([numbers[node] for node in nodes], np.int32)
        found = list(nodes)
        for node in found:
            if type(node) is not int and node not in self.original:  # 1.0 and True are in a graph of 0 and 1
                raise KeyError(node)
        vertices = np.array(found, np.int64)
        outside = (vertices < 0) | (vertices >= len(self))
        if outside.any():
            raise KeyError(int(vertices[outside][0]))
        return vertices.astype(np.int32)

    @property
    def rows(self) -> Rows:
        """The neighbours that each vertex has edges to.

        Raises
        ------
        InputError
            If a neighbour is no node, or a node has no row: then the graph's dictionaries were changed directly.

        Examples
        --------
        >>> import networkx
        >>> from mgraph.networkx import ConvertedGraph
        >>> ConvertedGraph(networkx.DiGraph([(0, 1), (2, 1)])).rows.indptr.tolist()
        [0, 1, 1, 2]
        """
        found: Rows = self.kept("rows", self._rows)
        return found

    def _rows(self) -> Rows:
        rows = [list(row) for _, row in self.original.adjacency()]  # the length of a view may be wrong
        indptr = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, rows), np.int64, len(rows)), out=indptr[1:])
        ends, numbers = chain.from_iterable(rows), self.numbers
        indices = np.fromiter(ends, np.int32, int(indptr[-1])) if numbers is None else numbers_of(numbers, ends)
        if len(rows) != len(self) or (len(indices) and not 0 <= indices.min() <= indices.max() < len(self)):
            raise InputError("an edge leads to no node, or a node lacks its neighbours: the graph is inconsistent")
        return Rows(indptr, indices)

    def reverse(self, copy: bool = True) -> "ConvertedGraph":
        """Return the graph with every edge reversed; an undirected graph as it is.

        Parameters
        ----------
        copy : bool
            Not used: the result refers to the same original graph.

        Examples
        --------
        >>> import networkx
        >>> from mgraph.networkx import ConvertedGraph
        >>> ConvertedGraph(networkx.DiGraph([(0, 1), (2, 1)])).reverse().rows.indices.tolist()
        [0, 2]
        """
        if not self.is_directed():
            return self
        found: ConvertedGraph = self.kept("reverse", lambda: ConvertedGraph(self.original.reverse(copy=False)))
        return found

    def weights(self, attribute: Any, default: float = 1, mixed: bool = False) -> Weights:
        """Return the weights of the edges of `rows`.

        Parameters
        ----------
        attribute : hashable
            The attribute of the edges that is their weight.
        default : int or float
            The weight of an edge that lacks it.
        mixed : bool
            Whether some may be integers and others floats.

        Returns
        -------
        Weights

        Raises
        ------
        NotImplementedError
            For weights that NetworkX would add up otherwise than mgraph: numbers of other types, integers beside
            floats unless `mixed`, and numbers that are not finite, or not exact in float64. Also for an undirected view
            of a directed graph in which an edge has one weight from one end, and another from the other one.

        Examples
        --------
        >>> import networkx
        >>> from mgraph.networkx import ConvertedGraph
        >>> ConvertedGraph(networkx.Graph([(0, 1, {"km": 7})])).weights("km").values.tolist()
        [7.0, 7.0]
        """
        found: Weights | str = self.kept(
            ("weights", attribute, default, type(default), mixed), lambda: self._weights(attribute, default, mixed)
        )
        if isinstance(found, str):
            raise NotImplementedError(found)
        if len(found.values) != len(self.rows.indices):
            raise InputError("the graph was changed after its conversion: convert it again")
        return found

    def _weights(self, attribute: Any, default: float, mixed: bool) -> Weights | str:
        """Return weights, or why there are none."""
        joined = chain.from_iterable(row.values() for _, row in self.original.adjacency())
        values: list[Any]
        parallel: list[list[Any]] = []
        if self.original.is_multigraph():
            parallel = [[edge.get(attribute, default) for edge in edges.values()] for edges in joined]
            kinds = set(map(type, chain.from_iterable(parallel)))
            values = list(map(min, parallel)) if kinds <= _WHOLE | _FLOATS else []
        else:
            values = [edge.get(attribute, default) for edge in joined]
            kinds = set(map(type, values))
        if not kinds <= _WHOLE | _FLOATS:
            return f"weights are {', '.join(sorted(kind.__name__ for kind in kinds))}, not int or float"
        whole = kinds <= _WHOLE
        if not (whole or mixed or kinds <= _FLOATS):
            return "some weights are integers and others are floats"
        if not kinds <= _FLOATS and max((abs(value) for value in values if type(value) in _WHOLE), default=0) > EXACT:
            return f"a weight is greater than {EXACT}"
        numbers = np.array(values, np.float64)
        floats = (value for value in chain.from_iterable(parallel) if type(value) in _FLOATS)
        if not (np.isfinite(numbers).all() and all(map(isfinite, floats))):
            return "a weight is not finite"
        if not self.original.is_directed() and hasattr(self.original, "_graph") and not self._both_ways(numbers):
            return "an edge without direction has another weight from its other end"
        return Weights(numbers, whole)

    def _both_ways(self, weights: np.ndarray) -> bool:
        """Return whether each edge has the same weight from both ends.

        In an undirected view of a directed graph, an edge that is there in both directions has that of the one or the
        other, by the end from which it is read.
        """
        indptr, heads = self.rows
        tails = rows_of(indptr, len(heads), np)
        if len(weights) != len(heads):  # the graph was changed, as `weights` says
            return True
        return bool((weights[np.lexsort((heads, tails))] == weights[np.lexsort((tails, heads))]).all())

    def graph_of(self, attribute: Any = None, default: float = 1, mixed: bool = False) -> Graph:
        """Return the graph for mgraph's own calls.

        Parameters
        ----------
        attribute, default, mixed
            As of `weights`; without an attribute the graph is unweighted.

        Returns
        -------
        Graph
            Without parallel edges. Integers whose sums may exceed int32 are kept as float64.

        Raises
        ------
        NotImplementedError
            As of `weights`, and for integers whose sums may not be exact in float64, and floats whose sums may be
            infinite.

        Examples
        --------
        >>> import networkx
        >>> from mgraph.networkx import ConvertedGraph
        >>> ConvertedGraph(networkx.Graph([(0, 1, {"km": 7})])).graph_of("km")
        Graph(n=2, m=2, undirected, int64)
        """
        name = ("graph", attribute, default, type(default), mixed)
        if attribute is None:
            found: Graph = self.kept(name[:2], lambda: self._graph(None))
            return found
        values, whole = self.weights(attribute, default, mixed)
        heaviest = float(np.abs(values).max(initial=0))
        longest = (len(self) - 1) * heaviest
        if longest > EXACT and (whole or longest == np.inf):
            raise NotImplementedError(f"the length of a path may be greater than {EXACT if whole else 'any float'}")
        if whole:
            least, greatest = distance_range(INT32, bool(values.min(initial=0) >= 0))
            if heaviest <= band(INT32) and longest <= (-least or greatest):
                values = values.astype(np.int64)
        found = self.kept(name, lambda: self._graph(values))
        return found

    def _graph(self, weights: np.ndarray | None) -> Graph:
        indptr, indices = self.rows
        edges: Compressed = compress(rows_of(indptr, len(indices), np), indices, weights, len(self), np)
        nonnegative = weights is None or not len(weights) or bool(weights.min() >= 0)
        return Graph(len(self), csr=edges, directed=self.is_directed(), nonnegative=nonnegative)


_WHOLE: set[type] = {int, np.int64}
_FLOATS: set[type] = {float, np.float64}
