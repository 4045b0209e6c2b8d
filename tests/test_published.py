"""Published graphs: they outlive their clients, move nothing, and are gone when nobody has them any more."""

import gc
import os
import signal
import subprocess
import sys

import dask
import numpy as np
import pytest
from distributed import Client

import mgraph
from mgraph import DistributedGraph
from mgraph.errors import InputError, WorkerLostError
from mgraph.generate import grid, rmat, weighted
from mgraph.graph.vertex_range import VertexRange
from mgraph.runtime.dask.worker import NAME
from tests.support.clusters import CLUSTER_WARNINGS, SOON, clients, cluster, wait_until
from tests.support.commands import failed, invoke, ok
from tests.support.parameters import exhaustive
from tests.support.residents import names_kept, same

pytestmark = CLUSTER_WARNINGS

GRAPH = weighted(rmat(7), (1, 9))


client = clients(2, *exhaustive(1, 3))


def other(client):
    """Another client of the same workers."""
    return Client(client.scheduler.address, set_as_default=False)


def test_a_published_graph_outlives_its_client(client):
    with other(client) as first:
        with DistributedGraph.from_graph(GRAPH, first, device="cpu") as made:
            made.publish("roads")
        wait_until(lambda: len(set(names_kept(client))) == 2)  # of the publication alone: the part, and the facts
    assert mgraph.cluster.published(client) == ["roads"]
    with other(client) as second, mgraph.resident("roads", second) as found:
        assert repr(found) == repr(made).replace("closed", repr(found).split("int32, ")[1][:-1])
        same(mgraph.sssp(found, 3), mgraph.sssp(GRAPH, 3, device="cpu"))
        third = mgraph.resident("roads", client)
        same(mgraph.bfs(third, 3), mgraph.bfs(GRAPH, 3, device="cpu"))
        mgraph.cluster.unpublish("roads", client)
        found.close()
        same(mgraph.bfs(third, 4), mgraph.bfs(GRAPH, 4, device="cpu"))  # which has it still
    assert mgraph.cluster.published(client) == []
    del third
    gc.collect()
    wait_until(lambda: names_kept(client) == [])


