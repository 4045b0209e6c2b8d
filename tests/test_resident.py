"""Graphs that lie on workers: calls on them give what direct calls give, carry nothing of them, and free them."""

import asyncio
import gc
import os
import pickle
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import dask
import numpy as np
import psutil
import pytest
from distributed import Client

import mgraph
from mgraph import DistributedGraph, Graph, device, limits
from mgraph.algorithms.bfs.search import Search
from mgraph.errors import InputError, MemoryLimitError, NegativeCycleError, SchedulerError, WorkerLostError
from mgraph.generate import grid, rmat
from mgraph.graph.vertex_range import VertexRange
from mgraph.runtime import walking
from mgraph.runtime.communicator import Solo
from mgraph.runtime.dask.turns import Turns
from mgraph.runtime.dask.worker import NAME
from tests.support.clusters import CLUSTER_WARNINGS, SILENCE, clients, cluster, wait_until
from tests.support.parameters import exhaustive
from tests.support.residents import GRAPHS, Failing, directed, names_kept, same

pytestmark = CLUSTER_WARNINGS


client = clients(2, *exhaustive(1, 3, 5))


processes = clients(2, processes=True)


def check_calls(placed, graph):
    """Compare all calls on a graph that lies on workers with those on the same graph here."""
    for source in {0, graph.n // 2, graph.n - 1}:
        for predecessors in (False, True):
            found = mgraph.bfs(placed, source, predecessors=predecessors)
            expected = mgraph.bfs(graph, source, predecessors=predecessors, device="cpu")
            same(found, expected)
            found = mgraph.sssp(placed, source, predecessors=predecessors)
            same(found, mgraph.sssp(graph, source, predecessors=predecessors, device="cpu"))
        tree = mgraph.bfs(placed, source, predecessors="any")
        assert tree.distances.to_numpy().tolist() == expected.distances.tolist()
        tree.verify()
    found, expected = mgraph.connected_components(placed), mgraph.connected_components(graph, device="cpu")
    assert found.count == expected.count
    same(found, expected)
    found, expected = mgraph.minimum_spanning_forest(placed), mgraph.minimum_spanning_forest(graph, device="cpu")
    assert (found.trees, found.total) == (expected.trees, expected.total)
    same(found, expected)


@pytest.mark.parametrize("name", GRAPHS)
def test_calls_give_what_direct_calls_give(client, name):
    graph = GRAPHS[name]()
    with DistributedGraph.from_graph(graph, client, device="cpu") as placed:
        assert (placed.n, placed.m, placed.directed, placed.weights_dtype) == (
            graph.n,
            graph.m,
            graph.directed,
            graph.weights_dtype,
        )
        check_calls(placed, graph)
        back = placed.to_graph()
        for ours, theirs in zip(back.csr(), graph.csr(), strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.gpu
def test_calls_on_gpus_give_what_direct_calls_give():
    with mgraph.cluster.local_client(min(2, device.gpu_count()), device="cuda") as client:
        for make in GRAPHS.values():
            graph = make()
            with DistributedGraph.from_graph(graph, client, device="cuda") as placed:
                check_calls(placed, graph)
                check_calls(placed, graph)  # with what the first calls keep


@pytest.mark.parametrize(
    "method", ["hybrid", "frontier", "pull", "edge", "vertex", "mask", "queue", "privatized", "scan"]
)
def test_methods_of_searches(client, method):
    graph = GRAPHS["Kronecker"]()
    with DistributedGraph.from_graph(graph, client, device="cpu") as placed:
        same(mgraph.bfs(placed, 5, method=method), mgraph.bfs(graph, 5, method=method, device="cpu"))


@pytest.mark.parametrize("is_directed", [True, False])
def test_forests_of_weights_of_64_bits(client, is_directed):
    """Keys are places in a table that the workers make of their distinct weights."""
    rng = np.random.default_rng(5)
    src, dst = rng.integers(0, 200, (2, 900))
    for weights in (rng.normal(size=900), rng.integers(-(2**40), 2**40, 900)):
        graph = Graph.from_edges(src, dst, weights, n=210, directed=is_directed)
        expected = mgraph.minimum_spanning_forest(graph, device="cpu")
        with DistributedGraph.from_graph(graph, client, device="cpu") as placed:
            for _ in range(2):  # the second time with kept keys
                same(mgraph.minimum_spanning_forest(placed), expected)
        found = mgraph.minimum_spanning_forest(graph, client=client, device="cpu")
        np.testing.assert_array_equal(found.weights, expected.weights)


def test_what_is_held_is_part_of_a_plans_peak(client):
    """A plan may use the memory of what is there already, so it counts nothing that its call does not need."""
    graph = GRAPHS["Kronecker"]()
    with DistributedGraph.from_graph(graph, client, device="cpu") as placed:
        mgraph.bfs(placed, 0)  # the workers keep the edges by source, which the next two do not need
        for call in (mgraph.connected_components, mgraph.minimum_spanning_forest):
            for _ in range(2):
                plan = call(placed).plan
                assert all(spec.held <= peak for spec, peak in zip(plan.devices, plan.peak_bytes, strict=True))


def test_one_worker_runs_the_direct_path():
    """Its plan is that of a direct call: it knows the shape of the graph."""
    graph = grid(200, 200)  # of many levels, which only a look at it tells
    with Client(n_workers=1, threads_per_worker=limits.cores(), processes=False, dashboard_address=":0") as client:
        placed = DistributedGraph.from_graph(graph, client, device="cpu")
        for call in (lambda given, **at: mgraph.bfs(given, 0, **at), lambda given, **at: mgraph.sssp(given, 0, **at)):
            found, expected = call(placed).plan, call(graph, device="cpu").plan
            assert found.method == expected.method
            assert found.seconds == pytest.approx(expected.seconds, rel=0.01)


def test_limits_targets_and_several_sources(client):
    graph = GRAPHS["floats"]()
    with DistributedGraph.from_graph(graph, client, device="cpu") as placed:
        for given in ({"limit": 3}, {"target": 200}):
            same(mgraph.bfs(placed, 4, **given), mgraph.bfs(graph, 4, **given, device="cpu"))
            same(mgraph.sssp(placed, 4, **given), mgraph.sssp(graph, 4, **given, device="cpu"))
        same(mgraph.bfs(placed, sources=[1, 90]), mgraph.bfs(graph, sources=[1, 90], device="cpu"))


def test_many_searches(client):
    for name in ("Kronecker", "directed with zeros and loops", "fewer vertices than workers"):
        graph, sources = GRAPHS[name](), [1, 0, 1]
        with DistributedGraph.from_graph(graph, client, device="cpu") as placed:
            found = mgraph.bfs_many(placed, sources, predecessors=True)
            again = mgraph.bfs_many(placed, sources)
            expected = mgraph.bfs_many(graph, sources, predecessors=True, device="cpu")
            same(found, expected)
            np.testing.assert_array_equal(again.distances.to_numpy(), expected.distances)
            wait_until(lambda: len(names_kept(client)) == len(client.scheduler_info()["workers"]))  # the graph alone
        same(found, expected)  # its matrices outlive the graph
        assert found.path(1, 0) == expected.path(1, 0)


def test_a_graph_that_is_sent_again_and_again(client, caplog):
    graph = directed()
    with caplog.at_level("INFO", "mgraph"):
        for calls, hints in ((1, 0), (2, 1), (3, 1)):
            mgraph.bfs(graph, 0, client=client, device="cpu")
            assert caplog.text.count("mgraph.DistributedGraph.from_graph") == hints, calls


def test_vectors_are_read_where_they_lie(client):
    graph = GRAPHS["floats"]()
    with DistributedGraph.from_graph(graph, client, device="cpu") as placed:
        found = mgraph.bfs(placed, 4, predecessors=True)
        expected = mgraph.bfs(graph, 4, predecessors=True, device="cpu")
        vector, array = found.distances, expected.distances
        assert vector[0] == array[0] and vector[-1] == array[-1] and isinstance(vector[7], int)
        for part in (slice(None), slice(5, 200), slice(200, 5, -3), slice(None, None, 7), slice(9, 9)):
            np.testing.assert_array_equal(vector[part], array[part])
        assert vector.max() == array.max() and len(vector) == graph.n and vector.nbytes == array.nbytes
        np.testing.assert_array_equal(found.levels, expected.levels)
        np.testing.assert_array_equal(np.asarray(found), array)
        np.testing.assert_array_equal(vector.to_dask_array().compute(scheduler=client), array)
        for vertex in (0, 4, 250):
            assert found.path(vertex) == expected.path(vertex)
        for wrong in (graph.n, -graph.n - 1, 1.5, "x", [1, 2]):
            with pytest.raises(IndexError):
                vector[wrong]
        with pytest.raises(InputError, match="cannot be pickled"):
            pickle.dumps(vector)
        assert f"on {len(placed.ranges)} worker" in repr(vector) and "workers" in found._repr_html_()
        np.testing.assert_array_equal(found.to_pandas()["distances"], array)


def test_a_vector_is_saved(client, tmp_path):
    with DistributedGraph.from_graph(grid(5, 5), client, device="cpu") as placed:
        vector = mgraph.bfs(placed, 0).distances
        vector.save(tmp_path / "distances.npy")
        np.testing.assert_array_equal(np.load(tmp_path / "distances.npy"), vector.to_numpy())


def test_progress_is_reported_between_spans(client):
    graph, seen = grid(4, 40), []
    with DistributedGraph.from_graph(graph, client, device="cpu") as placed:
        found = mgraph.bfs(placed, 0, span=10, progress=lambda done, total: seen.append(done))
        same(found, mgraph.bfs(graph, 0, device="cpu"))
    assert len(seen) >= 4 and seen == sorted(seen)


def test_negative_cycles_are_found(client):
    graph = Graph.from_edges([0, 1, 2, 3], [1, 2, 1, 4], [1, -5, 2, 1])
    with DistributedGraph.from_graph(graph, client, device="cpu") as placed:
        with pytest.raises(NegativeCycleError):
            mgraph.sssp(placed, 0)
        same(mgraph.sssp(placed, 3), mgraph.sssp(graph, 3, device="cpu"))


def test_what_does_not_go_with_a_placed_graph(client):
    with DistributedGraph.from_graph(directed(), client, device="cpu") as placed:
        for name, value in (("device", "cpu"), ("client", client), ("worker_timeout", 5), ("wait_for_workers", 2)):
            with pytest.raises(InputError, match=f"leave out {name}"):
                mgraph.bfs(placed, 0, **{name: value})
        with pytest.raises(InputError, match="DistributedGraph"):
            mgraph.connected_components(placed, connection="strong")
        with pytest.raises(InputError, match="source must be an integer"):
            mgraph.bfs(placed, 300)
        with pytest.raises(InputError, match="cannot be pickled"):
            pickle.dumps(placed)
    with pytest.raises(InputError, match="has been closed"):
        mgraph.bfs(placed, 0)
    with pytest.raises(InputError, match=r"graph must be a Graph"):
        DistributedGraph.from_graph([[0]], client)


def test_what_nothing_refers_to_is_freed(client):
    workers = len(client.scheduler_info()["workers"])
    placed = DistributedGraph.from_graph(grid(5, 5), client, device="cpu")
    other = DistributedGraph.from_graph(grid(5, 5), client, device="cpu")
    vector = mgraph.bfs(placed, 0, predecessors=True).distances
    mgraph.bfs(placed, 1)
    gc.collect()
    wait_until(lambda: len(names_kept(client)) == 3 * workers)
    del placed
    gc.collect()
    wait_until(lambda: len(names_kept(client)) == 2 * workers)
    assert vector[1] == 1  # it outlives its graph
    other.close()
    wait_until(lambda: len(names_kept(client)) == workers)
    del vector
    gc.collect()
    wait_until(lambda: names_kept(client) == [])
    del other
    gc.collect()
    wait_until(lambda: set(client.run(lambda dask_worker: len(dask_worker.plugins[NAME].sessions)).values()) == {0})


def test_a_graph_that_fails_to_be_placed_leaves_nothing_behind(client, monkeypatch):
    """The last worker refuses its part; the parts of the others are dropped."""
    graph, whole = grid(9, 9), VertexRange.on

    def on(part, device):
        if threading.current_thread() is not threading.main_thread() and part.last == graph.n:
            raise MemoryError("a test")
        return whole(part, device)

    monkeypatch.setattr(VertexRange, "on", on)
    with pytest.raises(MemoryLimitError, match="a part of a graph ran out of memory"):
        DistributedGraph.from_graph(graph, client, device="cpu")
    wait_until(lambda: names_kept(client) == [])


def test_the_parts_of_a_call_take_no_longer_than_the_call(client, monkeypatch):
    """The first worker is slow to load, which the others wait for, and the last is slow to collect."""

    def slow(whole, rank):
        def slept(program, of, *rest):
            first = of if isinstance(of, int) else rest[0].rank
            if first == rank:
                time.sleep(0.3)
            return whole(program, of, *rest)

        return slept

    graph, workers = grid(9, 9), len(client.scheduler_info()["workers"])
    monkeypatch.setattr(Search, "load", slow(Search.load, 0))
    monkeypatch.setattr(Search, "collect", slow(Search.collect, workers - 1))
    with DistributedGraph.from_graph(graph, client, device="cpu") as placed:
        began = time.perf_counter()
        parts = mgraph.bfs(placed, 0).timings
        passed = time.perf_counter() - began
    assert parts["load"] + parts["solve"] + parts["collect"] + parts["compile"] <= parts["call"] <= passed
    assert parts["call"] >= 0.6


@pytest.mark.parametrize("short", [walking.SHORT, 0])
def test_a_path_that_often_changes_workers(client, monkeypatch, short):
    monkeypatch.setattr(walking, "SHORT", short)
    order = np.random.default_rng(0).permutation(60)
    with DistributedGraph.from_graph(Graph.from_edges(order[:-1], order[1:]), client, device="cpu") as placed:
        found = mgraph.bfs(placed, order[0], predecessors=True)
        assert found.path(order[-1]) == order.tolist() and found.path(order[0]) == [order[0]]


def test_a_walk_round_a_cycle_ends():
    walk, alone = walking.Walk(((0, 60),), 3), Solo()
    state = walk.load(0, {"predecessors": np.arange(1, 61) % 60}, device.find("cpu"))
    assert walk.step(state, 0, 1, alone) == 1 and walk.step(state, 1, 1, alone) == 0
    assert len(walk.collect(state, alone)["vertices"]) == 61  # more than there are


def test_what_calls_derive_is_listed_and_released(client):
    graph = rmat(6, directed=True)
    placed = DistributedGraph.from_graph(graph, client, device="cpu")
    assert placed.cached() == []
    before = mgraph.bfs(placed, 0).distances.to_numpy()
    kept = placed.cached()
    assert {each.name for each in kept} == {"csr"}
    assert [each.device for each in kept] == [spec.name for spec in placed.placement.group.specs]
    assert all(each.nbytes >= 8 for each in kept)
    placed.release()
    assert placed.cached() == []
    np.testing.assert_array_equal(mgraph.bfs(placed, 0).distances.to_numpy(), before)
    placed.close()
    for gone in (placed.cached, placed.release):
        with pytest.raises(InputError, match="closed"):
            gone()


def test_a_graph_that_is_closed_in_a_call(client):
    placed = DistributedGraph.from_graph(grid(6, 7), client, device="cpu")
    with pytest.raises(InputError, match="was closed in the middle of a call"):
        mgraph.bfs(placed, 0, span=1, progress=lambda k, of: placed.close())
    with pytest.raises(InputError, match="has been closed"):
        mgraph.bfs(placed, 0)


def test_graphs_and_plain_calls_side_by_side(client):
    """Calls with client= drop what other calls left behind, but nothing of a graph."""
    one, two = GRAPHS["Kronecker"](), directed()
    with (
        DistributedGraph.from_graph(one, client, device="cpu") as first,
        DistributedGraph.from_graph(two, client, device="cpu") as second,
    ):
        kept = mgraph.bfs(first, 0)
        same(mgraph.bfs(second, 0), mgraph.bfs(two, 0, device="cpu"))
        mgraph.apsp(two, client=client, device="cpu")
        np.testing.assert_array_equal(
            mgraph.bfs(two, 0, client=client, device="cpu").distances, mgraph.bfs(two, 0, device="cpu").distances
        )
        same(mgraph.bfs(first, 1), mgraph.bfs(one, 1, device="cpu"))
        same(kept, mgraph.bfs(one, 0, device="cpu"))


def test_threads_and_clients_at_once(client):
    graph = GRAPHS["Kronecker"]()
    expected = [mgraph.bfs(graph, source, device="cpu").distances for source in range(8)]
    with Client(client.scheduler.address, set_as_default=False) as other:
        placed = [DistributedGraph.from_graph(graph, each, device="cpu") for each in (client, other)]
        start = threading.Barrier(4)

        def search(number):
            start.wait()
            for source in range(8):
                found = mgraph.bfs(placed[number % 2], source).distances
                np.testing.assert_array_equal(found.to_numpy(), expected[source])
            mgraph.connected_components(graph, client=(client, other)[number % 2], device="cpu")

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(search, range(4)))
        for each in placed:
            each.close()


def test_a_failed_call_leaves_the_graph_usable(client, monkeypatch):
    graph = GRAPHS["Kronecker"]()
    with DistributedGraph.from_graph(graph, client, device="cpu") as placed:
        kept = mgraph.bfs(placed, 0)

        def interrupt(done, total):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            mgraph.sssp(placed, 0, span=1, progress=interrupt)
        same(mgraph.sssp(placed, 0), mgraph.sssp(graph, 0, device="cpu"))
        with pytest.raises(InputError, match="a test"):
            placed.placement.executor().run(Failing(), lambda shard: None, kept.plan, None)
        with pytest.raises(MemoryLimitError):
            placed.placement.executor().run(Failing(MemoryError("a test")), lambda shard: None, kept.plan, None)
        same(mgraph.bfs(placed, 3), mgraph.bfs(graph, 3, device="cpu"))
        same(kept, mgraph.bfs(graph, 0, device="cpu"))


def test_a_plan_that_does_not_fit_is_refused(client):
    with DistributedGraph.from_graph(GRAPHS["Kronecker"](), client, device="cpu") as placed:
        with pytest.raises(MemoryLimitError, match="memory limit"):
            mgraph.bfs(placed, 0, memory_limit=100)


class TestProcesses:
    def test_a_call_carries_nothing_of_the_graph(self, processes, carried):
        """A graph of some MB, and one of some KB."""
        for scale in (8, 14):
            with DistributedGraph.from_graph(rmat(scale), processes, device="cpu") as placed:
                assert max(carried) > 4_000  # the edges themselves
                mgraph.bfs(placed, 0)
                carried.clear()
                mgraph.bfs(placed, 1, predecessors=True)
                mgraph.sssp(placed, 1)
                mgraph.connected_components(placed)
                # Not the sum: the longer a call takes, the more often it looks at its workers.
                assert 0 < max(carried) < 20_000

    def test_what_is_gathered_goes_from_worker_to_worker(self, processes, carried):
        """Edges of 2 MB, for the calls that need all of them on a worker."""
        rng = np.random.default_rng(2)
        src, dst = rng.integers(0, 100, (2, 200_000))
        graph = Graph.from_edges(src, dst, rng.integers(-1, 9, 200_000))
        with DistributedGraph.from_graph(graph, processes, device="cpu") as placed:
            assert max(carried) > 500_000  # the edges themselves
            carried.clear()
            for call in (lambda: mgraph.sssp(placed, 0), lambda: mgraph.apsp(placed, method="johnson")):
                with pytest.raises(NegativeCycleError):
                    call()
            mgraph.transitive_closure(placed)
            mgraph.minimum_spanning_forest(placed)
            assert 0 < max(carried) < 20_000

    @pytest.mark.exhaustive
    def test_many_calls_keep_no_memory(self, processes):
        graph = rmat(10)
        with DistributedGraph.from_graph(graph, processes, device="cpu") as placed:
            for source in range(20):
                mgraph.bfs(placed, source, predecessors=True)
            before = [psutil.Process().memory_info().rss, *processes.run(resident_memory).values()]
            for source in range(100):
                mgraph.bfs(placed, source, predecessors=True)
            gc.collect()
            after = [psutil.Process().memory_info().rss, *processes.run(resident_memory).values()]
            assert all(now - then < 20 << 20 for now, then in zip(after, before, strict=True))
            wait_until(lambda: len(names_kept(processes)) <= 4)

    def test_a_closed_client(self, processes):
        graph = grid(5, 5)
        with Client(processes.scheduler.address, set_as_default=False) as other:
            placed = DistributedGraph.from_graph(graph, other, device="cpu")
            vector = mgraph.bfs(placed, 0).distances
        with pytest.raises(SchedulerError):
            mgraph.bfs(placed, 0)
        with pytest.raises(SchedulerError):
            vector.to_numpy()
        placed.close()
        del placed, vector
        gc.collect()
        wait_until(lambda: names_kept(processes) == [])


def resident_memory():
    gc.collect()
    return psutil.Process().memory_info().rss


def test_a_lost_worker_takes_the_graph_with_it():
    graph = rmat(8)
    with cluster(2, processes=True) as client, dask.config.set({"mgraph.retries": 0}):
        placed = DistributedGraph.from_graph(graph, client, device="cpu")
        vector = mgraph.bfs(placed, 0).distances
        address, pid = next(iter(client.run(os.getpid).items()))
        os.kill(pid, signal.SIGKILL)
        uses = (
            lambda: mgraph.bfs(placed, 1),
            lambda: mgraph.bfs(placed, 1),
            lambda: mgraph.apsp(placed),
            vector.to_numpy,
        )
        for use in uses:
            with pytest.raises(WorkerLostError, match=address):
                use()
        wait_until(lambda: len(client.scheduler_info()["workers"]) == 2)  # its nanny starts another one

        def kept(dask_worker):
            there = dask_worker.plugins.get(NAME)
            return 0 if there is None else sum(len(session.kept) for session in there.sessions.values())

        wait_until(lambda: set(client.run(kept).values()) == {0})  # though the graph and the vector are referred to
        with DistributedGraph.from_graph(graph, client, device="cpu") as again:
            same(mgraph.bfs(again, 1), mgraph.bfs(graph, 1, device="cpu"))
            address, pid = next(iter(client.run(os.getpid).items()))
            with pytest.raises(WorkerLostError, match=address):  # between supersteps on edges that were gathered
                mgraph.apsp(again, method="blocked", span=1, progress=lambda *_: os.kill(pid, signal.SIGKILL))


def test_a_stopped_worker_is_noticed():
    graph = rmat(8)
    with cluster(2, processes=True) as client:
        other = DistributedGraph.from_graph(graph, client, device="cpu")  # which has the same sessions
        placed = DistributedGraph.from_graph(graph, client, device="cpu", worker_timeout=SILENCE)
        assert mgraph.bfs(other, 1).distances[1] == 0
        address, pid = next(iter(client.run(os.getpid).items()))
        os.kill(pid, signal.SIGSTOP)
        try:
            with pytest.raises(WorkerLostError, match=address):
                mgraph.bfs(placed, 1, retries=0)
        finally:
            os.kill(pid, signal.SIGCONT)


def test_a_call_whose_client_is_gone_gets_no_turn():
    async def check():
        line = Turns()
        assert await line.take("first", "one", ["a"])
        waiting = asyncio.ensure_future(line.take("second", "two", ["a", "b"]))
        third = asyncio.ensure_future(line.take("third", "three", ["b"]))
        await asyncio.sleep(0)
        assert not waiting.done() and not third.done()
        loop = SimpleNamespace(call_later=lambda *_: None)
        line.remove_client(SimpleNamespace(task_metadata={}, extensions={}, loop=loop), "two")
        assert not await waiting and await third and len(line) == 2

    asyncio.run(check())


def test_only_calls_that_began_fail_with_their_client():
    async def check():
        line, told = Turns(), []
        assert await line.take("first", "one", ["a"])
        waiting = asyncio.ensure_future(line.take("second", "one", ["a"]))
        await asyncio.sleep(0)
        scheduler = SimpleNamespace(
            task_metadata={},
            extensions={},
            loop=SimpleNamespace(call_later=lambda *_: None),
            log_event=lambda topic, msg: told.append(msg),
        )
        line.remove_client(scheduler, "one")
        assert not await waiting and len(line) == 0
        assert [event["call"] for event in told] == ["first"]

    asyncio.run(check())
