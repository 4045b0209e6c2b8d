"""Ceilings of a device: the measured kernels compute what they declare, and their figures are used correctly."""

import itertools
import math

import numpy as np
import pytest

from mgraph import device as devices
from mgraph.kernels import ceilings as ceilings_kernels
from mgraph.kernels import list_rank as list_rank_kernels
from mgraph_bench.ceilings import CEILINGS, ceilings

TYPES = {
    "float32": (np.float32, False),
    "nonnegative": (np.float32, True),
    "int32": (np.int32, False),
    "int16": (np.int16, False),
    "float64": (np.float64, False),
}


def relaxed(values, first, second, limit, rounds, nonnegative):
    for _ in range(rounds):
        if nonnegative:
            values = np.minimum(np.minimum(values + first, values + second), limit)
        else:
            values = np.minimum(np.minimum(values + first, limit) + second, limit)
    return values


@pytest.mark.parametrize("length", [0, 2, 9998, 70_000])
@pytest.mark.parametrize("rounds", [0, 1, 7, 64])
@pytest.mark.parametrize("name", TYPES)
def test_relaxations(hardware, name, rounds, length):
    dtype, nonnegative = TYPES[name]
    random = np.random.default_rng(5)
    values = (1000 * random.random(length)).astype(dtype)  # sums of floats round
    # Different steps make their order visible; some values reach the limit at once, others late or never.
    numbers = (7, 3.3, 1100) if nonnegative else (9, -7.7, 900)
    scalars = [dtype(number) for number in numbers]
    found = hardware.asarray(values.copy())
    ceilings_kernels.on(hardware).relaxations(found, *scalars, rounds, nonnegative)
    expected = relaxed(values, *scalars, rounds, nonnegative)
    assert expected.dtype == dtype
    assert np.array_equal(devices.to_host(found), expected)
    if rounds == 64 and length > 9000:
        assert 0 < np.count_nonzero(expected == expected.max()) < length


@pytest.mark.parametrize("count", [0, 1, 255, 16_385, 300_000])
@pytest.mark.parametrize("entries", [1, 64, 1 << 15])
def test_reads(hardware, entries, count):
    table = np.random.default_rng(6).integers(0, 1 << 32, entries, dtype=np.uint32)
    x = np.arange(count, dtype=np.uint32)
    x = (x ^ x >> 16) * np.uint32(0x85EBCA6B)
    x = (x ^ x >> 13) * np.uint32(0xC2B2AE35)
    places = (x ^ x >> 16) & np.uint32(entries - 1)
    total = hardware.asarray(np.array([17], np.uint32))
    ceilings_kernels.on(hardware).reads(hardware.asarray(table), count, total)
    assert int(total[0]) == (17 + int(table[places].sum(dtype=np.uint64))) % (1 << 32)
    if (entries, count) == (1 << 15, 300_000):  # Poisson's variance is its mean
        times = np.bincount(places, minlength=entries)
        assert 0.95 < times.var() / times.mean() < 1.05


@pytest.mark.parametrize("length", [0, 1, 1_000_003])
def test_copy(hardware, length):
    source = hardware.asarray(np.random.default_rng(7).integers(0, 1 << 32, length, dtype=np.uint32))
    target = hardware.xp.zeros_like(source)
    ceilings_kernels.on(hardware).copy(target, source)
    assert np.array_equal(devices.to_host(target), devices.to_host(source))


@pytest.mark.parametrize("dtype", [np.float32, np.int16])
def test_values(hardware, dtype):
    with hardware.active():
        values = devices.to_host(ceilings_kernels.on(hardware).values(hardware.xp, dtype))
    assert values.dtype == dtype and len(values) >= 1000 and len(values) % 2 == 0
    assert np.array_equal(values, np.arange(len(values)) % 100)


@pytest.mark.gpu
@pytest.mark.parametrize("name", TYPES)
def test_a_gpu_relaxes_as_its_twin(name):
    dtype, nonnegative = TYPES[name]
    gpu, cpu = devices.find("cuda"), devices.find("cpu")
    values = (np.random.default_rng(8).random(100_000) * 500).astype(dtype)
    scalars = [dtype(number) for number in (5, 2.5 if nonnegative else -4.9, 400)]
    found = gpu.asarray(values)
    for device, array in ((gpu, found), (cpu, values)):
        ceilings_kernels.on(device).relaxations(array, *scalars, 1001, nonnegative)
    assert np.array_equal(devices.to_host(found), values)


