"""Pairs and flows by a hierarchy as calls: the same as of its methods and of a loop over paths, on workers, resumed."""

import gc
import itertools
import json
import time
import warnings
from pathlib import Path

import dask
import numpy as np
import pytest
from scipy import sparse

import mgraph
from mgraph import CheckpointError, InputError, MemoryLimitError
from mgraph import device as devices
from mgraph.algorithms.routes import call, plan
from mgraph.kernels.routes import on
from tests.support.checkpoints import Stopped, complete, write_at_once, written
from tests.support.clusters import LOST, Kills, clients
from tests.support.commands import failed, invoke, misused, ok
from tests.support.memory import measured

pytest.importorskip("pymetis")

client = clients(1, 3)


def stopping(folder):
    """A report of progress that stops a call late, once there is a checkpoint."""

    def progress(done, total):
        time.sleep(0.01)  # in which checkpoints are written
        if done >= 40 and complete(folder):
            raise Stopped

    return progress


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(plan, "BATCH", 40)


@pytest.fixture(scope="module")
def roads():
    graph = mgraph.generate.grid(12, 13, weights=(1, 99), seed=2, device="cpu")
    src, dst, _ = graph.coo()
    weights = np.random.default_rng(4).integers(1, 99, len(src))
    directed = mgraph.Graph.from_edges(src, dst, weights, n=graph.n + 1)  # and a vertex that nobody reaches
    return mgraph.Hierarchy(directed, device="cpu")


def ends(roads, count=300):
    return np.random.default_rng(5).integers(0, roads.n, (2, count))


def demand(roads, dtype=int):
    return (*ends(roads), np.random.default_rng(6).integers(0, 50, 300).astype(dtype))


def looped(roads, demand):
    """The loads by a loop over paths."""
    places = {}
    src, dst, weights = roads.graph.coo()
    for e in np.argsort(weights, kind="stable")[::-1]:
        places[src[e], dst[e]] = e
    loads = np.zeros(roads.m, int)
    for u, v, amount in zip(*demand, strict=True):
        path = roads.path(u, v)
        for edge in itertools.pairwise(path):
            loads[places[edge]] += amount
    return loads


def check(found, expected):
    found.verify()
    assert found.loads.dtype == expected.loads.dtype and np.array_equal(found.loads, expected.loads)
    assert np.array_equal(found.supply, expected.supply)
    assert (found.cost, found.unserved) == (expected.cost, expected.unserved)


def check_pairs(found, expected):
    assert np.array_equal(found.distances, expected.distances) and found.distances.dtype == expected.distances.dtype
    for own, other in zip(found.along, expected.along, strict=True):
        assert own.dtype == other.dtype and np.array_equal(own, other)


def check_paths(found, expected):
    check_pairs(found._replace(along=found.along or ()), expected._replace(along=expected.along or ()))
    for own, other in zip(found[2:], expected[2:], strict=True):
        assert own.dtype == other.dtype and np.array_equal(own, other)


def others(roads):
    weights = np.random.default_rng(7).integers(1, 9, roads.m)
    return [weights, weights / 2]


def test_pairs_are_those_of_the_method(roads):
    sources, targets = ends(roads)
    assert np.array_equal(mgraph.pairs(roads, sources, targets), roads.pairs(sources, targets))
    along = others(roads)
    check_pairs(mgraph.pairs(roads, sources, targets, along=along), roads.pairs(sources, targets, along=along))


def test_a_device_that_takes_all_pairs_keeps_their_order_and_reads_labels(device, monkeypatch):
    graph = mgraph.generate.grid(12, 13, weights=(1, 99), seed=2, device="cpu")
    plain = mgraph.Hierarchy(graph, device=device)
    sources, targets = ends(plain)
    expected, labelled = devices.to_host(plain.pairs(sources, targets)), plain.labelled()
    monkeypatch.setattr(call, "by_start", lambda *_: pytest.fail("pairs are sorted"))
    assert np.array_equal(devices.to_host(mgraph.pairs(plain, sources, targets)), expected)
    kernels = on(devices.find(device))
    monkeypatch.setattr(kernels, "climb", lambda *_: pytest.fail("it climbs"))
    on_device = map(devices.find(device).asarray, (sources, targets))
    assert np.array_equal(devices.to_host(mgraph.pairs(labelled, *on_device)), expected)


