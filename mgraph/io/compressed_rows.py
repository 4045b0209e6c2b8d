"""Compressed rows from a file, checked: where each row begins, and the vertices in it."""

import numpy as np


def rows_of(starts: np.ndarray, entries: int, n: int, name: str) -> np.ndarray:
    """Return the row of each entry, int32, given where each of n rows begins and the last one ends.

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
    return np.repeat(np.arange(n, dtype=np.int32), np.diff(starts).astype(np.int64))


def within(indices: np.ndarray, n: int) -> np.ndarray:
    """Return indices as int32, or raise ValueError unless all are in [0, n)."""
    if len(indices) and not (0 <= int(indices.min()) and int(indices.max()) < n):
        raise ValueError(f"there is an index outside of 0 to {n - 1}: {int(indices.min())} or {int(indices.max())}")
    return indices.astype(np.int32, copy=False)
