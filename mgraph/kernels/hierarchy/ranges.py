"""Ranges of numbers, as of the entries of vertices, in arrays."""

import numpy as np

from .ops import Entries


def counts_of(entries: Entries, vertices: np.ndarray) -> np.ndarray:
    """Return the number of entries of each vertex."""
    counts: np.ndarray = entries.begin[vertices + 1] - entries.begin[vertices]
    return counts


def starts_of(counts: np.ndarray) -> np.ndarray:
    """Return where the elements of each begin, and where the last ones end."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def ranges_of(begins: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the numbers of all ranges, one range after the other."""
    starts = starts_of(ends - begins)
    numbers: np.ndarray = np.repeat(begins - starts[:-1], np.diff(starts)) + np.arange(starts[-1])
    return numbers
