"""Calls that go on after they have lost a worker."""

import itertools
import logging
import os
import pickle
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import dask
import numpy as np
import pytest
from distributed import Future

import mgraph
from mgraph.errors import InputError, WorkerLostError
from mgraph.runtime.dask import driver, sending, tasks
from mgraph.runtime.dask.driver import Visiting
from mgraph.runtime.dask.group import Group
from mgraph.runtime.losses import retry_after_loss
from tests.support.clusters import (
    CLUSTER_WARNINGS,
    LOST,
    QUIET,
    SILENCE,
    Kills,
    again_at_the_same_address,
    forked,
    kill_a_worker,
    present,
    wait_until,
)
from tests.support.parameters import exhaustive

pytestmark = CLUSTER_WARNINGS


def matrix(n, seed=0):
    rng = np.random.default_rng(seed)
    return np.where(rng.random((n, n)) < 0.2, rng.integers(1, 50, (n, n)), np.inf).astype(np.float32)


GRID = mgraph.generate.grid(12, 12, weights=(1, 9), device="cpu")

CALLS = [
    (lambda **on: mgraph.apsp(matrix(200), block=32, **on), "distances"),
    (lambda **on: mgraph.bfs(GRID, 0, **on), "distances"),
    *exhaustive(
        (lambda **on: mgraph.transitive_closure(GRID, **on), "words"),
        (lambda **on: mgraph.sssp(GRID, 0, **on), "distances"),
    ),
]


@LOST
@pytest.mark.parametrize(("call", "name"), CALLS, ids=["apsp", "bfs", "closure", "sssp"])
def test_a_call_that_loses_a_worker_is_made_again(mortals, caplog, call, name):
    kills = Kills(mortals)
    with caplog.at_level(logging.WARNING, "mgraph"):
        found = call(client=mortals, device="cpu", span=1, progress=kills)
    np.testing.assert_array_equal(np.asarray(getattr(found, name)), np.asarray(getattr(call(device="cpu"), name)))
    [address] = kills.killed
    assert sum("is made again, on the" in line for line in caplog.messages) == 1
    own = [record.getMessage() for record in caplog.records if record.name.startswith("mgraph.")]
    assert sum(address in line for line in own) == 2  # the loss with its reason, and the new attempt
    assert found.explain().endswith(f"\nmade again once: lost {address}")
    assert pickle.loads(pickle.dumps(found.solved)).lost == (address,)


@LOST
def test_retries_bound_how_often_a_call_is_made_again(mortals):
    kills = Kills(mortals, times=5)
    with pytest.raises(WorkerLostError) as caught:
        mgraph.bfs(GRID, 0, client=mortals, device="cpu", span=1, progress=kills, retries=1)
    first, second = kills.killed
    assert caught.value.workers == (second,)
    assert "the call was made 2 times" in str(caught.value) and first in str(caught.value)


@LOST
def test_no_retries(mortals):
    for given, configured in ({"retries": 0}, {}), ({}, {"mgraph.retries": 0}):
        kills = Kills(mortals, times=5)
        wait_until(lambda: len(present(mortals)) == 2)
        with dask.config.set(configured), pytest.raises(WorkerLostError, match="in the middle of the call"):
            mgraph.bfs(GRID, 0, client=mortals, device="cpu", span=1, progress=kills, **given)
        assert len(kills.killed) == 1


@LOST
@pytest.mark.exhaustive
def test_a_worker_that_is_stopped_is_left_out(mortals):
    stopped = []

    def stop(k, of):
        if k == 4 and not stopped:
            stopped.append(max(mortals.run(os.getpid).items()))
            os.kill(stopped[0][1], signal.SIGSTOP)

    try:
        found = mgraph.bfs(GRID, 0, client=mortals, device="cpu", span=1, progress=stop, worker_timeout=SILENCE)
    finally:
        os.kill(stopped[0][1], signal.SIGCONT)
    np.testing.assert_array_equal(found.distances, mgraph.bfs(GRID, 0, device="cpu").distances)
    assert len(found.plan.devices) == 1


#: What runs at these moments of a call, and how many times it has run before.
MOMENTS = {
    "open": (Group, "open_session", 0),
    "load": (Visiting, "inputs_of", 0),
    "superstep": (Visiting, "ask", 3),
    "fetch": (Visiting, "fetch", 0),
}


def restarted(patched, client, moment):
    """Have the worker started again, at the same address, at a moment of a call."""
    owner, name, at = moment
    function, before, number = getattr(owner, name), client.run(os.getpid), itertools.count()

    def late(*given, **options):
        if next(number) == at:
            again_at_the_same_address(client, before)
        return function(*given, **options)

    patched.setattr(owner, name, late)
    return before


