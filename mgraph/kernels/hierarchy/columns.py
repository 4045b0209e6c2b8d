"""How a GPU makes the distances to targets of the labels of a sweep: as the least of some sums for each target.

No other vertex's label is made of that of a leaf of the elimination tree, which has no vertex below it. So a sweep for
rows of distances passes no leaf that has few upper neighbours: where rows are written, the distances to it are made of
the labels of these. In road networks almost half of the vertices are leaves, and what bounds the rows is that labels
are written, read and written again. All other targets have labels of their own.
"""

from typing import NamedTuple

import numpy as np

from .ops import Entries, Tree
from .ranges import counts_of, ranges_of, starts_of

#: The most upper neighbours of a leaf without labels: those of more would be read too often.
MOST_UPPER = 8

#: Numbers in place of an entry's, for an infinite length and for none; they count from the end of the lengths.
INFINITE, ZERO = -1, -2

#: What `Columns.leaf` has for a target that has labels; -1 is no source's.
NO_LEAF = -2


class Columns(NamedTuple):
    """The sums of each target, which has a column in the rows of distances.

    Attributes
    ----------
    first : array, shape (columns + 1,)
        Where the sums of each column begin, and where those of the last one end.
    place : array of int32
        The place of the label in each sum. The last sum of a column has the highest bit set.
    entry : array
        The entry whose length is added; `ZERO` or `INFINITE` in place of one.
    leaf : array of int32, shape (columns,)
        The target if it is a leaf without labels: its distance from itself is at most 0. `NO_LEAF` for others.
    """

    first: np.ndarray
    place: np.ndarray
    entry: np.ndarray
    leaf: np.ndarray


def with_labels(tree: Tree, entries: Entries) -> np.ndarray:
    """Return, as bool, which vertices have labels in a sweep for rows of distances."""
    labelled: np.ndarray = (tree.size > 1) | (np.diff(entries.begin) > MOST_UPPER)
    return labelled


def columns_of(labelled: np.ndarray, entries: Entries, targets: np.ndarray) -> Columns:
    """Return the columns of targets; `labelled` are the vertices with labels, in the order of their places.

    A leaf without an upper neighbour adds `INFINITE` to the label at place 0. The sum is infinite, as labels of int32
    are never negative.
    """
    kind = entries.begin.dtype
    places = np.full(len(entries.begin) - 1, -1, np.int32)
    places[labelled] = np.arange(len(labelled), dtype=np.int32)
    own, count = places[targets], counts_of(entries, targets)
    single = (own >= 0) | (count == 0)
    first = starts_of(np.where(single, 1, count))
    place, entry = np.empty(first[-1], np.int32), np.empty(first[-1], kind)
    place[first[:-1][single]] = np.maximum(own[single], 0)
    entry[first[:-1][single]] = np.where(own[single] >= 0, ZERO, INFINITE)
    sums = ranges_of(first[:-1][~single], first[1:][~single])
    entry[sums] = ranges_of(entries.begin[targets[~single]], entries.begin[targets[~single] + 1])
    place[sums] = places[entries.upper[entry[sums]]]
    place[first[1:] - 1] |= np.int32(-(2**31))
    return Columns(first.astype(kind), place, entry, np.where(own >= 0, NO_LEAF, targets).astype(np.int32))
