"""Calls of several clients and threads on graphs on workers run one after the other and do not disturb each other."""

import gc
import re
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from distributed import Client

import mgraph
from mgraph import DistributedGraph, limits
from mgraph.errors import InputError, MemoryLimitError, SchedulerError
from mgraph.generate import rmat, weighted
from mgraph.runtime.dask.turns import turns_on
from tests.support.clusters import CLUSTER_WARNINGS, SOON, clients, wait_until
from tests.support.parameters import exhaustive
from tests.support.residents import Failing, names_kept

pytestmark = CLUSTER_WARNINGS

GRAPH = weighted(rmat(7), (1, 9))


client = clients(3)


@pytest.fixture(scope="module")
def other(client):
    """Another client of the same workers."""
    with Client(client.scheduler.address, set_as_default=False) as made:
        yield made


@pytest.mark.exhaustive
def test_threads_and_clients_beside_calls_that_fail(client, other):
    """A call that fails or is interrupted ends no call of another thread, and takes no graph or vector with it."""
    expected = [mgraph.sssp(GRAPH, source, device="cpu").distances for source in range(4)]
    with ThreadPoolExecutor(4) as threads:
        graphs = list(
            threads.map(lambda each: DistributedGraph.from_graph(GRAPH, each, device="cpu"), [client, other] * 2)
        )
    assert len({graph.placement.group.session for graph in graphs}) == 2
    kept = mgraph.sssp(graphs[0], 1).distances
    plan, start = mgraph.bfs(graphs[0], 0).plan, threading.Barrier(6)

    def interrupt(done, total):
        raise KeyboardInterrupt

    def call(number):
        start.wait()
        for source in range(4):
            if number == 4:
                with pytest.raises(InputError, match="a test"):
                    graphs[0].placement.executor().run(Failing(), lambda shard: None, plan, None)
            elif number == 5:
                with pytest.raises(KeyboardInterrupt):
                    mgraph.sssp(graphs[1], 0, span=1, progress=interrupt)
            else:
                found = mgraph.sssp(graphs[number], source).distances
                np.testing.assert_array_equal(found.to_numpy(), expected[source])
                np.testing.assert_array_equal(kept.to_numpy(), expected[1])

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(call, range(6)))
    for graph in graphs:
        graph.close()


def in_line(client):
    return client.run_on_scheduler(lambda dask_scheduler: len(turns_on(dask_scheduler)))


def test_an_interrupted_call_waits_no_longer_for_its_turn(client, other):
    graph, go_on = DistributedGraph.from_graph(GRAPH, client, device="cpu"), threading.Event()

    def press():
        wait_until(lambda: in_line(other) == 2)
        # To the waiting thread, as the terminal's signal.
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with ThreadPoolExecutor(2) as threads:
        try:
            how = {"client": other, "device": "cpu", "span": 1, "progress": lambda k, of: go_on.wait(SOON)}
            holding = threads.submit(mgraph.bfs, GRAPH, 0, **how)
            wait_until(lambda: in_line(other) == 1)
            pressing = threads.submit(press)
            with pytest.raises(KeyboardInterrupt):
                mgraph.bfs(graph, 0)
            pressing.result()
            wait_until(lambda: in_line(other) == 1)
            assert not holding.done()
        finally:
            signal.signal(signal.SIGINT, before)
            go_on.set()
    expected = mgraph.bfs(GRAPH, 0, device="cpu").distances
    np.testing.assert_array_equal(holding.result().distances, expected)
    np.testing.assert_array_equal(mgraph.bfs(graph, 0).distances.to_numpy(), expected)


