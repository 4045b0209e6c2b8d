"""Edges without direction that a file lists at both of their ends: each of them once."""

from pathlib import Path

import numpy as np

from ..errors import FormatError, Given
from .stream import require

#: Bytes for each entry that the comparison takes: the key and the weight of each side, and their order.
_BYTES_AN_ENTRY = 40


def once(
    path: Path, src: np.ndarray, dst: np.ndarray, weights: np.ndarray | None, n: int, base: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return the entries whose source is not above their target, of a graph of n vertices numbered from `base`.

    Raises
    ------
    FormatError
        If an edge between two vertices is not listed at both, as often and with the same weights.
    MemoryLimitError
        If the comparison does not fit the free memory.
    """
    require(path, _BYTES_AN_ENTRY * len(src), f"comparing the edges of {n:,} vertices with their other directions")
    keep = src <= dst
    one, other = (_sorted(*side, weights, n) for side in ((src, dst, src < dst), (dst, src, src > dst)))
    if len(one[0]) != len(other[0]) or not all(map(np.array_equal, one, other)):
        u, v = _first_difference(one, other, n)
        raise FormatError(
            f"{path}: the edge between the vertices {u + base} and {v + base} must be listed at both with one weight: ",
            Given("directed", True),
            " reads each entry as an edge with a direction",
        )
    return src[keep], dst[keep], None if weights is None else weights[keep]


def _sorted(
    low: np.ndarray, high: np.ndarray, chosen: np.ndarray, weights: np.ndarray | None, n: int
) -> tuple[np.ndarray, ...]:
    """Return a key of the chosen entries, ascending, and their weights."""
    key = low[chosen].astype(np.int64) * n + high[chosen]
    if weights is None:
        return (np.sort(key),)
    order = np.lexsort((weights[chosen], key))
    return key[order], weights[chosen][order]


def _first_difference(one: tuple[np.ndarray, ...], other: tuple[np.ndarray, ...], n: int) -> tuple[int, int]:
    """Return the ends of the first edge in which two sorted lists differ."""
    common = min(len(one[0]), len(other[0]))
    differs = np.zeros(common, bool)
    for mine, its in zip(one, other, strict=True):
        differs |= mine[:common] != its[:common]
    place = int(differs.argmax()) if differs.any() else common
    key = min(int(keys[place]) for keys in (one[0], other[0]) if place < len(keys))
    return key // n, key % n
