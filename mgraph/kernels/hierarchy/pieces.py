"""How a sweep on a GPU divides the elimination tree: into pieces whose labels fit a warp's shared memory, by stages.

A piece is a vertex, its root, and some of its descendants; the parent of each of these belongs to it too. An upper
neighbour of any of them that lies outside is an upper neighbour of the root [1]_. So the labels that a sweep of the
piece needs at a time are a stack: a row for each upper neighbour of the root, and one for each level.

The last stage has the largest subtrees whose stack is small. The stage before it has the largest pieces of what
remains, with a stack up to twice as large, and so on. What is above the first stage is swept level by level.

References
----------
.. [1] J. W. H. Liu, "The role of elimination trees in sparse factorization", 1990: the upper neighbours of a vertex,
   but for its parent, are upper neighbours of the parent.
"""

from typing import NamedTuple

import numpy as np

from .columns import INFINITE
from .ops import Entries, Tree
from .ranges import counts_of, ranges_of, starts_of

#: The most rows of a stack in each stage, from the roots of the tree on, and the most vertices of a piece of the last.
STACKS = (448, 256, 128, 64, 32)
MOST = 1024

#: Entries of a group, and the groups after the last one that a sweep may copy in vain: two of its chunks.
GROUP, AHEAD = 4, 32

#: Vertices whose groups are written at a time.
_SOME = 1 << 16


class Stage(NamedTuple):
    """A stage: its first piece, the number of its pieces, the rows of its largest stack, and its first place."""

    piece: int
    pieces: int
    rows: int
    place: int


class Division(NamedTuple):
    """A schedule of vertices by levels and by pieces.

    Attributes
    ----------
    vertices : array of int32
        The vertices in the order of the sweep: those above all pieces, by depth, and then piece by piece, each vertex
        before its descendants.
    stages : tuple of Stage
        The stages from the roots of the tree on; without those that have no piece.
    steps : array of int32
        Where each level of the vertices above all pieces begins, and where the last one ends.
    spans : array of int32, shape (vertices + 1, 2)
        Each vertex again, with the size of its subtree; and one more row.
    pieces : array of int32, shape (pieces + 1, 4)
        Of each piece the first place, the first group of entries, the first of its root's upper neighbours in `outer`,
        and the root's depth. The last row has the ends.
    outer : array of int32
        The places of the upper neighbours of each piece's root, in the order of the stack's first rows.
    rows : array of int32, shape (groups + AHEAD, 4)
        The row of the stack of each entry. The first element of a vertex's first group has the row of the vertex in its
        low 16 bits, and the number of further groups above them.
    entry : array, shape (groups + AHEAD, 4)
        The number of each entry, `INFINITE` for none. Where a vertex has fewer entries, its last one is repeated.
    heads : array of int32
        The first group of each vertex of a piece.
    """

    vertices: np.ndarray
    stages: tuple[Stage, ...]
    steps: np.ndarray
    spans: np.ndarray
    pieces: np.ndarray
    outer: np.ndarray
    rows: np.ndarray
    entry: np.ndarray
    heads: np.ndarray


