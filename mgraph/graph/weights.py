"""Encoding of weights for the kernels, and decoding of distances.

`mgraph.dtypes` describes the encoding.
"""

from typing import Any

import numpy as np

from ..arrays import Array, chunk_rows, places_on
from ..device import Device
from ..dtypes import WIDER, band, distance_range, infinity, kernel_infinity, out_of_range
from ..errors import ArgumentValue, DistanceOverflowError
from ..kernels import weights as weights_kernels


def encode(values: Array, out: Array, device: Device, *, diagonal: int | None = None, result: Any = None) -> None:
    """Write weights to `out`, encoded for the kernels: infinities encoded, negative zeros made positive.

    Parameters
    ----------
    values : array
        Weights, of any type that `weight_dtype` accepts.
    out : array of float32, float64, int32 or int16
        Receives the encoded weights; may be `values` itself.
    device : Device
        The device of both arrays.
    diagonal : int, optional
        For a distance matrix, the column where its diagonal crosses row 0, which may lie outside the matrix. There an
        integer type's largest value means no edge, and a positive element on the diagonal counts as zero, so it is
        never too large.
    result : dtype-like, optional
        The type of the result; narrower than `out` if int16 is computed in int32.

    Raises
    ------
    DistanceOverflowError
        For a weight out of range for the result's type.
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
                raise DistanceOverflowError(
                    f"a weight is too large for {dtype.name}: use ", ArgumentValue("dtype", source.name)
                )
        return
    result = dtype if result is None else np.dtype(result)
    most = band(result) if dtype.kind == "i" else -1

    def place(values: Array, out: Array) -> int:
        """Encode; return one more than the index of the last weight that is too large, or 0 if none is."""
        bad = xp.zeros(1, np.uint64)
        weights_kernels.on(device).encode(values, out, diagonal is not None, kernel_infinity(dtype), most, bad)
        return int(bad.item())

    found = place(values, out)
    if found and diagonal is not None:
        # The weight may be on the diagonal, where it does not count: look again without the diagonal.
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
            f"the weight {weight} is too large for {result.name} distances (at most {most}): use ",
            ArgumentValue("dtype", WIDER[result]),
        )


def decode(matrix: Array, labels: Array | None, device: Device, nonnegative: bool, lowered: bool = True) -> None:
    """Decode computed distances in place: infinities of integers become the type's largest value.

    `mgraph.dtypes` explains why distances and infinities are never confused. A label that belongs to an infinity, which
    negative weights had lowered, is removed.

    Parameters
    ----------
    matrix : array, shape (rows, columns)
        Distances as the kernels computed them.
    labels : array of int32, shape (rows, columns), or None
        Their predecessors, or intermediate vertices.
    device : Device
        The device of both arrays.
    nonnegative : bool
        Whether no weight is negative.
    lowered : bool
        Whether negative weights may have lowered infinities: true for methods that work on the matrix, not for
        searches.

    Raises
    ------
    DistanceOverflowError
        If a distance is out of range for its type.
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
    bad = device.xp.zeros(1, np.int32)
    weights_kernels.on(device).decode(matrix, labels, least, greatest, unreached, infinity(dtype), bad)
    if bad.item():
        raise out_of_range(dtype, nonnegative)
