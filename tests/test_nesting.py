"""Kernels that other kernels call are compiled as parts of these, and those that Python calls as a whole."""

import numpy as np
import pytest

from mgraph.device.numba import prange
from mgraph.device.numba.caching import njit


@njit(nogil=True)
def twice(x):
    return x + x


@njit(nogil=True)
def checked(x):
    if x < 0:
        raise ValueError("negative")
    return twice(x)


@njit(nogil=True)
def summed(numbers):
    total = 0
    for x in numbers:
        total += checked(x)
    return total


@njit(parallel=True, nogil=True)
def doubled(numbers):
    for i in prange(len(numbers)):
        numbers[i] = twice(numbers[i])


def test_a_part_has_no_code_that_python_could_call_until_python_calls_it():
    assert summed(np.arange(4)) == 12
    assert len(summed.overloads) == 1 and not checked.overloads and not twice.overloads
    assert checked(3) == 6 and twice(2.5) == 5
    assert len(checked.overloads) == len(twice.overloads) == 1


def test_an_error_in_a_part_reaches_python():
    for numbers in (np.array([1, -1]), np.array([1, -1], np.int32)):
        with pytest.raises(ValueError, match="negative"):
            summed(numbers)


def test_a_part_of_a_parallel_loop():
    numbers = np.arange(1000)
    doubled(numbers)
    assert np.array_equal(numbers, 2 * np.arange(1000))
