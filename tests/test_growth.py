"""What Dask's scheduler keeps of calls that have ended: no more after many calls than after a few."""

import gc

import numpy as np
import pytest

import mgraph
from mgraph.runtime.dask.driver import forget
from tests.support.clusters import CLUSTER_WARNINGS, clients, wait_until
from tests.support.parameters import exhaustive

pytestmark = CLUSTER_WARNINGS

ROADS = mgraph.generate.grid(6, 6, weights=(1, 9), device="cpu")

#: The most groups of tasks, or submissions, that the last calls may have left; each call makes some six groups.
LEFT = 16


client = clients(2)


def search(client, number):
    mgraph.bfs(ROADS, 0, client=client, device="cpu", span=1)


def matrix(client, number):
    np.asarray(mgraph.apsp(ROADS, client=client, device="cpu", method="sssp").distances)


def hierarchy(client, number):
    prepared = mgraph.Hierarchy(ROADS, order=range(36), device="cpu")
    mgraph.distances(prepared, reduce="mean", client=client, device="cpu")


def on_workers(client, number):
    with mgraph.DistributedGraph.from_graph(ROADS, client, device="cpu") as placed:
        np.asarray(mgraph.sssp(placed, 0).distances)


def of_dask(client, number):
    da = pytest.importorskip("dask.array")
    # Each time other ones: Dask names them by what they are made of.
    src, dst = da.arange(number, number + 8, chunks=4), da.arange(1, 9, chunks=4)
    mgraph.DistributedGraph.from_dask(src, dst, n=200, client=client, device="cpu").close()


def kept(client):
    """Return how many spans and prefixes the scheduler keeps; and how many groups of tasks, and submissions."""

    def tasks(dask_scheduler):
        return list(dask_scheduler.tasks)

    def count(dask_scheduler):
        spans = dask_scheduler.extensions["spans"].spans.values()
        submissions = sum(len(span.metadata["collections"]) for span in spans if span.metadata)
        return (len(spans), len(dask_scheduler.task_prefixes)), sum(len(span.groups) for span in spans), submissions

    gc.collect()
    forget(client)
    wait_until(lambda: not client.run_on_scheduler(tasks))
    search(client, 0)  # as each call, it lets the records of those before be forgotten
    return client.run_on_scheduler(count)


@pytest.mark.parametrize("call", [search, *exhaustive(matrix, hierarchy, on_workers, of_dask)])
def test_the_scheduler_does_not_grow(client, call):
    numbers = iter(range(100))

    def calls(count):
        for _ in range(count):
            call(client, next(numbers))
        return kept(client)

    calls(1)
    first, *_ = calls(10)
    last, groups, submissions = calls(10)
    assert first == last
    assert groups <= LEFT
    assert submissions <= LEFT


def test_the_span_of_a_call_that_fails_keeps_a_group(client):
    def end(dask_scheduler):
        span = dask_scheduler.extensions["spans"].spans["mgraph"]
        return len(span.groups), span.stop  # an error of Dask without a group

    def fail(k, of):
        raise KeyboardInterrupt

    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            mgraph.bfs(ROADS, 0, client=client, device="cpu", span=1, progress=fail)
        groups, stop = client.run_on_scheduler(end)
        assert groups > 0 < stop
