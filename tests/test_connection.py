"""Options of calls that are given once, at `mgraph.cluster.connect` or `local_client`."""

import dask
import pytest

import mgraph
from mgraph import DistributedGraph
from mgraph.cluster import Cluster, connect, local_client
from mgraph.errors import InputError, MemoryLimitError, SchedulerError, WorkerLostError
from mgraph.runtime.dask.group import group_of
from tests.support.clusters import CLUSTER_WARNINGS, LOST, Kills, clients, kill_a_worker

pytestmark = CLUSTER_WARNINGS

GRID = mgraph.generate.grid(12, 12, weights=(1, 9), device="cpu")

alone = clients(1)


def test_a_call_takes_the_timeout_of_its_connection(alone):
    with (
        connect(alone.scheduler.address, worker_timeout="2 minutes") as client,
        connect(alone.scheduler.address) as other,
    ):
        assert Cluster(client, "cpu").timeout == 120
        assert Cluster(client, "cpu", worker_timeout=7).timeout == 7
        with dask.config.set({"mgraph.worker-timeout": 50}):
            assert Cluster(client, "cpu").timeout == 120
            assert Cluster(other, "cpu").timeout == 50


def test_the_timeout_that_a_graph_was_given_is_not_undone_by_the_connection(alone):
    with connect(alone.scheduler.address, worker_timeout=120) as client:
        for given, expected in (None, 120), (7, 7), (None, 7):
            with DistributedGraph.from_graph(GRID, client, device="cpu", worker_timeout=given):
                assert group_of(Cluster(client, "cpu")).timeout == expected


def test_a_call_waits_for_the_workers_of_its_connection(alone):
    with (
        connect(alone.scheduler.address, wait_for_workers=2) as client,
        dask.config.set({"mgraph.wait-timeout": "200 ms"}),
    ):
        for call in (
            lambda **on: mgraph.bfs(GRID, 0, client=client, device="cpu", **on),
            lambda **on: DistributedGraph.from_graph(GRID, client, device="cpu", **on),
        ):
            with pytest.raises(SchedulerError, match=r"has 1 worker after 0\.2 s, not wait_for_workers=2"):
                call()
            assert call(wait_for_workers=1) is not None


@LOST
def test_retries_of_a_connection(mortals):
    with connect(mortals.scheduler.address, retries=0) as client:
        on = {"client": client, "device": "cpu"}
        kills = Kills(client)
        with pytest.raises(WorkerLostError):
            mgraph.bfs(GRID, 0, span=1, progress=kills, **on)
        assert len(kills.killed) == 1
        assert mgraph.bfs(GRID, 0, span=1, progress=Kills(client), retries=1, **on).distances[0] == 0


@LOST
def test_retries_of_a_connection_hold_for_what_lies_on_workers(mortals):
    with connect(mortals.scheduler.address, retries=0) as client:
        with mgraph.generate.grid(12, 12, client=client, device="cpu") as graph:
            kill_a_worker(client)
            with pytest.raises(WorkerLostError):
                mgraph.bfs(graph, 0)
            with pytest.raises(WorkerLostError):
                graph.to_graph()
            assert mgraph.bfs(graph, 0, retries=1).distances[0] == 0


@pytest.mark.parametrize(
    "made", [lambda **options: connect("tcp://nowhere:1", **options), lambda **on: local_client(1, **on)]
)
@pytest.mark.parametrize(("name", "value"), [("worker_timeout", 0.5), ("wait_for_workers", 0), ("retries", -1)])
def test_options_of_a_connection_are_checked_before_it_is_made(made, name, value):
    with pytest.raises(InputError, match=f"{name} must be"):
        made(**{name: value})


def test_more_local_workers_than_fit_the_memory():
    with pytest.raises(MemoryLimitError, match=r"starting 1,000,000 workers needs 61\.04 TiB .*: ask for fewer"):
        local_client(10**6, "cpu")


def test_options_of_local_workers():
    with local_client(1, "cpu", worker_timeout=90) as client:
        assert Cluster(client, "cpu").timeout == 90
