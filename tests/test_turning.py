"""Blocks of a matrix that are turned in registers: the same elements as one by one."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numba.core.errors import TypingError

from mgraph.device.numba.caching import njit
from mgraph.device.numba.transpose import BLOCK, write_transposed


@njit()
def turn(rows, at, j, lane, limit, instead, D, order):
    write_transposed(rows, at, j, lane, limit, instead, D, order)


def test_a_block_of_float64_is_rounded_to_float32():
    random, side = np.random.default_rng(1), BLOCK // 8
    rows, D = random.random((side, side)), np.zeros((side, side), np.float32)
    rows[1, 2], rows[2, 1] = 1e300, 1 + 2.0**-24  # beyond the greatest float32, and half a unit to the even one
    turn(rows, np.arange(side, dtype=np.int32), 0, 0, np.inf, np.inf, D, np.arange(side))
    with np.errstate(over="ignore"):
        assert np.array_equal(D, rows.T.astype(np.float32)) and D[2, 1] == np.inf and D[1, 2] == 1


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
    side = BLOCK // 4
    rows = np.full((side, side), np.inf, np.float32)
    rows[3, 4] = -0.0
    D = np.zeros((side, side), np.float32)
    turn(rows, np.arange(side, dtype=np.int32), 0, 0, np.float32(np.inf), np.float32(7), D, np.arange(side))
    assert np.array_equal(D, rows.T) and np.signbit(D[4, 3])


@pytest.mark.parametrize(
    "change",
    [
        {"rows": np.zeros((16, 16), np.int32, order="F")},
        {"D": np.zeros((16, 32), np.int32)[:, ::2]},
        {"D": np.zeros((16, 16), np.float32)},
        {"at": np.arange(16, dtype=np.uint8)},
        {"order": np.arange(16.0)},
    ],
    ids=["order", "strides", "type", "sign", "numbers"],
)
def test_what_it_does_not_take_is_refused_when_it_is_compiled(change):
    taken = {"rows": np.zeros((16, 16), np.int32), "D": np.zeros((16, 16), np.int32)}
    taken |= {"at": np.arange(16, dtype=np.int32), "order": np.arange(16)} | change
    with pytest.raises(TypingError, match="write_transposed takes"):
        turn(taken["rows"], taken["at"], 0, 0, np.int32(1), np.int32(2), taken["D"], taken["order"])


def test_other_processors_turn_the_same(tmp_path):
    given = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": str(tmp_path)}
    code = "import test_turning as t; [t.test_a_block_is_turned(d) for d in (t.np.int32, t.np.float32, t.np.float64)]"
    subprocess.run([sys.executable, "-c", code], env=os.environ | given, cwd=os.path.dirname(__file__), check=True)
