"""The structure of a hierarchy, which is the same for all weights: elimination tree, fill, and where edges lie in it.

When a vertex is eliminated, its upper neighbours become neighbours of each other. The pairs of a vertex and an upper
neighbour are the entries. Their number is known from the elimination tree before any is stored.
"""

from typing import NamedTuple

import numpy as np

from .. import device as devices
from .. import lazy
from ..arguments import size_in_words
from ..dtypes import offset_type
from ..errors import ArgumentValue, InputError
from ..graph import Graph
from ..kernels import hierarchy as hierarchy_kernels
from ..kernels.hierarchy.ops import Entries, Lower, Placed, Tree
from .order import Skeleton

#: Entries for each vertex and edge from which on searching from each source reads less than a sweep.
WORTH = 64

#: Bytes of an entry: twice its ends and depths while they are sorted, and its length in both directions.
AN_ENTRY = 48


class Fill(NamedTuple):
    """How much a graph fills in when its vertices are eliminated in some order.

    Attributes
    ----------
    entries : int
        Number of pairs of a vertex and an upper neighbour; a sweep reads them all.
    pairs : int
        Number of pairs of entries of one vertex; customization reads them all.
    climb : float
        Number of entries that a climb reads, on average over all vertices.
    height : int
        Number of vertices on the longest way up.
    """

    entries: int
    pairs: int
    climb: float
    height: int


class Elimination(NamedTuple):
    """An order of elimination, a postorder of its tree, and what is known of it before any entry is stored.

    Attributes
    ----------
    order : array of int32, shape (n,)
        The vertices in the order of elimination, by which the others are numbered.
    parent, depth, size : array of int32, shape (n,)
        The elimination tree.
    counts : array of int32, shape (n,)
        How many upper neighbours each vertex will have.
    """

    order: np.ndarray
    parent: np.ndarray
    depth: np.ndarray
    size: np.ndarray
    counts: np.ndarray

    @property
    def tree(self) -> Tree:
        """The elimination tree."""
        return Tree(self.parent, self.depth, self.size)


class Structure(NamedTuple):
    """What all weights of the same edges have in common, on the host.

    Attributes
    ----------
    order, rank : array of int32, shape (n,)
        The vertices in the order of elimination, and the place of each in it.
    tree, entries, lower
        As the kernels take them: see `mgraph.kernels.hierarchy.ops`.
    upward, downward : Placed
        Where each edge lies that leads to a greater or to a lesser rank.
    loops : array of int32
        The edges from a vertex to itself.
    """

    order: np.ndarray
    rank: np.ndarray
    tree: Tree
    entries: Entries
    lower: Lower
    upward: Placed
    downward: Placed
    loops: np.ndarray


def eliminated(neighbours: Skeleton, order: np.ndarray) -> Elimination:
    """Return the elimination in another order of as much fill as the one given, a postorder of its tree."""
    kernels, n = hierarchy_kernels.on(devices.find("cpu")), len(order)
    parent, after, depth, size, count = (np.empty(n, np.int32) for _ in range(5))
    kernels.parents(*_by_rank(neighbours, order), parent)
    kernels.postorder(parent, after)
    order = order[after]
    inner = _by_rank(neighbours, order)
    kernels.parents(*inner, parent)
    kernels.extents(parent, depth, size)
    kernels.counts(*inner, parent, count)
    return Elimination(order, parent, depth, size, count)


def fill_of(counts: np.ndarray, tree: Tree) -> Fill:
    """Return how much a graph fills in, from the number of each vertex's upper neighbours."""
    counts = counts.astype(np.float64)
    return Fill(
        entries=int(counts.sum()),
        pairs=int((counts * (counts - 1)).sum()) // 2,
        climb=float((counts * tree.size).sum()) / max(1, len(counts)),
        height=tree.height,
    )