def test_flows_are_those_of_a_loop_over_paths(roads):
    asked = demand(roads)
    found = mgraph.flows(roads, asked)
    check(found, roads.flows(asked))
    assert np.array_equal(found.loads, looped(roads, asked))


def test_pairs_on_workers(roads, client):
    sources, targets = ends(roads)
    along = others(roads)
    found = mgraph.pairs(roads, sources, targets, along=along, client=client)
    check_pairs(found, roads.pairs(sources, targets, along=along))


def test_paths_on_workers(roads, client):
    sources, targets = ends(roads)
    check_paths(
        mgraph.pairs(roads, sources, targets, paths=True, client=client), roads.pairs(sources, targets, paths=True)
    )
    along = others(roads)
    found = mgraph.pairs(roads, sources, targets, along=along, paths=True, client=client)
    check_paths(found, roads.pairs(sources, targets, along=along, paths=True))
    check_paths(mgraph.pairs(roads, [0], [1], paths=True, client=client), roads.pairs([0], [1], paths=True))


def test_paths_go_without_checkpoints(roads, tmp_path):
    with pytest.raises(InputError, match="paths=True does not go with checkpoints, which keep no paths"):
        mgraph.pairs(roads, [0], [1], paths=True, checkpoint=tmp_path)


def test_many_pairs_are_no_large_graph_of_dask(roads, client):
    """They go beside the hierarchy, and not in the task that loads a shard."""
    sources, targets = ends(roads, 100_000)
    asked = sources, targets, np.ones(100_000)
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "100kB"}), warnings.catch_warnings():
        warnings.simplefilter("error")
        found = mgraph.pairs(roads, sources, targets, client=client)
        flows = mgraph.flows(roads, asked, client=client)
    assert np.array_equal(found, roads.pairs(sources, targets)) and flows.loads.sum() == roads.flows(asked).loads.sum()


def test_flows_on_workers(roads, client):
    asked = demand(roads)
    found = mgraph.flows(roads, asked, client=client)
    check(found, roads.flows(asked))
    assert np.array_equal(found.loads, looped(roads, asked))
    matrix = np.random.default_rng(8).integers(0, 9, (40, roads.n))
    check(mgraph.flows(roads, matrix, range(40), client=client), roads.flows(matrix, range(40)))


def test_float_flows_on_workers_have_the_same_bits_each_time(roads, client):
    asked = (*ends(roads), np.random.default_rng(9).random(300))
    first = mgraph.flows(roads, asked, client=client)
    first.verify()
    check(mgraph.flows(roads, asked, client=client), first)
    np.testing.assert_allclose(first.loads, roads.flows(asked).loads, rtol=1e-12)


@LOST
def test_a_lost_worker_changes_nothing(roads, mortals):
    sources, targets = ends(roads)
    kills = Kills(mortals)
    found = mgraph.pairs(roads, sources, targets, client=mortals, progress=kills, span=1)
    assert kills.killed and np.array_equal(found, roads.pairs(sources, targets))


@LOST
def test_paths_after_a_lost_worker(roads, mortals):
    sources, targets = ends(roads)
    kills = Kills(mortals)
    found = mgraph.pairs(roads, sources, targets, paths=True, client=mortals, progress=kills, span=1)
    assert kills.killed
    check_paths(found, roads.pairs(sources, targets, paths=True))


@LOST
def test_flows_after_a_lost_worker(roads, mortals):
    kills, asked = Kills(mortals), demand(roads)
    check(mgraph.flows(roads, asked, client=mortals, progress=kills, span=1), roads.flows(asked))
    assert kills.killed


