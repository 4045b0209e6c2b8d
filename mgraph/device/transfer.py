"""Arrays of a device on the host, and small arrays of zeros on a device."""

import itertools
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

import numpy as np

from .base import Array, Device
from .copying import copied_by_pieces, copies_to_host
from .cuda import cuda_device, is_cupy


def to_host(array: Array) -> np.ndarray:
    """Return `array` as a NumPy array; without a copy if it is one already."""
    if type(array) is np.ndarray:
        return array
    result, copies = _begun(array)
    for copy in copies:
        copy.result()
    return result


def all_on(device: Device, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Return arrays, by name, as arrays of a device; large ones are copied to the host at the same time."""
    if device.kind != "cpu":
        return {name: device.asarray(array) for name, array in arrays.items()}
    if set(map(type, arrays.values())) <= {np.ndarray}:
        return dict(arrays)
    begun = {name: _begun(array) for name, array in arrays.items()}
    for copy in itertools.chain.from_iterable(copies for _, copies in begun.values()):
        copy.result()
    return {name: result for name, (result, _) in begun.items()}


def _begun(array: Array) -> tuple[np.ndarray, list[Future[None]]]:
    """Return an array on the host, and the copies to wait for before it is read."""
    if not is_cupy(array):
        return np.asarray(array), []
    if copied_by_pieces(array):
        result = np.empty(array.shape, array.dtype)
        return result, copies_to_host(cuda_device(array.device.id), result, array)
    if array.ndim < 2 or array.flags.c_contiguous:
        return array.get(), []
    # A padded matrix is copied by blocks of rows, as get() would first copy all of it on the device.
    result = np.empty(array.shape, array.dtype)
    rows = max(1, (1 << 22) // max(1, array.shape[1] * array.itemsize))
    for first in range(0, array.shape[0], rows):
        result[first : first + rows] = array[first : first + rows].get()
    return result, []


def zeroed(xp: Any, *counts: int) -> tuple[Array, ...]:
    """Return arrays of int32 zeros, with `counts` elements each; they are parts of one array, cleared once."""
    bounds = list(itertools.accumulate(counts, initial=0))
    words = xp.zeros(bounds[-1], np.int32)
    return tuple(map(words.__getitem__, map(slice, bounds, bounds[1:])))
