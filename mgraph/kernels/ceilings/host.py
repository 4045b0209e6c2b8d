"""The kernels of ``kernels/ceilings.cu`` for the CPU: the same operations on the same arrays, on all cores.

LLVM vectorises the sums and minima. A core's values fit its first-level cache. They are independent, so that the core's
units stay busy although each value is read and written once per round.
"""

import numpy as np

from ...device.numba import numba, prange
from ...device.numba.atomics import fetch_and_add
from ...device.numba.caching import njit

_NEAR = 1 << 14  # bytes of the values that a core works on at a time
_LINE = 64  # bytes of a cache line
_READS = 1 << 14  # reads that a core takes at a time,
_COPIED = 1 << 18  # and elements of a copy

_SHIFT = np.uint32(16), np.uint32(13)
_FACTOR = np.uint32(0x85EBCA6B), np.uint32(0xC2B2AE35)


def values(xp, dtype):
    """Return values from 0 to 99, as many as fit the cores' first-level caches, aligned to a cache line."""
    size = np.dtype(dtype).itemsize
    count = numba.get_num_threads() * _NEAR // size
    room = xp.empty(count + _LINE // size, dtype)
    first = -room.ctypes.data % _LINE // size  # vectors across two lines take a quarter longer
    room[first : first + count] = xp.arange(count) % 100
    return room[first : first + count]


@njit(inline="always")
def _sum(value, step):
    """Return value + step in the type of the value."""
    return type(value)(value + step)


@njit(inline="always")
def _least(a, b):
    return a if a < b else b


@njit(nogil=True, cache=True)
def _relax(values, first, second, limit):
    for i in range(len(values)):
        value = _least(_sum(values[i], first), limit)
        values[i] = _least(_sum(value, second), limit)


@njit(nogil=True, cache=True)
def _relax_by_both(values, first, second, limit):
    for i in range(len(values)):
        value = values[i]
        values[i] = _least(_least(_sum(value, first), limit), _sum(value, second))


@njit(parallel=True, nogil=True, cache=True)
def relaxations(values, first, second, limit, rounds, nonnegative):
    near = _NEAR // values.itemsize
    for part in prange((len(values) + near - 1) // near):
        own = values[part * near : (part + 1) * near]
        for _ in range(rounds):
            if nonnegative:
                _relax_by_both(own, first, second, limit)
            else:
                _relax(own, first, second, limit)


@njit(inline="always")
def _hash(number):
    """Return the MurmurHash3 finaliser of the low 32 bits of a number."""
    x = np.uint32(number)
    x = np.uint32((x ^ (x >> _SHIFT[0])) * _FACTOR[0])
    x = np.uint32((x ^ (x >> _SHIFT[1])) * _FACTOR[1])
    return x ^ (x >> _SHIFT[0])


@njit(parallel=True, nogil=True, cache=True)
def reads(table, count, total):
    mask = np.uint32(len(table) - 1)
    for part in prange((count + _READS - 1) // _READS):
        own = np.uint32(0)
        for number in range(part * _READS, min(count, (part + 1) * _READS)):
            own = np.uint32(own + table[_hash(number) & mask])
        fetch_and_add(total, 0, own)


@njit(parallel=True, nogil=True, cache=True)
def copy(target, source):
    for part in prange((len(source) + _COPIED - 1) // _COPIED):
        for i in range(part * _COPIED, min(len(source), (part + 1) * _COPIED)):
            target[i] = source[i]
