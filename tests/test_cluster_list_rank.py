"""Ranks found by Dask workers equal direct ones, for every distribution of splitters to shards."""

import gc
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

import mgraph
from mgraph import InputError
from mgraph import device as devices
from mgraph.algorithms.list_rank import program
from mgraph.algorithms.list_rank.plan import ListDetail
from mgraph.algorithms.list_rank.program import Walking
from mgraph.cluster import local_client
from mgraph.device import gpu_count
from mgraph.generate import linked_list
from mgraph.planner import plan
from mgraph.runtime.dask import visiting
from tests.support.clusters import CLUSTER_WARNINGS, clients, cluster, present
from tests.support.graphs import linked_lists, rings
from tests.support.methods import SPLITTERS, methods
from tests.support.parameters import exhaustive
from tests.support.properties import check_cycle, check_ranks, completions

pytestmark = CLUSTER_WARNINGS


client = clients(2, *exhaustive(1, 3, 4, 5))


def inputs():
    """Lists of fewer elements than there are shards, of no more splitters than that, and longer ones."""
    for n in (0, 1, 2, 4, 7, 64):
        yield linked_list(n)
    yield linked_lists([20_000, 1, 300, 7])
    yield np.arange(50)


def check(client, device, method, spans=2):
    """Rank each input with one of two spans, so that each method meets both; or with both."""
    for number, succ in enumerate(inputs()):
        for span in [None, 1, None][(number + methods("list_rank").index(method)) % 2 :][:spans]:
            found = mgraph.list_rank(succ, method=method, client=client, device=device, span=span)
            assert isinstance(found.ranks, np.ndarray)
            check_ranks(succ, found.ranks)


@pytest.mark.parametrize("method", methods("list_rank"))
def test_the_same_as_direct(client, method):
    check(client, "cpu", method, spans=1)


@pytest.mark.parametrize("method", SPLITTERS)
def test_ranks_are_sent_while_others_are_computed(client, method, monkeypatch):
    monkeypatch.setattr(program, "AT_A_TIME", 256)
    check(client, "cpu", method, spans=1)


@pytest.mark.parametrize("method", methods("list_rank"))
def test_cycles_are_named(client, method):
    for succ in (rings(3000, 1), rings(600, 200), np.array([1, 0])):
        check_cycle(succ, method, "cpu", client)


@pytest.mark.parametrize("method", methods("list_rank"))
def test_successors_out_of_range_are_named(client, method):
    for lengths in ([3], [7] * 90, [3000]):
        for wrong in (-1, sum(lengths)):
            succ = linked_lists(lengths)
            succ[2] = wrong
            with pytest.raises(InputError, match=rf"succ must be integers in .*, got {wrong} at element 2"):
                mgraph.list_rank(succ, method=method, client=client, device="cpu")


def test_trees(client):
    random = np.random.default_rng(3)
    succ = np.maximum(np.arange(30_000) - random.integers(0, 6, 30_000), 0)
    for method in methods("list_rank"):
        check_ranks(succ, mgraph.list_rank(succ, method=method, client=client, device="cpu").ranks)


def walked(client, succ, method, spacing):
    """Run the splitters with a spacing of one's own; return the ranks and whether the kernels failed."""
    runner = visiting(client, "cpu")
    made = replace(plan("list_rank", len(succ), devices=runner.specs, method=method), detail=ListDetail(spacing))
    arrays = runner.run(Walking(made), lambda shard: succ.astype(np.int32), made, None).arrays
    return arrays["ranks"], bool(arrays["failed"].any())


