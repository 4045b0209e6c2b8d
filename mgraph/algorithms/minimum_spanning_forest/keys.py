"""Keys: 32-bit integers in the order of the weights, which the kernels compare."""

import itertools
from dataclasses import dataclass

import numpy as np

from ... import device as devices
from ...arrays import Array, distinct
from ...runtime.communicator import Communicator

#: Weights whose keys are computed at a time, on each kind of device, and the bytes that this takes for each weight.
WEIGHTS_AT_A_TIME = {"cpu": 1 << 18, "cuda": 1 << 24}
WORK_BYTES = {"cpu": 32, "cuda": 16}


#: The name under which a graph keeps the table of its distinct weights.
TABLE = "distinct weights"


@dataclass(frozen=True)
class Keys:
    """The conversion of a graph's weights to keys and back.

    Attributes
    ----------
    dtype : dtype or None
        The type of the weights; None for an unweighted graph, whose edges count 1.
    table : array or None
        The distinct weights, ascending; a key is an index into it. For 64-bit weights that do not fit 32 bits.
    """

    dtype: np.dtype | None
    table: Array | None = None

    def on(self, device: devices.Device) -> "Keys":
        """Return the conversion with its table on a device."""
        return self if self.table is None else Keys(self.dtype, device.asarray(self.table))

    def of(self, weights: Array | None, m: int, device: devices.Device) -> Array:
        """Return the keys of m weights on their device; those of int32 are the weights themselves."""
        if weights is None:
            return device.xp.zeros(m, np.int32)
        if self.dtype == np.int32:
            return weights
        at_a_time = WEIGHTS_AT_A_TIME[device.kind]
        with devices.allocating(f"keys of {m:,} weights", 4 * m + WORK_BYTES[device.kind] * min(m, at_a_time), device):
            keys = device.xp.empty(m, np.int32)
            for first in range(0, m, at_a_time):
                some = slice(first, first + at_a_time)
                keys[some] = self._of(weights[some], device)
        return keys

    def _of(self, weights: Array, device: devices.Device) -> Array:
        """Return the keys of some weights."""
        xp = device.xp
        if self.table is not None:
            return device.places(weights, self.table)
        if self.dtype == np.float32:
            bits = (weights + np.float32(0)).view(np.int32)  # -0.0 becomes 0.0
            return xp.where(bits < 0, bits ^ np.int32(0x7FFFFFFF), bits)
        return weights.astype(np.int32)

    def weights(self, keys: Array) -> Array:
        """Return the weights of some keys; for an unweighted graph, ones of int32."""
        xp = devices.of(keys).xp
        if self.dtype is None:
            return xp.ones(len(keys), np.int32)
        if self.table is not None:
            return devices.of(keys).asarray(self.table)[keys]
        if self.dtype == np.float32:
            return xp.where(keys < 0, keys ^ np.int32(0x7FFFFFFF), keys).view(np.float32)
        return keys.astype(self.dtype, copy=False)


def needs_table(dtype: np.dtype | None, extremes: tuple[float, float, bool]) -> bool:
    """Return whether weights need a table of the distinct ones: those of 64 bits that do not fit 32."""
    if dtype is None or dtype.itemsize == 4:
        return False
    least, most, whole = extremes
    return not (whole and -(2**31) <= least and most < 2**31)


def kept_names(dtype: np.dtype | None, directed: bool) -> tuple[str, ...]:
    """Return the names under which a graph keeps the keys of its weights, or its weights of int32, which are keys."""
    if dtype == np.int32:
        return ("weights", "csr.weights", "csc.weights") if directed else ("weights", "csr.weights")
    return (TABLE, *(f"{order}.keys" for order in orders_of(directed)))


def orders_of(directed: bool) -> tuple[str, ...]:
    """Return the orders in which the edges of a part are read."""
    return ("csr", "csc") if directed else ("csc",)


def keys_of(weights: Array | None, extremes: tuple[float, float, bool], comm: Communicator | None = None) -> Keys:
    """Return the conversion for some weights.

    Parameters
    ----------
    weights : array or None
        A shard's weights; None for an unweighted graph.
    extremes : tuple of (float, float, bool)
        The least and the greatest weight of the graph, and whether all are whole.
    comm : Communicator, optional
        Connects the shards, which all call this at the same time. By default there is one.
    """
    if weights is None:
        return Keys(None)
    dtype = np.dtype(weights.dtype)
    if not needs_table(dtype, extremes):
        return Keys(dtype)
    device, own = devices.of(weights), _distinct(weights)
    if comm is None or comm.size == 1:
        return Keys(dtype, own)
    xp = device.xp
    counts = xp.zeros(comm.size, np.int64)
    counts[comm.rank] = len(own)
    comm.allgather(counts, tuple((shard, shard + 1) for shard in range(comm.size)))
    bounds = tuple(itertools.pairwise([0, *devices.to_host(counts).cumsum().tolist()]))
    with devices.allocating(f"gathering {bounds[-1][1]:,} weights", 8 * bounds[-1][1], device):
        whole = xp.empty(bounds[-1][1], dtype)
    whole[slice(*bounds[comm.rank])] = own
    comm.allgather(whole, bounds)
    return Keys(dtype, _distinct(whole))


def _distinct(weights: Array) -> Array:
    """Return the distinct weights, ascending."""
    device = devices.of(weights)
    # A sorted copy, marks of the distinct weights, and these.
    with devices.allocating(f"sorting {len(weights):,} weights", 17 * len(weights), device):
        return distinct(weights, device.xp)
