"""Strong components in the order in which a depth-first search completes them.

The search is that of ``method="sequential"``, on one core of the host. SciPy up to 1.17 takes the edges of a vertex in
the same order, from the last to the first; NetworkX, and SciPy from 1.18 on, from the first to the last.
"""

import numpy as np

from ... import device as devices
from ...kernels import strong as strong_kernels


def completed(indptr: np.ndarray, indices: np.ndarray) -> tuple[int, np.ndarray]:
    """Return the number of strong components, and that of each vertex's component.

    Vertices are searched in ascending order and the edges of each from the last to the first. Components that others
    reach are complete before these.

    Parameters
    ----------
    indptr : array of int32 or int64, shape (n + 1,)
        Where each vertex's edges begin.
    indices : array of int32, shape (edges,)
        Their other ends.
    """
    n = len(indptr) - 1
    labels, numbers, stack = np.full(n, -1, np.int32), np.empty(n, np.uint32), np.empty(n, np.int32)
    kernels = strong_kernels.on(devices.find("cpu"))
    kernels.complete(indptr, indices, labels, numbers, stack, np.empty(n, indptr.dtype), np.empty(n, np.uint8))
    np.subtract(np.uint32(0xFFFFFFFE), numbers, out=numbers)
    found = numbers.view(np.int32)
    return int(found.max(initial=-1)) + 1, found