@pytest.mark.parametrize("method", SPLITTERS)
@pytest.mark.parametrize(("few", "way"), [(1, "few"), (1 << 40, "many")])
def test_every_shard_has_elements_that_no_walk_passes(client, few, way, method, monkeypatch):
    monkeypatch.setattr(program, "FEW", few)
    shards = len(present(client))
    random = np.random.default_rng(3)
    tree = np.maximum(np.arange(9000) - random.integers(0, 4, 9000), 0)
    bush = np.where(np.arange(9000) < 3000, 0, np.arange(9000) % 3000)  # a root, 3000 below it, twice as many below
    inputs = [linked_lists(lengths) for lengths in ([1] * 3000, [2] * 2000, [7] * 900, [9_000, *[3] * 300])]
    with devices.Recorder(devices.find("cpu")) as recorder:
        for succ in (*inputs, tree, bush):
            for spacing in (8, 64):
                ranks, failed = walked(client, succ, method, spacing)
                if failed:  # walks that meet, with the steps apart
                    assert method == "splitter48" and (succ is tree or succ is bush)
                else:
                    check_ranks(succ, ranks)
    ways = completions(recorder)
    assert set(ways) == {way} and len(ways) % shards == 0  # all shards take the same branch


def test_few_and_many_elements_in_turn(client, monkeypatch):
    monkeypatch.setattr(program, "FEW", 256)
    n, shards = 256 * 64, len(present(client))
    with devices.Recorder(devices.find("cpu")) as recorder:
        for singles in (100, 1000):  # half of them are not splitters
            succ = linked_lists([n - singles, *[1] * singles])
            ranks, failed = walked(client, succ, "splitter64", 2)
            assert not failed
            check_ranks(succ, ranks)
    assert completions(recorder) == ["few"] * shards + ["many"] * shards


@pytest.mark.parametrize("method", SPLITTERS)
@pytest.mark.parametrize("few", [1, 1 << 40])
def test_cycles_across_shards(client, few, method, monkeypatch):
    monkeypatch.setattr(program, "FEW", few)
    for succ, spacing in (
        (rings(3000, 1), 64),  # with splitters
        (rings(128, 1), 128),  # with one, whose walk returns to it
        (rings(6000, 3000), 64),  # most without
        (np.where(np.arange(5000) < 2, 1 - np.arange(5000), np.arange(5000)), 1024),  # one, without
        (np.where(np.arange(5000) == 4000, 0, np.minimum(np.arange(5000) + 1000, 4999)), 1024),  # and ways into one
    ):
        assert walked(client, succ, method, spacing)[1]


@pytest.mark.parametrize("method", ["splitter48", *exhaustive("splitter64")])
def test_a_plan_knows_the_peak_memory_of_a_shard(method):
    def begin():
        gc.collect()
        tracemalloc.start()

    def peak():
        try:
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    succ = linked_list(1 << 20)
    with cluster(2, processes=True) as client:
        mgraph.list_rank(succ, method=method, client=client, device="cpu")  # compiles at first use
        client.run(begin)
        made = mgraph.list_rank(succ, method=method, client=client, device="cpu").plan
        for bytes_used in client.run(peak).values():
            # A shard that ranks while the other is done has the other's part of its range in addition.
            assert 0.95 * (made.peak_bytes[0] - 2 * len(succ)) < bytes_used < 1.05 * made.peak_bytes[0]


@pytest.mark.gpu
@pytest.mark.parametrize("few", [1, 1 << 40])
@pytest.mark.parametrize("at_a_time", [1 << 28, 1 << 10])
@pytest.mark.parametrize("n", [20_000, 20_001])
def test_a_reduction_between_gpus(n, at_a_time, few):
    """With equal and with unequal parts, in one piece or while the next parts are ranked."""
    if gpu_count() < 2:
        pytest.skip("needs 2 GPUs")
    with local_client(2, "cuda") as client:
        client.run(setattr, program, "FEW", few)
        client.run(setattr, program, "AT_A_TIME", at_a_time)
        for lengths in ([n], [1] * n, [n - 900, *[3] * 300]):
            succ = linked_lists(lengths)
            check_ranks(succ, mgraph.list_rank(succ, method="splitter64", client=client, device="cuda").ranks)


@pytest.mark.gpu
@pytest.mark.parametrize("method", methods("list_rank", "cuda"))
def test_the_same_as_direct_on_gpus(gpu_workers, method):
    check(gpu_workers, "cuda", method)
    check_cycle(rings(3000, 1), method, "cuda", gpu_workers)