CALLS = {
    "pairs": lambda roads, **run: mgraph.pairs(roads, *ends(roads), along=others(roads), **run),
    "flows": lambda roads, **run: mgraph.flows(roads, demand(roads), **run),
}


@pytest.mark.parametrize("name", CALLS)
def test_they_go_on_from_a_checkpoint(roads, client, name, tmp_path, monkeypatch):
    monkeypatch.setattr(plan, "BATCH", 5)
    made, same = CALLS[name], check if name == "flows" else check_pairs
    with pytest.raises(Stopped):
        made(roads, checkpoint=tmp_path, checkpoint_every=0, progress=stopping(tmp_path), span=1)
    steps = []
    found = made(
        roads,
        checkpoint=tmp_path,
        resume=True,
        client=client,
        span=1,
        progress=lambda done, total: steps.append((done, total)),
    )
    same(found, made(roads))
    assert len(steps) < 50  # of 60 on one worker


def test_loads_of_a_damaged_checkpoint_are_not_counted(roads, tmp_path, monkeypatch):
    monkeypatch.setattr(plan, "BATCH", 5)
    write_at_once(monkeypatch)
    with pytest.raises(Stopped):
        CALLS["flows"](roads, checkpoint=tmp_path, checkpoint_every=0, progress=written(tmp_path, 2), span=1)
    max(tmp_path.glob("*-done-*.bin")).unlink()
    check(CALLS["flows"](roads, checkpoint=tmp_path, resume=True), CALLS["flows"](roads))


def test_a_checkpoint_of_other_pairs_is_refused(roads, tmp_path, monkeypatch):
    monkeypatch.setattr(plan, "BATCH", 5)
    with pytest.raises(Stopped):
        CALLS["pairs"](roads, checkpoint=tmp_path, checkpoint_every=0, progress=stopping(tmp_path), span=1)
    sources, targets = ends(roads)
    with pytest.raises(CheckpointError):
        mgraph.pairs(roads, targets, sources, along=others(roads), checkpoint=tmp_path, resume=True)


def test_memory_is_checked_before(roads):
    with pytest.raises(MemoryLimitError):
        mgraph.pairs(roads, *ends(roads), memory_limit=1000)
    with pytest.raises(MemoryLimitError):
        mgraph.flows(roads, demand(roads), memory_limit=1000)


#: A demand, and calls that are planned.
MATRIX = np.ones((500, 300))
PLANNED = {
    "pairs": lambda roads, sources, targets: mgraph.pairs(roads, sources, targets),
    "labels": lambda roads, sources, targets: mgraph.pairs(roads.labelled(), sources, targets),
    "one sum": lambda roads, sources, targets: mgraph.pairs(roads, sources, targets, along=others(roads)[:1]),
    "two sums": lambda roads, sources, targets: mgraph.pairs(roads, sources, targets, along=others(roads)),
    "flows": lambda roads, sources, targets: mgraph.flows(roads, (sources, targets, sources.astype(float))),
    "matrix": lambda roads, sources, targets: mgraph.flows(roads, MATRIX, range(500), range(500, 800)),
}


def planned(monkeypatch):
    """The plans of calls, as they are made."""
    made = []
    monkeypatch.setattr(plan, "BATCH", 1 << 20)
    monkeypatch.setattr(
        call, "planned", lambda *args, **options: made.append(plan.planned(*args, **options)) or made[-1]
    )
    return made


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("name", PLANNED)
def test_predicted_peak_is_the_measured_one(name, dtype, directed, monkeypatch):
    graph = mgraph.generate.grid(100, 100, weights=(1, 99), seed=1, device="cpu")
    roads = mgraph.Hierarchy(graph, dtype=dtype, device="cpu")
    if directed:
        roads = roads.customize(np.random.default_rng(2).integers(1, 99, graph.m), dtype=dtype)
    roads, made = roads.labelled() if name == "labels" else roads, planned(monkeypatch)
    sources, targets = np.random.default_rng(3).integers(0, graph.n, (2, 100_000))
    PLANNED[name](roads, sources, targets)  # compiles
    predicted = made[-1].peak_bytes[0]
    # Other threads of the process, such as Dask's, allocate now and then, too.
    peaks = (measured(lambda: PLANNED[name](roads, sources, targets))[1] for _ in range(100))
    assert 0.95 * predicted < next(peak for peak in peaks if peak < 1.05 * predicted)


