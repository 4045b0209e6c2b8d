"""Vectors that stay on workers: compared, combined, selected, saved, and given to calls."""

import gc
import operator
import re
import threading

import numpy as np
import pandas
import pytest
from distributed import Client

import mgraph
from mgraph import DistributedGraph
from mgraph.device import HostDevice
from mgraph.errors import InputError, MemoryLimitError
from mgraph.generate import grid, rmat, weighted
from tests.support.clusters import CLUSTER_WARNINGS, SOON, clients, wait_until
from tests.support.residents import names_kept

pytestmark = CLUSTER_WARNINGS


client = clients(3)


@pytest.fixture(scope="module")
def placed(client):
    with DistributedGraph.from_graph(weighted(grid(20, 30), (1, 4), "float32"), client, device="cpu") as made:
        yield made


@pytest.fixture(scope="module")
def distances(placed):
    return mgraph.sssp(placed, 3).distances


OPERATORS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]


@pytest.mark.parametrize("compare", OPERATORS)
def test_comparisons_are_those_of_arrays(placed, distances, compare):
    array, other = distances.to_numpy(), mgraph.sssp(placed, 40).distances
    for value in (4, 4.5, np.float32(4), 2**70, other, other.to_numpy(), np.array(4)):
        found = compare(distances, value)
        expected = compare(array, np.asarray(value) if value is other else value)
        assert found.dtype == bool and found.ranges == placed.ranges
        np.testing.assert_array_equal(found.to_numpy(), expected)
        assert (found.any(), found.all(), found.sum()) == (expected.any(), expected.all(), expected.sum())
    np.testing.assert_array_equal(compare(4, distances).to_numpy(), compare(4, array))


def test_lists_and_columns_are_compared_as_arrays_are(distances):
    array = distances.to_numpy()
    other = array.copy()
    other[::7] += 1
    for value in (other.tolist(), tuple(other), pandas.Series(other)):
        for compare in OPERATORS:
            np.testing.assert_array_equal(compare(distances, value).to_numpy(), compare(array, other))
        np.testing.assert_array_equal(distances[distances == value], array[array == other])
    mask = (other % 2 == 0).tolist()
    np.testing.assert_array_equal(((distances < 9) & mask).to_numpy(), (array < 9) & mask)


LATCH = threading.Event()


def until_set():
    return LATCH.wait(SOON)


def test_a_dask_array_keeps_a_vector_until_it_is_read(client, placed, distances):
    """The workers are busy, and nothing else refers to the vector."""
    LATCH.clear()
    busy = [client.submit(until_set, workers=[there], pure=False) for there in placed.placement.group.addresses]
    array = mgraph.sssp(placed, 3).distances.to_dask_array()
    gc.collect()
    for _ in range(2):  # calls tell the workers what has been released
        mgraph.bfs(placed, 0)
    LATCH.set()
    np.testing.assert_array_equal(array.compute(scheduler=client), distances.to_numpy())
    assert all(client.gather(busy))


@pytest.mark.parametrize("index", [True, False, np.True_, "0", 1.0, None])
def test_what_is_no_index(distances, index):
    with pytest.raises(IndexError, match="is not an index"):
        distances[index]


@pytest.mark.parametrize("function", [np.max, np.min, np.sum, np.any, np.all, np.mean, np.argmax])
def test_functions_of_numpy_take_vectors(distances, function):
    assert function(distances) == function(distances.to_numpy())
    assert function(distances == 3) == function(distances.to_numpy() == 3)


@pytest.mark.parametrize("method", ["max", "min", "sum", "any", "all"])
def test_a_vector_is_reduced_as_a_whole(distances, method):
    for refused in ({"axis": 0}, {"out": np.zeros(600)}):
        with pytest.raises(InputError, match="None"):
            getattr(distances, method)(**refused)


@pytest.mark.parametrize("function", [np.max, np.min, np.sum, np.any, np.all, np.nonzero])
def test_no_elements(client, function):
    empty = mgraph.generate.linked_list(0, client=client, device="cpu")
    try:
        expected = function(np.empty(0, np.int32))
    except ValueError as error:
        with pytest.raises(ValueError, match=re.escape(str(error))):
            function(empty)
    else:
        np.testing.assert_array_equal(function(empty), expected)
    assert empty.bincount().tolist() == [] == list(empty)


def test_masks_combine_and_select(distances):
    array = distances.to_numpy()
    near, odd = (distances < 9) & (distances != 4), array % 2 == 1
    expected = (array < 9) & (array != 4)
    np.testing.assert_array_equal((near | odd).to_numpy(), expected | odd)
    np.testing.assert_array_equal((near ^ True).to_numpy(), ~expected)
    np.testing.assert_array_equal(distances[near], array[expected])
    np.testing.assert_array_equal(distances[~near], array[~expected])
    np.testing.assert_array_equal(distances[odd], array[odd])
    np.testing.assert_array_equal(near.nonzero(), expected.nonzero())
    assert len(distances[distances < 0]) == 0
    assert (distances.min(), distances.max(), distances.sum()) == (array.min(), array.max(), array.sum())
    assert np.concatenate(list(distances.chunks())).tolist() == array.tolist()


