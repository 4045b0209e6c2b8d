"""Blocks of a matrix that are turned in registers: the same elements as one by one."""

import numpy as np
import pytest

from mgraph.device.numba.caching import njit
from mgraph.device.numba.turning import BLOCK, write_turned


@njit()
def turn(rows, at, j, lane, limit, instead, D, order):
    write_turned(rows, at, j, lane, limit, instead, D, order)


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64])
def test_a_block_is_turned(dtype):
    random, side = np.random.default_rng(1), BLOCK // np.dtype(dtype).itemsize
    rows = random.permutation(40 * 50).reshape(40, 50).astype(dtype)
    at, order = random.integers(0, 40, 60).astype(np.int32), random.permutation(50)
    for j, lane in ((0, 0), (3, 5), (60 - side, 50 - side)):
        D = np.full((50, 61), -1, dtype)
        turn(rows, at, j, lane, dtype(1500), dtype(9999), D, order)
        wanted = np.full((50, 61), -1, dtype)
        block = rows[np.ix_(at[j : j + side], np.arange(lane, lane + side))]
        wanted[np.ix_(order[lane : lane + side], np.arange(j, j + side))] = np.where(block <= 1500, block, 9999).T
        assert np.array_equal(D, wanted)


def test_what_is_infinite_or_negative_zero_stays_as_it_is():
    rows = np.full((16, 16), np.inf, np.float32)
    rows[3, 4] = -0.0
    D = np.zeros((16, 16), np.float32)
    turn(rows, np.arange(16, dtype=np.int32), 0, 0, np.float32(np.inf), np.float32(7), D, np.arange(16))
    assert np.array_equal(D, rows.T) and np.signbit(D[4, 3])
