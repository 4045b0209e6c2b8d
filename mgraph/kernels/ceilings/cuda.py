"""Launches of the kernels of ``kernels/ceilings.cu``: the operations of `mgraph.kernels.ceilings.host`."""

from typing import Any

import numpy as np

from ...arrays import Array
from ...device import cuda_attribute, cuda_function

SOURCE = "ceilings.cu"
_TYPES = {
    np.dtype(np.float32): "float",
    np.dtype(np.float64): "double",
    np.dtype(np.int32): "int",
    np.dtype(np.int16): "Pair",
}
INSTANCES = (*(f"relaxations<{t}, false>" for t in _TYPES.values()), "relaxations<float, true>", "reads")

# As in the source.
_THREADS, _RESIDENT, _HELD, _READERS = 256, 4, 16, 8


def values(xp: Any, dtype: Any) -> Array:
    """Return values from 0 to 99, as many as fill the device."""
    words = _THREADS * _RESIDENT * _HELD * cuda_attribute("MultiProcessorCount")
    return (xp.arange(words * (2 if np.dtype(dtype) == np.int16 else 1)) % 100).astype(dtype)


def relaxations(values: Array, first: Any, second: Any, limit: Any, rounds: int, nonnegative: bool) -> None:
    if not len(values):
        return
    word = 2 if values.dtype == np.int16 else 1
    words = len(values) // word
    scalars = (np.array([scalar] * word, values.dtype) for scalar in (first, second, limit))
    kernel = cuda_function(SOURCE, f"relaxations<{_TYPES[values.dtype]}, {str(nonnegative).lower()}>")
    arguments = (
        values,
        np.int64(words),
        *(scalar.view(np.uint32)[0] if word == 2 else scalar[0] for scalar in scalars),
        np.int32(rounds),
    )
    kernel((-(-words // (_THREADS * _HELD)),), (_THREADS,), arguments)


def reads(table: Array, count: int, total: Array) -> None:
    blocks = min(_READERS * cuda_attribute("MultiProcessorCount"), -(-count // _THREADS))
    if blocks:
        arguments = table, np.uint32(len(table) - 1), np.int64(count), total
        cuda_function(SOURCE, "reads")((blocks,), (_THREADS,), arguments)


def copy(target: Array, source: Array) -> None:
    target.data.copy_from_device_async(source.data, source.nbytes)
