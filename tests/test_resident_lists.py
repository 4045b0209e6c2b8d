"""Lists that lie on workers: made there as they are made here, and ranked where they lie."""

import gc
import os
import signal

import dask
import numpy as np
import pytest

import mgraph
from mgraph import DistributedGraph, Graph, device
from mgraph.errors import InputError, MemoryLimitError, SchedulerError, WorkerLostError
from mgraph.generate import linked_list
from tests.support.clusters import CLUSTER_WARNINGS, clients, cluster, wait_until
from tests.support.parameters import exhaustive
from tests.support.residents import names_kept

pytestmark = CLUSTER_WARNINGS


client = clients(2, *exhaustive(1, 3))


@pytest.mark.parametrize("n", [0, 1, 2, 17, 70_001])
def test_a_list_is_the_same_as_on_one_device(client, n):
    for seed in (0, 7):
        made = linked_list(n, seed=seed, client=client, device="cpu")
        expected = linked_list(n, seed=seed)
        assert made.dtype == expected.dtype
        np.testing.assert_array_equal(made.to_numpy(), expected)


def check_ranks(succ, place):
    for method in ("auto", "wyllie", "splitter64", "splitter48"):
        found = mgraph.list_rank(succ, method=method)
        expected = mgraph.list_rank(succ.to_numpy(), method=method, device=place)
        np.testing.assert_array_equal(found.ranks.to_numpy(), device.to_host(expected.ranks))


@pytest.mark.parametrize("n", [0, 1, 5, 4001])
def test_ranks_are_those_of_direct_calls(client, n):
    succ = linked_list(n, client=client, device="cpu")
    check_ranks(succ, "cpu")
    found = mgraph.list_rank(succ, method="sequential")
    assert len(found) == n and sorted(found.ranks.to_numpy().tolist()) == list(range(n))


@pytest.mark.gpu
def test_lists_on_gpus():
    with mgraph.cluster.local_client(min(2, device.gpu_count()), device="cuda") as client:
        for n in (1, 1000, 1 << 20):
            succ = linked_list(n, seed=3, client=client, device="cuda")
            np.testing.assert_array_equal(succ.to_numpy(), linked_list(n, seed=3))
            check_ranks(succ, "cuda")


def test_a_result_is_ranked_where_it_lies(client):
    """Labels of components lead to the least vertex, and predecessors of a search end nowhere."""
    graph = mgraph.generate.random_graph(300, 0.1, 3)
    with DistributedGraph.from_graph(graph, client, device="cpu") as placed:
        labels = mgraph.connected_components(placed).labels
        np.testing.assert_array_equal(mgraph.list_rank(labels).ranks.to_numpy(), labels.to_numpy() != range(graph.n))
        before = mgraph.bfs(placed, 0, predecessors=True).predecessors
        with pytest.raises(InputError, match=r"got -9999 at element 0"):
            mgraph.list_rank(before)
        with pytest.raises(InputError, match="succ must be integers"):
            mgraph.list_rank(labels == 0)
        both = DistributedGraph.from_graph(Graph.from_edges([0], [1], n=2, directed=False), client, device="cpu")
        around = mgraph.bfs(both, 1).distances  # [1, 0]
        with pytest.raises(InputError, match=r"element [01] of succ is on a cycle"):
            mgraph.list_rank(around)
        assert mgraph.list_rank(labels).ranks[0] == 0  # the workers can still be used


def test_what_does_not_go_with_a_list_on_workers(client):
    succ = linked_list(1000, client=client, device="cpu")
    for name, value in (("device", "cpu"), ("client", client), ("worker_timeout", 5), ("wait_for_workers", 2)):
        with pytest.raises(InputError, match=f"leave out {name}"):
            mgraph.list_rank(succ, **{name: value})
    with pytest.raises(MemoryLimitError, match="memory limit"):
        mgraph.list_rank(succ, memory_limit=1000)
    [last] = list(client.scheduler_info()["workers"])[-1:]
    alone = linked_list(1000, client=client, device="cpu", workers=[last])
    assert alone.ranges == ((0, 1000),) and (alone.to_numpy() == succ.to_numpy()).all()
    with pytest.raises(InputError, match="client="):
        linked_list(5, workers=[last])
    with pytest.raises(InputError, match="n must be"):
        linked_list(-1, client=client)


def test_nothing_stays_of_what_nothing_refers_to(client):
    succ = linked_list(100, client=client, device="cpu")
    ranks = mgraph.list_rank(succ).ranks
    call, workers = succ.place[0], len(client.scheduler_info()["workers"])
    assert names_kept(client).count(call) == workers
    del succ
    gc.collect()
    wait_until(lambda: call not in names_kept(client))
    assert ranks.max() == 99


def test_a_lost_worker_and_a_closed_client():
    with cluster(2, processes=True) as client, dask.config.set({"mgraph.retries": 0}):
        succ = linked_list(100, client=client, device="cpu")
        address, pid = next(iter(client.run(os.getpid).items()))
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: address not in client.scheduler_info()["workers"])
        for _ in range(2):
            with pytest.raises(WorkerLostError):
                mgraph.list_rank(succ)
    with pytest.raises((WorkerLostError, SchedulerError)):
        mgraph.list_rank(succ)
