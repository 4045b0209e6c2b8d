"""Published graphs that are made again after a worker was lost."""

import gc
import logging
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import dask
import numpy as np
import pytest
from distributed import Client

import mgraph
from mgraph import DistributedGraph
from mgraph.errors import InputError, WorkerLostError
from mgraph.runtime.dask.group import Group
from tests.support.checkpoints import Steps, written
from tests.support.clusters import CLUSTER_WARNINGS, LOST, SILENCE, Kills, kill_a_worker, wait_until
from tests.support.commands import ok
from tests.support.parameters import exhaustive
from tests.support.residents import names_kept

pytestmark = [*CLUSTER_WARNINGS, LOST, pytest.mark.usefixtures("writing")]

GRID = mgraph.generate.grid(12, 12, weights=(1, 9), device="cpu")


def grid(client):
    return mgraph.generate.grid(12, 12, weights=(1, 9), client=client, device="cpu")


def read(client, tmp_path, **how):
    path = tmp_path / "edges.txt"
    matrix = GRID.to_scipy().tocoo()
    np.savetxt(path, np.column_stack([10 * matrix.row, 10 * matrix.col]), fmt="%d")
    return mgraph.read(path, client=client, device="cpu", **how)


#: What makes a graph that any client can make again.
WAYS = {
    "generated": lambda client, tmp_path: grid(client),
    "read": lambda client, tmp_path: read(client, tmp_path, n=2000),
    "relabelled": lambda client, tmp_path: read(client, tmp_path, relabel=True),
    "of random weights": lambda client, tmp_path: mgraph.generate.weighted(read(client, tmp_path, n=2000), (1, 9)),
}


def distances(graph, source=0, **how):
    return mgraph.sssp(graph, source, **how).distances.to_numpy()


@pytest.fixture
def others(mortals):
    """Three more clients of the same workers."""
    with ExitStack() as stack:
        address = mortals.scheduler.address
        yield [stack.enter_context(Client(address, set_as_default=False)) for _ in range(3)]


def times_made(caplog):
    return sum("lost a part of the published graph 'streets': made again" in line for line in caplog.messages)


@pytest.mark.parametrize("way", ["relabelled", *exhaustive(*(way for way in WAYS if way != "relabelled"))])
def test_a_published_graph_is_made_again_for_all_clients(mortals, others, caplog, tmp_path, way):
    with WAYS[way](mortals, tmp_path) as graph:
        expected, ids = distances(graph), None if graph.ids is None else graph.ids.to_numpy()
        graph.publish("streets")
    del graph
    handles = [mgraph.resident("streets", client) for client in others[:2]]
    address = kill_a_worker(mortals)
    with caplog.at_level(logging.WARNING, "mgraph"):
        for handle in handles:
            np.testing.assert_array_equal(distances(handle), expected)
            assert all(address not in spec.name for spec in mgraph.sssp(handle, 0).plan.devices)
        handles.append(mgraph.resident("streets", others[2]))
        np.testing.assert_array_equal(distances(handles[2]), expected)
        assert times_made(caplog) == 1
        assert mgraph.cluster.published(mortals) == ["streets"]

        kills = Kills(mortals)
        np.testing.assert_array_equal(distances(handles[2], span=1, progress=kills), expected)
        assert len(kills.killed) == 1 and times_made(caplog) == 2
        np.testing.assert_array_equal(distances(handles[0]), expected)
        assert times_made(caplog) == 2
    if ids is not None:
        for handle in (handles[0], handles[2]):
            np.testing.assert_array_equal(handle.ids.to_numpy(), ids)
    mgraph.cluster.unpublish("streets", mortals)
    del handle, handles
    gc.collect()
    wait_until(lambda: names_kept(mortals) == [])


def test_clients_that_need_it_at_once_make_it_once(mortals, others, caplog):
    with grid(mortals) as graph, ThreadPoolExecutor(4) as threads:
        expected = distances(graph)
        graph.publish("streets")
        handles = [graph, *(mgraph.resident("streets", client) for client in others)]
        kill_a_worker(mortals)
        with caplog.at_level(logging.WARNING, "mgraph"):
            for found in threads.map(distances, handles):
                np.testing.assert_array_equal(found, expected)
        assert times_made(caplog) == 1
        mgraph.cluster.unpublish("streets", mortals)


def test_a_client_that_comes_after_the_loss(mortals, tmp_path):
    with grid(mortals) as graph:
        expected = distances(graph)
        graph.publish("streets")
    address = kill_a_worker(mortals)
    wait_until(lambda: address not in mortals.scheduler_info(n_workers=-1)["workers"])
    with dask.config.set({"mgraph.retries": 0}), pytest.raises(WorkerLostError, match=r"by mgraph.generate.grid\(12"):
        mgraph.resident("streets", mortals)
    words = ("sssp", "--resident", "streets", "--source", "0", "--scheduler", mortals.scheduler.address)
    ok(*words, "--out", str(tmp_path / "found.npy"))
    np.testing.assert_array_equal(np.load(tmp_path / "found.npy"), expected)
    mgraph.cluster.unpublish("streets", mortals)