@pytest.mark.gpu
@pytest.mark.parametrize("name", PLANNED)
def test_predicted_peak_is_the_measured_one_on_a_gpu(name, monkeypatch):
    graph = mgraph.generate.grid(150, 150, weights=(1, 99), seed=1, device="cpu")
    roads, made = mgraph.Hierarchy(graph, device="cuda"), planned(monkeypatch)
    roads = roads.labelled() if name == "labels" else roads
    sources, targets = np.random.default_rng(3).integers(0, graph.n, (2, 200_000))
    PLANNED[name](roads, sources, targets)  # compiles
    gc.collect()  # what is freed meanwhile would count less than nothing
    with devices.find("cuda").peak_memory() as peak:
        PLANNED[name](roads, sources, targets)
    assert made[-1].peak_bytes[0] == pytest.approx(peak.bytes, rel=0.1)


def test_plans_predict_what_notes_say_of_new_york(monkeypatch):
    """Within a factor of 2.5: the cores of the figures are of several machines, and were busy."""
    monkeypatch.setattr(plan, "BATCH", 1 << 20)

    def seconds(name, cores=1, **options):
        spec = mgraph.DeviceSpec("cpu", "cpu", 64 << 30, cores)
        return mgraph.plan(name, 264_346, 730_100, spec, directed=False, dtype="int32", **options).seconds

    for found, said in (
        (seconds("pairs", sources=1_000), 24e-3),
        (seconds("pairs", sources=100_000), 0.14),
        (seconds("pairs", sources=1_000_000), 0.71),
        (seconds("pairs", 16, sources=1_000_000), 0.118),
        (seconds("pairs", sources=1_000_000, along=1), 2.8),
        (seconds("flows", sources=1_000_000), 2.8),
        (seconds("flows", 16, sources=1_000_000), 0.55),
        (seconds("flows", sources=1_000, targets=1_000), 0.231),
        (seconds("flows", 16, sources=1_000, targets=1_000), 0.146),
    ):
        assert said / 2.5 < found < 2.5 * said


def test_a_plan_counts_a_hierarchy_where_it_is_copied():
    one, two = (mgraph.plan("pairs", 10_000, 40_000, devices, memory="1GiB") for devices in ("cpu", "2xcpu"))
    assert two.peak_bytes[0] - one.peak_bytes[0] > 32 * two.detail.entries - 12 * 10_000 * 500
    assert np.isfinite(one.seconds) and one.detail.pairs == 10_000
    with pytest.raises(InputError, match="along=1 does not go with flows: it is for pairs"):
        mgraph.plan("flows", 10_000, 40_000, "cpu", along=1)


def test_plans_on_the_command_line(roads, folder):
    plain = json.loads(ok("plan", "pairs", "-n", "264346", "--m", "730100", "--sources", "1000000", "--json"))
    assert (plain["algorithm"], plain["pairs"]) == ("pairs", 1_000_000) and 0 < plain["seconds"] < 60
    table = "--sources", "1000", "--targets", "500", "--json"
    found = json.loads(ok("plan", "flows", "-n", "264346", "--m", "730100", *table))
    assert found["pairs"] == 500_000 and found["loads"] and np.isfinite(found["seconds"])
    assert "sums of 2 other weights" in ok("plan", "pairs", "demand.txt", "--along", "2", "--verbose")
    assert "it is for pairs" in failed(invoke("plan", "flows", "-n", "9", "--m", "9", "--along", "1"), 2)


