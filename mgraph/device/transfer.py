"""Copies of arrays from a device to the host, and small arrays of zeros on a device."""

import functools
import itertools
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from .. import limits
from .base import Array, Device
from .cuda import cuda_device, is_cupy


def to_host(array: Array) -> np.ndarray:
    """Return `array` as a NumPy array; without a copy if it is one already."""
    if not is_cupy(array):
        return np.asarray(array)
    if array.ndim == 2 and _LARGE < array.nbytes and rows_can_be_copied(array):
        result = np.empty(array.shape, array.dtype)
        for carried in carry_home(cuda_device(array.device.id), array, result):
            carried.result()
        return result
    if array.ndim < 2 or array.flags.c_contiguous:
        return array.get()
    # A padded matrix is copied by blocks of rows, as get() would first copy all of it on the device.
    result = np.empty(array.shape, array.dtype)
    rows = max(1, (1 << 22) // max(1, array.shape[1] * array.itemsize))
    for first in range(0, array.shape[0], rows):
        result[first : first + rows] = array[first : first + rows].get()
    return result


def rows_can_be_copied(array: Array) -> bool:
    """Return whether each row of a matrix is contiguous, and rows do not overlap."""
    return bool(array.strides[1] == array.itemsize and array.shape[1] * array.itemsize <= array.strides[0])


def carry_home(device: Device, source: Array, target: np.ndarray) -> list[Future[None]]:
    """Begin to copy a matrix from a device to the host, through page-locked memory and with several threads.

    In a direct copy one thread writes to every page of a new array for the first time: 2.4 GB/s on a machine where 16
    threads reach 39 GB/s (benchmarks/NOTES.md). To page-locked memory the device copies by itself.

    Parameters
    ----------
    device : Device
        Where `source` lives. The copy waits for the work of its current stream so far.
    source, target : array of two dimensions
        They have equal shape and type, and contiguous rows, which may be padded.

    Returns
    -------
    list of Future
        Wait for all of these before you write to `source` or read `target`.
    """
    with device.active():
        ready = device.current_stream().record()
    if device.page_locked(target):
        return [_CARRIERS.submit(_carry_directly, device, ready, source, target)]
    parts = max(1, min(len(source), CARRIERS, source.size * source.itemsize // _LEAST))
    cuts = np.linspace(0, len(source), parts + 1).astype(int).tolist()
    return [
        _CARRIERS.submit(carry, device, ready, source[top:bottom], target[top:bottom])
        for top, bottom in itertools.pairwise(cuts)
    ]


def carry(device: Device, ready: Any, source: Array, target: np.ndarray) -> None:
    """Copy rows to the host after the event `ready`, part by part."""
    for place, part in staged_parts(device, ready, source):
        np.copyto(target[place], part)


def _carry_directly(device: Device, ready: Any, source: Array, target: np.ndarray) -> None:
    """Copy a matrix to page-locked memory, after the event `ready`."""
    stream = _stream(device, threading.get_ident())
    with device.active(), stream:
        stream.wait_event(ready)
        device.copy(target, source)
        stream.synchronize()


def staged_parts(device: Device, ready: Any, source: Array) -> Iterator[tuple[tuple[slice, slice], np.ndarray]]:
    """Yield the parts of a matrix on the host, in the order of its elements, after the event `ready`.

    They come through this thread's own stream and page-locked buffer.

    Yields
    ------
    tuple
        Where the part lies in the matrix, and its elements, which the next part overwrites.
    """
    ready.synchronize()
    stream, buffer = staging(device, threading.get_ident())
    room = len(buffer) // source.itemsize
    columns = max(1, min(room, source.shape[1]))
    rows = room // columns
    for top in range(0, len(source), rows):
        for left in range(0, source.shape[1], columns):
            place = np.s_[top : top + rows, left : left + columns]
            with device.active(), stream:
                part = source[place]  # which may gather elements on the device
                staged = buffer[: part.size * part.itemsize].view(part.dtype).reshape(part.shape)
                device.copy(staged, part)
                stream.synchronize()
            yield place, staged


#: Threads that copy rows to the host: while some wait for the device, others write to the host's pages.
CARRIERS = min(16, limits.cores())


_CARRIERS = ThreadPoolExecutor(CARRIERS, "mgraph-carrier")


#: Bytes of each thread's page-locked buffer, the fewest bytes for each thread, and the size in bytes above which
#: `to_host` uses the threads.
_STAGED, _LEAST, _LARGE = 1 << 23, 1 << 18, 1 << 25


@functools.cache
def staging(device: Device, thread: int) -> tuple[Any, np.ndarray]:
    """Return the stream and the page-locked buffer of a copying thread; made once for each thread and device."""
    with device.active():
        return _stream(device, thread), device.pinned((_STAGED,), np.uint8)


@functools.cache
def _stream(device: Device, thread: int) -> Any:
    """Return the stream of a copying thread."""
    return device.stream()


def zeroed(xp: Any, *counts: int) -> tuple[Array, ...]:
    """Return arrays of int32 zeros, with `counts` elements each; they are parts of one array, cleared once."""
    ends = list(itertools.accumulate(counts))
    words = xp.zeros(ends[-1], np.int32)
    return tuple(words[end - count : end] for count, end in zip(counts, ends, strict=True))
