"""What a call for distances keeps of each source's row: some columns, the nearest targets, or measures of the row."""

from dataclasses import dataclass

import numpy as np

from ...arguments import HISTOGRAM, OUT, WITHIN

#: The parts of sparse rows: how many elements each has, their columns and their values.
COUNTS, INDICES, DATA = "counts", "indices", "data"


@dataclass(frozen=True)
class Output:
    """What to keep of a row.

    Attributes
    ----------
    targets : array of int32, shape (t,), or None
        The columns that count; None is all.
    nearest : int or None
        How many of them to keep, the nearest ones; None is all.
    measures : tuple of str
        The measures of the row, which are then kept instead of any distance.
    radii : tuple of float
        The radii of `WITHIN`.
    bins : tuple of float
        The edges of the bins of `HISTOGRAM`.
    sparse : bool
        Whether to keep the columns as the rows of a sparse matrix.
    narrow : bool
        Whether the rows have the distances to the targets alone, in their order.
    """

    targets: np.ndarray | None = None
    nearest: int | None = None
    measures: tuple[str, ...] = ()
    radii: tuple[float, ...] = ()
    bins: tuple[float, ...] = ()
    sparse: bool = False
    narrow: bool = False

    @property
    def kinds(self) -> frozenset[str]:
        """The measures by the names that they have where distances to each source are measured."""
        return frozenset(name.removeprefix(OUT) for name in self.measures)

    @property
    def vectors(self) -> tuple[str, ...]:
        """The names of the results that are small: vectors, and the counts of each row's bins."""
        if self.sparse:
            return COUNTS, INDICES, DATA
        return self.measures + tuple(within(i) for i in range(len(self.radii))) + (HISTOGRAM,) * bool(self.bins)

    def columns(self, n: int) -> int:
        """Return the number of columns of the resulting matrices, in a graph of n vertices; 0 for measures."""
        return columns(n, None if self.targets is None else len(self.targets), self.nearest, bool(self.vectors))


def columns(n: int, targets: int | None, nearest: int | None, reduced: bool) -> int:
    """Return the number of columns of the resulting matrices."""
    every = n if targets is None else targets
    return 0 if reduced else every if nearest is None else min(nearest, every)


def within(i: int) -> str:
    """Return the name of the result for radius number i."""
    return f"{WITHIN} {i}"
