"""What an operator sees of calls: Dask's events under the topic mgraph, records of the log, and names of tasks."""

import logging
import os
import subprocess
import sys
import time
import urllib.request
from collections import Counter

import dask
import numpy as np
import pytest
from distributed import Client, LocalCluster, span

import mgraph
from mgraph.generate import grid
from mgraph.runtime.dask import sending, turns
from mgraph.runtime.dask.driver import forget
from tests.support.clusters import CLUSTER_WARNINGS, LOST, QUIET, SOON, Kills, wait_until
from tests.support.parameters import exhaustive

pytestmark = [
    *CLUSTER_WARNINGS,
    pytest.mark.usefixtures("writing"),
]  # a call may end before a slow disk has a checkpoint

#: Events that end a run.
ENDS = {"ended", "lost", "failed"}


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Calls wait until the scheduler has logged how they ended, although it answers late."""
    monkeypatch.setattr(turns, "PARTING", SOON)


@pytest.fixture(scope="module")
def made():
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "memory_limit": 0}
    with LocalCluster(**options, **QUIET) as cluster, Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture
def client(made):
    made.run_on_scheduler(lambda dask_scheduler: dask_scheduler._broker.truncate())
    return made


def events(client):
    """Return the events of mgraph, in their order."""
    return [event for _, event in client.get_events("mgraph")]


def names(client):
    return [event["event"] for event in events(client)]


class Slow:
    """A report of progress that takes as long as a span of a long call."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __call__(self, k, of):
        time.sleep(self.seconds)


class Broken(Exception):
    pass


def broken(k, of):
    raise Broken("of the caller")


def test_a_call_has_a_plan_and_an_end(client):
    plan = mgraph.bfs(grid(4, 4), 0, client=client, device="cpu").plan
    begun, ended = events(client)
    told = {key: begun[key] for key in ("event", "algorithm", "method", "devices", "kind", "seconds", "peak_bytes")}
    assert told == {
        "event": "plan",
        "algorithm": "bfs",
        "method": plan.method,
        "devices": 2,
        "kind": "cpu",
        "seconds": pytest.approx(plan.seconds),
        "peak_bytes": max(plan.peak_bytes),
    }
    assert ended["event"] == "ended" and ended["seconds"] > 0
    assert begun["call"] == ended["call"]


def test_a_call_on_a_graph_that_lies_there_has_them_too(client):
    placed = mgraph.DistributedGraph.from_graph(grid(4, 4), client, device="cpu")
    for progress in None, Slow(0):
        before = len(events(client))
        mgraph.bfs(placed, 0, progress=progress)
        begun, ended = events(client)[before:]
        assert (begun["event"], begun["algorithm"], ended["event"]) == ("plan", "bfs", "ended")
        assert begun["call"] == ended["call"]


def test_the_dashboard_has_all_but_the_spans(client):
    mgraph.bfs(grid(4, 4), 0, client=client, device="cpu", span=1, progress=Slow(0.5))
    wait_until(lambda: {"plan", "span", "ended"} <= set(names(client)))
    actions = [event["action"] for _, event in client.get_events("all")]
    assert [action for action in actions if action.startswith("mgraph")] == ["mgraph-plan", "mgraph-ended"]


@pytest.mark.parametrize("placed", [False, True], ids=["sent", "placed"])
def test_spans_tell_what_is_left(client, caplog, placed):
    graph = grid(4, 4)
    given = mgraph.DistributedGraph.from_graph(graph, client, device="cpu") if placed else graph
    where = {} if placed else {"client": client, "device": "cpu"}
    began = time.monotonic()
    with caplog.at_level(logging.INFO, "mgraph"):
        mgraph.bfs(given, 0, span=1, progress=Slow(0.6), **where)
    passed = time.monotonic() - began
    logged = sum(": superstep " in line for line in caplog.messages)
    assert 2 <= logged <= passed  # of 7 spans: at most one a second
    wait_until(lambda: names(client).count("span") == logged)  # nothing waits for such an event
    told = [event for event in events(client) if event["event"] == "span"]
    steps = [event["superstep"] for event in told]
    assert steps == sorted(set(steps)) and all(event["rate"] > 0 for event in told)


def test_a_known_total_gives_the_time_left(client, caplog):
    with caplog.at_level(logging.INFO, "mgraph"):
        mgraph.apsp(np.ones((128, 128)), block=32, client=client, device="cpu", span=1, progress=Slow(0.6))
    wait_until(lambda: "span" in names(client))
    for event in events(client):
        if event["event"] != "span":
            continue
        assert event["left"] == pytest.approx((event["total"] - event["superstep"]) / event["rate"])
    assert any(" s left" in line for line in caplog.messages)


