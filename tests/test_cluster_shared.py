"""On a cluster that others use too, a call leaves nothing behind, and says what is wrong with whose worker."""

import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pytest
from test_cluster import QUIET, check_apsp, cluster, matrix, pytestmark, wait_until  # noqa: F401  (the mark works here too)

from mgraph import __version__, apsp
from mgraph.cluster.tasks import present
from mgraph.errors import VersionError


@pytest.fixture(scope="module")
def client():
    """A worker process."""
    with cluster(1, processes=True) as made:
        yield made


@contextmanager
def worker_process(client, preparation):
    """Start one more worker, in which `preparation`, a line of Python, runs first; yields its address."""
    before = present(client)
    script = f"{preparation}; from distributed.cli.dask_worker import main; main()"
    options = ["--no-nanny", "--nthreads=1", "--memory-limit=0", "--no-dashboard"]
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
    with pytest.raises(VersionError, match=f"the worker {address} {problem}: this client has mgraph {__version__}"):
        apsp(matrix(70), client=client, device="cpu")


def test_a_worker_without_mgraph(client):
    """It starts although calls have been made; a call names it and what it lacks; once it is gone, calls go on."""
    check_apsp(client, 70, np.float32, False)
    with worker_process(client, "import sys; sys.modules['mgraph'] = None") as address:
        refused(client, address, r"has no mgraph that can be imported \(.*mgraph.*\)")
    check_apsp(client, 70, np.float32, False)


@pytest.mark.parametrize(
    ("change", "problem"), [("= '0.0.9'", r"has mgraph 0\.0\.9"), ("", "has mgraph of no version")]
)
def test_a_worker_with_another_mgraph(client, change, problem):
    statement = f"mgraph.__version__ {change}" if change else "del mgraph.__version__"
    [address] = client.run(exec, f"import mgraph; {statement}")
    refused(client, address, problem)
    client.run(exec, f"import mgraph; mgraph.__version__ = {__version__!r}")
    check_apsp(client, 70, np.float32, False)


def test_nothing_stays_with_the_scheduler(client):
    before = client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.worker_plugins.copy())
    check_apsp(client, 70, np.float32, False)
    assert client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.worker_plugins.copy()) == before


def test_a_worker_that_joins_between_calls(client):
    check_apsp(client, 70, np.float32, False)
    with worker_process(client, "import mgraph") as address:
        found = apsp(matrix(200), client=client, device="cpu", block=32)
        assert address in {where for where, _ in found.distances._blocks}
        check_apsp(client, 70, np.float32, False)
    check_apsp(client, 70, np.float32, False)
