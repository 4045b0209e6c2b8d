"""The numbers a distance can be: types, infinity, and the encoding that the kernels compute in.

Outside, "no edge" and "unreachable" are ``inf``, for integers the type's largest value. Inside, the infinity of
integers of w bits is 2**(w-2) - 1, so that two of them add without wrapping, and no weight exceeds the band of
2**(w-4). Distances must stay so far below infinity that `decode` can tell the two apart; `distance_range` says how far.

Without negative weights, infinities stay what they are. A distance that was cut off at infinity has a first prefix
above the greatest distance that is carried. That prefix is at most a band above it, so it must be less than infinity:
greatest + band < infinity.

With negative weights, a method that works on the matrix lowers infinities too. Where j cannot be reached from i, what
is left of infinity is at least infinity + d(i, a) + d(b, j), for some pair (a, b) without an edge. So it is at least
infinity + 2 * least, and the first prefix that is too long must be less than that:
greatest + band < infinity + 2 * least. A distance below the least also has a first prefix there, which is at most a
band below it, so that no sum of it wraps.
"""

from typing import Any

import numpy as np

from .device import Device
from .errors import DistanceOverflowError, InputError

#: The types that a distance matrix can be computed in; int16 has no labels.
DISTANCE_TYPES = tuple(map(np.dtype, (np.float32, np.float64, np.int32, np.int16)))

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
    """Return the largest magnitude of a weight in the integers `dtype`."""
    return 2 ** (8 * dtype.itemsize - 4)


def distance_range(dtype: np.dtype, nonnegative: bool) -> tuple[int, int]:
    """Return the least and the greatest distance that the integers `dtype` carry, by every method.

    Parameters
    ----------
    dtype : dtype
        The type of the distances, an integer type.
    nonnegative : bool
        Whether no weight is negative.
    """
    if nonnegative:
        return 0, int(kernel_infinity(dtype)) - band(dtype) - 1
    return 1 - band(dtype), band(dtype)


def distance_dtype(
    weights: np.dtype | None, asked: Any = None, types: tuple[np.dtype, ...] = DISTANCE_TYPES
) -> np.dtype:
    """Return the type in which distances over `weights` are computed.

    Parameters
    ----------
    weights : dtype or None
        The type of the edge weights; None is an unweighted graph, whose distances are hop counts.
    asked : dtype-like, optional
        What the user asked for.
    types : tuple of dtype
        The types that may be asked for.

    Raises
    ------
    InputError
        For a type in which no distance is computed.
    """
    if asked is not None:
        *names, last = (dtype.name for dtype in types)
        known = f"{', '.join(names)} or {last}"
        try:
            dtype = np.dtype(asked).newbyteorder("=")
        except TypeError as error:
            raise InputError(f"dtype must be {known}, got {asked!r}") from error
        if dtype not in types:
            raise InputError(f"dtype must be {known}, got {dtype.name}")
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


def places_on(diagonal: int, shape: tuple[int, int], xp: Any = np) -> tuple[Array, Array]:
    """Return rows and columns, arrays of `xp`, of the elements on the diagonal that row 0 has at column `diagonal`."""
    first = max(0, -diagonal)
    rows = xp.arange(first, max(first, min(shape[0], shape[1] - diagonal)))
    return rows, rows + diagonal


def encode(values: Array, out: Array, device: Device, *, diagonal: int | None = None, result: Any = None) -> None:
    """Write weights to `out` as the kernels want them: infinities encoded, no negative zero.

    Parameters
    ----------
    values : array
        Weights, of any type that `weight_dtype` admits.
    out : array of float32, float64, int32 or int16
        Where to write them; may be the weights themselves.
    device : Device
        Where both live.
    diagonal : int, optional
        Of a matrix, the column of row 0 that is on the diagonal; may be outside of it. In a matrix an integer type's
        largest value is no edge, and a positive element on the diagonal, which counts as zero, is never too large.
    result : dtype-like, optional
        The type of the result, which is narrower than `out` where int16 is computed in int32.

    Raises
    ------
    DistanceOverflowError
        For a weight that the result cannot carry.
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
            large = xp.isinf(out[some]) & xp.isfinite(values[some])
            lost = bool(large.any())
            if lost and diagonal is not None:
                own = places_on(diagonal + top, large.shape, xp)
                large[own] &= values[some][own] < 0
                lost = bool(large.any())
            if lost:
                raise DistanceOverflowError(f"a weight is too large for {dtype.name}: use dtype='{source.name}'")
        return
    result = dtype if result is None else np.dtype(result)
    most = band(result) if dtype.kind == "i" else -1
    amiss = xp.zeros(1, np.uint64)

    def place(values: Array, out: Array) -> int:
        """Encode; return 1 more than the place of the last weight that is too large, or 0 if there is none."""
        amiss.fill(0)
        device.kernels("weights").encode(values, out, diagonal is not None, kernel_infinity(dtype), most, amiss)
        return int(amiss[0])

    found = place(values, out)
    if found and diagonal is not None:
        # It may stand on the diagonal.
        chunk, found = chunk_rows(columns), 0
        for top in range(0, rows, chunk):
            part = values[top : top + chunk].copy()
            own = places_on(diagonal + top, part.shape, xp)
            part[own] = xp.minimum(part[own], source.type(0))
            there = place(part, out[top : top + chunk])
            found = top * columns + there if there else found
    if found:
        weight = int(values[divmod(found - 1, columns)])
        raise DistanceOverflowError(
            f"the weight {weight} is too large for {result.name} distances (at most {most}): "
            f"use dtype='{_WIDER[result]}'"
        )


def decode(matrix: Array, labels: Array | None, device: Device, nonnegative: bool, lowered: bool = True) -> None:
    """Turn computed distances into the user's, in place: infinities of integers become the type's largest value.

    The opening of this module tells why no distance is taken for an infinity, nor the other way round. An infinity
    lowered by negative weights may have left a label, which is taken back.

    Parameters
    ----------
    matrix : array, shape (rows, columns)
        Distances as the kernels left them.
    labels : array of int32, shape (rows, columns), or None
        Their predecessors, or intermediate vertices.
    device : Device
        Where both live.
    nonnegative : bool
        Whether no weight is negative.
    lowered : bool
        Whether negative weights have lowered infinities: by methods that work on the matrix, not by searches.

    Raises
    ------
    DistanceOverflowError
        If a distance is beyond what its type carries.
    """
    dtype = np.dtype(matrix.dtype)
    if not matrix.size or (dtype.kind == "f" and nonnegative):
        return
    if dtype.kind == "f":
        if float(matrix.min()) == -np.inf:
            raise DistanceOverflowError(f"a distance is below the least {dtype.name}: scale the weights down")
        return
    least, greatest = distance_range(dtype, nonnegative)
    unreached = int(kernel_infinity(dtype)) + (0 if nonnegative or not lowered else 2 * least)
    amiss = device.xp.zeros(1, np.int32)
    device.kernels("weights").decode(matrix, labels, least, greatest, unreached, infinity(dtype), amiss)
    if int(amiss[0]):
        raise out_of_range(dtype, nonnegative)


def out_of_range(dtype: np.dtype, nonnegative: bool) -> DistanceOverflowError:
    """Return the error for a distance that the integers `dtype` do not carry."""
    least, greatest = distance_range(dtype, nonnegative)
    return DistanceOverflowError(
        f"a distance is not within {least} to {greatest}, the distances that {dtype.name} carries: "
        f"use dtype='{_WIDER[dtype]}'"
    )
