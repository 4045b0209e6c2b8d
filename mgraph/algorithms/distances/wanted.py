"""What a call for distances keeps of each source's row: some columns, the nearest targets, or measures of the row."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arguments import checked_choice, checked_number
from ...errors import InputError

#: The measures of a row of distances by their names, besides ``("within", radii)``.
MEASURES = ("eccentricity", "mean", "closeness", "harmonic", "reached")

#: The parts of sparse rows: how many elements each has, their columns and their values.
COUNTS, INDICES, DATA = "counts", "indices", "data"

#: The measure that has a column for each of several radii.
WITHIN = "within"


@dataclass(frozen=True)
class Wanted:
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
    sparse : bool
        Whether to keep the columns as the rows of a sparse matrix.
    narrow : bool
        Whether the rows have the distances to the targets alone, in their order.
    """

    targets: np.ndarray | None = None
    nearest: int | None = None
    measures: tuple[str, ...] = ()
    radii: tuple[float, ...] = ()
    sparse: bool = False
    narrow: bool = False

    @property
    def vectors(self) -> tuple[str, ...]:
        """The names of the results that are vectors."""
        if self.sparse:
            return COUNTS, INDICES, DATA
        return self.measures + tuple(within(i) for i in range(len(self.radii)))

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


def checked_reduce(reduce: Any) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Return the measures that an argument names, each once, and the radii of ``"within"``; or raise InputError."""
    if reduce is None:
        return (), ()
    several = isinstance(reduce, Sequence) and not isinstance(reduce, str) and not _is_within(reduce)
    names: dict[str, None] = {}
    radii: tuple[float, ...] = ()
    for each in reduce if several else [reduce]:
        if _is_within(each):
            radii += tuple(checked_number("reduce", radius, 0) for radius in each[1])
        else:
            names[checked_choice("reduce", each, MEASURES)] = None
    if not names and not radii:
        raise InputError(argument="reduce", value=reduce, expected=f"one or several of {', '.join(MEASURES)}")
    return tuple(names), radii


def _is_within(value: Any) -> bool:
    """Return whether a value is ``("within", radii)``."""
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != 2:
        return False
    name, radii = value
    return isinstance(name, str) and name == WITHIN and isinstance(radii, Sequence | np.ndarray)
