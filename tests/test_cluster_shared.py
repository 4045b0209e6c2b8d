"""On a shared cluster, a call leaves nothing behind, and its errors name the worker and the reason."""

import gc
import logging
import os
import subprocess
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import dask
import numpy as np
import psutil
import pytest
from distributed import Client, LocalCluster, get_client, worker_client

from mgraph import __version__, apsp, bfs, connected_components
from mgraph.errors import NegativeCycleError, VersionError
from mgraph.generate import rmat
from mgraph.runtime.dask import worker
from mgraph.runtime.dask.driver import forget
from mgraph.runtime.dask.pulse import PLACE
from mgraph.runtime.dask.turns import turns_on
from mgraph.runtime.dask.worker import NAME
from tests.support.cluster_calls import check_apsp, matrix
from tests.support.clusters import CLUSTER_WARNINGS, QUIET, SOON, clients, cluster, present, wait_until

pytestmark = CLUSTER_WARNINGS


client = clients(1, processes=True)


@contextmanager
def worker_process(client, preparation):
    """Start one more worker, in which `preparation`, a line of Python, runs first; yields its address."""
    before = present(client)
    script = f"{preparation}; from distributed.cli.dask_worker import main; main()"
    options = ["--no-nanny", "--name=a, b/c-0", "--nthreads=1", "--memory-limit=0", "--no-dashboard"]
    with subprocess.Popen(
        [sys.executable, "-c", script, client.scheduler.address, *options], stderr=subprocess.DEVNULL
    ) as process:
        try:
            wait_until(lambda: present(client) > before)
            [address] = present(client) - before
            yield address
        finally:
            process.terminate()
            process.wait()
            wait_until(lambda: present(client) == before)


def refused(client, address, problem):
    forget(client)  # else the worker is known
    with pytest.raises(VersionError, match=f"the worker {address} {problem}: this client has mgraph {__version__}"):
        apsp(matrix(70), client=client, device="cpu")


def test_a_call_within_a_task(client):
    """The task releases its worker's only thread for the call's own tasks, also if it has released it already."""

    def calls():
        with worker_client() as inner:
            first = connected_components(rmat(5), client=inner, device="cpu").count
        again = connected_components(rmat(5), client=get_client(), device="cpu").count
        return first, again, connected_components(rmat(5), client=get_client(), device="cpu").count

    expected = connected_components(rmat(5), device="cpu").count
    assert client.submit(calls).result(timeout=SOON) == (expected,) * 3


def test_a_worker_without_mgraph(client):
    """It starts although calls have been made; a call names it and what it lacks; once it is gone, calls succeed."""
    check_apsp(client, 70, np.float32, False)
    with worker_process(client, "import sys; sys.modules['mgraph'] = None") as address:
        refused(client, address, r"has no mgraph that can be imported \(.*mgraph.*\)")
    check_apsp(client, 70, np.float32, False)


@pytest.mark.parametrize(
    ("change", "problem"), [("= '0.0.9'", r"has mgraph 0\.0\.9"), ("", "has mgraph of no version")]
)
def test_a_worker_with_another_mgraph(client, change, problem):
    statement = f"mgraph.version.__version__ {change}" if change else "del mgraph.version.__version__"
    [address] = client.run(exec, f"import mgraph.version; {statement}")
    refused(client, address, problem)
    client.run(exec, f"import mgraph.version; mgraph.version.__version__ = {__version__!r}")
    check_apsp(client, 70, np.float32, False)


def test_nothing_stays_with_the_scheduler(client):
    before = client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.worker_plugins.copy())
    check_apsp(client, 70, np.float32, False)
    assert client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.worker_plugins.copy()) == before


def leave_beats(dask_scheduler):
    dask_scheduler.task_metadata[PLACE] = {"Client-killed": {"session": {"tcp://127.0.0.1:1": {"number": 2}}}}


def has_left_beats(dask_scheduler):
    return PLACE in dask_scheduler.task_metadata


def test_the_next_call_forgets_what_a_killed_client_left():
    with cluster(1, processes=False) as client:
        client.run_on_scheduler(leave_beats)
        assert client.run_on_scheduler(has_left_beats)
        check_apsp(client, 20, np.float32, False)
        assert not client.run_on_scheduler(has_left_beats)


def test_a_worker_that_joins_between_calls(client):
    check_apsp(client, 70, np.float32, False)
    with worker_process(client, "import mgraph") as address:
        found = apsp(matrix(200), client=client, device="cpu", block=32)
        assert address in {where for where, _ in found.distances.blocks}
        check_apsp(client, 70, np.float32, False)
    check_apsp(client, 70, np.float32, False)


def raising():
    raise ZeroDivisionError


def test_an_expected_error_is_not_logged(caplog):
    d = matrix(100)
    d[90, 95], d[95, 90] = -3, 1
    with cluster(2, processes=False) as client, caplog.at_level(logging.ERROR, "distributed.worker"):
        with pytest.raises(NegativeCycleError, match=r"vertex 9[05]") as caught:
            apsp(d, client=client, device="cpu", block=32)
        assert "Compute Failed" not in caplog.text
        [note] = caught.value.__notes__
        assert note.startswith("On the worker:\nTraceback") and "raise_negative_cycle" in note
        with pytest.raises(ZeroDivisionError):
            client.submit(raising).result()
        assert "Compute Failed" in caplog.text  # it would have been logged