@pytest.mark.parametrize("field", ["indptr", "indices"])
@pytest.mark.parametrize("number", [-(2**31), -1, GRAPH.n, 2**31 - 1])
def test_a_published_graph_that_is_damaged(client, field, number):
    """What another client has changed on the workers is refused before a kernel sees it."""

    def damage(dask_worker):
        for session in dask_worker.plugins[NAME].sessions.values():
            part = session.kept.get("part")
            if part is not None and session.title:
                csc = part.compressed("csc")
                array = getattr(csc, field).copy()
                array[len(array) // 2] = number
                csc = csc._replace(**{field: array})
                session.kept["part"] = VertexRange(part.n, part.first, part.last, csc, part.directed)

    with DistributedGraph.from_graph(GRAPH, client, device="cpu") as made:
        made.publish("damaged")
    client.run(damage)
    with pytest.raises(
        InputError, match=r"the published graph 'damaged' is damaged, .*: unpublish it, and make it again"
    ):
        mgraph.resident("damaged", client)
    mgraph.cluster.unpublish("damaged", client)


def test_the_facts_of_a_published_graph(client):
    ids = np.array([5, 9, 70])
    graph = mgraph.Graph(3, csr=mgraph.Graph.from_edges([0, 1], [1, 2], [2.5, -1]).csr(), directed=True, ids=ids)
    DistributedGraph.from_graph(graph, client, device="cpu").publish("small")
    found = mgraph.resident("small", client)
    assert found.ids.tolist() == ids.tolist() and found.directed and found.weights_dtype == np.float64
    same(mgraph.sssp(found, 0), mgraph.sssp(graph, 0, device="cpu"))
    mgraph.cluster.unpublish("small", client)


def test_ids_that_lie_on_the_workers_stay_there(client, tmp_path):
    path = tmp_path / "edges.txt"
    path.write_text("".join(f"{1000 * i} {7000 - 1000 * i}\n" for i in range(8)))
    with mgraph.read(path, relabel=True, client=client, device="cpu") as graph:
        ids = graph.ids.to_numpy()
        graph.publish("numbered")
    del graph
    gc.collect()
    found = mgraph.resident("numbered", client)
    assert isinstance(found.ids, mgraph.cluster.DistributedVector)
    assert found.ids.to_numpy().tolist() == ids.tolist() == list(range(0, 8000, 1000))
    near = found.ids[mgraph.bfs(found, 0).distances >= 0]
    assert near.tolist() == [0, 7000]
    mgraph.cluster.unpublish("numbered", client)
    del found
    gc.collect()
    wait_until(lambda: names_kept(client) == [])


def test_names(client):
    with DistributedGraph.from_graph(grid(3, 3), client, device="cpu") as graph:
        for wrong in ("", 3, None, "two\nlines", "x" * 201):
            with pytest.raises(InputError, match="name must be"):
                graph.publish(wrong)
            with pytest.raises(InputError, match="name must be"):
                mgraph.resident(wrong, client)
            with pytest.raises(InputError, match="name must be"):
                mgraph.cluster.unpublish(wrong, client)
        graph.publish("a/b ä")
        with pytest.raises(InputError, match=r"'a/b ä'\), got 'x'"):
            mgraph.resident("x", client)
        with pytest.raises(
            InputError, match=r"give another one, or free it by mgraph.cluster.unpublish\('a/b ä', client\)"
        ):
            graph.publish("a/b ä")
        assert mgraph.resident("a/b ä", client).n == 9
        mgraph.cluster.unpublish("a/b ä", client)
    with pytest.raises(InputError, match="has been closed"):
        graph.publish("closed")
    with pytest.raises(InputError, match="client must be"):
        mgraph.resident("x", None)
    wait_until(lambda: names_kept(client) == [])


def test_workers_of_a_graph(client, tmp_path):
    addresses = sorted(client.scheduler_info(n_workers=-1)["workers"])
    first, last = addresses[0], addresses[-1]
    for workers in ([first], [last], addresses, [0], addresses[::-1]):
        made = mgraph.generate.grid(4, 5, client=client, device="cpu", workers=workers)
        there = [spec.name.removeprefix("cpu of ") for spec in mgraph.bfs(made, 0).plan.devices]
        assert there == sorted(there) and len(there) == len(workers)
        if workers != [0]:
            assert there == sorted(workers)
        same(mgraph.bfs(made, 0), mgraph.bfs(grid(4, 5), 0, device="cpu"))
    for wrong in ([], "x", first, 1, ["x"], [first, first], [True], [None]):
        with pytest.raises(InputError, match="workers must be"):
            DistributedGraph.from_graph(GRAPH, client, workers=wrong)
    for without in (lambda: rmat(4, workers=[0]), lambda: mgraph.read(tmp_path / "edges.txt", workers=[0])):
        with pytest.raises(InputError, match=r"^workers goes with client="):
            without()
    (tmp_path / "edges.txt").write_text("0 1\n1 2\n")
    found = mgraph.read(tmp_path / "edges.txt", client=client, device="cpu", workers=[last])
    assert [spec.name for spec in mgraph.bfs(found, 0).plan.devices] == [f"cpu of {last}"]


def test_a_call_of_another_client_goes_on_while_a_graph_is_made(client):
    """Sessions of graphs are opened out of turn: they must not end the session of a call that runs."""
    opened = []
    with other(client) as second:

        def meanwhile(done, total):
            if not opened:
                opened.append(DistributedGraph.from_graph(GRAPH, second, device="cpu"))
                opened[0].publish("meanwhile")

        found = mgraph.bfs(GRAPH, 0, client=client, device="cpu", span=1, progress=meanwhile)
        np.testing.assert_array_equal(found.distances, mgraph.bfs(GRAPH, 0, device="cpu").distances)
        mgraph.cluster.unpublish("meanwhile", client)


processes = clients(2, processes=True)


def test_commands_on_a_standing_cluster(processes, tmp_path):
    at = ["--scheduler", processes.scheduler.address]
    assert "--resident roads" in ok("load", "roads", "--rmat", "6", "--device", "cpu", *at)
    assert "there is a graph 'roads'" in failed(invoke("load", "roads", "--rmat", "6", *at), 2)
    direct = ok("bfs", "--rmat", "6", "--source", "3", "--device", "cpu").splitlines()[-1]
    assert ok("bfs", "--resident", "roads", "--source", "3", *at).splitlines()[-1] == direct
    assert "components:" in ok("components", "--resident", "roads", *at)
    for wrong, message in (
        (["bfs", "--resident", "roads"], "--scheduler"),
        (["bfs", "--resident", "none", *at], "name must be"),
        (["bfs", "--resident", "roads", "--rmat", "4", *at], "give either"),
        (["bfs", "--resident", "roads", "--n", "4", *at], "do not go with --resident"),
        (["bfs", "--resident", "roads", "--device", "cpu", *at], "--device"),
        (["load", "other", *at], "give either"),
        (["load", "other", "--rmat", "4", "--by-workers", *at], "--by-workers"),
        (["load", "other", "--rmat", "4"], "--scheduler"),
        (["load", "other", "--rmat", "4", "--worker", "x", *at], "'x'"),
        (["load", "other", "--rmat", "4", "--worker-timeout", "0.5", *at], "error: --worker-timeout must be a number"),
        (["unload", "none", *at], "name must be"),
        (["unload", "roads", "--worker-timeout", "0.5", *at], "error: --worker-timeout must be a number"),
    ):
        result = invoke(*wrong)
        assert result.exit_code == 2 and message in result.stderr and "Traceback" not in result.stderr
    ok("unload", "roads", *at)
    (tmp_path / "edges.txt").write_text("0 1\n1 2\n")
    for name, how in (
        ("here", []),
        ("there", ["--by-workers", "--worker", next(iter(processes.scheduler_info(n_workers=-1)["workers"]))]),
    ):
        assert "3 vertices, 4 stored edges" in ok("load", name, tmp_path / "edges.txt", *how, "--undirected", *at)
        assert "reached: 3 of 3" in ok("bfs", "--resident", name, *at)
        ok("unload", name, *at)
    (tmp_path / "edges2.txt").write_text("2 3\n")
    for files, how in (
        ([tmp_path / "edges*.txt"], ["--by-workers"]),
        ([tmp_path / "edges.txt", tmp_path / "edges2.txt"], ["--by-workers"]),
        ([tmp_path / "edges.txt", tmp_path / "edges2.txt"], []),
    ):
        ok("load", "all", *files, *how, "--undirected", *at)
        assert "reached: 4 of 4" in ok("bfs", "--resident", "all", *at)
        ok("unload", "all", *at)
    message = failed(invoke("load", "none", tmp_path / "none.txt", "--by-workers", *at), 1)
    assert "none.txt" in message and "on the worker" in message
    assert mgraph.cluster.published(processes) == []
    wait_until(lambda: names_kept(processes) == [])


def test_a_graph_of_a_process_that_was_killed(processes):
    code = (
        "import os, signal, sys, mgraph\n"
        "client = mgraph.cluster.connect(sys.argv[1])\n"
        "graph = mgraph.generate.grid(5, 6, client=client, device='cpu')\n"
        "other = mgraph.generate.grid(9, 9, client=client, device='cpu')\n"
        "graph.publish('left')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code, processes.scheduler.address], timeout=SOON)
    assert ended.returncode == -signal.SIGKILL
    with mgraph.resident("left", processes) as found:
        same(mgraph.bfs(found, 0), mgraph.bfs(grid(5, 6), 0, device="cpu"))
    mgraph.cluster.unpublish("left", processes)
    wait_until(lambda: names_kept(processes) == [])


def test_a_lost_worker_takes_the_published_graph_with_it():
    with cluster(2, processes=True) as client, dask.config.set({"mgraph.retries": 0}):
        made = grid(7, 9, client=client, device="cpu")
        made.publish("roads")
        vector = mgraph.bfs(made, 0).distances
        random = mgraph.generate.weighted(made, (1, 5))
        halves = made.with_weights(lambda src, dst: (src + dst) / 2)
        address, pid = next(iter(client.run(os.getpid).items()))
        os.kill(pid, signal.SIGKILL)
        line = r"mgraph.generate.grid\(7, 9, weights=\(1, 255\), seed=0, device='cpu', client=client\)"
        again = rf"mgraph.generate.weighted\({line}, \(1, 5\), 'int32'\) makes it again"
        for use, lost in (
            (
                lambda: mgraph.bfs(made, 1),
                f"the edges into the vertices .* of DistributedGraph.* {line} makes it again",
            ),
            (
                lambda: mgraph.bfs(made, 1),
                f"the edges into the vertices .* of DistributedGraph.* {line} makes it again",
            ),
            (made.to_graph, f"{line} makes it again"),
            (lambda: mgraph.sssp(random, 1), again),
            (lambda: made.with_weights([1]), f"{line} makes it again"),
            (lambda: mgraph.sssp(halves, 1), "make the graph again"),
            (vector.to_numpy, "the elements .* were lost"),
            (vector.max, "the elements .* were lost"),
            (lambda: made.publish("again"), f"{line} makes it again"),
        ):
            with pytest.raises(WorkerLostError, match=rf"{address}.*{lost}") as error:
                use()
            assert error.value.workers == (address,)
        wait_until(lambda: address not in client.scheduler_info(n_workers=-1)["workers"])
        with pytest.raises(WorkerLostError, match=rf"{address} .* of the published graph 'roads', .* by {line}"):
            mgraph.resident("roads", client)
        mgraph.cluster.unpublish("roads", client)
        assert mgraph.cluster.published(client) == []
