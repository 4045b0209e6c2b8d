"""Checkpoints: what they hold, going on from them, and what becomes of damaged ones."""

import errno
import fcntl
import json
import logging
import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
import warnings
import zlib
from pathlib import Path

import dask
import fsspec
import numpy as np
import pytest
import scipy.sparse

import mgraph
from mgraph.algorithms.apsp import candidates
from mgraph.algorithms.apsp import plan as all_pairs
from mgraph.algorithms.apsp.detail import COMPONENTS_FIRST
from mgraph.algorithms.distances import plan as distances_plan
from mgraph.device import HostDevice
from mgraph.errors import CheckpointError, InputError, OutputExistsError
from mgraph.kernels import closure as closure_kernels
from mgraph.matrices.floyd_warshall import FloydWarshall
from mgraph.planning import cut
from mgraph.runtime.checkpoints import Checkpoints, Resumable, Store, store
from mgraph.runtime.dask.resident import Shards
from tests.support.checkpointed_calls import CALLS, GRAPH, INPUTS, LIST, MOVED
from tests.support.checkpoints import Steps, Stopped, complete, equal, write_at_once, written
from tests.support.clusters import CLUSTER_WARNINGS, LOST, cluster, kill_a_worker, wait_until
from tests.support.commands import mgraph_command
from tests.support.parameters import exhaustive

pytestmark = [*CLUSTER_WARNINGS, pytest.mark.usefixtures("writing")]


def changed(manifest, change):
    """Change the content of a manifest, and its checksum."""
    content = json.loads(manifest.read_text())
    change(content)
    del content["crc32"]
    content["crc32"] = zlib.crc32(json.dumps(content, sort_keys=True).encode())
    manifest.write_text(json.dumps(content))


def path_of_weight(weight, n=3000):
    """Return a path whose edges all have one weight."""
    return mgraph.Graph.from_edges(np.arange(n - 1), np.arange(1, n), np.full(n - 1, weight, np.int32))


@pytest.mark.parametrize("case", CALLS)
def test_a_call_goes_on_from_its_last_checkpoint(tmp_path, case):
    (call, options, names), graph = CALLS[case], INPUTS.get(case, GRAPH)
    with pytest.raises(Stopped):
        stop = written(tmp_path)
        call(graph, device="cpu", checkpoint=tmp_path, checkpoint_every=0, progress=stop, **options)
    [manifest] = complete(tmp_path)
    whole, again = Steps(), Steps()
    wanted = call(graph, device="cpu", progress=whole, **options)
    found = call(graph, device="cpu", checkpoint=tmp_path, resume=True, progress=again, **options)
    equal(found, wanted, names)
    assert len(again.seen) < len(whole.seen)
    if case != "sssp":  # all of its sources may be one batch
        assert again.seen[0] > json.loads(manifest.read_text())["step"] > 0


@MOVED
def test_a_call_goes_on_with_another_number_of_workers(tmp_path, case):
    (call, options, names), graph = CALLS[case], INPUTS.get(case, GRAPH)
    wanted = call(graph, device="cpu", **options)
    with cluster(3, processes=False) as client, pytest.raises(Stopped):
        on = {"client": client, "device": "cpu", "checkpoint": str(tmp_path), "checkpoint_every": 0}
        call(graph, progress=written(tmp_path), **on, **options)
    again = Steps()
    with cluster(2, processes=False) as client:
        found = call(graph, client=client, device="cpu", checkpoint=tmp_path, resume=True, progress=again, **options)
        equal(found, wanted, names)
    alone = call(graph, device="cpu", checkpoint=tmp_path, resume=True, **options)
    equal(alone, wanted, names)


@pytest.mark.parametrize("edges", [False, True])
def test_sums_of_a_damaged_checkpoint_are_not_counted(tmp_path, edges):
    graph = mgraph.generate.grid(30, 30, weights=(1, 9), device="cpu")
    on = {"edges": edges, "device": "cpu", "span": 1}
    with pytest.raises(Stopped):
        mgraph.betweenness(graph, checkpoint=tmp_path, checkpoint_every=0, progress=written(tmp_path, 2), **on)
    max(tmp_path.glob("*-done-*.bin")).unlink()
    found = mgraph.betweenness(graph, checkpoint=tmp_path, resume=True, **on)
    np.testing.assert_allclose(found.betweenness, mgraph.betweenness(graph, **on).betweenness, rtol=1e-9)


@pytest.mark.gpu
@pytest.mark.parametrize("case", [case for case in CALLS if case != "bfs, sequential"])
def test_a_gpu_goes_on_from_the_last_checkpoint(tmp_path, case):
    call, options, names = CALLS[case]
    if case == "sssp":  # a batch has thousands of sources
        graph = mgraph.generate.grid(110, 110, weights=(1, 9), device="cpu")
        options, names = {"method": "sssp", "span": 1}, ("distances",)
    else:
        graph = INPUTS.get(case, GRAPH)
    with pytest.raises(Stopped):
        stop = written(tmp_path)
        call(graph, device="cuda", checkpoint=tmp_path, checkpoint_every=0, progress=stop, **options)
    again = Steps()
    found = call(graph, device="cuda", checkpoint=tmp_path, resume=True, progress=again, **options)
    assert case in ("sssp", "bfs_many") or again.seen[0] >= json.loads(complete(tmp_path)[0].read_text())["step"] > 0
    equal(found, call(graph, device="cuda", **options), names)


@pytest.mark.gpu
@pytest.mark.parametrize("case", ["blocked", "predecessors", "squaring", "closure"])
def test_gpus_go_on_from_the_last_checkpoint(gpus, tmp_path, case):
    call, options, names = CALLS[case]
    with pytest.raises(Stopped):
        on = {"client": gpus, "checkpoint": tmp_path, "checkpoint_every": 0}
        call(GRAPH, progress=written(tmp_path), **on, **options)
    wanted = call(GRAPH, device="cuda", **options)
    equal(call(GRAPH, client=gpus, checkpoint=tmp_path, resume=True, **options), wanted, names)
    equal(call(GRAPH, device="cuda", checkpoint=tmp_path, resume=True, **options), wanted, names)


#: The strips of a matrix of 400 rows that fit, and the bytes of a limit by which they do: none where all of it fits.
LIMITS = {32: 250_000, 64: 500_000, 96: 700_000, 128: 900_000, 0: None}


@pytest.mark.parametrize(("before", "after"), [(32, 128), (96, 64), (64, 0), (0, 96)])
@pytest.mark.parametrize("labels", [{}, {"predecessors": True}, {"intermediate": True}], ids=str)
def test_strips_of_another_height(tmp_path, caplog, before, after, labels):
    """The matrix after a number of pivots is the same, in memory or out of core; on workers, too."""
    cell = 2 if labels else 1

    def solved(strip, **on):
        limit = LIMITS[strip] and LIMITS[strip] * cell
        found = mgraph.apsp(GRAPH, method="blocked", block=32, memory_limit=limit, **on, **labels)
        assert found.plan.detail.strip == strip
        return found

    on = {"device": "cpu", "checkpoint": tmp_path}
    with pytest.raises(Stopped):
        solved(before, span=1, checkpoint_every=0, progress=written(tmp_path), **on)
    wanted = solved(0, device="cpu")
    with caplog.at_level(logging.INFO, "mgraph"):
        found = solved(after, span=1, resume=True, **on)
    assert "going on by the checkpoint" in caplog.text
    equal(found, wanted, ("distances", *labels))
    if before and not labels:
        with cluster(2, processes=False) as client:
            found = solved(0, client=client, resume=True, span=3, **on)
            equal(found, wanted, ("distances",))


def test_a_matrix_out_of_core_is_not_copied(tmp_path):
    on = {"device": "cpu", "method": "blocked", "block": 32, "memory_limit": LIMITS[96]}
    plain, plan = mgraph.apsp(GRAPH, **on).plan, mgraph.apsp(GRAPH, checkpoint=tmp_path, **on).plan
    assert plan.peak_bytes == plain.peak_bytes
    assert "checkpoints: written while the call pauses" in plan.explain(True)


@pytest.mark.parametrize("change", [{"supersteps": 0}, {"pivots": 0}, {"pivots": "32"}, {"supersteps": 2}], ids=str)
def test_rounds_that_cannot_be(stopped, change):
    for manifest in complete(stopped):
        changed(manifest, lambda content: content["call"].update(change))
    with pytest.raises(CheckpointError, match="no checkpoint can be used"):
        resumed(stopped)


@pytest.fixture
def apart(monkeypatch):
    """A graph of eight components that "auto" solves one by one."""
    monkeypatch.setattr(cut, "GROUP", 60)
    monkeypatch.setattr(sys.modules["mgraph.algorithms.apsp.call"], "GROUP", 60)
    monkeypatch.setattr(all_pairs, "WORTH", 0)
    monkeypatch.setattr(all_pairs, "ADVANTAGE", {COMPONENTS_FIRST: 1e-9, "sssp": 1e9, "johnson": 1e9})
    rng = np.random.default_rng(3)
    parts = rng.permutation(400).reshape(8, 50)
    ends = [np.concatenate([rng.choice(part, 200) for part in parts]) for _ in range(2)]
    return mgraph.Graph.from_edges(*ends, rng.integers(1, 9, 1600), n=400)


