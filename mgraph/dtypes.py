"""Types of distances, their infinities, and the encoding that the kernels compute in.

In input and results, "no edge" and "unreachable" are ``inf``, for integers the type's largest value. In the kernels,
the infinity of integers of w bits is 2**(w-2) - 1, so that two infinities add without wrapping, and no weight exceeds
the band of 2**(w-4). Distances must stay so far below infinity that `decode` can distinguish the two. `distance_range`
gives the range of distances, from `least` to `greatest`. It follows from two cases:

Without negative weights, infinities do not change. A path longer than `greatest` has a first prefix above `greatest`.
That prefix is at most a band above it, and must still be less than infinity, so that the overflow is detected:
greatest + band < infinity.

With negative weights, a method that works on the matrix lowers infinities too. If j cannot be reached from i, the
lowered infinity is at least infinity + d(i, a) + d(b, j), for some pair (a, b) without an edge. So it is at least
infinity + 2 * least, and the first prefix that is too long must be less than that:
greatest + band < infinity + 2 * least. A path shorter than `least` also has a first prefix below `least`, at most a
band below it, so that no sum with it wraps.
"""

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .arguments import one_of
from .errors import ArgumentValue, DistanceOverflowError, InputError

#: The most vertices. Vertex ids are int32; some values are kept free, so that a kernel may count past the last vertex.
MAX_VERTICES = 2**31 - 2**20


#: The number of edges from which offsets have 64 bits; some 32-bit values are kept free, as above.
MANY_EDGES = 2**31 - 2**16

#: The most elements of a list, whose indices and ranks must fit 32 unsigned bits.
MAX_ELEMENTS = 2**32 - 1


def offset_type(m: int) -> np.dtype:
    """Return the type of offsets (``indptr``) into arrays of m edges."""
    return np.dtype(np.int32 if m < MANY_EDGES else np.int64)


#: The types that a distance matrix can be computed in; in int16 without predecessors.
DISTANCE_TYPES = tuple(map(np.dtype, (np.float32, np.float64, np.int32, np.int16)))


#: The type to advise if a distance or weight does not fit an integer type.
WIDER = {np.dtype(np.int16): "int32", np.dtype(np.int32): "float64"}


#: The value for "no predecessor", as in SciPy.
NO_PREDECESSOR = -9999


@functools.cache
def name_of(dtype: np.dtype) -> str:
    """Return a type's name, which NumPy makes up anew every time."""
    return dtype.name


@functools.cache
def infinity(dtype: np.dtype) -> float | int:
    """Return the value that means "no edge" and "unreachable" in input and results of `dtype`."""
    return float("inf") if dtype.kind == "f" else int(np.iinfo(dtype).max)


def as_floats(distances: Any) -> Any:
    """Return distances as float64, ``inf`` where there is no path; without a copy if they are float64."""
    floats = distances.astype(np.float64, copy=False)
    if distances.dtype.kind == "i":
        floats[distances == infinity(np.dtype(distances.dtype))] = np.inf
    return floats


def bin_limits(edges: Sequence[float], dtype: np.dtype) -> np.ndarray:
    """Return the greatest distance of `dtype` below each edge of bins, and that up to the last edge, as float64.

    A bin has its lower edge, and the last one both. So a distance is in bin number i if it is more than limit number i
    and at most limit number i + 1.

    Examples
    --------
    >>> import numpy as np
    >>> from mgraph.dtypes import bin_limits
    >>> bin_limits([0, 1.5, 4], np.dtype(np.int32)).tolist()
    [-1.0, 1.0, 4.0]
    """
    if dtype.kind == "i":
        least, most = int(np.iinfo(dtype).min), int(infinity(dtype)) - 1
        last = most if edges[-1] == np.inf else math.floor(edges[-1])
        found = [math.ceil(edge) - 1 for edge in edges[:-1]] + [last]
        return np.array([min(max(limit, least), most) for limit in found], np.float64)
    most = np.finfo(dtype).max
    with np.errstate(over="ignore"):
        rounded = [dtype.type(min(max(edge, -most), most)) for edge in edges]
    lower = np.nextafter(rounded, dtype.type(-np.inf))
    exact = np.array(rounded, np.float64)  # compared as such, not as the edges are when rounded to `dtype`
    above = exact >= np.array(edges, np.float64)
    above[-1] = exact[-1] > edges[-1]
    return np.where(above, lower.astype(np.float64), exact)


