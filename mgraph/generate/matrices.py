"""Random distance matrices, drawn on the host."""

from typing import Any

import numpy as np

from .. import device as devices
from ..arguments import checked_integer
from ..dtypes import MAX_VERTICES, distance_dtype, infinity
from ..errors import InputError
from .checks import checked_number, host_random

#: Elements of a random matrix drawn at a time. The numbers drawn depend on it.
ELEMENTS_AT_A_TIME = 1 << 22


def random_matrix(
    n: int,
    *,
    density: float = 1.0,
    low: float = 1.0,
    high: float = 1000.0,
    dtype: Any = "float32",
    seed: int = 0,
) -> np.ndarray:
    """Return a random distance matrix of `n` vertices, with uniform weights and a diagonal of zeros.

    Parameters
    ----------
    n : int
        Number of vertices.
    density : float
        The probability of an edge, 0 to 1. Other elements are ``inf``, or the largest value of an integer type.
    low, high : float
        The range of the weights. For integer types both are integers, and included.
    dtype : {"float32", "float64", "int32", "int16"}
        Type of the matrix and of its weights.
    seed : int
        The same arguments give the same matrix.

    Returns
    -------
    array of `dtype`, shape (n, n)

    See Also
    --------
    mgraph.apsp : Shortest paths, which read such a matrix.

    Examples
    --------
    >>> import mgraph
    >>> mgraph.generate.random_matrix(3, low=1, high=9, dtype="int32").shape
    (3, 3)
    """
    kind = distance_dtype(None, dtype)
    n = checked_integer("n", n, 0, MAX_VERTICES)
    if not 0 <= checked_number("density", density) <= 1:
        raise InputError(argument="density", value=density, expected="a number in [0, 1]")
    low, high = checked_number("low", low), checked_number("high", high)
    if not low <= high:
        raise InputError(f"low must be a number up to high, got low={low} and high={high}")
    if kind.kind == "i":
        if not low % 1 == high % 1 == 0:
            raise InputError(f"low and high must be whole numbers for {kind.name}, got {low} and {high}")
        fit = np.iinfo(kind).min <= low <= high < np.iinfo(kind).max
    else:
        fit = max(-low, high, high - low) <= float(np.finfo(kind).max)
    if not fit:
        raise InputError(f"low and high must be numbers that {kind.name} can hold, got {low} and {high}")
    random = host_random(seed)
    what, needed = f"a matrix of {n:,} vertices", n * n * kind.itemsize
    devices.check_free_memory(what, needed, devices.find("cpu"), "make a smaller one")
    matrix = np.empty((n, n), kind)
    rows = max(1, ELEMENTS_AT_A_TIME // max(1, n))
    for first in range(0, n, rows):
        block = matrix[first : first + rows]
        if kind.kind == "i":
            block[:] = random.integers(int(low), int(high), block.shape, kind, endpoint=True)
        else:
            random.random(block.shape, kind, out=block)
            block *= high - low
            block += low
        if density < 1:
            block[random.random(block.shape, np.float32) >= density] = infinity(kind)
    np.fill_diagonal(matrix, 0)
    return matrix