def test_only_a_hierarchy_will_do(roads):
    with pytest.raises(InputError, match="hierarchy must be a mgraph"):
        mgraph.pairs(roads.graph, [0], [1])


@pytest.fixture
def folder(roads, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    roads.save("roads.npz")
    sources, targets = ends(roads)
    np.savetxt("a.txt", sources, "%d")
    np.savetxt("b.txt", targets, "%d")
    np.savetxt("demand.txt", np.transpose(demand(roads)), "%d")
    indptr, indices = roads.graph.adjacency("csr")
    miles = sparse.csr_array((others(roads)[0], indices, indptr), shape=(roads.n, roads.n))
    sparse.save_npz("miles.npz", miles)


def test_commands_run_on_workers(roads, folder):
    lists = "--sources", "a.txt", "--targets", "b.txt"
    ok("pairs", "roads.npz", *lists, "--workers", "2", "--out", "found.npy")
    assert np.array_equal(np.load("found.npy"), roads.pairs(*ends(roads)))
    ok("flows", "roads.npz", "demand.txt", "--n", str(roads.n), "--workers", "2", "--out", "loads.npy")
    assert np.array_equal(np.load("loads.npy"), roads.flows(demand(roads)).loads)
    ok("pairs", "roads.npz", *lists, "--paths", "--workers", "2", "--out", "paths.npz")
    with np.load("paths.npz") as found:
        assert np.array_equal(found["vertices"], roads.pairs(*ends(roads), paths=True).vertices)
    both = "--paths does not go with --table and --checkpoint"
    assert both in misused(invoke("pairs", "roads.npz", *lists, "--paths", "--checkpoint", "kept"))


def test_commands_go_on_from_checkpoints(roads, folder, monkeypatch):
    monkeypatch.setattr(plan, "BATCH", 5)
    with pytest.raises(Stopped):
        on = {"device": "cpu", "checkpoint": "kept", "checkpoint_every": 0, "span": 1}
        mgraph.pairs(roads, *ends(roads), progress=stopping("kept"), **on)
    call = "pairs", "roads.npz", "--sources", "a.txt", "--device", "cpu", "--checkpoint", "kept", "--resume"
    assert "a checkpoint of another call" in failed(invoke(*call, "--targets", "a.txt"), 1)
    ok(*call, "--targets", "b.txt", "--out", "found.npy")
    assert np.array_equal(np.load("found.npy"), roads.pairs(*ends(roads)))


def test_a_table_of_sums_on_the_command_line(roads, folder):
    Path("some.txt").write_text("3\n70\n8\n")
    Path("few.txt").write_text("11\n100\n")
    call = "pairs", "roads.npz", "--sources", "some.txt", "--targets", "few.txt", "--table", "--along", "miles.npz"
    expected = roads.distances([3, 70, 8], [11, 100], along=others(roads)[:1])
    for number, where in enumerate(((), ("--memory-limit", "1GiB"))):
        facts = json.loads(ok(*call, *where, "--out", f"skim{number}.npz", "--json"))
        assert facts["pairs"] == 6
        with np.load(f"skim{number}.npz") as saved:
            assert np.array_equal(saved["distances"], expected.distances)
            assert np.array_equal(saved["along_0"], expected.along[0])


def test_other_weights_of_a_graph_with_ids(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("ids.txt").write_text("100 200 5\n200 300 6\n300 100 2\n")
    ok("hierarchy", "ids.txt", "--relabel", "--out", "roads.npz")
    ok("pairs", "roads.npz", "--source", "100", "--target", "300", "--ids", "--along", "ids.txt", "--out", "found.npz")
    with np.load("found.npz") as found:
        assert found["distances"].tolist() == found["along_0"].tolist() == [11]
