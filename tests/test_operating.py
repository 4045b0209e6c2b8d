"""What docs/operating.md promises an operator of what happens when a part of a cluster ends."""

import signal
import subprocess
import sys
import threading
import time

import dask
import pytest
from distributed import Client

import mgraph
from mgraph.errors import InputError, MemoryLimitError, SchedulerError, WorkerLostError
from mgraph.runtime.dask import turns
from tests.support.clusters import CLUSTER_WARNINGS, SOON, cluster, sessions, wait_until
from tests.support.parameters import exhaustive
from tests.support.ports import free_port

pytestmark = CLUSTER_WARNINGS


def started(*arguments):
    command = [sys.executable, "-m", *arguments]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.mark.parametrize("nanny", [True, *exhaustive(False)], ids=["with a nanny", "without a nanny"])
def test_workers_end_after_their_scheduler(nanny):
    address = f"tcp://127.0.0.1:{free_port()}"
    given = ["--port", address.rpartition(":")[2], "--host", "127.0.0.1", "--no-dashboard"]
    scheduler = started("distributed.cli.dask_scheduler", *given)
    options = ["--nthreads", "1", "--no-dashboard", "--nanny" if nanny else "--no-nanny"]
    worker = started("distributed.cli.dask_worker", address, *options)
    try:
        with Client(address, set_as_default=False, timeout=SOON) as client:
            client.wait_for_workers(1, timeout=SOON)
            begun = threading.Event()

            def progress(k, of):
                begun.set()
                time.sleep(0.05)

            killer = threading.Thread(target=lambda: (begun.wait(SOON), scheduler.kill()))
            killer.start()
            with pytest.raises((SchedulerError, WorkerLostError)):
                graph = mgraph.generate.grid(1, 2000)
                mgraph.bfs(graph, 0, client=client, device="cpu", span=1, progress=progress, retries=0)
            killer.join()
        worker.wait(SOON)  # or raises; it takes a few seconds on a fast machine
        assert worker.returncode is not None and scheduler.wait() is not None
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()


def test_the_memory_of_calls_on_workers_is_configured():
    graph = mgraph.generate.grid(40, 40)
    with cluster(1, processes=False) as client, dask.config.set({"mgraph.memory-limit": "10 kB"}):
        with pytest.raises(MemoryLimitError, match=r"9\.77 KiB by the memory limit"):
            mgraph.apsp(graph, method="blocked", client=client, device="cpu")
        with mgraph.DistributedGraph.from_graph(graph, client, device="cpu") as there:
            with pytest.raises(MemoryLimitError, match=r"9\.77 KiB by the memory limit"):
                mgraph.apsp(there, method="blocked")
        assert mgraph.apsp(graph, method="blocked", client=client, device="cpu", memory_limit="1 GB").plan.steps
        assert mgraph.apsp(graph, method="blocked", device="cpu").plan.steps  # not on workers
        with (
            dask.config.set({"mgraph.memory-limit": "much"}),
            pytest.raises(InputError, match=r"mgraph\.memory-limit of Dask's configuration"),
        ):
            mgraph.bfs(graph, 0, client=client, device="cpu")


#: The command line, whose last message to the scheduler may arrive late.
COMMAND = """
from mgraph.cli import main
from mgraph.runtime.dask import turns
turns.PARTING = 60
main()
"""


def test_sigterm_ends_a_command_on_the_workers_of_a_scheduler():
    with cluster(2, processes=True) as client:
        arguments = ["apsp", "--rmat", "12", "--method", "blocked", "--span", "1", "--device", "cpu", "--quiet"]
        command = [sys.executable, "-c", COMMAND, *arguments, "--scheduler", client.scheduler.address]
        running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_until(lambda: [event for _, event in client.get_events("mgraph") if event["event"] == "plan"])
        running.terminate()
        assert running.communicate() == ("", "mgraph: terminated\n") and running.returncode == 143
        assert client.get_events("mgraph")[-1][1]["error"].startswith("Terminated")
        assert mgraph.bfs(mgraph.generate.grid(3, 3), 0, client=client, device="cpu").distances.max() == 4


CLIENT = """
import sys, time
from distributed import Client
import mgraph
with Client(sys.argv[1]) as client:
    on = {"client": client, "device": "cpu"}
    placed = sys.argv[2] == "placed"
    graph = mgraph.generate.grid(1, 150, **on if placed else {})
    found = mgraph.bfs(graph, 0, span=1, progress=lambda k, of: time.sleep(0.05), **{} if placed else on)
    print(int(found.distances[149]))
"""


@pytest.mark.parametrize("where", ["placed", *exhaustive("sent")])
@pytest.mark.exhaustive
def test_workers_are_free_soon_after_a_client_has_been_stopped(monkeypatch, where):
    """What it has there goes, calls of others do not wait for it, and its own call ends well once it wakes."""
    monkeypatch.setattr(turns, "LISTEN", 1.0)
    monkeypatch.setattr(turns, "SILENT_CLIENT", 1.0)  # the time between heartbeats counts then

    def begun():
        told = [event for _, event in client.get_events("mgraph")]
        return told and (told[-1]["event"], told[-1].get("algorithm")) == ("plan", "bfs") and any(sessions(client))

    def given_up():
        error = client.get_events("mgraph")[-1][1].get("error", "")
        return "its client has been silent for" in error and not any(sessions(client))

    with cluster(2, processes=True) as client:
        command = [sys.executable, "-c", CLIENT, client.scheduler.address, where]
        stopped = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            wait_until(begun)
            stopped.send_signal(signal.SIGSTOP)
            wait_until(given_up)
            assert mgraph.bfs(mgraph.generate.grid(3, 3), 0, client=client, device="cpu").distances.max() == 4
            stopped.send_signal(signal.SIGCONT)
            printed, _ = stopped.communicate()
            assert (printed, stopped.returncode) == ("149\n", 0)
        finally:
            stopped.kill()