def structure_of(graph: Graph, neighbours: Skeleton, elimination: Elimination) -> Structure:
    """Return the structure for an elimination.

    Raises
    ------
    InputError
        If there would be so many entries that searches from each source take less time.
    MemoryLimitError
        If they do not fit the free memory.
    """
    host = devices.find("cpu")
    kernels = hierarchy_kernels.on(host)
    order, tree, n = elimination.order, elimination.tree, graph.n
    total = int(elimination.counts.sum(dtype=np.int64))
    _check_fill(total, graph)
    rank, inner = _inverse(order), _by_rank(neighbours, order)
    with devices.allocating(f"a hierarchy of {total:,} entries", AN_ENTRY * total, host):
        begin = _starts(elimination.counts, max(total, graph.m))  # edges are numbered in the same type
        upper = np.empty(total, np.int32)
        kernels.fill(*inner, tree.parent, begin, upper)
        entries = Entries(begin, upper, tree.depth[upper])
        lower = _transposed(entries, n)
        src, dst, _ = (None if part is None else devices.to_host(part) for part in graph.listed())
        src, dst = rank[src], rank[dst]
        slot = np.empty(len(src), begin.dtype)
        kernels.slots(src, dst, begin, upper, slot)
        upward, downward = _placed(src < dst, src, slot, n), _placed(dst < src, dst, slot, n)
    return Structure(order, rank, tree, entries, lower, upward, downward, np.flatnonzero(slot < 0).astype(np.int32))


def is_worth(entries: int, graph: Graph) -> bool:
    """Return whether a sweep over so many entries reads about as much as a search, or less."""
    return entries <= WORTH * (graph.n + graph.m)


def _check_fill(entries: int, graph: Graph) -> None:
    """Raise InputError if a sweep would read much more than a search."""
    if not is_worth(entries, graph):
        raise InputError(
            f"a hierarchy of this graph of {graph.n:,} vertices and {graph.m:,} edges would have {entries:,} entries, "
            f"{size_in_words(AN_ENTRY * entries)}, and a sweep reads them all: hierarchies are for road networks, "
            "meshes and other graphs with small separators; here searches from each source take less time "
            "(mgraph.apsp with ",
            ArgumentValue("method", "sssp"),
            ")",
        )


def _by_rank(neighbours: Skeleton, order: np.ndarray) -> Skeleton:
    """Return the neighbours with vertices numbered by rank; those of a vertex are in no order."""
    rank = _inverse(order)
    degrees = np.diff(neighbours.indptr)[order]
    indptr = np.zeros(len(order) + 1, neighbours.indptr.dtype)
    np.cumsum(degrees, out=indptr[1:])
    # Entry k of the new row v is entry k of the old row order[v].
    shift = np.repeat(neighbours.indptr[:-1][order] - indptr[:-1], degrees)
    return Skeleton(indptr, rank[neighbours.indices[np.arange(len(shift)) + shift]])


def _inverse(order: np.ndarray) -> np.ndarray:
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return rank


def _starts(count: np.ndarray, total: int) -> np.ndarray:
    """Return where the elements of each vertex begin."""
    begin = np.zeros(len(count) + 1, offset_type(total))
    np.cumsum(count, out=begin[1:])
    return begin


def _transposed(entries: Entries, n: int) -> Lower:
    """Return the entries by their upper ends."""
    numbers = np.arange(len(entries.upper), dtype=entries.begin.dtype)
    by_upper = lazy.sparse().csr_array((numbers, entries.upper, entries.begin), shape=(n, n)).tocsc()
    offsets = entries.begin.dtype
    return Lower(by_upper.indptr.astype(offsets), by_upper.indices.astype(np.int32), by_upper.data)


def _placed(chosen: np.ndarray, lower: np.ndarray, slot: np.ndarray, n: int) -> Placed:
    """Return the chosen edges, sorted by their entries."""
    edge = np.flatnonzero(chosen).astype(slot.dtype)
    edge = edge[np.argsort(slot[edge], kind="stable")]
    begin = _starts(np.bincount(lower[edge], minlength=n), len(edge)).astype(slot.dtype)
    return Placed(begin, slot[edge], edge)
