"""The vertex ids that edges use, and edges renumbered by them."""

import numpy as np

from ..arrays import distinct, places_of


def in_use(src: np.ndarray, dst: np.ndarray) -> np.ndarray:
    """Return the ids in use, ascending: by marking them if their range is small, else by sorting."""
    if not len(src):
        return np.empty(0, np.int64)
    span = max(int(src.max()), int(dst.max())) + 1
    if span > 4 * len(src):
        return distinct(np.concatenate([src, dst])).astype(np.int64, copy=False)
    used = np.zeros(span, bool)
    used[src] = True
    used[dst] = True
    return np.flatnonzero(used)


def packed(src: np.ndarray, dst: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the ids in use, and the edges with each id replaced by its index among them."""
    ids = in_use(src, dst)
    if len(ids) and ids[-1] <= 4 * len(src):
        places = np.empty(int(ids[-1]) + 1, np.int32)
        places[ids] = np.arange(len(ids), dtype=np.int32)
        return ids, places[src], places[dst]
    return ids, places_of(src, ids), places_of(dst, ids)
