"""Graphs and lists on workers that are made again after a worker was lost."""

import gc
import logging
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import dask
import dask.array
import numpy as np
import pytest
from distributed import Client

import mgraph
from mgraph import DistributedGraph
from mgraph.errors import InputError, MemoryLimitError, WorkerLostError
from mgraph.runtime.dask import graph as graphs
from mgraph.runtime.dask import group, watch
from mgraph.runtime.dask.group import Group
from tests.support.clusters import (
    CLUSTER_WARNINGS,
    LOST,
    SILENCE,
    Kills,
    again_at_the_same_address,
    cluster,
    kill_a_worker,
    present,
    wait_until,
)
from tests.support.parameters import exhaustive
from tests.support.residents import names_kept

pytestmark = [*CLUSTER_WARNINGS, LOST]

GRID = mgraph.generate.grid(12, 12, weights=(1, 9), device="cpu")
SRC, DST = GRID.csr().indices, np.repeat(np.arange(GRID.n), np.diff(GRID.csr().indptr))
LAZY = dask.array.from_array(SRC, chunks=100), dask.array.from_array(DST, chunks=100)
LENGTHS = np.arange(GRID.m, dtype=np.int64) % 7 + 1


def read(client, tmp_path, **how):
    path = tmp_path / "edges.txt"
    np.savetxt(path, np.column_stack([SRC, DST]), fmt="%d")
    return mgraph.read(path, client=client, device="cpu", **how)


#: What makes a graph on workers.
WAYS = {
    "sent": lambda client, tmp_path: DistributedGraph.from_graph(GRID, client, device="cpu"),
    "generated": lambda client, tmp_path: mgraph.generate.rmat(7, client=client, device="cpu"),
    "read": read,
    "relabelled": lambda client, tmp_path: read(client, tmp_path, relabel=True),
    "of Dask": lambda client, tmp_path: DistributedGraph.from_dask(*LAZY, client=client, device="cpu"),
    "of random weights": lambda client, tmp_path: mgraph.generate.weighted(read(client, tmp_path), (1, 9)),
    "of weights": lambda client, tmp_path: WAYS["of Dask"](client, tmp_path).with_weights(LENGTHS),
}


def distances(graph, source, **how):
    return mgraph.sssp(graph, source, **how).distances.to_numpy()


@pytest.mark.parametrize("way", ["relabelled", *exhaustive(*(way for way in WAYS if way != "relabelled"))])
def test_a_graph_is_made_again(mortals, caplog, tmp_path, way):
    with WAYS[way](mortals, tmp_path) as graph:
        there = [distances(graph, source) for source in (0, 1)]
        edges, ids = graph.to_graph().csr(), graph.ids
        kept = names_kept(mortals)

        address = kill_a_worker(mortals)
        with caplog.at_level(logging.WARNING, "mgraph"):
            np.testing.assert_array_equal(distances(graph, 0), there[0])
        assert any(f"lost the worker {address} with a part of Dist" in line for line in caplog.messages)
        assert any("made again in" in line for line in caplog.messages)
        assert graph.ranges == graph.placement.cut.ranges and f"on {len(graph.ranges)} worker" in repr(graph)

        kills = Kills(mortals)
        np.testing.assert_array_equal(distances(graph, 1, span=1, progress=kills), there[1])
        assert len(kills.killed) == 1
        for ours, theirs in zip(graph.to_graph().csr(), edges, strict=True):
            np.testing.assert_array_equal(ours, theirs)
        assert ids is None or (graph.ids.to_numpy() == np.arange(graph.n)).all()
        gc.collect()
        wait_until(lambda: len(names_kept(mortals)) <= len(kept))  # survivors have freed what was there before
    del graph, ids
    gc.collect()
    wait_until(lambda: names_kept(mortals) == [])


def test_a_list_is_made_again(mortals):
    succ = mgraph.generate.linked_list(5000, client=mortals, device="cpu")
    expected = mgraph.list_rank(mgraph.generate.linked_list(5000)).ranks
    ranks = mgraph.list_rank(succ).ranks
    address = kill_a_worker(mortals)
    np.testing.assert_array_equal(mgraph.list_rank(succ).ranks.to_numpy(), expected)
    kills = Kills(mortals)
    np.testing.assert_array_equal(mgraph.list_rank(succ, method="wyllie", span=1, progress=kills).ranks, expected)
    assert len(kills.killed) == 1
    with pytest.raises(WorkerLostError, match=f"{address}.*the elements .* were lost"):
        ranks.to_numpy()