def test_a_call_that_does_not_fit_says_what_lies_there(client, other, monkeypatch):
    first = DistributedGraph.from_graph(GRAPH, client, device="cpu")
    second = DistributedGraph.from_graph(rmat(6), client, device="cpu")
    kept = mgraph.bfs(second, 0, predecessors=True)
    second.publish("roads")
    third = mgraph.generate.grid(3, 5, client=other, device="cpu")
    monkeypatch.setattr(limits, "own_memory", lambda: 1)
    time.sleep(1.1)  # what is known of the memory is as old as that at most
    there = (
        r"which has 1 B free beside .*\(.*KiB\).*",
        r"a graph of 128 vertices and [\d,]+ edges there \([\d.]+ KiB\)",
        r"a graph of 15 vertices and \d+ edges there \(\d+ B\)",
        r"the published graph 'roads' \(",
        r"a result's distances, predecessors \(",
    )
    for call in (
        lambda: mgraph.bfs(first, 0),
        lambda: mgraph.bfs(third, 0),
        lambda: DistributedGraph.from_graph(GRAPH, client, device="cpu"),
    ):
        with pytest.raises(MemoryLimitError) as error:
            call()
        for words in there:
            assert re.search(words, str(error.value)), error.value
        assert " 64 vertices" not in str(error.value)  # the published graph is named once, by its name
    monkeypatch.undo()
    for graph in (first, second, third):
        graph.close()
    del kept
    gc.collect()
    mgraph.cluster.unpublish("roads", client)
    wait_until(lambda: names_kept(client) == [])


def test_a_call_that_waits_for_its_turn_is_not_lost(client, other):
    """A worker is not silent because the call of another client has its turn for longer than `worker_timeout`."""
    first = DistributedGraph.from_graph(GRAPH, client, device="cpu")
    second = DistributedGraph.from_graph(GRAPH, other, device="cpu", worker_timeout=5)
    begun, passed = threading.Event(), []

    def hold(done, total):
        if not begun.is_set():
            begun.set()
            time.sleep(12)
            passed.append(1)

    with ThreadPoolExecutor(1) as thread:
        holding = thread.submit(mgraph.bfs, first, 0, span=1, progress=hold)
        begun.wait()
        found = mgraph.bfs(second, 3).distances
        assert passed  # it had waited
        holding.result()
    np.testing.assert_array_equal(found.to_numpy(), mgraph.bfs(GRAPH, 3, device="cpu").distances)


@pytest.mark.parametrize("way", ["there, by spans", *exhaustive("there", "sent")])
def test_a_call_that_the_scheduler_drops_is_named(client, other, way):
    """So it is when the connection to a client breaks, and the scheduler forgets the client; nothing stays behind."""
    first = DistributedGraph.from_graph(GRAPH, client, device="cpu")
    second = DistributedGraph.from_graph(GRAPH, other, device="cpu")
    begun, over, held = threading.Event(), threading.Event(), mgraph.bfs(second, 1).distances

    def hold(done, total):
        begun.set()
        over.wait(SOON)

    def calls(dask_scheduler):
        return len(turns_on(dask_scheduler))

    def drop(gone, dask_scheduler):
        turns_on(dask_scheduler).remove_client(dask_scheduler, gone)

    with ThreadPoolExecutor(2) as threads:
        holding = threads.submit(mgraph.bfs, first, 0, span=1, progress=hold)
        begun.wait()
        given = {"there": {}, "there, by spans": {"span": 1, "progress": print}, "sent": {"client": other}}[way]
        waiting = threads.submit(mgraph.bfs, GRAPH if way == "sent" else second, 0, **given)
        wait_until(lambda: client.run_on_scheduler(calls) == 2)
        del held
        gc.collect()
        client.run_on_scheduler(drop, other.id)
        with pytest.raises(SchedulerError, match="has dropped this client's calls"):
            waiting.result()
        over.set()
        holding.result()
    np.testing.assert_array_equal(
        mgraph.bfs(second, 3).distances.to_numpy(), mgraph.bfs(GRAPH, 3, device="cpu").distances
    )
    del first, second, holding, waiting
    gc.collect()
    wait_until(lambda: names_kept(client) == [])