def test_a_worker_that_is_started_again_before_its_matrix_is_taken(fixed, monkeypatch):
    with monkeypatch.context() as patched:
        before = restarted(patched, fixed, (Group, "matrix", 0))
        found = mgraph.apsp(GRID, method="blocked", client=fixed, device="cpu")
    assert fixed.run(os.getpid) != before
    np.testing.assert_array_equal(found.distances, mgraph.apsp(GRID, method="blocked", device="cpu").distances)


@pytest.mark.parametrize("when", ["superstep", *exhaustive("open", "load", "fetch")])
def test_a_worker_that_is_started_again_at_the_same_address(fixed, monkeypatch, when):
    """Before the sessions are opened, before it is loaded, between two supersteps, and before vectors are read."""
    driver.forget(fixed)
    with monkeypatch.context() as patched:
        patched.setattr(Visiting, "carried_bytes", 0)
        before = restarted(patched, fixed, MOMENTS[when])
        found = mgraph.bfs(GRID, 0, client=fixed, device="cpu", span=1)
    assert fixed.run(os.getpid).keys() == before.keys() and fixed.run(os.getpid) != before
    np.testing.assert_array_equal(found.distances, mgraph.bfs(GRID, 0, device="cpu").distances)


def test_a_worker_that_is_started_again_between_two_calls_is_no_loss(fixed):
    before = fixed.run(os.getpid)
    for _ in range(2):
        found = mgraph.bfs(GRID, 0, client=fixed, device="cpu", retries=0)
        np.testing.assert_array_equal(found.distances, mgraph.bfs(GRID, 0, device="cpu").distances)
        again_at_the_same_address(fixed, before)
    assert fixed.run(os.getpid) != before


READS = {
    "part": lambda found: found[3, 5],
    "whole": lambda found: found.to_numpy(),
    "Dask's": lambda found: found.to_dask_array().sum().compute(),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_a_matrix_of_a_worker_that_is_started_again(fixed, read):
    before = fixed.run(os.getpid)
    found = mgraph.apsp(GRID, method="blocked", client=fixed, device="cpu").distances
    again_at_the_same_address(fixed, before)
    with fixed.as_current(), pytest.raises(WorkerLostError, match="are gone with it: make the call again"):
        read(found)


def test_a_distributed_graph_of_a_worker_that_is_started_again(fixed):
    """It is made again, and what a call has left is lost."""
    before = fixed.run(os.getpid)
    graph = mgraph.generate.grid(12, 12, client=fixed, device="cpu")
    found = mgraph.bfs(graph, 0).distances
    again_at_the_same_address(fixed, before)
    with pytest.raises(WorkerLostError):
        found.to_numpy()
    assert graph.to_graph().m == mgraph.bfs(graph, 0).plan.m == 528


def cancel(client):
    """Cancel all futures of a client, as it does itself when its scheduler is gone, before it connects to a new one."""
    client.cancel([Future(key, client) for key in client.futures], force=True)
    wait_until(lambda: not client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks)))


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_a_matrix_whose_futures_are_cancelled(nursed, read):
    found = mgraph.apsp(GRID, method="blocked", client=nursed, device="cpu").distances
    cancel(nursed)
    with nursed.as_current(), pytest.raises(WorkerLostError, match="are gone with it: make the call again"):
        read(found)


@pytest.mark.parametrize("read", [lambda found: found[7], *list(READS.values())[1:]], ids=READS)
def test_a_vector_whose_lease_is_cancelled(nursed, read):
    graph = mgraph.generate.grid(12, 12, client=nursed, device="cpu")
    found = mgraph.bfs(graph, 0).distances
    cancel(nursed)
    with nursed.as_current(), pytest.raises(WorkerLostError, match="the session is gone"):
        read(found)
    assert mgraph.bfs(graph, 0).distances[143] == 22  # the graph is made again


def test_tasks_that_are_cancelled(nursed):
    """They end a call as a loss does, which makes it again."""
    cancelled = []

    def once(k, of):
        if not cancelled:
            cancelled.append(k)
            cancel(nursed)

    found = mgraph.bfs(GRID, 0, client=nursed, device="cpu", span=1, progress=once)
    np.testing.assert_array_equal(found.distances, mgraph.bfs(GRID, 0, device="cpu").distances)
    with pytest.raises(WorkerLostError):
        mgraph.bfs(GRID, 0, client=nursed, device="cpu", span=1, retries=0, progress=lambda k, of: cancel(nursed))


def test_retries_are_checked(mortals):
    with pytest.raises(InputError, match="retries must be an integer"):
        mgraph.bfs(GRID, 0, client=mortals, retries=-1)
    with pytest.raises(InputError, match="retries goes with client=: give both or neither"):
        mgraph.bfs(GRID, 0, device="cpu", retries=1)
    with dask.config.set({"mgraph.retries": "often"}), pytest.raises(InputError, match=r"mgraph\.retries of Dask's"):
        mgraph.bfs(GRID, 0, client=mortals, device="cpu", span=1, progress=Kills(mortals))