@pytest.mark.parametrize("labels", [{}, {"predecessors": True}, {"intermediate": True}], ids=str)
def test_components_go_on_one_by_one(apart, tmp_path, labels, device):
    on = {"device": device, "span": 1, **labels}
    with pytest.raises(Stopped):
        stop = written(tmp_path, 2)
        mgraph.apsp(apart, checkpoint=tmp_path, checkpoint_every=0, progress=stop, **on)
    done = json.loads(complete(tmp_path)[-1].read_text())["step"]
    wanted, again = mgraph.apsp(apart, method="blocked", **on), Steps()
    found = mgraph.apsp(apart, checkpoint=tmp_path, resume=True, checkpoint_every=0, progress=again, **on)
    assert found.plan.detail.groups and again.seen[0] == done + 1 > 1
    equal(found, wanted, ("distances", *labels))
    # All files of both calls are in the last checkpoint, each once, and a third call goes on from it.
    files = json.loads(complete(tmp_path)[-1].read_text())["files"]
    assert len({each["file"] for each in files}) == len(files)
    equal(mgraph.apsp(apart, checkpoint=tmp_path, resume=True, **on), wanted, ("distances", *labels))


def test_components_and_other_calls(apart, tmp_path):
    on = {"device": "cpu", "span": 1, "checkpoint": tmp_path}
    with pytest.raises(Stopped):
        mgraph.apsp(apart, checkpoint_every=0, progress=written(tmp_path, 2), **on)
    with pytest.raises(CheckpointError, match="its method is 'blocked, components first', not 'blocked'"):
        mgraph.apsp(apart, method="blocked", resume=True, **on)
    other = mgraph.Graph.from_scipy(apart.to_scipy() * 2)
    with pytest.raises(CheckpointError, match="another input"):
        mgraph.apsp(other, resume=True, **on)
    with cluster(1, processes=False) as client, pytest.raises(CheckpointError, match="components first"):
        mgraph.apsp(apart, client=client, resume=True, **on)
    wanted = mgraph.apsp(apart, device="cpu")
    damaged("flipped", complete(tmp_path)[-1])  # a file that both have
    with pytest.raises(CheckpointError, match="no checkpoint can be used"):
        mgraph.apsp(apart, resume=True, **on)
    with pytest.raises(mgraph.MemoryLimitError, match=r"needs \S+ KiB on cpu, which may take 488 KiB by the"):
        mgraph.apsp(apart, resume=True, memory_limit=500_000, **on)
    shutil.rmtree(tmp_path)
    equal(mgraph.apsp(apart, resume=True, **on), wanted, ("distances",))


def test_a_whole_matrix_goes_on_as_a_whole(apart, tmp_path):
    on = {"device": "cpu", "checkpoint": tmp_path}
    with pytest.raises(Stopped):
        stop = written(tmp_path)
        mgraph.apsp(apart, method="blocked", block=32, span=3, checkpoint_every=0, progress=stop, **on)
    found = mgraph.apsp(apart, resume=True, **on)
    assert not found.plan.detail.groups
    equal(found, mgraph.apsp(apart, device="cpu"), ("distances",))


def test_a_matrix_out_of_core_on_a_worker(tmp_path):
    call, options, names = CALLS["out of core"]
    on = {"device": "cpu", "checkpoint": tmp_path, **options}
    with cluster(1, processes=False) as client, pytest.raises(Stopped):
        call(GRAPH, client=client, checkpoint_every=0, progress=written(tmp_path), **on)
    again = Steps()
    found = call(GRAPH, resume=True, progress=again, **on)
    assert again.seen[0] > json.loads(complete(tmp_path)[0].read_text())["step"] > 0
    equal(found, call(GRAPH, device="cpu", **options), names)


@LOST
@pytest.mark.parametrize(
    "case",
    ["blocked", "bfs, hybrid", *exhaustive("sssp", "closure", "bfs_many", "sssp, nearfar", "wyllie", "splitter64")],
)
def test_a_call_that_loses_a_worker_goes_on_from_its_checkpoint(mortals, tmp_path, caplog, case):
    (call, options, names), graph = CALLS[case], INPUTS.get(case, GRAPH)
    killed = []
    killing = written(tmp_path, then=lambda: killed.append(kill_a_worker(mortals)))
    on = {"client": mortals, "device": "cpu", "checkpoint": tmp_path, "checkpoint_every": 0}
    with caplog.at_level(logging.INFO, "mgraph"):
        found = call(graph, progress=killing, **on, **options)
    assert len(killed) == 1 and "going on by the checkpoint" in caplog.text
    equal(found, call(graph, device="cpu", **options), names)


@pytest.mark.parametrize("case", ["naive", "out of core"])
def test_a_negative_cycle_that_was_found_before(tmp_path, case):
    graph = mgraph.Graph.from_edges([1, 2, *range(3, 400)], [2, 1, *range(4, 401)], [-5, 4, *[1] * 397])
    call, options, _ = CALLS[case]
    with pytest.raises(Stopped):
        call(graph, device="cpu", checkpoint=tmp_path, checkpoint_every=0, progress=written(tmp_path), **options)
    with pytest.raises(mgraph.NegativeCycleError) as caught:
        call(graph, device="cpu", checkpoint=tmp_path, resume=True, **options)
    assert caught.value.vertex in (1, 2)


def test_many_rounds_with_negative_weights_and_checkpoints(tmp_path):
    """A search that stops to look for a negative cycle goes on from its own checkpoint."""
    n = 3000
    graph = mgraph.Graph.from_edges(np.arange(n - 1), np.arange(1, n), np.where(np.arange(n - 1) % 2, 2, -1))
    steps, options = Steps(), {"device": "cpu", "span": 400}
    found = mgraph.sssp(graph, 0, checkpoint=tmp_path, checkpoint_every=0, progress=steps, **options)
    equal(found, mgraph.sssp(graph, 0, **options), ("distances",))
    assert found.iterations == n
    [back] = [later for before, later in zip(steps.seen, steps.seen[1:], strict=False) if later < before]
    assert back > 400


def test_searches_tell_what_else_was_asked(tmp_path):
    for name, search, other, text in (
        ("bfs", mgraph.bfs, {"source": 6}, r"its sources is \[5\], not \[6\]"),
        ("bfs", mgraph.bfs, {"source": 5, "target": 7}, "its target is None, not 7"),
        ("sssp", mgraph.sssp, {"source": 6}, "its source is 5, not 6"),
        ("sssp", mgraph.sssp, {"source": 5, "limit": 9}, "its limit is None, not 9.0"),
    ):
        folder = tmp_path / name
        if not complete(folder):
            with pytest.raises(Stopped):
                stop = written(folder)
                search(GRAPH, 5, device="cpu", span=2, checkpoint=folder, checkpoint_every=0, progress=stop)
        with pytest.raises(CheckpointError, match=text):
            search(GRAPH, device="cpu", checkpoint=folder, resume=True, **other)


def test_a_tree_of_any_predecessors_is_kept(tmp_path):
    options = {"predecessors": "any", "device": "cpu", "span": 2, "checkpoint": tmp_path}
    with pytest.raises(Stopped):
        mgraph.bfs(GRAPH, 5, checkpoint_every=0, progress=written(tmp_path), **options)
    found = mgraph.bfs(GRAPH, 5, resume=True, **options)
    found.verify()
    assert (found.predecessors[np.arange(400) != 5] >= 0).all()


MEASURES = ["eccentricity", "mean", "reached", ("within", [3, 30.5]), ("histogram", [0, 3, 30.5])]

#: Questions of distances from 400 sources, and the names of the result's arrays.
DISTANCES = {
    "rows": ({"predecessors": True, "limit": 60}, ("distances", "predecessors")),
    "nearest": ({"nearest": 3, "targets": range(0, 400, 5)}, ("distances", "nearest")),
    "measures": ({"reduce": MEASURES}, ("eccentricity", "mean", "reached", "within", "histogram")),
    "levels": ({"reduce": MEASURES, "method": "bfs"}, ("eccentricity", "mean", "reached", "within", "histogram")),
    "hops": ({"method": "bfs", "targets": [3, 7]}, ("distances",)),
    "hierarchy": ({"method": "hierarchy", "predecessors": True}, ("distances", "predecessors")),
    "hierarchy, measures": (
        {"method": "hierarchy", "reduce": MEASURES},
        ("eccentricity", "mean", "reached", "within", "histogram"),
    ),
}


@pytest.fixture
def small_batches(monkeypatch):
    """Let `mgraph.distances` take some 64 sources at a time."""
    monkeypatch.setattr(distances_plan, "batch_size", lambda n, dtype, kind: 64)
    monkeypatch.setattr(distances_plan, "batch_of", lambda spec, measured: 64)
    monkeypatch.setattr(distances_plan, "COUNTED", {"cpu": 1, "cuda": 64})


