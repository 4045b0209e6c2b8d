"""Checkpoints of calls on what lies on workers: graphs and lists."""

import json
import signal
import subprocess
import sys

import numpy as np
import pytest

import mgraph
from mgraph import DistributedGraph
from mgraph.device import HostDevice
from mgraph.errors import CheckpointError
from tests.support.checkpointed_calls import CALLS, GRAPH, INPUTS, MOVED
from tests.support.checkpoints import Steps, Stopped, complete, equal, written
from tests.support.clusters import CLUSTER_WARNINGS, LOST, clients, kill_a_worker, wait_until
from tests.support.commands import mgraph_command
from tests.support.parameters import exhaustive
from tests.support.residents import names_kept

pytestmark = [*CLUSTER_WARNINGS, pytest.mark.usefixtures("writing")]

three = clients(3)
two = clients(2)


def placed(case, client):
    """Return the input of a case on workers."""
    given = INPUTS.get(case, GRAPH)
    if isinstance(given, mgraph.Graph):
        return DistributedGraph.from_graph(given, client, device="cpu")
    return mgraph.generate.linked_list(len(given), seed=1, client=client, device="cpu")


@MOVED
def test_a_call_goes_on_where_its_input_lies_on_other_workers(three, two, tmp_path, case):
    (call, options, names), given = CALLS[case], INPUTS.get(case, GRAPH)
    wanted = call(given, device="cpu", **options)
    with pytest.raises(Stopped):
        stop = written(tmp_path)
        call(placed(case, three), checkpoint=tmp_path, checkpoint_every=0, progress=stop, **options)
    [manifest] = complete(tmp_path)
    again = Steps()
    equal(call(placed(case, two), checkpoint=tmp_path, resume=True, progress=again, **options), wanted, names)
    if case != "sssp":  # whose supersteps depend on the number of workers
        assert again.seen[0] > json.loads(manifest.read_text())["step"] > 0
    equal(call(given, device="cpu", checkpoint=tmp_path, resume=True, **options), wanted, names)
    equal(call(given, client=two, device="cpu", checkpoint=tmp_path, resume=True, **options), wanted, names)


@pytest.mark.gpu
@pytest.mark.parametrize("case", ["blocked", "sssp", "bfs, hybrid", "bfs_many", "sssp, nearfar", "closure", "wyllie"])
def test_gpus_go_on_where_the_input_lies(gpus, tmp_path, case):
    call, options, names = CALLS[case]
    if case == "sssp":  # a batch has thousands of sources
        given = mgraph.generate.grid(110, 110, weights=(1, 9), device="cpu")
        options, names = {"method": "sssp", "span": 1}, ("distances",)
    else:
        given = INPUTS.get(case, GRAPH)

    def there():
        if isinstance(given, mgraph.Graph):
            return DistributedGraph.from_graph(given, gpus)
        return mgraph.generate.linked_list(len(given), seed=1, client=gpus)

    with pytest.raises(Stopped):
        stop = written(tmp_path)
        call(there(), checkpoint=tmp_path, checkpoint_every=0, progress=stop, **options)
    wanted = call(given, device="cuda", **options)
    equal(call(there(), checkpoint=tmp_path, resume=True, **options), wanted, names)
    equal(call(given, device="cuda", checkpoint=tmp_path, resume=True, **options), wanted, names)


def states(client):
    """Return what the workers keep of a call that runs, or has been left behind."""

    def kept(dask_worker):
        return sum(session.state is not None for session in dask_worker.plugins["mgraph"].sessions.values())

    return sum(client.run(kept).values())


@pytest.mark.parametrize("case", ["blocked", "bfs, hybrid"])
def test_another_input_is_refused_and_leaves_nothing(three, two, tmp_path, case):
    call, options, names = CALLS[case]
    with pytest.raises(Stopped):
        stop = written(tmp_path)
        call(placed(case, three), checkpoint=tmp_path, checkpoint_every=0, progress=stop, **options)
    wait_until(lambda: states(three) == 0)
    other = mgraph.Graph.from_edges(*edges_of(GRAPH, weight=5), n=GRAPH.n)
    with DistributedGraph.from_graph(other, two, device="cpu") as graph:
        with pytest.raises(CheckpointError, match="holds a checkpoint of the same call on another input"):
            call(graph, checkpoint=tmp_path, resume=True, **options)
        wait_until(lambda: states(two) == 0)
        equal(call(graph, **options), call(other, device="cpu", **options), names)
    wait_until(lambda: names_kept(two) == [])