@pytest.mark.exhaustive
def test_a_name_that_is_free_or_another_graphs_by_then(mortals, others):
    with grid(mortals) as graph:
        expected = distances(graph)
        graph.publish("streets")
    handles = [mgraph.resident("streets", client) for client in others[:2]]
    mgraph.cluster.unpublish("streets", mortals)
    kill_a_worker(mortals)
    np.testing.assert_array_equal(distances(handles[0]), expected)
    assert mgraph.cluster.published(mortals) == []
    with mgraph.generate.grid(3, 3, client=mortals, device="cpu") as other:
        other.publish("streets")
        np.testing.assert_array_equal(distances(handles[1]), expected)
        assert mgraph.resident("streets", mortals).n == 9
    mgraph.cluster.unpublish("streets", mortals)


def test_a_worker_that_is_lost_while_it_is_made_again(mortals, others, monkeypatch):
    with grid(mortals) as graph:
        expected = distances(graph)
        graph.publish("streets")
    handle = mgraph.resident("streets", others[0])
    kill_a_worker(mortals)
    each, killed = Group.each, []

    def kill(group, *arguments):
        if not killed:
            killed.append(kill_a_worker(mortals))
        return each(group, *arguments)

    monkeypatch.setattr(Group, "each", kill)
    np.testing.assert_array_equal(distances(handle), expected)
    assert len(killed) == 1
    np.testing.assert_array_equal(distances(mgraph.resident("streets", others[1])), expected)
    mgraph.cluster.unpublish("streets", mortals)


@pytest.mark.exhaustive
def test_a_call_with_checkpoints_on_a_graph_of_another_client(mortals, others, tmp_path):
    with grid(mortals) as graph:
        graph.publish("streets")
    handle = mgraph.resident("streets", others[0])
    steps, killing = Steps(), written(tmp_path, then=lambda: kill_a_worker(mortals))

    def progress(k, of):
        steps(k, of)
        killing(k, of)

    found = mgraph.apsp(handle, method="naive", span=10, checkpoint=tmp_path, checkpoint_every=0, progress=progress)
    wanted = mgraph.apsp(GRID, method="naive", device="cpu").distances
    np.testing.assert_array_equal(found.distances.to_numpy(), wanted)
    back, *_ = [later for before, later in zip(steps.seen, steps.seen[1:], strict=False) if later <= before]
    assert back > 10
    mgraph.cluster.unpublish("streets", mortals)


@pytest.mark.exhaustive
def test_a_stopped_worker_has_no_part_of_it_any_more(mortals, others):
    with grid(mortals) as graph:
        expected = distances(graph)
        graph.publish("streets")
    handle = mgraph.resident("streets", others[0], worker_timeout=SILENCE)
    address, pid = max(mortals.run(os.getpid).items())
    os.kill(pid, signal.SIGSTOP)
    try:
        np.testing.assert_array_equal(distances(handle), expected)
        assert len(handle.ranges) == 1 and address not in mgraph.sssp(handle, 0).plan.devices[0].name
    finally:
        os.kill(pid, signal.SIGCONT)
    np.testing.assert_array_equal(distances(mgraph.resident("streets", others[1])), expected)
    mgraph.cluster.unpublish("streets", mortals)
    del handle
    gc.collect()
    wait_until(lambda: names_kept(mortals) == [])  # the worker too, since it is awake again


def test_a_file_that_has_changed(mortals, others, tmp_path):
    read(mortals, tmp_path, n=2000).publish("streets")
    handle = mgraph.resident("streets", others[0])
    kill_a_worker(mortals)
    (tmp_path / "edges.txt").write_text("0 1\n1 2\n")
    for use in (lambda: mgraph.bfs(handle, 0), lambda: mgraph.resident("streets", others[1])):
        with pytest.raises(InputError, match=r"'streets', .*n=2000, m=528.* is another one now, .*n=2000, m=2"):
            use()
    mgraph.cluster.unpublish("streets", mortals)


def test_what_one_client_has_made_is_not_made_again(mortals, others):
    sent = DistributedGraph.from_graph(GRID, mortals, device="cpu")
    weighted = grid(mortals).with_weights(lambda src, dst: src + dst)
    for name, graph in (("sent", sent), ("weighted", weighted)):
        graph.publish(name)
    found = [mgraph.resident(name, others[0]) for name in ("sent", "weighted")]
    address = kill_a_worker(mortals)
    for name, handle in zip(("sent", "weighted"), found, strict=True):
        with pytest.raises(WorkerLostError, match=f"{address}.* were lost: make the graph again"):
            mgraph.bfs(handle, 0)
        with pytest.raises(
            WorkerLostError, match=f"of the published graph '{name}'.*: unpublish it, and make it again"
        ):
            mgraph.resident(name, others[1])
        mgraph.cluster.unpublish(name, mortals)
    assert distances(sent)[0] == 0  # its own client makes it again
