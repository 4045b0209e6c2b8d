"""Ranks found by Dask workers equal the direct ones, however the splitters fall to the shards."""

import numpy as np
import pytest
from test_cluster import cluster, pytestmark  # noqa: F401  (the mark quietens Dask's warnings here too)
from test_ranking import METHODS, PARALLEL, check_cycle, lists, rings, verify

import mgraph
from mgraph.cluster import local_client
from mgraph.device import gpu_count
from mgraph.generate import linked_list


@pytest.fixture(scope="module", params=[1, 2, 3, 5])
def client(request):
    """Workers in this process."""
    with cluster(request.param, processes=False) as made:
        yield made


def inputs():
    """Lists of fewer elements than there are shards, of no more splitters than that, and longer ones."""
    for n in (0, 1, 2, 4, 7, 64):
        yield linked_list(n)
    yield lists([20_000, 1, 300, 7])
    yield np.arange(50)


def check(client, device, method):
    for succ in inputs():
        for span in (None, 1):
            found = mgraph.list_rank(succ, method=method, client=client, device=device, span=span)
            assert isinstance(found.ranks, np.ndarray)
            verify(succ, found.ranks)


@pytest.mark.parametrize("method", METHODS)
def test_the_same_as_direct(client, method):
    check(client, "cpu", method)


@pytest.mark.parametrize("method", METHODS)
def test_cycles_are_named(client, method):
    for succ in (rings(3000, 1), rings(600, 200), np.array([1, 0])):
        check_cycle(succ, method, "cpu", client)


def test_trees(client):
    random = np.random.default_rng(3)
    succ = np.maximum(np.arange(30_000) - random.integers(0, 6, 30_000), 0)
    for method in METHODS:
        verify(succ, mgraph.list_rank(succ, method=method, client=client, device="cpu").ranks)


@pytest.mark.gpu
@pytest.mark.parametrize("method", PARALLEL)
@pytest.mark.parametrize("workers", [1, 2])
def test_the_same_as_direct_on_gpus(workers, method):
    if workers > gpu_count():
        pytest.skip(f"needs {workers} GPUs")
    with local_client(workers, "cuda") as client:
        check(client, "cuda", method)
        check_cycle(rings(3000, 1), method, "cuda", client)
