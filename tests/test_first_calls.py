"""A first call, with nothing compiled before: its time, and what it reports."""

import contextlib
import json
import os
import re
import subprocess
import sys
import termios
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import mgraph
from mgraph.device.clock import Announcement, Clock, clock, take_over
from tests.support.parameters import exhaustive


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A graph of 1,000 vertices and 10,000 edges, enough for each phase of each algorithm."""
    path = tmp_path_factory.mktemp("graph") / "graph.npz"
    matrix = sparse.random(1000, 1000, 0.01, "csr", random_state=0)
    matrix.data = 1 + np.floor(100 * matrix.data)
    sparse.save_npz(path, matrix)
    return path


def environment(cache):
    """The environment of a process with an empty cache."""
    return os.environ | {
        "NUMBA_CACHE_DIR": str(cache),
        "XDG_CACHE_HOME": str(cache),
        "PYTHONPATH": str(Path(mgraph.__file__).parents[1]),
    }


# About three times the bytes of compiled code that each leaves in the cache: benchmarks measure the time.
@pytest.mark.parametrize(
    ("command", "family", "most"),
    [
        ("components", "components", 400_000),
        *exhaustive(
            ("bfs", "bfs", 1_000_000),
            ("sssp", "sssp", 500_000),
            ("closure", "closure", 500_000),
            ("apsp", "sssp_many", 900_000),
        ),
    ],
)
def test_a_first_call_compiles_little_and_says_so(command, family, most, file, tmp_path):
    terminal, end = os.openpty()
    termios.tcsetwinsize(end, (24, 80))
    said = []
    reader = threading.Thread(target=read_all, args=(terminal, said))
    reader.start()
    subprocess.run(
        [sys.executable, "-m", "mgraph.cli", command, str(file), "--device", "cpu"],
        env=environment(tmp_path),
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=end,
    )
    os.close(end)
    reader.join()
    os.close(terminal)
    assert 0 < sum(path.stat().st_size for path in tmp_path.rglob("*.nbc")) < most
    # The bar is drawn some times a second: kernels that compile in less are not named.
    notice = rf"{command}: compiling kernels \(first use: {family}, number \d+\)"
    assert re.search(notice, b"".join(said).decode())


def read_all(terminal, said):
    """Read a terminal's output until its other end is closed, which raises an error."""
    with contextlib.suppress(OSError):
        while part := os.read(terminal, 1 << 16):
            said.append(part)


#: Calls several functions twice and prints, of each call, the seconds of its kernels and of its own parts. By this
#: clock each kernel takes a million seconds more to compile or load than it does.
CALLS = """
import json, threading, time
import numpy as np
import mgraph
from mgraph.device.clock import clock
from mgraph.device.numba.caching import KernelCache

loaded, load, now = [], KernelCache.load_overload, time.perf_counter

def late(*given):
    loaded.append(given)
    return load(*given)

KernelCache.load_overload = late
time.perf_counter = lambda: now() + 1e6 * len(loaded)

def hold():  # as the call of another thread that compiles meanwhile
    with clock():
        held.set()
        ended.wait()

held, ended = threading.Event(), threading.Event()
threading.Thread(target=hold).start()
held.wait()
g = mgraph.Graph.from_edges([0, 1], [1, 2], np.ones(2))
many = mgraph.Graph.from_edges(range(199), range(1, 200), np.ones(199))
calls = dict(
    sssp=lambda: mgraph.sssp(g, 0, device="cpu"),
    apsp=lambda: mgraph.apsp(np.array([[0, 1, 4.0], [2, 0, 1], [np.inf, 1, 0]]), method="naive", device="cpu"),
    components=lambda: mgraph.connected_components(g, device="cpu"),
    searches=lambda: mgraph.apsp(many, method="sssp", device="cpu"),  # which threads of their own compile
)
found = []
for name, call in calls.items():
    for _ in range(2):
        parts = call().timings
        found.append((name, parts.pop("compile"), sum(parts.values())))
print(json.dumps(found))
ended.set()
"""


@pytest.mark.exhaustive
def test_compiling_and_loading_are_apart_from_the_solve(tmp_path):
    # Nothing is compiled; then everything is, but must be loaded.
    for cold in (True, False):
        ran = subprocess.run(
            [sys.executable, "-c", CALLS], env=environment(tmp_path), check=True, capture_output=True, text=True
        )
        found = json.loads(ran.stdout)
        for name, seconds, rest in found[::2]:
            assert seconds > 1e6 > rest, (name, cold)
        assert [seconds for _, seconds, _ in found[1::2]] == [0] * 4


def test_a_clock_runs_once_however_many_threads_of_a_call_compile(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    own, begun, ended = Clock(), threading.Barrier(3), threading.Barrier(3)

    def compiles():
        with own:
            begun.wait()
            ended.wait()

    threads = [threading.Thread(target=compiles) for _ in range(2)]
    with own:
        for thread in threads:
            thread.start()
        begun.wait()
        now[0] += 1
        assert own.seconds() == 1
        ended.wait()
        for thread in threads:
            thread.join()
        now[0] += 1
    now[0] += 1
    assert own.seconds() == 2


def test_every_thread_has_a_clock_of_its_own():
    found = []

    def other(of):
        if of is not None:
            take_over(of)
        found.append(clock())

    for of in (None, clock()):
        thread = threading.Thread(target=other, args=(of,))
        thread.start()
        thread.join()
    assert found[0] is not clock() and found[1] is clock() is clock()


def test_listeners_are_notified_of_the_first_and_the_last():
    said, heard, nested = Announcement(), [], []
    begun, goes_on = threading.Event(), threading.Event()

    def other():
        with said:
            begun.set()
            goes_on.wait()

    thread = threading.Thread(target=other)
    first, second = "kernels, number 1", "kernels, number 3"  # the other thread's was the second
    with said.listening(heard.append):
        with said, said, said.listening(nested.append):
            thread.start()
            begun.wait()
        assert heard == [first]
        with said.listening(nested.append):
            goes_on.set()
            thread.join()
        assert heard == [first, ""] and nested == [""]
        with said:
            pass
    assert heard == [first, "", second, ""] and nested == [""]


def test_listeners_are_notified_in_order():
    """A thread that begins while listeners are notified of an end waits for them."""
    said, heard, waits = Announcement(), [], threading.Event()

    def hear(what):
        if not what and not waits.is_set():
            waits.set()
            time.sleep(0.05)
        heard.append(bool(what))

    def begin():
        waits.wait()
        said.begin()

    thread = threading.Thread(target=begin)
    with said.listening(hear):
        thread.start()
        with said:
            pass
        thread.join()
    assert heard == [True, False, True]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks")
def test_a_child_that_is_forked_while_kernels_are_compiled():
    """The child has the thread that forked, which may end what it began; it notifies no listener of its parent."""
    code = """
import os, threading
from mgraph.device.clock import COMPILING, clock
heard, other = [], threading.Thread(target=COMPILING.begin)
with COMPILING.listening(heard.append):
    other.start()
    other.join()
    with COMPILING, clock():
        child = os.fork()
    if not child:
        with COMPILING.listening(heard.append), COMPILING:
            pass
        before = clock().seconds()
        right = heard == ["kernels, number 1", "kernels, number 3", ""]
        os._exit(0 if right and before == clock().seconds() > 0 else 1)
    raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)
