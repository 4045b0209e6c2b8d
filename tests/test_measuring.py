"""Times of repeated work, recorded operations and peaks of memory."""

import numpy as np
import pytest

import mgraph
import mgraph.cluster
from mgraph import device as devices
from mgraph.generate import random_matrix, rmat
from mgraph.kernels import minplus as minplus_kernels
from mgraph.matrices.distance_matrix import NO_CYCLE
from mgraph.measuring import median_seconds, repeated, spread


class FakeClock(devices.HostDevice):
    """The host, whose time passes only in `wait`."""

    def __init__(self):
        self.now = 0.0

    def wait(self, seconds):
        self.now += seconds

    def mark(self):
        return self.now


def test_the_first_call_counts_apart_and_the_last_result_is_returned():
    seen = []
    result, times = repeated(lambda: seen.append(0) or len(seen), 5)
    assert len(seen) == result == 6
    assert len(times.calls) == len(times.solves) == 5 and times.first_call > 0


def test_solve_and_transfers_are_timed_apart():
    _, times = repeated(lambda: mgraph.bfs(rmat(5), 1, device="cpu"), 5)
    assert all(0 < solve < call for solve, call in zip(times.solves, times.calls, strict=True))
    assert len(times.loads) == len(times.collects) == 5


def test_spread():
    assert spread((1.0, 2.0, 4.0)) == 1.5


def test_work_is_done_once_more_than_it_is_timed():
    place, now = FakeClock(), iter((100, 5, 1, 9, 4, 2, 7, 3))
    assert median_seconds(place, lambda: place.wait(next(now)), 7) == 4
    assert next(now, None) is None


def test_a_recorder_is_notified_of_every_operation():
    place = devices.find("cpu")
    matrix = random_matrix(200)
    with devices.Recorder(place) as recorder:
        mgraph.apsp(matrix, method="blocked", device="cpu")
    assert {"factor", "solve_rows", "solve_columns", "update"} <= recorder.seconds().keys()
    heard = len(recorder.operations)
    mgraph.apsp(matrix, method="blocked", device="cpu")
    assert len(recorder.operations) == heard


def test_the_times_of_an_operation_are_added_up():
    place = FakeClock()
    recorder = devices.Recorder(place)
    for name, seconds in (("relax", 3), ("sort", 1), ("relax", 4)):
        place.wait(9)  # between operations
        recorder.timed(name, place.wait, seconds)
    assert recorder.seconds() == {"relax": 7, "sort": 1}


def test_operations_of_several_streams_are_recorded_one_after_the_other():
    class Stream(devices.Immediate):
        waited = 0

        def synchronize(self):
            self.waited += 1

    class Streams(devices.HostDevice):
        current = main = Stream()
        aside = Stream()

        def current_stream(self):
            return self.current

    place, matrix = Streams(), random_matrix(4)
    with devices.Recorder(place):
        through = minplus_kernels.on(place).through
        for name, waits in (("main", (0, 0)), ("main", (0, 0)), ("aside", (1, 0)), ("main", (1, 1))):
            place.current = getattr(place, name)
            through(matrix, None, 0, matrix[:1], None, 0, 1, np.full(1, NO_CYCLE, np.int32))
            assert (place.main.waited, place.aside.waited) == waits


def test_peak_memory_is_what_a_block_takes():
    with devices.find("cpu").peak_memory() as peak:
        np.ones(1 << 20)
    assert 8 << 20 <= peak.bytes < 9 << 20


@pytest.mark.gpu
def test_on_a_gpu():
    place = devices.find("cuda")
    with place.peak_memory() as peak:
        place.xp.ones(1 << 20)
    assert peak.bytes == 8 << 20
    assert median_seconds(place, lambda: place.xp.ones(1 << 24)) > 0
    with devices.Recorder(place) as recorder:
        mgraph.apsp(random_matrix(600), method="blocked", device="cuda")
    assert recorder.seconds()["update"] > 0
