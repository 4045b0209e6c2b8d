"""What a search from one source needs, by itself or one by one among many: its window of distances, and its time.

The distances within a window are settled together. A wider window repeats more work, a narrower one takes more rounds.
"""

import numpy as np

from ..planning.shape import CACHED, Shape

#: The window is `_NEAR` times the mean weight over the mean degree wide, and wider below the degree `_SPARSE`; both
#: from counted work (benchmarks/NOTES.md).
_NEAR, _SPARSE = 4, 25

#: The share of that window with which a CPU by itself searches, as its rounds cost little; and from which degree on. At
#: lower ones, where roads and grids have many rounds, it takes twice the share.
_CPU_SHARE, _DENSE_FROM = 0.25, 5


def near_width(n: int, m: int, mean: float, dtype: np.dtype) -> float:
    """Return the best width of the window of a search, for weights of this mean and type; `alone_width` for one CPU.

    In a graph without hubs, distances lie about the mean weight over the mean degree apart. A graph of low degree has
    many rounds, so there a wider window pays.
    """
    degree = max(1.0, m / max(1, n))
    width = mean * _NEAR / degree * max(1.0, _SPARSE / degree)
    if dtype.kind == "i":
        width = max(1.0, width)
    tiny, largest = (float(end) for end in (np.finfo(np.float32).tiny, np.finfo(np.float32).max))
    return width if tiny < width < largest else float("inf")


def alone_width(n: int, m: int, width: float, dtype: np.dtype) -> float:
    """Return the best width of the window on one CPU, where `width` is best elsewhere."""
    share = _CPU_SHARE if m >= _DENSE_FROM * n else 2 * _CPU_SHARE
    return max(share * width, 1.0 if dtype.kind == "i" else 0.0)


def reads(n: int, m: int, shape: Shape) -> float:
    """Return the work of a search on a CPU in random reads, each as long as breadth-first search takes for an edge.

    An edge takes about 11 ns, and a vertex as long; one whose distance is not in a cache takes 150 ns more.
    """
    return 2.2 * m + 2.5 * n + 30 * n * shape.far * (n > CACHED)
