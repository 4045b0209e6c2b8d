"""What surrounds the solve of a small call: plans that are remembered, readings of the host, files, calls of Python."""

import sys
from functools import partial

import numpy as np
import pytest

import mgraph
from mgraph.algorithms.registry import ALGORITHMS
from mgraph.device import host_reading, memory
from mgraph.planning import rates, remembered
from mgraph.planning.devices import DeviceSpec
from mgraph.planning.fit import fitted
from mgraph.planning.plan import Detail, Plan
from tests.support.calls import GRAPH, arguments

CPU = mgraph.device.find("cpu")
SPECS = (DeviceSpec("cpu", "cpu", 1 << 40),)


@pytest.fixture
def as_for_users(monkeypatch):
    """Remember plans and readings, as outside of tests; a reading serves for a minute."""
    monkeypatch.setattr(memory, "RECENT", 60.0)
    monkeypatch.setattr(remembered, "REMEMBERED_PLANS", 64)


@pytest.fixture
def planner():
    """A planner that remembers, and the arguments with which a plan was made."""
    asked = []

    @remembered.remembered
    def planned(n, specs, *, method="auto", peak=8, host_bytes=0, indptr=None):
        asked.append((n, method))
        return fitted(
            Plan(
                algorithm="test",
                method=method,
                n=n,
                dtype="int32",
                ranges=((0, n),),
                devices=specs,
                steps=1,
                span=1,
                peak_bytes=(peak,),
                seconds=1.0,
                detail=Detail(),
                host_bytes=host_bytes,
            ),
            None,
        )

    return planned, asked


def test_a_small_plan_is_made_once(as_for_users, planner):
    planned, asked = planner
    first = planned(5, SPECS, method="one")
    assert planned(5, SPECS, method="one") is first
    assert planned(5, SPECS, method="other") is not first and planned(6, SPECS, method="one") is not first
    assert planned(5, (DeviceSpec("cpu", "cpu", 1 << 41),), method="one").devices[0].memory == 1 << 41
    assert asked == [(5, "one"), (5, "other"), (6, "one"), (5, "one")]


@pytest.mark.parametrize("options", [{"peak": 1 << 20}, {"host_bytes": 1}, {"indptr": np.arange(6)}])
def test_other_plans_are_made_each_time(as_for_users, planner, options):
    planned, asked = planner
    assert planned(5, SPECS, **options) is not planned(5, SPECS, **options) and len(asked) == 2


def test_a_plan_is_made_again_after_the_rates_have_changed(as_for_users, planner, cache_home):
    planned, asked = planner
    first = planned(5, SPECS)
    rates.keep("a model", rates.DEFAULT["cpu"])
    assert planned(5, SPECS) is not first and len(asked) == 2


def test_few_plans_are_remembered(as_for_users, planner, monkeypatch):
    monkeypatch.setattr(remembered, "REMEMBERED_PLANS", 2)
    planned, asked = planner
    for n in (1, 2, 3, 3, 1):
        planned(n, SPECS)
    assert [n for n, _ in asked] == [1, 2, 3, 1]


def test_a_refused_call_is_planned_again(as_for_users, monkeypatch):
    monkeypatch.setattr(memory, "RECENT", 0.0)
    graph, free = mgraph.generate.grid(3, 3), [10]
    monkeypatch.setattr(mgraph.device.HostDevice, "available_memory", lambda self: free[0])
    for _ in range(2):
        with pytest.raises(mgraph.MemoryLimitError):
            mgraph.bfs(graph, 0, device="cpu")
    free[0] = 1 << 30
    assert mgraph.bfs(graph, 0, device="cpu").distances.max() == 4


def test_a_recent_reading_serves_small_calls_only(as_for_users, monkeypatch):
    small, large, read = mgraph.generate.grid(3, 3), mgraph.generate.grid(1000, 1000), []
    monkeypatch.setattr(mgraph.device.HostDevice, "available_memory", lambda self: read.append(0) or 1 << 40)
    host_reading(CPU)
    for solve, again in (
        (lambda: mgraph.bfs(small, 0, device="cpu"), False),
        (lambda: mgraph.bfs_many(small, [0, 8], device="cpu"), False),
        (lambda: mgraph.bfs_many(small, [0] * 40_000, device="cpu"), True),
        (lambda: mgraph.distances(small, [0, 8], device="cpu"), False),
        (lambda: mgraph.distances(small, [0] * 400, [8] * 4000, device="cpu"), True),
        (lambda: mgraph.bfs(large, 0, device="cpu"), True),
    ):
        before = len(read)
        solve()
        assert (len(read) > before) == again


class Opened:
    """The files that Python opens while it is used as a context."""

    def __init__(self):
        self.files, self.active = [], False
        sys.addaudithook(self.heard)

    def heard(self, event, details):
        if self.active and event == "open":
            self.files.append(str(details[0]))

    def __enter__(self):
        self.files, self.active = [], True
        return self.files

    def __exit__(self, *_):
        self.active = False


OPENED = Opened()

SMALL = {
    **{name: partial(entry.call, *arguments(name), device="cpu") for name, entry in ALGORITHMS.items()},
    "distances": lambda: mgraph.distances(GRAPH, [0, 1], [2, 3], device="cpu"),
    "apsp_batch": lambda: mgraph.apsp_batch([GRAPH, GRAPH], device="cpu"),
}


@pytest.mark.parametrize("name", SMALL)
def test_a_second_small_call_opens_no_file(name, as_for_users):
    SMALL[name]()
    with OPENED as files:
        SMALL[name]()
    assert not files


#: The most functions of Python that a call of five vertices may enter, which takes about a microsecond for each.
FEW = 112

#: The same of calls that enter more, or have entered fewer.
CALLS = {
    "apsp": 131,
    "bfs": 102,
    "bfs_many": 80,
    "components": 72,
    "distances": 236,
    "minimum_spanning_forest": 207,
    "sssp": 90,
    "closure": 135,
    "list_rank": 67,
    "path_counts": 412,
    "apsp_batch": 248,
    "betweenness": 264,
}


def functions_entered(call) -> int:
    """Return how many functions of Python a call enters, those of finalizers that happen to run meanwhile too."""
    entered = 0

    def count(frame, event, argument):
        nonlocal entered
        entered += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(before)
    return entered


@pytest.mark.parametrize("name", SMALL)
def test_a_small_call_enters_few_functions(name, as_for_users):
    for _ in range(3):
        SMALL[name]()
    # The least of three: in one of them a garbage collection may run what clusters of other tests have left.
    assert min(functions_entered(SMALL[name]) for _ in range(3)) <= CALLS.get(name, FEW)