def test_ceilings(hardware):
    measured = ceilings(hardware, quick=True)
    assert measured.keys() == {"minplus", "copy", "reads", "aggregation", "copies", "kernels"}
    assert len(measured["kernels"]) == 2
    assert measured["minplus"].keys() == TYPES.keys()
    sizes, rates = zip(*measured["reads"], strict=True)
    assert len(sizes) > 1 and list(sizes) == sorted(sizes)
    assert measured["aggregation"].keys() == {"random", "coalesced"}
    pairs = itertools.product(("pageable", "page-locked"), ("up", "down"))
    schemes = {*map(" ".join, pairs), "managed touched", "managed prefetched"}
    found = measured["copies"].keys() - {"peer"}
    assert found == (schemes if hardware.kind == "cuda" else set())
    groups = (measured[name].values() for name in ("minplus", "aggregation", "copies"))
    for figure in (*(each for group in groups for each in group), measured["copy"], *rates):
        assert isinstance(figure, float) and 0 < figure < math.inf


class Clocked(devices.HostDevice):
    """A device on which every start takes a while, every second one more; its kernels do nothing but take their time.

    A sum, a random read and a byte that is copied take a unit each.
    """

    START, LATE = 100_000, 10_000_000

    def __init__(self):
        self.now, self.starts = 0, 0

    def mark(self):
        return self.now

    def seconds_between(self, start, end):
        return float(end - start)

    def values(self, xp, dtype):
        return np.zeros(1 << 13, dtype)

    def takes(self, work):
        self.starts += 1
        self.now += work + self.START + self.LATE * (self.starts % 2)

    def relaxations(self, values, first, second, limit, rounds, nonnegative):
        self.takes(2 * rounds * len(values))

    def reads(self, table, count, total):
        self.takes(count)

    def copy(self, target, source):
        self.takes(source.nbytes + target.nbytes)

    def aggregate(self, owners, steps, chain, ranks):
        self.takes(16 * len(ranks))


def test_quick_ceilings_exclude_start_up_and_delays(monkeypatch):
    for family in (ceilings_kernels, list_rank_kernels):
        monkeypatch.setattr(family, "on", lambda device: device)
    measured = ceilings(Clocked(), quick=True)
    figures = [*measured["minplus"].values(), measured["copy"], *(rate for _, rate in measured["reads"])]
    figures += measured["aggregation"].values()
    assert figures == pytest.approx([1.0] * len(figures), rel=0.05)


MEASURED = {
    "minplus": {"float32": 15e12, "nonnegative": 16e12, "int32": 17e12, "int16": 33e12, "float64": 8e12},
    "copy": 4e12,
    "reads": [[1 << 20, 160e9], [1 << 24, 40e9], [1 << 30, 10e9]],
}


@pytest.mark.parametrize(
    ("dtype", "nonnegative", "rate"),
    [
        (np.float32, True, 16e12),
        ("float32", False, 15e12),
        (np.dtype(np.int32), True, 17e12),
        ("int16", True, 33e12),
        (np.float64, True, 8e12),
    ],
)
def test_the_ceiling_of_all_pairs(dtype, nonnegative, rate):
    assert CEILINGS["apsp"](MEASURED, dtype, nonnegative, 4096) == rate


@pytest.mark.parametrize(
    ("algorithm", "n", "rate"),
    [
        ("bfs", 1 << 27, 40e9),  # 2^24 bytes
        ("bfs", 1 << 25, 80e9),  # half way between the first two
        ("bfs", 1, 160e9),
        ("sssp", 1 << 18, 160e9),
        ("sssp", 1 << 25, 20e9),
        ("components", 1 << 25, 20e9),
        ("components", 1 << 31, 10e9),
        ("list_rank", 1 << 22, 40e9 / 3),
    ],
)
def test_the_ceiling_of_random_reads(algorithm, n, rate):
    assert CEILINGS[algorithm](MEASURED, np.float32, True, n) == pytest.approx(rate)


@pytest.mark.parametrize("algorithm", ["closure", "bfs_many"])
def test_no_ceiling(algorithm):
    assert algorithm not in CEILINGS