def edges_of(graph, weight):
    """Return all edges but the last one, of which the first has another weight."""
    matrix = graph.to_scipy().tocoo()
    weights = matrix.data.copy()
    weights[0] += weight
    return matrix.row[:-1], matrix.col[:-1], weights[:-1]


def test_a_file_that_other_workers_read(three, two, tmp_path):
    path, folder = tmp_path / "edges.txt", tmp_path / "kept"
    order = np.random.default_rng(1).permutation(1000)  # so that the path changes workers hundreds of times
    np.savetxt(path, np.column_stack([order[:-1], order[1:], 1 + order[:-1] % 7]), fmt="%d")
    options = {"source": int(order[0]), "span": 20, "checkpoint": folder}
    with mgraph.read(path, client=three, device="cpu") as graph, pytest.raises(Stopped):
        mgraph.sssp(graph, checkpoint_every=0, progress=written(folder), **options)
    again = Steps()
    with mgraph.read(path, client=two, device="cpu") as graph:
        found = mgraph.sssp(graph, resume=True, progress=again, **options)
        equal(found, mgraph.sssp(mgraph.read(path), int(order[0]), device="cpu"), ("distances",))
    assert again.seen[0] > 20
    with path.open("a") as file:
        file.write("0 999 9999\n")
    with mgraph.read(path, client=two, device="cpu") as graph, pytest.raises(CheckpointError, match="another input"):
        mgraph.sssp(graph, resume=True, **options)


def test_a_call_without_a_report_of_progress_writes_checkpoints_too(two, tmp_path, monkeypatch):
    call, options, names = CALLS["blocked"]
    graph = placed("blocked", two)
    monkeypatch.setattr(HostDevice, "available_memory", lambda self: 100_000)  # so each checkpoint pauses the call
    found = call(graph, checkpoint=tmp_path, checkpoint_every=0, **options)
    monkeypatch.undo()
    assert complete(tmp_path)
    equal(found, call(GRAPH, device="cpu", **options), names)


@LOST
@pytest.mark.parametrize("case", ["sssp, mask", *exhaustive("blocked", "bfs, hybrid", "wyllie")])
def test_a_call_that_loses_a_worker_goes_on_from_its_checkpoint(mortals, tmp_path, case):
    call, options, names = CALLS[case]
    if case == "wyllie":
        given = placed(case, mortals)
    else:
        given = mgraph.generate.grid(20, 20, weights=(1, 9), client=mortals, device="cpu")
    wanted = call(INPUTS.get(case, GRAPH), device="cpu", **options)
    steps, killing = Steps(), written(tmp_path, then=lambda: kill_a_worker(mortals))

    def progress(k, of):
        steps(k, of)
        killing(k, of)

    found = call(given, checkpoint=tmp_path, checkpoint_every=0, progress=progress, **options)
    equal(found, wanted, names)
    back, *_ = [later for before, later in zip(steps.seen, steps.seen[1:], strict=False) if later <= before]
    assert back > options["span"]  # it did not begin anew


@LOST
@pytest.mark.exhaustive
def test_a_command_that_is_killed_is_resumed_on_a_published_graph(mortals, tmp_path):
    at = ["--scheduler", mortals.scheduler.address]
    graph = mgraph.generate.grid(40, 40, weights=(1, 9), client=mortals, device="cpu")
    graph.publish("streets")
    folder = tmp_path / "kept"
    options = ["--method", "naive", "--span", "4", "--checkpoint", folder, "--checkpoint-every", "0"]
    words = ["apsp", "--resident", "streets", *options, *at, "--out", tmp_path / "found.npy", "--overwrite"]
    running = subprocess.Popen([sys.executable, "-m", "mgraph.cli", *map(str, words)])
    wait_until(lambda: complete(folder) or running.poll() is not None)
    running.send_signal(signal.SIGKILL)
    running.wait()
    found = json.loads(mgraph_command("resume", folder, *at, "--json").stdout)
    assert found["n"] == 1600 and found["workers"] == 2
    wanted = mgraph.apsp(mgraph.generate.grid(40, 40, weights=(1, 9)), method="naive", device="cpu").distances
    np.testing.assert_array_equal(np.load(tmp_path / "found.npy"), wanted)
    mgraph.cluster.unpublish("streets", mortals)
