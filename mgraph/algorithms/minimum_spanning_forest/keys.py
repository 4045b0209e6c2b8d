"""Weights as integers of 32 bits that order as they do, which the kernels compare."""

from dataclasses import dataclass

import numpy as np

from ... import device as devices
from ...arrays import Array


@dataclass(frozen=True)
class Keys:
    """How the weights of a graph become keys, and keys weights again.

    Attributes
    ----------
    dtype : dtype or None
        The type of the weights; None where there are none, and each counts as 1.
    table : array or None
        The different weights, ascending, of which a key is the place: of types of 64 bits that do not fit 32.
    """

    dtype: np.dtype | None
    table: Array | None = None

    def of(self, weights: Array | None, m: int, device: devices.Device) -> Array:
        """Return the keys of m weights on their device; those of int32 are the weights themselves."""
        if weights is None:
            return device.xp.zeros(m, np.int32)
        if self.table is not None:
            return device.xp.searchsorted(self.table, weights).astype(np.int32)
        if self.dtype == np.float32:
            bits = (weights + np.float32(0)).view(np.int32)  # of both zeros the same
            return device.xp.where(bits < 0, bits ^ np.int32(0x7FFFFFFF), bits)
        return weights.astype(np.int32, copy=False)

    def weights(self, keys: Array) -> Array:
        """Return the weights of some keys; ones of int32 where there are none."""
        xp = devices.of(keys).xp
        if self.dtype is None:
            return xp.ones(len(keys), np.int32)
        if self.table is not None:
            return devices.of(keys).asarray(self.table)[keys]
        if self.dtype == np.float32:
            return xp.where(keys < 0, keys ^ np.int32(0x7FFFFFFF), keys).view(np.float32)
        return keys.astype(self.dtype, copy=False)


def keys_of(weights: Array | None, extremes: tuple[float, float, bool]) -> Keys:
    """Return how weights become keys; `extremes` are the least, the greatest, and whether all are whole."""
    if weights is None:
        return Keys(None)
    dtype, (least, most, whole) = np.dtype(weights.dtype), extremes
    narrow = whole and -(2**31) <= least and most < 2**31
    if dtype.itemsize == 4 or narrow:
        return Keys(dtype)
    return Keys(dtype, devices.of(weights).xp.unique(weights))
