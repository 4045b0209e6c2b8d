"""Arrays come home from a device as they were, by whatever way."""

import numpy as np
import pytest

from mgraph import device as devices


@pytest.fixture(autouse=True)
def small_buffers(monkeypatch):
    """Let a matrix of some kilobytes take the way of large ones."""
    monkeypatch.setattr(devices, "_STAGED", 4096)
    devices._staging.cache_clear()
    yield
    devices._staging.cache_clear()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int16, np.uint32])
@pytest.mark.parametrize("shape", [(1, 3), (7, 100), (333, 17), (100, 256), (5, 512)])
def test_rows_are_carried_home(shape, dtype):
    source = np.random.default_rng(1).integers(0, 100, (shape[0], shape[1] + 3)).astype(dtype)[:, : shape[1]]
    target = np.full(shape, 77, dtype)
    devices.carry_home(devices.find("cpu"), source, target)
    assert np.array_equal(target, source)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int16, np.uint32])
def test_every_part_of_a_matrix_comes_home(dtype):
    xp = devices.find("cuda").xp
    whole = np.random.default_rng(2).integers(0, 100, (300, 400)).astype(dtype)
    there = xp.asarray(whole)
    for part in (
        np.s_[:],
        np.s_[:, :399],
        np.s_[7:250, 8:100],
        np.s_[::-1],
        np.s_[::3, ::2],
        np.s_[:, ::-1],
        np.s_[:0],
        np.s_[:, :0],
        np.s_[5],
        np.s_[:, 5],
        np.s_[5:6],
    ):
        assert np.array_equal(devices.to_host(there[part]), whole[part])
    assert np.array_equal(devices.to_host(there.T), whole.T)


def test_what_can_be_copied_row_by_row():
    whole = np.zeros((30, 40), np.int32)
    assert all(map(devices._rows_can_be_copied, (whole, whole[:, :39], whole[3:9, 8:10], whole[::2])))
    assert not any(map(devices._rows_can_be_copied, (whole.T, whole[::-1], whole[:, ::2], np.zeros((2, 2000)))))
