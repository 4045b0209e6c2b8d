"""Workers of unequal memory hold unequal pieces, and give the same bits."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
from distributed import Client, Scheduler, SpecCluster, Worker, get_worker

import mgraph
from mgraph.algorithms.registry import ALGORITHMS
from mgraph.generate import rmat
from mgraph.limits import numba_pages
from mgraph.planning.devices import USABLE
from mgraph.runtime.dask import Cluster, worker
from mgraph.runtime.dask.driver import forget
from tests.support.cluster_calls import matrix
from tests.support.clusters import CLUSTER_WARNINGS, clients

pytestmark = CLUSTER_WARNINGS


client = clients(4)


@pytest.fixture
def little(client, monkeypatch):
    """Limit the memory of the second worker of each new cluster; return the function that sets it."""
    made = Cluster.__init__

    def set_memory(size):
        def init(self, *arguments, **options):
            made(self, *arguments, **options)
            self.specs = tuple(
                replace(spec, memory=size) if shard == 1 else spec for shard, spec in enumerate(self.specs)
            )

        monkeypatch.setattr(Cluster, "__init__", init)
        forget(client)

    return set_memory


def calls():
    """Each call as a function of where it runs."""
    dense, graph = matrix(300), rmat(10)
    random = np.random.default_rng(3)
    weighted = mgraph.Graph.from_edges(*random.integers(0, 1000, (2, 5000)), random.random(5000), n=1000)
    successors = np.minimum(np.arange(5000) + 1, 4999)
    chosen = {
        "apsp": lambda **o: mgraph.apsp(dense, predecessors=True, block=32, method="blocked", **o),
        "naive": lambda **o: mgraph.apsp(dense, predecessors=True, method="naive", **o),
        "squaring": lambda **o: mgraph.apsp(dense, predecessors=True, block=32, method="squaring", **o),
        "closure": lambda **o: mgraph.transitive_closure(graph, **o),
        "bfs": lambda **o: mgraph.bfs(graph, 0, predecessors=True, **o),
        "bfs_many": lambda **o: mgraph.bfs_many(graph, range(70), **o),
        "components": lambda **o: mgraph.connected_components(graph, **o),
        "sssp": lambda **o: mgraph.sssp(weighted, 0, predecessors=True, **o),
        "list_rank": lambda **o: mgraph.list_rank(successors, method="wyllie", **o),
    }
    exact = {name: entry for name, entry in ALGORITHMS.items() if entry.unique and name not in chosen}
    return chosen | {name: partial(entry.call, largest(entry).given) for name, entry in exact.items()}


def largest(entry):
    """Return the sample of the largest graph."""
    return max(entry.samples("auto"), key=lambda sample: sample.given.n)


def arrays(result):
    return {name: np.asarray(array) for name, array in result.arrays.items()}


def parts(plan):
    return [plan.detail.part(plan, shard) for shard in range(len(plan.devices))]


@pytest.mark.parametrize("name", calls())
def test_the_same_bits(client, little, name):
    call = calls()[name]
    expected = call(client=client, device="cpu")
    even = expected.plan
    # A byte less than an even part takes.
    little(int((even.peak_bytes[1] - 1) / USABLE))
    found = call(client=client, device="cpu")
    made = found.plan
    assert parts(made) != parts(even)
    assert made.peak_bytes[1] < even.peak_bytes[1]
    assert arrays(expected)
    for what, array in arrays(expected).items():
        np.testing.assert_array_equal(arrays(found)[what], array, err_msg=what)


def test_a_worker_without_memory_to_spare_is_left_out(client, monkeypatch):
    """Unless none has any to spare."""
    describe, poor = worker.describe, [worker_of.address for worker_of in client.cluster.workers.values()][:1]

    def described(device, token):
        sight = describe(device, token)
        memory = 0 if get_worker().address in poor else sight.cpu.memory
        return sight._replace(cpu=replace(sight.cpu, memory=memory))

    monkeypatch.setattr(worker, "describe", described)
    forget(client)
    with pytest.warns(RuntimeWarning, match=rf"leaves out the worker {poor[0]}, which has no memory") as warned:
        found = mgraph.apsp(matrix(20), client=client, device="cpu")
    assert len(warned) == 1
    assert len(found.plan.devices) == 3 and all(poor[0] not in spec.name for spec in found.plan.devices)
    poor.extend(worker_of.address for worker_of in client.cluster.workers.values())
    with pytest.raises(mgraph.MemoryLimitError, match="--memory-limit"):
        mgraph.apsp(matrix(20), client=client, device="cpu")


def test_workers_of_unequal_limits(monkeypatch):
    """By Dask's limits of their memory, of which the plan for a matrix makes unequal parts."""
    taken = psutil.Process().memory_info().rss
    process = SimpleNamespace(memory_info=lambda: SimpleNamespace(rss=taken))
    monkeypatch.setattr(worker, "psutil", SimpleNamespace(Process=lambda: process))
    limits = [taken + (1 << 30), taken + (1 << 31)]
    options = {"nthreads": 1, "dashboard_address": None}
    workers = {
        number: {"cls": Worker, "options": options | {"memory_limit": limit}} for number, limit in enumerate(limits)
    }
    scheduler = {"cls": Scheduler, "options": {"protocol": "inproc://", "dashboard_address": ":0"}}
    with SpecCluster(workers, scheduler, silence_logs=50) as made, Client(made, set_as_default=False) as client:
        specs = Cluster(client, "cpu").specs
    small, large = sorted(specs, key=lambda spec: spec.memory)
    assert small.memory < large.memory
    # With all that the planner uses, the worker stays just below the limit at which Dask would pause it.
    assert 0 <= 0.8 * limits[0] - numba_pages() - taken - USABLE * small.memory < 2
    n = int((USABLE * (small.memory + large.memory) / 4) ** 0.5) // 128 * 120
    parts = dict(zip(specs, mgraph.plan("apsp", n, devices=specs).ranges, strict=True))
    heights = {spec.name: last - first for spec, (first, last) in parts.items()}
    assert 0 < heights[small.name] < heights[large.name]