@pytest.mark.parametrize("case", DISTANCES)
def test_distances_go_on_from_the_last_checkpoint(tmp_path, small_batches, case, device):
    pytest.importorskip("pymetis")
    options, names = DISTANCES[case]
    on = {"device": device, "span": 1, **options}
    with pytest.raises(Stopped):
        mgraph.distances(GRAPH, checkpoint=tmp_path, checkpoint_every=0, progress=written(tmp_path), **on)
    whole, again = Steps(), Steps()
    wanted = mgraph.distances(GRAPH, progress=whole, **on)
    del on["method" if "method" in options else "span"]  # which is the checkpoint's
    found = mgraph.distances(GRAPH, checkpoint=tmp_path, resume=True, progress=again, **on)
    equal(found, wanted, names)
    assert found.plan.method == wanted.plan.method
    assert len(whole.seen) > len(again.seen) and whole.seen[-1] == again.seen[-1]
    for other, text in (
        ({"sources": [5]}, "its sources"),
        ({"limit": 7}, "its limit"),
        ({"targets": [8]}, "its targets"),
    ):
        with pytest.raises(CheckpointError, match=text):
            mgraph.distances(GRAPH, checkpoint=tmp_path, resume=True, **on | other)
    with pytest.raises(CheckpointError, match="another input"):
        mgraph.distances(mgraph.generate.grid(10, 40), checkpoint=tmp_path, resume=True, **on)


@pytest.mark.parametrize("case", ["nearest", "measures", "levels", "hierarchy"])
def test_distances_go_on_with_another_number_of_workers(tmp_path, small_batches, case):
    pytest.importorskip("pymetis")
    options, names = DISTANCES[case]
    wanted = mgraph.distances(GRAPH, device="cpu", **options)
    with cluster(3, processes=False) as client, pytest.raises(Stopped):
        on = {"client": client, "device": "cpu", "checkpoint": str(tmp_path), "checkpoint_every": 0, "span": 1}
        mgraph.distances(GRAPH, progress=written(tmp_path), **on, **options)
    with cluster(2, processes=False) as client:
        on = {"checkpoint": tmp_path, "resume": True}
        equal(mgraph.distances(GRAPH, client=client, device="cpu", **on, **options), wanted, names)
        with mgraph.DistributedGraph.from_graph(GRAPH, client, device="cpu") as placed:
            equal(mgraph.distances(placed, **on, **options), wanted, names)
    equal(mgraph.distances(GRAPH, device="cpu", **on, **options), wanted, names)


#: Questions of betweenness.
BETWEENNESS = {
    "vertices": {"weight": False, "endpoints": True},
    "weights": {"sources": [*range(400)] * 4},
    "edges": {"weight": False, "edges": True, "limit": 9},
}


@pytest.mark.parametrize("case", BETWEENNESS)
def test_betweenness_goes_on_from_the_last_checkpoint(tmp_path, case, device):
    graph, options, on = GRAPH, BETWEENNESS[case], {"device": device, "span": 1}
    with pytest.raises(Stopped):
        mgraph.betweenness(graph, checkpoint=tmp_path, checkpoint_every=0, progress=written(tmp_path), **on, **options)
    whole, again = Steps(), Steps()
    wanted = mgraph.betweenness(graph, progress=whole, **on, **options)
    found = mgraph.betweenness(graph, checkpoint=tmp_path, resume=True, progress=again, **on, **options)
    equal(found, wanted, tuple(wanted.arrays))
    assert len(whole.seen) > len(again.seen) and whole.seen[-1] == again.seen[-1]
    for other, text in (({"sources": [5]}, "its sources"), ({"normalized": False}, "its normalized")):
        with pytest.raises(CheckpointError, match=text):
            mgraph.betweenness(graph, checkpoint=tmp_path, resume=True, **on, **options | other)
    with pytest.raises(CheckpointError, match=r"another (?:call|input)"):
        mgraph.betweenness(mgraph.generate.grid(10, 40), checkpoint=tmp_path, resume=True, **on, **options)


def test_betweenness_goes_on_with_scaled_numbers_of_paths(tmp_path):
    """A call that has begun again, as float64 does not hold the numbers, goes on with scaled ones."""
    grid, on = mgraph.generate.grid(540, 540, weights=None, device="cpu"), {"device": "cpu", "span": 1}

    def stop(*now):
        if any(json.loads(manifest.read_text())["call"]["wide"] for manifest in complete(tmp_path)):
            raise Stopped

    with pytest.raises(Stopped):
        mgraph.betweenness(grid, [0] * 80, checkpoint=tmp_path, checkpoint_every=0, progress=stop, **on)
    whole, again = Steps(), Steps()
    wanted = mgraph.betweenness(grid, [0] * 80, progress=whole, **on)
    found = mgraph.betweenness(grid, [0] * 80, checkpoint=tmp_path, resume=True, progress=again, **on)
    equal(found, wanted, ("betweenness",))
    assert found.plan.detail.wide and 2 * len(again.seen) < len(whole.seen)


@pytest.mark.parametrize("case", ["vertices", "edges"])
def test_betweenness_goes_on_with_another_number_of_workers(tmp_path, case):
    options = BETWEENNESS[case]
    wanted = mgraph.betweenness(GRAPH, device="cpu", **options)
    with cluster(3, processes=False) as client, pytest.raises(Stopped):
        on = {"client": client, "device": "cpu", "checkpoint": str(tmp_path), "checkpoint_every": 0, "span": 1}
        mgraph.betweenness(GRAPH, progress=written(tmp_path), **on, **options)
    on = {"device": "cpu", "checkpoint": tmp_path, "resume": True}
    with cluster(2, processes=False) as client:
        there = mgraph.betweenness(GRAPH, client=client, **on, **options)
    for found in (there, mgraph.betweenness(GRAPH, **on, **options)):
        assert np.allclose(found.betweenness, wanted.betweenness, rtol=1e-12, atol=1e-15)


def test_distances_that_are_not_kept(tmp_path):
    for options in ({"sparse": True}, {"out": tmp_path / "rows.npy"}, {"method": "blocked"}):
        with pytest.raises(InputError, match="checkpoint= keeps rows of results in memory: leave out"):
            mgraph.distances(GRAPH, device="cpu", checkpoint=tmp_path / "kept", **options)
    with pytest.raises(InputError, match="checkpoint= keeps the rows of one call"):
        next(mgraph.distance_blocks(GRAPH, device="cpu", checkpoint=tmp_path / "kept"))


@pytest.mark.parametrize("case", ["wyllie", "splitter64"])
def test_a_list_with_a_cycle_is_refused_after_a_checkpoint_too(tmp_path, case):
    call, options, _ = CALLS[case]
    succ = np.concatenate([LIST, [3001, 3000]])
    with pytest.raises(Stopped):
        stop = written(tmp_path)
        call(succ, device="cpu", checkpoint=tmp_path, checkpoint_every=0, progress=stop, **options)
    with pytest.raises(InputError, match="is on a cycle"):
        call(succ, device="cpu", checkpoint=tmp_path, resume=True, **options)


@pytest.mark.parametrize("count", [1, 2])
def test_progress_after_going_on_counts_the_rows_that_are_done(tmp_path, monkeypatch, count):
    monkeypatch.setattr(candidates, "sources_of", lambda most, multiple, seconds: 50)
    on, whole, again = {"device": "cpu", "method": "sssp", "span": 1}, Steps(), Steps()
    wanted = mgraph.apsp(GRAPH, progress=whole, **on)
    with pytest.raises(Stopped):
        mgraph.apsp(GRAPH, checkpoint=tmp_path, checkpoint_every=0, progress=written(tmp_path, count), **on)
    done = sum(1 for each in json.loads(complete(tmp_path)[-1].read_text())["files"])
    equal(mgraph.apsp(GRAPH, checkpoint=tmp_path, resume=True, progress=again, **on), wanted, ("distances",))
    assert again.seen == whole.seen[done:] and again.seen[-1] == 8


def test_rows_are_kept_whatever_the_number_of_sources_a_superstep(tmp_path, monkeypatch):
    on, whole, again = {"device": "cpu", "method": "sssp", "predecessors": True, "span": 1}, Steps(), Steps()
    names = "distances", "predecessors"
    wanted = mgraph.apsp(GRAPH, **on)
    monkeypatch.setattr(candidates, "sources_of", lambda most, multiple, seconds: 50)
    equal(mgraph.apsp(GRAPH, progress=whole, **on), wanted, names)
    with pytest.raises(Stopped):
        mgraph.apsp(GRAPH, checkpoint=tmp_path, checkpoint_every=0, progress=written(tmp_path), **on)
    monkeypatch.setattr(candidates, "sources_of", lambda most, multiple, seconds: 90)
    equal(mgraph.apsp(GRAPH, checkpoint=tmp_path, resume=True, progress=again, **on), wanted, names)
    assert whole.seen[:8] == [1, 2, 3, 4, 5, 6, 7, 8] and again.seen[-1] == 5


def test_the_same_threads_write_all_checkpoints(tmp_path, monkeypatch):
    """Each keeps a buffer for copies from a GPU."""
    call, options, _ = CALLS["blocked"]
    write, seen, numbers = Store.write, [], set()

    def recorded(self, number, *given):
        seen.append(threading.current_thread())
        numbers.add(number)
        return write(self, number, *given)

    monkeypatch.setattr(Store, "write", recorded)
    call(path_of_weight(1, 1500), device="cpu", checkpoint=tmp_path, checkpoint_every=0, **options)
    assert len(numbers) > 16 >= len(set(map(id, seen)))