def damage(dask_worker):
    """Make the GPU of a worker unusable in its process."""
    import cupy

    kernel = cupy.RawKernel('extern "C" __global__ void damage(int* nowhere) { *nowhere = 1; }', "damage")
    kernel((1,), (1,), (np.uintp(16),))


@LOST
@pytest.mark.gpu
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("at", [1, 7])
def test_a_worker_whose_gpu_fails_is_replaced(gpus, at):
    damaged = []

    def progress(k, of):
        if k >= at and not damaged:
            damaged.append(max(gpus.run(os.getpid)))
            gpus.run(damage, workers=damaged)

    given = matrix(2000)
    found = mgraph.apsp(given, client=gpus, method="blocked", span=3, progress=progress)
    assert len(damaged) == 1
    np.testing.assert_array_equal(
        found.distances.to_numpy(), mgraph.apsp(given, method="blocked", device="cuda").distances
    )
    wait_until(lambda: len(present(gpus)) == len(found.plan.devices))
    assert mgraph.apsp(given, client=gpus, method="blocked").distances.to_numpy().shape == (2000, 2000)


def test_retries_that_are_fewer_after_a_loss_end_the_attempts():
    """As Dask's configuration may change meanwhile."""
    left, made = iter([2, 0]), []

    def attempt():
        made.append(0)
        raise WorkerLostError("a worker was lost", workers=("tcp://nowhere",), among=1)

    with pytest.raises(WorkerLostError, match="the call was made 2 times"):
        retry_after_loss(attempt, lambda loss: None, lambda: next(left))
    assert len(made) == 2


@LOST
def test_nothing_is_sent_to_a_worker_that_has_left(mortals, caplog):
    """Dask's scheduler would try for long to connect, and log that it has failed."""
    log = logging.getLogger("distributed")
    address, level = max(mortals.run(os.getpid)), log.level
    log.addHandler(caplog.handler)
    try:
        with (
            dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
            mgraph.generate.grid(12, 12, client=mortals, device="cpu") as graph,
        ):
            distances = mgraph.bfs(graph, 0).distances
            assert kill_a_worker(mortals) == address
            wait_until(lambda: address not in present(mortals))
            log.setLevel(logging.ERROR)
            del distances
            time.sleep(2)  # the workers are told what was released, and as long as connecting to one may take
            assert mortals.sync(tasks.asked, mortals, [address], os.getpid) == {}
            with pytest.raises(WorkerLostError, match=f"lost the worker {address}"):
                mortals.sync(sending.scattered, mortals, address, np.zeros(3))
            address, pid = max(mortals.run(os.getpid).items())
            os.kill(pid, signal.SIGSTOP)
            with ThreadPoolExecutor(1) as pool:
                under_way = pool.submit(mortals.sync, sending.scattered, mortals, address, np.zeros(3))
                time.sleep(1)  # the piece is on its way
                os.kill(pid, signal.SIGKILL)
                with pytest.raises(WorkerLostError, match=f"lost the worker {address}"):
                    under_way.result()
            assert mgraph.bfs(graph, 0).distances[143] == 22
    finally:
        log.removeHandler(caplog.handler)
        log.setLevel(level)
    assert [record.message for record in caplog.records if record.levelno >= logging.ERROR] == []


@pytest.fixture(scope="module")
def limited():
    """A worker with little memory, and its client."""
    from distributed import Client, LocalCluster

    options = {"n_workers": 1, "threads_per_worker": 1, "memory_limit": "600MB", **QUIET}
    with forked(), LocalCluster(**options) as made, Client(made, set_as_default=False) as client:
        yield client


def test_building_a_graph_counts_what_the_nanny_allows(limited):
    pids = limited.run(os.getpid)
    told = r"counting .* 64,000,000 vertices needs .*: use more workers, or .* --memory-limit"
    with pytest.raises(mgraph.MemoryLimitError, match=told):
        mgraph.generate.grid(8000, 8000, client=limited, device="cpu")
    assert limited.run(os.getpid) == pids  # no process was ended


def test_a_worker_that_its_nanny_ends_for_memory(limited):
    def fill(k, of):
        if k == 1:
            [pid] = limited.run(os.getpid).values()
            limited.run(taking, on_error="ignore")
            wait_until(lambda: not os.path.exists(f"/proc/{pid}"))

    told = r"its nanny has ended it, as it had more memory than its limit allows: tcp://\S+ \([0-9.]+ [MG]iB\); raise"
    with pytest.raises(WorkerLostError, match=told):
        mgraph.bfs(GRID, 0, client=limited, device="cpu", span=1, progress=fill, retries=0)


def taking():
    """Take more memory than the nanny allows, in a thread, until the process ends."""
    taken = []

    def take():
        while len(taken) < 100:
            taken.append(np.ones(1 << 26, np.uint8))
        time.sleep(SILENCE)

    threading.Thread(target=take, daemon=True).start()