def test_a_call_of_one_device_logs_its_pace(caplog):
    with caplog.at_level(logging.INFO, "mgraph"):
        mgraph.bfs(grid(3, 3), 0, device="cpu", span=1, progress=Slow(0.6))
    assert any(line.startswith("bfs: superstep ") for line in caplog.messages)


def test_checkpoints(client, tmp_path):
    graph = grid(12, 12, weights=(1, 9))
    mgraph.apsp(
        graph, method="blocked", block=32, client=client, device="cpu", span=1, progress=Slow(0.05),
        checkpoint=tmp_path / "kept", checkpoint_every=0,
    )  # fmt: skip
    wait_until(lambda: "checkpoint" in names(client))
    told = [event for event in events(client) if event["event"] == "checkpoint"]
    numbers = [event["number"] for event in told]
    assert numbers and numbers == sorted(set(numbers))
    assert all(event["bytes"] > 0 and event["seconds"] > 0 and event["superstep"] > 0 for event in told)


@pytest.mark.parametrize("every", ["0 s", "1 hour"])
def test_the_configuration_gives_the_time_between_checkpoints(tmp_path, caplog, every):
    graph = grid(12, 12, weights=(1, 9))
    options = {"method": "blocked", "block": 32, "span": 1, "progress": Slow(0.05)}
    with dask.config.set({"mgraph.checkpoint-every": every}), caplog.at_level(logging.INFO, "mgraph"):
        mgraph.apsp(graph, device="cpu", checkpoint=tmp_path, **options)
    assert any(line.startswith("checkpoint ") for line in caplog.messages) == (every == "0 s")


@pytest.mark.parametrize("every", [-1, "often", True])
def test_the_configured_time_between_checkpoints_is_checked(tmp_path, every):
    with (
        dask.config.set({"mgraph.checkpoint-every": every}),
        pytest.raises(mgraph.InputError, match=r"mgraph\.checkpoint-every of Dask's configuration must be a number"),
    ):
        mgraph.apsp(grid(3, 3), device="cpu", checkpoint=tmp_path)


@pytest.mark.parametrize("wait", [-1, "long", True])
def test_the_configured_wait_for_workers_is_checked(client, wait):
    there = mgraph.cluster.Cluster(client, "cpu")
    with (
        dask.config.set({"mgraph.recovery-wait": wait}),
        pytest.raises(mgraph.InputError, match=r"mgraph\.recovery-wait of Dask's configuration must be a number"),
    ):
        there.again()


@pytest.mark.parametrize(("name", "value"), [("recovery-wait", "long"), ("retries", "often"), ("retries", -1)])
@pytest.mark.parametrize("placed", [False, True], ids=["sent", "placed"])
def test_what_is_configured_for_losses_is_checked_before_any(client, name, value, placed):
    graph = grid(4, 4)
    given = mgraph.DistributedGraph.from_graph(graph, client, device="cpu") if placed else graph
    where = {} if placed else {"client": client, "device": "cpu"}
    with (
        dask.config.set({f"mgraph.{name}": value}),
        pytest.raises(mgraph.InputError, match=rf"mgraph\.{name} of Dask's configuration must be"),
    ):
        mgraph.bfs(given, 0, **where)


@pytest.mark.parametrize(("wait", "least"), [("1 s", 1), (0, 0)])
def test_a_call_waits_as_configured_for_lost_workers(wait, least):
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "memory_limit": 0}
    with LocalCluster(**options, **QUIET) as cluster, Client(cluster, set_as_default=False) as client:
        there = mgraph.cluster.Cluster(client, "cpu")
        client.retire_workers([there.addresses[0]])
        wait_until(lambda: len(client.run(os.getpid)) == 1)
        began = time.monotonic()
        with dask.config.set({"mgraph.recovery-wait": wait}):
            assert there.again().addresses == there.addresses[1:]
        assert time.monotonic() - began >= least


@pytest.mark.parametrize("placed", [False, True], ids=["sent", "placed"])
def test_a_failure_is_told(client, placed):
    graph = grid(4, 4)
    given = mgraph.DistributedGraph.from_graph(graph, client, device="cpu") if placed else graph
    where = {} if placed else {"client": client, "device": "cpu"}
    with pytest.raises(Broken):
        mgraph.bfs(given, 0, span=1, progress=broken, **where)
    last = events(client)[-1]
    assert (last["event"], last["error"]) == ("failed", "Broken: of the caller")


def test_tasks_have_names_that_say_what_they_do(client, monkeypatch):
    monkeypatch.setattr(sending, "SMALL", 0)
    mgraph.bfs_many(grid(4, 4), [0, 1], client=client, device="cpu")
    mgraph.bfs(grid(4, 4), 0, client=client, device="cpu")
    found = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.task_prefixes))
    assert {"mgraph-bfs-load", "mgraph-bfs-many-load", "mgraph-probe", "mgraph-join"} <= set(found)