@pytest.mark.parametrize(("case", "spans"), [("splitter64", (2,)), ("out of core", (10, 13, 20)), ("blocked", (2, 4))])
def test_spans_end_where_a_checkpoint_can_be_written(tmp_path, case, spans):
    (call, options, names), graph = CALLS[case], INPUTS.get(case, GRAPH)
    wanted = call(graph, device="cpu", **options)
    for span in spans:
        on = {"device": "cpu", "checkpoint": tmp_path / str(span), **options, "span": span}
        with pytest.raises(Stopped):
            call(graph, checkpoint_every=0, progress=written(tmp_path / str(span)), **on)
        equal(call(graph, resume=True, **on), wanted, names)
    with cluster(2 if case == "splitter64" else 1, processes=False) as client:
        found = call(graph, client=client, checkpoint_every=0, **on | {"checkpoint": tmp_path / "workers"})
        equal(found, wanted, names)
    assert complete(tmp_path / "workers")


def test_a_list_that_one_core_ranks_writes_no_checkpoint(tmp_path):
    found = mgraph.list_rank(LIST, method="sequential", device="cpu", span=1, checkpoint=tmp_path, checkpoint_every=0)
    assert int(found.ranks.max()) == 2999 and not complete(tmp_path)


def test_the_last_two_checkpoints_are_kept(tmp_path):
    call, options, _ = CALLS["blocked"]
    with pytest.raises(Stopped):
        limit = written(tmp_path / "made" / "here", count=2)
        call(GRAPH, device="cpu", checkpoint=tmp_path / "made" / "here", checkpoint_every=0, progress=limit, **options)
    call(GRAPH, device="cpu", checkpoint=tmp_path / "made" / "here", checkpoint_every=0, resume=True, **options)
    there = complete(tmp_path / "made" / "here")
    assert len(there) == 2
    named = {each["file"] for manifest in there for each in json.loads(manifest.read_text())["files"]}
    assert named == {path.name for path in (tmp_path / "made" / "here").glob("*.bin")}


def test_files_that_a_killed_worker_has_begun_are_removed(stopped):
    begun = [
        stopped / f".{name}.0123abcd.tmp"
        for name in (
            "000000000003-0123abcd-distances-0-0.bin",
            "checkpoint-000000000003.json",
            "checkpoint-1000000000000.json",
            "checkpoint-command.json",
        )
    ]
    others = [stopped / ".notes.tmp", stopped / ".notes.0123abcd.tmp", stopped / "notes"]
    for path in begun + others:
        path.write_bytes(b"a part")
    found, _ = resumed(stopped)
    np.testing.assert_array_equal(found.distances, mgraph.apsp(GRAPH, device="cpu").distances)
    assert not any(path.exists() for path in begun) and all(path.exists() for path in others)


def test_files_of_a_checkpoint_that_was_not_complete_are_removed_first(stopped, tmp_path):
    """They take as much of the disk as a checkpoint does, which the next one needs."""
    for folder in (stopped, tmp_path / "none"):
        folder.mkdir(exist_ok=True)
        left, others = folder / "000000000009-0123abcd-distances-0-0.bin", folder / "notes.bin"
        for path in (left, others):
            path.write_bytes(b"a part")
        resumed(folder, checkpoint_every=1000, progress=lambda k, of, left=left: wait_until(lambda: not left.exists()))
        assert others.exists()


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    call, options, _ = CALLS["blocked"]
    folder = tmp_path_factory.mktemp("stopped")
    with pytest.MonkeyPatch.context() as patched, pytest.raises(Stopped):
        write_at_once(patched)
        call(GRAPH, device="cpu", checkpoint=folder, checkpoint_every=0, progress=written(folder, 2), **options)
    return folder


@pytest.fixture
def stopped(once, tmp_path):
    """A folder with two checkpoints of `apsp` by ``CALLS["blocked"]``."""
    return shutil.copytree(once, tmp_path / "stopped")


def resumed(folder, graph=GRAPH, **other):
    call, options, _ = CALLS["blocked"]
    steps = Steps()
    on = {"device": "cpu", "checkpoint": folder, "resume": True, "progress": steps}
    return call(graph, **on | options | other), steps.seen


def damaged(how, manifest):
    file = manifest.parent / json.loads(manifest.read_text())["files"][0]["file"]
    if how == "flipped":
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        file.write_bytes(content)
    elif how == "short":
        file.write_bytes(file.read_bytes()[:-4])
    elif how == "long":
        file.write_bytes(file.read_bytes() + b"\0")
    elif how == "missing":
        file.unlink()
    elif how == "manifest":
        manifest.write_bytes(manifest.read_bytes()[:-30])
    elif how == "no checkpoint":
        manifest.write_text("[]")


@pytest.mark.parametrize("how", ["flipped", "short", "long", "missing", "manifest", "no checkpoint"])
def test_of_a_damaged_checkpoint_the_one_before_is_used(stopped, how):
    first, last = complete(stopped)
    step = json.loads(first.read_text())["step"]
    damaged(how, last)
    found, seen = resumed(stopped)
    equal(found, mgraph.apsp(GRAPH, device="cpu", method="blocked"), ("distances",))
    assert seen[0] == step + 3
    for manifest in complete(stopped):
        manifest.write_text("[]")
    with pytest.raises(CheckpointError, match="no checkpoint can be used"):
        resumed(stopped)


@pytest.mark.parametrize(
    "change",
    [
        {"file": "../../etc/passwd"},
        {"file": "/etc/passwd"},
        {"part": [[0, 1 << 60], [0, 400]]},
        {"part": [[-5, 400], [0, 400]]},
        {"part": [[0, 400]]},
        {"part": "0"},
        {"dtype": "object"},
        {"dtype": "<f8"},
        {"dtype": "nonsense"},
        {"dtype": "(e,"},
        {"dtype": None},
        {"crc32": "1"},
        {"name": "labels"},
    ],
    ids=str,
)
def test_manifests_are_not_trusted(stopped, change):
    for manifest in complete(stopped):
        changed(manifest, lambda content: content["files"][0].update(change))
    with pytest.raises(CheckpointError, match="no checkpoint can be used"):
        resumed(stopped)


def test_another_call_or_input_is_refused_by_name(stopped):
    with pytest.raises(CheckpointError, match=r"of another call: its predecessors is False, not True"):
        resumed(stopped, predecessors=True)
    with pytest.raises(CheckpointError, match=r"of another call: its n is 400, not 9"):
        resumed(stopped, mgraph.generate.grid(3, 3, weights=(1, 9), device="cpu"))
    with pytest.raises(CheckpointError, match="of the same call on another input"):
        resumed(stopped, mgraph.generate.grid(20, 20, weights=(1, 8), device="cpu"))
    with pytest.raises(CheckpointError, match=r"of another call: its algorithm is 'apsp'"):
        mgraph.transitive_closure(GRAPH, device="cpu", checkpoint=stopped, resume=True)


def test_one_changed_edge_is_another_input(stopped, tmp_path):
    matrix = GRAPH.to_scipy().tocsr()
    resumed(shutil.copytree(stopped, tmp_path / "same"), mgraph.Graph.from_scipy(matrix))
    matrix.data[7] += 1
    with pytest.raises(CheckpointError, match="another input"):
        resumed(stopped, mgraph.Graph.from_scipy(matrix))


def test_a_manifest_without_a_whole(stopped):
    for manifest in complete(stopped):
        kept = [each for each in json.loads(manifest.read_text())["files"] if each["name"] != "cycle"]
        changed(manifest, lambda content, kept=kept: content.update(files=kept))
    with pytest.raises(CheckpointError, match="the checkpoint lacks cycle"):
        resumed(stopped)


@pytest.mark.parametrize("step", [10**30, 4, 45, -3, "6", 3.0], ids=str)
def test_a_superstep_that_cannot_be(stopped, step):
    first, last = complete(stopped)
    changed(last, lambda content: content.update(step=step))
    found, seen = resumed(stopped)
    equal(found, mgraph.apsp(GRAPH, device="cpu", method="blocked"), ("distances",))
    assert seen[0] == json.loads(first.read_text())["step"] + 3


def test_one_flipped_bit_of_a_manifest(stopped):
    first, last = complete(stopped)
    step = json.loads(last.read_text())["step"]
    last.write_text(last.read_text().replace(f'"step": {step}', f'"step": {step + 3}'))
    assert json.loads(last.read_text())["step"] == step + 3
    _, seen = resumed(stopped)
    assert seen[0] == json.loads(first.read_text())["step"] + 3


@pytest.mark.parametrize("place", ["manifest", "file"])
def test_a_pipe_in_the_place_of_a_file(stopped, place):
    first, last = complete(stopped)
    path = last if place == "manifest" else stopped / json.loads(last.read_text())["files"][0]["file"]
    path.unlink()
    os.mkfifo(path)
    _, seen = resumed(stopped)
    assert seen[0] == json.loads(first.read_text())["step"] + 3


@pytest.mark.parametrize("name", ["checkpoint-command.json", "checkpoint-000000000001.json"])
def test_a_file_that_is_begun_is_nothing_that_is_there(tmp_path, monkeypatch, name):
    """Neither what lies under its name is written to, nor a name that can be guessed."""
    folder, other, opened, opens = tmp_path / "kept", tmp_path / "other", [], os.open
    folder.mkdir()
    other.write_text("mine")

    def recorded(path, flags, *more, **options):
        if str(path).endswith(".tmp"):
            opened.append(Path(path).name)
            assert flags & os.O_EXCL
        return opens(path, flags, *more, **options)

    (folder / f".{name}.tmp").symlink_to(other)
    (folder / name).symlink_to(other)
    kept = Store(str(folder))
    monkeypatch.setattr(os, "open", recorded)
    for _ in range(2):
        if name == "checkpoint-command.json":
            kept.write_command(["apsp"])
        else:
            kept.complete(store.Manifest(1, {}, 0, 0, "", ()))
    assert other.read_text() == "mine" and not (folder / name).is_symlink()
    assert len(set(opened)) == 2