@pytest.mark.exhaustive
def test_a_worker_that_comes_back_at_its_former_address(fixed):
    with mgraph.generate.grid(12, 12, client=fixed, device="cpu") as graph:
        for use in lambda: mgraph.bfs(graph, 0).distances[143] == 22, lambda: graph.to_graph().m == graph.m:
            vector = mgraph.bfs(graph, 0).distances
            again_at_the_same_address(fixed, fixed.run(os.getpid))
            assert use()
            with pytest.raises(WorkerLostError, match=r"it was restarted.* the elements .* were lost"):
                vector.max()
    del vector
    gc.collect()
    wait_until(lambda: names_kept(fixed) == [])


@pytest.mark.exhaustive
def test_a_stopped_worker_has_no_part_of_a_graph_that_is_made_again(mortals):
    address, pid = max(mortals.run(os.getpid).items())
    with DistributedGraph.from_graph(GRID, mortals, device="cpu", worker_timeout=SILENCE) as graph:
        found = distances(graph, 0)
        os.kill(pid, signal.SIGSTOP)
        try:
            np.testing.assert_array_equal(distances(graph, 0), found)
        finally:
            os.kill(pid, signal.SIGCONT)
        assert len(graph.ranges) == 1 and address not in graph.placement.group.addresses
    wait_until(lambda: names_kept(mortals) == [])  # it has freed what it held, since it was awake again


def test_a_graph_does_not_wait_for_a_worker_that_another_call_has_given_up(mortals):
    graph = mgraph.generate.rmat(7, client=mortals, device="cpu")
    here = mgraph.generate.rmat(7, device="cpu")
    found = mgraph.bfs(here, 0, device="cpu").distances
    address, pid = max(mortals.run(os.getpid).items())
    np.testing.assert_array_equal(mgraph.bfs(graph, 0).distances.to_numpy(), found)
    os.kill(pid, signal.SIGSTOP)
    try:
        sent = mgraph.bfs(here, 0, client=mortals, device="cpu", worker_timeout=SILENCE)
        np.testing.assert_array_equal(sent.distances, found)
        began = time.monotonic()
        np.testing.assert_array_equal(mgraph.bfs(graph, 0).distances.to_numpy(), found)
        assert time.monotonic() - began < 30 and address not in graph.placement.group.addresses
    finally:
        os.kill(pid, signal.SIGCONT)
        graph.close()


@pytest.mark.exhaustive
@pytest.mark.parametrize("way", ["generated", "published"])
def test_a_graph_does_not_wait_for_a_worker_that_has_long_been_silent(mortals, monkeypatch, way):
    """It may be silent for 60 s in the middle of a call, but at its beginning only as long as calls with a client."""
    for module in watch, group:
        monkeypatch.setattr(module, "SILENT", SILENCE)
    graph = mgraph.generate.rmat(7, client=mortals, device="cpu")
    found = mgraph.bfs(graph, 0).distances.to_numpy()
    graph.publish("silent")
    address, pid = max(mortals.run(os.getpid).items())
    os.kill(pid, signal.SIGSTOP)
    try:
        time.sleep(SILENCE + 2)
        began = time.monotonic()
        if way == "published":
            graph = mgraph.cluster.resident("silent", mortals)
        np.testing.assert_array_equal(mgraph.bfs(graph, 0).distances.to_numpy(), found)
        assert time.monotonic() - began < 30 and address not in graph.placement.group.addresses
    finally:
        os.kill(pid, signal.SIGCONT)
        mgraph.cluster.unpublish("silent", mortals)
        graph.close()


def test_retries_bound_how_often_a_graph_is_made_again(mortals):
    with mgraph.generate.grid(12, 12, client=mortals, device="cpu") as graph:
        kills = Kills(mortals, times=5)
        with pytest.raises(WorkerLostError, match="makes it again; the call was made 2 times") as caught:
            mgraph.bfs(graph, 0, span=1, progress=kills, retries=1)
        assert caught.value.workers == (kills.killed[1],)
        with pytest.raises(
            WorkerLostError, match=r"of DistributedGraph.* were lost: mgraph\.generate.grid.* makes it again"
        ):
            mgraph.bfs(graph, 0, retries=0)
        with dask.config.set({"mgraph.retries": 0}), pytest.raises(WorkerLostError, match=kills.killed[1]):
            graph.to_graph()
        assert mgraph.bfs(graph, 0, retries=1).distances[0] == 0  # a later call makes it again


