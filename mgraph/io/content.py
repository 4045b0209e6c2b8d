"""The options and the result of a format's reader: a list of edges, or compressed rows."""

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import NamedTuple

import numpy as np

from .. import device as devices
from ..graph import Compressed, Graph
from ..graph.checks import vertex_count
from ..graph.compressed import rows_of
from ..graph.ids import checked_ids, packed
from ..graph.sparse import kept_rows

#: Whether the weights that are read must be finite.
_FINITE: ContextVar[bool] = ContextVar("_FINITE", default=False)

#: What to do about an infinite amount.
FINITE = "an amount must be finite: leave the line out, or give a number"


@contextlib.contextmanager
def finite_amounts() -> Iterator[None]:
    """Refuse infinite weights, which stand for no edge, in the files that the block reads: they are amounts."""
    before = _FINITE.set(True)
    try:
        yield
    finally:
        _FINITE.reset(before)


def are_amounts() -> bool:
    """Return whether weights are amounts, which must be finite."""
    return _FINITE.get()


class Options(NamedTuple):
    """The options of `mgraph.read` that describe the file."""

    n: int | None
    directed: bool | None
    weighted: bool | None
    relabel: bool
    #: The attribute of edges that is their weight, in a format whose edges have attributes.
    weight: str | None = None


class Content(NamedTuple):
    """The content of a file: edges over vertices numbered from 0, and the file's own description of them.

    Attributes
    ----------
    src, dst : array of int, shape (edges,)
        The ends of the edges, checked: not negative, and less than `n` if that is known.
    weights : array, shape (edges,), or None
        The edges' weights.
    n : int or None
        The number of vertices, if the file has it.
    directed : bool
        Whether edges have one direction, if the caller does not specify it.
    base : int
        The first vertex id in the file.
    ids : array or None
        The ids of the vertices in a file that does not number them.
    coordinates : array of float64, shape (vertices, 2), or None
        Where the vertices lie, as far as the file says it.
    """

    src: np.ndarray
    dst: np.ndarray
    weights: np.ndarray | None
    n: int | None
    directed: bool
    base: int
    ids: np.ndarray | None = None
    coordinates: np.ndarray | None = None

    def unweighted(self) -> "Content":
        """Return the edges without weights."""
        return self._replace(weights=None)

    def packed(self) -> tuple[np.ndarray, "Content"]:
        """Return the ids in use, ascending, and the edges between their places."""
        used, src, dst = packed(self.src, self.dst)
        places = None if self.coordinates is None else self.coordinates[used]
        return used, self._replace(src=src, dst=dst, coordinates=places)

    def graph(self, n: int | None, directed: bool, ids: np.ndarray | None) -> Graph:
        """Return the graph of the edges, with this number of vertices, or raise InputError."""
        made = Graph.from_edges(self.src, self.dst, self.weights, n, directed, ids=ids)
        if self.coordinates is None:
            return made
        return made.with_coordinates(
            np.pad(self.coordinates, ((0, made.n - len(self.coordinates)), (0, 0)), constant_values=np.nan)
        )


class Rows(NamedTuple):
    """The content of a file that has edges row by row: a graph keeps them so, and need not sort them.

    Attributes
    ----------
    edges : Compressed
        The edges from each vertex, checked: where rows begin, and that the vertices are in [0, n). Those of a row are
        in any order, with weights of any type, or None.
    n : int
        The number of vertices.
    directed : bool
        Whether edges have one direction. If not, each is in the rows of both of its ends, as in a graph.
    base : int
        The first vertex id in the file.
    """

    edges: Compressed
    n: int
    directed: bool
    base: int
    ids: None = None

    @property
    def weights(self) -> np.ndarray | None:
        """The edges' weights."""
        return self.edges.weights

    def unweighted(self) -> "Rows":
        """Return the edges without weights."""
        return self._replace(edges=self.edges._replace(weights=None))

    def packed(self) -> tuple[np.ndarray, "Rows"]:
        """Return the vertices in use, ascending, and the edges between their places; rows keep their order."""
        indptr, indices, weights = self.edges
        in_use = indptr[1:] > indptr[:-1]
        in_use[indices] = True
        used, places = np.flatnonzero(in_use), in_use.cumsum(dtype=np.int32) - np.int32(1)
        rows = np.append(indptr[:-1][in_use], indptr[-1:])  # as the rows that are left out are empty
        return used, self._replace(edges=Compressed(rows, places[indices], weights), n=len(used))

    def graph(self, n: int | None, directed: bool, ids: np.ndarray | None) -> Graph:
        """Return the graph of the edges, with this number of vertices, or raise InputError."""
        n = vertex_count(n, self.n - 1)
        edges = self.edges if n == self.n else self.edges._replace(indptr=_with_empty_rows(self.edges.indptr, n))
        if directed or not self.directed:
            csr, nonnegative = kept_rows(edges, n, copy=False)
            if csr is not None:
                ids = None if ids is None else checked_ids(ids, n)
                return Graph(n, csr=csr, directed=directed, ids=ids, nonnegative=nonnegative)
        # Edges of infinite weight are left out, or each edge is to have both directions.
        src = rows_of(edges.indptr, len(edges.indices), np)
        return Graph.from_edges(src, edges.indices, edges.weights, n, directed, ids=ids)


def _with_empty_rows(indptr: np.ndarray, n: int) -> np.ndarray:
    """Return where n rows begin, and the last one ends, of which those after the given ones are empty."""
    devices.check_free_memory(f"a graph of {n:,} vertices", indptr.itemsize * (n + 1), devices.find("cpu"))
    longer = np.full(n + 1, indptr[-1])
    longer[: len(indptr)] = indptr
    return longer
