"""Compressed rows from a file, checked: where each row begins, and the vertices in it."""

import numpy as np

from ..dtypes import offset_type
from ..graph.grouping import extremes, usable


def starts_of(starts: np.ndarray, entries: int, n: int, name: str) -> np.ndarray:
    """Return where each of n rows begins and the last one ends, in the type of a graph.

    Raises
    ------
    ValueError
        Unless `starts` has n + 1 elements, begins with 0, never decreases, and ends with the number of entries.
    """
    if len(starts) != n + 1:
        raise ValueError(f"{name} has {len(starts)} entries for {n} rows")
    if starts[0] != 0 or not (starts[1:] >= starts[:-1]).all():
        raise ValueError(f"{name} does not begin with 0, or decreases")
    if int(starts[-1]) != entries:
        raise ValueError(f"{name} ends with {starts[-1]}, and there are {entries} entries")
    return starts.astype(offset_type(entries), copy=False)


def within(indices: np.ndarray, n: int) -> np.ndarray:
    """Return indices as int32, or raise ValueError unless all are in [0, n)."""
    if not len(indices):
        return indices.astype(np.int32)
    least, greatest = extremes(indices)
    if not (least >= 0 and greatest < n):
        raise ValueError(f"there is an index outside of 0 to {n - 1}: {least} or {greatest}")
    return usable(indices, np.dtype(np.int32))
