"""Children of a fork run kernels although their parent has run them on all cores, which GNU OpenMP does not allow."""

import subprocess
import sys
import textwrap

import pytest

from mgraph.device.numba import forks
from mgraph.device.numba.caching import njit

SCRIPT = """
import multiprocessing, threading, time
import numpy as np
import mgraph
from mgraph.kernels import family
from mgraph.generate import rmat

small, large = rmat(4), rmat(17)

def answer(number):
    graph = (small, large)[number % 2]
    return [
        mgraph.bfs(graph, 0, device="cpu").distances,
        mgraph.connected_components(graph, method="afforest", device="cpu").labels,
        np.asarray(mgraph.apsp(small, device="cpu").distances),
    ]

def hold():
    with family.HOST_KERNELS:
        held.set()
        time.sleep(900)

if __name__ == "__main__":
    expected = [answer(number) for number in range(4)]
    held = threading.Event()
    threading.Thread(target=hold, daemon=True).start()  # as a call of another thread does while it runs
    held.wait()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map_async(answer, range(4), chunksize=1).get(700)
    for one, other in zip(expected, found, strict=True):
        for here, there in zip(one, other, strict=True):
            np.testing.assert_array_equal(here, there)
    print("the same")
"""


def test_a_pool_of_forked_processes(tmp_path):
    script = tmp_path / "pool.py"
    script.write_text(SCRIPT)
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", script], capture_output=True, text=True, timeout=800, stdin=subprocess.DEVNULL
    )
    assert (ended.returncode, ended.stdout) == (0, "the same\n"), ended.stderr


CLIENTS = """
import os
import mgraph
from distributed import Client

client = Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0")
direct = mgraph.generate.grid(3, 4, device="cpu")
graph = mgraph.DistributedGraph.from_graph(direct, client, device="cpu")
graph.publish("roads")
distances, matrix = mgraph.bfs(graph, 0).distances, mgraph.apsp(direct, client=client, device="cpu").distances
calls = [
    lambda: mgraph.bfs(direct, 0, client=client),
    lambda: mgraph.bfs(graph, 0),
    lambda: graph.with_weights(lambda src, dst: src + dst),
    lambda: graph.to_graph(),
    lambda: graph.publish("streets"),
    lambda: distances.to_numpy(),
    lambda: (distances == 3).sum(),
    lambda: matrix.to_numpy(),
    lambda: mgraph.generate.grid(3, 4, client=client),
    lambda: mgraph.cluster.Cluster(client),
    lambda: mgraph.cluster.check_network(client),
    lambda: mgraph.cluster.resident("roads", client),
    lambda: mgraph.cluster.published(client),
    lambda: mgraph.cluster.unpublish("roads", client),
]
child = os.fork()
if not child:
    for number, call in enumerate(calls):
        try:
            call()
        except mgraph.InputError as error:
            print(number, "after a fork" in str(error), flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(mgraph.bfs(graph, 0).distances.max(), flush=True)  # the parent's goes on
os._exit(0)
"""


def test_a_child_that_uses_its_parents_client():
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CLIENTS], capture_output=True, text=True, timeout=300, check=True
    )
    assert ended.stdout.split("\n") == [*(f"{number} True" for number in range(14)), "5", ""], ended.stderr


@njit(nogil=True)
def even(n):
    return n == 0 or odd(n - 1)


@njit(nogil=True)
def odd(n):
    return n != 0 and even(n - 1)


@njit(parallel=True)
def wide(n):
    return even(n)


@njit()
def calls_wide(n):
    return calls_wide(n - 1) if n else wide(n)


@pytest.mark.parametrize(("kernel", "all_cores"), [(even, False), (odd, False), (wide, True), (calls_wide, True)])
def test_kernels_may_call_themselves_and_one_another(kernel, all_cores):
    assert forks.takes_all_cores(kernel) is all_cores


#: A child that is forked while another thread of its parent derives something from a graph, and what it finds.
WHILE_DERIVING = """
    import multiprocessing, threading
    import mgraph

    graph, held, go_on = mgraph.generate.grid(20, 20), threading.Event(), threading.Event()

    def derive():
        held.set()
        go_on.wait(60)

    def child():
        raise SystemExit(0 if graph.kept("x", mgraph.device.find("cpu"), lambda: 7) == 7 else 1)

    thread = threading.Thread(target=lambda: graph.kept("slow", mgraph.device.find("cpu"), derive))
    thread.start()
    held.wait(60)
    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(30)
    print(process.exitcode)
    process.kill()
    go_on.set()
"""

#: A large call in a thread that outlives the main one.
LATE = """
    import threading, time
    import numpy as np
    from mgraph import Graph

    matrix = np.ones((3000, 3000), np.float32)

    def work():
        threading.main_thread().join()
        time.sleep(0.2)
        print(Graph.from_distances(matrix).nonnegative, flush=True)

    threading.Thread(target=work).start()
"""


@pytest.mark.parametrize(("script", "printed"), [(WHILE_DERIVING, "0"), (LATE, "True")])
def test_locks_and_threads_that_end(script, printed):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=120
    )
    assert done.stdout.split() == [printed], done.stderr