@functools.cache
def kernel_infinity(dtype: np.dtype) -> float | int:
    """Return the value that means infinity in kernels that compute in `dtype`."""
    return float("inf") if dtype.kind == "f" else 2 ** (8 * dtype.itemsize - 2) - 1


@functools.cache
def band(dtype: np.dtype) -> int:
    """Return the largest magnitude of a weight in an integer `dtype`."""
    return 2 ** (8 * dtype.itemsize - 4)


@functools.cache
def distance_range(dtype: np.dtype, nonnegative: bool) -> tuple[int, int]:
    """Return the least and the greatest distance in an integer `dtype`, for every method.

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
        The type that the user requested.
    types : tuple of dtype
        The types that may be requested.

    Raises
    ------
    InputError
        For another type, or an integer type for weights that are floats.
    """
    if asked is not None:
        try:
            dtype = np.dtype(asked).newbyteorder("=")
        except Exception as error:  # TypeError, for some texts also SyntaxError, UnicodeEncodeError and others
            raise InputError(argument="dtype", value=asked, expected=one_of(list(map(name_of, types)))) from error
        if dtype not in types:
            raise InputError(argument="dtype", value=dtype.name, expected=one_of(list(map(name_of, types))))
        if weights is not None and weights.kind == "f" and dtype.kind == "i":
            raise InputError(
                ArgumentValue("dtype", dtype.name),
                f" would cut the fractions of {weights.name} weights: use float32 or float64, or "
                f"convert the weights to integers first",
            )
        return dtype
    if weights is None or weights in (np.dtype(np.float16), np.dtype(np.float32)):
        return np.dtype(np.float32)
    return np.dtype(np.float64) if weights.kind == "f" else np.dtype(np.int32)


def exact_types(
    weights: np.dtype | None, least: float, most: float, whole: bool, n: int, narrow: bool
) -> list[np.dtype]:
    """Return candidate types, narrowest first; the first one that holds every distance is exact.

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
        # Up to 2**24 float32 represents all whole numbers.
        return [np.dtype(np.float32 if (n - 1) * greatest <= 2**24 else np.float64)]
    integers = map(np.dtype, (np.int16, np.int32) if narrow else (np.int32,))
    return [*(dtype for dtype in integers if greatest <= band(dtype)), np.dtype(np.float64)]


def advice_on_weights(dtype: np.dtype) -> str:
    """Return what an error says of weights in a type that a graph does not keep."""
    if dtype.kind == "m":
        return ": divided by numpy.timedelta64(1, 's') they are seconds"
    return ": .astype(float) makes numbers of text" if dtype.kind in "OUST" else ""


def weight_dtype(dtype: np.dtype) -> np.dtype | None:
    """Return the type in which a graph keeps weights given as `dtype`; None for bool: no weights.

    Raises
    ------
    InputError
        For any other type (complex numbers, objects, text).
    """
    if dtype.kind == "b":
        return None
    if dtype.kind == "f" and dtype.itemsize <= 8:
        return np.dtype(np.float64) if dtype.itemsize == 8 else np.dtype(np.float32)
    if dtype.kind in "iu":
        return np.dtype(np.int32) if np.can_cast(dtype, np.int32) else np.dtype(np.int64)
    expected = "floats of up to 64 bits, or integers"
    raise InputError(advice_on_weights(dtype), argument="weights", value=dtype.name, expected=expected)


def out_of_range(dtype: np.dtype, nonnegative: bool) -> DistanceOverflowError:
    """Return the error for a distance out of range for an integer `dtype`."""
    least, greatest = distance_range(dtype, nonnegative)
    return DistanceOverflowError(
        f"a distance is out of range for {dtype.name}, which holds {least} to {greatest}: use ",
        ArgumentValue("dtype", WIDER[dtype]),
    )
