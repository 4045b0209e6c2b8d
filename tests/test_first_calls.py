"""A first call, with nothing compiled before: what it takes, and what it says of it."""

import contextlib
import os
import resource
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
from mgraph.compiling import Compiling


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A graph of 1,000 vertices and 10,000 edges, enough for each phase of each algorithm."""
    path = tmp_path_factory.mktemp("graph") / "graph.npz"
    matrix = sparse.random(1000, 1000, 0.01, "csr", random_state=0)
    matrix.data = 1 + np.floor(100 * matrix.data)
    sparse.save_npz(path, matrix)
    return path


def environment(cache):
    """Of a process that finds nothing compiled."""
    return os.environ | {
        "NUMBA_CACHE_DIR": str(cache),
        "XDG_CACHE_HOME": str(cache),
        "PYTHONPATH": str(Path(mgraph.__file__).parents[1]),
    }


# About twice the seconds of a processor's core that each took on a busy machine, where it takes longer than alone.
@pytest.mark.parametrize(
    ("command", "most"),
    [
        ("bfs", 6),
        ("sssp", 6),
        ("components", 6),
        ("closure", 8),
        ("apsp", 9),
    ],
)
def test_a_first_call_compiles_little_and_says_so(command, most, file, tmp_path):
    terminal, end = os.openpty()
    termios.tcsetwinsize(end, (24, 80))
    said = []
    reader = threading.Thread(target=read_all, args=(terminal, said))
    reader.start()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "mgraph.cli", command, str(file), "--device", "cpu"],
        env=environment(tmp_path),
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=end,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    os.close(end)
    reader.join()
    os.close(terminal)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < most
    assert f"{command}: compiling kernels (first use)" in b"".join(said).decode()


def read_all(terminal, said):
    """Read what is written to a terminal until its other end is closed, which shows as an error."""
    with contextlib.suppress(OSError):
        while part := os.read(terminal, 1 << 16):
            said.append(part)


def test_compiling_is_apart_from_the_solve(tmp_path):
    code = (
        "import mgraph, numpy as np\n"
        "g = mgraph.Graph.from_edges([0, 1], [1, 2], np.ones(2))\n"
        "for _ in range(2):\n"
        "    print(*(mgraph.sssp(g, 0, device='cpu').timings[part] for part in ('compile', 'solve')))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], env=environment(tmp_path), check=True, capture_output=True, text=True
    )
    (first, solve), (second, _) = (map(float, line.split()) for line in ran.stdout.splitlines())
    assert first > 0.1 > solve
    assert second == 0


def test_the_clock_runs_once_however_many_compile():
    clock, heard = Compiling(), []
    with clock.heard(heard.append):
        threads = [threading.Thread(target=lambda: slow(clock)) for _ in range(2)]
        with clock:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            within = clock.seconds()
    assert heard == [True, False]
    assert 0.05 <= within <= clock.seconds() < 0.1 + within
    stopped = clock.seconds()
    assert clock.seconds() == stopped


def slow(clock):
    with clock:
        time.sleep(0.05)