def test_methods_of_a_lost_graph_make_it_again(mortals):
    with DistributedGraph.from_graph(GRID, mortals, device="cpu") as graph:
        expected = mgraph.sssp(GRID.with_weights(GRID.csc().weights * 2), 0, device="cpu").distances
        for use in (
            graph.cached,
            graph.release,
            lambda: graph.publish("remade"),
            lambda: np.testing.assert_array_equal(distances(graph.with_weights(2 * GRID.csc().weights), 0), expected),
        ):
            kill_a_worker(mortals)
            use()
        mgraph.cluster.unpublish("remade", mortals)


def test_what_the_caller_has_forgotten_is_not_made_again(mortals):
    src, dst = mortals.persist(list(LAZY))
    lengths = LENGTHS.copy()
    sent = DistributedGraph.from_graph(mgraph.generate.grid(5, 5), mortals, device="cpu")
    held = DistributedGraph.from_dask(src, dst, client=mortals, device="cpu")
    weighted = DistributedGraph.from_dask(*LAZY, client=mortals, device="cpu").with_weights(lengths)
    listed = DistributedGraph.from_dask(*LAZY, client=mortals, device="cpu").with_weights(list(lengths))
    del lengths
    gc.collect()
    address = kill_a_worker(mortals)
    for graph, reason in (
        (sent, "without the Graph that was sent"),
        (held, "without the lazy collection src"),
        (weighted, "without the array of its weights"),
        (listed, "without the array of its weights"),
    ):
        with pytest.raises(WorkerLostError, match=f"{address}.*{reason} it is not made again by itself"):
            mgraph.bfs(graph, 0)


@pytest.mark.exhaustive
def test_weights_of_a_graph_that_was_closed(mortals):
    base = mgraph.generate.grid(9, 9, client=mortals, device="cpu")
    graph = base.with_weights(lambda src, dst: src + dst)
    other = mgraph.generate.weighted(graph, (1, 5))
    found = distances(graph, 0), distances(other, 0)
    base.close()
    kill_a_worker(mortals)
    np.testing.assert_array_equal(distances(other, 0), found[1])  # which makes the other one again, too
    assert other.placement.group is graph.placement.group
    np.testing.assert_array_equal(distances(graph, 0), found[0])
    graph.close()
    other.close()
    wait_until(lambda: names_kept(mortals) == [])


def test_too_little_memory(mortals, monkeypatch):
    with DistributedGraph.from_graph(GRID, mortals, device="cpu") as graph:
        found, before = distances(graph, 0), graph.ranges
        address = kill_a_worker(mortals)
        monkeypatch.setattr(graphs, "usable", lambda spec, limit: 10)
        for _ in range(2):
            with pytest.raises(MemoryLimitError, match=f"lost a part with the worker {address}.* the edges need"):
                mgraph.bfs(graph, 0)
            assert graph.ranges == before
        monkeypatch.undo()
        np.testing.assert_array_equal(distances(graph, 0), found)


def test_a_file_that_has_changed(mortals, tmp_path):
    with read(mortals, tmp_path) as graph:
        kill_a_worker(mortals)
        (tmp_path / "edges.txt").write_text("0 1\n1 2\n")
        with pytest.raises(InputError, match=r"n=144, m=528.* is another graph now: .*n=3, m=2"):
            mgraph.bfs(graph, 0)


@pytest.mark.parametrize(
    ("way", "step"), [("read", "one"), *exhaustive(("sent", "sent"), ("generated", "each"), ("of Dask", "each"))]
)
def test_building_goes_on_after_a_loss(mortals, monkeypatch, caplog, tmp_path, way, step):
    done, killed = getattr(Group, step), []

    def kill(group, *arguments):
        if not killed:
            killed.append(kill_a_worker(mortals))
        return done(group, *arguments)

    monkeypatch.setattr(Group, step, kill)
    with caplog.at_level(logging.WARNING, "mgraph"), WAYS[way](mortals, tmp_path) as graph:
        assert any(f"lost the worker {killed[0]}" in line and "building goes on" in line for line in caplog.messages)
        assert mgraph.bfs(graph, 0).distances[0] == 0
    wait_until(lambda: names_kept(mortals) == [])
    killed.clear()
    with dask.config.set({"mgraph.retries": 0}), pytest.raises(WorkerLostError):
        WAYS[way](mortals, tmp_path)


