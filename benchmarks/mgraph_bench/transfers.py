"""Rates of copies to and from a GPU, by the kind of memory at the other end.

Pageable memory is what NumPy allocates: the driver copies it through buffers of its own. Page-locked memory is read and
written by the GPU itself. Managed memory moves page by page when a kernel first touches it, or before, if it is
prefetched. A peer is another GPU of the host. The driver copies its memory, and is not told to reach it directly.
"""

import ctypes
import functools
from collections.abc import Callable, Iterator

import numpy as np

from mgraph import device as devices
from mgraph.measuring import REPEATS

#: A kind of memory and a direction, what prepares a copy, and the copy.
Transfer = tuple[str, Callable[[], object], Callable[[], object]]


def rates(device: devices.CudaDevice, size: int) -> dict[str, float]:
    """Return bytes a second by the kind of memory and the direction.

    Parameters
    ----------
    device : CudaDevice
        The GPU at one end.
    size : int
        Bytes of a copy, a multiple of 4. As much managed memory is allocated.

    Returns
    -------
    dict of str to float
        ``"pageable up"``, ``"pageable down"``, ``"page-locked up"``, ``"page-locked down"``, ``"managed touched"``,
        ``"managed prefetched"``; ``"peer"`` if there is another GPU that could be reached.
    """
    with device.active():
        own = device.xp.full((1, size // 4), 7, np.uint32)
        every = [*_with_host(device, own), *_with_managed(device, own), *_with_peer(device, own)]
        return {name: size / _seconds(device, prepare, copy) for name, prepare, copy in every}


def _seconds(device: devices.CudaDevice, prepare: Callable[[], object], copy: Callable[[], object]) -> float:
    """Return the least time of a copy: other processes can only add to it."""
    times = []
    for _ in range(REPEATS):
        prepare()
        device.synchronize()
        start = device.mark()
        copy()
        times.append(device.seconds_between(start, device.mark()))
    return min(times)


def _with_host(device: devices.CudaDevice, own: devices.Array) -> Iterator[Transfer]:
    hosts = {"pageable": np.empty(own.shape, own.dtype), "page-locked": device.pinned(own.shape, own.dtype)}
    for name, host in hosts.items():
        host[:] = 3
        yield f"{name} up", device.synchronize, functools.partial(device.copy, own, host)
        yield f"{name} down", device.synchronize, functools.partial(device.copy, host, own)


def _with_managed(device: devices.CudaDevice, own: devices.Array) -> Iterator[Transfer]:
    """Yield the ways of managed memory to the device; the host writes all of it before each."""
    cuda = device.xp.cuda
    memory = cuda.malloc_managed(own.nbytes)
    managed = device.xp.ndarray(own.shape, own.dtype, memory)
    at_host = np.ctypeslib.as_array((ctypes.c_uint32 * own.size).from_address(memory.ptr))
    where = own.nbytes, device.index, cuda.get_current_stream().ptr

    def write() -> None:
        device.synchronize()  # a page is moved for one side at a time
        at_host[:] = 9

    yield "managed touched", write, lambda: device.xp.invert(managed, out=own)
    yield "managed prefetched", write, lambda: cuda.runtime.memPrefetchAsync(memory.ptr, *where)


def _with_peer(device: devices.CudaDevice, own: devices.Array) -> Iterator[Transfer]:
    can = device.xp.cuda.runtime.deviceCanAccessPeer
    others = (index for index in range(devices.gpu_count()) if index != device.index and can(device.index, index))
    for index in list(others)[:1]:
        with device.xp.cuda.Device(index):
            other = device.xp.full(own.shape, 5, own.dtype)
        yield "peer", device.synchronize, functools.partial(device.copy, own, other)