def test_the_blocks_of_a_retired_worker_are_read_where_dask_moved_them():
    with cluster(2, processes=False) as client:
        found = apsp(matrix(200), client=client, device="cpu", block=32).distances
        whole = found.to_numpy()
        address, _ = found.blocks[0]
        client.retire_workers([address])
        wait_until(lambda: address not in present(client))
        np.testing.assert_array_equal(found.to_numpy(), whole)
        np.testing.assert_array_equal(found.row(3), whole[3])
        np.testing.assert_array_equal(client.compute(found.to_dask_array()).result(), whole)


def test_a_killed_client_leaves_no_memory(client, tmp_path):
    """Also if Python does not collect garbage for a long time."""
    size = 200_000_000
    script = tmp_path / "caller.py"
    script.write_text(
        "import sys\n"
        f"sys.path.insert(0, {os.path.dirname(__file__)!r})\n"
        "import numpy as np, test_cluster\n"
        f"caller = test_cluster.connect({client.scheduler.address!r})\n"
        f"piece = lambda shard: np.ones({size // 8})\n"
        "test_cluster.run(caller, test_cluster.slow, 10_000, 10, lambda k, of: print(k, flush=True), piece)\n"
    )
    check_apsp(client, 70, np.float32, False)
    client.run(exec, "import gc; gc.collect(); gc.disable()")
    try:
        [before] = client.run(resident).values()
        with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE) as caller:
            caller.stdout.readline()
            [during] = client.run(resident).values()
            caller.kill()
        assert during - before > 0.9 * size
        wait_until(lambda: next(iter(client.run(resident).values())) - before < 0.3 * size)
    finally:
        client.run(exec, "import gc; gc.enable()")


def test_a_dropped_session_is_freed_at_once():
    """Also one in which nothing runs, and before Python next collects garbage."""
    with cluster(1, processes=False) as client:
        check_apsp(client, 5, np.float32, False)
        [there] = client.cluster.workers.values()
        lease = worker.lease_key("0" * 32, there.address)
        gc.collect()
        gc.disable()
        try:
            held = client.submit(worker.lease, "0" * 32, key=lease)
            held.result()
            session = weakref.ref(there.plugins[NAME].sessions["0" * 32])
            assert session() is not None
            held.release()
            wait_until(lambda: session() is None)
        finally:
            gc.enable()


def resident():
    return psutil.Process().memory_info().rss


def left(dask_scheduler):
    """State of calls that a scheduler still has: tasks, the number of calls in line if there are any, and beats."""
    line, beats = len(turns_on(dask_scheduler)), dask_scheduler.task_metadata.get(PLACE, {})
    return [*dask_scheduler.tasks, *([line] if line else []), *beats]


def check_callers(clients):
    """Call on all clients at once, each in a thread of its own."""
    start, expected = threading.Barrier(len(clients)), [apsp(matrix(90 + i), device="cpu") for i in range(len(clients))]

    def call(i, client):
        start.wait()
        for _ in range(2):
            found = apsp(matrix(90 + i), client=client, device="cpu", block=32, span=1)
            np.testing.assert_array_equal(found.distances.to_numpy(), expected[i].distances)
            reached = bfs(graph, i, client=client, device="cpu")
            np.testing.assert_array_equal(reached.distances, bfs(graph, i, device="cpu").distances)

    graph = rmat(7)
    with ThreadPoolExecutor(len(clients)) as threads:
        for calling in [threads.submit(call, *caller) for caller in enumerate(clients)]:
            calling.result()


def check_nothing_is_left(client, *others):
    for each in (client, *others):
        forget(each)
    gc.collect()
    try:
        wait_until(lambda: client.run_on_scheduler(left) == [])
    except AssertionError:
        pytest.fail(f"the scheduler still has {client.run_on_scheduler(left)}")
    wait_until(lambda: set(client.run(lambda dask_worker: len(dask_worker.plugins[NAME].sessions)).values()) == {0})


def test_callers_at_once_leave_nothing(client):
    """Two clients of a scheduler, and two threads with the same one."""
    with Client(client.scheduler.address, set_as_default=False) as other:
        check_callers([client, other, client])
        check_nothing_is_left(client, other)
    check_nothing_is_left(client)


def test_callers_of_two_schedulers_one_of_which_adapts(client):
    """It starts and stops its workers by its own rules."""
    with LocalCluster(n_workers=0, processes=False, memory_limit=0, **QUIET) as made:
        made.adapt(minimum=1, maximum=2, interval="100ms")
        # A call loses its worker each time that one is stopped.
        with Client(made, set_as_default=False) as adapting, dask.config.set({"mgraph.retries": 100}):
            wait_until(lambda: present(adapting))
            check_callers([client, adapting])
            check_nothing_is_left(adapting)
    check_nothing_is_left(client)