def test_a_call_that_learns_of_a_loss_after_another_thread_has_made_the_graph_again(mortals, monkeypatch):
    """Then nothing that it lies on is lost any more, and it is made again all the same."""
    graph = DistributedGraph.from_graph(GRID, mortals, device="cpu")
    refresh, begun = Group.refresh, []

    def late(group, loss=None):
        if not begun:
            begun.append(group)
            kill_a_worker(mortals)
            with ThreadPoolExecutor(1) as other:
                assert other.submit(mgraph.bfs, graph, 1).result().distances[1] == 0
            raise WorkerLostError("lost a worker that the graph lay on", workers=("tcp://127.0.0.1:1",))
        refresh(group, loss)

    monkeypatch.setattr(Group, "refresh", late)
    found = mgraph.bfs(graph, 0)
    np.testing.assert_array_equal(found.distances.to_numpy(), mgraph.bfs(GRID, 0, device="cpu").distances)
    assert graph.placement.group is not begun[0]


def test_two_clients_and_several_threads(mortals):
    expected = [mgraph.bfs(GRID, source, device="cpu").distances for source in range(6)]
    with Client(mortals.scheduler.address, set_as_default=False) as other, ThreadPoolExecutor(3) as threads:
        clients = mortals, other
        placed = [DistributedGraph.from_graph(GRID, client, device="cpu") for client in clients for _ in range(2)]
        kill_a_worker(mortals)
        for graph in placed:
            calls = [threads.submit(mgraph.bfs, graph, source) for source in range(6)]
            for call, distances in zip(calls, expected, strict=True):
                np.testing.assert_array_equal(call.result().distances.to_numpy(), distances)
        del calls, call
        for graph in placed:
            graph.close()
        wait_until(lambda: names_kept(mortals) == [])


@pytest.mark.parametrize("in_call", [False, True])
def test_what_a_lost_attempt_kept_is_freed_without_a_collection(mortals, in_call):
    with DistributedGraph.from_graph(GRID, mortals, device="cpu") as graph:
        gc.collect()
        gc.disable()
        try:
            if in_call:
                distances(graph, 1, span=1, progress=Kills(mortals))
            else:
                kill_a_worker(mortals)
                distances(graph, 1)
            wait_until(lambda: len(set(names_kept(mortals))) == 1)  # the graph's
        finally:
            gc.enable()


def test_workers_that_were_chosen():
    with cluster(3, processes=True) as client:
        first, second, third = sorted(present(client))
        apart = DistributedGraph.from_graph(GRID, client, device="cpu", workers=[first, second])
        there = mgraph.bfs(apart, 0).distances
        name = apart.placement.name
        own = mgraph.generate.grid(12, 12, client=client, device="cpu", workers=[third])
        everywhere = mgraph.generate.grid(12, 12, client=client, device="cpu")
        lengths = mgraph.bfs(everywhere, 0).distances
        assert kill_a_worker(client) == third
        assert mgraph.bfs(own, 0).distances[143] == 22
        [address] = own.placement.group.addresses  # that of the worker that has the same name now
        assert address not in (first, second, third)
        assert mgraph.bfs(everywhere, 0).distances[143] == 22
        assert len(everywhere.ranges) == 3
        assert mgraph.bfs(apart, 0).distances[143] == 22
        assert apart.placement.name == name and there[143] == 22  # untouched
        np.testing.assert_array_equal((there == mgraph.bfs(everywhere, 0).distances).to_numpy(), True)
        longer = everywhere.with_weights(
            mgraph.sssp(apart, 0).distances.to_dask_array()[np.zeros(everywhere.m, int)] + 1
        )
        assert mgraph.sssp(longer, 0).distances[1] == 1
        with pytest.raises(WorkerLostError, match=third):
            lengths.max()