def test_a_pipe_under_the_name_of_a_file_that_is_begun(tmp_path):
    os.mkfifo(tmp_path / ".checkpoint-command.json.tmp")
    (tmp_path / "path.txt").write_text("0 1 1\n1 2 1\n")
    mgraph_command("apsp", "path.txt", "--device", "cpu", "--checkpoint", tmp_path, cwd=tmp_path)


def test_a_folder_in_the_place_of_a_manifest(stopped):
    first, last = complete(stopped)
    last.unlink()
    last.mkdir()
    here = Path("/proc/self/fd")
    before = len(list(here.iterdir())) if here.exists() else 0
    with pytest.raises(CheckpointError, match="it is no file"):
        Store(str(stopped)).manifest(int(last.stem.rpartition("-")[2]))
    assert not here.exists() or len(list(here.iterdir())) == before
    _, seen = resumed(stopped)
    assert seen[0] == json.loads(first.read_text())["step"] + 3


def test_numbers_of_more_digits(stopped):
    last = complete(stopped)[-1]
    last.rename(stopped / "checkpoint-999999999999.json")
    resumed(stopped, checkpoint_every=0)
    assert Store(str(stopped)).numbers()[0] > 999999999999
    _, seen = resumed(stopped)
    assert seen[0] > 6


def test_a_folder_is_for_one_call_at_a_time(stopped):
    running = []

    def progress(k, of):
        if not running:
            running.append(k)
            with pytest.raises(CheckpointError, match="another call writes checkpoints to"):
                resumed(stopped)

    call, options, names = CALLS["blocked"]
    found = call(GRAPH, device="cpu", checkpoint=stopped, resume=True, progress=progress, **options)
    equal(found, call(GRAPH, device="cpu", **options), names)
    assert running
    resumed(stopped)


def second_call(folder):
    """Make a call that is refused, as another one has the folder."""
    with pytest.raises(CheckpointError, match="another call writes checkpoints to"):
        resumed(folder)


def test_a_folder_is_held_between_the_attempts_of_a_call(tmp_path, monkeypatch):
    graph, anew, attempts = path_of_weight(40, 400), Checkpoints.anew, []

    def between(self):
        second_call(tmp_path)
        attempts.append(self)
        return anew(self)

    monkeypatch.setattr(Checkpoints, "anew", between)
    mgraph.apsp(graph, method="blocked", dtype="auto", device="cpu", checkpoint=tmp_path)
    assert attempts


