"""Arrays on their way between a device and the host, and small ones made on a device."""

import functools
import itertools
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from .. import limits
from .base import Array, Device
from .cuda import cuda_device, is_cupy


def to_host(array: Array) -> np.ndarray:
    """Return `array` as a NumPy array, without a copy where it is one."""
    if not is_cupy(array):
        return np.asarray(array)
    if array.ndim == 2 and _LARGE < array.nbytes and _rows_can_be_copied(array):
        result = np.empty(array.shape, array.dtype)
        for carried in carry_home(cuda_device(array.device.id), array, result):
            carried.result()
        return result
    if array.ndim < 2 or array.flags.c_contiguous:
        return array.get()
    # A padded matrix row block by row block: get() would first copy all of it on the device.
    result = np.empty(array.shape, array.dtype)
    rows = max(1, (1 << 22) // max(1, array.shape[1] * array.itemsize))
    for first in range(0, array.shape[0], rows):
        result[first : first + rows] = array[first : first + rows].get()
    return result


def _rows_can_be_copied(array: Array) -> bool:
    """Whether the rows of a matrix lie one behind the other, each in one piece."""
    return bool(array.strides[1] == array.itemsize and array.shape[1] * array.itemsize <= array.strides[0])


def carry_home(device: Device, source: Array, target: np.ndarray) -> list[Future[None]]:
    """Begin to copy a matrix of a device to the host, through page-locked memory and by several threads.

    Copied directly, each page of a fresh array is made, and written to, by one thread: 2.4 GB/s on a machine
    where 16 threads reach 39 GB/s (benchmarks/NOTES.md).

    Parameters
    ----------
    device : Device
        Where `source` lives; the work of its current stream so far is waited for.
    source, target : array of two dimensions
        Of equal shape and type, with contiguous rows, which may be padded.

    Returns
    -------
    list of Future
        What to wait for before `source` is written to and `target` is read.
    """
    with device.active():
        ready = device.current_stream().record()
    parts = max(1, min(len(source), CARRIERS, source.size * source.itemsize // _LEAST))
    cuts = np.linspace(0, len(source), parts + 1).astype(int).tolist()
    return [
        _CARRIERS.submit(_carry, device, ready, source[top:bottom], target[top:bottom])
        for top, bottom in itertools.pairwise(cuts)
    ]


def _carry(device: Device, ready: Any, source: Array, target: np.ndarray) -> None:
    """Copy rows home that are `ready` by this thread's own stream and buffer, as much at a time as that holds."""
    ready.synchronize()
    stream, buffer = _staging(device, threading.get_ident())
    room = len(buffer) // source.itemsize
    columns = max(1, min(room, source.shape[1]))
    rows = room // columns
    with device.active(), stream:
        for top in range(0, len(source), rows):
            for left in range(0, source.shape[1], columns):
                piece = np.s_[top : top + rows, left : left + columns]
                part = source[piece]
                staged = buffer[: part.size * part.itemsize].view(part.dtype).reshape(part.shape)
                device.copy(staged, part)
                stream.synchronize()
                np.copyto(target[piece], staged)


#: Threads that carry rows home: while some wait for their copies, the others write to the host's pages.
CARRIERS = min(16, limits.cores())


_CARRIERS = ThreadPoolExecutor(CARRIERS, "mgraph-carrier")


#: Bytes of each one's page-locked buffer, bytes that are worth waking one for, and bytes of a matrix from which on it
#: is carried.
_STAGED, _LEAST, _LARGE = 1 << 22, 1 << 18, 1 << 25


@functools.cache
def _staging(device: Device, thread: int) -> tuple[Any, np.ndarray]:
    """Return the stream and the page-locked buffer of a thread that carries, which keeps them."""
    with device.active():
        return device.stream(), device.pinned((_STAGED,), np.uint8)


def zeroed(xp: Any, *counts: int) -> tuple[Array, ...]:
    """Return arrays of so many int32 zeros each: parts of one, which is cleared in one go."""
    ends = list(itertools.accumulate(counts))
    words = xp.zeros(ends[-1], np.int32)
    return tuple(words[end - count : end] for count, end in zip(counts, ends, strict=True))