@pytest.fixture
def counted():
    """Return a client, and what reads mgraph's counters from its scheduler's /metrics."""
    pytest.importorskip("prometheus_client")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "memory_limit": 0}
    with (
        LocalCluster(**options, **QUIET | {"dashboard_address": "127.0.0.1:0"}) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        address = f"http://127.0.0.1:{cluster.scheduler.http_server.port}/metrics"

        def counters():
            with urllib.request.urlopen(address) as answer:
                lines = [line.split() for line in answer.read().decode().splitlines() if line.startswith("mgraph_")]
            return Counter({name: float(value) for name, value in lines if name.endswith("_total")})

        yield client, counters


def test_prometheus_counts_what_calls_do(counted, tmp_path):
    client, counters = counted
    mgraph.bfs(grid(4, 4), 0, client=client, device="cpu")  # the first call of this scheduler
    before = counters()
    mgraph.apsp(
        grid(12, 12), method="blocked", block=32, client=client, device="cpu", span=1, progress=Slow(0.05),
        checkpoint=tmp_path, checkpoint_every=0,
    )  # fmt: skip
    with pytest.raises(Broken):
        mgraph.bfs(grid(4, 4), 0, client=client, device="cpu", span=1, progress=broken)

    def counted_as_told():
        written = [event["bytes"] for event in events(client) if event["event"] == "checkpoint"]
        return written and counters() - before == {
            "mgraph_runs_begun_total": 2,
            "mgraph_runs_ended_total": 1,
            "mgraph_runs_failed_total": 1,
            "mgraph_checkpoints_total": len(written),
            "mgraph_checkpoint_bytes_total": sum(written),
        }

    wait_until(counted_as_told)  # nothing waits for the event of a checkpoint


def test_prometheus_counts_losses(counted):
    client, counters = counted
    mgraph.bfs(grid(4, 4), 0, client=client, device="cpu")
    before = counters()

    def lose(dask_scheduler):
        dask_scheduler.log_event("mgraph", {"event": "lost", "workers": ["a", "b"], "why": ""})
        dask_scheduler.log_event("mgraph", {"event": "again", "what": "bfs", "workers": 1})
        dask_scheduler.log_event("another", {"event": "lost", "workers": ["c"]})

    client.run_on_scheduler(lose)
    assert counters() - before == {
        "mgraph_runs_lost_total": 1, "mgraph_workers_lost_total": 2, "mgraph_again_total": 1
    }  # fmt: skip


def test_without_prometheus_a_call_counts_nothing():
    script = """
import sys
sys.modules["prometheus_client"] = None
from distributed import Client
import mgraph
with Client(n_workers=1, processes=False, dashboard_address=":0") as client:
    mgraph.bfs(mgraph.generate.grid(3, 3), 0, client=client, device="cpu")
    print(client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.plugins)))
"""
    made = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "mgraph-turns" in made.stdout and "mgraph-counters" not in made.stdout


def test_calls_share_a_span_of_dask_so_that_its_figures_do_not_grow(client):
    def spans_on_workers():
        answers = client.run(lambda dask_worker: [key[1] for key in dask_worker.digests_total if key[0] == "execute"])
        return {name for names in answers.values() for name in names}

    before = spans_on_workers()
    for _ in range(2):
        forget(client)  # a call has tasks if it opens sessions
        mgraph.bfs(grid(4, 4), 0, client=client, device="cpu", span=1)
    wait_until(lambda: "mgraph" in spans_on_workers())
    assert spans_on_workers() - before <= {"mgraph"}
    forget(client)
    with span("of the caller") as own:
        mgraph.bfs(grid(4, 4), 0, client=client, device="cpu")
    wait_until(lambda: own in spans_on_workers())


@LOST
@pytest.mark.parametrize("placed", [True, *exhaustive(False)], ids=["placed", "sent"])
def test_a_loss_and_what_follows_are_told(mortals, placed):
    graph = grid(12, 12)
    given = mgraph.DistributedGraph.from_graph(graph, mortals, device="cpu") if placed else graph
    where = {} if placed else {"client": mortals, "device": "cpu"}
    before = len(events(mortals))
    kills = Kills(mortals)
    mgraph.bfs(given, 0, span=1, progress=kills, **where)
    told = [event for event in events(mortals)[before:] if event["event"] != "span"]
    kinds = [event["event"] for event in told]
    assert kinds[0:2] == ["plan", "lost"] and kinds[-2:] == ["plan", "ended"] and "again" in kinds
    assert list(told[1]["workers"]) == kills.killed and kills.killed[0] in told[1]["why"]
    [again] = [event for event in told if event["event"] == "again"]
    assert again["workers"] in (1, 2) and (again["what"] == "bfs" or placed)
    runs = [event["call"] for event in told if event["event"] == "plan"]
    assert [event["call"] for event in told if event["event"] in ENDS] == runs