def test_a_folder_is_held_by_a_file_that_is_open_for_writing(tmp_path):
    """As a network's disk asks, so that the lock holds on all hosts."""

    def progress(k, of):
        with open(tmp_path / "checkpoint.lock", "r+") as file, pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    mgraph.apsp(GRAPH, device="cpu", method="blocked", checkpoint=tmp_path, progress=progress)
    with open(tmp_path / "checkpoint.lock", "r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_lock_that_is_a_link_is_not_followed(tmp_path):
    """Else whoever may write to the folder could have files made elsewhere."""
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "checkpoint.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CheckpointError, match="cannot be locked"):
        mgraph.apsp(GRAPH, device="cpu", method="blocked", checkpoint=tmp_path / "kept")
    assert not (tmp_path / "elsewhere").exists()


def test_a_command_that_is_refused_is_not_noted(tmp_path):
    (tmp_path / "path.txt").write_text("0 1 1\n1 2 1\n")
    with Store(str(tmp_path / "kept")).locked():
        found = mgraph_command("apsp", "path.txt", "--checkpoint", "kept", cwd=tmp_path, code=1)
    assert "another call writes checkpoints to" in found.stderr
    assert "no command has written checkpoints" in mgraph_command("resume", tmp_path / "kept", code=1).stderr


class Later:
    """A matrix as in a file; `then` is called when it is read."""

    shape, ndim, dtype = (2, 2), 2, np.dtype("int32")

    def __init__(self, then):
        self.then = then

    def __getitem__(self, part):
        self.then()
        return np.array([[0, 3], [2, 0]], np.int32)[part]


def test_a_loss_before_the_folder_is_looked_at_does_not_go_on_from_it(stopped):
    def lost():
        raise mgraph.WorkerLostError("a worker was lost", workers=("tcp://nowhere",), among=2)

    before = {path: path.read_bytes() for path in stopped.iterdir()}
    with cluster(2, processes=False) as client, pytest.raises(OutputExistsError):
        mgraph.apsp(Later(lost), client=client, device="cpu", checkpoint=stopped)
    assert before == {path: path.read_bytes() for path in stopped.iterdir()}


def test_checkpoints_that_came_while_a_call_began_are_not_gone_on_from(stopped, tmp_path, monkeypatch):
    """Where the disk knows no locks, another call may write them."""
    folder = tmp_path / "late"

    def meanwhile(self, algorithm):
        shutil.copytree(stopped, folder, dirs_exist_ok=True)
        return {}

    monkeypatch.setattr(Checkpoints, "call", meanwhile)
    with pytest.raises(OutputExistsError, match="holds checkpoints"):
        resumed(folder, resume=False)
    assert complete(folder)


def test_johnsons_potentials_are_a_part_of_the_input(tmp_path):
    """Weights that differ by a potential have the same shifted weights."""
    on = {"method": "johnson", "span": 1, "device": "cpu", "checkpoint": tmp_path}
    with pytest.raises(Stopped):
        mgraph.apsp(path_of_weight(-5), checkpoint_every=0, progress=written(tmp_path), **on)
    with pytest.raises(CheckpointError, match="another input"):
        mgraph.apsp(path_of_weight(-7), resume=True, **on)


def test_workers_that_do_not_see_the_same_folder(tmp_path, monkeypatch):
    call, options, names = CALLS["blocked"]
    monkeypatch.setattr(Store, "missing", lambda self, files: [files[0].file])
    with pytest.warns(
        RuntimeWarning, match="1 of its files are not in the folder, such as .*a worker sees another folder"
    ) as caught:
        found = call(GRAPH, device="cpu", checkpoint=tmp_path, checkpoint_every=0, **options)
    equal(found, call(GRAPH, device="cpu", **options), names)
    assert len(caught) == 1 and not complete(tmp_path)


def test_final_rows_whose_files_were_removed_are_written_again(tmp_path):
    (call, options, names), graph = CALLS["bfs_many"], GRAPH
    options = options | {"span": 10}
    on, removed = {"device": "cpu", "checkpoint": tmp_path}, []

    def progress(k, of):
        done = complete(tmp_path)
        if done and not removed:  # of the newest one alone, as older ones may be discarded meanwhile
            named = [tmp_path / each["file"] for each in json.loads(done[-1].read_text())["files"]]
            removed.extend(path for path in named if path.suffix == ".bin")
            for path in (*done, *removed):
                path.unlink(missing_ok=True)

    with pytest.warns(RuntimeWarning, match="files are not in the folder, such as"):
        wanted = call(graph, checkpoint_every=0, progress=progress, **on, **options)
    named = [each["file"] for each in json.loads(complete(tmp_path)[-1].read_text())["files"]]
    assert removed and named and all((tmp_path / name).exists() for name in named)
    equal(call(graph, resume=True, **on, **options), wanted, names)


def test_a_resumed_call_keeps_two_checkpoints(stopped):
    before = complete(stopped)
    resumed(stopped, checkpoint_every=1000)
    assert complete(stopped) == before


def test_a_closure_goes_on_by_other_blocks(tmp_path, monkeypatch):
    """As on another kind of device, whose blocks have another length."""
    call, options, names = CALLS["closure"]
    graph = mgraph.generate.grid(40, 40, device="cpu")
    kernels = closure_kernels.of_kind("cpu")
    usual = kernels.DEFAULT_BLOCK
    for first, then in ((128, 256), (256, 128)):
        folder = tmp_path / str(first)
        monkeypatch.setattr(kernels, "DEFAULT_BLOCK", first)
        with pytest.raises(Stopped):
            stop = written(folder, 2)  # of as many rows as the longer block has
            call(graph, device="cpu", checkpoint=folder, checkpoint_every=0, progress=stop, **options)
        monkeypatch.setattr(kernels, "DEFAULT_BLOCK", then)
        again = Steps()
        found = call(graph, device="cpu", checkpoint=folder, resume=True, progress=again, **options)
        assert again.seen[0] > 3
        monkeypatch.setattr(kernels, "DEFAULT_BLOCK", usual)
        equal(found, call(graph, device="cpu", **options), names)


def test_a_copy_that_does_not_fit_pauses_the_call(tmp_path, monkeypatch):
    call, options, names = CALLS["blocked"]
    wanted = call(GRAPH, device="cpu", **options)

    def full(k, of):  # the plan has been made
        monkeypatch.setattr(HostDevice, "available_memory", lambda self: 1000)

    found = call(GRAPH, device="cpu", checkpoint=tmp_path, checkpoint_every=0, progress=full, **options)
    monkeypatch.undo()
    equal(found, wanted, names)
    assert complete(tmp_path)


@pytest.mark.parametrize("way", ["sent", "there"])
def test_workers_write_nothing_when_a_call_has_ended(behind, tmp_path, monkeypatch, way):
    """The last checkpoint is still being written when the call ends; a folder that is removed then stays away."""
    write = Store.write

    def slowly(self, *given):
        time.sleep(0.3)
        return write(self, *given)

    monkeypatch.setattr(Store, "write", slowly)
    with cluster(2, processes=False) as client:
        graph = mgraph.DistributedGraph.from_graph(GRAPH, client, device="cpu") if way == "there" else GRAPH
        given = {} if way == "there" else {"client": client, "device": "cpu"}
        mgraph.bfs(graph, 0, span=20, checkpoint=tmp_path / "kept", checkpoint_every=0, **given)
        there = {path.name for path in (tmp_path / "kept").iterdir()}
        manifests = complete(tmp_path / "kept")
        named = {each["file"] for path in manifests for each in json.loads(path.read_text())["files"]}
        assert there == named | {path.name for path in manifests} | {"checkpoint.lock"}
        shutil.rmtree(tmp_path / "kept")
        time.sleep(0.5)
        assert not (tmp_path / "kept").exists()


def test_checkpoints_are_not_overwritten(stopped):
    before = {path: path.read_bytes() for path in stopped.iterdir()}
    with pytest.raises(OutputExistsError, match="holds checkpoints: resume=True goes on from the last one"):
        mgraph.apsp(GRAPH, device="cpu", checkpoint=stopped)
    assert before == {path: path.read_bytes() for path in stopped.iterdir()}


def test_the_method_of_the_checkpoint_is_taken(tmp_path):
    with pytest.raises(Stopped):
        mgraph.apsp(
            GRAPH,
            method="squaring",
            device="cpu",
            span=1,
            checkpoint=tmp_path,
            checkpoint_every=0,
            progress=written(tmp_path),
        )
    assert mgraph.apsp(GRAPH, device="cpu", checkpoint=tmp_path, resume=True).plan.method == "squaring"


@pytest.mark.parametrize(
    ("other", "text"),
    [({"dtype": "float64"}, "its dtype is 'int32', not 'float64'"), ({"block": 64}, "its block is 32, not 64")],
    ids=str,
)
def test_a_type_or_block_that_is_given_is_not_replaced(stopped, other, text):
    with pytest.raises(CheckpointError, match=text):
        resumed(stopped, **other)
    with pytest.raises(InputError, match="dtype must be"):
        resumed(stopped, dtype="nonsense")
    assert resumed(stopped, block=None, dtype="auto")[0].plan.dtype == "int32"


def test_derived_predecessors_stay_derived(tmp_path):
    graph = mgraph.generate.weighted(mgraph.generate.rmat(10, device="cpu"), (1, 9), "int32")
    on = {"device": "cpu", "predecessors": True, "checkpoint": tmp_path}
    with pytest.raises(Stopped):
        mgraph.apsp(graph, span=3, checkpoint_every=0, progress=written(tmp_path), **on)
    assert json.loads(complete(tmp_path)[0].read_text())["call"]["labels"] is False
    found = mgraph.apsp(graph, resume=True, **on)
    equal(found, mgraph.apsp(graph, device="cpu", predecessors=True), ("distances", "predecessors"))


def test_an_attempt_in_another_type_begins_anew(tmp_path):
    """Distances that do not fit int16 are computed in a wider type; the checkpoints of the first attempt go."""
    graph = path_of_weight(40, 400)
    call, options, names = CALLS["blocked"]
    options = options | {"dtype": "auto", "device": "cpu"}
    found = call(graph, checkpoint=tmp_path, checkpoint_every=0, **options)
    equal(found, call(graph, **options), names)
    assert found.plan.dtype != "int16"
    assert complete(tmp_path)
    dtypes = {json.loads(manifest.read_text())["call"]["dtype"] for manifest in complete(tmp_path)}
    assert dtypes <= {found.plan.dtype}


def test_resume_begins_anew_where_there_is_no_checkpoint(tmp_path):
    found, seen = resumed(tmp_path / "none")
    assert seen[0] == 3
    equal(found, mgraph.apsp(GRAPH, device="cpu", method="blocked"), ("distances",))


def no_room(*given):
    """Fail as on a full disk."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("place", ["full", "file", "read-only"])
def test_a_checkpoint_that_cannot_be_written_warns(tmp_path, place, monkeypatch):
    call, options, names = CALLS["blocked"]
    folder = tmp_path / "here"
    if place == "file":
        folder.write_text("")
    elif place == "read-only" and os.geteuid() == 0:
        folder = Path("/proc/none")
    elif place == "read-only":
        folder.mkdir(mode=0o500)
    else:
        monkeypatch.setattr(os, "fsync", no_room)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = call(GRAPH, device="cpu", checkpoint=folder, checkpoint_every=0, **options)
        except CheckpointError as error:
            assert place == "file" and "is a file" in str(error)
            return
    assert place != "file"
    equal(found, call(GRAPH, device="cpu", **options), names)
    assert any("was not written to" in str(each.message) and "the call goes on" in str(each.message) for each in caught)


def test_the_warning_says_why_there_is_no_folder_and_names_the_line_of_the_call(tmp_path, monkeypatch):
    folder = tmp_path / "here"
    made = Path.mkdir

    def refused(path, *given, **options):
        if path == folder:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        return made(path, *given, **options)

    monkeypatch.setattr(Path, "mkdir", refused)
    with pytest.warns(RuntimeWarning, match="was not written to .* and the call goes on: .*Read-only") as caught:
        mgraph.apsp(GRAPH, method="blocked", device="cpu", span=1, checkpoint=folder, checkpoint_every=0)
    assert [each.filename for each in caught if "was not written" in str(each.message)] == [__file__]


def test_on_a_disk_with_room_for_two_checkpoints_the_older_makes_room(tmp_path, monkeypatch):
    call, options, names = CALLS["blocked"]
    writes, there = Store.write, []

    def full(self, *given):
        if len(complete(tmp_path)) == 2:
            no_room()
        return writes(self, *given)

    def progress(k, of):
        there.extend(path.name for path in complete(tmp_path) if path.name not in there)

    monkeypatch.setattr(Store, "write", full)
    with pytest.warns(RuntimeWarning, match="No space left on device"):
        found = call(
            GRAPH, device="cpu", checkpoint=tmp_path, checkpoint_every=0, progress=progress, **options | {"span": 1}
        )
    equal(found, call(GRAPH, device="cpu", **options), names)
    assert len(there) > 2 and there[-1] == complete(tmp_path)[-1].name


def test_a_url(tmp_path):
    call, options, names = CALLS["blocked"]
    url = "memory://checkpoints/of/mgraph"
    system = fsspec.filesystem("memory")
    with pytest.raises(Stopped):

        def progress(k, of):
            if any("checkpoint-" in name for name in system.find("/checkpoints")):
                raise Stopped

        call(GRAPH, device="cpu", checkpoint=url, checkpoint_every=0, progress=progress, **options)
    try:
        steps = Steps()
        found = call(GRAPH, device="cpu", checkpoint=url, resume=True, progress=steps, **options)
        equal(found, call(GRAPH, device="cpu", **options), names)
        assert steps.seen[0] > 3
    finally:
        system.rm("/checkpoints", recursive=True)


def test_the_plan_counts_the_copy(tmp_path):
    plain = mgraph.apsp(GRAPH, device="cpu", method="blocked").plan
    plan = mgraph.apsp(GRAPH, device="cpu", method="blocked", checkpoint=tmp_path).plan
    assert plan.peak_bytes[0] == plain.peak_bytes[0] + 400 * 400 * 4
    assert "checkpoints: written behind the computation, from a copy of" in plan.explain(True)
    assert "checkpoints" not in plain.explain(True)
    rows = mgraph.apsp(GRAPH, device="cpu", method="sssp", checkpoint=tmp_path, resume=True).plan
    assert "checkpoints: written behind the computation\n" in rows.explain(True)


def test_a_copy_counts_in_the_memory_limit(tmp_path):
    call, options, names = CALLS["blocked"]
    plain = call(GRAPH, device="cpu", **options)
    for extra, copied in ((400 * 400 * 4 - 1, False), (400 * 400 * 4, True)):
        most = plain.plan.peak_bytes[0] + extra
        found = call(GRAPH, device="cpu", checkpoint=tmp_path / str(extra), memory_limit=most, **options)
        assert ("while the call pauses" not in found.plan.explain(True)) == copied
        assert found.plan.peak_bytes[0] == (most if copied else plain.plan.peak_bytes[0])
        equal(found, plain, names)
    most = plain.plan.peak_bytes[0]
    with dask.config.set({"mgraph.memory-limit": most}), cluster(1, processes=False) as client:
        plan = call(GRAPH, client=client, device="cpu", checkpoint=tmp_path / "workers", **options).plan
    assert plan.peak_bytes[0] <= most and "while the call pauses" in plan.explain(True)


def test_many_sources_are_a_digest_in_the_manifest(tmp_path, monkeypatch):
    monkeypatch.setattr(Resumable, "COPIED", False)  # so that a checkpoint is complete one span later
    graph, on = mgraph.generate.grid(2, 3000, device="cpu"), {"device": "cpu", "span": 2, "checkpoint": tmp_path}
    with pytest.raises(Stopped):
        mgraph.bfs(graph, sources=range(2000), checkpoint_every=0, progress=written(tmp_path), **on)
    assert len(complete(tmp_path)[0].read_bytes()) < 2000
    with pytest.raises(CheckpointError, match=r"its sources is '2000 vertices, SHA-256 .*, not '2001 vertices"):
        mgraph.bfs(graph, sources=range(2001), resume=True, **on)
    found = mgraph.bfs(graph, sources=range(2000), resume=True, **on)
    equal(found, mgraph.bfs(graph, sources=range(2000), device="cpu"), ("distances",))


def test_a_manifest_too_long_to_be_read_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(Resumable, "COPIED", False)
    monkeypatch.setattr(store, "LONGEST", 300)
    call, options, names = CALLS["blocked"]
    with pytest.warns(RuntimeWarning, match="its manifest takes .* bytes, and at most 300 can be read again"):
        found = call(GRAPH, device="cpu", checkpoint=tmp_path, checkpoint_every=0, **options)
    equal(found, call(GRAPH, device="cpu", **options), names)
    assert not complete(tmp_path)


class OtherLibraryError(Exception):
    """As libraries raise that fsspec knows URLs by: no OSError."""


@pytest.mark.parametrize(("broken", "text"), [("ls", "cannot be listed"), ("cat_file", "cannot be read")])
def test_errors_of_fsspec_libraries_are_those_of_checkpoints(stopped, monkeypatch, broken, text):
    memory = fsspec.filesystem("memory")
    memory.put(f"{stopped}/", "/of/another/", recursive=True)

    def fail(self, *given, **options):
        raise OtherLibraryError("no credentials")

    try:
        with monkeypatch.context() as changed, pytest.raises(CheckpointError, match=f"{text}: no credentials"):
            changed.setattr(type(memory), broken, fail)
            resumed("memory://of/another")
        assert resumed("memory://of/another")[1][0] > 3
    finally:
        memory.rm("/of", recursive=True)


def test_files_that_a_listing_lacks_are_looked_for(tmp_path, monkeypatch):
    """A network's disk may list what was there some seconds ago."""
    monkeypatch.setattr(Resumable, "COPIED", False)
    listed = os.listdir
    monkeypatch.setattr(os, "listdir", lambda place: [name for name in listed(place) if not name.endswith(".bin")])
    call, options, _ = CALLS["blocked"]
    call(GRAPH, device="cpu", checkpoint=tmp_path, checkpoint_every=0, **options)
    assert complete(tmp_path)


def test_the_names_of_files_are_on_disk_before_the_manifest(tmp_path, monkeypatch):
    monkeypatch.setattr(Resumable, "COPIED", False)
    waits, there = os.fsync, []

    def fsync(file):
        waits(file)
        if stat.S_ISDIR(os.fstat(file).st_mode):
            there.append((len(list(tmp_path.glob("*.bin"))), len(complete(tmp_path))))

    monkeypatch.setattr(os, "fsync", fsync)
    call, options, _ = CALLS["blocked"]
    call(GRAPH, device="cpu", checkpoint=tmp_path, checkpoint_every=0, **options)
    assert there[0][0] >= 2 and [manifests for _, manifests in there[:2]] == [0, 1]


def test_shards_that_would_go_on_at_different_supersteps(stopped, monkeypatch):
    monkeypatch.setattr(Shards, "fill", lambda *_: [3, 6])
    with cluster(2, processes=False) as client:
        with pytest.raises(CheckpointError, match=r"the shards would go on at different supersteps, \[3, 6\]"):
            resumed(stopped, client=client)


def test_what_is_removed_is_gone_before_another_call_may_begin(tmp_path, monkeypatch):
    removes, done = Store.remove, []

    def slow(self, names):
        time.sleep(0.5)
        removes(self, names)
        done.append(names)

    def progress(k, of):
        raise Stopped

    monkeypatch.setattr(Store, "remove", slow)
    with pytest.raises(Stopped):
        mgraph.apsp(GRAPH, device="cpu", method="blocked", checkpoint=tmp_path, progress=progress)
    assert done


def test_elements_that_are_there_twice_do_not_stand_for_others(stopped):
    half = np.zeros((200, 400), "<i4").tobytes()
    for manifest in complete(stopped):
        number, files = manifest.stem.removeprefix("checkpoint-"), []
        for place in ("0-0", "0-1"):
            files.append(f"{number}-0123abcd-distances-{place}.bin")
            (stopped / files[-1]).write_bytes(half)

        def change(content, files=files):
            [whole] = [each for each in content["files"] if each["name"] == "distances"]
            content["files"].remove(whole)
            part = {"part": [[0, 200], [0, 400]], "crc32": zlib.crc32(half)}
            content["files"] += [whole | part | {"file": file} for file in files]

        changed(manifest, change)
    with pytest.raises(CheckpointError, match="two files of the checkpoint hold the same elements of distances"):
        resumed(stopped)


def test_a_fault_of_the_program_is_not_damage(stopped, monkeypatch):
    def resumes(self, state, shard, saved):
        raise ValueError("a fault of the program")

    monkeypatch.setattr(FloydWarshall, "resumed", resumes)
    with pytest.raises(ValueError, match="a fault of the program") as caught:
        resumed(stopped)
    assert not isinstance(caught.value, CheckpointError)


class InBytes:
    """A path of bytes."""

    def __fspath__(self):
        return b"kept"


def test_a_relative_folder_in_a_folder_that_is_gone(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(InputError, match="checkpoint must be an absolute path"):
        mgraph.apsp(GRAPH, device="cpu", checkpoint="kept")
    monkeypatch.undo()


def test_arguments_are_checked(tmp_path):
    for options, text in (
        ({"resume": True}, "resume goes with checkpoint="),
        ({"checkpoint_every": 3}, "checkpoint_every goes with checkpoint="),
        ({"checkpoint": 5}, "checkpoint must be a folder"),
        ({"checkpoint": ""}, "checkpoint must be a folder"),
        ({"checkpoint": "a\0b"}, "checkpoint must be a folder"),
        ({"checkpoint": b"kept"}, "checkpoint must be a folder"),
        ({"checkpoint": "a\ud800"}, "checkpoint must be a folder"),
        ({"checkpoint": InBytes()}, "checkpoint must be a folder"),
        ({"checkpoint": tmp_path, "checkpoint_every": 10**400}, "checkpoint_every must be a number of seconds"),
        ({"checkpoint": tmp_path, "checkpoint_every": -1}, "checkpoint_every must be a number of seconds"),
        ({"checkpoint": tmp_path, "checkpoint_every": "often"}, "checkpoint_every must be a number of seconds"),
        ({"checkpoint": tmp_path, "resume": "yes"}, "resume must be"),
    ):
        with pytest.raises(InputError, match=text):
            mgraph.apsp(GRAPH, device="cpu", **options)


def test_resume_on_the_command_line(tmp_path):
    """A command that is stopped, and `mgraph resume` from another folder, on workers."""
    ran, elsewhere, folder = tmp_path / "ran", tmp_path / "elsewhere", tmp_path / "ran" / "kept"
    ran.mkdir()
    elsewhere.mkdir()
    src, dst = np.arange(499), np.arange(1, 500)
    (ran / "path.txt").write_text("".join(f"{a} {b} {1 + a % 7}\n" for a, b in zip(src, dst, strict=True)))
    options = ("apsp", "path.txt", "--method", "naive", "--span", "20", "--device", "cpu", "--out", "found.npy")
    words = [*options, "--checkpoint", "kept", "--checkpoint-every", "0"]
    running = subprocess.Popen([sys.executable, "-m", "mgraph.cli", *words], cwd=ran)
    wait_until(lambda: complete(folder) or running.poll() is not None)
    running.kill()
    running.wait()
    if not (ran / "found.npy").exists():
        assert "--resume goes on from the last one" in mgraph_command(*words, cwd=ran, code=2).stderr
    found = mgraph_command("resume", folder, "--workers", "2", "--overwrite", "--json", cwd=elsewhere)
    assert json.loads(found.stdout)["workers"] == 2
    wanted = mgraph.apsp(mgraph.read(ran / "path.txt"), device="cpu").distances
    np.testing.assert_array_equal(np.load(ran / "found.npy"), wanted)


@pytest.mark.exhaustive
def test_paths_given_to_resume_are_of_the_folder_in_which_it_is_called(stopped, tmp_path):
    ran, elsewhere = tmp_path / "ran", tmp_path / "elsewhere"
    ran.mkdir()
    elsewhere.mkdir()
    scipy.sparse.save_npz(ran / "graph.npz", GRAPH.to_scipy())
    options = ("--device", "cpu", "--method", "blocked", "--block", "32")
    mgraph_command("apsp", "graph.npz", *options, "--checkpoint", "kept", cwd=ran)
    shutil.copytree(stopped, ran / "kept", dirs_exist_ok=True)
    mgraph_command("resume", ran / "kept", "--out", "one.npy", cwd=elsewhere)
    mgraph_command("resume", ran / "kept", "--out=two.npy", cwd=elsewhere)
    assert {path.name for path in elsewhere.iterdir()} == {"one.npy", "two.npy"}


def test_a_command_does_not_go_on_without_its_folder(stopped, tmp_path):
    ran, kept = tmp_path / "ran", tmp_path / "kept"
    ran.mkdir()
    scipy.sparse.save_npz(ran / "graph.npz", GRAPH.to_scipy())
    mgraph_command("apsp", "graph.npz", "--device", "cpu", "--method", "blocked", "--checkpoint", kept, cwd=ran)
    shutil.copytree(stopped, kept, dirs_exist_ok=True)
    shutil.rmtree(ran)
    found = mgraph_command("resume", kept, cwd=tmp_path, code=1)
    assert f"the command ran in {ran}, which is no folder here" in found.stderr


def test_a_command_says_that_a_checkpoint_is_damaged(stopped, tmp_path):
    scipy.sparse.save_npz(tmp_path / "graph.npz", GRAPH.to_scipy())
    damaged("flipped", complete(stopped)[-1])
    on = ("--device", "cpu", "--method", "blocked", "--block", "32", "--checkpoint", stopped, "--resume")
    lines = mgraph_command("apsp", tmp_path / "graph.npz", *on).stderr.splitlines()
    [line] = [line for line in lines if line.startswith("mgraph: warning: checkpoint")]
    assert "cannot be used" in line and "is damaged" in line


@pytest.mark.parametrize(
    ("where", "sent", "code"),
    [
        ("out of core", signal.SIGKILL, -signal.SIGKILL),
        *exhaustive(
            ("direct", signal.SIGINT, 130),
            ("direct", signal.SIGTERM, -signal.SIGTERM),  # which a shell says as 143
            ("out of core", signal.SIGINT, 130),
            ("workers", signal.SIGTERM, 143),
        ),
    ],
)
def test_a_signal_in_the_middle_of_writing(tmp_path, where, sent, code):
    """The command ends, the last complete checkpoint is used, and what was begun is removed."""
    options = {
        "direct": ["--method", "naive", "--span", "20"],
        "out of core": ["--method", "blocked", "--block", "32", "--span", "1", "--memory-limit", "2MB"],
        "workers": ["--method", "naive", "--span", "20", "--workers", "2"],
    }[where]
    folder = tmp_path / "kept"
    (tmp_path / "path.txt").write_text("".join(f"{a} {a + 1} {1 + a % 7}\n" for a in range(1199)))
    words = ["apsp", "path.txt", "--device", "cpu", *options, "--checkpoint", "kept", "--checkpoint-every", "0"]
    for _ in range(9):
        running = subprocess.Popen(
            [sys.executable, "-m", "mgraph.cli", *words, "--out", "found.npy"], cwd=tmp_path, stderr=subprocess.PIPE
        )
        while running.poll() is None and not (complete(folder) and any(folder.glob(".*.tmp"))):
            time.sleep(0.001)
        running.send_signal(sent)
        _, said = running.communicate()
        if not (tmp_path / "found.npy").exists():
            break
        shutil.rmtree(folder)  # the signal came too late, as this process was not run meanwhile
        (tmp_path / "found.npy").unlink()
    assert running.returncode == code, said
    named = {each["file"] for manifest in complete(folder) for each in json.loads(manifest.read_text())["files"]}
    begun = {file.name for file in folder.glob("*.bin")} - named
    mgraph_command("resume", folder, "--checkpoint-every", "1000")
    wanted = mgraph.apsp(mgraph.read(tmp_path / "path.txt"), device="cpu").distances
    np.testing.assert_array_equal(np.load(tmp_path / "found.npy"), wanted)
    left = {file.name for file in folder.iterdir()}
    assert named <= left and not left & begun and not any(name.endswith(".tmp") for name in left)


def note(folder, *words, ran_in="."):
    (folder / "checkpoint-command.json").write_text(json.dumps({"command": words, "folder": str(ran_in)}))


@pytest.fixture
def with_command(stopped, tmp_path):
    """A folder with checkpoints and the command that has written them, whose file follows ``--``."""
    edges = GRAPH.to_scipy().tocoo()
    np.savetxt(tmp_path / "grid.txt", np.column_stack([edges.row, edges.col, edges.data]), fmt="%d")
    options = ("--method", "blocked", "--block", "32", "--span", "3", "--device", "cpu")
    note(stopped, "apsp", *options, "--", "grid.txt", ran_in=tmp_path)
    return stopped


def test_a_command_whose_files_follow_two_dashes(with_command, tmp_path):
    mgraph_command("resume", with_command, "--out", tmp_path / "found.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "found.npy"), mgraph.apsp(GRAPH, device="cpu").distances)


@pytest.mark.parametrize(
    ("words", "options"),
    [(["distances", "--nearest", "3"], {"nearest": 3}), (["measures", "--eccentricity"], {"reduce": "eccentricity"})],
)
def test_commands_of_distances(tmp_path, small_batches, words, options):
    edges = GRAPH.to_scipy().tocoo()
    np.savetxt(tmp_path / "grid.txt", np.column_stack([edges.row, edges.col, edges.data]), fmt="%d")
    graph, folder = mgraph.read(tmp_path / "grid.txt"), tmp_path / "kept"
    on = {"device": "cpu", "span": 1, **options}
    with pytest.raises(Stopped):
        mgraph.distances(graph, checkpoint=folder, checkpoint_every=0, progress=written(folder), **on)
    note(folder, *words, "--device", "cpu", "grid.txt", ran_in=tmp_path)
    mgraph_command("resume", folder, "--out", tmp_path / "found.npy")
    wanted = next(iter(mgraph.distances(graph, **on).arrays.values()))
    np.testing.assert_array_equal(np.load(tmp_path / "found.npy"), wanted)


def test_resuming_in_another_folder_is_refused(with_command, tmp_path):
    for words in (["--checkpoint", "other"], ["--checkpoint=other"]):
        said = mgraph_command("resume", with_command, *words, code=2).stderr
        assert f"mgraph resume goes on in {with_command}" in " ".join(said.split())
    assert not (tmp_path / "other").exists()


def test_resuming_with_a_bad_option(with_command):
    said = mgraph_command("resume", with_command, "--nonsense", code=2).stderr
    assert " apsp [OPTIONS] [FILE]..." in said and "FOLDER" not in said and "No such option" in said
    assert "give FOLDER first" in " ".join(mgraph_command("resume", "--overwrite", with_command, code=2).stderr.split())


def test_resuming_without_a_checkpoint(with_command):
    for manifest in complete(with_command):
        manifest.unlink()
    assert "holds no checkpoint to go on from" in mgraph_command("resume", with_command, code=1).stderr


def test_a_command_of_another_user_is_not_run(with_command, monkeypatch):
    kept = Store(str(with_command))
    assert kept.command()[0][0] == "apsp"
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)
    with pytest.raises(CheckpointError, match="is another user's"):
        kept.command()


def test_a_command_that_cannot_be_read_is_not_damaged(with_command):
    (with_command / "checkpoint-command.json").unlink()
    (with_command / "checkpoint-command.json").symlink_to("checkpoint-command.json")
    with pytest.raises(CheckpointError, match="cannot be read: ") as caught:
        Store(str(with_command)).command()
    assert "damaged" not in str(caught.value)


def test_a_command_in_a_folder_whose_name_is_not_utf_8(tmp_path, monkeypatch):
    folder = os.path.join(os.fsencode(tmp_path), b"caf\xe9")
    os.mkdir(folder)
    monkeypatch.chdir(os.fsdecode(folder))
    kept = Store(str(tmp_path))
    kept.write_command(["apsp", "grid.npz"])
    assert kept.command() == (["apsp", "grid.npz"], os.fsdecode(folder))


def test_resume_without_a_command(stopped, tmp_path):
    said = mgraph_command("resume", stopped, code=1).stderr
    assert f"no command has written checkpoints to {stopped}: give the call itself again, with --resume" in said
    for content, text in (
        ("[]", "is damaged"),
        ('{"command": ["components"], "folder": "."}', "no command 'components' that writes"),
    ):
        (stopped / "checkpoint-command.json").write_text(content)
        assert text in mgraph_command("resume", stopped, code=1).stderr


def test_a_lock_that_may_only_be_read_is_a_lock(tmp_path, monkeypatch):
    """As that of another user's call in a folder that both may write to."""
    usual = os.open

    def denied(path, flags, *mode, **others):
        if str(path).endswith("checkpoint.lock") and flags & os.O_RDWR:
            raise PermissionError(13, "Permission denied", str(path))
        return usual(path, flags, *mode, **others)

    with open(tmp_path / "checkpoint.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        monkeypatch.setattr(os, "open", denied)
        with pytest.raises(CheckpointError, match="another call writes checkpoints to"):
            mgraph.apsp(GRAPH, device="cpu", method="blocked", checkpoint=tmp_path)
    mgraph.apsp(GRAPH, device="cpu", method="blocked", checkpoint=tmp_path)


@pytest.mark.parametrize("wrong", [{"dtype": []}, {"dtype": 2**64}, {"block": 1e308}, {"block": -1}, {"block": True}])
def test_what_a_checkpoint_says_of_its_call_is_checked(tmp_path, monkeypatch, wrong):
    known = {"algorithm": "apsp", "method": "blocked", "dtype": "int32", "block": 8, **wrong}
    monkeypatch.setattr(Checkpoints, "call", lambda self, algorithm: known)
    with pytest.raises(CheckpointError, match="its call has a type or a block"):
        mgraph.apsp(GRAPH, device="cpu", checkpoint=tmp_path, resume=True)
