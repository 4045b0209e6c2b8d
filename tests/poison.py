"""Poisoned memory: new arrays are full of a byte, so that a result that depends on what nobody wrote is wrong.

Fresh memory is mostly zero, which hides such faults. `start` poisons arrays of NumPy, CuPy's pool and page-locked
memory in this process. What compiled code allocates by itself is poisoned by the C library, in a process that is
started with `environment`; `python -m tests.poison BYTE FEW` in such a process verifies so many samples of each method.
"""

import contextlib
import ctypes
import functools
import os
import sys
from itertools import islice

import numpy as np
import pytest

from mgraph import device as devices
from mgraph.algorithms.registry import ALGORITHMS
from mgraph.device import copying, cuda
from mgraph.device.numba import numba

#: Two bytes, as a result may happen to be right with one: small positive numbers of floats, and large negative numbers.
BYTES = 0x01, 0xFE

_patches = pytest.MonkeyPatch()
_byte = BYTES[0]


def _filled(array):
    """Fill a new array, unless it holds objects of Python."""
    if not array.dtype.hasobject:
        ctypes.memset(array.ctypes.data, _byte, array.nbytes)
    return array


def _filling(make):
    """Return a function that makes arrays on the host, and fills them."""

    @functools.wraps(make)
    def made(*arguments, **options):
        return _filled(make(*arguments, **options))

    return made


_EMPTY, _EMPTY_LIKE = np.empty, np.empty_like
_poisoned_empty, _poisoned_empty_like = _filling(_EMPTY), _filling(_EMPTY_LIKE)


@numba.extending.overload(_poisoned_empty)
def _compiled_empty(shape, dtype=np.float64):
    """Let Numba compile kernels, which it may keep on disk, as it does without poison."""
    return lambda shape, dtype=np.float64: _EMPTY(shape, dtype)


@numba.extending.overload(_poisoned_empty_like)
def _compiled_empty_like(array):
    return lambda array: _EMPTY_LIKE(array)


def start(byte):
    """Fill all new memory of this process with a byte, until `stop`."""
    global _byte
    _byte = byte
    _patches.setattr(np, "empty", _poisoned_empty)
    _patches.setattr(np, "empty_like", _poisoned_empty_like)
    if devices.gpu_count():
        _start_on_gpus()


def _start_on_gpus():
    cupy = cuda.cupy()
    pool, pinned, staging = cupy.get_default_memory_pool(), cuda.CudaDevice.pinned, copying.staging

    def allocate(size):
        memory = pool.malloc(size)
        if size:
            memory.memset_async(_byte, size)
            cupy.cuda.get_current_stream().synchronize()  # another stream may be the first to write
        return memory

    def staged(device, thread):
        stream, buffer = staging(device, thread)
        return stream, _filled(buffer)

    cupy.cuda.set_allocator(allocate)
    _patches.setattr(cuda.CudaDevice, "pinned", lambda self, shape, dtype: _filled(pinned(self, shape, dtype)))
    _patches.setattr(copying, "staging", staged)


def stop():
    """Let new memory be as it comes."""
    _patches.undo()
    if devices.gpu_count():
        cupy = cuda.cupy()
        cupy.cuda.set_allocator(cupy.get_default_memory_pool().malloc)


@contextlib.contextmanager
def poisoned(byte):
    """Fill all memory that is allocated in the block with a byte."""
    start(byte)
    try:
        yield
    finally:
        stop()


def environment(byte):
    """Return the variables of a process whose C library fills memory with a byte: small pieces, too, and again."""
    # It takes the complement; and what a thread keeps of the last pieces that it freed would come as they are.
    tunables = f"glibc.malloc.perturb={byte ^ 0xFF}:glibc.malloc.tcache_count=0"
    return os.environ | {"GLIBC_TUNABLES": tunables}


@numba.njit
def _compiled_sum(size):
    return np.empty(size, np.uint8).sum()


def main():
    """Verify samples of every algorithm and method in memory that is full of a byte."""
    byte, few = map(int, sys.argv[1:])
    for size in (24, 5000, 5000, 1 << 20):
        assert _compiled_sum(size) == size * byte, "the C library does not fill memory"
    with poisoned(byte):
        for name, entry in ALGORITHMS.items():
            for method in entry.methods or ("auto",):
                for sample in islice(entry.samples(method), few):
                    print(name, method, flush=True)
                    entry.check(sample.given, entry.arrays(entry.run(sample, method, "cpu")), sample.start)


if __name__ == "__main__":
    main()
