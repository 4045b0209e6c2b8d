"""Large copies between the host and a device: by pieces, through page-locked buffers, with several threads.

A device reads and writes page-locked memory at the speed of its bus. To and from ordinary memory it copies through a
small page-locked buffer of the driver, which one thread of the host empties or fills: 6 to 10 GB/s, and 2.4 where it
writes to the pages of new memory for the first time. Sixteen threads reach 29 GB/s to new pages and 45 to others
(benchmarks/NOTES.md). So each of some threads has a page-locked buffer and a stream. A thread takes the next piece of
the array, and while it waits for the bus, others write to the host's memory or read it. A piece crosses the bus in a
tenth of the time that a thread takes to write it, so a thread does not need a second buffer.
"""

import functools
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from .. import limits
from .base import Array, Device

#: Threads that copy.
COPIERS = min(16, limits.cores())

_THREADS = ThreadPoolExecutor(COPIERS, "mgraph-copier")

#: The fewest bytes of an array that is copied with threads. The C library's allocator takes smaller ones from memory
#: that it has had before, to which one thread copies as fast.
_LARGE = 1 << 25

#: The fewest bytes of a piece, and the most: those of a thread's page-locked buffer. For each piece a thread takes the
#: interpreter some times, and others wait: pieces of 1 MiB take twice as long as those of 4.
_LEAST, _STAGED = 1 << 22, 1 << 23

#: Rows and columns of a matrix.
Place = tuple[slice, slice]


def copied_by_pieces(array: Array) -> bool:
    """Return whether it is worth while, and possible, to copy an array by `copies_to_host` or `copies_to_device`."""
    return array.nbytes >= _LARGE and bool(array.flags.c_contiguous or (array.ndim == 2 and rows_can_be_copied(array)))


def rows_can_be_copied(array: Array) -> bool:
    """Return whether each row of a matrix is contiguous, and rows do not overlap."""
    return bool(array.strides[1] == array.itemsize and array.shape[1] * array.itemsize <= array.strides[0])


def copies_to_host(device: Device, target: np.ndarray, source: Array) -> list[Future[None]]:
    """Begin to copy an array from a device to the host.

    Parameters
    ----------
    device : Device
        Where `source` lives. The copy waits for the work of its current stream so far.
    target, source : array
        They have equal shape and type. Both are contiguous, or matrices with contiguous rows, which may be padded.

    Returns
    -------
    list of Future
        Wait for all of these before you write to `source` or read `target`.
    """
    return _copies(device, target, source, target, _receive)


def copies_to_device(device: Device, target: Array, source: np.ndarray) -> list[Future[None]]:
    """Begin to copy an array from the host to a device, after the work of its current stream so far.

    Parameters and result are those of `copies_to_host`, but for the direction: wait before you write to `source` or
    use `target`.
    """
    return _copies(device, target, source, source, _send)


def fill(device: Device, target: Array, source: np.ndarray) -> None:
    """Copy a matrix from the host to one with contiguous rows on a device; a large one with several threads."""
    if device.kind == "cpu" or not copied_by_pieces(source):
        device.copy(target, source)
        return
    for copy in copies_to_device(device, target, source):
        copy.result()


def _copies(
    device: Device, target: Array, source: Array, on_host: np.ndarray, copy: Callable[..., None]
) -> list[Future[None]]:
    """Begin to copy an array with as many threads as are worth while; those that share its pieces run `copy`."""
    with device.active():
        ready = device.current_stream().record()
    if source.flags.c_contiguous and target.flags.c_contiguous:
        target, source = target.reshape(1, -1), source.reshape(1, -1)
    if device.page_locked(on_host):
        return [_THREADS.submit(_copy_directly, device, ready, target, source)]
    size = min(_STAGED, max(_LEAST, source.nbytes // COPIERS))
    places = _places(source.shape, size // source.itemsize)
    shared = iter(places)  # of a list: threads may take from it at the same time
    count = min(COPIERS, len(places))
    return [_THREADS.submit(copy, device, ready, shared, target, source) for _ in range(count)]


def _places(shape: tuple[int, ...], most: int) -> list[Place]:
    """Return parts that cover a matrix in the order of its elements, with at most so many elements each."""
    rows, columns = shape
    wide = -(-columns // max(1, -(-columns // most)))
    high = max(1, most // max(1, wide))
    return [
        np.s_[top : top + high, left : left + wide]
        for top in range(0, rows, high)
        for left in range(0, columns, max(1, wide))
    ]


def _receive(device: Device, ready: Any, places: Iterable[Place], target: np.ndarray, source: Array) -> None:
    """Copy pieces to the host, after the event `ready`."""
    stream, buffer = staging(device, threading.get_ident())
    with device.active(), stream:
        stream.wait_event(ready)
        for place in places:
            part = source[place]
            staged = _room(buffer, part)
            device.copy(staged, part)
            stream.synchronize()
            np.copyto(target[place], staged)


def _send(device: Device, ready: Any, places: Iterable[Place], target: Array, source: np.ndarray) -> None:
    """Copy pieces to the device, after the event `ready`."""
    stream, buffer = staging(device, threading.get_ident())
    with device.active(), stream:
        stream.wait_event(ready)
        for place in places:
            part = target[place]
            staged = _room(buffer, part)
            np.copyto(staged, source[place])
            device.copy(part, staged)
            stream.synchronize()


def _copy_directly(device: Device, ready: Any, target: Array, source: Array) -> None:
    """Copy an array to or from page-locked memory, after the event `ready`."""
    stream = _stream(device, threading.get_ident())
    with device.active(), stream:
        stream.wait_event(ready)
        device.copy(target, source)
        stream.synchronize()


def staged_parts(device: Device, ready: Any, source: Array) -> Iterator[np.ndarray]:
    """Yield the parts of a matrix on the host, in the order of its elements, after the event `ready`.

    They come through this thread's own stream and page-locked buffer: the next part overwrites one.
    """
    stream, buffer = staging(device, threading.get_ident())
    stream.wait_event(ready)
    for place in _places(source.shape, len(buffer) // source.itemsize):
        with device.active(), stream:
            part = source[place]
            staged = _room(buffer, part)
            device.copy(staged, part)
            stream.synchronize()
        yield staged


def _room(buffer: np.ndarray, part: Array) -> np.ndarray:
    """Return the beginning of a buffer as an array like `part`."""
    return np.ndarray(part.shape, part.dtype, buffer)


@functools.cache
def staging(device: Device, thread: int) -> tuple[Any, np.ndarray]:
    """Return the stream and the page-locked buffer of a copying thread; made once for each thread and device."""
    with device.active():
        return _stream(device, thread), device.pinned((_STAGED,), np.uint8)


@functools.cache
def _stream(device: Device, thread: int) -> Any:
    """Return the stream of a copying thread."""
    return device.stream()
