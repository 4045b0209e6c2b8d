"""Dask clusters of tests: their workers in this process or in processes, stopped, killed and started again."""

import multiprocessing
import os
import signal
import time
from contextlib import contextmanager

import dask
import pytest
from distributed import Client, LocalCluster
from distributed.utils import get_mp_context

from mgraph import device
from mgraph.cluster import local_client
from mgraph.runtime.dask.watch import Watch
from tests.support.ports import free_port


def present(client: Client) -> set[str]:
    """Return the addresses of the workers that the scheduler knows.

    Raises
    ------
    SchedulerError
        If it does not answer.
    """
    watch = Watch(client)
    watch.check()
    return watch.there


# A cluster that closes, or loses a worker, leaves sockets to the garbage collector.
CLUSTER_WARNINGS = [
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    # On a slow machine, of a test with a short time of silence.
    pytest.mark.filterwarnings("ignore:on the worker .*, superstep .* has taken:RuntimeWarning"),
]

QUIET = dict(dashboard_address=":0", silence_logs=50)

#: Seconds after which a call counts as hanging, even on a machine that is slow and busy.
SOON = 200

#: Seconds for which a worker that is stopped is silent before a test's call gives it up. A worker that runs must not be
#: silent for half of them, on any machine.
SILENCE = 8


def wait_until(holds, within=SOON):
    end = time.monotonic() + within
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def forked():
    """Fork worker processes from one that has imported their modules; spawned ones take seconds to import them.

    A nanny on a busy machine takes longer to start a worker again than the 15 s after which LocalCluster gives it up.
    """
    chosen = dask.config.set(
        {
            "distributed.worker.multiprocessing-method": "forkserver",
            "distributed.deploy.lost-worker-timeout": "10 minutes",
        }
    )
    get_mp_context()  # this imports the modules of Dask's own choice, once
    multiprocessing.set_forkserver_preload(["distributed", "mgraph.runtime.dask.worker", "mgraph.kernels.minplus.host"])
    return chosen


@contextmanager
def cluster(workers, processes):
    """A client of workers of one thread each, in this process or in processes of their own."""
    with (
        forked(),
        LocalCluster(n_workers=workers, threads_per_worker=1, processes=processes, memory_limit=0, **QUIET) as made,
        Client(made, set_as_default=False) as client,
    ):
        yield client


def clients(*workers, processes=False):
    """Return a fixture for a module: a client of each of these numbers of workers."""

    @pytest.fixture(scope="module", params=workers if len(workers) > 1 else None)
    def client(request):
        with cluster(getattr(request, "param", workers[0]), processes) as made:
            yield made

    return client


def keys_on_workers(client):
    return {key for keys in client.has_what().values() for key in keys}


def sessions(client):
    """The number of sessions of each worker in which a call runs, or has left something."""

    def count(dask_worker):
        there = getattr(dask_worker.plugins.get("mgraph"), "sessions", {})
        return sum(session.program is not None or len(session.kept) > 0 for session in there.values())

    return list(client.run(count).values())


def kill_a_worker(client):
    """Kill a worker once it computes; return its address."""
    pids = client.run(os.getpid)
    address, pid = max(pids.items())
    os.kill(pid, signal.SIGKILL)
    return address


def wait_for_workers(client, count):
    """Wait as `Client.wait_for_workers` does, but leave the cluster's own list of its workers alone."""
    wait_until(lambda: len(present(client)) >= count)


@pytest.fixture(params=[1, 2])
def gpu_workers(request):
    """A client of `local_client`, whose workers have a GPU each."""
    if device.gpu_count() < request.param:
        pytest.skip(f"needs {request.param} GPUs")
    with local_client(request.param, "cuda") as client:
        yield client


@pytest.fixture(params=[1, 2])
def gpus(request):
    """A client of Dask-CUDA's cluster."""
    if device.gpu_count() < request.param:
        pytest.skip(f"needs {request.param} GPUs")
    from dask_cuda import LocalCUDACluster

    with LocalCUDACluster(n_workers=request.param, **QUIET) as made, Client(made, set_as_default=False) as client:
        yield client


LOST = pytest.mark.filterwarnings("ignore:the call leaves out the worker")


#: Two worker processes, in the place of which their nannies start others.
nursed = clients(2, processes=True)


@pytest.fixture(scope="module")
def fixed():
    """A worker whose process always has the same address."""
    options = {"n_workers": 1, "threads_per_worker": 1, "worker_port": free_port(), "memory_limit": 0, **QUIET}
    with forked(), LocalCluster(**options) as made, Client(made, set_as_default=False) as client:
        yield client


@pytest.fixture
def mortals(nursed):
    """Two worker processes that a test may kill: their nannies start others."""
    wait_until(lambda: len(nursed.run(os.getpid, on_error="ignore")) == 2)
    return nursed


class Kills:
    """A report of progress that kills a worker after superstep `at`, `times` times."""

    def __init__(self, client, at=1, times=1):
        self.client, self.at, self.times = client, at, times
        self.killed = []

    def __call__(self, k, of):
        if k >= self.at and len(self.killed) < self.times:
            self.killed.append(kill_a_worker(self.client))


def again_at_the_same_address(client, before):
    """Kill the worker, unless that was done before, and wait until its nanny has started it again."""
    if client.run(os.getpid) == before:
        kill_a_worker(client)
        wait_until(lambda: client.run(os.getpid, on_error="ignore").keys() == before.keys())
        wait_until(lambda: client.run(os.getpid, on_error="ignore") != before)
