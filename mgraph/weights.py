"""The numbers a distance can be: types, infinity, and the encoding that the kernels compute in.

Outside, "no edge" and "unreachable" are ``inf``, for int32 its largest value. Inside, an int32
infinity is 2**30 - 1, so that two of them add without wrapping: a sum that contains an infinity stays
above `INT_BAND`, a genuine distance below it, and `decode` raises if any value lies between.
"""

from typing import Any

import numpy as np

from .errors import DistanceOverflowError, InputError

#: The types that a distance matrix can be computed in.
DISTANCE_TYPES = (np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.int32))

#: int32: what stands for infinity in a kernel, and the largest distance that is told apart from it.
INT_INFINITY = 2**30 - 1
INT_BAND = 2**28

#: What stands for "no predecessor", as in SciPy.
NO_PREDECESSOR = -9999

Array = Any


def infinity(dtype: np.dtype) -> float | int:
    """Return the value that means "no edge" and "unreachable" to a user of `dtype`."""
    return float("inf") if dtype.kind == "f" else int(np.iinfo(dtype).max)


def kernel_infinity(dtype: np.dtype) -> float | int:
    """Return the value that stands for infinity while a kernel computes in `dtype`."""
    return float("inf") if dtype.kind == "f" else INT_INFINITY


def distance_dtype(weights: np.dtype | None, asked: Any = None) -> np.dtype:
    """Return the type in which distances over `weights` are computed.

    Parameters
    ----------
    weights : dtype or None
        The type of the edge weights; None is an unweighted graph, whose distances are hop counts.
    asked : dtype-like, optional
        What the user asked for: float32, float64 or int32.

    Raises
    ------
    InputError
        For a type in which no distance is computed.
    """
    if asked is not None:
        try:
            dtype = np.dtype(asked)
        except TypeError as error:
            raise InputError(f"dtype={asked!r} is no NumPy type: use float32, float64 or int32") from error
        if dtype not in DISTANCE_TYPES:
            raise InputError(f"dtype={dtype.name} is not supported: use float32, float64 or int32")
        if weights is not None and weights.kind == "f" and dtype.kind == "i":
            raise InputError(
                f"dtype={dtype.name} would cut the fractions of {weights.name} weights: "
                "use float32 or float64, or convert the weights to integers first"
            )
        return dtype
    if weights is None or weights in (np.dtype(np.float16), np.dtype(np.float32)):
        return np.dtype(np.float32)
    return np.dtype(np.float64) if weights.kind == "f" else np.dtype(np.int32)


def weight_dtype(dtype: np.dtype) -> np.dtype | None:
    """Return the type in which a graph keeps weights given as `dtype`; None for bool: no weights.

    Raises
    ------
    InputError
        For a type that holds no weights (complex numbers, objects, text).
    """
    if dtype.kind == "b":
        return None
    if dtype.kind == "f" and dtype.itemsize <= 8:
        return np.dtype(np.float64) if dtype.itemsize == 8 else np.dtype(np.float32)
    if dtype.kind in "iu":
        return np.dtype(np.int32) if np.can_cast(dtype, np.int32) else np.dtype(np.int64)
    raise InputError(f"weights of type {dtype.name} are not supported: use floats or integers")


def chunk_rows(n: int) -> int:
    """Return how many rows of an n-column matrix to convert at a time: temporaries stay below 2% of n x n."""
    return max(1, min(max(n * n // 256, 1 << 18), 1 << 24) // max(n, 1))


def encode(values: Array, out: Array, xp: Any, *, dense: bool) -> None:
    """Write weights to `out` as the kernels want them: infinities encoded, no negative zero.

    Parameters
    ----------
    values : array
        Weights, of any type that `weight_dtype` admits.
    out : array of float32, float64 or int32
        Where to write them.
    xp : module
        NumPy or CuPy, whichever both belong to.
    dense : bool
        Whether the values are of a matrix, in which an integer type's largest value is no edge.

    Raises
    ------
    DistanceOverflowError
        For a weight that `out` cannot carry.
    """
    if not values.size:
        return
    source, dtype = np.dtype(values.dtype), np.dtype(out.dtype)
    if source.kind == "f":
        with np.errstate(over="ignore"):
            xp.add(values, source.type(0), out=out, casting="same_kind")  # -0.0 + 0.0 = 0.0
        if dtype.itemsize < source.itemsize and bool((xp.isinf(out) & xp.isfinite(values)).any()):
            raise DistanceOverflowError(f"a weight is too large for {dtype.name}: use dtype='{source.name}'")
        return
    missing = values == np.iinfo(source).max if dense else xp.zeros(values.shape, bool)
    if dtype.kind == "f":
        out[...] = values
        out[missing] = xp.inf
        return
    edges = values[~missing]
    if edges.size and (int(edges.max()) > INT_BAND or int(edges.min()) < -INT_BAND):
        worst = max(int(edges.max()), int(edges.min()), key=abs)
        raise DistanceOverflowError(
            f"the weight {worst} is too large for int32 distances (at most {INT_BAND}): use dtype='float64'"
        )
    out[...] = xp.where(missing, source.type(0), values)
    out[missing] = INT_INFINITY


def decode(matrix: Array, predecessors: Array | None, xp: Any) -> None:
    """Turn computed distances into the user's, in place: int32 infinities become the largest int32.

    A path's prefixes grow by one edge's weight at a time, and no weight exceeds the band's width, so a
    distance that was cut off at infinity leaves one of its prefixes between the band and infinity. An
    infinity lowered by negative weights may have left a predecessor, which is taken back.

    Raises
    ------
    DistanceOverflowError
        If a distance may have been cut off.
    """
    if matrix.dtype.kind == "f" or not matrix.size:
        return
    rows = chunk_rows(matrix.shape[1])
    for first in range(0, matrix.shape[0], rows):
        part = matrix[first : first + rows]
        unreached = part > INT_INFINITY - INT_BAND - 1
        doubtful = (part > INT_BAND) | (part < -INT_BAND)
        if bool((doubtful & ~unreached).any()):
            raise DistanceOverflowError(
                f"a distance exceeds {INT_BAND}, the most that int32 distances carry: use dtype='float64'"
            )
        part[unreached] = np.iinfo(np.int32).max
        if predecessors is not None:
            predecessors[first : first + rows][unreached] = NO_PREDECESSOR
