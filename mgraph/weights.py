"""The numbers a distance can be: types, infinity, and the encoding that the kernels compute in.

Outside, "no edge" and "unreachable" are ``inf``, for integers the type's largest value. Inside, the infinity of
integers of w bits is 2**(w-2) - 1, so that two of them add without wrapping, and no weight is greater than a
fourth of that, the band of 2**(w-4). So distances below and infinities (which negative weights lower) above
remain apart, and `decode` raises if any value lies where it may be either.
"""

from typing import Any

import numpy as np

from .device import Device
from .errors import DistanceOverflowError, InputError

#: The types that a distance matrix can be computed in; int16 has no labels.
DISTANCE_TYPES = tuple(map(np.dtype, (np.float32, np.float64, np.int32, np.int16)))
_NAMES = "float32, float64, int32 or int16"

#: Where to go with what an integer type cannot carry.
_WIDER = {np.dtype(np.int16): "int32", np.dtype(np.int32): "float64"}

#: What stands for "no predecessor", as in SciPy.
NO_PREDECESSOR = -9999

Array = Any


def infinity(dtype: np.dtype) -> float | int:
    """Return the value that means "no edge" and "unreachable" to a user of `dtype`."""
    return float("inf") if dtype.kind == "f" else int(np.iinfo(dtype).max)


def kernel_infinity(dtype: np.dtype) -> float | int:
    """Return the value that stands for infinity while a kernel computes in `dtype`."""
    return float("inf") if dtype.kind == "f" else 2 ** (8 * dtype.itemsize - 2) - 1


def band(dtype: np.dtype) -> int:
    """Return the largest weight in the integers `dtype`; where weights may be negative, the largest distance too."""
    return 2 ** (8 * dtype.itemsize - 4)


def distance_dtype(weights: np.dtype | None, asked: Any = None) -> np.dtype:
    """Return the type in which distances over `weights` are computed.

    Parameters
    ----------
    weights : dtype or None
        The type of the edge weights; None is an unweighted graph, whose distances are hop counts.
    asked : dtype-like, optional
        What the user asked for: float32, float64, int32 or int16.

    Raises
    ------
    InputError
        For a type in which no distance is computed.
    """
    if asked is not None:
        try:
            dtype = np.dtype(asked)
        except TypeError as error:
            raise InputError(f"dtype={asked!r} is no NumPy type: use {_NAMES}") from error
        if dtype not in DISTANCE_TYPES:
            raise InputError(f"dtype={dtype.name} is not supported: use {_NAMES}")
        if weights is not None and weights.kind == "f" and dtype.kind == "i":
            raise InputError(
                f"dtype={dtype.name} would cut the fractions of {weights.name} weights: "
                "use float32 or float64, or convert the weights to integers first"
            )
        return dtype
    if weights is None or weights in (np.dtype(np.float16), np.dtype(np.float32)):
        return np.dtype(np.float32)
    return np.dtype(np.float64) if weights.kind == "f" else np.dtype(np.int32)


def exact_types(
    weights: np.dtype | None, least: float, most: float, whole: bool, n: int, narrow: bool
) -> list[np.dtype]:
    """Return the types, narrowest first, of which the first that carries every distance is exact.

    Parameters
    ----------
    weights : dtype or None
        The type of the edge weights; None is an unweighted graph.
    least, most : float
        The least and the greatest weight.
    whole : bool
        Whether all weights are whole numbers.
    n : int
        Number of vertices: no path has as many edges.
    narrow : bool
        Whether int16 may be taken.
    """
    greatest = max(-least, most)
    if weights is not None and weights.kind == "f":
        if not whole:
            return [weights]
        # To there float32 counts without a gap.
        return [np.dtype(np.float32 if (n - 1) * greatest <= 2**24 else np.float64)]
    integers = map(np.dtype, (np.int16, np.int32) if narrow else (np.int32,))
    return [*(dtype for dtype in integers if greatest <= band(dtype)), np.dtype(np.float64)]


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


def encode(values: Array, out: Array, device: Device, *, dense: bool) -> None:
    """Write weights to `out` as the kernels want them: infinities encoded, no negative zero.

    Parameters
    ----------
    values : array
        Weights, of any type that `weight_dtype` admits.
    out : array of float32, float64, int32 or int16
        Where to write them; may be the weights themselves.
    device : Device
        Where both live.
    dense : bool
        Whether the values are of a matrix, in which an integer type's largest value is no edge.

    Raises
    ------
    DistanceOverflowError
        For a weight that `out` cannot carry.
    """
    if not values.size:
        return
    if values.ndim == 1:
        values, out = values.reshape(1, -1), out.reshape(1, -1)
    source, dtype, xp = np.dtype(values.dtype), np.dtype(out.dtype), device.xp
    rows, columns = out.shape
    if source.kind == "f":
        with np.errstate(over="ignore"):
            xp.add(values, source.type(0), out=out, casting="same_kind")  # -0.0 + 0.0 = 0.0
        chunk = chunk_rows(columns)
        for top in range(0, rows if dtype.itemsize < source.itemsize else 0, chunk):
            some = slice(top, top + chunk)
            if bool((xp.isinf(out[some]) & xp.isfinite(values[some])).any()):
                raise DistanceOverflowError(f"a weight is too large for {dtype.name}: use dtype='{source.name}'")
        return
    most = band(dtype) if dtype.kind == "i" else -1
    amiss = xp.zeros(1, np.uint64)
    device.kernels("weights").encode(values, out, dense, kernel_infinity(dtype), most, amiss)
    place = int(amiss[0])
    if place:
        weight = int(values[divmod(place - 1, columns)])
        raise DistanceOverflowError(
            f"the weight {weight} is too large for {dtype.name} distances (at most {most}): use dtype='{_WIDER[dtype]}'"
        )


def decode(matrix: Array, labels: Array | None, device: Device, nonnegative: bool) -> None:
    """Turn computed distances into the user's, in place: infinities of integers become the type's largest value.

    A path's prefixes grow by one edge's weight at a time, and no weight exceeds the band's width: so a distance
    that was cut off at infinity leaves one of its prefixes less than that below infinity, where none may be. An
    infinity lowered by negative weights may have left a label, which is taken back.

    Parameters
    ----------
    matrix : array, shape (rows, columns)
        Distances as the kernels left them.
    labels : array of int32, shape (rows, columns), or None
        Their predecessors, or intermediate vertices.
    device : Device
        Where both live.
    nonnegative : bool
        Whether no weight is negative: infinities then stay what they are, and distances may reach three bands.

    Raises
    ------
    DistanceOverflowError
        If a distance may have been cut off.
    """
    dtype = np.dtype(matrix.dtype)
    if not matrix.size or (dtype.kind == "f" and nonnegative):
        return
    if dtype.kind == "f":
        if float(matrix.min()) == -np.inf:
            raise DistanceOverflowError(f"a distance is below the least {dtype.name}: scale the weights down")
        return
    beyond = int(kernel_infinity(dtype))
    lowest, highest = (0, beyond - band(dtype) - 1) if nonnegative else (-band(dtype), band(dtype))
    unreached = beyond if nonnegative else beyond - band(dtype)
    amiss = device.xp.zeros(1, np.int32)
    device.kernels("weights").decode(matrix, labels, lowest, highest, unreached, infinity(dtype), amiss)
    if int(amiss[0]):
        raise DistanceOverflowError(
            f"a distance exceeds {highest}, the most that {dtype.name} distances carry: use dtype='{_WIDER[dtype]}'"
        )
