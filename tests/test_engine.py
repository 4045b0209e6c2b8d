"""The direct engine runs a program span by span, reports between spans, and hides no error."""

import threading
import time

import numpy as np
import pytest

from mgraph import DeviceError, DeviceSpec, InputError
from mgraph import device as devices
from mgraph.device import HostDevice
from mgraph.device.clock import clock
from mgraph.planning.plan import Detail, Plan
from mgraph.runtime.communicator import Solo
from mgraph.runtime.direct import Direct
from mgraph.runtime.program import advance
from mgraph.runtime.select import checked_span, executor


class CountingDevice(HostDevice):
    """The host, which counts the calls of the engine."""

    def __init__(self):
        self.synchronized = 0
        self.settled = False
        self.entered = 0

    def synchronize(self):
        self.synchronized += 1

    def settle(self):
        self.settled = True

    def active(self):
        self.entered += 1
        return super().active()


class Count:
    """A program of `length` supersteps, which runs up to `most` of them at a time."""

    def __init__(self, length, most=1):
        self.length = length
        self.most = most
        self.asked = []

    def load(self, shard, piece, device):
        assert (shard, piece) == (0, "piece of shard 0")
        return {"device": device, "done": 0}

    def step(self, state, first, limit, comm):
        assert first == state["done"] and limit >= 1
        assert (comm.rank, comm.size) == (0, 1)
        self.asked.append((first, limit))
        ran = min(self.most, limit, self.length - first)
        state["done"] += ran
        return ran

    def collect(self, state, comm):
        return {"done": np.array([state["done"]])}


def made(span, steps):
    return Plan(
        algorithm="count",
        method="one by one",
        n=1,
        dtype="int32",
        ranges=((0, 1),),
        devices=(DeviceSpec("cpu", "cpu", 1),),
        steps=steps,
        span=span,
        peak_bytes=(0,),
        seconds=0.0,
        detail=Detail(),
    )


def run(program, span, steps=None, device=None):
    """Run a program and return the outcome and the progress that was reported."""
    reports = []
    outcome = Direct(device or CountingDevice()).run(
        program, lambda shard: f"piece of shard {shard}", made(span, steps), lambda *report: reports.append(report)
    )
    return outcome, reports


@pytest.mark.parametrize(
    ("length", "span", "reached"),
    [
        (0, 1, [0]),
        (3, 1, [1, 2, 3, 3]),
        (3, 2, [2, 3]),
        (4, 2, [2, 4, 4]),  # the engine learns that none is left when it requests the next
        (3, 100, [3]),
    ],
)
def test_spans_and_progress(length, span, reached):
    device = CountingDevice()
    outcome, reports = run(Count(length), span, steps=length, device=device)
    assert outcome.arrays["done"].tolist() == [length]
    assert reports == [(done, length) for done in reached]
    # Once per span, so that reported supersteps are complete, and after collecting; always on the device.
    assert device.synchronized == len(reached) + 1
    assert device.entered == 1


def test_the_total_may_be_unknown():
    _, reports = run(Count(2), span=1)
    assert reports == [(1, None), (2, None), (2, None)]


def test_a_program_may_run_several_supersteps_at_a_time_but_not_beyond_the_span():
    program = Count(10, most=3)
    _, reports = run(program, span=4)
    assert program.asked == [(0, 4), (3, 1), (4, 4), (7, 1), (8, 4), (10, 2)]
    assert [done for done, _ in reports] == [4, 8, 10]


def test_progress_is_optional_and_each_part_is_timed_without_its_compiling(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(HostDevice, "mark", staticmethod(time.perf_counter))

    class Slow(Count):
        def load(self, *arguments):
            now[0] += 8
            return super().load(*arguments)

        def step(self, *arguments):
            now[0] += 2
            with clock():
                now[0] += 0.5
            return super().step(*arguments)

        def collect(self, *arguments):
            now[0] += 1
            return super().collect(*arguments)

    program = Slow(5)
    outcome = Direct(CountingDevice()).run(program, lambda shard: "piece of shard 0", made(2, 5), None)
    steps = len(program.asked)
    assert outcome.timings == {"load": 8, "compile": 0.5 * steps, "solve": 2 * steps, "collect": 1}


@pytest.mark.parametrize("part", ["load", "step", "collect"])
def test_errors_reach_the_caller_as_they_are(part):
    class Broken(Count):
        pass

    def fail(*_):
        raise DeviceError(f"broken in {part}")

    setattr(Broken, part, fail)
    device = CountingDevice()
    with pytest.raises(DeviceError, match=f"broken in {part}"):
        run(Broken(3), span=1, device=device)
    assert device.settled  # no stream still writes to memory that the next call receives


def test_an_error_in_progress_stops_the_run():
    program = Count(5)

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Direct(CountingDevice()).run(program, lambda shard: "piece of shard 0", made(2, 5), stop)
    assert program.asked == [(0, 2), (1, 1)]


def test_advance_returns_the_superstep_and_whether_it_is_done():
    program, state = Count(5), {"done": 0}
    assert advance(program, state, 0, 3, Solo()) == (3, False)
    assert advance(program, state, 3, 2, Solo()) == (5, False)
    assert advance(program, state, 5, 2, Solo()) == (5, True)


@pytest.mark.parametrize("span", [None, 1, 7, 10**6, np.int64(3)])
def test_valid_spans(span):
    assert checked_span({"span": span}) == checked_span({"span": span, "progress": print}) == span


@pytest.mark.parametrize("span", [0, -1, 1.0, "2", True])
def test_invalid_spans(span):
    with pytest.raises(InputError, match="span must be an integer of 1 or more, got "):
        checked_span({"span": span})


def test_progress_must_be_callable():
    with pytest.raises(InputError, match=r"progress must be True, which shows a bar, or a function .* got 'bar'"):
        checked_span({"progress": "bar"})


def test_where_a_call_runs(monkeypatch):
    assert executor({"device": "cpu"}, "cpu").device.name == "cpu"
    (spec,) = executor({"device": "cpu"}, "cpu").specs
    assert (spec.name, spec.kind) == ("cpu", "cpu") and spec.memory > 0
    with pytest.raises(InputError, match="tpu"):
        executor({"device": "tpu"}, "cpu")
    found, own = [], threading.current_thread()

    def find(name):
        if threading.current_thread() is own:  # workers of other tests may still look at theirs
            found.append(name)
        return CountingDevice()

    monkeypatch.setattr(devices, "find", find)
    executor({}, "cpu")  # the best there is
    executor({}, "cuda:1")  # where the input is
    executor({"device": "cpu"}, "cuda:1")
    assert found == [None, "cuda:1", "cpu"]


def test_a_client_must_be_one():
    with pytest.raises(InputError, match="client must be"):
        executor({"client": "tcp://127.0.0.1:8786"}, "cpu")