def test_a_loop_takes_some_elements_at_a_time(distances, monkeypatch):
    array, submit, submitted = distances.to_numpy(), Client.submit, []
    monkeypatch.setattr(Client, "submit", lambda *given, **how: submitted.append(1) or submit(*given, **how))
    found = list(distances)
    assert found == array.tolist() and {type(each) for each in found} == {float}
    assert len(submitted) == 3  # a task of each worker, not of each element
    assert list(distances == 3) == (array == 3).tolist()
    monkeypatch.setattr("mgraph.runtime.dask.vector.LOOPED", 400)  # bytes of 100 elements, which one worker has
    submitted.clear()
    first, *_ = zip(distances, range(1), strict=False)
    assert first == (array[0], 0) and len(submitted) == 1
    assert list(distances) == array.tolist()


def test_vectors_of_other_workers_are_compared(distances, client):
    with DistributedGraph.from_graph(grid(30, 20), client, device="cpu") as other:
        found = mgraph.bfs(other, 0).distances
        np.testing.assert_array_equal((distances < found).to_numpy(), distances.to_numpy() < found.to_numpy())


def test_what_cannot_be_compared(distances):
    for value in (None, "3", ["3"], np.array(["3"] * 600)):
        for compare in (*OPERATORS, operator.and_):
            with pytest.raises(TypeError):
                compare(distances, value)
    with pytest.raises(InputError, match=r"of shape \(600,\)"):
        distances == [1, 2]  # noqa: B015
    with pytest.raises(InputError, match=r"of shape \(600,\)"):
        distances == np.zeros(3)  # noqa: B015
    with pytest.raises(InputError, match=r"of shape \(600,\)"):
        distances[np.ones(3, bool)]
    with pytest.raises(TypeError, match="truth values"):
        ~distances  # noqa: B018
    with pytest.raises(TypeError):
        distances & (distances == 1)
    with pytest.raises(TypeError, match="integers"):
        distances.bincount()
    with pytest.raises(ValueError, match="ambiguous"):
        bool(distances)
    with pytest.raises(TypeError, match="hash"):
        hash(distances)


def test_what_nothing_refers_to_and_what_fails_is_freed(distances, client, monkeypatch):
    shards = len(distances.ranges)
    gc.collect()
    wait_until(lambda: len(names_kept(client)) == 2 * shards)  # the graph and the distances
    kept = distances == 3
    assert len(names_kept(client)) == 3 * shards
    free = iter([1 << 30] * (shards - 1) + [0])  # on all workers but one
    monkeypatch.setattr(HostDevice, "available_memory", lambda device: next(free))
    with pytest.raises(MemoryLimitError, match="eq of"):
        distances == 4  # noqa: B015
    wait_until(lambda: len(names_kept(client)) == 3 * shards)
    del kept
    gc.collect()
    wait_until(lambda: len(names_kept(client)) == 2 * shards)


def test_what_does_not_fit_this_process_is_refused(placed, distances, monkeypatch):
    """The elements are not sent: the memory is compared before."""
    hops = mgraph.bfs(placed, 3).distances
    monkeypatch.setattr("mgraph.runtime.dask.vector.CHUNK", 0)
    monkeypatch.setattr(HostDevice, "available_memory", lambda device: 10)
    for what in (
        distances.to_numpy,
        distances.nonzero,
        hops.bincount,
        lambda: distances[distances.ranges[0][0] : 500],
        lambda: distances[np.ones(600, bool)],
        lambda: np.asarray(distances),
        placed.to_graph,
    ):
        with pytest.raises(MemoryLimitError, match=r"in this process|of a vector on workers"):
            what()


def test_what_does_not_fit_a_worker_is_refused(placed, monkeypatch):
    hops = mgraph.bfs(placed, 3).distances
    monkeypatch.setattr(HostDevice, "available_memory", lambda device: 600)  # a part has some 200 elements
    for what, message in ((hops.nonzero, "_places of"), (hops.bincount, "counting elements")):
        with pytest.raises(MemoryLimitError, match=message):
            what()


def test_a_result_is_given_where_an_array_is(client):
    graph = weighted(rmat(6), (1, 9))
    with DistributedGraph.from_graph(graph, client, device="cpu") as placed:
        labels = mgraph.connected_components(placed)
        expected = mgraph.connected_components(graph, device="cpu")
        largest = np.bincount(expected.labels).argmax()
        same = labels.labels == largest
        found = mgraph.bfs(placed, sources=same.nonzero()[0]).distances
        np.testing.assert_array_equal(found.to_numpy() == 0, expected.labels == largest)
        many = mgraph.bfs(placed, sources=labels.labels)
        expected_many = mgraph.bfs(graph, sources=expected.labels, device="cpu")
        np.testing.assert_array_equal(many.distances.to_numpy(), expected_many.distances)
        ranked = mgraph.list_rank(labels.labels)
        np.testing.assert_array_equal(ranked.ranks, mgraph.list_rank(expected.labels, device="cpu").ranks)
        made = DistributedGraph.from_dask(labels.labels, labels.labels, found, n=placed.n, client=client, device="cpu")
        assert made.m == placed.n
        again = mgraph.Graph.from_edges(labels.labels, labels.labels)
        np.testing.assert_array_equal(made.to_graph().csr().indices, again.csr().indices)