def division(tree: Tree, entries: Entries, chosen: np.ndarray, most: int = STACKS[0]) -> Division:
    """Return the division of the chosen vertices, with stacks of at most so many rows.

    All ancestors of what is chosen are.
    """
    root, stage, needed = _pieces(tree, entries, chosen, most)
    some = np.flatnonzero(chosen)
    above = stage[some] < 0
    # The vertices above all pieces go by depth; pieces go by stage, the largest first, and their vertices by rank.
    size = np.bincount(root[some], minlength=len(chosen))
    first_key = np.where(above, tree.depth[some], -size[root[some]])
    vertices = some[np.lexsort((-some, root[some], first_key, stage[some]))].astype(np.int32)
    rest = int(np.count_nonzero(above))
    depth = tree.depth[vertices[:rest]]
    place = np.empty(len(chosen), np.int32)
    place[vertices] = np.arange(len(vertices), dtype=np.int32)

    inside = vertices[rest:]
    roots = inside[root[inside] == inside]
    groups = starts_of(counts_of(entries, inside) // GROUP + 1)
    outer = starts_of(counts_of(entries, roots))
    pieces = np.empty((len(roots) + 1, 4), np.int32)
    pieces[:, 0] = np.append(place[roots], len(vertices))
    pieces[:, 1] = groups[pieces[:, 0] - rest]
    pieces[:, 2] = outer
    pieces[:, 3] = np.append(tree.depth[roots], 0)
    neighbours = entries.upper[ranges_of(entries.begin[roots], entries.begin[roots + 1])]
    rows, entry = _stacked(tree, entries, inside, root, roots, outer, neighbours, groups)
    firsts = np.flatnonzero(np.diff(stage[roots], prepend=-1))
    stages = tuple(
        Stage(int(low), int(high - low), int(needed[roots[low:high]].max()), int(place[roots[low]]))
        for low, high in zip(firsts, np.append(firsts, len(roots))[1:], strict=True)
    )
    steps = starts_of(np.bincount(depth, minlength=int(depth.max(initial=-1)) + 1)).astype(np.int32)
    spans = np.zeros((len(vertices) + 1, 2), np.int32)
    spans[:-1, 0], spans[:-1, 1] = vertices, tree.size[vertices]
    heads = groups[:-1].astype(np.int32)
    return Division(vertices, stages, steps, spans, pieces, place[neighbours], rows, entry, heads)


def _pieces(tree: Tree, entries: Entries, chosen: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return of each vertex the root of its piece, its stage, and the rows of a stack of what remains below it.

    A vertex above all pieces is of stage -1 and its own root.
    """
    n = len(chosen)
    root, stage, rows = np.arange(n), np.full(n, -1, np.int8), np.zeros(n, np.int64)
    count = np.diff(entries.begin)
    remaining = chosen.copy()
    for k, stack in reversed(list(enumerate(STACKS))):
        left = np.flatnonzero(remaining)
        if not len(left):
            break
        rows[left] = count[left] + 1 + _heights(tree, left)
        fits = remaining & (rows <= min(stack, most))
        if k == len(STACKS) - 1:
            below = starts_of(remaining)
            ranks = np.arange(n)
            fits &= below[1:] - below[ranks + 1 - tree.size] <= MOST
        inside = np.flatnonzero(fits)
        parent = tree.parent[inside]
        roots = inside[(parent < 0) | ~fits[parent]]
        # A subtree is a range of ranks that ends with its root.
        root[inside] = roots[np.searchsorted(roots, inside)]
        stage[inside] = k
        remaining &= ~fits
    return root, stage, rows


def _heights(tree: Tree, vertices: np.ndarray) -> np.ndarray:
    """Return the number of levels below each of some vertices, which have all their ancestors among them."""
    deepest = tree.depth.copy()
    order = vertices[np.argsort(tree.depth[vertices], kind="stable")]
    levels = starts_of(np.bincount(tree.depth[order]))
    for low, high in zip(levels[-2:0:-1], levels[:1:-1], strict=True):
        some = order[low:high]
        np.maximum.at(deepest, tree.parent[some], deepest[some])
    heights: np.ndarray = (deepest - tree.depth)[vertices]
    return heights


def _stacked(
    tree: Tree,
    entries: Entries,
    vertices: np.ndarray,
    root: np.ndarray,
    roots: np.ndarray,
    outer: np.ndarray,
    neighbours: np.ndarray,
    groups: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return `Division.rows` and `Division.entry` of the vertices of all pieces, whose groups begin at `groups`.

    `neighbours` are the upper neighbours of all roots, of which each root's begin at `outer`.
    """
    n = len(root)
    piece = np.empty(n, np.int64)
    piece[roots] = np.arange(len(roots))
    keys = np.repeat(np.arange(len(roots)) * n, np.diff(outer)) + neighbours
    level = np.zeros(n, np.int64)  # what to add to a depth for its row, by root
    level[roots] = np.diff(outer) - tree.depth[roots]
    shape = int(groups[-1]) + AHEAD, GROUP
    rows, entry = np.zeros(shape, np.int32), np.full(shape, INFINITE, entries.begin.dtype)
    for low in range(0, len(vertices), _SOME):
        some = vertices[low : low + _SOME]
        begins = GROUP * groups[low : low + len(some) + 1]
        rows.flat[begins[:-1]] = level[root[some]] + tree.depth[some] + ((np.diff(begins) // GROUP - 1) << 16)
        count = counts_of(entries, some)
        has_any = np.flatnonzero(count)
        begins, last, v = begins[has_any] + 1, begins[has_any + 1], some[has_any]
        at = ranges_of(begins, last)
        owner = np.repeat(np.arange(len(v)), last - begins)
        e = entries.begin[v[owner]] + np.minimum(at - begins[owner], count[has_any][owner] - 1)
        own, upper = root[v[owner]], entries.upper[e]
        row = level[own] + entries.depth[e]
        outside = np.flatnonzero(upper > own)
        which = piece[own[outside]]
        row[outside] = np.searchsorted(keys, which * n + upper[outside]) - outer[which]
        rows.flat[at] = row
        entry.flat[at] = e
    return rows, entry
